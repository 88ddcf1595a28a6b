package files

import (
	"context"
	"io"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/engine/connector"
)

// format is a kind of file.
type format struct {
	name    string
	doc     string
	options []connector.Option
	// fixed is the schema of formats that have but one.
	fixed *columnar.Schema
	// open prepares reading files of the source's schema.
	open func(env connector.Env, o connector.Options, schema *columnar.Schema) (reader, error)
	// infer finds the schema of files; it is nil where a schema must be declared.
	infer func(env connector.Env, o connector.Options, files []file) (*columnar.Schema, error)
	// write prepares writing files.
	write func(env connector.Env, o connector.Options) (fileFormat, error)
}

// reader reads files of one format and schema. One of text and block is set.
type reader struct {
	text  *textFormat
	block *blockFormat
}

// decoder turns a chunk of a text file into rows. It serves one goroutine at a time.
type decoder interface {
	decode(data []byte, at chunkPlace) (*columnar.Batch, corrupt, error)
}

// chunkPlace says which chunk of which file a decoder gets.
type chunkPlace struct {
	first bool   // the file begins with it
	path  string // of the file, for messages
}

// corrupt counts the records of a chunk that could not be parsed wholly.
type corrupt struct {
	records int
	line    int // of the first one, from 1 within the chunk
	sample  string
}

// textFormat is a format of lines: its files are cut into chunks that are decoded in parallel.
type textFormat struct {
	lines lines.Options // Codec is set per file
	// open makes a decoder for files with some columns of the schema.
	open func(h held) (decoder, error)
}

// blockFormat is a format whose files are cut into batches by their reader, such as Parquet.
type blockFormat struct {
	// read emits the columns need of the schema, in that order.
	read func(ctx context.Context, f io.ReaderAt, size int64, need []int, emit func(connector.Chunk) error) error
}
