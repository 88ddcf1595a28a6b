package csvfmt

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/formattest"
	"github.com/wstream/wstream/columnar/sparkerr"
)

func parse(t testing.TB, options map[string]string) Options {
	t.Helper()
	opts, err := ParseOptions(options, "UTC")
	if err != nil {
		t.Fatal(err)
	}
	return opts
}

func schemaOf(t testing.TB, ddl string) *columnar.Schema {
	t.Helper()
	s, err := columnar.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestToCSV holds values against what Spark 4.2 prints.
func TestToCSV(t *testing.T) {
	for _, c := range []struct {
		ddl, value, want string
		options          map[string]string
	}{
		{"a STRING", `{"a":" x "}`, `x`, nil},
		{"a STRING", `{"a":""}`, `""`, nil},
		{"a INT, b STRING", `{"a":1}`, `1,`, nil},
		{"a DOUBLE, b DOUBLE, c DECIMAL(3,2)", `{"a":1.0,"b":1e10,"c":"1.50"}`, `1.0,1.0E10,1.50`, nil},
		{"a ARRAY<INT>", `{"a":[1]}`, `[1]`, nil},
		{"t TIMESTAMP, d DATE", `{"t":"2026-03-01T10:11:12.5Z","d":"2026-03-01"}`, `2026-03-01T10:11:12.500Z,2026-03-01`, nil},
		{"a STRING, b STRING", `{"a":"x,y","b":"q\"uote"}`, `"x,y","q\"uote"`, nil},
		{"a STRING, b STRING", `{"a":"back\\slash","b":"back\\,slash"}`, `back\slash,"back\\,slash"`, nil},
		{"a STRING, b STRING", `{"a":"q\"uote"}`, `q"uote,`, map[string]string{"escapeQuotes": "false"}},
		{"a STRING, b INT", `{"a":"x","b":1}`, `"x","1"`, map[string]string{"quoteAll": "true"}},
		{"a STRING, b INT", `{}`, `NA;NA`, map[string]string{"nullValue": "NA", "sep": ";"}},
		{"a STRING, b STRING", `{"a":"#x","b":"#x"}`, `"#x",#x`, nil},
		{"a STRING", `{"a":"q\"u"}`, `"q""u"`, map[string]string{"escape": `"`}},
		{"a STRING", `{"a":"two\nlines"}`, "\"two\nlines\"", nil},
	} {
		schema := schemaOf(t, c.ddl)
		row, err := datumjson.ParseRow(schema, []byte(c.value))
		if err != nil {
			t.Fatal(err)
		}
		w, err := NewWriter(schema, parse(t, c.options), true)
		if err != nil {
			t.Fatal(err)
		}
		var cols []*columnar.Column
		for i, f := range schema.Fields {
			cols = append(cols, columnar.FromData(f.Type, row[i]))
		}
		if got := string(w.AppendFields(nil, cols, 0)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.value, got, c.want)
		}
	}
}

