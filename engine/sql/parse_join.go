package sql

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
