package expr

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// What the analyser needs to make and to take apart expressions.

// AndOperands gives the operands of an AND; ok is false for any other expression.
func AndOperands(e Expr) (l, r Expr, ok bool) {
	x, is := unnamed(e).(*logic)
	if !is || x.or {
		return nil, nil, false
	}
	return x.l, x.r, true
}

// OrOperands gives the operands of an OR; ok is false for any other expression.
func OrOperands(e Expr) (l, r Expr, ok bool) {
	x, is := unnamed(e).(*logic)
	if !is || !x.or {
		return nil, nil, false
	}
	return x.l, x.r, true
}

// NotOperand gives the operand of a NOT; ok is false for any other expression.
func NotOperand(e Expr) (x Expr, ok bool) {
	n, is := unnamed(e).(*not)
	if !is {
		return nil, false
	}
	return n.x, true
}

// TypedLiteral is the literal DATE 'text', TIME, TIMESTAMP, TIMESTAMP_LTZ or TIMESTAMP_NTZ 'text'.
func TypedLiteral(b *Binder, typ, text string) (Expr, error) {
	zone := javaZone(b.Zone)
	bad := func() error {
		return sparkerr.New("INVALID_TYPED_LITERAL", "the value of the typed literal \"%s\" is invalid: '%s'", strings.ToUpper(typ), text)
	}
	now := b.now()
	switch strings.ToUpper(typ) {
	case "DATE":
		v, ok := javatext.ParseDate(text)
		if !ok {
			if v, ok = javatext.SpecialDate(text, zone, now); !ok {
				return nil, bad()
			}
		}
		return NewLiteral(columnar.Date, v), nil
	case "TIME":
		v, ok := javatext.ParseTime(text)
		if !ok {
			return nil, bad()
		}
		return NewLiteral(columnar.Time, v), nil
	case "TIMESTAMP_NTZ":
		v, ok := javatext.ParseTimestampNTZ(text, true)
		if !ok {
			if v, ok = javatext.SpecialTimestampNTZ(text, zone, now); !ok {
				return nil, bad()
			}
		}
		return NewLiteral(columnar.TimestampNTZ, v), nil
	case "TIMESTAMP", "TIMESTAMP_LTZ":
		v, ok := javatext.ParseTimestamp(text, zone, now)
		if !ok {
			if v, ok = javatext.SpecialTimestamp(text, zone, now); !ok {
				return nil, bad()
			}
		}
		return b.Literal(columnar.Timestamp, v), nil
	}
	return nil, sparkerr.New("UNSUPPORTED_TYPED_LITERAL", "literals of the type \"%s\" are not supported", strings.ToUpper(typ))
}
