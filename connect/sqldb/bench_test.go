package sqldb

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/testservice"
)

// BenchmarkUpsert writes 100,000 rows of a window, a text and two numbers in one batch, as an aggregation in update mode
// does; the second time all rows are there.
func BenchmarkUpsert(b *testing.B) {
	const n = 100_000
	ddl := "window_start TIMESTAMP NOT NULL, url STRING NOT NULL, cnt BIGINT, total DOUBLE"
	schema, err := columnar.ParseDDL(ddl)
	if err != nil {
		b.Fatal(err)
	}
	times, cnt, total, urls := make([]int64, n), make([]int64, n), make([]float64, n), make([]string, n)
	for i := range times {
		times[i], cnt[i], total[i], urls[i] = int64(i%100)*600_000_000, int64(i), float64(i)/7, fmt.Sprintf("/page/%d", i/100)
	}
	rows := columnar.NewBatch(schema, []*columnar.Column{
		columnar.NewFixed(columnar.Timestamp, times, nil), columnar.NewStrings(urls), columnar.NewFixed(columnar.Int64, cnt, nil),
		columnar.NewFixed(columnar.Float64, total, nil),
	}, n)
	for _, driver := range []string{"sqlite", "postgres", "mysql"} {
		b.Run(driver, func(b *testing.B) {
			c := connector.Connection{Name: "db", Driver: driver}
			switch driver {
			case "sqlite":
				c.DSN = filepath.Join(b.TempDir(), "bench.db")
			case "postgres":
				c.DSN = testservice.Postgres(b)
			case "mysql":
				c.DSN = testservice.MySQL(b)
			}
			db, err := Open(connector.Env{}, c)
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			ctx := context.Background()
			if err := db.retry(ctx, func(s session) error { _, err := s.exec(ctx, "DROP TABLE IF EXISTS bench"); return err }); err != nil {
				b.Fatal(err)
			}
			s, err := newSink(driver, environment(c, "sink", nil), connector.NewOptions(map[string]string{
				"connection": "db", "table": "bench", "mode": "upsert", "key": "window_start,url",
			}))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			id := int64(b.N) * 1_000_000
			for b.Loop() {
				id++
				if err := write(ctx, s, connector.BatchInfo{QueryID: fmt.Sprint(b.Name(), id), BatchID: id, Schema: schema}, rows); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
