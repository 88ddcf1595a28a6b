package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/exec"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/state"
)

// Query is a running streaming query. Its methods may be called from any goroutine.
type Query struct {
	spec      Spec
	id, runID string
	temporary bool

	ledger    *ledger
	state     *state.DB // nil for a query without stateful operators
	program   program
	operators []exec.OperatorInfo
	driven    bool // a moved watermark asks for a batch without data
	timers    bool // processing-time timers do
	inputs    []*input
	statics   []*static
	sink      connector.Sink
	sides     map[string]connector.Sink
	modules   map[string]string // hashes of the modules
	shape     json.RawMessage
	conf      map[string]string

	planning atomic.Int64 // the batch that sources are asked for

	// The following belong to the loop.
	marks    *watermarks
	nextID   int64       // of the next batch
	timer    int64       // when the earliest processing-time timer is due, ms; 0 for none
	lastTime int64       // the time of the last batch, ms: no batch is earlier
	fired    int64       // when the last batch was planned, ms; 0 for never
	front    *finishing  // the batch that is being finished, or nil
	compiled int64       // how long compiling took, ms, until it has been reported
	idleFrom int64       // since when there is nothing to do, or when that was last reported, ms
	cancel   func(error) // gives the running batch up

	mu       sync.Mutex
	told     sync.Mutex // held in calls of listeners
	status   Status
	progress []Progress
	waiters  []chan error
	warned   map[string]bool // warnings of the running batch
	last     int64           // the last committed batch
	mark     int64           // the watermark of the batch after it, ms
	err      error

	stopping chan struct{} // closed by Stop
	stopOnce sync.Once
	wake     chan struct{}
	done     chan struct{} // closed when the query has ended
}

// program is the compiled plan: an *exec.Query, or what a test puts in its place.
type program interface {
	Schema() *columnar.Schema
	Operators() []exec.OperatorInfo
	Relations() []*plan.Relation
	Refresh(rel *plan.Relation)
	Run(ctx context.Context, b exec.Batch) (*exec.Result, error)
	Close() error
}

type compileFunc func(root plan.Node, opt exec.Options) (program, error)

// recentProgress is how many progress events a query remembers, as Spark does.
const recentProgress = 100

// ID is the id of the query. It stays the same over restarts from one checkpoint.
func (q *Query) ID() string { return q.id }

// RunID is the id of this run.
func (q *Query) RunID() string { return q.runID }

// Name is the query's name, which may be empty.
func (q *Query) Name() string { return q.spec.Name }

// Schema is the schema of the rows that the sink gets.
func (q *Query) Schema() *columnar.Schema { return q.program.Schema() }

// Status says what the query is doing.
func (q *Query) Status() Status {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.status
}

// IsActive says that the query has not ended.
func (q *Query) IsActive() bool {
	select {
	case <-q.done:
		return false
	default:
		return true
	}
}

// Exception is what the query failed with, a *QueryError; nil while it runs, and if it has ended well.
func (q *Query) Exception() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

// LastProgress is the progress of the last batch; ok is false before the first one.
func (q *Query) LastProgress() (p Progress, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.progress) == 0 {
		return p, false
	}
	return q.progress[len(q.progress)-1], true
}

// RecentProgress is the progress of the last hundred batches, oldest first.
func (q *Query) RecentProgress() []Progress {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.progress)
}

// LastBatch is the last batch that was committed, in this run or before; -1 for none.
func (q *Query) LastBatch() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.last
}

// Watermark is the watermark that the next batch will have, in µs since 1970, and whether the query has one.
func (q *Query) Watermark() (micros int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mark * 1000, len(q.marks.nodes) > 0
}

// Done is closed when the query has ended.
func (q *Query) Done() <-chan struct{} { return q.done }

// AwaitTermination waits until the query has ended and returns what it failed with, or the error of ctx if that ends first.
func (q *Query) AwaitTermination(ctx context.Context) error {
	select {
	case <-q.done:
		return q.Exception()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Stop ends the query: the running batch is brought to its end, or given up when it takes longer than the spec's
// StopTimeout or ctx ends. It returns what the query failed with. A query that has ended already stays as it is.
func (q *Query) Stop(ctx context.Context) error {
	q.stopOnce.Do(func() { close(q.stopping) })
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	late := make(chan struct{})
	go func() {
		if q.spec.Clock.Sleep(wait, q.spec.StopTimeout) == nil {
			close(late)
		}
	}()
	select {
	case <-q.done:
		return q.Exception()
	case <-late:
	case <-ctx.Done():
	}
	q.cancel(ErrStopped)
	stuck := time.NewTimer(abortTimeout + time.Second)
	defer stuck.Stop()
	select {
	case <-q.done:
		return q.Exception()
	case <-stuck.C:
		return fmt.Errorf("query %q does not stop: a source, a sink or a function does not return", q.spec.Name)
	}
}

// ProcessAllAvailable waits until all data that is there at the call has been processed and no batch without data is due.
// It returns at once with the query's fault if it has ended with one.
func (q *Query) ProcessAllAvailable(ctx context.Context) error {
	w := make(chan error, 1)
	q.mu.Lock()
	if !q.IsActive() {
		defer q.mu.Unlock()
		return q.err
	}
	q.waiters = append(q.waiters, w)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	select {
	case err := <-w:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// takeWaiters are those who wait for all data to be processed.
func (q *Query) takeWaiters() []chan error {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.waiters
	q.waiters = nil
	return w
}

func (q *Query) putBack(w []chan error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters = append(w, q.waiters...)
}

func (q *Query) stopRequested() bool {
	select {
	case <-q.stopping:
		return true
	default:
		return false
	}
}

func (q *Query) setStatus(s Status) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.status = s
}

// tell calls listeners.
func (q *Query) tell(f func(Listener)) {
	q.told.Lock()
	defer q.told.Unlock()
	for _, l := range q.spec.Listeners {
		f(l)
	}
}

// warn tells of something that the user should know, a text only once a batch.
func (q *Query) warn(batch int64, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	q.mu.Lock()
	known := q.warned[text]
	if q.warned == nil {
		q.warned = map[string]bool{}
	}
	q.warned[text] = true
	q.mu.Unlock()
	if known {
		return
	}
	q.tell(func(l Listener) {
		if l.Warning != nil {
			l.Warning(WarningEvent{q.id, q.runID, q.spec.Name, batch, text})
		}
	})
}

// now is the clock's time in ms since 1970.
func (q *Query) now() int64 { return q.spec.Clock.Now().UnixMilli() }
