package expr

import "github.com/wstream/wstream/columnar"

// Generator is a bound table-generating function: each input row gives zero or more rows.
type Generator interface {
	Expr
	// Columns are the generated columns with their default names.
	Columns() []columnar.Field
	// Generate gives the rows of all input rows in order, and for each the row that it came from.
	Generate(ctx *Context, in *columnar.Batch) (cols []*columnar.Column, parent []int32, err error)
}

// WindowCall is a bound window function call, f(…) OVER (…). It is computed by the window operator.
type WindowCall struct {
	Function Expr        // an Aggregate, or a ranking or offset function
	Frame    WindowFrame // rows that an aggregate sees
}

// WindowFrame bounds the rows of a window function relative to the current one.
type WindowFrame struct {
	Rows       bool // ROWS; otherwise RANGE
	Start, End FrameBound
	Default    bool // none was written
}

// FrameBound is one end of a frame.
type FrameBound struct {
	Unbounded bool
	Offset    Expr // negative is preceding; nil with Unbounded false is CURRENT ROW
}

// Type implements Expr.
func (w *WindowCall) Type() *columnar.Type { return w.Function.Type() }

// Nullable implements Expr.
func (w *WindowCall) Nullable() bool { return w.Function.Nullable() }

// Children implements Expr.
func (w *WindowCall) Children() []Expr { return []Expr{w.Function} }

// WithChildren implements Expr.
func (w *WindowCall) WithChildren(c []Expr) Expr {
	out := *w
	out.Function = c[0]
	return &out
}

// SQL implements Expr.
func (w *WindowCall) SQL() string { return w.Function.SQL() }

// Eval implements Expr; a window call is never evaluated row by row.
func (w *WindowCall) Eval(*Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errUnbound(w.SQL())
}
