package columnar

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"
)

// The row encoding: the values of some columns of a row as one byte string, equal exactly when
// the values are equal as grouping keys. It is what keys and values of the state consist of, so it
// is part of the state's format.
//
//	value    = 0 (null) | 1 payload
//	payload  = fixed width, little-endian | bool as one byte
//	         | u32 length, bytes          (string, binary, variant)
//	         | u32 count, values          (array)
//	         | u32 count, (key, value)…   (map; as a key, in the order of the encoded keys)
//	         | values                     (struct)
//
// As a key, -0.0 becomes 0.0 and every NaN the same NaN (Normalize).

// RowKeys are the encoded rows of a batch: row i is Data[Offsets[i]:Offsets[i+1]].
type RowKeys struct {
	Offsets []int32
	Data    []byte
}

// Row is the encoding of row i.
func (k *RowKeys) Row(i int) []byte { return k.Data[k.Offsets[i]:k.Offsets[i+1]] }

// EncodeRows encodes the rows of cols, n rows, into dst, whose memory is reused. With normalize,
// the encoding is that of keys.
func EncodeRows(dst *RowKeys, cols []*Column, n int, normalize bool) {
	if cap(dst.Offsets) < n+1 {
		dst.Offsets = make([]int32, n+1)
	}
	dst.Offsets = dst.Offsets[:n+1]
	off := dst.Offsets
	base := int32(0)
	for _, c := range cols {
		base += fixedPart(c.Type)
	}
	for i := range off {
		off[i] = base
	}
	for _, c := range cols {
		addSizes(off, c)
	}
	// off[i] holds the size of row i: turn it into its start, kept as a cursor that ends as the next start.
	total := int32(0)
	for i := 0; i < n; i++ {
		size := off[i]
		off[i] = total
		total += size
	}
	off[n] = total
	if cap(dst.Data) < int(total) {
		dst.Data = make([]byte, total+total/4)
	}
	dst.Data = dst.Data[:total]
	cur := make([]int32, n)
	copy(cur, off[:n])
	for _, c := range cols {
		scatter(dst.Data, cur, c, normalize)
	}
}

// fixedPart is the bytes every row of a column takes: the flag, and the value if its width is fixed
// (null rows of fixed-width columns keep their bytes, as zeros, so that sizes need no look at them).
func fixedPart(t *Type) int32 {
	switch {
	case t.Kind == KindNull:
		return 1
	case t.Kind == KindBool:
		return 2
	case t.HasBytes():
		return 5
	case t.IsNested():
		return 0
	}
	return 1 + int32(t.Width())
}

func addSizes(off []int32, c *Column) {
	switch {
	case c.Type.HasBytes():
		for i := 0; i < c.Len; i++ {
			if c.Valid == nil || c.Valid.Get(i) {
				off[i] += c.Offsets[i+1] - c.Offsets[i]
			}
		}
	case c.Type.IsNested():
		for i := 0; i < c.Len; i++ {
			off[i] += int32(valueSize(c, i))
		}
	}
}

// valueSize is the bytes of the value at row i, flag included.
func valueSize(c *Column, i int) int {
	t := c.Type
	if !t.IsNested() {
		n := int(fixedPart(t))
		if t.HasBytes() && !c.IsNull(i) {
			n += int(c.Offsets[i+1] - c.Offsets[i])
		}
		return n
	}
	if c.IsNull(i) {
		return 1
	}
	n := 1
	if c.Offsets == nil {
		for _, ch := range c.Children {
			n += valueSize(ch, i)
		}
		return n
	}
	n += 4
	for j := int(c.Offsets[i]); j < int(c.Offsets[i+1]); j++ {
		for _, ch := range c.Children {
			n += valueSize(ch, j)
		}
	}
	return n
}

func scatter(data []byte, cur []int32, c *Column, normalize bool) {
	n := len(cur)
	switch {
	case c.Type.Kind == KindNull:
		for i := range cur {
			data[cur[i]] = 0
			cur[i]++
		}
	case c.Type.HasBytes():
		for i := 0; i < n; i++ {
			p := cur[i]
			if c.Valid != nil && !c.Valid.Get(i) {
				clear(data[p : p+5])
				cur[i] = p + 5
				continue
			}
			s := c.Data[c.Offsets[i]:c.Offsets[i+1]]
			data[p] = 1
			binary.LittleEndian.PutUint32(data[p+1:], uint32(len(s)))
			copy(data[p+5:], s)
			cur[i] = p + 5 + int32(len(s))
		}
	case c.Type.Width() == 8 && !(normalize && c.Type.Kind == KindFloat64):
		v := Values[uint64](c)
		for i := 0; i < n; i++ {
			p := cur[i]
			cur[i] = p + 9
			if c.Valid != nil && !c.Valid.Get(i) {
				clear(data[p : p+9])
				continue
			}
			data[p] = 1
			binary.LittleEndian.PutUint64(data[p+1:], v[i])
		}
	case c.Type.Width() == 4 && !(normalize && c.Type.Kind == KindFloat32):
		v := Values[uint32](c)
		for i := 0; i < n; i++ {
			p := cur[i]
			cur[i] = p + 5
			if c.Valid != nil && !c.Valid.Get(i) {
				clear(data[p : p+5])
				continue
			}
			data[p] = 1
			binary.LittleEndian.PutUint32(data[p+1:], v[i])
		}
	default:
		for i := 0; i < n; i++ {
			out := AppendValue(data[cur[i]:cur[i]:len(data)], c, i, normalize)
			cur[i] += int32(len(out))
		}
	}
}

