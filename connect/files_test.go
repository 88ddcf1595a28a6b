package connect_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/arrowfmt"
	"github.com/wstream/wstream/columnar/avrofmt"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/parquetfmt"
)

// content is what the files of a folder have, by a plain listing: a line for each row, sorted.
func (b *bench) content(dir string) string {
	b.t.Helper()
	var out strings.Builder
	root := filepath.Join(b.dir, dir)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if os.IsNotExist(err) {
				return nil
			}
			return err
		}
		if name := d.Name(); strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, _ := filepath.Rel(root, filepath.Dir(path))
		for _, line := range strings.SplitAfter(b.text(path, text), "\n") {
			if line != "" && folder != "." {
				line = folder + " " + line
			}
			out.WriteString(line)
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return sorted(out.String())
}

type rowReader interface {
	Next(max int) (*columnar.Batch, error)
}

// text is a file's rows as text.
func (b *bench) text(path string, data []byte) string {
	b.t.Helper()
	var r rowReader
	var err error
	switch filepath.Ext(path) {
	case ".gz":
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			b.t.Fatal(err)
		}
		if data, err = io.ReadAll(z); err != nil {
			b.t.Fatal(err)
		}
		return string(data)
	case ".parquet":
		r, err = parquetfmt.Open(bytes.NewReader(data), int64(len(data)), nil)
	case ".avro":
		r, err = avrofmt.Open(bytes.NewReader(data), int64(len(data)), nil)
	case ".arrow":
		r, err = arrowfmt.Open(bytes.NewReader(data), int64(len(data)), nil)
	default:
		return string(data)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", path, err)
	}
	var out strings.Builder
	for {
		rows, err := r.Next(1000)
		if err == io.EOF {
			return out.String()
		}
		if err != nil {
			b.t.Fatalf("%s: %v", path, err)
		}
		for i := range rows.Rows {
			out.Write(datumjson.AppendRow(nil, rows, i))
			out.WriteByte('\n')
		}
	}
}

func (b *bench) remove(names ...string) {
	b.t.Helper()
	for _, n := range names {
		if err := os.RemoveAll(filepath.Join(b.dir, n)); err != nil {
			b.t.Fatal(err)
		}
	}
}

const filesHead = `
name: test
sources:
  input:
    format: json
    schema: k STRING, n INT, ts TIMESTAMP, x BINARY, d DOUBLE
    options: {path: in, maxFilesPerTrigger: 1}
`

func filesInput(b *bench) {
	for i, text := range []string{
		`{"k":"a","n":1,"ts":"2025-07-22T10:00:00.5Z","x":"AP8="}` + "\n" + `{"k":"b/c","n":2,"d":"NaN"}` + "\n",
		`{"k":"a","n":10,"d":1e-7}` + "\n" + `{"k":null,"n":3}` + "\n",
		`{"k":"b/c","n":5,"d":"-INF"}` + "\n" + `{"k":"","n":7}` + "\n",
	} {
		name := fmt.Sprintf("in/%d.json", i)
		b.write(name, text)
		b.stamp(name, i)
	}
}

func TestFileSinks(t *testing.T) {
	for _, c := range []struct{ name, format, options, query, want string }{
		{"json", "json", "", "SELECT * FROM input", `{"k":"","n":7}
{"k":"a","n":1,"ts":"2025-07-22T10:00:00.500Z","x":"AP8="}
{"k":"a","n":10,"d":1.0E-7}
{"k":"b/c","n":2,"d":"NaN"}
{"k":"b/c","n":5,"d":"-Infinity"}
{"n":3}
`},
		{
			"json by k", "json", ", partitionBy: k, compression: gzip", "SELECT k, n FROM input",
			"k=__HIVE_DEFAULT_PARTITION__ {\"n\":3}\nk=__HIVE_DEFAULT_PARTITION__ {\"n\":7}\nk=a {\"n\":10}\nk=a {\"n\":1}\nk=b%2Fc {\"n\":2}\nk=b%2Fc {\"n\":5}\n",
		},
		{
			"csv", "csv", ", header: true, maxRecordsPerFile: 1", "SELECT n, k FROM input",
			"n,k\nn,k\nn,k\nn,k\nn,k\nn,k\n1,a\n10,a\n2,b/c\n3,\n5,b/c\n7,\"\"\n",
		},
		{"text", "text", "", "SELECT k FROM input", "\n\na\na\nb/c\nb/c\n"},
		{
			"parquet", "parquet", "", "SELECT k, n, ts FROM input WHERE n < 3",
			"{\"k\":\"a\",\"n\":1,\"ts\":\"2025-07-22T10:00:00.500000Z\"}\n{\"k\":\"b/c\",\"n\":2,\"ts\":null}\n",
		},
		{
			"avro", "avro", ", compression: deflate", "SELECT k, n, x FROM input WHERE n < 3",
			"{\"k\":\"a\",\"n\":1,\"x\":\"AP8=\"}\n{\"k\":\"b/c\",\"n\":2,\"x\":null}\n",
		},
		{
			"arrow", "arrow", ", compression: zstd", "SELECT k, n FROM input WHERE n < 6",
			"{\"k\":\"a\",\"n\":1}\n{\"k\":\"b/c\",\"n\":2}\n{\"k\":\"b/c\",\"n\":5}\n{\"k\":null,\"n\":3}\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			filesInput(b)
			text := filesHead + "views:\n  v: {sql: \"" + c.query + "\"}\nsinks:\n  out:\n    from: v\n    format: " + c.format +
				"\n    options: {path: out" + c.options + "}\n    trigger: {availableNow: true}\n    checkpointLocation: checkpoint\n"
			survives(t, b, text, "out", func() { b.remove("out", "checkpoint") }, func() string { return b.content("out") })
			if got := b.content("out"); got != sorted(c.want) {
				t.Errorf("got\n%swant\n%s", got, sorted(c.want))
			}
			if entries, _ := filepath.Glob(filepath.Join(b.dir, "out", "_wstream", "staging*", "*")); len(entries) > 0 {
				t.Errorf("left behind: %q", entries)
			}
		})
	}
}

// TestReadBack reads what a sink has written through its manifest: files that are not in it do not count.
func TestReadBack(t *testing.T) {
	b := newBench(t)
	filesInput(b)
	b.mustRun(filesHead+"sinks:\n  out:\n    from: input\n    format: json\n    options: {path: out, partitionBy: n}\n    trigger: {availableNow: true}\n    checkpointLocation: checkpoint\n", "out")
	b.write("out/n=1/half.json", `{"k":"never published"}`)
	b.mustRun("name: test\nsources:\n  back: {format: json, schema: \"k STRING, n BIGINT\", options: {path: out}}\n"+
		"sinks:\n  out:\n    from: back\n    format: csv\n    options: {path: again}\n    trigger: {availableNow: true}\n    checkpointLocation: checkpoint2\n", "out")
	if got, want := b.content("again"), "\"\",7\n,3\na,1\na,10\nb/c,2\nb/c,5\n"; got != sorted(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
