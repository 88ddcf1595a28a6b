package exec

import (
	"hash/maphash"
	"math"
	"math/bits"

	"github.com/wstream/wstream/columnar"
)

// keyPart is a piece of a key that is compared as such: words of fixed width or a byte string.
// Structs are taken apart into their fields.
type keyPart struct {
	path  []int // column, then field within field
	typ   *columnar.Type
	bit   uint // of the null bits
	word  int  // first word in the fixed part, of a byte string the word of its length
	bytes int  // position among the byte strings, or -1
}

// keyShape says how keys of given column types are laid out: words, then the bytes of all strings.
// The first word has the null bits in its low half and the length of the first string in the
// other; each further string has a word for its length. Keys with arrays or maps, or with very many
// parts, are one byte string, their row encoding.
type keyShape struct {
	types   []*columnar.Type
	parts   []keyPart // structs, which have a null bit only, included
	fixed   int       // words of the fixed part
	strings int
	encoded bool
	seed    maphash.Seed // of the table's own hash, which is never stored
}

func newKeyShape(types []*columnar.Type) *keyShape {
	s := &keyShape{types: types, fixed: 1, seed: maphash.MakeSeed()}
	for i, t := range types {
		s.flatten(t, []int{i})
	}
	if s.encoded || len(s.parts) > 32 {
		*s = keyShape{types: types, fixed: 1, strings: 1, encoded: true, seed: s.seed}
	}
	return s
}

func (s *keyShape) flatten(t *columnar.Type, path []int) {
	p := keyPart{path: path, typ: t, bit: uint(len(s.parts)), word: s.fixed, bytes: -1}
	switch {
	case t.Kind == columnar.KindArray || t.Kind == columnar.KindMap:
		s.encoded = true
		return
	case t.HasBytes():
		p.bytes = s.strings
		s.strings++
		if p.bytes == 0 {
			p.word = 0
		} else {
			s.fixed++
		}
	case t.Kind == columnar.KindBool:
		s.fixed++
	default:
		s.fixed += (t.Width() + 7) / 8
	}
	s.parts = append(s.parts, p)
	if t.Kind == columnar.KindStruct {
		for i, f := range t.Fields {
			s.flatten(f.Type, append(path[:len(path):len(path)], i))
		}
	}
}

// column finds the column of a part and its null bitmap, in which rows of null structs are null.
func (p *keyPart) column(cols []*columnar.Column) (*columnar.Column, columnar.Bitmap) {
	c := cols[p.path[0]]
	valid := c.Valid
	for _, f := range p.path[1:] {
		c = c.Children[f]
		valid = columnar.And(valid, c.Valid)
	}
	return c, valid
}

// keyRows are the keys of the rows of a batch, laid out by a keyShape; its memory is reused.
type keyRows struct {
	fixed   []uint64 // rows × shape.fixed
	hash    []uint64
	strings []*columnar.Column
	encoded columnar.RowKeys
}

// load lays out the keys of n rows.
func (k *keyRows) load(s *keyShape, cols []*columnar.Column, n int) {
	w := s.fixed
	if cap(k.fixed) < n*w {
		k.fixed = make([]uint64, n*w)
		k.hash = make([]uint64, n)
	}
	if cap(k.hash) < n {
		k.hash = make([]uint64, n)
	}
	k.fixed, k.hash = k.fixed[:n*w], k.hash[:n]
	k.strings = k.strings[:0]
	if s.encoded {
		columnar.EncodeRows(&k.encoded, cols, n, true)
		for r := range n {
			k.fixed[r] = uint64(k.encoded.Offsets[r+1]-k.encoded.Offsets[r]) << 32
		}
		k.strings = append(k.strings, columnar.NewBytes(columnar.Binary, k.encoded.Offsets, k.encoded.Data, nil))
		k.hashRows(s.seed, w, n)
		return
	}
	for i := 0; i < len(k.fixed); i += w {
		k.fixed[i] = 0
	}
	for i := range s.parts {
		p := &s.parts[i]
		c, valid := p.column(cols)
		if c.Type.Kind == columnar.KindNull {
			valid = columnar.NewBitmap(n)
		}
		if valid != nil {
			for r := range n {
				if !valid.Get(r) {
					k.fixed[r*w] |= 1 << p.bit
				}
			}
		}
		if p.bytes >= 0 {
			if valid != nil { // a null string counts as empty
				c = withoutNullBytes(c, valid, n)
			}
			k.strings = append(k.strings, c)
			off := c.Offsets
			if p.bytes == 0 {
				for r := range n {
					k.fixed[r*w] |= uint64(off[r+1]-off[r]) << 32
				}
			} else {
				for r := range n {
					k.fixed[r*w+p.word] = uint64(off[r+1] - off[r])
				}
			}
			continue
		}
		k.loadWords(p, c, valid, w, n)
	}
	k.hashRows(s.seed, w, n)
}

