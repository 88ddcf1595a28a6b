package javatext

import (
	"unicode/utf8"
)

// regexOp is an instruction of a compiled pattern.
type regexOp uint8

const (
	opMatch          regexOp = iota
	opLiteral                // the text lit
	opSet                    // one character of set
	opSetRepeat              // min to max characters of set, as mode says; x is the byte that must follow, or -1
	opSplit                  // go on at x, later at y
	opJump                   // go on at x
	opSave                   // remember the position as end x of the groups
	opCountInit              // begin the loop with the register x
	opCountLoop              // go round again (x), or leave (y)
	opLook                   // the part behind it up to x must match here, or not
	opAtomic                 // the part behind it up to x matches without being tried again
	opBackref                // the text of group x again
	opGrapheme               // one user-perceived character
	opTextBegin              // ^ or \A
	opTextEnd                // $ or \Z, before a last line terminator as well
	opUnixTextEnd            // the same for \n alone
	opTextEndExactly         // \z
	opLineBegin              // (?m)^
	opUnixLineBegin
	opLineEnd // (?m)$
	opUnixLineEnd
	opWordBoundary
	opNotWordBoundary
	opUnicodeWordBoundary
	opNotUnicodeWordBoundary
	opGraphemeBoundary
	opLastMatch // \G
)

// regexInst is an instruction with its arguments.
type regexInst struct {
	op       regexOp
	mode     repeatMode
	fold     caseFold
	negative bool
	behind   bool
	x, y     int
	min, max int // of a split min is its number among the splits
	register int
	set      *charSet
	lit      string
}

// regexProgram is a compiled pattern.
type regexProgram struct {
	insts     []regexInst
	groups    int // with the whole match
	registers int // two for each counted loop
	// remember says that whether a path fails depends on its instruction and position alone, so that failed ones may
	// be kept from being walked again.
	remember bool
	splits   int
	// prefix is a text that every match begins with; first has the bytes a match may begin with, unless it may be
	// empty; atBegin says that a match begins at the beginning of the text.
	prefix   string
	first    *[256]bool
	atBegin  bool
	literal  bool // the pattern is prefix and nothing else
	tooLarge bool
}

// maxRegexProgram bounds the instructions of a pattern.
const maxRegexProgram = 200_000

// maxUnrolled is up to how many instructions a counted repetition is written out.
const maxUnrolled = 400

// compileRegex makes a program of a parsed pattern.
func compileRegex(root *regexNode, groups int) *regexProgram {
	p := &regexProgram{groups: groups, remember: true}
	p.node(root)
	p.emit(regexInst{op: opMatch})
	for i := range p.insts {
		switch in := &p.insts[i]; in.op {
		case opSplit:
			in.min = p.splits
			p.splits++
		case opSetRepeat:
			in.x = p.byteBehind(i)
		}
	}
	p.prefix, p.literal = root.literalPrefix()
	if p.prefix == "" {
		var first [256]bool
		if root.firstBytes(&first) {
			p.first = &first
		}
	}
	p.atBegin = p.insts[0].op == opTextBegin
	return p
}

// byteBehind returns the byte that must follow an instruction, or -1.
func (p *regexProgram) byteBehind(i int) int {
	for i++; i < len(p.insts) && p.insts[i].op == opSave; i++ {
	}
	if i < len(p.insts) && p.insts[i].op == opLiteral {
		return int(p.insts[i].lit[0])
	}
	return -1
}

func (p *regexProgram) emit(i regexInst) int {
	if len(p.insts) >= maxRegexProgram {
		p.tooLarge = true
		return len(p.insts) - 1
	}
	p.insts = append(p.insts, i)
	return len(p.insts) - 1
}

