package javatext

import (
	"math"
	"strconv"
)

// RoundDouble rounds the digits that AppendDouble writes, rather than the binary number, to so many places behind
// the point (before it if negative), as Spark's round, bround, ceil and floor do: 1.005 is 1.01 with two
// places. NaN and infinities stay, and there is no -0.
func RoundDouble(v float64, places int, mode RoundingMode) float64 {
	if v-v != 0 || v == 0 {
		return v + 0
	}
	if r, ok := roundNear(v, places, mode); ok {
		return r
	}
	var d decimalDigits
	t := d.text(v)
	r, _ := strconv.ParseFloat(t.roundedText(places, mode), 64)
	return r
}

// roundNear rounds to the nearest by arithmetic where that surely gives what the digits of the number would: where it
// does not lie near the middle between two results. The quotient of two whole numbers that are exact is the double that
// is closest to the decimal.
func roundNear(v float64, places int, mode RoundingMode) (float64, bool) {
	if places < 0 || places >= len(exactPowers) || mode != HalfUp && mode != HalfEven {
		return 0, false
	}
	p := exactPowers[places]
	y := math.Abs(v) * p
	if y >= 1<<50 {
		return 0, false
	}
	whole := math.Floor(y)
	if d := math.Abs(y - whole - 0.5); d < y*0x1p-48+0x1p-40 {
		return 0, false
	}
	r := math.Floor(y+0.5) / p
	if v < 0 && r != 0 {
		r = -r
	}
	return r, true
}

// exactPowers are powers of ten that a double holds exactly.
var exactPowers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// RoundFloat is RoundDouble for a FLOAT, whose digits are those of the same number as a double.
func RoundFloat(v float32, places int, mode RoundingMode) float32 {
	if v-v != 0 || v == 0 {
		return v + 0
	}
	var d decimalDigits
	t := d.text(float64(v))
	r, _ := strconv.ParseFloat(t.roundedText(places, mode), 32)
	return float32(r)
}

// roundedText writes the number rounded to places in a form that ParseFloat reads.
func (t *decimalText) roundedText(places int, mode RoundingMode) string {
	var buf [48]byte
	out := buf[:0]
	if t.negative {
		out = append(out, '-')
	}
	// A carry needs a digit in front.
	out = append(out, '0')
	sign := len(out)
	keep := len(t.digits)
	if places < maxPlaces {
		keep = min(keep, max(-1, t.exp+max(places, -maxPlaces)))
	}
	if keep > 0 {
		out = append(out, t.digits[:keep]...)
	}
	exp := t.exp
	if keep < len(t.digits) {
		odd := keep > 0 && t.digits[keep-1]&1 != 0
		if t.roundsUp(t.exp+max(places, -maxPlaces), odd, mode) {
			if keep < 0 {
				// Less than a unit of the last place becomes one.
				out = append(out[:sign-1], '1')
				return string(strconv.AppendInt(append(out, 'e'), int64(-places), 10))
			}
			i := len(out) - 1
			for out[i] == '9' {
				out[i] = '0'
				i--
			}
			out[i]++
		}
	}
	if keep <= 0 && out[sign-1] == '0' {
		return "0"
	}
	out = append(out, 'e')
	return string(strconv.AppendInt(out, int64(exp-max(keep, 0)), 10))
}

// maxPlaces is more than any double has places on either side of the point.
const maxPlaces = 2000

// RoundBigint rounds a whole number to 10^-places, for negative places; otherwise it stays. ok is false if the
// result leaves 64 bits; for narrower types the caller compares with their own limits.
func RoundBigint(v int64, places int, mode RoundingMode) (r int64, ok bool) {
	if places >= 0 || v == 0 {
		return v, true
	}
	d, ok := RoundDecimal(Int128FromInt64(v), 0, max(places, -maxDigits), mode)
	if !ok || d.Hi != int64(d.Lo)>>63 {
		return 0, false
	}
	return int64(d.Lo), true
}

// Rint rounds to the nearest whole double, the middle to the even one, as Math.rint.
func Rint(v float64) float64 { return math.RoundToEven(v) }

// DoubleToBigint is Java's (long) v: towards zero, NaN is 0, and what is too large becomes the nearest long.
func DoubleToBigint(v float64) int64 {
	switch {
	case v != v:
		return 0
	case v >= 1<<63:
		return math.MaxInt64
	case v < -1<<63:
		return math.MinInt64
	}
	return int64(v)
}

// DoubleToInt is Java's (int) v; see DoubleToBigint.
func DoubleToInt(v float64) int32 {
	switch {
	case v != v:
		return 0
	case v >= math.MaxInt32:
		return math.MaxInt32
	case v <= math.MinInt32:
		return math.MinInt32
	}
	return int32(v)
}

// Factorial returns n! for 0 to 20; beyond that there is none.
func Factorial(n int32) (v int64, ok bool) {
	if n < 0 || n > 20 {
		return 0, false
	}
	v = 1
	for i := int64(2); i <= int64(n); i++ {
		v *= i
	}
	return v, true
}
