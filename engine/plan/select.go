package plan

import (
	"errors"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
)

// item is an analysed item of a SELECT list: one expression with its name, which is an Attr, an
// Alias, or a generator with the names of its columns.
type item struct {
	expr  expr.Expr
	names []string // AS (a, b) of a generator
	at    sql.Node
}

// selected is an analysed SELECT before ORDER BY: the node, and what ORDER BY may still refer to.
type selected struct {
	node   Node
	inner  *scope       // columns below the projection
	pre    Node         // the node below the projection
	exprs  []expr.Expr  // of the projection
	agg    *aggregation // when there is one
	items  []item
	unique bool // SELECT DISTINCT
}

// selectQuery analyses a SELECT. in is the input when it comes from a pipe, else nil.
func (a *Analyzer) selectQuery(q *sql.Select, in *from, ctes *cteScope, outer *scope) (Node, *selected, error) {
	var err error
	f := in
	if f == nil {
		if f, err = a.from(q.From, ctes, outer); err != nil {
			return nil, nil, err
		}
	}
	node := f.node
	s := &scope{attrs: f.visible, hidden: f.hidden, ctes: ctes, outer: outer, windows: map[string]*sql.WindowSpec{}}
	if outer != nil {
		s.windows = map[string]*sql.WindowSpec{}
	}
	for i := range q.Windows {
		s.windows[strings.ToLower(q.Windows[i].Name.Name)] = q.Windows[i].Spec
	}
	if q.Where != nil {
		var added []*expr.Attr
		if node, added, err = a.where(q.Where, node, s); err != nil {
			return nil, nil, err
		}
		if len(added) > 0 { // as in Spark the window is a column of what the condition leaves
			seen := *f
			seen.node, seen.visible = node, concat(added, f.visible)
			f, s.attrs = &seen, seen.visible
		}
	}
	sel := &selected{inner: s, unique: q.Distinct}

	// Time windows come first: the columns that they add have names that other items may use.
	var group []expr.Expr
	var sets [][]int
	grouped := q.GroupBy != nil
	var groupAST []sql.Expr
	if grouped && !q.GroupBy.All {
		var setAST [][]sql.Expr
		groupAST, setAST = flattenGrouping(q.GroupBy.Items)
		if setAST != nil {
			if sets, err = a.groupingSets(groupAST, setAST); err != nil {
				return nil, nil, err
			}
		}
	}
	var markers []expr.Expr
	var windowFault error
	if grouped {
		for _, g := range groupAST {
			e, err := a.tryTimeWindow(g, s)
			if err != nil {
				windowFault = err
			}
			if e != nil {
				markers = append(markers, e)
			}
		}
		if len(markers) > 0 {
			if node, err = a.addTimeWindows(markers, node, s); err != nil {
				return nil, nil, err
			}
		}
	}
	items, err := a.selectItems(q.Items, s, f)
	if err != nil {
		var missing *sparkerr.Error
		if windowFault != nil && errors.As(err, &missing) && missing.Cause == nil && strings.HasPrefix(missing.Condition, "UNRESOLVED_COLUMN") {
			missing.Cause = windowFault
		}
		return nil, nil, err
	}
	if grouped && q.GroupBy.All {
		for _, it := range items {
			if !hasAggregate(it.expr) {
				group = append(group, unalias(it.expr))
			}
		}
	} else if grouped {
		if group, err = a.groupKeys(groupAST, items, s); err != nil {
			return nil, nil, err
		}
	}
	var having expr.Expr
	aggregated := grouped
	for _, it := range items {
		aggregated = aggregated || hasAggregate(it.expr)
	}
	if q.Having != nil {
		aggregated = true // HAVING without GROUP BY is over one global group
		hs := *s
		hs.lateral = aliasesOf(items)
		if having, err = a.expr(q.Having, &hs); err != nil {
			return nil, nil, err
		}
		having = substituteLateral(having)
		if having, err = a.condition(having, q.Having, "HAVING"); err != nil {
			return nil, nil, err
		}
	}
	// Time windows that stand in the items alone.
	var late []expr.Expr
	for _, it := range items {
		late = append(late, timeMarkers(it.expr)...)
	}
	for _, g := range group {
		late = append(late, timeMarkers(g)...)
	}
	if len(late) > 0 {
		if node, err = a.addTimeWindows(late, node, s); err != nil {
			return nil, nil, err
		}
		for i := range items {
			items[i].expr = s.replaceMarkers(items[i].expr)
		}
		for i := range group {
			group[i] = s.replaceMarkers(group[i])
		}
		if having != nil {
			having = s.replaceMarkers(having)
		}
	}
	if aggregated {
		agg := &aggregation{a: a, keys: map[string]*expr.Attr{}}
		if err := groupable(group); err != nil {
			return nil, nil, err
		}
		agg.build(group, sets, node, s)
		sel.agg = agg
		for i := range items {
			if items[i].expr, err = agg.rewrite(items[i].expr, items[i].at); err != nil {
				if c := sparkerr.Condition(err); grouped && q.GroupBy.All && (c == "MISSING_GROUP_BY" || c == "MISSING_AGGREGATION") {
					p := q.GroupBy.At()
					err = sparkerr.At(p.Line, p.Col, "UNRESOLVED_ALL_IN_GROUP_BY", "cannot infer grouping columns for GROUP BY ALL based on the SELECT clause. Specify the grouping columns explicitly").WithCause(err)
				}
				return nil, nil, err
			}
		}
		if having != nil {
			if having, err = agg.rewrite(having, q.Having); err != nil {
				return nil, nil, err
			}
			agg.having = having
		}
		if node, err = agg.node(a, s); err != nil {
			return nil, nil, err
		}
	}
	sel.items = items
	n, err := a.project(sel, items, node)
	if err != nil {
		return nil, nil, err
	}
	sel.node = n
	if q.Distinct {
		if err := withoutMaps(n.Output(), q); err != nil {
			return nil, nil, err
		}
		sel.node = a.distinct(n)
	}
	return sel.node, sel, nil
}

