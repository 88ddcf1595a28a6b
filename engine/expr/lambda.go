package expr

import (
	"strings"

	"github.com/wstream/wstream/columnar"
)

// LambdaSource is a lambda function before its parameters have types. The analyser puts one among
// the arguments of a higher-order function, which calls Resolve once it knows the types.
type LambdaSource struct {
	Params []string
	// Resolve binds the body with the parameters as given, in the order of Params.
	Resolve func(params []*LambdaVar) (Expr, error)
	Text    string // how the lambda prints before it is bound
}

// Type implements Expr.
func (l *LambdaSource) Type() *columnar.Type { return columnar.Null }

// Nullable implements Expr.
func (l *LambdaSource) Nullable() bool { return true }

// Children implements Expr.
func (l *LambdaSource) Children() []Expr { return nil }

// WithChildren implements Expr.
func (l *LambdaSource) WithChildren([]Expr) Expr { return l }

// SQL implements Expr.
func (l *LambdaSource) SQL() string {
	if l.Text != "" {
		return l.Text
	}
	return "lambdafunction(" + strings.Join(l.Params, ", ") + ")"
}

// Eval implements Expr; a lambda that was never bound is a fault of the planner.
func (l *LambdaSource) Eval(*Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errUnbound(l.SQL())
}

// LambdaVar is a parameter of a lambda function, used in its body. Its identity is its address.
type LambdaVar struct {
	Name string
	Typ  *columnar.Type
	Null bool
}

// Type implements Expr.
func (v *LambdaVar) Type() *columnar.Type { return v.Typ }

// Nullable implements Expr.
func (v *LambdaVar) Nullable() bool { return v.Null }

// Children implements Expr.
func (v *LambdaVar) Children() []Expr { return nil }

// WithChildren implements Expr.
func (v *LambdaVar) WithChildren([]Expr) Expr { return v }

// SQL implements Expr.
func (v *LambdaVar) SQL() string { return "namedlambdavariable()" }

// Eval implements Expr.
func (v *LambdaVar) Eval(ctx *Context, _ *columnar.Batch) (*columnar.Column, error) {
	if ctx.lambda != nil {
		for i := len(ctx.lambda.vars) - 1; i >= 0; i-- {
			if ctx.lambda.vars[i] == v {
				return ctx.lambda.cols[i], nil
			}
		}
	}
	return nil, errUnbound(v.Name)
}

// Lambda is a bound lambda function. It is evaluated by the function it is an argument of.
type Lambda struct {
	Vars []*LambdaVar
	Body Expr
}

// Type implements Expr.
func (l *Lambda) Type() *columnar.Type { return l.Body.Type() }

// Nullable implements Expr.
func (l *Lambda) Nullable() bool { return l.Body.Nullable() }

// Children implements Expr.
func (l *Lambda) Children() []Expr { return []Expr{l.Body} }

// WithChildren implements Expr.
func (l *Lambda) WithChildren(c []Expr) Expr { return &Lambda{l.Vars, c[0]} }

// SQL implements Expr.
func (l *Lambda) SQL() string {
	args := []Expr{l.Body}
	for _, v := range l.Vars {
		args = append(args, v)
	}
	return sqlCall("lambdafunction", args)
}

// Eval implements Expr; a lambda has no value of its own.
func (l *Lambda) Eval(*Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errUnbound(l.SQL())
}
