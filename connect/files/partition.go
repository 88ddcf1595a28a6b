package files

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
)

// partition is one file.
type partition struct {
	s       *source
	file    file
	folders folders
}

// ID implements connector.Partition: files have no lasting name.
func (p *partition) ID() string { return "" }

// Read implements connector.Partition.
func (p *partition) Read(ctx context.Context, need []int, emit func(connector.Chunk) error) error {
	var stop error // what emit said
	count := 0
	counted := func(c connector.Chunk) error {
		count++
		stop = emit(c)
		return stop
	}
	err := p.read(ctx, need, counted)
	switch {
	case err == nil || stop != nil || ctx.Err() != nil:
		return err
	case errors.Is(err, fs.ErrNotExist) && p.s.ignoreMissing:
		p.s.warn("file %q is gone and was passed over", p.file.Path)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return sparkerr.New("FAILED_READ_FILE.FILE_NOT_EXIST", "File %s does not exist. It was there when the batch was planned; set ignoreMissingFiles to true to go on without it.", p.file.Path).WithCause(err)
	case p.s.ignoreCorrupt:
		p.s.warn("file %q: the rest behind %d chunks was passed over: %v", p.file.Path, count, err)
		return nil
	}
	return lines.FileError(p.file.Path, err)
}

func (p *partition) read(ctx context.Context, need []int, emit func(connector.Chunk) error) error {
	wide, inner := newWidener(p.s.schema, need, p.folders, p.s.env.Zone)
	if p.s.reader.text != nil {
		return p.readText(ctx, wide, inner, emit)
	}
	f, err := p.s.env.FS.Open(p.file.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	return p.s.reader.block.read(ctx, f, size, inner.need, func(c connector.Chunk) error {
		return emit(&wideChunk{c, wide, p.folders})
	})
}

// wideChunk is a chunk whose batch is to be widened.
type wideChunk struct {
	connector.Chunk
	wide    *widener
	folders folders
}

// Decode implements connector.Chunk.
func (c *wideChunk) Decode(ctx context.Context) (connector.Decoded, error) {
	d, err := c.Chunk.Decode(ctx)
	if err == nil {
		d.Batch = c.wide.widen(d.Batch, c.folders)
	}
	return d, err
}

// openLines begins to read the text; done ends it.
func (p *partition) openLines() (r *lines.Reader, done func(), err error) {
	f, err := p.s.env.FS.Open(p.file.Path)
	if err != nil {
		return nil, nil, err
	}
	size, err := f.Size()
	if err == nil {
		opts := p.s.reader.text.lines
		opts.Codec = lines.CodecOf(p.file.Path)
		r, err = lines.NewReader(io.NewSectionReader(f, 0, size), opts)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return r, func() { r.Close(); f.Close() }, nil
}

func (p *partition) readText(ctx context.Context, wide *widener, inner held, emit func(connector.Chunk) error) error {
	r, done, err := p.openLines()
	if err != nil {
		return err
	}
	defer done()
	f := &textFile{p: p, pool: p.s.decoders(inner), wide: wide}
	offset := int64(0)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		data, err := r.Next(p.s.buffers.get())
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		c := &chunk{f: f, data: data, offset: offset}
		offset += int64(len(data)) // Decode gives data away
		if err := emit(c); err != nil {
			return err
		}
	}
	if r.Truncated() {
		p.s.warn("file %q is compressed by its name but has no bytes at all: it was cut off", p.file.Path)
	}
	return nil
}

// columns are some columns of a schema.
func columns(schema *columnar.Schema, need []int) *columnar.Schema {
	out := &columnar.Schema{}
	for _, n := range need {
		out.Fields = append(out.Fields, schema.Fields[n])
	}
	return out
}
