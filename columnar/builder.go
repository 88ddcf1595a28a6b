package columnar

import "math"

// Builder collects values of one type, row by row, into a Column. It is for code where a row
// costs more than the append: results of functions on strings and nested values, tests, row
// sources. Kernels over fixed-width values write slices and call NewFixed.
type Builder struct {
	typ      *Type
	n        int
	valid    Bitmap // nil until the first null
	bits     Bitmap
	offsets  []int32
	data     []byte
	children []*Builder
}

// NewBuilder makes a builder; capacity is a hint in rows.
func NewBuilder(t *Type, capacity int) *Builder {
	b := &Builder{typ: t}
	switch {
	case t.Kind == KindNull:
	case t.Kind == KindBool:
		b.bits = make(Bitmap, 0, BitmapWords(capacity))
	case t.HasBytes():
		b.offsets = make([]int32, 1, capacity+1)
	case t.Kind == KindArray:
		b.offsets = make([]int32, 1, capacity+1)
		b.children = []*Builder{NewBuilder(t.Elem, capacity)}
	case t.Kind == KindMap:
		b.offsets = make([]int32, 1, capacity+1)
		b.children = []*Builder{NewBuilder(t.Key, capacity), NewBuilder(t.Elem, capacity)}
	case t.Kind == KindStruct:
		for _, f := range t.Fields {
			b.children = append(b.children, NewBuilder(f.Type, capacity))
		}
	default:
		b.data = AlignedBytes(max(capacity, 8) * t.Width())[:0]
	}
	return b
}

// Type is the type being built.
func (b *Builder) Type() *Type { return b.typ }

// Len is the number of rows so far.
func (b *Builder) Len() int { return b.n }

// DataLen is the number of bytes of string data so far, for checks against the 2 GiB limit.
func (b *Builder) DataLen() int { return len(b.data) }

// row opens a row: grows the null bitmap, which exists once a null was seen.
func (b *Builder) row(valid bool) {
	if b.valid == nil {
		if !valid {
			b.valid = NewBitmapSet(b.n + 1)
			b.valid.Clear(b.n)
		}
	} else {
		if b.n&63 == 0 {
			b.valid = append(b.valid, 0)
		}
		if valid {
			b.valid.Set(b.n)
		} else {
			b.valid.Clear(b.n)
		}
	}
	b.n++
}

// AppendNull adds a null row.
func (b *Builder) AppendNull() {
	switch {
	case b.typ.Kind == KindNull:
		b.n++
		return
	case b.typ.Kind == KindBool:
		if b.n&63 == 0 {
			b.bits = append(b.bits, 0)
		}
	case b.offsets != nil:
		b.offsets = append(b.offsets, b.offsets[b.n])
	case b.typ.Kind == KindStruct:
		for _, k := range b.children {
			k.AppendNull()
		}
	default:
		b.grow(b.typ.Width())
	}
	b.row(false)
}

// grow extends data by w zero bytes, keeping it aligned to 8.
func (b *Builder) grow(w int) []byte {
	n := len(b.data)
	if n+w > cap(b.data) {
		d := AlignedBytes(max(2*cap(b.data), n+w, 64))[:n]
		copy(d, b.data)
		b.data = d
	}
	b.data = b.data[:n+w]
	s := b.data[n : n+w]
	clear(s)
	return s
}

// AppendBool adds a BOOLEAN.
func (b *Builder) AppendBool(v bool) {
	if b.n&63 == 0 {
		b.bits = append(b.bits, 0)
	}
	b.bits.SetTo(b.n, v)
	b.row(true)
}

// AppendInt adds a value of any integer-like kind (integers, date, timestamps, time, ANSI intervals),
// cut to the kind's width.
func (b *Builder) AppendInt(v int64) {
	s := b.grow(b.typ.Width())
	for i := range s {
		s[i] = byte(v)
		v >>= 8
	}
	b.row(true)
}

// AppendFloat adds a FLOAT or DOUBLE.
func (b *Builder) AppendFloat(v float64) {
	bits := math.Float64bits(v)
	if b.typ.Kind == KindFloat32 {
		bits = uint64(math.Float32bits(float32(v)))
	}
	s := b.grow(b.typ.Width())
	for i := range s {
		s[i] = byte(bits)
		bits >>= 8
	}
	b.row(true)
}

// AppendDecimal adds an unscaled decimal.
func (b *Builder) AppendDecimal(v Dec128) {
	s := b.grow(16)
	for i := 0; i < 8; i++ {
		s[i], s[8+i] = byte(v.Lo>>(8*i)), byte(uint64(v.Hi)>>(8*i))
	}
	b.row(true)
}

// AppendCalendar adds an interval.
func (b *Builder) AppendCalendar(v CalendarInterval) {
	b.AppendDecimal(Dec128{uint64(uint32(v.Months)) | uint64(uint32(v.Days))<<32, v.Micros})
}

// AppendBytes adds a string, binary or variant value, copied.
func (b *Builder) AppendBytes(v []byte) {
	b.data = append(b.data, v...)
	b.offsets = append(b.offsets, int32(len(b.data)))
	b.row(true)
}

// AppendString is AppendBytes of a string.
func (b *Builder) AppendString(v string) {
	b.data = append(b.data, v...)
	b.offsets = append(b.offsets, int32(len(b.data)))
	b.row(true)
}

// Scratch gives the string data so far, to append one value to; FinishScratch takes it back as a row.
func (b *Builder) Scratch() []byte { return b.data }

// FinishScratch ends the row that Scratch began; buf is the slice that grew.
func (b *Builder) FinishScratch(buf []byte) {
	b.data = buf
	b.offsets = append(b.offsets, int32(len(buf)))
	b.row(true)
}

// Child is the builder of an array's elements (0), a map's keys (0) and values (1), or a struct's field i.
// Append the children of a row first, then call AppendNested.
func (b *Builder) Child(i int) *Builder { return b.children[i] }

// AppendNested ends a row of an array, map or struct whose children were appended before.
func (b *Builder) AppendNested() {
	if b.offsets != nil {
		b.offsets = append(b.offsets, int32(b.children[0].n))
	}
	b.row(true)
}

// AppendFrom copies row i of c, a column of the same type.
func (b *Builder) AppendFrom(c *Column, i int) {
	if c.IsNull(i) {
		b.AppendNull()
		return
	}
	switch {
	case b.typ.Kind == KindBool:
		b.AppendBool(c.Bits.Get(i))
	case b.typ.HasBytes():
		b.AppendBytes(c.BytesAt(i))
	case b.offsets != nil:
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			for k, ch := range b.children {
				ch.AppendFrom(c.Children[k], int(j))
			}
		}
		b.AppendNested()
	case b.typ.Kind == KindStruct:
		for k, ch := range b.children {
			ch.AppendFrom(c.Children[k], i)
		}
		b.AppendNested()
	default:
		w := b.typ.Width()
		copy(b.grow(w), c.Data[i*w:(i+1)*w])
		b.row(true)
	}
}

// Finish returns the column and empties the builder for another one.
func (b *Builder) Finish() *Column {
	c := &Column{Type: b.typ, Len: b.n, Valid: b.valid, Bits: b.bits, Offsets: b.offsets, Data: b.data}
	for _, k := range b.children {
		c.Children = append(c.Children, k.Finish())
	}
	b.n, b.valid, b.bits, b.data = 0, nil, nil, nil
	if b.offsets != nil {
		b.offsets = make([]int32, 1, len(b.offsets))
	}
	return c
}
