package sqldb

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/testservice"
)

// benchRows are 100,000 rows of a window, a text and two numbers.
func benchRows(b *testing.B) *columnar.Batch {
	b.Helper()
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
	return columnar.NewBatch(schema, []*columnar.Column{
		columnar.NewFixed(columnar.Timestamp, times, nil), columnar.NewStrings(urls), columnar.NewFixed(columnar.Int64, cnt, nil),
		columnar.NewFixed(columnar.Float64, total, nil),
	}, n)
}

// benchSink is an empty table and the sink that upserts into it.
func benchSink(b *testing.B, driver string, c connector.Connection) connector.Sink {
	b.Helper()
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
	b.Cleanup(func() { s.Close() })
	return s
}

// BenchmarkUpsert writes the rows in one batch, as an aggregation in update mode does; the second time all rows are there.
func BenchmarkUpsert(b *testing.B) {
	rows := benchRows(b)
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
			ctx, s := context.Background(), benchSink(b, driver, c)
			id := int64(b.N) * 1_000_000
			for b.Loop() {
				id++
				if err := write(ctx, s, connector.BatchInfo{QueryID: fmt.Sprint(b.Name(), id), BatchID: id, Schema: rows.Schema}, rows); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*rows.Rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkUpsertBesideCopy does the job of one batch in turns with the sink and with the fastest thing that PostgreSQL has
// for it: COPY into a temporary table and one INSERT … ON CONFLICT from there. It reports how many times longer the sink takes.
func BenchmarkUpsertBesideCopy(b *testing.B) {
	rows := benchRows(b)
	c := connector.Connection{Name: "db", Driver: "postgres", DSN: testservice.Postgres(b)}
	ctx, s := context.Background(), benchSink(b, "postgres", c)
	conn, err := pgx.Connect(ctx, c.DSN)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "DROP TABLE IF EXISTS bench_copy; CREATE TABLE bench_copy "+
		"(window_start timestamptz NOT NULL, url text NOT NULL, cnt bigint, total double precision, PRIMARY KEY (window_start, url))"); err != nil {
		b.Fatal(err)
	}
	values := make([][]any, rows.Rows)
	times, cnt, total := columnar.Values[int64](rows.Columns[0]), columnar.Values[int64](rows.Columns[2]), columnar.Values[float64](rows.Columns[3])
	for i := range values {
		values[i] = []any{time.UnixMicro(times[i]), rows.Columns[1].StringAt(i), cnt[i], total[i]}
	}
	var ours, copies time.Duration
	id := int64(b.N) * 1_000_000
	for b.Loop() {
		id++
		begin := time.Now()
		if err := write(ctx, s, connector.BatchInfo{QueryID: fmt.Sprint(b.Name(), id), BatchID: id, Schema: rows.Schema}, rows); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(begin)
		begin = time.Now()
		if err := copyAndInsert(ctx, conn, values); err != nil {
			b.Fatal(err)
		}
		copies += time.Since(begin)
	}
	b.ReportMetric(float64(b.N*rows.Rows)/ours.Seconds(), "rows/s")
	b.ReportMetric(float64(b.N*rows.Rows)/copies.Seconds(), "copy-rows/s")
	b.ReportMetric(ours.Seconds()/copies.Seconds(), "times-copy")
}

// copyAndInsert upserts values into bench_copy.
func copyAndInsert(ctx context.Context, conn *pgx.Conn, values [][]any) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "CREATE TEMPORARY TABLE batch (LIKE bench_copy) ON COMMIT DROP"); err != nil {
			return err
		}
		columns := []string{"window_start", "url", "cnt", "total"}
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{"batch"}, columns, pgx.CopyFromRows(values)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO bench_copy SELECT * FROM batch ON CONFLICT (window_start, url) "+
			"DO UPDATE SET cnt = excluded.cnt, total = excluded.total")
		return err
	})
}
