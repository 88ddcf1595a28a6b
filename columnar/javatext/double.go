package javatext

import (
	"math"
	"strconv"
)

// AppendDouble writes v as JDK 17's Double.toString does: plain digits for 1e-3 <= |v| < 1e7, otherwise
// one digit, a point, the others and an exponent ("1.0E7"); "NaN", "Infinity" and "-0.0" as they are.
//
// JDK 17 does not always find the shortest digits (2.2250738585072014E-308 and 2.0E-323 are examples); its
// algorithm is followed exactly where it differs from the shortest ones.
func AppendDouble(dst []byte, v float64) []byte {
	bits := math.Float64bits(v)
	exp := int(bits>>52) & 0x7ff
	frac := bits & (1<<52 - 1)
	if exp == 0x7ff {
		return appendNonFinite(dst, v)
	}
	if v == 0 {
		if bits>>63 != 0 {
			dst = append(dst, '-')
		}
		return append(dst, "0.0"...)
	}
	if bits>>63 != 0 {
		dst = append(dst, '-')
	}
	var buf [32]byte
	// Outside of these three kinds of numbers no decimal of 17 digits lies on the border between two
	// doubles, and then JDK 17 finds the shortest digits.
	if exp > 0 && frac != 0 && (exp < 1023+53 || exp > 1023+137) {
		digits, decExp := shortestDigits(buf[:0], math.Abs(v), 64)
		return appendJavaDigits(dst, digits, decExp)
	}
	var d decimalDigits
	if exp == 0 {
		shift := leadingZeros64(frac) - 11
		d.develop(1-shift-1023, frac<<uint(shift), 64-leadingZeros64(frac), true)
	} else {
		d.develop(exp-1023, frac|1<<52, 53, true)
	}
	return appendJavaDigits(dst, d.digits[:d.n], d.decExp)
}

// AppendFloat writes v as JDK 17's Float.toString does; see AppendDouble.
func AppendFloat(dst []byte, v float32) []byte {
	bits := math.Float32bits(v)
	exp := int(bits>>23) & 0xff
	frac := uint64(bits & (1<<23 - 1))
	if exp == 0xff {
		return appendNonFinite(dst, float64(v))
	}
	if v == 0 {
		if bits>>31 != 0 {
			dst = append(dst, '-')
		}
		return append(dst, "0.0"...)
	}
	if bits>>31 != 0 {
		dst = append(dst, '-')
	}
	var buf [32]byte
	if exp > 0 && frac != 0 && (exp < 127+24 || exp > 127+100) {
		digits, decExp := shortestDigits(buf[:0], math.Abs(float64(v)), 32)
		return appendJavaDigits(dst, digits, decExp)
	}
	var d decimalDigits
	if exp == 0 {
		zeros := leadingZeros64(frac) - 32
		shift := zeros - 8
		d.develop(1-shift-127, frac<<uint(shift)<<29, 32-zeros, true)
	} else {
		d.develop(exp-127, (frac|1<<23)<<29, 24, true)
	}
	return appendJavaDigits(dst, d.digits[:d.n], d.decExp)
}

// DoubleString returns v as AppendDouble writes it.
func DoubleString(v float64) string {
	var buf [32]byte
	return string(AppendDouble(buf[:0], v))
}

// FloatString returns v as AppendFloat writes it.
func FloatString(v float32) string {
	var buf [32]byte
	return string(AppendFloat(buf[:0], v))
}

func appendNonFinite(dst []byte, v float64) []byte {
	switch {
	case v != v:
		return append(dst, "NaN"...)
	case v > 0:
		return append(dst, "Infinity"...)
	}
	return append(dst, "-Infinity"...)
}

// shortestDigits returns the shortest decimal digits that give v > 0 again, and the exponent e with
// v = 0.DIGITS * 10^e.
func shortestDigits(buf []byte, v float64, bitSize int) ([]byte, int) {
	buf = strconv.AppendFloat(buf, v, 'e', -1, bitSize)
	// D[.DDDD]e±XX
	n := 1
	i := 1
	if buf[1] == '.' {
		for i = 2; buf[i] != 'e'; i++ {
			buf[n] = buf[i]
			n++
		}
	}
	neg := buf[i+1] == '-'
	exp := 0
	for _, c := range buf[i+2:] {
		exp = exp*10 + int(c-'0')
	}
	if neg {
		exp = -exp
	}
	return buf[:n], exp + 1
}

// appendJavaDigits lays out 0.DIGITS * 10^decExp in the form of Double.toString.
func appendJavaDigits(dst, digits []byte, decExp int) []byte {
	n := len(digits)
	switch {
	case decExp > 0 && decExp < 8:
		if n <= decExp {
			dst = append(dst, digits...)
			for ; n < decExp; n++ {
				dst = append(dst, '0')
			}
			return append(dst, ".0"...)
		}
		dst = append(dst, digits[:decExp]...)
		dst = append(dst, '.')
		return append(dst, digits[decExp:]...)
	case decExp <= 0 && decExp > -3:
		dst = append(dst, "0."...)
		for ; decExp < 0; decExp++ {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[0], '.')
	if n > 1 {
		dst = append(dst, digits[1:]...)
	} else {
		dst = append(dst, '0')
	}
	dst = append(dst, 'E')
	return strconv.AppendInt(dst, int64(decExp-1), 10)
}
