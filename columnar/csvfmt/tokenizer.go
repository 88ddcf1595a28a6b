package csvfmt

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// token is one field of a record as text.
type token struct {
	text  []byte
	kind  tokenKind
	owned bool // text lies in the tokenizer's memory, until the next record
}

type tokenKind uint8

const (
	plain  tokenKind = iota // text
	absent                  // nothing between two delimiters
	empty                   // a pair of quotes with nothing between them
	none                    // no field at all: what was read belongs to fields before it
)

// tokenizer splits records into fields. In line mode each call has a record of its own; in multi-line
// mode a record ends at a line end outside of quotes.
type tokenizer struct {
	sep                   []byte
	quote, escape, escEsc byte // 0 for none
	trimLeft, trimRight   bool
	unescaped             UnescapedQuotes
	maxColumns, maxChars  int
	multi                 bool
	end1, end2            byte // line end in multi-line mode, 0 for none
	keepEnds              bool // line ends within quotes stay as they are and do not become \n

	tokens []token
	buf    []byte
}

// Stand-ins for quote and escape characters beyond ASCII; no UTF-8 text has these bytes.
const (
	quoteByte   = 0xff
	escapeByte  = 0xfe
	escEscByte  = 0xfd
	commentByte = 0xfc
)

// errTooMuch is the end of a file with a field or a record beyond the limits.
func errTooMuch(record []byte) error {
	return sparkerr.New("MALFORMED_CSV_RECORD", "Malformed CSV record: %.200q", record)
}

var errUnescapedQuote = errors.New("unescaped quote character inside a quoted value of a CSV field")

func newTokenizer(o *Options) *tokenizer {
	t := &tokenizer{
		sep: []byte(o.Sep), trimLeft: or(o.IgnoreLeading, false), trimRight: or(o.IgnoreTrailing, false), unescaped: o.Unescaped,
		maxColumns: o.MaxColumns, maxChars: o.MaxChars, multi: o.MultiLine, keepEnds: o.LineSep != "",
	}
	t.quote, t.escape = asByte(o.Quote, quoteByte), asByte(o.Escape, escapeByte)
	if o.Escape == o.Quote {
		t.escape = t.quote
	}
	switch {
	case o.EscapeEscape == NoChar:
	case o.EscapeEscape == 0 && o.Quote != o.Escape:
		t.escEsc = t.escape
	case o.EscapeEscape == o.Escape:
		t.escEsc = t.escape
	default:
		t.escEsc = asByte(o.EscapeEscape, escEscByte)
	}
	return t
}

func asByte(r rune, standIn byte) byte {
	if r < utf8.RuneSelf {
		return byte(r)
	}
	return standIn
}

// standIns replaces special characters beyond ASCII; it gives b itself where there are none.
func standIns(o *Options, b []byte) []byte {
	for _, s := range [...]struct {
		r    rune
		with byte
	}{{o.Quote, quoteByte}, {o.Escape, escapeByte}, {o.EscapeEscape, escEscByte}, {o.Comment, commentByte}} {
		if s.r >= utf8.RuneSelf {
			b = bytes.ReplaceAll(b, []byte(string(s.r)), []byte{s.with})
		}
	}
	return b
}

// originals undoes standIns.
func originals(o *Options, b []byte) []byte {
	for _, s := range [...]struct {
		r    rune
		with byte
	}{{o.Quote, quoteByte}, {o.Escape, escapeByte}, {o.EscapeEscape, escEscByte}, {o.Comment, commentByte}} {
		if s.r >= utf8.RuneSelf {
			b = bytes.ReplaceAll(b, []byte{s.with}, []byte(string(s.r)))
		}
	}
	return b
}

// detectEnd takes the first line end of a file for all of them.
func (t *tokenizer) detectEnd(data []byte, lineSep string) {
	if lineSep != "" {
		t.end1 = lineSep[0]
		if len(lineSep) > 1 {
			t.end2 = lineSep[1]
		}
		return
	}
	t.end1, t.end2 = '\n', 0
	if i := bytes.IndexAny(data, "\r\n"); i >= 0 && data[i] == '\r' {
		t.end1 = '\r'
		if i+1 < len(data) && data[i+1] == '\n' {
			t.end2 = '\n'
		}
	}
}

// endAt is the length of the line end at i, 0 for none.
func (t *tokenizer) endAt(b []byte, i int) int {
	if !t.multi || b[i] != t.end1 {
		return 0
	}
	if t.end2 == 0 {
		return 1
	}
	if i+1 < len(b) && b[i+1] == t.end2 {
		return 2
	}
	return 0
}

// newlineAt is endAt where a field begins or a closing quote stands before: there a bare \n ends the record too.
func (t *tokenizer) newlineAt(b []byte, i int) int {
	if n := t.endAt(b, i); n > 0 || !t.multi || t.keepEnds || b[i] != '\n' {
		return n
	}
	return 1
}

