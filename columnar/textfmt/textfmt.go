package textfmt

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/columnar/records"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// Options of a text source or sink, with Spark's names.
type Options struct {
	WholeText bool   // the whole file is one row
	LineSep   string // in the bytes of Encoding; "" for any of \n, \r\n and \r, and for \n in writing
	Encoding  string // of LineSep in reading, of everything in writing; "" for UTF-8
}

// ParseOptions reads options as users give them; names ignore case, and unknown names are left alone.
func ParseOptions(options map[string]string) (Options, error) {
	var o Options
	sep := ""
	for name, text := range options {
		switch strings.ToLower(name) {
		case "wholetext":
			if err := records.ParseBool(text, &o.WholeText); err != nil {
				return o, fmt.Errorf("option %q: %w", name, err)
			}
		case "linesep":
			if text == "" {
				return o, fmt.Errorf("option %q must not be an empty string", name)
			}
			sep = text
		case "encoding":
			o.Encoding = text
		case "compression":
			if err := records.CheckCodec(text); err != nil {
				return o, fmt.Errorf("option %q: %w", name, err)
			}
		}
	}
	if sep == "" { // the bytes of lines are taken as they are
		return o, nil
	}
	charset, err := lines.ParseCharset(o.Encoding)
	if err != nil {
		return o, fmt.Errorf("option %q: %w", "encoding", err)
	}
	if charset == lines.UTF16 { // Java begins every text with a byte order mark
		o.LineSep = "\xfe\xff"
	}
	o.LineSep += string(charset.Encode(nil, sep))
	return o, nil
}

// OptionNames lists the options that mean something to the text format.
func OptionNames() []string { return []string{"wholetext", "lineSep", "encoding", "compression"} }

// CheckSchema refuses what is not one STRING column.
func CheckSchema(s *columnar.Schema) error {
	for _, f := range s.Fields {
		if f.Type.Kind != columnar.KindString {
			return sparkerr.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "The Text datasource doesn't support the column %s of the type %q.",
				columnar.QuoteIdentifier(f.Name), f.Type.SQL())
		}
	}
	if len(s.Fields) != 1 {
		return sparkerr.New("TEXT_DATASOURCE_NOT_SINGLE_COLUMN", "The Text datasource supports only a single column, and you have %d columns.", len(s.Fields))
	}
	return nil
}

// Decoder turns text into batches.
type Decoder struct {
	schema *columnar.Schema
	opts   Options
	rows   int // of the last batch
}

// New makes a decoder for a schema of one STRING column; nil stands for one called "value".
func New(schema *columnar.Schema, opts Options) (*Decoder, error) {
	if schema == nil {
		schema = columnar.NewSchema(columnar.Field{Name: "value", Type: columnar.String, Nullable: true})
	}
	if err := CheckSchema(schema); err != nil {
		return nil, err
	}
	return &Decoder{schema: schema, opts: opts}, nil
}

// Schema is what the batches look like.
func (d *Decoder) Schema() *columnar.Schema { return d.schema }

// Decode reads whole lines, or with WholeText a whole file. The batch owns its memory.
func (d *Decoder) Decode(data []byte) (*columnar.Batch, error) {
	if len(data) > math.MaxInt32 {
		return nil, fmt.Errorf("%d bytes of text at once, more than 2 GiB", len(data))
	}
	offsets := append(make([]int32, 0, d.rows+d.rows/16+16), 0)
	var out []byte
	switch {
	case d.opts.WholeText:
		out = append(out, data...)
		offsets = append(offsets, int32(len(out)))
	case len(d.opts.LineSep) == 0 && bytes.IndexByte(data, '\r') < 0:
		// Lines that end in \n alone are the common case.
		out = make([]byte, 0, len(data))
		for len(data) > 0 {
			n := bytes.IndexByte(data, '\n')
			if n < 0 {
				out = append(out, data...)
				offsets = append(offsets, int32(len(out)))
				break
			}
			out = append(out, data[:n]...)
			offsets = append(offsets, int32(len(out)))
			data = data[n+1:]
		}
	default:
		out = make([]byte, 0, len(data))
		for len(data) > 0 {
			var line []byte
			line, data = lines.Cut(data, d.opts.LineSep)
			out = append(out, line...)
			offsets = append(offsets, int32(len(out)))
		}
	}
	d.rows = len(offsets) - 1
	return columnar.NewBatch(d.schema, []*columnar.Column{columnar.NewBytes(columnar.String, offsets, out, nil)}, d.rows), nil
}

// AppendRow writes row i of b, whose schema CheckSchema has passed, as a line behind dst; a NULL gives an empty one.
// The text is UTF-8; see lines.Charset for others.
func AppendRow(dst []byte, b *columnar.Batch, i int, opts Options) []byte {
	if c := b.Columns[0]; !c.IsNull(i) {
		dst = append(dst, c.BytesAt(i)...)
	}
	if opts.LineSep == "" {
		return append(dst, '\n')
	}
	return append(dst, opts.LineSep...)
}
