package plan

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
)

// dependent makes a plan of a subquery that uses columns of the query around it, wherever it uses them: what the outer
// query has in those columns, each combination once, is joined to the subquery's inputs and carried up to its result.
// So every operator of the subquery works for all outer rows at once.
type dependent struct {
	a     *Analyzer
	outer Node
	attrs []*expr.Attr // the columns of outer that are used
	at    sql.Node
}

// decorrelate gives the plan of n with the outer columns that it uses, as conditions that compare them with the columns
// of the result that hold them. Without any use of a column of outer there are no conditions.
func (a *Analyzer) decorrelate(n, outer Node, at sql.Node) (Node, []expr.Expr, error) {
	d := &dependent{a: a, outer: outer, at: at}
	have := map[expr.AttrID]*expr.Attr{}
	for _, o := range outer.Output() {
		have[o.ID] = o
	}
	seen := map[expr.AttrID]bool{}
	Walk(n, func(m Node) bool {
		for _, e := range nodeExprs(m) {
			expr.Walk(e, func(x expr.Expr) bool {
				if o, ok := x.(*outerRef); ok && have[o.Attr.ID] != nil && !seen[o.Attr.ID] {
					seen[o.Attr.ID] = true
					d.attrs = append(d.attrs, have[o.Attr.ID])
				}
				return true
			})
		}
		return true
	})
	if len(d.attrs) == 0 {
		return n, nil, nil
	}
	if IsStreaming(outer) {
		return nil, nil, d.refused()
	}
	out, keys, err := d.rewrite(n)
	if err != nil {
		return nil, nil, err
	}
	var conds []expr.Expr
	for i, k := range keys {
		c, err := a.binder(at).Func("<=>", &outerRef{Attr: d.attrs[i]}, k)
		if err != nil {
			return nil, nil, err
		}
		conds = append(conds, c)
	}
	return out, conds, nil
}

func (d *dependent) refused() error {
	p := d.at.At()
	return sparkerr.At(p.Line, p.Col, "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.ACCESSING_OUTER_QUERY_COLUMN_IS_NOT_ALLOWED", "accessing outer query column is not allowed in this location of a subquery; only its WHERE may compare with outer columns")
}

// domain has a row for each combination of the outer columns, under new identities.
func (d *dependent) domain() (Node, []*expr.Attr) {
	exprs := make([]expr.Expr, len(d.attrs))
	keys := make([]*expr.Attr, len(d.attrs))
	for i, at := range d.attrs {
		al := &expr.Alias{Child: at, Name: at.Name, ID: d.a.NewID()}
		exprs[i], keys[i] = al, NamedAttr(al)
	}
	return d.a.distinct(&Project{Exprs: exprs, Child: d.outer}), keys
}

func (d *dependent) uses(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if o, ok := x.(*outerRef); ok {
			for _, at := range d.attrs {
				found = found || at.ID == o.Attr.ID
			}
		}
		return !found
	})
	return found
}

func (d *dependent) correlated(n Node) bool {
	found := false
	Walk(n, func(m Node) bool {
		for _, e := range nodeExprs(m) {
			found = found || d.uses(e)
		}
		return !found
	})
	return found
}

// inner puts the columns that hold them in place of the outer columns.
func (d *dependent) inner(e expr.Expr, keys []*expr.Attr) expr.Expr {
	return expr.Transform(e, func(x expr.Expr) expr.Expr {
		if o, ok := x.(*outerRef); ok {
			for i, at := range d.attrs {
				if at.ID == o.Attr.ID {
					return keys[i]
				}
			}
		}
		return x
	})
}

func (d *dependent) innerAll(list []expr.Expr, keys []*expr.Attr) []expr.Expr {
	out := make([]expr.Expr, len(list), len(list)+len(keys))
	for i, e := range list {
		out[i] = d.inner(e, keys)
	}
	return out
}

func withKeys(list []expr.Expr, keys []*expr.Attr) []expr.Expr {
	for _, k := range keys {
		list = append(list, k)
	}
	return list
}

