package pipeline

import (
	"context"
	"sync"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// captureSink keeps what a query writes by batch: a batch that is run again replaces what it wrote.
type captureSink struct {
	mu      sync.Mutex
	schema  *columnar.Schema
	batches map[int64][]*columnar.Batch
	// published, if set, is called when a batch has been kept; its error comes back from Commit, as
	// if the process had died there.
	published func(batch int64) error
}

func newCapture() *captureSink { return &captureSink{batches: map[int64][]*columnar.Batch{}} }

// Begin implements connector.Sink.
func (c *captureSink) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	return &captureWriter{sink: c, info: info}, nil
}

// Description implements connector.Sink.
func (c *captureSink) Description() string { return "MemorySink" }

// Close implements connector.Sink.
func (c *captureSink) Close() error { return nil }

type captureWriter struct {
	sink *captureSink
	info connector.BatchInfo
	rows []*columnar.Batch
}

// Write implements connector.BatchWriter.
func (w *captureWriter) Write(_ context.Context, b *columnar.Batch) error {
	if b.Rows > 0 {
		w.rows = append(w.rows, b)
	}
	return nil
}

// Commit implements connector.BatchWriter.
func (w *captureWriter) Commit(context.Context) error {
	w.sink.mu.Lock()
	if w.info.Schema != nil {
		w.sink.schema = w.info.Schema
	}
	w.sink.batches[w.info.BatchID] = w.rows
	f := w.sink.published
	w.sink.mu.Unlock()
	if f != nil {
		return f(w.info.BatchID)
	}
	return nil
}

// Abort implements connector.BatchWriter.
func (w *captureWriter) Abort(context.Context) error { return nil }

// take gives the rows of the batches from first on.
func (c *captureSink) take(first int64) []*columnar.Batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*columnar.Batch
	last := int64(-1)
	for b := range c.batches {
		last = max(last, b)
	}
	for b := first; b <= last; b++ {
		out = append(out, c.batches[b]...)
	}
	return out
}
