package javatext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// regexFrame is something to come back to when a path fails.
type regexFrame struct {
	pc      int // an instruction to go on at, or one of the kinds below
	a, b, c int
}

const (
	frameCapture  = -1 - iota // set the end a of the groups back to b
	frameRegister             // set the register a back to b
	frameGreedy               // give back a character of a repetition from b down to a, and go on at c
	frameLazy                 // take one more character of the repetition at c, at a, of which b may follow
)

// regexMatcher holds the state of one search; matchers are kept and used again.
type regexMatcher struct {
	prog      *regexProgram
	s         string
	caps      []int
	registers []int
	stack     []regexFrame
	lastEnd   int // of the match before, for \G
	mustEnd   int // where a look-behind must end, or -1
	nested    int
	steps     int
	failed    []uint64 // bits of (split, position) that are known to fail
}

// rememberAfter is after how many steps a search begins to remember what failed.
const rememberAfter = 4096

// maxRemembered bounds the memory for it, in words.
const maxRemembered = 1 << 21

func (m *regexMatcher) reset(prog *regexProgram, s string) {
	m.prog, m.s = prog, s
	if cap(m.caps) < 2*prog.groups {
		m.caps = make([]int, 2*prog.groups)
	}
	m.caps = m.caps[:2*prog.groups]
	if cap(m.registers) < prog.registers {
		m.registers = make([]int, prog.registers)
	}
	m.registers = m.registers[:prog.registers]
	m.stack = m.stack[:0]
	m.lastEnd, m.mustEnd, m.nested, m.steps = 0, -1, 0, 0
	m.failed = m.failed[:0]
}

// search finds the first match that begins at from or later.
func (m *regexMatcher) search(from int) bool {
	prog := m.prog
	for i := range m.caps {
		m.caps[i] = -1
	}
	for at := from; at <= len(m.s); {
		switch {
		case prog.atBegin && at > 0:
			return false
		case prog.prefix != "":
			i := strings.Index(m.s[at:], prog.prefix)
			if i < 0 {
				return false
			}
			at += i
			if prog.literal {
				m.caps[0], m.caps[1] = at, at+len(prog.prefix)
				return true
			}
		case prog.first != nil:
			for at < len(m.s) && !prog.first[m.s[at]] {
				at++
			}
			if at == len(m.s) {
				return false
			}
		}
		if m.matchAt(at) {
			return true
		}
		at++
		for at < len(m.s) && !utf8.RuneStart(m.s[at]) {
			at++
		}
	}
	return false
}

// matchAt tries to match at a position and sets the groups.
func (m *regexMatcher) matchAt(at int) bool {
	m.stack = m.stack[:0]
	end, ok := m.run(0, at)
	if ok {
		m.caps[0], m.caps[1] = at, end
	}
	return ok
}

// run executes from an instruction and position on to the next opMatch. Frames that it pushes are gone when it fails; those
// that set something back stay when it succeeds in a nested run.
func (m *regexMatcher) run(pc, pos int) (end int, ok bool) {
	base := len(m.stack)
	s := m.s
	insts := m.prog.insts
	for {
		in := &insts[pc]
		good := true
		switch in.op {
		case opMatch:
			if m.nested > 0 && m.mustEnd >= 0 && pos != m.mustEnd {
				good = false
				break
			}
			m.keepRestoring(base)
			return pos, true
		case opLiteral:
			if good = strings.HasPrefix(s[pos:], in.lit); good {
				pos += len(in.lit)
				pc++
			}
		case opSet:
			n := in.set.next(s, pos)
			good = n > 0
			pos += n
			pc++
		case opSetRepeat:
			pos, good = m.repeatSet(in, pc, pos)
			pc++
		case opSplit:
			m.steps++
			if m.steps > rememberAfter && m.prog.remember && m.nested == 0 && m.knownFailure(in.min, pos) {
				good = false
				break
			}
			m.stack = append(m.stack, regexFrame{pc: in.y, a: pos})
			pc = in.x
		case opJump:
			pc = in.x
		case opSave:
			m.stack = append(m.stack, regexFrame{pc: frameCapture, a: in.x, b: m.caps[in.x]})
			m.caps[in.x] = pos
			pc++
		case opCountInit:
			m.setRegister(in.x, 0)
			m.setRegister(in.x+1, -1)
			pc++
		case opCountLoop:
			pc = m.countLoop(in, pos)
		case opLook:
			if good = m.look(in, pc, pos); good {
				pc = in.x
			}
		case opAtomic:
			m.nested++
			saved := m.mustEnd
			m.mustEnd = -1
			pos, good = m.run(pc+1, pos)
			m.mustEnd = saved
			m.nested--
			pc = in.x
		case opBackref:
			n, same := m.backref(in, pos)
			good = same
			pos += n
			pc++
		case opGrapheme:
			n := graphemeLength(s[pos:])
			good = n > 0
			pos += n
			pc++
		default:
			good = m.assert(in.op, pos)
			pc++
		}
		if good {
			continue
		}
		if pc, pos, good = m.backtrack(base); !good {
			return 0, false
		}
	}
}