// equal compares two sets of keys, NULL being equal to NULL.
func (d *dependent) equal(x, y []*expr.Attr) (expr.Expr, error) {
	var cond expr.Expr
	for i := range x {
		c, err := d.a.binder(d.at).Func("<=>", x[i], y[i])
		if err != nil {
			return nil, err
		}
		cond = d.a.and(cond, c)
	}
	return cond, nil
}

// rewrite gives n with the keys behind its columns.
func (d *dependent) rewrite(n Node) (Node, []*expr.Attr, error) {
	if !d.correlated(n) {
		right, keys := d.domain()
		return &Join{Kind: Cross, Left: n, Right: right, ID: -1}, keys, nil
	}
	switch m := n.(type) {
	case *Join:
		return d.join(m)
	case *Union:
		return d.union(m)
	case *SetOp:
		return d.setOp(m)
	case *Limit:
		return d.limit(m)
	}
	kids := n.Children()
	if len(kids) != 1 {
		return nil, nil, d.refused()
	}
	c, keys, err := d.rewrite(kids[0])
	if err != nil {
		return nil, nil, err
	}
	switch m := n.(type) {
	case *Filter:
		return &Filter{Cond: d.inner(m.Cond, keys), Child: c}, keys, nil
	case *Project:
		return &Project{Exprs: withKeys(d.innerAll(m.Exprs, keys), keys), Child: c}, keys, nil
	case *Alias:
		return &Alias{Relation: m.Relation, Attrs: concat(m.Attrs, keys), Child: c}, keys, nil
	case *Sort:
		s := &Sort{Global: m.Global, Child: c}
		for _, k := range m.Keys {
			k.Expr = d.inner(k.Expr, keys)
			s.Keys = append(s.Keys, k)
		}
		return s, keys, nil
	case *Dedup:
		out := *m
		out.Child, out.Keys = c, concat(m.Keys, keys)
		return &out, keys, nil
	case *Generate:
		g, ok := d.inner(m.Generator, keys).(expr.Generator)
		if !ok {
			return nil, nil, d.refused()
		}
		return &Generate{Generator: g, Outer: m.Outer, Attrs: m.Attrs, Child: c}, keys, nil
	case *Window:
		w := &Window{Exprs: d.innerAll(m.Exprs, keys), Partition: withKeys(d.innerAll(m.Partition, keys), keys), Child: c}
		for _, k := range m.Order {
			k.Expr = d.inner(k.Expr, keys)
			w.Order = append(w.Order, k)
		}
		return w, keys, nil
	case *Expand:
		e := &Expand{Attrs: concat(m.Attrs, keys), Child: c}
		for _, p := range m.Projections {
			e.Projections = append(e.Projections, withKeys(d.innerAll(p, keys), keys))
		}
		return e, keys, nil
	case *Aggregate:
		return d.aggregate(m, c, keys)
	}
	return nil, nil, d.refused()
}

// aggregate groups by the keys too. Without other keys there is a row for each combination, also where the input has none.
func (d *dependent) aggregate(m *Aggregate, c Node, keys []*expr.Attr) (Node, []*expr.Attr, error) {
	if m.Session != nil {
		return nil, nil, d.refused()
	}
	out := *m
	out.Child = c
	if len(m.Keys) > 0 {
		out.Keys = withKeys(d.innerAll(m.Keys, keys), keys)
		out.Exprs = withKeys(d.innerAll(m.Exprs, keys), keys)
		return &out, keys, nil
	}
	mark := &expr.Alias{Child: &expr.Literal{Typ: columnar.Bool, Value: true}, Name: "present", ID: d.a.NewID()}
	var all []expr.Expr
	for _, o := range c.Output() {
		all = append(all, o)
	}
	left, groups := d.domain()
	cond, err := d.equal(groups, keys)
	if err != nil {
		return nil, nil, err
	}
	out.Child = &Join{Kind: LeftJoin, Left: left, Right: &Project{Exprs: append(all, mark), Child: c}, Cond: cond, ID: -1}
	at := NamedAttr(mark)
	at.Null = true
	present, err := d.a.binder(d.at).Func("coalesce", at, &expr.Literal{Typ: columnar.Bool, Value: false})
	if err != nil {
		return nil, nil, err
	}
	out.Keys = withKeys(nil, groups)
	out.Exprs = nil
	for _, e := range d.innerAll(m.Exprs, keys) {
		out.Exprs = append(out.Exprs, expr.Transform(e, func(x expr.Expr) expr.Expr {
			if g, ok := x.(expr.Aggregate); ok {
				return expr.WithFilter(g, d.a.and(g.Call().Filter, present))
			}
			return x
		}))
	}
	out.Exprs = withKeys(out.Exprs, groups)
	return &out, groups, nil
}

