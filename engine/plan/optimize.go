package plan

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// Optimize rewrites an analysed plan into one that gives the same rows with less work. Where
// Spark's optimiser shows through in what a stream means (filters that move below a watermark), it
// does as Spark does.
func (a *Analyzer) Optimize(root Node) Node {
	root = dropAliases(root)
	root = a.foldConstants(root)
	root = a.setOpsToJoins(root)
	root = combineLimits(root)
	root = conditionsIntoJoins(root)
	root = a.timesOfWindows(root)
	root = a.inferNotNull(root)
	root = a.pushFilters(root)
	if IsStreaming(root) { // what a condition has moved past may hide a join from it
		root = a.pushFilters(a.inferNotNull(conditionsIntoJoins(root)))
	}
	for range maxOuterJoins {
		narrowed, changed := a.narrowOuterJoins(root)
		if !changed {
			break
		}
		root = a.pushFilters(a.inferNotNull(conditionsIntoJoins(narrowed)))
	}
	root = a.inferFilters(root)
	root = a.pushFilters(root)
	return shareParts(root)
}

// shareParts lets a projection compute what several of its columns have in common once.
func shareParts(root Node) Node {
	return Transform(root, func(n Node) Node {
		if p, ok := n.(*Project); ok {
			return &Project{Exprs: expr.Share(p.Exprs), Child: p.Child}
		}
		return n
	})
}

// dropAliases removes the nodes that only name relations.
func dropAliases(root Node) Node {
	return Transform(root, func(n Node) Node {
		if al, ok := n.(*Alias); ok {
			return al.Child
		}
		return n
	})
}

// mapExprs rewrites the expressions of a node.
func mapExprs(n Node, f func(expr.Expr) expr.Expr) Node {
	all := func(es []expr.Expr) []expr.Expr {
		out := make([]expr.Expr, len(es))
		for i, e := range es {
			out[i] = f(e)
		}
		return out
	}
	keys := func(ks []expr.SortKey) []expr.SortKey {
		out := append([]expr.SortKey{}, ks...)
		for i := range out {
			out[i].Expr = f(out[i].Expr)
		}
		return out
	}
	switch m := n.(type) {
	case *Project:
		return &Project{all(m.Exprs), m.Child}
	case *Filter:
		return &Filter{f(m.Cond), m.Child}
	case *Aggregate:
		c := *m
		c.Keys, c.Exprs = all(m.Keys), all(m.Exprs)
		return &c
	case *Join:
		if m.Cond == nil {
			return n
		}
		c := *m
		c.Cond = f(m.Cond)
		return &c
	case *Sort:
		return &Sort{keys(m.Keys), m.Global, m.Child}
	case *Expand:
		c := *m
		c.Projections = make([][]expr.Expr, len(m.Projections))
		for i, p := range m.Projections {
			c.Projections[i] = all(p)
		}
		return &c
	case *TimeWindow:
		c := *m
		c.Time = f(m.Time)
		return &c
	case *SessionWindow:
		c := *m
		c.Time, c.Gap = f(m.Time), f(m.Gap)
		return &c
	case *Generate:
		if g, ok := f(m.Generator).(expr.Generator); ok {
			c := *m
			c.Generator = g
			return &c
		}
	case *Window:
		return &Window{all(m.Exprs), all(m.Partition), keys(m.Order), m.Child}
	}
	return n
}

// foldConstants evaluates what depends on no row. An expression that fails is left for the rows:
// it may stand where no row reaches it.
func (a *Analyzer) foldConstants(root Node) Node {
	ctx := a.constContext()
	one := columnar.NewBatch(columnar.NewSchema(), nil, 1)
	return Transform(root, func(n Node) Node {
		if _, ok := n.(*Aggregate); ok {
			return n // aggregate calls keep the constants of their arguments
		}
		return mapExprs(n, func(e expr.Expr) expr.Expr { return a.fold(e, ctx, one) })
	})
}

// timeDependent is implemented by expressions whose value is fixed by the batch, such as current_timestamp().
type timeDependent interface{ BatchDependent() bool }

