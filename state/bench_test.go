package state

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/wstream/wstream/columnar"
)

// benchKeys returns n rows with keys "user-K" encoded as a string column, K uniform below keys.
func benchKeys(r *rand.Rand, n, keys int) *columnar.RowKeys {
	k := &columnar.RowKeys{Offsets: []int32{0}}
	for range n {
		s := fmt.Sprintf("user-%d", r.IntN(keys))
		k.Data = append(k.Data, 1)
		k.Data = binary.LittleEndian.AppendUint32(k.Data, uint32(len(s)))
		k.Data = append(k.Data, s...)
		k.Offsets = append(k.Offsets, int32(len(k.Data)))
	}
	return k
}

// BenchmarkUpdate counts rows per key: hash, split by part, look up, add one, and commit every 500,000 rows. It reports
// rows per second on all cores, commits included.
func BenchmarkUpdate(b *testing.B) {
	const batchRows, block = 500_000, 8192
	for _, keys := range []int{1000, 100_000, 1_000_000, 5_000_000} {
		for _, dir := range []bool{false, true} {
			b.Run(fmt.Sprintf("keys=%d/disk=%v", keys, dir), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				opts := Options{Partitions: 2}
				if dir {
					opts.Dir = b.TempDir()
				}
				db, err := Open(opts)
				if err != nil {
					b.Fatal(err)
				}
				defer db.Close()
				s, err := db.Store(StoreSpec{Name: "0.count", Operator: "count", KeySchema: "k STRING", ValueSchema: "n BIGINT"})
				if err != nil {
					b.Fatal(err)
				}
				if err := db.Load(-1); err != nil {
					b.Fatal(err)
				}
				var blocks []*columnar.RowKeys
				for range 4 * batchRows / block {
					blocks = append(blocks, benchKeys(r, block, keys))
				}
				at, batch := 0, int64(0)
				run := func(rows int) {
					for rows > 0 {
						n := min(rows, batchRows)
						rows -= n
						var wg sync.WaitGroup
						for p := range 2 {
							wg.Go(func() {
								part := s.Part(p)
								var hashes []uint64
								sel := make([]int32, 0, block)
								refs := make([]Ref, block)
								for i := 0; i < n; i += block {
									k := blocks[(at+i/block)%len(blocks)]
									hashes = k.Hashes(hashes)
									sel = sel[:0]
									for j, h := range hashes {
										if int(BucketOf(h))%2 == p {
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
						at += n / block
						if _, err := db.Commit(batch); err != nil {
							b.Fatal(err)
						}
						batch++
					}
				}
				run(2 * keys) // most keys are there before the clock starts
				b.ResetTimer()
				run(b.N)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				b.ReportMetric(float64(s.MemoryUsed())/1e6, "MB")
			})
		}
	}
}
