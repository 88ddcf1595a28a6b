package columnar

import (
	"unsafe"
)

// Column is a sequence of Len values of one type. Which buffers are used follows from Type.Kind:
//
//	null                       none
//	bool                       Bits
//	fixed width                Data, Len × Type.Width() bytes
//	string, binary, variant    Offsets (Len+1, not necessarily from 0) into Data
//	array                      Offsets into Children[0]
//	map                        Offsets into Children[0] (keys) and Children[1] (values)
//	struct                     Children, each of length Len
//
// Valid is nil when no row is null; a null row's value is unspecified but in bounds. A Column
// is immutable once it has left the code that built it, so it may be shared freely.
type Column struct {
	Type     *Type
	Len      int
	Valid    Bitmap
	Bits     Bitmap
	Offsets  []int32
	Data     []byte
	Children []*Column
}

// Value is any Go type that a fixed-width buffer may be viewed as.
type Value interface {
	~int8 | ~uint8 | ~int16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64 | Dec128 | CalendarInterval
}

// CalendarInterval is Spark's `interval` type.
type CalendarInterval struct {
	Months, Days int32
	Micros       int64
}

// Values views the fixed-width buffer of c; the width of T must be that of the type.
func Values[T Value](c *Column) []T {
	if c.Len == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c.Data))), c.Len)
}

// bytesOf views a value slice as bytes.
func bytesOf[T Value](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	var z T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(z)))
}

// AlignedBytes makes n bytes that start at a multiple of 8 and are zero.
func AlignedBytes(n int) []byte {
	if n == 0 {
		return nil
	}
	w := make([]uint64, (n+7)>>3)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), n)
}

// NewFixed makes a column of fixed-width values that takes ownership of v; valid may be nil.
func NewFixed[T Value](t *Type, v []T, valid Bitmap) *Column {
	return &Column{Type: t, Len: len(v), Data: bytesOf(v), Valid: valid}
}

// NewBools makes a BOOLEAN column of n rows.
func NewBools(n int, bits, valid Bitmap) *Column {
	return &Column{Type: Bool, Len: n, Bits: bits, Valid: valid}
}

// NewBytes makes a string, binary or variant column; offsets has one entry more than rows.
func NewBytes(t *Type, offsets []int32, data []byte, valid Bitmap) *Column {
	return &Column{Type: t, Len: len(offsets) - 1, Offsets: offsets, Data: data, Valid: valid}
}

// NewStrings makes a STRING column without nulls.
func NewStrings(v []string) *Column {
	n := 0
	for _, s := range v {
		n += len(s)
	}
	off, data := make([]int32, 1, len(v)+1), make([]byte, 0, n)
	for _, s := range v {
		data = append(data, s...)
		off = append(off, int32(len(data)))
	}
	return NewBytes(String, off, data, nil)
}

// NewNull makes a column of n nulls of any type.
func NewNull(t *Type, n int) *Column {
	c := &Column{Type: t, Len: n}
	if t.Kind == KindNull {
		return c
	}
	c.Valid = NewBitmap(n)
	switch t.Kind {
	case KindBool:
		c.Bits = NewBitmap(n)
	case KindString, KindBinary, KindVariant:
		c.Offsets = make([]int32, n+1)
	case KindArray:
		c.Offsets = make([]int32, n+1)
		c.Children = []*Column{NewEmpty(t.Elem)}
	case KindMap:
		c.Offsets = make([]int32, n+1)
		c.Children = []*Column{NewEmpty(t.Key), NewEmpty(t.Elem)}
	case KindStruct:
		c.Children = make([]*Column, len(t.Fields))
		for i, f := range t.Fields {
			c.Children[i] = NewNull(f.Type, n)
		}
	default:
		c.Data = AlignedBytes(n * t.Width())
	}
	return c
}

// NewEmpty makes a column without rows.
func NewEmpty(t *Type) *Column {
	c := NewNull(t, 0)
	c.Valid = nil
	return c
}

// IsNull tells whether row i is null.
func (c *Column) IsNull(i int) bool {
	if c.Valid != nil {
		return !c.Valid.Get(i)
	}
	return c.Type.Kind == KindNull
}

// NullCount is the number of null rows.
func (c *Column) NullCount() int {
	if c.Type.Kind == KindNull {
		return c.Len
	}
	if c.Valid == nil {
		return 0
	}
	return c.Len - c.Valid.Count(c.Len)
}

// BytesAt is the value of row i of a string, binary or variant column, without a copy.
func (c *Column) BytesAt(i int) []byte { return c.Data[c.Offsets[i]:c.Offsets[i+1]:c.Offsets[i+1]] }

// StringAt is the value of row i of a string column, without a copy: it shares the column's memory.
func (c *Column) StringAt(i int) string {
	b := c.Data[c.Offsets[i]:c.Offsets[i+1]]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Slice is rows [from, to), sharing memory where the layout allows.
func (c *Column) Slice(from, to int) *Column {
	if from == 0 && to == c.Len {
		return c
	}
	out := &Column{Type: c.Type, Len: to - from}
	if c.Valid != nil {
		out.Valid = c.Valid.Slice(from, to)
	}
	switch {
	case c.Type.Kind == KindNull:
	case c.Type.Kind == KindBool:
		out.Bits = c.Bits.Slice(from, to)
	case c.Offsets != nil:
		out.Offsets, out.Data, out.Children = c.Offsets[from:to+1], c.Data, c.Children
	case c.Type.Kind == KindStruct:
		out.Children = make([]*Column, len(c.Children))
		for i, k := range c.Children {
			out.Children[i] = k.Slice(from, to)
		}
	default:
		w := c.Type.Width()
		out.Data = c.Data[from*w : to*w]
	}
	return out
}

// WithType is c seen as another type of the same physical layout.
func (c *Column) WithType(t *Type) *Column {
	if c.Type == t {
		return c
	}
	out := *c
	out.Type = t
	return &out
}

// WithValid is c with another null bitmap (nil for none).
func (c *Column) WithValid(v Bitmap) *Column {
	out := *c
	out.Valid = v
	return &out
}

// Size is the bytes of all buffers that c refers to.
func (c *Column) Size() int {
	n := len(c.Valid)*8 + len(c.Bits)*8 + len(c.Offsets)*4 + len(c.Data)
	for _, k := range c.Children {
		n += k.Size()
	}
	return n
}

// Batch is rows of a schema as columns. Rows counts also where there is no column.
type Batch struct {
	Schema  *Schema
	Columns []*Column
	Rows    int
}

// NewBatch makes a batch; rows is the length of every column.
func NewBatch(s *Schema, cols []*Column, rows int) *Batch {
	return &Batch{Schema: s, Columns: cols, Rows: rows}
}

// EmptyBatch is a batch without rows.
func EmptyBatch(s *Schema) *Batch {
	cols := make([]*Column, len(s.Fields))
	for i, f := range s.Fields {
		cols[i] = NewEmpty(f.Type)
	}
	return NewBatch(s, cols, 0)
}

// Slice is rows [from, to).
func (b *Batch) Slice(from, to int) *Batch {
	if from == 0 && to == b.Rows {
		return b
	}
	cols := make([]*Column, len(b.Columns))
	for i, c := range b.Columns {
		cols[i] = c.Slice(from, to)
	}
	return NewBatch(b.Schema, cols, to-from)
}

// Size is the bytes of all buffers.
func (b *Batch) Size() int {
	n := 0
	for _, c := range b.Columns {
		n += c.Size()
	}
	return n
}