func (a *Analyzer) fold(e expr.Expr, ctx *expr.Context, one *columnar.Batch) expr.Expr {
	switch x := e.(type) {
	case *expr.Literal, *expr.Attr:
		return e
	case *expr.Alias:
		c := a.fold(x.Child, ctx, one)
		if c == x.Child {
			return e
		}
		out := *x
		out.Child = c
		return &out
	}
	constant := true
	expr.Walk(e, func(x expr.Expr) bool {
		switch y := x.(type) {
		case *expr.Literal:
		case *expr.Attr, *expr.Ref, *outerRef, expr.Nondeterministic, expr.Aggregate, *expr.WindowCall, expr.Generator, *ScalarCall, *expr.LambdaVar:
			constant = false
		case timeDependent:
			constant = constant && !y.BatchDependent()
		default:
			if len(x.Children()) == 0 {
				constant = false
			}
		}
		return constant
	})
	if constant {
		if c, err := e.Eval(ctx, one); err == nil {
			return &expr.Literal{Typ: e.Type(), Value: c.Datum(0), Text: e.SQL()}
		}
	}
	old := e.Children()
	var kids []expr.Expr
	for i, c := range old {
		if _, ok := c.(*expr.LambdaVar); ok {
			continue
		}
		k := a.fold(c, ctx, one)
		if k != c && kids == nil {
			kids = append([]expr.Expr{}, old...)
		}
		if kids != nil {
			kids[i] = k
		}
	}
	now := old
	if kids != nil {
		now = kids
	}
	if expr.NullIntolerant(e) {
		for _, k := range now {
			if l, ok := k.(*expr.Literal); ok && l.Value == nil {
				return &expr.Literal{Typ: e.Type(), Text: e.SQL()}
			}
		}
	}
	if kids == nil {
		return e
	}
	out := e.WithChildren(kids)
	if !constant {
		return out
	}
	if c, err := out.Eval(ctx, one); err == nil {
		return &expr.Literal{Typ: e.Type(), Value: c.Datum(0), Text: e.SQL()}
	}
	return e // what fails as a whole keeps its parts, so that the fault is reported as it is written
}

// setOpsToJoins turns INTERSECT and EXCEPT of a stream into joins on all columns, without duplicates.
func (a *Analyzer) setOpsToJoins(root Node) Node {
	return Transform(root, func(n Node) Node {
		s, ok := n.(*SetOp)
		if !ok || !IsStreaming(s) || s.All {
			return n
		}
		kind := LeftSemi
		if s.Except {
			kind = LeftAnti
		}
		l, r := s.Left.Output(), s.Right.Output()
		var conds []expr.Expr
		exprs := make([]expr.Expr, len(l))
		for i := range l {
			conds = append(conds, expr.NewNullEq(l[i], r[i]))
			exprs[i] = &expr.Alias{Child: l[i], Name: s.Attrs[i].Name, ID: s.Attrs[i].ID}
		}
		j := &Join{Kind: kind, Left: s.Left, Right: s.Right, Cond: expr.NewAnd(conds...), ID: -1}
		return a.distinct(&Project{Exprs: exprs, Child: j})
	})
}

func attrIDs(e expr.Expr) map[expr.AttrID]bool {
	out := map[expr.AttrID]bool{}
	expr.Walk(e, func(x expr.Expr) bool {
		if a, ok := x.(*expr.Attr); ok {
			out[a.ID] = true
		}
		return true
	})
	return out
}

func within(ids map[expr.AttrID]bool, attrs []*expr.Attr) bool {
	have := map[expr.AttrID]bool{}
	for _, a := range attrs {
		have[a.ID] = true
	}
	for id := range ids {
		if !have[id] {
			return false
		}
	}
	return true
}

// combineLimits makes one limit of two that follow one another, so that one count is kept.
func combineLimits(root Node) Node {
	return Transform(root, func(n Node) Node {
		outer, ok := n.(*Limit)
		if !ok || outer.Offset != 0 || outer.Count < 0 {
			return n
		}
		var drop func(m Node) (Node, int64)
		drop = func(m Node) (Node, int64) {
			switch m := m.(type) {
			case *Project:
				for _, e := range m.Exprs {
					if !expr.IsDeterministic(e) {
						return nil, 0
					}
				}
				if child, count := drop(m.Child); child != nil {
					return &Project{m.Exprs, child}, count
				}
			case *Limit:
				if m.Offset == 0 && m.Count >= 0 {
					return m.Child, m.Count
				}
			}
			return nil, 0
		}
		child, count := drop(outer.Child)
		if child == nil {
			return n
		}
		return &Limit{Count: min(outer.Count, count), Child: child, ID: outer.ID}
	})
}

