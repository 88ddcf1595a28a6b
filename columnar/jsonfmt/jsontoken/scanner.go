package jsontoken

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// scope is one open object or array; the root is a scope too.
type scope struct {
	kind    byte // '{', '[' or 0 for the root
	entries int  // entries begun, -1 before the first
	name    []byte
	named   bool
	odd     bool // the name holds half of a surrogate pair and equals no proper name
}

// Scanner walks over the tokens of one text. The zero value needs a Reset. It is not for several
// goroutines at once.
type Scanner struct {
	b         []byte
	p         int
	f         Features
	cur       Token
	next      Token // the value behind the current FieldName
	start     int   // where the current value token began
	nextStart int
	pending   bool   // the current String has not been delimited yet
	text      []byte // of the current String, once decoded; of the current number
	odd       bool   // text had half of a surrogate pair
	special   bool   // the current Float is NaN or an infinity
	scopes    []scope
}

// Reset begins with another text.
func (s *Scanner) Reset(b []byte, f Features) {
	if f.ReplacementDecoding && !utf8.Valid(b) {
		b = ReplaceInvalid(b)
	}
	scopes := append(s.scopes[:0], scope{entries: -1})
	*s = Scanner{b: b, f: f, scopes: scopes, text: s.text[:0]}
}

// Source is the text that is scanned; it differs from what Reset was given where bytes were replaced.
func (s *Scanner) Source() []byte { return s.b }

// Current is the token that Next gave last; an error leaves the one before it.
func (s *Scanner) Current() Token { return s.cur }

// Start is the offset of the first byte of the current value.
func (s *Scanner) Start() int { return s.start }

// Pos is the offset behind what has been read.
func (s *Scanner) Pos() int { return s.p }

// Name is the name of the field that the current token belongs to; ok is false within an array, at
// the root, and for names that are no Unicode text. The slice is valid until the next call.
func (s *Scanner) Name() (name []byte, ok bool) {
	i := len(s.scopes) - 1
	if (s.cur == StartObject || s.cur == StartArray) && i > 0 {
		i--
	}
	c := &s.scopes[i]
	return c.name, c.named && !c.odd
}

func (s *Scanner) top() *scope { return &s.scopes[len(s.scopes)-1] }

func (s *Scanner) errorf(format string, args ...any) error {
	return &SyntaxError{s.p, fmt.Sprintf(format, args...)}
}

func (s *Scanner) unexpected(c int, what string) error {
	if c < ' ' || c > '~' {
		return s.errorf("unexpected character (code %d): %s", c, what)
	}
	return s.errorf("unexpected character (%q): %s", rune(c), what)
}

func (s *Scanner) atEnd(where string) error {
	return s.errorf("unexpected end of input %s", where)
}

// Next goes to the next token.
func (s *Scanner) Next() (Token, error) {
	if s.cur == FieldName {
		t := s.next
		s.next, s.start = None, s.nextStart
		if t == StartObject || t == StartArray {
			if err := s.open(t); err != nil {
				return None, err
			}
		}
		s.cur = t
		return t, nil
	}
	if s.pending {
		s.pending = false
		if err := s.skipString('"'); err != nil {
			return None, err
		}
	}
	c, err := s.space()
	if err != nil {
		return None, err
	}
	if c < 0 {
		if len(s.scopes) > 1 {
			return None, s.atEnd("within an object or array")
		}
		s.cur = None
		return None, nil
	}
	if c == ']' || c == '}' {
		return s.close(c)
	}
	top := s.top()
	top.entries++
	if top.kind != 0 && top.entries > 0 {
		if c != ',' {
			return None, s.unexpected(c, "was expecting a comma")
		}
		if c, err = s.space(); err != nil {
			return None, err
		}
		if c < 0 {
			return None, s.atEnd("behind a comma")
		}
	}
	if top.kind != '{' {
		s.start = s.p - 1
		t, err := s.value(c)
		if err != nil {
			return None, err
		}
		if t == StartObject || t == StartArray {
			if err := s.open(t); err != nil {
				return None, err
			}
		}
		s.cur = t
		return t, nil
	}
	if err := s.fieldName(c); err != nil {
		return None, err
	}
	s.cur = FieldName
	if c, err = s.space(); err != nil {
		return None, err
	}
	if c < 0 {
		return None, s.atEnd("behind a field name")
	}
	if c != ':' {
		return None, s.unexpected(c, "was expecting a colon")
	}
	if c, err = s.space(); err != nil {
		return None, err
	}
	if c < 0 {
		return None, s.atEnd("where a value was expected")
	}
	s.nextStart = s.p - 1
	t, err := s.value(c)
	if err != nil {
		return None, err
	}
	s.next = t
	return FieldName, nil
}