func aliasesOf(items []item) []lateralAlias {
	var out []lateralAlias
	for _, it := range items {
		if al, ok := it.expr.(*expr.Alias); ok && !al.Derived {
			out = append(out, lateralAlias{al.Name, al})
		}
	}
	return out
}

// substituteLateral puts the expressions of aliases in place of their uses.
func substituteLateral(e expr.Expr) expr.Expr {
	return expr.Transform(e, func(x expr.Expr) expr.Expr {
		if l, ok := x.(*lateralRef); ok {
			return substituteLateral(l.Alias.Child)
		}
		return x
	})
}

// selectItems analyses the items, with stars expanded and names derived.
func (a *Analyzer) selectItems(list []sql.Expr, s *scope, f *from) ([]item, error) {
	var out []item
	is := *s
	for _, x := range list {
		if st, ok := x.(*sql.Star); ok {
			es, err := a.star(st, s, f)
			if err != nil {
				return nil, err
			}
			for _, e := range es {
				out = append(out, item{expr: e, at: x})
			}
			continue
		}
		ast, names := x, []string(nil)
		if al, ok := x.(*sql.Alias); ok {
			ast, names = al.X, sql.Names(al.Names)
			if _, ok := ast.(*sql.Star); ok {
				return nil, unsupported(x, "an alias for *")
			}
		}
		e, err := a.expr(ast, &is)
		if err != nil {
			return nil, err
		}
		it := item{at: x}
		if g, ok := unalias(e).(expr.Generator); ok {
			it.expr, it.names = g, names
		} else if len(names) == 1 {
			it.expr = &expr.Alias{Child: unalias(e), Name: names[0], ID: a.NewID()}
			if al, ok := e.(*expr.Alias); ok {
				it.expr.(*expr.Alias).Child = al.Child
			}
		} else if len(names) > 1 {
			p := x.At()
			return nil, sparkerr.At(p.Line, p.Col, "MULTI_ALIAS_WITHOUT_GENERATOR", "multi part aliasing (%s) is not supported with %s as it is not a generator function", strings.Join(names, ", "), e.SQL())
		} else {
			it.expr = a.named(e, ast)
		}
		out = append(out, it)
		if al, ok := it.expr.(*expr.Alias); ok && !al.Derived {
			is.lateral = append(is.lateral, lateralAlias{al.Name, al})
		}
	}
	return out, nil
}

