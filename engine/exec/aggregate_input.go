package exec

import (
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/state"
)

// eventTime finds the time by which rows of an operator are late and its state expires: a
// timestamp, or the end of a window.
type eventTime struct {
	column int
	window bool
}

// oneEventTime is the column with a watermark among those that reach an operator with state, or nil. As in Spark there may be no
// second one, since rows are late, and state is done with, by one time only.
func oneEventTime(operator string, attrs []*expr.Attr) (*expr.Attr, error) {
	var found *expr.Attr
	for _, a := range attrs {
		switch {
		case a.EventTime == nil || found != nil && found.ID == a.ID:
		case found != nil:
			return nil, sparkerr.New("UNSUPPORTED_STREAMING_OPERATION.SEVERAL_EVENT_TIMES", "more than one event time column is not supported: %s gets the columns %q and %q, both of which carry a watermark; leave out the one by which rows are not to be late", operator, found.Name, a.Name)
		default:
			found = a
		}
	}
	return found, nil
}

// eventTimeOf is the first column with a watermark, or nil.
func eventTimeOf(attrs []*expr.Attr) *eventTime {
	for i, a := range attrs {
		if a.EventTime != nil {
			return &eventTime{column: i, window: a.Typ.Kind == columnar.KindStruct}
		}
	}
	return nil
}

// values are the times of a column and where they are not null (nil: everywhere).
func (t *eventTime) values(cols []*columnar.Column) ([]int64, columnar.Bitmap) {
	c := cols[t.column]
	valid := c.Valid
	if t.window {
		c = c.Children[1]
		valid = columnar.And(valid, c.Valid)
	}
	return columnar.Values[int64](c), valid
}

// late are the rows at or below a watermark, nil when there is none.
func (t *eventTime) late(cols []*columnar.Column, watermark int64) columnar.Bitmap {
	v, valid := t.values(cols)
	first := -1
	for i, x := range v {
		if x <= watermark && (valid == nil || valid.Get(i)) {
			first = i
			break
		}
	}
	if first < 0 {
		return nil
	}
	late := columnar.NewBitmap(len(v))
	for i := first; i < len(v); i++ {
		if v[i] <= watermark && (valid == nil || valid.Get(i)) {
			late.Set(i)
		}
	}
	return late
}

// expiry gives the time at which the state of each row expires, state.NoExpiry for null.
func (t *eventTime) expiry(cols []*columnar.Column) []int64 {
	v, valid := t.values(cols)
	if valid == nil {
		return v
	}
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = state.NoExpiry
		if valid.Get(i) {
			out[i] = x
		}
	}
	return out
}

// complement are the rows that are not in b, of n.
func complement(b columnar.Bitmap, n int) columnar.Bitmap {
	out := make(columnar.Bitmap, len(b))
	for i, w := range b {
		out[i] = ^w
	}
	out.MaskTail(n)
	return out
}

// aggCall is an aggregate call with its arguments bound to the operator's input.
type aggCall struct {
	agg    expr.Aggregate
	call   *expr.AggCall
	args   []expr.Expr // the call's arguments, and the keys of its own order
	fields []columnar.Field
}

// newAggCall binds a call.
func newAggCall(agg expr.Aggregate, attrs []*expr.Attr) (*aggCall, error) {
	bound, err := expr.BindRefs(agg, attrs)
	if err != nil {
		return nil, err
	}
	b, ok := bound.(expr.Aggregate)
	if !ok {
		return nil, fmt.Errorf("%q is no aggregate any more once it is bound", agg.SQL())
	}
	c := &aggCall{agg: b, call: b.Call()}
	c.args = append(c.args, c.call.Args...)
	for _, k := range c.call.Order {
		c.args = append(c.args, k.Expr)
	}
	c.fields = b.State()
	if c.collects() {
		c.fields = []columnar.Field{collectedField(c)}
	}
	return c, nil
}

