package plan

import (
	"cmp"
	"strings"

	"github.com/wstream/wstream/columnar"
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
	cols := make([]expr.Expr, len(pv.Columns))
	for i := range pv.Columns {
		col, err := a.column(s, pv.Columns[i:i+1])
		if err != nil {
			return nil, err
		}
		if col == nil {
			return nil, unknownColumn(s, pv.Columns[i:i+1])
		}
		cols[i] = col
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
	for _, col := range cols {
		note(col)
	}
	type value struct {
		parts []expr.Expr // one for each column
		name  string
	}
	seen := map[string]bool{}
	var values []value
	for _, v := range pv.Values {
		name := ""
		if al, ok := v.(*sql.Alias); ok {
			name, v = al.Names[0].Name, al.X
		}
		parts, text, err := a.pivotValue(v, s, len(cols))
		if err != nil {
			return nil, err
		}
		if seen[text] {
			return nil, sparkerr.At(p.Line, p.Col, "INVALID_ARRAY_INDEX", "PIVOT has the value %s twice", text)
		}
		seen[text] = true
		values = append(values, value{parts, cmp.Or(name, text)})
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
	plainPivot := true // Spark has another plan, without those NULLs, where a result is no number and no BOOLEAN
	for _, c := range calls {
		t := c.expr.Type()
		plainPivot = plainPivot && (t.IsNumeric() || t.Kind == columnar.KindBool)
	}
	for _, v := range values {
		var cond expr.Expr
		for i, col := range cols {
			c, err := a.binder(pv).Func("<=>", col, v.parts[i])
			if err != nil {
				return nil, err
			}
			cond = a.and(cond, c)
		}
		for _, c := range calls {
			e := expr.Transform(unalias(c.expr), func(x expr.Expr) expr.Expr {
				if g, ok := x.(expr.Aggregate); ok {
					return expr.WithFilter(g, a.and(g.Call().Filter, cond))
				}
				return x
			})
			e, err := agg.rewrite(e, c.at)
			if err != nil {
				return nil, err
			}
			if !e.Nullable() && plainPivot { // a count, say: a group without the value has NULL, not 0
				if e, err = a.pivotPresent(pv, agg, cond, e, c.at); err != nil {
					return nil, err
				}
			}
			if at, ok := e.(*expr.Attr); ok { // a group without the value has NULL in Spark's plan
				c := *at
				c.Null = true
				e = &c
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

// pivotValue gives the parts of a value of PIVOT, one for each column, and its text, which is the column's name.
// pivotPresent is e where the group has a row with the value of PIVOT that cond asks for, and NULL elsewhere.
func (a *Analyzer) pivotPresent(pv *sql.Pivot, agg *aggregation, cond, e expr.Expr, at sql.Node) (expr.Expr, error) {
	b := a.binder(pv)
	one := &expr.Literal{Typ: columnar.Int32, Value: int32(1)}
	n, err := b.Func("count", one)
	if err != nil {
		return nil, err
	}
	if g, ok := n.(expr.Aggregate); ok {
		n = expr.WithFilter(g, cond)
	}
	if n, err = agg.rewrite(n, at); err != nil {
		return nil, err
	}
	some, err := b.Func(">", n, &expr.Literal{Typ: columnar.Int64, Value: int64(0)})
	if err != nil {
		return nil, err
	}
	return b.Func("if", some, e, &expr.Literal{Typ: e.Type()})
}

func (a *Analyzer) pivotValue(v sql.Expr, s *scope, columns int) ([]expr.Expr, string, error) {
	p := v.At()
	items := []sql.Expr{v}
	if row, ok := v.(*sql.Row); ok && columns > 1 {
		items = row.Items
	}
	if len(items) != columns {
		return nil, "", sparkerr.At(p.Line, p.Col, "PIVOT_VALUE_DATA_TYPE_MISMATCH", "a value of PIVOT has %d parts, expected %d", len(items), columns)
	}
	var parts []expr.Expr
	var texts []string
	for _, it := range items {
		e, err := a.expr(it, s)
		if err != nil {
			return nil, "", err
		}
		e = unalias(e)
		d, err := a.constantOf(e)
		if err != nil {
			return nil, "", sparkerr.At(p.Line, p.Col, "NON_LITERAL_PIVOT_VALUES", "literal expressions are required for pivot values, found %q", e.SQL())
		}
		text := "null"
		if d != nil {
			t, err := a.constantOf(a.implicitCast(e, columnar.String))
			if err != nil {
				return nil, "", err
			}
			text, _ = t.(string)
		}
		parts = append(parts, &expr.Literal{Typ: e.Type(), Value: d})
		texts = append(texts, text)
	}
	if columns > 1 {
		return parts, "{" + strings.Join(texts, ", ") + "}", nil
	}
	return parts, texts[0], nil
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
			if t = b.CommonTypeNoStrings(t, set[k].Type()); t == nil {
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
