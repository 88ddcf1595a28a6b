package javatext

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DecimalFormat is a compiled pattern of java.text.DecimalFormat for format_number, such as "#,##0.00": "0" is a digit that
// is always there, "#" one that may be missing, "," groups, "E0" asks for an exponent, "%" and "‰" multiply, quotes
// and what stands in front and behind are text, and behind ";" stand the texts of negative numbers. Digits are
// rounded half to even. It is safe for use by several goroutines.
type DecimalFormat struct {
	positive, negative       [2]string // in front and behind
	minInteger, maxInteger   int
	minFraction, maxFraction int
	grouping                 int // digits in a group, 0 is none
	multiplier               int
	alwaysPoint              bool
	exponential              bool
	minExponent              int
}

// The digits that Java writes at most.
const (
	maxIntegerDigits        = math.MaxInt32
	maxDoubleIntegerDigits  = 309
	maxDoubleFractionDigits = 340 // also of whole numbers
)

// NumberFormat returns the format of format_number(x, places): groups of three digits, and so many places, which must not
// be negative and are at most a million.
func NumberFormat(places int) *DecimalFormat {
	places = min(places, 1_000_000)
	return &DecimalFormat{negative: [2]string{"-", ""}, minInteger: 1, maxInteger: maxIntegerDigits, minFraction: places, maxFraction: places, grouping: 3, multiplier: 1}
}

// CompileDecimalFormat compiles a pattern; the empty one is that of NumberFormat(0), as in Spark. The error is a
// *JavaError.
func CompileDecimalFormat(pattern string) (*DecimalFormat, error) {
	if pattern == "" {
		return NumberFormat(0), nil
	}
	f := &DecimalFormat{}
	p := decimalFormatParser{pattern: pattern, format: f}
	rest, err := p.subpattern(pattern, true)
	if err != nil {
		return nil, err
	}
	f.positive = p.affixes
	f.negative = p.affixes
	if rest != "" {
		if _, err = p.subpattern(rest, false); err != nil {
			return nil, err
		}
		f.negative = p.affixes
	}
	if f.negative == f.positive {
		f.negative[0] = "-" + f.negative[0]
	}
	return f, nil
}

// decimalFormatParser reads a pattern.
type decimalFormatParser struct {
	pattern string
	format  *DecimalFormat
	affixes [2]string
}

func (p *decimalFormatParser) malformed() error {
	return illegalArgument("Malformed pattern \"" + p.pattern + "\"")
}

// subpattern reads up to a ";" and returns what follows it. Only the first subpattern says something about digits.
func (p *decimalFormatParser) subpattern(s string, first bool) (rest string, err error) {
	p.affixes = [2]string{}
	var affix strings.Builder
	inQuote := false
	suffix := false
	seenDigits := false
	multiplier := 1
	var digits decimalFormatDigits
	digits.grouping, digits.point = -1, -1
	i := 0
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if inQuote {
			switch {
			case r != '\'':
				affix.WriteString(s[i : i+n])
			case strings.HasPrefix(s[i+1:], "'"):
				affix.WriteByte('\'')
				i++
			default:
				inQuote = false
			}
			i += n
			continue
		}
		switch {
		case r == '#' || r == '0' || r == ',' || r == '.':
			if !suffix {
				p.affixes[0] = affix.String()
				affix.Reset()
				suffix, seenDigits = true, true
			}
			length := 0
			if first {
				if length, err = digits.read(s[i:], p); err != nil {
					return "", err
				}
			} else {
				length = len(s[i:]) - len(strings.TrimLeft(s[i:], "#0,.E"))
			}
			i += length
			continue
		case r == '\u00a4':
			if strings.HasPrefix(s[i+n:], "\u00a4") {
				affix.WriteString("USD")
				n *= 2
			} else {
				affix.WriteByte('$')
			}
		case r == '\'':
			if strings.HasPrefix(s[i+1:], "'") {
				affix.WriteByte('\'')
				n = 2
			} else {
				inQuote = true
			}
		case r == ';':
			if !seenDigits || !first {
				return "", illegalArgument("Unquoted special character ';' in pattern \"" + p.pattern + "\"")
			}
			rest = s[i+1:]
			i = len(s)
			continue
		case r == '%' || r == '‰':
			if multiplier != 1 {
				return "", illegalArgument("Too many percent/per mille characters in pattern \"" + p.pattern + "\"")
			}
			multiplier = 100
			if r == '‰' {
				multiplier = 1000
			}
			affix.WriteRune(r)
		default:
			affix.WriteString(s[i : i+n])
		}
		i += n
	}
	if suffix {
		p.affixes[1] = affix.String()
	} else {
		p.affixes[0] = affix.String()
	}
	if inQuote {
		return "", p.malformed()
	}
	if first {
		p.format.multiplier = multiplier
		return rest, digits.finish(p)
	}
	return rest, nil
}

// decimalFormatDigits are the digits of a pattern.
type decimalFormatDigits struct {
	left, zeros, right int // "#" in front of the zeros, "0", "#" behind them
	point              int // place of the point, or -1
	grouping           int // digits since the last ",", or -1
}

// read reads digits and an exponent, and returns their length.
func (d *decimalFormatDigits) read(s string, p *decimalFormatParser) (length int, err error) {
	i := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '#':
			if d.zeros > 0 {
				d.right++
			} else {
				d.left++
			}
			if d.grouping >= 0 && d.point < 0 {
				d.grouping++
			}
		case '0':
			if d.right > 0 {
				return 0, illegalArgument("Unexpected '0' in pattern \"" + p.pattern + "\"")
			}
			d.zeros++
			if d.grouping >= 0 && d.point < 0 {
				d.grouping++
			}
		case ',':
			d.grouping = 0
		case '.':
			if d.point >= 0 {
				return 0, illegalArgument("Multiple decimal separators in pattern \"" + p.pattern + "\"")
			}
			d.point = d.left + d.zeros + d.right
		case 'E':
			if p.format.exponential {
				return 0, illegalArgument("Multiple exponential symbols in pattern \"" + p.pattern + "\"")
			}
			p.format.exponential = true
			for i++; i < len(s) && s[i] == '0'; i++ {
				p.format.minExponent++
			}
			if d.left+d.zeros < 1 || p.format.minExponent < 1 {
				return 0, illegalArgument("Malformed exponential pattern \"" + p.pattern + "\"")
			}
			return i, nil
		default:
			return i, nil
		}
	}
	return i, nil
}

// finish makes numbers of digits of what was read.
func (d *decimalFormatDigits) finish(p *decimalFormatParser) error {
	if d.zeros == 0 && d.left > 0 && d.point >= 0 {
		// "###.###" is "##0.###", ".###" is ".0##".
		n := max(1, d.point)
		d.right = d.left - n
		d.left = n - 1
		d.zeros = 1
	}
	if d.point < 0 && d.right > 0 || d.point >= 0 && (d.point < d.left || d.point > d.left+d.zeros) || d.grouping == 0 {
		return p.malformed()
	}
	f := p.format
	total := d.left + d.zeros + d.right
	point := total
	if d.point >= 0 {
		point = d.point
		f.maxFraction = total - d.point
		f.minFraction = d.left + d.zeros - d.point
	}
	f.minInteger = point - d.left
	f.maxInteger = maxIntegerDigits
	if f.exponential {
		f.maxInteger = d.left + f.minInteger
	}
	f.grouping = max(0, d.grouping)
	f.alwaysPoint = d.point == 0 || d.point == total
	return nil
}

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
