package memory

import (
	"context"
	"slices"
	"sync"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// Sink keeps the rows of every batch. A batch that is written again replaces its former rows.
type Sink struct {
	mu      sync.Mutex
	batches map[int64][]*columnar.Batch
	log     []int64 // ids in the order in which batches were published, replays included
}

// NewSink is an empty sink.
func NewSink() *Sink { return &Sink{batches: map[int64][]*columnar.Batch{}} }

// Batch is the rows that a batch has published; nil if it has not.
func (s *Sink) Batch(id int64) []*columnar.Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.batches[id]
}

// After are the rows of all batches with an id above last, in order, and the greatest id that was published, or last.
func (s *Sink) After(last int64) (rows []*columnar.Batch, upTo int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []int64
	for id := range s.batches {
		if id > last {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		rows = append(rows, s.batches[id]...)
		last = id
	}
	return rows, last
}

// All are the rows of all batches in order.
func (s *Sink) All() []*columnar.Batch {
	rows, _ := s.After(-1)
	return rows
}

// Published are the ids of batches in the order in which they were published, replays included.
func (s *Sink) Published() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Clear forgets all rows.
func (s *Sink) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.batches)
	s.log = nil
}

// Begin implements connector.Sink.
func (s *Sink) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	return &writer{sink: s, id: info.BatchID}, nil
}

// Description implements connector.Sink.
func (s *Sink) Description() string { return "MemorySink" }

// Close implements connector.Sink. The rows stay.
func (s *Sink) Close() error { return nil }

type writer struct {
	sink *Sink
	id   int64
	rows []*columnar.Batch
}

// Write implements connector.BatchWriter.
func (w *writer) Write(_ context.Context, b *columnar.Batch) error {
	w.rows = append(w.rows, b)
	return nil
}

// Commit implements connector.BatchWriter.
func (w *writer) Commit(context.Context) error {
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	w.sink.batches[w.id] = w.rows
	w.sink.log = append(w.sink.log, w.id)
	return nil
}

// Abort implements connector.BatchWriter.
func (w *writer) Abort(context.Context) error { return nil }
