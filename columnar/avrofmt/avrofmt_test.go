package avrofmt

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

const everything = `bo BOOLEAN, r4 INT NOT NULL, i4 INT, i8 BIGINT, f4 FLOAT, f8 DOUBLE, d1 DECIMAL(5,2), d2 DECIMAL(38,18), s STRING, bi BINARY, da DATE, ts TIMESTAMP,
	tn TIMESTAMP_NTZ, ym INTERVAL YEAR TO MONTH, dt INTERVAL DAY TO SECOND, a ARRAY<INT>, aa ARRAY<ARRAY<STRING>> NOT NULL, m MAP<STRING, ARRAY<DATE>>,
	st STRUCT<a: INT, b: STRUCT<c: DECIMAL(20,3), d: ARRAY<STRUCT<e: TIMESTAMP>>>>`

func file(t testing.TB, compression string, b *columnar.Batch) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, b.Schema, compression)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func rows(t testing.TB, data []byte, wanted *columnar.Schema, max int) (out []string, schema *columnar.Schema) {
	t.Helper()
	r, err := Open(bytes.NewReader(data), int64(len(data)), wanted)
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, err := r.Next(max)
		if err == io.EOF {
			return out, r.Schema()
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows {
			out = append(out, string(datumjson.AppendRow(nil, b, i)))
		}
	}
}

func TestRoundTrip(t *testing.T) {
	s, err := columnar.ParseDDL(everything)
	if err != nil {
		t.Fatal(err)
	}
	b := formattest.RandomBatch(rand.New(rand.NewSource(1)), s, 1000)
	for _, compression := range []string{"none", "snappy", "deflate", "zstandard"} {
		data := file(t, compression, b)
		for _, max := range []int{7, 10_000} {
			got, schema := rows(t, data, nil, max)
			if !schema.Equal(s) || len(got) != 1000 {
				t.Fatalf("%d rows of %s", len(got), schema)
			}
			for i := range got {
				if want := string(datumjson.AppendRow(nil, b, i)); got[i] != want {
					t.Fatalf("%s row %d:\n got %s\nwant %s", compression, i, got[i], want)
				}
			}
		}
	}
}

func TestProjection(t *testing.T) {
	s, _ := columnar.ParseDDL("a INT, s STRING, x ARRAY<INT>")
	b := formattest.RandomBatch(rand.New(rand.NewSource(1)), s, 20)
	data := file(t, "", b)
	wanted, _ := columnar.ParseDDL("S STRING, A BIGINT, z INT")
	got, _ := rows(t, data, wanted, 8)
	all, _ := rows(t, data, nil, 100)
	if len(got) != 20 || len(all) != 20 {
		t.Fatalf("%d and %d rows", len(got), len(all))
	}
	bad, _ := columnar.ParseDDL("s INT")
	if _, err := Open(bytes.NewReader(data), int64(len(data)), bad); sparkerr.Condition(err) != "AVRO_INCOMPATIBLE_READ_TYPE" {
		t.Errorf("STRING as INT: %v", err)
	}
}

// TestForeignSchema reads a file put together by hand with types that the writer does not use.
func TestForeignSchema(t *testing.T) {
	const schema = `{"type":"record","name":"r","namespace":"n","fields":[
		{"name":"e","type":{"type":"enum","name":"color","symbols":["RED","BLUE"]}},
		{"name":"e2","type":["null","color"]},
		{"name":"f","type":{"type":"fixed","name":"four","size":2}},
		{"name":"l","type":["int","long"]},
		{"name":"u","type":["null","string","int"]},
		{"name":"t","type":{"type":"long","logicalType":"timestamp-millis"}},
		{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":1}},
		{"name":"m","type":{"type":"map","values":"double"}},
		{"name":"a","type":{"type":"array","items":"string"}}]}`
	head := appendLong([]byte(magic), 1)
	head = appendBytes(appendBytes(head, "avro.schema"), schema)
	sync := bytes.Repeat([]byte{7}, syncSize)
	head = append(appendLong(head, 0), sync...)
	var body []byte
	body = appendLong(body, 1)                                                       // BLUE
	body = appendLong(appendLong(body, 1), 0)                                        // RED
	body = append(body, 'x', 'y')                                                    // f
	body = appendLong(appendLong(body, 0), -5)                                       // an int
	body = appendLong(appendLong(body, 2), 9)                                        // member1
	body = appendLong(body, 1500)                                                    // 1.5 s
	body = appendBytes(body, []byte{0xff, 0xf6})                                     // -10
	body = append(appendBytes(appendLong(body, 1), "k"), 0, 0, 0, 0, 0, 0, 0xf8, 63) // 1.5
	body = append(body, 0)
	items := appendBytes(nil, "p")
	body = append(appendLong(appendLong(body, -1), int64(len(items))), items...) // a block with its size
	body = append(body, 0)
	data := append(appendBytes(appendLong(head, 1), body), sync...)
	got, s := rows(t, data, nil, 10)
	want := `{"e":"BLUE","e2":"RED","f":"eHk=","l":-5,"u":{"member0":null,"member1":9},"t":"1970-01-01T00:00:01.500000Z","d":"-1.0","m":{"k":1.5},"a":["p"]}`
	if len(got) != 1 || got[0] != want {
		t.Errorf("%s\n got %s\nwant %s", s, got, want)
	}
}

func TestRefused(t *testing.T) {
	for _, schema := range []string{
		`{"type":"record","name":"r","fields":[{"name":"x","type":["null","r"]}]}`, `"string"`, `{"type":"record","name":"r","fields":[{"name":"x","type":"what"}]}`, ``,
	} {
		head := appendBytes(appendBytes(appendLong([]byte(magic), 1), "avro.schema"), schema)
		head = append(appendLong(head, 0), make([]byte, syncSize)...)
		if _, err := Open(bytes.NewReader(head), int64(len(head)), nil); err == nil {
			t.Errorf("%s was accepted", schema)
		}
	}
	s, _ := columnar.ParseDDL("m MAP<INT, INT>")
	if _, err := NewWriter(io.Discard, s, ""); sparkerr.Condition(err) != "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE" {
		t.Errorf("a map with INT keys: %v", err)
	}
}

// FuzzOpen reads damaged files: an error, but neither a panic nor rows that cannot be read.
func FuzzOpen(f *testing.F) {
	for _, ddl := range []string{"a INT, s STRING, l ARRAY<STRUCT<x: DECIMAL(20,2), y: TIMESTAMP>>, m MAP<STRING, DOUBLE>", everything} {
		s, err := columnar.ParseDDL(ddl)
		if err != nil {
			f.Fatal(err)
		}
		b := formattest.RandomBatch(rand.New(rand.NewSource(4)), s, 5)
		for _, codec := range []string{"none", "snappy", "deflate", "zstandard"} {
			f.Add(file(f, codec, b))
		}
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		r, err := Open(bytes.NewReader(data), int64(len(data)), nil)
		if err != nil {
			return
		}
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
