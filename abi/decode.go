package abi

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
)

// Limits bound what Decode accepts and allocates.
type Limits struct {
	Bytes int // of all buffers that are copied
	Rows  int // of the main columns
	Nodes int // columns, nested ones included
}

// DefaultLimits are those of a call whose pipeline sets none.
func DefaultLimits() Limits { return Limits{Bytes: 64 << 20, Rows: 1 << 24, Nodes: 1 << 14} }

// FrameError says what is wrong with a frame, and in which column.
type FrameError struct {
	Column  string // "column 3", "section 2 column 0"; empty for the frame as a whole
	Problem string
}

// Error is "frame: column 3: …".
func (e *FrameError) Error() string {
	if e.Column == "" {
		return "frame: " + e.Problem
	}
	return "frame: " + e.Column + ": " + e.Problem
}

// Decoded is a checked frame. Its columns are copies: nothing in it refers to the bytes it was read from.
type Decoded struct {
	Frame
	// Passed[i] is the input column that main column i repeats, or -1; Columns[i] is nil then. It is nil
	// where there is no such column.
	Passed []int
}

// Want describes the main columns that a frame must have. A nil Fields accepts whatever the frame says of
// itself. Inputs are the types of the call's input columns, where passing them through is allowed.
type Want struct {
	Fields []columnar.Field
	Inputs []*columnar.Type
}

// Decode checks a frame that an untrusted guest has written, and copies it. The frame may be longer than
// its own size says, never shorter. Everything wrong is a *FrameError.
//
// What holds afterwards: every column has as many rows as said, offsets rise and stay inside, STRING is
// UTF-8, DECIMAL fits its precision, columns declared NOT NULL have no nulls, and types are as wanted.
func Decode(b []byte, want *Want, lim Limits) (*Decoded, error) {
	d := decoder{b: b, budget: int64(lim.Bytes), want: want}
	if err := d.header(lim); err != nil {
		return nil, err
	}
	out := &Decoded{Frame: Frame{Header: d.h}}
	if want != nil && want.Fields != nil && int(d.columns) != len(want.Fields) {
		return nil, &FrameError{Problem: fmt.Sprintf("has %d columns where %d are declared", d.columns, len(want.Fields))}
	}
	out.Columns = make([]*columnar.Column, d.columns)
	for i := range out.Columns {
		c, passed, err := d.main(i)
		if err != nil {
			d.where = fmt.Sprintf("column %d", i)
			if want != nil && want.Fields != nil {
				d.where = fmt.Sprintf("column %q", want.Fields[i].Name)
			}
			return nil, &FrameError{d.where, err.Error()}
		}
		if passed >= 0 {
			if out.Passed == nil {
				out.Passed = make([]int, d.columns)
				for k := range out.Passed {
					out.Passed[k] = -1
				}
			}
			out.Passed[i] = passed
			continue
		}
		out.Columns[i] = c
	}
	for i := uint32(0); i < d.sections; i++ {
		s, err := d.section(i)
		if err != nil {
			return nil, err
		}
		if out.Section(s.ID) != nil {
			return nil, &FrameError{Problem: fmt.Sprintf("section %d stands twice", s.ID)}
		}
		out.Sections = append(out.Sections, s)
	}
	if d.next != d.nodes {
		return nil, &FrameError{Problem: fmt.Sprintf("has %d nodes too many", d.nodes-d.next)}
	}
	return out, nil
}

// decoder walks over the node table once, in order.
type decoder struct {
	b        []byte // exactly the frame
	h        Header
	want     *Want
	columns  uint32
	nodes    uint32
	buffers  uint32
	sections uint32
	nodesAt  int
	buffAt   int
	sectAt   int
	next     uint32 // next node
	budget   int64  // bytes that may still be copied
	where    string
}

// maxDepth bounds the nesting of types.
const maxDepth = 64

