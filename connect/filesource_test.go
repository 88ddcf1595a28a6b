package connect_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/pipeline"
)

// reading is a pipeline that copies a file source to CSV.
func reading(format, schema, options string) string {
	return "name: test\nsources:\n  input:\n    format: " + format + "\n    schema: \"" + schema + "\"\n    options: {" + options + "}\n" +
		"sinks:\n  out:\n    from: input\n    format: csv\n    options: {path: out}\n    trigger: {availableNow: true}\n    checkpointLocation: checkpoint\n"
}

func zipped(members ...string) string {
	var b bytes.Buffer
	for _, m := range members {
		z := gzip.NewWriter(&b)
		z.Write([]byte(m))
		z.Close()
	}
	return b.String()
}

// expect compares what has been copied.
func (b *bench) expect(want ...string) {
	b.t.Helper()
	all := ""
	for _, w := range want {
		all += w + "\n"
	}
	if got := b.content("out"); got != sorted(all) {
		b.t.Errorf("got\n%swant\n%s", got, sorted(all))
	}
}

func TestNewFolders(t *testing.T) {
	b := newBench(t)
	text := reading("json", "n INT", "path: in/*/*.json")
	b.write("in/a/1.json", `{"n":1}`)
	b.mustRun(text, "out")
	b.write("in/b/1.json", `{"n":2}`)
	b.mustRun(text, "out")
	b.mustRun(text, "out")
	b.expect("1", "2")
}

func TestHiddenFiles(t *testing.T) {
	b := newBench(t)
	for name, n := range map[string]int{"a.json": 1, "_b.json": 2, ".c.json": 3, "d.json._COPYING_": 4, "_k=1/e.json": 5, "sub/f.json": 6} {
		b.write("in/"+name, fmt.Sprintf(`{"n":%d}`, n))
	}
	b.write("in/_SUCCESS", "")
	b.mustRun(reading("json", "n INT", "path: in"), "out")
	b.expect("1", "5")
	b.remove("out", "checkpoint")
	b.mustRun(reading("json", "n INT", "path: in, recursiveFileLookup: true, pathGlobFilter: '[ef].json'"), "out")
	b.expect("5", "6")
	b.write("_hidden/a.json", `{"n":1}`)
	if _, err := b.run(reading("json", "n INT", "path: _hidden"), "out", ""); err == nil || !strings.Contains(err.Error(), "never read") {
		t.Errorf("hidden path: %v", err)
	}
	if _, err := b.run(reading("json", "n INT", "path: nowhere"), "out", ""); err == nil || !strings.Contains(err.Error(), "[PATH_NOT_FOUND]") {
		t.Errorf("missing path: %v", err)
	}
}

func TestOverwrittenFile(t *testing.T) {
	b := newBench(t)
	text := reading("csv", "n INT", "path: in")
	b.write("in/f.csv", "1\n2\n")
	b.stamp("in/f.csv", 0)
	b.mustRun(text, "out")
	b.write("in/f.csv", "1\n2\n3\n")
	b.stamp("in/f.csv", 10)
	b.mustRun(text, "out")
	b.expect("1", "2")
	if !b.warned("was changed after it had been read") {
		t.Errorf("no warning: %q", b.warn)
	}
}

func TestCompressed(t *testing.T) {
	b := newBench(t)
	b.write("in/members.csv.gz", zipped("1\n2\n", "3\n"))
	b.write("in/nothing.csv.gz", zipped(""))
	b.write("in/cut.csv.gz", "")
	b.write("in/empty.csv", "")
	z, _ := zstd.NewWriter(nil)
	b.write("in/z.csv.zst", string(z.EncodeAll([]byte("4\n"), nil)))
	b.mustRun(reading("csv", "n INT", "path: in"), "out")
	b.expect("1", "2", "3", "4")
	if !b.warned("cut.csv.gz\" is compressed by its name but has no bytes") {
		t.Errorf("no warning: %q", b.warn)
	}
	b.write("in/torn.csv.gz", zipped(strings.Repeat("5\n", 1000))[:30])
	if _, err := b.run(reading("csv", "n INT", "path: in"), "out", ""); err == nil || !strings.Contains(err.Error(), "torn.csv.gz") {
		t.Errorf("torn file: %v", err)
	}
	b.mustRun(reading("csv", "n INT", "path: in, ignoreCorruptFiles: true"), "out")
	b.expect("1", "2", "3", "4")
}

