package host

import (
	"context"
	"errors"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
)

// BatchWriter hands the rows of one batch to a foreachBatch function, all to the same instance. Exactly one
// of Commit and Abort ends it. It belongs to one goroutine.
type BatchWriter struct {
	b       *Bound
	call    Call
	in      *instance
	pending *columnar.Batch // the slice that will be the last, unless another comes
	sent    bool
	err     error
}

// Begin opens a batch. What the guest writes through capabilities belongs to the transaction behind
// call.Capabilities, which the caller commits after Commit and rolls back after Abort or an error.
func (b *Bound) Begin(ctx context.Context, c Call) (*BatchWriter, error) {
	if err := b.expect([]abi.Kind{abi.KindForeachBatch}, nil); err != nil {
		return nil, b.wrap(err)
	}
	// A batch that is tried again starts from nothing that the failed attempt left.
	in, err := b.instance(ctx, c.Attempt > 0)
	if err != nil {
		return nil, b.wrap(err)
	}
	return &BatchWriter{b: b, call: c, in: in}, nil
}

// Write hands over rows.
func (w *BatchWriter) Write(ctx context.Context, rows *columnar.Batch) error {
	if err := w.b.expect([]abi.Kind{abi.KindForeachBatch}, rows); err != nil {
		return w.b.wrap(err)
	}
	cols := w.b.view(rows)
	step := w.b.sliceRows(cols, rows.Rows)
	for from := 0; from < rows.Rows; from += step {
		to := min(from+step, rows.Rows)
		if w.pending != nil {
			if err := w.send(ctx, w.pending, 0); err != nil {
				return err
			}
		}
		w.pending = &columnar.Batch{Columns: cutColumns(cols, from, to), Rows: to - from}
	}
	return nil
}

// Commit hands over the last rows and then calls the function once more, to commit. A batch without rows is
// handed over as one slice without rows.
func (w *BatchWriter) Commit(ctx context.Context) error {
	if w.pending == nil {
		empty := columnar.EmptyBatch(w.b.input)
		w.pending = &columnar.Batch{Columns: w.b.view(empty)}
	}
	if err := w.send(ctx, w.pending, abi.FlagLast); err != nil {
		return err
	}
	f := &abi.Frame{Header: w.call.header(abi.KindForeachBatch, abi.OpCommit, 0)}
	if err := w.talk(ctx, f); err != nil {
		return err
	}
	w.end(ctx, nil)
	return nil
}

// Abort gives the batch up.
func (w *BatchWriter) Abort(ctx context.Context) { w.end(ctx, errors.New("aborted")) }

// send hands over one slice.
func (w *BatchWriter) send(ctx context.Context, rows *columnar.Batch, flags uint32) error {
	f := &abi.Frame{Header: w.call.header(abi.KindForeachBatch, abi.OpCall, rows.Rows), Columns: rows.Columns}
	f.Header.Flags |= flags
	if !w.sent {
		f.Header.Flags |= abi.FlagFirst
	}
	w.sent, w.pending = true, nil
	return w.talk(ctx, f)
}

func (w *BatchWriter) talk(ctx context.Context, f *abi.Frame) error {
	if w.err != nil {
		return w.err
	}
	if w.in == nil {
		return w.b.wrap(errors.New("the batch has ended"))
	}
	out, err := w.b.talk(ctx, w.in, &w.call, f, &abi.Want{Fields: []columnar.Field{}})
	if err == nil && len(out) > 0 {
		var errs []RowError
		if errs, err = rowErrors(out[0], f.Header.Rows); err == nil && len(errs) > 0 {
			err = &StatusError{Status: abi.StatusFailed, Text: errs[0].Text}
		}
	}
	if err != nil {
		w.err = w.b.wrap(err)
		w.end(ctx, err)
	}
	return w.err
}

// end gives the instance back.
func (w *BatchWriter) end(ctx context.Context, err error) {
	if w.in != nil {
		w.b.release(ctx, w.in, err)
		w.in = nil
	}
}
