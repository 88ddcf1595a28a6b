package javatext

import (
	"fmt"
	"math"
)

// PatternSyntaxError is the refusal of a regular expression, as java.util.regex.PatternSyntaxException. Spark's
// RLIKE, regexp_extract and regexp_replace turn it into INVALID_PARAMETER_VALUE.PATTERN.
type PatternSyntaxError struct {
	Pattern     string
	Description string
	// Index is the place in the pattern, in characters, or -1.
	Index int
}

// Error says what is wrong, and where.
func (e *PatternSyntaxError) Error() string {
	return fmt.Sprintf("%s near index %d: %q", e.Description, e.Index, e.Pattern)
}

// regexFlags are the flags of a pattern.
type regexFlags uint8

const (
	flagCaseInsensitive regexFlags = 1 << iota // i
	flagUnixLines                              // d
	flagMultiline                              // m
	flagDotAll                                 // s
	flagUnicodeCase                            // u
	flagComments                               // x
	flagUnicodeClass                           // U
)

// regexNode is a node of a parsed pattern.
type regexNode struct {
	op       regexNodeOp
	set      *charSet // of nodeSet
	literal  rune     // of nodeChar
	kids     []*regexNode
	min, max int // of nodeRepeat, where max -1 is without end, and of a look-behind
	mode     repeatMode
	counted  bool // of nodeRepeat: written in braces
	group    int  // of nodeGroup and nodeBackref
	fold     caseFold
	negative bool // of nodeLook
	behind   bool
	assert   regexOp
}

type regexNodeOp uint8

const (
	nodeEmpty regexNodeOp = iota
	nodeChar
	nodeSet
	nodeConcat
	nodeAlternate
	nodeGroup // with the index -1 if it does not capture
	nodeRepeat
	nodeAssert
	nodeLook
	nodeAtomic
	nodeBackref
	nodeGrapheme
	nodeLineEnd // \R
)

// repeatMode says in which order a repetition is tried.
type repeatMode uint8

const (
	greedy repeatMode = iota
	lazy
	possessive
)

// caseFold says how two letters are compared.
type caseFold uint8

const (
	foldNone caseFold = iota
	foldASCII
	foldUnicode
)

// regexParser reads Java's syntax.
type regexParser struct {
	source string
	t      []rune
	i      int
	flags  regexFlags
	groups int // capturing groups so far, with the whole match
	names  map[string]int
	depth  int
	err    *PatternSyntaxError // the first thing wrong
}

// maxRegexDepth bounds the nesting of groups, so that no pattern exhausts the stack.
const maxRegexDepth = 500

// fail notes what is wrong, unless something already was, and ends the pattern, so that the parser comes to its end.
func (p *regexParser) fail(description string) {
	if p.err == nil {
		p.err = &PatternSyntaxError{Pattern: p.source, Description: description, Index: max(0, p.i-1)}
	}
	p.i = len(p.t)
}

// parseRegex parses a pattern.
func parseRegex(source string) (*regexParser, *regexNode, error) {
	p := &regexParser{source: source, t: unquoteRegex([]rune(source)), groups: 1, names: map[string]int{}}
	root := p.alternation()
	if p.i < len(p.t) {
		p.fail("Unmatched closing ')'")
	}
	if p.err != nil {
		return nil, nil, p.err
	}
	return p, root, nil
}

// unquoteRegex replaces \Q…\E by escapes of each character.
func unquoteRegex(t []rune) []rune {
	i := 0
	for i < len(t)-1 && (t[i] != '\\' || t[i+1] != 'Q') {
		if t[i] == '\\' {
			i++
		}
		i++
	}
	if i >= len(t)-1 {
		return t
	}
	out := append([]rune(nil), t[:i]...)
	i += 2
	inQuote, begin := true, true
	for i < len(t) {
		c := t[i]
		i++
		switch {
		case c > 0x7f || isASCIILetter(byte(c)):
			out = append(out, c)
		case isASCIIDigit(byte(c)):
			if begin {
				// So that the digit does not become part of an escape before the quote.
				out = append(out, '\\', 'x', '3')
			}
			out = append(out, c)
		case c != '\\':
			if inQuote {
				out = append(out, '\\')
			}
			out = append(out, c)
		case inQuote:
			if i < len(t) && t[i] == 'E' {
				i++
				inQuote = false
			} else {
				out = append(out, '\\', '\\')
			}
		case i < len(t) && t[i] == 'Q':
			i++
			inQuote, begin = true, true
			continue
		default:
			out = append(out, c)
			if i < len(t) {
				out = append(out, t[i])
				i++
			}
		}
		begin = false
	}
	return out
}

func (p *regexParser) has(f regexFlags) bool { return p.flags&f != 0 }

// raw returns the character at an index, or 0 beyond the end.
func (p *regexParser) raw(i int) rune {
	if i < len(p.t) {
		return p.t[i]
	}
	return 0
}

// peek returns the next character, behind blanks and comments where those are allowed.
func (p *regexParser) peek() rune {
	if p.has(flagComments) {
		p.skipComments()
	}
	return p.raw(p.i)
}

