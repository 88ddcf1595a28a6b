package exec

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/wstream/wstream/columnar"
)

// noGroup is what find gives for a key that is not there.
const noGroup = math.MaxUint32

// keyTable numbers keys in order of their first appearance. It is an open-addressing table over
// records in one arena without pointers, and belongs to one goroutine. A record is a word with the
// group's number, the fixed words of the key, and the bytes of its strings, padded to words.
type keyTable struct {
	shape   *keyShape
	slots   []uint64 // tag of the hash << 32 | offset of the record; 0 is empty
	mask    uint64
	words   []uint64 // arena; word 0 is never used
	offsets []uint32 // of the record of each group
	rows    keyRows
	sink    uint64 // keeps loads that only warm the cache from being optimised away
}

func newKeyTable(shape *keyShape) *keyTable { return &keyTable{shape: shape} }

// len is the number of groups.
func (t *keyTable) len() int { return len(t.offsets) }

// reset removes all groups and keeps the memory, unless it is far more than the groups needed.
func (t *keyTable) reset() {
	if len(t.slots) > 8*len(t.offsets)+1024 {
		t.slots, t.words, t.offsets = nil, nil, nil
		return
	}
	clear(t.slots)
	t.words, t.offsets = t.words[:0], t.offsets[:0]
}

// maxTableWords bounds the arena: offsets have 32 bits.
const maxTableWords = math.MaxUint32 - 1<<20

// assign gives the group of each of n rows, adding those that are new.
func (t *keyTable) assign(cols []*columnar.Column, n int, group []uint32) error {
	t.rows.load(t.shape, cols, n)
	most := (t.shape.fixed + 2) * n
	for _, c := range t.rows.strings {
		most += int(c.Offsets[n]-c.Offsets[0]) / 8
	}
	if len(t.words)+most > maxTableWords {
		return fmt.Errorf("the keys of one table exceed 32 GiB")
	}
	for from := 0; from < n; from += assignRows {
		// Room for all that may be new comes first, so that the loop never grows the table.
		to := min(from+assignRows, n)
		t.reserve(len(t.offsets) + to - from)
		if len(t.slots) >= bigTable {
			t.warm(from, to)
		}
		t.assignRows(from, to, group)
	}
	return nil
}

const (
	assignRows = 128     // rows that are looked up together
	bigTable   = 1 << 16 // slots from which on a table does not fit the cache
)

// reserve makes room for n groups at a load of at most a half.
func (t *keyTable) reserve(n int) {
	if 2*n <= len(t.slots) {
		return
	}
	size := max(len(t.slots), 512)
	for 2*n > size {
		size *= 2
	}
	old := t.slots
	t.slots, t.mask = make([]uint64, size), uint64(size-1)
	for _, s := range old {
		if s != 0 {
			p := s >> 32 & t.mask
			for t.slots[p] != 0 {
				p = (p + 1) & t.mask
			}
			t.slots[p] = s
		}
	}
}

// warm loads what the look-ups of rows [from, to) will read, first all slots, then all records: these
// loads do not wait for one another.
func (t *keyTable) warm(from, to int) {
	var offs [assignRows]uint32
	hashes, slots, mask, words := t.rows.hash[from:to], t.slots, t.mask, t.words
	for i, h := range hashes {
		if s := slots[h>>32&mask]; s>>32 == h>>32 {
			offs[i] = uint32(s)
		}
	}
	x := uint64(0)
	for i := range hashes {
		if off := offs[i]; off != 0 {
			x ^= words[off]
		}
	}
	t.sink ^= x
}