// loadWords writes the values of a fixed-width part into their places, zero for nulls.
func (k *keyRows) loadWords(p *keyPart, c *columnar.Column, valid columnar.Bitmap, w, n int) {
	dst := k.fixed[min(p.word, len(k.fixed)):]
	switch {
	case c.Type.Kind == columnar.KindStruct, c.Type.Kind == columnar.KindNull:
		return
	case c.Type.Kind == columnar.KindBool:
		for r := range n {
			dst[r*w] = 0
			if c.Bits.Get(r) {
				dst[r*w] = 1
			}
		}
	case c.Type.Kind == columnar.KindFloat64:
		for r, v := range columnar.Values[float64](c) {
			dst[r*w] = math.Float64bits(columnar.NormalizeFloat(v))
		}
	case c.Type.Kind == columnar.KindFloat32:
		for r, v := range columnar.Values[float32](c) {
			dst[r*w] = uint64(math.Float32bits(float32(columnar.NormalizeFloat(float64(v)))))
		}
	default:
		switch c.Type.Width() {
		case 1:
			for r, v := range columnar.Values[uint8](c) {
				dst[r*w] = uint64(v)
			}
		case 2:
			for r, v := range columnar.Values[int16](c) {
				dst[r*w] = uint64(uint16(v))
			}
		case 4:
			for r, v := range columnar.Values[uint32](c) {
				dst[r*w] = uint64(v)
			}
		case 8:
			for r, v := range columnar.Values[uint64](c) {
				dst[r*w] = v
			}
		case 16:
			for r, v := range columnar.Values[columnar.Dec128](c) {
				dst[r*w], dst[r*w+1] = v.Lo, uint64(v.Hi)
			}
		}
	}
	if valid == nil {
		return
	}
	words := (c.Type.Width() + 7) / 8
	if words == 0 {
		words = 1
	}
	for r := range n {
		if !valid.Get(r) {
			for j := range words {
				dst[r*w+j] = 0
			}
		}
	}
}

// withoutNullBytes is a byte string column whose null rows are empty.
func withoutNullBytes(c *columnar.Column, valid columnar.Bitmap, n int) *columnar.Column {
	for r := range n {
		if !valid.Get(r) && c.Offsets[r] != c.Offsets[r+1] {
			idx := make([]int32, n)
			for i := range idx {
				idx[i] = int32(i)
				if !valid.Get(i) {
					idx[i] = -1
				}
			}
			return columnar.Take(c, idx)
		}
	}
	return c
}

const (
	keySeed = 0x9E3779B97F4A7C15
	keyMul  = 0xD6E8FEB86659FD93
)

func keyMix(a, b uint64) uint64 { hi, lo := bits.Mul64(a, b); return hi ^ lo }

// hashRows computes the hash of each row.
func (k *keyRows) hashRows(seed maphash.Seed, w, n int) {
	switch w {
	case 1:
		for r, v := range k.fixed {
			k.hash[r] = v ^ keySeed
		}
	case 2:
		for r := range n {
			k.hash[r] = keyMix(k.fixed[2*r+1]^keyMul, k.fixed[2*r]^keySeed)
		}
	case 3:
		for r := range n {
			f := k.fixed[3*r : 3*r+3 : 3*r+3]
			k.hash[r] = keyMix(f[1]^keyMul, f[2]^f[0]^keySeed)
		}
	default:
		for r := range n {
			f := k.fixed[w*r : w*r+w]
			h := f[0] ^ keySeed
			for _, v := range f[1:] {
				h = keyMix(v^keyMul, h)
			}
			k.hash[r] = h
		}
	}
	for _, c := range k.strings {
		off := c.Offsets[:n+1]
		from := off[0]
		for r, to := range off[1:] {
			k.hash[r] = keyMix(k.hash[r]^keyMul, maphash.Bytes(seed, c.Data[from:to]))
			from = to
		}
	}
	if len(k.strings) == 0 {
		for r, h := range k.hash {
			k.hash[r] = keyMix(h^keyMul, keySeed)
		}
	}
}
