package sql

import (
	"strconv"
	"strings"
)

// from reads what follows FROM: relations between commas, and the clauses that apply to all of them.
func (p *parser) from() (Relation, error) {
	start := p.i
	left, err := p.relation()
	if err != nil {
		return nil, err
	}
	for chain := 0; p.acceptOp(","); {
		if err := p.chained(&chain); err != nil {
			return nil, err
		}
		right, err := p.relation()
		if err != nil {
			return nil, err
		}
		j := &Join{Span: p.spanFrom(start), Kind: InnerJoin, Left: left, Right: right, Comma: true}
		if l, ok := right.(*Lateral); ok {
			j.Lateral, j.Right = true, l.Input
		}
		left = j
	}
	before := left
	if left, err = p.lateralViews(start, left); err != nil {
		return nil, err
	}
	if left != before && (p.is("PIVOT") && p.ahead(1).isOp("(") || p.unpivotAhead()) {
		word := p.peek().word
		p.fault(p.peek().span, "NOT_ALLOWED_IN_FROM.LATERAL_WITH_"+word,
			"Not allowed in the FROM clause: LATERAL together with %s.", word)
	}
	return p.pivots(start, left)
}

// pivots reads the PIVOT and UNPIVOT clauses behind a relation.
func (p *parser) pivots(start int, r Relation) (Relation, error) {
	for {
		switch {
		case p.is("PIVOT") && p.ahead(1).isOp("("):
			pv, err := p.pivot()
			if err != nil {
				return nil, err
			}
			pv.Input, pv.Span = r, p.spanFrom(start)
			r = pv
		case p.unpivotAhead():
			up, err := p.unpivot()
			if err != nil {
				return nil, err
			}
			up.Input, up.Span = r, p.spanFrom(start)
			r = up
		default:
			return r, nil
		}
	}
}

func (p *parser) unpivotAhead() bool {
	return p.is("UNPIVOT") && (p.ahead(1).isOp("(") || p.ahead(1).isAny("INCLUDE", "EXCLUDE"))
}

// lateralViews reads the LATERAL VIEWs behind a relation, which may be nil.
func (p *parser) lateralViews(start int, r Relation) (Relation, error) {
	for chain := 0; p.is("LATERAL") && p.ahead(1).word == "VIEW"; {
		if err := p.chained(&chain); err != nil {
			return nil, err
		}
		p.i += 2
		v := &LateralView{Input: r, Outer: p.is("OUTER") && p.ahead(1).isName()}
		if v.Outer {
			p.i++
		}
		at := p.i
		name, err := p.qualifiedName()
		if err != nil {
			return nil, err
		}
		c := &Call{Name: name}
		if err := p.expectOp("("); err != nil {
			return nil, err
		}
		if !p.isOp(")") {
			if c.Args, err = list(p, p.expr); err != nil {
				return nil, err
			}
		}
		if err := p.expectOp(")"); err != nil {
			return nil, err
		}
		c.Span = p.spanFrom(at)
		v.Func = c
		if v.Name, err = p.ident(); err != nil {
			return nil, err
		}
		if p.accept("AS") || p.peek().isName() && !strictWord(p.peek().word) && !p.clauseAhead() && !p.ahead(1).isOp("(") {
			if v.Columns, err = p.identSeq(); err != nil {
				return nil, err
			}
		}
		v.Span = p.spanFrom(start)
		r = v
	}
	return r, nil
}

// qualifiedName reads a name of several parts, where an operator may follow.
func (p *parser) qualifiedName() ([]Ident, error) {
	var parts []Ident
	for {
		id, err := p.ident()
		if err != nil {
			return nil, err
		}
		parts = append(parts, id)
		if !p.acceptOp(".") {
			return parts, nil
		}
	}
}

