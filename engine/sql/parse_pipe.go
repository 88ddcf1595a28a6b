package sql

// pipeOp reads the operator behind |>.
func (p *parser) pipeOp() (PipeOp, error) {
	start := p.i
	switch p.peek().word {
	case "SELECT":
		return p.pipeSelect()
	case "EXTEND":
		p.i++
		items, err := list(p, p.named)
		if err != nil {
			return nil, err
		}
		return &PipeExtend{Span: p.spanFrom(start), Items: items}, nil
	case "SET":
		return p.pipeSet()
	case "DROP":
		p.i++
		ids, err := p.identSeq()
		if err != nil {
			return nil, err
		}
		return &PipeDrop{Span: p.spanFrom(start), Columns: ids}, nil
	case "AS":
		p.i++
		id, err := p.wholeIdent()
		if err != nil {
			return nil, err
		}
		return &PipeAs{Span: p.spanFrom(start), Name: id}, nil
	case "WHERE":
		p.i++
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		return &PipeWhere{Span: p.spanFrom(start), Cond: x}, nil
	case "PIVOT":
		pv, err := p.pivot()
		if err != nil {
			return nil, err
		}
		return &PipePivot{Span: p.spanFrom(start), Pivot: pv}, nil
	case "UNPIVOT":
		u, err := p.unpivot()
		if err != nil {
			return nil, err
		}
		return &PipeUnpivot{Span: p.spanFrom(start), Unpivot: u}, nil
	case "TABLESAMPLE":
		if !p.ahead(1).isOp("(") {
			p.i++
			return nil, p.fail("'('")
		}
		s, err := p.sample()
		if err != nil {
			return nil, err
		}
		return &PipeSample{Span: p.spanFrom(start), Sample: s}, nil
	case "AGGREGATE":
		return p.pipeAggregate()
	}
	p.could("SELECT", "WHERE", "EXTEND", "AGGREGATE", "JOIN", "SET", "DROP", "AS", "PIVOT", "UNPIVOT", "TABLESAMPLE", "UNION")
	if p.joinAhead() {
		j, err := p.join()
		if err != nil {
			return nil, err
		}
		return &PipeJoin{Span: p.spanFrom(start), Join: j}, nil
	}
	if kind, ok := p.setOp(); ok {
		all := p.quantifier()
		right, err := p.queryPrimary()
		if err != nil {
			return nil, err
		}
		return &PipeSetOp{Span: p.spanFrom(start), Kind: kind, All: all, Right: right}, nil
	}
	o, err := p.organization()
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, errSyntax
	}
	return &PipeOrder{Span: p.spanFrom(start), Order: o}, nil
}

// pipeSelect reads SELECT … and the WINDOW clause behind it.
func (p *parser) pipeSelect() (PipeOp, error) {
	start := p.i
	s := &PipeSelect{}
	var err error
	if s.Hints, s.Distinct, s.Items, err = p.selectClause(); err != nil {
		return nil, err
	}
	if s.Windows, err = p.windowClause(); err != nil {
		return nil, err
	}
	s.Span = p.spanFrom(start)
	return s, nil
}

// pipeSet reads SET a = x, b = y.
func (p *parser) pipeSet() (PipeOp, error) {
	start := p.i
	s := &PipeSet{}
	for p.i++; ; {
		id, err := p.wholeIdent()
		if err != nil {
			return nil, err
		}
		if !p.acceptOp("=") && !p.acceptOp("==") {
			return nil, p.fail("'='")
		}
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		s.Columns = append(s.Columns, id)
		s.Values = append(s.Values, x)
		if !p.acceptOp(",") {
			s.Span = p.spanFrom(start)
			return s, nil
		}
	}
}

// pipeAggregate reads AGGREGATE … [GROUP BY …]; at least one of the two lists is there.
func (p *parser) pipeAggregate() (PipeOp, error) {
	start := p.i
	p.i++
	a := &PipeAggregate{}
	var err error
	grouped := p.is("GROUP") && p.ahead(1).word == "BY"
	if !grouped {
		if a.Items, err = list(p, p.named); err != nil {
			return nil, err
		}
		grouped = p.is("GROUP") && p.ahead(1).word == "BY"
	}
	if grouped {
		if a.GroupBy, err = p.groupBy(p.named); err != nil {
			return nil, err
		}
	}
	a.Span = p.spanFrom(start)
	return a, nil
}
