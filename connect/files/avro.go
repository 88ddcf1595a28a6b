package files

import (
	"io"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/avrofmt"
	"github.com/wstream/wstream/engine/connector"
)

func avroFormat() *format {
	return &format{
		name:    "avro",
		doc:     "Avro object container files. Columns are found by name; those that a file does not have are null.",
		options: []connector.Option{{Name: "compression", Type: "none | snappy | deflate | zstandard", Default: "snappy", Doc: "Writing: none, snappy, deflate or zstandard."}},
		open:    openAvro,
		infer:   inferAvro,
		write:   writeAvro,
	}
}

func openAvro(_ connector.Env, _ connector.Options, schema *columnar.Schema) (reader, error) {
	return readBlocks(schema, avrofmt.Open), nil
}

// inferAvro is the schema of the first file.
func inferAvro(env connector.Env, _ connector.Options, files []file) (*columnar.Schema, error) {
	return schemaOf(env, files[0], avrofmt.Open)
}

func writeAvro(_ connector.Env, o connector.Options) (fileFormat, error) {
	compression := o.String("compression", "")
	if _, err := avrofmt.NewWriter(io.Discard, columnar.NewSchema(), compression); err != nil {
		return fileFormat{}, err
	}
	return fileFormat{extension: ".avro", open: func(w io.Writer, schema *columnar.Schema) (Output, error) {
		return avrofmt.NewWriter(w, schema, compression)
	}}, nil
}
