package jsonfmt

import (
	"fmt"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/formattest"
)

var fuzzSchemas = [...]string{
	"a INT, b STRING, c DOUBLE, t TIMESTAMP, _corrupt_record STRING",
	"v STRING, i BIGINT, d DATE, f FLOAT, s SMALLINT, y TINYINT, n TIMESTAMP_NTZ",
	"v ARRAY<INT>, x BOOLEAN, d DECIMAL(10,2), e DECIMAL(38,18), b BINARY, _corrupt_record STRING",
	"s STRUCT<x: INT, y: STRUCT<z: STRING, w: ARRAY<INT>>>, v MAP<STRING, INT>, _corrupt_record STRING",
	"a ARRAY<STRUCT<a: INT, b: STRING>>, v ARRAY<ARRAY<STRING>>, m MAP<STRING, STRUCT<a: INT>>",
}

// dump prints all that a decoder gives for data.
func dump(d *Decoder, data []byte) string {
	b, corrupt, err := d.Decode(data)
	if err != nil {
		return fmt.Sprint("error ", err)
	}
	text := fmt.Appendf(nil, "%d corrupt, first in line %d: %q\n", corrupt.Records, corrupt.Line, corrupt.Sample)
	for i := range b.Rows {
		text = append(datumjson.AppendRow(text, b, i), '\n')
	}
	for _, c := range b.Columns {
		checkColumn(c)
	}
	return string(text)
}

// checkColumn panics when the buffers of a column are too small for its rows.
func checkColumn(c *columnar.Column) {
	if c.Valid != nil && len(c.Valid) < columnar.BitmapWords(c.Len) || c.Offsets != nil && len(c.Offsets) != c.Len+1 ||
		c.Type.Width() > 0 && len(c.Data) != c.Len*c.Type.Width() {
		panic(fmt.Sprintf("column of %s with %d rows: %d words, %d offsets, %d bytes", c.Type, c.Len, len(c.Valid), len(c.Offsets), len(c.Data)))
	}
	for _, k := range c.Children {
		checkColumn(k)
	}
}

// FuzzFastAndSlow holds the fast reader against the slow one.
func FuzzFastAndSlow(f *testing.F) {
	formattest.Inputs(f, "json", func(text []byte) {
		for k := range fuzzSchemas {
			f.Add(text, uint8(k), uint8(0))
		}
		f.Add(text, uint8(0), uint8(1))
	})
	f.Add([]byte(`{"a":1,"b":"x","c":1.5,"t":"2026-03-01T10:11:12.123Z"}`+"\n"), uint8(0), uint8(0))
	f.Add([]byte(`[{"a":1},{"a":2}]`), uint8(0), uint8(1))
	f.Add([]byte(`{"a":-12345678,"c":-0.0}|{"c":1e5}|{"c":123456.7}`), uint8(0), uint8(2))
	f.Fuzz(func(t *testing.T, text []byte, which, how uint8) {
		ddl := fuzzSchemas[int(which)%len(fuzzSchemas)]
		schema, err := columnar.ParseDDL(ddl)
		if err != nil {
			t.Fatal(err)
		}
		options := map[string]string{}
		switch how % 4 {
		case 1:
			options["multiLine"] = "true"
		case 2:
			options["lineSep"] = "|"
		case 3:
			options["mode"] = "DROPMALFORMED"
		}
		opts, err := ParseOptions(options, "UTC")
		if err != nil {
			t.Fatal(err)
		}
		fast, err := New(schema, nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		slow, _ := New(schema, nil, opts)
		slow.slow = true
		// Twice, as the second time uses what the first has learned.
		want := dump(slow, text)
		for range 2 {
			if got := dump(fast, text); got != want {
				t.Fatalf("schema %s, %q\nfast:\n%s\nslow:\n%s", ddl, text, got, want)
			}
		}
	})
}

// FuzzFromJSON does the same for documents in a column.
func FuzzFromJSON(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":{"k":1.10}}`, `[1,2]`, `{"a":1}`, "{\n \"a\" : -0 }", `null`, ``, " ", `{"b":1e400}`, `[{"a":1}]`} {
		for k := range 3 {
			f.Add([]byte(s), uint8(k))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, which uint8) {
		typ, err := columnar.ParseType([]string{"STRUCT<a: INT, b: STRING, _corrupt_record: STRING>", "ARRAY<STRUCT<a: INT>>", "MAP<STRING, DOUBLE>"}[which%3])
		if err != nil {
			t.Fatal(err)
		}
		opts, _ := ParseOptions(nil, "UTC")
		col := columnar.FromData(columnar.Binary, text, nil, text)
		var got [2]string
		for k := range got {
			d, err := NewColumn(typ, opts)
			if err != nil {
				t.Fatal(err)
			}
			d.slow = k == 1
			for range 2 {
				out, _, err := d.DecodeColumn(col)
				if err != nil {
					t.Fatal(err)
				}
				checkColumn(out)
				got[k] = ""
				for i := range out.Len {
					got[k] += string(datumjson.Append(nil, out.Type, out.Datum(i))) + "\n"
				}
			}
		}
		if got[0] != got[1] {
			t.Fatalf("%s %q\nfast:\n%s\nslow:\n%s", typ, text, got[0], got[1])
		}
	})
}