// assignRows is assign for rows [from, to) of t.rows. Shapes that are frequent have a loop of their own.
func (t *keyTable) assignRows(from, to int, group []uint32) {
	hashes, slots, mask := t.rows.hash, t.slots, t.mask
	w := t.shape.fixed
	switch {
	case t.shape.strings == 0 && w == 2:
		for r := from; r < to; r++ {
			tag := hashes[r] >> 32
			nulls, word := t.rows.fixed[2*r], t.rows.fixed[2*r+1]
			for p := tag & mask; ; p = (p + 1) & mask {
				s := slots[p]
				if s == 0 {
					group[r] = t.insert(p, tag, r)
					break
				}
				if s>>32 != tag {
					continue
				}
				if rec := t.words[uint32(s) : uint32(s)+3]; rec[2] == word && rec[1] == nulls {
					group[r] = uint32(rec[0])
					break
				}
			}
		}
	case t.shape.strings == 1:
		c := t.rows.strings[0]
		off, data := c.Offsets, c.Data
		for r := from; r < to; r++ {
			tag := hashes[r] >> 32
			fixed := t.rows.fixed[r*w : r*w+w]
			str := data[off[r]:off[r+1]]
		probe:
			for p := tag & mask; ; p = (p + 1) & mask {
				s := slots[p]
				if s == 0 {
					group[r] = t.insert(p, tag, r)
					break
				}
				if s>>32 != tag {
					continue
				}
				rec := t.words[uint32(s) : int(uint32(s))+1+w+(len(str)+7)/8]
				for j, v := range fixed {
					if rec[1+j] != v {
						continue probe
					}
				}
				if string(bytesOfWords(rec[1+w:], len(str))) == string(str) {
					group[r] = uint32(rec[0])
					break
				}
			}
		}
	default:
		for r := from; r < to; r++ {
			tag := hashes[r] >> 32
			for p := tag & mask; ; p = (p + 1) & mask {
				s := slots[p]
				if s == 0 {
					group[r] = t.insert(p, tag, r)
					break
				}
				if s>>32 == tag && t.equal(uint32(s), &t.rows, r) {
					group[r] = uint32(t.words[uint32(s)])
					break
				}
			}
		}
	}
}

// bytesOfWords views words as n bytes.
func bytesOfWords(w []uint64, n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), n)
}

// equal tells whether the record at off has the key of row r.
func (t *keyTable) equal(off uint32, rows *keyRows, r int) bool {
	w := t.shape.fixed
	rec := t.words[off:]
	for j, v := range rows.fixed[r*w : r*w+w] {
		if rec[1+j] != v {
			return false
		}
	}
	if len(rows.strings) == 0 {
		return true
	}
	rec = rec[1+w:]
	at := 0
	for _, c := range rows.strings {
		str := c.Data[c.Offsets[r]:c.Offsets[r+1]]
		if string(bytesOfWords(rec, at+len(str))[at:]) != string(str) {
			return false
		}
		at += len(str)
	}
	return true
}

// insert adds row r as a new group in slot p and gives its number.
func (t *keyTable) insert(p, tag uint64, r int) uint32 {
	w := t.shape.fixed
	size := 0
	for _, c := range t.rows.strings {
		size += int(c.Offsets[r+1] - c.Offsets[r])
	}
	if len(t.words) == 0 {
		t.words = append(t.words, 0)
	}
	off := len(t.words)
	n := off + 1 + w + (size+7)/8
	if n > cap(t.words) {
		grown := make([]uint64, off, max(2*cap(t.words), n, 1024))
		copy(grown, t.words)
		t.words = grown
	}
	t.words = t.words[:n]
	rec := t.words[off:n]
	g := uint32(len(t.offsets))
	rec[0] = uint64(g)
	copy(rec[1:], t.rows.fixed[r*w:r*w+w])
	if size > 0 {
		rec[len(rec)-1] = 0
		dst, at := bytesOfWords(rec[1+w:], size), 0
		for _, c := range t.rows.strings {
			at += copy(dst[at:], c.Data[c.Offsets[r]:c.Offsets[r+1]])
		}
	}
	t.offsets = append(t.offsets, uint32(off))
	t.slots[p] = tag<<32 | uint64(off)
	return g
}

// find gives the group of each of n rows, noGroup for keys that are not there. With a keyRows of its
// own for each goroutine, many may look up at the same time.
func (t *keyTable) find(rows *keyRows, cols []*columnar.Column, n int, group []uint32) {
	rows.load(t.shape, cols, n)
	for r := range n {
		group[r] = noGroup
		if len(t.offsets) == 0 {
			continue
		}
		tag := rows.hash[r] >> 32
		for p := tag & t.mask; ; p = (p + 1) & t.mask {
			s := t.slots[p]
			if s == 0 {
				break
			}
			if s>>32 == tag && t.equal(uint32(s), rows, r) {
				group[r] = uint32(t.words[uint32(s)])
				break
			}
		}
	}
}

// columns gives the keys of groups [from, to) as columns.
func (t *keyTable) columns(from, to int) []*columnar.Column { return t.columnsAt(t.offsets[from:to]) }