// relation reads a relation and the joins and pivots behind it.
func (p *parser) relation() (Relation, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	start := p.i
	lateral := p.is("LATERAL") && (p.ahead(1).isName() || p.ahead(1).isOp("("))
	if lateral {
		p.i++
	}
	left, err := p.relationPrimary()
	if err != nil {
		return nil, err
	}
	if lateral {
		p.checkLateral(p.spanFrom(start), left)
		left = &Lateral{Span: p.spanFrom(start), Input: left}
	}
	for chain := 0; ; {
		if p.joinAhead() {
			j, err := p.join()
			if err != nil {
				return nil, err
			}
			j.Left, j.Span = left, p.spanFrom(start)
			left = j
		} else {
			before := left
			if left, err = p.pivots(start, left); err != nil {
				return nil, err
			}
			if left == before {
				return left, nil
			}
		}
		if err := p.chained(&chain); err != nil {
			return nil, err
		}
	}
}

// join reads a join without its left side.
func (p *parser) join() (*Join, error) {
	start := p.i
	j := &Join{Natural: p.accept("NATURAL")}
	switch {
	case p.accept("CROSS"):
		j.Kind = CrossJoin
	case p.accept("SEMI"):
		j.Kind = LeftSemiJoin
	case p.accept("ANTI"):
		j.Kind = LeftAntiJoin
	case p.accept("LEFT"):
		switch {
		case p.accept("SEMI"):
			j.Kind = LeftSemiJoin
		case p.accept("ANTI"):
			j.Kind = LeftAntiJoin
		default:
			p.accept("OUTER")
			j.Kind = LeftOuterJoin
		}
	case p.accept("RIGHT"):
		p.accept("OUTER")
		j.Kind = RightOuterJoin
	case p.accept("FULL"):
		p.accept("OUTER")
		j.Kind = FullOuterJoin
	default:
		p.accept("INNER")
	}
	if err := p.expect("JOIN"); err != nil {
		return nil, err
	}
	if p.is("LATERAL") && (p.ahead(1).isName() || p.ahead(1).isOp("(")) {
		p.i++
		j.Lateral = true
	}
	at := p.i
	right, err := p.relationPrimary()
	if err != nil {
		return nil, err
	}
	j.Right = right
	if j.Lateral {
		p.checkLateral(p.spanFrom(at), right)
	}
	if !j.Natural {
		switch {
		case p.accept("ON"):
			j.On, err = p.expr()
		case p.accept("USING"):
			j.Using, err = p.identList()
		}
		if err != nil {
			return nil, err
		}
	}
	j.Span = p.spanFrom(start)
	p.checkJoin(j)
	return j, nil
}

// checkJoin notes the faults of words that do not go together.
func (p *parser) checkJoin(j *Join) {
	switch {
	case j.Lateral && j.Kind != InnerJoin && j.Kind != CrossJoin && j.Kind != LeftOuterJoin:
		p.fault(j.Span, "INVALID_LATERAL_JOIN_TYPE",
			"The %s JOIN with LATERAL correlation is not allowed because an OUTER subquery cannot correlate to its join partner. "+
				"Remove the LATERAL correlation or use an INNER JOIN, or LEFT OUTER JOIN instead.", j.Kind)
	case j.Lateral && j.Natural:
		p.fault(j.Span, "UNSUPPORTED_FEATURE.LATERAL_NATURAL_JOIN",
			"The feature is not supported: NATURAL join with LATERAL correlation.")
	case j.Lateral && j.Using != nil:
		p.fault(j.Span, "UNSUPPORTED_FEATURE.LATERAL_JOIN_USING",
			"The feature is not supported: JOIN USING with LATERAL correlation.")
	case j.Natural && j.Kind == CrossJoin:
		p.fault(j.Span, "INCOMPATIBLE_JOIN_TYPES", "The join types NATURAL and CROSS are incompatible.")
	}
}

// checkLateral notes the fault of LATERAL before anything but a query or a function.
func (p *parser) checkLateral(at Span, r Relation) {
	inner := r
	if a, ok := inner.(*Aliased); ok {
		inner = a.Input
	}
	switch inner.(type) {
	case *Derived, *TableFunc:
	default:
		p.fault(at, "INVALID_SQL_SYNTAX.LATERAL_WITHOUT_SUBQUERY_OR_TABLE_VALUED_FUNC",
			"Invalid SQL syntax: LATERAL can only be used with subquery and table-valued functions.")
	}
}

