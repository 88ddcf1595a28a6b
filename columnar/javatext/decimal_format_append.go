package javatext

import (
	"math"
	"strconv"
	"strings"
)

// digitList is a number to be laid out: 0.DIGITS * 10^exp, without trailing zeros; no digits are zero.
type digitList struct {
	digits []byte
	exp    int
	whole  bool // it came as a whole number
}

// AppendBigint writes a whole number.
func (f *DecimalFormat) AppendBigint(dst []byte, v int64) []byte {
	return f.AppendDecimal(dst, Int128FromInt64(v), 0, true)
}

// AppendDecimal writes v / 10^scale. whole says that the number is of a type of whole numbers rather than a DECIMAL, which
// shows where a pattern has places that need not be there.
func (f *DecimalFormat) AppendDecimal(dst []byte, v Int128, scale int, whole bool) []byte {
	var buf [40]byte
	hi, lo := v.abs()
	p := digits128(&buf, hi, lo)
	digits := buf[p:]
	exp := len(digits) - scale
	if f.multiplier != 1 && len(digits) > 0 {
		exp += len(strconv.Itoa(f.multiplier)) - 1 // 100 and 1000 only move the point
	}
	l := digitList{digits: digits, exp: exp, whole: whole}
	places := maxIntegerDigits
	if whole {
		places = maxDoubleFractionDigits
	}
	if !whole || f.exponential {
		l.round(f.keptDigits(exp, places), HalfEven)
	}
	l.trim()
	return f.append(dst, &l, v.Hi < 0, f.maxInteger, places)
}

// keptDigits returns how many digits of a number stay, given where its point is.
func (f *DecimalFormat) keptDigits(exp, maxFraction int) int {
	if f.exponential {
		return f.maxInteger + min(f.maxFraction, maxFraction)
	}
	return exp + min(f.maxFraction, maxFraction)
}

// AppendDouble writes a double, of which the digits of AppendDouble are taken; but whether they are rounded up is decided by
// the number itself.
func (f *DecimalFormat) AppendDouble(dst []byte, v float64) []byte {
	if v != v {
		return append(dst, "NaN"...)
	}
	if f.multiplier != 1 {
		v *= float64(f.multiplier)
	}
	negative := math.Signbit(v)
	v = math.Abs(v)
	if math.IsInf(v, 0) {
		affixes := f.affixes(negative)
		return append(append(append(dst, affixes[0]...), "∞"...), affixes[1]...)
	}
	var d decimalDigits
	if v != 0 {
		d.setDouble(v)
	}
	l := digitList{digits: d.digits[:d.n], exp: d.decExp}
	if keep := f.keptDigits(d.decExp, maxDoubleFractionDigits); keep < d.n {
		if v < 1<<63 && v == math.Trunc(v) {
			// Only an exponent cuts digits of whole numbers; Java does not know there that they are exact.
			l.round(keep, HalfUp)
		} else {
			l.roundExactly(v, keep)
		}
	}
	l.trim()
	return f.append(dst, &l, negative, min(f.maxInteger, maxDoubleIntegerDigits), maxDoubleFractionDigits)
}

// round cuts to so many digits.
func (l *digitList) round(keep int, mode RoundingMode) {
	if keep >= len(l.digits) {
		return
	}
	t := decimalText{digits: l.digits}
	up := t.roundsUp(keep, keep > 0 && l.digits[keep-1]&1 != 0, mode)
	l.cut(keep, up)
}

// roundExactly cuts the digits of v to so many, half to even by the exact value of v.
func (l *digitList) roundExactly(v float64, keep int) {
	var buf [64]byte
	if keep <= 0 {
		up := false
		if keep == 0 {
			// Against half a unit of the last place: the first digits of the exact value tell.
			exact := strconv.AppendFloat(buf[:0], v, 'e', 40, 64)
			up = exact[0] > '5' || exact[0] == '5' && strings.Trim(string(exact[2:42]), "0") != ""
		}
		l.cut(keep, up)
		return
	}
	exact := strconv.AppendFloat(buf[:0], v, 'e', keep-1, 64)
	n := copy(l.digits, exact[:1])
	if keep > 1 {
		n += copy(l.digits[1:], exact[2:keep+1])
	}
	l.digits = l.digits[:n]
	e, _ := strconv.Atoi(string(exact[len(exact)-len(strings.TrimLeft(string(exact), "0123456789.e")):]))
	l.exp = e + 1
}

