package javatext

import (
	"math"
	"strconv"
	"strings"
)

// leadingSign writes what stands in front of a number.
func (spec *printfSpec) leadingSign(dst []byte, negative bool) []byte {
	switch {
	case negative && spec.flags&flagParentheses != 0:
		return append(dst, '(')
	case negative:
		return append(dst, '-')
	case spec.flags&flagPlus != 0:
		return append(dst, '+')
	case spec.flags&flagSpace != 0:
		return append(dst, ' ')
	}
	return dst
}

func (spec *printfSpec) trailingSign(dst []byte, negative bool) []byte {
	if negative && spec.flags&flagParentheses != 0 {
		return append(dst, ')')
	}
	return dst
}

// innerWidth returns the width without a closing parenthesis and so many other characters.
func (spec *printfSpec) innerWidth(others int, negative bool) int {
	if spec.width < 0 {
		return -1
	}
	w := spec.width - others
	if negative && spec.flags&flagParentheses != 0 {
		w--
	}
	return w
}

// appendMagnitude writes digits, grouped if wished, and puts zeros in front of them until what stands behind start has
// the width.
func (spec *printfSpec) appendMagnitude(dst []byte, start int, digits []byte, width int) []byte {
	point := len(digits)
	for i, c := range digits {
		if c == '.' {
			point = i
			break
		}
	}
	begin := len(dst)
	if spec.flags&flagGroup != 0 {
		for i, c := range digits {
			dst = append(dst, c)
			if i < point-1 && (point-i)%3 == 1 {
				dst = append(dst, ',')
			}
		}
	} else {
		dst = append(dst, digits...)
	}
	if missing := width - (len(dst) - start); missing > 0 && spec.flags&flagZero != 0 {
		end := len(dst)
		for range missing {
			dst = append(dst, '0')
		}
		copy(dst[begin+missing:], dst[begin:end])
		for i := begin; i < begin+missing; i++ {
			dst[i] = '0'
		}
	}
	return dst
}

// appendInteger writes %d, %o and %x.
func (spec *printfSpec) appendInteger(dst []byte, arg *PrintfArg) ([]byte, error) {
	start := len(dst)
	v := arg.Int
	var buf [24]byte
	if spec.conv == 'd' {
		negative := v < 0
		abs := uint64(v)
		if negative {
			abs = -abs
		}
		dst = spec.leadingSign(dst, negative)
		dst = spec.appendMagnitude(dst, start, strconv.AppendUint(buf[:0], abs, 10), spec.innerWidth(0, negative))
		dst = spec.trailingSign(dst, negative)
		return spec.justify(dst, start), nil
	}
	if err := spec.badFlags(flagParentheses, flagSpace, flagPlus); err != nil {
		return dst, err
	}
	u := uint64(v)
	switch arg.Kind {
	case PrintfByte:
		u = uint64(uint8(v))
	case PrintfShort:
		u = uint64(uint16(v))
	case PrintfInteger:
		u = uint64(uint32(v))
	}
	prefix, base := "0", 8
	if spec.conv == 'x' {
		prefix, base = "0x", 16
	}
	digits := strconv.AppendUint(buf[:0], u, base)
	if spec.flags&flagAlternate != 0 {
		dst = append(dst, prefix...)
	}
	if spec.flags&flagZero != 0 {
		for len(dst)-start+len(digits) < spec.width {
			dst = append(dst, '0')
		}
	}
	dst = append(dst, digits...)
	if spec.flags&flagUpper != 0 {
		upperASCII(dst[start:])
	}
	return spec.justify(dst, start), nil
}

func upperASCII(b []byte) {
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 0x20
		}
	}
}

// appendFloat writes %e, %f, %g and %a.
func (spec *printfSpec) appendFloat(dst []byte, v float64) []byte {
	start := len(dst)
	if v != v {
		text := "NaN"
		if spec.flags&flagUpper != 0 {
			text = "NAN"
		}
		return spec.justify(append(dst, text...), start)
	}
	negative := math.Signbit(v)
	v = math.Abs(v)
	dst = spec.leadingSign(dst, negative)
	switch {
	case math.IsInf(v, 0):
		text := "Infinity"
		if spec.flags&flagUpper != 0 {
			text = "INFINITY"
		}
		dst = append(dst, text...)
	case spec.conv == 'a':
		dst = spec.appendHexFloat(dst, start, v)
	default:
		dst = spec.appendDecimalFloat(dst, start, v, negative)
	}
	dst = spec.trailingSign(dst, negative)
	return spec.justify(dst, start)
}

