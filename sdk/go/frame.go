package wstream

import (
	"encoding/binary"
	"math"
)

// Numbers of the contract; docs/abi.md explains them.
const (
	magic       = 0x31465357
	headerSize  = 128
	nodeSize    = 24
	bufferSize  = 16
	sectionSize = 16
	alignment   = 64

	sectionParents = 1
	sectionErrors  = 2
	sectionGroups  = 3
	sectionState   = 4

	nodeNullable = 1
	nodePassed   = 2

	flagFirst = 1
	flagLast  = 2
	flagRetry = 4

	opCommit = 3
)

// Type is the type of a column.
type Type uint16

// The types. Lists, maps and structs can be read, not built.
const (
	TypeNull         Type = 0
	TypeBool         Type = 1
	TypeInt8         Type = 2
	TypeInt16        Type = 3
	TypeInt32        Type = 4
	TypeInt64        Type = 5
	TypeFloat32      Type = 6
	TypeFloat64      Type = 7
	TypeDecimal      Type = 8 // 16 bytes, little-endian two's complement
	TypeDate         Type = 9 // days since 1970-01-01
	TypeTimestamp    Type = 10
	TypeTimestampNTZ Type = 11
	TypeString       Type = 12
	TypeBinary       Type = 13
	TypeList         Type = 14
	TypeMap          Type = 15
	TypeStruct       Type = 16
	TypeTime         Type = 17
	TypeYearMonth    Type = 18
	TypeDayTime      Type = 19
	TypeCalendar     Type = 20
	TypeVariant      Type = 21
)

// NoWatermark is Call.Watermark where there is none, and NoTimeout a key's time-out.
const (
	NoWatermark = math.MinInt64
	NoTimeout   = math.MinInt64
)

// width is the bytes of a value, 0 where values have no fixed width.
func (t Type) width() int {
	switch t {
	case TypeInt8:
		return 1
	case TypeInt16:
		return 2
	case TypeInt32, TypeFloat32, TypeDate, TypeYearMonth:
		return 4
	case TypeInt64, TypeFloat64, TypeTimestamp, TypeTimestampNTZ, TypeTime, TypeDayTime:
		return 8
	case TypeDecimal, TypeCalendar:
		return 16
	}
	return 0
}

func (t Type) hasBytes() bool { return t == TypeString || t == TypeBinary || t == TypeVariant }

// decode opens a frame of the host. The host is trusted: what is malformed is a panic.
func decode(b []byte) *Call {
	le := binary.LittleEndian
	if len(b) < headerSize || le.Uint32(b) != magic {
		panic("not a frame")
	}
	c := &Call{
		frame: b, op: le.Uint16(b[14:]), flags: le.Uint32(b[16:]), rows: int(le.Uint32(b[20:])), kind: le.Uint16(b[12:]),
		BatchID: int64(le.Uint64(b[24:])), Attempt: int(le.Uint32(b[32:])), Partition: int(le.Uint32(b[36:])),
		Watermark: int64(le.Uint64(b[40:])), BatchTime: int64(le.Uint64(b[48:])), QueryID: [16]byte(b[56:72]),
	}
	columns, sections := int(le.Uint32(b[72:])), int(le.Uint32(b[84:]))
	r := nodeReader{b, int(le.Uint32(b[88:])), int(le.Uint32(b[92:])), 0}
	for range columns {
		c.columns = append(c.columns, r.column())
	}
	at := int(le.Uint32(b[96:]))
	for range sections {
		s := section{id: int(le.Uint32(b[at:])), rows: int(le.Uint32(b[at+4:]))}
		for range le.Uint32(b[at+8:]) {
			s.columns = append(s.columns, r.column())
		}
		c.sections = append(c.sections, s)
		at += sectionSize
	}
	return c
}

// section is a group of columns beside the main ones.
type section struct {
	id, rows int
	columns  []*Column
}

// nodeReader walks over the node table.
type nodeReader struct {
	b             []byte
	nodes, buffer int
	next          int
}

