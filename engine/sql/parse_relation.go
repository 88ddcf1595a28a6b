package sql

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
