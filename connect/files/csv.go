package files

import (
	"io"
	"slices"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/csvfmt"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/engine/connector"
)

func csvFormat() *format {
	return &format{
		name:    "csv",
		doc:     "Files of comma-separated values. Columns are matched by their place in the line.",
		options: formatOptions(csvfmt.OptionNames()),
		open:    openCSV,
		infer:   inferCSV,
		write:   writeCSV,
	}
}

// csvOptions reads the options, for the decoder and for cutting files into chunks.
func csvOptions(env connector.Env, o connector.Options) (csvfmt.Options, lines.Options, error) {
	opts, err := csvfmt.ParseOptions(o.Map(), env.Zone.String())
	if err != nil {
		return opts, lines.Options{}, err
	}
	charset, err := lines.ParseCharset(opts.Encoding)
	return opts, lines.Options{Charset: charset, LineSep: opts.LineSep, Whole: opts.MultiLine}, err
}

func openCSV(env connector.Env, o connector.Options, schema *columnar.Schema) (reader, error) {
	opts, cut, err := csvOptions(env, o)
	if err != nil {
		return reader{}, err
	}
	if _, err := csvfmt.New(schema, nil, opts); err != nil { // refuses what no chunk should have to
		return reader{}, err
	}
	return reader{text: &textFormat{lines: cut, open: func(h held) (decoder, error) {
		need := make([]int, len(h.need)) // as indices into what the file holds
		for i, n := range h.need {
			need[i] = slices.Index(h.all, n)
		}
		d, err := csvfmt.New(columns(schema, h.all), need, opts)
		return csvDecoder{d}, err
	}}}, nil
}

type csvDecoder struct{ d *csvfmt.Decoder }

func (c csvDecoder) decode(data []byte, at chunkPlace) (*columnar.Batch, corrupt, error) {
	b, bad, err := c.d.Decode(data, at.first)
	return b, corrupt{bad.Records, bad.Line, bad.Sample}, err
}

// inferCSV finds the schema of files from their headers and, with inferSchema, from all their values.
func inferCSV(env connector.Env, o connector.Options, files []file) (*columnar.Schema, error) {
	opts, cut, err := csvOptions(env, o)
	if err != nil {
		return nil, err
	}
	n, err := csvfmt.NewInference(opts)
	if err != nil {
		return nil, err
	}
	err = eachChunk(env.FS, files, cut, func(data []byte, first bool) error {
		if !n.Wants() {
			return io.EOF
		}
		return n.Add(data, first)
	})
	if err != nil {
		return nil, err
	}
	return n.Schema(), nil
}

func writeCSV(env connector.Env, o connector.Options) (fileFormat, error) {
	opts, _, err := csvOptions(env, o)
	if err != nil {
		return fileFormat{}, err
	}
	return textOutput(o, "csv", func(schema *columnar.Schema) (rowWriter, error) {
		w, err := csvfmt.NewWriter(schema, opts, false)
		if err != nil {
			return rowWriter{}, err
		}
		out := rowWriter{row: w.AppendRow}
		if opts.Header {
			out.header = w.AppendHeader(nil)
		}
		return out, nil
	})
}
