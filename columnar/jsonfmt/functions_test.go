package jsonfmt

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/internal/testdirs"
)

// sqlStrings reads a call whose arguments are string literals, or map(…) of string literals.
func sqlStrings(expr, fn string) (args []string, options map[string]string, ok bool) {
	s, ok := strings.CutPrefix(expr, fn+"(")
	if !ok {
		return nil, nil, false
	}
	options = map[string]string{}
	var opts []string
	into := &args
	for s != "" {
		switch {
		case s[0] == '\'' || s[0] == '"':
			var b []byte
			i := 1
			for ; i < len(s) && s[i] != s[0]; i++ {
				if s[i] != '\\' {
					b = append(b, s[i])
					continue
				}
				i++
				switch s[i] {
				case 'n':
					b = append(b, '\n')
				case 't':
					b = append(b, '\t')
				case 'u':
					v, err := strconv.ParseUint(s[i+1:i+5], 16, 32)
					if err != nil {
						return nil, nil, false
					}
					b = append(b, string(rune(v))...)
					i += 4
				default:
					b = append(b, s[i])
				}
			}
			*into = append(*into, string(b))
			s = s[i+1:]
		case s[0] == ',' || s[0] == ' ':
			s = s[1:]
		case strings.HasPrefix(s, "map("):
			into, s = &opts, s[4:]
		case s[0] == ')' && into == &opts:
			into, s = &args, s[1:]
		case s == ")":
			for i := 0; i+1 < len(opts); i += 2 {
				options[opts[i]] = opts[i+1]
			}
			return args, options, true
		default:
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// functionCase is a line of the golden functions.
type functionCase struct {
	Expr, Type, Error string
	Causes            []string
	Timezone          string
	Value             json.RawMessage
}

func functionCases(t *testing.T, names ...string) (out []functionCase) {
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(testdirs.Shared(t, "oracle/functions"), name))
		if err != nil {
			t.Fatal(err)
		}
		scan := bufio.NewScanner(bytes.NewReader(text))
		scan.Buffer(nil, 1<<20)
		for scan.Scan() {
			var c functionCase
			if err := json.Unmarshal(scan.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			out = append(out, c)
		}
	}
	return out
}

func TestFromJSONCases(t *testing.T) {
	passed, all := 0, 0
	for _, c := range functionCases(t, "json.jsonl") {
		args, options, ok := sqlStrings(c.Expr, "from_json")
		if !ok || len(args) != 2 || strings.HasPrefix(args[1], "{") {
			continue
		}
		typ, err := columnar.ParseType(args[1])
		if err != nil {
			schema, err := columnar.ParseDDL(args[1])
			if err != nil {
				continue // an error of the parser of DDL
			}
			typ = schema.Struct()
		}
		if strings.HasPrefix(c.Error, "DATATYPE_MISMATCH.INVALID_JSON_SCHEMA") || c.Error == "UNSUPPORTED_DATATYPE" || c.Error == "UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING" || c.Error == "PARSE_SYNTAX_ERROR" {
			continue // the analyser's to find
		}
		all++
		opts, err := ParseOptions(options, "UTC")
		if err != nil {
			t.Errorf("%s: %v", c.Expr, err)
			continue
		}
		got, err := func() (string, error) {
			d, err := NewColumn(typ, opts)
			if err != nil {
				return "", err
			}
			out, _, err := d.DecodeColumn(columnar.FromData(columnar.String, args[0]))
			if err != nil {
				return "", err
			}
			return string(datumjson.Append(nil, out.Type, out.Datum(0))), nil
		}()
		if c.Error != "" {
			want := append([]string{c.Error}, c.Causes...)
			if strings.Join(sparkerr.Conditions(err), " ") != strings.Join(want, " ") {
				t.Errorf("%s: error %v, want %v", c.Expr, err, want)
				continue
			}
			passed++
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.Expr, err)
			continue
		}
		want := "null"
		if string(c.Value) != "null" {
			d, err := datumjson.Parse(typ, c.Value)
			if err != nil {
				t.Errorf("%s: %v", c.Expr, err)
				continue
			}
			want = string(datumjson.Append(nil, typ, d))
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.Expr, got, want)
			continue
		}
		passed++
	}
	t.Logf("%d of %d calls of from_json", passed, all)
}

func TestSchemaOfJSONCases(t *testing.T) {
	passed, all := 0, 0
	for _, c := range functionCases(t, "json.jsonl") {
		args, options, ok := sqlStrings(c.Expr, "schema_of_json")
		if !ok || len(args) != 1 {
			continue
		}
		all++
		opts, err := ParseOptions(options, "UTC")
		if err != nil {
			t.Fatal(err)
		}
		typ, err := SchemaOf([]byte(args[0]), opts)
		if c.Error != "" {
			if err == nil {
				t.Errorf("%s: no error", c.Expr)
				continue
			}
			passed++
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.Expr, err)
			continue
		}
		if got, _ := json.Marshal(typ.SQL()); string(got) != string(c.Value) && !strings.Contains(string(c.Value), "`") {
			var want string
			json.Unmarshal(c.Value, &want)
			if want != typ.SQL() {
				t.Errorf("%s: got %s, want %s", c.Expr, typ.SQL(), want)
				continue
			}
		}
		passed++
	}
	t.Logf("%d of %d calls of schema_of_json", passed, all)
}

func TestInference(t *testing.T) {
	for _, c := range []struct {
		text, want string
		options    map[string]string
	}{
		{"{\"b\":1,\"a\":\"x\"}\n{\"b\":2.5,\"c\":[1,null]}\n", "a STRING,b DOUBLE,c ARRAY<BIGINT>", nil},
		{"{\"a\":null}\n{\"a\":{}}\n{\"b\":[]}\n{\"c\":{\"d\":true}}\n", "b ARRAY<STRING>,c STRUCT<d: BOOLEAN>", nil},
		{"{\"a\":null,\"b\":1}\n", "b BIGINT", map[string]string{"dropFieldIfAllNull": "true"}},
		{"{\"a\":1}\nbroken\n", "_corrupt_record STRING,a BIGINT", nil},
		{"{\"a\":1}\nbroken\n", "a BIGINT", map[string]string{"mode": "DROPMALFORMED"}},
		{"{\"a\":1}\n5\n", "_corrupt_record STRING,a BIGINT", nil},
		{"[{\"a\":1},{\"b\":\"x\"}]\n", "a BIGINT,b STRING", nil},
		{"{\"a\":12345678901234567890}\n{\"a\":1}\n", "a DECIMAL(20,0)", nil},
		{"{\"a\":1.5}\n{\"a\":10.25}\n", "a DECIMAL(4,2)", map[string]string{"prefersDecimal": "true"}},
		{"{\"a\":1,\"b\":true}\n", "a STRING,b STRING", map[string]string{"primitivesAsString": "true"}},
		{"{\"a\":\"2026-03-01T10:11:12Z\"}\n", "a TIMESTAMP", map[string]string{"inferTimestamp": "true"}},
		{"{\"a\":{\"x\":1}}\n{\"a\":5}\n", "a STRING", nil},
		{"", "", nil},
	} {
		opts, err := ParseOptions(c.options, "UTC")
		if err != nil {
			t.Fatal(err)
		}
		n, err := NewInference(opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Add([]byte(c.text)); err != nil {
			t.Fatal(err)
		}
		if got := n.Schema().String(); got != c.want {
			t.Errorf("%q %v: got %s, want %s", c.text, c.options, got, c.want)
		}
	}
}
