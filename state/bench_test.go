//go:build unix

package state

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wstream/wstream/columnar"
)

// appendKey appends the encoding of the string "user-K".
func appendKey(k *columnar.RowKeys, key int) {
	s := fmt.Sprintf("user-%d", key)
	k.Data = append(k.Data, 1)
	k.Data = binary.LittleEndian.AppendUint32(k.Data, uint32(len(s)))
	k.Data = append(k.Data, s...)
	k.Offsets = append(k.Offsets, int32(len(k.Data)))
}

const benchBlock = 8192

// benchBlocks returns blocks of keys that next gives.
func benchBlocks(rows int, next func() int) (out []*columnar.RowKeys) {
	for rows > 0 {
		k := &columnar.RowKeys{Offsets: []int32{0}}
		for range min(rows, benchBlock) {
			appendKey(k, next())
		}
		rows -= benchBlock
		out = append(out, k)
	}
	return out
}

func openBench(b *testing.B, opts Options) (*DB, *Store) {
	db, err := Open(opts)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	s, err := db.Store(StoreSpec{Name: "0.count", Operator: "count", KeySchema: "k STRING", ValueSchema: "n BIGINT"})
	if err != nil {
		b.Fatal(err)
	}
	if err := db.Load(-1); err != nil {
		b.Fatal(err)
	}
	return db, s
}

// count adds one to every key of the blocks, on as many goroutines as there are parts.
func count(s *Store, blocks []*columnar.RowKeys) {
	var wg sync.WaitGroup
	parts := s.db.Partitions()
	for p := range parts {
		wg.Go(func() {
			part := s.Part(p)
			var hashes []uint64
			var sel []int32
			refs := make([]Ref, benchBlock)
			for _, k := range blocks {
				hashes = k.Hashes(hashes)
				sel = sel[:0]
				for j, h := range hashes {
					if int(BucketOf(h))%parts == p {
						sel = append(sel, int32(j))
					}
				}
				part.UpsertRows(k, hashes, sel, 8, refs[:len(sel)], nil)
				for _, ref := range refs[:len(sel)] {
					v := part.Mut(ref)
					binary.LittleEndian.PutUint64(v, binary.LittleEndian.Uint64(v)+1)
				}
			}
		})
	}
	wg.Wait()
}

// cpuTime is the processor time of the process, which says more than the clock on a machine that is shared.
func cpuTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkUpdate counts rows per key: hash, split by part, look up, add one, and commit every 500,000 rows. It reports
// rows per second on two goroutines, commits included.
func BenchmarkUpdate(b *testing.B) {
	const batchBlocks = 500_000 / benchBlock
	for _, keys := range []int{1000, 100_000, 1_000_000, 5_000_000} {
		for _, dir := range []bool{false, true} {
			b.Run(fmt.Sprintf("keys=%d/disk=%v", keys, dir), func(b *testing.B) {
				opts := Options{Partitions: 2, MemoryLimit: 1 << 30}
				if dir {
					opts.Dir = b.TempDir()
				}
				db, s := openBench(b, opts)
				batch := int64(0)
				run := func(blocks []*columnar.RowKeys) {
					for chunk := range slices.Chunk(blocks, batchBlocks) {
						count(s, chunk)
						if _, err := db.Commit(batch); err != nil {
							b.Fatal(err)
						}
						batch++
					}
				}
				i := 0
				run(benchBlocks(keys, func() int { i++; return i - 1 }))
				r := rand.New(rand.NewPCG(1, 2))
				blocks := benchBlocks(min(b.N, 3_000_000), func() int { return r.IntN(keys) })
				b.ResetTimer()
				cpu := cpuTime()
				rows := 0
				for rows < b.N {
					run(blocks)
					rows += len(blocks) * benchBlock
				}
				b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
				b.ReportMetric(float64(cpuTime()-cpu)/float64(rows), "cpu-ns/row")
				b.ReportMetric(float64(s.MemoryUsed())/1e6, "MB")
				b.ReportMetric(float64(db.Metrics().Snapshots), "snapshots")
			})
		}
	}
}

