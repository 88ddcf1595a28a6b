package javatext

import "math"

// ParseBigint reads a whole number the way CAST(s AS BIGINT) does: blanks around it, a sign, digits of ASCII.
// With allowFraction, as in a cast without ANSI, a point and digits behind it may follow and are ignored. ok
// is false if the text is no number or leaves 64 bits.
func ParseBigint(s string, allowFraction bool) (v int64, ok bool) {
	s = TrimAll(s)
	if s == "" {
		return 0, false
	}
	i := 0
	negative := s[0] == '-'
	if negative || s[0] == '+' {
		if len(s) == 1 {
			return 0, false
		}
		i = 1
	}
	// The sum is kept negative, as there is one more negative number.
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && allowFraction {
			for i++; i < len(s); i++ {
				if !isASCIIDigit(s[i]) {
					return 0, false
				}
			}
			break
		}
		if !isASCIIDigit(c) {
			return 0, false
		}
		digit := int64(c - '0')
		if v < math.MinInt64/10 || v*10 < math.MinInt64+digit {
			return 0, false
		}
		v = v*10 - digit
	}
	if negative {
		return v, true
	}
	return -v, v != math.MinInt64
}

// ParseInt is ParseBigint for an INT.
func ParseInt(s string, allowFraction bool) (v int32, ok bool) {
	w, ok := ParseBigint(s, allowFraction)
	return int32(w), ok && w == int64(int32(w))
}

// ParseSmallint is ParseBigint for a SMALLINT.
func ParseSmallint(s string, allowFraction bool) (v int16, ok bool) {
	w, ok := ParseBigint(s, allowFraction)
	return int16(w), ok && w == int64(int16(w))
}

// ParseTinyint is ParseBigint for a TINYINT.
func ParseTinyint(s string, allowFraction bool) (v int8, ok bool) {
	w, ok := ParseBigint(s, allowFraction)
	return int8(w), ok && w == int64(int8(w))
}

// ParseBoolean reads a boolean the way CAST(s AS BOOLEAN) does: t, true, y, yes, 1 and f, false, n, no, 0, in any
// case, with blanks around.
func ParseBoolean(s string) (v, ok bool) {
	s = TrimAll(s)
	if len(s) > 5 {
		return false, false
	}
	var buf [5]byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		buf[i] = c
	}
	switch string(buf[:len(s)]) {
	case "t", "true", "y", "yes", "1":
		return true, true
	case "f", "false", "n", "no", "0":
		return false, true
	}
	return false, false
}
