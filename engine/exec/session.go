package exec

import (
	"fmt"
	"slices"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/state"
)

// sessions groups rows by keys and by session windows: windows of one key that touch become one.
// The state holds the open sessions of each key.
type sessions struct {
	*aggregate
	at       int // of the session among the keys
	window   *columnar.Type
	keyTypes []*columnar.Type // of the other keys
	keyShape *keyShape
	stored   []*columnar.Type // start, end, accumulators
	timed    bool             // the windows carry a watermark
}

func (c *compiler) session(n *plan.Aggregate, need attrSet, streaming bool) (*pipe, error) {
	a, attrs, err := c.newAggregate(n, need, streaming)
	if err != nil {
		return nil, operatorError("session_window", err)
	}
	s := &sessions{aggregate: a, at: -1, window: n.Session.Typ, timed: n.Session.EventTime != nil}
	keys := &columnar.Schema{}
	for i, k := range n.Keys {
		at := plan.NamedAttr(k)
		if k, ok := k.(*expr.Attr); ok && k.ID == n.Session.ID {
			s.at = i
			continue
		}
		keys.Fields = append(keys.Fields, at.Field())
		s.keyTypes = append(s.keyTypes, at.Typ)
	}
	if s.at < 0 {
		return nil, fmt.Errorf("operator %q: the window is not among the keys", "session_window")
	}
	s.keyShape = newKeyShape(s.keyTypes)
	bound := s.window.Fields[0].Type
	s.stored = append([]*columnar.Type{bound, bound}, a.values...)
	a.event = &eventTime{column: s.at, window: true}
	if streaming {
		value := columnar.NewSchema(columnar.Field{Name: "start", Type: bound}, columnar.Field{Name: "end", Type: bound}).String()
		if a.valDDL != "" {
			value += "," + a.valDDL
		}
		a.keyDDL, a.valDDL = keys.String(), value
		if a.store, err = c.store(a.id, "session", "session_window", a.keyDDL, a.valDDL, true, true); err != nil {
			return nil, err
		}
		c.q.stateful = append(c.q.stateful, s)
	}
	return &pipe{branches: []*branch{{source: s}}, attrs: attrs, static: a.input.static, lag: a.lag}, nil
}

func (s *sessions) info() OperatorInfo {
	i := s.aggregate.info()
	i.Name = "sessionWindowStateStoreSaveExec"
	i.Unbounded = s.opt.Mode == connector.Complete
	return i
}

func (s *sessions) stats(r *run) OperatorStats {
	st := *r.ops[s]
	st.RowsTotal, st.MemoryBytes = s.store.Rows(), s.store.MemoryUsed()
	return st
}

// otherKeys are the keys without the session.
func (s *sessions) otherKeys(keys []*columnar.Column) []*columnar.Column {
	out := make([]*columnar.Column, 0, len(keys)-1)
	return append(append(out, keys[:s.at]...), keys[s.at+1:]...)
}

// allKeys puts a column of windows among the other keys.
func (s *sessions) allKeys(other []*columnar.Column, start, end []int64) []*columnar.Column {
	return slices.Insert(slices.Clone(other), s.at, windowColumn(s.window, start, end))
}

