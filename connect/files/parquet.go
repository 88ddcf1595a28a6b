package files

import (
	"io"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/parquetfmt"
	"github.com/wstream/wstream/engine/connector"
)

func parquetFormat() *format {
	return &format{
		name: "parquet",
		doc:  "Parquet files. Columns are found by name; those that a file does not have are null.",
		options: []connector.Option{
			{Name: "compression", Type: "none | snappy | gzip | zstd | brotli", Default: "snappy", Doc: "Writing: none, snappy, gzip, zstd or brotli."},
			{Name: "mergeSchema", Type: "boolean", Default: "false", Doc: "Static, without a schema: whether the columns of all files count, not only those of the first."},
		},
		open:  openParquet,
		infer: inferParquet,
		write: writeParquet,
	}
}

func openParquet(_ connector.Env, _ connector.Options, schema *columnar.Schema) (reader, error) {
	return readBlocks(schema, parquetfmt.Open), nil
}

// inferParquet is the schema of the first file, or with mergeSchema the columns of all files.
func inferParquet(env connector.Env, o connector.Options, files []file) (*columnar.Schema, error) {
	merge, err := o.Bool("mergeSchema", false)
	if err != nil {
		return nil, err
	}
	out := &columnar.Schema{}
	for _, f := range files {
		s, err := schemaOf(env, f, parquetfmt.Open)
		if err != nil {
			return nil, err
		}
		for _, fd := range s.Fields {
			if out.IndexFold(fd.Name) < 0 {
				out.Fields = append(out.Fields, fd)
			}
		}
		if !merge {
			break
		}
	}
	return out, nil
}

func writeParquet(_ connector.Env, o connector.Options) (fileFormat, error) {
	opts := parquetfmt.WriterOptions{Compression: o.String("compression", "")}
	if _, err := parquetfmt.NewWriter(io.Discard, columnar.NewSchema(columnar.Field{Name: "x", Type: columnar.Int32}), opts); err != nil {
		return fileFormat{}, err
	}
	return fileFormat{extension: parquetfmt.Extension(opts.Compression), open: func(w io.Writer, schema *columnar.Schema) (Output, error) {
		return parquetfmt.NewWriter(w, schema, opts)
	}}, nil
}
