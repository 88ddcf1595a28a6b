package plan

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
)

// SingleRow passes its input through and fails when that has more than one row; without rows it
// gives one row of nulls. It stands above scalar subqueries.
type SingleRow struct{ Child Node }

// Output implements Node.
func (n *SingleRow) Output() []*expr.Attr { return nullable(n.Child.Output()) }

// Children implements Node.
func (n *SingleRow) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *SingleRow) WithChildren(c []Node) Node { return &SingleRow{c[0]} }

// Name implements Node.
func (*SingleRow) Name() string { return "SingleRow" }

// subqueryExpr is a subquery in an expression, before it becomes a join.
type subqueryExpr struct {
	kind  string // "scalar", "exists" or "in"
	not   bool   // NOT IN
	probe expr.Expr
	plan  Node
	conds []expr.Expr // correlated conditions, with outerRef for the outer side
	raw   Node        // the plan with outer columns in it, where it has some
	fault error       // why the conditions could not be taken out of raw
	at    sql.Node
}

func (q *subqueryExpr) Type() *columnar.Type {
	if q.kind == "scalar" {
		return q.plan.Output()[0].Typ
	}
	return columnar.Bool
}
func (q *subqueryExpr) Nullable() bool { return q.kind != "exists" }
func (q *subqueryExpr) Children() []expr.Expr {
	if q.probe != nil {
		return []expr.Expr{q.probe}
	}
	return nil
}

func (q *subqueryExpr) WithChildren(c []expr.Expr) expr.Expr {
	out := *q
	if q.probe != nil {
		out.probe = c[0]
	}
	return &out
}

func (q *subqueryExpr) SQL() string {
	switch q.kind {
	case "scalar":
		return "scalarsubquery(" + q.outerNames() + ")"
	case "exists":
		return "exists(" + q.outerNames() + ")"
	}
	return "(" + q.probe.SQL() + " IN (listquery(" + q.outerNames() + ")))"
}

// outerNames are the names of the outer columns that the subquery uses.
func (q *subqueryExpr) outerNames() string {
	if q.raw == nil {
		return ""
	}
	var names []string
	seen := map[expr.AttrID]bool{}
	Walk(q.raw, func(m Node) bool {
		for _, e := range nodeExprs(m) {
			expr.Walk(e, func(x expr.Expr) bool {
				if o, ok := x.(*outerRef); ok && !seen[o.Attr.ID] {
					seen[o.Attr.ID] = true
					names = append(names, o.SQL())
				}
				return true
			})
		}
		return true
	})
	return strings.Join(names, ", ")
}

func (q *subqueryExpr) Eval(*expr.Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errMarker(q.SQL())
}

// subplan analyses a subquery and takes its correlated conditions out, where they stand in its WHERE. Elsewhere it needs
// the rows of the query around it (see decorrelate).
func (a *Analyzer) subplan(q sql.Query, s *scope, sub *subqueryExpr) error {
	outer := *s
	n, err := a.query(q, s.ctes, &outer)
	if err != nil {
		return err
	}
	if IsStreaming(n) {
		p := sub.at.At()
		return sparkerr.At(p.Line, p.Col, "INVALID_SUBQUERY_EXPRESSION.STREAMING_QUERY", "invalid subquery: streaming query is not allowed in subquery expressions")
	}
	sub.plan = n
	pulled, conds, err := a.pullUp(n, sub.at)
	switch {
	case err != nil:
		sub.raw, sub.fault = n, err
	case len(conds) > 0:
		sub.raw, sub.plan, sub.conds = n, pulled, conds
	}
	return nil
}

// globalAggregate tells whether n has an aggregation that gives a row for no input: as one by the columns that its
// conditions compare it would give none.
func globalAggregate(n Node) bool {
	found := false
	Walk(n, func(m Node) bool {
		if g, ok := m.(*Aggregate); ok && len(g.Keys) == 0 {
			found = true
		}
		return !found
	})
	return found
}

