package plan

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
)

// from is an analysed FROM clause: the columns that a star means, and those that only a qualified
// name reaches (the other side's column of USING and NATURAL). node has both.
type from struct {
	node    Node
	visible []*expr.Attr
	hidden  []*expr.Attr
}

func whole(n Node) *from { return &from{node: n, visible: n.Output()} }

// relation analyses something that stands behind FROM, dropping hidden columns.
func (a *Analyzer) relation(r sql.Relation, ctes *cteScope, outer *scope) (Node, error) {
	f, err := a.from(r, ctes, outer)
	if err != nil {
		return nil, err
	}
	return f.drop(), nil
}

// drop is the node with the visible columns alone.
func (f *from) drop() Node {
	if len(f.hidden) == 0 {
		return f.node
	}
	exprs := make([]expr.Expr, len(f.visible))
	for i, v := range f.visible {
		exprs[i] = v
	}
	return &Project{Exprs: exprs, Child: f.node}
}

func (a *Analyzer) from(r sql.Relation, ctes *cteScope, outer *scope) (*from, error) {
	switch r := r.(type) {
	case nil:
		return whole(oneRow()), nil
	case *sql.Table:
		n, err := a.table(r, ctes)
		if err != nil {
			return nil, err
		}
		return whole(n), nil
	case *sql.Derived:
		n, err := a.query(r.Query, ctes, outer)
		if err != nil {
			return nil, err
		}
		return whole(n), nil
	case *sql.Aliased:
		n, err := a.relation(r.Input, ctes, outer)
		if err != nil {
			return nil, err
		}
		if _, inline := r.Input.(*sql.Values); inline && len(r.Columns) > 0 && len(r.Columns) != len(n.Output()) {
			p := r.At()
			return nil, sparkerr.At(p.Line, p.Col, "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH", "inline table expected %d columns but found %d columns in row 1", len(r.Columns), len(n.Output()))
		}
		if r.Name.Name == "" {
			n, err = a.rename(n, sql.Names(r.Columns), r)
		} else {
			n, err = a.alias(n, r.Name.Name, sql.Names(r.Columns), r)
		}
		if err != nil {
			return nil, err
		}
		return whole(n), nil
	case *sql.Values:
		n, err := a.values(r, ctes, outer)
		if err != nil {
			return nil, err
		}
		return whole(n), nil
	case *sql.TableFunc:
		n, err := a.tableFunc(r, whole(oneRow()), ctes, outer)
		if err != nil {
			return nil, err
		}
		return whole(n), nil
	case *sql.Join:
		return a.join(r, ctes, outer)
	case *sql.LateralView:
		in, err := a.from(r.Input, ctes, outer)
		if err != nil {
			return nil, err
		}
		n, err := a.lateralView(r, in, ctes, outer)
		if err != nil {
			return nil, err
		}
		return n, nil
	case *sql.Lateral:
		return a.from(r.Input, ctes, outer)
	case *sql.Sampled:
		n, err := a.relation(r.Input, ctes, outer)
		if err != nil {
			return nil, err
		}
		return whole(a.sample(r.Sample, n)), nil
	case *sql.Watermarked:
		n, err := a.relation(r.Input, ctes, outer)
		if err != nil {
			return nil, err
		}
		n, err = a.sqlWatermark(r, n)
		if err != nil {
			return nil, err
		}
		return whole(n), nil
	case *sql.Pivot:
		n, err := a.relation(r.Input, ctes, outer)
		if err != nil {
			return nil, err
		}
		n, err = a.pivot(r, n)
		if err != nil {
			return nil, err
		}
		return whole(n), nil
	case *sql.Unpivot:
		n, err := a.relation(r.Input, ctes, outer)
		if err != nil {
			return nil, err
		}
		n, err = a.unpivot(r, n)
		if err != nil {
			return nil, err
		}
		return whole(n), nil
	}
	return nil, unsupported(r, "this form of relation")
}

func oneRow() Node {
	return &Local{Data: columnar.NewBatch(columnar.NewSchema(), nil, 1)}
}

const maxViewDepth = 100

