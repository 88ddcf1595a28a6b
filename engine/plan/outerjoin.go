package plan

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// maxOuterJoins is how often the optimiser looks for outer joins again, after conditions have moved below others.
const maxOuterJoins = 8

// narrowOuterJoins makes an outer join of streams one that keeps fewer unmatched rows where a condition above it takes them
// away again, as Spark does. The result is the same; which rows are kept in state, and which move the watermark, is not.
func (a *Analyzer) narrowOuterJoins(root Node) (Node, bool) {
	changed := false
	out := Transform(root, func(n Node) Node {
		f, ok := n.(*Filter)
		if !ok {
			return n
		}
		j, ok := f.Child.(*Join)
		if !ok || !IsStreaming(j) || j.Kind != LeftJoin && j.Kind != RightJoin && j.Kind != FullJoin || j.Once {
			return n
		}
		var left, right bool // a condition takes rows whose left, or right, columns are null
		for _, c := range expr.SplitAnd(f.Cond) {
			ids := attrIDs(c)
			if len(ids) == 0 || !expr.IsDeterministic(c) {
				continue
			}
			left = left || within(ids, j.Left.Output()) && a.rejectsNulls(c)
			right = right || within(ids, j.Right.Output()) && a.rejectsNulls(c)
			nullIntolerantAttrs(c, func(at *expr.Attr) { // one null makes the whole condition null
				only := map[expr.AttrID]bool{at.ID: true}
				left = left || within(only, j.Left.Output())
				right = right || within(only, j.Right.Output())
			})
		}
		kind := j.Kind
		switch {
		case kind == LeftJoin && right, kind == RightJoin && left, kind == FullJoin && left && right:
			kind = Inner
		case kind == FullJoin && left:
			kind = LeftJoin
		case kind == FullJoin && right:
			kind = RightJoin
		}
		if kind == j.Kind {
			return n
		}
		changed = true
		c := *j
		c.Kind = kind
		return &Filter{Cond: f.Cond, Child: &c}
	})
	return out, changed
}

// rejectsNulls tells whether a condition is not true where all of its columns are null.
func (a *Analyzer) rejectsNulls(c expr.Expr) bool {
	var attrs []*expr.Attr
	seen := map[expr.AttrID]bool{}
	usable := true
	expr.Walk(c, func(x expr.Expr) bool {
		switch x := x.(type) {
		case *expr.Attr:
			if !seen[x.ID] {
				seen[x.ID] = true
				attrs = append(attrs, x)
			}
		case *ScalarCall, *outerRef:
			usable = false
		}
		return usable
	})
	if !usable {
		return false
	}
	bound, err := expr.BindRefs(c, attrs)
	if err != nil {
		return false
	}
	cols := make([]*columnar.Column, len(attrs))
	for i, at := range attrs {
		cols[i] = columnar.NewNull(at.Typ, 1)
	}
	v, err := bound.Eval(a.constContext(), columnar.NewBatch(nil, cols, 1))
	if err != nil {
		return false
	}
	return v.IsNull(0) || v.Type.Kind == columnar.KindBool && !v.Bits.Get(0)
}

// timesOfWindows says that rows without a time are in no window where that can move further down: below a join it keeps
// rows out of its state, and below the watermark of another column it keeps them from moving that.
func (a *Analyzer) timesOfWindows(root Node) Node {
	return Transform(root, func(n Node) Node {
		var time expr.Expr
		switch m := n.(type) {
		case *TimeWindow:
			time = m.Time
		case *SessionWindow:
			time = m.Time
		default:
			return n
		}
		child := n.Children()[0]
		if !IsStreaming(child) {
			return n
		}
		joins := false
		Walk(child, func(m Node) bool {
			_, ok := m.(*Join)
			joins = joins || ok
			return !joins
		})
		var conds []expr.Expr
		nullIntolerantAttrs(time, func(at *expr.Attr) {
			if at.Null && (joins || at.EventTime == nil) {
				conds = append(conds, a.notNull(at))
			}
		})
		if len(conds) == 0 {
			return n
		}
		return n.WithChildren([]Node{&Filter{Cond: expr.NewAnd(conds...), Child: child}})
	})
}
