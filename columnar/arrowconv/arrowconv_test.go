package arrowconv

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/formattest"
)

const everything = `bo BOOLEAN, i1 TINYINT NOT NULL, i2 SMALLINT, i4 INT, i8 BIGINT, f4 FLOAT, f8 DOUBLE, d1 DECIMAL(5,2), d2 DECIMAL(38,18), s STRING,
	bi BINARY, da DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, ym INTERVAL YEAR TO MONTH, mo INTERVAL MONTH, dt INTERVAL DAY TO SECOND, hm INTERVAL HOUR TO MINUTE,
	v VARIANT, vo VOID, a ARRAY<INT>, aa ARRAY<ARRAY<STRING>>, m MAP<STRING, ARRAY<DATE>>, mi MAP<INT, STRUCT<x: BOOLEAN, y: STRING>>,
	st STRUCT<a: INT, b: STRUCT<c: DECIMAL(20,3), d: ARRAY<STRUCT<e: TIMESTAMP>>>>`

func schemaOf(t testing.TB) *columnar.Schema {
	s, err := columnar.ParseDDL(everything)
	if err != nil {
		t.Fatal(err)
	}
	s.Fields = append(s.Fields, columnar.Field{Name: "ca", Type: columnar.Calendar, Nullable: true}, columnar.Field{Name: "ti", Type: columnar.Time, Nullable: true})
	return s
}

// same compares batches as text.
func same(t *testing.T, got, want *columnar.Batch) {
	t.Helper()
	if got.Rows != want.Rows || !got.Schema.Equal(want.Schema) {
		t.Fatalf("%d rows of %s, want %d of %s", got.Rows, got.Schema, want.Rows, want.Schema)
	}
	for i := range got.Rows {
		if a, b := string(datumjson.AppendRow(nil, got, i)), string(datumjson.AppendRow(nil, want, i)); a != b {
			t.Fatalf("row %d:\n got %s\nwant %s", i, a, b)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	s := schemaOf(t)
	for _, n := range []int{0, 1, 7, 64, 200} {
		b := formattest.RandomBatch(r, s, n)
		for from := 0; from <= n; from += 1 + n/3 {
			for _, to := range []int{from, (from + n + 1) / 2, n} {
				part := b.Slice(from, to)
				rec := ToArrow(part)
				back, err := FromArrow(rec)
				if err != nil {
					t.Fatal(err)
				}
				same(t, back, part)
				// A slice on Arrow's side must come out as one on ours.
				if to-from > 2 {
					cut := rec.NewSlice(1, int64(to-from-1))
					back, err := FromArrow(cut)
					if err != nil {
						t.Fatal(err)
					}
					same(t, back, part.Slice(1, to-from-1))
					cut.Release()
				}
				rec.Release()
			}
		}
	}
}

func TestOtherArrowTypes(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	fields := []arrow.Field{
		{Name: "u1", Type: arrow.PrimitiveTypes.Uint8, Nullable: true},
		{Name: "u8", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
		{Name: "ls", Type: arrow.BinaryTypes.LargeString, Nullable: true},
		{Name: "tn", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}, Nullable: true},
		{Name: "tm", Type: &arrow.TimestampType{Unit: arrow.Millisecond}, Nullable: true},
		{Name: "d6", Type: arrow.FixedWidthTypes.Date64, Nullable: true},
		{Name: "di", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "fl", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), Nullable: true},
	}
	b := array.NewRecordBuilder(mem, arrow.NewSchema(fields, nil))
	defer b.Release()
	text := `{"u1":255,"u8":9223372036854775808,"ls":"x","tn":"1969-12-31 23:59:59.999999999","tm":"2026-03-01 10:11:12.123","d6":"2026-03-01","di":"k","fl":[1,2]}
{"u1":null,"u8":null,"ls":null,"tn":null,"tm":null,"d6":null,"di":null,"fl":null}
{"u1":1,"u8":0,"ls":"","tn":"2026-03-01 00:00:00","tm":"1969-12-31 23:59:59.5","d6":"1969-12-31","di":"l","fl":[null,3]}`
	for _, line := range strings.Split(text, "\n") {
		if err := b.UnmarshalJSON([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	rec := b.NewRecord()
	defer rec.Release()
	got, err := FromArrow(rec)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"u1":255,"u8":"9223372036854775808","ls":"x","tn":"1969-12-31T23:59:59.999999Z","tm":"2026-03-01T10:11:12.123000","d6":"2026-03-01","di":"k","fl":[1,2]}`,
		`{"u1":null,"u8":null,"ls":null,"tn":null,"tm":null,"d6":null,"di":null,"fl":null}`,
		`{"u1":1,"u8":"0","ls":"","tn":"2026-03-01T00:00:00.000000Z","tm":"1969-12-31T23:59:59.500000","d6":"1969-12-31","di":"l","fl":[null,3]}`,
	}
	for i, w := range want {
		if g := string(datumjson.AppendRow(nil, got, i)); g != w {
			t.Errorf("row %d:\n got %s\nwant %s", i, g, w)
		}
	}
}