// sepAt tells whether the delimiter stands at i.
func (t *tokenizer) sepAt(b []byte, i int) bool {
	return b[i] == t.sep[0] && (len(t.sep) == 1 || bytes.HasPrefix(b[i:], t.sep))
}

// record reads the fields of the record at i into t.tokens, and gives the offset behind its line end.
func (t *tokenizer) record(b []byte, i int) (int, error) {
	t.tokens, t.buf = t.tokens[:0], t.buf[:0]
	start := i
	for {
		if len(t.tokens) == t.maxColumns {
			return i, errTooMuch(b[start:])
		}
		if t.trimLeft {
			for i < len(b) && b[i] <= ' ' && !t.sepAt(b, i) && t.newlineAt(b, i) == 0 {
				i++
			}
		}
		var tok token
		var err error
		if i < len(b) && t.quote != 0 && b[i] == t.quote {
			tok, i, err = t.quoted(b, i)
			if err != nil {
				return i, err
			}
		} else {
			from := i
			if i == len(b) || t.newlineAt(b, i) == 0 {
				i = t.plainEnd(b, i)
			}
			tok = t.trimmed(b[from:i])
			if len(t.sep) > 1 && i == len(b) && i > from && b[i-1] == t.quote && t.quote != 0 {
				// So the parser does at the end of its input, when it looks for a delimiter of several characters.
				tok.text = append(tok.text[:len(tok.text):len(tok.text)], t.quote)
			}
		}
		if t.maxChars >= 0 && len(tok.text) > t.maxChars && charsOf(tok.text) > t.maxChars {
			return i, errTooMuch(b[start:i])
		}
		if tok.kind != none {
			t.tokens = append(t.tokens, tok)
		}
		if i == len(b) {
			return i, nil
		}
		if n := t.newlineAt(b, i); n > 0 {
			return i + n, nil
		}
		i += len(t.sep)
	}
}

// plainEnd is the offset of the next delimiter, line end or end of text.
func (t *tokenizer) plainEnd(b []byte, i int) int {
	if !t.multi {
		rest := b[i:]
		if len(t.sep) > 1 {
			if n := bytes.Index(rest, t.sep); n >= 0 {
				return i + n
			}
			return len(b)
		}
		c := t.sep[0]
		for k, x := range rest {
			if x == c {
				return i + k
			}
		}
		return len(b)
	}
	for ; i < len(b); i++ {
		if t.sepAt(b, i) || t.endAt(b, i) > 0 {
			return i
		}
	}
	return i
}

// trimmed makes a token of text outside of quotes.
func (t *tokenizer) trimmed(text []byte) token {
	if t.trimRight {
		for len(text) > 0 && text[len(text)-1] <= ' ' {
			text = text[:len(text)-1]
		}
	}
	if len(text) == 0 {
		return token{kind: absent}
	}
	return token{text: text}
}

// quoted reads a field that begins with a quote at i.
func (t *tokenizer) quoted(b []byte, i int) (token, int, error) {
	i++
	from := len(t.buf)
	// Without escapes and line ends inside the value needs no copy.
	if n := t.simple(b[i:]); n >= 0 {
		j := i + n + 1
		switch {
		case j == len(b) && (t.escape == 0 || t.escape == t.quote && n == 0):
		case j == len(b) || t.sepAt(b, j) || t.newlineAt(b, j) > 0:
			if n == 0 {
				return token{kind: empty}, j, nil
			}
			return token{text: b[i : i+n]}, j, nil
		}
	}
	v := quotedValue{t: t, b: b, i: i, from: from, c: t.quote}
	tok, err := v.parse()
	return tok, v.i, err
}

// simple is the length of the text before the first quote, if nothing in it is escaped, or else -1.
func (t *tokenizer) simple(b []byte) int {
	n := bytes.IndexByte(b, t.quote)
	if n < 0 || t.multi && bytes.IndexByte(b[:n], t.end1) >= 0 {
		return -1
	}
	if len(t.sep) > 1 && t.escEsc != 0 && t.escEsc != t.escape && bytes.IndexByte(b[:n], t.escEsc) >= 0 {
		return -1
	}
	if t.escape != t.quote && t.escape != 0 {
		for k := 0; k < n; k++ {
			if b[k] == t.escape && (b[k+1] == t.quote || b[k+1] == t.escEsc) {
				return -1
			}
		}
	}
	return n
}

func (t *tokenizer) fromBuf(from int) token {
	if len(t.buf) == from {
		return token{kind: empty}
	}
	return token{text: t.buf[from:], owned: true}
}

// charsOf is the number of UTF-16 units.
func charsOf(b []byte) int {
	n := 0
	for _, c := range b {
		if c < 0x80 || c >= 0xc0 {
			n++
		}
		if c >= 0xf0 {
			n++
		}
	}
	return n
}