// named gives an expression the name that Spark derives for it.
func (a *Analyzer) named(e expr.Expr, ast sql.Expr) expr.Expr {
	switch x := e.(type) {
	case *expr.Attr:
		return x
	case *expr.Alias:
		return x
	}
	return &expr.Alias{Child: e, Name: a.derivedName(e, ast), ID: a.NewID(), Derived: true}
}

func (a *Analyzer) derivedName(e expr.Expr, ast sql.Expr) string {
	switch x := ast.(type) {
	case *sql.Column:
		return x.Parts[len(x.Parts)-1].Name
	case *sql.Cast:
		if c, ok := x.X.(*sql.Column); ok {
			return c.Parts[len(c.Parts)-1].Name
		}
		if v, ok := x.X.(*sql.PathAccess); ok && v.Last != "" {
			return v.Last
		}
	case *sql.PathAccess:
		if x.Last != "" {
			return x.Last
		}
	case *sql.FieldAccess:
		if c, ok := x.Base.(*sql.Column); ok && len(c.Parts) > 0 {
			return x.Field.Name
		}
	}
	return e.SQL()
}

// star expands * and t.*, and the fields of a struct column s.*.
func (a *Analyzer) star(st *sql.Star, s *scope, f *from) ([]expr.Expr, error) {
	var out []expr.Expr
	p := st.At()
	if len(st.Qualifier) == 0 {
		for _, v := range s.attrs {
			if s.isWindowColumn(v) {
				continue
			}
			out = append(out, v)
		}
		if f == nil && len(out) == 0 {
			return nil, sparkerr.At(p.Line, p.Col, "INVALID_USAGE_OF_STAR_OR_REGEX", "a star stands where there are no columns")
		}
	} else {
		names := sql.Names(st.Qualifier)
		for _, v := range append(append([]*expr.Attr{}, s.attrs...), s.hidden...) {
			if qualified(v.Qualifier, names) {
				out = append(out, v)
			}
		}
		if out == nil {
			e, err := a.column(s, st.Qualifier)
			if err != nil {
				return nil, err
			}
			if at, ok := e.(*expr.Attr); ok && s.isWindowColumn(at) {
				e = nil
			}
			if e == nil || e.Type().Kind != columnar.KindStruct {
				var all []string
				for _, v := range s.attrs {
					all = append(all, v.Name)
				}
				return nil, sparkerr.At(p.Line, p.Col, "CANNOT_RESOLVE_STAR_EXPAND", "cannot resolve %s.* given input columns: %s", sql.JoinName(st.Qualifier), strings.Join(all, ", "))
			}
			for _, fd := range e.Type().Fields {
				g, err := a.binder(nil).GetField(e, fd.Name)
				if err != nil {
					return nil, err
				}
				out = append(out, &expr.Alias{Child: g, Name: fd.Name, ID: a.NewID()})
			}
		}
	}
	for _, ex := range st.Except {
		names := sql.Names(ex)
		kept := out[:0:0]
		hit := false
		for _, e := range out {
			at := NamedAttr(e)
			if m, rest := match([]*expr.Attr{at}, names); len(m) > 0 && len(rest) == 0 {
				hit = true
				continue
			}
			kept = append(kept, e)
		}
		if !hit {
			return nil, unknownColumn(s, ex)
		}
		out = kept
	}
	return out, nil
}

