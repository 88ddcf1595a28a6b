package sql

import (
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxPrecision is the greatest number of digits of a decimal.
const maxPrecision = 38

// number reads a number with the minus before it, if there is one.
func (p *parser) number() (Expr, error) {
	start := p.i
	sign := ""
	if p.acceptOp("-") {
		sign = "-"
	}
	t := p.next()
	digits, suffix := cutSuffix(t.text)
	n := &NumberLit{Span: p.spanFrom(start), Text: sign + digits}
	switch suffix {
	case "Y":
		p.wholeNumber(n, TinyInt, math.MinInt8, math.MaxInt8)
	case "S":
		p.wholeNumber(n, SmallInt, math.MinInt16, math.MaxInt16)
	case "L":
		p.wholeNumber(n, BigInt, math.MinInt64, math.MaxInt64)
	case "F":
		p.floating(n, Float, 32)
	case "D":
		p.floating(n, Double, 64)
	case "BD":
		p.decimal(n)
	default:
		switch {
		case strings.ContainsAny(digits, "eE"):
			p.floating(n, Double, 64)
		case strings.IndexByte(digits, '.') >= 0:
			p.decimal(n)
		default:
			v, err := strconv.ParseInt(n.Text, 10, 64)
			switch {
			case err != nil:
				p.decimal(n)
			case v < math.MinInt32 || v > math.MaxInt32:
				n.Kind, n.Int = BigInt, v
			default:
				n.Kind, n.Int = Int, v
			}
		}
	}
	return n, nil
}

// cutSuffix parts a number from the letters that give its type, which are returned in upper case.
func cutSuffix(text string) (digits, suffix string) {
	n := len(text)
	for n > 0 && strings.IndexByte("LlSsYyFfDdBb", text[n-1]) >= 0 {
		n--
	}
	return text[:n], strings.ToUpper(text[n:])
}

func (p *parser) wholeNumber(n *NumberLit, kind NumberKind, low, high int64) {
	n.Kind = kind
	v, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil || v < low || v > high {
		p.outOfRange(n, strconv.FormatInt(low, 10), strconv.FormatInt(high, 10))
		return
	}
	n.Int = v
}

func (p *parser) floating(n *NumberLit, kind NumberKind, bits int) {
	n.Kind = kind
	v, err := strconv.ParseFloat(n.Text, bits)
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsInf(v, 0) {
		limit := "1.7976931348623157E+308"
		if bits == 32 {
			limit = "3.4028234663852886E+38"
		}
		p.outOfRange(n, "-"+limit, limit)
		return
	}
	n.Float = v
}

func (p *parser) outOfRange(n *NumberLit, low, high string) {
	p.fault(n.Span, "INVALID_NUMERIC_LITERAL_RANGE",
		"Numeric literal %s is outside the valid range for %s with minimum value of %s and maximum value of %s. Please adjust the value accordingly.",
		n.Text, n.Kind, low, high)
}

// decimal reads the text of n as a decimal. Its precision is the number of its digits without
// leading zeros, at least its scale; a positive exponent is written out.
func (p *parser) decimal(n *NumberLit) {
	n.Kind = Decimal
	text, negative := strings.CutPrefix(n.Text, "-")
	mantissa, exponent := text, int64(0)
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		v, err := strconv.ParseInt(text[i+1:], 10, 32)
		if err != nil {
			v = math.MaxInt32
			if strings.Contains(text[i:], "-") {
				v = math.MinInt32
			}
		}
		exponent = v
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+frac, "0")
	scale := int64(len(frac)) - exponent
	if digits == "" {
		digits = "0"
	}
	precision := int64(len(digits))
	if scale < 0 {
		if digits != "0" {
			precision -= scale
		}
	} else if precision < scale {
		precision = scale
	}
	n.Unscaled = new(big.Int)
	if precision > maxPrecision {
		p.fault(n.Span, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
			"Decimal precision %d exceeds max precision %d.", precision, maxPrecision)
		n.Precision = 1
		return
	}
	if scale < 0 {
		if digits != "0" {
			digits += strings.Repeat("0", int(-scale))
		}
		scale = 0
	}
	n.Unscaled.SetString(digits, 10)
	if negative {
		n.Unscaled.Neg(n.Unscaled)
	}
	n.Precision, n.Scale = int(precision), int(scale)
}

// typedLiteral reads a word and the string directly behind it: DATE '…', X'…' and the like.
func (p *parser) typedLiteral() (Expr, error) {
	start := p.i
	t, text := p.next(), p.next()
	at := p.spanFrom(start)
	switch t.word {
	case "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ":
		return &TypedLit{Span: at, Type: t.word, Value: text.value}, nil
	case "INTERVAL":
		return p.intervalString(at, text.value)
	case "X":
		digits := text.value
		if len(digits)%2 != 0 {
			digits = "0" + digits
		}
		b, err := hex.DecodeString(digits)
		if err != nil {
			p.invalidTyped(at, t.word, text.value)
		}
		return &BinaryLit{Span: at, Value: b}, nil
	}
	p.fault(at, "UNSUPPORTED_TYPED_LITERAL",
		`Literals of the type "%s" are not supported. Supported types are "DATE", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIMESTAMP", "INTERVAL", "X", "TIME".`,
		strings.ToUpper(p.identOf(t).Name))
	return &StringLit{Span: at, Value: text.value}, nil
}

func (p *parser) invalidTyped(at Span, typeName, text string) {
	p.fault(at, "INVALID_TYPED_LITERAL", `The value of the typed literal "%s" is invalid: '%s'.`, typeName, text)
}
