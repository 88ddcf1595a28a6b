package exec

import (
	"fmt"
	"math"

	"github.com/wstream/wstream/columnar"
)

// noGroup is what find gives for a key that is not there.
const noGroup = math.MaxUint32

// keyTable numbers keys in order of their first appearance. It is an open-addressing table over
// keys that lie in arrays without pointers, and belongs to one goroutine.
type keyTable struct {
	shape *keyShape
	slots []uint64 // tag of the hash << 32 | group + 1; 0 is empty
	mask  uint64
	n     int      // groups
	recs  []uint64 // per group: the fixed words, then offset << 32 | length for each byte string
	width int
	arena []byte // byte strings
	rows  keyRows
}

func newKeyTable(shape *keyShape) *keyTable {
	return &keyTable{shape: shape, width: shape.fixed + shape.strings}
}

// len is the number of groups.
func (t *keyTable) len() int { return t.n }

// memory is the bytes that the table takes.
func (t *keyTable) memory() int64 {
	return int64(8*(cap(t.slots)+cap(t.recs)+cap(t.rows.fixed)+cap(t.rows.hash)) + cap(t.arena))
}

// reset removes all groups and keeps the memory.
func (t *keyTable) reset() {
	clear(t.slots)
	t.n, t.recs, t.arena = 0, t.recs[:0], t.arena[:0]
}

// assign gives the group of each of n rows, adding those that are new.
func (t *keyTable) assign(cols []*columnar.Column, n int, group []uint32) error {
	t.rows.load(t.shape, cols, n)
	added := 0
	for _, c := range t.rows.strings {
		added += int(c.Offsets[n] - c.Offsets[0])
	}
	if len(t.arena)+added > math.MaxUint32 || t.n+n >= math.MaxUint32 {
		return fmt.Errorf("the keys of one table exceed 4 GiB")
	}
	for from := 0; from < n; from += 1024 {
		// Room for all that may be new comes first, so that the loop never grows the table.
		to := min(from+1024, n)
		t.reserve(t.n + to - from)
		t.assignRows(from, to, group)
	}
	return nil
}