func (p *regexParser) skipComments() {
	for p.i < len(p.t) {
		c := p.t[p.i]
		if c < 0x80 && isRegexSpace(c) {
			p.i++
			continue
		}
		if c != '#' {
			return
		}
		for p.i < len(p.t) && !p.isLineSeparator(p.t[p.i]) {
			p.i++
		}
	}
}

func (p *regexParser) isLineSeparator(c rune) bool {
	if p.has(flagUnixLines) {
		return c == '\n'
	}
	return isLineTerminator(c)
}

func isLineTerminator(c rune) bool {
	return c == '\n' || c == '\r' || c == 0x85 || c|1 == 0x2029
}

func isRegexSpace(c rune) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// next steps over the current character and returns the one after it, behind comments.
func (p *regexParser) next() rune {
	p.i++
	return p.peek()
}

// read returns the current character, behind comments, and steps over it.
func (p *regexParser) read() rune {
	c := p.peek()
	p.i++
	return c
}

// skip returns the current character and steps over it, comments or not.
func (p *regexParser) skip() rune {
	c := p.raw(p.i)
	p.i++
	return c
}

func (p *regexParser) alternation() *regexNode {
	if p.depth++; p.depth > maxRegexDepth {
		p.fail("Nesting too deep")
	}
	defer func() { p.depth-- }()
	first := p.sequence()
	if p.peek() != '|' || p.i >= len(p.t) {
		return first
	}
	node := &regexNode{op: nodeAlternate, kids: []*regexNode{first}}
	for p.peek() == '|' && p.i < len(p.t) {
		p.next()
		node.kids = append(node.kids, p.sequence())
	}
	return node
}

func (p *regexParser) sequence() *regexNode {
	seq := &regexNode{op: nodeConcat}
	for {
		c := p.peek()
		if p.i >= len(p.t) {
			break
		}
		var node *regexNode
		switch c {
		case '(':
			node = p.group()
			if node == nil {
				continue // only flags
			}
		case '[':
			node = &regexNode{op: nodeSet, set: p.class(true).compile()}
		case '\\':
			node = p.escapedAtom()
		case '^':
			p.next()
			node = &regexNode{op: nodeAssert, assert: opTextBegin}
			if p.has(flagMultiline) {
				node.assert = opLineBegin
				if p.has(flagUnixLines) {
					node.assert = opUnixLineBegin
				}
			}
		case '$':
			p.next()
			node = &regexNode{op: nodeAssert, assert: p.dollar(p.has(flagMultiline))}
		case '.':
			p.next()
			node = &regexNode{op: nodeSet, set: dotSet}
			if p.has(flagDotAll) {
				node.set = anySet
			} else if p.has(flagUnixLines) {
				node.set = unixDotSet
			}
		case '|', ')':
			return seq.simplified()
		case '?', '*', '+':
			p.next()
			p.fail("Dangling meta character '" + string(c) + "'")
			return seq.simplified()
		case '{':
			// Nothing, repeated.
			node = &regexNode{op: nodeEmpty}
		default:
			p.next()
			node = p.single(c)
		}
		seq.kids = append(seq.kids, p.quantified(node))
	}
	return seq.simplified()
}

func (n *regexNode) simplified() *regexNode {
	switch len(n.kids) {
	case 0:
		return &regexNode{op: nodeEmpty}
	case 1:
		return n.kids[0]
	}
	return n
}

// dollar returns the assertion for "$" or "\Z".
func (p *regexParser) dollar(multiline bool) regexOp {
	switch unix := p.has(flagUnixLines); {
	case multiline && unix:
		return opUnixLineEnd
	case multiline:
		return opLineEnd
	case unix:
		return opUnixTextEnd
	}
	return opTextEnd
}

// fold returns how letters are compared under the flags.
func (p *regexParser) fold() caseFold {
	switch {
	case !p.has(flagCaseInsensitive):
		return foldNone
	case p.has(flagUnicodeCase):
		return foldUnicode
	}
	return foldASCII
}

// single returns a node for one character.
func (p *regexParser) single(c rune) *regexNode {
	if set := foldedChar(c, p.fold()); set != nil {
		return &regexNode{op: nodeSet, set: set.compile()}
	}
	return &regexNode{op: nodeChar, literal: c}
}

// escapedAtom reads what begins with a backslash outside of a class.
func (p *regexParser) escapedAtom() *regexNode {
	switch p.raw(p.i + 1) {
	case 'p', 'P':
		p.i++
		return &regexNode{op: nodeSet, set: p.property().compile()}
	}
	p.i++
	c, set, node := p.escape(false, false)
	switch {
	case node != nil:
		return node
	case set != nil:
		return &regexNode{op: nodeSet, set: set.compile()}
	}
	return p.single(c)
}

