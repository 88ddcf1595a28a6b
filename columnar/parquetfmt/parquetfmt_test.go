package parquetfmt

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/formattest"
	"github.com/wstream/wstream/columnar/sparkerr"
)

const everything = `bo BOOLEAN, i1 TINYINT, r4 INT NOT NULL, i2 SMALLINT, i4 INT, i8 BIGINT, f4 FLOAT, f8 DOUBLE, d1 DECIMAL(5,2), d2 DECIMAL(18,3), d3 DECIMAL(38,18),
	d4 DECIMAL(20,0), s STRING, rs STRING NOT NULL, bi BINARY, da DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, ym INTERVAL YEAR TO MONTH, mo INTERVAL MONTH,
	dt INTERVAL DAY TO SECOND, hm INTERVAL HOUR TO MINUTE, v VARIANT, a ARRAY<INT>, aa ARRAY<ARRAY<STRING>> NOT NULL, m MAP<STRING, ARRAY<DATE>>,
	mi MAP<INT, STRUCT<x: BOOLEAN NOT NULL, y: STRING>>, st STRUCT<a: INT, b: STRUCT<c: DECIMAL(20,3), d: ARRAY<STRUCT<e: TIMESTAMP, f: ARRAY<DOUBLE>>>>>`

func schemaOf(t testing.TB, ddl string) *columnar.Schema {
	t.Helper()
	s, err := columnar.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t testing.TB, s *columnar.Schema, opts WriterOptions, batches ...*columnar.Batch) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, s, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func read(t testing.TB, data []byte, wanted *columnar.Schema, max int) (rows []string, schema *columnar.Schema) {
	t.Helper()
	r, err := Open(bytes.NewReader(data), int64(len(data)), wanted)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next(max)
		if err == io.EOF {
			return rows, r.Schema()
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows {
			rows = append(rows, string(datumjson.AppendRow(nil, b, i)))
		}
	}
}

func TestRoundTrip(t *testing.T) {
	s := schemaOf(t, everything)
	s.Fields = append(s.Fields, columnar.Field{Name: "ti", Type: columnar.Time, Nullable: true})
	r := rand.New(rand.NewSource(1))
	for _, codec := range []string{"none", "snappy", "gzip", "zstd"} {
		for _, n := range []int{0, 1, 300} {
			b := formattest.RandomBatch(r, s, n)
			var want []string
			for i := range n {
				want = append(want, string(datumjson.AppendRow(nil, b, i)))
			}
			data := write(t, s, WriterOptions{Compression: codec, GroupRows: 128}, b.Slice(0, n/3), b.Slice(n/3, n))
			for _, max := range []int{7, 1000} {
				got, schema := read(t, data, nil, max)
				if !schema.Equal(s) {
					t.Fatalf("schema %s\nwant %s", schema, s)
				}
				if len(got) != n {
					t.Fatalf("%d rows, want %d", len(got), n)
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%s, %d at a time, row %d:\n got %s\nwant %s", codec, max, i, got[i], want[i])
					}
				}
			}
		}
	}
}

func TestProjection(t *testing.T) {
	s := schemaOf(t, everything)
	b := formattest.RandomBatch(rand.New(rand.NewSource(2)), s, 100)
	data := write(t, s, WriterOptions{}, b)
	wanted := schemaOf(t, "S STRING, st STRUCT<b: STRUCT<d: ARRAY<STRUCT<f: ARRAY<DOUBLE>, zz: INT>>>>, missing DATE, i4 BIGINT, f4 DOUBLE, d1 DECIMAL(10,4), i2 DECIMAL(10,2), da TIMESTAMP_NTZ")
	got, schema := read(t, data, wanted, 33)
	if !schema.Equal(wanted) || len(got) != 100 {
		t.Fatalf("%d rows of %s", len(got), schema)
	}
	plain, _ := read(t, data, schemaOf(t, "i4 INT, d1 DECIMAL(5,2)"), 1000)
	for i := range plain[:10] {
		t.Log(plain[i], got[i])
	}
	one, err := datumjson.ParseRow(wanted, []byte(got[3]))
	if err != nil {
		t.Fatal(err)
	}
	two, _ := datumjson.ParseRow(schemaOf(t, "i4 INT, d1 DECIMAL(5,2)"), []byte(plain[3]))
	if fmt.Sprint(one[3]) != fmt.Sprint(two[0]) {
		t.Errorf("INT %v was widened to %v", two[0], one[3])
	}
	_, err = Open(bytes.NewReader(data), int64(len(data)), schemaOf(t, "s INT"))
	if c := sparkerr.Condition(err); c != "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH" {
		t.Errorf("STRING as INT: %v", err)
	}
}

