package exec

import (
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/state"
)

// dedup keeps the first row of each key. On a stream it remembers keys in the state: for ever, or
// until the watermark passes the event time among them, or, within the watermark, until it passes
// the event time of the first row by the watermark's delay.
type dedup struct {
	id     int
	opt    *Options
	input  *pipe
	keys   []int // input columns
	types  []*columnar.Type
	keyDDL string
	keep   []int
	schema *columnar.Schema
	store  *state.Store
	event  *eventTime // among the input's columns
	expire *eventTime // the time that the state goes by, among the input's columns
	within bool
	delay  int64
	late   string
	order  expr.Expr // hash of the keys, where the order of rows shows
	marked bool      // a watermark is below
}

func (c *compiler) dedup(n *plan.Dedup, need attrSet) (*pipe, error) {
	streaming := c.opt.Streaming && plan.IsStreaming(n.Child)
	want := need.withAttrs(n.Keys)
	var event *expr.Attr
	if streaming {
		// Rows are late by an event time that reaches the operator. One that nothing behind it asks for does
		// not, unless the state goes by it or late rows are wanted.
		seen := n.Child.Output()
		if n.WithinWatermark || c.late != "" {
			for _, a := range seen {
				if a.EventTime != nil && event == nil {
					event = a
					want[a.ID] = true
				}
			}
		}
		var err error
		if event, err = oneEventTime(dedupName(n.WithinWatermark), want.of(seen)); err != nil {
			return nil, err
		}
		if c.late != "" {
			want = want.withAttrs(seen)
		}
	}
	late, ordered := c.late, c.first
	in, err := c.compileFor(true, n.Child, want)
	if err != nil {
		return nil, err
	}
	attrs := need.of(in.attrs)
	d := &dedup{
		id: n.ID, opt: c.opt, input: in, keys: positions(in.attrs, n.Keys), types: typesOf(n.Keys), keyDDL: schemaOf(n.Keys).String(),
		keep: positions(in.attrs, attrs), schema: schemaOf(attrs), within: n.WithinWatermark, late: late,
	}
	if streaming {
		d.marked = watermarkBelow(n.Child)
		if event != nil {
			d.event = &eventTime{column: position(in.attrs, event.ID), window: event.Typ.Kind == columnar.KindStruct}
			d.delay = event.EventTime.DelayMicros
			if d.within || position(n.Keys, event.ID) >= 0 {
				d.expire = d.event
			}
		}
		if ordered {
			if d.order, err = c.shuffleHash(refsAt(in.attrs, d.keys)); err != nil {
				return nil, err
			}
		}
		if d.store, err = c.store(d.id, "dedup", d.name(), d.keyDDL, "", d.expire != nil, false); err != nil {
			return nil, err
		}
		c.q.stateful = append(c.q.stateful, d)
	}
	return &pipe{branches: []*branch{{source: d}}, attrs: attrs, static: in.static, lag: in.lag}, nil
}

func (d *dedup) name() string { return dedupName(d.within) }

func dedupName(within bool) string {
	if within {
		return "dropDuplicatesWithinWatermark"
	}
	return "dropDuplicates"
}

func (d *dedup) info() OperatorInfo {
	name := "dedupe"
	if d.within {
		name = "dedupeWithinWatermark"
	}
	return OperatorInfo{
		ID: d.id, Name: name, Stores: []string{d.store.Spec().Name}, KeySchema: d.keyDDL,
		WatermarkDriven: d.marked, Unbounded: d.expire == nil,
	}
}

func (d *dedup) stats(r *run) OperatorStats {
	s := *r.ops[d]
	s.RowsTotal, s.MemoryBytes = d.store.Rows(), d.store.MemoryUsed()
	return s
}

func (d *dedup) forget(rel int) { d.input.forget(rel) }

