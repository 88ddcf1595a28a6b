package files

import (
	"context"
	"io"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/engine/connector"
)

// blockReader is an open file of blocks, which states its schema.
type blockReader interface {
	Schema() *columnar.Schema
	// Next gives up to max rows, or io.EOF at the end.
	Next(max int) (*columnar.Batch, error)
	Close() error
}

// openBlocks opens a file for some columns, or with nil for all that it has.
type openBlocks[R blockReader] func(f io.ReaderAt, size int64, wanted *columnar.Schema) (R, error)

// blockRows is how many rows a batch of a file has that is not text.
const blockRows = 16384

// readBlocks reads files of blocks.
func readBlocks[R blockReader](schema *columnar.Schema, open openBlocks[R]) reader {
	read := func(ctx context.Context, f io.ReaderAt, size int64, need []int, emit func(connector.Chunk) error) error {
		r, err := open(f, size, columns(schema, need))
		if err != nil {
			return err
		}
		defer r.Close()
		return emitAll(ctx, r, emit)
	}
	return reader{block: &blockFormat{read: read}}
}

// emitAll emits what a file has.
func emitAll(ctx context.Context, r blockReader, emit func(connector.Chunk) error) error {
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

// schemaOf is the schema that a file of blocks states of itself.
func schemaOf[R blockReader](env connector.Env, f file, open openBlocks[R]) (*columnar.Schema, error) {
	in, err := env.FS.Open(f.Path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	size, err := in.Size()
	if err != nil {
		return nil, err
	}
	r, err := open(in, size, nil)
	if err != nil {
		return nil, lines.FileError(f.Path, err)
	}
	defer r.Close()
	return r.Schema(), nil
}