// appendDecimalFloat writes a number that is not negative. Java rounds the digits of Double.toString half up, not the number.
func (spec *printfSpec) appendDecimalFloat(dst []byte, start int, v float64, negative bool) []byte {
	precision := spec.precision
	if precision < 0 {
		precision = 6
	}
	var d decimalDigits
	if v != 0 {
		d.setDoubleFully(v)
	}
	var mantissa []byte
	var buf [64]byte
	exponent, scientific := 0, false
	switch spec.conv {
	case 'f':
		d.cut(d.decExp + precision)
		mantissa = d.appendPlain(buf[:0], precision)
	case 'e':
		d.cut(precision + 1)
		scientific = true
	default:
		if precision == 0 {
			precision = 1
		}
		if v == 0 {
			d.decExp = 1
		}
		d.cut(precision)
		if scientific = v != 0 && (d.decExp-1 < -4 || d.decExp-1 >= precision); scientific {
			precision--
		} else {
			precision -= d.decExp
			mantissa = d.appendPlain(buf[:0], max(0, precision))
		}
	}
	if scientific {
		mantissa = d.appendScientific(buf[:0], precision)
		if exponent = d.decExp - 1; d.n == 0 {
			exponent = 0
		}
	}
	if spec.flags&flagAlternate != 0 && precision == 0 {
		mantissa = append(mantissa, '.')
	}
	if !scientific {
		return spec.appendMagnitude(dst, start, mantissa, spec.innerWidth(0, negative))
	}
	exp := appendExponent(nil, exponent)
	dst = spec.appendMagnitude(dst, start, mantissa, spec.innerWidth(len(exp)+1, negative))
	e := byte('e')
	if spec.flags&flagUpper != 0 {
		e = 'E'
	}
	return append(append(dst, e), exp...)
}

// appendExponent writes an exponent with its sign and at least two digits.
func appendExponent(dst []byte, e int) []byte {
	if e < 0 {
		dst = append(dst, '-')
		e = -e
	} else {
		dst = append(dst, '+')
	}
	return appendPadded(dst, int64(e), 2)
}

// setDoubleFully sets the digits of a number for formatting, where Java always develops two at least.
func (d *decimalDigits) setDoubleFully(v float64) {
	b := math.Float64bits(v)
	exp, frac := int(b>>52), b&(1<<52-1)
	if exp > 0 && (frac == 0 || exp >= 1023+53 && exp <= 1023+137) {
		d.develop(exp-1023, frac|1<<52, 53, false)
		return
	}
	d.setDouble(v)
}

// cut rounds to so many digits, half up.
func (d *decimalDigits) cut(digits int) {
	if digits >= d.n || digits < 0 {
		return
	}
	up := d.digits[digits] >= '5'
	if digits == 0 {
		d.n = 0
		if up {
			d.digits[0] = '1'
			d.n = 1
			d.decExp++
		}
		return
	}
	d.n = digits
	if up {
		d.roundUp()
	}
}

// digit returns a digit, or 0 beyond them.
func (d *decimalDigits) digit(i int) byte {
	if i >= 0 && i < d.n {
		return d.digits[i]
	}
	return '0'
}

// appendPlain writes the number with so many places.
func (d *decimalDigits) appendPlain(dst []byte, places int) []byte {
	if d.n == 0 || d.decExp <= 0 {
		dst = append(dst, '0')
	} else {
		for i := range d.decExp {
			dst = append(dst, d.digit(i))
		}
	}
	if places > 0 {
		dst = append(dst, '.')
		for i := range places {
			dst = append(dst, d.digit(d.decExp+i))
		}
	}
	return dst
}

// appendScientific writes the digits with a point behind the first.
func (d *decimalDigits) appendScientific(dst []byte, places int) []byte {
	dst = append(dst, d.digit(0))
	if places > 0 {
		dst = append(dst, '.')
		for i := range places {
			dst = append(dst, d.digit(1+i))
		}
	}
	return dst
}

// appendHexFloat writes %a of a number that is not negative.
func (spec *printfSpec) appendHexFloat(dst []byte, start int, v float64) []byte {
	digits, exponent := hexDouble(v, spec.precision)
	dst = append(dst, "0x"...)
	if spec.flags&flagZero != 0 {
		for n := spec.width - (len(dst) - start) - len(digits) - 1 - len(exponent); n > 0; n-- {
			dst = append(dst, '0')
		}
	}
	dst = append(dst, digits...)
	if spec.precision >= 0 {
		for n := len(digits) - len("1."); n < max(1, spec.precision); n++ {
			dst = append(dst, '0')
		}
	}
	dst = append(dst, 'p')
	dst = append(dst, exponent...)
	if spec.flags&flagUpper != 0 {
		upperASCII(dst[start:])
	}
	return dst
}

// hexDouble writes a number as Double.toHexString does, without "0x" and in two parts, rounded to so many places if it has
// more.
func hexDouble(v float64, precision int) (digits, exponent string) {
	if v == 0 {
		return "0.0", "0"
	}
	bits := math.Float64bits(v)
	e := int(bits>>52) - 1023
	digits = "1." + strconv.FormatUint(bits&(1<<52-1)|1<<52, 16)[1:]
	if precision == 0 {
		precision = 1
	}
	switch {
	case precision > 0 && precision < 13:
		text := strconv.FormatFloat(v, 'x', precision, 64)
		digits, exponent, _ = strings.Cut(text[2:], "p")
		e, _ = strconv.Atoi(exponent)
	case e == -1023:
		digits, e = "0."+digits[2:], -1022
	}
	digits = strings.TrimRight(digits, "0")
	if strings.HasSuffix(digits, ".") {
		digits += "0"
	}
	return digits, strconv.Itoa(e)
}
