package expr

import (
	"context"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/udf"
)

// moduleAggregate is a call of an aggregate function of a module.
type moduleAggregate struct {
	name string
	fn   udf.AggregateFunction
	in   *columnar.Schema
	typ  *columnar.Type
	call AggCall
}

// NewModuleAggregate is a call of a module's aggregate function; in describes the arguments as the
// function gets them.
func NewModuleAggregate(name string, fn udf.AggregateFunction, in *columnar.Schema, typ *columnar.Type, args []Expr) Expr {
	return &moduleAggregate{name: name, fn: fn, in: in, typ: typ, call: AggCall{Args: args}}
}

// Name implements Aggregate.
func (a *moduleAggregate) Name() string { return a.name }

// State implements Aggregate.
func (a *moduleAggregate) State() []columnar.Field {
	return []columnar.Field{field("accumulator", columnar.Binary, true)}
}

// New implements Aggregate.
func (a *moduleAggregate) New(ctx *Context) Accumulator {
	return &moduleAcc{agg: a, call: ctx.ModuleCall()}
}

// OrderSensitive implements Aggregate; a module's function may depend on the order.
func (a *moduleAggregate) OrderSensitive() bool { return true }

// Call implements Aggregate.
func (a *moduleAggregate) Call() *AggCall { return &a.call }

// Type implements Expr.
func (a *moduleAggregate) Type() *columnar.Type { return a.typ }

// Nullable implements Expr.
func (a *moduleAggregate) Nullable() bool { return true }

// Children implements Expr.
func (a *moduleAggregate) Children() []Expr { return a.call.children() }

// WithChildren implements Expr.
func (a *moduleAggregate) WithChildren(c []Expr) Expr {
	out := *a
	out.call = a.call.with(c)
	return &out
}

// SQL implements Expr.
func (a *moduleAggregate) SQL() string { return aggSQL(a.name, a.call.Args, a.call.Distinct) }

// Eval implements Expr; an aggregate has no value of its own per row.
func (a *moduleAggregate) Eval(*Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errUnbound(a.SQL())
}

// moduleAcc hands rows and accumulators to the module.
type moduleAcc struct {
	agg  *moduleAggregate
	call udf.Call
	acc  *columnar.Column
}

func (a *moduleAcc) Grow(n int) {
	switch {
	case a.acc == nil:
		a.acc = columnar.NewNull(columnar.Binary, n)
	case a.acc.Len < n:
		a.acc = columnar.Concat([]*columnar.Column{a.acc, columnar.NewNull(columnar.Binary, n-a.acc.Len)})
	}
}

func (a *moduleAcc) Update(group []uint32, args []*columnar.Column) error {
	out, err := a.agg.fn.Update(context.Background(), a.call, columnar.NewBatch(a.agg.in, args, len(group)), group, a.acc)
	if err == nil {
		a.acc = out
	}
	return err
}

func (a *moduleAcc) Merge(group []uint32, state []*columnar.Column) error {
	// Merge takes one row per group; groups that occur several times are merged one after the other.
	for from := 0; from < len(group); {
		idx := make([]int32, a.acc.Len)
		for i := range idx {
			idx[i] = -1
		}
		to := from
		for ; to < len(group) && idx[group[to]] < 0; to++ {
			idx[group[to]] = int32(to)
		}
		out, err := a.agg.fn.Merge(context.Background(), a.call, a.acc, columnar.Take(state[0], idx))
		if err != nil {
			return err
		}
		a.acc, from = out, to
	}
	return nil
}

func (a *moduleAcc) State() ([]*columnar.Column, error) {
	if a.acc == nil {
		return []*columnar.Column{columnar.NewEmpty(columnar.Binary)}, nil
	}
	return []*columnar.Column{a.acc}, nil
}

func (a *moduleAcc) Result() (*columnar.Column, error) {
	if a.acc == nil {
		return columnar.NewEmpty(a.agg.typ), nil
	}
	return a.agg.fn.Finish(context.Background(), a.call, a.acc)
}

func (a *moduleAcc) Reset() { a.acc = nil }
