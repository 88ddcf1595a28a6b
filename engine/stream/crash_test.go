package stream

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// script is the input of a test, step by step: rows in seconds since 1970.
var script = [][]int64{{1, 2, 5}, {12, 23}, {9, 24, 31}, {35}, {80, 33}, {81}, {120, 121, 60}}

// play runs the script on a fixture whose query crashes as points say, and starts it again when it has. kill, if set, is
// given the incarnation of each start.
func play(t *testing.T, f *fixture, points func(start int) *failpoint.Set, onStart func(start int, m *mortal)) (starts int) {
	t.Helper()
	return playScript(t, f, script, points, onStart)
}

func playScript(t *testing.T, f *fixture, script [][]int64, points func(start int) *failpoint.Set, onStart func(start int, m *mortal)) (starts int) {
	t.Helper()
	var q *Query
	begin := func() {
		t.Helper()
		for {
			m := &mortal{mem: f.mem}
			var set *failpoint.Set
			if points != nil {
				set = points(starts)
			}
			if set != nil {
				set.OnKill(func() { m.kill() })
			}
			if onStart != nil {
				onStart(starts, m)
			}
			starts++
			var err error
			if q, err = f.startIn(m, set); err == nil {
				return
			}
			if !m.isDead() {
				t.Fatalf("start %d: %v", starts, err)
			}
			if starts > 50 {
				t.Fatal("the query crashes again and again")
			}
		}
	}
	begin()
	for _, rows := range script {
		f.streams["in"].Add(times(rows...))
		for {
			err := q.ProcessAllAvailable(t.Context())
			if err == nil {
				break
			}
			<-q.Done()
			if f.m.isDead() {
				begin()
				continue
			}
			t.Fatal(err)
		}
	}
	if err := q.Stop(t.Context()); err != nil && !f.m.isDead() {
		t.Fatal(err)
	}
	return starts
}

// startIn starts an incarnation whose reach is m.
func (f *fixture) startIn(m *mortal, points *failpoint.Set) (*Query, error) {
	f.m = m
	spec := f.spec
	spec.CheckpointFS, spec.Failpoints = mortalFS{m}, points
	spec.Sink = f.sinkIn(m)
	return Start(f.t.Context(), spec)
}

// checkpoint opens what a run has left, for reading, until the test ends.
func (f *fixture) checkpoint() *checkpoint.Checkpoint {
	f.t.Helper()
	c, err := checkpoint.Open(f.mem, "/ckpt", checkpoint.Options{ReadOnly: true})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = c.Close() })
	return c
}

// checkLogs looks at what a run has left: a commit entry for every batch, offsets that follow one another.
func checkLogs(t *testing.T, f *fixture) {
	t.Helper()
	c := f.checkpoint()
	if err := c.Verify(); err != nil {
		t.Fatal(err)
	}
	bs, err := c.Batches()
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range bs {
		if b.Commit == nil && b.ID <= c.LastCommitID() && b.ID > c.LastCommitID()-int64(f.spec.Settings.KeepBatches) {
			t.Errorf("batch %d has no commit entry", b.ID)
		}
		if i > 0 && b.Offsets != nil && bs[i-1].Offsets != nil && string(b.Offsets.Sources[0].Start) != string(bs[i-1].Offsets.Sources[0].End) {
			t.Errorf("batch %d does not begin where batch %d ends", b.ID, bs[i-1].ID)
		}
	}
}

func expected(t *testing.T, stateless bool) string {
	f := newFixture(t, stateless, "in")
	play(t, f, nil, nil)
	checkLogs(t, f)
	return f.sink.text()
}

// A crash at each point, in the first, an early and a later batch, must leave no trace.
func TestCrashPoints(t *testing.T) {
	for _, stateless := range []bool{true, false} {
		want := expected(t, stateless)
		fired := map[string]int{}
		for _, name := range failpoint.Names() {
			for _, batch := range []int64{0, 1, 3, 5} {
				for _, nth := range []int{1, 2} {
					t.Run(fmt.Sprintf("stateless=%t/%s@%d:%d", stateless, name, batch, nth), func(t *testing.T) {
						f := newFixture(t, stateless, "in")
						var set *failpoint.Set
						play(t, f, func(start int) *failpoint.Set {
							if start > 0 {
								return nil
							}
							set = failpoint.New(failpoint.Rule{Name: name, Batch: batch, Nth: nth})
							return set
						}, nil)
						fired[name] += set.Fired()[name]
						equal(t, "output", f.sink.text(), want)
						checkLogs(t, f)
					})
				}
			}
		}
		for _, name := range failpoint.Names() {
			if fired[name] == 0 {
				t.Logf("stateless=%t: point %q did not fire", stateless, name)
			}
		}
	}
}

