package stream

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/wstream/wstream/checkpoint"
)

// QueryError is what a query failed with.
type QueryError struct {
	// Name and ID are the query's; Name may be empty.
	Name, ID string
	// Batch is the batch that failed, -1 when it was none.
	Batch int64
	// Err is the fault.
	Err error
}

// Error names the query and the batch, then the fault.
func (e *QueryError) Error() string {
	var b strings.Builder
	if e.Name != "" {
		fmt.Fprintf(&b, "query %q: ", e.Name)
	} else if e.ID != "" {
		fmt.Fprintf(&b, "query %s: ", e.ID)
	}
	if e.Batch >= 0 {
		fmt.Fprintf(&b, "batch %d: ", e.Batch)
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap gives the fault.
func (e *QueryError) Unwrap() error { return e.Err }

// ErrStopped is what ends waiting for a query that was stopped.
var ErrStopped = errors.New("the query was stopped")

// batchError marks the batch that an error belongs to, without adding to its text.
type batchError struct {
	batch int64
	err   error
}

func (e *batchError) Error() string { return e.err.Error() }
func (e *batchError) Unwrap() error { return e.err }

// inBatch says which batch an error belongs to.
func inBatch(batch int64, err error) error {
	if err == nil {
		return nil
	}
	return &batchError{batch, err}
}

// queryError adds the query, and the batch once.
func (q *Query) queryError(err error) error {
	if err == nil {
		return nil
	}
	out := &QueryError{Name: q.spec.Name, ID: q.id, Batch: -1, Err: err}
	var b *batchError
	if errors.As(err, &b) {
		out.Batch = b.batch
		out.Err = &trimmed{err: b.err, prefix: fmt.Sprintf("batch %d: ", b.batch)}
		if !strings.HasPrefix(b.err.Error(), out.Err.(*trimmed).prefix) {
			out.Err = b.err
		}
	}
	return out
}

// trimmed is an error whose text leaves out a coordinate that is said already.
type trimmed struct {
	err    error
	prefix string
}

func (e *trimmed) Error() string { return strings.TrimPrefix(e.err.Error(), e.prefix) }
func (e *trimmed) Unwrap() error { return e.err }

// safely turns a panic of f into an error: a fault of one query does not end a process in which others run.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal fault: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// replayDiffers says that a batch which was run again gives something else than before the crash.
func replayDiffers(before, now checkpoint.OutputNote) string {
	what := fmt.Sprintf("its state (hash %016x before, %016x now)", uint64(before.StateHash), uint64(now.StateHash))
	if before.Hash != now.Hash || before.Rows != now.Rows {
		what = fmt.Sprintf("its output (%d rows with hash %016x before, %d rows with hash %016x now)",
			before.Rows, uint64(before.Hash), now.Rows, uint64(now.Hash))
	}
	return fmt.Sprintf("the batch was run again after a crash, over the same input, and %s is not the same: something in the query is not "+
		"deterministic, or a module or a static table has changed. If the rows of the first run were published already, a sink that "+
		"recognises batches by their id (Kafka, databases) keeps those, and files have the new ones; the state has the new ones. "+
		"Look for a module that keeps a counter, a clock or random numbers of its own", what)
}