// relationPrimary reads one relation with its sample, watermark and alias.
func (p *parser) relationPrimary() (Relation, error) {
	start := p.i
	r, sampled, err := p.relationCore()
	if err != nil {
		return nil, err
	}
	if sampled && p.is("TABLESAMPLE") && p.ahead(1).isOp("(") {
		s, err := p.sample()
		if err != nil {
			return nil, err
		}
		r = &Sampled{Span: p.spanFrom(start), Input: r, Sample: s}
	}
	if _, values := r.(*Values); !values && p.is("WATERMARK") {
		if r, err = p.watermark(start, r); err != nil {
			return nil, err
		}
	}
	return p.aliased(start, r)
}

// relationCore reads a relation by its first token, and tells whether it may be sampled.
func (p *parser) relationCore() (r Relation, sampled bool, err error) {
	if p.isOp("(") {
		r, err = p.relationParens()
		return r, true, err
	}
	if p.is("VALUES") && !p.ahead(1).isOp(".") {
		var v *Values
		ok, err := p.tryHere(ruleRelation, func() (err error) {
			v, err = p.values()
			return err
		})
		if err != nil {
			return nil, false, err
		}
		if ok {
			return v, false, nil
		}
	}
	if p.is("STREAM") && (p.ahead(1).isOp("(") || p.ahead(1).isName() && !strictWord(p.ahead(1).word) && !p.streamIsName()) {
		return p.stream()
	}
	start := p.i
	if !p.peek().isName() {
		return nil, false, p.fail("a table", "'('", "VALUES")
	}
	name, err := p.name()
	if err != nil {
		return nil, false, err
	}
	if p.isOp("(") {
		r, err = p.tableFunc(start, name)
		return r, false, err
	}
	t := &Table{Name: name}
	if t.AsOf, err = p.asOf(); err != nil {
		return nil, false, err
	}
	if t.Options, err = p.options(); err != nil {
		return nil, false, err
	}
	t.Span = p.spanFrom(start)
	return t, true, nil
}

// streamIsName tells whether STREAM is the name of a table, since a clause follows it.
func (p *parser) streamIsName() bool {
	m := p.mark()
	p.i++
	ahead := p.is("AS") || p.clauseAhead()
	p.reset(m)
	return ahead
}

// stream reads STREAM name, STREAM(name) and STREAM f(…).
func (p *parser) stream() (Relation, bool, error) {
	start := p.i
	p.i++
	t := &Table{Stream: true}
	var err error
	if p.acceptOp("(") {
		if t.Name, err = p.name(); err != nil {
			return nil, false, err
		}
		if err := p.expectOp(")"); err != nil {
			return nil, false, err
		}
	} else {
		if t.Name, err = p.name(); err != nil {
			return nil, false, err
		}
		if p.isOp("(") {
			f, err := p.tableFunc(start, t.Name)
			if err != nil {
				return nil, false, err
			}
			f.(*TableFunc).Stream = true
			return f, false, nil
		}
	}
	if t.Options, err = p.options(); err != nil {
		return nil, false, err
	}
	t.Span = p.spanFrom(start)
	return t, false, nil
}

// relationParens reads (query) or (relation).
func (p *parser) relationParens() (Relation, error) {
	start := p.i
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if p.queryAhead(1) {
		var q Query
		ok, err := p.tryHere(ruleRelation, func() (err error) {
			p.i++
			if q, err = p.query(); err != nil {
				return err
			}
			return p.expectOp(")")
		})
		if err != nil {
			return nil, err
		}
		if ok {
			return &Derived{Span: p.spanFrom(start), Query: q}, nil
		}
	}
	p.i++
	r, err := p.relation()
	if err != nil {
		return nil, err
	}
	return r, p.expectOp(")")
}

