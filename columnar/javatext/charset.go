package javatext

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// Charset is one of the character sets of encode and decode.
type Charset uint8

// The character sets that Spark takes.
const (
	UTF8 Charset = iota
	UTF16
	UTF16BE
	UTF16LE
	UTF32
	ISO88591
	USASCII
)

// LookupCharset finds a character set by its name in any case: utf-8, utf-16, utf-16be, utf-16le, utf-32, iso-8859-1 or
// us-ascii. function is the name of the SQL function for the message of
// INVALID_PARAMETER_VALUE.CHARSET.
func LookupCharset(name, function string) (Charset, error) {
	switch strings.ToUpper(name) {
	case "UTF-8":
		return UTF8, nil
	case "UTF-16":
		return UTF16, nil
	case "UTF-16BE":
		return UTF16BE, nil
	case "UTF-16LE":
		return UTF16LE, nil
	case "UTF-32":
		return UTF32, nil
	case "ISO-8859-1":
		return ISO88591, nil
	case "US-ASCII":
		return USASCII, nil
	}
	return 0, sparkerr.New("INVALID_PARAMETER_VALUE.CHARSET", "The value of parameter(s) `charset` in `%s` is invalid: expects one of the iso-8859-1, us-ascii, "+
		"utf-16, utf-16be, utf-16le, utf-32, utf-8, but got %s.", function, name)
}

// String returns the name in upper case.
func (c Charset) String() string {
	return [...]string{"UTF-8", "UTF-16", "UTF-16BE", "UTF-16LE", "UTF-32", "ISO-8859-1", "US-ASCII"}[c]
}

// AppendEncoded writes s in the character set. UTF-16 begins with a byte order mark, unless s is empty. ok is false if the
// set lacks a character (MALFORMED_CHARACTER_CODING).
func (c Charset) AppendEncoded(dst []byte, s string) (out []byte, ok bool) {
	if c == UTF8 && utf8.ValidString(s) {
		return append(dst, s...), true
	}
	if c == UTF16 && s != "" {
		dst = append(dst, 0xfe, 0xff)
	}
	for _, r := range javaString(s) {
		switch c {
		case UTF8:
			dst = utf8.AppendRune(dst, r)
		case UTF32:
			dst = binary.BigEndian.AppendUint32(dst, uint32(r))
		case ISO88591, USASCII:
			if r > 0xff || c == USASCII && r > 0x7f {
				return dst, false
			}
			dst = append(dst, byte(r))
		default:
			if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
				dst = c.append16(c.append16(dst, uint16(high)), uint16(low))
			} else {
				dst = c.append16(dst, uint16(r))
			}
		}
	}
	return dst, true
}

func (c Charset) append16(dst []byte, v uint16) []byte {
	if c == UTF16LE {
		return binary.LittleEndian.AppendUint16(dst, v)
	}
	return binary.BigEndian.AppendUint16(dst, v)
}

// AppendDecoded writes bytes in the character set as UTF-8. ok is false if they are not well-formed
// (MALFORMED_CHARACTER_CODING).
func (c Charset) AppendDecoded(dst, src []byte) (out []byte, ok bool) {
	switch c {
	case UTF8:
		return append(dst, src...), utf8.Valid(src)
	case ISO88591, USASCII:
		for _, b := range src {
			if c == USASCII && b > 0x7f {
				return dst, false
			}
			dst = utf8.AppendRune(dst, rune(b))
		}
		return dst, true
	case UTF32:
		return appendDecoded32(dst, src)
	}
	var order binary.ByteOrder = binary.BigEndian
	switch {
	case c == UTF16LE:
		order = binary.LittleEndian
	case c == UTF16 && len(src) >= 2 && src[0] == 0xff && src[1] == 0xfe:
		order, src = binary.LittleEndian, src[2:]
	case c == UTF16 && len(src) >= 2 && src[0] == 0xfe && src[1] == 0xff:
		src = src[2:]
	}
	for ; len(src) >= 2; src = src[2:] {
		r := rune(order.Uint16(src))
		if utf16.IsSurrogate(r) {
			if len(src) < 4 {
				return dst, false
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(src[2:]))); r == utf8.RuneError {
				return dst, false
			}
			src = src[2:]
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst, len(src) == 0
}

func appendDecoded32(dst, src []byte) ([]byte, bool) {
	var order binary.ByteOrder = binary.BigEndian
	if len(src) >= 4 {
		switch {
		case binary.BigEndian.Uint32(src) == 0xfeff:
			src = src[4:]
		case binary.LittleEndian.Uint32(src) == 0xfeff:
			order, src = binary.LittleEndian, src[4:]
		}
	}
	for ; len(src) >= 4; src = src[4:] {
		v := order.Uint32(src)
		if v > utf8.MaxRune || utf16.IsSurrogate(rune(v)) {
			return dst, false
		}
		dst = utf8.AppendRune(dst, rune(v))
	}
	return dst, len(src) == 0
}

// MalformedCoding is the refusal of a text or of bytes by encode or decode.
func MalformedCoding(function, charset string) error {
	return sparkerr.New("MALFORMED_CHARACTER_CODING", "Invalid value found when performing `%s` with %s", function, charset)
}