// TestFilesReadBack writes rows as a file and reads them again. A STRING loses blanks at its ends, and an empty one is
// told from NULL only by an option.
func TestFilesReadBack(t *testing.T) {
	schema := schemaOf(t, `n INT NOT NULL, bo BOOLEAN, i1 TINYINT, i8 BIGINT, f4 FLOAT, f8 DOUBLE, d2 DECIMAL(38,18), s STRING, da DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ,
		ym INTERVAL YEAR TO MONTH, dt INTERVAL DAY TO SECOND, z STRING`)
	for _, options := range []map[string]string{
		{}, {"sep": "||"}, {"quote": "'", "escape": "'"}, {"sep": "¦", "quote": "“", "escape": "¤"}, {"header": "true", "quoteAll": "true"},
	} {
		options["multiLine"] = "true"
		options["ignoreLeadingWhiteSpace"], options["ignoreTrailingWhiteSpace"] = "false", "false"
		options["nullValue"] = "\u2205"
		options["timeZone"] = "Europe/Berlin"
		opts := parse(t, options)
		pair := strings.Repeat(string(opts.Quote), 2)
		opts.EmptyValue = &pair
		w, err := NewWriter(schema, opts, false)
		if err != nil {
			t.Fatal(err)
		}
		b := formattest.RandomBatch(rand.New(rand.NewSource(1)), schema, 300)
		var file []byte
		if opts.Header {
			file = w.AppendHeader(file)
		}
		for i := range b.Rows {
			file = w.AppendRow(file, b, i)
		}
		empty := ""
		opts.EmptyValue = &empty
		d, err := New(schema, nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		got, corrupt, err := d.Decode(file, true)
		if err != nil || corrupt.Records > 0 || got.Rows != b.Rows {
			t.Fatalf("%v: %v, %+v, %d rows", options, err, corrupt, got.Rows)
		}
		for i := range b.Rows {
			a, b := string(datumjson.AppendRow(nil, got, i)), string(datumjson.AppendRow(nil, b, i))
			// Line ends within quotes become \n.
			if a != b && a != strings.ReplaceAll(strings.ReplaceAll(b, `\r\n`, `\n`), `\r`, `\r`) {
				t.Fatalf("%v row %d:\n got %s\nwant %s", options, i, a, b)
			}
		}
	}
}

func TestFromCSV(t *testing.T) {
	for _, c := range []struct {
		text, ddl, want string
		options         map[string]string
	}{
		{" 1 , x ", "a INT, b STRING", `{"a":null,"b":" x "}`, nil},
		{" 1 , x ", "a INT, b STRING", `{"a":1,"b":"x"}`, map[string]string{"ignoreLeadingWhiteSpace": "true", "ignoreTrailingWhiteSpace": "true"}},
		{"", "a INT, b STRING", `{"a":null,"b":null}`, nil},
		{",", "a INT, b STRING", `{"a":null,"b":null}`, nil},
		{"1,NA", "a INT, b STRING", `{"a":1,"b":null}`, map[string]string{"nullValue": "NA"}},
		{"1,abc,extra", "a INT, b STRING", `{"a":1,"b":"abc"}`, nil},
		{"1;abc", "a INT, b STRING", `{"a":1,"b":"abc"}`, map[string]string{"sep": ";"}},
		{"NaN,Inf,-Inf", "a DOUBLE, b DOUBLE, c DOUBLE", `{"a":"NaN","b":"Infinity","c":"-Infinity"}`, nil},
		{`"",`, "a STRING, b STRING", `{"a":null,"b":null}`, nil},
		{`"a\"b",2`, "a STRING, b INT", `{"a":"a\"b","b":2}`, nil},
		{"true,1.5,2026-03-01", "a BOOLEAN, b DECIMAL(5,2), c DATE", `{"a":true,"b":"1.50","c":"2026-03-01"}`, nil},
		{"x,1", "a INT, b INT, _corrupt_record STRING", `{"a":null,"b":1,"_corrupt_record":"x,1"}`, nil},
	} {
		d, err := NewColumn(schemaOf(t, c.ddl).Struct(), parse(t, c.options))
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := d.DecodeColumn(columnar.FromData(columnar.String, c.text, nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(datumjson.Append(nil, out.Type, out.Datum(0))); got != c.want || out.Datum(1) != nil {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
	d, err := NewColumn(schemaOf(t, "a INT, b INT").Struct(), parse(t, map[string]string{"mode": "FAILFAST"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.DecodeColumn(columnar.FromData(columnar.String, "x,1")); sparkerr.Condition(err) != "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION" {
		t.Errorf("FAILFAST: %v", err)
	}
}

func TestSchemaOf(t *testing.T) {
	for text, want := range map[string]string{
		"1,abc": "_c0 INT,_c1 STRING", "1.5,true,2026-03-01": "_c0 DOUBLE,_c1 BOOLEAN,_c2 DATE",
		"2026-03-01T00:00:00Z,99999999999,123456789012345678901": "_c0 TIMESTAMP,_c1 BIGINT,_c2 DECIMAL(21,0)",
	} {
		s, err := SchemaOf(text, parse(t, nil))
		if err != nil {
			t.Fatal(err)
		}
		if s.String() != want {
			t.Errorf("%s: got %s, want %s", text, s, want)
		}
	}
}

func TestUnescapedQuotes(t *testing.T) {
	for how, want := range map[string]string{
		"STOP_AT_DELIMITER":     `{"a":"\"x\"y","b":"z"}`,
		"STOP_AT_CLOSING_QUOTE": `{"a":"x\"y,z","b":null}`,
		"BACK_TO_DELIMITER":     `{"a":"xy,z","b":null}`,
		"SKIP_VALUE":            `{"a":null,"b":"z"}`,
	} {
		d, err := New(schemaOf(t, "a STRING, b STRING"), nil, parse(t, map[string]string{"unescapedQuoteHandling": how}))
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := d.Decode([]byte("\"x\"y,z\n"), true)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(datumjson.AppendRow(nil, b, 0)); got != want {
			t.Errorf("%s: got %s, want %s", how, got, want)
		}
	}
}

// TestPruning checks that unwanted columns neither cost nor count.
func TestPruning(t *testing.T) {
	d, err := New(schemaOf(t, "a INT, b INT, c STRING, _corrupt_record STRING"), []int{2, 0}, parse(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	b, corrupt, err := d.Decode([]byte("1,x,y\n2\n3,4,5,6\n"), true)
	if err != nil || corrupt.Records != 0 {
		t.Fatalf("%v, %+v", err, corrupt)
	}
	want := []string{`{"c":"y","a":1}`, `{"c":null,"a":2}`, `{"c":"5","a":3}`}
	for i, w := range want {
		if got := string(datumjson.AppendRow(nil, b, i)); got != w {
			t.Errorf("row %d: got %s, want %s", i, got, w)
		}
	}
}

func FuzzDecode(f *testing.F) {
	formattest.Inputs(f, "csv", func(data []byte) {
		for how := range 6 {
			f.Add(string(data), uint8(how))
		}
	})
	f.Add("1,x,1.5\n\"a\"\"b\",\"c\\\"d\",NaN\n", uint8(0))
	f.Add("a,b,c\r\n\"x\r\ny\",1,2026-03-01T10:11:12Z\r\n", uint8(1))
	f.Add("“x“,1||2", uint8(2))
	f.Fuzz(func(t *testing.T, text string, how uint8) {
		options := []map[string]string{
			{},
			{"multiLine": "true", "header": "true"},
			{"sep": "||", "quote": "“", "comment": "#"},
			{"mode": "DROPMALFORMED", "escape": `"`},
			{"ignoreLeadingWhiteSpace": "true", "ignoreTrailingWhiteSpace": "true", "unescapedQuoteHandling": "STOP_AT_CLOSING_QUOTE"},
			{"unescapedQuoteHandling": "BACK_TO_DELIMITER", "charToEscapeQuoteEscaping": "/"},
		}[how%6]
		opts := parse(t, options)
		d, err := New(schemaOf(t, "a STRING, b INT, c TIMESTAMP, d DOUBLE, e DECIMAL(10,2), f BOOLEAN, _corrupt_record STRING"), nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := d.Decode([]byte(text), true)
		if err != nil {
			return
		}
		for i := range b.Rows {
			datumjson.AppendRow(nil, b, i)
		}
		n, err := NewInference(opts)
		if err != nil {
			t.Fatal(err)
		}
		n.opts.InferSchema = true
		if err := n.Add([]byte(text), true); err == nil {
			n.Schema()
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	var data []byte
	const rows = 8000
	for i := range rows {
		ts := time.UnixMilli(1791244800000 + int64(i)*8).UTC().Format("2006-01-02T15:04:05.000Z")
		data = fmt.Appendf(data, "u%06d,%s,/p/%d,%d.%02d,Mozilla/5.0 (X11; Linux x86_64) Chrome/149\n", r.Intn(100000), ts, r.Intn(1000), r.Intn(100), r.Intn(100))
	}
	d, err := New(schemaOf(b, "user_id STRING, event_time TIMESTAMP, url STRING, amount DOUBLE, ua STRING"), []int{1, 2, 3}, parse(b, nil))
	if err != nil {
		b.Fatal(err)
	}
	best := time.Hour
	for b.Loop() {
		begun := time.Now()
		if out, _, err := d.Decode(data, true); err != nil || out.Rows != rows {
			b.Fatal(err)
		}
		best = min(best, time.Since(begun))
	}
	b.ReportMetric(rows/best.Seconds()/1e6, "best-Mrows/s")
}

// TestHeaderOfCRLF reads the name of the last column without the carriage return.
func TestHeaderOfCRLF(t *testing.T) {
	n, err := NewInference(parse(t, map[string]string{"header": "true", "inferSchema": "true"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Add([]byte("a,b\r\n1,2\r\n3,4\r\n"), true); err != nil {
		t.Fatal(err)
	}
	if got := n.Schema().String(); got != "a INT,b INT" {
		t.Errorf("got %q", got)
	}
}
