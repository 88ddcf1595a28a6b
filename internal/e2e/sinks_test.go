package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/testdirs"
	"github.com/wstream/wstream/internal/testservice"
)

// target is a sink of the table of promises: its block of the pipeline, and how to read what it has. Rows are "url cnt".
type target struct {
	block string
	rows  func(t *testing.T, s *stage, printed string) []string
	twice bool // the promise is at least once
}

// targets are all sinks that keep what they are given, with each way of writing that has a promise of its own. Those of services
// skip the test where the service is not there.
func targets() map[string]func(t *testing.T, unique string) target {
	out := map[string]func(t *testing.T, unique string) target{
		"console":             consoleTarget,
		"http":                httpTarget,
		"nats":                natsTarget,
		"kafka":               func(t *testing.T, unique string) target { return topicTarget(t, unique, true) },
		"kafka/at least once": func(t *testing.T, unique string) target { return topicTarget(t, unique, false) },
		"foreachBatch": func(*testing.T, string) target {
			return target{block: "    from: result\n    foreachBatch: clicks.upsert", rows: placed("foreachBatch")}
		},
		"delta": func(*testing.T, string) target {
			return target{block: "    from: result\n    format: delta\n    options: {path: out}", rows: placed("delta")}
		},
		"delta/partitioned": func(*testing.T, string) target {
			return target{block: "    from: result\n    format: delta\n    options: {path: out, partitionBy: cnt, maxFileSize: \"1\"}", rows: placed("delta")}
		},
	}
	for _, format := range []string{"json", "csv", "parquet", "avro", "arrow", "text"} {
		out[format] = func(*testing.T, string) target { return fileTarget(format) }
	}
	for _, mode := range []string{"append", "upsert"} {
		more := "mode: " + mode
		if mode == "upsert" {
			more += ", key: [url]"
		}
		out["sqlite/"+mode] = func(*testing.T, string) target {
			return target{block: "    from: result\n    format: sqlite\n    options: {connection: analytics, table: clicks_per_window, " + more + "}", rows: placed("sqlite")}
		}
		for format, driver := range map[string]string{"postgres": "pgx", "mysql": "mysql"} {
			out[format+"/"+mode] = func(t *testing.T, unique string) target {
				dsn := ""
				if format == "postgres" {
					dsn = testservice.Postgres(t)
				} else {
					dsn = testservice.MySQL(t)
				}
				p, err := table(t, format, driver, dsn, dsn, unique)
				if err != nil {
					t.Fatal(err)
				}
				return target{
					block: strings.TrimSuffix(p.block, "}") + ", " + more + "}",
					rows:  func(t *testing.T, _ *stage, _ string) []string { return p.rows(t) },
				}
			}
		}
	}
	return out
}

func placed(sink string) func(t *testing.T, s *stage, _ string) []string {
	return func(t *testing.T, s *stage, _ string) []string { return rowsIn(t, s, sink) }
}

// fileTarget is a folder of a format, read by its manifest, and by a plain listing, which must agree once the run has ended.
func fileTarget(format string) target {
	from, read, more := "result", "SELECT url, CAST(cnt AS BIGINT) AS cnt FROM out", ""
	switch format {
	case "csv":
		more = ", header: true"
	case "text":
		from, read = "records", "SELECT substring_index(value, ' ', 1) AS url, CAST(substring_index(value, ' ', -1) AS BIGINT) AS cnt FROM out"
	}
	return target{
		block: "    from: " + from + "\n    format: " + format + "\n    options: {path: out" + more + "}",
		rows: func(t *testing.T, s *stage, _ string) []string {
			var seen [][]string
			s.check(os.MkdirAll(filepath.Join(s.dir, "listed"), 0o755))
			files, err := filepath.Glob(filepath.Join(s.dir, "out", "part-*"))
			s.check(err)
			for _, f := range files {
				s.check(os.Link(f, filepath.Join(s.dir, "listed", filepath.Base(f))))
			}
			for _, folder := range []string{"out", "listed"} { // without the manifest it is a folder like any other
				file := filepath.Join(s.dir, "read.yaml")
				s.check(os.WriteFile(file, []byte("sources:\n  out: {format: "+format+", static: true, options: {path: "+folder+more+"}}\n"), 0o644))
				cmd := exec.Command(s.bin, "sql", "--file", file, "--format", "jsonl", read)
				var errs bytes.Buffer
				cmd.Stderr = &errs
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("read %s: %v\n%s", folder, err, errs.String())
				}
				rows := rowsOfJSON(t, out)
				slices.Sort(rows)
				seen = append(seen, rows)
			}
			if !slices.Equal(seen[0], seen[1]) {
				t.Errorf("by the manifest there are %d rows, in the files %d", len(seen[0]), len(seen[1]))
			}
			return seen[0]
		},
	}
}

func consoleTarget(*testing.T, string) target {
	return target{
		twice: true, block: "    from: records\n    format: console\n    options: {truncate: false, numRows: 1000}",
		rows: func(_ *testing.T, _ *stage, printed string) []string {
			var rows []string
			for line := range strings.Lines(printed) {
				if text := strings.Trim(strings.TrimSpace(line), "|"); strings.HasPrefix(text, "k") || strings.HasPrefix(text, "end-") {
					rows = append(rows, strings.TrimSpace(text))
				}
			}
			return rows
		},
	}
}

