package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/wstream/wstream/internal/testdirs"
	"github.com/wstream/wstream/internal/testservice"
)

// written writes the same rows in every format, and a table of Delta that each batch replaces.
const written = `name: written
sources:
  input:
    format: json
    schema: >-
      k STRING, n INT, big BIGINT, d DOUBLE, price DECIMAL(10,2), day DATE, ts TIMESTAMP, ok BOOLEAN, x BINARY,
      list ARRAY<INT>, st STRUCT<a: INT, b: STRING>
    options: {path: in, maxFilesPerTrigger: 1}
views:
  flat: {sql: "SELECT k, n, big, d, price, day, ts, ok FROM input"}
  keys: {sql: "SELECT k FROM input WHERE k IS NOT NULL"}
  sums: {sql: "SELECT k, count(*) AS cnt, sum(price) AS total FROM input GROUP BY k"}
sinks:
  parquet: {from: input, format: parquet, options: {path: parquet}, checkpointLocation: checkpoint/parquet}
  partitioned: {from: flat, format: parquet, options: {path: partitioned, partitionBy: "day,k"}, checkpointLocation: checkpoint/partitioned}
  avro: {from: input, format: avro, options: {path: avro}, checkpointLocation: checkpoint/avro}
  json: {from: input, format: json, options: {path: json, compression: gzip}, checkpointLocation: checkpoint/json}
  csv: {from: flat, format: csv, options: {path: csv, header: true}, checkpointLocation: checkpoint/csv}
  text: {from: keys, format: text, options: {path: text}, checkpointLocation: checkpoint/text}
  delta: {from: input, format: delta, options: {path: delta}, checkpointLocation: checkpoint/delta}
  totals: {from: sums, format: delta, outputMode: complete, options: {path: totals}, checkpointLocation: checkpoint/totals}
`

var writtenInput = []string{
	`{"k":"a,b","n":1,"big":9223372036854775807,"d":0.1,"price":12.34,"day":"2024-02-29","ts":"2025-07-22T10:00:00.123456Z","ok":true,"x":"AP8=","list":[1,null,3],"st":{"a":1,"b":"x"}}
{"k":"ä \"q\"/=","n":-2147483648,"big":-1,"d":"NaN","price":-0.01,"day":"0001-01-01","ts":"1969-12-31T23:59:59Z","ok":false,"x":"","list":[],"st":{"a":null,"b":""}}
`,
	`{"n":null}
{"k":"","n":0,"big":0,"d":-0.0,"price":99999999.99,"day":"9999-12-31","ts":"9999-12-31T23:59:59.999999Z"}
{"k":"a,b","n":2,"price":1.00,"day":"2024-02-29"}
`,
}

// TestReaders has Spark and deltalake read what the file and table sinks write: schema and rows are what they wrote.
func TestReaders(t *testing.T) {
	readers := testservice.Readers(t)
	program := testdirs.Program(t)
	dir := t.TempDir()
	for i, text := range writtenInput {
		if err := os.MkdirAll(filepath.Join(dir, "in"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "in", string(rune('0'+i))+".json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "written.yaml"), []byte(written), 0o666); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(program, "run", "-q", "--available-now", "written.yaml")
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	root := testdirs.Root(t)
	read := exec.Command(filepath.Join(readers, "bin", "python"), filepath.Join(root, "internal/e2e/testdata/read_tables.py"), dir, filepath.Join(readers, "jars"))
	read.Stderr = os.Stderr
	got, err := read.Output()
	if err != nil {
		t.Fatalf("the readers: %v\n%s", err, got)
	}
	golden := filepath.Join(root, "internal/e2e/testdata/read_tables.txt")
	if os.Getenv("WSTREAM_UPDATE") != "" {
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the readers see\n%swant\n%s", got, want)
	}
}