func (s *sessions) each(r *run, emit func(morsel) error) error {
	give := func(parts [][]*columnar.Batch) error {
		if s.hash != nil {
			parts = s.shuffled(parts)
		}
		for p, rows := range parts {
			for _, b := range rows {
				if err := emit(morsel{rows: b, part: partition{index: p}}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	cutoff := r.lateWatermark(s.lag)
	prepare := func(w *worker, rows *columnar.Batch) (*exchanged, error) {
		keys, err := evalAll(&w.expr, s.keys, rows)
		if err != nil {
			return nil, operatorError("session_window", err)
		}
		if s.store != nil && s.timed { // in complete mode too: unlike windows, sessions then take no late row in Spark
			if late := s.event.late(keys, cutoff); late != nil {
				if err := w.dropLate(s, s.late, "session_window", cutoff, rows, late); err != nil {
					return nil, err
				}
				idx := complement(late, rows.Rows).Indices(nil, rows.Rows)
				rows, keys = columnar.TakeBatch(rows, idx), takeAll(keys, idx)
			}
		}
		if rows.Rows == 0 {
			return nil, nil
		}
		x := &exchanged{rows: rows}
		x.distribute(s.otherKeys(keys), r.opt.Partitions)
		return x, nil
	}
	limit := r.opt.ExchangeBytes
	if s.store == nil {
		limit = 0 // without a state all rows must be there at once
	}
	err := r.exchange(s.input, limit, prepare, func(list []*exchanged) error {
		if err := r.gate(); err != nil {
			return err
		}
		out := make([][]*columnar.Batch, r.opt.Partitions)
		err := parallel(r.opt.Partitions, func(p int) error {
			rows, err := s.merge(r, list, p)
			out[p] = rows
			if err != nil {
				return err
			}
			return r.midway(p)
		})
		if err != nil {
			return operatorError("session_window", err)
		}
		return give(out)
	})
	if err != nil || s.store == nil {
		return err
	}
	if err := r.gate(); err != nil {
		return err
	}
	out := make([][]*columnar.Batch, r.opt.Partitions)
	err = parallel(r.opt.Partitions, func(p int) error {
		rows, err := s.results(r, p)
		out[p] = rows
		if err != nil {
			return err
		}
		return r.midway(p)
	})
	if err != nil {
		return operatorError("session_window", err)
	}
	return give(out)
}

// sessionEvent is a row, or a session of the state, on the way to its merged session.
type sessionEvent struct {
	group      uint32
	start, end int64
	index      int32 // of the row, or of the session in the state
	stored     bool
	session    uint32
	run        int32 // how often row and stored session have changed places before it in its session
}

// merge merges the rows of partition p with the sessions of the state. Without a state it gives
// the result.
func (s *sessions) merge(r *run, list []*exchanged, p int) ([]*columnar.Batch, error) {
	began := time.Now()
	ctx := r.exprContext(p)
	var parts []*columnar.Batch
	for _, x := range list {
		if len(x.part[p]) > 0 {
			parts = append(parts, columnar.TakeBatch(x.rows, x.part[p]))
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	rows, err := concatRows(parts)
	if err != nil {
		return nil, err
	}
	keys, err := evalAll(ctx, s.keys, rows)
	if err != nil {
		return nil, err
	}
	table, group := newKeyTable(s.keyShape), make([]uint32, rows.Rows)
	if err := table.assign(s.otherKeys(keys), rows.Rows, group); err != nil {
		return nil, err
	}
	window := keys[s.at]
	starts, ends := columnar.Values[int64](window.Children[0]), columnar.Values[int64](window.Children[1])
	events := make([]sessionEvent, rows.Rows)
	for i := range events {
		events[i] = sessionEvent{group: group[i], start: starts[i], end: ends[i], index: int32(i)}
	}
	keyCols := table.columns(0, table.len())
	var enc columnar.RowKeys
	var hash []uint64
	var stored []*columnar.Column
	var refs []state.Ref
	if s.store != nil {
		hash = encodeKeys(&enc, keyCols, table.len(), nil)
		if refs, stored, events, err = s.open(s.store.Part(p), &enc, hash, events); err != nil {
			return nil, err
		}
	}
	merged := mergeEvents(events)
	acc := s.accumulators(ctx, len(merged))
	if err := s.fill(ctx, acc, rows, stored, events); err != nil {
		return nil, err
	}
	if s.store == nil {
		idx, start, end := make([]int32, len(merged)), make([]int64, len(merged)), make([]int64, len(merged))
		for i, m := range merged {
			idx[i], start[i], end[i] = int32(m.group), m.start, m.end
		}
		b, err := s.finish(ctx, s.allKeys(takeAll(keyCols, idx), start, end), acc, len(merged))
		return []*columnar.Batch{b}, err
	}
	err = s.put(s.store.Part(p), &enc, hash, refs, merged, events, acc)
	r.count(s, func(st *OperatorStats) {
		st.RowsUpdated += int64(len(merged))
		st.Updates += time.Since(began)
	})
	return nil, err
}

// open adds the sessions that the state has of the groups to the events. It gives their entries and
// columns.
func (s *sessions) open(part *state.Part, enc *columnar.RowKeys, hash []uint64, events []sessionEvent) ([]state.Ref, []*columnar.Column, []sessionEvent, error) {
	heads := make([]state.Ref, len(hash))
	part.FindRows(enc, hash, allRows(len(hash)), heads)
	var refs []state.Ref
	var values [][]byte
	var group []uint32
	for g, ref := range heads {
		for ; ref != 0; ref = part.Next(ref) {
			refs, values, group = append(refs, ref), append(values, part.Value(ref)), append(group, uint32(g))
		}
	}
	if err := part.Err(); err != nil {
		return nil, nil, nil, err
	}
	cols, err := decodeRows(s.stored, values)
	if err != nil {
		return nil, nil, nil, err
	}
	starts, ends := columnar.Values[int64](cols[0]), columnar.Values[int64](cols[1])
	for i, g := range group {
		events = append(events, sessionEvent{group: g, start: starts[i], end: ends[i], index: int32(i), stored: true})
	}
	return refs, cols[2:], events, nil
}

// mergedSession is a session with rows of this batch.
type mergedSession struct {
	group      uint32
	start, end int64
}

// untouched marks a session of the state that no row of the batch touches.
const untouched = ^uint32(0)

// mergeEvents sorts events by group and start and gives the sessions that they form; each event
// learns its session.
func mergeEvents(events []sessionEvent) []mergedSession {
	slices.SortStableFunc(events, func(a, b sessionEvent) int {
		switch {
		case a.group != b.group:
			return int(int64(a.group) - int64(b.group))
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return 1
		case a.stored != b.stored: // what the state has came earlier
			if a.stored {
				return -1
			}
			return 1
		}
		return 0
	})
	var out []mergedSession
	for i := 0; i < len(events); {
		m := mergedSession{group: events[i].group, start: events[i].start, end: events[i].end}
		rows := 0
		j, run := i, int32(0)
		for ; j < len(events) && events[j].group == m.group && events[j].start <= m.end; j++ {
			e := &events[j]
			m.end = max(m.end, e.end)
			if !e.stored {
				rows++
			}
			if j > i && e.stored != events[j-1].stored {
				run++
			}
			e.run, e.session = run, uint32(len(out))
		}
		if rows == 0 {
			for k := i; k < j; k++ {
				events[k].session = untouched
			}
		} else {
			out = append(out, m)
		}
		i = j
	}
	return out
}

// fill adds rows and stored accumulators to the sessions. Calls that need an order get it by start.
func (s *sessions) fill(ctx *expr.Context, acc []expr.Accumulator, rows *columnar.Batch, stored []*columnar.Column, events []sessionEvent) error {
	last := int32(0)
	if s.order {
		for i := range events {
			last = max(last, events[i].run)
		}
	}
	for run := int32(0); run <= last; run++ {
		var idx, from []int32
		var into, intoStored []uint32
		for i := range events {
			e := &events[i]
			switch {
			case e.session == untouched || s.order && e.run != run:
			case e.stored:
				from, intoStored = append(from, e.index), append(intoStored, e.session)
			default:
				idx, into = append(idx, e.index), append(into, e.session)
			}
		}
		if len(from) > 0 {
			if err := s.mergeColumns(acc, intoStored, takeAll(stored, from)); err != nil {
				return err
			}
		}
		if len(idx) == 0 {
			continue
		}
		calls, err := evalCalls(ctx, s.calls, columnar.TakeBatch(rows, idx))
		if err != nil {
			return err
		}
		for k, c := range calls {
			g := into
			if c.rows != nil {
				g = make([]uint32, len(c.rows))
				for i, row := range c.rows {
					g[i] = into[row]
				}
			}
			if err := acc[k].Update(g, c.args); err != nil {
				return err
			}
		}
	}
	return nil
}

// put writes the merged sessions in the place of those that they are made of.
func (s *sessions) put(part *state.Part, enc *columnar.RowKeys, hash []uint64, refs []state.Ref, merged []mergedSession, events []sessionEvent, acc []expr.Accumulator) error {
	for i := range events {
		if e := &events[i]; e.stored && e.session != untouched {
			part.Remove(refs[e.index])
		}
	}
	n := len(merged)
	start, end := make([]int64, n), make([]int64, n)
	for i, m := range merged {
		start[i], end[i] = m.start, m.end
	}
	cols := []*columnar.Column{columnar.NewFixed(s.stored[0], start, nil), columnar.NewFixed(s.stored[1], end, nil)}
	for _, x := range acc {
		c, err := x.State()
		if err != nil {
			return err
		}
		cols = append(cols, c...)
	}
	var values columnar.RowKeys
	columnar.EncodeRows(&values, cols, n, false)
	for i, m := range merged {
		part.Append(hash[m.group], enc.Row(int(m.group)), values.Row(i), m.end)
	}
	return part.Err()
}

// results gives the sessions that the output mode asks for, and removes those that have ended.
func (s *sessions) results(r *run, p int) ([]*columnar.Batch, error) {
	part, ctx := s.store.Part(p), r.exprContext(p)
	began := time.Now()
	if s.opt.Mode == connector.Complete {
		var refs []state.Ref
		err := part.Each(func(ref state.Ref) error {
			refs = append(refs, ref)
			return nil
		})
		if err != nil {
			return nil, err
		}
		return s.load(r, ctx, part, refs)
	}
	evict := r.evictWatermark(s.lag)
	var out []*columnar.Batch
	var err error
	if s.opt.Mode == connector.Append {
		if out, err = s.load(r, ctx, part, part.Due(evict, nil)); err != nil {
			return nil, err
		}
	}
	n, err := part.Expired(evict, nil)
	r.count(s, func(st *OperatorStats) {
		st.RowsRemoved += int64(n)
		st.Removals += time.Since(began)
	})
	return out, err
}

// load computes the results of sessions of the state.
func (s *sessions) load(r *run, ctx *expr.Context, part *state.Part, refs []state.Ref) ([]*columnar.Batch, error) {
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
		kc, err := decodeRows(s.keyTypes, keys)
		if err != nil {
			return nil, err
		}
		vc, err := decodeRows(s.stored, values)
		if err != nil {
			return nil, err
		}
		acc := s.accumulators(ctx, n)
		if err := s.mergeColumns(acc, group, vc[2:]); err != nil {
			return nil, err
		}
		b, err := s.finish(ctx, s.allKeys(kc, columnar.Values[int64](vc[0]), columnar.Values[int64](vc[1])), acc, n)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
		refs = refs[n:]
	}
	return out, nil
}
