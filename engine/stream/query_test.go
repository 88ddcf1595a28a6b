package stream

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/wstream/wstream/columnar/sparkerr"
)

func TestMain(m *testing.M) {
	if code, ran := child(); ran {
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}

func TestWindowsOverBatches(t *testing.T) {
	f := newFixture(t, false, "in")
	q := f.mustStart()
	f.process(q)
	equal(t, "batches before any data", batches(q), "")
	f.streams["in"].Add(times(1, 2, 5))
	f.process(q)
	equal(t, "batches", batches(q), "0 1-")
	equal(t, "output", f.sink.text(), "")
	mark, ok := q.Watermark()
	equal(t, "watermark", mark, 5*second)
	equal(t, "has a watermark", ok, true)
	f.streams["in"].Add(times(23))
	f.process(q)
	equal(t, "output", f.sink.text(), "10:3")
	equal(t, "batches", batches(q), "0 1- 2 3-")
	f.streams["in"].Add(times(9, 15, 22))
	f.process(q)
	p, _ := q.LastProgress()
	equal(t, "late rows", p.LateRows(), 2)
	equal(t, "batches: the watermark stands still", batches(q), "0 1- 2 3- 4")
	equal(t, "state rows", p.StateRows(), 1)
	f.stop(q)
	equal(t, "active", q.IsActive(), false)
}

// Without a pause the watermark of a batch before filters late rows, and a batch's own finalises windows.
func TestLateByTheBatchBefore(t *testing.T) {
	f := newFixture(t, false, "in")
	f.spec.Trigger = Trigger{Kind: AvailableNow}
	f.spec.Sources["in"] = oneByOne(f, "in")
	for _, s := range []int64{1, 30, 5, 6} {
		f.streams["in"].Add(times(s))
	}
	q := f.mustStart()
	if err := q.AwaitTermination(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "output", f.sink.text(), "10:2")
	equal(t, "batches", batches(q), "0 1 2 3")
	p, _ := q.LastProgress()
	equal(t, "late rows of the last batch", p.LateRows(), 1)
}

func TestStatelessRunsNoBatchWithoutData(t *testing.T) {
	f := newFixture(t, true, "in")
	q := f.mustStart()
	f.streams["in"].Add(times(1, 2, 5))
	f.process(q)
	equal(t, "batches", batches(q), "0")
	equal(t, "output", f.sink.text(), "1 2 5")
	f.stop(q)
}

func TestRestart(t *testing.T) {
	f := newFixture(t, false, "in")
	q := f.mustStart()
	id, run := q.ID(), q.RunID()
	f.streams["in"].Add(times(1, 2))
	f.process(q)
	f.stop(q)
	q = f.mustStart()
	equal(t, "id", q.ID(), id)
	if q.RunID() == run {
		t.Error("the run id is that of the run before")
	}
	f.process(q)
	equal(t, "batches after an idle moment", batches(q), "")
	mark, _ := q.Watermark()
	equal(t, "watermark", mark, 2*second)
	f.streams["in"].Add(times(3, 40))
	f.process(q)
	equal(t, "output", f.sink.text(), "10:3")
	f.stop(q)
}

// What a single batch has closed comes out at the next start, without data, unless that is a single batch again.
func TestStartRunsTheBatchWithoutDataThatIsDue(t *testing.T) {
	f := newFixture(t, false, "in")
	f.spec.Trigger = Trigger{Kind: Once}
	f.streams["in"].Add(times(1, 30))
	q := f.mustStart()
	if err := q.AwaitTermination(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "batches", batches(q), "0")
	q = f.mustStart()
	if err := q.AwaitTermination(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "batches of a second start with once", batches(q), "")
	f.spec.Trigger = Trigger{Kind: AvailableNow}
	q = f.mustStart()
	if err := q.AwaitTermination(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "batches", batches(q), "1-")
	equal(t, "output", f.sink.text(), "10:1")
}

func TestProcessingTime(t *testing.T) {
	f := newFixture(t, true, "in")
	f.spec.Trigger = Trigger{Kind: ProcessingTime, Interval: 10 * time.Second}
	f.clock = NewStepClock(time.Unix(1_000_003, 0), 0)
	f.spec.Clock = f.clock
	ran := make(chan Progress, 10)
	f.spec.Listeners = []Listener{{Progress: func(p Progress) { ran <- p }}}
	f.streams["in"].Add(times(1))
	q := f.mustStart()
	equal(t, "first batch", (<-ran).Timestamp, isoMs(1_000_003_000))
	awaitSleep(t, f.clock)
	f.streams["in"].Add(times(2))
	f.clock.Advance(6 * time.Second)
	awaitSleep(t, f.clock)
	equal(t, "batches before the interval is over", batches(q), "0")
	f.clock.Advance(time.Second)
	equal(t, "second batch", (<-ran).Timestamp, isoMs(1_000_010_000))
	awaitSleep(t, f.clock)
	f.clock.Advance(10 * time.Second) // nothing is there
	awaitSleep(t, f.clock)
	equal(t, "batches", batches(q), "0 1")
	f.stop(q)
}

func TestProcessingTimeOverrun(t *testing.T) {
	trigger := Trigger{Kind: ProcessingTime, Interval: 10 * time.Second}
	next := trigger.next(time.Unix(1_000_003, 0))
	equal(t, "next", next.Unix(), 1_000_010)
	equal(t, "next on the grid", trigger.next(time.Unix(1_000_010, 0)).Unix(), 1_000_020)
	equal(t, "next before 1970", trigger.next(time.Unix(-3, 0)).Unix(), 0)
}

func TestSeveralSources(t *testing.T) {
	f := newFixture(t, false, "a", "b")
	q := f.mustStart()
	f.streams["a"].Add(times(50))
	f.process(q)
	mark, _ := q.Watermark()
	equal(t, "watermark while one source is silent", mark, 0)
	equal(t, "batches", batches(q), "0")
	f.streams["b"].Add(times(20))
	f.process(q)
	mark, _ = q.Watermark()
	equal(t, "watermark", mark, 20*second)
	p, _ := q.LastProgress()
	equal(t, "held by", p.EventTime["watermarkHeldBy"], "b")
	f.stop(q)
	f.spec.Settings.WatermarkPolicy = MaxWatermark
	q = f.mustStart()
	f.streams["b"].Add(times(21))
	f.process(q)
	mark, _ = q.Watermark()
	equal(t, "watermark by max", mark, 50*second)
	f.stop(q)
}

func TestRefusals(t *testing.T) {
	f := newFixture(t, false, "in")
	q := f.mustStart()
	f.streams["in"].Add(times(1))
	f.process(q)
	f.stop(q)
	refused := func(what string, change func(s *Spec)) {
		t.Helper()
		saved := f.spec
		change(&f.spec)
		_, err := f.start()
		f.spec = saved
		if err == nil {
			t.Fatalf("%s: the restart was not refused", what)
		}
		t.Log(err)
		equal(t, what, sparkerr.Condition(err), "STREAMING_QUERY_EVOLUTION_NOT_ALLOWED")
	}
	refused("kind of source", func(s *Spec) {
		src := s.Sources["in"]
		src.Kind = "kafka"
		s.Sources = map[string]Source{"in": src}
	})
	refused("number of sources", func(s *Spec) {
		s.Sources = map[string]Source{"in": s.Sources["in"], "more": s.Sources["in"]}
		s.Plan = watermarkPlan(0, false, 0, "in", "more")
	})
	refused("operators", func(s *Spec) { s.compile = compileWindows(true, false) })
	refused("output mode", func(s *Spec) { s.Mode = "update" })
	f.spec.Sources = map[string]Source{"renamed": f.spec.Sources["in"]}
	f.spec.Plan = watermarkPlan(0, false, 0, "renamed")
	q = f.mustStart()
	f.streams["in"].Add(times(2))
	f.process(q)
	equal(t, "batches after the source was renamed", batches(q), "2 3-")
	equal(t, "rows", q.RecentProgress()[0].NumInputRows, 1)
	f.stop(q)
}