// backtrack undoes frames down to one to go on at.
func (m *regexMatcher) backtrack(base int) (pc, pos int, ok bool) {
	for len(m.stack) > base {
		f := &m.stack[len(m.stack)-1]
		switch f.pc {
		case frameCapture:
			m.caps[f.a] = f.b
		case frameRegister:
			m.registers[f.a] = f.b
		case frameGreedy:
			pc = f.c
			pos = f.b - 1
			if next := m.prog.insts[pc-1].x; next >= 0 {
				// Only where the byte stands that must follow can the path go on.
				if pos = f.a + strings.LastIndexByte(m.s[f.a:f.b], byte(next)); pos < f.a {
					break
				}
			} else {
				for pos > f.a && !utf8.RuneStart(m.s[pos]) {
					pos--
				}
			}
			if pos > f.a {
				f.b = pos
			} else {
				m.stack = m.stack[:len(m.stack)-1]
			}
			return pc, pos, true
		case frameLazy:
			in := &m.prog.insts[f.c]
			n := in.set.next(m.s, f.a)
			if n == 0 {
				break
			}
			pos = f.a + n
			pc = f.c + 1
			f.a = pos
			if f.b > 0 {
				f.b--
			}
			if f.b == 0 {
				m.stack = m.stack[:len(m.stack)-1]
			}
			return pc, pos, true
		default:
			pc, pos = f.pc, f.a
			m.stack = m.stack[:len(m.stack)-1]
			return pc, pos, true
		}
		m.stack = m.stack[:len(m.stack)-1]
	}
	return 0, 0, false
}

// keepRestoring drops the frames above base that offer another path, as a nested run that has matched is not tried
// again, but keeps those that set a register back if the outer path fails. What it captured stays even then,
// as in Java.
func (m *regexMatcher) keepRestoring(base int) {
	if m.nested == 0 {
		return
	}
	kept := base
	for _, f := range m.stack[base:] {
		if f.pc == frameRegister {
			m.stack[kept] = f
			kept++
		}
	}
	m.stack = m.stack[:kept]
}

func (m *regexMatcher) setRegister(i, v int) {
	m.stack = append(m.stack, regexFrame{pc: frameRegister, a: i, b: m.registers[i]})
	m.registers[i] = v
}

// countLoop decides whether a counted loop goes round again.
func (m *regexMatcher) countLoop(in *regexInst, pos int) (pc int) {
	count, last := m.registers[in.register], m.registers[in.register+1]
	if count > 0 && pos == last {
		return in.y // the last round matched nothing
	}
	again := in.max < 0 || count < in.max
	switch {
	case count < in.min:
	case !again:
		return in.y
	case in.mode == lazy:
		// The registers must say the same when the loop is entered after all.
		m.stack = append(m.stack, regexFrame{pc: in.x, a: pos})
		m.setRegisterBelow(in.register, count+1)
		m.setRegisterBelow(in.register+1, pos)
		return in.y
	default:
		m.stack = append(m.stack, regexFrame{pc: in.y, a: pos})
	}
	m.setRegister(in.register, count+1)
	m.setRegister(in.register+1, pos)
	return in.x
}

// setRegisterBelow sets a register for the path that leaves a lazy loop and the one that enters it later alike: what it was before
// is restored under the frame on top of the stack.
func (m *regexMatcher) setRegisterBelow(i, v int) {
	n := len(m.stack)
	m.stack = append(m.stack, m.stack[n-1])
	m.stack[n-1] = regexFrame{pc: frameRegister, a: i, b: m.registers[i]}
	m.registers[i] = v
}