// settle gives the plan and the conditions of a subquery in a query over outer.
func (a *Analyzer) settle(q *subqueryExpr, outer Node) error {
	if q.fault == nil && (q.raw == nil || !globalAggregate(q.raw) || IsStreaming(outer)) {
		return nil
	}
	n, conds, err := a.decorrelate(q.raw, outer, q.at)
	if err != nil || len(conds) == 0 {
		return q.fault
	}
	q.plan, q.conds, q.fault = n, conds, nil
	return nil
}

func (a *Analyzer) scalarSubquery(x *sql.Subquery, s *scope) (expr.Expr, error) {
	q := &subqueryExpr{kind: "scalar", at: x}
	if err := a.subplan(x.Query, s, q); err != nil {
		return nil, err
	}
	n := q.raw
	if n == nil {
		n = q.plan
	}
	if c := len(n.Output()); c != 1 {
		p := x.At()
		return nil, sparkerr.At(p.Line, p.Col, "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN", "invalid subquery: scalar subquery must return only one column, but got %d", c)
	}
	return q, nil
}

func (a *Analyzer) exists(x *sql.Exists, s *scope) (expr.Expr, error) {
	q := &subqueryExpr{kind: "exists", at: x}
	return q, a.subplan(x.Query, s, q)
}

func (a *Analyzer) inQuery(x *sql.InQuery, s *scope) (expr.Expr, error) {
	e, err := a.expr(x.X, s)
	if err != nil {
		return nil, err
	}
	q := &subqueryExpr{kind: "in", not: x.Not, probe: unalias(e), at: x}
	return q, a.subplan(x.Query, s, q)
}

func hasOuter(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if _, ok := x.(*outerRef); ok {
			found = true
		}
		return !found
	})
	return found
}

// nodeExprs are the expressions that a node computes with.
func nodeExprs(n Node) []expr.Expr {
	switch n := n.(type) {
	case *Project:
		return n.Exprs
	case *Filter:
		return []expr.Expr{n.Cond}
	case *Aggregate:
		return append(append([]expr.Expr{}, n.Keys...), n.Exprs...)
	case *Join:
		if n.Cond != nil {
			return []expr.Expr{n.Cond}
		}
	case *Sort:
		var out []expr.Expr
		for _, k := range n.Keys {
			out = append(out, k.Expr)
		}
		return out
	case *Generate:
		return []expr.Expr{n.Generator}
	case *TimeWindow:
		return []expr.Expr{n.Time}
	case *SessionWindow:
		return []expr.Expr{n.Time, n.Gap}
	case *Window:
		return n.Exprs
	case *Expand:
		var out []expr.Expr
		for _, p := range n.Projections {
			out = append(out, p...)
		}
		return out
	}
	return nil
}

