package files

import (
	"bytes"
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/engine/connector"
)

func textFileFormat() *format {
	return &format{
		name: "text",
		doc:  "Text files, a row for each line in the column value.",
		options: []connector.Option{
			{Name: "wholetext", Default: "false", Doc: "Whether a file is one row."},
			{Name: "lineSep", Doc: "What ends a line; \\n, \\r\\n and \\r unless set."},
			{Name: "encoding", Default: "UTF-8", Doc: "The character set."},
			{Name: "compression", Doc: "Writing: none, gzip, zstd, bzip2, snappy, lz4 or deflate."},
		},
		fixed: columnar.NewSchema(columnar.Field{Name: "value", Type: columnar.String, Nullable: true}),
		open:  openText,
	}
}

func openText(_ connector.Env, o connector.Options, schema *columnar.Schema) (reader, error) {
	whole, err := o.Bool("wholetext", false)
	if err != nil {
		return reader{}, err
	}
	sep := o.String("lineSep", "")
	if _, given := o.Get("lineSep"); given && sep == "" {
		return reader{}, fmt.Errorf("option %q must not be an empty string", "lineSep")
	}
	charset, err := lines.ParseCharset(o.String("encoding", ""))
	if err != nil {
		return reader{}, err
	}
	return reader{text: &textFormat{
		lines: lines.Options{Charset: charset, LineSep: sep, Whole: whole, KeepBOM: whole},
		open: func(h held) (decoder, error) {
			if all := columns(schema, h.all); len(h.all) > 1 || len(h.all) == 1 && all.Fields[0].Type.Kind != columnar.KindString {
				return nil, fmt.Errorf("text files have one column of type STRING, the schema says %s", all)
			}
			d := &textDecoder{sep: sep, whole: whole, schema: columns(schema, h.need)}
			return d, nil
		},
	}}, nil
}

// textDecoder makes a row of each line.
type textDecoder struct {
	sep    string
	whole  bool
	schema *columnar.Schema // of no or one column
}

func (d *textDecoder) decode(data []byte, _ chunkPlace) (*columnar.Batch, corrupt, error) {
	offsets := make([]int32, 1, len(data)/32+2)
	text := make([]byte, 0, len(data))
	switch {
	case d.whole:
		text = append(text, data...)
		offsets = append(offsets, int32(len(text)))
	case d.sep == "" && bytes.IndexByte(data, '\r') < 0:
		for len(data) > 0 {
			n := bytes.IndexByte(data, '\n')
			if n < 0 {
				n = len(data)
			}
			text = append(text, data[:n]...)
			offsets = append(offsets, int32(len(text)))
			data = data[min(n+1, len(data)):]
		}
	default:
		for len(data) > 0 {
			var line []byte
			line, data = lines.Cut(data, d.sep)
			text = append(text, line...)
			offsets = append(offsets, int32(len(text)))
		}
	}
	b := columnar.NewBatch(d.schema, nil, len(offsets)-1)
	if len(d.schema.Fields) > 0 {
		b.Columns = []*columnar.Column{columnar.NewBytes(columnar.String, offsets, text, nil)}
	}
	return b, corrupt{}, nil
}