func (a *Analyzer) table(t *sql.Table, ctes *cteScope) (Node, error) {
	names := sql.Names(t.Name)
	last := names[len(names)-1]
	if len(names) == 1 {
		if c := ctes.find(last); c != nil {
			return c.build()
		}
	}
	p := t.At()
	if t.AsOf != nil {
		return nil, unsupported(t, "time travel")
	}
	key := strings.ToLower(strings.Join(names, "."))
	a.relations[key]++
	defer func() { a.relations[key]-- }()
	if a.relations[key] > maxViewDepth {
		return nil, sparkerr.At(p.Line, p.Col, "RECURSIVE_VIEW", "view %q refers to itself", last)
	}
	n, ok, err := a.Catalog.Relation(a, names)
	if err != nil {
		return nil, err
	}
	if !ok {
		e := sparkerr.At(p.Line, p.Col, "TABLE_OR_VIEW_NOT_FOUND", "the table or view %s cannot be found; known are: %s", sql.JoinName(t.Name), strings.Join(a.Catalog.Relations(), ", "))
		if near := Nearest(last, a.Catalog.Relations(), 1); len(near) > 0 && editDistance(strings.ToLower(near[0]), strings.ToLower(last)) <= 3 {
			e.WithSuggestion(near[0])
		}
		return nil, e
	}
	return a.alias(n, last, nil, t)
}

func (a *Analyzer) rename(n Node, columns []string, at sql.Node) (Node, error) {
	if len(columns) == 0 {
		return n, nil
	}
	out := n.Output()
	if len(columns) != len(out) {
		p := at.At()
		return nil, sparkerr.At(p.Line, p.Col, "ASSIGNMENT_ARITY_MISMATCH", "%d column names are given for %d columns", len(columns), len(out))
	}
	exprs := make([]expr.Expr, len(out))
	for i, c := range columns {
		exprs[i] = &expr.Alias{Child: out[i], Name: c, ID: a.NewID()}
	}
	return &Project{Exprs: exprs, Child: n}, nil
}

// values is an inline table: VALUES (…), (…).
func (a *Analyzer) values(v *sql.Values, ctes *cteScope, outer *scope) (Node, error) {
	b := a.binder(nil)
	s := &scope{ctes: ctes, outer: outer}
	var rows [][]expr.Expr
	for _, r := range v.Rows {
		items := []sql.Expr{r}
		switch x := r.(type) {
		case *sql.Row:
			items = x.Items
		case *sql.Call:
			if strings.EqualFold(x.FuncName(), "struct") && x.Over == nil {
				items = x.Args
			}
		}
		row := make([]expr.Expr, len(items))
		for i, it := range items {
			e, err := a.expr(it, s)
			if err != nil {
				return nil, err
			}
			row[i] = unalias(e)
			if !expr.IsDeterministic(e) {
				p := r.At()
				return nil, sparkerr.At(p.Line, p.Col, "INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE", "cannot evaluate the expression \"%s\" in an inline table: it gives another value each time", e.SQL())
			}
		}
		if len(rows) > 0 && len(row) != len(rows[0]) {
			p := r.At()
			return nil, sparkerr.At(p.Line, p.Col, "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH", "inline table expected %d columns but found %d columns in row %d", len(rows[0]), len(row), len(rows)+1)
		}
		rows = append(rows, row)
	}
	n := len(rows[0])
	attrs := make([]*expr.Attr, n)
	cols := make([]*columnar.Column, n)
	fields := make([]columnar.Field, n)
	one := columnar.NewBatch(columnar.NewSchema(), nil, 1)
	ctx := a.constContext()
	for i := 0; i < n; i++ {
		t, null := rows[0][i].Type(), false
		for k, r := range rows {
			if t = b.CommonTypeNoStrings(t, r[i].Type()); t == nil {
				p := v.Rows[k].At()
				return nil, sparkerr.At(p.Line, p.Col, "INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE", "found incompatible types in the column `col%d` of the inline table", i+1)
			}
			null = null || r[i].Nullable()
		}
		parts := make([]*columnar.Column, len(rows))
		for k, r := range rows {
			e := r[i]
			if !e.Type().Equal(t) {
				e = b.Implicit(e, t)
			}
			c, err := e.Eval(ctx, one)
			if err != nil {
				p := v.Rows[k].At()
				return nil, sparkerr.At(p.Line, p.Col, "INVALID_INLINE_TABLE.FAILED_SQL_EXPRESSION_EVALUATION", "cannot evaluate the expression \"%s\" of the inline table", e.SQL()).WithCause(err)
			}
			parts[k] = c.WithType(t)
			null = null || c.NullCount() > 0
		}
		cols[i] = columnar.Concat(parts).WithType(t)
		attrs[i] = a.NewAttr("col"+itoa(int64(i+1)), t, null)
		fields[i] = attrs[i].Field()
	}
	return &Local{Attrs: attrs, Data: columnar.NewBatch(columnar.NewSchema(fields...), cols, len(rows))}, nil
}

