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
	// open prepares reading files of the data schema, which has no columns of folders.
	open func(env connector.Env, o connector.Options, data *columnar.Schema) (reader, error)
	// infer finds the data schema of files; it is nil where a schema must be declared.
	infer func(ctx context.Context, env connector.Env, o connector.Options, files []file) (*columnar.Schema, error)
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
	first  bool   // the file begins with it
	header any    // what textFormat.header gave for the file
	path   string // of the file, for messages
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
	// open makes a decoder for the columns need of the data schema, nil for all.
	open func(need []int) (decoder, error)
	// header looks at the first chunk of a file, for formats that must before any chunk is decoded; nil otherwise.
	header func(first []byte, path string) (any, error)
}

// blockFormat is a format whose files are cut into batches by their reader, such as Parquet.
type blockFormat struct {
	// read emits the columns need of the data schema, nil for all, in that order.
	read func(ctx context.Context, f io.ReaderAt, size int64, need []int, emit func(connector.Chunk) error) error
}
