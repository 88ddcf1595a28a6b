package javatext

import (
	_ "embed" // for the table
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// casingText lists the letters whose upper (U), lower (L) or title case (T) is more than one letter, or is missing in
// Go's tables: Spark takes the full mappings of Unicode 17 through ICU.
//
//go:embed casing.txt
var casingText string

// casing holds what casing.txt says.
type casing struct{ upper, lower, title map[rune]string }

var casings = sync.OnceValue(func() *casing {
	c := &casing{make(map[rune]string), make(map[rune]string), make(map[rune]string)}
	for line := range strings.Lines(casingText) {
		f := strings.Fields(line)
		var runes []rune
		for _, hex := range f[1:] {
			runes = append(runes, rune(tableInt(hex, 16)))
		}
		m := c.upper
		switch f[0] {
		case "L":
			m = c.lower
		case "T":
			m = c.title
		}
		m[runes[0]] = string(runes[1:])
	}
	return c
})

// AppendUpper writes s in upper case, as Spark's upper: "straße" is "STRASSE". Bytes that are not UTF-8 become
// U+FFFD if there is any letter beyond ASCII.
func AppendUpper(dst []byte, s string) []byte {
	if isASCII(s) {
		for i := 0; i < len(s); i++ {
			c := s[i]
			if c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
			dst = append(dst, c)
		}
		return dst
	}
	table := casings().upper
	for _, r := range javaString(s) {
		if full, ok := table[r]; ok {
			dst = append(dst, full...)
		} else {
			dst = utf8.AppendRune(dst, unicode.ToUpper(r))
		}
	}
	return dst
}

// AppendLower writes s in lower case, as Spark's lower; a sigma at the end of a word is "ς". See AppendUpper for
// invalid UTF-8.
func AppendLower(dst []byte, s string) []byte {
	if isASCII(s) {
		for i := 0; i < len(s); i++ {
			c := s[i]
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
		}
		return dst
	}
	s = javaString(s)
	table := casings().lower
	for i, r := range s {
		if r == 'Σ' {
			dst = append(dst, lowerSigma(s, i)...)
		} else {
			dst = appendLowerRune(dst, r, table)
		}
	}
	return dst
}

func appendLowerRune(dst []byte, r rune, table map[rune]string) []byte {
	if full, ok := table[r]; ok {
		return append(dst, full...)
	}
	return utf8.AppendRune(dst, unicode.ToLower(r))
}

// lowerSigma returns the small sigma for the capital one at i: the final form if a letter stands before it and none
// behind, where marks do not count.
func lowerSigma(s string, i int) string {
	before := false
	for k := i; k > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:k])
		k -= n
		if !isCaseIgnorable(r) {
			before = isCased(r)
			break
		}
	}
	if !before {
		return "σ"
	}
	for _, r := range s[i+len("Σ"):] {
		if !isCaseIgnorable(r) {
			if isCased(r) {
				return "σ"
			}
			break
		}
	}
	return "ς"
}

func isCased(r rune) bool {
	return unicode.IsLower(r) || unicode.IsUpper(r) || unicode.IsTitle(r) || unicode.Is(unicode.Other_Lowercase, r) || unicode.Is(unicode.Other_Uppercase, r)
}

// isCaseIgnorable is Unicode's property Case_Ignorable.
func isCaseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '^', '`', '\u00a8', '\u00ad', '\u00af', '\u00b4', '\u00b7', '\u00b8', '\u2018', '\u2019', '\u2024', '\u2027', '\ufe13', '\ufe52', '\ufe55',
		'\uff07', '\uff0e', '\uff1a', '\u0387', '\u055f', '\u05f4':
		return true
	}
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

// AppendInitcap writes s with the first letter of each word in title case and the others in lower case. Words are
// parted by the space, and by nothing else.
func AppendInitcap(dst []byte, s string) []byte {
	if isASCII(s) {
		start := true
		for i := 0; i < len(s); i++ {
			c := s[i]
			switch {
			case start && c >= 'a' && c <= 'z':
				c -= 'a' - 'A'
			case !start && c >= 'A' && c <= 'Z':
				c += 'a' - 'A'
			}
			start = c == ' '
			dst = append(dst, c)
		}
		return dst
	}
	s = javaString(s)
	table := casings()
	start := true
	for i, r := range s {
		switch {
		case start:
			if full, ok := table.title[r]; ok {
				dst = append(dst, full...)
			} else {
				dst = utf8.AppendRune(dst, unicode.ToTitle(r))
			}
		case r == 'Σ':
			dst = append(dst, lowerSigma(s, i)...)
		default:
			dst = appendLowerRune(dst, r, table.lower)
		}
		start = r == ' '
	}
	return dst
}

// isASCII tells whether all bytes are below 0x80.
func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
