package sqldb

import (
	"fmt"
	"strconv"
	"strings"
)

// token is a piece of a statement that matters to its adaption; text in between is kept as it is.
type token struct {
	kind  byte // 'w' word, 'p' parameter, or a punctuation character; 'q' quoted identifier
	from  int
	to    int
	param int // of a parameter: its number from 1
}

// statement is a statement cut into tokens.
type statement struct {
	text   string
	tokens []token
	params int // the greatest parameter number
}

// scan cuts a statement. Strings, quoted names and comments are passed over.
func scan(text string) (*statement, error) {
	s := &statement{text: strings.TrimRight(strings.TrimSpace(text), ";")}
	t := s.text
	for i := 0; i < len(t); {
		c := t[i]
		from := i
		switch {
		case c == '\'' || c == '"' || c == '`':
			for i++; ; i++ {
				if i >= len(t) {
					return nil, fmt.Errorf("statement %.60q: the quote at character %d is not closed", text, from+1)
				}
				if t[i] == c {
					if i+1 < len(t) && t[i+1] == c {
						i++
						continue
					}
					break
				}
			}
			i++
			if c != '\'' {
				s.tokens = append(s.tokens, token{kind: 'q', from: from, to: i})
			}
		case strings.HasPrefix(t[i:], "--"):
			if n := strings.IndexByte(t[i:], '\n'); n >= 0 {
				i += n + 1
			} else {
				i = len(t)
			}
		case strings.HasPrefix(t[i:], "/*"):
			n := strings.Index(t[i:], "*/")
			if n < 0 {
				return nil, fmt.Errorf("statement %.60q: the comment at character %d is not closed", text, from+1)
			}
			i += n + 2
		case c == '$' && i+1 < len(t) && t[i+1] >= '0' && t[i+1] <= '9':
			for i++; i < len(t) && t[i] >= '0' && t[i] <= '9'; i++ {
			}
			n, err := strconv.Atoi(t[from+1 : i])
			if err != nil || n < 1 || n > 65535 {
				return nil, fmt.Errorf("statement %.60q: there is no parameter %s", text, t[from:i])
			}
			s.params = max(s.params, n)
			s.tokens = append(s.tokens, token{'p', from, i, n})
		case wordByte(c):
			for i < len(t) && wordByte(t[i]) {
				i++
			}
			s.tokens = append(s.tokens, token{kind: 'w', from: from, to: i})
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		default:
			i++
			s.tokens = append(s.tokens, token{kind: c, from: from, to: i})
		}
	}
	return s, nil
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// is tells whether token i is a word, in any case.
func (s *statement) is(i int, word string) bool {
	return i < len(s.tokens) && s.tokens[i].kind == 'w' && strings.EqualFold(s.text[s.tokens[i].from:s.tokens[i].to], word)
}

// punct tells whether token i is a punctuation character.
func (s *statement) punct(i int, c byte) bool { return i < len(s.tokens) && s.tokens[i].kind == c }

// group gives the token behind the bracket that token i opens, or -1.
func (s *statement) group(i int) int {
	depth := 0
	for ; i < len(s.tokens); i++ {
		switch s.tokens[i].kind {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// at is where token i begins in the text, or the text's end.
func (s *statement) at(i int) int {
	if i >= len(s.tokens) {
		return len(s.text)
	}
	return s.tokens[i].from
}

// insert is an INSERT of one row of values, by the tokens at which its parts begin.
type insert struct {
	values int // VALUES
	open   int // the bracket of the row
	tail   int // behind the row
}

// insert finds the parts of an INSERT of one row of values whose tail has no parameters.
func (s *statement) insert() (insert, bool) {
	if !s.is(0, "INSERT") || !s.is(1, "INTO") {
		return insert{}, false
	}
	for i := 2; i < len(s.tokens); i++ {
		switch {
		case s.punct(i, '('):
			n := s.group(i)
			if n < 0 {
				return insert{}, false
			}
			i = n - 1
		case s.is(i, "SELECT"):
			return insert{}, false
		case s.is(i, "VALUES"):
			if !s.punct(i+1, '(') {
				return insert{}, false
			}
			tail := s.group(i + 1)
			if tail < 0 || s.punct(tail, ',') {
				return insert{}, false
			}
			for _, t := range s.tokens[i+2 : tail] {
				if t.kind == 'w' && strings.EqualFold(s.text[t.from:t.to], "DEFAULT") {
					return insert{}, false
				}
			}
			for k := tail; k < len(s.tokens); k++ {
				if s.tokens[k].kind == 'p' || s.is(k, "RETURNING") {
					return insert{}, false
				}
			}
			return insert{i, i + 1, tail}, true
		}
	}
	return insert{}, false
}

// write writes tokens from to to with their text in between; each says how a token is written, "" and false for as it is.
func (s *statement) write(b *strings.Builder, from, to int, each func(i int) (string, bool)) {
	at, end := s.at(from), s.at(to)
	for i := from; i < to; i++ {
		text, ok := each(i)
		if !ok {
			continue
		}
		b.WriteString(s.text[at:s.tokens[i].from])
		b.WriteString(text)
		at = s.tokens[i].to
	}
	b.WriteString(s.text[at:end])
}

// conflict finds ON CONFLICT (columns) DO … in the tail of an insert: its columns and the token behind DO.
func (s *statement) conflict(tail int) (columns []string, do int, ok bool) {
	if !s.is(tail, "ON") || !s.is(tail+1, "CONFLICT") {
		return nil, 0, false
	}
	i := tail + 2
	if s.punct(i, '(') {
		end := s.group(i)
		if end < 0 {
			return nil, 0, false
		}
		for k := i + 1; k < end-1; k++ {
			if t := s.tokens[k]; t.kind == 'w' || t.kind == 'q' {
				columns = append(columns, s.text[t.from:t.to])
			}
		}
		i = end
	}
	if !s.is(i, "DO") {
		return nil, 0, false
	}
	return columns, i + 1, true
}
