package jsonfmt

import (
	"unsafe"

	"github.com/wstream/wstream/columnar"
)

// op is what a value is read as.
type op uint8

const (
	opBool op = iota
	opInt8
	opInt16
	opInt32
	opInt64
	opFloat32
	opFloat64
	opDecimal
	opString
	opBinary
	opDate
	opTimestamp
	opTimestampNTZ
	opArray
	opMap
	opStruct
	opOther // only the slow reader knows how
)

// node builds the column of one type within a schema. Rows are addressed by number, so that a
// record that turns out to be bad can be written over.
type node struct {
	typ  *columnar.Type
	op   op
	wide int // bytes of a fixed-width value

	cap     int // rows that the buffers below hold
	n       int // rows of a child of an array or map
	fixed   []byte
	base    unsafe.Pointer // of fixed
	bits    columnar.Bitmap
	valid   columnar.Bitmap // nil until the first null
	offsets []int32         // cap+1, also before the first row
	buf     []byte
	used    int // bytes of buf

	kids   []*node
	object *object // of a struct

	hintRows, hintBytes int // what the last batch needed
}

func newNode(t *columnar.Type) *node {
	n := &node{typ: t, wide: t.Width()}
	switch t.Kind {
	case columnar.KindBool:
		n.op = opBool
	case columnar.KindInt8:
		n.op = opInt8
	case columnar.KindInt16:
		n.op = opInt16
	case columnar.KindInt32:
		n.op = opInt32
	case columnar.KindInt64:
		n.op = opInt64
	case columnar.KindFloat32:
		n.op = opFloat32
	case columnar.KindFloat64:
		n.op = opFloat64
	case columnar.KindDecimal:
		n.op = opDecimal
	case columnar.KindString:
		n.op = opString
	case columnar.KindBinary:
		n.op = opBinary
	case columnar.KindDate:
		n.op = opDate
	case columnar.KindTimestamp:
		n.op = opTimestamp
	case columnar.KindTimestampNTZ:
		n.op = opTimestampNTZ
	case columnar.KindArray:
		n.op, n.kids = opArray, []*node{newNode(t.Elem)}
	case columnar.KindMap:
		n.op, n.kids = opMap, []*node{newNode(t.Key), newNode(t.Elem)}
	case columnar.KindStruct:
		n.op = opStruct
		for _, f := range t.Fields {
			n.kids = append(n.kids, newNode(f.Type))
		}
		n.object = newObject(t.Fields, n.kids)
	default:
		n.op = opOther
	}
	n.offsets = n.emptyOffsets()
	return n
}

// hasOffsets tells whether rows are ranges.
func (n *node) hasOffsets() bool {
	return n.typ.HasBytes() || n.typ.Kind == columnar.KindArray || n.typ.Kind == columnar.KindMap
}

func (n *node) emptyOffsets() []int32 {
	if n.hasOffsets() {
		return make([]int32, 1)
	}
	return nil
}

// grow makes room for row, which is the first one that there is none for.
func (n *node) grow(row int) {
	rows := max(2*n.cap, n.hintRows, row+1, 64)
	switch {
	case n.offsets != nil:
		offsets := make([]int32, rows+1)
		copy(offsets, n.offsets)
		n.offsets = offsets
	case n.op == opBool:
		bits := columnar.NewBitmap(rows)
		copy(bits, n.bits)
		n.bits = bits
	case n.wide > 0:
		fixed := columnar.AlignedBytes(rows * n.wide)
		copy(fixed, n.fixed)
		n.fixed, n.base = fixed, unsafe.Pointer(unsafe.SliceData(fixed))
	}
	if n.valid != nil {
		valid := columnar.NewBitmapSet(rows)
		copy(valid, n.valid)
		n.valid = valid
	}
	n.cap = rows
}

// room makes sure that size more bytes and a word fit into buf.
func (n *node) room(size int) {
	if n.used+size+8 <= len(n.buf) {
		return
	}
	buf := make([]byte, max(2*len(n.buf), n.hintBytes, n.used+size+8, 256))
	copy(buf, n.buf[:n.used])
	n.buf = buf
}