// collects tells whether the rows of a group are gathered before the function sees them.
func (c *aggCall) collects() bool { return c.call.Distinct || len(c.call.Order) > 0 }

// ordered tells whether the call needs its rows in order of arrival.
func (c *aggCall) ordered() bool { return c.agg.OrderSensitive() && len(c.call.Order) == 0 }

// accumulator makes an accumulator without groups.
func (c *aggCall) accumulator(ctx *expr.Context) expr.Accumulator {
	if c.collects() {
		return newCollector(c, ctx)
	}
	return c.agg.New(ctx)
}

// aggInput is what an aggregation needs of a batch of rows: keys, and per call the arguments of the
// rows that its filter lets through.
type aggInput struct {
	rows  int
	keys  []*columnar.Column
	calls []callInput
}

type callInput struct {
	args []*columnar.Column
	rows []int32 // positions among the rows, nil for all
}

// evalCalls evaluates the arguments of the calls.
func evalCalls(ctx *expr.Context, calls []*aggCall, in *columnar.Batch) ([]callInput, error) {
	out := make([]callInput, len(calls))
	for k, c := range calls {
		rows := in
		if c.call.Filter != nil {
			f, err := c.call.Filter.Eval(ctx, in)
			if err != nil {
				return nil, err
			}
			keep := trueRows(f)
			n := keep.Count(in.Rows)
			if n < in.Rows {
				out[k].rows = keep.Indices(make([]int32, 0, n), in.Rows)
				rows = takeUsed(in, c.args, out[k].rows)
			}
		}
		args, err := evalAll(ctx, c.args, rows)
		if err != nil {
			return nil, err
		}
		out[k].args = args
	}
	return out, nil
}

// takeUsed takes rows of the columns that expressions refer to; the others are left out.
func takeUsed(in *columnar.Batch, es []expr.Expr, idx []int32) *columnar.Batch {
	cols := make([]*columnar.Column, len(in.Columns))
	for _, e := range es {
		expr.Walk(e, func(x expr.Expr) bool {
			if r, ok := x.(*expr.Ref); ok && cols[r.Index] == nil {
				cols[r.Index] = columnar.Take(in.Columns[r.Index], idx)
			}
			return true
		})
	}
	return columnar.NewBatch(in.Schema, cols, len(idx))
}

// aggTable is the aggregation of some rows: a table of keys, and the accumulators of its groups.
type aggTable struct {
	keys   *keyTable
	ctx    *expr.Context
	calls  []*aggCall
	acc    []expr.Accumulator
	group  []uint32
	picked []uint32
}

func newAggTable(shape *keyShape, calls []*aggCall, ctx *expr.Context) *aggTable {
	t := &aggTable{keys: newKeyTable(shape), ctx: ctx, calls: calls, acc: make([]expr.Accumulator, len(calls))}
	for i, c := range calls {
		t.acc[i] = c.accumulator(ctx)
	}
	return t
}

// add adds rows.
func (t *aggTable) add(in *aggInput) error {
	if cap(t.group) < in.rows {
		t.group = make([]uint32, in.rows)
	}
	group := t.group[:in.rows]
	if err := t.keys.assign(in.keys, in.rows, group); err != nil {
		return err
	}
	n := t.keys.len()
	for k, acc := range t.acc {
		acc.Grow(n)
		g := group
		if rows := in.calls[k].rows; rows != nil {
			t.picked = t.picked[:0]
			for _, r := range rows {
				t.picked = append(t.picked, group[r])
			}
			g = t.picked
		}
		if err := acc.Update(g, in.calls[k].args); err != nil {
			return err
		}
	}
	return nil
}

// reset removes all groups and keeps the memory; ctx is the context of the next batch.
func (t *aggTable) reset(ctx *expr.Context) {
	*t.ctx = *ctx
	t.keys.reset()
	for i, c := range t.calls {
		if c.ordered() { // a module's function may keep what the context was when it began
			t.acc[i] = c.accumulator(t.ctx)
		} else {
			t.acc[i].Reset()
		}
	}
}