// constContext evaluates constants at plan time.
func (a *Analyzer) constContext() *expr.Context {
	return &expr.Context{Zone: a.Settings.Zone, ANSI: a.Settings.ANSI, BatchTime: a.Settings.Now().UnixMicro()}
}

// tableFunc is a table-valued function: range(…), or a generator such as explode(…).
func (a *Analyzer) tableFunc(f *sql.TableFunc, in *from, ctes *cteScope, outer *scope) (Node, error) {
	s := &scope{attrs: in.visible, hidden: in.hidden, ctes: ctes, outer: outer}
	name := f.Name[len(f.Name)-1].Name
	if strings.EqualFold(name, "range") {
		return a.rangeFunc(f, s)
	}
	call := &sql.Call{Span: f.Span, Name: f.Name, Args: f.Args}
	e, err := a.expr(call, s)
	if err != nil {
		if p := f.At(); sparkerr.Condition(err) == "UNRESOLVED_ROUTINE" {
			return nil, sparkerr.At(p.Line, p.Col, "UNRESOLVABLE_TABLE_VALUED_FUNCTION", "could not resolve `%s` to a table-valued function", name).WithCause(err)
		}
		return nil, err
	}
	g, ok := unalias(e).(expr.Generator)
	if !ok {
		p := f.At()
		return nil, sparkerr.At(p.Line, p.Col, "UNRESOLVABLE_TABLE_VALUED_FUNCTION", "could not resolve `%s` to a table-valued function", name)
	}
	return a.generate(g, false, "", nil, in.node, f)
}

func (a *Analyzer) rangeFunc(f *sql.TableFunc, s *scope) (Node, error) {
	args := []int64{}
	for _, x := range f.Args {
		e, err := a.expr(x, s)
		if err != nil {
			return nil, err
		}
		c, err := a.constant(a.implicitCast(e, columnar.Int64))
		if err != nil || c == nil {
			p := x.At()
			return nil, sparkerr.At(p.Line, p.Col, "UNEXPECTED_INPUT_TYPE", "range() takes whole numbers, found %s", e.SQL())
		}
		args = append(args, c.(int64))
	}
	start, end, step := int64(0), int64(0), int64(1)
	switch len(args) {
	case 1:
		end = args[0]
	case 2:
		start, end = args[0], args[1]
	case 3, 4:
		start, end, step = args[0], args[1], args[2]
	default:
		p := f.At()
		return nil, sparkerr.At(p.Line, p.Col, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "range() takes 1 to 4 parameters, found %d", len(args))
	}
	if step == 0 {
		p := f.At()
		return nil, sparkerr.At(p.Line, p.Col, "INVALID_PARAMETER_VALUE.STEP", "the step of range() cannot be 0")
	}
	const most = 100_000_000
	var v []int64
	for x := start; step > 0 && x < end || step < 0 && x > end; x += step {
		if len(v) >= most {
			p := f.At()
			return nil, sparkerr.At(p.Line, p.Col, "INVALID_PARAMETER_VALUE.RANGE", "range() of more than %d rows", most)
		}
		v = append(v, x)
	}
	at := a.NewAttr("id", columnar.Int64, false)
	return &Local{Attrs: []*expr.Attr{at}, Data: columnar.NewBatch(columnar.NewSchema(at.Field()), []*columnar.Column{columnar.NewFixed(columnar.Int64, v, nil)}, len(v))}, nil
}

func (a *Analyzer) lateralView(v *sql.LateralView, in *from, ctes *cteScope, outer *scope) (*from, error) {
	s := &scope{attrs: in.visible, hidden: in.hidden, ctes: ctes, outer: outer}
	e, err := a.expr(v.Func, s)
	if err != nil {
		if p := v.At(); sparkerr.Condition(err) == "UNRESOLVED_ROUTINE" {
			return nil, sparkerr.At(p.Line, p.Col, "ROUTINE_NOT_FOUND", "the routine `%s` of LATERAL VIEW cannot be found", v.Func.FuncName()).WithCause(err)
		}
		return nil, err
	}
	g, ok := unalias(e).(expr.Generator)
	if !ok {
		p := v.At()
		return nil, sparkerr.At(p.Line, p.Col, "UNSUPPORTED_GENERATOR.NOT_GENERATOR", "%s is expected to be a generator", v.Func.FuncName())
	}
	n, err := a.generate(g, v.Outer, v.Name.Name, sql.Names(v.Columns), in.node, v)
	if err != nil {
		return nil, err
	}
	gen := n.(*Generate)
	return &from{node: n, visible: concat(in.visible, gen.Attrs), hidden: in.hidden}, nil
}

