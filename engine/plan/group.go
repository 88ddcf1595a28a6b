package plan

import (
	"reflect"
	"slices"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
)

// aggregation is an Aggregate node in the making: keys and aggregate calls become its columns,
// and the expressions above it are rewritten to refer to them.
type aggregation struct {
	a       *Analyzer
	agg     *Aggregate
	keys    map[string]*expr.Attr // canonical text of a grouping expression → its column
	calls   map[string]*expr.Attr // canonical text of an aggregate call → its column
	grouped bool                  // GROUP BY was written
	having  expr.Expr
	gid     *expr.Attr // grouping id of grouping sets
	bits    map[string]int
	nkeys   int
}

// flattenGrouping gives all grouping expressions, and for GROUPING SETS, CUBE and ROLLUP the sets.
func flattenGrouping(items []sql.Expr) (keys []sql.Expr, sets [][]sql.Expr) {
	has := false
	for _, it := range items {
		if _, ok := it.(*sql.GroupingSets); ok {
			has = true
		}
	}
	if !has {
		return items, nil
	}
	sets = [][]sql.Expr{nil}
	for _, it := range items {
		var alt [][]sql.Expr
		if g, ok := it.(*sql.GroupingSets); ok {
			alt = expandSets(g)
			keys = append(keys, g.Base...)
		} else {
			alt = [][]sql.Expr{{it}}
			keys = append(keys, it)
		}
		var next [][]sql.Expr
		for _, s := range sets {
			for _, x := range alt {
				next = append(next, append(append([]sql.Expr{}, s...), x...))
			}
		}
		sets = next
	}
	var all []sql.Expr
	for _, list := range append([][]sql.Expr{keys}, sets...) {
		for _, k := range list {
			if !slices.ContainsFunc(all, func(have sql.Expr) bool { return have == k || sameText(have, k) }) {
				all = append(all, k)
			}
		}
	}
	keys = all
	return keys, sets
}

