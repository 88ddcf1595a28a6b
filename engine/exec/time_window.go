package exec

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// timeWindow adds a window column STRUCT<start, end> and repeats rows for each window that their
// time lies in. Windows are [start, start+size), their starts are multiples of slide plus offset.
type timeWindow struct {
	time                expr.Expr
	size, slide, offset int64 // µs
	keep                []int // input columns of the output; the window follows if it is needed
	window              *columnar.Type
	schema              *columnar.Schema
	anyOrder            bool // whoever gets the rows does not care about their order
}

func (t *timeWindow) push(w *worker, i int, in *columnar.Batch) error {
	c, err := t.time.Eval(w.context(i), in)
	w.advance(i, in.Rows)
	if err != nil {
		return operatorError("window", err)
	}
	if c.Valid != nil {
		idx := c.Valid.Indices(nil, c.Len)
		in, c = columnar.TakeBatch(in, idx), columnar.Take(c, idx)
		if in.Rows == 0 {
			return nil
		}
	}
	ts := columnar.Values[int64](c)
	last := make([]int64, len(ts)) // the last window that the row may lie in
	lastWindows(last, ts, t.slide, t.offset)
	overlap := t.size / t.slide
	if t.size%t.slide > 0 {
		overlap++
	}
	if overlap > 1 && !t.anyOrder {
		return t.pushInOrder(w, i, in, ts, last, overlap)
	}
	// Window by window: the other columns are shared.
	for k := int64(0); k < overlap; k++ {
		start, end := last, make([]int64, len(ts))
		if k > 0 {
			start = make([]int64, len(ts))
			for j, s := range last {
				start[j] = s - k*t.slide
			}
		}
		outside := 0
		for j, s := range start {
			end[j] = s + t.size
			if end[j] <= ts[j] {
				outside++
			}
		}
		rows := in
		if outside > 0 { // the slide does not divide the size: some rows are in one window less
			idx := make([]int32, 0, len(ts)-outside)
			for j := range ts {
				if end[j] > ts[j] {
					start[len(idx)], end[len(idx)] = start[j], end[j]
					idx = append(idx, int32(j))
				}
			}
			rows = columnar.TakeBatch(in, idx)
			start, end = start[:len(idx)], end[:len(idx)]
		}
		if err := w.push(i+1, t.output(rows, start, end)); err != nil {
			return err
		}
	}
	return nil
}

// pushInOrder repeats each row for its windows, latest window first.
func (t *timeWindow) pushInOrder(w *worker, i int, in *columnar.Batch, ts, last []int64, overlap int64) error {
	n := len(ts) * int(overlap)
	start, end, idx := make([]int64, 0, n), make([]int64, 0, n), make([]int32, 0, n)
	for j, s := range last {
		for k := int64(0); k < overlap; k++ {
			from := s - k*t.slide
			if from+t.size > ts[j] {
				start, end, idx = append(start, from), append(end, from+t.size), append(idx, int32(j))
			}
		}
	}
	return w.pushPieces(i+1, t.output(columnar.TakeBatch(in, idx), start, end))
}

// lastWindows computes the start of the last window that begins at or before each time.
func lastWindows(dst, ts []int64, slide, offset int64) {
	from, to := int64(0), int64(0) // neighbouring rows often share a window: spare the division
	for j, x := range ts {
		if x < from || x >= to {
			r := (x - offset) % slide
			if r < 0 {
				r += slide
			}
			from = x - r
			to = from + slide
		}
		dst[j] = from
	}
}

func (t *timeWindow) output(in *columnar.Batch, start, end []int64) *columnar.Batch {
	cols := make([]*columnar.Column, 0, len(t.keep)+1)
	for _, p := range t.keep {
		cols = append(cols, in.Columns[p])
	}
	if t.window != nil {
		cols = append(cols, windowColumn(t.window, start, end))
	}
	return columnar.NewBatch(t.schema, cols, in.Rows)
}

// windowColumn makes a column of windows.
func windowColumn(typ *columnar.Type, start, end []int64) *columnar.Column {
	return &columnar.Column{Type: typ, Len: len(start), Children: []*columnar.Column{
		columnar.NewFixed(typ.Fields[0].Type, start, nil),
		columnar.NewFixed(typ.Fields[1].Type, end, nil),
	}}
}

// sessionWindow adds the window [time, time+gap) of each row; rows without time or with a gap of
// zero or less drop out.
type sessionWindow struct {
	time, end expr.Expr
	keep      []int
	window    *columnar.Type
	schema    *columnar.Schema
}

func (t *sessionWindow) push(w *worker, i int, in *columnar.Batch) error {
	cols, err := evalAll(w.context(i), []expr.Expr{t.time, t.end}, in)
	w.advance(i, in.Rows)
	if err != nil {
		return operatorError("session_window", err)
	}
	from, to := columnar.Values[int64](cols[0]), columnar.Values[int64](cols[1])
	valid := columnar.And(cols[0].Valid, cols[1].Valid)
	start, end := make([]int64, 0, len(from)), make([]int64, 0, len(from))
	idx := make([]int32, 0, len(from))
	for j, x := range from {
		if to[j] > x && (valid == nil || valid.Get(j)) {
			start, end, idx = append(start, x), append(end, to[j]), append(idx, int32(j))
		}
	}
	rows := in
	if len(idx) < in.Rows {
		rows = columnar.TakeBatch(in, idx)
	}
	out := make([]*columnar.Column, 0, len(t.keep)+1)
	for _, p := range t.keep {
		out = append(out, rows.Columns[p])
	}
	if t.window != nil {
		out = append(out, windowColumn(t.window, start, end))
	}
	return w.push(i+1, columnar.NewBatch(t.schema, out, rows.Rows))
}