// conditionsIntoJoins moves what a filter says of both sides into the join's condition.
func conditionsIntoJoins(root Node) Node {
	return Transform(root, func(n Node) Node {
		f, ok := n.(*Filter)
		if !ok {
			return n
		}
		j, ok := f.Child.(*Join)
		if !ok || j.Kind != Inner && j.Kind != Cross {
			return n
		}
		var keep, move []expr.Expr
		for _, c := range expr.SplitAnd(f.Cond) {
			ids := attrIDs(c)
			if expr.IsDeterministic(c) && len(ids) > 0 && !within(ids, j.Left.Output()) && !within(ids, j.Right.Output()) {
				move = append(move, c)
			} else {
				keep = append(keep, c)
			}
		}
		if len(move) == 0 {
			return n
		}
		c := *j
		c.Kind = Inner
		if j.Cond != nil {
			move = append([]expr.Expr{j.Cond}, move...)
		}
		c.Cond = expr.NewAnd(move...)
		var below Node = &c
		if b := conditionsIntoJoins2(&c); b != nil {
			below = b
		}
		if len(keep) == 0 {
			return below
		}
		return &Filter{Cond: expr.NewAnd(keep...), Child: below}
	})
}

// conditionsIntoJoins2 hands conditions of a join that concern only its left side down to a join there.
func conditionsIntoJoins2(j *Join) Node {
	l, ok := j.Left.(*Join)
	if !ok || l.Kind != Inner && l.Kind != Cross || j.Cond == nil {
		return nil
	}
	var keep, move []expr.Expr
	for _, c := range expr.SplitAnd(j.Cond) {
		if within(attrIDs(c), l.Output()) && expr.IsDeterministic(c) {
			move = append(move, c)
		} else {
			keep = append(keep, c)
		}
	}
	if len(move) == 0 {
		return nil
	}
	in := *l
	in.Kind = Inner
	if l.Cond != nil {
		move = append([]expr.Expr{l.Cond}, move...)
	}
	in.Cond = expr.NewAnd(move...)
	out := *j
	out.Left = &in
	if b := conditionsIntoJoins2(&in); b != nil {
		out.Left = b
	}
	out.Cond = nil
	out.Kind = Cross
	if len(keep) > 0 {
		out.Cond, out.Kind = expr.NewAnd(keep...), Inner
	}
	return &out
}

// inferNotNull filters rows that cannot match a join by a null key out before it: both sides of an
// inner join, the side of an outer join that need not come out, the right of a semi join.
func (a *Analyzer) inferNotNull(root Node) Node {
	return Transform(root, func(n Node) Node {
		j, ok := n.(*Join)
		if !ok || j.Cond == nil || j.NullAware || !IsStreaming(j) {
			return n
		}
		left := j.Kind == Inner || j.Kind == RightJoin || j.Kind == LeftSemi
		right := j.Kind == Inner || j.Kind == LeftJoin || j.Kind == LeftSemi || j.Kind == LeftAnti
		var lc, rc []expr.Expr
		seen := map[expr.AttrID]bool{}
		known := map[string]bool{}
		for _, c := range append(constraints(j.Left), constraints(j.Right)...) {
			known[canonical(c)] = true
		}
		for _, c := range expr.SplitAnd(j.Cond) {
			l, r, nullSafe, ok := expr.EqOperands(c)
			if !ok {
				l, _, r, ok = expr.InequalityOperands(c)
			}
			operands := []expr.Expr{l, r}
			switch {
			case nullSafe:
				continue
			case !ok: // any other condition that null makes null, such as l.a <> r.b
				operands = []expr.Expr{c}
				if !expr.IsDeterministic(c) {
					continue
				}
			}
			for _, e := range operands {
				nullIntolerantAttrs(e, func(at *expr.Attr) {
					if seen[at.ID] || !at.Null {
						return
					}
					seen[at.ID] = true
					if known[canonical(a.notNull(at))] {
						return
					}
					if left && within(map[expr.AttrID]bool{at.ID: true}, j.Left.Output()) {
						lc = append(lc, a.notNull(at))
					}
					if right && within(map[expr.AttrID]bool{at.ID: true}, j.Right.Output()) {
						rc = append(rc, a.notNull(at))
					}
				})
			}
		}
		if len(lc)+len(rc) == 0 {
			return n
		}
		out := *j
		if len(lc) > 0 {
			out.Left = &Filter{Cond: expr.NewAnd(lc...), Child: j.Left}
		}
		if len(rc) > 0 {
			out.Right = &Filter{Cond: expr.NewAnd(rc...), Child: j.Right}
		}
		return &out
	})
}

