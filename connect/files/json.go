package files

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/jsonfmt"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/engine/connector"
)

func jsonFormat() *format {
	return &format{
		name:    "json",
		doc:     "Files of JSON, one record a line, or with multiLine one document a file.",
		options: formatOptions(jsonfmt.OptionNames()),
		open:    openJSON,
		infer:   inferJSON,
		write:   writeJSON,
	}
}

func openJSON(env connector.Env, o connector.Options, schema *columnar.Schema) (reader, error) {
	opts, err := jsonfmt.ParseOptions(o.Map(), env.Zone.String())
	if err != nil {
		return reader{}, err
	}
	charset, err := lines.ParseCharset(opts.Encoding)
	if err != nil {
		return reader{}, err
	}
	if _, err := jsonfmt.New(schema, nil, opts); err != nil { // refuses what no chunk should have to
		return reader{}, err
	}
	return reader{text: &textFormat{
		lines: lines.Options{Charset: charset, LineSep: opts.LineSep, Whole: opts.MultiLine},
		open: func(h held) (decoder, error) {
			d, err := jsonfmt.New(schema, h.need, opts)
			return jsonDecoder{d}, err
		},
	}}, nil
}

type jsonDecoder struct{ d *jsonfmt.Decoder }

func (j jsonDecoder) decode(data []byte, _ chunkPlace) (*columnar.Batch, corrupt, error) {
	b, bad, err := j.d.Decode(data)
	return b, corrupt{bad.Records, bad.Line, bad.Sample}, err
}

// inferJSON finds the schema of files from all their records.
func inferJSON(env connector.Env, o connector.Options, files []file) (*columnar.Schema, error) {
	opts, err := jsonfmt.ParseOptions(o.Map(), env.Zone.String())
	if err != nil {
		return nil, err
	}
	charset, err := lines.ParseCharset(opts.Encoding)
	if err != nil {
		return nil, err
	}
	if opts.SingleVariantColumn != "" {
		return columnar.NewSchema(columnar.Field{Name: opts.SingleVariantColumn, Type: columnar.Variant, Nullable: true}), nil
	}
	n, err := jsonfmt.NewInference(opts)
	if err != nil {
		return nil, err
	}
	cut := lines.Options{Charset: charset, LineSep: opts.LineSep, Whole: opts.MultiLine}
	if err := eachChunk(env.FS, files, cut, func(data []byte, _ bool) error { return n.Add(data) }); err != nil {
		return nil, err
	}
	return n.Schema(), nil
}

func writeJSON(env connector.Env, o connector.Options) (fileFormat, error) {
	opts, err := jsonfmt.ParseOptions(o.Map(), env.Zone.String())
	if err != nil {
		return fileFormat{}, err
	}
	return textOutput(o, "json", func(schema *columnar.Schema) (rowWriter, error) {
		w, err := jsonfmt.NewWriter(schema.Struct(), opts)
		if err != nil {
			return rowWriter{}, err
		}
		return rowWriter{row: w.AppendRow}, nil
	})
}
