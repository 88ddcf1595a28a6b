package plan

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
)

// windowExpr is f(…) OVER (…) in an expression, before its operator is put below.
type windowExpr struct {
	call      *expr.WindowCall
	partition []expr.Expr
	order     []expr.SortKey
	// The offsets that stand before PRECEDING, as written, since those of the frame are negated.
	startBack, endBack expr.Expr
}

func (w *windowExpr) Type() *columnar.Type  { return w.call.Type() }
func (w *windowExpr) Nullable() bool        { return w.call.Nullable() }
func (w *windowExpr) Children() []expr.Expr { return w.operands() }
func (w *windowExpr) WithChildren(c []expr.Expr) expr.Expr {
	out, _ := w.rebuild(c)
	return out
}

// operands are the expressions over the input: arguments, partition and order keys.
func (w *windowExpr) operands() []expr.Expr {
	out := append([]expr.Expr{}, w.call.Function.Children()...)
	out = append(out, w.partition...)
	for _, o := range w.order {
		out = append(out, o.Expr)
	}
	return out
}

func (w *windowExpr) rebuild(c []expr.Expr) (*windowExpr, error) {
	out := *w
	n := len(w.call.Function.Children())
	call := *w.call
	if n > 0 {
		call.Function = w.call.Function.WithChildren(c[:n])
	}
	out.call = &call
	out.partition = append([]expr.Expr{}, c[n:n+len(w.partition)]...)
	out.order = append([]expr.SortKey{}, w.order...)
	for i := range out.order {
		out.order[i].Expr = c[n+len(w.partition)+i]
	}
	return &out, nil
}

// rewrite applies f to the operands.
func (w *windowExpr) rewrite(f func(expr.Expr) (expr.Expr, error)) (expr.Expr, error) {
	ops := w.operands()
	for i, o := range ops {
		n, err := f(o)
		if err != nil {
			return nil, err
		}
		ops[i] = n
	}
	return w.rebuild(ops)
}

// SQL prints the call as Spark names its column.
func (w *windowExpr) SQL() string {
	var b strings.Builder
	b.WriteString(w.call.Function.SQL())
	b.WriteString(" OVER (")
	for i, p := range w.partition {
		if i == 0 {
			b.WriteString("PARTITION BY ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(p.SQL())
	}
	for i, o := range w.order {
		switch {
		case i > 0:
			b.WriteString(", ")
		case len(w.partition) > 0:
			b.WriteString(" ORDER BY ")
		default:
			b.WriteString("ORDER BY ")
		}
		b.WriteString(o.Expr.SQL())
		if o.Desc {
			b.WriteString(" DESC")
		} else {
			b.WriteString(" ASC")
		}
		if o.NullsFirst {
			b.WriteString(" NULLS FIRST")
		} else {
			b.WriteString(" NULLS LAST")
		}
	}
	f := w.call.Frame
	if len(w.partition)+len(w.order) > 0 {
		b.WriteByte(' ')
	}
	if f.Rows {
		b.WriteString("ROWS BETWEEN ")
	} else {
		b.WriteString("RANGE BETWEEN ")
	}
	b.WriteString(boundText(f.Start, w.startBack, "PRECEDING"))
	b.WriteString(" AND ")
	b.WriteString(boundText(f.End, w.endBack, "FOLLOWING"))
	b.WriteByte(')')
	return b.String()
}

func boundText(x expr.FrameBound, back expr.Expr, side string) string {
	switch {
	case back != nil:
		return back.SQL() + " PRECEDING"
	case x.Unbounded:
		return "UNBOUNDED " + side
	case x.Offset == nil:
		return "CURRENT ROW"
	}
	return x.Offset.SQL() + " FOLLOWING"
}

// Eval implements expr.Expr; the marker is replaced before anything runs.
func (w *windowExpr) Eval(*expr.Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errMarker(w.SQL())
}

func hasWindow(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if _, ok := x.(*windowExpr); ok {
			found = true
		}
		return !found
	})
	return found
}