// where filters by a condition; subqueries in it become joins.
// The columns of time windows that stand in it are given as well.
func (a *Analyzer) where(cond sql.Expr, n Node, s *scope) (Node, []*expr.Attr, error) {
	e, err := a.expr(cond, s)
	if err != nil {
		return nil, nil, err
	}
	if hasAggregate(e) {
		p := cond.At()
		return nil, nil, sparkerr.At(p.Line, p.Col, "INVALID_WHERE_CONDITION", "the WHERE condition %s contains invalid expressions: an aggregate function. Rewrite the query to avoid window functions, aggregate functions, and generator functions in the WHERE clause", e.SQL())
	}
	if hasWindow(e) {
		p := cond.At()
		return nil, nil, sparkerr.At(p.Line, p.Col, "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE", "window functions are not allowed in the WHERE clause: %s; compute it in a subquery, or use QUALIFY", e.SQL())
	}
	if e, err = a.condition(e, cond, "WHERE"); err != nil {
		return nil, nil, err
	}
	var added []*expr.Attr
	if markers := timeMarkers(e); len(markers) > 0 {
		own := *s
		if n, err = a.addTimeWindows(markers, n, &own); err != nil {
			return nil, nil, err
		}
		for _, w := range own.timeWindows {
			added = append(added, w.attr)
		}
		e = own.replaceMarkers(e)
	}
	n, err = a.filter(e, n, s)
	return n, added, err
}

// condition checks that e is BOOLEAN.
func (a *Analyzer) condition(e expr.Expr, at sql.Node, clause string) (expr.Expr, error) {
	p := at.At()
	e = unalias(e)
	if bad := nestedGenerator(e); bad != nil {
		return nil, sparkerr.At(p.Line, p.Col, "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", "the generator is not supported: outside the SELECT clause, found: %s", bad.SQL())
	}
	switch e.Type().Kind {
	case columnar.KindBool:
		return e, nil
	case columnar.KindNull:
		return a.implicitCast(e, columnar.Bool), nil
	}
	if clause == "JOIN" {
		return nil, sparkerr.At(p.Line, p.Col, "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE", "the join condition %q has the invalid type %q, expected \"BOOLEAN\"", e.SQL(), e.Type().SQL())
	}
	return nil, sparkerr.At(p.Line, p.Col, "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", "cannot resolve \"%s\" due to data type mismatch: filter expression \"%s\" of type \"%s\" is not a boolean", e.SQL(), e.SQL(), e.Type().SQL())
}

// project computes the items over node: generators, lateral aliases and window functions become
// operators of their own.
func (a *Analyzer) project(sel *selected, items []item, node Node) (Node, error) {
	var err error
	// Generators.
	exprs := make([]expr.Expr, 0, len(items))
	for _, it := range items {
		g, ok := unalias(it.expr).(expr.Generator)
		if !ok {
			if bad := nestedGenerator(it.expr); bad != nil {
				p := it.at.At()
				return nil, sparkerr.At(p.Line, p.Col, "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", "the generator is not supported: nested in expressions %s", it.expr.SQL())
			}
			exprs = append(exprs, it.expr)
			continue
		}
		if bad := nestedGenerator(g.Children()...); bad != nil {
			p := it.at.At()
			return nil, sparkerr.At(p.Line, p.Col, "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", "the generator is not supported: nested in expressions \"%s\"", it.expr.SQL())
		}
		names := it.names
		if node, err = a.generate(g, isOuter(g), "", names, node, it.at); err != nil {
			return nil, err
		}
		for _, at := range node.(*Generate).Attrs {
			exprs = append(exprs, at)
		}
	}
	// Lateral aliases: a Project below computes what later items use.
	for depth := 0; ; depth++ {
		need := map[*expr.Alias]bool{}
		var order []*expr.Alias
		for _, e := range exprs {
			expr.Walk(e, func(x expr.Expr) bool {
				if l, ok := x.(*lateralRef); ok && !need[l.Alias] {
					need[l.Alias] = true
					order = append(order, l.Alias)
				}
				return true
			})
		}
		if len(order) == 0 {
			break
		}
		if depth > len(exprs)+1 {
			return nil, sparkerr.New("UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS", "lateral column aliases refer to each other in a circle")
		}
		// Lowest level first: aliases that use no other alias.
		var base []expr.Expr
		for _, o := range node.Output() {
			base = append(base, o)
		}
		ready := map[*expr.Alias]*expr.Attr{}
		done := map[expr.AttrID]bool{}
		for _, o := range node.Output() {
			done[o.ID] = true
		}
		for _, al := range order {
			if usesLateral(al.Child) {
				continue
			}
			cur := al
			for _, e := range exprs { // the alias may have been rewritten meanwhile
				if x, ok := e.(*expr.Alias); ok && x.ID == al.ID {
					cur = x
				}
			}
			if usesLateral(cur.Child) {
				continue
			}
			if !done[cur.ID] {
				base = append(base, cur)
				done[cur.ID] = true
			}
			ready[al] = NamedAttr(cur)
		}
		if len(ready) == 0 {
			// Aliases of aliases: substitute.
			for i, e := range exprs {
				if al, ok := e.(*expr.Alias); ok {
					c := *al
					c.Child = substituteLateral(al.Child)
					exprs[i] = &c
				}
			}
			break
		}
		windowed := false
		for _, b := range base {
			windowed = windowed || hasWindow(b)
		}
		if windowed {
			if node, base, err = a.windows(base, node); err != nil {
				return nil, err
			}
		}
		node = &Project{Exprs: base, Child: node}
		for i, e := range exprs {
			if al, ok := e.(*expr.Alias); ok {
				for src, at := range ready {
					if src.ID == al.ID {
						exprs[i] = at
					}
				}
			}
			exprs[i] = expr.Transform(exprs[i], func(x expr.Expr) expr.Expr {
				if l, ok := x.(*lateralRef); ok {
					if at := ready[l.Alias]; at != nil {
						return at
					}
				}
				return x
			})
		}
	}
	sel.pre = node
	windowed := false
	for _, e := range exprs {
		windowed = windowed || hasWindow(e)
	}
	if windowed {
		if node, exprs, err = a.windows(exprs, node); err != nil {
			return nil, err
		}
		sel.pre = node
	}
	if node, exprs, err = a.scalarSubqueries(exprs, node); err != nil {
		return nil, err
	}
	sel.pre, sel.exprs = node, exprs
	return &Project{Exprs: exprs, Child: node}, nil
}

