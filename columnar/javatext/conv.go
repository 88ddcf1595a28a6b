package javatext

import "math/bits"

// Conv rewrites a whole number from one base to another, as Spark's conv: digits and letters of the base are read up
// to the first other character, as an unsigned number of 64 bits; a negative toBase prints it as a signed
// one. Blanks at the ends are no part of it. ok is false, for NULL, if the text is empty or a base is not within 2 to 36;
// overflow tells that the number needed more than 64 bits (ARITHMETIC_OVERFLOW with ANSI), and was
// taken to be the greatest.
func Conv(s string, fromBase, toBase int) (text string, ok, overflow bool) {
	for len(s) > 0 && s[0] == ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	base := toBase
	if base < 0 {
		base = -base
	}
	if s == "" || fromBase < 2 || fromBase > 36 || base < 2 || base > 36 {
		return "", false, false
	}
	negative := s[0] == '-'
	if negative {
		s = s[1:]
	}
	v := uint64(0)
	for i := 0; i < len(s); i++ {
		digit := baseDigit(s[i])
		if digit >= fromBase {
			break
		}
		hi, lo := bits.Mul64(v, uint64(fromBase))
		sum, carry := bits.Add64(lo, uint64(digit), 0)
		if hi != 0 || carry != 0 {
			v, overflow = 1<<64-1, true
			break
		}
		v = sum
	}
	if negative && toBase > 0 {
		if int64(v) < 0 {
			v = 1<<64 - 1
		} else {
			v = -v
		}
	}
	if toBase < 0 && int64(v) < 0 {
		v, negative = -v, true
	}
	var buf [65]byte
	p := len(buf)
	for {
		p--
		buf[p] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[v%uint64(base)]
		if v /= uint64(base); v == 0 {
			break
		}
	}
	if negative && toBase < 0 {
		p--
		buf[p] = '-'
	}
	return string(buf[p:]), true, overflow
}

// baseDigit returns the value of a digit or letter, or a number greater than any base.
func baseDigit(c byte) int {
	switch {
	case isASCIIDigit(c):
		return int(c - '0')
	case isASCIILetter(c):
		return int(c|0x20-'a') + 10
	}
	return 255
}
