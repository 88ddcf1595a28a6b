package plan

import (
	"context"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/engine/udf"
)

// bindModuleCall binds a scalar or aggregate function of a module to arguments.
func (a *Analyzer) bindModuleCall(m udf.Module, f udf.Info, args []expr.Expr, p sql.Span) (expr.Expr, error) {
	fields := make([]columnar.Field, len(args))
	if f.Input != nil {
		if len(f.Input.Fields) != len(args) {
			return nil, sparkerr.At(p.Line, p.Col, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "the `%s.%s` requires %d parameters but the actual number is %d", m.Name(), f.Name, len(f.Input.Fields), len(args))
		}
		for i, in := range f.Input.Fields {
			if !args[i].Type().Equal(in.Type) {
				c, err := expr.ExplicitCast(a.binder(nil), args[i], in.Type, false)
				if err != nil {
					return nil, atPos(err, p)
				}
				args[i] = c
			}
			fields[i] = in
		}
	} else {
		for i, e := range args {
			fields[i] = columnar.Field{Name: "arg" + itoa(int64(i+1)), Type: e.Type(), Nullable: true}
		}
	}
	in := columnar.NewSchema(fields...)
	bound, err := m.Bind(f.Name, in)
	if err != nil {
		return nil, err
	}
	out := bound.Output()
	if out == nil || len(out.Fields) != 1 {
		return nil, sparkerr.At(p.Line, p.Col, "INVALID_MODULE_FUNCTION", "function %q of module %q must give one column to be called in SQL", f.Name, m.Name())
	}
	switch g := bound.(type) {
	case udf.ScalarFunction:
		return &ScalarCall{Function: g, Args: args, Out: out.Fields[0].Type, in: in}, nil
	case udf.AggregateFunction:
		return expr.NewModuleAggregate(m.Name()+"."+f.Name, g, in, out.Fields[0].Type, args), nil
	}
	return nil, sparkerr.At(p.Line, p.Col, "INVALID_MODULE_FUNCTION", "function %q of module %q cannot be called in SQL", f.Name, m.Name())
}

// ScalarCall is a call of a module's scalar function. A row that the function refuses fails the batch.
type ScalarCall struct {
	Function udf.ScalarFunction
	Args     []expr.Expr
	Out      *columnar.Type
	in       *columnar.Schema
}

// Type implements expr.Expr.
func (c *ScalarCall) Type() *columnar.Type { return c.Out }

// Nullable implements expr.Expr.
func (c *ScalarCall) Nullable() bool { return true }

// Children implements expr.Expr.
func (c *ScalarCall) Children() []expr.Expr { return c.Args }

// WithChildren implements expr.Expr.
func (c *ScalarCall) WithChildren(k []expr.Expr) expr.Expr {
	out := *c
	out.Args = k
	return &out
}

// SQL implements expr.Expr.
func (c *ScalarCall) SQL() string {
	var p []string
	for _, e := range c.Args {
		p = append(p, e.SQL())
	}
	i := c.Function.Info()
	return i.Module + "." + i.Name + "(" + strings.Join(p, ", ") + ")"
}

// Eval implements expr.Expr.
func (c *ScalarCall) Eval(ctx *expr.Context, in *columnar.Batch) (*columnar.Column, error) {
	cols := make([]*columnar.Column, len(c.Args))
	for i, e := range c.Args {
		col, err := e.Eval(ctx, in)
		if err != nil {
			return nil, err
		}
		cols[i] = col
	}
	out, bad, err := c.Function.Scalar(context.Background(), ctx.ModuleCall(), columnar.NewBatch(c.in, cols, in.Rows))
	if err != nil {
		return nil, err
	}
	if len(bad) > 0 {
		i := c.Function.Info()
		return nil, sparkerr.New("MODULE_ROW_ERROR", "module %q: function %q: row %d: %s", i.Module, i.Name, bad[0].Row, bad[0].Text)
	}
	return out, nil
}