// values reads VALUES with its rows.
func (p *parser) values() (*Values, error) {
	start := p.i
	if err := p.expect("VALUES"); err != nil {
		return nil, err
	}
	rows, err := list(p, p.expr)
	if err != nil {
		return nil, err
	}
	return &Values{Span: p.spanFrom(start), Rows: rows}, nil
}

// aliased reads the name of a relation and of its columns, if there are any.
func (p *parser) aliased(start int, r Relation) (Relation, error) {
	as := p.accept("AS")
	t := p.peek()
	if !as && (!t.isName() || strictWord(t.word) || p.clauseAhead()) {
		return r, nil
	}
	name, err := p.tableIdent()
	if err != nil {
		return nil, err
	}
	a := &Aliased{Input: r, Name: name}
	if p.isOp("(") {
		if a.Columns, err = p.identList(); err != nil {
			return nil, err
		}
	}
	a.Span = p.spanFrom(start)
	return a, nil
}

// asOf reads the temporal clause of a table.
func (p *parser) asOf() (*AsOf, error) {
	n := 0
	if p.is("FOR") {
		n = 1
	}
	kind := p.ahead(n).word
	switch kind {
	case "VERSION", "SYSTEM_VERSION", "TIMESTAMP", "SYSTEM_TIME":
	default:
		return nil, nil
	}
	if p.ahead(n+1).word != "AS" || p.ahead(n+2).word != "OF" {
		return nil, nil
	}
	start := p.i
	p.i += n + 3
	a := &AsOf{}
	if strings.HasSuffix(kind, "VERSION") {
		switch t := p.peek(); t.kind {
		case tokNumber:
			a.Version = t.text
		case tokString:
			a.Version = t.value
		default:
			return nil, p.fail("a version")
		}
		p.i++
	} else {
		x, err := p.value()
		if err != nil {
			return nil, err
		}
		a.Timestamp = x
	}
	a.Span = p.spanFrom(start)
	return a, nil
}

// options reads WITH ('key' = 'value', …).
func (p *parser) options() ([]Option, error) {
	if !p.is("WITH") || !p.ahead(1).isOp("(") {
		return nil, nil
	}
	p.i += 2
	opts, err := list(p, p.option)
	if err != nil {
		return nil, err
	}
	return opts, p.expectOp(")")
}

// option reads one key with its value; the equals sign may be left out.
func (p *parser) option() (Option, error) {
	start := p.i
	var o Option
	if p.peek().kind == tokString {
		o.Key, _ = p.stringSeq()
	} else {
		name, err := p.name()
		if err != nil {
			return o, err
		}
		o.Key = strings.Join(Names(name), ".")
	}
	p.acceptOp("=")
	switch t := p.peek(); {
	case t.kind == tokString:
		o.Value, _ = p.stringSeq()
	case t.kind == tokNumber, t.isAny("TRUE", "FALSE"):
		o.Value = strings.ToLower(p.next().text)
	default:
		return o, p.fail("a value")
	}
	o.Span = p.spanFrom(start)
	return o, nil
}

