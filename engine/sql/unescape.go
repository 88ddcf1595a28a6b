package sql

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape resolves the escapes of a string that stood between the quotes q:
//
//	\uXXXX \UXXXXXXXX    a code point; two surrogates in a row make one character
//	\101                 an octal number up to \177
//	\0 \b \n \r \t \Z    NUL, backspace, line feed, carriage return, tab, and 0x1A
//	\% \_                kept with their backslash, for LIKE
//	\c                   the character c itself
//	qq                   one quote
func unescape(s string, q byte) string {
	if strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, q) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	high := rune(0) // a high surrogate that waits for its low one
	put := func(r rune) {
		if high != 0 {
			if pair := utf16.DecodeRune(high, r); pair != utf8.RuneError {
				b.WriteRune(pair)
				high = 0
				return
			}
			b.WriteByte('?')
			high = 0
		}
		switch {
		case r >= 0xd800 && r < 0xdc00:
			high = r
		case r >= 0xdc00 && r < 0xe000:
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == q && i+1 < len(s) && s[i+1] == q:
			put(rune(q))
			i += 2
		case c == '\\' && i+1 < len(s):
			r, n := escape(s[i+1:])
			if n == 0 {
				put('\\')
				put(rune(s[i+1]))
				i += 2
				continue
			}
			put(r)
			i += 1 + n
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b.WriteByte(c)
			} else {
				put(r)
			}
			i += n
		}
	}
	if high != 0 {
		b.WriteByte('?')
	}
	return b.String()
}

// escape reads what stands behind a backslash and returns the character and how many bytes it took;
// none if the backslash and the next character are both to be kept.
func escape(s string) (rune, int) {
	switch c := s[0]; c {
	case 'u':
		if r, ok := hexRune(s[1:], 4); ok {
			return r, 5
		}
	case 'U':
		if r, ok := hexRune(s[1:], 8); ok {
			return r, 9
		}
	case '0', '1':
		if len(s) >= 3 && isOctal(s[1]) && isOctal(s[2]) {
			return rune(c-'0')<<6 | rune(s[1]-'0')<<3 | rune(s[2]-'0'), 3
		}
		if c == '0' {
			return 0, 1
		}
	case 'b':
		return '\b', 1
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'Z':
		return 0x1a, 1
	case '%', '_':
		return 0, 0
	}
	r, n := utf8.DecodeRuneInString(s)
	return r, n
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }

func hexRune(s string, n int) (rune, bool) {
	if len(s) < n {
		return 0, false
	}
	v, err := strconv.ParseUint(s[:n], 16, 32)
	if err != nil || v > 0x10ffff {
		return 0, false
	}
	return rune(v), true
}
