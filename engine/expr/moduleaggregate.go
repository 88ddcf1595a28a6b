package expr

import (
	"context"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/udf"
)

// moduleAggregate is a call of an aggregate function of a module.
type moduleAggregate struct {
	name string
	f    udf.AggregateFunction
	in   *columnar.Schema
	out  *columnar.Type
	call AggCall
}

// NewModuleAggregate makes a call of a module's aggregate function; in is the schema of its arguments.
func NewModuleAggregate(name string, f udf.AggregateFunction, in *columnar.Schema, out *columnar.Type, args []Expr) Aggregate {
	return &moduleAggregate{name, f, in, out, AggCall{Args: args}}
}

// Type implements Expr.
func (m *moduleAggregate) Type() *columnar.Type { return m.out }

// Nullable implements Expr.
func (m *moduleAggregate) Nullable() bool { return true }

// Children implements Expr.
func (m *moduleAggregate) Children() []Expr {
	if m.call.Filter != nil {
		return append(append([]Expr{}, m.call.Args...), m.call.Filter)
	}
	return m.call.Args
}

// WithChildren implements Expr.
func (m *moduleAggregate) WithChildren(c []Expr) Expr {
	out := *m
	out.call.Args = c[:len(m.call.Args)]
	if m.call.Filter != nil {
		out.call.Filter = c[len(c)-1]
	}
	return &out
}

// SQL implements Expr.
func (m *moduleAggregate) SQL() string {
	parts := make([]string, len(m.call.Args))
	for i, a := range m.call.Args {
		parts[i] = a.SQL()
	}
	return m.name + "(" + strings.Join(parts, ", ") + ")"
}

// Eval implements Expr; an aggregate is never evaluated row by row.
func (m *moduleAggregate) Eval(*Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errUnbound(m.SQL())
}

// Name implements Aggregate.
func (m *moduleAggregate) Name() string { return m.name }

// State implements Aggregate: an opaque accumulator.
func (m *moduleAggregate) State() []columnar.Field {
	return []columnar.Field{{Name: "acc", Type: columnar.Binary, Nullable: true}}
}

// OrderSensitive implements Aggregate: what a guest does with the order is not known.
func (m *moduleAggregate) OrderSensitive() bool { return true }

// Call implements Aggregate.
func (m *moduleAggregate) Call() *AggCall { return &m.call }

// New implements Aggregate.
func (m *moduleAggregate) New(ctx *Context) Accumulator {
	return &moduleAccumulator{m: m, call: udf.Call{BatchTime: ctx.BatchTime, Partition: ctx.Partition}, acc: columnar.NewEmpty(columnar.Binary)}
}

// moduleAccumulator holds the guest's accumulators, one BINARY row per group.
type moduleAccumulator struct {
	m    *moduleAggregate
	call udf.Call
	acc  *columnar.Column
}

// Grow implements Accumulator.
func (a *moduleAccumulator) Grow(n int) {
	if n > a.acc.Len {
		a.acc = columnar.Concat([]*columnar.Column{a.acc, columnar.NewNull(columnar.Binary, n-a.acc.Len)})
	}
}

// Update implements Accumulator.
func (a *moduleAccumulator) Update(group []uint32, args []*columnar.Column) error {
	acc, err := a.m.f.Update(context.Background(), a.call, columnar.NewBatch(a.m.in, args, len(group)), group, a.acc)
	if err == nil {
		a.acc = acc
	}
	return err
}

// Merge implements Accumulator.
func (a *moduleAccumulator) Merge(group []uint32, state []*columnar.Column) error {
	// Each round merges at most one row into a group.
	left := make([]int32, len(group))
	for i := range left {
		left[i] = int32(i)
	}
	for len(left) > 0 {
		into := make([]int32, a.acc.Len)
		for g := range into {
			into[g] = -1
		}
		var later []int32
		for _, i := range left {
			if g := group[i]; into[g] < 0 {
				into[g] = i
			} else {
				later = append(later, i)
			}
		}
		acc, err := a.m.f.Merge(context.Background(), a.call, a.acc, columnar.Take(state[0], into))
		if err != nil {
			return err
		}
		a.acc, left = acc, later
	}
	return nil
}

// State implements Accumulator.
func (a *moduleAccumulator) State() ([]*columnar.Column, error) {
	return []*columnar.Column{a.acc}, nil
}

// Result implements Accumulator.
func (a *moduleAccumulator) Result() (*columnar.Column, error) {
	return a.m.f.Finish(context.Background(), a.call, a.acc)
}

// Reset implements Accumulator.
func (a *moduleAccumulator) Reset() { a.acc = columnar.NewEmpty(columnar.Binary) }
