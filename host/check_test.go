package host

import (
	"context"
	"strings"
	"testing"
)

// TestCheck holds the kept guests against the contract, and shows that one that is not deterministic is found.
func TestCheck(t *testing.T) {
	ctx := context.Background()
	h := newHost(t, Config{})
	for _, file := range []string{"clicks.wasm", "clicks-rust.wasm", "clicks-as.wasm", "sample.wasm", "groups/groups.wasm", "groups-rust/groups.wasm"} {
		m := load(t, h, file, ModuleConfig{})
		n := 0
		for _, f := range m.Check(ctx) {
			n++
			if f.Problem != "" {
				t.Errorf("%s: %s: %s: %s", file, f.Function, f.What, f.Problem)
			}
		}
		if n < 4*len(m.Functions()) {
			t.Errorf("%s: looked at %d things", file, n)
		}
	}
	m, err := h.Load(ctx, ModuleConfig{Path: "testdata/counting.wasm"})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range m.Check(ctx) {
		found = found || strings.Contains(f.Problem, "a used instance answers otherwise")
	}
	if !found {
		t.Error("a guest that counts its calls was not found out")
	}
}
