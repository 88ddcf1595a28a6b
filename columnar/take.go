package columnar

import "math/bits"

// Take gathers rows idx of c into a new column. A negative index gives a null row.
func Take(c *Column, idx []int32) *Column {
	n := len(idx)
	out := &Column{Type: c.Type, Len: n}
	neg := false
	for _, i := range idx {
		if i < 0 {
			neg = true
			break
		}
	}
	if c.Type.Kind != KindNull && (neg || c.Valid != nil) {
		v := NewBitmap(n)
		for k, i := range idx {
			if i >= 0 && (c.Valid == nil || c.Valid.Get(int(i))) {
				v.Set(k)
			}
		}
		out.Valid = v
	}
	switch {
	case c.Type.Kind == KindNull:
	case c.Type.Kind == KindBool:
		out.Bits = NewBitmap(n)
		for k, i := range idx {
			if i >= 0 && c.Bits.Get(int(i)) {
				out.Bits.Set(k)
			}
		}
	case c.Type.HasBytes():
		takeBytes(out, c, idx, neg)
	case c.Offsets != nil:
		out.Offsets = make([]int32, n+1)
		var kid []int32
		for k, i := range idx {
			if i >= 0 {
				for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
					kid = append(kid, j)
				}
			}
			out.Offsets[k+1] = int32(len(kid))
		}
		for _, ch := range c.Children {
			out.Children = append(out.Children, Take(ch, kid))
		}
	case c.Type.Kind == KindStruct:
		for _, ch := range c.Children {
			out.Children = append(out.Children, Take(ch, idx))
		}
	default:
		switch c.Type.Width() {
		case 1:
			out.Data = takeFixed(Values[int8](c), idx, neg)
		case 2:
			out.Data = takeFixed(Values[int16](c), idx, neg)
		case 4:
			out.Data = takeFixed(Values[int32](c), idx, neg)
		case 8:
			out.Data = takeFixed(Values[int64](c), idx, neg)
		default:
			out.Data = takeFixed(Values[Dec128](c), idx, neg)
		}
	}
	return out
}

func takeFixed[T Value](src []T, idx []int32, neg bool) []byte {
	out := make([]T, len(idx))
	if neg {
		for k, i := range idx {
			if i >= 0 {
				out[k] = src[i]
			}
		}
		return bytesOf(out)
	}
	for k, i := range idx {
		out[k] = src[i]
	}
	return bytesOf(out)
}

func takeBytes(out, c *Column, idx []int32, neg bool) {
	off := make([]int32, len(idx)+1)
	total := int32(0)
	for k, i := range idx {
		if !neg || i >= 0 {
			total += c.Offsets[i+1] - c.Offsets[i]
		}
		off[k+1] = total
	}
	data := make([]byte, total)
	for k, i := range idx {
		if !neg || i >= 0 {
			copy(data[off[k]:off[k+1]], c.Data[c.Offsets[i]:c.Offsets[i+1]])
		}
	}
	out.Offsets, out.Data = off, data
}

// TakeBatch gathers rows of every column.
func TakeBatch(b *Batch, idx []int32) *Batch {
	cols := make([]*Column, len(b.Columns))
	for i, c := range b.Columns {
		cols[i] = Take(c, idx)
	}
	return NewBatch(b.Schema, cols, len(idx))
}

// FilterBatch keeps the rows whose bit is set in keep.
func FilterBatch(b *Batch, keep Bitmap) *Batch {
	n := keep.Count(b.Rows)
	if n == b.Rows {
		return b
	}
	if n == 0 {
		return EmptyBatch(b.Schema)
	}
	return TakeBatch(b, keep.Indices(make([]int32, 0, n), b.Rows))
}

// Concat appends columns of one type.
func Concat(cols []*Column) *Column {
	if len(cols) == 1 {
		return cols[0]
	}
	t := cols[0].Type
	out := &Column{Type: t}
	nulls := false
	for _, c := range cols {
		out.Len += c.Len
		nulls = nulls || c.Valid != nil
	}
	if nulls {
		out.Valid = NewBitmap(out.Len)
		at := 0
		for _, c := range cols {
			copyBits(out.Valid, at, c.Valid, c.Len)
			at += c.Len
		}
	}
	switch {
	case t.Kind == KindNull:
	case t.Kind == KindBool:
		out.Bits = NewBitmap(out.Len)
		at := 0
		for _, c := range cols {
			copyBits(out.Bits, at, c.Bits, c.Len)
			at += c.Len
		}
	case t.HasBytes():
		size := 0
		for _, c := range cols {
			size += int(c.Offsets[c.Len] - c.Offsets[0])
		}
		out.Data = make([]byte, 0, size)
		out.Offsets = make([]int32, 1, out.Len+1)
		for _, c := range cols {
			d := int32(len(out.Data)) - c.Offsets[0]
			out.Data = append(out.Data, c.Data[c.Offsets[0]:c.Offsets[c.Len]]...)
			for _, o := range c.Offsets[1 : c.Len+1] {
				out.Offsets = append(out.Offsets, o+d)
			}
		}
	case t.Kind == KindArray || t.Kind == KindMap:
		out.Offsets = make([]int32, 1, out.Len+1)
		at := int32(0)
		for _, c := range cols {
			d := at - c.Offsets[0]
			for _, o := range c.Offsets[1 : c.Len+1] {
				out.Offsets = append(out.Offsets, o+d)
			}
			at = out.Offsets[len(out.Offsets)-1]
		}
		for k := range cols[0].Children {
			kids := make([]*Column, len(cols))
			for i, c := range cols {
				kids[i] = c.Children[k].Slice(int(c.Offsets[0]), int(c.Offsets[c.Len]))
			}
			out.Children = append(out.Children, Concat(kids))
		}
	case t.Kind == KindStruct:
		for k := range cols[0].Children {
			kids := make([]*Column, len(cols))
			for i, c := range cols {
				kids[i] = c.Children[k]
			}
			out.Children = append(out.Children, Concat(kids))
		}
	default:
		w := t.Width()
		out.Data = AlignedBytes(out.Len * w)
		at := 0
		for _, c := range cols {
			at += copy(out.Data[at:], c.Data[:c.Len*w])
		}
	}
	return out
}

// copyBits writes n bits of src (nil: all ones) at bit position at of dst, whose bits there are zero.
func copyBits(dst Bitmap, at int, src Bitmap, n int) {
	for i := 0; i < n; i += 64 {
		w := ^uint64(0)
		if src != nil {
			w = src[i>>6]
		}
		if r := n - i; r < 64 {
			w &= 1<<uint(r) - 1
		}
		p, s := (at+i)>>6, uint(at+i)&63
		dst[p] |= w << s
		if s != 0 && bits.Len64(w) > int(64-s) {
			dst[p+1] |= w >> (64 - s)
		}
	}
}

// ConcatBatches appends batches of one schema; batches must not be empty.
func ConcatBatches(bs []*Batch) *Batch {
	if len(bs) == 1 {
		return bs[0]
	}
	rows := 0
	for _, b := range bs {
		rows += b.Rows
	}
	cols := make([]*Column, len(bs[0].Columns))
	for i := range cols {
		parts := make([]*Column, len(bs))
		for k, b := range bs {
			parts[k] = b.Columns[i]
		}
		cols[i] = Concat(parts)
	}
	return NewBatch(bs[0].Schema, cols, rows)
}
