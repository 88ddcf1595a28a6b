package jsonfmt

import (
	"encoding/json"
	"testing"
)

func TestGetJSONObjectCases(t *testing.T) {
	passed, all := 0, 0
	e := NewExtractor()
	for _, c := range functionCases(t, "json.jsonl") {
		for _, fn := range []string{"get_json_object", "json_array_length", "json_object_keys"} {
			args, _, ok := sqlStrings(c.Expr, fn)
			if !ok || fn == "get_json_object" && len(args) != 2 || fn != "get_json_object" && len(args) != 1 {
				continue
			}
			all++
			got := any(nil)
			switch fn {
			case "get_json_object":
				if p, ok := CompilePath(args[1]); ok {
					if text, found := e.AppendPath(nil, []byte(args[0]), p); found {
						got = string(text)
					}
				}
			case "json_array_length":
				if n, ok := e.ArrayLength([]byte(args[0])); ok {
					got = n
				}
			case "json_object_keys":
				if keys, ok := e.ObjectKeys([]byte(args[0])); ok {
					got = keys
				}
			}
			var want any
			if err := json.Unmarshal(c.Value, &want); err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(want)
			if string(a) != string(b) {
				t.Errorf("%s: got %s, want %s", c.Expr, a, b)
				continue
			}
			passed++
		}
	}
	t.Logf("%d of %d calls", passed, all)
}

func TestPaths(t *testing.T) {
	e := NewExtractor()
	for _, c := range []struct{ doc, path, want string }{
		{`{"a":[{"b":1},{"b":[2,3]},{}]}`, "$.a[*].b", `[1,[2,3]]`},
		{`{"a":[{"b":1}]}`, "$.a[*].b", `1`},
		{`[[1,[2]],[3]]`, "$[*][*]", `[1,2,3]`},
		{`[[1,2],[3]]`, "$[0][*]", `[1,2]`},
		{`[["x"],["y"]]`, "$[*][0]", `["x","y"]`},
		{`{"a":{"b":"x"}}`, "$['a']['b']", `x`},
		{`{"a":null}`, "$.a", ``},
		{`[1,2`, "$[0]", ``},
	} {
		p, ok := CompilePath(c.path)
		if !ok {
			t.Fatalf("%s is no path", c.path)
		}
		if got, _ := e.AppendPath(nil, []byte(c.doc), p); string(got) != c.want {
			t.Errorf("%s of %s: got %s, want %s", c.path, c.doc, got, c.want)
		}
	}
	for _, p := range []string{"", "a", "$.", "$[", "$[-1]", "$['a", "$a", "$..a"} {
		if _, ok := CompilePath(p); ok {
			t.Errorf("%q is a path", p)
		}
	}
	got := e.Tuple([]byte(`{"a":1,"b":"x","c":{"d":[1, 2]},"n":null}`), []string{"b", "a", "c", "n", "z", "a"})
	want := []string{"x", "1", `{"d":[1,2]}`, "", "", "1"}
	for i, w := range want {
		if (got[i] == nil) != (w == "") || got[i] != nil && *got[i] != w {
			t.Errorf("field %d: got %v, want %q", i, got[i], w)
		}
	}
}
