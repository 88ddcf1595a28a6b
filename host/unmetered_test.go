package host

import (
	"context"
	"reflect"
	"testing"
)

// TestUnmetered shows that a host without counters answers the same, and counts nothing.
func TestUnmetered(t *testing.T) {
	ctx, in := context.Background(), clickLines(50)
	counted := bind(t, load(t, newHost(t, Config{}), "clicks.wasm", ModuleConfig{}), "parse", "value BINARY")
	want, err := counted.Rows(ctx, Call{}, in)
	if err != nil {
		t.Fatal(err)
	}
	bare := bind(t, load(t, newHost(t, Config{Unmetered: true}), "clicks.wasm", ModuleConfig{}), "parse", "value BINARY")
	got, err := bare.Rows(ctx, Call{}, in)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(dump(got.Batch), dump(want.Batch)) {
		t.Errorf("%v, want %v", dump(got.Batch), dump(want.Batch))
	}
	if s := bare.Module().Stats(); s.Fuel != 0 || s.Calls != 1 {
		t.Errorf("stats are %+v", s)
	}
}