// cut keeps the first digits, and adds one to the last of them if up.
func (l *digitList) cut(keep int, up bool) {
	if keep <= 0 {
		l.digits = l.digits[:0]
		if up {
			l.digits = append(l.digits, '1')
			l.exp++
		}
		return
	}
	l.digits = l.digits[:keep]
	if !up {
		return
	}
	i := keep - 1
	for i >= 0 && l.digits[i] == '9' {
		l.digits[i] = '0'
		i--
	}
	if i < 0 {
		l.digits[0] = '1'
		l.exp++
		return
	}
	l.digits[i]++
}

// trim takes trailing zeros off; no digits are zero.
func (l *digitList) trim() {
	for len(l.digits) > 0 && l.digits[len(l.digits)-1] == '0' {
		l.digits = l.digits[:len(l.digits)-1]
	}
	if len(l.digits) == 0 {
		l.exp = 0
	}
}

func (f *DecimalFormat) affixes(negative bool) *[2]string {
	if negative {
		return &f.negative
	}
	return &f.positive
}

// append lays the number out, with at most so many digits on either side of the point.
func (f *DecimalFormat) append(dst []byte, l *digitList, negative bool, maxInteger, maxFraction int) []byte {
	affixes := f.affixes(negative)
	dst = append(dst, affixes[0]...)
	if f.exponential {
		dst = f.appendExponential(dst, l)
	} else {
		dst = f.appendPlain(dst, l, maxInteger, maxFraction)
	}
	return append(dst, affixes[1]...)
}

func (f *DecimalFormat) appendPlain(dst []byte, l *digitList, maxInteger, maxFraction int) []byte {
	count := max(f.minInteger, l.exp)
	next := 0
	if count > maxInteger {
		count = maxInteger
		next = l.exp - count
	}
	start := len(dst)
	for i := count - 1; i >= 0; i-- {
		if i < l.exp && next < len(l.digits) {
			dst = append(dst, l.digits[next])
			next++
		} else {
			dst = append(dst, '0')
		}
		if f.grouping > 0 && i > 0 && i%f.grouping == 0 {
			dst = append(dst, ',')
		}
	}
	fraction := f.minFraction > 0 || !l.whole && next < len(l.digits)
	if !fraction && len(dst) == start {
		dst = append(dst, '0')
	}
	if f.alwaysPoint || fraction {
		dst = append(dst, '.')
	}
	for i := 0; i < min(f.maxFraction, maxFraction); i++ {
		if i >= f.minFraction && (l.whole || next >= len(l.digits)) {
			break
		}
		if -1-i > l.exp-1 || l.whole || next >= len(l.digits) {
			dst = append(dst, '0')
			continue
		}
		dst = append(dst, l.digits[next])
		next++
	}
	return dst
}

func (f *DecimalFormat) appendExponential(dst []byte, l *digitList) []byte {
	exponent, minInteger := l.exp, f.minInteger
	if repeat := f.maxInteger; repeat > 1 && repeat > f.minInteger {
		if exponent >= 1 {
			exponent = (exponent - 1) / repeat * repeat
		} else {
			exponent = (exponent - repeat) / repeat * repeat
		}
		minInteger = 1
	} else {
		exponent -= minInteger
	}
	integer := l.exp - exponent
	if len(l.digits) == 0 {
		integer, exponent = minInteger, 0
	}
	total := max(len(l.digits), f.minInteger+f.minFraction, integer)
	for i := range total {
		if i == integer {
			dst = append(dst, '.')
		}
		if i < len(l.digits) {
			dst = append(dst, l.digits[i])
		} else {
			dst = append(dst, '0')
		}
	}
	if f.alwaysPoint && total == integer {
		dst = append(dst, '.')
	}
	dst = append(dst, 'E')
	if exponent < 0 {
		dst = append(dst, '-')
		exponent = -exponent
	}
	return appendPadded(dst, int64(exponent), f.minExponent)
}
