package abi

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/wstream/wstream/columnar"
)

// Encoder lays a frame out and writes it. It keeps its tables between frames, so that a stream of batches
// of one shape allocates nothing. The zero value is ready; one goroutine at a time.
type Encoder struct {
	frame *Frame
	nodes []node
	bufs  []buffer
	size  int64
	at    [3]int64 // offsets of the node, buffer and section tables
}

// node is an entry of the node table.
type node struct {
	code     TypeCode
	flags    uint16
	length   uint32
	nulls    uint32
	first    uint32
	children uint32
	param    uint32
}

// buffer is an entry of the buffer table and where its bytes come from: data as it is, bits of a bitmap,
// or offsets less a base.
type buffer struct {
	offset, length int64
	data           []byte
	bits           columnar.Bitmap
	offsets        []int32
	rows           int
}

// Layout plans the frame and gives its size in bytes. The frame must not change until Write.
func (e *Encoder) Layout(f *Frame) (int, error) {
	e.frame, e.nodes, e.bufs = f, e.nodes[:0], e.bufs[:0]
	for i, c := range f.Columns {
		if c.Len != f.Header.Rows {
			return 0, fmt.Errorf("column %d has %d rows of %d", i, c.Len, f.Header.Rows)
		}
		e.column(c, f.Nullable == nil || f.Nullable[i])
	}
	for _, s := range f.Sections {
		for i, c := range s.Columns {
			if c.Len != s.Rows {
				return 0, fmt.Errorf("section %d: column %d has %d rows of %d", s.ID, i, c.Len, s.Rows)
			}
			e.column(c, c.Valid != nil)
		}
	}
	at := int64(HeaderSize)
	for i, n := range [3]int{len(e.nodes) * NodeSize, len(e.bufs) * BufferSize, len(f.Sections) * SectionSize} {
		e.at[i] = at
		at += int64(n)
	}
	for i := range e.bufs {
		if b := &e.bufs[i]; b.length > 0 {
			at = align(at)
			b.offset = at
			at += b.length
		}
	}
	e.size = align(at)
	if e.size > math.MaxInt32 {
		return 0, fmt.Errorf("frame of %d bytes does not fit into 2 GiB", e.size)
	}
	return int(e.size), nil
}

func align(n int64) int64 { return (n + Alignment - 1) &^ (Alignment - 1) }

// column plans a column and its children.
func (e *Encoder) column(c *columnar.Column, nullable bool) {
	code, param := codeOf(c.Type)
	at := len(e.nodes)
	e.nodes = append(e.nodes, node{code: code, length: uint32(c.Len), first: uint32(len(e.bufs)), param: param})
	if nullable {
		e.nodes[at].flags = NodeNullable
	}
	if code == TypeNull {
		e.nodes[at].nulls = uint32(c.Len)
		return
	}
	if nulls := c.NullCount(); nulls > 0 {
		e.nodes[at].nulls = uint32(nulls)
		e.bitmap(c.Valid, c.Len)
	} else {
		e.bufs = append(e.bufs, buffer{})
	}
	switch {
	case code == TypeBool:
		e.bitmap(c.Bits, c.Len)
	case c.Type.HasBytes():
		e.offsets(c)
		lo, hi := c.Offsets[0], c.Offsets[c.Len]
		e.bufs = append(e.bufs, buffer{length: int64(hi - lo), data: c.Data[lo:hi]})
	case code == TypeList:
		e.offsets(c)
		e.nodes[at].children = 1
		e.column(c.Children[0].Slice(int(c.Offsets[0]), int(c.Offsets[c.Len])), c.Type.ElemNullable)
	case code == TypeMap:
		e.offsets(c)
		e.nodes[at].children = 1
		lo, hi := int(c.Offsets[0]), int(c.Offsets[c.Len])
		// Arrow has the entries of a map as a struct of keys and values.
		e.nodes = append(e.nodes, node{code: TypeStruct, length: uint32(hi - lo), first: uint32(len(e.bufs)), children: 2})
		e.bufs = append(e.bufs, buffer{})
		e.column(c.Children[0].Slice(lo, hi), false)
		e.column(c.Children[1].Slice(lo, hi), c.Type.ElemNullable)
	case code == TypeStruct:
		e.nodes[at].children = uint32(len(c.Children))
		for i, k := range c.Children {
			e.column(k, c.Type.Fields[i].Nullable)
		}
	default:
		n := c.Len * c.Type.Width()
		e.bufs = append(e.bufs, buffer{length: int64(n), data: c.Data[:n]})
	}
}

