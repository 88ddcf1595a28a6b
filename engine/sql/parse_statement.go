package sql

import "strings"

// statement reads one statement.
func (p *parser) statement() (Statement, error) {
	start := p.i
	switch p.peek().word {
	case "CREATE":
		return p.createView()
	case "SET":
		return p.setOption()
	case "DESC", "DESCRIBE":
		return p.describe()
	case "EXPLAIN":
		p.i++
		e := &Explain{}
		if p.isAny("LOGICAL", "FORMATTED", "EXTENDED", "CODEGEN", "COST") {
			e.Mode = p.next().word
		}
		q, err := p.query()
		if err != nil {
			return nil, err
		}
		e.Query, e.Span = q, p.spanFrom(start)
		return e, nil
	}
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	return &QueryStatement{Span: p.spanFrom(start), Query: q}, nil
}

// createView reads CREATE [OR REPLACE] [[GLOBAL] TEMPORARY] VIEW [IF NOT EXISTS] name [(columns)] AS query.
func (p *parser) createView() (Statement, error) {
	start := p.i
	p.i++
	v := &CreateView{Replace: p.acceptSeq("OR", "REPLACE")}
	p.accept("GLOBAL")
	v.Temporary = p.accept("TEMPORARY")
	if err := p.expect("VIEW"); err != nil {
		return nil, err
	}
	v.IfNotExists = p.acceptSeq("IF", "NOT", "EXISTS")
	var err error
	if v.Name, err = p.name(); err != nil {
		return nil, err
	}
	if p.isOp("(") {
		if v.Columns, err = p.identList(); err != nil {
			return nil, err
		}
	}
	if p.accept("COMMENT") {
		if p.peek().kind != tokString {
			return nil, p.fail("a string")
		}
		p.stringSeq()
	}
	if err := p.expect("AS"); err != nil {
		return nil, err
	}
	if v.Query, err = p.query(); err != nil {
		return nil, err
	}
	v.Span = p.spanFrom(start)
	return v, nil
}

// setOption reads SET key = value up to the end of the statement; the value is taken as it stands.
func (p *parser) setOption() (Statement, error) {
	start := p.i
	p.i++
	at := p.peek().span.Offset
	for p.peek().kind != tokEOF && !p.isOp(";") {
		p.i++
	}
	s := &SetOption{Span: p.spanFrom(start)}
	text := ""
	if s.End > at {
		text = p.src[at:s.End]
	}
	s.Key, s.Value, s.HasValue = strings.Cut(text, "=")
	s.Key, s.Value = unquoteKey(strings.TrimSpace(s.Key)), strings.TrimSpace(s.Value)
	return s, nil
}

// unquoteKey takes the back quotes off a key.
func unquoteKey(key string) string {
	if len(key) >= 2 && key[0] == '`' && key[len(key)-1] == '`' {
		return strings.ReplaceAll(key[1:len(key)-1], "``", "`")
	}
	return key
}

// describe reads DESCRIBE of a query or of a table.
func (p *parser) describe() (Statement, error) {
	start := p.i
	p.i++
	d := &Describe{}
	var err error
	query := p.is("QUERY") && p.ahead(1).isName()
	if query {
		p.i++
	}
	if query || p.queryAhead(0) && !p.is("TABLE") {
		d.Query, err = p.query()
	} else {
		if p.is("TABLE") && p.ahead(1).isName() {
			p.i++
		}
		if p.isAny("EXTENDED", "FORMATTED") && p.ahead(1).isName() {
			p.i++
		}
		d.Table, err = p.name()
	}
	if err != nil {
		return nil, err
	}
	d.Span = p.spanFrom(start)
	return d, nil
}
