package sql

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexer cuts a statement's text into tokens. It never fails: what it cannot read becomes tokBad.
type lexer struct {
	src  string
	pos  int
	line int // of pos, from 1
	col  int // of pos, from 1, in code points
	out  []token

	openComment *Span // where a bracketed comment begins that does not end
}

// lex returns the tokens of src, the last one being tokEOF, and where an unclosed comment begins.
func lex(src string) ([]token, *Span) {
	l := lexer{src: src, line: 1, col: 1, out: make([]token, 0, len(src)/4+2)}
	for {
		l.skipBlank()
		if l.pos >= len(l.src) {
			break
		}
		l.next()
	}
	l.emit(tokEOF, l.pos, "", "")
	return l.out, l.openComment
}

// advance moves to the byte offset to, keeping count of lines and columns.
func (l *lexer) advance(to int) {
	for l.pos < to {
		c := l.src[l.pos]
		switch {
		case c == '\n':
			l.line++
			l.col = 1
			l.pos++
		case c < utf8.RuneSelf:
			l.col++
			l.pos++
		default:
			_, n := utf8.DecodeRuneInString(l.src[l.pos:])
			l.col++
			l.pos += n
		}
	}
}

// emit appends the token from pos to end and moves behind it.
func (l *lexer) emit(kind tokenKind, end int, word, value string) {
	sp := Span{Offset: l.pos, End: end, Line: l.line, Col: l.col}
	l.out = append(l.out, token{kind: kind, text: l.src[l.pos:end], word: word, value: value, span: sp})
	l.advance(end)
}

// skipBlank moves over white space and comments; a hint is not a comment.
func (l *lexer) skipBlank() {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			l.advance(l.pos + 1)
		case c == '-' && strings.HasPrefix(l.src[l.pos:], "--"):
			l.lineComment()
		case c == '/' && strings.HasPrefix(l.src[l.pos:], "/*") && !strings.HasPrefix(l.src[l.pos:], "/*+"):
			l.bracketedComment()
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(l.src[l.pos:])
			if !unicode.IsSpace(r) || r == 0x85 {
				return
			}
			l.advance(l.pos + n)
		default:
			return
		}
	}
}

// lineComment moves to the end of the line; a backslash at its end continues the comment.
func (l *lexer) lineComment() {
	i := l.pos
	for i < len(l.src) && l.src[i] != '\n' && l.src[i] != '\r' {
		if l.src[i] == '\\' && i+1 < len(l.src) && l.src[i+1] == '\n' {
			i++
		}
		i++
	}
	l.advance(i)
}

