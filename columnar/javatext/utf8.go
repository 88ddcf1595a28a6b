package javatext

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// CharLen returns how many bytes the character takes that begins with b. Spark goes by the first byte alone, and
// counts a byte that begins no character as one.
func CharLen(b byte) int {
	switch {
	case b < 0xc2:
		return 1
	case b < 0xe0:
		return 2
	case b < 0xf0:
		return 3
	case b < 0xf5:
		return 4
	}
	return 1
}

// Length returns the number of characters, which are code points.
func Length(s string) int {
	n := 0
	for i := 0; i < len(s); n++ {
		if b := s[i]; b < utf8.RuneSelf {
			i++
		} else {
			i += CharLen(b)
		}
	}
	return n
}

// ByteOffset returns where the character with the index chars (from 0) begins, or len(s) if there are fewer.
func ByteOffset(s string, chars int) int {
	i := 0
	for ; chars > 0 && i < len(s); chars-- {
		if b := s[i]; b < utf8.RuneSelf {
			i++
		} else {
			i += CharLen(b)
		}
	}
	return min(i, len(s))
}

// Substring returns length characters from position pos on, as substring(s, pos, length): positions count from 1,
// 0 is the same as 1, negative ones count from the end, and one before the beginning eats into the length.
func Substring(s string, pos, length int32) string {
	start := int64(0)
	switch {
	case pos > 0:
		start = int64(pos) - 1
	case pos < 0:
		start = int64(Length(s)) + int64(pos)
	}
	end := min(start+int64(length), 1<<31-1)
	if end <= max(start, 0) {
		return ""
	}
	from := 0
	if start > 0 {
		if start >= int64(len(s)) {
			return ""
		}
		from = ByteOffset(s, int(start))
	}
	rest := s[from:]
	if count := end - max(start, 0); count < int64(len(rest)) {
		return rest[:ByteOffset(rest, int(count))]
	}
	return rest
}

// IsValidUTF8 tells whether s is well-formed, as is_valid_utf8.
func IsValidUTF8(s string) bool { return utf8.ValidString(s) }

// MakeValidUTF8 returns s with U+FFFD in place of each maximal ill-formed part, as make_valid_utf8.
func MakeValidUTF8(s string) string { return replaceIllFormed(s, false) }

// javaString returns s as it comes out of a Java string, for all functions that Spark hands one to: as MakeValidUTF8, but
// half of a surrogate pair in UTF-8 is replaced as a whole.
func javaString(s string) string { return replaceIllFormed(s, true) }

func replaceIllFormed(s string, wholeSurrogates bool) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r != utf8.RuneError || n > 1:
			b.WriteString(s[i : i+n])
		case wholeSurrogates && i+2 < len(s) && s[i] == 0xed && !utf8.RuneStart(s[i+1]) && !utf8.RuneStart(s[i+2]):
			n = 3
			b.WriteRune(utf8.RuneError)
		default:
			n = illFormedLength(s[i:])
			b.WriteRune(utf8.RuneError)
		}
		i += n
	}
	return b.String()
}

// illFormedLength returns how many bytes at the front of s are the longest beginning of a well-formed character, at
// least one.
func illFormedLength(s string) int {
	low, high := byte(0x80), byte(0xbf)
	switch s[0] {
	case 0xe0:
		low = 0xa0
	case 0xed:
		high = 0x9f
	case 0xf0:
		low = 0x90
	case 0xf4:
		high = 0x8f
	}
	n := 1
	for want := CharLen(s[0]); n < want && n < len(s) && s[n] >= low && s[n] <= high; n++ {
		low, high = 0x80, 0xbf
	}
	return n
}

// ValidateUTF8 refuses a text that is not well-formed (INVALID_UTF8_STRING), as validate_utf8.
func ValidateUTF8(s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 {
			n = illFormedLength(s[i:])
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, "\\x%02X", c)
			}
		}
		i += n
	}
	return sparkerr.New("INVALID_UTF8_STRING", "Invalid UTF8 byte sequence found in string: %s.", b.String())
}

// IsWhitespace is Java's Character.isWhitespace: blanks of Unicode that are not no-break, and control characters.
func IsWhitespace(r rune) bool {
	switch {
	case r < 0x80:
		return isJavaSpace(byte(r))
	case r == 0x1680, r >= 0x2000 && r <= 0x200a && r != 0x2007, r == 0x2028, r == 0x2029, r == 0x205f, r == 0x3000:
		return true
	}
	return false
}
