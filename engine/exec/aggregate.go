package exec

import (
	"fmt"
	"reflect"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/state"
)

// aggregate groups rows by keys. Workers add rows to tables of their own; then the tables are merged
// by state partition, over what the state holds of the groups.
type aggregate struct {
	id     int
	opt    *Options
	input  *pipe
	keys   []expr.Expr // over the input
	calls  []*aggCall
	shape  *keyShape
	out    []expr.Expr // over the keys and the calls' results
	result *columnar.Schema
	schema *columnar.Schema
	event  *eventTime // among the keys
	late   string     // sink for late rows
	lag    int64
	store  *state.Store // nil for bounded inputs
	values []*columnar.Type
	types  []*columnar.Type // of the keys
	size   int              // bytes of a value in the state if they are always the same, else 0
	order  bool             // some call needs rows in order of arrival
	hash   expr.Expr        // Spark's hash of the keys, when groups must come in its order; else nil
	tables []*aggTable      // of the workers, kept for the next batch
	splits []*splitTable    // likewise
	keyDDL string
	valDDL string
	marked bool // a watermark is below
}

func (c *compiler) aggregate(n *plan.Aggregate, need attrSet) (*pipe, error) {
	streaming := c.opt.Streaming && plan.IsStreaming(n.Child)
	if n.Session != nil {
		return c.session(n, need, streaming)
	}
	a, attrs, err := c.newAggregate(n, need, streaming)
	if err != nil {
		return nil, operatorError("aggregate", err)
	}
	if streaming {
		if a.store, err = c.store(a.id, "aggregate", "aggregate", a.keyDDL, a.valDDL, a.event != nil, false); err != nil {
			return nil, err
		}
		c.q.stateful = append(c.q.stateful, a)
	}
	return &pipe{branches: []*branch{{source: a}}, attrs: attrs, static: a.input.static, lag: a.lag}, nil
}

// newAggregate binds the parts of an aggregation, grouped by sessions or not.
func (c *compiler) newAggregate(n *plan.Aggregate, need attrSet, streaming bool) (*aggregate, []*expr.Attr, error) {
	a := &aggregate{id: n.ID, opt: c.opt, late: c.late}
	var exprs []expr.Expr
	var attrs []*expr.Attr
	for _, e := range n.Exprs {
		// A stateful operator keeps its calls whoever reads them, so that a change of the output alone
		// leaves the shape of its state.
		if at := plan.NamedAttr(e); streaming || need[at.ID] {
			exprs, attrs = append(exprs, e), append(attrs, at)
		}
	}
	var calls []expr.Aggregate
	var keyAttrs []*expr.Attr
	for _, k := range n.Keys {
		keyAttrs = append(keyAttrs, plan.NamedAttr(k))
	}
	made := append([]*expr.Attr{}, keyAttrs...)
	replaced := make([]expr.Expr, len(exprs))
	for i, e := range exprs {
		replaced[i] = expr.Transform(e, func(x expr.Expr) expr.Expr {
			agg, ok := x.(expr.Aggregate)
			if !ok {
				return x
			}
			for k, known := range calls {
				if known == agg || expr.IsDeterministic(agg) && reflect.DeepEqual(known, agg) {
					return made[len(keyAttrs)+k]
				}
			}
			calls = append(calls, agg)
			at := &expr.Attr{ID: expr.AttrID(-1 - len(calls)), Name: agg.SQL(), Typ: agg.Type(), Null: agg.Nullable()}
			made = append(made, at)
			return at
		})
	}
	var wanted []expr.Expr
	wanted = append(wanted, n.Keys...)
	for _, agg := range calls {
		wanted = append(wanted, agg)
	}
	want := attrSet{}.with(wanted...)
	if c.late != "" && streaming {
		want = want.withAttrs(n.Child.Output())
	}
	var err error
	inOrder := false
	for _, agg := range calls {
		inOrder = inOrder || agg.OrderSensitive()
	}
	if a.input, err = c.compileFor(inOrder, n.Child, want); err != nil {
		return nil, nil, err
	}
	a.lag = a.input.lag
	if a.keys, err = bind(n.Keys, a.input.attrs); err != nil {
		return nil, nil, err
	}
	for _, agg := range calls {
		call, err := newAggCall(agg, a.input.attrs)
		if err != nil {
			return nil, nil, err
		}
		a.calls = append(a.calls, call)
		a.order = a.order || call.ordered()
	}
	if !a.order {
		a.input.anyOrder()
	}
	if a.out, err = bind(replaced, made); err != nil {
		return nil, nil, err
	}
	a.result, a.schema = schemaOf(made), schemaOf(attrs)
	keySchema, valSchema := schemaOf(keyAttrs), &columnar.Schema{}
	for _, f := range keySchema.Fields {
		a.types = append(a.types, f.Type)
	}
	a.shape = newKeyShape(a.types)
	for _, call := range a.calls {
		for _, f := range call.fields {
			f.Name = fmt.Sprintf("%s.%s", call.agg.Name(), f.Name)
			valSchema.Fields = append(valSchema.Fields, f)
			a.values = append(a.values, f.Type)
		}
	}
	a.size = fixedSize(a.values)
	a.keyDDL, a.valDDL = keySchema.String(), valSchema.String()
	if streaming {
		if c.opt.Mode != connector.Complete {
			if _, err := oneEventTime("an aggregation", keyAttrs); err != nil {
				return nil, nil, err
			}
		}
		a.event, a.marked = eventTimeOf(keyAttrs), watermarkBelow(n.Child)
		if c.first {
			err = a.shuffle(c, n)
		}
	}
	return a, attrs, err
}

