package expr

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// equalFold compares names without regard to case.
func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

func itoa(i int) string { return strconv.Itoa(i) }

func validUTF8(s string) bool { return utf8.ValidString(s) }
