package expr

import "github.com/wstream/wstream/columnar"

// Literal is a constant. Text is how it was written where Spark's printed form keeps that.
type Literal struct {
	Typ   *columnar.Type
	Value columnar.Datum // as columnar.Datum describes; nil for null
	Text  string         // printed form, when it differs from the one made of the value; may be empty
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
