package exec

import (
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/state"
)

// save merges the tables into the state and gives what the output mode asks for, per partition.
func (a *aggregate) save(r *run, tables []*aggTable) ([][]*columnar.Batch, error) {
	parts, err := a.split(tables, r.opt.Partitions)
	if err != nil {
		return nil, err
	}
	if err := r.gate(); err != nil {
		return nil, err
	}
	out := make([][]*columnar.Batch, r.opt.Partitions)
	err = parallel(r.opt.Partitions, func(p int) error {
		t := &aggTask{a: a, r: r, part: a.store.Part(p), ctx: r.exprContext(p)}
		rows, err := t.run(parts, p)
		out[p] = rows
		if err != nil {
			return err
		}
		return r.midway(p)
	})
	return out, err
}

// aggTask is the work of one partition.
type aggTask struct {
	a       *aggregate
	r       *run
	part    *state.Part
	ctx     *expr.Context
	acc     []expr.Accumulator
	enc     columnar.RowKeys
	refs    []state.Ref
	created []bool
	rows    []int32
	updated int64
}

func (t *aggTask) run(tables []*splitTable, p int) ([]*columnar.Batch, error) {
	a, start := t.a, time.Now()
	t.acc = a.accumulators(t.ctx, 0)
	out, err := t.merge(tables, p)
	if err != nil {
		return nil, err
	}
	merged := time.Now()
	removed := 0
	switch {
	case a.opt.Mode == connector.Complete:
		refs := make([]state.Ref, 0, t.part.Rows())
		err := t.part.Each(func(ref state.Ref) error {
			refs = append(refs, ref)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if out, err = t.load(refs); err != nil {
			return nil, err
		}
	case a.event != nil:
		cutoff := t.r.evictWatermark(a.lag)
		if a.opt.Mode == connector.Append {
			if out, err = t.load(t.part.Due(cutoff, nil)); err != nil {
				return nil, err
			}
		}
		if removed, err = t.part.Expired(cutoff, nil); err != nil {
			return nil, err
		}
	}
	if err := t.part.Err(); err != nil {
		return nil, err
	}
	t.r.count(a, func(s *OperatorStats) {
		s.RowsUpdated += t.updated
		s.RowsRemoved += int64(removed)
		s.Updates += merged.Sub(start)
		s.Removals += time.Since(merged)
	})
	return out, nil
}

// merge merges the tables into the state, one after the other, and gives the new results of the groups
// in update mode.
func (t *aggTask) merge(tables []*splitTable, p int) ([]*columnar.Batch, error) {
	var out []*columnar.Batch
	later := newLastTables(tables, p)
	hashes := make([][]uint64, len(tables))
	for i, s := range tables {
		hashes[i] = s.parts[p].hash
	}
	t.part.Warm(hashes...)
	for i, s := range tables {
		x := &s.parts[p]
		for from := 0; from < len(x.group); from += blockRows {
			if err := t.r.ctx.Err(); err != nil {
				return nil, err
			}
			block := x.group[from:min(from+blockRows, len(x.group))]
			if err := t.block(s, x, from, block); err != nil {
				return nil, err
			}
			// A group has its last value in the last table that has rows of it.
			idx := later.lastHere(i, x, from, len(block))
			t.updated += int64(len(idx))
			if t.a.opt.Mode != connector.Update || len(idx) == 0 {
				continue
			}
			b, err := t.finish(s.table.keys.columnsOf(block), idx)
			if err != nil {
				return nil, err
			}
			out = append(out, b)
		}
	}
	return out, nil
}

// finish evaluates the output of groups idx of t.acc, whose keys are given for all groups.
func (t *aggTask) finish(keys []*columnar.Column, idx []int32) (*columnar.Batch, error) {
	b, err := t.a.finish(t.ctx, keys, t.acc, len(t.refs))
	if err != nil || len(idx) == b.Rows {
		return b, err
	}
	return columnar.TakeBatch(b, idx), nil
}

// block merges some groups of a table into the state: groups of x from position from on. Afterwards
// t.acc has their new accumulators and t.refs their entries.
func (t *aggTask) block(s *splitTable, x *splitPart, from int, groups []int32) error {
	a, n := t.a, len(groups)
	if cap(t.refs) < n {
		t.refs, t.created, t.rows = make([]state.Ref, n), make([]bool, n), make([]int32, n)
	}
	t.refs, t.created, t.rows = t.refs[:n], t.created[:n], t.rows[:n]
	for i := range t.rows {
		t.rows[i] = int32(from + i)
	}
	t.part.UpsertRows(&x.keys, x.hash, t.rows, a.size, t.refs, t.created)
	resetTo(t.acc, n)
	// What the state holds comes first: it is earlier than the batch.
	var old []uint32
	var values [][]byte
	all := make([]uint32, n)
	for i, ref := range t.refs {
		all[i] = uint32(i)
		if !t.created[i] {
			old, values = append(old, uint32(i)), append(values, t.part.Value(ref))
		} else if len(x.time) > 0 {
			t.part.SetExpiry(ref, x.time[from+i])
		}
	}
	if len(a.values) == 0 {
		return nil
	}
	cols, err := decodeRows(a.values, values)
	if err != nil {
		return err
	}
	if err := a.mergeColumns(t.acc, old, cols); err != nil {
		return err
	}
	if err := a.mergeColumns(t.acc, all, takeAll(s.state, groups)); err != nil {
		return err
	}
	if cols, err = stateColumns(t.acc); err != nil {
		return err
	}
	columnar.EncodeRows(&t.enc, cols, n, false)
	for i := range n {
		v := t.enc.Row(i)
		if a.size > 0 {
			copy(t.part.Mut(t.refs[i]), v)
		} else {
			t.refs[i] = t.part.SetValue(t.refs[i], v)
		}
	}
	return nil
}

// stored makes t.acc the accumulators of entries of the state.
func (t *aggTask) stored(refs []state.Ref) error {
	values, group := make([][]byte, len(refs)), make([]uint32, len(refs))
	for i, ref := range refs {
		values[i], group[i] = t.part.Value(ref), uint32(i)
	}
	cols, err := decodeRows(t.a.values, values)
	if err != nil {
		return err
	}
	resetTo(t.acc, len(refs))
	return t.a.mergeColumns(t.acc, group, cols)
}

// load computes the results of entries of the state.
func (t *aggTask) load(refs []state.Ref) ([]*columnar.Batch, error) {
	var out []*columnar.Batch
	for len(refs) > 0 {
		if err := t.r.ctx.Err(); err != nil {
			return nil, err
		}
		n := min(len(refs), blockRows)
		keys := make([][]byte, n)
		for i, ref := range refs[:n] {
			keys[i] = t.part.Key(ref)
		}
		cols, err := decodeRows(t.a.types, keys)
		if err != nil {
			return nil, err
		}
		if err := t.stored(refs[:n]); err != nil {
			return nil, err
		}
		b, err := t.a.finish(t.ctx, cols, t.acc, n)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
		refs = refs[n:]
	}
	return out, nil
}

// lastTables knows, of keys that are in several tables, the last one.
type lastTables struct {
	tables []*splitTable
	p      int
	slots  []uint64 // tag of the hash << 48 | table << 32 | row + 1; 0 is empty
	mask   uint64
}

// newLastTables looks at partition p of all tables but the first.
func newLastTables(tables []*splitTable, p int) *lastTables {
	l := &lastTables{tables: tables, p: p}
	n := 0
	for _, s := range tables[min(1, len(tables)):] {
		n += len(s.parts[p].group)
	}
	if n == 0 {
		return l
	}
	size := 1024
	for size < 2*n {
		size *= 2
	}
	l.slots, l.mask = make([]uint64, size), uint64(size-1)
	for i := 1; i < len(tables); i++ {
		x := &tables[i].parts[p]
		for row, h := range x.hash {
			l.slots[l.find(&x.keys, h, row)] = h>>32<<48 | uint64(i)<<32 | uint64(row+1)
		}
	}
	return l
}

// find gives the slot of a key, an empty one if it is not there.
func (l *lastTables) find(keys *columnar.RowKeys, h uint64, row int) uint64 {
	for at := h & l.mask; ; at = (at + 1) & l.mask {
		s := l.slots[at]
		if s == 0 {
			return at
		}
		if s>>48 != h>>32&0xffff {
			continue
		}
		x := &l.tables[s>>32&0xffff].parts[l.p]
		if r := int(uint32(s)) - 1; x.hash[r] == h && string(x.keys.Row(r)) == string(keys.Row(row)) {
			return at
		}
	}
}

// lastHere gives those of n rows of part x of table i, from row from on, whose key is in no later
// table, counted from 0.
func (l *lastTables) lastHere(i int, x *splitPart, from, n int) []int32 {
	out := make([]int32, 0, n)
	if l.slots == nil {
		for k := range n {
			out = append(out, int32(k))
		}
		return out
	}
	// The first look at each key's slot comes for all at once: these loads do not wait for one another.
	var first [blockRows]uint64
	for k, h := range x.hash[from : from+n] {
		first[k] = l.slots[h&l.mask]
	}
	for k, s := range first[:n] {
		if s != 0 {
			s = l.slots[l.find(&x.keys, x.hash[from+k], from+k)]
		}
		if int(s>>32&0xffff) <= i {
			out = append(out, int32(k))
		}
	}
	return out
}
