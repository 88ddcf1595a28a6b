// Package e2e runs the built program against real services: a broker, a database, kill -9.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/wstream/wstream/internal/generate"
	"github.com/wstream/wstream/internal/testdirs"
	"github.com/wstream/wstream/internal/testservice"
)

// number reads a whole number from the environment.
func number(name string, def int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return def
}

// pipeline is the main job: clicks from a topic or a folder, a Wasm parse and filter, counts per window and
// url, to the console, to Parquet and to a database through a Wasm foreachBatch.
const pipeline = `name: clicks-per-window
modules:
  clicks:
    path: clicks.wasm
    config: {connection: analytics, min_amount: "1"}
    allow: ["sql:analytics"]
connections:
  analytics: {driver: %s, dsn: %q}
sources:
  raw:
%s
views:
  events:
    from: raw
    steps:
      - parse: clicks.parse
      - filter: clicks.is_human
      - watermark: {column: event_time, delay: 10 minutes}
    onError: skip
  per_window:
    sql: |
      SELECT window.start AS window_start, window.end AS window_end, url, count(*) AS cnt
      FROM events GROUP BY window(event_time, '10 minutes'), url
sinks:
  shown: {from: per_window, format: console, outputMode: update, options: {numRows: 3}}
  archive:
    from: per_window
    format: parquet
    options: {path: out}
    checkpointLocation: checkpoint/archive
  table:
    from: per_window
    foreachBatch: clicks.upsert
    outputMode: update
    checkpointLocation: checkpoint/table
`

// key is a window and a url.
type key struct {
	start int64 // seconds since the epoch
	url   string
}

// generated computes the answer from the generator's lines.
func generated(t *testing.T, kind generate.Kind, rows int) map[key]int64 {
	t.Helper()
	gen := kind.Rows(generate.Part{Seed: 7, Total: rows})
	var lines []byte
	for range rows {
		lines = append(gen.Append(lines), '\n')
	}
	return expected(t, lines)
}

// inFolder computes the answer from the files of a folder.
func inFolder(t *testing.T, dir string) map[key]int64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []byte
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, b...)
	}
	return expected(t, lines)
}

