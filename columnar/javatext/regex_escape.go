package javatext

// escape reads an escape behind its backslash: a character, a class, or (outside of a class only) a node.
// isRange says that a range may follow, in which \v is the vertical tab alone.
func (p *regexParser) escape(inClass, isRange bool) (c rune, set *charClass, node *regexNode) {
	if p.i >= len(p.t) {
		p.fail("Unexpected internal error")
		return 0, nil, nil
	}
	c = p.skip()
	unicodeClass := p.has(flagUnicodeClass)
	switch c {
	case '0':
		return p.octal(), nil, nil
	case 'D', 'd':
		set = asciiClass("Digit")
		if unicodeClass {
			set = unicodeDigits
		}
	case 'H', 'h':
		set = horizontalSpace
	case 'S', 's':
		set = regexSpace
		if unicodeClass {
			set = unicodeSpace
		}
	case 'W', 'w':
		set = wordClass
		if unicodeClass {
			set = unicodeWord
		}
	case 'v':
		if isRange {
			return '\v', nil, nil
		}
		set = verticalSpace
	case 'V':
		set = verticalSpace
	case 'N':
		p.fail("Illegal character name escape sequence")
		return 0, nil, nil
	case 'a':
		return '\a', nil, nil
	case 'c':
		if p.i >= len(p.t) {
			p.fail("Illegal control escape sequence")
		}
		return p.read() ^ 64, nil, nil
	case 'e':
		return 0x1b, nil, nil
	case 'f':
		return '\f', nil, nil
	case 'n':
		return '\n', nil, nil
	case 'r':
		return '\r', nil, nil
	case 't':
		return '\t', nil, nil
	case 'u':
		return p.unicodeEscape(), nil, nil
	case 'x':
		return p.hexEscape(), nil, nil
	default:
		if !inClass {
			if node = p.escapedNode(c); node != nil {
				return 0, nil, node
			}
		}
		if c < 0x80 && isASCIILetter(byte(c)) || inClass && c >= '1' && c <= '9' {
			p.fail("Illegal/unsupported escape sequence")
		}
		return c, nil, nil
	}
	if c >= 'A' && c <= 'Z' {
		set = set.negate()
	}
	return 0, set, nil
}

// escapedNode reads the escapes that are neither characters nor classes.
func (p *regexParser) escapedNode(c rune) *regexNode {
	node := &regexNode{op: nodeAssert}
	switch c {
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.backref(int(c - '0'))
	case 'A':
		node.assert = opTextBegin
	case 'B':
		node.assert = opNotWordBoundary
	case 'b':
		node.assert = opWordBoundary
		if p.has(flagUnicodeClass) {
			node.assert = opUnicodeWordBoundary
		}
		if p.raw(p.i) == '{' && p.raw(p.i+1) == 'g' && p.raw(p.i+2) == '}' {
			p.i += 3
			node.assert = opGraphemeBoundary
		}
	case 'G':
		node.assert = opLastMatch
	case 'Z':
		node.assert = p.dollar(false)
	case 'z':
		node.assert = opTextEndExactly
	case 'R':
		return &regexNode{op: nodeLineEnd, kids: []*regexNode{{op: nodeAlternate, kids: []*regexNode{
			{op: nodeConcat, kids: []*regexNode{{op: nodeChar, literal: '\r'}, {op: nodeChar, literal: '\n'}}},
			{op: nodeSet, set: verticalSpace.compile()},
		}}}}
	case 'X':
		return &regexNode{op: nodeGrapheme}
	case 'k':
		if p.read() != '<' {
			p.fail("\\k is not followed by '<' for named capturing group")
		}
		name := p.groupName(p.read())
		group, ok := p.names[name]
		if !ok {
			p.fail("named capturing group <" + name + "> does not exist")
		}
		return &regexNode{op: nodeBackref, group: group, fold: p.fold()}
	default:
		return nil
	}
	if c == 'B' && p.has(flagUnicodeClass) {
		node.assert = opNotUnicodeWordBoundary
	}
	return node
}

// backref reads more digits of a reference as long as there is such a group.
func (p *regexParser) backref(group int) *regexNode {
	for isDigitRune(p.peek()) && p.i < len(p.t) {
		longer := group*10 + int(p.t[p.i]-'0')
		if longer > p.groups-1 {
			break
		}
		group = longer
		p.i++
	}
	return &regexNode{op: nodeBackref, group: group, fold: p.fold()}
}

func (p *regexParser) octal() rune {
	digit := func(c rune) bool { return c >= '0' && c <= '7' }
	a := p.read()
	if !digit(a) || p.i > len(p.t) {
		p.fail("Illegal octal escape sequence")
	}
	b := p.read()
	if !digit(b) {
		p.i--
		return a - '0'
	}
	c := p.read()
	if !digit(c) || a > '3' {
		p.i--
		return (a-'0')*8 + b - '0'
	}
	return (a-'0')*64 + (b-'0')*8 + c - '0'
}

// hexValue returns the value of a hexadecimal digit, or -1.
func hexValue(c rune) rune {
	if c > 0x7f || !isHexDigit(byte(c)) {
		return -1
	}
	return rune(baseDigit(byte(c)))
}

func (p *regexParser) hexEscape() rune {
	a := p.read()
	if hexValue(a) >= 0 {
		if b := p.read(); hexValue(b) >= 0 {
			return hexValue(a)*16 + hexValue(b)
		}
	} else if a == '{' && hexValue(p.peek()) >= 0 {
		v := rune(0)
		c := p.read()
		for ; hexValue(c) >= 0; c = p.read() {
			if v = v<<4 + hexValue(c); v > 0x10ffff {
				p.fail("Hexadecimal codepoint is too big")
			}
		}
		if c != '}' {
			p.fail("Unclosed hexadecimal escape sequence")
		}
		return v
	}
	p.fail("Illegal hexadecimal escape sequence")
	return 0
}

func (p *regexParser) fourHex() rune {
	v := rune(0)
	for range 4 {
		h := hexValue(p.read())
		if h < 0 {
			p.fail("Illegal Unicode escape sequence")
		}
		v = v*16 + h
	}
	return v
}

// unicodeEscape reads four hexadecimal digits, and a second escape if they are the first half of a pair.
func (p *regexParser) unicodeEscape() rune {
	high := p.fourHex()
	if high < 0xd800 || high > 0xdbff {
		return high
	}
	at := p.i
	if p.read() == '\\' && p.read() == 'u' {
		if low := p.fourHex(); low >= 0xdc00 && low <= 0xdfff {
			return (high-0xd800)<<10 + low - 0xdc00 + 0x10000
		}
	}
	p.i = at
	return high
}
