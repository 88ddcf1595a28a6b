package expr

import (
	"math/rand"
	"testing"

	"github.com/wstream/wstream/columnar"
)

const benchRows = 16384

// benchBatch has the columns a, b BIGINT, x, y DOUBLE, s STRING, d DECIMAL(10,2), n BIGINT with nulls,
// k INT, t TIMESTAMP.
func benchBatch() *columnar.Batch {
	rng := rand.New(rand.NewSource(1))
	a, b := make([]int64, benchRows), make([]int64, benchRows)
	x, y := make([]float64, benchRows), make([]float64, benchRows)
	k := make([]int32, benchRows)
	d := make([]columnar.Dec128, benchRows)
	s := make([]string, benchRows)
	for i := range a {
		a[i], b[i], k[i] = rng.Int63n(1000), rng.Int63n(1000)+1, int32(rng.Intn(1000))
		x[i], y[i] = rng.Float64(), rng.Float64()
		d[i] = columnar.Dec128FromInt64(rng.Int63n(100000))
		s[i] = []string{"alpha", "beta", "gamma", "delta"}[rng.Intn(4)]
	}
	valid := columnar.NewBitmap(benchRows)
	for i := range valid {
		valid[i] = rng.Uint64() | rng.Uint64()
	}
	return columnar.NewBatch(nil, []*columnar.Column{
		columnar.NewFixed(columnar.Int64, a, nil), columnar.NewFixed(columnar.Int64, b, nil),
		columnar.NewFixed(columnar.Float64, x, nil), columnar.NewFixed(columnar.Float64, y, nil),
		columnar.NewStrings(s), columnar.NewFixed(columnar.Decimal(10, 2), d, nil),
		columnar.NewFixed(columnar.Int64, copied(a), valid), columnar.NewFixed(columnar.Int32, k, nil),
		columnar.NewFixed(columnar.Timestamp, copied(a), nil),
	}, benchRows)
}

func benchRef(i int) Expr {
	t := []*columnar.Type{columnar.Int64, columnar.Int64, columnar.Float64, columnar.Float64, columnar.String, columnar.Decimal(10, 2), columnar.Int64, columnar.Int32, columnar.Timestamp}[i]
	return &Ref{Index: i, Name: "c", Typ: t, Null: i == 6}
}