func (d *dependent) join(m *Join) (Node, []*expr.Attr, error) {
	out := *m
	inLeft, inRight := d.correlated(m.Left), d.correlated(m.Right)
	var lk, rk []*expr.Attr
	var err error
	keepsLeft := m.Kind == LeftJoin || m.Kind == LeftSemi || m.Kind == LeftAnti
	if m.Kind == FullJoin {
		return nil, nil, d.refused()
	}
	if inLeft || keepsLeft || !inRight && m.Kind != RightJoin {
		if out.Left, lk, err = d.rewrite(m.Left); err != nil {
			return nil, nil, err
		}
	}
	if inRight || m.Kind == RightJoin {
		if out.Right, rk, err = d.rewrite(m.Right); err != nil {
			return nil, nil, err
		}
	}
	keys := lk
	if lk == nil || m.Kind == RightJoin {
		keys = rk
	}
	if m.Cond != nil {
		use := keys
		if lk != nil {
			use = lk
		}
		out.Cond = d.inner(m.Cond, use)
	}
	if lk != nil && rk != nil {
		same, err := d.equal(lk, rk)
		if err != nil {
			return nil, nil, err
		}
		if m.NullAware {
			return nil, nil, d.refused()
		}
		out.Cond = d.a.and(out.Cond, same)
	}
	if out.Kind == Cross && out.Cond != nil {
		out.Kind = Inner
	}
	return &out, keys, nil
}

// ordered gives n with the keys behind its columns in their order, as operators that go by position want it.
func (d *dependent) ordered(n Node) (Node, []*expr.Attr, error) {
	c, keys, err := d.rewrite(n)
	if err != nil {
		return nil, nil, err
	}
	var exprs []expr.Expr
	for _, o := range n.Output() {
		exprs = append(exprs, o)
	}
	return &Project{Exprs: withKeys(exprs, keys), Child: c}, keys, nil
}

func (d *dependent) union(m *Union) (Node, []*expr.Attr, error) {
	out := &Union{}
	for _, in := range m.Inputs {
		c, _, err := d.ordered(in)
		if err != nil {
			return nil, nil, err
		}
		out.Inputs = append(out.Inputs, c)
	}
	keys := d.newKeys()
	out.Attrs = concat(m.Attrs, keys)
	return out, keys, nil
}

func (d *dependent) newKeys() []*expr.Attr {
	keys := make([]*expr.Attr, len(d.attrs))
	for i, at := range d.attrs {
		keys[i] = d.a.NewAttr(at.Name, at.Typ, at.Null)
	}
	return keys
}

func (d *dependent) setOp(m *SetOp) (Node, []*expr.Attr, error) {
	out := *m
	var err error
	if out.Left, _, err = d.ordered(m.Left); err != nil {
		return nil, nil, err
	}
	if out.Right, _, err = d.ordered(m.Right); err != nil {
		return nil, nil, err
	}
	keys := d.newKeys()
	out.Attrs = concat(m.Attrs, keys)
	return &out, keys, nil
}