// header reads the header and checks that the three tables lie in the frame.
func (d *decoder) header(lim Limits) error {
	le := binary.LittleEndian
	if len(d.b) < HeaderSize {
		return &FrameError{Problem: fmt.Sprintf("%d bytes are shorter than a header", len(d.b))}
	}
	if m := le.Uint32(d.b[offMagic:]); m != Magic {
		return &FrameError{Problem: fmt.Sprintf("begins with %#08x, not with %#08x", m, uint32(Magic))}
	}
	head, size := uint64(le.Uint32(d.b[offHeaderSize:])), uint64(le.Uint32(d.b[offFrameSize:]))
	if head < HeaderSize || head > size {
		return &FrameError{Problem: fmt.Sprintf("header of %d bytes in a frame of %d", head, size)}
	}
	if size > uint64(len(d.b)) {
		return &FrameError{Problem: fmt.Sprintf("says %d bytes where %d are there", size, len(d.b))}
	}
	d.b = d.b[:size]
	b := d.b
	d.h = Header{
		Kind: Kind(le.Uint16(b[offKind:])), Op: Op(le.Uint16(b[offOp:])), Flags: le.Uint32(b[offFlags:]),
		BatchID: int64(le.Uint64(b[offBatchID:])), Attempt: le.Uint32(b[offAttempt:]), Partition: le.Uint32(b[offPartition:]),
		Watermark: int64(le.Uint64(b[offWatermark:])), BatchTime: int64(le.Uint64(b[offBatchTime:])),
		QueryID: [16]byte(b[offQueryID : offQueryID+16]),
	}
	rows := le.Uint32(b[offRows:])
	if uint64(rows) > uint64(lim.Rows) {
		return &FrameError{Problem: fmt.Sprintf("has %d rows, allowed are %d", rows, lim.Rows)}
	}
	d.h.Rows = int(rows)
	d.columns, d.nodes = le.Uint32(b[offColumns:]), le.Uint32(b[offNodes:])
	d.buffers, d.sections = le.Uint32(b[offBuffers:]), le.Uint32(b[offSections:])
	if uint64(d.nodes) > uint64(lim.Nodes) {
		return &FrameError{Problem: fmt.Sprintf("has %d nodes, allowed are %d", d.nodes, lim.Nodes)}
	}
	if d.columns > d.nodes || d.sections > uint32(SectionGroupIndex)*2 || uint64(d.buffers) > 3*uint64(d.nodes) {
		return &FrameError{Problem: fmt.Sprintf("%d columns, %d sections and %d buffers do not go with %d nodes",
			d.columns, d.sections, d.buffers, d.nodes)}
	}
	for _, t := range []struct {
		name  string
		field int
		count uint32
		size  uint64
		at    *int
	}{
		{"node", offNodesOffset, d.nodes, NodeSize, &d.nodesAt},
		{"buffer", offBuffersOffset, d.buffers, BufferSize, &d.buffAt},
		{"section", offSectionsOffset, d.sections, SectionSize, &d.sectAt},
	} {
		at := uint64(le.Uint32(b[t.field:]))
		if t.count == 0 {
			continue
		}
		if at < head || at+uint64(t.count)*t.size > size {
			return &FrameError{Problem: fmt.Sprintf("%s table at %d with %d entries is not inside", t.name, at, t.count)}
		}
		*t.at = int(at)
	}
	return nil
}

// main reads main column i, or the index of the input column that it repeats (-1 for none).
func (d *decoder) main(i int) (*columnar.Column, int, error) {
	var field *columnar.Field
	if d.want != nil && d.want.Fields != nil {
		field = &d.want.Fields[i]
	}
	if d.next < d.nodes && d.peek().flags&NodePassed != 0 {
		n := d.peek()
		d.next++
		if d.want == nil || uint64(n.first) >= uint64(len(d.want.Inputs)) {
			return nil, 0, fmt.Errorf("repeats input column %d, which there is not", n.first)
		}
		if field != nil && !field.Type.Equal(d.want.Inputs[n.first]) {
			return nil, 0, fmt.Errorf("repeats input column %d of type %s where %s is declared", n.first,
				d.want.Inputs[n.first].SQL(), field.Type.SQL())
		}
		return nil, int(n.first), nil
	}
	c, err := d.column(field, 0)
	if err != nil {
		return nil, 0, err
	}
	if c.Len != d.h.Rows {
		return nil, 0, fmt.Errorf("has %d rows of %d", c.Len, d.h.Rows)
	}
	return c, -1, nil
}

// section reads section i with its columns, whose types are the frame's own.
func (d *decoder) section(i uint32) (Section, error) {
	le := binary.LittleEndian
	e := d.b[d.sectAt+int(i)*SectionSize:]
	s := Section{ID: SectionID(le.Uint32(e))}
	rows, n := le.Uint32(e[4:]), le.Uint32(e[8:])
	if s.ID == 0 || s.ID > SectionGroupIndex {
		return s, &FrameError{Problem: fmt.Sprintf("unknown section %d", s.ID)}
	}
	if n == 0 || n > d.nodes-d.next {
		return s, &FrameError{Problem: fmt.Sprintf("section %d has %d columns of %d left", s.ID, n, d.nodes-d.next)}
	}
	s.Rows = int(rows)
	for k := uint32(0); k < n; k++ {
		c, err := d.column(nil, 0)
		if err == nil && uint64(c.Len) != uint64(rows) {
			err = fmt.Errorf("has %d rows of %d", c.Len, rows)
		}
		if err != nil {
			return s, &FrameError{fmt.Sprintf("section %d column %d", s.ID, k), err.Error()}
		}
		s.Columns = append(s.Columns, c)
	}
	return s, nil
}

