package stream

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/exec"
	"github.com/wstream/wstream/engine/memory"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/internal/failpoint"
)

// counting is a program with a module in it that returns a counter of its own: every run gives other rows.
type counting struct {
	program
	counter *int64
}

func (c counting) Run(ctx context.Context, b exec.Batch) (*exec.Result, error) {
	*c.counter++
	if err := b.Emit(times(*c.counter)); err != nil {
		return nil, err
	}
	return c.program.Run(ctx, b)
}

// A batch that is run again after a crash and gives other rows is found out and said plainly; one that gives the same rows
// is not, in whatever state the crash has left the sink.
func TestReplayThatGivesOtherRowsIsSaid(t *testing.T) {
	for _, deterministic := range []bool{false, true} {
		for _, point := range []string{failpoint.SinkPublished, failpoint.CommitLogPartial} {
			t.Run(fmt.Sprintf("%t/%s", deterministic, point), func(t *testing.T) {
				f := newFixture(t, false, "in")
				if deterministic {
					f.spec.Sink = f.sinkIn(&mortal{mem: f.mem})
				} else {
					// The sink of these tests would find it out itself; one that takes any rows for the same batch does not.
					kept := memory.NewSink()
					f.spec.Sink = Sink{Open: func(connector.Env) (connector.Sink, error) { return kept, nil }}
				}
				var counter int64
				inner := f.spec.compile
				f.spec.compile = func(root plan.Node, opt exec.Options) (program, error) {
					p, err := inner(root, opt)
					if deterministic {
						return p, err
					}
					return counting{p, &counter}, err
				}
				var warnings []string
				f.spec.Listeners = []Listener{{Warning: func(w WarningEvent) { warnings = append(warnings, w.Text) }}}
				// An error, for the crash of these tests is that of the machine: it loses what was not synced, and the note with it.
				points := failpoint.New(failpoint.Rule{Name: point, Batch: 1, Nth: 1, Action: failpoint.Err})
				q, err := f.startIn(&mortal{mem: f.mem}, points)
				if err != nil {
					t.Fatal(err)
				}
				for i := range int64(3) {
					f.streams["in"].Add(times(i))
					if q.ProcessAllAvailable(t.Context()) != nil {
						break
					}
				}
				if err := q.Stop(t.Context()); points.Fired()[point] != 1 {
					t.Fatalf("the point fired %d times: %v", points.Fired()[point], err)
				}
				q = f.mustStart()
				f.process(q)
				f.stop(q)
				said := strings.Contains(strings.Join(warnings, "\n"), "the batch was run again after a crash")
				equal(t, "said", said, !deterministic)
			})
		}
	}
}

func TestCommitEntryHasHashes(t *testing.T) {
	f := newFixture(t, false, "in")
	q := f.mustStart()
	f.streams["in"].Add(times(1, 23))
	f.process(q)
	f.stop(q)
	c := f.checkpoint()
	bs, err := c.Batches()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bs {
		if b.Commit.OutputHash == nil || b.Commit.StateHash == nil {
			t.Errorf("batch %d has no hash: %+v", b.ID, b.Commit)
		}
		if b.Commit.OutputRows > 0 == (*b.Commit.OutputHash == 0) {
			t.Errorf("batch %d: %d rows have the hash %x", b.ID, b.Commit.OutputRows, *b.Commit.OutputHash)
		}
	}
}

// The hash does not depend on the order of rows, nor on how they are cut; it does on every value.
func TestRowHash(t *testing.T) {
	schema, err := columnar.ParseDDL("a BIGINT, b STRING, c DOUBLE, d BOOLEAN, e ARRAY<INT>, f DECIMAL(10,2), g TINYINT")
	if err != nil {
		t.Fatal(err)
	}
	const n = 5
	ints := []int64{1, 2, 3, 4, 5}
	build := func() *columnar.Batch {
		valid := columnar.NewBitmapSet(n)
		valid.Clear(3)
		texts := columnar.NewStrings([]string{"x", "", "yy", "zzz", "a longer text than sixteen bytes"})
		cols := []*columnar.Column{
			columnar.NewFixed(schema.Fields[0].Type, append([]int64(nil), ints...), valid), texts,
			columnar.NewFixed(schema.Fields[2].Type, []float64{0, math.Copysign(0, -1), math.NaN(), 1, 2}, nil),
			columnar.NewBools(n, columnar.Bitmap{0b10110}, nil), columnar.NewNull(schema.Fields[4].Type, n),
			columnar.NewNull(schema.Fields[5].Type, n), columnar.NewFixed(schema.Fields[6].Type, []int8{-1, 2, 3, 4, 5}, nil),
		}
		return columnar.NewBatch(schema, cols, n)
	}
	hash := func(bs ...*columnar.Batch) uint64 {
		var h rowHash
		for _, b := range bs {
			h.add(b)
		}
		return h.sum
	}
	whole := hash(build())
	b := build()
	equal(t, "in pieces, backwards", hash(b.Slice(3, 5), b.Slice(2, 3), b.Slice(0, 2)), whole)
	for i := range n {
		without := hash(b.Slice(0, i), b.Slice(i+1, n))
		if without == whole || without+hash(b.Slice(i, i+1)) != whole {
			t.Errorf("row %d does not count", i)
		}
	}
	ints[2] = 7
	if hash(build()) == whole {
		t.Error("another value has the same hash")
	}
}

func BenchmarkRowHash(b *testing.B) {
	schema, err := columnar.ParseDDL("a BIGINT, b STRING, c DOUBLE, d TIMESTAMP")
	if err != nil {
		b.Fatal(err)
	}
	const n = 8192
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("/p/%d", i)
	}
	rows := columnar.NewBatch(schema, []*columnar.Column{
		columnar.NewFixed(schema.Fields[0].Type, make([]int64, n), nil), columnar.NewStrings(texts),
		columnar.NewFixed(schema.Fields[2].Type, make([]float64, n), nil), columnar.NewFixed(schema.Fields[3].Type, make([]int64, n), nil),
	}, n)
	var h rowHash
	for b.Loop() {
		h.add(rows)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}
