package checkpoint

import (
	"slices"
	"testing"
	"time"

	"github.com/wstream/wstream/internal/vfs"
)

// BenchmarkEmptyBatch is the durable part of a batch without state on the real disk: one offset entry, one commit entry.
func BenchmarkEmptyBatch(b *testing.B) {
	opts := options()
	opts.SegmentBytes = 0
	c, err := Open(vfs.OS(), b.TempDir()+"/ck", opts)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var times []time.Duration
	for batch := range int64(b.N) {
		t := time.Now()
		if err := plan(c, batch); err != nil {
			b.Fatal(err)
		}
		if err := finish(c, batch); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(t))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkOpen is a start on a checkpoint of 1,000 batches.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir() + "/ck"
	opts := options()
	opts.SegmentBytes = 0
	c, err := Open(vfs.OS(), dir, opts)
	if err != nil {
		b.Fatal(err)
	}
	run(b, c, 0, 999)
	c.Close()
	b.ResetTimer()
	for range b.N {
		c, err := Open(vfs.OS(), dir, opts)
		if err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}
