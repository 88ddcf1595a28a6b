package sql

import "strings"

// queryAhead tells whether, skipping n tokens and then opening parentheses, a keyword stands that
// may begin a query.
func (p *parser) queryAhead(n int) bool {
	for limit := n + maxDepth; n < limit && p.ahead(n).isOp("("); n++ {
	}
	return p.ahead(n).isAny("SELECT", "WITH", "VALUES", "FROM", "TABLE")
}

// query reads a query with its WITH, ORDER BY and the like.
func (p *parser) query() (Query, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if !p.is("WITH") {
		return p.orderedQuery()
	}
	start := p.i
	p.i++
	w := &With{}
	if p.is("RECURSIVE") && p.ahead(1).isName() && !p.ahead(1).isAny("AS") {
		p.i++
		w.Recursive = true
	}
	var err error
	if w.CTEs, err = list(p, p.cte); err != nil {
		return nil, err
	}
	p.checkCTEs(w.CTEs)
	if w.Body, err = p.orderedQuery(); err != nil {
		return nil, err
	}
	w.Span = p.spanFrom(start)
	return w, nil
}

// checkCTEs notes the fault of a name given twice.
func (p *parser) checkCTEs(ctes []CTE) {
	seen := make(map[string]bool, len(ctes))
	for _, c := range ctes {
		key := strings.ToLower(c.Name.Name)
		if seen[key] {
			p.fault(c.Name.Span, "DUPLICATED_CTE_NAMES", "CTE definition can't have duplicate names: %s.", JoinName([]Ident{c.Name}))
		}
		seen[key] = true
	}
}

// cte reads name [(columns)] [MAX RECURSION LEVEL n] [AS] (query).
func (p *parser) cte() (CTE, error) {
	start := p.i
	var c CTE
	var err error
	if c.Name, err = p.wholeIdent(); err != nil {
		return c, err
	}
	if p.isOp("(") && !p.queryAhead(0) {
		if c.Columns, err = p.identList(); err != nil {
			return c, err
		}
	}
	if p.acceptSeq("MAX", "RECURSION", "LEVEL") {
		if c.MaxLevel, err = p.wholeNumberToken(); err != nil {
			return c, err
		}
	}
	p.accept("AS")
	if err := p.expectOp("("); err != nil {
		return c, err
	}
	if c.Query, err = p.query(); err != nil {
		return c, err
	}
	if err := p.expectOp(")"); err != nil {
		return c, err
	}
	c.Span = p.spanFrom(start)
	return c, nil
}

// orderedQuery reads set operations and pipes, and the clauses that order and limit their result.
func (p *parser) orderedQuery() (Query, error) {
	start := p.i
	q, err := p.setOps()
	if err != nil {
		return nil, err
	}
	o, err := p.organization()
	if err != nil || o == nil {
		return q, err
	}
	o.Input, o.Span = q, p.spanFrom(start)
	return o, nil
}

// setOps reads queries between set operations, grouped to the left, and the pipes behind them.
func (p *parser) setOps() (Query, error) {
	start := p.i
	left, err := p.intersections()
	if err != nil {
		return nil, err
	}
	for chain := 0; ; {
		if err := p.chained(&chain); err != nil {
			return nil, err
		}
		if p.acceptOp("|>") {
			op, err := p.pipeOp()
			if err != nil {
				return nil, err
			}
			left = &Pipe{Span: p.spanFrom(start), Input: left, Op: op}
			continue
		}
		kind, ok := p.setOp()
		if !ok {
			return left, nil
		}
		all := p.quantifier()
		operand := p.intersections
		if kind == Intersect {
			operand = p.queryPrimary
		}
		right, err := operand()
		if err != nil {
			return nil, err
		}
		left = &SetOp{Span: p.spanFrom(start), Kind: kind, All: all, Left: left, Right: right}
	}
}

// intersections reads queries between INTERSECTs.
func (p *parser) intersections() (Query, error) {
	start := p.i
	left, err := p.queryPrimary()
	if err != nil {
		return nil, err
	}
	for chain := 0; p.accept("INTERSECT"); {
		if err := p.chained(&chain); err != nil {
			return nil, err
		}
		all := p.quantifier()
		right, err := p.queryPrimary()
		if err != nil {
			return nil, err
		}
		left = &SetOp{Span: p.spanFrom(start), Kind: Intersect, All: all, Left: left, Right: right}
	}
	return left, nil
}