func TestRefusedTypes(t *testing.T) {
	for _, ddl := range []string{"a VOID", "a STRUCT<b: VOID>"} {
		_, err := NewWriter(io.Discard, schemaOf(t, ddl), WriterOptions{})
		if sparkerr.Condition(err) != "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE" {
			t.Errorf("%s: %v", ddl, err)
		}
	}
}

func TestGroups(t *testing.T) {
	s := schemaOf(t, "a INT")
	b := formattest.RandomBatch(rand.New(rand.NewSource(3)), s, 1000)
	data := write(t, s, WriterOptions{GroupRows: 300}, b)
	r, err := Open(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.NumGroups() != 4 || r.NumRows() != 1000 {
		t.Fatalf("%d groups, %d rows", r.NumGroups(), r.NumRows())
	}
	r.SelectGroups(3, 4)
	got, err := r.Next(1000)
	if err != nil || got.Rows != 100 {
		t.Fatalf("%v, %v", got, err)
	}
}

func TestSchemaJSON(t *testing.T) {
	s := schemaOf(t, everything)
	text, err := SchemaJSON(s)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseSchemaJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	if back.String() != s.String() {
		t.Errorf("got %s\nwant %s", back, s)
	}
}

// FuzzOpen reads damaged files: an error, but neither a panic nor rows that cannot be read.
func FuzzOpen(f *testing.F) {
	for _, ddl := range []string{"a INT, s STRING, l ARRAY<STRUCT<x: DECIMAL(20,2), y: TIMESTAMP>>", everything} {
		s := schemaOf(f, ddl)
		b := formattest.RandomBatch(rand.New(rand.NewSource(4)), s, 20)
		for _, codec := range []string{"none", "snappy", "gzip", "zstd"} {
			f.Add(write(f, s, WriterOptions{Compression: codec}, b))
		}
	}
	names, _ := filepath.Glob(filepath.Join("testdata", "foreign", "*.parquet"))
	for _, n := range names {
		data, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		r, err := Open(bytes.NewReader(data), int64(len(data)), nil)
		if err != nil {
			return
		}
		defer r.Close()
		for range 10 {
			b, err := r.Next(100)
			if err != nil {
				return
			}
			for i := range b.Rows {
				datumjson.AppendRow(nil, b, i)
			}
		}
	})
}

func benchBatch(n int) (*columnar.Schema, *columnar.Batch) {
	r := rand.New(rand.NewSource(1))
	ts, amount, urls := make([]int64, n), make([]float64, n), make([]string, n)
	for i := range n {
		ts[i], amount[i], urls[i] = 1791244800000000+int64(i)*8000, float64(r.Intn(100000))/100, fmt.Sprintf("/p/%d", r.Intn(1000))
	}
	s, _ := columnar.ParseDDL("ts TIMESTAMP, url STRING, amount DOUBLE")
	return s, columnar.NewBatch(s, []*columnar.Column{columnar.NewFixed(columnar.Timestamp, ts, nil), columnar.NewStrings(urls), columnar.NewFixed(columnar.Float64, amount, nil)}, n)
}

func BenchmarkWrite(b *testing.B) {
	s, batch := benchBatch(100_000)
	for b.Loop() {
		write(b, s, WriterOptions{}, batch)
	}
	b.ReportMetric(float64(b.N)*100_000/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkRead(b *testing.B) {
	s, batch := benchBatch(100_000)
	data := write(b, s, WriterOptions{}, batch)
	for b.Loop() {
		r, err := Open(bytes.NewReader(data), int64(len(data)), nil)
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := r.Next(8192); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*100_000/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
