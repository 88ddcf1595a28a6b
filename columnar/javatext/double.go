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
	if v == 0 || v-v != 0 {
		return appendUndeveloped(dst, v)
	}
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	}
	if v < 1e7 {
		if i := int64(v); float64(i) == v {
			return append(strconv.AppendInt(dst, i, 10), ".0"...)
		}
	}
	var d decimalDigits
	d.setDouble(v)
	return appendJavaDigits(dst, d.digits[:d.n], d.decExp)
}

// AppendFloat writes v as JDK 17's Float.toString does; see AppendDouble.
func AppendFloat(dst []byte, v float32) []byte {
	if v == 0 || v-v != 0 {
		return appendUndeveloped(dst, float64(v))
	}
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	}
	var d decimalDigits
	d.setFloat(v)
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

// appendUndeveloped writes a zero, an infinity or NaN.
func appendUndeveloped(dst []byte, v float64) []byte {
	switch {
	case v != v:
		return append(dst, "NaN"...)
	case v > 0:
		return append(dst, "Infinity"...)
	case v < 0:
		return append(dst, "-Infinity"...)
	case math.Signbit(v):
		return append(dst, "-0.0"...)
	}
	return append(dst, "0.0"...)
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
