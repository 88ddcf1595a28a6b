package wstream

import "encoding/binary"

// outNode is a node of an answer: a builder, or the struct of a map's entries.
type outNode struct {
	b        *Builder
	typ      Type
	rows     int
	entries  bool // the struct between a map and its keys and values, which has no builder of its own
	children int
}

// appendNodes appends the nodes of a builder and its children, in pre-order.
func appendNodes(list []outNode, b *Builder) []outNode {
	if b.Type == TypeMap && b.passed < 0 {
		rows := b.children[0].rows
		list = append(list, outNode{b, TypeMap, b.rows, false, 1}, outNode{b, TypeStruct, rows, true, 2})
	} else {
		list = append(list, outNode{b, b.Type, b.rows, false, len(b.children)})
	}
	for _, c := range b.children {
		list = appendNodes(list, c)
	}
	return list
}

// buffers are the node's buffers in the order of the contract.
func (n *outNode) buffers() [][]byte {
	switch {
	case n.entries:
		return [][]byte{nil}
	case n.b.passed >= 0 || n.typ == TypeNull:
		return nil
	case n.typ == TypeStruct:
		return [][]byte{n.b.valid}
	case n.typ.hasBytes():
		return [][]byte{n.b.valid, bytesOf(n.b.offsets), n.b.data}
	case n.typ.hasOffsets():
		return [][]byte{n.b.valid, bytesOf(n.b.offsets)}
	}
	return [][]byte{n.b.valid, n.b.data}
}

// encode writes the answer to dst, whose memory is reused.
func (c *Call) encode(dst []byte) []byte {
	le := binary.LittleEndian
	var out []outNode
	for _, b := range c.out {
		out = appendNodes(out, b)
	}
	sections := c.outSections
	if c.parents != nil {
		sections = append(sections, outSection{sectionParents, c.parents.rows, []*Builder{c.parents}})
	}
	if c.errors[0] != nil {
		sections = append(sections, outSection{sectionErrors, c.errors[0].rows, c.errors[:]})
	}
	for _, s := range sections {
		for _, b := range s.columns {
			out = appendNodes(out, b)
		}
	}
	nodes, buffers := headerSize, headerSize+nodeSize*len(out)
	count := 0
	for i := range out {
		count += len(out[i].buffers())
	}
	at := buffers + bufferSize*count
	sectionsAt := at
	at += sectionSize * len(sections)
	dst = grow(dst[:0], at)
	clear(dst)
	first := 0
	for i := range out {
		o := &out[i]
		n := dst[nodes+i*nodeSize:]
		if !o.entries && o.b.passed >= 0 {
			le.PutUint16(n[2:], nodePassed)
			le.PutUint32(n[12:], uint32(o.b.passed))
			continue
		}
		le.PutUint16(n, uint16(o.typ))
		le.PutUint32(n[4:], uint32(o.rows))
		if !o.entries {
			if o.b.valid != nil {
				le.PutUint16(n[2:], nodeNullable)
			}
			le.PutUint32(n[8:], uint32(o.b.nulls))
			le.PutUint32(n[20:], o.b.Param)
		}
		le.PutUint32(n[12:], uint32(first))
		le.PutUint32(n[16:], uint32(o.children))
		for _, data := range o.buffers() {
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
	le.PutUint32(dst[16:], c.flags&(flagFirst|flagLast)) // answers ignore them; a frame made by Try needs them
	le.PutUint32(dst[20:], uint32(c.outRows()))
	le.PutUint64(dst[24:], uint64(c.BatchID))
	le.PutUint64(dst[40:], uint64(c.Watermark))
	le.PutUint64(dst[48:], uint64(c.BatchTime))
	le.PutUint32(dst[72:], uint32(len(c.out)))
	le.PutUint32(dst[76:], uint32(len(out)))
	le.PutUint32(dst[80:], uint32(count))
	le.PutUint32(dst[84:], uint32(len(sections)))
	le.PutUint32(dst[88:], uint32(nodes))
	le.PutUint32(dst[92:], uint32(buffers))
	le.PutUint32(dst[96:], uint32(sectionsAt))
	return dst
}

// outRows is the number of rows of the answer.
func (c *Call) outRows() int {
	switch {
	case c.parents != nil:
		return c.parents.rows
	case len(c.out) == 0:
		return 0
	}
	rows := c.rows
	for _, b := range c.out {
		if b.passed < 0 {
			rows = b.rows
		}
	}
	return rows
}
