package connect_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Small inputs that have gone wrong for users of engines of this kind, read and written by whole pipelines.

// TestReaders copies files as JSON, which tells nothing from an empty text.
func TestReaders(t *testing.T) {
	for _, c := range []struct{ name, format, schema, options, text, want string }{
		{"lines end in CRLF", "csv", "a INT, b STRING", "header: true, enforceSchema: false", "a,b\r\n1,2\r\n3,4\r\n", `{"a":1,"b":"2"}` + "\n" + `{"a":3,"b":"4"}`},
		{"CRLF and many lines", "csv", "a INT, b STRING", "header: true, enforceSchema: false, multiLine: true", "a,b\r\n1,2\r\n3,4\r\n", `{"a":1,"b":"2"}` + "\n" + `{"a":3,"b":"4"}`},
		{"newline in quotes", "csv", "id INT, s STRING", "header: true, multiLine: true", "id,s\n1,\"x\ny\"\n2,z\n", `{"id":1,"s":"x\ny"}` + "\n" + `{"id":2,"s":"z"}`},
		{"quoted empty field", "csv", "x STRING, y STRING, z STRING", "", "a,\"\",b\n", `{"x":"a","z":"b"}`},
		{"quoted empty field that is kept", "csv", "x STRING, y STRING, z STRING", "emptyValue: ''", "a,\"\",b\nc,,d\n", `{"x":"a","y":"","z":"b"}` + "\n" + `{"x":"c","z":"d"}`},
		{"quoted empty number", "csv", "x INT, y STRING", "emptyValue: ''", "\"\",b\n", `{"y":"b"}`},
		{"bad field and cut record", "json", "a INT, b INT, _corrupt_record STRING", "", `{"a":1,"b":"x"}` + "\n" + `{"a":` + "\n", `{"_corrupt_record":"{\"a\":"}` + "\n" + `{"a":1,"_corrupt_record":"{\"a\":1,\"b\":\"x\"}"}`},
		{"bad records are dropped", "json", "a INT, b INT", "mode: DROPMALFORMED", `{"a":1,"b":"x"}` + "\n" + `{"a":` + "\n", ""},
		{"repeated keys", "json", "data INT, s STRUCT<x: STRING>", "", `{"data":100,"data":200,"s":{"x":"1","x":"2"},"s":{"x":"3","x":"4"}}` + "\n", `{"data":200,"s":{"x":"4"}}`},
		{"repeated key, null last", "json", "data INT, o INT", "", `{"data":100,"data":null,"o":1}` + "\n", `{"o":1}`},
		{"long integers", "json", "n BIGINT, s STRING, m DECIMAL(38,0)", "", `{"n":1780921717355446273,"s":228930314431312345,"m":228930314431312345678901234567}` + "\n", `{"n":1780921717355446273,"s":"228930314431312345","m":228930314431312345678901234567}`},
		{"fractions of seconds", "json", "t TIMESTAMP", "", `{"t":"2019-11-14T20:35:00.1Z"}` + "\n" + `{"t":"1969-01-01T00:00:00.1Z"}` + "\n" + `{"t":"2015-05-09T12:57:47.43013593Z"}` + "\n", `{"t":"1969-01-01T00:00:00.100Z"}` + "\n" + `{"t":"2015-05-09T12:57:47.430135Z"}` + "\n" + `{"t":"2019-11-14T20:35:00.100Z"}`},
		{"fractions of seconds in CSV", "csv", "t TIMESTAMP", "", "2019-11-14T20:35:00.1Z\n1969-01-01T00:00:00.1Z\n2015-01-02 00:00:00.000000001\n", `{"t":"1969-01-01T00:00:00.100Z"}` + "\n" + `{"t":"2015-01-02T00:00:00.000Z"}` + "\n" + `{"t":"2019-11-14T20:35:00.100Z"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.write("in/1."+c.format, c.text)
			text := reading(c.format, c.schema, strings.TrimSuffix("path: in, "+c.options, ", "))
			text = strings.Replace(text, "format: csv\n    options: {path: out}", "format: json\n    options: {path: out}", 1)
			b.mustRun(text, "out")
			want := ""
			if c.want != "" {
				want = c.want + "\n"
			}
			if got := b.content("out"); got != sorted(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// TestTimestampsAsText shows that the times of a JSON file are RFC 3339, as every reader takes them.
func TestTimestampsAsText(t *testing.T) {
	b := newBench(t)
	b.write("in/1.json", `{"t":"2025-07-22T10:00:00.5Z"}`+"\n")
	text := strings.Replace(reading("json", "t TIMESTAMP", "path: in"), "format: csv", "format: json", 1)
	b.mustRun(text, "out")
	got := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.content("out")), `{"t":"`), `"}`)
	at, err := time.Parse(time.RFC3339Nano, got)
	if err != nil || !at.Equal(time.Date(2025, 7, 22, 10, 0, 0, 5e8, time.UTC)) {
		t.Errorf("%q is %v, %v", got, at, err)
	}
}

// TestObjectInPlaceOfATime counts the rows around a broken one, which has no event time.
func TestObjectInPlaceOfATime(t *testing.T) {
	b := newBench(t)
	b.write("in/1.json", `{"ts":"2025-07-15T14:00:00.573Z"}`+"\n"+`{"ts":{"x":"2025-07-15T14:00:00.573Z"}}`+"\n"+`{"ts":"2025-07-15T14:01:00Z"}`+"\n")
	b.write("in/2.json", `{"ts":"2025-07-15T15:00:00Z"}`+"\n")
	b.stamp("in/1.json", 0)
	b.stamp("in/2.json", 1)
	corrupt := int64(0)
	text := `
name: test
sources:
  input:
    format: json
    schema: ts TIMESTAMP
    options: {path: in, maxFilesPerTrigger: 1}
views:
  events:
    from: input
    steps:
      - watermark: {column: ts, delay: 0 seconds}
  counts: {sql: "SELECT CAST(window.start AS STRING) AS s, count(*) AS c FROM events GROUP BY window(ts, '2 minutes')"}
sinks:
  out:
    from: counts
    format: csv
    options: {path: out}
    trigger: {once: true}
    checkpointLocation: checkpoint
`
	for range 2 {
		p := b.mustRun(strings.Replace(text, "{once: true}", "{availableNow: true}", 1), "out")
		for _, s := range p.Sources {
			corrupt += s.NumCorruptRecords
		}
	}
	b.expect("2025-07-15 14:00:00,2")
	if !b.warned("1.json:2: ") {
		t.Errorf("no place: %q", b.warn)
	}
}

// TestFileAfterACrash replays the batch that a crash has interrupted without a file that has come since.
func TestFileAfterACrash(t *testing.T) {
	for _, point := range []string{"offset.durable", "source.mid", "sink.staged", "sink.published"} {
		b := newBench(t)
		text := reading("csv", "n INT", "path: in")
		b.write("in/0.csv", "1\n2\n")
		b.stamp("in/0.csv", 10)
		if _, err := b.run(text, "out", point+"@batch=0=err"); err == nil {
			t.Fatalf("%s did not fire", point)
		}
		b.write("in/1.csv", "3\n")
		b.stamp("in/1.csv", 0) // older than what the batch has
		if p := b.mustRun(text, "out"); p.BatchID != 1 {
			t.Errorf("%s: the last batch is %d, want 1", point, p.BatchID)
		}
		b.expect("1", "2", "3")
	}
}

// TestHalfWrittenFile shows what a reader makes of a file that is still being written: a broken record and never half a
// value. The path counts as read, so only a file that is renamed into the folder when it is whole is safe.
func TestHalfWrittenFile(t *testing.T) {
	b := newBench(t)
	text := reading("json", "n INT, _corrupt_record STRING", "path: in")
	b.write("in/1.json", `{"n":1}`+"\n"+`{"n":12`)
	b.stamp("in/1.json", 0)
	b.mustRun(text, "out")
	b.write("in/1.json", `{"n":1}`+"\n"+`{"n":1234}`+"\n")
	b.stamp("in/1.json", 1)
	b.mustRun(text, "out")
	b.expect("1,", `,"{\"n\":12"`)
}

const countsText = `
name: test
settings: {shufflePartitions: 10}
sources:
  input:
    format: json
    schema: k STRING, n INT, s STRING
    options: {path: in, maxFilesPerTrigger: 1}
views:
  counts: {sql: "SELECT k, count(*) AS cnt, sum(n) AS total FROM input GROUP BY k"}
sinks:
  out:
    from: counts
    format: sqlite
    options: {connection: db, table: counts, mode: upsert, key: [k]}
    outputMode: update
    trigger: {availableNow: true}
    checkpointLocation: checkpoint
connections:
  db: {driver: sqlite, dsn: test.db}
`

func (b *bench) tenKeys(file int) {
	text := ""
	for k := range 10 {
		text += fmt.Sprintf(`{"k":"k%d","n":1,"s":"1"}`+"\n", k)
	}
	name := fmt.Sprintf("in/%d.json", file)
	b.write(name, text)
	b.stamp(name, file)
}

// TestOtherNumberOfPartitions restarts with more partitions and with fewer: counts go on.
func TestOtherNumberOfPartitions(t *testing.T) {
	b := newBench(t)
	d := &database{format: "sqlite", dsn: filepath.Join(b.dir, "test.db")}
	var err error
	if d.db, err = sql.Open("sqlite", d.dsn); err != nil {
		t.Fatal(err)
	}
	defer d.db.Close()
	text := strings.Replace(countsText, "dsn: test.db", fmt.Sprintf("dsn: %q", d.dsn), 1)
	for i, partitions := range []string{"10", "15", "5", "1"} {
		b.tenKeys(i)
		b.mustRun(strings.Replace(text, "shufflePartitions: 10", "shufflePartitions: "+partitions, 1), "out")
		want := ""
		for k := range 10 {
			want += fmt.Sprintf("k%d %d %d\n", k, i+1, i+1)
		}
		if got := sorted(d.rows(t, "SELECT k, cnt, total FROM counts")); got != want {
			t.Errorf("%s partitions: got\n%s", partitions, got)
		}
	}
}

// TestChangedState refuses a restart whose state has another shape, and says what has changed.
func TestChangedState(t *testing.T) {
	for _, c := range []struct {
		name, query string
		names       []string // of a refusal
	}{
		{"another type of sum", "SELECT k, count(*) AS cnt, sum(s) AS total FROM input GROUP BY k", []string{"BIGINT", "DOUBLE"}},
		{"one more key", "SELECT k, s, count(*) AS cnt, sum(n) AS total FROM input GROUP BY k, s", []string{"s STRING"}},
		{"one aggregate less", "SELECT k, count(*) AS cnt, CAST(0 AS BIGINT) AS total FROM input GROUP BY k", []string{"BIGINT"}},
		{"another name", "SELECT k, count(*) AS cnt, sum(n) AS sum_of_n FROM input GROUP BY k", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			text := strings.Replace(countsText, "    format: sqlite\n    options: {connection: db, table: counts, mode: upsert, key: [k]}\n", "    format: noop\n", 1)
			b.tenKeys(0)
			b.mustRun(text, "out")
			b.tenKeys(1)
			_, err := b.run(strings.Replace(text, "SELECT k, count(*) AS cnt, sum(n) AS total FROM input GROUP BY k", c.query, 1), "out", "")
			if c.names == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Fatal("it is not refused")
			}
			for _, n := range c.names {
				if !strings.Contains(err.Error(), n) {
					t.Errorf("%v does not name %s", err, n)
				}
			}
			b.mustRun(text, "out") // and nothing is broken
		})
	}
}

// TestCommitLost cuts the log of commits within its only entry, as if the process had died while it wrote that:
// the batch is written once.
func TestCommitLost(t *testing.T) {
	text := reading("csv", "n INT", "path: in")
	for cut := 1; ; cut += 1 + cut/3 {
		b := newBench(t)
		b.write("in/1.csv", "1\n2\n3\n")
		b.mustRun(text, "out")
		logs, err := filepath.Glob(filepath.Join(b.dir, "checkpoint", "commits", "*.log"))
		if err != nil || len(logs) != 1 {
			t.Fatalf("logs of commits: %v, %v", logs, err)
		}
		whole, err := os.ReadFile(logs[0])
		if err != nil {
			t.Fatal(err)
		}
		if cut > len(whole) {
			break
		}
		if err := os.WriteFile(logs[0], whole[:len(whole)-cut], 0o644); err != nil {
			t.Fatal(err)
		}
		b.mustRun(text, "out")
		b.expect("1", "2", "3")
		if t.Failed() {
			t.Fatalf("cut by %d of %d bytes", cut, len(whole))
		}
	}
}

// TestKeysKeptForEver warns of a deduplication that never forgets; the one within the watermark does, and needs no warning.
func TestKeysKeptForEver(t *testing.T) {
	for step, kept := range map[string]int64{"dropDuplicates: [id]": 3001, "dropDuplicatesWithinWatermark: [id]": 0} {
		b := newBench(t)
		var ids strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&ids, `{"ts":"2026-10-06T12:%02d:%02dZ","id":%d}`+"\n", i/60, i%60, i)
		}
		b.write("in/1.json", ids.String())
		b.write("in/2.json", `{"ts":"2026-10-06T14:00:00Z","id":-1}`+"\n")
		b.stamp("in/1.json", 0)
		b.stamp("in/2.json", 1)
		text := strings.Replace(reading("json", "ts TIMESTAMP, id INT", "path: in, maxFilesPerTrigger: 1"), "from: input", "from: once", 1)
		text = strings.Replace(text, "sinks:", "views:\n  once:\n    from: input\n    steps:\n      - watermark: {column: ts, delay: 0 seconds}\n      - "+step+"\nsinks:", 1)
		p := b.mustRun(text, "out")
		if p.StateRows() != kept {
			t.Errorf("%s: %d rows in state, want %d", step, p.StateRows(), kept)
		}
		if b.warned("keeps every key for ever") != (kept > 0) {
			t.Errorf("%s: warnings %q", step, b.warn)
		}
	}
}
