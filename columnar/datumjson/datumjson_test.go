package datumjson

import (
	"math"
	"reflect"
	"testing"

	"github.com/wstream/wstream/columnar"
)

func TestRoundTrip(t *testing.T) {
	for _, c := range []struct{ ddl, text string }{
		{"BOOLEAN", `true`},
		{"TINYINT", `-128`},
		{"BIGINT", `-9223372036854775808`},
		{"DOUBLE", `1.0`},
		{"DOUBLE", `1.0E308`},
		{"DOUBLE", `-0.0`},
		{"DOUBLE", `"NaN"`},
		{"FLOAT", `"-Infinity"`},
		{"FLOAT", `0.1`},
		{"DECIMAL(10,2)", `"-0.10"`},
		{"DECIMAL(38,18)", `"99999999999999999999.999999999999999999"`},
		{"STRING", `"a\"b\\\n\u0001é😀"`},
		{"STRING", `{"$invalid_utf8_base64":"//4="}`},
		{"BINARY", `"AP8="`},
		{"DATE", `"2026-03-01"`},
		{"DATE", `"+10000-01-01"`},
		{"DATE", `"-0001-12-31"`},
		{"DATE", `"0000-02-29"`},
		{"TIMESTAMP", `"2026-03-01T10:11:12.000001Z"`},
		{"TIMESTAMP", `"1969-12-31T23:59:59.500000Z"`},
		{"TIMESTAMP_NTZ", `"0001-01-01T00:00:00.000000"`},
		{"INTERVAL DAY TO SECOND", `"INTERVAL '-1 02:03:04.5' DAY TO SECOND"`},
		{"INTERVAL DAY", `"INTERVAL '28' DAY"`},
		{"INTERVAL HOUR TO MINUTE", `"INTERVAL '01:30' HOUR TO MINUTE"`},
		{"INTERVAL SECOND", `"INTERVAL '01.5' SECOND"`},
		{"INTERVAL YEAR TO MONTH", `"INTERVAL '-1-2' YEAR TO MONTH"`},
		{"INTERVAL MONTH", `"INTERVAL '14' MONTH"`},
		{"ARRAY<INT>", `[1,null]`},
		{"MAP<STRING,INT>", `{"z":1,"a":null}`},
		{"MAP<INT,STRING>", `[[1,"x"],[0,null]]`},
		{"STRUCT<a:INT,b:ARRAY<DATE>>", `{"a":null,"b":["2026-03-01"]}`},
		{"STRUCT<a:INT,a:INT>", `[["a",1],["a",2]]`},
	} {
		typ, err := columnar.ParseType(c.ddl)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Parse(typ, []byte(c.text))
		if err != nil {
			t.Errorf("%s %s: %v", c.ddl, c.text, err)
			continue
		}
		if got := string(Append(nil, typ, d)); got != c.text {
			t.Errorf("%s %s: written as %s", c.ddl, c.text, got)
		}
		if back := columnar.FromData(typ, d).Datum(0); !reflect.DeepEqual(back, d) && !isNaN(d) {
			t.Errorf("%s %s: a column gives %v for %v", c.ddl, c.text, back, d)
		}
	}
}

func isNaN(d columnar.Datum) bool {
	f, ok := d.(float64)
	return ok && math.IsNaN(f)
}

func TestLenient(t *testing.T) {
	for _, c := range []struct{ ddl, text, want string }{
		{"TIMESTAMP", `"2026-03-01T10:11:12Z"`, `"2026-03-01T10:11:12.000000Z"`},
		{"TIMESTAMP", `"2026-03-01 10:11"`, `"2026-03-01T10:11:00.000000Z"`},
		{"TIMESTAMP", `"2026-03-01"`, `"2026-03-01T00:00:00.000000Z"`},
		{"TIMESTAMP", `"2026-03-01T10:11:12.123456789+02:00"`, `"2026-03-01T08:11:12.123456Z"`},
		{"DECIMAL(10,2)", `1.5`, `"1.50"`},
		{"DOUBLE", `1`, `1.0`},
		{"INT", `"7"`, `7`},
		{"STRUCT<a:INT,b:INT>", `{"b":1}`, `{"a":null,"b":1}`},
	} {
		typ, _ := columnar.ParseType(c.ddl)
		d, err := Parse(typ, []byte(c.text))
		if err != nil {
			t.Errorf("%s %s: %v", c.ddl, c.text, err)
			continue
		}
		if got := string(Append(nil, typ, d)); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.ddl, c.text, got, c.want)
		}
	}
}

func TestCalendarInterval(t *testing.T) {
	for _, s := range []string{`"1 years 2 months 21 days 5 hours 6 minutes 7.008009 seconds"`, `"0 seconds"`, `"-1 months -2 hours -0.5 seconds"`} {
		d, err := Parse(columnar.Calendar, []byte(s))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Append(nil, columnar.Calendar, d)); got != s {
			t.Errorf("%s: written as %s", s, got)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ ddl, text string }{
		{"INT", `2147483648`},
		{"INT", `1.5`},
		{"INT", `true`},
		{"BOOLEAN", `"x"`},
		{"DATE", `"2026-02-30"`},
		{"DECIMAL(3,1)", `"100.0"`},
		{"DECIMAL(3,1)", `"1.05"`},
		{"DECIMAL(3,1)", `"1e999999999"`},
		{"TIMESTAMP", `"2026-03-01T25:00:00Z"`},
		{"STRUCT<a:INT>", `{"b":1}`},
		{"STRUCT<a:INT>", `[1]`},
		{"ARRAY<INT>", `{}`},
		{"INT", `1 2`},
		{"INT", ``},
	} {
		typ, _ := columnar.ParseType(c.ddl)
		if d, err := Parse(typ, []byte(c.text)); err == nil {
			t.Errorf("%s %s: accepted as %v", c.ddl, c.text, d)
		}
	}
}

func FuzzParse(f *testing.F) {
	const ddl = "STRUCT<a:INT,d:DECIMAL(20,4),s:STRING,t:TIMESTAMP,n:DATE,i:INTERVAL DAY TO SECOND,y:INTERVAL YEAR TO MONTH,m:MAP<STRING,DOUBLE>,b:BINARY,v:VARIANT>"
	typ, err := columnar.ParseType(ddl)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"a":1,"d":"1.5","s":"x","t":"2026-03-01T10:11:12Z","n":"2026-03-01","i":"INTERVAL '1 02:03:04.5' DAY TO SECOND","y":"INTERVAL '1-2' YEAR TO MONTH","m":{"k":1e3},"b":"AP8=","v":{"x":[1]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(typ, []byte(text))
		if err != nil || d == nil {
			return
		}
		once := Append(nil, typ, d)
		d2, err := Parse(typ, once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice := Append(nil, typ, d2); string(once) != string(twice) {
			t.Fatalf("%s: written again as %s", once, twice)
		}
	})
}