// httpTarget is a receiver that keeps what comes under a key once, as the promise says that it can.
func httpTarget(t *testing.T, _ string) target {
	var mu sync.Mutex
	byKey := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return // the sender was killed within it
		}
		mu.Lock()
		defer mu.Unlock()
		key := r.Header.Get("Idempotency-Key")
		if old, ok := byKey[key]; key == "" || ok && old != string(text) {
			t.Errorf("key %q came with %q, and before with %q", key, text, old)
		}
		byKey[key] = string(text)
	}))
	t.Cleanup(server.Close)
	return target{
		block: fmt.Sprintf("    from: result\n    format: http\n    options: {url: %q, maxRowsPerRequest: 5}", server.URL),
		rows: func(t *testing.T, _ *stage, _ string) []string {
			mu.Lock()
			defer mu.Unlock()
			var rows []string
			for _, text := range byKey {
				rows = append(rows, rowsOfJSON(t, []byte(text))...)
			}
			return rows
		},
	}
}

func topicTarget(t *testing.T, unique string, transactional bool) target {
	p, err := topicPlace(t, unique)
	if err != nil {
		t.Fatal(err)
	}
	return target{
		block: strings.TrimSuffix(p.block, "}") + fmt.Sprintf(", transactional: %t}", transactional), twice: !transactional,
		rows: func(t *testing.T, _ *stage, _ string) []string { return p.rows(t) },
	}
}

func natsTarget(t *testing.T, unique string) target {
	url := testservice.NATS(t)
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: unique, Subjects: []string{unique + ".>"}, Duplicates: 100 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { js.DeleteStream(context.Background(), unique) }) //nolint:errcheck // it has a name of its own
	return target{
		block: fmt.Sprintf("    from: records\n    format: nats\n    options: {servers: %q, stream: %s, subject: %s.rows}", url, unique, unique),
		rows: func(t *testing.T, _ *stage, _ string) []string {
			stream, err := js.Stream(t.Context(), unique)
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			for seq := uint64(1); seq <= stream.CachedInfo().State.LastSeq; seq++ {
				m, err := stream.GetMsg(t.Context(), seq)
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, string(m.Data))
			}
			return rows
		},
	}
}

// sinkPoints are the crash points around a sink: half a batch written, all of it written and not shown, shown and not committed,
// half of the commit's entry, and committed before the sources hear of it.
func sinkPoints() []string {
	return []string{failpoint.SinkPartial, failpoint.SinkStaged, failpoint.SinkPublished, failpoint.CommitLogPartial, failpoint.CommitDurable}
}

// TestSinksKilled kills the program (SIGKILL) at each crash point of each sink, in the first batch and in a later one, starts it
// again, and compares what the sink has with its promise. Without WSTREAM_SOAK one of the two batches is taken, in turn.
func TestSinksKilled(t *testing.T) {
	testdirs.Program(t)
	a := &answers{by: map[string][]string{}}
	want := slices.Sorted(slices.Values(a.of(t, "stateless", matrixFiles)))
	var names []string
	for name := range targets() {
		names = append(names, name)
	}
	slices.Sort(names)
	soak := os.Getenv("WSTREAM_SOAK") != ""
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			for k, point := range sinkPoints() {
				for b, batch := range []int64{0, 3} {
					if !soak && (i+k+b)%2 != 0 {
						continue
					}
					t.Run(fmt.Sprintf("%s@%d", point, batch), func(t *testing.T) {
						t.Parallel()
						killAt(t, targets()[name], point, batch, want)
					})
				}
			}
		})
	}
}

// killAt runs one of the kills.
func killAt(t *testing.T, makeTarget func(t *testing.T, unique string) target, point string, batch int64, want []string) {
	d := makeTarget(t, fmt.Sprintf("s%d", time.Now().UnixNano()))
	s := newStage(t, "stateless", d.block, 100, "")
	s.writeInput(0, matrixFiles)
	var printed bytes.Buffer
	run := func(args ...string) bool {
		cmd := s.command(append(append([]string{"run", "--available-now"}, args...), filepath.Join(s.dir, "p.yaml"))...)
		out, err := cmd.CombinedOutput()
		printed.Write(out)
		s.history.look(t)
		return s.wasKilled(cmd, err, out)
	}
	if !run("--fail-at", fmt.Sprintf("%s@batch=%d", point, batch)) {
		t.Fatalf("%s did not come by: this has tested nothing", point)
	}
	run()
	s.history.check(t)
	got := slices.Sorted(slices.Values(d.rows(t, s, printed.String())))
	if d.twice {
		if one := slices.Compact(slices.Clone(got)); !slices.Equal(one, want) {
			t.Errorf("the sink has %d different rows of %d, want %d\n%s", len(one), len(got), len(want), strings.Join(one, "\n"))
		}
		return
	}
	if !slices.Equal(got, want) {
		t.Errorf("the sink has %d rows, want %d\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
}
