package host

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
)

// TestAggregate folds rows in two steps, merges with other accumulators, and finishes.
func TestAggregate(t *testing.T) {
	ctx := context.Background()
	for _, engine := range []Config{{}, {Interpreter: true}} {
		b := bind(t, load(t, newHost(t, engine), "sample.wasm", ModuleConfig{}), "spread", "x DOUBLE")
		doubles := func(v ...float64) *columnar.Batch {
			valid := columnar.NewBitmapSet(len(v))
			for i := range v {
				if v[i] == -99 {
					valid.Clear(i)
				}
			}
			return columnar.NewBatch(nil, []*columnar.Column{columnar.NewFixed(columnar.Float64, v, valid)}, len(v))
		}
		acc, err := b.Update(ctx, Call{}, doubles(1, 5, -99, 7), []uint32{0, 0, 1, 2}, columnar.NewNull(columnar.Binary, 3))
		if err != nil {
			t.Fatal(err)
		}
		if acc, err = b.Update(ctx, Call{}, doubles(-2, 8), []uint32{0, 2}, acc); err != nil {
			t.Fatal(err)
		}
		other, err := b.Update(ctx, Call{}, doubles(9, 3, 3), []uint32{0, 1, 1}, columnar.NewNull(columnar.Binary, 3))
		if err != nil {
			t.Fatal(err)
		}
		if acc, err = b.Merge(ctx, Call{}, acc, other); err != nil {
			t.Fatal(err)
		}
		out, err := b.Finish(ctx, Call{}, acc)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := dump(columnar.NewBatch(nil, []*columnar.Column{out}, 3)), []string{"11", "0", "1"}; !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if none, err := b.Finish(ctx, Call{}, columnar.NewNull(columnar.Binary, 2)); err != nil || none.NullCount() != 2 {
			t.Errorf("accumulators without a value: %v %v", none, err)
		}
	}
}

// TestMap gives several rows for one, with a column of the input passed through.
func TestMap(t *testing.T) {
	b := bind(t, load(t, newHost(t, Config{}), "sample.wasm", ModuleConfig{}), "words", "n INT, text STRING")
	k := columnar.NewBuilder(columnar.String, 0)
	for _, s := range []string{"a bc", "", " d  e "} {
		k.AppendString(s)
	}
	k.AppendNull()
	in := columnar.NewBatch(nil, []*columnar.Column{columnar.NewNull(columnar.Int32, 4), k.Finish()}, 4)
	r, err := b.Rows(context.Background(), Call{}, in)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := dump(r.Batch), []string{"a bc|a", "a bc|bc", " d  e |d", " d  e |e"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if want := []int32{0, 0, 2, 2}; !reflect.DeepEqual(r.Parents, want) {
		t.Errorf("parents %v, want %v", r.Parents, want)
	}
}

// TestRepeated refuses a row whose text, repeated for each of its words, is larger than a call may answer.
func TestRepeated(t *testing.T) {
	b := bind(t, load(t, newHost(t, Config{}), "sample.wasm", ModuleConfig{}), "words", "text STRING")
	in := columnar.NewBatch(nil, []*columnar.Column{columnar.NewStrings([]string{"a b", strings.Repeat("word ", 20_000)})}, 2)
	r, err := b.Rows(context.Background(), Call{}, in)
	if err != nil {
		t.Fatal(err)
	}
	want := []RowError{{1, TrapCode, "frame: output is larger than allowed: repeats 2000080000 bytes of the input, allowed are 67108864"}}
	if r.Batch.Rows != 2 || !reflect.DeepEqual(r.Errors, want) {
		t.Errorf("%d rows, errors %v, want %v", r.Batch.Rows, r.Errors, want)
	}
}
