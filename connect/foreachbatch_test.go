package connect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clicksPipeline counts clicks per window with the C guest's foreachBatch function.
func clicksPipeline(t *testing.T, b *bench, d *database) string {
	t.Helper()
	for i, minutes := range [][]int{{1, 2, 11}, {3, 12}, {25, 1}} {
		var text strings.Builder
		for k, m := range minutes {
			fmt.Fprintf(&text, `{"event_time":"2026-10-06T12:%02d:00Z","url":"/p%d"}`+"\n", m, k%2)
		}
		name := fmt.Sprintf("clicks/%d.json", i)
		b.write(name, text.String())
		b.stamp(name, i)
	}
	wasm, err := os.ReadFile("../testdata/guests/clicks.wasm")
	if err != nil {
		t.Fatal(err)
	}
	b.write("clicks.wasm", string(wasm))
	return fmt.Sprintf(`
name: test
modules:
  clicks: {path: clicks.wasm, allow: ["sql:db"], config: {connection: db}}
connections:
  db: {driver: %s, dsn: %q}
sources:
  input:
    format: json
    schema: event_time TIMESTAMP, url STRING
    options: {path: clicks, maxFilesPerTrigger: 1}
views:
  counts: {sql: "SELECT window.start AS window_start, window.end AS window_end, url, count(*) AS cnt FROM input GROUP BY window(event_time, '10 minutes'), url"}
sinks:
  out:
    from: counts
    foreachBatch: clicks.upsert
    outputMode: update
    trigger: {availableNow: true}
    checkpointLocation: checkpoint
`, d.format, d.dsn)
}

func TestForeachBatch(t *testing.T) {
	databases(t, func(t *testing.T, b *bench, d *database) {
		text := clicksPipeline(t, b, d)
		content := func() string {
			return sorted(d.rows(t, "SELECT substr(cast(window_start as char(30)), 12, 5), url, cnt FROM clicks_per_window"))
		}
		survives(t, b, text, "out", func() { b.reset(t, d, "clicks_per_window") }, content)
		if got, want := content(), "12:00 /p0 2\n12:00 /p1 2\n12:10 /p0 1\n12:10 /p1 1\n12:20 /p0 1\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		// A batch that the ledger has is not handed over again, whatever has become of its rows.
		b.reset(t, d, "clicks_per_window")
		if _, err := b.run(text, "out", "sink.published@batch=2=err"); err == nil {
			t.Fatal("the point did not fire")
		}
		d.exec(t, "DELETE FROM clicks_per_window")
		b.mustRun(text, "out")
		if got := content(); got != "" {
			t.Errorf("the batch was written twice:\n%s", got)
		}
	})
}

// TestForeachBatchDenied shows that a guest without the capability learns so.
func TestForeachBatchDenied(t *testing.T) {
	b := newBench(t)
	d := &database{format: "sqlite", dsn: filepath.Join(b.dir, "test.db")}
	text := strings.Replace(clicksPipeline(t, b, d), `allow: ["sql:db"], `, "", 1)
	_, err := b.run(text, "out", "")
	if err == nil || !strings.Contains(err.Error(), "the pipeline does not allow sql on the connection") {
		t.Errorf("got %v", err)
	}
}
