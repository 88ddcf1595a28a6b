package sql

import (
	"strconv"
	"strings"
)

// primary reads an operand and what is attached to it: .field, [index], ::type, :path, COLLATE.
func (p *parser) primary() (Expr, error) {
	start := p.i
	x, err := p.atom()
	if err != nil {
		return nil, err
	}
	for chain := 0; ; {
		switch {
		case p.isOp(".") && p.ahead(1).isName():
			p.i++
			f, err := p.ident()
			if err != nil {
				return nil, err
			}
			if c, ok := x.(*Column); ok {
				x = &Column{Span: p.spanFrom(start), Parts: append(append([]Ident(nil), c.Parts...), f)}
			} else {
				x = &FieldAccess{Span: p.spanFrom(start), Base: x, Field: f}
			}
		case p.acceptOp("["):
			index, err := p.value()
			if err != nil {
				return nil, err
			}
			if err := p.expectOp("]"); err != nil {
				return nil, err
			}
			x = &Subscript{Span: p.spanFrom(start), Base: x, Index: index}
		case p.acceptOp("::"):
			t, err := p.dataType()
			if err != nil {
				return nil, err
			}
			x = &Cast{Span: p.spanFrom(start), X: x, Type: t, Colon: true}
		case p.isOp(":") && (p.ahead(1).isName() || p.ahead(1).isOp("[")):
			if x, err = p.path(start, x); err != nil {
				return nil, err
			}
		case p.is("COLLATE") && p.ahead(1).isName():
			p.i++
			name, err := p.name()
			if err != nil {
				return nil, err
			}
			x = &Collate{Span: p.spanFrom(start), X: x, Collation: name}
		default:
			return x, nil
		}
		if err := p.chained(&chain); err != nil {
			return nil, err
		}
	}
}

// atom reads an operand by its first token.
func (p *parser) atom() (Expr, error) {
	t := p.peek()
	switch t.kind {
	case tokNumber:
		return p.number()
	case tokString:
		value, at := p.stringSeq()
		return &StringLit{Span: at, Value: value}, nil
	case tokWord, tokQuoted:
		return p.wordAtom()
	case tokOp:
		switch t.text {
		case "-":
			if p.ahead(1).kind == tokNumber {
				return p.number()
			}
		case "*":
			p.i++
			return p.star(p.i-1, nil)
		case "(":
			return p.parenthesized()
		case "?":
			p.i++
			return &ParameterLit{Span: t.span}, nil
		case ":":
			if p.ahead(1).isName() {
				p.i++
				id, err := p.ident()
				if err != nil {
					return nil, err
				}
				return &ParameterLit{Span: spanTo(t.span, id.Span), Name: id.Name}, nil
			}
		}
	}
	return nil, p.fail("an expression")
}

// stringSeq reads adjacent strings as one.
func (p *parser) stringSeq() (string, Span) {
	start := p.i
	value := p.next().value
	if p.peek().kind == tokString {
		parts := []string{value}
		for p.peek().kind == tokString {
			parts = append(parts, p.next().value)
		}
		value = strings.Join(parts, "")
	}
	return value, p.spanFrom(start)
}

// wordAtom reads an operand that begins with a word: a literal, a special construct, a call, a
// lambda function or a column.
func (p *parser) wordAtom() (Expr, error) {
	t, after := p.peek(), p.ahead(1)
	if after.isOp("->") {
		start := p.i
		id, err := p.ident()
		if err != nil {
			return nil, err
		}
		return p.lambda(start, []Ident{id})
	}
	if t.word != "" {
		if special := p.special(t, after); special != nil {
			var x Expr
			ok, err := p.tryHere(ruleSpecial, func() (err error) {
				x, err = special()
				return err
			})
			if ok || err != nil {
				return x, err
			}
		}
	}
	if after.kind == tokString {
		return p.typedLiteral()
	}
	switch t.word {
	case "NULL":
		if !after.isOp("(") && !after.isOp(".") {
			p.i++
			return &NullLit{Span: t.span}, nil
		}
	case "TRUE", "FALSE":
		if !after.isOp("(") && !after.isOp(".") {
			p.i++
			return &BoolLit{Span: t.span, Value: t.word == "TRUE"}, nil
		}
	}
	return p.nameAtom()
}