// repeatSet matches a repetition of a set.
func (m *regexMatcher) repeatSet(in *regexInst, pc, pos int) (end int, ok bool) {
	s := m.s
	count := 0
	for ; count < in.min; count++ {
		n := in.set.next(s, pos)
		if n == 0 {
			return pos, false
		}
		pos += n
	}
	if in.mode == lazy {
		left := -1
		if in.max >= 0 {
			left = in.max - in.min
		}
		if left != 0 {
			m.stack = append(m.stack, regexFrame{pc: frameLazy, a: pos, b: left, c: pc})
		}
		return pos, true
	}
	least := pos
	if in.max < 0 {
		for pos < len(s) {
			if b := s[pos]; b < utf8.RuneSelf {
				if !in.set.hasASCII(b) {
					break
				}
				pos++
				continue
			}
			n := in.set.next(s, pos)
			if n == 0 {
				break
			}
			pos += n
		}
	} else {
		for ; count < in.max; count++ {
			n := in.set.next(s, pos)
			if n == 0 {
				break
			}
			pos += n
		}
	}
	if pos > least && in.mode == greedy {
		m.steps++
		m.stack = append(m.stack, regexFrame{pc: frameGreedy, a: least, b: pos, c: pc + 1})
	}
	return pos, true
}

// next returns the length of the character at i if it is in the set, otherwise 0.
func (s *charSet) next(text string, i int) int {
	if i >= len(text) {
		return 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		if s.hasASCII(b) {
			return 1
		}
		return 0
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	if !s.other(r) {
		return 0
	}
	return n
}

// look tells whether a look-ahead or look-behind holds.
func (m *regexMatcher) look(in *regexInst, pc, pos int) bool {
	m.nested++
	saved := m.mustEnd
	found := false
	if in.behind {
		m.mustEnd = pos
		start := pos
		furthest := in.max
		if furthest < 0 {
			// Java subtracts in 32 bits: from here, or without end.
			if int32(pos)-int32(furthest) < 0 {
				furthest = len(m.s)
			}
		}
		for back := 0; !found && back <= furthest; back++ {
			if back >= in.min {
				_, found = m.run(pc+1, start)
			}
			if start == 0 {
				break
			}
			_, n := utf8.DecodeLastRuneInString(m.s[:start])
			start -= n
		}
	} else {
		m.mustEnd = -1
		_, found = m.run(pc+1, pos)
	}
	m.mustEnd = saved
	m.nested--
	return found != in.negative
}

// backref returns the length of the text of a group if it stands at pos again.
func (m *regexMatcher) backref(in *regexInst, pos int) (length int, ok bool) {
	if 2*in.x+1 >= len(m.caps) {
		return 0, false
	}
	from, to := m.caps[2*in.x], m.caps[2*in.x+1]
	if from < 0 || to < from {
		return 0, false
	}
	text, rest := m.s[from:to], m.s[pos:]
	if in.fold == foldNone {
		return len(text), strings.HasPrefix(rest, text)
	}
	for _, r := range text {
		q, n := utf8.DecodeRuneInString(rest[length:])
		if n == 0 || !sameFolded(r, q, in.fold) {
			return 0, false
		}
		length += n
	}
	return length, true
}

func sameFolded(a, b rune, fold caseFold) bool {
	if a == b {
		return true
	}
	if fold == foldUnicode {
		return unicode.ToUpper(a) == unicode.ToUpper(b) || simpleFold(a) == simpleFold(b)
	}
	return a < 0x80 && b < 0x80 && isASCIILetter(byte(a)) && a|0x20 == b|0x20
}

// knownFailure tells whether a split was reached at this position before, and remembers it.
func (m *regexMatcher) knownFailure(split, pos int) bool {
	words := (m.prog.splits*(len(m.s)+1) + 63) / 64
	if words > maxRemembered {
		return false
	}
	if len(m.failed) != words {
		if cap(m.failed) < words {
			m.failed = make([]uint64, words)
		} else {
			m.failed = m.failed[:words]
			clear(m.failed)
		}
	}
	bit := split*(len(m.s)+1) + pos
	if m.failed[bit/64]>>(bit%64)&1 != 0 {
		return true
	}
	m.failed[bit/64] |= 1 << (bit % 64)
	return false
}

// before returns the character that ends at pos.
func (m *regexMatcher) before(pos int) rune {
	r, _ := utf8.DecodeLastRuneInString(m.s[:pos])
	return r
}

// after returns the character at pos.
func (m *regexMatcher) after(pos int) rune {
	r, _ := utf8.DecodeRuneInString(m.s[pos:])
	return r
}

// assert tells whether an assertion holds at a position.
func (m *regexMatcher) assert(op regexOp, pos int) bool {
	s := m.s
	switch op {
	case opTextBegin:
		return pos == 0
	case opTextEndExactly:
		return pos == len(s)
	case opLastMatch:
		return pos == m.lastEnd
	case opTextEnd:
		if pos == len(s) {
			return true
		}
		switch rest := s[pos:]; rest {
		case "\n":
			return pos == 0 || s[pos-1] != '\r'
		case "\r\n", "\r", "\u0085", "\u2028", "\u2029":
			return true
		}
		return false
	case opUnixTextEnd:
		return pos == len(s) || s[pos:] == "\n"
	case opLineEnd:
		if pos == len(s) {
			return true
		}
		if s[pos] == '\n' {
			return pos == 0 || s[pos-1] != '\r'
		}
		return isLineTerminator(m.after(pos))
	case opUnixLineEnd:
		return pos == len(s) || s[pos] == '\n'
	case opLineBegin:
		if pos == len(s) {
			return false
		}
		if pos == 0 {
			return true
		}
		return isLineTerminator(m.before(pos)) && (s[pos-1] != '\r' || s[pos] != '\n')
	case opUnixLineBegin:
		return pos != len(s) && (pos == 0 || s[pos-1] == '\n')
	case opWordBoundary:
		return m.wordBoundary(pos, isLooseWord)
	case opNotWordBoundary:
		return !m.wordBoundary(pos, isLooseWord)
	case opUnicodeWordBoundary:
		return m.wordBoundary(pos, isUnicodeWord)
	case opNotUnicodeWordBoundary:
		return !m.wordBoundary(pos, isUnicodeWord)
	case opGraphemeBoundary:
		return isGraphemeBoundary(s, pos)
	}
	return false
}

// isLooseWord is what \b takes for a part of a word, which is more than \w.
func isLooseWord(r rune) bool {
	if r < utf8.RuneSelf {
		return isASCIIWord(r)
	}
	return unicode.In(r, unicode.L, unicode.Nd)
}

func (m *regexMatcher) wordBoundary(pos int, isWord func(r rune) bool) bool {
	left := pos > 0 && m.wordAt(m.before(pos), pos, isWord)
	right := false
	if pos < len(m.s) {
		r := m.after(pos)
		right = isWord(r) || unicode.Is(unicode.Mn, r) && m.hasBase(pos, isWord)
	}
	return left != right
}

func (m *regexMatcher) wordAt(r rune, end int, isWord func(r rune) bool) bool {
	return isWord(r) || unicode.Is(unicode.Mn, r) && m.hasBase(end-utf8.RuneLen(r), isWord)
}

// hasBase tells whether the marks before pos stand on a letter or digit.
func (m *regexMatcher) hasBase(pos int, isWord func(r rune) bool) bool {
	for pos > 0 {
		r, n := utf8.DecodeLastRuneInString(m.s[:pos])
		if unicode.In(r, unicode.L, unicode.Nd) {
			return true
		}
		if !unicode.Is(unicode.Mn, r) {
			return false
		}
		pos -= n
	}
	return false
}

// graphemeLength returns the length of the user-perceived character at the front of s: a line end, or a character
// with its marks, joiners, and a second regional indicator.
func graphemeLength(s string) int {
	if s == "" {
		return 0
	}
	if strings.HasPrefix(s, "\r\n") {
		return 2
	}
	r, n := utf8.DecodeRuneInString(s)
	if r < ' ' || r == 0x7f {
		return n
	}
	if isRegional(r) {
		if q, k := utf8.DecodeRuneInString(s[n:]); isRegional(q) {
			n += k
		}
	}
	joined := false
	for n < len(s) {
		q, k := utf8.DecodeRuneInString(s[n:])
		switch {
		case q == 0x200d:
			joined = true
		case unicode.In(q, unicode.Mn, unicode.Me, unicode.Mc) || q == 0x200c || q >= 0x1f3fb && q <= 0x1f3ff:
			joined = false
		case joined && unicode.Is(unicode.So, q):
			joined = false
		default:
			return n
		}
		n += k
	}
	return n
}

func isRegional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// isGraphemeBoundary tells whether a user-perceived character ends or begins at pos.
func isGraphemeBoundary(s string, pos int) bool {
	for i := 0; i < pos; {
		i += graphemeLength(s[i:])
		if i > pos {
			return false
		}
	}
	return true
}
