package checkpoint

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/internal/vfs"
	"github.com/wstream/wstream/state"
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

// BenchmarkBatch is the durable part of a batch with state on the real disk: offset entry, state, commit entry. Without
// changes the state needs no sync of its own.
func BenchmarkBatch(b *testing.B) {
	for _, changes := range []int{0, 1, 100} {
		b.Run(fmt.Sprintf("changes=%d", changes), func(b *testing.B) {
			dir := b.TempDir() + "/ck"
			opts := options()
			opts.SegmentBytes = 0
			c, err := Open(vfs.OS(), dir, opts)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			db, err := state.Open(state.Options{Dir: dir + "/state", QueryID: c.QueryID(), Partitions: 2})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			s, err := db.Store(state.StoreSpec{Name: "0.count", Operator: "count"})
			if err != nil {
				b.Fatal(err)
			}
			if err := db.Load(-1); err != nil {
				b.Fatal(err)
			}
			var times []time.Duration
			for batch := range int64(b.N) {
				t := time.Now()
				if err := plan(c, batch); err != nil {
					b.Fatal(err)
				}
				for i := range changes {
					key := fmt.Appendf(nil, "key-%d", i)
					hash := columnar.HashBytes(key)
					part := s.Part(columnar.Bucket(hash) % 2)
					ref, _ := part.Upsert(hash, key, 8)
					part.Mut(ref)[0]++
				}
				if _, err := db.Commit(batch); err != nil {
					b.Fatal(err)
				}
				if err := finish(c, batch); err != nil {
					b.Fatal(err)
				}
				from, err := c.Purge(100)
				if err != nil {
					b.Fatal(err)
				}
				if err := db.Purge(from); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(t))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
		})
	}
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
