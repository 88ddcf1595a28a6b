package widen

import (
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
)

func TestColumn(t *testing.T) {
	for _, c := range []struct{ from, to, value, want string }{
		{"TINYINT", "BIGINT", `-128`, `-128`},
		{"SMALLINT", "INT", `5`, `5`},
		{"INT", "DOUBLE", `7`, `7.0`},
		{"INT", "DECIMAL(12,2)", `7`, `"7.00"`},
		{"BIGINT", "DECIMAL(20,0)", `-9223372036854775808`, `"-9223372036854775808"`},
		{"FLOAT", "DOUBLE", `0.5`, `0.5`},
		{"DECIMAL(5,2)", "DECIMAL(10,4)", `"-1.25"`, `"-1.2500"`},
		{"DATE", "TIMESTAMP_NTZ", `"2026-03-01"`, `"2026-03-01T00:00:00.000000"`},
		{"STRING", "BINARY", `"a"`, `"YQ=="`},
		{"INT", "INTERVAL YEAR TO MONTH", `14`, `"INTERVAL '1-2' YEAR TO MONTH"`},
	} {
		from, _ := columnar.ParseType(c.from)
		to, _ := columnar.ParseType(c.to)
		if !Can(from, to) {
			t.Errorf("%s to %s is refused", c.from, c.to)
			continue
		}
		d, err := datumjson.Parse(from, []byte(c.value))
		if err != nil {
			t.Fatal(err)
		}
		out, err := Column(columnar.FromData(from, d, nil), to)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(datumjson.Append(nil, to, out.Datum(0))); got != c.want || out.Datum(1) != nil {
			t.Errorf("%s to %s: got %s, want %s", c.from, c.to, got, c.want)
		}
	}
	for _, c := range [][2]string{{"BIGINT", "INT"}, {"STRING", "INT"}, {"DOUBLE", "FLOAT"}, {"DECIMAL(10,2)", "DECIMAL(9,2)"}, {"BIGINT", "DOUBLE"}, {"TIMESTAMP", "TIMESTAMP_NTZ"}} {
		from, _ := columnar.ParseType(c[0])
		to, _ := columnar.ParseType(c[1])
		if Can(from, to) {
			t.Errorf("%s to %s is allowed", c[0], c[1])
		}
	}
}
