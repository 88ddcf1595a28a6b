package jsontoken

import (
	"encoding/base64"
	"unicode/utf8"
)

// Text is the decoded text of the current String, valid until the next call. A half of a surrogate
// pair has become a question mark. The text of any other token is what stands in the source.
func (s *Scanner) Text() ([]byte, error) {
	switch s.cur {
	case String:
		if s.pending {
			s.pending = false
			if err := s.decodeString('"'); err != nil {
				return nil, err
			}
		}
		return s.text, nil
	case Int, Float:
		return s.text, nil
	case FieldName:
		return s.top().name, nil
	}
	return nil, nil
}

// fieldName reads a name whose first byte is c.
func (s *Scanner) fieldName(c int) error {
	top := s.top()
	switch {
	case c == '"':
		s.text, s.odd = s.text[:0], false
		if err := s.decodeString('"'); err != nil {
			return err
		}
	case c == '\'' && s.f.SingleQuotes:
		s.text, s.odd = s.text[:0], false
		if err := s.decodeString('\''); err != nil {
			return err
		}
	case s.f.UnquotedNames:
		if c < utf8.RuneSelf && !isNameByte(byte(c)) {
			return s.unexpected(c, "was expecting a name")
		}
		from := s.p - 1
		for s.p < len(s.b) && (s.b[s.p] >= utf8.RuneSelf || isNameByte(s.b[s.p])) {
			s.p++
		}
		if !utf8.Valid(s.b[from:s.p]) {
			return s.errorf("invalid UTF-8 in a name")
		}
		s.text, s.odd = append(s.text[:0], s.b[from:s.p]...), false
	default:
		return s.unexpected(c, "was expecting a double quote to start a field name")
	}
	top.name, top.named, top.odd = append(top.name[:0], s.text...), true, s.odd
	return nil
}

// isNameByte tells which ASCII characters an unquoted name may have.
func isNameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || isDigit(c) || c == '@' || c == '#' || c == '*' || c == '-' || c == '+' || c == '_' || c == '$'
}

// skipString passes over the rest of a string; its escapes and characters are checked all the same.
func (s *Scanner) skipString(quote byte) error { return s.walk(quote, false) }

// decodeString appends the rest of a string to s.text.
func (s *Scanner) decodeString(quote byte) error { return s.walk(quote, true) }

// walk reads a string up to its closing quote. An error leaves the position behind the byte at fault.
func (s *Scanner) walk(quote byte, keep bool) error {
	high := rune(0) // the first half of a surrogate pair that waits for its second
	flush := func() {
		if high != 0 {
			high, s.odd = 0, true
			if keep {
				s.text = append(s.text, '?')
			}
		}
	}
	for {
		if s.p == len(s.b) {
			return s.atEnd("in a string")
		}
		c := s.b[s.p]
		s.p++
		switch {
		case c == quote:
			flush()
			if n := len(s.text); keep && s.f.MaxStringLen > 0 && n > s.f.MaxStringLen {
				return s.errorf("string value length (%d) exceeds the maximum allowed (%d)", n, s.f.MaxStringLen)
			}
			return nil
		case c == '\\':
			r, err := s.escape()
			if err != nil {
				return err
			}
			switch {
			case r >= 0xdc00 && r < 0xe000 && high != 0:
				r = 0x10000 + (high-0xd800)<<10 + (r - 0xdc00)
				high = 0
			case r >= 0xdc00 && r < 0xe000:
				s.odd = true
				r = '?'
			case r >= 0xd800 && r < 0xdc00:
				flush()
				high = r
				continue
			default:
				flush()
			}
			if keep {
				s.text = utf8.AppendRune(s.text, r)
			}
		case c < ' ':
			flush()
			if !s.f.ControlCharacters {
				return s.errorf("illegal unquoted character (code %d) in a string", c)
			}
			if keep {
				s.text = append(s.text, c)
			}
		case c < utf8.RuneSelf:
			flush()
			if keep {
				s.text = append(s.text, c)
			}
		default:
			flush()
			r, err := s.multiByte(c)
			if err != nil {
				return err
			}
			if keep {
				s.text = utf8.AppendRune(s.text, r)
			}
		}
	}
}

// multiByte reads the rest of a UTF-8 sequence that begins with c. Overlong forms are let through,
// halves of surrogate pairs and code points beyond Unicode are not.
func (s *Scanner) multiByte(c byte) (rune, error) {
	var r rune
	n := 0
	switch {
	case c&0xe0 == 0xc0:
		r, n = rune(c&0x1f), 1
	case c&0xf0 == 0xe0:
		r, n = rune(c&0x0f), 2
	case c&0xf8 == 0xf0:
		r, n = rune(c&0x07), 3
	default:
		return 0, s.errorf("invalid UTF-8 start byte 0x%x", c)
	}
	for ; n > 0; n-- {
		if s.p == len(s.b) {
			return 0, s.atEnd("in a character")
		}
		c := s.b[s.p]
		s.p++
		if c&0xc0 != 0x80 {
			return 0, s.errorf("invalid UTF-8 middle byte 0x%x", c)
		}
		r = r<<6 | rune(c&0x3f)
	}
	if r >= 0xd800 && r < 0xe000 || r > utf8.MaxRune {
		return 0, s.errorf("invalid UTF-8: U+%04X", r)
	}
	return r, nil
}