// generate applies a generator to the rows of n; names rename its columns.
func (a *Analyzer) generate(g expr.Generator, outer bool, qualifier string, names []string, n Node, at sql.Node) (Node, error) {
	cols := g.Columns()
	if len(names) > 0 && len(names) != len(cols) {
		p := at.At()
		return nil, sparkerr.At(p.Line, p.Col, "UDTF_ALIAS_NUMBER_MISMATCH", "the number of aliases supplied in the AS clause does not match the number of columns output by the generator: expected %d aliases but got %d", len(cols), len(names))
	}
	attrs := make([]*expr.Attr, len(cols))
	for i, c := range cols {
		name := c.Name
		if len(names) > 0 {
			name = names[i]
		}
		attrs[i] = a.NewAttr(name, c.Type, c.Nullable || outer)
		if qualifier != "" {
			attrs[i].Qualifier = []string{qualifier}
		}
	}
	return &Generate{Generator: g, Outer: outer, Attrs: attrs, Child: n}, nil
}

func (a *Analyzer) sample(s *sql.Sample, n Node) Node {
	switch s.Kind {
	case sql.SampleRows:
		if lit, ok := s.Rows.(*sql.NumberLit); ok {
			return &Sample{Fraction: -1, Rows: lit.Int, Child: n}
		}
		return &Sample{Fraction: -1, Child: n}
	case sql.SampleBucket:
		return &Sample{Fraction: float64(s.Num) / float64(max(s.Denom, 1)), Seed: s.Seed, Child: n}
	}
	return &Sample{Fraction: s.Percent / 100, Seed: s.Seed, Child: n}
}

func (a *Analyzer) join(j *sql.Join, ctes *cteScope, outer *scope) (*from, error) {
	l, err := a.from(j.Left, ctes, outer)
	if err != nil {
		return nil, err
	}
	return a.join2(j, l, ctes, outer)
}

// join2 joins an analysed left side with the right side of j.
func (a *Analyzer) join2(j *sql.Join, l *from, ctes *cteScope, outer *scope) (*from, error) {
	kind := map[sql.JoinKind]JoinKind{sql.InnerJoin: Inner, sql.CrossJoin: Cross, sql.LeftOuterJoin: LeftJoin, sql.RightOuterJoin: RightJoin, sql.FullOuterJoin: FullJoin, sql.LeftSemiJoin: LeftSemi, sql.LeftAntiJoin: LeftAnti}[j.Kind]
	right := j.Right
	aliasName, aliasCols := "", []string(nil)
	inner := right
	for {
		if al, ok := inner.(*sql.Aliased); ok {
			aliasName, aliasCols, inner = al.Name.Name, sql.Names(al.Columns), al.Input
			continue
		}
		if la, ok := inner.(*sql.Lateral); ok {
			j2 := *j
			j2.Lateral = true
			j = &j2
			inner = la.Input
			continue
		}
		break
	}
	if tf, ok := inner.(*sql.TableFunc); ok && j.Lateral {
		n, err := a.tableFunc(tf, l, ctes, outer)
		if err != nil {
			return nil, err
		}
		g, ok := n.(*Generate)
		if !ok {
			return nil, unsupported(tf, "LATERAL of this function")
		}
		attrs := make([]*expr.Attr, len(g.Attrs))
		for i, at := range g.Attrs {
			c := *at
			if aliasName != "" {
				c.Qualifier = []string{aliasName}
			}
			if i < len(aliasCols) {
				c.Name = aliasCols[i]
			}
			c.Null = c.Null || kind == LeftJoin
			attrs[i] = &c
		}
		g.Attrs, g.Outer = attrs, kind == LeftJoin
		out := &from{node: g, visible: concat(l.visible, attrs), hidden: l.hidden}
		return out, a.generatorCondition(j, kind, out, ctes, outer)
	}
	rOuter := outer
	if j.Lateral {
		rOuter = &scope{attrs: l.visible, hidden: l.hidden, outer: outer}
	}
	r, err := a.from(right, ctes, rOuter)
	if err != nil {
		return nil, err
	}
	var pulled []expr.Expr
	if j.Lateral {
		if IsStreaming(l.node) {
			r.node, pulled, err = a.pullUp(r.drop(), j)
		} else {
			r.node, pulled, err = a.decorrelate(r.drop(), l.node, j)
		}
		if err != nil {
			return nil, err
		}
		r.hidden = nil
	}
	l, r = a.dedupSides(l, r)
	if j.Natural || len(j.Using) > 0 {
		return a.usingJoin(j, kind, l, r)
	}
	node := &Join{Kind: kind, Left: l.node, Right: r.node, ID: -1}
	out := &from{node: node}
	lv, rv := l.visible, r.visible
	switch kind {
	case LeftSemi, LeftAnti:
		rv = nil
	case LeftJoin:
		rv = nullable(rv)
	case RightJoin:
		lv = nullable(lv)
	case FullJoin:
		lv, rv = nullable(lv), nullable(rv)
	}
	out.visible = concat(lv, rv)
	out.hidden = concat(l.hidden, nil)
	if rv != nil {
		out.hidden = concat(l.hidden, r.hidden)
	}
	if j.On != nil {
		s := &scope{attrs: concat(l.visible, r.visible), hidden: concat(l.hidden, r.hidden), ctes: ctes, outer: outer}
		cond, err := a.expr(j.On, s)
		if err != nil {
			return nil, err
		}
		if cond, err = a.condition(cond, j.On, "JOIN"); err != nil {
			return nil, err
		}
		if a.hasMarker(cond) {
			p := j.On.At()
			return nil, sparkerr.At(p.Line, p.Col, "UNRESOLVED_COLUMN.WITH_SUGGESTION", "a time window cannot stand in the condition of a join: found %s. Give it a column of its own in a SELECT below the join, on both sides", cond.SQL())
		}
		node.Cond = cond
	}
	for _, p := range pulled {
		node.Cond = a.and(node.Cond, toInner(p))
	}
	if kind == Cross && node.Cond != nil {
		node.Kind = Inner
	}
	return out, nil
}