// setNull makes row a null; it must be the next one.
func (n *node) setNull(row int) {
	if row >= n.cap {
		n.grow(row)
	}
	if n.valid == nil {
		n.valid = columnar.NewBitmapSet(n.cap)
	}
	n.valid.Clear(row)
	switch {
	case n.offsets != nil:
		n.offsets[row+1] = n.offsets[row]
	case n.op == opStruct:
		for _, k := range n.kids {
			k.setNull(row)
		}
	}
}

// rollback forgets the rows from row up to end.
func (n *node) rollback(row, end int) {
	if n.valid != nil {
		for i := row; i < min(end, n.cap); i++ {
			n.valid.Set(i)
		}
	}
	switch n.op {
	case opArray, opMap:
		at := int(n.offsets[row])
		for _, k := range n.kids {
			k.rollback(at, k.n+1)
			k.n = at
		}
	case opStruct:
		for _, k := range n.kids {
			k.rollback(row, end)
		}
	default:
		if n.offsets != nil {
			n.used = int(n.offsets[row])
		}
	}
}

// finish hands the first rows over as a column and begins anew.
func (n *node) finish(rows int) *columnar.Column {
	if rows > 0 && n.cap == 0 { // a struct whose fields were all written
		n.grow(rows - 1)
	}
	c := &columnar.Column{Type: n.typ, Len: rows}
	if n.typ.Kind != columnar.KindNull {
		c.Valid = n.valid
	}
	switch {
	case n.offsets != nil:
		c.Offsets = n.offsets[:rows+1]
	case n.op == opBool:
		c.Bits = n.bits
	case n.wide > 0:
		c.Data = n.fixed[:rows*n.wide]
	}
	if n.typ.HasBytes() {
		c.Data = n.buf[:n.used:n.used]
	}
	for _, k := range n.kids {
		at := rows
		if n.offsets != nil {
			at = k.n
		}
		c.Children = append(c.Children, k.finish(at))
	}
	n.hintRows, n.hintBytes = rows+rows/16+16, n.used+n.used/16+64
	n.cap, n.n, n.used = 0, 0, 0
	n.fixed, n.base, n.bits, n.valid, n.buf, n.offsets = nil, nil, nil, nil, nil, n.emptyOffsets()
	return c
}

// setDatum writes a value that the slow reader made; row must be the next one.
func (n *node) setDatum(row int, d columnar.Datum) {
	if d == nil {
		n.setNull(row)
		return
	}
	if row >= n.cap {
		n.grow(row)
	}
	switch v := d.(type) {
	case bool:
		n.bits.SetTo(row, v)
	case int8:
		*(*int8)(unsafe.Add(n.base, row)) = v
	case int16:
		*(*int16)(unsafe.Add(n.base, row*2)) = v
	case int32:
		*(*int32)(unsafe.Add(n.base, row*4)) = v
	case int64:
		*(*int64)(unsafe.Add(n.base, row*8)) = v
	case float32:
		*(*float32)(unsafe.Add(n.base, row*4)) = v
	case float64:
		*(*float64)(unsafe.Add(n.base, row*8)) = v
	case columnar.Dec128:
		*(*columnar.Dec128)(unsafe.Add(n.base, row*16)) = v
	case columnar.CalendarInterval:
		*(*columnar.CalendarInterval)(unsafe.Add(n.base, row*16)) = v
	case string:
		n.setBytes(row, v)
	case []byte:
		n.setBytes(row, unsafe.String(unsafe.SliceData(v), len(v)))
	case []columnar.Datum:
		for _, e := range v {
			n.kids[0].add(e)
		}
		n.offsets[row+1] = int32(n.kids[0].n)
	case columnar.MapDatum:
		for i := range v.Keys {
			n.kids[0].add(v.Keys[i])
			n.kids[1].add(v.Values[i])
		}
		n.offsets[row+1] = int32(n.kids[0].n)
	case columnar.StructDatum:
		for i, k := range n.kids {
			k.setDatum(row, v[i])
		}
	}
}

func (n *node) setBytes(row int, s string) {
	n.room(len(s))
	n.used += copy(n.buf[n.used:], s)
	n.offsets[row+1] = int32(n.used)
}

// add appends to a child of an array or map.
func (n *node) add(d columnar.Datum) {
	n.setDatum(n.n, d)
	n.n++
}
