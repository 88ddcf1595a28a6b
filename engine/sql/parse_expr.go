package sql

// expr reads an expression, its operators from the loosest to the tightest: OR, AND, NOT, then at
// most one predicate (BETWEEN, IN, LIKE, IS), then the operators on values.
func (p *parser) expr() (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	return p.logical("OR", OpOr, p.and)
}

func (p *parser) and() (Expr, error) { return p.logical("AND", OpAnd, p.not) }

// logical reads operands between one logical operator and makes a balanced tree of them.
func (p *parser) logical(word string, op BinaryOp, operand func() (Expr, error)) (Expr, error) {
	start := p.i
	first, err := operand()
	if err != nil || !p.is(word) {
		return first, err
	}
	operands := []Expr{first}
	spans := []Span{p.spanFrom(start)}
	for p.accept(word) {
		start := p.i
		x, err := operand()
		if err != nil {
			return nil, err
		}
		operands = append(operands, x)
		spans = append(spans, p.spanFrom(start))
	}
	return balance(op, operands, spans), nil
}

// balance combines operands as Spark does: the left half gets the one more. The spans are those of
// the operands with the parentheses around them.
func balance(op BinaryOp, xs []Expr, spans []Span) Expr {
	if len(xs) == 1 {
		return xs[0]
	}
	mid := (len(xs)-1)/2 + 1
	return &Binary{
		Span: spanTo(spans[0], spans[len(spans)-1]),
		Op:   op,
		L:    balance(op, xs[:mid], spans[:mid]),
		R:    balance(op, xs[mid:], spans[mid:]),
	}
}

// not reads NOT and ! before a predicate.
func (p *parser) not() (Expr, error) {
	start := p.i
	if p.isOp("!") {
		p.i++
		return p.negated(start)
	}
	if p.is("NOT") {
		var x Expr
		ok, err := p.tryHere(ruleNot, func() (err error) {
			p.i++
			x, err = p.negated(start)
			return err
		})
		if ok || err != nil {
			return x, err
		}
	}
	return p.predicated()
}

func (p *parser) negated(start int) (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	x, err := p.not()
	if err != nil {
		return nil, err
	}
	return &Not{Span: p.spanFrom(start), X: x}, nil
}

// predicated reads a value and the predicate behind it, if there is one.
func (p *parser) predicated() (Expr, error) {
	if p.is("EXISTS") && p.ahead(1).isOp("(") {
		x, ok, err := p.exists()
		if ok || err != nil {
			return x, err
		}
	}
	start := p.i
	x, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.is("IS") {
		return p.isPredicate(start, x)
	}
	m := p.mark()
	not := p.accept("NOT") || p.acceptOp("!")
	switch {
	case p.accept("BETWEEN"):
		return p.between(start, x, not)
	case p.accept("IN"):
		return p.in(start, x, not)
	case p.is("LIKE"), p.is("ILIKE"):
		return p.like(start, x, not)
	case p.accept("RLIKE"):
		pattern, err := p.value()
		if err != nil {
			return nil, err
		}
		return &LikeExpr{Span: p.spanFrom(start), Kind: RLike, X: x, Pattern: pattern, Escape: '\\', Not: not}, nil
	}
	p.reset(m)
	return x, nil
}

// exists reads EXISTS (query); without success if it is the function of that name.
func (p *parser) exists() (Expr, bool, error) {
	start := p.i
	var x Expr
	ok, err := p.tryHere(ruleExists, func() error {
		p.i += 2
		q, err := p.query()
		if err != nil {
			return err
		}
		if err := p.expectOp(")"); err != nil {
			return err
		}
		x = &Exists{Span: p.spanFrom(start), Query: q}
		return nil
	})
	return x, ok, err
}

func (p *parser) between(start int, x Expr, not bool) (Expr, error) {
	low, err := p.value()
	if err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	high, err := p.value()
	if err != nil {
		return nil, err
	}
	return &Between{Span: p.spanFrom(start), X: x, Low: low, High: high, Not: not}, nil
}

// in reads what follows IN: a list, or a query.
func (p *parser) in(start int, x Expr, not bool) (Expr, error) {
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	if p.acceptOp(")") {
		at := p.spanFrom(start)
		p.fault(p.toks[p.i-1].span, "INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE",
			"Invalid SQL syntax: IN predicate requires at least one value. Empty IN clauses like 'IN ()' are not allowed. "+
				"Consider using 'WHERE FALSE' if you need an always-false condition, or provide at least one value in the IN list.")
		return &In{Span: at, X: x, Not: not}, nil
	}
	var items []Expr
	var q Query
	asList := func() (err error) {
		if items, err = list(p, p.expr); err != nil {
			return err
		}
		return p.expectOp(")")
	}
	asQuery := func() (err error) {
		if q, err = p.query(); err != nil {
			return err
		}
		return p.expectOp(")")
	}
	// A query in parentheses of its own is a list of one value.
	attempts := []func() error{asList}
	if p.queryAhead(0) {
		attempts = []func() error{asQuery, asList}
		if p.isOp("(") {
			attempts = []func() error{asList, asQuery}
		}
	}
	for n, parse := range attempts {
		if ok, err := p.tryHere(ruleIn+byte(n), parse); err != nil {
			return nil, err
		} else if ok && q != nil {
			return &InQuery{Span: p.spanFrom(start), X: x, Query: q, Not: not}, nil
		} else if ok {
			return &In{Span: p.spanFrom(start), X: x, List: items, Not: not}, nil
		}
		q = nil
	}
	return nil, errSyntax
}

