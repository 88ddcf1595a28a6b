package files

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/engine/connector"
)

// decoder turns a chunk of a text file into rows. It serves one goroutine at a time.
type decoder interface {
	decode(data []byte, first bool) (*columnar.Batch, corrupt, error)
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
	// open makes a decoder for the columns need of the data schema.
	open func(need []int) (decoder, error)
	// header tells that the first chunk of a file is special, so that decoders get told.
	header bool
}

// blockFormat is a format whose files the reader cuts into batches itself, such as Parquet.
type blockFormat struct {
	read func(ctx context.Context, r io.ReaderAt, size int64, need []int, emit func(*columnar.Batch) error) error
}

// pool keeps decoders of one set of columns.
type pool struct {
	mu   sync.Mutex
	free []decoder
	open func() (decoder, error)
}

func (p *pool) get() (decoder, error) {
	p.mu.Lock()
	if n := len(p.free); n > 0 {
		d := p.free[n-1]
		p.free = p.free[:n-1]
		p.mu.Unlock()
		return d, nil
	}
	p.mu.Unlock()
	return p.open()
}

func (p *pool) put(d decoder) {
	p.mu.Lock()
	p.free = append(p.free, d)
	p.mu.Unlock()
}

// chunk is a piece of a text file.
type chunk struct {
	data  []byte
	first bool
	path  string
	line  int // of the file, where the chunk begins, from 1; 0 when unknown
	pool  *pool
	wide  *widener
}

// Decode implements connector.Chunk.
func (c *chunk) Decode(context.Context) (connector.Decoded, error) {
	d, err := c.pool.get()
	if err != nil {
		return connector.Decoded{}, err
	}
	b, bad, err := d.decode(c.data, c.first)
	c.pool.put(d)
	if err != nil {
		return connector.Decoded{}, lines.FileError(c.path, err)
	}
	out := connector.Decoded{Batch: c.wide.widen(b, c.path), CorruptRows: int64(bad.records)}
	if bad.records > 0 {
		where := c.path
		if c.line > 0 && bad.line > 0 {
			where = fmt.Sprintf("%s:%d", c.path, c.line+bad.line-1)
		}
		out.Sample = where + ": " + bad.sample
	}
	return out, nil
}