func (e *Encoder) bitmap(b columnar.Bitmap, rows int) {
	e.bufs = append(e.bufs, buffer{length: int64(rows+7) >> 3, bits: b, rows: rows})
}

func (e *Encoder) offsets(c *columnar.Column) {
	e.bufs = append(e.bufs, buffer{length: int64(c.Len+1) * 4, offsets: c.Offsets[:c.Len+1]})
}

// Write writes the frame that was laid out to dst, which is at least as long as Layout said. Bytes between
// buffers are zero, so that a batch has one encoding.
func (e *Encoder) Write(dst []byte) {
	le := binary.LittleEndian
	dst = dst[:e.size]
	h := &e.frame.Header
	clear(dst[:HeaderSize])
	le.PutUint32(dst[offMagic:], Magic)
	le.PutUint32(dst[offHeaderSize:], HeaderSize)
	le.PutUint32(dst[offFrameSize:], uint32(e.size))
	le.PutUint16(dst[offKind:], uint16(h.Kind))
	le.PutUint16(dst[offOp:], uint16(h.Op))
	le.PutUint32(dst[offFlags:], h.Flags)
	le.PutUint32(dst[offRows:], uint32(h.Rows))
	le.PutUint64(dst[offBatchID:], uint64(h.BatchID))
	le.PutUint32(dst[offAttempt:], h.Attempt)
	le.PutUint32(dst[offPartition:], h.Partition)
	le.PutUint64(dst[offWatermark:], uint64(h.Watermark))
	le.PutUint64(dst[offBatchTime:], uint64(h.BatchTime))
	copy(dst[offQueryID:], h.QueryID[:])
	le.PutUint32(dst[offColumns:], uint32(len(e.frame.Columns)))
	le.PutUint32(dst[offNodes:], uint32(len(e.nodes)))
	le.PutUint32(dst[offBuffers:], uint32(len(e.bufs)))
	le.PutUint32(dst[offSections:], uint32(len(e.frame.Sections)))
	le.PutUint32(dst[offNodesOffset:], uint32(e.at[0]))
	le.PutUint32(dst[offBuffersOffset:], uint32(e.at[1]))
	le.PutUint32(dst[offSectionsOffset:], uint32(e.at[2]))
	for i := range e.nodes {
		e.nodes[i].write(dst[e.at[0]+int64(i)*NodeSize:])
	}
	for i, s := range e.frame.Sections {
		d := dst[e.at[2]+int64(i)*SectionSize:]
		le.PutUint32(d, uint32(s.ID))
		le.PutUint32(d[4:], uint32(s.Rows))
		le.PutUint32(d[8:], uint32(len(s.Columns)))
		le.PutUint32(d[12:], 0)
	}
	end := e.at[2] + int64(len(e.frame.Sections))*SectionSize
	for i := range e.bufs {
		b := &e.bufs[i]
		d := dst[e.at[1]+int64(i)*BufferSize:]
		le.PutUint64(d, uint64(b.offset))
		le.PutUint64(d[8:], uint64(b.length))
		if b.length == 0 {
			continue
		}
		clear(dst[end:b.offset])
		end = b.offset + b.length
		b.write(dst[b.offset:end])
	}
	clear(dst[end:])
}

func (n *node) write(d []byte) {
	le := binary.LittleEndian
	le.PutUint16(d[offNodeType:], uint16(n.code))
	le.PutUint16(d[offNodeFlags:], n.flags)
	le.PutUint32(d[offNodeLength:], n.length)
	le.PutUint32(d[offNodeNulls:], n.nulls)
	le.PutUint32(d[offNodeBuffer:], n.first)
	le.PutUint32(d[offNodeChildren:], n.children)
	le.PutUint32(d[offNodeParam:], n.param)
}

// write copies the buffer's bytes to d, which is exactly as long.
func (b *buffer) write(d []byte) {
	switch {
	case b.bits != nil:
		copy(d, b.bits.Bytes())
		if r := uint(b.rows) & 7; r != 0 {
			d[len(d)-1] &= 1<<r - 1
		}
	case b.offsets != nil && b.offsets[0] == 0:
		copy(d, int32Bytes(b.offsets))
	case b.offsets != nil:
		base := b.offsets[0]
		for i, o := range b.offsets {
			binary.LittleEndian.PutUint32(d[i*4:], uint32(o-base))
		}
	default:
		copy(d, b.data)
	}
}

// Encode lays out and writes a frame into memory of its own.
func Encode(f *Frame) ([]byte, error) {
	var e Encoder
	n, err := e.Layout(f)
	if err != nil {
		return nil, err
	}
	out := columnar.AlignedBytes(n)
	e.Write(out)
	return out, nil
}