// peek reads the next node; there must be one.
func (d *decoder) peek() node {
	le := binary.LittleEndian
	b := d.b[d.nodesAt+int(d.next)*NodeSize:]
	return node{
		code: TypeCode(le.Uint16(b[offNodeType:])), flags: le.Uint16(b[offNodeFlags:]), length: le.Uint32(b[offNodeLength:]),
		nulls: le.Uint32(b[offNodeNulls:]), first: le.Uint32(b[offNodeBuffer:]), children: le.Uint32(b[offNodeChildren:]),
		param: le.Uint32(b[offNodeParam:]),
	}
}

// buffer gives buffer i of a node, inside the frame.
func (d *decoder) buffer(n *node, i uint32) ([]byte, error) {
	at := uint64(n.first) + uint64(i)
	if at >= uint64(d.buffers) {
		return nil, fmt.Errorf("wants buffer %d of %d", at, d.buffers)
	}
	e := d.b[d.buffAt+int(at)*BufferSize:]
	off, length := binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:])
	if length == 0 {
		return nil, nil
	}
	if size := uint64(len(d.b)); off > size || length > size-off {
		return nil, fmt.Errorf("buffer %d with %d bytes at %d is not inside the frame of %d", at, length, off, size)
	}
	return d.b[off : off+length], nil
}

// sized gives buffer i of a node, which must have at least want bytes, cut to them.
func (d *decoder) sized(n *node, i uint32, want int64) ([]byte, error) {
	b, err := d.buffer(n, i)
	if err != nil {
		return nil, err
	}
	if int64(len(b)) < want {
		return nil, fmt.Errorf("buffer %d has %d bytes of %d", uint64(n.first)+uint64(i), len(b), want)
	}
	return b[:want], nil
}

// spend takes bytes from the budget before they are allocated.
func (d *decoder) spend(n int64) error {
	if n > d.budget {
		return fmt.Errorf("output is larger than allowed: %d bytes more than the %d that are left", n-d.budget, d.budget)
	}
	d.budget -= n
	return nil
}

// column reads the next node and its children. A field says what type it must have; nil takes the node's word.
func (d *decoder) column(field *columnar.Field, depth int) (*columnar.Column, error) {
	if d.next >= d.nodes {
		return nil, fmt.Errorf("has no node")
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("is nested more than %d deep", maxDepth)
	}
	n := d.peek()
	d.next++
	if n.flags&^NodeNullable != 0 {
		return nil, fmt.Errorf("unknown flags %#x", n.flags&^NodeNullable)
	}
	if field != nil {
		if code, param := codeOf(field.Type); code != n.code || param != n.param {
			return nil, fmt.Errorf("is of type %s where %s is declared", describe(&n), field.Type.SQL())
		}
	}
	c := &columnar.Column{Len: int(n.length)}
	if field != nil {
		c.Type = field.Type
	}
	if err := d.validity(&n, c, field); err != nil {
		return nil, err
	}
	var err error
	switch n.code {
	case TypeNull: // takes no bytes here, but does wherever its rows are written out
		c.Type = columnar.Null
		err = d.spend(int64(n.length))
	case TypeList, TypeMap, TypeStruct:
		err = d.nested(&n, c, field, depth)
	default:
		if c.Type == nil {
			if c.Type, err = flatType(n.code, n.param); err != nil {
				return nil, err
			}
		}
		switch {
		case n.code == TypeBool:
			c.Bits, err = d.bits(&n, 1)
		case c.Type.HasBytes():
			err = d.byteStrings(&n, c)
		default:
			err = d.fixed(&n, c)
		}
	}
	if err == nil && n.children != 0 && !(n.code >= TypeList && n.code <= TypeStruct) {
		err = fmt.Errorf("type code %d has no children, here are %d", n.code, n.children)
	}
	return c, err
}