// pullUp takes the filters that mention outer columns out of a subquery's plan. The columns that
// they use are kept in the outputs on the way; an Aggregate on the way gets them as keys.
func (a *Analyzer) pullUp(n Node, at sql.Node) (Node, []expr.Expr, error) {
	p := at.At()
	correlated := false
	Walk(n, func(m Node) bool {
		for _, e := range nodeExprs(m) {
			correlated = correlated || hasOuter(e)
		}
		return !correlated
	})
	if !correlated {
		return n, nil, nil
	}
	bad := func() error {
		return sparkerr.At(p.Line, p.Col, "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.ACCESSING_OUTER_QUERY_COLUMN_IS_NOT_ALLOWED", "accessing outer query column is not allowed in this location of a subquery; only its WHERE may compare with outer columns")
	}
	var conds []expr.Expr
	var walk func(n Node) (Node, error)
	walk = func(n Node) (Node, error) {
		switch m := n.(type) {
		case *Filter:
			c, err := walk(m.Child)
			if err != nil {
				return nil, err
			}
			var keep expr.Expr
			for _, e := range expr.SplitAnd(m.Cond) {
				if hasOuter(e) {
					conds = append(conds, e)
				} else {
					keep = a.and(keep, e)
				}
			}
			if keep == nil {
				return c, nil
			}
			return &Filter{Cond: keep, Child: c}, nil
		case *Project:
			c, err := walk(m.Child)
			if err != nil {
				return nil, err
			}
			// Outer columns may stand in the projection itself only when it is the last one.
			exprs := append([]expr.Expr{}, m.Exprs...)
			have := map[expr.AttrID]bool{}
			for _, e := range exprs {
				have[NamedAttr(e).ID] = true
				if hasOuter(e) {
					return nil, bad()
				}
			}
			exprs = append(exprs, carry(conds, c, have)...)
			return &Project{Exprs: exprs, Child: c}, nil
		case *Alias:
			c, err := walk(m.Child)
			if err != nil {
				return nil, err
			}
			have := map[expr.AttrID]bool{}
			attrs := append([]*expr.Attr{}, m.Attrs...)
			for _, at := range attrs {
				have[at.ID] = true
			}
			for _, e := range carry(conds, c, have) {
				attrs = append(attrs, e.(*expr.Attr))
			}
			return &Alias{Relation: m.Relation, Attrs: attrs, Child: c}, nil
		case *Aggregate:
			c, err := walk(m.Child)
			if err != nil {
				return nil, err
			}
			for _, cond := range conds {
				if _, _, _, ok := expr.EqOperands(cond); !ok && len(carry([]expr.Expr{cond}, c, map[expr.AttrID]bool{})) > 0 {
					return nil, sparkerr.At(p.Line, p.Col, "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.CORRELATED_COLUMN_IS_NOT_ALLOWED_IN_PREDICATE",
						"below an aggregate a subquery may compare with outer columns for equality only: %s", cond.SQL())
				}
			}
			out := *m
			out.Child = c
			have := map[expr.AttrID]bool{}
			for _, k := range m.Keys {
				have[NamedAttr(k).ID] = true
			}
			for _, e := range carry(conds, c, have) {
				out.Keys = append(append([]expr.Expr{}, out.Keys...), e)
				out.Exprs = append(append([]expr.Expr{}, out.Exprs...), e)
			}
			return &out, nil
		}
		for _, e := range nodeExprs(n) {
			if hasOuter(e) {
				return nil, bad()
			}
		}
		kids := n.Children()
		if len(kids) == 1 {
			switch n.(type) {
			case *Sort, *Dedup, *Generate, *TimeWindow:
				c, err := walk(kids[0])
				if err != nil {
					return nil, err
				}
				return n.WithChildren([]Node{c}), nil
			}
		}
		for _, k := range kids {
			inner := false
			Walk(k, func(m Node) bool {
				for _, e := range nodeExprs(m) {
					inner = inner || hasOuter(e)
				}
				return true
			})
			if inner {
				return nil, bad()
			}
		}
		return n, nil
	}
	out, err := walk(n)
	return out, conds, err
}

// carry are the columns of n that conds use and that are not in have.
func carry(conds []expr.Expr, n Node, have map[expr.AttrID]bool) []expr.Expr {
	byID := map[expr.AttrID]*expr.Attr{}
	for _, o := range n.Output() {
		byID[o.ID] = o
	}
	var out []expr.Expr
	for _, c := range conds {
		expr.Walk(c, func(x expr.Expr) bool {
			if at, ok := x.(*expr.Attr); ok && !have[at.ID] && byID[at.ID] != nil {
				have[at.ID] = true
				out = append(out, byID[at.ID])
			}
			return true
		})
	}
	return out
}

// toInner puts the plain columns in place of outer references: in a join both sides are inputs.
func toInner(e expr.Expr) expr.Expr {
	return expr.Transform(e, func(x expr.Expr) expr.Expr {
		if o, ok := x.(*outerRef); ok {
			return o.Attr
		}
		return x
	})
}

