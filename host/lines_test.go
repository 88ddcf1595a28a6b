package host

import (
	"context"
	"testing"

	"github.com/wstream/wstream/columnar"
)

// TestLines names the functions and the lines where a guest with debug information was stopped, on both engines.
func TestLines(t *testing.T) {
	for _, engine := range []Config{{}, {Interpreter: true}} {
		m, err := newHost(t, engine).Load(context.Background(), ModuleConfig{Path: "testdata/faulty/faulty.wasm", Limits: Limits{Fuel: 1e6}})
		if err != nil {
			t.Fatal(err)
		}
		b := bind(t, m, "parse", "value BINARY")
		k := columnar.NewBuilder(columnar.Binary, 1)
		k.AppendString("loop!")
		r, err := b.Rows(context.Background(), Call{}, columnar.NewBatch(nil, []*columnar.Column{k.Finish()}, 1))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Errors[0].Text, "out of fuel in turn_for_ever (faulty.c:17) < ws_call_ (faulty.c:20)"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