func usesLateral(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if _, ok := x.(*lateralRef); ok {
			found = true
		}
		return !found
	})
	return found
}

// nestedGenerator finds a generator in expressions.
func nestedGenerator(in ...expr.Expr) expr.Expr {
	var found expr.Expr
	for _, e := range in {
		expr.Walk(e, func(x expr.Expr) bool {
			if g, ok := x.(expr.Generator); ok {
				found = g
			}
			return found == nil
		})
	}
	return found
}

func isOuter(g expr.Generator) bool {
	o, ok := g.(interface{ Outer() bool })
	return ok && o.Outer()
}

// hasAggregate tells whether an aggregate call outside of window functions is in e.
func hasAggregate(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		switch x.(type) {
		case *windowExpr:
			return false
		case expr.Aggregate:
			found = true
		}
		return !found
	})
	if found {
		return true
	}
	// aggregates inside the arguments of a window function count as well: sum(sum(x)) OVER ()
	expr.Walk(e, func(x expr.Expr) bool {
		if w, ok := x.(*windowExpr); ok {
			for _, c := range w.operands() {
				found = found || hasAggregate(c)
			}
			return false
		}
		return !found
	})
	return found
}

// ordered is ORDER BY, LIMIT and OFFSET around a query.
func (a *Analyzer) ordered(o *sql.Ordered, ctes *cteScope, outer *scope) (Node, error) {
	var n Node
	var sel *selected
	var err error
	if s, ok := o.Input.(*sql.Select); ok {
		if len(o.Windows) > 0 {
			c := *s
			c.Windows = append(append([]sql.NamedWindow{}, s.Windows...), o.Windows...)
			s = &c
		}
		n, sel, err = a.selectQuery(s, nil, ctes, outer)
	} else {
		n, err = a.query(o.Input, ctes, outer)
	}
	if err != nil {
		return nil, err
	}
	return a.order(o, n, sel, ctes, outer)
}