// setOp reads the word of a set operation.
func (p *parser) setOp() (SetOpKind, bool) {
	switch {
	case p.accept("UNION"):
		return Union, true
	case p.accept("EXCEPT"), p.accept("MINUS"):
		return Except, true
	case p.accept("INTERSECT"):
		return Intersect, true
	}
	return 0, false
}

// quantifier reads ALL or DISTINCT and tells whether it was ALL.
func (p *parser) quantifier() bool {
	if p.accept("ALL") {
		return true
	}
	p.accept("DISTINCT")
	return false
}

// queryPrimary reads one operand of set operations.
func (p *parser) queryPrimary() (Query, error) {
	start := p.i
	switch {
	case p.is("SELECT"):
		return p.selectQuery(nil, start)
	case p.is("FROM"):
		return p.fromQuery()
	case p.is("VALUES"):
		v, err := p.values()
		if err != nil {
			return nil, err
		}
		r, err := p.aliased(start, v)
		if err != nil {
			return nil, err
		}
		return &ValuesQuery{Span: p.spanFrom(start), Input: r}, nil
	case p.is("TABLE"):
		p.i++
		at := p.i
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		return &TableQuery{Span: p.spanFrom(start), Table: &Table{Span: p.spanFrom(at), Name: name}}, nil
	case p.isOp("("):
		if err := p.enter(); err != nil {
			return nil, err
		}
		defer p.leave()
		p.i++
		q, err := p.query()
		if err != nil {
			return nil, err
		}
		return q, p.expectOp(")")
	}
	return nil, p.fail("SELECT", "WITH", "FROM", "VALUES", "TABLE", "'('")
}

// fromQuery reads FROM …, alone or with one or more SELECTs behind it; several are put together as
// by UNION ALL.
func (p *parser) fromQuery() (Query, error) {
	start := p.i
	p.i++
	r, err := p.from()
	if err != nil {
		return nil, err
	}
	if !p.is("SELECT") {
		at := p.spanFrom(start)
		return &Select{Span: at, Items: []Expr{&Star{Span: at}}, From: r}, nil
	}
	var all Query
	for chain := 0; p.is("SELECT"); {
		if err := p.chained(&chain); err != nil {
			return nil, err
		}
		q, err := p.selectQuery(r, start)
		if err != nil {
			return nil, err
		}
		o, err := p.organization()
		if err != nil {
			return nil, err
		}
		if o != nil {
			o.Input, o.Span = q, p.spanFrom(start)
			q = o
		}
		if all == nil {
			all = q
		} else {
			all = &SetOp{Span: p.spanFrom(start), Kind: Union, All: true, Left: all, Right: q}
		}
	}
	return all, nil
}

// selectQuery reads SELECT …; from is the relation that a FROM before it gave, or nil.
func (p *parser) selectQuery(from Relation, start int) (Query, error) {
	s := &Select{From: from}
	var err error
	if s.Hints, s.Distinct, s.Items, err = p.selectClause(); err != nil {
		return nil, err
	}
	at := p.i
	if from == nil {
		if p.accept("FROM") {
			if s.From, err = p.from(); err != nil {
				return nil, err
			}
		} else {
			p.could("FROM")
		}
	}
	if s.From, err = p.lateralViews(at, s.From); err != nil {
		return nil, err
	}
	p.could("WHERE")
	if p.accept("WHERE") {
		if s.Where, err = p.expr(); err != nil {
			return nil, err
		}
	}
	p.could("GROUP")
	if p.is("GROUP") && p.ahead(1).word == "BY" {
		if s.GroupBy, err = p.groupBy(p.expr); err != nil {
			return nil, err
		}
	}
	if p.accept("HAVING") {
		if s.Having, err = p.expr(); err != nil {
			return nil, err
		}
	}
	var qualify Expr
	if p.accept("QUALIFY") {
		if qualify, err = p.expr(); err != nil {
			return nil, err
		}
	}
	if s.Windows, err = p.windowClause(); err != nil {
		return nil, err
	}
	s.Span = p.spanFrom(start)
	if qualify != nil {
		if !hasOver(append([]Expr{qualify}, s.Items...)) {
			p.fault(qualify.At(), "QUALIFY_REQUIRES_WINDOW_FUNCTION", "QUALIFY needs a window function in it or in the select list; use WHERE or HAVING")
		}
		return qualified(s, qualify), nil
	}
	return s, nil
}