// over makes the window call of a function that OVER follows.
func (a *Analyzer) over(f expr.Expr, x *sql.Call, s *scope) (expr.Expr, error) {
	spec := x.Over
	if spec.Named() {
		n, ok := s.windows[strings.ToLower(spec.Ref.Name)]
		if !ok {
			p := spec.At()
			return nil, sparkerr.At(p.Line, p.Col, "MISSING_WINDOW_SPECIFICATION", "window specification is not defined in the WINDOW clause for `%s`", spec.Ref.Name)
		}
		spec = n
	}
	w := &windowExpr{call: &expr.WindowCall{Function: f}}
	_, agg := f.(expr.Aggregate)
	if _, ranks := f.(expr.WindowFunction); !agg && !ranks {
		p := x.At()
		return nil, sparkerr.At(p.Line, p.Col, "UNSUPPORTED_EXPR_FOR_WINDOW", "%s is no window function and no aggregate function, so OVER cannot follow it", f.SQL())
	}
	if err := overFault(f, x, spec); err != nil {
		return nil, err
	}
	var err error
	if w.partition, err = a.exprs(spec.PartitionBy, s); err != nil {
		return nil, err
	}
	for _, o := range spec.OrderBy {
		e, err := a.expr(o.X, s)
		if err != nil {
			return nil, err
		}
		w.order = append(w.order, expr.SortKey{Expr: unalias(e), Desc: o.Desc, NullsFirst: o.NullsFirst})
	}
	if err := w.keyFault(x); err != nil {
		return nil, err
	}
	fr := &w.call.Frame
	if spec.Frame == nil {
		fr.Default = true
		fr.Start.Unbounded = true
		fr.End.Unbounded = len(w.order) == 0
		fr.Rows = len(w.order) == 0
		if !agg {
			fr.Rows, fr.End = true, expr.FrameBound{}
			if len(w.order) == 0 {
				p := x.At()
				return nil, sparkerr.At(p.Line, p.Col, "WINDOW_FUNCTION_FRAME_NOT_ORDERED", "window function %s requires window to be ordered, please add ORDER BY clause", f.SQL())
			}
		}
		return w, nil
	}
	fr.Rows = !spec.Frame.Range
	if fr.Start, w.startBack, err = a.bound(spec.Frame.Start, s); err != nil {
		return nil, err
	}
	if fr.End, w.endBack, err = a.bound(spec.Frame.End, s); err != nil {
		return nil, err
	}
	return w, w.frameFault(x, spec.Frame)
}

// keyFault refuses keys that have no order.
func (w *windowExpr) keyFault(x *sql.Call) error {
	p := x.At()
	for _, e := range w.partition {
		if !orderable(e.Type()) {
			return sparkerr.At(p.Line, p.Col, "EXPRESSION_TYPE_IS_NOT_ORDERABLE", "PARTITION BY \"%s\": the type %q cannot be ordered", e.SQL(), e.Type().SQL())
		}
	}
	for _, o := range w.order {
		if !orderable(o.Expr.Type()) {
			return sparkerr.At(p.Line, p.Col, "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", "ORDER BY \"%s\" of a window: the type %q cannot be ordered", o.Expr.SQL(), o.Expr.Type().SQL())
		}
	}
	return nil
}

// frameFault refuses frames that cannot be: of a function that has its own, in the wrong order, or of a RANGE without one
// key that can be counted with.
func (w *windowExpr) frameFault(x *sql.Call, spec *sql.Frame) error {
	p := x.At()
	f := w.call.Frame
	fault := func(condition, format string, args ...any) error {
		return sparkerr.At(p.Line, p.Col, condition, format, args...)
	}
	if _, agg := w.call.Function.(expr.Aggregate); !agg && x.FuncName() != "" && ownFrame(x.FuncName()) && (spec.Range || !f.Start.Unbounded || f.End.Unbounded || f.End.Offset != nil) {
		return fault("_LEGACY_ERROR_TEMP_1036", "window frame of %s must match the required frame ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", w.SQL())
	}
	offsets := f.Start.Offset != nil || f.End.Offset != nil
	for _, b := range []expr.FrameBound{f.Start, f.End} {
		if f.Rows && b.Offset != nil && !b.Offset.Type().IsIntegral() {
			return fault("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE", "%s: an offset of a ROWS frame is of the type %q, expected \"INT\"", w.SQL(), b.Offset.Type().SQL())
		}
	}
	if f.Rows || !offsets {
		if spec.Start.Kind != sql.UnboundedPreceding && spec.End.Kind != sql.UnboundedFollowing && behind(f.Start, f.End) {
			return fault("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON", "%s: the lower bound of the frame is above the upper one", w.SQL())
		}
		return nil
	}
	switch len(w.order) {
	case 0:
		return fault("DATATYPE_MISMATCH.RANGE_FRAME_WITHOUT_ORDER", "%s: a RANGE frame needs an ORDER BY", w.SQL())
	case 1:
	default:
		return fault("DATATYPE_MISMATCH.RANGE_FRAME_MULTI_ORDER", "%s: a RANGE frame with an offset takes one key of ORDER BY, not %d", w.SQL(), len(w.order))
	}
	if t := w.order[0].Expr.Type(); !t.IsNumeric() {
		switch t.Kind {
		case columnar.KindDate, columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindTime, columnar.KindYearMonth, columnar.KindDayTime:
		default:
			return fault("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE", "%s: a RANGE frame with an offset cannot be over the type %q", w.SQL(), t.SQL())
		}
	}
	return nil
}