// limit numbers the rows of each combination.
func (d *dependent) limit(m *Limit) (Node, []*expr.Attr, error) {
	switch c := m.Child.(type) { // a projection gives as many rows as it gets
	case *Project:
		return d.rewrite(&Project{Exprs: c.Exprs, Child: &Limit{Count: m.Count, Offset: m.Offset, Child: c.Child, ID: -1}})
	case *Alias:
		return d.rewrite(&Alias{Relation: c.Relation, Attrs: c.Attrs, Child: &Limit{Count: m.Count, Offset: m.Offset, Child: c.Child, ID: -1}})
	}
	child, sorted := m.Child, []expr.SortKey(nil)
	if s, ok := child.(*Sort); ok && s.Global {
		child, sorted = s.Child, s.Keys
	}
	c, keys, err := d.rewrite(child)
	if err != nil {
		return nil, nil, err
	}
	b := d.a.binder(d.at)
	f, err := b.Func("row_number")
	if err != nil {
		return nil, nil, err
	}
	call := &expr.WindowCall{Function: f, Frame: expr.WindowFrame{Rows: true, Start: expr.FrameBound{Unbounded: true}}}
	number := &expr.Alias{Child: call, Name: "row", ID: d.a.NewID()}
	w := &Window{Exprs: []expr.Expr{number}, Partition: withKeys(nil, keys), Child: c}
	for _, k := range sorted {
		k.Expr = d.inner(k.Expr, keys)
		w.Order = append(w.Order, k)
	}
	if len(w.Order) == 0 {
		for _, k := range keys {
			w.Order = append(w.Order, expr.SortKey{Expr: k})
		}
	}
	at := &expr.Attr{ID: number.ID, Name: number.Name, Typ: call.Type()}
	var cond expr.Expr
	if m.Offset > 0 {
		if cond, err = b.Func(">", at, &expr.Literal{Typ: columnar.Int64, Value: m.Offset}); err != nil {
			return nil, nil, err
		}
	}
	if m.Count >= 0 {
		most, err := b.Func("<=", at, &expr.Literal{Typ: columnar.Int64, Value: m.Offset + m.Count})
		if err != nil {
			return nil, nil, err
		}
		cond = d.a.and(cond, most)
	}
	return &Filter{Cond: cond, Child: w}, keys, nil
}

// oneValue is the value of a correlated scalar subquery: NULL without a row, and an error where the subquery has several.
type oneValue struct{ value, rows expr.Expr }

func (v *oneValue) Type() *columnar.Type  { return v.value.Type() }
func (v *oneValue) Nullable() bool        { return true }
func (v *oneValue) Children() []expr.Expr { return []expr.Expr{v.value, v.rows} }
func (v *oneValue) WithChildren(c []expr.Expr) expr.Expr {
	return &oneValue{c[0], c[1]}
}
func (v *oneValue) SQL() string { return v.value.SQL() }

// Eval implements expr.Expr.
func (v *oneValue) Eval(ctx *expr.Context, b *columnar.Batch) (*columnar.Column, error) {
	n, err := v.rows.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	for i := range n.Len {
		if !n.IsNull(i) && n.Datum(i).(int64) > 1 {
			return nil, sparkerr.New("SCALAR_SUBQUERY_TOO_MANY_ROWS", "more than one row returned by a subquery used as an expression")
		}
	}
	return v.value.Eval(ctx, b)
}

// single gives the subquery's plan with a row for each combination of keys, and the value of its first column there.
func (a *Analyzer) single(n Node, keys []*expr.Attr, at sql.Node) (Node, expr.Expr, error) {
	col := n.Output()[0]
	b := a.binder(at)
	first, err := b.Func("first", col)
	if err != nil {
		return nil, nil, err
	}
	count, err := b.Func("count", &expr.Literal{Typ: columnar.Int32, Value: int32(1)})
	if err != nil {
		return nil, nil, err
	}
	value := &expr.Alias{Child: first, Name: col.Name, ID: a.NewID()}
	rows := &expr.Alias{Child: count, Name: "rows", ID: a.NewID()}
	g := &Aggregate{Keys: withKeys(nil, keys), Exprs: append(withKeys(nil, keys), value, rows), Child: n, ID: -1}
	v, r := *NamedAttr(value), *NamedAttr(rows)
	v.Null, r.Null = true, true
	return g, &oneValue{&v, &r}, nil
}

// oneRowEach tells whether the plan gives at most a row for each combination of keys.
func oneRowEach(n Node, keys int) bool {
	for {
		switch m := n.(type) {
		case *Project:
			n = m.Child
		case *Alias:
			n = m.Child
		case *Filter:
			n = m.Child
		case *Aggregate:
			return len(m.Keys) == keys
		default:
			return false
		}
	}
}
