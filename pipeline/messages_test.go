package pipeline

import (
	"testing"

	"github.com/wstream/wstream/columnar"
	"go.yaml.in/yaml/v3"
)

func TestMessageRows(t *testing.T) {
	kafka := columnar.NewSchema(
		columnar.Field{Name: "key", Type: columnar.Binary, Nullable: true}, columnar.Field{Name: "value", Type: columnar.String, Nullable: true})
	for _, c := range []struct{ row, value string }{
		{`{user_id: u42, n: 1, f: 1.50, b: true, x: null, "q": "a\"<b>"}`, `{"user_id":"u42","n":1,"f":1.50,"b":true,"x":null,"q":"a\"<b>"}`},
		{`{a: [1, {b: x}]}`, `{"a":[1,{"b":"x"}]}`},
		{`{value: "plain"}`, `plain`},
		{`{value: {b: 1, a: 2}, key: aw==}`, `{"b":1,"a":2}`},
	} {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte("["+c.row+"]"), &doc); err != nil {
			t.Fatal(err)
		}
		r := &reader{}
		b := r.rowsOf(doc.Content[0], kafka, "rows")
		if len(r.errs) > 0 {
			t.Fatalf("%s: %v", c.row, r.errs)
		}
		if got := b.Columns[1].StringAt(0); got != c.value {
			t.Errorf("%s: value %s, want %s", c.row, got, c.value)
		}
	}
}
