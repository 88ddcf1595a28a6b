package exec

import (
	"context"
	"fmt"
	"sort"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// windowOp computes window functions (… OVER …) of a bounded input: rows are sorted by partition and
// order, and each call is computed partition by partition.
type windowOp struct {
	input     *pipe
	partition []expr.SortKey
	order     []expr.SortKey
	calls     []*windowCall
	keep      []int
	schema    *columnar.Schema
}

// windowCall is one function over its frame.
type windowCall struct {
	fn    expr.WindowFunction // nil for aggregates
	agg   *aggCall
	typ   *columnar.Type
	frame expr.WindowFrame
	start expr.Expr // RANGE with an offset: the order key at the bound
	end   expr.Expr
}

func (c *compiler) window(n *plan.Window, need attrSet) (*pipe, error) {
	w, attrs, err := c.newWindow(n, need)
	if err != nil {
		return nil, operatorError("window", err)
	}
	return &pipe{branches: []*branch{{source: w}}, attrs: attrs, static: w.input.static, lag: w.input.lag}, nil
}

func (c *compiler) newWindow(n *plan.Window, need attrSet) (*windowOp, []*expr.Attr, error) {
	want := need.with(n.Exprs...).with(n.Partition...)
	for _, k := range n.Order {
		want = want.with(k.Expr)
	}
	in, err := c.compile(n.Child, want)
	if err != nil {
		return nil, nil, err
	}
	w := &windowOp{input: in}
	part := make([]expr.SortKey, len(n.Partition))
	for i, e := range n.Partition {
		part[i] = expr.SortKey{Expr: e, NullsFirst: true}
	}
	if w.partition, err = bindSortKeys(part, in.attrs); err != nil {
		return nil, nil, err
	}
	if w.order, err = bindSortKeys(n.Order, in.attrs); err != nil {
		return nil, nil, err
	}
	attrs := need.of(in.attrs)
	w.keep = positions(in.attrs, attrs)
	for _, e := range n.Exprs {
		at := plan.NamedAttr(e)
		if !need[at.ID] {
			continue
		}
		if al, ok := e.(*expr.Alias); ok {
			e = al.Child
		}
		wc, ok := e.(*expr.WindowCall)
		if !ok {
			return nil, nil, fmt.Errorf("%q is no window function", e.SQL())
		}
		call, err := c.windowCall(wc, w, in.attrs)
		if err != nil {
			return nil, nil, err
		}
		w.calls = append(w.calls, call)
		attrs = append(attrs, at)
	}
	w.schema = schemaOf(attrs)
	return w, attrs, nil
}

func (c *compiler) windowCall(wc *expr.WindowCall, w *windowOp, attrs []*expr.Attr) (*windowCall, error) {
	out := &windowCall{frame: wc.Frame, typ: wc.Type()}
	if agg, ok := wc.Function.(expr.Aggregate); ok {
		a, err := newAggCall(agg, attrs)
		if err != nil {
			return nil, err
		}
		out.agg = a
	} else {
		b, err := expr.BindRefs(wc.Function, attrs)
		if err != nil {
			return nil, err
		}
		if out.fn, ok = b.(expr.WindowFunction); !ok {
			return nil, fmt.Errorf("%q is no window function", wc.Function.SQL())
		}
	}
	if wc.Frame.Rows {
		return out, nil
	}
	var err error
	if out.start, err = c.rangeBound(wc.Frame.Start, w.order); err != nil {
		return nil, err
	}
	out.end, err = c.rangeBound(wc.Frame.End, w.order)
	return out, err
}

// rangeBound is the order key moved by the offset of a RANGE frame, nil without an offset.
func (c *compiler) rangeBound(b expr.FrameBound, order []expr.SortKey) (expr.Expr, error) {
	if b.Offset == nil {
		return nil, nil
	}
	if len(order) != 1 {
		return nil, fmt.Errorf("a RANGE frame with an offset needs exactly one ORDER BY key, not %d", len(order))
	}
	sign := "+"
	if order[0].Desc {
		sign = "-"
	}
	bind := c.binder()
	e, err := bind.Func(sign, order[0].Expr, b.Offset)
	if err != nil {
		return nil, err
	}
	if t := order[0].Expr.Type(); !e.Type().Equal(t) {
		return expr.ExplicitCast(bind, e, t, false)
	}
	return e, nil
}

func (w *windowOp) forget(rel int) { w.input.forget(rel) }

func (w *windowOp) each(r *run, emit func(morsel) error) error {
	rows, err := r.collect(w.input)
	if err != nil || rows == nil {
		return err
	}
	out, err := w.compute(r.ctx, r.exprContext(0), rows)
	if err != nil {
		return operatorError("window", err)
	}
	for from := 0; from < out.Rows; from += r.opt.BatchRows {
		if err := emit(morsel{rows: out.Slice(from, min(from+r.opt.BatchRows, out.Rows))}); err != nil {
			return err
		}
	}
	return nil
}

// sortedRows are all rows in order of partition and order.
type sortedRows struct {
	rows   *columnar.Batch
	starts []int32 // of the partitions, and the number of rows at the end
	peers  []int32 // first row of those that are equal by the order
	last   []int32 // behind the last of these
	order  *sortKey
}

func (w *windowOp) compute(ctx context.Context, ec *expr.Context, rows *columnar.Batch) (*columnar.Batch, error) {
	s, err := w.sorted(ctx, ec, rows)
	if err != nil {
		return nil, err
	}
	cols := make([]*columnar.Column, 0, len(w.schema.Fields))
	for _, p := range w.keep {
		cols = append(cols, s.rows.Columns[p])
	}
	for _, call := range w.calls {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := call.compute(ec, s)
		if err != nil {
			return nil, err
		}
		cols = append(cols, c.WithType(call.typ))
	}
	return columnar.NewBatch(w.schema, cols, s.rows.Rows), nil
}

func (w *windowOp) sorted(ctx context.Context, ec *expr.Context, rows *columnar.Batch) (*sortedRows, error) {
	part, err := evalSortKeys(ec, w.partition, rows)
	if err != nil {
		return nil, err
	}
	order, err := evalSortKeys(ec, w.order, rows)
	if err != nil {
		return nil, err
	}
	idx := allRows(rows.Rows)
	if err := sortRows(ctx, append(append([]sortKey{}, part...), order...), idx); err != nil {
		return nil, err
	}
	n := rows.Rows
	s := &sortedRows{rows: columnar.TakeBatch(rows, idx), peers: make([]int32, n), last: make([]int32, n)}
	for i := range n {
		newPart := i == 0 || compareRows(part, idx[i-1], idx[i]) != 0
		if newPart {
			s.starts = append(s.starts, int32(i))
		}
		if newPart || compareRows(order, idx[i-1], idx[i]) != 0 {
			s.peers[i] = int32(i)
		} else {
			s.peers[i] = s.peers[i-1]
		}
	}
	s.starts = append(s.starts, int32(n))
	end := int32(n)
	for i := n - 1; i >= 0; i-- {
		s.last[i] = end
		if s.peers[i] == int32(i) {
			end = int32(i)
		}
	}
	if len(order) == 1 {
		k := newSortKey(columnar.Take(order[0].col, idx), w.order[0])
		s.order = &k
	}
	return s, nil
}

// frames computes the frame of each row, the end exclusive; whole tells that each is its whole partition.
func (c *windowCall) frames(ec *expr.Context, s *sortedRows) (start, end []int32, whole bool, err error) {
	f := c.frame
	n := s.rows.Rows
	start, end = make([]int32, n), make([]int32, n)
	for p := 0; p+1 < len(s.starts); p++ {
		for i := s.starts[p]; i < s.starts[p+1]; i++ {
			start[i], end[i] = s.starts[p], s.starts[p+1]
		}
	}
	if f.Start.Unbounded && f.End.Unbounded {
		return start, end, true, nil
	}
	if !f.Start.Unbounded {
		if err := c.bound(ec, s, f.Start, c.start, start, start, end, false); err != nil {
			return nil, nil, false, err
		}
	}
	if !f.End.Unbounded {
		lo := make([]int32, n)
		for p := 0; p+1 < len(s.starts); p++ {
			for i := s.starts[p]; i < s.starts[p+1]; i++ {
				lo[i] = s.starts[p]
			}
		}
		hi := append([]int32(nil), end...)
		if err := c.bound(ec, s, f.End, c.end, end, lo, hi, true); err != nil {
			return nil, nil, false, err
		}
	}
	for i := range end {
		end[i] = max(end[i], start[i])
	}
	return start, end, false, nil
}

// bound computes one bound of all rows into dst; lo and hi are the bounds of their partitions.
func (c *windowCall) bound(ec *expr.Context, s *sortedRows, b expr.FrameBound, at expr.Expr, dst, lo, hi []int32, isEnd bool) error {
	add := int32(0) // an end is exclusive
	if isEnd {
		add = 1
	}
	switch {
	case b.Offset == nil && c.frame.Rows:
		for i := range dst {
			dst[i] = int32(i) + add
		}
	case b.Offset == nil && isEnd:
		copy(dst, s.last)
	case b.Offset == nil:
		copy(dst, s.peers)
	case c.frame.Rows:
		v, err := b.Offset.Eval(ec, columnar.NewBatch(&columnar.Schema{}, nil, 1))
		if err != nil {
			return err
		}
		k, ok := integer(v)
		if !ok {
			return fmt.Errorf("the bound %q of a ROWS frame is no integer", b.Offset.SQL())
		}
		for i := range dst {
			x := int64(i) + k + int64(add)
			dst[i] = int32(min(max(x, int64(lo[i])), int64(hi[i])))
		}
	default:
		v, err := at.Eval(ec, s.rows)
		if err != nil {
			return err
		}
		return rangeFrames(s, v, dst, lo, hi, isEnd)
	}
	return nil
}

// integer is the first value of an integral column.
func integer(c *columnar.Column) (int64, bool) {
	if c.Len == 0 || c.IsNull(0) {
		return 0, false
	}
	switch v := c.Datum(0).(type) {
	case int8:
		return int64(v), true
	case int16:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

// rangeFrames finds, for each row, the first row of its partition whose order key is at the bound or
// behind it, or, for an end, behind it. A row without order key has its peers as frame.
func rangeFrames(s *sortedRows, bound *columnar.Column, dst, lo, hi []int32, isEnd bool) error {
	key := s.order
	if key == nil {
		return fmt.Errorf("a RANGE frame with an offset needs one ORDER BY key")
	}
	for i := range dst {
		if key.col.IsNull(i) || bound.IsNull(i) {
			if isEnd {
				dst[i] = s.last[i]
			} else {
				dst[i] = s.peers[i]
			}
			continue
		}
		from := lo[i]
		n := int(hi[i] - from)
		dst[i] = from + int32(sort.Search(n, func(k int) bool {
			row := int(from) + k
			if key.col.IsNull(row) {
				return !key.nullsFirst
			}
			d := expr.Compare(key.col, row, bound, i)
			if key.desc {
				d = -d
			}
			if isEnd {
				return d > 0
			}
			return d >= 0
		}))
	}
	return nil
}

// compute computes the call for all rows.
func (c *windowCall) compute(ec *expr.Context, s *sortedRows) (*columnar.Column, error) {
	start, end, whole, err := c.frames(ec, s)
	if err != nil {
		return nil, err
	}
	if c.fn != nil {
		return c.function(ec, s, start, end, whole)
	}
	in, err := evalCalls(ec, []*aggCall{c.agg}, s.rows)
	if err != nil {
		return nil, err
	}
	args := in[0].args
	var pass columnar.Bitmap // rows that the filter lets through; nil for all
	if rows := in[0].rows; rows != nil {
		pass = columnar.NewBitmap(s.rows.Rows)
		back := make([]int32, s.rows.Rows) // the argument row of each row, none for those left out
		for i := range back {
			back[i] = -1
		}
		for i, r := range rows {
			pass.Set(int(r))
			back[r] = int32(i)
		}
		args = takeAll(args, back)
	}
	a := &frameAggregation{call: c.agg, ctx: ec, args: args, pass: pass, start: start, end: end}
	if whole {
		return a.perPartition(s.starts)
	}
	return a.run(s.starts)
}

// function computes a ranking or offset function partition by partition.
func (c *windowCall) function(ec *expr.Context, s *sortedRows, start, end []int32, whole bool) (*columnar.Column, error) {
	var parts []*columnar.Column
	for p := 0; p+1 < len(s.starts); p++ {
		from, to := s.starts[p], s.starts[p+1]
		wp := &expr.WindowPartition{Rows: s.rows.Slice(int(from), int(to)), Peers: shifted(s.peers[from:to], from)}
		if !whole {
			wp.Start, wp.End = shifted(start[from:to], from), shifted(end[from:to], from)
		}
		col, err := c.fn.Evaluate(ec, wp)
		if err != nil {
			return nil, err
		}
		parts = append(parts, col)
	}
	return columnar.Concat(parts), nil
}

func shifted(v []int32, by int32) []int32 {
	out := make([]int32, len(v))
	for i, x := range v {
		out[i] = x - by
	}
	return out
}
