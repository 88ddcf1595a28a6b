package files

import (
	"bufio"
	"io"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/engine/connector"
)

// fileFormat writes files of one format.
type fileFormat struct {
	extension string // of their names, with the dot
	open      func(w io.Writer, schema *columnar.Schema) (Output, error)
}

// rowWriter writes rows as text. It serves one file.
type rowWriter struct {
	header []byte
	row    func(dst []byte, b *columnar.Batch, i int) []byte
}

// textOutput is a format of text, which any codec may compress.
func textOutput(o connector.Options, extension string, rows func(schema *columnar.Schema) (rowWriter, error)) (fileFormat, error) {
	codec, err := lines.ParseCodec(o.String("compression", ""))
	if err == nil {
		_, err = lines.Compress(io.Discard, codec)
	}
	if err != nil {
		return fileFormat{}, err
	}
	return fileFormat{extension: "." + extension + codec.Extension(), open: func(w io.Writer, schema *columnar.Schema) (Output, error) {
		r, err := rows(schema)
		if err != nil {
			return nil, err
		}
		z, err := lines.Compress(w, codec)
		if err != nil {
			return nil, err
		}
		t := &textFileOutput{rows: r, z: z, buf: bufio.NewWriterSize(z, textBuffer)}
		_, err = t.buf.Write(r.header)
		return t, err
	}}, nil
}

// textBuffer is how many bytes of text are gathered for one write.
const textBuffer = 256 << 10

type textFileOutput struct {
	rows rowWriter
	z    io.WriteCloser
	buf  *bufio.Writer
	line []byte
}

// Write implements Output.
func (t *textFileOutput) Write(b *columnar.Batch) error {
	line := t.line[:0]
	for i := range b.Rows {
		line = t.rows.row(line, b, i)
		if len(line) >= textBuffer/4 || i == b.Rows-1 {
			if _, err := t.buf.Write(line); err != nil {
				return err
			}
			line = line[:0]
		}
	}
	t.line = line
	return nil
}

// Close implements Output.
func (t *textFileOutput) Close() error {
	if err := t.buf.Flush(); err != nil {
		return err
	}
	return t.z.Close()
}