// hasOver tells whether a window function stands in expressions.
func hasOver(in []Expr) bool {
	found := false
	for _, x := range in {
		Walk(x, func(n Node) bool {
			if c, ok := n.(*Call); ok && c.Over != nil {
				found = true
			}
			return !found
		})
	}
	return found
}

// qualified is a SELECT whose rows are filtered by QUALIFY, which sees window functions and the names of the select list: the
// condition is a column more, by which a SELECT around it filters.
func qualified(s *Select, cond Expr) Query {
	at := cond.At()
	hidden := []Ident{{Span: at, Name: "__qualify", Quoted: true}}
	inner := *s
	inner.Distinct = false
	inner.Items = append(append([]Expr{}, s.Items...), &Alias{Span: at, X: cond, Names: hidden})
	return &Select{
		Span: s.Span, Distinct: s.Distinct, Items: []Expr{&Star{Span: s.Span, Except: [][]Ident{hidden}}},
		From: &Derived{Span: s.Span, Query: &inner}, Where: &Column{Span: at, Parts: hidden},
	}
}

// selectClause reads SELECT with its hints, DISTINCT and the select list.
func (p *parser) selectClause() (hints []Hint, distinct bool, items []Expr, err error) {
	p.i++
	for p.peek().kind == tokHintStart {
		hs, err := p.hints()
		if err != nil {
			return nil, false, nil, err
		}
		hints = append(hints, hs...)
	}
	if after := p.ahead(1); p.isAny("DISTINCT", "ALL") && after.kind != tokEOF && after.word != "FROM" &&
		!after.isOp(",") && !after.isOp(")") && !after.isOp(".") {
		distinct = p.next().word == "DISTINCT"
	}
	items, err = list(p, p.named)
	return hints, distinct, items, err
}

// hints reads /*+ a, b(x) */.
func (p *parser) hints() ([]Hint, error) {
	p.i++
	var out []Hint
	for {
		start := p.i
		var h Hint
		var err error
		if h.Name, err = p.ident(); err != nil {
			return nil, err
		}
		if p.acceptOp("(") {
			if h.Args, err = list(p, p.primary); err != nil {
				return nil, err
			}
			if err := p.expectOp(")"); err != nil {
				return nil, err
			}
		}
		h.Span = p.spanFrom(start)
		out = append(out, h)
		if p.peek().kind == tokHintEnd {
			p.i++
			return out, nil
		}
		p.acceptOp(",")
	}
}

// groupBy reads GROUP BY with its items, each read by item.
func (p *parser) groupBy(item func() (Expr, error)) (*GroupBy, error) {
	start := p.i
	p.i += 2
	g := &GroupBy{}
	items, err := list(p, func() (Expr, error) {
		if p.groupingAhead() {
			return p.grouping()
		}
		return item()
	})
	if err != nil {
		return nil, err
	}
	g.Items = items
	at := p.i
	switch {
	case p.acceptSeq("WITH", "ROLLUP"):
		g.Items = []Expr{&GroupingSets{Span: p.spanFrom(at), Kind: Rollup, Sets: singles(items)}}
	case p.acceptSeq("WITH", "CUBE"):
		g.Items = []Expr{&GroupingSets{Span: p.spanFrom(at), Kind: Cube, Sets: singles(items)}}
	case p.is("GROUPING") && p.ahead(1).word == "SETS":
		x, err := p.grouping()
		if err != nil {
			return nil, err
		}
		x.(*GroupingSets).Base = items
		g.Items = []Expr{x}
	}
	if len(g.Items) == 1 && isAllWord(g.Items[0]) {
		g.All, g.Items = true, nil
	}
	g.Span = p.spanFrom(start)
	return g, nil
}

// isAllWord tells whether the expression is the bare word ALL.
func isAllWord(x Expr) bool {
	c, ok := x.(*Column)
	return ok && len(c.Parts) == 1 && c.Parts[0].IsWord("ALL")
}

func singles(xs []Expr) [][]Expr {
	out := make([][]Expr, len(xs))
	for i, x := range xs {
		out[i] = []Expr{x}
	}
	return out
}

