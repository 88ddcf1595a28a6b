package stream

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/exec"
	"github.com/wstream/wstream/engine/memory"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/internal/failpoint"
)

func TestListenersAndProgress(t *testing.T) {
	f := newFixture(t, false, "in")
	var events []string
	f.spec.Warnings = []string{"the state can only grow"}
	f.spec.Listeners = []Listener{{
		Started:    func(e StartedEvent) { events = append(events, "started "+e.Name) },
		Progress:   func(p Progress) { events = append(events, "progress") },
		Warning:    func(w WarningEvent) { events = append(events, "warning "+w.Text) },
		Terminated: func(e TerminatedEvent) { events = append(events, "terminated") },
	}}
	q := f.mustStart()
	f.streams["in"].Add(times(1, 23))
	f.process(q)
	f.stop(q)
	equal(t, "events", strings.Join(events, "; "), "started test; warning the state can only grow; progress; progress; terminated")
	p, ok := q.LastProgress()
	equal(t, "has progress", ok, true)
	var keys map[string]json.RawMessage
	if err := json.Unmarshal([]byte(q.RecentProgress()[0].JSON()), &keys); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{
		"id", "runId", "name", "timestamp", "batchId", "batchDuration", "numInputRows", "inputRowsPerSecond",
		"processedRowsPerSecond", "durationMs", "eventTime", "stateOperators", "sources", "sink",
	} {
		if keys[k] == nil {
			t.Errorf("progress has no %q", k)
		}
	}
	equal(t, "event time", string(keys["eventTime"]),
		`{"avg":"1970-01-01T00:00:00.000Z","max":"1970-01-01T00:00:23.000Z","min":"1970-01-01T00:00:01.000Z","watermark":"1970-01-01T00:00:00.000Z","watermarkHeldBy":"in"}`)
	equal(t, "watermark of the second batch", p.EventTime["watermark"], "1970-01-01T00:00:23.000Z")
	equal(t, "output rows", p.Sink.NumOutputRows, 1)
}

// stuckSink does not return from Commit before its context ends.
type stuckSink struct{ entered chan struct{} }

func (s stuckSink) Begin(context.Context, connector.BatchInfo) (connector.BatchWriter, error) {
	return s, nil
}
func (s stuckSink) Description() string                          { return "stuck" }
func (s stuckSink) Close() error                                 { return nil }
func (s stuckSink) Write(context.Context, *columnar.Batch) error { return nil }
func (s stuckSink) Abort(context.Context) error                  { return nil }
func (s stuckSink) Commit(ctx context.Context) error {
	close(s.entered)
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestStopGivesUpABatchThatDoesNotEnd(t *testing.T) {
	f := newFixture(t, false, "in")
	f.spec.StopTimeout = time.Minute
	f.spec.Trigger = Trigger{}
	entered := make(chan struct{})
	good := f.spec.Sink
	f.spec.Sink = Sink{Open: func(connector.Env) (connector.Sink, error) { return stuckSink{entered}, nil }}
	f.streams["in"].Add(times(1, 23))
	q := f.mustStart()
	<-entered
	stopped := make(chan error)
	go func() { stopped <- q.Stop(context.Background()) }()
	awaitSleep(t, f.clock)
	f.clock.Advance(time.Minute)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	f.spec.Sink = good
	f.spec.Trigger = Trigger{Kind: AvailableNow}
	q = f.mustStart()
	if err := q.AwaitTermination(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "batches", batches(q), "0+ 1-")
	equal(t, "output", f.sink.text(), "10:1")
}

func TestFailureNamesQueryAndBatch(t *testing.T) {
	f := newFixture(t, false, "in")
	f.spec.compile = func(root plan.Node, opt exec.Options) (program, error) {
		p, err := compileWindows(false, true)(root, opt)
		p.(*windows).onRun = func(b exec.Batch) {
			if b.ID == 1 {
				panic("a fault of ours")
			}
		}
		return p, err
	}
	q := f.mustStart()
	f.streams["in"].Add(times(1))
	err := q.ProcessAllAvailable(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), `query "test": `) || !strings.Contains(err.Error(), "a fault of ours") {
		t.Errorf("got %v", err)
	}
	<-q.Done()
	equal(t, "active", q.IsActive(), false)
	if q.Exception() == nil || !strings.HasPrefix(q.Status().Message, "Terminated with exception") {
		t.Errorf("exception %v, status %v", q.Exception(), q.Status())
	}

	f = newFixture(t, false, "in")
	m := newMortal(f)
	q, err = f.startIn(m, failpoint.New(failpoint.Rule{Name: failpoint.SinkStaged, Batch: 1, Nth: 1, Action: failpoint.Err}))
	if err != nil {
		t.Fatal(err)
	}
	f.streams["in"].Add(times(1))
	err = q.ProcessAllAvailable(t.Context())
	equal(t, "error", err.Error(), `query "test": batch 1: sink "ledger": failpoint "sink.staged" fired in batch 1`)
	var qe *QueryError
	equal(t, "kind of error", errors.As(err, &qe), true)
	equal(t, "batch", qe.Batch, 1)
}