// order sorts and limits n; sel is set when n is a SELECT, whose input ORDER BY may refer to.
func (a *Analyzer) order(o *sql.Ordered, n Node, sel *selected, ctes *cteScope, outer *scope) (Node, error) {
	var err error
	global := true
	keysAST := o.OrderBy
	if len(o.SortBy) > 0 {
		global, keysAST = false, o.SortBy
	}
	if len(o.ClusterBy) > 0 {
		global = false
		for _, c := range o.ClusterBy {
			keysAST = append(keysAST, sql.SortItem{Span: c.At(), X: c, NullsFirst: true})
		}
	}
	if o.OrderByAll != nil {
		for range n.Output() {
			keysAST = append(keysAST, *o.OrderByAll)
		}
	}
	if len(keysAST) > 0 {
		if n, err = a.sortNode(keysAST, o.OrderByAll != nil, global, n, sel, ctes, outer); err != nil {
			return nil, err
		}
	}
	count, offset := int64(-1), int64(0)
	for _, l := range []struct {
		x    sql.Expr
		name string
		to   *int64
	}{{o.Limit, "LIMIT", &count}, {o.Offset, "OFFSET", &offset}} {
		if l.x == nil {
			continue
		}
		e, err := a.expr(l.x, &scope{attrs: n.Output(), ctes: ctes, outer: outer})
		if err != nil {
			return nil, err
		}
		p := l.x.At()
		if len(attrIDs(e)) > 0 {
			return nil, sparkerr.At(p.Line, p.Col, "INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE", "the limit like expression %q is invalid: the %s expression must evaluate to a constant value", e.SQL(), strings.ToLower(l.name))
		}
		if !e.Type().IsIntegral() {
			return nil, sparkerr.At(p.Line, p.Col, "INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE", "the limit like expression %q is invalid: the %s expression must be integer type, but got %q", e.SQL(), strings.ToLower(l.name), e.Type().SQL())
		}
		v, err := a.constant(a.implicitCast(e, columnar.Int64))
		if err != nil {
			return nil, err
		}
		i, ok := v.(int64)
		if !ok || i < 0 {
			return nil, sparkerr.At(p.Line, p.Col, "INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE", "the %s expression must be equal to or greater than 0, but got %v", strings.ToLower(l.name), v)
		}
		*l.to = i
	}
	if count >= 0 || offset > 0 {
		n = &Limit{Count: count, Offset: offset, Child: n, ID: -1}
	}
	return n, nil
}

func (a *Analyzer) sortNode(items []sql.SortItem, all, global bool, n Node, sel *selected, ctes *cteScope, outer *scope) (Node, error) {
	out := n.Output()
	var keys []expr.SortKey
	var extra []expr.Expr // needed below the projection
	for i, it := range items {
		var e expr.Expr
		var err error
		if all {
			e = out[i]
		} else if lit, ok := it.X.(*sql.NumberLit); ok && lit.Kind == sql.Int {
			if lit.Int < 1 || lit.Int > int64(len(out)) {
				p := lit.At()
				return nil, sparkerr.At(p.Line, p.Col, "ORDER_BY_POS_OUT_OF_RANGE", "ORDER BY position %d is not in select list (valid range is [1, %d])", lit.Int, len(out))
			}
			e = out[lit.Int-1]
		} else if e, err = a.sortExpr(it.X, out, sel, &extra, ctes, outer); err != nil {
			return nil, err
		}
		if !orderable(e.Type()) {
			pos := it.At()
			return nil, sparkerr.At(pos.Line, pos.Col, "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", "cannot resolve \"%s\" due to data type mismatch: the `sortorder` does not support ordering on type \"%s\"", e.SQL(), e.Type().SQL())
		}
		keys = append(keys, expr.SortKey{Expr: unalias(e), Desc: it.Desc, NullsFirst: it.NullsFirst})
	}
	back := make([]expr.Expr, len(out))
	for i, o := range out {
		back[i] = o
	}
	if len(extra) == 0 {
		below, err := a.sortSubqueries(keys, n)
		if err != nil || below == n {
			return &Sort{Keys: keys, Global: global, Child: n}, err
		}
		return &Project{Exprs: back, Child: &Sort{Keys: keys, Global: global, Child: below}}, nil
	}
	// Sort over a projection with the missing columns, then drop them.
	if sel == nil || sel.unique {
		return nil, unknownColumn(&scope{attrs: out}, []sql.Ident{{Name: extra[0].SQL()}})
	}
	exprs := append(append([]expr.Expr{}, sel.exprs...), extra...)
	below, err := a.sortSubqueries(keys, &Project{Exprs: exprs, Child: sel.pre})
	if err != nil {
		return nil, err
	}
	return &Project{Exprs: back, Child: &Sort{Keys: keys, Global: global, Child: below}}, nil
}