// nullIntolerantAttrs calls f for the columns that make e null by being null.
func nullIntolerantAttrs(e expr.Expr, f func(*expr.Attr)) {
	switch x := e.(type) {
	case *expr.Attr:
		f(x)
		return
	case *expr.Alias:
		nullIntolerantAttrs(x.Child, f)
		return
	}
	if expr.NullIntolerant(e) {
		for _, c := range e.Children() {
			nullIntolerantAttrs(c, f)
		}
	}
}

func (a *Analyzer) notNull(at *expr.Attr) expr.Expr {
	e, err := a.binder(nil).Func("isnotnull", at)
	if err != nil { // isnotnull takes any type
		return expr.NewAnd()
	}
	return e
}

// pushFilters moves conditions as far down as they mean the same.
func (a *Analyzer) pushFilters(root Node) Node {
	f, ok := root.(*Filter)
	if !ok {
		kids := root.Children()
		if j, ok := root.(*Join); ok {
			if m := a.pushJoinCondition(j); m != nil {
				return a.pushFilters(m)
			}
		}
		var changed []Node
		for i, k := range kids {
			n := a.pushFilters(k)
			if n != k && changed == nil {
				changed = append([]Node{}, kids...)
			}
			if changed != nil {
				changed[i] = n
			}
		}
		if changed != nil {
			return root.WithChildren(changed)
		}
		return root
	}
	var keep []expr.Expr
	child := f.Child
	if inner, ok := child.(*Filter); ok {
		return a.pushFilters(&Filter{Cond: expr.NewAnd(append(expr.SplitAnd(inner.Cond), expr.SplitAnd(f.Cond)...)...), Child: inner.Child})
	}
	for _, c := range expr.SplitAnd(f.Cond) {
		if n, ok := a.pushOne(c, child); ok {
			child = n
		} else {
			keep = append(keep, c)
		}
	}
	child = a.pushFilters(child)
	if len(keep) == 0 {
		return child
	}
	return &Filter{Cond: expr.NewAnd(keep...), Child: child}
}

