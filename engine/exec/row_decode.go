package exec

import (
	"encoding/binary"
	"errors"

	"github.com/wstream/wstream/columnar"
)

var errRowEncoding = errors.New("a stored row does not have the shape that the operator expects")

// decodeRows turns rows in the row encoding into columns of the given types. It uses up the slices
// of rows.
func decodeRows(types []*columnar.Type, rows [][]byte) ([]*columnar.Column, error) {
	out := make([]*columnar.Column, len(types))
	for i, t := range types {
		c, err := decodeColumn(t, rows)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

// decodeColumn reads the value at the front of each row, and moves the rows behind it.
func decodeColumn(t *columnar.Type, rows [][]byte) (*columnar.Column, error) {
	n := len(rows)
	c := &columnar.Column{Type: t, Len: n}
	setNull := func(i int) {
		if c.Valid == nil {
			c.Valid = columnar.NewBitmapSet(n)
		}
		c.Valid.Clear(i)
	}
	switch {
	case t.HasBytes():
		c.Offsets = make([]int32, n+1)
		size := 0
		for _, r := range rows {
			if len(r) < 5 {
				return nil, errRowEncoding
			}
			k := int(binary.LittleEndian.Uint32(r[1:]))
			if len(r)-5 < k {
				return nil, errRowEncoding
			}
			size += k
		}
		c.Data = make([]byte, 0, size)
		for i, r := range rows {
			k := int(binary.LittleEndian.Uint32(r[1:]))
			if r[0] == 0 {
				setNull(i)
			}
			c.Data = append(c.Data, r[5:5+k]...)
			c.Offsets[i+1] = int32(len(c.Data))
			rows[i] = r[5+k:]
		}
	case t.Width() == 8:
		c.Data = columnar.AlignedBytes(n * 8)
		v := columnar.Values[uint64](c)
		for i, r := range rows {
			if len(r) < 9 {
				return nil, errRowEncoding
			}
			if r[0] == 0 {
				setNull(i)
			}
			v[i] = binary.LittleEndian.Uint64(r[1:])
			rows[i] = r[9:]
		}
	case t.Width() > 0:
		w := t.Width()
		c.Data = columnar.AlignedBytes(n * w)
		for i, r := range rows {
			if len(r) < w+1 {
				return nil, errRowEncoding
			}
			if r[0] == 0 {
				setNull(i)
			}
			copy(c.Data[i*w:], r[1:w+1])
			rows[i] = r[w+1:]
		}
	default:
		b := columnar.NewBuilder(t, n)
		for i, r := range rows {
			rest, ok := columnar.DecodeValue(b, r)
			if !ok {
				return nil, errRowEncoding
			}
			rows[i] = rest
		}
		return b.Finish(), nil
	}
	return c, nil
}