func describe(n *node) string {
	if t, err := flatType(n.code, n.param); err == nil {
		return t.SQL()
	}
	if n.code >= TypeList && n.code <= TypeStruct {
		return [...]string{"ARRAY", "MAP", "STRUCT"}[n.code-TypeList]
	}
	return fmt.Sprintf("code %d", n.code)
}

// validity reads the null bitmap. The null count of the node is not relied on.
func (d *decoder) validity(n *node, c *columnar.Column, field *columnar.Field) error {
	if n.code == TypeNull {
		return nil
	}
	b, err := d.buffer(n, 0)
	if err != nil || b == nil {
		return err
	}
	if c.Valid, err = d.bits(n, 0); err != nil {
		return err
	}
	nulls := c.Len - c.Valid.Count(c.Len)
	if nulls == 0 {
		c.Valid = nil
	} else if field != nil && !field.Nullable {
		row := 0
		for c.Valid.Get(row) {
			row++
		}
		return fmt.Errorf("row %d is null in a column declared NOT NULL", row)
	}
	return nil
}

// bits reads a bitmap of the node's length.
func (d *decoder) bits(n *node, i uint32) (columnar.Bitmap, error) {
	rows := int(n.length)
	b, err := d.sized(n, i, (int64(n.length)+7)>>3)
	if err == nil {
		err = d.spend(int64(len(b)))
	}
	if err != nil {
		return nil, err
	}
	return columnar.BitmapFromBytes(b, 0, rows), nil
}

func (d *decoder) fixed(n *node, c *columnar.Column) error {
	size := int64(n.length) * int64(c.Type.Width())
	b, err := d.sized(n, 1, size)
	if err == nil {
		err = d.spend(size)
	}
	if err != nil {
		return err
	}
	c.Data = columnar.AlignedBytes(len(b))
	copy(c.Data, b)
	if c.Type.Kind == columnar.KindDecimal {
		return checkDecimals(c)
	}
	return nil
}

func checkDecimals(c *columnar.Column) error {
	for i, v := range columnar.Values[columnar.Dec128](c) {
		if !v.FitsPrecision(c.Type.Precision) && !c.IsNull(i) {
			return fmt.Errorf("row %d does not fit %s", i, c.Type.SQL())
		}
	}
	return nil
}

// offsets reads n+1 offsets, which must rise from 0 and end at no more than limit.
func (d *decoder) offsets(n *node, limit int64) ([]int32, error) {
	if n.length == 0 {
		return make([]int32, 1), nil
	}
	size := (int64(n.length) + 1) * 4
	b, err := d.sized(n, 1, size)
	if err == nil {
		err = d.spend(size)
	}
	if err != nil {
		return nil, err
	}
	out := make([]int32, n.length+1)
	copy(int32Bytes(out), b)
	if out[0] != 0 {
		return nil, fmt.Errorf("offsets begin at %d, not at 0", out[0])
	}
	falls := int32(0)
	last := int32(0)
	for _, o := range out[1:] {
		falls |= o - last // negative where o < last, both being in range; a wrap shows below
		falls |= o
		last = o
	}
	if falls < 0 {
		for i, o := range out[1:] {
			if o < out[i] {
				return nil, fmt.Errorf("offset %d falls from %d to %d", i+1, out[i], o)
			}
		}
	}
	if int64(last) > limit {
		return nil, fmt.Errorf("offset %d points to %d of %d", n.length, last, limit)
	}
	return out, nil
}

// byteStrings reads strings, binaries and variants.
func (d *decoder) byteStrings(n *node, c *columnar.Column) error {
	data, err := d.buffer(n, 2)
	if err != nil {
		return err
	}
	if c.Offsets, err = d.offsets(n, int64(len(data))); err != nil {
		return err
	}
	data = data[:c.Offsets[c.Len]]
	if err := d.spend(int64(len(data))); err != nil {
		return err
	}
	c.Data = append(make([]byte, 0, len(data)), data...)
	if n.code == TypeBinary {
		return nil
	}
	if i := firstInvalid(c); i >= 0 {
		return fmt.Errorf("row %d is not valid UTF-8", i)
	}
	return nil
}

// firstInvalid finds the first row that is not UTF-8, or -1. The rows are, if all the bytes are and every
// row begins where a character does.
func firstInvalid(c *columnar.Column) int {
	if utf8.Valid(c.Data) {
		split := false
		for _, o := range c.Offsets[:c.Len] {
			if int(o) < len(c.Data) && !utf8.RuneStart(c.Data[o]) {
				split = true
				break
			}
		}
		if !split {
			return -1
		}
	}
	for i := 0; i < c.Len; i++ {
		if !utf8.Valid(c.BytesAt(i)) {
			return i
		}
	}
	return -1
}

