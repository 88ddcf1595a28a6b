package jsonfmt

import (
	"unicode/utf8"
	"unsafe"
)

const hexDigits = "0123456789ABCDEF"

// plainASCII marks the bytes that stand for themselves in a JSON string.
var plainASCII = func() (t [256]bool) {
	for c := ' '; c < 256; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendJSONString writes s in quotes with Jackson's escapes; with ascii everything beyond ASCII is escaped.
// What is no UTF-8 is copied, or becomes U+FFFD with ascii.
func appendJSONString(dst []byte, s string, ascii bool) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		for i+8 <= len(s) && stops(wordAt(unsafe.Pointer(unsafe.StringData(s)), i)) == 0 {
			i += 8
		}
		if i == len(s) {
			break
		}
		c := s[i]
		if plainASCII[c] && (!ascii || c < utf8.RuneSelf) {
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r >= 0x10000 {
				r -= 0x10000
				dst = appendUnit(appendUnit(dst, 0xd800+r>>10), 0xdc00+r&0x3ff)
			} else {
				dst = appendUnit(dst, r)
			}
			i += size - 1
		}
		from = i + 1
	}
	return append(append(dst, s[from:]...), '"')
}

func appendUnit(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// AppendString writes s as a JSON string, in quotes, behind dst.
func AppendString(dst []byte, s string) []byte { return appendJSONString(dst, s, false) }
