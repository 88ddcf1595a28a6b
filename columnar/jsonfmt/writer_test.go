package jsonfmt

import (
	"math/rand"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/formattest"
)

// TestToJSON holds values against what Spark 4.2 prints.
func TestToJSON(t *testing.T) {
	for _, c := range []struct {
		ddl, value, want string
		options          map[string]string
		zone             string
	}{
		{"STRUCT<t: TIMESTAMP>", `{"t":"2026-03-01T10:11:12.123456Z"}`, `{"t":"2026-03-01T10:11:12.123Z"}`, nil, "UTC"},
		{"STRUCT<t: TIMESTAMP>", `{"t":"2026-07-01T12:00:00Z"}`, `{"t":"2026-07-01T17:30:00.000+05:30"}`, nil, "Asia/Kolkata"},
		{"STRUCT<t: TIMESTAMP_NTZ>", `{"t":"2026-03-01T10:11:12.5"}`, `{"t":"2026-03-01T10:11:12.500"}`, nil, "UTC"},
		{"STRUCT<d: DATE>", `{"d":"2026-03-01"}`, `{"d":"2026-03-01"}`, nil, "UTC"},
		{"STRUCT<x: DOUBLE>", `{"x":1e10}`, `{"x":1.0E10}`, nil, "UTC"},
		{"STRUCT<x: DOUBLE>", `{"x":"NaN"}`, `{"x":"NaN"}`, nil, "UTC"},
		{"STRUCT<x: DECIMAL(7,7)>", `{"x":"0.0000001"}`, `{"x":1E-7}`, nil, "UTC"},
		{"STRUCT<x: DECIMAL(10,2)>", `{"x":"1.50"}`, `{"x":1.50}`, nil, "UTC"},
		{"STRUCT<x: STRING>", `{"x":"q\"uo\\te\n\t/é日😀\u0001"}`, `{"x":"q\"uo\\te\n\t/é日😀\u0001"}`, nil, "UTC"},
		{"STRUCT<x: STRING>", `{"x":"é😀"}`, `{"x":"\u00E9\uD83D\uDE00"}`, map[string]string{"writeNonAsciiCharacterAsCodePoint": "true"}, "UTC"},
		{"STRUCT<x: ARRAY<INT>>", `{"x":[1,null,2]}`, `{"x":[1,null,2]}`, nil, "UTC"},
		{"STRUCT<x: MAP<STRING,INT>>", `{"x":{"k":1,"n":null}}`, `{"x":{"k":1,"n":null}}`, nil, "UTC"},
		{"STRUCT<x: MAP<DATE,STRING>>", `{"x":[["2026-01-01","a"]]}`, `{"x":{"20454":"a"}}`, nil, "UTC"},
		{"MAP<STRUCT<a: INT>,INT>", `[[{"a":1},2]]`, `{"[1]":2}`, nil, "UTC"},
		{"STRUCT<x: STRUCT<y: INT, z: STRUCT<w: INT>>>", `{"x":{"z":{"w":1}}}`, `{"x":{"z":{"w":1}}}`, nil, "UTC"},
		{"STRUCT<x: STRUCT<y: INT>>", `{"x":{}}`, `{"x":{}}`, nil, "UTC"},
		{"STRUCT<x: INT, y: INT>", `{"y":1}`, `{"x":null,"y":1}`, map[string]string{"ignoreNullFields": "false"}, "UTC"},
		{"ARRAY<STRUCT<a: INT>>", `[{"a":1}]`, `[{"a":1}]`, nil, "UTC"},
		{"STRUCT<a: INT>", `{"a":1}`, "{\n  \"a\" : 1\n}", map[string]string{"pretty": "true"}, "UTC"},
		{"STRUCT<`a b`: INT, `c\"d`: INT>", `{"a b":1,"c\"d":2}`, `{"a b":1,"c\"d":2}`, nil, "UTC"},
		{"STRUCT<i: INTERVAL DAY>", `{"i":"INTERVAL '1' DAY"}`, `{"i":"INTERVAL '1' DAY"}`, nil, "UTC"},
		{"STRUCT<b: BINARY>", `{"b":"AP8="}`, `{"b":"AP8="}`, nil, "UTC"},
		{"STRUCT<t: TIMESTAMP>", `{"t":"0001-01-01T00:00:00Z"}`, `{"t":"0001-01-01T00:00:00.000Z"}`, nil, "UTC"},
	} {
		typ, err := columnar.ParseType(c.ddl)
		if err != nil {
			t.Fatalf("%s: %v", c.ddl, err)
		}
		d, err := datumjson.Parse(typ, []byte(c.value))
		if err != nil {
			t.Fatalf("%s: %v", c.value, err)
		}
		opts, err := ParseOptions(c.options, c.zone)
		if err != nil {
			t.Fatal(err)
		}
		opts.FromJSON = true
		w, err := NewWriter(typ, opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(w.AppendValue(nil, columnar.FromData(typ, d), 0)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.value, got, c.want)
		}
	}
}

// TestFilesReadBack writes rows as a file and reads them again.
func TestFilesReadBack(t *testing.T) {
	schema, err := columnar.ParseDDL(`bo BOOLEAN, i1 TINYINT, i4 INT, i8 BIGINT, f4 FLOAT, f8 DOUBLE, d1 DECIMAL(5,2), d2 DECIMAL(38,18), s STRING, bi BINARY, da DATE,
		ts TIMESTAMP, tn TIMESTAMP_NTZ, ym INTERVAL YEAR TO MONTH, dt INTERVAL DAY TO SECOND, a ARRAY<INT>, m MAP<STRING, ARRAY<DATE>>,
		st STRUCT<a: INT, b: STRUCT<c: DECIMAL(20,3), d: ARRAY<STRUCT<e: TIMESTAMP>>>>`)
	if err != nil {
		t.Fatal(err)
	}
	for _, zone := range []string{"UTC", "Asia/Kolkata"} {
		opts, _ := ParseOptions(nil, zone)
		w, err := NewWriter(schema.Struct(), opts)
		if err != nil {
			t.Fatal(err)
		}
		d, err := New(schema, nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		b := formattest.RandomBatch(rand.New(rand.NewSource(1)), schema, 300)
		var file []byte
		for i := range b.Rows {
			file = w.AppendRow(file, b, i)
		}
		got, corrupt, err := d.Decode(file)
		if err != nil || corrupt.Records > 0 || got.Rows != b.Rows {
			t.Fatalf("%v, %+v", err, corrupt)
		}
		for i := range b.Rows {
			if a, b := string(datumjson.AppendRow(nil, got, i)), string(datumjson.AppendRow(nil, b, i)); a != b {
				t.Fatalf("row %d:\n got %s\nwant %s", i, a, b)
			}
		}
	}
}

func BenchmarkAppendRow(b *testing.B) {
	schema, _ := columnar.ParseDDL(clicksDDL)
	opts, _ := ParseOptions(nil, "UTC")
	d, _ := New(schema, nil, opts)
	batch, _, _ := d.Decode(clickLines(8000))
	w, _ := NewWriter(schema.Struct(), opts)
	var buf []byte
	for b.Loop() {
		buf = buf[:0]
		for i := range batch.Rows {
			buf = w.AppendRow(buf, batch, i)
		}
	}
	b.ReportMetric(float64(b.N)*8000/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
