package javatext

import "math"

// lengths returns how many characters the node matches at least and at most; at most -1 is without end.
func (n *regexNode) lengths() (shortest, longest int) {
	switch n.op {
	case nodeChar, nodeSet:
		return 1, 1
	case nodeConcat:
		for _, kid := range n.kids {
			lo, hi := kid.lengths()
			shortest = addLength(shortest, lo)
			if longest >= 0 && hi >= 0 {
				longest = addLength(longest, hi)
			} else {
				longest = -1
			}
		}
		return shortest, longest
	case nodeAlternate:
		shortest, longest = n.kids[0].lengths()
		for _, kid := range n.kids[1:] {
			lo, hi := kid.lengths()
			shortest = min(shortest, lo)
			if hi < 0 || longest < 0 {
				longest = -1
			} else {
				longest = max(longest, hi)
			}
		}
		return shortest, longest
	case nodeGroup, nodeAtomic, nodeLineEnd:
		return n.kids[0].lengths()
	case nodeRepeat:
		lo, hi := n.kids[0].lengths()
		shortest = mulLength(lo, n.min)
		if n.max < 0 || hi < 0 {
			return shortest, -1
		}
		return shortest, mulLength(hi, n.max)
	case nodeBackref:
		return 0, -1
	case nodeGrapheme:
		return 1, -1
	}
	return 0, 0
}

// maxLength bounds the lengths that are counted.
const maxLength = 1 << 30

func addLength(a, b int) int { return min(a+b, maxLength) }

func mulLength(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	if a > maxLength/b {
		return maxLength
	}
	return a * b
}

// regexStudy is what Java finds out about the length of a look-behind, in 32 bits that overflow: it decides by that
// which look-behinds it takes, and how far back they look.
type regexStudy struct {
	min, max      int32
	maxValid      bool
	deterministic bool
}

func newRegexStudy() *regexStudy { return &regexStudy{maxValid: true, deterministic: true} }

// add follows a node and those behind it. What stands behind an alternation is looked at afresh and then added, which makes
// a difference to what overflows.
func (s *regexStudy) add(nodes ...*regexNode) {
	for len(nodes) > 0 {
		n, rest := nodes[0], nodes[1:]
		nodes = rest
		switch n.op {
		case nodeChar, nodeSet:
			s.min++
			s.max++
		case nodeLineEnd:
			s.min++
			s.max += 2
		case nodeConcat, nodeGroup, nodeAtomic:
			nodes = append(append(make([]*regexNode, 0, len(n.kids)+len(rest)), n.kids...), rest...)
		case nodeAlternate:
			s.branch(n.kids, rest)
			return
		case nodeBackref:
			s.maxValid = false
		case nodeRepeat:
			kid := n.kids[0]
			switch {
			case !n.counted && n.min == 0 && n.max == 1 && kid.op == nodeGroup && n.mode != possessive:
				s.branch([]*regexNode{kid, {op: nodeEmpty}}, rest)
				return
			case !n.counted && n.min == 0 && n.max == 1:
				least := s.min
				s.add(kid)
				s.min = least
				s.deterministic = false
			case n.max < 0 && n.mode == greedy && (kid.op == nodeChar || kid.op == nodeSet):
				s.min += int32(n.min)
				s.max += math.MaxInt32
				s.deterministic = false
			case !s.repeat(n, kid):
				return
			}
		}
	}
}

func (s *regexStudy) branch(kids, rest []*regexNode) {
	least, most := int32(math.MaxInt32), int32(-1)
	for _, kid := range kids {
		k := newRegexStudy()
		k.add(kid)
		least, most = min(least, k.min), max(most, k.max)
		s.maxValid = s.maxValid && k.maxValid
	}
	r := newRegexStudy()
	r.add(rest...)
	s.min += least + r.min
	s.max += most + r.max
	s.maxValid = s.maxValid && r.maxValid
	s.deterministic = false
}

// repeat adds a repetition. It returns false if Java looks at nothing behind it.
func (s *regexStudy) repeat(n, kid *regexNode) bool {
	k := newRegexStudy()
	k.add(kid)
	if kid.op == nodeGroup && n.mode != possessive && !k.deterministic {
		s.maxValid, s.deterministic = false, false
		return false
	}
	most := int32(math.MaxInt32)
	if n.max >= 0 {
		most = int32(n.max)
	}
	sum := k.min*int32(n.min) + s.min
	if sum < s.min {
		sum = 0xfffffff
	}
	s.min = sum
	if s.maxValid = s.maxValid && k.maxValid; s.maxValid {
		sum = k.max*most + s.max
		s.maxValid = sum >= s.max
		s.max = sum
	}
	s.deterministic = s.deterministic && k.deterministic && int32(n.min) == most
	return true
}