// generatorCondition puts the condition of a lateral join with a generator over its rows.
func (a *Analyzer) generatorCondition(j *sql.Join, kind JoinKind, out *from, ctes *cteScope, outer *scope) error {
	if kind != Inner && kind != Cross && kind != LeftJoin || j.Natural || len(j.Using) > 0 {
		return unsupported(j, "LATERAL of a generator in this kind of join")
	}
	if j.On == nil {
		return nil
	}
	cond, err := a.expr(j.On, &scope{attrs: out.visible, hidden: out.hidden, ctes: ctes, outer: outer})
	if err != nil {
		return err
	}
	if cond, err = a.condition(cond, j.On, "JOIN"); err != nil {
		return err
	}
	if lit, ok := cond.(*expr.Literal); ok && lit.Value == true {
		return nil
	}
	if kind == LeftJoin {
		return unsupported(j, "a condition on a LEFT JOIN of a generator (a subquery, LATERAL (SELECT … WHERE …), takes one)")
	}
	out.node = &Filter{Cond: cond, Child: out.node}
	return nil
}

// dedupSides gives the right side new column identities where both sides share some, as when a
// view is joined with itself through one CTE.
func (a *Analyzer) dedupSides(l, r *from) (*from, *from) {
	ids := map[expr.AttrID]bool{}
	for _, at := range l.node.Output() {
		ids[at.ID] = true
	}
	clash := false
	for _, at := range r.node.Output() {
		clash = clash || ids[at.ID]
	}
	if !clash {
		return l, r
	}
	renamed := map[expr.AttrID]*expr.Attr{}
	var exprs []expr.Expr
	for _, at := range r.node.Output() {
		al := &expr.Alias{Child: at, Name: at.Name, ID: a.NewID()}
		exprs = append(exprs, al)
		c := *NamedAttr(al)
		c.Qualifier = at.Qualifier
		renamed[at.ID] = &c
	}
	swap := func(in []*expr.Attr) []*expr.Attr {
		out := make([]*expr.Attr, len(in))
		for i, at := range in {
			c := *renamed[at.ID]
			c.Qualifier = at.Qualifier
			out[i] = &c
		}
		return out
	}
	return l, &from{node: &Project{Exprs: exprs, Child: r.node}, visible: swap(r.visible), hidden: swap(r.hidden)}
}

