package sql

// ident reads an identifier; any keyword may be one.
func (p *parser) ident() (Ident, error) {
	t := p.peek()
	if !t.isName() {
		return Ident{}, p.fail("a name")
	}
	p.i++
	return p.identOf(t), nil
}

// identParts reads an identifier, or IDENTIFIER('a.b'), which may be several.
func (p *parser) identParts() ([]Ident, error) {
	if !p.is("IDENTIFIER") || !p.ahead(1).isOp("(") || p.ahead(2).kind != tokString || !p.ahead(3).isOp(")") {
		id, err := p.ident()
		return []Ident{id}, err
	}
	start, text := p.i, p.ahead(2).value
	p.i += 4
	at := p.spanFrom(start)
	ids, err := ParseName(text)
	if err != nil {
		p.faultErr(at, err)
		ids = []Ident{{Name: text}}
	}
	for i := range ids {
		ids[i].Span, ids[i].Quoted = at, true
	}
	return ids, nil
}

// identOf makes an identifier of a token; a fault is noted if it needs back quotes.
func (p *parser) identOf(t *token) Ident {
	if t.kind == tokQuoted {
		return Ident{Span: t.span, Name: t.value, Quoted: true}
	}
	if !asciiWord(t.text) {
		p.faults = append(p.faults, invalidIdentifier(t.text, t.span))
	}
	return Ident{Span: t.span, Name: t.text}
}

// wholeIdent reads an identifier where no operator can follow, so that a-b is an identifier without
// its back quotes.
func (p *parser) wholeIdent() (Ident, error) {
	start := p.i
	id, err := p.ident()
	if err != nil {
		return id, err
	}
	if p.isOp("-") && p.ahead(1).isName() {
		for p.isOp("-") && p.ahead(1).isName() {
			p.i += 2
		}
		sp := p.spanFrom(start)
		p.faults = append(p.faults, invalidIdentifier(sp.Text(p.src), sp))
	}
	return id, nil
}

// tableIdent is wholeIdent without the keywords that would be read as a join or a set operation.
func (p *parser) tableIdent() (Ident, error) {
	if strictWord(p.peek().word) {
		return Ident{}, p.fail("a name")
	}
	return p.wholeIdent()
}

// name reads a name of several parts, where no operator can follow.
func (p *parser) name() ([]Ident, error) {
	var parts []Ident
	for {
		if p.is("IDENTIFIER") && p.ahead(1).isOp("(") {
			ids, err := p.identParts()
			if err != nil {
				return nil, err
			}
			parts = append(parts, ids...)
		} else {
			id, err := p.wholeIdent()
			if err != nil {
				return nil, err
			}
			parts = append(parts, id)
		}
		if !p.acceptOp(".") {
			return parts, nil
		}
	}
}

// identList reads ( a, b, … ).
func (p *parser) identList() ([]Ident, error) {
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	ids, err := p.identSeq()
	if err != nil {
		return nil, err
	}
	return ids, p.expectOp(")")
}

// identSeq reads a, b, ….
func (p *parser) identSeq() ([]Ident, error) {
	return list(p, p.wholeIdent)
}

// list reads items between commas; there is at least one.
func list[T any](p *parser, item func() (T, error)) ([]T, error) {
	var out []T
	for {
		x, err := item()
		if err != nil {
			return nil, err
		}
		out = append(out, x)
		if !p.acceptOp(",") {
			p.could("','")
			return out, nil
		}
	}
}

// clauseAhead tells whether the current token, a keyword, begins the next clause rather than being a
// name. Behind an expression or a table both are possible; what follows decides.
func (p *parser) clauseAhead() bool {
	t, after := p.peek(), p.ahead(1)
	switch {
	case after.kind == tokEOF, after.isOp(","), after.isOp(")"), after.isOp(";"), after.isOp("|>"):
		return false
	}
	switch t.word {
	case "FROM", "WHERE", "HAVING", "SELECT", "ON", "USING":
		return true
	case "QUALIFY":
		return after.isName() && !after.isAny("FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "WINDOW", "JOIN", "LEFT", "RIGHT", "FULL", "CROSS", "INNER", "ON", "USING", "AS", "UNION", "EXCEPT", "INTERSECT") || after.isOp("(")
	case "LIMIT", "OFFSET":
		return !after.isAny("FROM", "WHERE")
	case "GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE":
		return after.word == "BY"
	case "UNION", "EXCEPT", "INTERSECT", "MINUS":
		return after.isAny("ALL", "DISTINCT", "SELECT", "FROM", "VALUES", "TABLE", "WITH") || after.isOp("(")
	case "WINDOW":
		return after.isName() && p.ahead(2).word == "AS"
	case "LATERAL":
		return after.word == "VIEW"
	case "PIVOT":
		return after.isOp("(")
	case "UNPIVOT":
		return after.isOp("(") || after.isAny("INCLUDE", "EXCLUDE")
	case "TABLESAMPLE":
		return after.isOp("(")
	case "FOR":
		return after.isName() && !after.isAny("FROM") || after.isOp("(")
	case "DELAY":
		return after.word == "OF"
	case "GROUPING":
		return after.word == "SETS"
	case "WITH":
		return after.isAny("ROLLUP", "CUBE") || after.isOp("(")
	case "VERSION", "TIMESTAMP", "SYSTEM_TIME", "SYSTEM_VERSION":
		return after.word == "AS" && p.ahead(2).word == "OF"
	case "INNER", "CROSS", "FULL", "RIGHT", "NATURAL", "JOIN", "LEFT", "SEMI", "ANTI":
		return p.joinAhead()
	}
	return false
}

// joinAhead tells whether a join begins here.
func (p *parser) joinAhead() bool {
	for n := 0; n < 4; n++ {
		switch p.ahead(n).word {
		case "JOIN":
			return true
		case "NATURAL", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI":
		default:
			return false
		}
	}
	return false
}
