package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// Stream is rows that are added by hand. All rows that are there when a query plans a batch go into that batch. An offset is
// the number of calls of Add.
type Stream struct {
	schema *columnar.Schema

	mu    sync.Mutex
	added []*columnar.Batch
	more  chan struct{} // closed by Add
}

// NewStream is a stream without rows.
func NewStream(schema *columnar.Schema) *Stream {
	return &Stream{schema: schema, more: make(chan struct{})}
}

// Schema is the schema of the rows.
func (s *Stream) Schema() *columnar.Schema { return s.schema }

// Add adds rows, which must have the stream's schema.
func (s *Stream) Add(rows ...*columnar.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added = append(s.added, rows...)
	close(s.more)
	s.more = make(chan struct{})
}

// Source is a source of the stream for one query.
func (s *Stream) Source() connector.Source { return &source{s: s, fixed: -1} }

type source struct {
	s     *Stream
	fixed int // for availableNow
}

func position(o connector.Offset) (int, error) {
	if o == nil {
		return 0, nil
	}
	n, err := strconv.Atoi(string(o))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("offset %s is not the number of a row batch", o)
	}
	return n, nil
}

func offset(n int) connector.Offset {
	if n == 0 {
		return nil
	}
	return json.RawMessage(strconv.Itoa(n))
}

// Schema implements connector.Source.
func (r *source) Schema() *columnar.Schema { return r.s.schema }

// Next implements connector.Source.
func (r *source) Next(_ context.Context, start connector.Offset, _ bool) (end, latest connector.Offset, err error) {
	at, err := position(start)
	if err != nil {
		return nil, nil, err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	n := len(r.s.added)
	if r.fixed >= 0 {
		n = min(n, max(r.fixed, at))
	}
	return offset(max(n, at)), offset(len(r.s.added)), nil
}

// Fix implements connector.Bounded.
func (r *source) Fix(context.Context, connector.Offset) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.fixed = len(r.s.added)
	return nil
}

// Wait implements connector.Waiter.
func (r *source) Wait(ctx context.Context, start connector.Offset) error {
	at, err := position(start)
	if err != nil {
		return err
	}
	r.s.mu.Lock()
	n, more := len(r.s.added), r.s.more
	r.s.mu.Unlock()
	if n > at {
		return nil
	}
	select {
	case <-more:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Plan implements connector.Source.
func (r *source) Plan(_ context.Context, start, end connector.Offset) ([]connector.Partition, error) {
	from, err := position(start)
	if err != nil {
		return nil, err
	}
	to, err := position(end)
	if err != nil {
		return nil, err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if from > to || to > len(r.s.added) {
		return nil, fmt.Errorf("offsets %d to %d are not in a stream of %d row batches", from, to, len(r.s.added))
	}
	return []connector.Partition{partition(r.s.added[from:to:to])}, nil
}

// Description implements connector.Source.
func (r *source) Description() string { return "MemoryStream" }

// Close implements connector.Source.
func (r *source) Close() error { return nil }

type partition []*columnar.Batch

func (partition) ID() string { return "" }

// Read implements connector.Partition.
func (p partition) Read(ctx context.Context, _ []int, emit func(connector.Chunk) error) error {
	for _, rows := range p {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit(connector.ReadyChunk{Batch: rows}); err != nil {
			return err
		}
	}
	return nil
}