func (p *parser) groupingAhead() bool {
	switch p.peek().word {
	case "ROLLUP", "CUBE":
		return p.ahead(1).isOp("(")
	case "GROUPING":
		return p.ahead(1).word == "SETS" && p.ahead(2).isOp("(")
	}
	return false
}

// grouping reads ROLLUP(…), CUBE(…) or GROUPING SETS(…).
func (p *parser) grouping() (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	start := p.i
	g := &GroupingSets{}
	switch p.next().word {
	case "CUBE":
		g.Kind = Cube
	case "GROUPING":
		g.Kind = Sets
		p.i++
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	var err error
	g.Sets, err = list(p, func() ([]Expr, error) {
		if g.Kind == Sets && p.groupingAhead() {
			x, err := p.grouping()
			return []Expr{x}, err
		}
		return p.groupingSet()
	})
	if err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	g.Span = p.spanFrom(start)
	return g, nil
}

// groupingSet reads (a, b), () or a single expression.
func (p *parser) groupingSet() ([]Expr, error) {
	if p.isOp("(") && p.ahead(1).isOp(")") {
		p.i += 2
		return []Expr{}, nil
	}
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	if r, ok := x.(*Row); ok {
		return r.Items, nil
	}
	return []Expr{x}, nil
}

// windowClause reads WINDOW a AS (…), b AS ….
func (p *parser) windowClause() ([]NamedWindow, error) {
	if !p.is("WINDOW") || !p.ahead(1).isName() || p.ahead(2).word != "AS" {
		return nil, nil
	}
	p.i++
	return list(p, func() (NamedWindow, error) {
		start := p.i
		var w NamedWindow
		var err error
		if w.Name, err = p.wholeIdent(); err != nil {
			return w, err
		}
		if err := p.expect("AS"); err != nil {
			return w, err
		}
		if w.Spec, err = p.windowSpec(); err != nil {
			return w, err
		}
		w.Span = p.spanFrom(start)
		return w, nil
	})
}

// organization reads ORDER BY, CLUSTER BY, DISTRIBUTE BY, SORT BY, WINDOW, LIMIT and OFFSET; nil if
// there is none of them.
func (p *parser) organization() (*Ordered, error) {
	start := p.i
	o := &Ordered{}
	var err error
	p.could("ORDER", "LIMIT")
	if p.acceptSeq("ORDER", "BY") {
		items, err := list(p, p.sortItem)
		if err != nil {
			return nil, err
		}
		if len(items) == 1 && isAllWord(items[0].X) {
			items[0].X = nil
			o.OrderByAll = &items[0]
		} else {
			o.OrderBy = items
		}
	}
	if p.acceptSeq("CLUSTER", "BY") {
		if o.ClusterBy, err = list(p, p.expr); err != nil {
			return nil, err
		}
	}
	if p.acceptSeq("DISTRIBUTE", "BY") {
		if o.DistributeBy, err = list(p, p.expr); err != nil {
			return nil, err
		}
	}
	if p.acceptSeq("SORT", "BY") {
		if o.SortBy, err = list(p, p.sortItem); err != nil {
			return nil, err
		}
	}
	if p.combined(o) {
		p.fault(p.spanFrom(start), "UNSUPPORTED_FEATURE.COMBINATION_QUERY_RESULT_CLAUSES",
			"The feature is not supported: Combination of ORDER BY/SORT BY/DISTRIBUTE BY/CLUSTER BY.")
	}
	if o.Windows, err = p.windowClause(); err != nil {
		return nil, err
	}
	if p.accept("LIMIT") && !p.accept("ALL") {
		if o.Limit, err = p.expr(); err != nil {
			return nil, err
		}
	}
	if p.accept("OFFSET") {
		if o.Offset, err = p.expr(); err != nil {
			return nil, err
		}
	}
	if p.i == start {
		return nil, nil
	}
	o.Span = p.spanFrom(start)
	return o, nil
}

// combined tells whether clauses stand together that exclude one another: only DISTRIBUTE BY and
// SORT BY may be combined.
func (p *parser) combined(o *Ordered) bool {
	n := 0
	for _, has := range []bool{
		o.OrderByAll != nil || len(o.OrderBy) > 0,
		len(o.ClusterBy) > 0,
		len(o.DistributeBy) > 0 || len(o.SortBy) > 0,
	} {
		if has {
			n++
		}
	}
	return n > 1
}