// A torn write of an entry, as well.
func TestTornEntries(t *testing.T) {
	want := expected(t, false)
	for _, name := range []string{failpoint.OffsetLogPartial, failpoint.CommitLogPartial, failpoint.StateLogPartial} {
		for _, batch := range []int64{0, 2} {
			f := newFixture(t, false, "in")
			play(t, f, func(start int) *failpoint.Set {
				if start > 0 {
					return nil
				}
				return failpoint.New(failpoint.Rule{Name: name, Batch: batch, Nth: 1, Action: failpoint.Torn})
			}, nil)
			equal(t, "output", f.sink.text(), want)
			checkLogs(t, f)
		}
	}
}

// A power loss right after each sync of the whole run, with everything lost that was not synced.
func TestCrashAtEverySync(t *testing.T) {
	want := expected(t, false)
	count := newFixture(t, false, "in")
	play(t, count, nil, nil)
	total := count.mem.Syncs()
	if total < 20 {
		t.Fatalf("only %d syncs", total)
	}
	t.Logf("%d syncs", total)
	for k := 1; k <= total; k++ {
		f := newFixture(t, false, "in")
		f.sink.t = t
		var seen atomic.Int64
		f.mem.OnSync(func(string, string) { seen.Add(1) })
		starts := play(t, f, nil, func(start int, m *mortal) {
			if start == 0 {
				m.dieAfter(&seen, int64(k))
			}
		})
		if starts == 1 && k < total {
			t.Errorf("no crash at sync %d", k)
		}
		equal(t, fmt.Sprintf("output after a crash at sync %d", k), f.sink.text(), want)
		checkLogs(t, f)
	}
}

// The same with batches that change nothing of the state, because all their rows are late, and several crashes in one run.
func TestCrashesAmongBatchesWithoutChange(t *testing.T) {
	quiet := [][]int64{{-20}, {-15}, {1, 2}, {25}, {-5}, {3}, {40}}
	f := newFixture(t, false, "in")
	playScript(t, f, quiet, nil, nil)
	want, total := f.sink.text(), int64(f.mem.Syncs())
	for first := int64(1); first <= total; first++ {
		for _, then := range []int64{1, 2, 3, 5, 8, 13} {
			f := newFixture(t, false, "in")
			var seen atomic.Int64
			f.mem.OnSync(func(string, string) { seen.Add(1) })
			playScript(t, f, quiet, nil, func(start int, m *mortal) {
				if start == 0 {
					m.dieAfter(&seen, first)
				} else if start < 4 {
					m.dieAfter(&seen, seen.Load()+then)
				}
			})
			if f.sink.text() != want {
				t.Fatalf("crashes at sync %d and each %d after a start: got %q, want %q", first, then, f.sink.text(), want)
			}
			checkLogs(t, f)
		}
	}
}

// A crash while a batch is replayed, ten times over, and random crashes throughout.
func TestCrashAgainAndAgain(t *testing.T) {
	want := expected(t, false)
	f := newFixture(t, false, "in")
	starts := play(t, f, func(start int) *failpoint.Set {
		switch {
		case start == 0:
			return failpoint.New(failpoint.Rule{Name: failpoint.SinkPublished, Batch: 2, Nth: 1})
		case start <= 10:
			return failpoint.New(failpoint.Rule{Name: failpoint.RecoverMid, Batch: 2, Nth: 1 + start%2})
		}
		return nil
	}, nil)
	equal(t, "starts", starts, 12)
	equal(t, "output", f.sink.text(), want)

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	names := failpoint.Names()
	for range 40 {
		f := newFixture(t, false, "in")
		var trace []string
		play(t, f, func(start int) *failpoint.Set {
			if start > 12 {
				return nil
			}
			r := failpoint.Rule{Name: names[rnd.IntN(len(names))], Batch: int64(rnd.IntN(12)), Nth: 1 + rnd.IntN(2)}
			trace = append(trace, fmt.Sprintf("%s@batch=%d:%d", r.Name, r.Batch, r.Nth))
			return failpoint.New(r)
		}, nil)
		if f.sink.text() != want {
			t.Fatalf("crashes %s: got %q, want %q", strings.Join(trace, ", "), f.sink.text(), want)
		}
		checkLogs(t, f)
	}
}

