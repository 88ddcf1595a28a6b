package expr

import (
	"github.com/wstream/wstream/columnar"
)

// tryArithmetic registers a function that is an operator whose faults become null.
func tryArithmetic(name, op, doc, example string) *Function {
	return &Function{
		Name: name, Family: "try", Signature: name + "(expr1, expr2)", Doc: doc, Example: example,
		Bind: func(b *Binder, args []Expr) (Expr, error) {
			if err := b.argCount(args, 2, 2); err != nil {
				return nil, err
			}
			sql := b.sql(args)
			l, r := args[0], args[1]
			if l.Type().IsNumeric() && r.Type().IsNumeric() {
				return b.numeric(op, l, r, modeTry, name)
			}
			// Anything else is the operator itself with all its faults caught, those of casts included.
			e, err := b.arithmetic(op, l, r, modeANSI)
			if err != nil {
				return nil, err
			}
			return &tryEval{e, sql}, nil
		},
	}
}

// tryEval is an expression whose errors become null, row by row.
type tryEval struct {
	x    Expr
	text string
}

// NewTry is e with null for the rows where it fails, printed as text.
func NewTry(e Expr, text string) Expr { return &tryEval{e, text} }

func (e *tryEval) Type() *columnar.Type       { return e.x.Type() }
func (e *tryEval) Nullable() bool             { return true }
func (e *tryEval) Children() []Expr           { return []Expr{e.x} }
func (e *tryEval) WithChildren(c []Expr) Expr { return &tryEval{c[0], e.text} }
func (e *tryEval) SQL() string                { return e.text }

// Eval evaluates all rows at once; when that fails, halves of them, down to the rows at fault.
func (e *tryEval) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	if in.Rows == 0 {
		return columnar.NewEmpty(e.Type()), nil
	}
	c, err := e.x.Eval(ctx, in)
	if err == nil {
		return c, nil
	}
	if in.Rows == 1 {
		return columnar.NewNull(e.Type(), 1), nil
	}
	all := make([]int32, in.Rows)
	for i := range all {
		all[i] = int32(i)
	}
	half := in.Rows / 2
	var parts []*columnar.Column
	for _, idx := range [][]int32{all[:half], all[half:]} {
		ctx, part := takeRows(ctx, e.x, in, idx)
		c, err := e.Eval(ctx, part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, c)
	}
	return columnar.Concat(parts), nil
}

func tryFunctions() []*Function {
	return []*Function{
		tryArithmetic("try_add", "+", "The sum, or NULL on overflow.", "SELECT try_add(2147483647, 1) → NULL"),
		tryArithmetic("try_subtract", "-", "The difference, or NULL on overflow.", "SELECT try_subtract(-2147483648, 1) → NULL"),
		tryArithmetic("try_multiply", "*", "The product, or NULL on overflow.", "SELECT try_multiply(2147483647, 2) → NULL"),
		tryArithmetic("try_divide", "/", "The quotient, or NULL when the divisor is zero.", "SELECT try_divide(1, 0) → NULL"),
		tryArithmetic("try_mod", "%", "The remainder, or NULL when the divisor is zero.", "SELECT try_mod(1, 0) → NULL"),
	}
}
