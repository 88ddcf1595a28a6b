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

	sectionParents      = 1
	sectionErrors       = 2
	sectionGroups       = 3
	sectionState        = 4
	sectionAccumulators = 5
	sectionGroupIndex   = 6

	nodeNullable = 1
	nodePassed   = 2

	flagFirst = 1
	flagLast  = 2
	flagRetry = 4

	opCall   = 0
	opMerge  = 1
	opFinish = 2
	opCommit = 3
)

// Type is the type of a column.
type Type uint16

// The types. Columns of lists, maps and structs are built by NewList, NewMap and NewStruct.
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

// nested tells whether values of the type are made of those of child columns.
func (t Type) nested() bool { return t == TypeList || t == TypeMap || t == TypeStruct }

// hasOffsets tells whether the type has a buffer of offsets.
func (t Type) hasOffsets() bool { return t.hasBytes() || t == TypeList || t == TypeMap }

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
