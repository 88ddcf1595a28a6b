package javatext

import (
	_ "embed" // for the table
	"unicode"
	"unicode/utf8"
)

// regexNamesText has the Unicode blocks and the short names of scripts; gen/RegexNames.java writes it.
//
//go:embed regexnames.txt
var regexNamesText string

// charClass is a set of characters.
type charClass struct{ has func(r rune) bool }

// charSet is a charClass that is quick for ASCII.
type charSet struct {
	ascii [2]uint64
	other func(r rune) bool
}

func (c *charClass) compile() *charSet {
	s := &charSet{other: c.has}
	for r := range rune(utf8.RuneSelf) {
		if c.has(r) {
			s.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	return s
}

func (s *charSet) hasASCII(b byte) bool { return s.ascii[b>>6]>>(b&63)&1 != 0 }

func (c *charClass) negate() *charClass {
	return &charClass{func(r rune) bool { return !c.has(r) }}
}

func (c *charClass) union(d *charClass) *charClass {
	return &charClass{func(r rune) bool { return c.has(r) || d.has(r) }}
}

func (c *charClass) intersect(d *charClass) *charClass {
	return &charClass{func(r rune) bool { return c.has(r) && d.has(r) }}
}

func rangeClass(lo, hi rune) *charClass {
	return &charClass{func(r rune) bool { return r >= lo && r <= hi }}
}

func tableClass(tables ...*unicode.RangeTable) *charClass {
	return &charClass{func(r rune) bool { return unicode.In(r, tables...) }}
}

var (
	emptyClass      = &charClass{func(rune) bool { return false }}
	anySet          = (&charClass{func(rune) bool { return true }}).compile()
	dotSet          = (&charClass{func(r rune) bool { return !isLineTerminator(r) }}).compile()
	unixDotSet      = (&charClass{func(r rune) bool { return r != '\n' }}).compile()
	wordClass       = &charClass{isASCIIWord}
	regexSpace      = &charClass{isRegexSpace}
	horizontalSpace = &charClass{func(r rune) bool {
		return r == ' ' || r == '\t' || r == 0xa0 || r == 0x1680 || r == 0x180e || r >= 0x2000 && r <= 0x200a || r == 0x202f || r == 0x205f || r == 0x3000
	}}
	verticalSpace = &charClass{func(r rune) bool { return r >= '\n' && r <= '\r' || r == 0x85 || r == 0x2028 || r == 0x2029 }}
	unicodeDigits = &charClass{func(r rune) bool { return unicode.Is(unicode.Nd, r) }}
	unicodeSpace  = &charClass{func(r rune) bool { return unicode.Is(unicode.White_Space, r) }}
	unicodeWord   = &charClass{isUnicodeWord}
)

func isASCIIWord(r rune) bool {
	return r < 0x80 && (isASCIILetter(byte(r)) || isASCIIDigit(byte(r)) || r == '_')
}

func isUnicodeWord(r rune) bool {
	return isAlphabetic(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc, unicode.Nd, unicode.Pc) || r == 0x200c || r == 0x200d
}

func isAlphabetic(r rune) bool {
	return unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_Alphabetic)
}

// simpleFold is Character.toLowerCase(Character.toUpperCase(r)).
func simpleFold(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

// foldedChar returns the class of a character and its other cases, or nil if there is only itself.
func foldedChar(c rune, fold caseFold) *charClass {
	switch {
	case fold == foldASCII && c < 0x80 && isASCIILetter(byte(c)):
		return &charClass{func(r rune) bool { return r|0x20 == c|0x20 }}
	case fold == foldUnicode:
		if upper, lower := unicode.ToUpper(c), simpleFold(c); upper != lower {
			return &charClass{func(r rune) bool { return r == lower || simpleFold(r) == lower }}
		}
	}
	return nil
}

// bitClass gathers the single characters below 256 of a class, which Java keeps apart from the others until the end.
type bitClass struct {
	chars [256]bool
	used  bool
}

func (b *bitClass) class() *charClass {
	chars := b.chars
	return &charClass{func(r rune) bool { return r < 256 && chars[r] }}
}

// class reads a class in brackets; consume says that its closing bracket belongs to it.
func (p *regexParser) class(consume bool) *charClass {
	if p.depth++; p.depth > maxRegexDepth {
		p.fail("Nesting too deep")
	}
	defer func() { p.depth-- }()
	var prev *charClass
	var bits bitClass
	negative := false
	c := p.next()
	if c == '^' && p.raw(p.i-1) == '[' {
		c = p.next()
		negative = true
	}
	join := func(d *charClass) {
		if prev == nil {
			prev = d
		} else {
			prev = prev.union(d)
		}
	}
	for {
		switch {
		case p.i >= len(p.t):
			p.fail("Unclosed character class")
			return emptyClass
		case c == '[':
			join(p.class(true))
			c = p.peek()
			continue
		case c == '&':
			if c = p.next(); c == '&' {
				p.classAnd(&prev, &bits)
				c = p.peek()
				continue
			}
			p.i--
		case c == ']' && (prev != nil || bits.used):
			if consume {
				p.i++
			}
			if bits.used {
				join(bits.class())
			}
			if negative {
				return prev.negate()
			}
			return prev
		}
		if d := p.classRange(&bits); d != nil {
			join(d)
		} else {
			bits.used = true
		}
		c = p.peek()
	}
}

// classAnd reads the right side of "&&" and intersects prev with it.
func (p *regexParser) classAnd(prev **charClass, bits *bitClass) {
	var right *charClass
	var last *charClass
	c := p.next()
	for c != ']' && c != '&' {
		if p.i >= len(p.t) {
			p.fail("Unclosed character class")
			return
		}
		if c == '[' {
			d := p.class(true)
			if right == nil {
				right = d
			} else {
				right = right.union(d)
			}
		} else {
			p.i--
			right = p.class(false)
		}
		c = p.peek()
	}
	if bits.used {
		b := bits.class()
		last = b
		if *prev == nil {
			*prev = b
		} else {
			*prev = (*prev).union(b)
		}
		*bits = bitClass{}
	}
	if right != nil {
		last = right
	}
	switch {
	case *prev == nil && right == nil:
		p.fail("Bad class syntax")
	case *prev == nil:
		*prev = right
	case last != nil:
		*prev = (*prev).intersect(last)
	}
}

// classRange reads a character, a range or an escaped class within brackets. It returns nil if the character went into bits.
func (p *regexParser) classRange(bits *bitClass) *charClass {
	c := p.peek()
	if c == '\\' {
		if next := p.raw(p.i + 1); next == 'p' || next == 'P' {
			p.i++
			return p.property()
		}
		isRange := p.raw(p.i+2) == '-'
		p.i++
		var set *charClass
		if c, set, _ = p.escape(true, isRange); set != nil {
			return set
		}
	} else {
		p.next()
	}
	if p.peek() == '-' {
		end := p.raw(p.i + 1)
		if end == '[' {
			return p.bitsOrSingle(bits, c)
		}
		if end != ']' {
			p.next()
			to := p.peek()
			if to == '\\' {
				p.i++
				var set *charClass
				if to, set, _ = p.escape(true, true); set != nil {
					to = -1
				}
			} else {
				if p.i >= len(p.t) {
					p.fail("Unclosed character class")
				}
				p.next()
			}
			if to < c {
				p.fail("Illegal character range")
			}
			return p.foldedRange(c, to)
		}
	}
	return p.bitsOrSingle(bits, c)
}

func (p *regexParser) foldedRange(lo, hi rune) *charClass {
	in := func(r rune) bool { return r >= lo && r <= hi }
	switch p.fold() {
	case foldASCII:
		return &charClass{func(r rune) bool {
			if in(r) {
				return true
			}
			return r < 0x80 && isASCIILetter(byte(r)) && (in(r|0x20) || in(r&^0x20))
		}}
	case foldUnicode:
		return &charClass{func(r rune) bool {
			if in(r) {
				return true
			}
			upper := unicode.ToUpper(r)
			return in(upper) || in(unicode.ToLower(upper))
		}}
	}
	return &charClass{in}
}

// bitsOrSingle puts a character into bits, or returns a class of it.
func (p *regexParser) bitsOrSingle(bits *bitClass, c rune) *charClass {
	folded := foldedChar(c, p.fold())
	if folded != nil && (p.fold() == foldUnicode || c > 255) {
		return folded
	}
	if c > 255 {
		return rangeClass(c, c)
	}
	for r := range bits.chars {
		if rune(r) == c || folded != nil && folded.has(rune(r)) {
			bits.chars[r] = true
		}
	}
	return nil
}