// BenchmarkCold is BenchmarkUpdate of 1 M keys with memory for a half and a tenth of them.
func BenchmarkCold(b *testing.B) {
	const keys, batchBlocks = 1_000_000, 12
	for _, limit := range []int64{40 << 20, 8 << 20} {
		b.Run(fmt.Sprintf("memory=%dMiB", limit>>20), func(b *testing.B) {
			db, s := openBench(b, Options{Partitions: 2, MemoryLimit: limit, Dir: b.TempDir()})
			batch := int64(0)
			run := func(blocks []*columnar.RowKeys) {
				for chunk := range slices.Chunk(blocks, batchBlocks) {
					count(s, chunk)
					if _, err := db.Commit(batch); err != nil {
						b.Fatal(err)
					}
					batch++
				}
			}
			i := 0
			t := time.Now()
			run(benchBlocks(keys, func() int { i++; return i - 1 }))
			b.ReportMetric(keys/time.Since(t).Seconds(), "loaded/s")
			r := rand.New(rand.NewPCG(1, 2))
			blocks := benchBlocks(b.N, func() int { return r.IntN(keys) })
			b.ResetTimer()
			run(blocks)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(db.Metrics().Fetched), "fetched")
			b.ReportMetric(float64(db.Metrics().Evicted), "evicted")
		})
	}
}

// BenchmarkCommit is a commit of few changes in a table of many keys.
func BenchmarkCommit(b *testing.B) {
	for _, keys := range []int{1000, 1_000_000} {
		for _, changes := range []int{0, 1, 1000} {
			b.Run(fmt.Sprintf("keys=%d/changes=%d", keys, changes), func(b *testing.B) {
				db, s := openBench(b, Options{Partitions: 2, Dir: b.TempDir()})
				i := 0
				count(s, benchBlocks(keys, func() int { i++; return i - 1 }))
				if _, err := db.Commit(0); err != nil {
					b.Fatal(err)
				}
				r := rand.New(rand.NewPCG(1, 2))
				blocks := benchBlocks(changes, func() int { return r.IntN(keys) })
				var times []time.Duration
				b.ResetTimer()
				for i := range b.N {
					count(s, blocks)
					t := time.Now()
					if _, err := db.Commit(int64(i) + 1); err != nil {
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
}

// BenchmarkLoad is a start with 1 M keys.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	db, s := openBench(b, Options{Partitions: 2, Dir: dir})
	i := 0
	for batch, chunk := range slices.Collect(slices.Chunk(benchBlocks(1_000_000, func() int { i++; return i - 1 }), 10)) {
		count(s, chunk)
		if _, err := db.Commit(int64(batch)); err != nil {
			b.Fatal(err)
		}
	}
	version := db.Version()
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		if err := db.Load(version); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExpire keeps 1 M entries alive: each batch of 100,000 new keys expires as many old ones. The expiries are those
// of windows (few and equal) or of sessions (all different).
func BenchmarkExpire(b *testing.B) {
	for _, kind := range []string{"windows", "sessions"} {
		b.Run(kind, func(b *testing.B) {
			const perBatch, alive = 100_000, 10
			db, err := Open(Options{Partitions: 2, Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			s, err := db.Store(StoreSpec{Name: "0.dedup", Expiring: true})
			if err != nil {
				b.Fatal(err)
			}
			if err := db.Load(-1); err != nil {
				b.Fatal(err)
			}
			key := 0
			var insert, expire, commit time.Duration
			run := func(batch int64) {
				blocks := benchBlocks(perBatch, func() int { key++; return key })
				t := time.Now()
				var wg sync.WaitGroup
				for p := range 2 {
					wg.Go(func() {
						part := s.Part(p)
						r := rand.New(rand.NewPCG(uint64(batch), uint64(p)))
						var hashes []uint64
						for _, k := range blocks {
							hashes = k.Hashes(hashes)
							for j, h := range hashes {
								if int(BucketOf(h))%2 != p {
									continue
								}
								expiry := (batch + alive) * 1000
								if kind == "sessions" {
									expiry = batch*1000 + 1 + r.Int64N(2*alive*1000)
								}
								ref, _ := part.Upsert(h, k.Row(j), 0)
								part.SetExpiry(ref, expiry)
							}
						}
					})
				}
				wg.Wait()
				insert += time.Since(t)
				t = time.Now()
				for p := range 2 {
					wg.Go(func() { _, _ = s.Part(p).Expired(batch*1000, nil) })
				}
				wg.Wait()
				expire += time.Since(t)
				t = time.Now()
				if _, err := db.Commit(batch); err != nil {
					b.Fatal(err)
				}
				commit += time.Since(t)
			}
			batch := int64(0)
			for ; batch < 2*alive; batch++ {
				run(batch)
			}
			b.ResetTimer()
			insert, expire, commit = 0, 0, 0
			batches := max(b.N/perBatch, 1)
			for range batches {
				run(batch)
				batch++
			}
			rows := float64(batches * perBatch)
			b.ReportMetric(float64(insert.Nanoseconds())/rows, "insert-ns")
			b.ReportMetric(float64(expire.Nanoseconds())/rows, "expire-ns")
			b.ReportMetric(float64(commit.Nanoseconds())/rows, "commit-ns")
			b.ReportMetric(float64(s.Rows()), "rows")
		})
	}
}