// columnsOf gives the keys of some groups as columns.
func (t *keyTable) columnsOf(groups []int32) []*columnar.Column {
	offs := make([]uint32, len(groups))
	for i, g := range groups {
		offs[i] = t.offsets[g]
	}
	return t.columnsAt(offs)
}

// columnsAt gives the keys of the records at offs as columns.
func (t *keyTable) columnsAt(offs []uint32) []*columnar.Column {
	if t.shape.encoded {
		return t.decode(offs)
	}
	// Where the next string of each group begins, behind the fixed words.
	var at []int32
	if t.shape.strings > 1 {
		at = make([]int32, len(offs))
	}
	next := 0
	out := make([]*columnar.Column, len(t.shape.types))
	for i, typ := range t.shape.types {
		out[i] = t.column(typ, &next, at, offs)
	}
	return out
}

// column makes the column of the part at *next and of the parts below it.
func (t *keyTable) column(typ *columnar.Type, next *int, at []int32, offs []uint32) *columnar.Column {
	p := &t.shape.parts[*next]
	*next++
	n := len(offs)
	c := &columnar.Column{Type: typ, Len: n}
	if typ.Kind == columnar.KindNull {
		return c
	}
	c.Valid = t.valid(p.bit, offs)
	word := uint32(1 + p.word)
	switch {
	case typ.Kind == columnar.KindStruct:
		for _, f := range typ.Fields {
			c.Children = append(c.Children, t.column(f.Type, next, at, offs))
		}
	case p.bytes >= 0:
		shift := uint(0)
		if p.bytes == 0 {
			shift = 32
		}
		c.Offsets = make([]int32, n+1)
		size := 0
		for _, off := range offs {
			size += int(uint32(t.words[off+word] >> shift))
		}
		c.Data = make([]byte, 0, size)
		for g, off := range offs {
			k := int(uint32(t.words[off+word] >> shift))
			begin := 0
			if at != nil {
				begin = int(at[g])
				at[g] += int32(k)
			}
			if k > 0 {
				c.Data = append(c.Data, bytesOfWords(t.words[off+1+uint32(t.shape.fixed):], begin+k)[begin:]...)
			}
			c.Offsets[g+1] = int32(len(c.Data))
		}
	case typ.Kind == columnar.KindBool:
		c.Bits = columnar.NewBitmap(n)
		for g, off := range offs {
			c.Bits.SetTo(g, t.words[off+word] != 0)
		}
	default:
		c.Data = columnar.AlignedBytes(n * typ.Width())
		switch typ.Width() {
		case 1:
			v := columnar.Values[uint8](c)
			for g, off := range offs {
				v[g] = uint8(t.words[off+word])
			}
		case 2:
			v := columnar.Values[int16](c)
			for g, off := range offs {
				v[g] = int16(t.words[off+word])
			}
		case 4:
			v := columnar.Values[uint32](c)
			for g, off := range offs {
				v[g] = uint32(t.words[off+word])
			}
		case 8:
			v := columnar.Values[uint64](c)
			for g, off := range offs {
				v[g] = t.words[off+word]
			}
		default:
			v := columnar.Values[columnar.Dec128](c)
			for g, off := range offs {
				v[g] = columnar.Dec128{Lo: t.words[off+word], Hi: int64(t.words[off+word+1])}
			}
		}
	}
	return c
}

// valid is the null bitmap of a part, nil when no group has a null.
func (t *keyTable) valid(bit uint, offs []uint32) columnar.Bitmap {
	some := uint64(0)
	for _, off := range offs {
		some |= t.words[off+1]
	}
	if some>>bit&1 == 0 {
		return nil
	}
	v := columnar.NewBitmap(len(offs))
	for g, off := range offs {
		if t.words[off+1]>>bit&1 == 0 {
			v.Set(g)
		}
	}
	return v
}

// decode makes key columns of row encodings.
func (t *keyTable) decode(offs []uint32) []*columnar.Column {
	b := make([]*columnar.Builder, len(t.shape.types))
	for i, typ := range t.shape.types {
		b[i] = columnar.NewBuilder(typ, len(offs))
	}
	for _, off := range offs {
		row := bytesOfWords(t.words[off+2:], int(t.words[off+1]>>32))
		for i := range b {
			row, _ = columnar.DecodeValue(b[i], row) // encoded by this table
		}
	}
	out := make([]*columnar.Column, len(b))
	for i := range b {
		out[i] = b[i].Finish()
	}
	return out
}
