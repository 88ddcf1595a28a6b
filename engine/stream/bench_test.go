package stream

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/memory"
	"github.com/wstream/wstream/internal/vfs"
)

// BenchmarkSmallBatch is the time of a durable batch with a row, state included, on the real file system: what a batch costs
// that does nothing. It reports the median and the 99th percentile.
func BenchmarkSmallBatch(b *testing.B) {
	s := memory.NewStream(timesSchema)
	spec := Spec{
		Name: "bench", Plan: watermarkPlan(0, false, 0, "in"), Trigger: Trigger{Kind: Manual}, Checkpoint: b.TempDir(), CheckpointFS: vfs.OS(),
		Sources: map[string]Source{"in": {Kind: "memory", Open: func(connector.Env) (connector.Source, error) { return s.Source(), nil }}},
		Sink:    Sink{Kind: "memory", Open: func(connector.Env) (connector.Sink, error) { return memory.NewSink(), nil }},
		compile: compileWindows(false, false),
	}
	q, err := Start(context.Background(), spec)
	if err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for b.Loop() {
		s.Add(times(1, 2, 3))
		began := time.Now()
		if err := q.ProcessAllAvailable(b.Context()); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	if err := q.Stop(b.Context()); err != nil {
		b.Fatal(err)
	}
}
