package exec

import (
	"fmt"
	"testing"

	"github.com/wstream/wstream/columnar"
)

// BenchmarkKeyTable assigns groups by a window and a string.
func BenchmarkKeyTable(b *testing.B) {
	const rows = 8192
	for _, keys := range []int{1000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint("keys=", keys), func(b *testing.B) {
			var in [][]*columnar.Column
			x := uint64(1)
			for n := range 64 {
				start, end, u := make([]int64, rows), make([]int64, rows), columnar.NewBuilder(columnar.String, rows)
				for i := range rows {
					x = x*6364136223846793005 + 1442695040888963407
					start[i] = int64(n/16) * 600e6
					end[i] = start[i] + 600e6
					u.AppendString(fmt.Sprintf("https://example.com/page/%06d", x>>33%uint64(keys)))
				}
				in = append(in, []*columnar.Column{windowColumn(windowType, start, end), u.Finish()})
			}
			t := newKeyTable(newKeyShape([]*columnar.Type{windowType, columnar.String}))
			group := make([]uint32, rows)
			b.ResetTimer()
			cpu := cpuTime()
			for i := range b.N {
				if err := t.assign(in[i%64], rows, group); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N)/rows, "cpu-ns/row")
		})
	}
}