// fixedSize is the length of the row encoding of types if it is the same for all rows, else 0.
func fixedSize(types []*columnar.Type) int {
	n := 0
	for _, t := range types {
		if t.Width() == 0 {
			return 0
		}
		n += 1 + t.Width()
	}
	return n
}

// watermarkBelow tells whether a watermark is below an operator: one that stands above asks it for nothing.
func watermarkBelow(n plan.Node) bool {
	found := false
	plan.Walk(n, func(m plan.Node) bool {
		_, ok := m.(*plan.Watermark)
		found = found || ok
		return !found
	})
	return found
}

// store asks for a store of a stateful operator.
func (c *compiler) store(id int, name, operator, key, value string, expiring, multi bool) (*state.Store, error) {
	if c.opt.State == nil {
		return nil, fmt.Errorf("operator %q: a streaming query needs a state", operator)
	}
	s, err := c.opt.State.Store(state.StoreSpec{
		Name: fmt.Sprintf("%d.%s", id, name), Operator: operator, KeySchema: key, ValueSchema: value, Expiring: expiring, Multi: multi,
	})
	if err != nil {
		return nil, operatorError(operator, err)
	}
	return s, nil
}

func (a *aggregate) info() OperatorInfo {
	return OperatorInfo{
		ID: a.id, Name: "stateStoreSave", Stores: []string{a.store.Spec().Name}, KeySchema: a.keyDDL, ValueSchema: a.valDDL,
		WatermarkDriven: a.marked && a.opt.Mode != connector.Complete, Unbounded: a.event == nil || a.opt.Mode == connector.Complete,
	}
}

func (a *aggregate) stats(r *run) OperatorStats {
	s := *r.ops[a]
	s.RowsTotal, s.MemoryBytes = a.store.Rows(), a.store.MemoryUsed()
	return s
}

func (a *aggregate) forget(rel int) {
	a.input.forget(rel)
	if rel < 0 {
		a.tables, a.splits = nil, nil
	}
}

// lateWatermark is what rows of the batch must be above, for an operator that lags.
func (r *run) lateWatermark(lag int64) int64 { return r.batch.LateWatermark - lag }

// evictWatermark is what removes state in the batch, for an operator that lags.
func (r *run) evictWatermark(lag int64) int64 { return r.batch.EvictWatermark - lag }

// eval evaluates keys and arguments, without late rows.
func (a *aggregate) eval(w *worker, in *columnar.Batch) (*aggInput, error) {
	ctx := &w.expr
	keys, err := evalAll(ctx, a.keys, in)
	if err != nil {
		return nil, err
	}
	if a.event != nil && a.opt.Mode != connector.Complete {
		cutoff := w.run.lateWatermark(a.lag)
		if late := a.event.late(keys, cutoff); late != nil {
			if err := w.dropLate(a, a.late, "aggregate", cutoff, in, late); err != nil {
				return nil, err
			}
			keep := complement(late, in.Rows).Indices(nil, in.Rows)
			in = columnar.TakeBatch(in, keep)
			for i, k := range keys {
				keys[i] = columnar.Take(k, keep)
			}
		}
	}
	calls, err := evalCalls(ctx, a.calls, in)
	if err != nil {
		return nil, err
	}
	return &aggInput{rows: in.Rows, keys: keys, calls: calls}, nil
}