// A second kill during a graceful stop is a crash like any other.
func TestCrashInStop(t *testing.T) {
	f := newFixture(t, false, "in")
	m := newMortal(f)
	points := failpoint.New(failpoint.Rule{Name: failpoint.StopMid, Batch: failpoint.AnyBatch, Nth: 1})
	points.OnKill(m.kill)
	q, err := f.startIn(m, points)
	if err != nil {
		t.Fatal(err)
	}
	f.streams["in"].Add(times(1, 23))
	f.process(q)
	q.Stop(t.Context())
	equal(t, "fired", points.Fired()[failpoint.StopMid], 1)
	q = f.mustStart()
	f.process(q)
	equal(t, "batches after the crash", batches(q), "")
	equal(t, "output", f.sink.text(), "10:1")
	f.stop(q)
}

func TestTwoOwners(t *testing.T) {
	f := newFixture(t, false, "in")
	q := f.mustStart()
	if _, err := f.start(); err == nil || !strings.Contains(err.Error(), "is in use by process") {
		t.Errorf("got %v", err)
	}
	f.stop(q)
}

func TestSideOutputs(t *testing.T) {
	f := newFixture(t, false, "in")
	late, dead := memory.NewSink(), memory.NewSink()
	f.spec.SideSinks = map[string]Sink{
		"late": {Open: func(connector.Env) (connector.Sink, error) { return late, nil }},
		"dead": {Open: func(connector.Env) (connector.Sink, error) { return dead, nil }},
	}
	f.spec.compile = func(root plan.Node, opt exec.Options) (program, error) {
		p, err := compileWindows(false, true)(root, opt)
		p.(*windows).onRun = func(b exec.Batch) {
			if b.ID == 0 {
				if err := b.Late("late", "counts", 7*second, times(3, 4)); err != nil {
					t.Error(err)
				}
				if err := b.DeadLetter("dead", times(5), []string{"no user"}, "clicks"); err != nil {
					t.Error(err)
				}
			}
		}
		return p, err
	}
	q := f.mustStart()
	f.streams["in"].Add(times(1))
	f.process(q)
	f.stop(q)
	equal(t, "late batches", len(late.Published()), 1)
	rows := late.All()[0]
	equal(t, "late schema", rows.Schema.String(), "ts TIMESTAMP,_operator STRING,_watermark TIMESTAMP")
	equal(t, "late rows", rows.Rows, 2)
	rows = dead.All()[0]
	equal(t, "dead schema", rows.Schema.String(), "ts TIMESTAMP,_error STRING,_module STRING,_batch BIGINT")
	equal(t, "side rows", q.RecentProgress()[0].Sink.SideRows["late"], 2)
}