// Skip passes over the rest of the object or array that the current token opens; of any other token
// nothing remains.
func (s *Scanner) Skip() error {
	if s.cur != StartObject && s.cur != StartArray {
		return nil
	}
	for open := 1; open > 0; {
		t, err := s.Next()
		if err != nil {
			return err
		}
		switch t {
		case None:
			if len(s.scopes) > 1 {
				return s.atEnd("within an object or array")
			}
			return nil
		case StartObject, StartArray:
			open++
		case EndObject, EndArray:
			open--
		}
	}
	return nil
}

func (s *Scanner) open(t Token) error {
	kind := byte('[')
	if t == StartObject {
		kind = '{'
	}
	s.scopes = append(s.scopes, scope{kind: kind, entries: -1})
	if depth := len(s.scopes) - 1; depth > s.f.MaxDepth {
		return s.errorf("document nesting depth (%d) exceeds the maximum allowed (%d)", depth, s.f.MaxDepth)
	}
	return nil
}

func (s *Scanner) close(c int) (Token, error) {
	kind, t := byte('{'), EndObject
	if c == ']' {
		kind, t = '[', EndArray
	}
	if s.top().kind != kind {
		return None, s.errorf("unexpected close marker %q", rune(c))
	}
	s.scopes = s.scopes[:len(s.scopes)-1]
	s.cur = t
	return t, nil
}

// space passes over blanks and comments and gives the byte behind them, -1 at the end.
func (s *Scanner) space() (int, error) {
	for s.p < len(s.b) {
		c := s.b[s.p]
		s.p++
		switch {
		case c > ' ':
			if c == '/' {
				if err := s.comment(); err != nil {
					return 0, err
				}
				continue
			}
			return int(c), nil
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
		default:
			return 0, s.errorf("illegal character (code %d): only blanks are allowed between tokens", c)
		}
	}
	return -1, nil
}

// comment passes over a comment whose slash has been read.
func (s *Scanner) comment() error {
	if !s.f.Comments {
		return s.unexpected('/', "comments are not allowed")
	}
	if s.p == len(s.b) {
		return s.atEnd("in a comment")
	}
	c := s.b[s.p]
	s.p++
	switch c {
	case '/':
		for s.p < len(s.b) {
			c := s.b[s.p]
			s.p++
			if c == '\n' || c == '\r' {
				break
			}
		}
		return nil
	case '*':
		for s.p+1 < len(s.b) {
			if s.b[s.p] == '*' && s.b[s.p+1] == '/' {
				s.p += 2
				return nil
			}
			s.p++
		}
		s.p = len(s.b)
		return s.atEnd("in a comment")
	}
	return s.unexpected(int(c), "was expecting either '*' or '/' for a comment")
}

// value begins the value whose first byte is c.
func (s *Scanner) value(c int) (Token, error) {
	switch {
	case c == '"':
		s.pending, s.text, s.odd = true, s.text[:0], false
		return String, nil
	case c == '{':
		return StartObject, nil
	case c == '[':
		return StartArray, nil
	case c == 't':
		return True, s.literal("true")
	case c == 'f':
		return False, s.literal("false")
	case c == 'n':
		return Null, s.literal("null")
	case c == '-':
		return s.signed(true)
	case c >= '0' && c <= '9':
		s.p--
		return s.number(s.p)
	case c == ',' || c == '}', c == ']' && s.top().kind == '[':
		return None, s.unexpected(c, "expected a value")
	case c == '\'' && s.f.SingleQuotes:
		s.pending, s.text, s.odd = false, s.text[:0], false
		return String, s.decodeString('\'')
	case c == 'N':
		return s.nonNumeric("NaN", 1)
	case c == 'I':
		return s.nonNumeric("Infinity", 1)
	case c == '+':
		return s.signed(false)
	}
	if c < utf8.RuneSelf && isIdentifierStart(rune(c)) || c >= utf8.RuneSelf && isIdentifierStart(s.peekRune(s.p-1)) {
		s.p--
		return None, s.badLiteral()
	}
	return None, s.unexpected(c, "expected a valid value")
}

// peekRune is the character at offset i.
func (s *Scanner) peekRune(i int) rune {
	r, _ := utf8.DecodeRune(s.b[i:])
	return r
}

// literal checks the rest of a literal whose first byte has been read.
func (s *Scanner) literal(word string) error {
	if err := s.match(word, 1); err != nil {
		return err
	}
	if s.p < len(s.b) {
		if c := s.b[s.p]; c >= '0' && c != ']' && c != '}' && isIdentifierPart(s.peekRune(s.p)) {
			return s.badLiteral()
		}
	}
	return nil
}

// match reads word from its i-th byte on.
func (s *Scanner) match(word string, i int) error {
	for ; i < len(word); i++ {
		if s.p == len(s.b) || s.b[s.p] != word[i] {
			return s.badLiteral()
		}
		s.p++
	}
	if s.p < len(s.b) {
		if c := s.b[s.p]; c >= '0' && c != ']' && c != '}' && isIdentifierPart(s.peekRune(s.p)) {
			return s.badLiteral()
		}
	}
	return nil
}

