package stream

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/objectfs"
)

// objectRun is a query whose checkpoint is in an object store.
type objectRun struct {
	t     *testing.T
	f     *fixture
	store *objectfs.MemStore
}

const objectPlace = "s3://bucket/ckpt"

func newObjectRun(t *testing.T, stateless bool) *objectRun {
	return &objectRun{t, newFixture(t, stateless, "in"), objectfs.NewMemStore()}
}

func (r *objectRun) fs() *objectfs.FS {
	return objectfs.New(func(string) (objectfs.Store, error) { return r.store, nil }, objectfs.Options{
		Lease: -1, Sleep: func(time.Duration) {},
	})
}

func (r *objectRun) start(m *mortal, points *failpoint.Set) (*Query, error) {
	spec := r.f.spec
	spec.Checkpoint, spec.CheckpointFS, spec.Failpoints, spec.Sink = objectPlace, r.fs(), points, r.f.sinkIn(m)
	return Start(r.t.Context(), spec)
}

// play runs the script, and starts the query again, after the store serves again, whenever it has died.
func (r *objectRun) play(points *failpoint.Set, m *mortal) (starts int) {
	r.t.Helper()
	begin := func() *Query {
		for {
			starts++
			q, err := r.start(m, points)
			if err == nil {
				return q
			}
			if starts > 20 {
				r.t.Fatal(err)
			}
			r.store.OnRequest(nil)
			m, points = newMortal(r.f), nil
		}
	}
	if points != nil {
		points.OnKill(func() {
			m.kill()
			r.store.OnRequest(dead)
		})
	}
	q := begin()
	for _, rows := range script {
		r.f.streams["in"].Add(times(rows...))
		for q.ProcessAllAvailable(r.t.Context()) != nil {
			<-q.Done()
			r.store.OnRequest(nil)
			m, points = newMortal(r.f), nil
			q = begin()
		}
	}
	_ = q.Stop(r.t.Context())
	r.store.OnRequest(nil)
	return starts
}

// dead is what a process that is no more gets from the store.
func dead(string, string) objectfs.Fault { return objectfs.Fault{Err: errDead} }

func (r *objectRun) check(what, want string) {
	r.t.Helper()
	equal(r.t, what, r.f.sink.text(), want)
	c, err := checkpoint.Open(r.fs(), objectPlace, checkpoint.Options{ReadOnly: true})
	if err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
	defer c.Close()
	if err := c.Verify(); err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
	if c.LastCommitID() != c.LastOffsetsID() {
		r.t.Fatalf("%s: batch %d is planned, batch %d committed", what, c.LastOffsetsID(), c.LastCommitID())
	}
}

// TestObjectStoreDeaths lets the process die at every request that changes something, before the store has done it and after.
func TestObjectStoreDeaths(t *testing.T) {
	for _, stateless := range []bool{true, false} {
		want := expected(t, stateless)
		count := newObjectRun(t, stateless)
		count.play(nil, newMortal(count.f))
		count.check("output without a fault", want)
		total := count.store.Count("put") + count.store.Count("delete")
		t.Logf("stateless=%t: %d requests change something, %d look", stateless, total, count.store.Count("list")+count.store.Count("get"))
		for k := 1; k <= total; k++ {
			for _, applied := range []bool{false, true} {
				r := newObjectRun(t, stateless)
				m, seen := newMortal(r.f), 0
				r.store.OnRequest(func(op, _ string) objectfs.Fault {
					if op == "put" || op == "delete" {
						seen++
					}
					switch {
					case seen < k:
						return objectfs.Fault{}
					case seen == k && (op == "put" || op == "delete"):
						m.kill()
						return objectfs.Fault{Err: errDead, Applied: applied}
					}
					return objectfs.Fault{Err: errDead}
				})
				r.play(nil, m)
				r.check(fmt.Sprintf("output after a death at request %d, applied=%t", k, applied), want)
			}
		}
	}
}

// TestObjectStoreFaults lets every request fail once, with and without having been carried out: nothing is seen of it.
func TestObjectStoreFaults(t *testing.T) {
	want := expected(t, false)
	for _, applied := range []bool{false, true} {
		r := newObjectRun(t, false)
		again, fired := map[string]bool{}, 0
		r.store.OnRequest(func(op, key string) objectfs.Fault {
			if again[op+key] = !again[op+key]; again[op+key] {
				fired++
				return objectfs.Fault{Err: &objectfs.TransientError{Err: errors.New("injected")}, Applied: applied}
			}
			return objectfs.Fault{}
		})
		if starts := r.play(nil, newMortal(r.f)); starts != 1 {
			t.Errorf("applied=%t: %d starts", applied, starts)
		}
		r.check(fmt.Sprintf("output with faults, applied=%t", applied), want)
		if fired < 50 {
			t.Errorf("applied=%t: only %d faults", applied, fired)
		}
	}
}

// TestObjectStoreCrashPoints kills the process at every named point.
func TestObjectStoreCrashPoints(t *testing.T) {
	for _, stateless := range []bool{true, false} {
		want := expected(t, stateless)
		fired := 0
		for _, name := range failpoint.Names() {
			for _, batch := range []int64{0, 3} {
				r := newObjectRun(t, stateless)
				set := failpoint.New(failpoint.Rule{Name: name, Batch: batch, Nth: 1})
				r.play(set, newMortal(r.f))
				fired += set.Fired()[name]
				r.check(fmt.Sprintf("stateless=%t: output after %s@batch=%d", stateless, name, batch), want)
			}
		}
		t.Logf("stateless=%t: %d points fired of %d", stateless, fired, 2*len(failpoint.Names()))
	}
}

// TestObjectStoreTwoOwners takes a checkpoint over from an owner that does not know it: the former one ends with a message
// that names the new one, and publishes nothing more.
func TestObjectStoreTwoOwners(t *testing.T) {
	r := newObjectRun(t, false)
	first, err := r.start(newMortal(r.f), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.f.streams["in"].Add(times(1, 2, 5))
	r.f.process(first)
	second, err := r.start(newMortal(r.f), nil) // an FS of its own: nothing locks
	if err != nil {
		t.Fatal(err)
	}
	r.f.streams["in"].Add(times(12, 23))
	r.f.process(second)
	err = first.ProcessAllAvailable(t.Context())
	var fenced *checkpoint.FencedError
	if err == nil {
		<-first.Done()
		err = first.AwaitTermination(t.Context())
	}
	if !errors.As(err, &fenced) || fenced.Owner.RunID != second.RunID() {
		t.Errorf("the former owner says %v", err)
	}
	r.f.stop(second)
}
