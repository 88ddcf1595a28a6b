package arrowfmt

import (
	"bytes"
	"io"
	"math/rand"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/formattest"
	"github.com/wstream/wstream/columnar/sparkerr"
)

const ddl = "a INT, s STRING, d DECIMAL(20,2), ts TIMESTAMP, v VARIANT, ym INTERVAL YEAR TO MONTH, l ARRAY<STRUCT<x: DATE, y: MAP<STRING, DOUBLE>>>"

func file(t testing.TB, compression string, stream bool, b *columnar.Batch) []byte {
	var buf bytes.Buffer
	w, err := NewWriter(&buf, b.Schema, compression, stream)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []*columnar.Batch{b.Slice(0, b.Rows/3), b.Slice(b.Rows/3, b.Rows)} {
		if err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestRoundTrip(t *testing.T) {
	s, err := columnar.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	b := formattest.RandomBatch(rand.New(rand.NewSource(1)), s, 100)
	for _, compression := range []string{"none", "lz4", "zstd"} {
		for _, stream := range []bool{false, true} {
			data := file(t, compression, stream, b)
			r, err := Open(bytes.NewReader(data), int64(len(data)), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Schema().Equal(s) {
				t.Fatalf("schema %s", r.Schema())
			}
			row := 0
			for {
				got, err := r.Next(30)
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				for i := range got.Rows {
					if a, w := string(datumjson.AppendRow(nil, got, i)), string(datumjson.AppendRow(nil, b, row)); a != w {
						t.Fatalf("%s row %d:\n got %s\nwant %s", compression, row, a, w)
					}
					row++
				}
			}
			if row != 100 {
				t.Fatalf("%d rows", row)
			}
			r.Close()
		}
	}
}

func TestProjection(t *testing.T) {
	s, _ := columnar.ParseDDL(ddl)
	b := formattest.RandomBatch(rand.New(rand.NewSource(1)), s, 10)
	data := file(t, "", false, b)
	wanted, _ := columnar.ParseDDL("S STRING, a BIGINT, z INT")
	r, err := Open(bytes.NewReader(data), int64(len(data)), wanted)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Next(100)
	if err != nil || !got.Schema.Equal(wanted) || got.Columns[2].NullCount() != got.Rows {
		t.Fatalf("%v, %v", got, err)
	}
	bad, _ := columnar.ParseDDL("s INT")
	if _, err := Open(bytes.NewReader(data), int64(len(data)), bad); sparkerr.Condition(err) != "ARROW_COLUMN_DATA_TYPE_MISMATCH" {
		t.Errorf("STRING as INT: %v", err)
	}
}

// TestTruncated reads files that were cut off: they end with an error, or with fewer rows where the stream format has no
// end of its own. Arrow's reader trusts what the metadata say, so that random bytes are no test for it.
func TestTruncated(t *testing.T) {
	s, _ := columnar.ParseDDL("a INT, s STRING")
	b := formattest.RandomBatch(rand.New(rand.NewSource(4)), s, 50)
	for _, stream := range []bool{false, true} {
		data := file(t, "", stream, b)
		for n := range len(data) {
			r, err := Open(bytes.NewReader(data[:n]), int64(n), nil)
			if err != nil {
				continue
			}
			rows := 0
			for err == nil {
				var part *columnar.Batch
				if part, err = r.Next(100); err == nil {
					rows += part.Rows
				}
			}
			if err == io.EOF && (rows > b.Rows || !stream) {
				t.Fatalf("%d of %d bytes: %d rows", n, len(data), rows)
			}
		}
	}
}

// FuzzOpen reads damaged files: an error, but neither a panic nor rows that cannot be read.
func FuzzOpen(f *testing.F) {
	for _, ddl := range []string{ddl, "a INT", "s STRING, b BINARY, m MAP<STRING, ARRAY<INT>>", "x BOOLEAN, d DECIMAL(5,1), t TIMESTAMP_NTZ, i INTERVAL DAY TO SECOND"} {
		s, err := columnar.ParseDDL(ddl)
		if err != nil {
			f.Fatal(err)
		}
		b := formattest.RandomBatch(rand.New(rand.NewSource(4)), s, 6)
		for _, compression := range []string{"none", "lz4", "zstd"} {
			f.Add(file(f, compression, false, b))
			f.Add(file(f, compression, true, b))
		}
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
