package wstream

import "encoding/binary"

// Builder collects the rows of an output column.
type Builder struct {
	Type  Type
	Param uint32 // of decimals: precision | scale<<8

	rows, nulls int
	valid       []byte // nil until the first null
	offsets     []int32
	data        []byte
	passed      int // the input column that is passed through, or -1
	children    []*Builder
}

// NewBuilder makes a builder with room for some rows; it grows as needed.
func NewBuilder(t Type, rows int) *Builder {
	b := &Builder{}
	b.reset(t, rows)
	return b
}

// reset empties the builder for another column; its memory is used again.
func (b *Builder) reset(t Type, rows int) {
	*b = Builder{Type: t, passed: -1, data: b.data[:0], offsets: b.offsets[:0]}
	size := rows * t.width()
	switch {
	case t == TypeBool:
		size = (rows + 7) / 8
		b.offsets = nil
	case t.hasBytes():
		size = rows * 8
		if cap(b.offsets) < rows+1 {
			b.offsets = make([]int32, 0, rows+1)
		}
		b.offsets = append(b.offsets, 0)
	default:
		b.offsets = nil
	}
	if cap(b.data) < size {
		b.data = make([]byte, 0, size)
	}
}

// spare are builders of earlier calls, whose answers were written. Keeping them keeps the collector from running.
var spare []*Builder

// takeBuilder gives a builder, a used one if there is one that fits.
func takeBuilder(t Type, rows int) *Builder {
	for i, b := range spare {
		if (b.offsets != nil) == t.hasBytes() && b.Type.width() == t.width() {
			spare[i] = spare[len(spare)-1]
			spare = spare[:len(spare)-1]
			b.reset(t, rows)
			return b
		}
	}
	return NewBuilder(t, rows)
}

// maxSpare bounds the builders that are kept.
const maxSpare = 64

// release keeps builders for later calls.
func release(list []*Builder) {
	for _, b := range list {
		if b != nil && b.passed < 0 && !b.Type.nested() && len(spare) < maxSpare {
			spare = append(spare, b)
		}
	}
}

// Rows is the number of rows so far.
func (b *Builder) Rows() int { return b.rows }

// row ends a row that is not null.
func (b *Builder) row() {
	if b.valid != nil {
		b.bit(&b.valid, true)
	}
	b.rows++
}

// bit sets the bit of the current row.
func (b *Builder) bit(bits *[]byte, v bool) {
	if b.rows&7 == 0 {
		*bits = append(*bits, 0)
	}
	if v {
		(*bits)[b.rows>>3] |= 1 << (b.rows & 7)
	}
}

// Null adds a null.
func (b *Builder) Null() {
	if b.valid == nil {
		b.valid = make([]byte, (b.rows+7)/8, cap(b.data)/8+1)
		for i := range b.valid {
			b.valid[i] = 0xff
		}
		if r := b.rows & 7; r != 0 {
			b.valid[b.rows>>3] = 1<<r - 1
		}
	}
	b.bit(&b.valid, false)
	b.nulls++
	switch {
	case b.Type == TypeBool:
		b.bit(&b.data, false)
	case b.Type.nested():
		b.nullChildren()
	case b.offsets != nil:
		b.offsets = append(b.offsets, int32(len(b.data)))
	default:
		var zero [16]byte
		b.data = append(b.data, zero[:b.Type.width()]...)
	}
	b.rows++
}

// Bool adds a BOOLEAN.
func (b *Builder) Bool(v bool) { b.bit(&b.data, v); b.row() }

// Int8 adds a TINYINT.
func (b *Builder) Int8(v int8) { b.data = append(b.data, byte(v)); b.row() }

// Int16 adds a SMALLINT.
func (b *Builder) Int16(v int16) {
	b.data = binary.LittleEndian.AppendUint16(b.data, uint16(v))
	b.row()
}

// Int32 adds an INT or DATE.
func (b *Builder) Int32(v int32) {
	b.data = binary.LittleEndian.AppendUint32(b.data, uint32(v))
	b.row()
}

// Int64 adds a BIGINT or TIMESTAMP.
func (b *Builder) Int64(v int64) {
	b.data = binary.LittleEndian.AppendUint64(b.data, uint64(v))
	b.row()
}

// Float32 adds a FLOAT.
func (b *Builder) Float32(v float32) { b.data = append(b.data, bytesOf([]float32{v})...); b.row() }

// Float64 adds a DOUBLE.
func (b *Builder) Float64(v float64) { b.data = append(b.data, bytesOf([]float64{v})...); b.row() }

// Bytes adds a BINARY, or a STRING that is UTF-8.
func (b *Builder) Bytes(v []byte) {
	b.data = append(b.data, v...)
	b.offsets = append(b.offsets, int32(len(b.data)))
	b.row()
}

// String adds a STRING.
func (b *Builder) String(v string) {
	b.data = append(b.data, v...)
	b.offsets = append(b.offsets, int32(len(b.data)))
	b.row()
}

// From adds row i of an input column of the same type.
func (b *Builder) From(c *Column, i int) {
	switch {
	case c.IsNull(i):
		b.Null()
	case b.Type == TypeBool:
		b.Bool(c.Bool(i))
	case b.Type.nested():
		b.nestedFrom(c, i)
	case b.offsets != nil:
		b.Bytes(c.Bytes(i))
	default:
		w := b.Type.width()
		b.data = append(b.data, c.data[i*w:(i+1)*w]...)
		b.row()
	}
}

// undo takes back what was added beyond n rows.
func (b *Builder) undo(n int) {
	if b.rows < n {
		return
	}
	b.undoChildren(n)
	if b.rows == n {
		return
	}
	if b.valid != nil {
		for i := n; i < b.rows; i++ {
			if b.valid[i>>3]>>(i&7)&1 == 0 {
				b.nulls--
			}
		}
		b.valid = cutBits(b.valid, n)
	}
	switch {
	case b.Type == TypeBool:
		b.data = cutBits(b.data, n)
	case b.Type.nested():
		if b.offsets != nil {
			b.offsets = b.offsets[:n+1]
		}
	case b.offsets != nil:
		b.offsets = b.offsets[:n+1]
		b.data = b.data[:b.offsets[n]]
	default:
		b.data = b.data[:n*b.Type.width()]
	}
	b.rows = n
}

func cutBits(b []byte, n int) []byte {
	b = b[:(n+7)/8]
	if r := n & 7; r != 0 {
		b[n>>3] &= 1<<r - 1
	}
	return b
}