// Triggers without an interval run when there is data and say so when there is none.
func TestAsSoonAsPossible(t *testing.T) {
	for _, kind := range []TriggerKind{AsSoonAsPossible, Continuous} {
		f := newFixture(t, true, "in")
		f.spec.Trigger = Trigger{Kind: kind}
		ran := make(chan Progress, 10)
		f.spec.Listeners = []Listener{{Progress: func(p Progress) { ran <- p }}}
		q := f.mustStart()
		for i := range int64(3) {
			f.streams["in"].Add(times(i))
			equal(t, "batch", (<-ran).BatchID, i)
		}
		f.process(q)
		f.stop(q)
		equal(t, "output", f.sink.text(), "0 1 2")
	}
}

// A trigger that fixes its end does not chase what comes while it runs.
func TestAvailableNowTakesWhatWasThere(t *testing.T) {
	f := newFixture(t, true, "in")
	f.spec.Trigger = Trigger{Kind: AvailableNow}
	f.spec.Sources["in"] = oneByOne(f, "in")
	f.spec.Listeners = []Listener{{Progress: func(p Progress) { f.streams["in"].Add(times(99)) }}}
	for i := range int64(3) {
		f.streams["in"].Add(times(i))
	}
	q := f.mustStart()
	if err := q.AwaitTermination(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "batches", batches(q), "0 1 2")
	equal(t, "output", f.sink.text(), "0 1 2")
}

func TestTemporaryCheckpoint(t *testing.T) {
	f := newFixture(t, false, "in")
	f.spec.Checkpoint = ""
	var temporary bool
	f.spec.Listeners = []Listener{{Started: func(e StartedEvent) { temporary = e.Temporary }}}
	spec := f.spec
	spec.Sink = f.sinkIn(newMortal(f))
	q, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	f.streams["in"].Add(times(1, 23))
	f.process(q)
	f.stop(q)
	equal(t, "output", f.sink.text(), "10:1")
	equal(t, "said to be temporary", temporary, true)
}

// A batch that was begun with other settings is not finished with new ones.
func TestReplayWithOtherSettingsIsRefused(t *testing.T) {
	f := newFixture(t, false, "in")
	m := newMortal(f)
	points := failpoint.New(failpoint.Rule{Name: failpoint.OffsetDurable, Batch: 0, Nth: 1})
	points.OnKill(m.kill)
	q, err := f.startIn(m, points)
	if err != nil {
		t.Fatal(err)
	}
	f.streams["in"].Add(times(1))
	q.ProcessAllAvailable(t.Context())
	<-q.Done()
	f.spec.Settings.Zone = time.FixedZone("Here", 3600)
	_, err = f.start()
	if err == nil || !strings.Contains(err.Error(), "timezone") {
		t.Errorf("got %v", err)
	}
	f.spec.Settings.Zone = nil
	q = f.mustStart()
	f.process(q)
	equal(t, "batches", batches(q), "0+ 1-")
	f.stop(q)
}

func TestShapeOf(t *testing.T) {
	f := newFixture(t, false, "in")
	q := f.mustStart()
	f.streams["in"].Add(times(1))
	f.process(q)
	f.stop(q)
	c := f.checkpoint()
	last, err := c.LastOffsets()
	if err != nil {
		t.Fatal(err)
	}
	old, ok, err := CheckpointShape(last)
	if err != nil || !ok {
		t.Fatalf("shape of the checkpoint: %t, %v", ok, err)
	}
	spec := f.spec
	spec.Sink = f.sinkIn(newMortal(f))
	now, err := ShapeOf(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := now.MayFollow(old); err != nil {
		t.Error(err)
	}
	spec.compile = compileWindows(true, false)
	if now, err = ShapeOf(spec); err != nil {
		t.Fatal(err)
	}
	if now.MayFollow(old) == nil {
		t.Error("a query without the operator may follow")
	}
}