// An error while old files are deleted is a warning; the next batch deletes them.
func TestPurgeIsTriedAgain(t *testing.T) {
	f := newFixture(t, false, "in")
	m := newMortal(f)
	spec := f.spec
	spec.Settings.KeepBatches = 2
	spec.Sink = f.sinkIn(m)
	var warnings []string
	spec.Listeners = []Listener{{Warning: func(w WarningEvent) { warnings = append(warnings, w.Text) }}}
	in := vfs.NewInjector(vfs.Fault{Op: vfs.OpRemove, Nth: 1, Err: errors.New("busy")})
	spec.CheckpointFS = vfs.NewFaulty(f.mem, in)
	q, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(1500) {
		f.streams["in"].Add(times(i))
		f.process(q)
	}
	f.stop(q)
	equal(t, "faults", in.Fired(), 1)
	equal(t, "warnings", len(warnings), 1)
	files := len(f.mem.Walk("/ckpt"))
	if files > 60 {
		t.Errorf("%d files are left in the checkpoint: %v", files, f.mem.Walk("/ckpt"))
	}
}

// A full disk ends the query with an error that says so; with room again it goes on.
func TestDiskFull(t *testing.T) {
	want := expected(t, false)
	for nth := 1; nth < 60; nth += 3 {
		f := newFixture(t, false, "in")
		m := &mortal{mem: f.mem}
		spec := f.spec
		spec.Sink = f.sinkIn(m)
		in := vfs.NewInjector(vfs.DiskFull(nth))
		spec.CheckpointFS = vfs.NewFaulty(f.mem, in)
		q, err := Start(t.Context(), spec)
		added := 0
		for err == nil && added < len(script) {
			f.streams["in"].Add(times(script[added]...))
			added++
			err = q.ProcessAllAvailable(t.Context())
		}
		if q != nil {
			q.Stop(t.Context())
		}
		if err == nil && in.Fired() > 0 {
			t.Fatalf("write %d failed and the query went on", nth)
		}
		if err != nil && !strings.Contains(err.Error(), "no space left") {
			t.Errorf("write %d: %v", nth, err)
		}
		q, err = f.startIn(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		for ; added < len(script); added++ {
			f.process(q)
			f.streams["in"].Add(times(script[added]...))
		}
		f.process(q)
		f.stop(q)
		equal(t, fmt.Sprintf("output after a full disk at write %d", nth), f.sink.text(), want)
	}
}

// Batches that overlap: a batch is being finished while the next one is planned and run. Crashes at every sync must leave no
// trace then either.
func TestCrashOfOverlappingBatches(t *testing.T) {
	setUp := func() *fixture {
		f := newFixture(t, false, "in")
		f.spec.Trigger, f.spec.overlapFrom = Trigger{Kind: AvailableNow}, 1
		f.spec.Sources["in"] = oneByOne(f, "in")
		for _, rows := range script {
			f.streams["in"].Add(times(rows...))
		}
		return f
	}
	finish := func(f *fixture, onStart func(start int, m *mortal)) (starts int) {
		for {
			m := &mortal{mem: f.mem}
			onStart(starts, m)
			starts++
			q, err := f.startIn(m, nil)
			if err == nil {
				err = q.AwaitTermination(t.Context())
			}
			if err == nil && !m.isDead() {
				return starts
			}
			if err != nil && !m.isDead() {
				t.Fatal(err)
			}
		}
	}
	f := setUp()
	finish(f, func(int, *mortal) {})
	want, total, ids := f.sink.text(), f.mem.Syncs(), f.sink.last
	equal(t, "last batch", ids, 7)
	replays := 0
	for k := 1; k <= total; k++ {
		f := setUp()
		var seen atomic.Int64
		f.mem.OnSync(func(string, string) { seen.Add(1) })
		finish(f, func(start int, m *mortal) {
			if start == 0 {
				m.dieAfter(&seen, int64(k))
			}
		})
		replays += f.sink.replays
		equal(t, fmt.Sprintf("output after a crash at sync %d", k), f.sink.text(), want)
		equal(t, "last batch", f.sink.last, ids)
		checkLogs(t, f)
	}
	t.Logf("%d syncs, %d replays", total, replays)
}
