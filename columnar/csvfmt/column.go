package csvfmt

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/records"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// NewColumn makes a decoder for DecodeColumn, whose records become structs of type t. Modes other than
// PERMISSIVE and FAILFAST are refused.
func NewColumn(t *columnar.Type, opts Options) (*Decoder, error) {
	if opts.Mode == records.DropMalformed {
		return nil, records.ModeUnsupported("from_csv", opts.Mode)
	}
	schema := &columnar.Schema{Fields: t.Fields}
	if err := records.CheckColumn(schema, opts.CorruptColumn); err != nil {
		return nil, err
	}
	for _, f := range t.Fields {
		if checkType(f) != nil {
			return nil, sparkerr.New("UNSUPPORTED_DATATYPE", "Unsupported data type %q.", f.Type.SQL())
		}
	}
	opts.MultiLine = false
	return build(schema, nil, opts)
}

// DecodeColumn reads each row of a STRING column as one record, as from_csv does; the decoder was made by
// NewColumn. A null gives null.
func (d *Decoder) DecodeColumn(c *columnar.Column) (*columnar.Column, records.Corrupt, error) {
	d.begin()
	for i := range c.Len {
		if c.IsNull(i) {
			for _, k := range d.cells {
				k.setNull(i)
			}
			d.rows++
			continue
		}
		text := clean(&d.opts, c.BytesAt(i))
		line := func() int { return i + 1 }
		var err error
		if len(text) == 0 {
			d.tokens.tokens = d.tokens.tokens[:0]
			err = d.addRecord(text, line)
		} else {
			err = d.decodeRecord(text, text, line)
		}
		if err != nil {
			for _, k := range d.cells {
				k.finish(0)
			}
			return nil, d.corrupt, err
		}
	}
	b := d.finish()
	return &columnar.Column{Type: d.out.Struct(), Len: c.Len, Valid: c.Valid, Children: b.Columns}, d.corrupt, nil
}