// AppendValue appends the encoding of row i of c.
func AppendValue(dst []byte, c *Column, i int, normalize bool) []byte {
	t := c.Type
	if c.IsNull(i) {
		if t.IsNested() {
			return append(dst, 0)
		}
		for k := fixedPart(t); k > 0; k-- {
			dst = append(dst, 0)
		}
		return dst
	}
	dst = append(dst, 1)
	switch {
	case t.Kind == KindBool:
		if c.Bits.Get(i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case t.HasBytes():
		s := c.BytesAt(i)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
		return append(dst, s...)
	case t.Kind == KindFloat64 && normalize:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(NormalizeFloat(Values[float64](c)[i])))
	case t.Kind == KindFloat32 && normalize:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(NormalizeFloat(float64(Values[float32](c)[i])))))
	case t.Kind == KindArray:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(c.Offsets[i+1]-c.Offsets[i]))
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			dst = AppendValue(dst, c.Children[0], int(j), normalize)
		}
		return dst
	case t.Kind == KindMap:
		from, to := int(c.Offsets[i]), int(c.Offsets[i+1])
		dst = binary.LittleEndian.AppendUint32(dst, uint32(to-from))
		if !normalize {
			for j := from; j < to; j++ {
				dst = AppendValue(dst, c.Children[0], j, false)
				dst = AppendValue(dst, c.Children[1], j, false)
			}
			return dst
		}
		entries := make([]string, 0, to-from)
		for j := from; j < to; j++ {
			e := AppendValue(nil, c.Children[0], j, true)
			entries = append(entries, string(AppendValue(e, c.Children[1], j, true)))
		}
		sort.Strings(entries)
		for _, e := range entries {
			dst = append(dst, e...)
		}
		return dst
	case t.Kind == KindStruct:
		for _, ch := range c.Children {
			dst = AppendValue(dst, ch, i, normalize)
		}
		return dst
	}
	w := t.Width()
	return append(dst, c.Data[i*w:(i+1)*w]...)
}

// NormalizeFloat makes -0.0 to 0.0 and any NaN to the one NaN.
func NormalizeFloat(v float64) float64 {
	if v == 0 {
		return 0
	}
	if v != v {
		return math.NaN()
	}
	return v
}

// DecodeValue appends the value at the front of data to b and returns what follows it. The bytes
// come from EncodeRows or AppendValue of the same type; ok is false when they do not fit it.
func DecodeValue(b *Builder, data []byte) (rest []byte, ok bool) {
	t := b.typ
	if len(data) == 0 {
		return nil, false
	}
	valid := data[0] == 1
	if !t.IsNested() {
		fp := int(fixedPart(t))
		if len(data) < fp {
			return nil, false
		}
		if !valid {
			b.AppendNull()
			return data[fp:], true
		}
		switch {
		case t.Kind == KindBool:
			b.AppendBool(data[1] == 1)
		case t.HasBytes():
			n := int(binary.LittleEndian.Uint32(data[1:]))
			if n < 0 || len(data)-5 < n {
				return nil, false
			}
			b.AppendBytes(data[5 : 5+n])
			return data[5+n:], true
		default:
			copy(b.grow(fp-1), data[1:fp])
			b.row(true)
		}
		return data[fp:], true
	}
	data = data[1:]
	if !valid {
		b.AppendNull()
		return data, true
	}
	reps := 1
	if t.Kind != KindStruct {
		if len(data) < 4 {
			return nil, false
		}
		reps, data = int(binary.LittleEndian.Uint32(data)), data[4:]
	}
	for i := 0; i < reps; i++ {
		for _, ch := range b.children {
			if data, ok = DecodeValue(ch, data); !ok {
				return nil, false
			}
		}
	}
	b.AppendNested()
	return data, true
}

// Hashes computes HashBytes of every row into dst, whose memory is reused.
func (k *RowKeys) Hashes(dst []uint64) []uint64 {
	n := len(k.Offsets) - 1
	dst = slices.Grow(dst[:0], n)[:n]
	for i := range dst {
		dst[i] = HashBytes(k.Data[k.Offsets[i]:k.Offsets[i+1]])
	}
	return dst
}
