package expr

import (
	"fmt"
	"testing"

	"github.com/wstream/wstream/columnar"
)

// TestWindowFunctions evaluates ranking and offset functions over one sorted partition with peers.
func TestWindowFunctions(t *testing.T) {
	v := columnar.FromData(columnar.Int32, int32(1), int32(2), int32(2), nil, int32(5))
	p := &WindowPartition{
		Rows: columnar.NewBatch(nil, []*columnar.Column{v}, 5), Peers: []int32{0, 1, 1, 3, 4},
		Start: []int32{0, 0, 0, 0, 0}, End: []int32{1, 3, 3, 4, 5},
	}
	x := refTo(0, columnar.Int32)
	for _, c := range []struct {
		name   string
		args   []Expr
		ignore bool
		want   string
	}{
		{"row_number", nil, false, "1 2 3 4 5"},
		{"rank", nil, false, "1 2 2 4 5"},
		{"dense_rank", nil, false, "1 2 2 3 4"},
		{"percent_rank", nil, false, "0 0.25 0.25 0.75 1"},
		{"cume_dist", nil, false, "0.2 0.6 0.6 0.8 1"},
		{"ntile", []Expr{NewInt(3)}, false, "1 1 2 2 3"},
		{"ntile", []Expr{NewInt(7)}, false, "1 2 3 4 5"},
		{"lag", []Expr{x}, false, "<nil> 1 2 2 <nil>"},
		{"lag", []Expr{x, NewInt(2), NewInt(0)}, false, "0 0 1 2 2"},
		{"lag", []Expr{x}, true, "<nil> 1 2 2 2"},
		{"lead", []Expr{x}, false, "2 2 <nil> 5 <nil>"},
		{"lead", []Expr{x}, true, "2 2 5 5 <nil>"},
		{"nth_value", []Expr{x, NewInt(2)}, false, "<nil> 2 2 2 2"},
		{"nth_value", []Expr{x, NewInt(4)}, true, "<nil> <nil> <nil> <nil> 5"},
	} {
		b := testBinder()
		b.Call = CallInfo{Name: c.name, Over: true, IgnoreNulls: c.ignore}
		e, err := b.Bind(c.args)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, err := e.(WindowFunction).Evaluate(&Context{}, p)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		text := ""
		for i := range got.Len {
			text += fmt.Sprint(got.Datum(i), " ")
		}
		if text[:len(text)-1] != c.want {
			t.Errorf("%s ignoring nulls %v: %s, want %s", e.SQL(), c.ignore, text, c.want)
		}
	}
}

// TestGenerators: outer forms keep rows that give nothing.
func TestGenerators(t *testing.T) {
	arr := columnar.FromData(columnar.ArrayOf(columnar.Int32, true), []any{int32(1), nil}, nil, []any{}, []any{int32(4)})
	in := columnar.NewBatch(nil, []*columnar.Column{arr}, 4)
	for _, c := range []struct{ name, want, parent string }{
		{"explode", "1 <nil> 4", "[0 0 3]"},
		{"explode_outer", "1 <nil> <nil> <nil> 4", "[0 0 1 2 3]"},
		{"posexplode", "0 1 0", "[0 0 3]"},
		{"posexplode_outer", "0 1 <nil> <nil> 0", "[0 0 1 2 3]"},
	} {
		e, err := testBinder().Func(c.name, refTo(0, arr.Type))
		if err != nil {
			t.Fatal(err)
		}
		cols, parent, err := e.(Generator).Generate(&Context{}, in)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for i := range cols[0].Len {
			text += fmt.Sprint(cols[0].Datum(i), " ")
		}
		if text[:len(text)-1] != c.want || fmt.Sprint(parent) != c.parent {
			t.Errorf("%s: %s of rows %v, want %s of rows %s", c.name, text, parent, c.want, c.parent)
		}
	}
}
