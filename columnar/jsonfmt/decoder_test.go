package jsonfmt

import (
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/lines"
)

// decodeText reads text and prints the rows.
func decodeText(t *testing.T, ddl, text string, options map[string]string) string {
	t.Helper()
	schema, err := columnar.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	opts, err := ParseOptions(options, "UTC")
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(schema, nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := d.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for i := range b.Rows {
		rows = append(rows, string(datumjson.AppendRow(nil, b, i)))
	}
	return strings.Join(rows, "\n")
}

// TestLeniencies turns on what JSON does not allow.
func TestLeniencies(t *testing.T) {
	for _, c := range []struct{ ddl, text, want, option string }{
		{"a INT, b STRING", "{\"a\":007,\"b\":007}", `{"a":7,"b":"007"}`, "allowNumericLeadingZeros"},
		{"a INT", "{a:1}\n{'a':2}", "{\"a\":1}\n{\"a\":2}", "allowUnquotedFieldNames"},
		{"a INT", "/* x */ {\"a\":/*y*/1 // z\n", `{"a":null}`, "allowComments"},
		{"a INT", "/* x */ {\"a\":/*y*/1} // z\n", `{"a":1}`, "allowComments"},
		{"a STRING", "{\"a\":\"x\ty\"}", `{"a":"x\ty"}`, "allowUnquotedControlChars"},
		{"a STRING", `{"a":"\q"}`, `{"a":"q"}`, "allowBackslashEscapingAnyCharacter"},
	} {
		if got := decodeText(t, c.ddl, c.text, map[string]string{c.option: "true"}); got != c.want {
			t.Errorf("%s: %s: got %s, want %s", c.option, c.text, got, c.want)
		}
	}
	if got := decodeText(t, "a DOUBLE, b INT", `{"b":1,"a":NaN}`, map[string]string{"allowNonNumericNumbers": "false"}); got != `{"a":null,"b":null}` {
		t.Errorf("NaN: got %s", got)
	}
}

// TestBadRecords shows which fields of a broken record are kept.
func TestBadRecords(t *testing.T) {
	const ddl = "a INT, v ARRAY<INT>, s STRUCT<x: INT, y: INT>, z INT"
	for text, want := range map[string]string{
		`{"a":1,"v":[1,"x",3],"z":2}`:        `{"a":1,"v":null,"s":null,"z":2}`,
		`{"a":1,"v":[1,abc],"z":2}`:          `{"a":1,"v":null,"s":null,"z":2}`,
		`{"a":1,"v":[1,],"z":2}`:             `{"a":null,"v":null,"s":null,"z":null}`,
		`{"a":1,"s":{"x":tru},"z":2}`:        `{"a":1,"v":null,"s":null,"z":null}`,
		`{"a":1,"s":{"x":1,,"y":2},"z":2}`:   `{"a":null,"v":null,"s":null,"z":null}`,
		`{"a":1,"s":{"x":"q","y":2},"z":2}`:  `{"a":1,"v":null,"s":{"x":null,"y":2},"z":2}`,
		`{"a":1,"v":[[1],2],"z":2} trailing`: `{"a":1,"v":null,"s":null,"z":2}`,
		`{"a":1,"z":2`:                       `{"a":null,"v":null,"s":null,"z":null}`,
	} {
		if got := decodeText(t, ddl, text, nil); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestDetectUnicode(t *testing.T) {
	const doc = `[{"a":1},{"a":2}]`
	for _, c := range []lines.Charset{lines.UTF16BE, lines.UTF16LE, lines.UTF32BE, lines.UTF32LE} {
		for _, mark := range []string{"", "\uFEFF"} {
			text := string(c.Encode(nil, mark+doc))
			if got := decodeText(t, "a INT", text, map[string]string{"multiLine": "true"}); got != "{\"a\":1}\n{\"a\":2}" {
				t.Errorf("charset %d, mark %q: got %s", c, mark, got)
			}
		}
	}
}

// TestManyColumns has more columns than one word of the fast reader's marks, some of them missing or repeated.
func TestManyColumns(t *testing.T) {
	var ddl, text []string
	for i := range 150 {
		name := "c" + strings.Repeat("x", i%20) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)
		ddl = append(ddl, name+" INT")
		if i%3 != 0 {
			text = append(text, `"`+name+`":`+string(rune('0'+i%10)))
		}
	}
	line := "{" + strings.Join(text, ",") + "}\n"
	got := decodeText(t, strings.Join(ddl, ","), strings.Repeat(line, 3), nil)
	rows := strings.Split(got, "\n")
	if len(rows) != 3 || rows[0] != rows[2] || strings.Count(rows[1], "null") != 50 {
		t.Errorf("got %s", got)
	}
}
