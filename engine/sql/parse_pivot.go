package sql

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