// escape reads what follows a backslash; \u gives one UTF-16 unit.
func (s *Scanner) escape() (rune, error) {
	if s.p == len(s.b) {
		return 0, s.atEnd("in a character escape")
	}
	c := s.b[s.p]
	s.p++
	switch c {
	case 'b':
		return '\b', nil
	case 't':
		return '\t', nil
	case 'n':
		return '\n', nil
	case 'f':
		return '\f', nil
	case 'r':
		return '\r', nil
	case '"', '/', '\\':
		return rune(c), nil
	case 'u':
		r := rune(0)
		for range 4 {
			if s.p == len(s.b) {
				return 0, s.atEnd("in a character escape")
			}
			c := s.b[s.p]
			s.p++
			d := hexDigit(c)
			if d < 0 {
				return 0, s.unexpected(int(c), "expected a hex digit")
			}
			r = r<<4 | d
		}
		return r, nil
	}
	r := rune(c)
	if c >= utf8.RuneSelf {
		var err error
		if r, err = s.multiByte(c); err != nil {
			return 0, err
		}
	}
	if s.f.BackslashAnything || r == '\'' && s.f.SingleQuotes {
		return r, nil
	}
	return 0, s.errorf("unrecognized character escape %q", r)
}

func hexDigit(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}

// Binary decodes the current String as base64 with padding. Blanks may stand between groups of four
// characters. An error in a string that has not been read yet leaves the position where it was found.
func (s *Scanner) Binary() ([]byte, error) {
	if !s.pending {
		return s.binaryOf(s.text)
	}
	var out []byte
	var group [4]byte
	for {
		// Blanks are passed over only in front of a group.
		c, err := s.base64Byte()
		if err != nil {
			return nil, err
		}
		if c <= ' ' {
			continue
		}
		if c == '"' {
			s.pending = false
			s.text = append(s.text[:0], base64.StdEncoding.EncodeToString(out)...)
			return out, nil
		}
		for i := 0; ; i++ {
			if c == '\\' {
				r, err := s.escape()
				if err != nil {
					return nil, err
				}
				if r >= utf8.RuneSelf {
					return nil, s.errorf("illegal character %q in base64", r)
				}
				c = byte(r)
			} else if c == '"' {
				if i >= 2 { // a missing padding is told apart from other faults
					s.p--
				}
				return nil, s.errorf("unexpected end of base64: padding missing")
			}
			group[i] = c
			if c == '=' && i < 2 || c != '=' && !isBase64(c) || i == 3 && group[2] == '=' && c != '=' {
				return nil, s.errorf("illegal character %q in base64", c)
			}
			if i == 3 {
				break
			}
			if c, err = s.base64Byte(); err != nil {
				return nil, err
			}
		}
		n, value := 3, uint32(0)
		for i := 3; i >= 2 && group[i] == '='; i-- {
			group[i] = 'A'
			n--
		}
		for _, c := range group {
			value = value<<6 | base64Value(c)
		}
		out = append(out, []byte{byte(value >> 16), byte(value >> 8), byte(value)}[:n]...)
	}
}

func (s *Scanner) base64Byte() (byte, error) {
	if s.p == len(s.b) {
		return 0, s.atEnd("in a string")
	}
	s.p++
	return s.b[s.p-1], nil
}

// binaryOf decodes a string that has been read already.
func (s *Scanner) binaryOf(text []byte) ([]byte, error) {
	inner := Scanner{b: append(append([]byte{}, text...), '"'), f: s.f, pending: true}
	out, err := inner.Binary()
	if err == nil && inner.p < len(inner.b) {
		err = s.errorf("illegal character in base64")
	}
	return out, err
}

func isBase64(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || isDigit(c) || c == '+' || c == '/'
}

func base64Value(c byte) uint32 {
	switch {
	case c >= 'A' && c <= 'Z':
		return uint32(c - 'A')
	case c >= 'a' && c <= 'z':
		return uint32(c-'a') + 26
	case isDigit(c):
		return uint32(c-'0') + 52
	case c == '+':
		return 62
	}
	return 63
}

// ReplaceInvalid returns b with U+FFFD for what is no UTF-8: one for each longest prefix of a
// character, as Java's decoder does.
func ReplaceInvalid(b []byte) []byte {
	out := make([]byte, 0, len(b)+16)
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r != utf8.RuneError || size > 1 {
			out = append(out, b[:size]...)
			b = b[size:]
			continue
		}
		out = append(out, "\uFFFD"...)
		b = b[max(1, invalidPrefix(b)):]
	}
	return out
}

// invalidPrefix is the number of bytes at the start of b that are the beginning of a character which
// is then broken off.
func invalidPrefix(b []byte) int {
	lo, hi, n := byte(0x80), byte(0xbf), 0
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		n = 2
	case c >= 0xe0 && c <= 0xef:
		n = 3
		if c == 0xe0 {
			lo = 0xa0
		} else if c == 0xed {
			hi = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		n = 4
		if c == 0xf0 {
			lo = 0x90
		} else if c == 0xf4 {
			hi = 0x8f
		}
	default:
		return 1
	}
	for i := 1; i < n; i++ {
		if i == len(b) || b[i] < lo || b[i] > hi {
			return i
		}
		lo, hi = 0x80, 0xbf
	}
	return n
}
