package connect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const deltaHead = `
name: test
sources:
  input:
    format: json
    schema: k STRING, n INT, ts TIMESTAMP, d DECIMAL(10,2)
    options: {path: in, maxFilesPerTrigger: 1}
`

const deltaTable = `
name: test
sources:
  table: {format: delta, options: {path: table, maxFilesPerTrigger: 1}}
  fixed: {format: delta, static: true, options: {path: table}}
`

func deltaSink(options, mode, query string) string {
	return deltaHead + "views:\n  v: {sql: \"" + query + "\"}\nsinks:\n  out:\n    from: v\n    format: delta\n    options: {path: table" + options +
		"}\n    outputMode: " + mode + "\n    trigger: {availableNow: true}\n    checkpointLocation: checkpoint\n"
}

// copied is what another query reads of the table.
func (b *bench) copied(source string) string {
	b.t.Helper()
	b.remove("copy", "checkpoint2")
	text := deltaTable + "sinks:\n  copy:\n    from: " + source + "\n    format: csv\n    options: {path: copy}\n    trigger: {availableNow: true}\n    checkpointLocation: checkpoint2\n"
	if source == "fixed" {
		b.write("one/1.json", `{"x":1}`)
		text = strings.Replace(text, "sinks:", "  one: {format: json, schema: x INT, options: {path: one}}\nviews:\n  joined: {sql: \"SELECT fixed.* FROM one CROSS JOIN fixed\"}\nsinks:", 1)
		text = strings.Replace(text, "from: fixed", "from: joined", 1)
	}
	if _, err := b.run(text, "copy", ""); err != nil {
		b.t.Fatal(err)
	}
	return b.content("copy")
}

func deltaInput(b *bench, files int) {
	for i := range files {
		name := fmt.Sprintf("in/%03d.json", i)
		b.write(name, fmt.Sprintf(`{"k":"a b/%d","n":%d,"ts":"2026-10-06T12:00:%02dZ","d":"%d.5"}`+"\n"+`{"n":%d}`+"\n", i%2, i, i, i, 100+i))
		b.stamp(name, i)
	}
}

func TestDelta(t *testing.T) {
	for _, by := range []string{"", ", partitionBy: k", ", partitionBy: [ts, k]"} {
		t.Run(by, func(t *testing.T) {
			b := newBench(t)
			deltaInput(b, 3)
			text := deltaSink(by, "append", "SELECT * FROM input")
			survives(t, b, text, "out", func() { b.remove("table", "checkpoint") }, func() string { return b.copied("fixed") })
			got, want := b.copied("table"), ""
			for i := range 3 {
				row := fmt.Sprintf("a b/%d,%d,2026-10-06T12:00:%02d.000Z,%d.50\n,%d,,\n", i%2, i, i, i, 100+i)
				want += row
			}
			if got != sorted(want) {
				t.Errorf("got\n%swant\n%s", got, sorted(want))
			}
			if again := b.copied("fixed"); again != got {
				t.Errorf("as a static table\n%sas a stream\n%s", again, got)
			}
			// Every Parquet file is one that the log names: no crash has left others.
			log := ""
			commits, _ := filepath.Glob(filepath.Join(b.dir, "table", "_delta_log", "*.json"))
			for _, c := range commits {
				text, _ := os.ReadFile(c)
				log += string(text)
			}
			filepath.Walk(filepath.Join(b.dir, "table"), func(path string, _ os.FileInfo, _ error) error {
				if name := filepath.Base(path); strings.HasSuffix(name, ".parquet") && !strings.Contains(log, name) {
					t.Errorf("left behind: %s", name)
				}
				return nil
			})
		})
	}
}

func TestDeltaComplete(t *testing.T) {
	b := newBench(t)
	deltaInput(b, 3)
	text := deltaSink("", "complete", "SELECT k, sum(n) AS total FROM input GROUP BY k")
	survives(t, b, text, "out", func() { b.remove("table", "checkpoint") }, func() string { return b.copied("fixed") })
	if got, want := b.copied("fixed"), ",303\na b/0,2\na b/1,1\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestDeltaCheckpoint reads a table whose first versions only a checkpoint has.
func TestDeltaCheckpoint(t *testing.T) {
	b := newBench(t)
	deltaInput(b, 25)
	b.mustRun(deltaSink(", partitionBy: k", "append", "SELECT * FROM input"), "out")
	want := b.copied("fixed")
	for v := range 15 {
		b.remove(fmt.Sprintf("table/_delta_log/%020d.json", v))
	}
	if got := b.copied("fixed"); got != want || strings.Count(got, "\n") != 50 {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if text, err := os.ReadFile(filepath.Join(b.dir, "table/_delta_log/_last_checkpoint")); err != nil || !strings.Contains(string(text), `"version":20`) {
		t.Errorf("_last_checkpoint: %s, %v", text, err)
	}
}

func TestDeltaSchema(t *testing.T) {
	b := newBench(t)
	deltaInput(b, 1)
	b.mustRun(deltaSink("", "append", "SELECT k, n FROM input"), "out")
	b.remove("checkpoint")
	if _, err := b.run(deltaSink("", "append", "SELECT k, ts FROM input"), "out", ""); err == nil || !strings.Contains(err.Error(), `no column "ts"; set mergeSchema`) {
		t.Errorf("new column: %v", err)
	}
	if _, err := b.run(deltaSink("", "append", "SELECT k, CAST(n AS STRING) AS n FROM input"), "out", ""); err == nil || !strings.Contains(err.Error(), `column "n" is INT, the rows have STRING`) {
		t.Errorf("other type: %v", err)
	}
	b.remove("checkpoint")
	b.mustRun(deltaSink(", mergeSchema: true", "append", "SELECT K, d FROM input"), "out")
	if got, want := b.copied("fixed"), ",,\n,100,\na b/0,,0.50\na b/0,0,\n"; got != sorted(want) {
		t.Errorf("got\n%swant\n%s", got, sorted(want))
	}
}