func (d *dedup) each(r *run, emit func(morsel) error) error {
	if d.store == nil {
		return d.bounded(r, emit)
	}
	cutoff := r.lateWatermark(d.input.lag)
	prepare := func(w *worker, rows *columnar.Batch) (*exchanged, error) {
		if d.event != nil {
			if late := d.event.late(rows.Columns, cutoff); late != nil {
				if err := w.dropLate(d, d.late, d.name(), cutoff, rows, late); err != nil {
					return nil, err
				}
				rows = columnar.FilterBatch(rows, complement(late, rows.Rows))
			}
		}
		if rows.Rows == 0 {
			return nil, nil
		}
		x := &exchanged{rows: rows}
		if d.expire != nil {
			x.time = d.expiry(rows)
		}
		x.distribute(columnsAt(rows.Columns, d.keys), r.opt.Partitions)
		return x, nil
	}
	err := r.exchange(d.input, r.opt.ExchangeBytes, prepare, func(list []*exchanged) error { return d.flush(r, list, emit) })
	if err != nil {
		return err
	}
	if d.expire == nil {
		return nil
	}
	if err := r.gate(); err != nil {
		return err
	}
	evict := r.evictWatermark(d.input.lag)
	return operatorError(d.name(), parallel(r.opt.Partitions, func(p int) error {
		start := time.Now()
		n, err := d.store.Part(p).Expired(evict, nil)
		r.count(d, func(s *OperatorStats) {
			s.RowsRemoved += int64(n)
			s.Removals += time.Since(start)
		})
		if err != nil {
			return err
		}
		return r.midway(p)
	}))
}

// expiry is the time at which the key of each row is forgotten.
func (d *dedup) expiry(rows *columnar.Batch) []int64 {
	if !d.within {
		return d.expire.expiry(rows.Columns)
	}
	v, valid := d.expire.values(rows.Columns)
	out := make([]int64, len(v))
	for i, t := range v {
		if valid != nil && !valid.Get(i) {
			t = 0 // as Spark: a row without event time is forgotten as if it were of 1970
		}
		out[i] = t + d.delay
	}
	return out
}

// flush looks rows up in the state and emits those whose key is new.
func (d *dedup) flush(r *run, list []*exchanged, emit func(morsel) error) error {
	if err := r.gate(); err != nil {
		return err
	}
	fresh := make([][][]int32, r.opt.Partitions) // per partition and item
	err := parallel(r.opt.Partitions, func(p int) error {
		start := time.Now()
		part := d.store.Part(p)
		fresh[p] = make([][]int32, len(list))
		count := 0
		var refs []state.Ref
		var created []bool
		for i, x := range list {
			rows := x.part[p]
			if cap(refs) < len(rows) {
				refs, created = make([]state.Ref, len(rows)), make([]bool, len(rows))
			}
			refs, created = refs[:len(rows)], created[:len(rows)]
			part.UpsertRows(&x.keys, x.hash, rows, 0, refs, created)
			for k, row := range rows {
				if created[k] {
					fresh[p][i] = append(fresh[p][i], row)
					if x.time != nil {
						part.SetExpiry(refs[k], x.time[row])
					}
				}
			}
			count += len(fresh[p][i])
		}
		r.count(d, func(s *OperatorStats) {
			s.RowsUpdated += int64(count)
			s.Updates += time.Since(start)
		})
		if err := part.Err(); err != nil {
			return err
		}
		return r.midway(p)
	})
	if err != nil {
		return operatorError(d.name(), err)
	}
	sorted := &inOrder{opt: d.opt}
	for i, x := range list {
		keep, n := columnar.NewBitmap(x.rows.Rows), 0
		for p := range fresh {
			for _, row := range fresh[p][i] {
				keep.Set(int(row))
				n++
			}
		}
		if n == 0 {
			continue
		}
		if d.order != nil {
			all := columnar.FilterBatch(x.rows, keep)
			part, err := d.opt.sparkPartitions(r.exprContext(0), d.order, all)
			if err != nil {
				return operatorError(d.name(), err)
			}
			sorted.add(pick(d.schema, all, d.keep), part, nil)
			continue
		}
		rows := pick(d.schema, x.rows, d.keep)
		if err := emit(morsel{build: func() (*columnar.Batch, error) { return columnar.FilterBatch(rows, keep), nil }}); err != nil {
			return err
		}
	}
	if rows := sorted.sorted(); rows != nil {
		return emit(morsel{rows: rows})
	}
	return nil
}

// bounded keeps the keys in a table.
func (d *dedup) bounded(r *run, emit func(morsel) error) error {
	table := newKeyTable(newKeyShape(d.types))
	return r.drive(d.input, sink{take: func(item any) error {
		rows := item.(*columnar.Batch)
		group, known := make([]uint32, rows.Rows), table.len()
		if err := table.assign(columnsAt(rows.Columns, d.keys), rows.Rows, group); err != nil {
			return operatorError(d.name(), err)
		}
		var idx []int32
		for i, g := range group {
			if int(g) == known { // numbers rise by one with each new key
				idx = append(idx, int32(i))
				known++
			}
		}
		if len(idx) == 0 {
			return nil
		}
		return emit(morsel{rows: columnar.TakeBatch(pick(d.schema, rows, d.keep), idx)})
	}})
}