// TestCorruptRecords counts them and names a place, also in chunks behind the first.
func TestCorruptRecords(t *testing.T) {
	b := newBench(t)
	var text strings.Builder
	for i := range 100000 {
		fmt.Fprintf(&text, `{"n":%d,"pad":"xxxxxxxxxxxxxxxxxxx"}`+"\n", i)
	}
	text.WriteString(`{"n":"x"}` + "\n" + `{"n":1}` + "\n" + `{"n":12`)
	b.write("in/a.json", text.String())
	p := b.mustRun(reading("json", "n INT, _corrupt_record STRING", "path: in"), "out")
	if p.NumInputRows != 100003 || p.Sources[0].NumCorruptRecords != 2 {
		t.Errorf("%d rows, %d corrupt", p.NumInputRows, p.Sources[0].NumCorruptRecords)
	}
	if !b.warned("a.json:100001: ") {
		t.Errorf("no place: %q", b.warn)
	}
	if got := b.content("out"); strings.Count(got, "{") != 2 || !strings.Contains(got, `"{\"n\":12"`) {
		t.Errorf("the corrupt records are not kept: %.300s", got)
	}
	b.remove("out", "checkpoint")
	if p := b.mustRun(reading("json", "n INT", "path: in, mode: DROPMALFORMED"), "out"); p.NumInputRows != 100001 {
		t.Errorf("DROPMALFORMED: %d rows", p.NumInputRows)
	}
	b.remove("out", "checkpoint")
	if _, err := b.run(reading("json", "n INT", "path: in, mode: FAILFAST"), "out", ""); err == nil || !strings.Contains(err.Error(), "[MALFORMED_RECORD_IN_PARSING") {
		t.Errorf("FAILFAST: %v", err)
	}
}