// special returns how to read the special construct that the word may begin, or nil.
func (p *parser) special(t, after *token) func() (Expr, error) {
	switch t.word {
	case "CASE":
		return p.caseExpr
	case "INTERVAL":
		if after.kind == tokString || after.kind == tokNumber || after.isOp("-") || after.isOp("+") {
			return p.intervalLiteral
		}
		return nil
	}
	if !after.isOp("(") {
		return nil
	}
	switch t.word {
	case "CAST", "TRY_CAST":
		return p.cast
	case "STRUCT":
		return p.structCall
	case "POSITION":
		if p.inParens("IN") {
			return p.position
		}
	case "EXTRACT":
		return p.extract
	case "SUBSTR", "SUBSTRING":
		if p.inParens("FROM") {
			return p.substring
		}
	case "TRIM":
		if p.inParens("FROM") {
			return p.trim
		}
	case "OVERLAY":
		if p.inParens("PLACING") {
			return p.overlay
		}
	case "TIMESTAMPADD", "DATEADD", "DATE_ADD", "TIMESTAMPDIFF", "DATEDIFF", "DATE_DIFF", "TIMEDIFF":
		return p.unitCall
	}
	return nil
}

// inParens tells whether one of FROM, IN and PLACING stands in the parentheses that open behind the
// current token, not in others within them, before any comma.
func (p *parser) inParens(word string) bool {
	if p.inside == nil {
		p.inside = wordsInside(p.toks)
	}
	return p.inside[min(p.i+1, len(p.inside)-1)]&insideBit(word) != 0
}

func insideBit(word string) uint8 {
	switch word {
	case "FROM":
		return 1
	case "IN":
		return 2
	case "PLACING":
		return 4
	}
	return 0
}

// wordsInside finds, for each opening parenthesis, the words that inParens looks for.
func wordsInside(toks []token) []uint8 {
	const comma = 8
	found := make([]uint8, len(toks))
	var open []int
	for i := range toks {
		t := &toks[i]
		switch {
		case t.isOp("("):
			open = append(open, i)
			continue
		case len(open) == 0:
			continue
		case t.isOp(")"):
			open = open[:len(open)-1]
			continue
		}
		at := open[len(open)-1]
		switch {
		case t.isOp(","):
			found[at] |= comma
		case found[at]&comma == 0:
			found[at] |= insideBit(t.word)
		}
	}
	return found
}

// nameAtom reads a name of several parts, and what makes it more than a column: (…) or .*.
func (p *parser) nameAtom() (Expr, error) {
	start := p.i
	var parts []Ident
	for {
		ids, err := p.identParts()
		if err != nil {
			return nil, err
		}
		parts = append(parts, ids...)
		if !p.isOp(".") {
			break
		}
		if p.ahead(1).isOp("*") {
			p.i += 2
			return p.star(start, parts)
		}
		if !p.ahead(1).isName() {
			break
		}
		p.i++
	}
	if p.isOp("(") {
		return p.call(start, parts)
	}
	return &Column{Span: p.spanFrom(start), Parts: parts}, nil
}

// star reads the EXCEPT clause behind a star.
func (p *parser) star(start int, qualifier []Ident) (Expr, error) {
	s := &Star{Qualifier: qualifier}
	if p.is("EXCEPT") && p.ahead(1).isOp("(") {
		if _, err := p.tryHere(ruleSpecial, func() (err error) {
			p.i += 2
			if s.Except, err = list(p, p.name); err != nil {
				return err
			}
			return p.expectOp(")")
		}); err != nil {
			return nil, err
		}
	}
	s.Span = p.spanFrom(start)
	return s, nil
}