func (p *regexProgram) node(n *regexNode) {
	if p.tooLarge {
		return
	}
	switch n.op {
	case nodeChar:
		// Neighbours are joined, unless something may jump in between them, for which concat cares.
		p.emit(regexInst{op: opLiteral, lit: charText(n.literal)})
	case nodeSet:
		p.emit(regexInst{op: opSet, set: n.set})
	case nodeConcat:
		p.concat(n.kids)
	case nodeAlternate:
		p.alternate(n.kids)
	case nodeLineEnd:
		p.node(n.kids[0])
	case nodeGroup:
		if n.group < 0 {
			p.node(n.kids[0])
			break
		}
		p.emit(regexInst{op: opSave, x: 2 * n.group})
		p.node(n.kids[0])
		p.emit(regexInst{op: opSave, x: 2*n.group + 1})
	case nodeRepeat:
		p.repeat(n)
	case nodeAssert:
		p.emit(regexInst{op: n.assert})
		if n.assert == opLastMatch {
			p.remember = false
		}
	case nodeLook:
		at := p.emit(regexInst{op: opLook, negative: n.negative, behind: n.behind, min: n.min, max: n.max})
		p.node(n.kids[0])
		p.emit(regexInst{op: opMatch})
		p.insts[at].x = len(p.insts)
	case nodeAtomic:
		at := p.emit(regexInst{op: opAtomic})
		p.node(n.kids[0])
		p.emit(regexInst{op: opMatch})
		p.insts[at].x = len(p.insts)
	case nodeBackref:
		p.remember = false
		p.emit(regexInst{op: opBackref, x: n.group, fold: n.fold})
	case nodeGrapheme:
		p.emit(regexInst{op: opGrapheme})
	}
}

// charText returns a character as UTF-8. Half of a pair, which no UTF-8 has, becomes a byte that is in no text.
func charText(r rune) string {
	if r >= 0xd800 && r <= 0xdfff {
		return "\xff"
	}
	return string(r)
}

func (p *regexProgram) concat(kids []*regexNode) {
	for i := 0; i < len(kids); i++ {
		lit := ""
		for i < len(kids) && kids[i].op == nodeChar {
			lit += charText(kids[i].literal)
			i++
		}
		if lit != "" {
			p.emit(regexInst{op: opLiteral, lit: lit})
		}
		if i < len(kids) {
			p.node(kids[i])
		}
	}
}

func (p *regexProgram) alternate(kids []*regexNode) {
	var jumps []int
	for i, kid := range kids {
		if i == len(kids)-1 {
			p.node(kid)
			break
		}
		split := p.emit(regexInst{op: opSplit})
		p.insts[split].x = len(p.insts)
		p.node(kid)
		jumps = append(jumps, p.emit(regexInst{op: opJump}))
		p.insts[split].y = len(p.insts)
	}
	for _, j := range jumps {
		p.insts[j].x = len(p.insts)
	}
}

func (p *regexProgram) repeat(n *regexNode) {
	body := n.kids[0]
	for body.op == nodeGroup && body.group < 0 {
		body = body.kids[0]
	}
	if n.mode == possessive && body.op != nodeSet && body.op != nodeChar {
		// X*+ is (?>X*).
		again := *n
		again.mode = greedy
		// Not the group itself, for keepsNoEmptyRound.
		again.kids = []*regexNode{{op: nodeConcat, kids: []*regexNode{body}}}
		p.node(&regexNode{op: nodeAtomic, kids: []*regexNode{&again}})
		return
	}
	switch body.op {
	case nodeSet:
		p.emit(regexInst{op: opSetRepeat, set: body.set, min: n.min, max: n.max, mode: n.mode})
		return
	case nodeChar:
		p.emit(regexInst{op: opSetRepeat, set: rangeClass(body.literal, body.literal).compile(), min: n.min, max: n.max, mode: n.mode})
		return
	case nodeEmpty:
		return
	}
	shortest, longest := body.lengths()
	if longest == 0 && keepsNoEmptyRound(n) {
		if n.min > 0 {
			p.node(body)
		}
		return
	}
	if shortest == 0 {
		// A question mark may try nothing first, but an optional part that matched nothing is a match of it.
		if n.min == 0 && n.max == 1 {
			p.optional(body, n.mode)
			return
		}
		p.counted(n)
		return
	}
	if copies := max(n.min, n.max); copies > 1 && body.size() > maxUnrolled/copies {
		p.counted(n)
		return
	}
	for i := 0; i < n.min; i++ {
		p.node(body)
	}
	if n.max < 0 {
		p.star(body, n.mode)
		return
	}
	// The rest are options within each other.
	var splits []int
	for i := n.min; i < n.max; i++ {
		split := p.emit(regexInst{op: opSplit})
		p.insts[split].x = len(p.insts)
		splits = append(splits, split)
		p.node(body)
	}
	for _, split := range splits {
		p.insts[split].y = len(p.insts)
		p.prefer(split, n.mode)
	}
}

