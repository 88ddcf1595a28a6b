package jsonfmt

import (
	"unsafe"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/records"
)

// DecodeColumn reads each row of a STRING or BINARY column as one document, as from_json does; the
// decoder was made by NewColumn. A null, and a text without any token, give null.
func (d *Decoder) DecodeColumn(c *columnar.Column) (*columnar.Column, records.Corrupt, error) {
	d.begin(len(c.Data))
	for i := range c.Len {
		if !c.IsNull(i) {
			found, err := d.decodeValue(c.BytesAt(i), i)
			if err != nil {
				d.root.finish(0)
				return nil, d.corrupt, err
			}
			if found {
				d.rows++
				continue
			}
		}
		d.root.setNull(i)
		d.rows++
	}
	out := d.root.finish(d.rows)
	if d.root.op != opStruct {
		return out, d.corrupt, nil
	}
	kids := make([]*columnar.Column, len(d.place))
	for i, k := range d.place {
		if k >= 0 {
			kids[i] = out.Children[k]
		} else {
			kids[i] = d.bad.Build(d.rows)
		}
	}
	return &columnar.Column{Type: d.out.Struct(), Len: c.Len, Valid: out.Valid, Children: kids}, d.corrupt, nil
}

// decodeValue reads one document as row; found tells whether there is a value.
func (d *Decoder) decodeValue(text []byte, row int) (found bool, err error) {
	if !d.slow {
		data := d.pad(text, 0)
		b := unsafe.Pointer(unsafe.SliceData(data))
		i := d.space(b, 0)
		if c := byteAt(b, i); c == '{' || c == '[' {
			if d.fastValue(d.root, b, i, row) >= 0 {
				return true, nil
			}
			d.root.rollback(row, row+1)
		} else if c == 0 && i == len(text) {
			return false, nil
		}
	}
	v, found, err := d.reader.document(d.root, text)
	if err != nil {
		if records.IsUpgrade(err) {
			return false, err
		}
		d.corrupt.Add(text, func() int { return row + 1 })
		if d.opts.Mode == records.FailFast {
			return false, malformed(text, err)
		}
		if d.root.op == opStruct {
			d.bad.Set(row, text)
			if v == nil {
				v = make(columnar.StructDatum, len(d.root.kids))
			}
		}
	}
	if !found || v == nil {
		return false, nil
	}
	d.root.setDatum(row, v)
	return true, nil
}