// parenthesized reads a query, a lambda function's parameters, a row or an expression in parentheses.
func (p *parser) parenthesized() (Expr, error) {
	start := p.i
	if params := p.lambdaAhead(); params > 0 {
		p.i++
		ids := make([]Ident, params)
		for i := range ids {
			ids[i] = p.identOf(p.peek())
			p.i += 2
		}
		return p.lambda(start, ids)
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if p.queryAhead(1) {
		var x Expr
		ok, err := p.tryHere(ruleQuery, func() error {
			p.i++
			q, err := p.query()
			if err != nil {
				return err
			}
			if err := p.expectOp(")"); err != nil {
				return err
			}
			x = &Subquery{Span: p.spanFrom(start), Query: q}
			return nil
		})
		if ok || err != nil {
			return x, err
		}
	}
	p.i++
	inner := p.i
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.acceptOp(")") {
		return x, nil
	}
	after := p.i
	if x, err = p.nameBehind(inner, x); err != nil {
		return nil, err
	}
	items := []Expr{x}
	for p.acceptOp(",") {
		x, err := p.named()
		if err != nil {
			return nil, err
		}
		items = append(items, x)
	}
	if len(items) == 1 {
		p.i = after // only the items of a row may have names
		return nil, p.fail("')'", "','")
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	return &Row{Span: p.spanFrom(start), Items: items}, nil
}

// lambdaAhead is the number of parameters if (a, b) -> stands here, or 0.
func (p *parser) lambdaAhead() int {
	for n := 1; ; n += 2 {
		if !p.ahead(n).isName() {
			return 0
		}
		switch sep := p.ahead(n + 1); {
		case sep.isOp(","):
		case sep.isOp(")") && n > 1 && p.ahead(n+2).isOp("->"):
			return (n + 1) / 2
		default:
			return 0
		}
	}
}

// lambda reads the arrow and the body of a lambda function.
func (p *parser) lambda(start int, params []Ident) (Expr, error) {
	if err := p.expectOp("->"); err != nil {
		return nil, err
	}
	body, err := p.expr()
	if err != nil {
		return nil, err
	}
	return &Lambda{Span: p.spanFrom(start), Params: params, Body: body}, nil
}

// named reads an expression with a name behind it, if there is one, as an *Alias.
func (p *parser) named() (Expr, error) {
	start := p.i
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	return p.nameBehind(start, x)
}

// nameBehind reads the name behind the expression x, which began at start.
func (p *parser) nameBehind(start int, x Expr) (Expr, error) {
	as := p.is("AS") && (p.ahead(1).isName() || p.ahead(1).isOp("("))
	if as {
		p.i++
	}
	switch {
	case p.isOp("("):
		names, err := p.identList()
		if err != nil {
			return nil, err
		}
		return &Alias{Span: p.spanFrom(start), X: x, Names: names, List: true}, nil
	case as, p.peek().kind == tokQuoted, p.peek().kind == tokWord && !p.clauseAhead():
		name, err := p.wholeIdent()
		if err != nil {
			return nil, err
		}
		return &Alias{Span: p.spanFrom(start), X: x, Names: []Ident{name}}, nil
	}
	return x, nil
}

// path reads a path into a VARIANT, behind base.
func (p *parser) path(start int, base Expr) (Expr, error) {
	var b strings.Builder
	b.WriteByte('$')
	last := ""
	p.i++
	for first := true; ; first = false {
		switch {
		case first && p.peek().isName(), !first && p.isOp(".") && p.ahead(1).isName():
			if !first {
				p.i++
			}
			id, err := p.ident()
			if err != nil {
				return nil, err
			}
			last = id.Name
			writePathKey(&b, id.Name)
		case p.isOp("[") && p.ahead(1).kind == tokString && p.ahead(2).isOp("]"):
			last = p.ahead(1).value
			writePathKey(&b, last)
			p.i += 3
		case p.isOp("[") && p.ahead(1).kind == tokNumber && p.ahead(2).isOp("]"):
			if _, err := strconv.Atoi(p.ahead(1).text); err != nil {
				p.i++
				return nil, p.fail("a whole number")
			}
			b.WriteString("[" + p.ahead(1).text + "]")
			p.i += 3
		case first:
			return nil, p.fail("a name", "'['")
		default:
			return &PathAccess{Span: p.spanFrom(start), Base: base, Path: b.String(), Last: last}, nil
		}
	}
}

// writePathKey writes a key of a JSON path, in brackets if it needs them.
func writePathKey(b *strings.Builder, key string) {
	if key != "" && asciiWord(key) {
		b.WriteString("." + key)
		return
	}
	b.WriteString("['" + strings.ReplaceAll(key, "'", "\\'") + "']")
}

// caseExpr reads CASE … END in both forms.
func (p *parser) caseExpr() (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	start := p.i
	p.i++
	c := &Case{}
	var err error
	if !p.is("WHEN") {
		if c.Operand, err = p.expr(); err != nil {
			return nil, err
		}
	}
	for {
		at := p.i
		if !p.accept("WHEN") {
			break
		}
		cond, err := p.expr()
		if err != nil {
			return nil, err
		}
		if err := p.expect("THEN"); err != nil {
			return nil, err
		}
		then, err := p.expr()
		if err != nil {
			return nil, err
		}
		c.Whens = append(c.Whens, When{Span: p.spanFrom(at), Cond: cond, Then: then})
	}
	if len(c.Whens) == 0 {
		return nil, p.fail("WHEN")
	}
	if p.accept("ELSE") {
		if c.Else, err = p.expr(); err != nil {
			return nil, err
		}
	}
	if !p.accept("END") {
		if c.Else != nil {
			return nil, p.fail("END")
		}
		return nil, p.fail("WHEN", "ELSE", "END")
	}
	c.Span = p.spanFrom(start)
	return c, nil
}

// cast reads CAST(x AS type) and TRY_CAST(x AS type).
func (p *parser) cast() (Expr, error) {
	start := p.i
	try := p.next().word == "TRY_CAST"
	p.i++
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	if err := p.expect("AS"); err != nil {
		return nil, err
	}
	t, err := p.dataType()
	if err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	return &Cast{Span: p.spanFrom(start), X: x, Type: t, Try: try}, nil
}
