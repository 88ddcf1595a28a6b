package javatext

import (
	"encoding/base64"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// AppendBase64 writes bytes in base64 with a line end (CR LF) after each 76 characters but the last, as base64 does.
func AppendBase64(dst, src []byte) []byte {
	const lineBytes = 76 / 4 * 3
	for len(src) > lineBytes {
		dst = base64.StdEncoding.AppendEncode(dst, src[:lineBytes])
		dst = append(dst, '\r', '\n')
		src = src[lineBytes:]
	}
	return base64.StdEncoding.AppendEncode(dst, src)
}

// AppendUnbase64 reads base64 as unbase64 does, which is Java's MIME decoder: characters outside of the alphabet are passed
// over, padding may be missing. ok is false for a text that ends in the middle of a byte or has padding in the
// wrong place.
func AppendUnbase64(dst []byte, s string) (out []byte, ok bool) {
	var word uint32
	shift := 18
	i := 0
	for i < len(s) {
		c := s[i]
		i++
		if c == '=' {
			if shift == 18 {
				return dst, false
			}
			if shift == 6 {
				if i == len(s) || s[i] != '=' {
					return dst, false
				}
				i++
			}
			break
		}
		v := base64Value(c)
		if v < 0 {
			continue
		}
		word |= uint32(v) << shift
		if shift -= 6; shift < 0 {
			dst = append(dst, byte(word>>16), byte(word>>8), byte(word))
			word, shift = 0, 18
		}
	}
	switch shift {
	case 12:
		return dst, false
	case 6:
		dst = append(dst, byte(word>>16))
	case 0:
		dst = append(dst, byte(word>>16), byte(word>>8))
	}
	for ; i < len(s); i++ {
		if base64Value(s[i]) >= 0 {
			return dst, false
		}
	}
	return dst, true
}

// base64Value returns the six bits of a character, or -1.
func base64Value(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 26
	case isASCIIDigit(c):
		return int(c-'0') + 52
	case c == '+':
		return 62
	case c == '/':
		return 63
	}
	return -1
}

// AppendToBinaryBase64 reads base64 as to_binary(s, 'base64') does: only blanks may stand between the characters of the
// alphabet, and padding must complete a group of four and end the text. Otherwise it is CONVERSION_INVALID_INPUT.
func AppendToBinaryBase64(dst []byte, s string) ([]byte, error) {
	chars, padding := 0, 0
	valid := true
	for i := 0; i < len(s) && valid; i++ {
		switch c := s[i]; {
		case base64Value(c) >= 0:
			chars++
			valid = padding == 0
		case c == '=':
			padding++
			valid = padding <= 2
		default:
			valid = isJavaSpace(c) && padding == 0
		}
	}
	if padding > 0 {
		valid = valid && (chars+padding)%4 == 0
	}
	out, ok := dst, false
	if valid && chars%4 != 1 {
		out, ok = AppendUnbase64(dst, s)
	}
	if !ok {
		return dst, sparkerr.New("CONVERSION_INVALID_INPUT", "The value '%s' ('BASE64') cannot be converted to \"BINARY\" because it is malformed. "+
			"Correct the value as per the syntax, or change its format. Use `try_to_binary` to tolerate malformed input and return NULL instead.", s)
	}
	return out, nil
}