// filter puts a condition over n; its subqueries become semi and anti joins where they stand
// alone between ANDs, and joins with a mark elsewhere.
func (a *Analyzer) filter(cond expr.Expr, n Node, s *scope) (Node, error) {
	var rest expr.Expr
	for _, c := range expr.SplitAnd(cond) {
		not, q := false, c
		if x, ok := expr.NotOperand(c); ok {
			not, q = true, x
		}
		sq, ok := q.(*subqueryExpr)
		if !ok || sq.kind == "scalar" {
			rest = a.and(rest, c)
			continue
		}
		anti := not != (sq.kind == "in" && sq.not)
		j, err := a.semiJoin(sq, anti, n)
		if err != nil {
			return nil, err
		}
		n = j
	}
	if rest == nil {
		return n, nil
	}
	before := n.Output()
	exprs := []expr.Expr{rest}
	n2, es, err := a.scalarSubqueries(exprs, n)
	if err != nil {
		return nil, err
	}
	if n2 == n {
		return &Filter{Cond: rest, Child: n}, nil
	}
	var back []expr.Expr
	for _, o := range before {
		back = append(back, o)
	}
	return &Project{Exprs: back, Child: &Filter{Cond: es[0], Child: n2}}, nil
}

func (a *Analyzer) semiJoin(q *subqueryExpr, anti bool, n Node) (Node, error) {
	kind := LeftSemi
	if anti {
		kind = LeftAnti
	}
	if err := a.settle(q, n); err != nil {
		return nil, err
	}
	j := &Join{Kind: kind, Left: n, Right: q.plan, ID: -1}
	if q.kind == "in" {
		cond, err := a.inCondition(q)
		if err != nil {
			return nil, err
		}
		j.Cond = cond
		j.NullAware = anti
	}
	for _, c := range q.conds {
		j.Cond = a.and(j.Cond, toInner(c))
	}
	return j, nil
}

// inCondition compares the probe with the subquery's columns.
func (a *Analyzer) inCondition(q *subqueryExpr) (expr.Expr, error) {
	p := q.at.At()
	out := q.plan.Output()
	width := len(out)
	if len(q.conds) > 0 { // carried columns stand behind
		width = 1
		if q.probe.Type().Kind == columnar.KindStruct {
			width = len(q.probe.Type().Fields)
		}
	}
	if width == 1 || q.probe.Type().Kind != columnar.KindStruct || len(q.probe.Type().Fields) != width {
		if width != 1 {
			return nil, sparkerr.At(p.Line, p.Col, "DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH", "the number of columns in the left hand side of an IN subquery does not match the number of columns in its output: 1 and %d", width)
		}
		e, err := a.binder(q.at).Func("=", q.probe, out[0])
		return e, err
	}
	var cond expr.Expr
	for i, f := range q.probe.Type().Fields {
		l, err := a.binder(q.at).GetField(q.probe, f.Name)
		if err != nil {
			return nil, err
		}
		e, err := a.binder(q.at).Func("=", l, out[i])
		if err != nil {
			return nil, err
		}
		cond = a.and(cond, e)
	}
	return cond, nil
}

// scalarSubqueries joins the subqueries that stand in exprs to n and puts their columns in place.
func (a *Analyzer) scalarSubqueries(exprs []expr.Expr, n Node) (Node, []expr.Expr, error) {
	var fail error
	out := make([]expr.Expr, len(exprs))
	for i, e := range exprs {
		out[i] = expr.Transform(e, func(x expr.Expr) expr.Expr {
			q, ok := x.(*subqueryExpr)
			if !ok || fail != nil {
				return x
			}
			at, m, err := a.joinSubquery(q, n)
			if err != nil {
				fail = err
				return x
			}
			n = m
			return at
		})
	}
	return n, out, fail
}

func (a *Analyzer) joinSubquery(q *subqueryExpr, n Node) (expr.Expr, Node, error) {
	if q.kind != "scalar" {
		return a.markJoin(q, n)
	}
	if q.raw != nil && !IsStreaming(n) {
		return a.joinScalar(q, n)
	}
	if err := a.settle(q, n); err != nil {
		return nil, nil, err
	}
	col := q.plan.Output()[0]
	if len(q.conds) == 0 {
		one := &SingleRow{Child: q.plan}
		return one.Output()[0], &Join{Kind: Cross, Left: n, Right: one, ID: -1}, nil
	}
	j := &Join{Kind: LeftJoin, Left: n, Right: q.plan, ID: -1}
	for _, c := range q.conds {
		j.Cond = a.and(j.Cond, toInner(c))
	}
	at := *col
	at.Null = true
	var e expr.Expr = &at
	if agg, ok := lastAggregate(q.plan); ok && isCount(agg) {
		// COUNT of no rows is 0, also where the outer join found none.
		c, err := a.binder(q.at).Func("coalesce", &at, &expr.Literal{Typ: columnar.Int64, Value: int64(0)})
		if err != nil {
			return nil, nil, err
		}
		e = c
	}
	return e, j, nil
}