func (r *nodeReader) column() *Column {
	le := binary.LittleEndian
	n := r.b[r.nodes+r.next*nodeSize:]
	r.next++
	c := &Column{Type: Type(le.Uint16(n)), Len: int(le.Uint32(n[4:])), Param: le.Uint32(n[20:])}
	first, children := int(le.Uint32(n[12:])), int(le.Uint32(n[16:]))
	if c.Type != TypeNull {
		c.valid = r.bytes(first)
		switch {
		case c.Type.hasBytes():
			c.offsets, c.data = view[int32](r.bytes(first+1)), r.bytes(first+2)
		case c.Type == TypeList || c.Type == TypeMap:
			c.offsets = view[int32](r.bytes(first + 1))
		case c.Type != TypeStruct:
			c.data = r.bytes(first + 1)
		}
	}
	for range children {
		c.Children = append(c.Children, r.column())
	}
	return c
}

func (r *nodeReader) bytes(i int) []byte {
	le := binary.LittleEndian
	e := r.b[r.buffer+i*bufferSize:]
	off, n := le.Uint64(e), le.Uint64(e[8:])
	if n == 0 {
		return nil
	}
	return r.b[off : off+n : off+n]
}

// encode writes the answer to dst, whose memory is reused.
func (c *Call) encode(dst []byte) []byte {
	le := binary.LittleEndian
	out := append([]*Builder{}, c.out...)
	sections := c.outSections
	if c.parents != nil {
		sections = append(sections, outSection{sectionParents, c.parents.rows, []*Builder{c.parents}})
	}
	if c.errors[0] != nil {
		sections = append(sections, outSection{sectionErrors, c.errors[0].rows, c.errors[:]})
	}
	for _, s := range sections {
		out = append(out, s.columns...)
	}
	rows := c.rows
	switch {
	case c.parents != nil:
		rows = c.parents.rows
	case len(c.out) == 0:
		rows = 0
	default:
		for _, b := range c.out {
			if b.passed < 0 {
				rows = b.rows
			}
		}
	}
	nodes, buffers := headerSize, headerSize+nodeSize*len(out)
	count := 0
	for _, b := range out {
		count += len(b.buffers())
	}
	at := buffers + bufferSize*count
	sectionsAt := at
	at += sectionSize * len(sections)
	dst = grow(dst[:0], at)
	clear(dst)
	first := 0
	for i, b := range out {
		n := dst[nodes+i*nodeSize:]
		if b.passed >= 0 {
			le.PutUint16(n[2:], nodePassed)
			le.PutUint32(n[12:], uint32(b.passed))
			continue
		}
		le.PutUint16(n, uint16(b.Type))
		if b.valid != nil {
			le.PutUint16(n[2:], nodeNullable)
		}
		le.PutUint32(n[4:], uint32(b.rows))
		le.PutUint32(n[8:], uint32(b.nulls))
		le.PutUint32(n[12:], uint32(first))
		le.PutUint32(n[20:], b.Param)
		for _, data := range b.buffers() {
			if len(data) > 0 {
				aligned := (len(dst) + alignment - 1) &^ (alignment - 1)
				dst = append(grow(dst, aligned), data...)
				le.PutUint64(dst[buffers+first*bufferSize:], uint64(aligned))
				le.PutUint64(dst[buffers+first*bufferSize+8:], uint64(len(data)))
			}
			first++
		}
	}
	for i, s := range sections {
		e := dst[sectionsAt+i*sectionSize:]
		le.PutUint32(e, uint32(s.id))
		le.PutUint32(e[4:], uint32(s.rows))
		le.PutUint32(e[8:], uint32(len(s.columns)))
	}
	le.PutUint32(dst, magic)
	le.PutUint32(dst[4:], headerSize)
	le.PutUint32(dst[8:], uint32(len(dst)))
	le.PutUint16(dst[12:], c.kind)
	le.PutUint16(dst[14:], c.op)
	le.PutUint32(dst[20:], uint32(rows))
	le.PutUint64(dst[24:], uint64(c.BatchID))
	le.PutUint32(dst[72:], uint32(len(c.out)))
	le.PutUint32(dst[76:], uint32(len(out)))
	le.PutUint32(dst[80:], uint32(count))
	le.PutUint32(dst[84:], uint32(len(sections)))
	le.PutUint32(dst[88:], uint32(nodes))
	le.PutUint32(dst[92:], uint32(buffers))
	le.PutUint32(dst[96:], uint32(sectionsAt))
	return dst
}

// grow extends b to n bytes, new ones zero.
func grow(b []byte, n int) []byte {
	if n <= cap(b) {
		k := len(b)
		b = b[:n]
		clear(b[k:])
		return b
	}
	out := make([]byte, n, n+n/2+4096)
	copy(out, b)
	return out
}