func expandSets(g *sql.GroupingSets) [][]sql.Expr {
	join := func(parts [][]sql.Expr) []sql.Expr {
		var out []sql.Expr
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	switch g.Kind {
	case sql.Sets:
		var out [][]sql.Expr
		for _, set := range g.Sets {
			if len(set) == 1 {
				if inner, ok := set[0].(*sql.GroupingSets); ok {
					out = append(out, expandSets(inner)...)
					continue
				}
			}
			out = append(out, set)
		}
		return out
	case sql.Rollup:
		var out [][]sql.Expr
		for i := len(g.Sets); i >= 0; i-- {
			out = append(out, join(g.Sets[:i]))
		}
		return out
	case sql.Cube:
		var out [][]sql.Expr
		for m := 1<<len(g.Sets) - 1; m >= 0; m-- {
			var parts [][]sql.Expr
			for i := range g.Sets {
				if m>>(len(g.Sets)-1-i)&1 != 0 {
					parts = append(parts, g.Sets[i])
				}
			}
			out = append(out, join(parts))
		}
		return out
	}
	return g.Sets
}

// groupingSets gives each set as positions among keys; expressions of equal text are one key.
func (a *Analyzer) groupingSets(keys []sql.Expr, sets [][]sql.Expr) ([][]int, error) {
	index := func(e sql.Expr) int {
		for i, k := range keys {
			if k == e || sameText(k, e) {
				return i
			}
		}
		return -1
	}
	out := make([][]int, len(sets))
	for i, s := range sets {
		out[i] = []int{}
		for _, e := range s {
			if k := index(e); k >= 0 {
				out[i] = append(out[i], k)
			}
		}
	}
	return out, nil
}

// sameText tells whether two expressions are written alike, apart from where they stand and the case of names.
func sameText(x, y sql.Expr) bool { return sameSyntax(reflect.ValueOf(x), reflect.ValueOf(y)) }

func sameSyntax(x, y reflect.Value) bool {
	if x.IsValid() != y.IsValid() || x.IsValid() && x.Type() != y.Type() {
		return false
	}
	switch x.Kind() {
	case reflect.Pointer, reflect.Interface:
		return x.IsNil() == y.IsNil() && (x.IsNil() || sameSyntax(x.Elem(), y.Elem()))
	case reflect.Slice:
		if x.Len() != y.Len() {
			return false
		}
		for i := range x.Len() {
			if !sameSyntax(x.Index(i), y.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		switch a := x.Interface().(type) {
		case sql.Span:
			return true
		case sql.Ident:
			return strings.EqualFold(a.Name, y.Interface().(sql.Ident).Name)
		}
		for i := range x.NumField() {
			if x.Type().Field(i).IsExported() && !sameSyntax(x.Field(i), y.Field(i)) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(x.Interface(), y.Interface())
}

// groupKeys analyses GROUP BY items: ordinals, columns, aliases of the SELECT list, expressions.
func (a *Analyzer) groupKeys(list []sql.Expr, items []item, s *scope) ([]expr.Expr, error) {
	var out []expr.Expr
	for _, g := range list {
		p := g.At()
		if lit, ok := g.(*sql.NumberLit); ok && lit.Kind == sql.Int {
			if lit.Int < 1 || lit.Int > int64(len(items)) {
				return nil, sparkerr.At(p.Line, p.Col, "GROUP_BY_POS_OUT_OF_RANGE", "GROUP BY position %d is not in select list (valid range is [1, %d])", lit.Int, len(items))
			}
			e := unalias(items[lit.Int-1].expr)
			if hasAggregate(e) {
				return nil, sparkerr.At(p.Line, p.Col, "GROUP_BY_POS_AGGREGATE", "GROUP BY %d refers to an expression %s that contains an aggregate function; aggregate functions are not allowed in GROUP BY", lit.Int, e.SQL())
			}
			out = append(out, substituteLateral(e))
			continue
		}
		gs := *s
		gs.lateral = nil
		e, err := a.expr(g, &gs)
		if err != nil {
			c, ok := g.(*sql.Column)
			if !ok || len(c.Parts) != 1 || !strings.HasPrefix(sparkerr.Condition(err), "UNRESOLVED_COLUMN") {
				return nil, err
			}
			var hit expr.Expr
			for _, it := range items {
				if al, ok := it.expr.(*expr.Alias); ok && strings.EqualFold(al.Name, c.Parts[0].Name) {
					hit = al.Child
					break
				}
			}
			if hit == nil {
				return nil, err
			}
			e = substituteLateral(hit)
		}
		if hasAggregate(e) {
			return nil, sparkerr.At(p.Line, p.Col, "GROUP_BY_AGGREGATE", "aggregate functions are not allowed in GROUP BY, but found %s", e.SQL())
		}
		out = append(out, unalias(e))
	}
	return out, nil
}

// build makes the node over child, grouped by keys.
func (g *aggregation) build(keys []expr.Expr, sets [][]int, child Node, s *scope) {
	a := g.a
	g.calls = map[string]*expr.Attr{}
	g.grouped = keys != nil
	named := make([]expr.Expr, 0, len(keys)+1)
	if sets != nil {
		g.buildSets(keys, sets, child, s)
		return
	}
	for _, k := range keys {
		c := canonical(k)
		if g.keys[c] != nil {
			continue
		}
		n := k
		at, ok := k.(*expr.Attr)
		if !ok {
			al := &expr.Alias{Child: k, Name: k.SQL(), ID: a.NewID()}
			n, at = al, NamedAttr(al)
		}
		g.keys[c] = at
		named = append(named, n)
	}
	g.agg = &Aggregate{Keys: named, Child: child, ID: -1}
	g.session(s)
	for _, k := range named {
		g.agg.Exprs = append(g.agg.Exprs, NamedAttr(k))
	}
	g.nkeys = len(named)
}

// session finds the key that is a session window.
func (g *aggregation) session(s *scope) {
	for _, k := range g.agg.Keys {
		if at, ok := k.(*expr.Attr); ok && s.isSession(at) {
			g.agg.Session = at
		}
	}
}

func (g *aggregation) buildSets(keys []expr.Expr, sets [][]int, child Node, s *scope) {
	a := g.a
	in := child.Output()
	var attrs []*expr.Attr
	attrs = append(attrs, in...)
	made := make([]*expr.Attr, len(keys))
	g.bits = map[string]int{}
	for i, k := range keys {
		name := k.SQL()
		if at, ok := k.(*expr.Attr); ok {
			name = at.Name
		}
		made[i] = a.NewAttr(name, k.Type(), true)
		if at, ok := k.(*expr.Attr); ok {
			made[i].Qualifier, made[i].EventTime = at.Qualifier, at.EventTime
		}
		attrs = append(attrs, made[i])
		g.keys[canonical(k)] = made[i]
		g.bits[canonical(k)] = len(keys) - 1 - i
	}
	g.gid = a.NewAttr("spark_grouping_id", columnar.Int64, false)
	attrs = append(attrs, g.gid)
	pos := a.NewAttr("grouping_set", columnar.Int32, false)
	distinctSets := map[int64]int{}
	ex := &Expand{Child: child}
	var dup bool
	for _, set := range sets {
		id := int64(0)
		on := map[int]bool{}
		for _, k := range set {
			on[k] = true
		}
		for i := range keys {
			if !on[i] {
				id |= 1 << (len(keys) - 1 - i)
			}
		}
		distinctSets[id]++
		dup = dup || distinctSets[id] > 1
	}
	for n, set := range sets {
		on := map[int]bool{}
		for _, k := range set {
			on[k] = true
		}
		var row []expr.Expr
		for _, at := range in {
			row = append(row, at)
		}
		id := int64(0)
		for i, k := range keys {
			if on[i] {
				row = append(row, k)
			} else {
				id |= 1 << (len(keys) - 1 - i)
				row = append(row, &expr.Literal{Typ: k.Type()})
			}
		}
		row = append(row, &expr.Literal{Typ: columnar.Int64, Value: id})
		if dup {
			row = append(row, &expr.Literal{Typ: columnar.Int32, Value: int32(n)})
		}
		ex.Projections = append(ex.Projections, row)
	}
	ex.Attrs = attrs
	var named []expr.Expr
	for _, m := range made {
		named = append(named, m)
	}
	named = append(named, g.gid)
	if dup {
		ex.Attrs = append(ex.Attrs, pos)
		named = append(named, pos)
	}
	g.agg = &Aggregate{Keys: named, Child: ex, ID: -1, Exprs: append([]expr.Expr{}, named...)}
	g.session(s)
}

// node is the aggregation with its HAVING filter, whose subqueries become joins.
func (g *aggregation) node(a *Analyzer, s *scope) (Node, error) {
	if g.having != nil {
		return a.filter(g.having, g.agg, s)
	}
	return g.agg, nil
}

// rewrite turns an expression over the input into one over the node's columns.
func (g *aggregation) rewrite(e expr.Expr, at sql.Node) (expr.Expr, error) {
	return g.rewriteIn(e, nil, at)
}

// rewriteSort is rewrite for ORDER BY, where columns of the output stay.
func (g *aggregation) rewriteSort(e expr.Expr, out map[expr.AttrID]bool, at sql.Node) (expr.Expr, error) {
	return g.rewriteIn(e, out, at)
}

func (g *aggregation) rewriteIn(e expr.Expr, keep map[expr.AttrID]bool, at sql.Node) (expr.Expr, error) {
	p := at.At()
	switch x := e.(type) {
	case *expr.Alias:
		c, err := g.rewriteIn(x.Child, keep, at)
		if err != nil {
			return nil, err
		}
		out := *x
		out.Child = c
		return &out, nil
	case *expr.Attr:
		if k := g.keys[canonical(x)]; k != nil {
			if k.Name != x.Name {
				c := *k
				c.Name = x.Name
				return &c, nil
			}
			return k, nil
		}
		if keep[x.ID] {
			return x, nil
		}
		if !g.grouped && len(g.agg.Keys) == 0 {
			return nil, sparkerr.At(p.Line, p.Col, "MISSING_GROUP_BY", "the query does not include a GROUP BY clause. Add GROUP BY or turn it into the window functions using OVER clauses: column %q is not inside an aggregate function", x.Name)
		}
		return nil, sparkerr.At(p.Line, p.Col, "MISSING_AGGREGATION", "the non-aggregating expression %q is based on columns which are not participating in the GROUP BY clause. Add the columns or the expression to the GROUP BY, aggregate the expression, or use \"any_value(%s)\"", x.Name, x.Name)
	case *groupingExpr:
		return g.grouping(x, at)
	case *WindowTime:
		if g.keys[canonical(e)] == nil {
			return nil, sparkerr.At(p.Line, p.Col, "MISSING_AGGREGATION", "the non-aggregating expression %q is based on columns which are not participating in the GROUP BY clause; compute window_time in a query around this one", x.SQL())
		}
	case *lateralRef:
		return x, nil
	case *windowExpr:
		return x.rewrite(func(c expr.Expr) (expr.Expr, error) { return g.rewriteIn(c, keep, at) })
	}
	if k := g.keys[canonical(e)]; k != nil {
		return k, nil
	}
	if call, ok := e.(expr.Aggregate); ok {
		for _, c := range call.Children() {
			if hasAggregate(c) {
				return nil, sparkerr.At(p.Line, p.Col, "NESTED_AGGREGATE_FUNCTION", "it is not allowed to use an aggregate function in the argument of another aggregate function. Please use the inner aggregate function in a sub-query: %s", e.SQL())
			}
			if bad := nestedGenerator(c); bad != nil {
				return nil, sparkerr.At(p.Line, p.Col, "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", "the generator is not supported: nested in expressions \"%s\"", e.SQL())
			}
			if !expr.IsDeterministic(c) {
				return nil, sparkerr.At(p.Line, p.Col, "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION", "non-deterministic expression %s should not appear in the arguments of an aggregate function", e.SQL())
			}
		}
		c := canonical(e)
		if n := g.calls[c]; n != nil {
			return n, nil
		}
		al := &expr.Alias{Child: e, Name: e.SQL(), ID: g.a.NewID()}
		g.agg.Exprs = append(g.agg.Exprs, al)
		n := NamedAttr(al)
		g.calls[c] = n
		return n, nil
	}
	old := e.Children()
	if len(old) == 0 {
		return e, nil
	}
	kids := make([]expr.Expr, len(old))
	for i, c := range old {
		k, err := g.rewriteIn(c, keep, at)
		if err != nil {
			return nil, err
		}
		kids[i] = k
	}
	return e.WithChildren(kids), nil
}

// groupingExpr is grouping(col) or grouping_id(cols…) before the sets are known.
type groupingExpr struct {
	name string
	args []expr.Expr
}

func (x *groupingExpr) Type() *columnar.Type {
	if x.name == "grouping" {
		return columnar.Int8
	}
	return columnar.Int64
}
func (x *groupingExpr) Nullable() bool        { return false }
func (x *groupingExpr) Children() []expr.Expr { return x.args }
func (x *groupingExpr) WithChildren(c []expr.Expr) expr.Expr {
	return &groupingExpr{x.name, c}
}

func (x *groupingExpr) SQL() string {
	var p []string
	for _, e := range x.args {
		p = append(p, e.SQL())
	}
	return x.name + "(" + strings.Join(p, ", ") + ")"
}

func (x *groupingExpr) Eval(*expr.Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, sparkerr.New("UNSUPPORTED_GROUPING_EXPRESSION", "grouping()/grouping_id() can only be used with GroupingSets/Cube/Rollup")
}

// areKeys tells whether list is the grouping expressions in their order.
func (g *aggregation) areKeys(list []expr.Expr) bool {
	for i, e := range list {
		if bit, ok := g.bits[canonical(e)]; !ok || bit != len(g.bits)-1-i {
			return false
		}
	}
	return len(list) == len(g.bits)
}

func (g *aggregation) grouping(x *groupingExpr, at sql.Node) (expr.Expr, error) {
	p := at.At()
	if g.gid == nil {
		return nil, sparkerr.At(p.Line, p.Col, "UNSUPPORTED_GROUPING_EXPRESSION", "grouping()/grouping_id() can only be used with GroupingSets/Cube/Rollup")
	}
	if x.name == "grouping_id" {
		if len(x.args) > 0 && !g.areKeys(x.args) {
			return nil, sparkerr.At(p.Line, p.Col, "GROUPING_ID_COLUMN_MISMATCH", "the columns of %s are not the grouping columns, in their order", x.SQL())
		}
		return g.gid, nil
	}
	bit, ok := g.bits[canonical(x.args[0])]
	if !ok {
		return nil, sparkerr.At(p.Line, p.Col, "GROUPING_COLUMN_MISMATCH", "column of grouping (%s) can't be found in the grouping columns", x.args[0].SQL())
	}
	b := g.a.binder(nil)
	sh, err := b.Func("shiftright", g.gid, &expr.Literal{Typ: columnar.Int32, Value: int32(bit)})
	if err != nil {
		return nil, err
	}
	and, err := b.Func("&", sh, &expr.Literal{Typ: columnar.Int64, Value: int64(1)})
	if err != nil {
		return nil, err
	}
	return g.a.implicitCast(and, columnar.Int8), nil
}
