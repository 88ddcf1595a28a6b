package exec

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/state"
)

// fastAgg is count(*), sum or avg of a DOUBLE with accumulators over slices.
type fastAgg struct {
	agg
	kind string
}

func newFastAgg(kind string, args ...expr.Expr) *fastAgg {
	typ := columnar.Float64
	if kind == "count" {
		typ = columnar.Int64
	}
	return &fastAgg{agg{name: kind, typ: typ, call: expr.AggCall{Args: args}}, kind}
}

func (f *fastAgg) WithChildren(c []expr.Expr) expr.Expr { return newFastAgg(f.kind, c...) }
func (f *fastAgg) New(*expr.Context) expr.Accumulator   { return &fastAcc{kind: f.kind} }
func (f *fastAgg) State() []columnar.Field {
	n, s := columnar.Field{Name: "n", Type: columnar.Int64}, columnar.Field{Name: "s", Type: columnar.Float64}
	switch f.kind {
	case "count":
		return []columnar.Field{n}
	case "sum":
		return []columnar.Field{s}
	}
	return []columnar.Field{n, s}
}

type fastAcc struct {
	kind string
	n    []int64
	s    []float64
}

func (a *fastAcc) Grow(n int) {
	if k := n - len(a.n); k > 0 {
		a.n, a.s = append(a.n, make([]int64, k)...), append(a.s, make([]float64, k)...) // append zeroes what it takes over
	}
}

func (a *fastAcc) Update(group []uint32, args []*columnar.Column) error {
	switch a.kind {
	case "count":
		for _, g := range group {
			a.n[g]++
		}
	case "sum":
		for i, v := range columnar.Values[float64](args[0]) {
			a.s[group[i]] += v
		}
	default:
		for i, v := range columnar.Values[float64](args[0]) {
			a.n[group[i]]++
			a.s[group[i]] += v
		}
	}
	return nil
}

func (a *fastAcc) Merge(group []uint32, state []*columnar.Column) error {
	if a.kind != "sum" {
		for i, v := range columnar.Values[int64](state[0]) {
			a.n[group[i]] += v
		}
	}
	if a.kind != "count" {
		for i, v := range columnar.Values[float64](state[len(state)-1]) {
			a.s[group[i]] += v
		}
	}
	return nil
}

func (a *fastAcc) State() ([]*columnar.Column, error) {
	n, s := columnar.NewFixed(columnar.Int64, slices.Clone(a.n), nil), columnar.NewFixed(columnar.Float64, slices.Clone(a.s), nil)
	switch a.kind {
	case "count":
		return []*columnar.Column{n}, nil
	case "sum":
		return []*columnar.Column{s}, nil
	}
	return []*columnar.Column{n, s}, nil
}

func (a *fastAcc) Result() (*columnar.Column, error) {
	switch a.kind {
	case "count":
		return columnar.NewFixed(columnar.Int64, slices.Clone(a.n), nil), nil
	case "sum":
		return columnar.NewFixed(columnar.Float64, slices.Clone(a.s), nil), nil
	}
	out := make([]float64, len(a.n))
	for i, s := range a.s {
		out[i] = s / float64(a.n[i])
	}
	return columnar.NewFixed(columnar.Float64, out, nil), nil
}
func (a *fastAcc) Reset() { a.n, a.s = a.n[:0], a.s[:0] }

// above is v > bound of a DOUBLE.
type above struct {
	e     expr.Expr
	bound float64
}

func (a *above) Type() *columnar.Type                 { return columnar.Bool }
func (a *above) Nullable() bool                       { return false }
func (a *above) Children() []expr.Expr                { return []expr.Expr{a.e} }
func (a *above) WithChildren(c []expr.Expr) expr.Expr { return &above{c[0], a.bound} }
func (a *above) SQL() string                          { return "above" }
func (a *above) Eval(ctx *expr.Context, in *columnar.Batch) (*columnar.Column, error) {
	c, err := a.e.Eval(ctx, in)
	if err != nil {
		return nil, err
	}
	bits := columnar.NewBitmap(c.Len)
	for i, v := range columnar.Values[float64](c) {
		if v > a.bound {
			bits[i>>6] |= 1 << (uint(i) & 63)
		}
	}
	return columnar.NewBools(c.Len, bits, nil), nil
}