// expected computes the answer row by row: what is counted, and by how much.
func expected(t *testing.T, lines []byte) map[key]int64 {
	t.Helper()
	out := map[key]int64{}
	for line := range bytes.Lines(lines) {
		var c struct {
			EventTime time.Time `json:"event_time"`
			URL       string    `json:"url"`
			Amount    *float64  `json:"amount"`
			UA        string    `json:"ua"`
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		ua := strings.ToLower(c.UA)
		if c.Amount != nil && *c.Amount < 1 || strings.Contains(ua, "bot") || strings.Contains(ua, "crawl") || strings.Contains(ua, "spider") {
			continue
		}
		out[key{c.EventTime.Unix() / 600 * 600, c.URL}]++
	}
	return out
}

// produce fills a topic of four partitions, and puts a few broken records between the clicks.
func produce(t *testing.T, addr, topic string, kind generate.Kind, rows int) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(topic), kgo.MaxBufferedRecords(100_000))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx := context.Background()
	if _, err := kadm.NewClient(cl).CreateTopic(ctx, 4, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
	gen := kind.Rows(generate.Part{Seed: 7, Total: rows})
	for i := range rows {
		if i%10_000 == 0 {
			cl.Produce(ctx, &kgo.Record{Value: []byte(`{"broken":`)}, nil)
		}
		cl.Produce(ctx, &kgo.Record{Value: gen.Append(nil)}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := cl.Flush(ctx); err != nil {
		t.Fatal(err)
	}
}

// setUp writes the pipeline into a new folder.
func setUp(t *testing.T, driver, dsn, source string) string {
	t.Helper()
	dir := t.TempDir()
	wasm, err := os.ReadFile("../../testdata/guests/clicks.wasm")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"clicks.wasm": wasm, "clicks.yaml": fmt.Appendf(nil, pipeline, driver, dsn, source)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// killed runs the pipeline to its end, killing it kills times at random moments before.
func killed(t *testing.T, bin, dir string, kills int, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	happened := 0
	for start := 0; ; start++ {
		cmd := exec.Command(bin, "run", "--available-now", filepath.Join(dir, "clicks.yaml"))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = nil, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		if happened < kills {
			select {
			case <-time.After(time.Duration(100+rng.IntN(1200)) * time.Millisecond):
				if err := cmd.Process.Signal(syscall.SIGKILL); err == nil {
					happened++
				}
				<-done
				continue
			case err := <-done:
				if err != nil {
					t.Fatalf("start %d: %v\n%s", start, err, out.String())
				}
				if start == 0 {
					t.Log("the run ended before the first kill")
				}
			}
		} else {
			if err := <-done; err != nil {
				t.Fatalf("start %d: %v\n%s", start, err, out.String())
			}
		}
		t.Logf("seed %d: %d kills, %d starts", seed, happened, start+1)
		return
	}
}

// compare reads the table and compares it with the answer.
func compare(t *testing.T, db *sql.DB, query string, want map[key]int64) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n, bad := 0, 0
	for rows.Next() {
		var start, cnt int64
		var url string
		if err := rows.Scan(&start, &url, &cnt); err != nil {
			t.Fatal(err)
		}
		n++
		if w := want[key{start, url}]; w != cnt {
			if bad++; bad < 10 {
				t.Errorf("window %s, url %s: the table has %d, expected %d", time.Unix(start, 0).UTC(), url, cnt, w)
			}
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if n != len(want) || bad > 0 {
		t.Errorf("the table has %d rows (%d wrong), expected %d", n, bad, len(want))
	}
}

// TestClicksKilledPostgres is the main job over a real broker and a real PostgreSQL with kill -9 on the way.
// WSTREAM_CLICKS and WSTREAM_KILLS change its size, WSTREAM_TEST_SEED the moments.
func TestClicksKilledPostgres(t *testing.T) {
	bin, broker, dsn := testdirs.Program(t), testservice.Kafka(t), testservice.Postgres(t)
	rows, kills := number("WSTREAM_CLICKS", 200_000), number("WSTREAM_KILLS", 5)
	kind := mustFind(t)
	topic := fmt.Sprintf("clicks-pg-%d", time.Now().UnixNano())
	produce(t, broker, topic, kind, rows)
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{`DROP TABLE IF EXISTS clicks_per_window`} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	dir := setUp(t, "postgres", dsn, kafkaSource(broker, topic))
	killed(t, bin, dir, kills, seed())
	compare(t, db, `SELECT extract(epoch FROM window_start)::bigint, url, cnt FROM clicks_per_window`, generated(t, kind, rows))
	checkArchive(t, bin, dir, generated(t, kind, rows))
}

// TestClicksKilledSQLite is the same with SQLite, by changing the connection alone.
func TestClicksKilledSQLite(t *testing.T) {
	bin, broker := testdirs.Program(t), testservice.Kafka(t)
	rows, kills := number("WSTREAM_CLICKS", 200_000), number("WSTREAM_KILLS", 5)
	kind := mustFind(t)
	topic := fmt.Sprintf("clicks-lite-%d", time.Now().UnixNano())
	produce(t, broker, topic, kind, rows)
	dir := setUp(t, "sqlite", "counts.db", kafkaSource(broker, topic))
	killed(t, bin, dir, kills, seed())
	compareSQLite(t, dir, generated(t, kind, rows))
	checkArchive(t, bin, dir, generated(t, kind, rows))
}

// TestClicksFilesKilled reads a folder instead of the topic, by changing one block of the file.
func TestClicksFilesKilled(t *testing.T) {
	bin := testdirs.Program(t)
	rows, kills := number("WSTREAM_CLICKS", 200_000), number("WSTREAM_KILLS", 5)
	kind := mustFind(t)
	dir := setUp(t, "sqlite", "counts.db", "    format: text\n    options: {path: in, maxFilesPerTrigger: 2}")
	if err := (generate.Files{Dir: filepath.Join(dir, "in"), Rows: rows, Files: 10, Seed: 7}).Write(context.Background(), kind); err != nil {
		t.Fatal(err)
	}
	killed(t, bin, dir, kills, seed())
	compareSQLite(t, dir, inFolder(t, filepath.Join(dir, "in")))
	checkArchive(t, bin, dir, inFolder(t, filepath.Join(dir, "in")))
}

func mustFind(t *testing.T) generate.Kind {
	t.Helper()
	k, err := generate.Find("clicks")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func seed() uint64 {
	return uint64(number("WSTREAM_TEST_SEED", int(time.Now().UnixNano()%1_000_000)))
}

func kafkaSource(broker, topic string) string {
	return fmt.Sprintf("    format: kafka\n    options: {kafka.bootstrap.servers: %q, subscribe: %s, startingOffsets: earliest, maxOffsetsPerTrigger: 40000}", broker, topic)
}

func compareSQLite(t *testing.T, dir string, want map[key]int64) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "counts.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	compare(t, db, `SELECT CAST(strftime('%s', window_start) AS INTEGER), url, cnt FROM clicks_per_window`, want)
}

// checkArchive reads the Parquet files back: every row right, none twice, no window before the last ones missing.
func checkArchive(t *testing.T, bin, dir string, want map[key]int64) {
	t.Helper()
	f := filepath.Join(dir, "archive.yaml")
	text := "sources:\n  archive: {format: parquet, static: true, options: {path: out}}\n"
	if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "sql", "--file", f, "--format", "jsonl", "SELECT unix_seconds(window_start) AS s, url, cnt FROM archive")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("read the archive: %v", err)
	}
	seen := map[key]bool{}
	last := int64(0)
	sc := bufio.NewScanner(bytes.NewReader(out))
	for sc.Scan() {
		var r struct {
			S   int64  `json:"s"`
			URL string `json:"url"`
			Cnt int64  `json:"cnt"`
		}
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", sc.Text(), err)
		}
		k := key{r.S, r.URL}
		if seen[k] {
			t.Fatalf("archive: %v stands there twice", k)
		}
		seen[k] = true
		last = max(last, r.S)
		if want[k] != r.Cnt {
			t.Fatalf("archive: %v has %d, expected %d", k, r.Cnt, want[k])
		}
	}
	for k := range want {
		if k.start <= last && !seen[k] {
			t.Fatalf("archive: %v is missing", k)
		}
	}
	t.Logf("archive: %d rows", len(seen))
}
