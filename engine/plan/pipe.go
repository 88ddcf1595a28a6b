package plan

import (
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
)

// pipe analyses input |> operator.
func (a *Analyzer) pipe(q *sql.Pipe, ctes *cteScope, outer *scope) (Node, error) {
	n, err := a.query(q.Input, ctes, outer)
	if err != nil {
		return nil, err
	}
	in := whole(n)
	s := &scope{attrs: in.visible, ctes: ctes, outer: outer, windows: map[string]*sql.WindowSpec{}}
	span := q.At()
	switch op := q.Op.(type) {
	case *sql.PipeSelect:
		n, _, err := a.selectQuery(&sql.Select{Span: span, Hints: op.Hints, Distinct: op.Distinct, Items: op.Items, Windows: op.Windows}, in, ctes, outer)
		return n, err
	case *sql.PipeExtend:
		items := append([]sql.Expr{&sql.Star{Span: span}}, op.Items...)
		n, _, err := a.selectQuery(&sql.Select{Span: span, Items: items}, in, ctes, outer)
		return n, err
	case *sql.PipeWhere:
		out, _, err := a.where(op.Cond, n, s)
		return out, err
	case *sql.PipeAs:
		return a.alias(n, op.Name.Name, nil, q)
	case *sql.PipeSet:
		return a.pipeSet(op, n, s)
	case *sql.PipeDrop:
		var exprs []expr.Expr
		for _, o := range in.visible {
			drop := false
			for _, c := range op.Columns {
				drop = drop || strings.EqualFold(c.Name, o.Name)
			}
			if !drop {
				exprs = append(exprs, o)
			}
		}
		for _, c := range op.Columns {
			if m, _ := match(in.visible, []string{c.Name}); len(m) == 0 {
				return nil, unknownColumn(s, []sql.Ident{c})
			}
		}
		return &Project{Exprs: exprs, Child: n}, nil
	case *sql.PipePivot:
		return a.pivot(op.Pivot, n)
	case *sql.PipeUnpivot:
		return a.unpivot(op.Unpivot, n)
	case *sql.PipeSample:
		return a.sample(op.Sample, n), nil
	case *sql.PipeJoin:
		j := *op.Join
		f, err := a.join2(&j, in, ctes, outer)
		if err != nil {
			return nil, err
		}
		return f.drop(), nil
	case *sql.PipeSetOp:
		r, err := a.query(op.Right, ctes, outer)
		if err != nil {
			return nil, err
		}
		return a.combine(op.Kind, op.All, n, r, q)
	case *sql.PipeOrder:
		return a.order(op.Order, n, nil, ctes, outer)
	case *sql.PipeAggregate:
		return a.pipeAggregate(op, in, span, ctes, outer)
	}
	return nil, unsupported(q, "this pipe operator")
}

func (a *Analyzer) pipeSet(op *sql.PipeSet, n Node, s *scope) (Node, error) {
	out := n.Output()
	exprs := make([]expr.Expr, len(out))
	for i, o := range out {
		exprs[i] = o
	}
	for k, c := range op.Columns {
		hit := false
		for i, o := range out {
			if !strings.EqualFold(o.Name, c.Name) {
				continue
			}
			e, err := a.expr(op.Values[k], s)
			if err != nil {
				return nil, err
			}
			exprs[i] = &expr.Alias{Child: unalias(e), Name: o.Name, ID: a.NewID()}
			hit = true
		}
		if !hit {
			return nil, unknownColumn(s, []sql.Ident{c})
		}
	}
	return &Project{Exprs: exprs, Child: n}, nil
}

// pipeAggregate is |> AGGREGATE … GROUP BY …: the keys come first in the result.
func (a *Analyzer) pipeAggregate(op *sql.PipeAggregate, in *from, span sql.Span, ctes *cteScope, outer *scope) (Node, error) {
	q := &sql.Select{Span: span}
	if op.GroupBy != nil {
		g := *op.GroupBy
		g.Items = nil
		for _, it := range op.GroupBy.Items {
			q.Items = append(q.Items, it)
			if al, ok := it.(*sql.Alias); ok {
				it = al.X
			}
			g.Items = append(g.Items, it)
		}
		q.GroupBy = &g
	} else {
		q.GroupBy = &sql.GroupBy{Span: span}
	}
	q.Items = append(q.Items, op.Items...)
	n, _, err := a.selectQuery(q, in, ctes, outer)
	return n, err
}