// pushOne tries to put condition c below n.
func (a *Analyzer) pushOne(c expr.Expr, n Node) (Node, bool) {
	if !expr.IsDeterministic(c) {
		return nil, false
	}
	ids := attrIDs(c)
	under := func(child Node) (Node, bool) {
		if !within(ids, child.Output()) {
			return nil, false
		}
		return n.WithChildren([]Node{&Filter{Cond: c, Child: child}}), true
	}
	switch m := n.(type) {
	case *Filter:
		return &Filter{Cond: expr.NewAnd(m.Cond, c), Child: m.Child}, true
	case *Project:
		defs := map[expr.AttrID]expr.Expr{}
		for _, e := range m.Exprs {
			if al, ok := e.(*expr.Alias); ok {
				defs[al.ID] = al.Child
			}
		}
		for id := range ids {
			if d := defs[id]; d != nil && !expr.IsDeterministic(d) {
				return nil, false
			}
		}
		c2 := expr.Transform(c, func(x expr.Expr) expr.Expr {
			if at, ok := x.(*expr.Attr); ok && defs[at.ID] != nil {
				return defs[at.ID]
			}
			return x
		})
		return &Project{m.Exprs, &Filter{Cond: c2, Child: m.Child}}, true
	case *Watermark:
		if ids[m.Column.ID] {
			return nil, false
		}
		return under(m.Child)
	case *LateOutput:
		return nil, false
	case *TimeWindow:
		return under(m.Child)
	case *SessionWindow:
		return under(m.Child)
	case *UDFFilter:
		return nil, false // the guest sees every row, as the pipeline says
	case *Generate:
		if m.Outer {
			return nil, false
		}
		return under(m.Child)
	case *Sort:
		return under(m.Child)
	case *Union:
		inputs := make([]Node, len(m.Inputs))
		for i, in := range m.Inputs {
			out := in.Output()
			c2 := expr.Transform(c, func(x expr.Expr) expr.Expr {
				if at, ok := x.(*expr.Attr); ok {
					for k, u := range m.Attrs {
						if u.ID == at.ID {
							return out[k]
						}
					}
				}
				return x
			})
			inputs[i] = &Filter{Cond: c2, Child: in}
		}
		return &Union{inputs, m.Attrs}, true
	case *Aggregate:
		keys := map[expr.AttrID]bool{}
		defs := map[expr.AttrID]expr.Expr{}
		for _, k := range m.Keys {
			at := NamedAttr(k)
			if m.Session != nil && at.ID == m.Session.ID {
				continue
			}
			keys[at.ID] = true
			if al, ok := k.(*expr.Alias); ok {
				defs[al.ID] = al.Child
			}
		}
		if len(m.Keys) == 0 || len(ids) == 0 {
			return nil, false
		}
		for id := range ids {
			if !keys[id] {
				return nil, false
			}
		}
		c2 := expr.Transform(c, func(x expr.Expr) expr.Expr {
			if at, ok := x.(*expr.Attr); ok && defs[at.ID] != nil {
				return defs[at.ID]
			}
			return x
		})
		if !within(attrIDs(c2), m.Child.Output()) {
			return nil, false
		}
		out := *m
		out.Child = &Filter{Cond: c2, Child: m.Child}
		return &out, true
	case *Join:
		out := *m
		if within(ids, m.Left.Output()) && (m.Kind == Inner || m.Kind == Cross || m.Kind == LeftJoin || m.Kind == LeftSemi || m.Kind == LeftAnti) {
			out.Left = &Filter{Cond: c, Child: m.Left}
			return &out, true
		}
		if within(ids, m.Right.Output()) && (m.Kind == Inner || m.Kind == Cross || m.Kind == RightJoin) {
			out.Right = &Filter{Cond: c, Child: m.Right}
			return &out, true
		}
	}
	return nil, false
}

// pushJoinCondition moves what a join's condition says of one side alone below it, where that side
// need not come out. nil when nothing moves.
func (a *Analyzer) pushJoinCondition(j *Join) Node {
	if j.Cond == nil || j.NullAware {
		return nil
	}
	left := j.Kind == Inner || j.Kind == Cross || j.Kind == RightJoin || j.Kind == LeftSemi
	right := j.Kind == Inner || j.Kind == Cross || j.Kind == LeftJoin || j.Kind == LeftSemi || j.Kind == LeftAnti
	var keep, lc, rc []expr.Expr
	for _, c := range expr.SplitAnd(j.Cond) {
		ids := attrIDs(c)
		switch {
		case len(ids) == 0 || !expr.IsDeterministic(c):
			keep = append(keep, c)
		case left && within(ids, j.Left.Output()):
			lc = append(lc, c)
		case right && within(ids, j.Right.Output()):
			rc = append(rc, c)
		default:
			keep = append(keep, c)
		}
	}
	if len(lc)+len(rc) == 0 {
		return nil
	}
	out := *j
	out.Cond = nil
	if len(keep) > 0 {
		out.Cond = expr.NewAnd(keep...)
	}
	if len(lc) > 0 {
		out.Left = &Filter{Cond: expr.NewAnd(lc...), Child: j.Left}
	}
	if len(rc) > 0 {
		out.Right = &Filter{Cond: expr.NewAnd(rc...), Child: j.Right}
	}
	return &out
}

