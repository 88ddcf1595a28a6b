package javatext

import (
	"math"
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