// nested reads lists, maps and structs.
func (d *decoder) nested(n *node, c *columnar.Column, field *columnar.Field, depth int) error {
	if n.code == TypeStruct {
		return d.structs(n, c, field, depth)
	}
	if n.children != 1 {
		return fmt.Errorf("type code %d has one child, here are %d", n.code, n.children)
	}
	var err error
	if c.Offsets, err = d.offsets(n, 1<<31-1); err != nil {
		return err
	}
	if n.code == TypeList {
		var elem *columnar.Field
		if field != nil {
			elem = &columnar.Field{Type: field.Type.Elem, Nullable: field.Type.ElemNullable}
		}
		k, err := d.column(elem, depth+1)
		if err != nil {
			return fmt.Errorf("element: %w", err)
		}
		c.Children = []*columnar.Column{k}
		if c.Type == nil {
			c.Type = columnar.ArrayOf(k.Type, true)
		}
	} else if err := d.entries(c, field, depth); err != nil {
		return err
	}
	if have, need := c.Children[0].Len, int(c.Offsets[c.Len]); have < need {
		return fmt.Errorf("offsets point to element %d of %d", need, have)
	} else if have > need {
		for i, k := range c.Children {
			c.Children[i] = k.Slice(0, need)
		}
	}
	return nil
}

// entries reads the struct of keys and values that a map consists of.
func (d *decoder) entries(c *columnar.Column, field *columnar.Field, depth int) error {
	if d.next >= d.nodes {
		return fmt.Errorf("has no entries")
	}
	n := d.peek()
	d.next++
	if n.code != TypeStruct || n.children != 2 || n.flags&^NodeNullable != 0 {
		return fmt.Errorf("entries are not a struct of a key and a value")
	}
	if b, err := d.buffer(&n, 0); err != nil {
		return err
	} else if b != nil {
		bits, err := d.bits(&n, 0)
		if err != nil {
			return err
		}
		if bits.Count(int(n.length)) != int(n.length) {
			return fmt.Errorf("an entry is null")
		}
	}
	var key, value *columnar.Field
	if field != nil {
		key = &columnar.Field{Type: field.Type.Key}
		value = &columnar.Field{Type: field.Type.Elem, Nullable: field.Type.ElemNullable}
	}
	k, err := d.column(key, depth+2)
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	if k.Valid != nil || k.Type.Kind == columnar.KindNull && k.Len > 0 {
		return fmt.Errorf("a key is null")
	}
	v, err := d.column(value, depth+2)
	if err != nil {
		return fmt.Errorf("value: %w", err)
	}
	if k.Len != int(n.length) || v.Len != int(n.length) {
		return fmt.Errorf("%d entries have %d keys and %d values", n.length, k.Len, v.Len)
	}
	c.Children = []*columnar.Column{k, v}
	if c.Type == nil {
		c.Type = columnar.MapOf(k.Type, v.Type, true)
	}
	return nil
}

func (d *decoder) structs(n *node, c *columnar.Column, field *columnar.Field, depth int) error {
	if err := d.spend(int64(n.length)); err != nil {
		return err
	}
	if field != nil && uint64(n.children) != uint64(len(field.Type.Fields)) {
		return fmt.Errorf("has %d members where %s is declared", n.children, field.Type.SQL())
	}
	if n.children > d.nodes-d.next {
		return fmt.Errorf("has %d members of %d nodes left", n.children, d.nodes-d.next)
	}
	var fields []columnar.Field
	for i := 0; i < int(n.children); i++ {
		var member *columnar.Field
		if field != nil {
			member = &field.Type.Fields[i]
			if c.Valid != nil { // below a null struct anything goes
				member = &columnar.Field{Name: member.Name, Type: member.Type, Nullable: true}
			}
		}
		k, err := d.column(member, depth+1)
		if err != nil {
			return fmt.Errorf("member %d: %w", i, err)
		}
		if k.Len != c.Len {
			return fmt.Errorf("member %d has %d rows of %d", i, k.Len, c.Len)
		}
		c.Children = append(c.Children, k)
		if field == nil {
			fields = append(fields, columnar.Field{Name: fmt.Sprintf("_%d", i+1), Type: k.Type, Nullable: true})
		}
	}
	if c.Type == nil {
		c.Type = columnar.StructOf(fields...)
	}
	return nil
}
