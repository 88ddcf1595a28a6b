package rate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// microBatch makes the same number of rows for each batch.
type microBatch struct {
	schema     *columnar.Schema
	rows       int64
	start      int64 // ms
	advance    int64 // ms
	partitions int64
	fixed      bool // availableNow: one batch
	given      bool
}

func newMicroBatch(_ connector.Env, o connector.Options) (connector.Source, error) {
	s := &microBatch{}
	s.schema, _ = schema(o)
	var err error
	if s.rows, err = positive(o, "rowsPerBatch", 0); err != nil {
		return nil, err
	}
	if s.start, err = o.Int("startTimestamp", 0); err == nil && s.start < 0 {
		err = fmt.Errorf("option %q: found %d, expected a number from 0", "startTimestamp", s.start)
	}
	if err != nil {
		return nil, err
	}
	if s.advance, err = o.Int("advanceMillisPerBatch", 1000); err == nil && s.advance < 0 {
		err = fmt.Errorf("option %q: found %d, expected a number from 0", "advanceMillisPerBatch", s.advance)
	}
	if err != nil {
		return nil, err
	}
	s.partitions, err = positive(o, "numPartitions", 2)
	return s, err
}

// position is an offset: how many values there are up to it, and the timestamp of the next batch in ms.
type position struct {
	Offset    int64 `json:"offset"`
	Timestamp int64 `json:"timestamp"`
}

func (s *microBatch) parse(o connector.Offset) (position, error) {
	p := position{0, s.start}
	if o == nil {
		return p, nil
	}
	if err := json.Unmarshal(o, &p); err != nil {
		return p, fmt.Errorf("offset %s: %w", o, err)
	}
	return p, nil
}

// Schema implements connector.Source.
func (s *microBatch) Schema() *columnar.Schema { return s.schema }

// Description implements connector.Source.
func (s *microBatch) Description() string {
	return fmt.Sprintf("RatePerMicroBatchStream[rowsPerBatch=%d, numPartitions=%d, startTimestamp=%d, advanceMsPerBatch=%d]", s.rows, s.partitions, s.start, s.advance)
}

// Close implements connector.Source.
func (s *microBatch) Close() error { return nil }

// Fix implements connector.Bounded.
func (s *microBatch) Fix(context.Context, connector.Offset) error {
	s.fixed = true
	return nil
}

// Next implements connector.Source.
func (s *microBatch) Next(_ context.Context, start connector.Offset, _ bool) (end, latest connector.Offset, err error) {
	p, err := s.parse(start)
	if err != nil {
		return nil, nil, err
	}
	if s.fixed && s.given {
		return start, start, nil
	}
	s.given = true
	next, err := json.Marshal(position{p.Offset + s.rows, p.Timestamp + s.advance})
	return next, next, err
}

// Plan implements connector.Source.
func (s *microBatch) Plan(_ context.Context, start, end connector.Offset) ([]connector.Partition, error) {
	from, err := s.parse(start)
	if err != nil {
		return nil, err
	}
	to, err := s.parse(end)
	if err != nil {
		return nil, err
	}
	return split(s.schema, from.Offset, to.Offset, s.partitions, func(int64) int64 { return from.Timestamp * 1000 }), nil
}