// BenchmarkKernels reports nanoseconds per row.
func BenchmarkKernels(b *testing.B) {
	in := benchBatch()
	bind := testBinder()
	must := func(e Expr, err error) Expr {
		if err != nil {
			b.Fatal(err)
		}
		return e
	}
	long := func(v int64) Expr { return NewLiteral(columnar.Int64, v) }
	A, B, X, Y, S, D, N, K, T := benchRef(0), benchRef(1), benchRef(2), benchRef(3), benchRef(4), benchRef(5), benchRef(6), benchRef(7), benchRef(8)
	lt := must(bind.Compare("<", A, B))
	for _, c := range []struct {
		name string
		e    Expr
	}{
		{"bigint+bigint", must(bind.Arithmetic("+", A, B))},
		{"bigint+literal", must(bind.Arithmetic("+", A, long(7)))},
		{"bigint+nullable", must(bind.Arithmetic("+", A, N))},
		{"bigint*bigint", must(bind.Arithmetic("*", A, B))},
		{"bigint%literal", must(bind.Arithmetic("%", A, long(7)))},
		{"bigint_div_bigint", must(bind.Arithmetic("div", A, B))},
		{"double+double", must(bind.Arithmetic("+", X, Y))},
		{"double/literal", must(bind.Arithmetic("/", X, NewLiteral(columnar.Float64, 3.0)))},
		{"decimal+decimal", must(bind.Arithmetic("+", D, D))},
		{"decimal*decimal", must(bind.Arithmetic("*", D, D))},
		{"bigint<bigint", lt},
		{"bigint=literal", must(bind.Compare("=", A, long(7)))},
		{"double<double", must(bind.Compare("<", X, Y))},
		{"string=literal", must(bind.Compare("=", S, NewString("beta")))},
		{"and", must(bind.And(lt, must(bind.Compare("=", K, NewInt(3)))))},
		{"in_3_literals", must(bind.In(A, []Expr{long(1), long(2), long(3)}))},
		{"like_prefix", must(bind.Like(LikePattern, S, NewString("be%"), '\\'))},
		{"if_fixed", must(bind.If(lt, A, B))},
		{"case_string", must(bind.Case([]When{{lt, NewString("low")}, {must(bind.Compare("=", K, NewInt(3))), S}}, NewString("high")))},
		{"cast_bigint_double", must(bind.Cast(A, columnar.Float64, false))},
		{"cast_bigint_int", must(bind.Cast(A, columnar.Int32, false))},
		{"cast_bigint_string", must(bind.Cast(A, columnar.String, false))},
		{"isnull", bind.IsNull(N)},
		{"coalesce", must(bind.Func("coalesce", N, A))},
		{"timestamp+interval", must(bind.Arithmetic("+", T, NewLiteral(columnar.DayTime(columnar.FieldSecond, columnar.FieldSecond), int64(5))))},
		{"concat", must(bind.Func("concat", S, S))},
		{"xxhash64_bigint", must(bind.Func("xxhash64", A))},
	} {
		b.Run(c.name, func(b *testing.B) {
			ctx := &Context{ANSI: true}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.e.Eval(ctx, in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
	b.Run("hand/bigint+bigint", func(b *testing.B) {
		x, y := columnar.Values[int64](in.Columns[0]), columnar.Values[int64](in.Columns[1])
		for b.Loop() {
			d := make([]int64, benchRows)
			for i := range d {
				d[i] = x[i] + y[i]
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
	})
	b.Run("hand/bigint<bigint", func(b *testing.B) {
		x, y := columnar.Values[int64](in.Columns[0]), columnar.Values[int64](in.Columns[1])
		for b.Loop() {
			d := make([]bool, benchRows)
			for i := range d {
				d[i] = x[i] < y[i]
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
	})
}

// BenchmarkAggregates reports nanoseconds per row over a thousand groups and over one.
func BenchmarkAggregates(b *testing.B) {
	in := benchBatch()
	many, one := make([]uint32, benchRows), make([]uint32, benchRows)
	for i, k := range columnar.Values[int32](in.Columns[7]) {
		many[i] = uint32(k)
	}
	for _, c := range []struct {
		name string
		agg  *aggregate
	}{
		{"count_star", func() *aggregate {
			bd := testBinder()
			bd.Call = CallInfo{Name: "count", Star: true}
			e, err := bd.Bind(nil)
			if err != nil {
				b.Fatal(err)
			}
			return e.(*aggregate)
		}()},
		{"count_nullable", aggCall(b, "count", benchRef(6))},
		{"sum_bigint", aggCall(b, "sum", benchRef(0))},
		{"sum_bigint_nullable", aggCall(b, "sum", benchRef(6))},
		{"sum_double", aggCall(b, "sum", benchRef(2))},
		{"sum_decimal", aggCall(b, "sum", benchRef(5))},
		{"avg_double", aggCall(b, "avg", benchRef(2))},
		{"avg_int", aggCall(b, "avg", benchRef(7))},
		{"min_bigint", aggCall(b, "min", benchRef(0))},
		{"max_double", aggCall(b, "max", benchRef(2))},
		{"max_string", aggCall(b, "max", benchRef(4))},
		{"stddev", aggCall(b, "stddev", benchRef(2))},
		{"approx_count_distinct", aggCall(b, "approx_count_distinct", benchRef(0))},
		{"collect_list", aggCall(b, "collect_list", benchRef(0))},
	} {
		for _, g := range []struct {
			name  string
			group []uint32
			n     int
		}{{"1000", many, 1000}, {"1", one, 1}} {
			b.Run(c.name+"/"+g.name, func(b *testing.B) {
				var args []*columnar.Column
				for _, e := range c.agg.Call().Args {
					col, err := e.Eval(&Context{ANSI: true}, in)
					if err != nil {
						b.Fatal(err)
					}
					args = append(args, col)
				}
				acc := c.agg.New(&Context{ANSI: true})
				acc.Grow(g.n)
				b.ReportAllocs()
				for b.Loop() {
					if c.name == "collect_list" {
						acc.Reset()
						acc.Grow(g.n)
					}
					if err := acc.Update(g.group, args); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
			})
		}
	}
}
