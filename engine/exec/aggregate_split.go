package exec

import (
	"fmt"
	"math"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// blockRows is how many groups are worked on at once: what they touch fits the cache.
const blockRows = 4096

// splitTable is a table whose groups are distributed over partitions by the bucket of their keys.
type splitTable struct {
	table *aggTable
	state []*columnar.Column // accumulators by group, the columns of all calls one after the other
	parts []splitPart
	enc   columnar.RowKeys
	hash  []uint64
}

// splitPart are the groups of one partition, in order.
type splitPart struct {
	keys  columnar.RowKeys // encoded for the state
	hash  []uint64
	group []int32 // of the table
	time  []int64 // when the state of the group expires, if it does
}

// split distributes the groups of tables over partitions.
func (a *aggregate) split(tables []*aggTable, partitions int) ([]*splitTable, error) {
	for len(a.splits) < len(tables) {
		a.splits = append(a.splits, &splitTable{parts: make([]splitPart, partitions)})
	}
	out := a.splits[:len(tables)]
	return out, parallel(len(tables), func(i int) error { return out[i].fill(tables[i], a.event) })
}

// fill distributes the groups of t.
func (s *splitTable) fill(t *aggTable, event *eventTime) error {
	s.table = t
	var err error
	if s.state, err = stateColumns(t.acc); err != nil {
		return err
	}
	n, partitions := t.keys.len(), len(s.parts)
	for p := range s.parts {
		x := &s.parts[p]
		if cap(x.group) > 8*n+blockRows { // one batch was far above the usual
			*x = splitPart{}
		}
		if len(x.keys.Offsets) == 0 {
			x.keys.Offsets = make([]int32, 1, n/partitions+n/8+8)
		}
		x.keys.Offsets, x.keys.Data = x.keys.Offsets[:1], x.keys.Data[:0]
		x.hash, x.group, x.time = x.hash[:0], x.group[:0], x.time[:0]
	}
	for from := 0; from < n; from += blockRows {
		to := min(from+blockRows, n)
		cols := t.keys.columns(from, to)
		s.hash = encodeKeys(&s.enc, cols, to-from, s.hash)
		var times []int64
		if event != nil {
			times = event.expiry(cols)
		}
		for r, h := range s.hash {
			x := &s.parts[columnar.Bucket(h)%partitions]
			if x.keys.Data = append(x.keys.Data, s.enc.Row(r)...); len(x.keys.Data) > math.MaxInt32 {
				return fmt.Errorf("the keys of one batch and partition exceed 2 GiB")
			}
			x.keys.Offsets = append(x.keys.Offsets, int32(len(x.keys.Data)))
			x.hash = append(x.hash, h)
			x.group = append(x.group, int32(from+r))
			if times != nil {
				x.time = append(x.time, times[r])
			}
		}
	}
	return nil
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
		rows, err := a.mergePartition(r.exprContext(p), parts, p)
		out[p] = rows
		return err
	})
	return out, err
}

// mergePartition merges the groups of partition p of all tables.
func (a *aggregate) mergePartition(ctx *expr.Context, tables []*splitTable, p int) ([]*columnar.Batch, error) {
	all := newKeyTable(newKeyShape([]*columnar.Type{columnar.Binary}))
	acc := a.accumulators(ctx, 0)
	var first [][]int32 // per table: its groups that come here for the first time
	for _, t := range tables {
		x := &t.parts[p]
		n := len(x.group)
		group, before := make([]uint32, n), all.len()
		enc := columnar.NewBytes(columnar.Binary, x.keys.Offsets[:n+1], x.keys.Data, nil)
		if err := all.assign([]*columnar.Column{enc}, n, group); err != nil {
			return nil, err
		}
		for _, c := range acc {
			c.Grow(all.len())
		}
		if err := a.mergeColumns(acc, group, takeAll(t.state, x.group)); err != nil {
			return nil, err
		}
		var fresh []int32
		for i, g := range group {
			if int(g) == before { // numbers rise by one with each new key
				fresh = append(fresh, x.group[i])
				before++
			}
		}
		first = append(first, fresh)
	}
	if all.len() == 0 {
		return nil, nil
	}
	keys := make([][]*columnar.Column, len(a.types))
	for i, t := range tables {
		for k, c := range t.table.keys.columnsOf(first[i]) {
			keys[k] = append(keys[k], c)
		}
	}
	cols := make([]*columnar.Column, len(keys))
	for k := range keys {
		cols[k] = columnar.Concat(keys[k])
	}
	b, err := a.finish(ctx, cols, acc, all.len())
	return []*columnar.Batch{b}, err
}