// sortSubqueries joins the subqueries in keys to n and puts their columns in place.
func (a *Analyzer) sortSubqueries(keys []expr.SortKey, n Node) (Node, error) {
	exprs := make([]expr.Expr, len(keys))
	for i, k := range keys {
		exprs[i] = k.Expr
	}
	n, exprs, err := a.scalarSubqueries(exprs, n)
	for i, e := range exprs {
		keys[i].Expr = e
	}
	return n, err
}

// sortExpr resolves a sort key against the output, then against the input of the projection.
func (a *Analyzer) sortExpr(x sql.Expr, out []*expr.Attr, sel *selected, extra *[]expr.Expr, ctes *cteScope, outer *scope) (expr.Expr, error) {
	s := &scope{attrs: out, ctes: ctes, outer: outer}
	e, err := a.expr(x, s)
	if err == nil && !hasAggregate(e) && !hasWindow(e) && !a.hasMarker(e) {
		return e, nil
	}
	if sel == nil {
		return nil, err
	}
	// Columns of the input, with the names of the output taking precedence.
	in := *sel.inner
	in.lateral = nil
	merged := append([]*expr.Attr{}, out...)
	names := map[string]bool{}
	for _, o := range out {
		names[strings.ToLower(o.Name)] = true
	}
	for _, at := range in.attrs {
		if !names[strings.ToLower(at.Name)] || len(at.Qualifier) > 0 {
			merged = append(merged, at)
		}
	}
	in.attrs = dedupAttrs(merged, len(out))
	e2, err2 := a.expr(x, &in)
	if err2 != nil {
		if err != nil {
			return nil, err
		}
		return nil, err2
	}
	e2 = sel.inner.replaceMarkers(e2)
	if sel.agg != nil {
		outIDs := map[expr.AttrID]bool{}
		for _, o := range out {
			outIDs[o.ID] = true
		}
		unresolved := err
		if e2, err = sel.agg.rewriteSort(e2, outIDs, x); err != nil {
			if c := sparkerr.Condition(err); unresolved != nil && (c == "MISSING_AGGREGATION" || c == "MISSING_GROUP_BY") {
				err = unresolved
			}
			return nil, err
		}
	}
	// Whatever is not in the output must be carried up.
	have := map[expr.AttrID]bool{}
	for _, o := range out {
		have[o.ID] = true
	}
	for _, p := range sel.exprs {
		if canonical(p) == canonical(e2) {
			return NamedAttr(p), nil
		}
	}
	missing := false
	expr.Walk(e2, func(y expr.Expr) bool {
		if at, ok := y.(*expr.Attr); ok && !have[at.ID] {
			missing = true
		}
		return true
	})
	if hasWindow(e2) {
		return nil, unsupported(x, "a window function in ORDER BY")
	}
	if !missing {
		return e2, nil
	}
	expr.Walk(e2, func(y expr.Expr) bool {
		if at, ok := y.(*expr.Attr); ok && !have[at.ID] {
			*extra = append(*extra, at)
			have[at.ID] = true
		}
		return true
	})
	return e2, nil
}

func dedupAttrs(attrs []*expr.Attr, keep int) []*expr.Attr {
	seen := map[expr.AttrID]bool{}
	var out []*expr.Attr
	for i, at := range attrs {
		if i >= keep && seen[at.ID] && len(at.Qualifier) == 0 {
			continue
		}
		seen[at.ID] = true
		out = append(out, at)
	}
	return out
}

func orderable(t *columnar.Type) bool {
	switch t.Kind {
	case columnar.KindMap, columnar.KindVariant, columnar.KindCalendar:
		return false
	case columnar.KindArray:
		return orderable(t.Elem)
	case columnar.KindStruct:
		for _, f := range t.Fields {
			if !orderable(f.Type) {
				return false
			}
		}
	}
	return true
}
