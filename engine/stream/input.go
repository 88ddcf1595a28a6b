package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/plan"
)

// input is a streaming source of the query.
type input struct {
	name, kind string
	src        connector.Source
	spec       Source
	// pos is the end of the last batch that was planned, latest the newest position that the source has told of.
	pos, latest connector.Offset
	// spent says that a source which cannot fix its end has given all that it had, for availableNow.
	spent bool
}

// batchRange is what a batch reads of an input.
type batchRange struct {
	start, end connector.Offset
}

func (r batchRange) empty() bool { return sameOffset(r.start, r.end) }

// isNullJSON tells whether a JSON value is null or not there.
func isNullJSON(v json.RawMessage) bool {
	v = bytes.TrimSpace(v)
	return len(v) == 0 || bytes.Equal(v, []byte("null"))
}

// normal is an offset as sources get it: nil for null.
func normal(o connector.Offset) connector.Offset {
	if isNullJSON(o) {
		return nil
	}
	return o
}

// sameOffset compares offsets as JSON: the offset log may change white space.
func sameOffset(a, b connector.Offset) bool {
	a, b = normal(a), normal(b)
	if bytes.Equal(a, b) {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return false
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}

// ends asks every input for the end of the next batch; several are asked at once, unless it
// is to be done in order. With a trigger that takes all at once
// limits do not count; nor do they with availableNow for an input that cannot fix its end: it gives what it has, once.
func ends(ctx context.Context, inputs []*input, kind TriggerKind, inOrder bool) ([]batchRange, error) {
	out := make([]batchRange, len(inputs))
	ask := func(i int) error {
		in := inputs[i]
		unlimited := kind == Once
		if _, ok := in.src.(connector.Bounded); !ok && kind == AvailableNow {
			unlimited = true
			if in.spent {
				out[i] = batchRange{in.pos, in.pos}
				return nil
			}
			in.spent = true
		}
		end, latest, err := in.src.Next(ctx, in.pos, unlimited)
		if err != nil {
			return fmt.Errorf("source %q: %w", in.name, err)
		}
		if latest != nil {
			in.latest = latest
		}
		out[i] = batchRange{in.pos, normal(end)}
		return nil
	}
	if len(inputs) == 1 {
		return out, ask(0)
	}
	if inOrder {
		for i := range inputs {
			if err := ask(i); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	errs := make([]error, len(inputs))
	var wg sync.WaitGroup
	for i := range inputs {
		wg.Go(func() { errs[i] = ask(i) })
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

// anyData tells whether a batch reads anything.
func anyData(ranges []batchRange) bool {
	for _, r := range ranges {
		if !r.empty() {
			return true
		}
	}
	return false
}

// wait returns when one of the inputs may have data, or when ctx ends, without an error then. Inputs that cannot tell are
// looked at again after the trigger's wait.
func (q *Query) wait(ctx context.Context) error {
	var waiters []*input
	for _, in := range q.inputs {
		if _, ok := in.src.(connector.Waiter); ok {
			waiters = append(waiters, in)
		}
	}
	if len(waiters) < len(q.inputs) || len(waiters) == 0 {
		return ignoreEnd(ctx, q.spec.Clock.Sleep(ctx, q.spec.Trigger.pollWait()))
	}
	if len(waiters) == 1 {
		return ignoreEnd(ctx, waitFor(ctx, waiters[0]))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make(chan error, len(waiters))
	for _, in := range waiters {
		go func() { errs <- waitFor(ctx, in) }()
	}
	err := ignoreEnd(ctx, <-errs)
	cancel()
	for range len(waiters) - 1 {
		err = errors.Join(err, ignoreEnd(ctx, <-errs))
	}
	return err
}

func waitFor(ctx context.Context, in *input) error {
	if err := in.src.(connector.Waiter).Wait(ctx, in.pos); err != nil {
		return fmt.Errorf("source %q: %w", in.name, err)
	}
	return nil
}

// ignoreEnd drops an error that is there because ctx has ended.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // that is what it is for
	}
	return err
}

// static is a bounded table that the query reads.
type static struct {
	name   string
	spec   Source
	src    connector.Source
	rels   []*plan.Relation
	loaded int64 // batch time at which it was read, ms
	asked  bool
}

// partitions are all rows of the table.
func (s *static) partitions(ctx context.Context) ([]connector.Partition, error) {
	s.asked = true
	end, _, err := s.src.Next(ctx, nil, true)
	if err != nil {
		return nil, err
	}
	return s.src.Plan(ctx, nil, end)
}

// due says that the table is old enough to be read again at a batch's time.
func (s *static) due(now int64) bool {
	return s.asked && s.spec.Refresh > 0 && now-s.loaded >= s.spec.Refresh.Milliseconds()
}
