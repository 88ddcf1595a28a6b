package files

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/engine/connector"
)

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

// buffers keeps the memory of chunks that have been decoded.
type buffers struct{ sync.Pool }

func (b *buffers) get() []byte {
	if p, ok := b.Get().(*[]byte); ok {
		return *p
	}
	return nil
}

func (b *buffers) put(buf []byte) { b.Put(&buf) }

// textFile is an open text file, as far as its chunks must know it.
type textFile struct {
	p       *partition
	pool    *pool
	wide    *widener
	sampled atomic.Bool // the place of a corrupt record has been looked up
}

// chunk is a piece of a text file.
type chunk struct {
	f      *textFile
	data   []byte
	offset int64 // of its first byte in the text of the file
}

// Decode implements connector.Chunk.
func (c *chunk) Decode(context.Context) (connector.Decoded, error) {
	f := c.f
	path := f.p.file.Path
	d, err := f.pool.get()
	if err != nil {
		return connector.Decoded{}, err
	}
	b, bad, err := d.decode(c.data, chunkPlace{c.offset == 0, path})
	f.pool.put(d)
	f.p.s.buffers.put(c.data)
	if err != nil {
		return connector.Decoded{}, lines.FileError(path, err)
	}
	out := connector.Decoded{Batch: f.wide.widen(b, f.p.folders), CorruptRows: int64(bad.records)}
	// One sample per file is enough: its line costs another look at the file.
	if bad.records > 0 && f.sampled.CompareAndSwap(false, true) {
		out.Sample = path + ": " + bad.sample
		if n, ok := f.p.linesBefore(c.offset); ok && bad.line > 0 {
			out.Sample = fmt.Sprintf("%s:%d: %s", path, n+bad.line, bad.sample)
		}
	}
	return out, nil
}

// linesBefore counts the line ends in the first n bytes of the file's text.
func (p *partition) linesBefore(n int64) (int, bool) {
	if n == 0 {
		return 0, true
	}
	r, done, err := p.openLines()
	if err != nil {
		return 0, false
	}
	defer done()
	count, at := 0, int64(0)
	var buf []byte
	for at < n {
		if buf, err = r.Next(buf); err != nil {
			return 0, err == io.EOF
		}
		at += int64(len(buf))
		count += bytes.Count(buf, []byte("\n"))
	}
	return count, true
}
