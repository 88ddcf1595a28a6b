package reference

import (
	"bytes"
	"hash/maphash"
)

// Group is what the clicks of one window and url add up to.
type Group struct {
	// WindowUs is the window's start in microseconds since 1970.
	WindowUs int64
	Count    int64
	Total    float64
	hash     uint64 // of window and url; 0 marks a free slot
	at, len  uint32 // the url's place in the arena
}

// Table adds clicks up by window and url: open addressing, the urls one after the other in one arena, so that nothing in
// it is a pointer that the collector follows.
type Table struct {
	seed  maphash.Seed
	slots []Group
	used  int
	arena []byte
}

// NewTable makes an empty table.
func NewTable() *Table {
	return &Table{seed: maphash.MakeSeed(), slots: make([]Group, 1024)}
}

// Add counts one click of a window and url.
func (t *Table) Add(windowUs int64, url []byte, amount float64) {
	g := t.group(windowUs, url)
	g.Count++
	g.Total += amount
}

// Merge adds another table's groups to this one.
func (t *Table) Merge(o *Table) {
	for i := range o.slots {
		if s := &o.slots[i]; s.hash != 0 {
			g := t.group(s.WindowUs, o.url(s))
			g.Count += s.Count
			g.Total += s.Total
		}
	}
}

// Len is the number of groups.
func (t *Table) Len() int { return t.used }

// Each calls f for all groups, in no order. The url is valid until the next Add.
func (t *Table) Each(f func(url []byte, g *Group)) {
	for i := range t.slots {
		if s := &t.slots[i]; s.hash != 0 {
			f(t.url(s), s)
		}
	}
}

func (t *Table) url(g *Group) []byte { return t.arena[g.at : g.at+g.len] }

func (t *Table) group(windowUs int64, url []byte) *Group {
	const odd = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: spreads the windows over all bits
	hash := (maphash.Bytes(t.seed, url) ^ uint64(windowUs)*odd) | 1
	mask := uint64(len(t.slots) - 1)
	for i := hash >> 7 & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.hash == 0 {
			if t.used*2 >= len(t.slots) {
				t.grow()
				return t.group(windowUs, url)
			}
			t.used++
			*s = Group{WindowUs: windowUs, hash: hash, at: uint32(len(t.arena)), len: uint32(len(url))}
			t.arena = append(t.arena, url...)
			return s
		}
		if s.hash == hash && s.WindowUs == windowUs && bytes.Equal(t.url(s), url) {
			return s
		}
	}
}

func (t *Table) grow() {
	old := t.slots
	t.slots = make([]Group, 2*len(old))
	mask := uint64(len(t.slots) - 1)
	for i := range old {
		if old[i].hash == 0 {
			continue
		}
		j := old[i].hash >> 7 & mask
		for t.slots[j].hash != 0 {
			j = (j + 1) & mask
		}
		t.slots[j] = old[i]
	}
}
