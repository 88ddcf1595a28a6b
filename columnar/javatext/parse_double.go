package javatext

import (
	"math"
	"strconv"
	"strings"
)

// ParseDouble reads a double the way CAST(s AS DOUBLE) does: what Java's Double.parseDouble takes, which is a decimal
// or hexadecimal ("0x1.8p3") number with or without a "d" or "f" behind it and blanks around it, "NaN" and
// "Infinity"; and in any case "nan", "inf", "infinity" with a sign.
func ParseDouble(s string) (v float64, ok bool) {
	if v, ok := shortDouble(s); ok {
		return v, true
	}
	return parseFloating(s, 64)
}

// shortDouble reads what most numbers are: at most 15 digits with a point among them, and perhaps a minus. Digits and the
// power of ten are exact doubles then, so that their quotient is the nearest one.
func shortDouble(s string) (float64, bool) {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	if n := len(s) - i; n == 0 || n > len(exactPowers) {
		return 0, false
	}
	n, point := int64(0), -1
	for k := i; k < len(s); k++ {
		switch c := s[k]; {
		case c >= '0' && c <= '9':
			n = n*10 + int64(c-'0')
		case c == '.' && point < 0 && k > i && k+1 < len(s):
			point = k
		default:
			return 0, false
		}
	}
	v := float64(n)
	if point >= 0 {
		v /= exactPowers[len(s)-1-point]
	}
	if i == 1 {
		v = -v
	}
	return v, true
}

// ParseFloat is ParseDouble for a FLOAT, rounded once.
func ParseFloat(s string) (v float32, ok bool) {
	w, ok := parseFloating(s, 32)
	return float32(w), ok
}

func parseFloating(s string, bitSize int) (float64, bool) {
	s = strings.Trim(s, javaTrimSet)
	if s == "" {
		return 0, false
	}
	number, hex, ok := javaNumber(s)
	if !ok {
		return specialFloating(s)
	}
	// Exponents of a size that ParseFloat refuses are cut there to a huge one, as in Java.
	v, err := strconv.ParseFloat(number, bitSize)
	if err != nil && (hex || !math.IsInf(v, 0)) {
		if numError, isRange := err.(*strconv.NumError); !isRange || numError.Err != strconv.ErrRange {
			return 0, false
		}
	}
	return v, true
}

// javaNumber checks the grammar of Double.parseDouble, and takes the type suffix off.
func javaNumber(s string) (number string, hex, ok bool) {
	i := 0
	if s[0] == '+' || s[0] == '-' {
		i = 1
	}
	isDigit := isASCIIDigit
	exponent := byte('e')
	if i+1 < len(s) && s[i] == '0' && s[i+1]|0x20 == 'x' {
		hex, isDigit, exponent = true, isHexDigit, 'p'
		i += 2
	}
	digits := 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		digits++
	}
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && isDigit(s[i]); i++ {
			digits++
		}
	}
	if digits == 0 {
		return "", hex, false
	}
	if i < len(s) && s[i]|0x20 == exponent {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		from := i
		for i < len(s) && isASCIIDigit(s[i]) {
			i++
		}
		if i == from {
			return "", hex, false
		}
	} else if hex {
		return "", hex, false
	}
	number = s[:i]
	if i < len(s) && (s[i]|0x20 == 'd' || s[i]|0x20 == 'f') {
		i++
	}
	return number, hex, i == len(s)
}

func isHexDigit(c byte) bool { return isASCIIDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// specialFloating reads the names of infinities and NaN.
func specialFloating(s string) (float64, bool) {
	if len(s) > len("+infinity") {
		return 0, false
	}
	if s == "+NaN" || s == "-NaN" { // Java's own, in this spelling only
		return math.NaN(), true
	}
	switch strings.ToLower(s) {
	case "nan":
		return math.NaN(), true
	case "inf", "+inf", "infinity", "+infinity":
		return math.Inf(1), true
	case "-inf", "-infinity":
		return math.Inf(-1), true
	}
	return 0, false
}
