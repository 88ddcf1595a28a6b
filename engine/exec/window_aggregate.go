package exec

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// frameAggregation computes an aggregate over the frames of sorted rows.
type frameAggregation struct {
	call       *aggCall
	ctx        *expr.Context
	args       []*columnar.Column
	pass       columnar.Bitmap // rows that count, nil for all
	start, end []int32         // frame of each row
}

// framePairs is how many pairs of row and frame are looked at together.
const framePairs = 1 << 16

// update adds rows to the groups of acc.
func (a *frameAggregation) update(acc expr.Accumulator, rows []int32, group []uint32) error {
	if a.pass != nil {
		k := 0
		for i, r := range rows {
			if a.pass.Get(int(r)) {
				rows[k], group[k] = r, group[i]
				k++
			}
		}
		rows, group = rows[:k], group[:k]
	}
	if len(rows) == 0 {
		return nil
	}
	return acc.Update(group, takeAll(a.args, rows))
}

// perPartition is the aggregate of whole partitions.
func (a *frameAggregation) perPartition(starts []int32) (*columnar.Column, error) {
	n := len(a.start)
	parts := len(starts) - 1
	acc := a.call.accumulator(a.ctx)
	acc.Grow(parts)
	group, idx := make([]uint32, n), make([]int32, n)
	for p := range parts {
		for i := starts[p]; i < starts[p+1]; i++ {
			group[i], idx[i] = uint32(p), int32(p)
		}
	}
	if err := a.update(acc, allRows(n), append([]uint32(nil), group...)); err != nil {
		return nil, err
	}
	c, err := acc.Result()
	if err != nil {
		return nil, err
	}
	return columnar.Take(c, idx), nil
}

// run is the aggregate of the frames. Frames that begin with their partition grow row by row; so do,
// backwards, those that end with it. Other frames are added up one by one.
func (a *frameAggregation) run(starts []int32) (*columnar.Column, error) {
	var parts []*columnar.Column
	for p := 0; p+1 < len(starts); p++ {
		from, to := starts[p], starts[p+1]
		fromStart, toEnd := true, !a.call.agg.OrderSensitive()
		for i := from; i < to; i++ {
			fromStart = fromStart && a.start[i] == from && (i == from || a.end[i] >= a.end[i-1])
			toEnd = toEnd && a.end[i] == to && (i == from || a.start[i] >= a.start[i-1])
		}
		var cols []*columnar.Column
		var err error
		switch {
		case fromStart:
			cols, err = a.growing(from, to, false)
		case toEnd:
			cols, err = a.growing(from, to, true)
		default:
			cols, err = a.pairs(from, to)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, cols...)
	}
	return columnar.Concat(parts), nil
}

// growing computes rows [from, to) whose frames grow from one end of the partition.
func (a *frameAggregation) growing(from, to int32, backwards bool) ([]*columnar.Column, error) {
	acc := a.call.accumulator(a.ctx)
	acc.Grow(1)
	n := int(to - from)
	out := make([]*columnar.Column, 0, n)
	idx := make([]int32, n) // result of each row
	next := from
	if backwards {
		next = to - 1
	}
	for k := range n {
		i := from + int32(k)
		if backwards {
			i = to - 1 - int32(k)
		}
		var rows []int32
		for ; !backwards && next < a.end[i]; next++ {
			rows = append(rows, next)
		}
		for ; backwards && next >= a.start[i]; next-- {
			rows = append(rows, next)
		}
		if len(rows) > 0 || len(out) == 0 {
			if err := a.update(acc, rows, make([]uint32, len(rows))); err != nil {
				return nil, err
			}
			c, err := acc.Result()
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
		idx[i-from] = int32(len(out) - 1)
	}
	return []*columnar.Column{columnar.Take(columnar.Concat(out), idx)}, nil
}

// pairs computes rows [from, to) with a group for each row.
func (a *frameAggregation) pairs(from, to int32) ([]*columnar.Column, error) {
	var out []*columnar.Column
	acc := a.call.accumulator(a.ctx)
	for from < to {
		acc.Reset()
		var rows []int32
		var group []uint32
		g := uint32(0)
		flush := func() error {
			acc.Grow(int(g) + 1)
			err := a.update(acc, rows, group)
			rows, group = rows[:0], group[:0]
			return err
		}
		for ; from < to && (g == 0 || len(rows) < framePairs); from++ {
			for r := a.start[from]; r < a.end[from]; r++ {
				rows, group = append(rows, r), append(group, g)
				if len(rows) >= 2*framePairs {
					if err := flush(); err != nil {
						return nil, err
					}
				}
			}
			g++
		}
		g--
		if err := flush(); err != nil {
			return nil, err
		}
		c, err := acc.Result()
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}
