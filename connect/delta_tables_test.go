package connect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// deltaReading reads a table of the folder testdata/delta, as a stream or, joined to a row, as a static table.
func deltaReading(dir, options string, static bool) string {
	text := "name: test\nsources:\n  table: {format: delta, options: {path: " + dir + options + "}}\n"
	from := "table"
	if static {
		text = strings.Replace(text, "format: delta", "format: delta, static: true", 1) +
			"  one: {format: json, schema: x INT, options: {path: one}}\nviews:\n  joined: {sql: \"SELECT `table`.* FROM one CROSS JOIN `table`\"}\n"
		from = "joined"
	}
	return text + "sinks:\n  copy:\n    from: " + from + "\n    format: json\n    options: {path: copy}\n    trigger: {availableNow: true}\n    checkpointLocation: checkpoint\n"
}

func deltaTables(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("testdata/delta/*.jsonl")
	if err != nil || len(found) == 0 {
		t.Fatalf("no tables in testdata/delta: %v", err)
	}
	for i, f := range found {
		if found[i], err = filepath.Abs(strings.TrimSuffix(f, ".jsonl")); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestDeltaTables reads tables that Spark has written with what Delta has for readers, and gives the rows that Spark reads: with
// deletion vectors, with columns mapped by name and by id, renamed, dropped and added again, with widened types, and with
// checkpoints in several files and in the newer form, behind which the log is gone.
func TestDeltaTables(t *testing.T) {
	for _, dir := range deltaTables(t) {
		for _, static := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/static=%t", filepath.Base(dir), static), func(t *testing.T) {
				want, err := os.ReadFile(dir + ".jsonl")
				if err != nil {
					t.Fatal(err)
				}
				b := newBench(t)
				b.write("one/1.json", `{"x":1}`)
				b.mustRun(deltaReading(dir, "", static), "copy")
				if got := b.content("copy"); got != sorted(string(want)) {
					t.Errorf("got\n%swant\n%s", got, want)
				}
			})
		}
	}
}

// TestDeltaChanges streams the versions of a table from its first one. Rows that a deletion vector takes away are a change of
// rows like any other: the query ends, passes over such versions, or reads what is left of the files once more.
func TestDeltaChanges(t *testing.T) {
	dir, err := filepath.Abs("testdata/delta/dv")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	if _, err := b.run(deltaReading(dir, ", startingVersion: 0", false), "copy", ""); err == nil || !strings.Contains(err.Error(), "version 3 changes rows; set skipChangeCommits to true") {
		t.Errorf("got %v", err)
	}
	b.remove("copy", "checkpoint")
	b.mustRun(deltaReading(dir, ", startingVersion: 0, skipChangeCommits: true", false), "copy")
	if got := strings.Count(b.content("copy"), "\n"); got != 40 {
		t.Errorf("%d rows were inserted, want 40", got)
	}
	b.remove("copy", "checkpoint")
	b.mustRun(deltaReading(dir, ", startingVersion: 0, ignoreChanges: true", false), "copy")
	text := b.content("copy")
	for row, times := range map[string]int{`{"id":7,"name":"n7"`: 1, `{"id":5,"name":"new"`: 1, `{"id":39,`: 3} {
		if got := strings.Count(text, row); got != times {
			t.Errorf("%s… is there %d times, want %d", row, got, times)
		}
	}
	for version, rows := range []int{0, 20, 40, 34} {
		b.remove("copy", "checkpoint")
		b.write("one/1.json", `{"x":1}`)
		b.mustRun(deltaReading(dir, fmt.Sprintf(", versionAsOf: %d", version), true), "copy")
		if got := strings.Count(b.content("copy"), "\n"); got != rows {
			t.Errorf("version %d has %d rows, want %d", version, got, rows)
		}
	}
}

// TestDeltaWrittenTo writes to a table with deletion vectors, which stay as they are, and refuses one whose columns are mapped.
func TestDeltaWrittenTo(t *testing.T) {
	b := newBench(t)
	if err := os.CopyFS(filepath.Join(b.dir, "table"), os.DirFS("testdata/delta/dv")); err != nil {
		t.Fatal(err)
	}
	const writing = `name: test
sources:
  input: {format: json, schema: "id BIGINT, name STRING, day STRING", options: {path: in, maxFilesPerTrigger: 1}}
sinks:
  out: {from: input, format: delta, options: {path: table}, trigger: {availableNow: true}, checkpointLocation: checkpoint2}
`
	for i := range 12 { // a checkpoint of the table is written on the way
		b.write(fmt.Sprintf("in/%02d.json", i), fmt.Sprintf(`{"id":%d,"name":"added","day":"d0"}`, 100+i))
	}
	b.mustRun(writing, "out")
	want, err := os.ReadFile("testdata/delta/dv.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text := string(want)
	for i := range 12 {
		text += fmt.Sprintf(`{"id":%d,"name":"added","day":"d0"}`+"\n", 100+i)
	}
	b.mustRun(deltaReading("table", "", false), "copy")
	if got := b.content("copy"); got != sorted(text) {
		t.Errorf("got\n%swant\n%s", got, sorted(text))
	}
	if err := os.CopyFS(filepath.Join(b.dir, "mapped"), os.DirFS("testdata/delta/mapname")); err != nil {
		t.Fatal(err)
	}
	b.remove("checkpoint2")
	if _, err := b.run(strings.Replace(writing, "path: table", "path: mapped", 1), "out", ""); err == nil || !strings.Contains(err.Error(), "columnMapping") {
		t.Errorf("a table with mapped columns: %v", err)
	}
}

// TestDeltaDamagedVector names the file of a deletion vector that is damaged or gone.
func TestDeltaDamagedVector(t *testing.T) {
	b := newBench(t)
	if err := os.CopyFS(filepath.Join(b.dir, "table"), os.DirFS("testdata/delta/dv")); err != nil {
		t.Fatal(err)
	}
	vectors, err := filepath.Glob(filepath.Join(b.dir, "table", "deletion_vector_*.bin"))
	if err != nil || len(vectors) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, damage := range []struct {
		make func(text []byte) []byte
		want string
	}{
		{func(text []byte) []byte { text[len(text)-6] ^= 1; return text }, "the file is damaged"},
		{func(text []byte) []byte { return text[:len(text)-3] }, "too few"},
		{func(text []byte) []byte { text[0] = 2; return text }, "format version 2, supported is 1"},
	} {
		for _, v := range vectors {
			text, err := os.ReadFile(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(v, damage.make(append([]byte{}, text...)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		b.remove("copy", "checkpoint")
		_, err = b.run(deltaReading("table", "", false), "copy", "")
		if err == nil || !strings.Contains(err.Error(), damage.want) || !strings.Contains(err.Error(), "deletion_vector_") {
			t.Errorf("got %v, want %q", err, damage.want)
		}
		for _, v := range vectors {
			original, err := os.ReadFile(filepath.Join("testdata/delta/dv", filepath.Base(v)))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(v, original, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}
