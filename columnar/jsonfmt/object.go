package jsonfmt

import (
	"math/bits"
	"unicode/utf8"
	"unsafe"

	"github.com/wstream/wstream/columnar"
)

// maxMembers bounds the names that an object remembers.
const maxMembers = 4096

// object knows the members of one struct of the schema, and learns in which order they come: each
// member remembers which one followed it last, so that most names are compared and none is searched.
type object struct {
	fields map[string]int // name to the field's position; the last of equal names
	kids   []*node
	known  map[string]*member
	first  *member // the member that an object began with last
	other  member  // stands for names beyond maxMembers
	seen   []uint64
	all    []uint64 // a bit for every field
	wide   bool     // more than 64 fields
}

// member is a name that occurred, either a field or something to pass over.
type member struct {
	word     uint64 // the first bytes of the name, from quote to quote
	mask     uint64
	word2    uint64
	mask2    uint64
	rest     []uint64 // bytes beyond 16, the last word under restMask
	restMask uint64
	size     int
	node     *node // nil: pass over
	bit      uint64
	slot     int // of bit in seen
	next     *member
}

func newObject(fields []columnar.Field, kids []*node) *object {
	o := &object{fields: make(map[string]int, len(fields)), kids: kids, known: make(map[string]*member)}
	for i, f := range fields {
		o.fields[f.Name] = i
	}
	o.all = make([]uint64, max(1, (len(fields)+63)/64))
	o.seen = make([]uint64, len(o.all))
	for i := range fields {
		o.all[i/64] |= 1 << (i % 64)
	}
	o.wide = len(o.all) > 1
	return o
}

// is tells whether the name at i is m.
func (m *member) is(b unsafe.Pointer, i int) bool {
	if wordAt(b, i)&m.mask != m.word {
		return false
	}
	if m.size <= 8 {
		return true
	}
	return wordAt(b, i+8)&m.mask2 == m.word2 && (m.rest == nil || m.restIs(b, i+16))
}

func (m *member) restIs(b unsafe.Pointer, i int) bool {
	last := len(m.rest) - 1
	for _, w := range m.rest[:last] {
		if wordAt(b, i) != w {
			return false
		}
		i += 8
	}
	return wordAt(b, i)&m.restMask == m.rest[last]
}

func newMember(quoted string) *member {
	m := &member{size: len(quoted)}
	words := make([]uint64, 0, 4)
	var mask uint64
	for i := 0; i < len(quoted); i += 8 {
		var w uint64
		n := min(8, len(quoted)-i)
		for k := range n {
			w |= uint64(quoted[i+k]) << (8 * k)
		}
		mask = ^uint64(0) >> (64 - 8*n)
		words = append(words, w)
	}
	for len(words) < 2 {
		words = append(words, 0)
		if len(words) == 2 {
			m.word, m.mask, m.word2 = words[0], mask, 0
			return m
		}
	}
	m.word, m.mask, m.word2, m.mask2 = words[0], ^uint64(0), words[1], ^uint64(0)
	if len(words) == 2 {
		m.mask2 = mask
		return m
	}
	m.rest, m.restMask = words[2:], mask
	return m
}

// find looks up the name whose opening quote is at i, after the member that was expected was not
// there. It gives nil where the slow reader must look.
func (o *object) find(b unsafe.Pointer, i int, before *member) *member {
	if byteAt(b, i) != '"' {
		return nil
	}
	// Often a member is just missing.
	expected := o.first
	if before != nil {
		expected = before.next
	}
	for range 3 {
		if expected == nil {
			break
		}
		if expected.is(b, i) {
			return expected
		}
		expected = expected.next
	}
	end := quotedEnd(b, i+1)
	if byteAt(b, end) != '"' {
		return nil
	}
	quoted := textAt(b, i, end+1)
	m := o.known[quoted]
	if m == nil {
		if !utf8.ValidString(quoted) {
			return nil
		}
		k, isField := o.fields[quoted[1:len(quoted)-1]]
		if !isField && len(o.known) >= maxMembers {
			o.other = member{size: len(quoted)}
			return &o.other
		}
		quoted = string(append([]byte{}, quoted...))
		m = newMember(quoted)
		if isField {
			m.node, m.slot, m.bit = o.kids[k], k/64, 1<<(k%64)
		}
		o.known[quoted] = m
	}
	if before == nil {
		o.first = m
	} else if before != &o.other {
		before.next = m
	}
	return m
}

// fillMissing makes the fields that were not seen null.
func (o *object) fillMissing(seen uint64, row int) {
	for miss := o.all[0] &^ seen; miss != 0; miss &= miss - 1 {
		o.kids[bits.TrailingZeros64(miss)].setNull(row)
	}
	if !o.wide {
		return
	}
	for w := 1; w < len(o.all); w++ {
		for miss := o.all[w] &^ o.seen[w]; miss != 0; miss &= miss - 1 {
			o.kids[w*64+bits.TrailingZeros64(miss)].setNull(row)
		}
	}
}
