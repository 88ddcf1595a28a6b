package files

import (
	"context"
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
			{Name: "compression", Default: "snappy", Doc: "Writing: none, snappy, gzip, zstd or brotli."},
			{Name: "mergeSchema", Default: "false", Doc: "Static, without a schema: whether the columns of all files count, not only those of the first."},
		},
		open:  openParquet,
		infer: inferParquet,
		write: writeParquet,
	}
}

// blockRows is how many rows a batch of a file has that is not text.
const blockRows = 16384

func openParquet(_ connector.Env, _ connector.Options, schema *columnar.Schema) (reader, error) {
	read := func(ctx context.Context, f io.ReaderAt, size int64, need []int, emit func(connector.Chunk) error) error {
		r, err := parquetfmt.Open(f, size, columns(schema, need))
		if err != nil {
			return err
		}
		defer r.Close()
		return emitAll(ctx, r, emit)
	}
	return reader{block: &blockFormat{read: read}}, nil
}

// batches is a reader of a file that gives batches.
type batches interface {
	// Next gives up to max rows, or io.EOF at the end.
	Next(max int) (*columnar.Batch, error)
}

// emitAll emits what a file has.
func emitAll(ctx context.Context, r batches, emit func(connector.Chunk) error) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, err := r.Next(blockRows)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := emit(connector.ReadyChunk{Batch: b}); err != nil {
			return err
		}
	}
}

// inferParquet is the schema of the first file, or with mergeSchema the columns of all files.
func inferParquet(env connector.Env, o connector.Options, files []file) (*columnar.Schema, error) {
	merge, err := o.Bool("mergeSchema", false)
	if err != nil {
		return nil, err
	}
	out := &columnar.Schema{}
	for _, f := range files {
		s, err := schemaOf(env, f, func(f io.ReaderAt, size int64) (described, error) {
			return parquetfmt.Open(f, size, nil)
		})
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
