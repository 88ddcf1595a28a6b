package sql

import (
	"errors"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// Bounds of what the parser takes, so that neither its own stack nor that of whoever walks the tree
// can overflow.
const (
	maxDepth = 1000    // expressions, queries and types within one another
	maxChain = 10_000  // operators, set operations and joins in a row
	maxAgain = 1 << 20 // tokens read again after something was tried in vain
)

// parser reads one text. Its methods return errSyntax when the text does not fit what they look for;
// the place and the reason of the failure that came furthest are kept in far, and make the message
// when the whole text does not parse. Any other error ends the parse at once.
//
// Spark reserves no word: a keyword is a name wherever it cannot be a keyword. So constructs that
// begin with a keyword are tried first, and on failure the word is read as a name.
type parser struct {
	src   string
	toks  []token
	i     int
	depth int

	comment *Span             // an unclosed comment
	faults  []*sparkerr.Error // of texts that parse but make no sense, such as 128Y, in order
	far     failure           // the syntax failure that came furthest
	again   int
	inside  []uint8              // by the index of "(": see inParens
	failed  map[attempt]struct{} // what has been tried in vain, lest it be tried again
}

// failure is a syntax failure: at token index at, where one of the expected things should have stood.
type failure struct {
	at       int
	expected []string
}

// attempt is a construct tried at a token.
type attempt struct {
	rule byte
	at   int
}

// errSyntax says that the text does not fit; see parser.
var errSyntax = errors.New("syntax error")

func newParser(src string) *parser {
	toks, comment := lex(src)
	return &parser{src: src, toks: toks, comment: comment, far: failure{at: -1}}
}

// peek is the current token.
func (p *parser) peek() *token { return &p.toks[p.i] }

// ahead is the token n places behind the current one.
func (p *parser) ahead(n int) *token { return &p.toks[min(p.i+n, len(p.toks)-1)] }

// next returns the current token and moves on; it never moves behind the end.
func (p *parser) next() *token {
	t := &p.toks[p.i]
	if t.kind != tokEOF {
		p.i++
	}
	return t
}

// is tells whether the current token is the keyword.
func (p *parser) is(word string) bool { return p.toks[p.i].word == word }

// isAny tells whether the current token is one of the keywords.
func (p *parser) isAny(words ...string) bool { return p.peek().isAny(words...) }

func (t *token) isAny(words ...string) bool {
	if t.word == "" {
		return false
	}
	for _, w := range words {
		if t.word == w {
			return true
		}
	}
	return false
}

// isOp tells whether the token is the operator.
func (t *token) isOp(op string) bool { return t.kind == tokOp && t.text == op }

// isName tells whether the token can be an identifier.
func (t *token) isName() bool { return t.kind == tokWord || t.kind == tokQuoted }

func (p *parser) isOp(op string) bool { return p.peek().isOp(op) }

// accept moves over the keyword, if it is the current token.
func (p *parser) accept(word string) bool {
	if p.is(word) {
		p.i++
		return true
	}
	return false
}

// acceptSeq moves over the keywords, if they follow one another here.
func (p *parser) acceptSeq(words ...string) bool {
	for n, w := range words {
		if p.ahead(n).word != w {
			return false
		}
	}
	p.i += len(words)
	return true
}

// acceptOp moves over the operator, if it is the current token.
func (p *parser) acceptOp(op string) bool {
	if p.isOp(op) {
		p.i++
		return true
	}
	return false
}

func (p *parser) expect(word string) error {
	if p.accept(word) {
		return nil
	}
	return p.fail(word)
}

func (p *parser) expectSeq(words ...string) error {
	for _, w := range words {
		if err := p.expect(w); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) expectOp(op string) error {
	if p.acceptOp(op) {
		return nil
	}
	return p.fail("'" + op + "'")
}

// fail notes that one of the expected things should stand here and returns errSyntax. Keywords are
// given in upper case, operators in quotes, other things in words.
func (p *parser) fail(expected ...string) error {
	p.could(expected...)
	return errSyntax
}

// could notes that one of the things could stand here, in case that nothing else will fit.
func (p *parser) could(expected ...string) {
	switch {
	case p.i > p.far.at:
		p.far.at, p.far.expected = p.i, append(p.far.expected[:0], expected...)
	case p.i == p.far.at:
	next:
		for _, e := range expected {
			for _, have := range p.far.expected {
				if e == have {
					continue next
				}
			}
			p.far.expected = append(p.far.expected, e)
		}
	}
}

// fault notes an error of a text that is well formed. It counts only if the whole text parses.
func (p *parser) fault(at Span, condition, format string, args ...any) {
	p.faults = append(p.faults, sparkerr.At(at.Line, at.Col, condition, format, args...))
}

// faultErr notes an error made elsewhere, at the place.
func (p *parser) faultErr(at Span, err error) {
	var e *sparkerr.Error
	if errors.As(err, &e) {
		p.faults = append(p.faults, e.WithPos(at.Line, at.Col))
	}
}

// mark is a place to come back to.
type mark struct{ i, faults int }

func (p *parser) mark() mark { return mark{p.i, len(p.faults)} }

func (p *parser) reset(m mark) {
	p.i = m.i
	p.faults = p.faults[:m.faults]
}

// Rules that attempts are remembered for.
const (
	ruleQuery byte = iota
	ruleSpecial
	ruleNot
	ruleRelation
	ruleExists
	ruleIn // and the one behind it
)

// tryHere runs parse and tells whether it fitted; if not, everything is as before. What failed once
// at a token is not tried there again, which keeps backtracking from becoming exponential.
func (p *parser) tryHere(rule byte, parse func() error) (bool, error) {
	key := attempt{rule, p.i}
	if _, ok := p.failed[key]; ok {
		return false, nil
	}
	m := p.mark()
	err := parse()
	if err == nil {
		return true, nil
	}
	if err != errSyntax {
		return false, err
	}
	if p.again += p.i - m.i; p.again > maxAgain+len(p.toks) {
		return false, p.tooComplex()
	}
	p.reset(m)
	if p.failed == nil {
		p.failed = map[attempt]struct{}{}
	}
	p.failed[key] = struct{}{}
	return false, nil
}

// enter counts a level of nesting; leave must follow.
func (p *parser) enter() error {
	p.depth++
	if p.depth > maxDepth {
		return p.tooComplex()
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

func (p *parser) tooComplex() error {
	at := p.peek().span
	return sparkerr.At(at.Line, at.Col, "FAILED_TO_PARSE_TOO_COMPLEX",
		"The statement, including potential SQL functions and referenced views, was too complex to parse. "+
			"To mitigate this error divide the statement into multiple, less complex chunks "+
			"(at most %d levels of nesting and %d operators in a row).", maxDepth, maxChain)
}

// chained counts the length of a chain.
func (p *parser) chained(n *int) error {
	*n++
	if *n > maxChain {
		return p.tooComplex()
	}
	return nil
}

// spanFrom is the span from the token with the index start to the one before the current one.
func (p *parser) spanFrom(start int) Span {
	sp := p.toks[start].span
	if p.i > start {
		sp.End = p.toks[p.i-1].span.End
	}
	return sp
}

// spanTo is the span from the beginning of a to the end of b.
func spanTo(a, b Span) Span {
	a.End = b.End
	return a
}

// atEnd moves over semicolons and tells whether nothing else follows.
func (p *parser) atEnd() bool {
	for p.acceptOp(";") {
	}
	return p.peek().kind == tokEOF
}

// finish ends a parse whose last error was err: nil if the whole text was read and makes sense.
func (p *parser) finish(err error) error {
	if err == nil && p.peek().kind != tokEOF {
		err = p.fail("the end of the text")
	}
	switch {
	case err == errSyntax && p.comment != nil && p.toks[p.far.at].kind == tokEOF, err == nil && p.comment != nil:
		return sparkerr.At(p.comment.Line, p.comment.Col, "UNCLOSED_BRACKETED_COMMENT",
			"Found an unclosed bracketed comment. Please, append */ at the end of the comment.")
	case err == errSyntax:
		return p.syntaxError()
	case err != nil:
		return err
	case len(p.faults) > 0:
		return p.faults[0]
	}
	return nil
}