// keepsNoEmptyRound tells whether Java takes back a round of the repetition that matched nothing, with what it captured:
// it does so where the group can match in one way only.
func keepsNoEmptyRound(n *regexNode) bool {
	if n.mode != greedy || n.kids[0].op != nodeGroup || n.min == 0 && n.max == 1 {
		return false
	}
	study := newRegexStudy()
	study.add(n.kids[0])
	return study.deterministic
}

// size returns about how many instructions a node takes, at most more than maxUnrolled.
func (n *regexNode) size() int {
	size := 2
	for _, kid := range n.kids {
		size += kid.size()
	}
	if n.op == nodeRepeat {
		if body := n.kids[0].op; body == nodeSet || body == nodeChar {
			return 1
		}
		if copies := max(n.min, n.max); copies > 1 && size <= maxUnrolled/copies {
			size *= copies
		}
	}
	return min(size, maxUnrolled+1)
}

// prefer turns a split round if it is lazy.
func (p *regexProgram) prefer(split int, mode repeatMode) {
	if mode == lazy {
		i := &p.insts[split]
		i.x, i.y = i.y, i.x
	}
}

func (p *regexProgram) optional(body *regexNode, mode repeatMode) {
	split := p.emit(regexInst{op: opSplit})
	p.insts[split].x = len(p.insts)
	p.node(body)
	p.insts[split].y = len(p.insts)
	p.prefer(split, mode)
}

// star repeats a body that matches at least one character.
func (p *regexProgram) star(body *regexNode, mode repeatMode) {
	split := p.emit(regexInst{op: opSplit})
	p.insts[split].x = len(p.insts)
	p.node(body)
	p.emit(regexInst{op: opJump, x: split})
	p.insts[split].y = len(p.insts)
	p.prefer(split, mode)
}

// counted repeats a body with a counter, and leaves when a round matched nothing.
func (p *regexProgram) counted(n *regexNode) {
	p.remember = false
	register := p.registers
	p.registers += 2
	p.emit(regexInst{op: opCountInit, x: register})
	loop := p.emit(regexInst{op: opCountLoop, min: n.min, max: n.max, mode: n.mode, register: register})
	p.insts[loop].x = len(p.insts)
	p.node(n.kids[0])
	p.emit(regexInst{op: opJump, x: loop})
	p.insts[loop].y = len(p.insts)
}

// literalPrefix returns a text that every match begins with, and whether it is all of the pattern.
func (n *regexNode) literalPrefix() (prefix string, whole bool) {
	switch n.op {
	case nodeChar:
		return charText(n.literal), true
	case nodeEmpty:
		return "", true
	case nodeConcat:
		for _, kid := range n.kids {
			text, all := kid.literalPrefix()
			prefix += text
			if !all {
				return prefix, false
			}
		}
		return prefix, true
	case nodeGroup, nodeAtomic, nodeLineEnd:
		prefix, _ = n.kids[0].literalPrefix()
		return prefix, false
	case nodeRepeat:
		if n.min > 0 {
			prefix, _ = n.kids[0].literalPrefix()
		}
		return prefix, false
	}
	return "", false
}

// firstBytes adds the bytes that a match may begin with. It returns false if that is not known, or a match may be empty.
func (n *regexNode) firstBytes(first *[256]bool) bool {
	switch n.op {
	case nodeChar:
		first[charText(n.literal)[0]] = true
		return true
	case nodeSet:
		for b := range utf8.RuneSelf {
			if n.set.hasASCII(byte(b)) {
				first[b] = true
			}
		}
		for b := utf8.RuneSelf; b < len(first); b++ {
			first[b] = true
		}
		return true
	case nodeConcat:
		for _, kid := range n.kids {
			if kid.op == nodeAssert || kid.op == nodeLook {
				continue // they narrow down what follows
			}
			if shortest, _ := kid.lengths(); shortest > 0 {
				return kid.firstBytes(first)
			}
			if kid.op != nodeRepeat || !kid.kids[0].firstBytes(first) {
				return false
			}
		}
		return false
	case nodeAlternate:
		for _, kid := range n.kids {
			if !kid.firstBytes(first) {
				return false
			}
		}
		return true
	case nodeGroup, nodeAtomic, nodeLineEnd:
		return n.kids[0].firstBytes(first)
	case nodeRepeat:
		if shortest, _ := n.lengths(); shortest == 0 {
			return false
		}
		return n.kids[0].firstBytes(first)
	}
	return false
}