// dropLate counts late rows and hands them on.
func (w *worker) dropLate(op stateful, sink, operator string, watermark int64, in *columnar.Batch, late columnar.Bitmap) error {
	r := w.run
	n := int64(late.Count(in.Rows))
	r.count(op, func(s *OperatorStats) { s.RowsLate += n })
	if sink == "" || r.batch.Late == nil {
		return nil
	}
	rows := columnar.FilterBatch(in, late)
	return w.aside(func() error { return r.batch.Late(sink, operator, watermark, rows) })
}

// each aggregates the input and emits the result.
func (a *aggregate) each(r *run, emit func(morsel) error) error {
	tables, err := a.build(r)
	if err != nil {
		return err
	}
	var out [][]*columnar.Batch
	if a.store != nil {
		out, err = a.save(r, tables)
	} else {
		out, err = a.merge(r, tables)
	}
	if err != nil {
		return operatorError("aggregate", err)
	}
	if a.hash != nil {
		out = a.shuffled(out)
	}
	for p, rows := range out {
		for _, b := range rows {
			if err := emit(morsel{rows: b, part: partition{index: p}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// build aggregates the input into tables, of which the first may be the only one. Rows of earlier
// tables count as earlier.
func (a *aggregate) build(r *run) ([]*aggTable, error) {
	if a.tables == nil {
		a.tables = make([]*aggTable, r.opt.Workers)
	}
	s := sink{}
	table := func(i int) *aggTable {
		if a.tables[i] == nil {
			a.tables[i] = newAggTable(a.shape, a.calls, r.exprContext(i))
		}
		return a.tables[i]
	}
	for i, t := range a.tables {
		if t != nil {
			t.reset(r.exprContext(i))
		}
	}
	if a.order {
		s.prepare = func(w *worker, rows *columnar.Batch) (any, error) {
			in, err := a.eval(w, rows)
			if err != nil || in.rows == 0 {
				return nil, operatorError("aggregate", err)
			}
			return in, nil
		}
		s.take = func(item any) error { return operatorError("aggregate", table(0).add(item.(*aggInput))) }
	} else {
		s.put = func(w *worker, rows *columnar.Batch) error {
			in, err := a.eval(w, rows)
			if err == nil && in.rows > 0 {
				err = table(w.id).add(in)
			}
			return operatorError("aggregate", err)
		}
	}
	if err := r.drive(a.input, s); err != nil {
		return nil, err
	}
	if len(a.keys) == 0 { // the one group of an aggregation without keys is always there
		t := table(0)
		if err := t.keys.assign(nil, 1, make([]uint32, 1)); err != nil {
			return nil, err
		}
		for _, acc := range t.acc {
			acc.Grow(1)
		}
	}
	var full []*aggTable
	for _, t := range a.tables {
		if t != nil && t.keys.len() > 0 {
			full = append(full, t)
		}
	}
	return full, nil
}

// finish evaluates the output of groups.
func (a *aggregate) finish(ctx *expr.Context, keys []*columnar.Column, acc []expr.Accumulator, n int) (*columnar.Batch, error) {
	cols := make([]*columnar.Column, 0, len(keys)+len(acc))
	cols = append(cols, keys...)
	for _, x := range acc {
		c, err := x.Result()
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	in := columnar.NewBatch(a.result, cols, n)
	out, err := evalAll(ctx, a.out, in)
	if err != nil {
		return nil, err
	}
	if a.hash != nil {
		h, err := a.hash.Eval(ctx, in)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return columnar.NewBatch(a.schema, out, n), nil
}

func (a *aggregate) accumulators(ctx *expr.Context, n int) []expr.Accumulator {
	acc := make([]expr.Accumulator, len(a.calls))
	for k, c := range a.calls {
		acc[k] = c.accumulator(ctx)
		acc[k].Grow(n)
	}
	return acc
}

// resetTo empties accumulators and makes room for n groups.
func resetTo(acc []expr.Accumulator, n int) {
	for _, x := range acc {
		x.Reset()
		x.Grow(n)
	}
}

// mergeColumns merges accumulators into groups; cols are the columns of all calls one after the other.
func (a *aggregate) mergeColumns(acc []expr.Accumulator, group []uint32, cols []*columnar.Column) error {
	if len(group) == 0 {
		return nil
	}
	for k, c := range a.calls {
		n := len(c.fields)
		if err := acc[k].Merge(group, cols[:n]); err != nil {
			return err
		}
		cols = cols[n:]
	}
	return nil
}

// stateColumns are the accumulators of groups 0 … n-1 as columns, those of all calls one after the other.
func stateColumns(acc []expr.Accumulator) ([]*columnar.Column, error) {
	var cols []*columnar.Column
	for _, x := range acc {
		s, err := x.State()
		if err != nil {
			return nil, err
		}
		cols = append(cols, s...)
	}
	return cols, nil
}
