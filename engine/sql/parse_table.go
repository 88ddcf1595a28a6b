package sql

import "strings"

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