// cpuTime is the processor time of this process in ns: other work on the machine does not show in it.
func cpuTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkClicks is the filter, the 10-minute windows and count, sum and avg per window and url of
// decoded clicks.
func BenchmarkClicks(b *testing.B) {
	ts, url, amount := attr(1, "ts", columnar.Timestamp), attr(2, "url", columnar.String), attr(3, "amount", columnar.Float64)
	attrs := []*expr.Attr{ts, url, amount}
	for _, keys := range []int{1000, 100_000} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("keys=%d/workers=%d", keys, workers), func(b *testing.B) {
				const rows, batches = 8192, 128
				var in []*columnar.Batch
				x := uint64(1)
				for n := range batches {
					t, u, a := make([]int64, rows), columnar.NewBuilder(columnar.String, rows), make([]float64, rows)
					for i := range rows {
						x = x*6364136223846793005 + 1442695040888963407
						t[i] = int64(n*rows+i) * 2000
						u.AppendString(fmt.Sprintf("https://example.com/page/%06d", x>>33%uint64(keys)))
						a[i] = float64(x >> 40 % 1000)
					}
					in = append(in, columnar.NewBatch(schemaOf(attrs), []*columnar.Column{columnar.NewFixed(columnar.Timestamp, t, nil), u.Finish(), columnar.NewFixed(columnar.Float64, a, nil)}, rows))
				}
				rel := &plan.Relation{Source: "clicks", Streaming: true, Attrs: attrs}
				w := marked(attr(10, "window", windowType), 0)
				var n plan.Node = withWatermark(rel, 0, ts, 10e6)
				n = &plan.Filter{Cond: &above{amount, 99}, Child: n}
				n = &plan.TimeWindow{Window: w, Time: ts, Size: 600e6, Slide: 600e6, Child: n}
				n = &plan.Aggregate{Keys: []expr.Expr{w, url}, Exprs: []expr.Expr{w, url, alias(20, "c", newFastAgg("count")), alias(21, "s", newFastAgg("sum", amount)), alias(22, "a", newFastAgg("avg", amount))}, Child: n}
				db, _ := state.Open(state.Options{Partitions: workers})
				q, err := Compile(n, Options{Streaming: true, Mode: connector.Append, State: db, Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				if err := db.Load(-1); err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				cpu := cpuTime()
				for i := range b.N {
					_, err := q.Run(context.Background(), Batch{
						ID: int64(i),
						Input: func(context.Context, *plan.Relation) ([]connector.Partition, error) {
							return []connector.Partition{&memory{rows: in}}, nil
						},
						Emit: func(*columnar.Batch) error { return nil },
					})
					if err != nil {
						b.Fatal(err)
					}
					if _, err := db.Commit(int64(i)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*rows*batches/b.Elapsed().Seconds()/1e6, "Mrows/s")
				b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N)/rows/batches, "cpu-ns/row")
			})
		}
	}
}

// BenchmarkManyKeys counts per key over 5 million keys in update mode, a million rows a batch.
func BenchmarkManyKeys(b *testing.B) {
	key := attr(1, "user", columnar.Int64)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			const rows, batches = 16384, 64
			rel := &plan.Relation{Source: "clicks", Streaming: true, Attrs: []*expr.Attr{key}}
			n := &plan.Aggregate{Keys: []expr.Expr{key}, Exprs: []expr.Expr{key, alias(20, "c", newFastAgg("count"))}, Child: rel}
			db, _ := state.Open(state.Options{Partitions: workers})
			q, err := Compile(n, Options{Streaming: true, Mode: connector.Update, State: db, Workers: workers})
			if err != nil {
				b.Fatal(err)
			}
			if err := db.Load(-1); err != nil {
				b.Fatal(err)
			}
			x, id, used := uint64(1), int64(0), int64(0)
			run := func() {
				var in []*columnar.Batch
				b.StopTimer()
				for range batches {
					v := make([]int64, rows)
					for i := range v {
						x = x*6364136223846793005 + 1442695040888963407
						v[i] = int64(x >> 33 % 5e6)
					}
					in = append(in, columnar.NewBatch(schemaOf(rel.Attrs), []*columnar.Column{columnar.NewFixed(columnar.Int64, v, nil)}, rows))
				}
				b.StartTimer()
				cpu := cpuTime()
				_, err := q.Run(context.Background(), Batch{
					ID: id,
					Input: func(context.Context, *plan.Relation) ([]connector.Partition, error) {
						return []connector.Partition{&memory{rows: in}}, nil
					},
					Emit: func(*columnar.Batch) error { return nil },
				})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				used += cpuTime() - cpu
				if _, err := db.Commit(id); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				id++
			}
			for range 10 {
				run()
			}
			b.ResetTimer()
			used = 0
			for range b.N {
				run()
			}
			b.ReportMetric(float64(used)/float64(b.N)/rows/batches, "cpu-ns/row")
			b.ReportMetric(float64(b.N)*rows*batches/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// BenchmarkSmallBatch counts ten rows per batch by key in update mode: what a batch costs apart from its rows.
func BenchmarkSmallBatch(b *testing.B) {
	key := attr(1, "user", columnar.Int64)
	rel := &plan.Relation{Source: "clicks", Streaming: true, Attrs: []*expr.Attr{key}}
	n := &plan.Aggregate{Keys: []expr.Expr{key}, Exprs: []expr.Expr{key, alias(20, "c", newFastAgg("count"))}, Child: rel}
	db, _ := state.Open(state.Options{Partitions: 2})
	q, err := Compile(n, Options{Streaming: true, Mode: connector.Update, State: db, Workers: 2})
	if err != nil {
		b.Fatal(err)
	}
	if err := db.Load(-1); err != nil {
		b.Fatal(err)
	}
	in := []*columnar.Batch{columnar.NewBatch(schemaOf(rel.Attrs), []*columnar.Column{columnar.NewFixed(columnar.Int64, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, nil)}, 10)}
	b.ReportAllocs()
	for i := range b.N {
		_, err := q.Run(context.Background(), Batch{
			ID: int64(i),
			Input: func(context.Context, *plan.Relation) ([]connector.Partition, error) {
				return []connector.Partition{&memory{rows: in}}, nil
			},
			Emit: func(*columnar.Batch) error { return nil },
		})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := db.Commit(int64(i)); err != nil {
			b.Fatal(err)
		}
	}
}