// usingJoin joins on columns of equal names, which then exist once.
func (a *Analyzer) usingJoin(j *sql.Join, kind JoinKind, l, r *from) (*from, error) {
	var names []string
	if j.Natural {
		for _, lv := range l.visible {
			for _, rv := range r.visible {
				if strings.EqualFold(lv.Name, rv.Name) {
					names = append(names, lv.Name)
				}
			}
		}
	}
	for _, u := range j.Using {
		names = append(names, u.Name)
	}
	find := func(side string, attrs []*expr.Attr, name string) (*expr.Attr, error) {
		var found *expr.Attr
		var all []string
		for _, at := range attrs {
			all = append(all, at.Name)
			if strings.EqualFold(at.Name, name) {
				if found != nil {
					return nil, ambiguous([]string{name}, []*expr.Attr{found, at}, j.At())
				}
				found = at
			}
		}
		if found == nil {
			p := j.At()
			return nil, sparkerr.At(p.Line, p.Col, "UNRESOLVED_USING_COLUMN_FOR_JOIN", "USING column `%s` cannot be resolved on the %s side of the join, which has: [%s]", name, side, strings.Join(all, ", "))
		}
		return found, nil
	}
	b := a.binder(nil)
	node := &Join{Kind: kind, Left: l.node, Right: r.node, ID: -1}
	if kind == Cross {
		node.Kind = Inner
	}
	lKey, rKey := map[expr.AttrID]bool{}, map[expr.AttrID]bool{}
	var keys []expr.Expr
	var hidden []*expr.Attr
	var made []*expr.Attr
	for _, name := range names {
		la, err := find("left", l.visible, name)
		if err != nil {
			return nil, err
		}
		ra, err := find("right", r.visible, name)
		if err != nil {
			return nil, err
		}
		eq, err := b.Func("=", la, ra)
		if err != nil {
			return nil, atPos(err, j.At())
		}
		node.Cond = a.and(node.Cond, eq)
		lKey[la.ID], rKey[ra.ID] = true, true
		switch kind {
		case RightJoin:
			keys, made, hidden = append(keys, ra), append(made, ra), append(hidden, la)
		case FullJoin:
			c, err := b.Func("coalesce", la, ra)
			if err != nil {
				return nil, err
			}
			al := &expr.Alias{Child: c, Name: la.Name, ID: a.NewID()}
			keys, made, hidden = append(keys, al), append(made, NamedAttr(al)), append(hidden, la, ra)
		case LeftSemi, LeftAnti:
			keys, made = append(keys, la), append(made, la)
		default:
			keys, made, hidden = append(keys, la), append(made, la), append(hidden, ra)
		}
	}
	joined := map[expr.AttrID]*expr.Attr{}
	for _, at := range node.Output() {
		joined[at.ID] = at
	}
	exprs, visible := append([]expr.Expr{}, keys...), append([]*expr.Attr{}, made...)
	add := func(attrs []*expr.Attr, key map[expr.AttrID]bool, show bool) {
		for _, at := range attrs {
			out := joined[at.ID]
			if key[at.ID] || out == nil {
				continue
			}
			c := *out
			c.Qualifier = at.Qualifier
			exprs = append(exprs, &c)
			if show {
				visible = append(visible, &c)
			} else {
				hidden = append(hidden, &c)
			}
		}
	}
	add(l.visible, lKey, true)
	if kind != LeftSemi && kind != LeftAnti {
		add(r.visible, rKey, true)
	}
	add(l.hidden, nil, false)
	add(r.hidden, nil, false)
	have := map[expr.AttrID]bool{}
	for _, e := range exprs {
		have[NamedAttr(e).ID] = true
	}
	var reach []*expr.Attr
	for _, h := range hidden {
		if joined[h.ID] == nil {
			continue
		}
		c := *joined[h.ID]
		c.Qualifier = h.Qualifier
		reach = append(reach, &c)
		if !have[c.ID] {
			exprs = append(exprs, &c)
			have[c.ID] = true
		}
	}
	// The key that stays can still be addressed through its own side.
	return &from{node: &Project{Exprs: exprs, Child: node}, visible: visible, hidden: reach}, nil
}

// and joins two conditions, either of which may be nil.
func (a *Analyzer) and(x, y expr.Expr) expr.Expr {
	if x == nil {
		return y
	}
	if y == nil {
		return x
	}
	return expr.NewAnd(x, y)
}

func unalias(e expr.Expr) expr.Expr {
	if al, ok := e.(*expr.Alias); ok {
		return al.Child
	}
	return e
}

// Rename gives the columns of n other names.
func (a *Analyzer) Rename(n Node, columns []string) (Node, error) {
	return a.rename(n, columns, &sql.Table{})
}