// joinScalar joins a correlated scalar subquery to a bounded input.
func (a *Analyzer) joinScalar(q *subqueryExpr, n Node) (expr.Expr, Node, error) {
	right, conds, err := a.decorrelate(q.raw, n, q.at)
	if err != nil {
		return nil, nil, err
	}
	if len(conds) == 0 { // it uses columns of a query further out
		p := q.at.At()
		return nil, nil, sparkerr.At(p.Line, p.Col, "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.ACCESSING_OUTER_QUERY_COLUMN_IS_NOT_ALLOWED", "a subquery may use columns of the query around it, not of one further out")
	}
	var keys []*expr.Attr
	j := &Join{Kind: LeftJoin, Left: n, ID: -1}
	for _, c := range conds {
		keys = append(keys, c.Children()[1].(*expr.Attr))
		j.Cond = a.and(j.Cond, toInner(c))
	}
	at := *q.raw.Output()[0]
	at.Null = true
	var value expr.Expr = &at
	if !oneRowEach(right, len(keys)) {
		if right, value, err = a.single(right, keys, q.at); err != nil {
			return nil, nil, err
		}
	}
	j.Right = right
	return value, j, nil
}

func lastAggregate(n Node) (*Aggregate, bool) {
	for {
		switch m := n.(type) {
		case *Project:
			n = m.Child
		case *Alias:
			n = m.Child
		case *Aggregate:
			return m, true
		default:
			return nil, false
		}
	}
}

func isCount(n *Aggregate) bool {
	for _, e := range n.Exprs {
		if c, ok := unalias(e).(expr.Aggregate); ok {
			return c.Name() == "count"
		}
	}
	return false
}

// markJoin computes EXISTS or IN as a column: the subquery's distinct matches, joined from the left.
func (a *Analyzer) markJoin(q *subqueryExpr, n Node) (expr.Expr, Node, error) {
	if err := a.settle(q, n); err != nil {
		return nil, nil, err
	}
	mark := &expr.Alias{Child: &expr.Literal{Typ: columnar.Bool, Value: true}, Name: "exists", ID: a.NewID()}
	cond := expr.Expr(nil)
	if q.kind == "in" {
		c, err := a.inCondition(q)
		if err != nil {
			return nil, nil, err
		}
		cond = c
		if q.not { // what may be equal, for all that is known, is in the set
			if cond, err = a.binder(q.at).Func("coalesce", c, &expr.Literal{Typ: columnar.Bool, Value: true}); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, c := range q.conds {
		cond = a.and(cond, toInner(c))
	}
	var keys []expr.Expr
	for _, o := range q.plan.Output() {
		keys = append(keys, o)
	}
	var right Node = &Project{Exprs: append(keys, mark), Child: q.plan}
	if q.kind == "exists" && len(q.conds) == 0 {
		right = &Limit{Count: 1, Child: &Project{Exprs: []expr.Expr{mark}, Child: q.plan}, ID: -1}
	}
	j := &Join{Kind: LeftJoin, Once: true, Left: n, Right: right, Cond: cond, ID: -1}
	at := NamedAttr(mark)
	at.Null = true
	e, err := a.binder(q.at).Func("coalesce", at, &expr.Literal{Typ: columnar.Bool, Value: false})
	if err == nil && q.not {
		e, err = a.binder(q.at).Func("not", e)
	}
	if err != nil {
		return nil, nil, err
	}
	return e, j, nil
}
