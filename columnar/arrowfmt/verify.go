package arrowfmt

import (
	"encoding/binary"
	"errors"
)

// Arrow's reader makes arrays of as many fields and keys as the metadata say. The checks here hold that such a number
// is not more than the metadata have room for.

// errMetadata is the error of metadata that do not hold together.
var errMetadata = errors.New("broken Arrow file: its metadata say that they are longer than they are")

const (
	deepestField = 100     // fields within fields
	mostFields   = 1 << 20 // of a schema, at all depths
)

// The places of what is checked within their tables, as in Arrow's Schema.fbs, Message.fbs and File.fbs.
const (
	messageHeaderType = 1
	messageHeader     = 2
	messageBodyLength = 3
	messageKeys       = 4
	headerSchema      = 1 // a value of messageHeaderType

	footerSchema = 1
	footerKeys   = 4

	schemaFields   = 1
	schemaKeys     = 2
	schemaFeatures = 3

	fieldChildren = 5
	fieldKeys     = 6
)

// table is a table of FlatBuffers at pos.
type table struct {
	buf []byte
	pos int
}

// root is the table that a buffer is made of.
func root(buf []byte) (table, error) { return table{buf, 0}.follow(0) }

// follow is the table to which the offset at p leads.
func (t table) follow(p int) (table, error) {
	to, err := t.target(p)
	return table{t.buf, to}, err
}

// target is where the offset at p leads.
func (t table) target(p int) (int, error) {
	if p < 0 || p > len(t.buf)-4 {
		return 0, errMetadata
	}
	to := p + int(binary.LittleEndian.Uint32(t.buf[p:]))
	if to > len(t.buf)-4 {
		return 0, errMetadata
	}
	return to, nil
}

// field is where the value of a slot stands, or 0 without one; size is that of the value.
func (t table) field(slot, size int) (int, error) {
	v := t.pos - int(int32(binary.LittleEndian.Uint32(t.buf[t.pos:])))
	if v < 0 || v > len(t.buf)-4 {
		return 0, errMetadata
	}
	at := v + 4 + 2*slot
	if 4+2*slot >= int(binary.LittleEndian.Uint16(t.buf[v:])) { // as FlatBuffers has it, for lengths that are odd too
		return 0, nil
	}
	if at > len(t.buf)-2 {
		return 0, errMetadata
	}
	offset := int(binary.LittleEndian.Uint16(t.buf[at:]))
	if offset == 0 {
		return 0, nil
	}
	if t.pos+offset > len(t.buf)-size {
		return 0, errMetadata
	}
	return t.pos + offset, nil
}

// vector is where the elements of a slot's vector begin, and how many there are, each of size bytes.
func (t table) vector(slot, size int) (from, n int, err error) {
	p, err := t.field(slot, 4)
	if err != nil || p == 0 {
		return 0, 0, err
	}
	if p, err = t.target(p); err != nil {
		return 0, 0, err
	}
	n = int(binary.LittleEndian.Uint32(t.buf[p:]))
	if n > (len(t.buf)-p-4)/size {
		return 0, 0, errMetadata
	}
	return p + 4, n, nil
}

// child is the table of a slot; ok is false without one.
func (t table) child(slot int) (c table, ok bool, err error) {
	p, err := t.field(slot, 4)
	if err != nil || p == 0 {
		return t, false, err
	}
	c, err = t.follow(p)
	return c, err == nil, err
}

// verifySchema checks a schema.
func (t table) verifySchema() error {
	if _, _, err := t.vector(schemaKeys, 4); err != nil {
		return err
	}
	if _, _, err := t.vector(schemaFeatures, 8); err != nil {
		return err
	}
	left := mostFields
	return t.verifyFields(schemaFields, 0, &left)
}

func (t table) verifyFields(slot, depth int, left *int) error {
	from, n, err := t.vector(slot, 4)
	if err != nil {
		return err
	}
	if *left -= n; *left < 0 || depth > deepestField {
		return errMetadata
	}
	for i := range n {
		f, err := t.follow(from + 4*i)
		if err != nil {
			return err
		}
		if _, _, err := f.vector(fieldKeys, 4); err != nil {
			return err
		}
		if err := f.verifyFields(fieldChildren, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}

// verifyMessage checks the metadata of a message and gives the length of what follows them.
func verifyMessage(buf []byte) (body int64, err error) {
	m, err := root(buf)
	if err != nil {
		return 0, err
	}
	if _, _, err := m.vector(messageKeys, 4); err != nil {
		return 0, err
	}
	p, err := m.field(messageBodyLength, 8)
	if err != nil {
		return 0, err
	}
	if p > 0 {
		body = int64(binary.LittleEndian.Uint64(buf[p:]))
	}
	kind, err := m.field(messageHeaderType, 1)
	if err != nil || kind == 0 || buf[kind] != headerSchema {
		return body, err
	}
	schema, ok, err := m.child(messageHeader)
	if err != nil || !ok {
		return body, err
	}
	return body, schema.verifySchema()
}

// verifyFooter checks the footer of a file.
func verifyFooter(buf []byte) error {
	f, err := root(buf)
	if err != nil {
		return err
	}
	if _, _, err := f.vector(footerKeys, 4); err != nil {
		return err
	}
	schema, ok, err := f.child(footerSchema)
	if err != nil || !ok {
		return err
	}
	return schema.verifySchema()
}