// tableFunc reads the arguments of a function that stands as a relation.
func (p *parser) tableFunc(start int, name []Ident) (Relation, error) {
	p.i++
	f := &TableFunc{Name: name}
	if !p.isOp(")") {
		args, err := list(p, p.tableArgument)
		if err != nil {
			return nil, err
		}
		f.Args = args
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	f.Span = p.spanFrom(start)
	return f, nil
}

// tableArgument reads an argument of a table function, which may be a table.
func (p *parser) tableArgument() (Expr, error) {
	start := p.i
	named := p.peek().isName() && p.ahead(1).isOp("=>") && p.ahead(2).word == "TABLE"
	if !named && (!p.is("TABLE") || !p.ahead(1).isOp("(") && !p.ahead(1).isName()) {
		return p.argument()
	}
	var name Ident
	if named {
		name = p.identOf(p.next())
		p.i++
	}
	arg, err := p.tableArg()
	if err != nil {
		return nil, err
	}
	if !named {
		return arg, nil
	}
	return &NamedArg{Span: p.spanFrom(start), Name: name, Value: arg}, nil
}

// tableArg reads TABLE name, TABLE(name) or TABLE(query), and how it is to be partitioned.
func (p *parser) tableArg() (*TableArg, error) {
	start := p.i
	p.i++
	at := p.i
	a := &TableArg{}
	switch {
	case p.isOp("(") && p.queryAhead(1):
		p.i++
		q, err := p.query()
		if err != nil {
			return nil, err
		}
		if err := p.expectOp(")"); err != nil {
			return nil, err
		}
		a.Input = &Derived{Span: p.spanFrom(at), Query: q}
	default:
		parens := p.acceptOp("(")
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		if parens {
			if err := p.expectOp(")"); err != nil {
				return nil, err
			}
		}
		a.Input = &Table{Span: p.spanFrom(at), Name: name}
	}
	var err error
	switch {
	case p.acceptSeq("WITH", "SINGLE", "PARTITION"):
		a.SinglePartition = true
	case p.acceptSeq("PARTITION", "BY"), p.acceptSeq("DISTRIBUTE", "BY"):
		if p.acceptOp("(") {
			if a.PartitionBy, err = list(p, p.expr); err == nil {
				err = p.expectOp(")")
			}
		} else {
			var x Expr
			x, err = p.expr()
			a.PartitionBy = []Expr{x}
		}
	}
	if err != nil {
		return nil, err
	}
	if p.acceptSeq("ORDER", "BY") || p.acceptSeq("SORT", "BY") {
		if p.acceptOp("(") {
			if a.OrderBy, err = list(p, p.sortItem); err == nil {
				err = p.expectOp(")")
			}
		} else {
			var s SortItem
			s, err = p.sortItem()
			a.OrderBy = []SortItem{s}
		}
		if err != nil {
			return nil, err
		}
	}
	a.Span = p.spanFrom(start)
	return a, nil
}

// watermark reads WATERMARK column DELAY OF INTERVAL …, unless the word is the relation's name.
func (p *parser) watermark(start int, r Relation) (Relation, error) {
	w := &Watermarked{Input: r}
	ok, err := p.tryHere(ruleSpecial, func() (err error) {
		p.i++
		if w.Column, err = p.named(); err != nil {
			return err
		}
		if err = p.expectSeq("DELAY", "OF"); err != nil {
			return err
		}
		if !p.is("INTERVAL") {
			return p.fail("INTERVAL")
		}
		x, err := p.intervalLiteral()
		if err != nil {
			return err
		}
		w.Delay = x.(*IntervalLit)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !ok {
		return r, nil
	}
	w.Span = p.spanFrom(start)
	return w, nil
}

// sample reads TABLESAMPLE (…) [REPEATABLE (seed)].
func (p *parser) sample() (*Sample, error) {
	start := p.i
	p.i += 2
	s := &Sample{}
	if err := p.sampleMethod(s); err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	if p.accept("REPEATABLE") {
		if err := p.expectOp("("); err != nil {
			return nil, err
		}
		var err error
		if s.Seed, err = p.wholeNumberToken(); err != nil {
			return nil, err
		}
		s.HasSeed = true
		if err := p.expectOp(")"); err != nil {
			return nil, err
		}
	}
	s.Span = p.spanFrom(start)
	return s, nil
}

func (p *parser) sampleMethod(s *Sample) error {
	var err error
	n := 0
	if p.isOp("-") {
		n = 1
	}
	switch {
	case p.is("BUCKET") && p.ahead(1).kind == tokNumber:
		p.i++
		s.Kind = SampleBucket
		if s.Num, err = p.wholeNumberToken(); err != nil {
			return err
		}
		if err := p.expectSeq("OUT", "OF"); err != nil {
			return err
		}
		at := p.peek().span
		if s.Denom, err = p.wholeNumberToken(); err != nil {
			return err
		}
		if s.Denom == 0 || s.Num > s.Denom {
			p.fault(at, "_LEGACY_ERROR_TEMP_0015", "Sampling fraction (%d/%d) must be on interval [0, 1].", s.Num, s.Denom)
		}
		return nil
	case p.ahead(n).kind == tokNumber && p.ahead(n+1).word == "PERCENT":
		at := p.ahead(n).span
		v, err := strconv.ParseFloat(p.ahead(n).text, 64)
		if err != nil {
			p.i += n
			return p.fail("a number")
		}
		if n == 1 {
			v = -v
		}
		p.i += n + 2
		if v < 0 || v > 100 {
			p.fault(at, "_LEGACY_ERROR_TEMP_0015", "Sampling fraction (%v) must be on interval [0, 1].", v/100)
		}
		s.Kind, s.Percent = SamplePercent, v
		return nil
	}
	if s.Rows, err = p.expr(); err != nil {
		return err
	}
	s.Kind = SampleRows
	return p.expect("ROWS")
}

// wholeNumberToken reads a whole number without sign and suffix.
func (p *parser) wholeNumberToken() (int64, error) {
	t := p.peek()
	if t.kind == tokNumber {
		if v, err := strconv.ParseInt(t.text, 10, 64); err == nil {
			p.i++
			return v, nil
		}
	}
	return 0, p.fail("a whole number")
}

// pivot reads PIVOT (aggregates FOR columns IN (values)).
func (p *parser) pivot() (*Pivot, error) {
	start := p.i
	p.i++
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	pv := &Pivot{}
	var err error
	if pv.Aggregates, err = list(p, p.named); err != nil {
		return nil, err
	}
	if err := p.expect("FOR"); err != nil {
		return nil, err
	}
	if p.isOp("(") {
		pv.Columns, err = p.identList()
	} else {
		var id Ident
		id, err = p.wholeIdent()
		pv.Columns = []Ident{id}
	}
	if err != nil {
		return nil, err
	}
	if err := p.expect("IN"); err != nil {
		return nil, err
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	if pv.Values, err = list(p, p.named); err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	pv.Span = p.spanFrom(start)
	return pv, nil
}

// unpivot reads UNPIVOT (values FOR name IN (columns)).
func (p *parser) unpivot() (*Unpivot, error) {
	start := p.i
	p.i++
	u := &Unpivot{}
	if p.isAny("INCLUDE", "EXCLUDE") {
		u.IncludeNulls = p.next().word == "INCLUDE"
		if err := p.expect("NULLS"); err != nil {
			return nil, err
		}
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	var err error
	if p.isOp("(") {
		u.Multi = true
		u.ValueColumns, err = p.identList()
	} else {
		var id Ident
		id, err = p.ident()
		u.ValueColumns = []Ident{id}
	}
	if err != nil {
		return nil, err
	}
	if err := p.expect("FOR"); err != nil {
		return nil, err
	}
	if u.NameColumn, err = p.ident(); err != nil {
		return nil, err
	}
	if err := p.expect("IN"); err != nil {
		return nil, err
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	set := func() (UnpivotSet, error) { return p.unpivotSet(u.Multi) }
	if u.Sets, err = list(p, set); err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	if t := p.peek(); p.accept("AS") || t.isName() && !strictWord(t.word) && !p.clauseAhead() {
		if u.Alias, err = p.wholeIdent(); err != nil {
			return nil, err
		}
	}
	u.Span = p.spanFrom(start)
	return u, nil
}

// unpivotSet reads one entry of UNPIVOT's IN list.
func (p *parser) unpivotSet(multi bool) (UnpivotSet, error) {
	start := p.i
	var s UnpivotSet
	var err error
	if multi {
		if err := p.expectOp("("); err != nil {
			return s, err
		}
		if s.Columns, err = list(p, p.name); err != nil {
			return s, err
		}
		if err := p.expectOp(")"); err != nil {
			return s, err
		}
	} else {
		name, err := p.name()
		if err != nil {
			return s, err
		}
		s.Columns = [][]Ident{name}
	}
	if p.accept("AS") || p.peek().isName() {
		if s.Alias, err = p.wholeIdent(); err != nil {
			return s, err
		}
	}
	s.Span = p.spanFrom(start)
	return s, nil
}
