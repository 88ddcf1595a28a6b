package stream

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wstream/wstream/engine/exec"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// faultyRun runs the script over a disk with a fault until the query ends with an error, which must say what the disk has
// said, and then to the end without.
func faultyRun(t *testing.T, what string, fault vfs.Fault, says, want string) (fired bool) {
	t.Helper()
	f := newFixture(t, false, "in")
	m := &mortal{mem: f.mem}
	spec := f.spec
	spec.Sink = f.sinkIn(m)
	in := vfs.NewInjector(fault)
	spec.CheckpointFS = vfs.NewFaulty(f.mem, in)
	q, err := Start(t.Context(), spec)
	added := 0
	for err == nil && added < len(script) {
		f.streams["in"].Add(times(script[added]...))
		added++
		err = q.ProcessAllAvailable(t.Context())
	}
	if q != nil {
		if e := q.Stop(t.Context()); err == nil {
			err = e
		}
	}
	if in.Fired() == 0 {
		return false
	}
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Fatalf("%s: the query says %v", what, err)
	}
	// The disk may have lost what was not synced when the sync failed.
	f.mem.Crash()
	q, err = f.startIn(&mortal{mem: f.mem}, nil)
	if err != nil {
		t.Fatalf("%s: the next start says %v", what, err)
	}
	for ; added < len(script); added++ {
		f.process(q)
		f.streams["in"].Add(times(script[added]...))
	}
	f.process(q)
	f.stop(q)
	equal(t, "output after "+what, f.sink.text(), want)
	checkLogs(t, f)
	return true
}

// TestFullDiskAtEveryWrite fills the disk at each write of a run in turn, with nothing and with half of it written.
func TestFullDiskAtEveryWrite(t *testing.T) {
	want := expected(t, false)
	for _, torn := range []int{-1, 20} {
		n := 1
		for ; ; n++ {
			fault := vfs.DiskFull(n)
			fault.Torn = torn
			if !faultyRun(t, fmt.Sprintf("a full disk at write %d, torn at %d", n, torn), fault, "no space left", want) {
				break
			}
		}
		t.Logf("torn at %d: %d writes", torn, n-1)
		if n < 50 {
			t.Errorf("only %d writes", n-1)
		}
	}
}

// TestFailedSyncAtEverySync lets each sync of a run fail once, of files and of folders. The query ends; it does not sync again.
func TestFailedSyncAtEverySync(t *testing.T) {
	want := expected(t, false)
	for _, op := range []vfs.Op{vfs.OpSync, vfs.OpSyncDir} {
		n := 1
		for faultyRun(t, fmt.Sprintf("a failed %s, the %d.", op, n), vfs.Fault{Op: op, Nth: n, Err: syscall.EIO}, "input/output error", want) {
			n++
		}
		t.Logf("%d of %s", n-1, op)
		if n < 10 {
			t.Errorf("only %d of %s", n-1, op)
		}
	}
}

// TestFailedCreateAndRename is about a disk on which no file can be made, as one that was mounted for reading only.
func TestFailedCreateAndRename(t *testing.T) {
	want := expected(t, false)
	for _, op := range []vfs.Op{vfs.OpCreate, vfs.OpRename} {
		n := 1
		fault := vfs.Fault{Op: op, Nth: n, Err: syscall.EROFS, Forever: true}
		for faultyRun(t, fmt.Sprintf("no %s from the %d. on", op, n), fault, "read-only file system", want) {
			n++
			fault.Nth = n
		}
		t.Logf("%d of %s", n-1, op)
		if n < 3 {
			t.Errorf("only %d of %s", n-1, op)
		}
	}
}

// TestClockJumps moves the clock back and forth between batches and inside them, by an hour, a day, a second, and over the
// night in which summer time ends, with a crash on the way: the output is that of a steady clock, the times of batches never
// go back, and no duration is negative.
func TestClockJumps(t *testing.T) {
	want := expected(t, false)
	dst := time.Date(2026, 10, 25, 0, 59, 59, 0, time.UTC)
	for _, jump := range []time.Duration{-time.Hour, time.Hour, -24 * time.Hour, -time.Second, -time.Millisecond} {
		for _, inside := range []bool{false, true} {
			for _, crash := range []string{"", failpoint.SinkPublished, failpoint.OffsetDurable} {
				f := newFixture(t, false, "in")
				f.clock = NewStepClock(dst, time.Second)
				f.spec.Clock = f.clock
				n := 0
				f.spec.compile = func(root plan.Node, opt exec.Options) (program, error) {
					p, err := compileWindows(false, true)(root, opt)
					p.(*windows).onRun = func(exec.Batch) {
						if n++; inside && n%2 == 0 {
							f.clock.Advance(jump)
						}
					}
					return p, err
				}
				var wrong []string
				last := time.Time{}
				f.spec.Listeners = []Listener{{Progress: func(p Progress) {
					b, _ := json.Marshal(p.DurationMs)
					if strings.Contains(string(b), "-") {
						wrong = append(wrong, fmt.Sprintf("batch %d took %s", p.BatchID, b))
					}
					if !inside {
						f.clock.Advance(jump)
					}
				}}}
				play(t, f, func(start int) *failpoint.Set {
					if start > 0 || crash == "" {
						return nil
					}
					return failpoint.New(failpoint.Rule{Name: crash, Batch: 2, Nth: 1})
				}, nil)
				what := fmt.Sprintf("jump of %v, inside=%t, crash at %q", jump, inside, crash)
				equal(t, "output after a "+what, f.sink.text(), want)
				checkLogs(t, f)
				batches, err := f.checkpoint().Batches()
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range batches {
					if b.Offsets == nil {
						continue
					}
					if at := time.UnixMilli(b.Offsets.TimestampMs); at.Before(last) {
						t.Errorf("%s: batch %d is at %v, the one before at %v", what, b.ID, at, last)
					} else {
						last = at
					}
				}
				if len(wrong) > 0 {
					t.Errorf("%s: %v", what, wrong)
				}
			}
		}
	}
}
