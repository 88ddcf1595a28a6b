package javatext

// TrimAll returns s without the blanks and control characters at its ends that Spark ignores around the text
// of a number, date or interval: all of ASCII up to the space, and DEL.
func TrimAll(s string) string {
	for len(s) > 0 && isTrimmed(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isTrimmed(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func isTrimmed(c byte) bool { return c <= ' ' || c == 0x7f }