// pivot turns the values of a column into columns: an aggregation with one filtered call per value.
func (a *Analyzer) pivot(pv *sql.Pivot, n Node) (Node, error) {
	p := pv.At()
	s := &scope{attrs: n.Output()}
	if len(pv.Columns) != 1 {
		return nil, unsupported(pv, "PIVOT over several columns")
	}
	col, err := a.column(s, pv.Columns[:1])
	if err != nil {
		return nil, err
	}
	if col == nil {
		return nil, unknownColumn(s, pv.Columns[:1])
	}
	used := map[expr.AttrID]bool{}
	note := func(e expr.Expr) {
		expr.Walk(e, func(x expr.Expr) bool {
			if at, ok := x.(*expr.Attr); ok {
				used[at.ID] = true
			}
			return true
		})
	}
	note(col)
	type value struct {
		e    expr.Expr
		name string
	}
	var values []value
	for _, v := range pv.Values {
		name := ""
		if al, ok := v.(*sql.Alias); ok {
			name, v = al.Names[0].Name, al.X
		}
		e, err := a.expr(v, &scope{})
		if err != nil {
			return nil, err
		}
		if name == "" {
			name = e.SQL()
		}
		values = append(values, value{e, name})
	}
	agg := &aggregation{a: a, keys: map[string]*expr.Attr{}}
	var calls []item
	for _, x := range pv.Aggregates {
		e, err := a.expr(x, s)
		if err != nil {
			return nil, err
		}
		note(e)
		if !hasAggregate(e) {
			return nil, sparkerr.At(p.Line, p.Col, "PIVOT_VALUE_DATA_TYPE_MISMATCH", "PIVOT takes aggregate functions, found %s", e.SQL())
		}
		calls = append(calls, item{expr: e, at: x})
	}
	var keys []expr.Expr
	for _, o := range n.Output() {
		if !used[o.ID] {
			keys = append(keys, o)
		}
	}
	if err := groupable(keys); err != nil {
		return nil, err
	}
	agg.build(keys, nil, n, s)
	agg.agg.Pivot = true
	var exprs []expr.Expr
	for _, k := range keys {
		exprs = append(exprs, agg.keys[canonical(k)])
	}
	for _, v := range values {
		cond, err := a.binder(pv).Func("<=>", col, v.e)
		if err != nil {
			return nil, err
		}
		for _, c := range calls {
			e := expr.Transform(unalias(c.expr), func(x expr.Expr) expr.Expr {
				if g, ok := x.(expr.Aggregate); ok {
					return expr.WithFilter(g, a.and(g.Call().Filter, cond))
				}
				return x
			})
			if e, err = agg.rewrite(e, c.at); err != nil {
				return nil, err
			}
			name := v.name
			if len(calls) > 1 {
				suffix := c.expr.SQL()
				if al, ok := c.expr.(*expr.Alias); ok {
					suffix = al.Name
				}
				name += "_" + suffix
			}
			exprs = append(exprs, &expr.Alias{Child: e, Name: name, ID: a.NewID()})
		}
	}
	return &Project{Exprs: exprs, Child: agg.agg}, nil
}

// unpivot turns columns into rows: an Expand with one projection per set of columns.
func (a *Analyzer) unpivot(u *sql.Unpivot, n Node) (Node, error) {
	s := &scope{attrs: n.Output()}
	used := map[expr.AttrID]bool{}
	width := len(u.ValueColumns)
	sets := make([][]expr.Expr, len(u.Sets))
	names := make([]string, len(u.Sets))
	for i, set := range u.Sets {
		var parts []string
		for _, c := range set.Columns {
			e, err := a.column(s, c)
			if err != nil {
				return nil, err
			}
			if e == nil {
				return nil, unknownColumn(s, c)
			}
			if at, ok := e.(*expr.Attr); ok {
				used[at.ID] = true
			}
			sets[i] = append(sets[i], e)
			parts = append(parts, c[len(c)-1].Name)
		}
		names[i] = strings.Join(parts, "_")
		if set.Alias.Name != "" {
			names[i] = set.Alias.Name
		}
	}
	b := a.binder(u)
	p := u.At()
	var attrs []*expr.Attr
	var keep []expr.Expr
	for _, o := range n.Output() {
		if !used[o.ID] {
			keep = append(keep, o)
			attrs = append(attrs, o)
		}
	}
	nameAttr := a.NewAttr(u.NameColumn.Name, typeOfString(), false)
	attrs = append(attrs, nameAttr)
	var vals []*expr.Attr
	for k := 0; k < width; k++ {
		t := sets[0][k].Type()
		null := false
		for _, set := range sets {
			if t = b.CommonType(t, set[k].Type()); t == nil {
				return nil, sparkerr.At(p.Line, p.Col, "UNPIVOT_VALUE_DATA_TYPE_MISMATCH", "unpivot value columns must share a least common type, some types do not")
			}
			null = null || set[k].Nullable()
		}
		at := a.NewAttr(u.ValueColumns[k].Name, t, null)
		vals = append(vals, at)
	}
	attrs = append(attrs, vals...)
	ex := &Expand{Attrs: attrs, Child: n}
	for i, set := range sets {
		row := append([]expr.Expr{}, keep...)
		row = append(row, &expr.Literal{Typ: typeOfString(), Value: names[i]})
		for k, e := range set {
			if !e.Type().Equal(vals[k].Typ) {
				e = b.Implicit(e, vals[k].Typ)
			}
			row = append(row, e)
		}
		ex.Projections = append(ex.Projections, row)
	}
	if u.IncludeNulls {
		return ex, nil
	}
	var cond expr.Expr
	for _, v := range vals {
		e, err := b.Func("isnotnull", v)
		if err != nil {
			return nil, err
		}
		if cond == nil {
			cond = e
		} else if cond, err = b.Func("or", cond, e); err != nil {
			return nil, err
		}
	}
	return &Filter{Cond: cond, Child: ex}, nil
}
