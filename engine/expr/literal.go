package expr

import (
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
)

// Literal is a constant. Text is how it was written where Spark's printed form keeps that.
type Literal struct {
	Typ   *columnar.Type
	Value columnar.Datum // as columnar.Datum describes; nil for null
	Text  string         // printed form, when it differs from the one made of the value; may be empty
}

// NewLiteral is a constant of a type; v is as columnar.Datum describes.
func NewLiteral(t *columnar.Type, v columnar.Datum) *Literal { return &Literal{Typ: t, Value: v} }

// NewNull is the untyped NULL.
func NewNull() *Literal { return &Literal{Typ: columnar.Null} }

// NewString is a string literal.
func NewString(s string) *Literal { return &Literal{Typ: columnar.String, Value: s} }

// NewInt is a literal of type INT.
func NewInt(v int32) *Literal { return &Literal{Typ: columnar.Int32, Value: v} }

// NewBool is a literal of type BOOLEAN.
func NewBool(v bool) *Literal { return &Literal{Typ: columnar.Bool, Value: v} }

// Literal is a constant that prints as Spark does under the session's time zone.
func (b *Binder) Literal(t *columnar.Type, v columnar.Datum) *Literal {
	l := NewLiteral(t, v)
	if v != nil && t.Kind == columnar.KindTimestamp {
		l.Text = "TIMESTAMP '" + string(javatext.AppendTimestamp(nil, v.(int64), javaZone(b.Zone))) + "'"
	}
	return l
}

// Type implements Expr.
func (l *Literal) Type() *columnar.Type { return l.Typ }

// Nullable implements Expr.
func (l *Literal) Nullable() bool { return l.Value == nil }

// Children implements Expr.
func (l *Literal) Children() []Expr { return nil }

// WithChildren implements Expr.
func (l *Literal) WithChildren([]Expr) Expr { return l }

// Eval implements Expr.
func (l *Literal) Eval(_ *Context, in *columnar.Batch) (*columnar.Column, error) {
	return columnar.Repeat(l.Typ, l.Value, in.Rows), nil
}

// SQL implements Expr: strings and numbers are bare, as in Spark's column names.
func (l *Literal) SQL() string {
	if l.Text != "" {
		return l.Text
	}
	if l.Value == nil {
		return "NULL"
	}
	switch l.Typ.Kind {
	case columnar.KindString:
		return l.Value.(string)
	case columnar.KindDecimal:
		return decimalPlainOrScientific(l.Value.(columnar.Dec128), l.Typ.Scale)
	case columnar.KindBinary:
		return "X'" + upperHex(l.Value.([]byte)) + "'"
	case columnar.KindDate:
		return "DATE '" + datumText(l.Typ, l.Value) + "'"
	case columnar.KindTimestamp:
		return "TIMESTAMP '" + datumText(l.Typ, l.Value) + "'"
	case columnar.KindTimestampNTZ:
		return "TIMESTAMP_NTZ '" + datumText(l.Typ, l.Value) + "'"
	case columnar.KindTime:
		return "TIME '" + datumText(l.Typ, l.Value) + "'"
	}
	return datumText(l.Typ, l.Value)
}

// decimalPlainOrScientific writes a decimal as Java's BigDecimal.toString: scientific when the first
// digit comes more than six places behind the point.
func decimalPlainOrScientific(v columnar.Dec128, scale int) string {
	digits := string(columnar.AppendDec(nil, v, 0))
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	exp := len(digits) - 1 - scale
	if scale >= 0 && exp >= -6 {
		return string(columnar.AppendDec(nil, v, scale))
	}
	var b strings.Builder
	b.WriteString(sign)
	b.WriteByte(digits[0])
	if len(digits) > 1 {
		b.WriteByte('.')
		b.WriteString(digits[1:])
	}
	b.WriteByte('E')
	if exp > 0 {
		b.WriteByte('+')
	}
	b.WriteString(strconv.Itoa(exp))
	return b.String()
}

func upperHex(b []byte) string {
	const d = "0123456789ABCDEF"
	out := make([]byte, 0, 2*len(b))
	for _, c := range b {
		out = append(out, d[c>>4], d[c&15])
	}
	return string(out)
}

// datumText is a value as CAST(… AS STRING) gives it in UTC.
func datumText(t *columnar.Type, v columnar.Datum) string {
	return string(appendText(nil, columnar.FromData(t, v), 0, javatext.UTC()))
}
