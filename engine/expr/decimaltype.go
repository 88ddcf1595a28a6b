package expr

import (
	"strings"

	"github.com/wstream/wstream/columnar"
)

// Precision and scale of decimal results: Hive's rules, as Spark has them, cut to 38 digits.

const (
	maxPrecision   = 38
	minDecimalCut  = 6 // digits of scale that a cut leaves
	defaultDecimal = 18
)

// decimalOf is the decimal that a numeric type of fixed range becomes.
func decimalOf(t *columnar.Type) *columnar.Type {
	switch t.Kind {
	case columnar.KindInt8:
		return columnar.Decimal(3, 0)
	case columnar.KindInt16:
		return columnar.Decimal(5, 0)
	case columnar.KindInt32:
		return columnar.Decimal(10, 0)
	case columnar.KindInt64:
		return columnar.Decimal(20, 0)
	case columnar.KindFloat32:
		return columnar.Decimal(14, 7)
	case columnar.KindFloat64:
		return columnar.Decimal(30, 15)
	case columnar.KindDecimal:
		return t
	}
	return columnar.Decimal(maxPrecision, defaultDecimal)
}

// bounded is decimal(p, s) with both cut to 38.
func bounded(p, s int) *columnar.Type {
	return columnar.Decimal(min(p, maxPrecision), min(s, maxPrecision))
}

// adjusted is decimal(p, s) cut to 38 digits so that the digits before the point stay, and at
// least 6 of the scale.
func adjusted(p, s int) *columnar.Type {
	if p <= maxPrecision {
		return columnar.Decimal(p, s)
	}
	if s < 0 {
		return columnar.Decimal(maxPrecision, s)
	}
	whole := p - s
	return columnar.Decimal(maxPrecision, max(maxPrecision-whole, min(s, minDecimalCut)))
}

// boundedPreferInt is decimal(p, s) cut to 38 digits at the cost of the scale.
func boundedPreferInt(p, s int) *columnar.Type {
	if p <= maxPrecision {
		return columnar.Decimal(p, s)
	}
	return columnar.Decimal(maxPrecision, max(0, s-(p-maxPrecision)))
}

// commonDecimal is a decimal that holds the values of both, as far as 38 digits allow.
func commonDecimal(x, y *columnar.Type) *columnar.Type {
	s := max(x.Scale, y.Scale)
	return boundedPreferInt(max(x.Precision-x.Scale, y.Precision-y.Scale)+s, s)
}

// widerDecimal is the common type of a decimal and another number, or nil.
func widerDecimal(x, y *columnar.Type) *columnar.Type {
	if x.Kind != columnar.KindDecimal {
		if y.Kind != columnar.KindDecimal {
			return nil
		}
		x, y = y, x
	}
	switch {
	case y.Kind == columnar.KindDecimal:
		return commonDecimal(x, y)
	case y.IsIntegral():
		return commonDecimal(x, decimalOf(y))
	case y.IsFloating():
		return columnar.Float64
	}
	return nil
}

// literalDecimal is the narrowest decimal for an integer literal; ok is false when e is none.
func literalDecimal(e Expr) (*columnar.Type, bool) {
	l, ok := e.(*Literal)
	if !ok || l.Value == nil {
		return nil, false
	}
	var v int64
	switch x := l.Value.(type) {
	case int8:
		if l.Typ.Kind == columnar.KindInt8 {
			return decimalOf(l.Typ), true
		}
		return nil, false
	case int16:
		v = int64(x)
	case int32:
		v = int64(x)
	case int64:
		v = x
	default:
		return nil, false
	}
	if !l.Typ.IsIntegral() {
		return nil, false
	}
	d := strings.TrimPrefix(string(columnar.AppendDec(nil, columnar.Dec128FromInt64(v), 0)), "-")
	return columnar.Decimal(len(d), 0), true
}

// arithmeticDecimal is the type of l op r of decimals.
func arithmeticDecimal(op string, l, r *columnar.Type) *columnar.Type {
	p1, s1, p2, s2 := l.Precision, l.Scale, r.Precision, r.Scale
	switch op {
	case "+", "-":
		s := max(s1, s2)
		return adjusted(max(p1-s1, p2-s2)+s+1, s)
	case "*":
		return adjusted(p1+p2+1, s1+s2)
	case "/":
		s := max(minDecimalCut, s1+p2+1)
		return adjusted(p1-s1+s2+s, s)
	case "div":
		p := p1 - s1 + s2
		if p == 0 {
			p = 1
		}
		return bounded(p, 0)
	default: // % and pmod
		s := max(s1, s2)
		return adjusted(min(p1-s1, p2-s2)+s, s)
	}
}
