package files

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/columnar/textfmt"
	"github.com/wstream/wstream/engine/connector"
)

func textFileFormat() *format {
	return &format{
		name:    "text",
		doc:     "Text files, a row for each line in the column value.",
		options: formatOptions(textfmt.OptionNames()),
		fixed:   columnar.NewSchema(columnar.Field{Name: "value", Type: columnar.String, Nullable: true}),
		open:    openText,
		write:   writeText,
	}
}

func openText(_ connector.Env, o connector.Options, schema *columnar.Schema) (reader, error) {
	opts, err := textfmt.ParseOptions(o.Map())
	if err != nil {
		return reader{}, err
	}
	return reader{text: &textFormat{
		lines: lines.Options{LineSep: opts.LineSep, Whole: opts.WholeText, KeepBOM: opts.WholeText},
		open: func(h held) (decoder, error) {
			d, err := textfmt.New(columns(schema, h.all), opts)
			return textDecoder{d, len(h.need) > 0}, err
		},
	}}, nil
}

type textDecoder struct {
	d      *textfmt.Decoder
	wanted bool // somebody asks for the text
}

func (t textDecoder) decode(data []byte, _ chunkPlace) (*columnar.Batch, corrupt, error) {
	b, err := t.d.Decode(data)
	if err == nil && !t.wanted {
		b = columnar.NewBatch(&columnar.Schema{}, nil, b.Rows)
	}
	return b, corrupt{}, err
}

func writeText(_ connector.Env, o connector.Options) (fileFormat, error) {
	opts, err := textfmt.ParseOptions(o.Map())
	if err != nil {
		return fileFormat{}, err
	}
	return textOutput(o, "txt", func(schema *columnar.Schema) (rowWriter, error) {
		row := func(dst []byte, b *columnar.Batch, i int) []byte { return textfmt.AppendRow(dst, b, i, opts) }
		return rowWriter{row: row}, textfmt.CheckSchema(schema)
	})
}