// reserve makes room for n groups at a load of at most a half.
func (t *keyTable) reserve(n int) {
	if 2*n <= len(t.slots) {
		return
	}
	size := max(len(t.slots), 1024)
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

// assignRows is assign for rows [from, to) of t.rows. Shapes that are frequent have a loop of their own.
func (t *keyTable) assignRows(from, to int, group []uint32) {
	hashes, slots, mask := t.rows.hash, t.slots, t.mask
	w, width := t.shape.fixed, t.width
	switch {
	case t.shape.strings == 0 && w == 2:
		for r := from; r < to; r++ {
			h := hashes[r]
			tag := h >> 32
			nulls, word := t.rows.fixed[2*r], t.rows.fixed[2*r+1]
			for p := tag & mask; ; p = (p + 1) & mask {
				s := slots[p]
				if s == 0 {
					slots[p] = tag<<32 | uint64(t.n+1)
					t.recs = append(t.recs, nulls, word)
					group[r] = uint32(t.n)
					t.n++
					break
				}
				if s>>32 != tag {
					continue
				}
				g := int(uint32(s)) - 1
				if rec := t.recs[2*g : 2*g+2]; rec[1] == word && rec[0] == nulls {
					group[r] = uint32(g)
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
					slots[p] = tag<<32 | uint64(t.n+1)
					group[r] = t.insert(r, fixed)
					break
				}
				if s>>32 != tag {
					continue
				}
				g := int(uint32(s)) - 1
				rec := t.recs[g*width : g*width+width]
				at := rec[len(rec)-1]
				if int(uint32(at)) != len(str) {
					continue
				}
				for j, v := range fixed {
					if rec[j] != v {
						continue probe
					}
				}
				if string(t.arena[at>>32:at>>32+uint64(len(str))]) == string(str) {
					group[r] = uint32(g)
					break
				}
			}
		}
	default:
		for r := from; r < to; r++ {
			tag := hashes[r] >> 32
			fixed := t.rows.fixed[r*w : r*w+w]
			for p := tag & mask; ; p = (p + 1) & mask {
				s := slots[p]
				if s == 0 {
					slots[p] = tag<<32 | uint64(t.n+1)
					group[r] = t.insert(r, fixed)
					break
				}
				if s>>32 == tag && t.equal(int(uint32(s))-1, r, fixed) {
					group[r] = uint32(s) - 1
					break
				}
			}
		}
	}
}

// equal tells whether group g has the key of row r.
func (t *keyTable) equal(g, r int, fixed []uint64) bool {
	rec := t.recs[g*t.width : (g+1)*t.width]
	for j, v := range fixed {
		if rec[j] != v {
			return false
		}
	}
	for j, c := range t.rows.strings {
		at := rec[len(fixed)+j]
		str := c.Data[c.Offsets[r]:c.Offsets[r+1]]
		if int(uint32(at)) != len(str) || string(t.arena[at>>32:at>>32+uint64(len(str))]) != string(str) {
			return false
		}
	}
	return true
}

// insert adds row r as a new group and gives its number.
func (t *keyTable) insert(r int, fixed []uint64) uint32 {
	t.recs = append(t.recs, fixed...)
	for _, c := range t.rows.strings {
		str := c.Data[c.Offsets[r]:c.Offsets[r+1]]
		t.recs = append(t.recs, uint64(len(t.arena))<<32|uint64(len(str)))
		t.arena = append(t.arena, str...)
	}
	t.n++
	return uint32(t.n - 1)
}

// find gives the group of each of n rows, noGroup for keys that are not there. With a keyRows of its
// own for each goroutine, many may look up at the same time.
func (t *keyTable) find(rows *keyRows, cols []*columnar.Column, n int, group []uint32) {
	rows.load(t.shape, cols, n)
	w := t.shape.fixed
	for r := range n {
		group[r] = noGroup
		if t.n == 0 {
			continue
		}
		tag := rows.hash[r] >> 32
		fixed := rows.fixed[r*w : r*w+w]
	probe:
		for p := tag & t.mask; ; p = (p + 1) & t.mask {
			s := t.slots[p]
			if s == 0 {
				break
			}
			if s>>32 != tag {
				continue
			}
			g := int(uint32(s)) - 1
			rec := t.recs[g*t.width : (g+1)*t.width]
			for j, v := range fixed {
				if rec[j] != v {
					continue probe
				}
			}
			for j, c := range rows.strings {
				at := rec[w+j]
				str := c.Data[c.Offsets[r]:c.Offsets[r+1]]
				if int(uint32(at)) != len(str) || string(t.arena[at>>32:at>>32+uint64(len(str))]) != string(str) {
					continue probe
				}
			}
			group[r] = uint32(g)
			break
		}
	}
}

// columns gives the keys of groups [from, to) as columns.
func (t *keyTable) columns(from, to int) []*columnar.Column {
	if t.shape.encoded {
		return t.decode(from, to)
	}
	next := 0
	out := make([]*columnar.Column, len(t.shape.types))
	for i, typ := range t.shape.types {
		out[i] = t.column(typ, &next, from, to)
	}
	return out
}

// column makes the column of the part at *next and of the parts below it.
func (t *keyTable) column(typ *columnar.Type, next *int, from, to int) *columnar.Column {
	p := &t.shape.parts[*next]
	*next++
	n, w := to-from, t.width
	c := &columnar.Column{Type: typ, Len: n}
	if typ.Kind == columnar.KindNull {
		return c
	}
	c.Valid = t.valid(p.bit, from, to)
	recs := t.recs[from*w : to*w]
	switch {
	case typ.Kind == columnar.KindStruct:
		for _, f := range typ.Fields {
			c.Children = append(c.Children, t.column(f.Type, next, from, to))
		}
	case p.bytes >= 0:
		c.Offsets = make([]int32, n+1)
		at, size := t.shape.fixed+p.bytes, 0
		for g := range n {
			size += int(uint32(recs[g*w+at]))
		}
		c.Data = make([]byte, 0, size)
		for g := range n {
			v := recs[g*w+at]
			c.Data = append(c.Data, t.arena[v>>32:v>>32+uint64(uint32(v))]...)
			c.Offsets[g+1] = int32(len(c.Data))
		}
	case typ.Kind == columnar.KindBool:
		c.Bits = columnar.NewBitmap(n)
		for g := range n {
			c.Bits.SetTo(g, recs[g*w+p.word] != 0)
		}
	default:
		c.Data = columnar.AlignedBytes(n * typ.Width())
		switch typ.Width() {
		case 1:
			for g, v := 0, columnar.Values[uint8](c); g < n; g++ {
				v[g] = uint8(recs[g*w+p.word])
			}
		case 2:
			for g, v := 0, columnar.Values[int16](c); g < n; g++ {
				v[g] = int16(recs[g*w+p.word])
			}
		case 4:
			for g, v := 0, columnar.Values[uint32](c); g < n; g++ {
				v[g] = uint32(recs[g*w+p.word])
			}
		case 8:
			for g, v := 0, columnar.Values[uint64](c); g < n; g++ {
				v[g] = recs[g*w+p.word]
			}
		default:
			for g, v := 0, columnar.Values[columnar.Dec128](c); g < n; g++ {
				v[g] = columnar.Dec128{Lo: recs[g*w+p.word], Hi: int64(recs[g*w+p.word+1])}
			}
		}
	}
	return c
}

// valid is the null bitmap of a part, nil when no group has a null.
func (t *keyTable) valid(bit uint, from, to int) columnar.Bitmap {
	any := uint64(0)
	for g := from; g < to; g++ {
		any |= t.recs[g*t.width]
	}
	if any>>bit&1 == 0 {
		return nil
	}
	v := columnar.NewBitmap(to - from)
	for g := from; g < to; g++ {
		if t.recs[g*t.width]>>bit&1 == 0 {
			v.Set(g - from)
		}
	}
	return v
}

// decode makes key columns of row encodings.
func (t *keyTable) decode(from, to int) []*columnar.Column {
	b := make([]*columnar.Builder, len(t.shape.types))
	for i, typ := range t.shape.types {
		b[i] = columnar.NewBuilder(typ, to-from)
	}
	for g := from; g < to; g++ {
		v := t.recs[g*t.width+1]
		row := t.arena[v>>32 : v>>32+uint64(uint32(v))]
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
