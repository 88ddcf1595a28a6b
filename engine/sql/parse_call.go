package sql

import "strings"

// call reads the arguments of a function call and everything that may follow them.
func (p *parser) call(start int, name []Ident) (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	c := &Call{Name: name}
	p.i++
	if p.isAny("DISTINCT", "ALL") && !p.ahead(1).isOp(",") && !p.ahead(1).isOp(")") && !p.ahead(1).isOp(".") {
		c.Distinct = p.next().word == "DISTINCT"
	}
	if !p.isOp(")") || c.Distinct {
		args, err := list(p, p.argument)
		if err != nil {
			return nil, err
		}
		c.Args = args
	}
	if p.toks[start].isAny("FIRST", "LAST", "ANY_VALUE") && p.acceptSeq("IGNORE", "NULLS") {
		c.Nulls = IgnoreNulls
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	if err := p.callSuffixes(c); err != nil {
		return nil, err
	}
	c.Span = p.spanFrom(start)
	return c, nil
}

// argument reads an argument: an expression, or name => expression.
func (p *parser) argument() (Expr, error) {
	if !p.peek().isName() || !p.ahead(1).isOp("=>") {
		return p.expr()
	}
	start := p.i
	name, err := p.ident()
	if err != nil {
		return nil, err
	}
	p.i++
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	return &NamedArg{Span: p.spanFrom(start), Name: name, Value: x}, nil
}

// callSuffixes reads WITHIN GROUP, FILTER, IGNORE or RESPECT NULLS, and OVER.
func (p *parser) callSuffixes(c *Call) error {
	var err error
	if p.is("WITHIN") && p.ahead(1).word == "GROUP" {
		p.i += 2
		if err := p.expectOp("("); err != nil {
			return err
		}
		if err := p.expectSeq("ORDER", "BY"); err != nil {
			return err
		}
		if c.Within, err = list(p, p.sortItem); err != nil {
			return err
		}
		if err := p.expectOp(")"); err != nil {
			return err
		}
	}
	if p.is("FILTER") && p.ahead(1).isOp("(") {
		p.i += 2
		if err := p.expect("WHERE"); err != nil {
			return err
		}
		if c.Filter, err = p.expr(); err != nil {
			return err
		}
		if err := p.expectOp(")"); err != nil {
			return err
		}
	}
	switch {
	case p.acceptSeq("IGNORE", "NULLS"):
		c.Nulls = IgnoreNulls
	case p.acceptSeq("RESPECT", "NULLS"):
		c.Nulls = RespectNulls
	}
	if p.is("OVER") && (p.ahead(1).isOp("(") || p.ahead(1).isName() && p.ahead(1).word != "FROM") {
		p.i++
		if c.Over, err = p.windowSpec(); err != nil {
			return err
		}
	}
	return nil
}

// sortItem reads an expression with ASC or DESC and NULLS FIRST or LAST.
func (p *parser) sortItem() (SortItem, error) {
	start := p.i
	x, err := p.expr()
	if err != nil {
		return SortItem{}, err
	}
	s := SortItem{X: x}
	if err := p.direction(&s); err != nil {
		return SortItem{}, err
	}
	s.Span = p.spanFrom(start)
	return s, nil
}

// direction reads what may follow the expression of a sort item.
func (p *parser) direction(s *SortItem) error {
	if !p.accept("ASC") {
		s.Desc = p.accept("DESC")
	}
	s.NullsFirst = !s.Desc
	if p.accept("NULLS") {
		s.NullsExplicit = true
		switch {
		case p.accept("FIRST"):
			s.NullsFirst = true
		case p.accept("LAST"):
			s.NullsFirst = false
		default:
			return p.fail("FIRST", "LAST")
		}
	}
	return nil
}

// windowSpec reads the window behind OVER: a name, or a definition in parentheses.
func (p *parser) windowSpec() (*WindowSpec, error) {
	start := p.i
	w := &WindowSpec{}
	var err error
	if p.peek().isName() {
		if w.Ref, err = p.wholeIdent(); err != nil {
			return nil, err
		}
		w.Span = p.spanFrom(start)
		return w, nil
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	if p.peek().isName() && p.ahead(1).isOp(")") {
		w.Ref = p.identOf(p.next())
		p.i++
		w.Span = p.spanFrom(start)
		return w, nil
	}
	switch {
	case p.acceptSeq("CLUSTER", "BY"):
		w.PartitionBy, err = list(p, p.expr)
	case p.acceptSeq("PARTITION", "BY"), p.acceptSeq("DISTRIBUTE", "BY"):
		w.PartitionBy, err = list(p, p.expr)
	}
	if err != nil {
		return nil, err
	}
	if p.acceptSeq("ORDER", "BY") || p.acceptSeq("SORT", "BY") {
		if w.OrderBy, err = list(p, p.sortItem); err != nil {
			return nil, err
		}
	}
	if p.isAny("ROWS", "RANGE") {
		if w.Frame, err = p.frame(); err != nil {
			return nil, err
		}
	}
	if !p.acceptOp(")") {
		return nil, p.fail("PARTITION", "ORDER", "ROWS", "RANGE", "')'")
	}
	w.Span = p.spanFrom(start)
	return w, nil
}

// frame reads ROWS or RANGE with its bounds; with one bound the other is the current row.
func (p *parser) frame() (*Frame, error) {
	start := p.i
	f := &Frame{Range: p.next().word == "RANGE"}
	var err error
	if !p.accept("BETWEEN") {
		if f.Start, err = p.bound(); err != nil {
			return nil, err
		}
		f.Span = p.spanFrom(start)
		f.End = Bound{Span: f.Span, Kind: CurrentRow}
		return f, nil
	}
	if f.Start, err = p.bound(); err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	if f.End, err = p.bound(); err != nil {
		return nil, err
	}
	f.Span = p.spanFrom(start)
	return f, nil
}

// bound reads one end of a frame.
func (p *parser) bound() (Bound, error) {
	start := p.i
	b := Bound{}
	switch {
	case p.acceptSeq("UNBOUNDED", "PRECEDING"):
		b.Kind = UnboundedPreceding
	case p.acceptSeq("UNBOUNDED", "FOLLOWING"):
		b.Kind = UnboundedFollowing
	case p.acceptSeq("CURRENT", "ROW"):
		b.Kind = CurrentRow
	default:
		x, err := p.value()
		if err != nil {
			return b, err
		}
		b.Offset = x
		switch {
		case p.accept("PRECEDING"):
			b.Kind = Preceding
		case p.accept("FOLLOWING"):
			b.Kind = Following
		default:
			return b, p.fail("PRECEDING", "FOLLOWING")
		}
	}
	b.Span = p.spanFrom(start)
	return b, nil
}

// keywordCall makes the call of a special syntax, whose text began at start.
func (p *parser) keywordCall(start int, name string, args ...Expr) *Call {
	return &Call{
		Span:    p.spanFrom(start),
		Name:    []Ident{{Span: p.toks[start].span, Name: name}},
		Args:    args,
		Keyword: true,
	}
}

// structCall reads STRUCT(a AS x, …).
func (p *parser) structCall() (Expr, error) {
	start := p.i
	c := &Call{Name: []Ident{p.identOf(p.next())}}
	p.i++
	if !p.isOp(")") {
		args, err := list(p, p.named)
		if err != nil {
			return nil, err
		}
		c.Args = args
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	c.Span = p.spanFrom(start)
	return c, nil
}

// position reads POSITION(a IN b), which Spark calls locate.
func (p *parser) position() (Expr, error) {
	start := p.i
	p.i += 2
	args, err := p.keywordArgs("IN")
	if err != nil {
		return nil, err
	}
	return p.keywordCall(start, "locate", args...), nil
}

// keywordArgs reads values with the words between them, and the closing parenthesis. The words
// after the first may be left out together with their value.
func (p *parser) keywordArgs(words ...string) ([]Expr, error) {
	x, err := p.value()
	if err != nil {
		return nil, err
	}
	args := []Expr{x}
	for i, w := range words {
		if i > 0 && !p.is(w) && w == "FOR" {
			break
		}
		if err := p.expect(w); err != nil {
			return nil, err
		}
		if x, err = p.value(); err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	return args, p.expectOp(")")
}

// extract reads EXTRACT(field FROM x).
func (p *parser) extract() (Expr, error) {
	start := p.i
	p.i += 2
	field, err := p.ident()
	if err != nil {
		return nil, err
	}
	if err := p.expect("FROM"); err != nil {
		return nil, err
	}
	x, err := p.value()
	if err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	return p.keywordCall(start, p.toks[start].text, &StringLit{Span: field.Span, Value: field.Name}, x), nil
}

// substring reads SUBSTRING(x FROM a [FOR b]).
func (p *parser) substring() (Expr, error) {
	start := p.i
	p.i += 2
	args, err := p.keywordArgs("FROM", "FOR")
	if err != nil {
		return nil, err
	}
	return p.keywordCall(start, p.toks[start].text, args...), nil
}

// overlay reads OVERLAY(x PLACING y FROM a [FOR b]).
func (p *parser) overlay() (Expr, error) {
	start := p.i
	p.i += 2
	args, err := p.keywordArgs("PLACING", "FROM", "FOR")
	if err != nil {
		return nil, err
	}
	return p.keywordCall(start, p.toks[start].text, args...), nil
}

// trim reads TRIM([BOTH|LEADING|TRAILING] [y] FROM x).
func (p *parser) trim() (Expr, error) {
	start := p.i
	p.i += 2
	name := "trim"
	if !p.ahead(1).isOp(",") && !p.ahead(1).isOp(")") {
		switch {
		case p.accept("LEADING"):
			name = "ltrim"
		case p.accept("TRAILING"):
			name = "rtrim"
		default:
			p.accept("BOTH")
		}
	}
	var chars Expr
	var err error
	if !p.is("FROM") {
		if chars, err = p.value(); err != nil {
			return nil, err
		}
	}
	if err := p.expect("FROM"); err != nil {
		return nil, err
	}
	x, err := p.value()
	if err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	if chars == nil {
		return p.keywordCall(start, name, x), nil
	}
	return p.keywordCall(start, name, x, chars), nil
}

// unitCall reads DATEADD(unit, n, ts), DATEDIFF(unit, a, b) and their synonyms.
func (p *parser) unitCall() (Expr, error) {
	start := p.i
	name := p.next()
	p.i++
	unit := p.next()
	switch unit.word {
	case "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND":
	default:
		if unit.kind != tokString {
			p.i = start + 2
			return nil, p.fail("a unit such as DAY or HOUR")
		}
	}
	args := make([]Expr, 2)
	for i := range args {
		if err := p.expectOp(","); err != nil {
			return nil, err
		}
		x, err := p.value()
		if err != nil {
			return nil, err
		}
		args[i] = x
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	if unit.kind == tokString {
		p.fault(unit.span, "INVALID_PARAMETER_VALUE.DATETIME_UNIT",
			"The value of parameter(s) `unit` in `%s` is invalid: expects one of the units without quotes YEAR, QUARTER, MONTH, WEEK, "+
				"DAY, DAYOFYEAR, HOUR, MINUTE, SECOND, MILLISECOND, MICROSECOND, but got the string literal %s.",
			strings.ToLower(name.text), unit.text)
	}
	c := p.keywordCall(start, name.text, args...)
	c.Unit = unit.word
	return c, nil
}
