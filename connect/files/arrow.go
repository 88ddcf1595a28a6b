package files

import (
	"context"
	"io"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/arrowfmt"
	"github.com/wstream/wstream/engine/connector"
)

func arrowFormat() *format {
	return &format{
		name:    "arrow",
		doc:     "Files of Arrow's IPC format, the file or the stream one. Columns are found by name; those that a file does not have are null.",
		options: []connector.Option{{Name: "compression", Default: "none", Doc: "Writing: none, lz4 or zstd."}},
		open:    openArrow,
		infer:   inferArrow,
		write:   writeArrow,
	}
}

func openArrow(_ connector.Env, _ connector.Options, schema *columnar.Schema) (reader, error) {
	read := func(ctx context.Context, f io.ReaderAt, size int64, need []int, emit func(connector.Chunk) error) error {
		r, err := arrowfmt.Open(f, size, columns(schema, need))
		if err != nil {
			return err
		}
		defer r.Close()
		return emitAll(ctx, r, emit)
	}
	return reader{block: &blockFormat{read: read}}, nil
}

// inferArrow is the schema of the first file.
func inferArrow(env connector.Env, _ connector.Options, files []file) (*columnar.Schema, error) {
	return schemaOf(env, files[0], func(f io.ReaderAt, size int64) (described, error) {
		return arrowfmt.Open(f, size, nil)
	})
}

func writeArrow(_ connector.Env, o connector.Options) (fileFormat, error) {
	compression := o.String("compression", "")
	if _, err := arrowfmt.NewWriter(io.Discard, columnar.NewSchema(), compression, true); err != nil {
		return fileFormat{}, err
	}
	return fileFormat{extension: ".arrow", open: func(w io.Writer, schema *columnar.Schema) (Output, error) {
		return arrowfmt.NewWriter(w, schema, compression, false)
	}}, nil
}