// constraints are conditions that hold for every row of n, over its columns.
func constraints(n Node) []expr.Expr {
	switch m := n.(type) {
	case *Filter:
		var out []expr.Expr
		for _, c := range expr.SplitAnd(m.Cond) {
			if expr.IsDeterministic(c) {
				out = append(out, c)
			}
		}
		return append(out, constraints(m.Child)...)
	case *Watermark:
		return constraints(m.Child)
	case *TimeWindow:
		return constraints(m.Child)
	case *Dedup:
		return constraints(m.Child)
	case *Project:
		to := map[expr.AttrID]*expr.Attr{}
		for _, e := range m.Exprs {
			switch x := e.(type) {
			case *expr.Attr:
				to[x.ID] = x
			case *expr.Alias:
				if in, ok := x.Child.(*expr.Attr); ok && to[in.ID] == nil {
					to[in.ID] = NamedAttr(x)
				}
			}
		}
		var out []expr.Expr
	next:
		for _, c := range constraints(m.Child) {
			for id := range attrIDs(c) {
				if to[id] == nil {
					continue next
				}
			}
			out = append(out, expr.Transform(c, func(x expr.Expr) expr.Expr {
				if at, ok := x.(*expr.Attr); ok {
					return to[at.ID]
				}
				return x
			}))
		}
		return out
	}
	return nil
}

// inferFilters carries what is known of one side's join key over to the other side, as Spark does: a
// row that cannot match is not worth keeping.
func (a *Analyzer) inferFilters(root Node) Node {
	return Transform(root, func(n Node) Node {
		j, ok := n.(*Join)
		if !ok || j.Cond == nil || j.NullAware {
			return n
		}
		left := j.Kind == Inner || j.Kind == RightJoin || j.Kind == LeftSemi
		right := j.Kind == Inner || j.Kind == LeftJoin || j.Kind == LeftSemi || j.Kind == LeftAnti
		lc, rc := constraints(j.Left), constraints(j.Right)
		fromLeft, fromRight := lc, rc
		for _, c := range expr.SplitAnd(j.Cond) { // what a pair must have holds for both of its rows
			ids := attrIDs(c)
			switch {
			case len(ids) == 0 || !expr.IsDeterministic(c):
			case within(ids, j.Left.Output()):
				fromLeft = append(fromLeft[:len(fromLeft):len(fromLeft)], c)
			case within(ids, j.Right.Output()):
				fromRight = append(fromRight[:len(fromRight):len(fromRight)], c)
			}
		}
		add := func(from, known []expr.Expr, x, y *expr.Attr) []expr.Expr {
			have := map[string]bool{}
			for _, k := range known {
				have[canonical(k)] = true
			}
			var out []expr.Expr
			for _, c := range from {
				ids := attrIDs(c)
				if len(ids) != 1 || !ids[x.ID] {
					continue
				}
				m := expr.Transform(c, func(e expr.Expr) expr.Expr {
					if at, ok := e.(*expr.Attr); ok && at.ID == x.ID {
						return y
					}
					return e
				})
				if k := canonical(m); !have[k] {
					have[k] = true
					out = append(out, m)
				}
			}
			return out
		}
		var newLeft, newRight []expr.Expr
		for _, c := range expr.SplitAnd(j.Cond) {
			l, r, _, ok := expr.EqOperands(c)
			if !ok {
				continue
			}
			x, ok1 := l.(*expr.Attr)
			y, ok2 := r.(*expr.Attr)
			if !ok1 || !ok2 || !x.Typ.Equal(y.Typ) {
				continue
			}
			if !within(map[expr.AttrID]bool{x.ID: true}, j.Left.Output()) {
				x, y = y, x
			}
			if left {
				newLeft = append(newLeft, add(fromRight, lc, y, x)...)
			}
			if right {
				newRight = append(newRight, add(fromLeft, rc, x, y)...)
			}
		}
		if len(newLeft)+len(newRight) == 0 {
			return n
		}
		out := *j
		if len(newLeft) > 0 {
			out.Left = &Filter{Cond: expr.NewAnd(newLeft...), Child: j.Left}
		}
		if len(newRight) > 0 {
			out.Right = &Filter{Cond: expr.NewAnd(newRight...), Child: j.Right}
		}
		return &out
	})
}