// TestAvailableNow does not chase files that come while it runs.
func TestAvailableNow(t *testing.T) {
	b := newBench(t)
	for i := range 3 {
		b.write(fmt.Sprintf("in/%d.csv", i), fmt.Sprintln(i))
		b.stamp(fmt.Sprintf("in/%d.csv", i), i)
	}
	text := reading("csv", "n INT", "path: in, maxFilesPerTrigger: 1")
	r, err := b.open(text)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := r.Spec(r.File.Sink("out"), pipeline.RunOptions{BatchGate: func(batch int64) error {
		if batch == 1 {
			b.write("in/3.csv", "3\n")
			b.stamp("in/3.csv", 3)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	q, err := stream.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.AwaitTermination(t.Context()); err != nil {
		t.Fatal(err)
	}
	if q.LastBatch() != 2 {
		t.Errorf("last batch %d, want 2", q.LastBatch())
	}
	b.expect("0", "1", "2")
	b.mustRun(text, "out")
	b.expect("0", "1", "2", "3")
}

// TestLimits reads files in order, by number, by bytes, newest first, and passes over old ones.
func TestLimits(t *testing.T) {
	b := newBench(t)
	for i, text := range []string{"1\n", "22\n", "333\n", "4444\n"} {
		b.write(fmt.Sprintf("in/%d.csv", i), text)
		b.stamp(fmt.Sprintf("in/%d.csv", i), i*3600)
	}
	for _, c := range []struct{ options, want string }{
		{"maxFilesPerTrigger: 3", "0: 1 22 333; 1: 4444"},
		{"maxBytesPerTrigger: 6", "0: 1 22; 1: 333; 2: 4444"},
		{"maxBytesPerTrigger: 2", "0: 1; 1: 22; 2: 333; 3: 4444"},
		{"latestFirst: true, maxFilesPerTrigger: 1", "0: 4444; 1: 333; 2: 22; 3: 1"},
	} {
		b.remove("out", "checkpoint")
		b.mustRun(reading("csv", "n INT", "path: in, "+c.options), "out")
		byBatch := map[string][]string{}
		files, _ := filepath.Glob(filepath.Join(b.dir, "out", "part-*"))
		for _, f := range files {
			text, _ := os.ReadFile(f)
			id := filepath.Base(f)[9:10]
			byBatch[id] = append(byBatch[id], strings.Fields(string(text))...)
		}
		var got []string
		for i := range len(byBatch) {
			got = append(got, fmt.Sprintf("%d: %s", i, strings.Join(byBatch[fmt.Sprint(i)], " ")))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: got %s, want %s", c.options, text, c.want)
		}
	}
	b.remove("out", "checkpoint")
	text := reading("csv", "n INT", "path: in, maxFileAge: 90m")
	b.mustRun(text, "out")
	b.write("in/old.csv", "5\n")
	b.stamp("in/old.csv", 3600)
	b.write("in/new.csv", "6\n")
	b.stamp("in/new.csv", 3*3600-1800)
	b.mustRun(text, "out")
	b.expect("1", "22", "333", "4444", "6")
}

func TestCleanSource(t *testing.T) {
	for _, mode := range []string{"delete", "archive"} {
		t.Run(mode, func(t *testing.T) {
			b := newBench(t)
			text := reading("csv", "n INT", "path: in, cleanSource: "+mode+", sourceArchiveDir: old")
			b.write("in/k=1/a.csv", "1\n")
			b.stamp("in/k=1/a.csv", 1)
			// A crash in front of the commit leaves the file; the restart reads it again and then cleans it.
			if _, err := b.run(text, "out", "sink.published@batch=0=err"); err == nil {
				t.Fatal("no crash")
			}
			if _, err := os.Stat(filepath.Join(b.dir, "in/k=1/a.csv")); err != nil {
				t.Fatal(err)
			}
			b.mustRun(text, "out")
			if _, err := os.Stat(filepath.Join(b.dir, "in/k=1/a.csv")); !os.IsNotExist(err) {
				t.Errorf("the file is still there: %v", err)
			}
			_, err := os.Stat(filepath.Join(b.dir, "old", b.dir, "in/k=1/a.csv"))
			if (err == nil) != (mode == "archive") {
				t.Errorf("archived: %v", err)
			}
			b.expect("1")
		})
	}
	b := newBench(t)
	b.write("in/a.csv", "1\n")
	if _, err := b.run(reading("csv", "n INT", "path: in, cleanSource: archive, sourceArchiveDir: in/old"), "out", ""); err == nil || !strings.Contains(err.Error(), "choose one elsewhere") {
		t.Errorf("archive within the source: %v", err)
	}
}

// TestFolderColumns takes columns from key=value folders, wherever they stand in the schema.
func TestFolderColumns(t *testing.T) {
	b := newBench(t)
	b.write("in/day=2026-10-06/s=x%2Fy/a.csv", "1,2\n")
	b.write("in/day=2026-10-07/s=__HIVE_DEFAULT_PARTITION__/b.csv", "3,4\n")
	b.mustRun(reading("csv", "a INT, day DATE, b INT, s STRING", "path: in"), "out")
	b.expect("1,2026-10-06,2,x/y", "3,2026-10-07,4,")

	b.write("dim/p=1/a.json", `{"id":1,"name":"one"}`)
	b.write("dim/p=2/a.json", `{"id":2,"name":"two","w":1.5}`)
	b.write("facts/a.csv", "2\n1\n")
	b.mustRun("name: test\nsources:\n  facts: {format: csv, schema: id INT, options: {path: facts}}\n  dim: {format: json, static: true, options: {path: dim}}\n"+
		"views:\n  v: {sql: \"SELECT dim.* FROM facts JOIN dim ON facts.id = dim.id\"}\n"+
		"sinks:\n  out:\n    from: v\n    format: csv\n    options: {path: joined, header: true}\n    trigger: {availableNow: true}\n    checkpointLocation: checkpoint2\n", "out")
	if got, want := b.content("joined"), "1,one,,1\n2,two,1.5,2\nid,name,w,p\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestFileNameOnly(t *testing.T) {
	b := newBench(t)
	b.write("in/a/1.csv", "1\n")
	b.write("in/b/1.csv", "1\n")
	b.mustRun(reading("csv", "n INT", "path: in/*, fileNameOnly: true"), "out")
	b.expect("1")
}

// TestUnknownOption warns with the nearest name and goes on.
func TestUnknownOption(t *testing.T) {
	b := newBench(t)
	b.write("in/a.csv", "1;2\n")
	b.mustRun(reading("csv", "a INT, b INT", "path: in, sep: ';', maxFilePerTrigger: 1"), "out")
	if !b.warned(`did you mean "maxFilesPerTrigger"?`) {
		t.Errorf("no warning: %q", b.warn)
	}
	b.expect("1,2")
}