// like reads LIKE or ILIKE: with one pattern, or with ANY, SOME or ALL of several.
func (p *parser) like(start int, x Expr, not bool) (Expr, error) {
	kind := LikeKind(p.next().word)
	if p.isAny("ANY", "SOME", "ALL") && p.ahead(1).isOp("(") {
		all := p.next().word == "ALL"
		p.i++
		if p.acceptOp(")") {
			p.fault(p.toks[p.i-1].span, "_LEGACY_ERROR_TEMP_0064", "Expected something between '(' and ')'.")
			return &LikeList{Span: p.spanFrom(start), Kind: kind, All: all, X: x, Not: not}, nil
		}
		patterns, err := list(p, p.expr)
		if err != nil {
			return nil, err
		}
		if err := p.expectOp(")"); err != nil {
			return nil, err
		}
		return &LikeList{Span: p.spanFrom(start), Kind: kind, All: all, X: x, Patterns: patterns, Not: not}, nil
	}
	pattern, err := p.value()
	if err != nil {
		return nil, err
	}
	escape := '\\'
	if p.is("ESCAPE") && p.ahead(1).kind == tokString {
		p.i++
		text, at := p.stringSeq()
		r := []rune(text)
		if len(r) != 1 {
			p.fault(at, "INVALID_ESC",
				"Found an invalid escape string: '%s'. The escape string must contain only one character.", text)
			r = []rune{'\\'}
		}
		escape = r[0]
	}
	return &LikeExpr{Span: p.spanFrom(start), Kind: kind, X: x, Pattern: pattern, Escape: escape, Not: not}, nil
}

// isPredicate reads what follows IS.
func (p *parser) isPredicate(start int, x Expr) (Expr, error) {
	p.i++
	not := p.accept("NOT") || p.acceptOp("!")
	switch {
	case p.accept("NULL"):
		return &IsNull{Span: p.spanFrom(start), X: x, Not: not}, nil
	case p.isAny("TRUE", "FALSE", "UNKNOWN"):
		v := p.next().word
		return &IsTruth{Span: p.spanFrom(start), X: x, Value: v, Not: not}, nil
	case p.accept("DISTINCT"):
		if err := p.expect("FROM"); err != nil {
			return nil, err
		}
		y, err := p.value()
		if err != nil {
			return nil, err
		}
		return &IsDistinct{Span: p.spanFrom(start), X: x, Y: y, Not: not}, nil
	}
	return nil, p.fail("NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT")
}

// The levels of the operators on values, from the loosest to the tightest.
const (
	levelCompare = iota + 1
	levelBOr
	levelXor
	levelBAnd
	levelShift
	levelAdd
	levelMul
)

// infix returns the operator on values that stands here, its level, and of how many tokens it is; a
// level of 0 means that there is none.
func (p *parser) infix() (op BinaryOp, level, tokens int) {
	t := p.peek()
	if t.word == "DIV" {
		return OpIntDiv, levelMul, 1
	}
	if t.kind != tokOp {
		return "", 0, 0
	}
	switch t.text {
	case "=", "==":
		return OpEq, levelCompare, 1
	case "<=>":
		return OpNullEq, levelCompare, 1
	case "<>", "!=":
		return OpNe, levelCompare, 1
	case "<":
		return OpLt, levelCompare, 1
	case "<=", "!>":
		return OpLe, levelCompare, 1
	case ">=", "!<":
		return OpGe, levelCompare, 1
	case ">":
		switch {
		case !p.joined(1, ">"):
			return OpGt, levelCompare, 1
		case p.joined(2, ">"):
			return OpShrU, levelShift, 3
		}
		return OpShr, levelShift, 2
	case "<<":
		return OpShl, levelShift, 1
	case "|":
		return OpBOr, levelBOr, 1
	case "^":
		return OpXor, levelXor, 1
	case "&":
		return OpBAnd, levelBAnd, 1
	case "+":
		return OpAdd, levelAdd, 1
	case "-":
		return OpSub, levelAdd, 1
	case "||":
		return OpConcat, levelAdd, 1
	case "*":
		return OpMul, levelMul, 1
	case "/":
		return OpDiv, levelMul, 1
	case "%":
		return OpMod, levelMul, 1
	}
	return "", 0, 0
}

// joined tells whether the token n places behind is the operator and touches the one before it.
func (p *parser) joined(n int, op string) bool {
	t := p.ahead(n)
	return t.isOp(op) && t.span.Offset == p.ahead(n-1).span.End
}

// value reads operators on values; no NOT, AND, OR and no predicates.
func (p *parser) value() (Expr, error) { return p.operators(levelCompare) }

// operators reads operators of the level and tighter ones; all group to the left.
func (p *parser) operators(level int) (Expr, error) {
	start := p.i
	left, err := p.unary()
	if err != nil {
		return nil, err
	}
	chain := 0
	for {
		op, at, tokens := p.infix()
		if at < level || at == 0 {
			return left, nil
		}
		p.i += tokens
		right, err := p.operators(at + 1)
		if err != nil {
			return nil, err
		}
		left = &Binary{Span: p.spanFrom(start), Op: op, L: left, R: right}
		if err := p.chained(&chain); err != nil {
			return nil, err
		}
	}
}

// unary reads prefix operators; a minus directly before a number belongs to the number.
func (p *parser) unary() (Expr, error) {
	t := p.peek()
	if t.kind != tokOp {
		return p.primary()
	}
	switch t.text {
	case "-":
		if p.ahead(1).kind == tokNumber {
			return p.primary()
		}
	case "+", "~":
	default:
		return p.primary()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	start := p.i
	p.i++
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	return &Unary{Span: p.spanFrom(start), Op: UnaryOp(t.text), X: x}, nil
}
