package abi

import (
	"strings"
	"testing"
)

func TestManifest(t *testing.T) {
	const good = `{"abi":1,"name":"m","version":"1","later":{"x":1},"functions":[
		{"name":"f","kind":"parse","input":"value BINARY","output":"a INT NOT NULL, b STRING"},
		{"name":"s","kind":"state","input":"ts TIMESTAMP, k STRING","output":"k STRING","key":"k STRING","mode":"append","timeout":"event","time":"ts","state":"n BIGINT"}]}`
	_, specs, err := ParseManifest([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if specs[0].Kind != KindParse || specs[0].Output.String() != "a INT NOT NULL,b STRING" || specs[1].State.String() != "n BIGINT" {
		t.Errorf("read as %+v", specs)
	}
	for _, c := range []struct{ replace, by, want string }{
		{`"abi":1`, `"abi":2`, "manifest: abi 2 is not supported, this host speaks 1"},
		{`"kind":"parse"`, `"kind":"prase"`, `manifest: function "f": unknown kind "prase"`},
		{`"name":"s"`, `"name":"f"`, `manifest: function "f" stands twice`},
		{`"name":"f"`, `"name":"f.g"`, `manifest: function "f.g": a name is made of letters, digits and _`},
		{`"input":"value BINARY",`, ``, `manifest: function "f": input is missing`},
		{`"mode":"append"`, `"mode":"complete"`, `manifest: function "s": mode "complete" is neither update nor append`},
		{`"time":"ts"`, `"time":"t"`, `manifest: function "s": the time column "t" is not among the inputs`},
		{`"key":"k STRING"`, `"key":"x STRING"`, `manifest: function "s": the key column "x" is not among the inputs`},
		{`"timeout":"event"`, `"timeout":"soon"`, `manifest: function "s": timeout "soon" is not none, event or processing`},
		{`"kind":"parse"`, `"kind":"filter"`, `manifest: function "f": kind filter has no output`},
		{`"kind":"parse"`, `"kind":"scalar"`, `manifest: function "f": kind scalar has one output column, not 2`},
		{`"kind":"parse"`, `"kind":"parse","features":["views"]`, `manifest: function "f": needs the feature "views", which this host does not offer`},
	} {
		_, _, err := ParseManifest([]byte(strings.Replace(good, c.replace, c.by, 1)))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.by, err, c.want)
		}
	}
}