// bracketedComment moves behind the comment; comments nest.
func (l *lexer) bracketedComment() {
	start := Span{Offset: l.pos, End: len(l.src), Line: l.line, Col: l.col}
	depth, i := 0, l.pos
	for i < len(l.src) {
		switch {
		case strings.HasPrefix(l.src[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(l.src[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				l.advance(i)
				return
			}
		default:
			i++
		}
	}
	l.openComment = &start
	l.advance(i)
}

// next reads one token at pos, which is not blank.
func (l *lexer) next() {
	c := l.src[l.pos]
	switch {
	case c == '\'' || c == '"':
		l.quotedString(c)
	case (c == 'r' || c == 'R') && l.pos+1 < len(l.src) && (l.src[l.pos+1] == '\'' || l.src[l.pos+1] == '"'):
		l.rawString(l.src[l.pos+1])
	case c == '`':
		l.backQuoted()
	case isDigit(c) || c == '.' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]):
		l.number()
	case wordEnd(l.src, l.pos) > l.pos:
		l.word()
	default:
		l.operator()
	}
}

// word reads an unquoted word.
func (l *lexer) word() {
	end := wordEnd(l.src, l.pos)
	l.emit(tokWord, end, keywordOf(l.src[l.pos:end]), "")
}

// wordEnd is the end of the letters, digits and underbars from pos on.
func wordEnd(s string, pos int) int {
	for pos < len(s) {
		c := s[pos]
		if c < utf8.RuneSelf {
			if !isWordByte(c) {
				break
			}
			pos++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[pos:])
		if !unicode.IsLetter(r) {
			break
		}
		pos += n
	}
	return pos
}

// number reads a number, or a word that begins with a digit, or the dot of a name: whichever is
// the longest. A number with a point ends only where no letter, digit or underbar follows.
func (l *lexer) number() {
	s, best := l.src, l.pos
	whole := digitsEnd(s, l.pos)
	try := func(end int, point bool) {
		if end > best && !(point && end < len(s) && isWordByte(s[end])) {
			best = end
		}
	}
	suffixes := func(end int, point bool) {
		try(end, point)
		for _, e := range [...]int{end, exponentEnd(s, end)} {
			if e < 0 {
				continue
			}
			try(e, point)
			if e < len(s) && strings.IndexByte("FfDd", s[e]) >= 0 {
				try(e+1, point)
			}
			if e+1 < len(s) && strings.EqualFold(s[e:e+2], "BD") {
				try(e+2, point)
			}
		}
	}
	if whole > l.pos {
		suffixes(whole, false)
		if whole < len(s) && strings.IndexByte("LlSsYy", s[whole]) >= 0 {
			try(whole+1, false)
		}
	}
	if whole < len(s) && s[whole] == '.' {
		suffixes(digitsEnd(s, whole+1), true)
	}
	if end := wordEnd(s, l.pos); end > best {
		l.word()
		return
	}
	if best == l.pos {
		l.emit(tokOp, l.pos+1, "", "")
		return
	}
	l.emit(tokNumber, best, "", "")
}

func digitsEnd(s string, pos int) int {
	for pos < len(s) && isDigit(s[pos]) {
		pos++
	}
	return pos
}

// exponentEnd is the end of an exponent at pos, or -1.
func exponentEnd(s string, pos int) int {
	if pos >= len(s) || s[pos] != 'e' && s[pos] != 'E' {
		return -1
	}
	pos++
	if pos < len(s) && (s[pos] == '+' || s[pos] == '-') {
		pos++
	}
	if end := digitsEnd(s, pos); end > pos {
		return end
	}
	return -1
}

// quotedString reads a string between the quotes q; a doubled quote stands for one.
func (l *lexer) quotedString(q byte) {
	i := l.pos + 1
	for i < len(l.src) {
		switch l.src[i] {
		case '\\':
			i += 2
			continue
		case q:
			if i+1 < len(l.src) && l.src[i+1] == q {
				i += 2
				continue
			}
			l.emit(tokString, i+1, "", unescape(l.src[l.pos+1:i], q))
			return
		}
		i++
	}
	l.emit(tokBad, len(l.src), "", "the string is not closed")
}

// rawString reads r'…' or r"…", in which nothing is escaped.
func (l *lexer) rawString(q byte) {
	end := strings.IndexByte(l.src[l.pos+2:], q)
	if end < 0 {
		l.emit(tokBad, len(l.src), "", "the string is not closed")
		return
	}
	end += l.pos + 2
	l.emit(tokString, end+1, "", l.src[l.pos+2:end])
}

// backQuoted reads a name in back quotes; a doubled back quote stands for one.
func (l *lexer) backQuoted() {
	i := l.pos + 1
	for i < len(l.src) {
		if l.src[i] == '`' {
			if i+1 >= len(l.src) || l.src[i+1] != '`' {
				l.emit(tokQuoted, i+1, "", strings.ReplaceAll(l.src[l.pos+1:i], "``", "`"))
				return
			}
			i++
		}
		i++
	}
	l.emit(tokBad, len(l.src), "", "the back-quoted name is not closed")
}

// operators are the operators of several characters, longer ones first. There is no >> among them:
// the parser joins >, so that the end of ARRAY<ARRAY<INT>> is two tokens.
const operators = "<=> == <> != <= !> >= !< << || |> -> => ::"

// operator reads an operator or a punctuation mark.
func (l *lexer) operator() {
	rest := l.src[l.pos:]
	if strings.HasPrefix(rest, "/*+") {
		l.emit(tokHintStart, l.pos+3, "", "")
		return
	}
	if strings.HasPrefix(rest, "*/") {
		l.emit(tokHintEnd, l.pos+2, "", "")
		return
	}
	if len(rest) >= 2 && strings.IndexByte("<=>!|-:", rest[0]) >= 0 {
		for list := operators; list != ""; {
			var op string
			op, list, _ = strings.Cut(list, " ")
			if strings.HasPrefix(rest, op) {
				l.emit(tokOp, l.pos+len(op), "", "")
				return
			}
		}
	}
	if strings.IndexByte("()[],.;:+-*/%~&|^<>=!?", rest[0]) >= 0 {
		l.emit(tokOp, l.pos+1, "", "")
		return
	}
	_, n := utf8.DecodeRuneInString(rest)
	l.emit(tokBad, l.pos+n, "", "")
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool {
	return c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
