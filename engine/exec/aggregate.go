package exec

import (
	"fmt"
	"reflect"
	"time"

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
	keyDDL string
	valDDL string
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
	if a.input, err = c.compile(n.Child, want); err != nil {
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
		a.event = eventTimeOf(keyAttrs)
	}
	return a, attrs, nil
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
		WatermarkDriven: a.opt.Mode != connector.Complete, Unbounded: a.event == nil || a.opt.Mode == connector.Complete,
	}
}

func (a *aggregate) stats(r *run) OperatorStats {
	s := *r.ops[a]
	s.RowsTotal, s.MemoryBytes = a.store.Rows(), a.store.MemoryUsed()
	return s
}

func (a *aggregate) forget(rel int) { a.input.forget(rel) }

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
	tables := make([]*aggTable, r.opt.Workers)
	s := sink{}
	table := func(i int) *aggTable {
		if tables[i] == nil {
			tables[i] = newAggTable(a.shape, a.calls, r.exprContext(i))
		}
		return tables[i]
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
	full := tables[:0]
	for _, t := range tables {
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
	out, err := evalAll(ctx, a.out, columnar.NewBatch(a.result, cols, n))
	if err != nil {
		return nil, err
	}
	return columnar.NewBatch(a.schema, out, n), nil
}

// merge is the result of a bounded aggregation.
func (a *aggregate) merge(r *run, tables []*aggTable) ([][]*columnar.Batch, error) {
	if len(tables) == 0 {
		return nil, nil
	}
	if len(tables) == 1 {
		t := tables[0]
		n := t.keys.len()
		b, err := a.finish(r.exprContext(0), t.keys.columns(0, n), t.acc, n)
		return [][]*columnar.Batch{{b}}, err
	}
	parts, err := a.split(tables, r.opt.Partitions)
	if err != nil {
		return nil, err
	}
	out := make([][]*columnar.Batch, r.opt.Partitions)
	err = parallel(r.opt.Partitions, func(p int) error {
		ctx := r.exprContext(p)
		g, err := a.gather(parts, p)
		if err != nil || g.n == 0 {
			return err
		}
		acc := a.accumulators(ctx, g.n)
		if err := a.fold(acc, parts, p, g); err != nil {
			return err
		}
		b, err := a.finish(ctx, g.keys, acc, g.n)
		out[p] = []*columnar.Batch{b}
		return err
	})
	return out, err
}

func (a *aggregate) accumulators(ctx *expr.Context, n int) []expr.Accumulator {
	acc := make([]expr.Accumulator, len(a.calls))
	for k, c := range a.calls {
		acc[k] = c.accumulator(ctx)
		acc[k].Grow(n)
	}
	return acc
}

// splitTable is a table whose groups are distributed over partitions.
type splitTable struct {
	keys  []*columnar.Column
	state [][]*columnar.Column // per call
	enc   columnar.RowKeys
	hash  []uint64
	rows  [][]int32 // per partition
}

// split distributes the groups of tables over partitions by the bucket of their keys.
func (a *aggregate) split(tables []*aggTable, partitions int) ([]*splitTable, error) {
	out := make([]*splitTable, len(tables))
	err := parallel(len(tables), func(i int) error {
		t := tables[i]
		n := t.keys.len()
		s := &splitTable{keys: t.keys.columns(0, n), rows: make([][]int32, partitions)}
		for _, acc := range t.acc {
			cols, err := acc.State()
			if err != nil {
				return err
			}
			s.state = append(s.state, cols)
		}
		s.hash = encodeKeys(&s.enc, s.keys, n, nil)
		for p := range s.rows {
			s.rows[p] = make([]int32, 0, n/partitions+n/8/partitions+8)
		}
		for r, h := range s.hash {
			p := columnar.Bucket(h) % partitions
			s.rows[p] = append(s.rows[p], int32(r))
		}
		out[i] = s
		return nil
	})
	return out, err
}

// encodeKeys encodes keys for the state and gives their hashes.
func encodeKeys(enc *columnar.RowKeys, cols []*columnar.Column, n int, hash []uint64) []uint64 {
	columnar.EncodeRows(enc, cols, n, true)
	return enc.Hashes(hash)
}

// gathered are the groups of one partition out of all tables.
type gathered struct {
	n     int
	keys  []*columnar.Column
	group [][]uint32 // per table: the group of each of its rows in the partition
	enc   *columnar.RowKeys
	hash  []uint64
	rows  []int32 // of enc and hash, by group
}

// gather numbers the groups of partition p over all tables.
func (a *aggregate) gather(tables []*splitTable, p int) (*gathered, error) {
	g := &gathered{group: make([][]uint32, len(tables))}
	if len(tables) == 1 {
		t := tables[0]
		g.rows, g.enc, g.hash = t.rows[p], &t.enc, t.hash
		g.n = len(g.rows)
		g.keys = takeAll(t.keys, g.rows)
		g.group[0] = make([]uint32, g.n)
		for i := range g.group[0] {
			g.group[0][i] = uint32(i)
		}
		return g, nil
	}
	table := newKeyTable(a.shape)
	for i, t := range tables {
		rows := t.rows[p]
		g.group[i] = make([]uint32, len(rows))
		if err := table.assign(takeAll(t.keys, rows), len(rows), g.group[i]); err != nil {
			return nil, err
		}
	}
	g.n = table.len()
	g.keys = table.columns(0, g.n)
	g.enc = &columnar.RowKeys{}
	g.hash = encodeKeys(g.enc, g.keys, g.n, nil)
	g.rows = make([]int32, g.n)
	for i := range g.rows {
		g.rows[i] = int32(i)
	}
	return g, nil
}

func takeAll(cols []*columnar.Column, idx []int32) []*columnar.Column {
	out := make([]*columnar.Column, len(cols))
	for i, c := range cols {
		out[i] = columnar.Take(c, idx)
	}
	return out
}

// fold merges the accumulators of partition p of the tables into acc, in order of the tables.
func (a *aggregate) fold(acc []expr.Accumulator, tables []*splitTable, p int, g *gathered) error {
	for i, t := range tables {
		if len(t.rows[p]) == 0 {
			continue
		}
		for k := range acc {
			if err := acc[k].Merge(g.group[i], takeAll(t.state[k], t.rows[p])); err != nil {
				return err
			}
		}
	}
	return nil
}

// save merges the tables into the state and gives what the output mode asks for, per partition.
func (a *aggregate) save(r *run, tables []*aggTable) ([][]*columnar.Batch, error) {
	parts, err := a.split(tables, r.opt.Partitions)
	if err != nil {
		return nil, err
	}
	if err := r.hit("op.mid"); err != nil {
		return nil, err
	}
	out := make([][]*columnar.Batch, r.opt.Partitions)
	err = parallel(r.opt.Partitions, func(p int) error {
		rows, err := a.savePartition(r, parts, p)
		out[p] = rows
		return err
	})
	return out, err
}

func (a *aggregate) savePartition(r *run, tables []*splitTable, p int) ([]*columnar.Batch, error) {
	part, ctx := a.store.Part(p), r.exprContext(p)
	start := time.Now()
	var out []*columnar.Batch
	g, err := a.gather(tables, p)
	if err != nil {
		return nil, err
	}
	if g.n > 0 {
		b, err := a.update(ctx, part, tables, p, g)
		if err != nil {
			return nil, err
		}
		if b != nil {
			out = append(out, b)
		}
	}
	updated := time.Now()
	removed := 0
	switch {
	case a.opt.Mode == connector.Complete:
		refs := make([]state.Ref, 0, part.Rows())
		err := part.Each(func(ref state.Ref) error {
			refs = append(refs, ref)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if out, err = a.load(r, ctx, part, refs); err != nil {
			return nil, err
		}
	case a.event != nil:
		cutoff := r.evictWatermark(a.lag)
		if a.opt.Mode == connector.Append {
			if out, err = a.load(r, ctx, part, part.Due(cutoff, nil)); err != nil {
				return nil, err
			}
		}
		if removed, err = part.Expired(cutoff, nil); err != nil {
			return nil, err
		}
	}
	if err := part.Err(); err != nil {
		return nil, err
	}
	r.count(a, func(s *OperatorStats) {
		s.RowsUpdated += int64(g.n)
		s.RowsRemoved += int64(removed)
		s.Updates += updated.Sub(start)
		s.Removals += time.Since(updated)
	})
	return out, nil
}

// update merges the groups of a batch into the state and, in update mode, gives their new results.
func (a *aggregate) update(ctx *expr.Context, part *state.Part, tables []*splitTable, p int, g *gathered) (*columnar.Batch, error) {
	refs, created := make([]state.Ref, g.n), make([]bool, g.n)
	part.UpsertRows(g.enc, g.hash, g.rows, a.size, refs, created)
	acc := a.accumulators(ctx, g.n)
	// What the state holds comes first: it is earlier than the batch.
	var old []uint32
	var values [][]byte
	for i, ref := range refs {
		if !created[i] {
			old = append(old, uint32(i))
			values = append(values, part.Value(ref))
		}
	}
	if err := a.mergeStored(acc, old, values); err != nil {
		return nil, err
	}
	if err := a.fold(acc, tables, p, g); err != nil {
		return nil, err
	}
	if err := a.write(part, refs, acc, g.n); err != nil {
		return nil, err
	}
	if a.event != nil {
		for i, t := range a.event.expiry(g.keys) {
			if created[i] {
				part.SetExpiry(refs[i], t)
			}
		}
	}
	if a.opt.Mode != connector.Update {
		return nil, nil
	}
	return a.finish(ctx, g.keys, acc, g.n)
}

// mergeStored merges values of the state into groups.
func (a *aggregate) mergeStored(acc []expr.Accumulator, group []uint32, values [][]byte) error {
	if len(group) == 0 {
		return nil
	}
	cols, err := decodeRows(a.values, values)
	if err != nil {
		return err
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

// write puts the accumulators of groups 0 … n-1 into the state; refs may change.
func (a *aggregate) write(part *state.Part, refs []state.Ref, acc []expr.Accumulator, n int) error {
	var cols []*columnar.Column
	for _, x := range acc {
		s, err := x.State()
		if err != nil {
			return err
		}
		cols = append(cols, s...)
	}
	var enc columnar.RowKeys
	columnar.EncodeRows(&enc, cols, n, false)
	for i := range n {
		v := enc.Row(i)
		if a.size > 0 {
			copy(part.Mut(refs[i]), v)
		} else {
			refs[i] = part.SetValue(refs[i], v)
		}
	}
	return nil
}

// load computes the results of entries of the state.
func (a *aggregate) load(r *run, ctx *expr.Context, part *state.Part, refs []state.Ref) ([]*columnar.Batch, error) {
	var out []*columnar.Batch
	for len(refs) > 0 {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		n := min(len(refs), r.opt.BatchRows)
		keys, values, group := make([][]byte, n), make([][]byte, n), make([]uint32, n)
		for i, ref := range refs[:n] {
			keys[i], values[i], group[i] = part.Key(ref), part.Value(ref), uint32(i)
		}
		cols, err := decodeRows(a.types, keys)
		if err != nil {
			return nil, err
		}
		acc := a.accumulators(ctx, n)
		if err := a.mergeStored(acc, group, values); err != nil {
			return nil, err
		}
		b, err := a.finish(ctx, cols, acc, n)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
		refs = refs[n:]
	}
	return out, nil
}