// quantified reads what may stand behind an atom to repeat it.
func (p *regexParser) quantified(atom *regexNode) *regexNode {
	c := p.peek()
	if p.i >= len(p.t) {
		return atom
	}
	node := &regexNode{op: nodeRepeat, kids: []*regexNode{atom}, max: -1}
	if atom.op == nodeLineEnd {
		// A repeated \R does not give the line feed back.
		node.kids[0] = &regexNode{op: nodeAtomic, kids: []*regexNode{atom}}
	}
	switch c {
	case '?':
		node.max = 1
	case '*':
	case '+':
		node.min = 1
	case '{':
		node.counted = true
		p.i++
		p.counts(node)
		p.i--
	default:
		return atom
	}
	switch p.next() {
	case '?':
		p.next()
		node.mode = lazy
	case '+':
		p.next()
		node.mode = possessive
	}
	return node
}

// counts reads n}, n,} or n,m}.
func (p *regexParser) counts(node *regexNode) {
	if !isDigitRune(p.raw(p.i)) {
		p.fail("Illegal repetition")
		return
	}
	number := func() int {
		n := 0
		for p.i < len(p.t) && isDigitRune(p.peek()) {
			n = n*10 + int(p.t[p.i]-'0')
			p.i++
			if n > math.MaxInt32 {
				p.fail("Illegal repetition range")
			}
		}
		return n
	}
	node.min = number()
	node.max = node.min
	c := p.read()
	if c == ',' {
		node.max = -1
		if c = p.peek(); c != '}' {
			node.max = number()
			c = p.peek()
		}
		p.i++
	}
	if c != '}' || p.i > len(p.t) {
		p.fail("Unclosed counted closure")
	}
	if node.max >= 0 && node.max < node.min {
		p.fail("Illegal repetition range")
	}
	if node.max == math.MaxInt32 {
		node.max = -1
	}
}

func isDigitRune(c rune) bool { return c >= '0' && c <= '9' }

// group reads what begins with a parenthesis. It returns nil for flags alone.
func (p *regexParser) group() *regexNode {
	saved := p.flags
	var node *regexNode
	if c := p.next(); c == '?' && p.i < len(p.t) {
		p.i++
		switch c = p.skip(); c {
		case ':':
			node = plainGroup(p.alternation())
		case '=', '!':
			node = &regexNode{op: nodeLook, negative: c == '!', kids: []*regexNode{p.alternation()}}
		case '>':
			node = &regexNode{op: nodeAtomic, kids: []*regexNode{p.alternation()}}
		case '<':
			if c = p.read(); c == '=' || c == '!' {
				node = &regexNode{op: nodeLook, behind: true, negative: c == '!', kids: []*regexNode{p.alternation()}}
				study := newRegexStudy()
				study.add(node.kids[0])
				if !study.maxValid {
					p.fail("Look-behind group does not have an obvious maximum length")
				}
				node.min, node.max = int(study.min), int(study.max)
				break
			}
			name := p.groupName(c)
			if _, ok := p.names[name]; ok {
				p.fail("Named capturing group <" + name + "> is already defined")
			}
			p.names[name] = p.groups
			node = p.capture()
		case '$', '@':
			p.fail("Unknown group type")
			return nil
		default:
			p.i--
			p.addFlags()
			switch c = p.read(); {
			case c == ')' && p.i <= len(p.t):
				return nil
			case c != ':':
				p.fail("Unknown inline modifier")
			}
			node = plainGroup(p.alternation())
		}
	} else {
		node = p.capture()
	}
	if p.peek() != ')' || p.i >= len(p.t) {
		p.fail("Unclosed group")
	}
	// Blanks behind the parenthesis are looked at under the flags outside.
	p.i++
	p.flags = saved
	return node
}

// plainGroup wraps what stands in a group that does not capture, which is to be told from an atom.
func plainGroup(n *regexNode) *regexNode {
	return &regexNode{op: nodeGroup, group: -1, kids: []*regexNode{n}}
}

func (p *regexParser) capture() *regexNode {
	node := &regexNode{op: nodeGroup, group: p.groups}
	p.groups++
	node.kids = []*regexNode{p.alternation()}
	return node
}

func (p *regexParser) groupName(c rune) string {
	if c > 0x7f || !isASCIILetter(byte(c)) {
		p.fail("capturing group name does not start with a Latin letter")
	}
	name := []rune{c}
	for {
		c = p.read()
		if c > 0x7f || !isASCIILetter(byte(c)) && !isASCIIDigit(byte(c)) {
			break
		}
		name = append(name, c)
	}
	if c != '>' {
		p.fail("named capturing group is missing trailing '>'")
	}
	return string(name)
}

// addFlags reads flags to set, and behind a minus those to clear.
func (p *regexParser) addFlags() {
	clear := false
	for {
		var f regexFlags
		switch p.peek() {
		case 'i':
			f = flagCaseInsensitive
		case 'm':
			f = flagMultiline
		case 's':
			f = flagDotAll
		case 'd':
			f = flagUnixLines
		case 'u':
			f = flagUnicodeCase
		case 'c': // canonical equivalence, which Java has, changes nothing for text in composed form
		case 'x':
			f = flagComments
		case 'U':
			f = flagUnicodeClass | flagUnicodeCase
			if clear {
				f = flagUnicodeClass
			}
		case '-':
			if clear {
				return
			}
			clear = true
		default:
			return
		}
		if clear {
			p.flags &^= f
		} else {
			p.flags |= f
		}
		p.next()
	}
}