// ownFrame tells whether a function has a frame of its own.
func ownFrame(name string) bool {
	switch strings.ToLower(name) {
	case "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead":
		return true
	}
	return false
}

// behind tells whether a frame's constant lower bound is above its upper one.
func behind(start, end expr.FrameBound) bool {
	value := func(b expr.FrameBound) (int64, bool) {
		if b.Unbounded {
			return 0, false
		}
		l, ok := b.Offset.(*expr.Literal)
		if !ok {
			return 0, false
		}
		switch v := l.Value.(type) {
		case int32:
			return int64(v), true
		case int64:
			return v, true
		}
		return 0, false
	}
	from, ok1 := value(start)
	to, ok2 := value(end)
	return ok1 && ok2 && from > to
}

// overFault refuses what an aggregate cannot do over a window.
func overFault(f expr.Expr, x *sql.Call, spec *sql.WindowSpec) error {
	p := x.At()
	if x.Distinct {
		return sparkerr.At(p.Line, p.Col, "DISTINCT_WINDOW_FUNCTION_UNSUPPORTED", "distinct window functions are not supported: %s", f.SQL())
	}
	name := strings.ToLower(x.FuncName())
	whole := name == "median" || name == "percentile_cont" || name == "percentile_disc" || (name == "listagg" || name == "string_agg") && len(x.Within) > 0
	if whole && (len(spec.OrderBy) > 0 || spec.Frame != nil) {
		return sparkerr.At(p.Line, p.Col, "INVALID_WINDOW_SPEC_FOR_AGGREGATION_FUNC", "cannot specify ORDER BY or a window frame for \"%s\"", f.SQL())
	}
	return nil
}

// bound is a bound of a frame, and the offset as written where PRECEDING follows it.
func (a *Analyzer) bound(b sql.Bound, s *scope) (bound expr.FrameBound, back expr.Expr, err error) {
	switch b.Kind {
	case sql.UnboundedPreceding, sql.UnboundedFollowing:
		return expr.FrameBound{Unbounded: true}, nil, nil
	case sql.CurrentRow:
		return expr.FrameBound{}, nil, nil
	}
	e, err := a.expr(b.Offset, s)
	if err != nil {
		return bound, nil, err
	}
	if b.Kind == sql.Preceding {
		back = e
		if e, err = a.binder(&b).Func("negative", e); err != nil {
			return bound, nil, err
		}
	}
	if v, err := a.constantOf(e); err == nil {
		e = &expr.Literal{Typ: e.Type(), Value: v}
	}
	return expr.FrameBound{Offset: e}, back, nil
}

// windows puts the operators below that compute the window functions in exprs, one for each
// combination of partition and order.
func (a *Analyzer) windows(exprs []expr.Expr, n Node) (Node, []expr.Expr, error) {
	type group struct {
		node  *Window
		calls map[string]*expr.Attr
	}
	var groups []*group
	byKey := map[string]*group{}
	out := make([]expr.Expr, len(exprs))
	for i, e := range exprs {
		out[i] = expr.Transform(e, func(x expr.Expr) expr.Expr {
			w, ok := x.(*windowExpr)
			if !ok {
				return x
			}
			var k strings.Builder
			for _, p := range w.partition {
				k.WriteString(canonical(p) + ";")
			}
			k.WriteByte('|')
			for _, o := range w.order {
				k.WriteString(canonical(o.Expr))
				if o.Desc {
					k.WriteString(" desc")
				}
				if o.NullsFirst {
					k.WriteString(" first")
				}
				k.WriteByte(';')
			}
			g := byKey[k.String()]
			if g == nil {
				g = &group{node: &Window{Partition: w.partition, Order: w.order}, calls: map[string]*expr.Attr{}}
				byKey[k.String()] = g
				groups = append(groups, g)
			}
			c := canonical(w)
			if at := g.calls[c]; at != nil {
				return at
			}
			al := &expr.Alias{Child: w.call, Name: w.SQL(), ID: a.NewID()}
			g.node.Exprs = append(g.node.Exprs, al)
			at := &expr.Attr{ID: al.ID, Name: al.Name, Typ: w.Type(), Null: w.Nullable()}
			g.calls[c] = at
			return at
		})
	}
	for _, g := range groups {
		g.node.Child = n
		n = g.node
	}
	return n, out, nil
}
