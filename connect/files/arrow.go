package files

import (
	"io"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/arrowfmt"
	"github.com/wstream/wstream/engine/connector"
)

func arrowFormat() *format {
	return &format{
		name:    "arrow",
		doc:     "Files of Arrow's IPC format, the file or the stream one. Columns are found by name; those that a file does not have are null.",
		options: []connector.Option{{Name: "compression", Type: "none | lz4 | zstd", Default: "none", Doc: "Writing: none, lz4 or zstd."}},
		open:    openArrow,
		infer:   inferArrow,
		write:   writeArrow,
	}
}

func openArrow(_ connector.Env, _ connector.Options, schema *columnar.Schema) (reader, error) {
	return readBlocks(schema, arrowfmt.Open), nil
}

// inferArrow is the schema of the first file.
func inferArrow(env connector.Env, _ connector.Options, files []file) (*columnar.Schema, error) {
	return schemaOf(env, files[0], arrowfmt.Open)
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
