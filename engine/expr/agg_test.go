package expr

import (
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"testing"

	"github.com/wstream/wstream/columnar"
)

// aggCall binds an aggregate over columns of the given types.
func aggCall(t testing.TB, name string, args ...Expr) *aggregate {
	t.Helper()
	e, err := testBinder().Func(name, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return e.(*aggregate)
}

// TestAccumulatorsMerge: rows in one go, and rows in parts whose states are merged, give the same,
// for every aggregate function. Groups come in any order, some without rows.
func TestAccumulatorsMerge(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	p := func(v float64) Expr { return NewLiteral(columnar.Float64, v) }
	type agg struct {
		name string
		typ  []*columnar.Type
		more []Expr
	}
	var cases []agg
	for _, name := range []string{"count", "min", "max", "first", "last", "any_value", "collect_list", "collect_set", "mode", "approx_count_distinct"} {
		for _, typ := range []*columnar.Type{columnar.Int32, columnar.Float64, columnar.String, columnar.Decimal(10, 2), columnar.Date, columnar.Bool} {
			cases = append(cases, agg{name, []*columnar.Type{typ}, nil})
		}
	}
	for _, name := range []string{"try_sum", "avg"} {
		for _, typ := range []*columnar.Type{columnar.Int8, columnar.Int16, columnar.Int32, columnar.Int64, columnar.Float32, columnar.Float64, columnar.Decimal(10, 2)} {
			cases = append(cases, agg{name, []*columnar.Type{typ}, nil})
		}
	}
	for _, name := range []string{"stddev_samp", "stddev_pop", "var_samp", "var_pop", "skewness", "kurtosis", "median"} {
		cases = append(cases, agg{name, []*columnar.Type{columnar.Int8}, nil})
	}
	for _, name := range []string{"covar_pop", "covar_samp", "corr", "regr_count", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy", "regr_slope", "regr_intercept", "regr_r2"} {
		cases = append(cases, agg{name, []*columnar.Type{columnar.Int8, columnar.Int8}, nil})
	}
	for _, name := range []string{"bit_and", "bit_or", "bit_xor"} {
		cases = append(cases, agg{name, []*columnar.Type{columnar.Int32}, nil})
	}
	cases = append(cases,
		agg{"bool_and", []*columnar.Type{columnar.Bool}, nil}, agg{"bool_or", []*columnar.Type{columnar.Bool}, nil}, agg{"count_if", []*columnar.Type{columnar.Bool}, nil},
		agg{"max_by", []*columnar.Type{columnar.String, columnar.Int64}, nil}, agg{"min_by", []*columnar.Type{columnar.Int32, columnar.String}, nil},
		agg{"max_by", []*columnar.Type{columnar.String, columnar.Int64}, []Expr{NewInt(3)}},
		agg{"listagg", []*columnar.Type{columnar.String}, []Expr{NewString(",")}},
		agg{"percentile", []*columnar.Type{columnar.Int8}, []Expr{p(0.3)}}, agg{"percentile_approx", []*columnar.Type{columnar.Int32}, []Expr{p(0.3)}},
		agg{"first", []*columnar.Type{columnar.Int32}, []Expr{NewBool(true)}},
	)
	for _, c := range cases {
		t.Run(fmt.Sprint(c.name, c.typ), func(t *testing.T) {
			var args []Expr
			for i, typ := range c.typ {
				args = append(args, refTo(i, typ))
			}
			a := aggCall(t, c.name, append(args, c.more...)...)
			const groups, rows = 5, 300
			cols := make([]*columnar.Column, len(c.typ))
			for i, typ := range c.typ {
				cols[i] = randomColumn(rng, typ, rows, true)
			}
			in := columnar.NewBatch(nil, cols, rows)
			group := make([]uint32, rows)
			for i := range group {
				group[i] = uint32(rng.Intn(groups - 1)) // the last group stays empty
			}
			eval := func(from, to int) []*columnar.Column {
				out := make([]*columnar.Column, len(a.Call().Args))
				for i, e := range a.Call().Args {
					col, err := e.Eval(&Context{ANSI: true}, in.Slice(from, to))
					if err != nil {
						t.Fatal(err)
					}
					out[i] = col
				}
				return out
			}
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			whole := a.New(&Context{ANSI: true})
			whole.Grow(groups)
			must(whole.Update(group, eval(0, rows)))
			want, err := whole.Result()
			must(err)

			merged := a.New(&Context{ANSI: true})
			merged.Grow(groups)
			for _, part := range [][2]int{{0, 90}, {90, 91}, {91, 300}} {
				acc := a.New(&Context{ANSI: true})
				acc.Grow(2)
				acc.Grow(groups)
				must(acc.Update(group[part[0]:part[1]], eval(part[0], part[1])))
				state, err := acc.State()
				must(err)
				if len(state) != len(a.State()) {
					t.Fatalf("%d state columns, described are %d", len(state), len(a.State()))
				}
				for i, f := range a.State() {
					if !state[i].Type.Equal(f.Type) {
						t.Fatalf("state %q is %s, described as %s", f.Name, state[i].Type, f.Type)
					}
					// The state survives the row encoding of the state store.
					state[i] = recode(t, state[i])
				}
				all := make([]uint32, groups)
				for i := range all {
					all[i] = uint32(i)
				}
				must(merged.Merge(all, state))
			}
			got, err := merged.Result()
			must(err)
			for g := range groups {
				x, y := got.Datum(g), want.Datum(g)
				if !sameValue(x, y) {
					t.Errorf("group %d: merged %v, in one go %v", g, x, y)
				}
			}
			whole.Reset()
			whole.Grow(1)
			empty, err := whole.Result()
			must(err)
			if empty.Len != 1 || !a.Nullable() && empty.IsNull(0) {
				t.Errorf("after Reset: %d rows, %v", empty.Len, empty.Datum(0))
			}
			if x := want.Datum(groups - 1); !sameValue(empty.Datum(0), x) {
				t.Errorf("after Reset a group is %v, an empty one %v", empty.Datum(0), x)
			}
		})
	}
}

func recode(t *testing.T, c *columnar.Column) *columnar.Column {
	t.Helper()
	b := columnar.NewBuilder(c.Type, c.Len)
	for i := range c.Len {
		if rest, ok := columnar.DecodeValue(b, columnar.AppendValue(nil, c, i, false)); !ok || len(rest) > 0 {
			t.Fatal("state cannot be decoded")
		}
	}
	return b.Finish()
}

// sameValue compares results; doubles may differ in their last digits.
func sameValue(x, y any) bool {
	switch a := x.(type) {
	case float64:
		b, ok := y.(float64)
		return ok && (a == b || a != a && b != b || math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b))+1e-9)
	case []any:
		b, ok := y.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameValue(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(x, y)
}

func TestSumOverflow(t *testing.T) {
	a := aggCall(t, "sum", refTo(0, columnar.Int64))
	acc := a.New(&Context{ANSI: true})
	acc.Grow(2)
	c := columnar.FromData(columnar.Int64, int64(math.MaxInt64), int64(1), int64(5))
	if err := acc.Update([]uint32{0, 1, 1}, []*columnar.Column{c}); err != nil {
		t.Fatal(err)
	}
	if err := acc.Update([]uint32{1, 0, 1}, []*columnar.Column{c}); err == nil {
		t.Error("an overflow went unnoticed")
	}
}
