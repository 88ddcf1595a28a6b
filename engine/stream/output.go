package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// output writes one batch to one sink. The sink's batch is begun with the first rows, or at the end.
type output struct {
	name   string // in errors; empty for the query's own sink
	hashed bool   // the rows are hashed
	sink   connector.Sink
	info   connector.BatchInfo
	before func() <-chan struct{} // closed when the batch in front has been finished; nil if there is none
	ok     func() error           // after before: whether that went well
	writer connector.BatchWriter
	rows   int64
	hash   rowHash
	ended  bool
}

func (o *output) fault(err error) error {
	if err == nil || o.name == "" {
		return wrapSink(o.sink, err)
	}
	return fmt.Errorf("sink %q: %w", o.name, err)
}

func wrapSink(s connector.Sink, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sink %q: %w", s.Description(), err)
}

// begin opens the batch at the sink, once the batch in front is done.
func (o *output) begin(ctx context.Context) error {
	if o.writer != nil {
		return nil
	}
	if o.before != nil {
		select {
		case <-o.before():
			if err := o.ok(); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	w, err := o.sink.Begin(ctx, o.info)
	if err != nil {
		return o.fault(err)
	}
	o.writer = w
	return nil
}

// write gives rows to the sink.
func (o *output) write(ctx context.Context, rows *columnar.Batch) error {
	if err := o.begin(ctx); err != nil {
		return err
	}
	o.rows += int64(rows.Rows)
	if o.hashed {
		o.hash.add(rows)
	}
	return o.fault(o.writer.Write(ctx, rows))
}

// commit publishes the batch.
func (o *output) commit(ctx context.Context) error {
	if err := o.begin(ctx); err != nil {
		return err
	}
	o.ended = true
	return o.fault(o.writer.Commit(ctx))
}

// abort drops the batch, if it was begun and not ended. It works although the query is ending.
func (o *output) abort() error {
	if o.writer == nil || o.ended {
		return nil
	}
	o.ended = true
	ctx, cancel := context.WithTimeout(context.Background(), abortTimeout)
	defer cancel()
	return o.fault(o.writer.Abort(ctx))
}

// abortTimeout is how long a sink may take to drop a batch.
const abortTimeout = 10 * time.Second

// sideOutputs are the late rows and dead letters of one batch, by sink. A sink's batch is only begun when there are rows.
type sideOutputs struct {
	mu    sync.Mutex
	q     *Query
	info  connector.BatchInfo
	front *finishing
	by    map[string]*output
}

// write gives rows to a side sink. Rows of operators with other columns are brought to those of the batch's first ones.
func (s *sideOutputs) write(ctx context.Context, sink string, rows *columnar.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.by[sink]
	if o == nil {
		to, ok := s.q.sides[sink]
		if !ok {
			return fmt.Errorf("there is no sink %q for late rows or dead letters", sink)
		}
		info := s.info
		info.Schema, info.Mode = rows.Schema, connector.Append
		o = &output{name: sink, sink: to, info: info}
		if s.front != nil {
			o.before, o.ok = s.front.ready, s.front.fault
		}
		if s.by == nil {
			s.by = map[string]*output{}
		}
		s.by[sink] = o
	}
	rows, missing := conform(rows, o.info.Schema)
	if len(missing) > 0 {
		s.q.warn(s.info.BatchID, "sink %q gets rows of several shapes: columns %q are left out", sink, missing)
	}
	return o.write(ctx, rows)
}

// all are the outputs in order of their names.
func (s *sideOutputs) all() []*output {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*output
	for _, o := range s.by {
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b *output) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return out
}

// abortAll drops a batch at all its sinks.
func abortAll(outs []*output) error {
	var errs []error
	for _, o := range outs {
		errs = append(errs, o.abort())
	}
	return errors.Join(errs...)
}