// badLiteral passes over the rest of an unknown word, which the error text would name.
func (s *Scanner) badLiteral() error {
	from := s.p
	for n := 0; s.p < len(s.b) && n < 256; n++ {
		r, size := utf8.DecodeRune(s.b[s.p:])
		if !isIdentifierPart(r) {
			break
		}
		s.p += size
	}
	return s.errorf("unrecognized token %q", s.b[from:s.p])
}

func isIdentifierStart(r rune) bool {
	return r == '_' || r == '$' || r < utf8.RuneSelf && (r|32) >= 'a' && (r|32) <= 'z' ||
		r >= utf8.RuneSelf && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Sc, unicode.Pc))
}

func isIdentifierPart(r rune) bool {
	return isIdentifierStart(r) || r >= '0' && r <= '9' || r < 9 || r >= 0xe && r <= 0x1b || r >= 0x7f && r <= 0x9f ||
		r >= utf8.RuneSelf && r != utf8.RuneError && unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Cf)
}

// nonNumeric reads NaN or Infinity, of which i bytes have been read.
func (s *Scanner) nonNumeric(word string, i int) (Token, error) {
	if err := s.match(word, i); err != nil {
		return None, err
	}
	if !s.f.NonNumericNumbers {
		return None, s.errorf("non-standard token %q", word)
	}
	s.text, s.special = append(s.text[:0], word...), true
	return Float, nil
}

// signed reads a number whose sign has been read.
func (s *Scanner) signed(negative bool) (Token, error) {
	if s.p == len(s.b) {
		return None, s.atEnd("in a number")
	}
	c := s.b[s.p]
	if negative && c >= '0' && c <= '9' {
		return s.number(s.p - 1)
	}
	s.p++
	if c == 'I' {
		if s.p == len(s.b) {
			return None, s.atEnd("in a number")
		}
		c = s.b[s.p]
		s.p++
		word := "+"
		if negative {
			word = "-"
		}
		switch c {
		case 'N':
			return s.nonNumeric(word+"INF", 3)
		case 'n':
			return s.nonNumeric(word+"Infinity", 3)
		}
	}
	return None, s.unexpected(int(c), "expected a digit in a number")
}

// number reads a number that starts at from and whose first digit is the next byte.
func (s *Scanner) number(from int) (Token, error) {
	s.special = false
	digits := s.p
	if s.b[s.p] == '0' {
		s.p++
		if s.p < len(s.b) && isDigit(s.b[s.p]) {
			if !s.f.LeadingZeros {
				return None, s.errorf("invalid numeric value: leading zeroes not allowed")
			}
			for s.p < len(s.b) && s.b[s.p] == '0' {
				s.p++
			}
			digits = s.p
			if s.p == len(s.b) || !isDigit(s.b[s.p]) {
				digits--
			}
		}
	}
	for s.p < len(s.b) && isDigit(s.b[s.p]) {
		s.p++
	}
	t := Int
	if s.p < len(s.b) && s.b[s.p] == '.' {
		t = Float
		s.p++
		frac := s.p
		for s.p < len(s.b) && isDigit(s.b[s.p]) {
			s.p++
		}
		if s.p == frac {
			if s.p < len(s.b) {
				s.p++
			}
			return None, s.errorf("decimal point not followed by a digit")
		}
	}
	if s.p < len(s.b) && s.b[s.p]|0x20 == 'e' {
		t = Float
		s.p++
		if s.p < len(s.b) && (s.b[s.p] == '+' || s.b[s.p] == '-') {
			s.p++
		}
		if s.p == len(s.b) {
			return None, s.atEnd("in a number")
		}
		exp := s.p
		for s.p < len(s.b) && isDigit(s.b[s.p]) {
			s.p++
		}
		if s.p == exp {
			s.p++
			return None, s.errorf("exponent indicator not followed by a digit")
		}
	}
	if len(s.scopes) == 1 && s.p < len(s.b) {
		if c := s.b[s.p]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			s.p++
			return None, s.errorf("expected a blank behind a number")
		}
	}
	s.text = s.text[:0]
	if digits != from && s.b[from] == '-' {
		s.text = append(s.text, '-')
	}
	s.text = append(s.text, s.b[digits:s.p]...)
	if len(s.text) > s.f.MaxNumberLen {
		return None, s.errorf("number value length (%d) exceeds the maximum allowed (%d)", len(s.text), s.f.MaxNumberLen)
	}
	return t, nil
}

func isDigit(c byte) bool { return c-'0' < 10 }

// NumberText is the text of the current number, without needless leading zeros; "NaN", "Infinity",
// "-Infinity", "+INF" and the like are numbers too.
func (s *Scanner) NumberText() []byte { return s.text }

// Special tells whether the current Float is NaN or an infinity.
func (s *Scanner) Special() bool { return s.special }
