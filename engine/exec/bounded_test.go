package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/udf"
)

// table is a bounded relation of events.
func table() *plan.Relation {
	return &plan.Relation{Source: "events", Attrs: []*expr.Attr{cTS, cKey, cVal}}
}

func randomRows(rnd *rand.Rand, n int) []row {
	var out []row
	for range n {
		r := row{int64(rnd.Intn(50)), fmt.Sprint("k", rnd.Intn(4)), int64(rnd.Intn(12))}
		for i := range r {
			if rnd.Intn(9) == 0 {
				r[i] = nil
			}
		}
		out = append(out, r)
	}
	return out
}

func lit(v int64) expr.Expr { return &expr.Literal{Typ: columnar.Int64, Value: v} }

// lessBy orders data with nulls first or last.
func lessBy(a, b columnar.Datum, desc, nullsFirst bool) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil || b == nil:
		if (a == nil) == nullsFirst {
			return -1
		}
		return 1
	}
	c := 0
	switch x := a.(type) {
	case int64:
		c = int(x - b.(int64))
	case string:
		c = strings.Compare(x, b.(string))
	}
	if desc {
		return -c
	}
	return c
}

func TestSortAndLimitAgainstDumbEvaluator(t *testing.T) {
	rnd := seeded(t)
	for range 40 {
		rows := randomRows(rnd, rnd.Intn(200))
		desc, first := rnd.Intn(2) == 0, rnd.Intn(2) == 0
		keys := []expr.SortKey{{Expr: cKey, Desc: desc, NullsFirst: first}, {Expr: cVal, NullsFirst: !first}}
		count, offset := int64(rnd.Intn(100)), int64(rnd.Intn(30))
		root := &plan.Limit{Count: count, Offset: offset, ID: -1, Child: &plan.Sort{Global: true, Keys: keys, Child: table()}}
		got := bounded(t, root, Options{Workers: 3, BatchRows: 1 + rnd.Intn(20)}, map[string][]*columnar.Batch{"events": pieces(table().Attrs, rows, 13)})
		want := append([]row{}, rows...)
		sort.SliceStable(want, func(i, j int) bool {
			if c := lessBy(want[i][1], want[j][1], desc, first); c != 0 {
				return c < 0
			}
			return lessBy(want[i][2], want[j][2], false, !first) < 0
		})
		want = want[min(int(offset), len(want)):]
		same(t, "sorted", got, want[:min(int(count), len(want))], true)
	}
}

func TestSetOperationsAgainstDumbEvaluator(t *testing.T) {
	rnd := seeded(t)
	for range 20 {
		for _, except := range []bool{false, true} {
			for _, all := range []bool{false, true} {
				left, right := randomRows(rnd, rnd.Intn(60)), randomRows(rnd, rnd.Intn(60))
				for _, rows := range [][]row{left, right} {
					for _, r := range rows {
						r[0], r[2] = nil, nil // few different rows
					}
				}
				root := &plan.SetOp{Except: except, All: all, Left: &plan.Relation{Source: "l", Attrs: lAll}, Right: &plan.Relation{Source: "r", Attrs: rAll}, Attrs: []*expr.Attr{cTS, cKey, cVal}}
				got := bounded(t, root, Options{Workers: 2}, map[string][]*columnar.Batch{"l": pieces(lAll, left, 7), "r": pieces(rAll, right, 5)})
				count, given := map[string]int{}, map[string]bool{}
				for _, r := range right {
					count[fmt.Sprint(r...)]++
				}
				var want []row
				for _, r := range left {
					id := fmt.Sprint(r...)
					on := count[id] > 0
					if all && on {
						count[id]--
					}
					if on == except || !all && given[id] {
						continue
					}
					given[id] = true
					want = append(want, r)
				}
				same(t, fmt.Sprint("except ", except, " all ", all), got, want, false)
			}
		}
	}
}

func TestWindowFramesAgainstDumbEvaluator(t *testing.T) {
	rnd := seeded(t)
	for n := range 150 {
		rows := randomRows(rnd, 1+rnd.Intn(60))
		desc, first, byRow, list := rnd.Intn(2) == 0, rnd.Intn(2) == 0, rnd.Intn(2) == 0, rnd.Intn(3) == 0
		bound := func() (expr.FrameBound, int, bool) {
			switch rnd.Intn(3) {
			case 0:
				return expr.FrameBound{Unbounded: true}, 0, true
			case 1:
				return expr.FrameBound{}, 0, false
			}
			k := rnd.Intn(7) - 3
			return expr.FrameBound{Offset: lit(int64(k))}, k, false
		}
		var f expr.WindowFrame
		var lo, hi int
		var loU, hiU bool
		f.Rows = byRow
		f.Start, lo, loU = bound()
		f.End, hi, hiU = bound()
		fn := sumOf(cVal)
		if list {
			fn = listOf(cVal)
		}
		if rnd.Intn(3) == 0 {
			fn.call.Filter = compare(t, ">", cVal, lit(3))
		}
		call := &expr.WindowCall{Function: fn, Frame: f}
		key := expr.SortKey{Expr: cVal, Desc: desc, NullsFirst: first}
		root := &plan.Window{Exprs: []expr.Expr{alias(40, "w", call)}, Partition: []expr.Expr{cKey}, Order: []expr.SortKey{key}, Child: table()}
		got := bounded(t, root, Options{Workers: 2, BatchRows: 7}, map[string][]*columnar.Batch{"events": pieces(table().Attrs, rows, 9)})

		sorted := append([]row{}, rows...)
		sort.SliceStable(sorted, func(i, j int) bool {
			if c := lessBy(sorted[i][1], sorted[j][1], false, true); c != 0 {
				return c < 0
			}
			return lessBy(sorted[i][2], sorted[j][2], desc, first) < 0
		})
		var want []row
		for i, r := range sorted {
			var acc columnar.Datum = fn.empty
			for j, o := range sorted {
				if o[1] != r[1] {
					continue
				}
				in := (loU || j >= i+lo) && (hiU || j <= i+hi)
				if !byRow {
					c := func(k int) int { // compares the order key of o with r's, moved by k in the order
						if k == 0 || r[2] == nil || o[2] == nil {
							return lessBy(o[2], r[2], desc, first)
						}
						to := r[2].(int64) + int64(k)
						if desc {
							to = r[2].(int64) - int64(k)
						}
						return lessBy(o[2], to, desc, first)
					}
					in = (loU || c(lo) >= 0) && (hiU || c(hi) <= 0)
				}
				if in && (fn.call.Filter == nil || o[2] != nil && o[2].(int64) > 3) {
					acc = fn.step(acc, []columnar.Datum{o[2]})
				}
			}
			want = append(want, append(append(row{}, r...), acc))
		}
		same(t, fmt.Sprintf("case %d: rows %v, %d (%v) to %d (%v), desc %v", n, byRow, lo, loU, hi, hiU, desc), got, want, true)
	}
}

func TestGenerateOuterKeepsChildlessRows(t *testing.T) {
	parents, idx := withChildless([]int32{1, 1, 3}, 5)
	if got := fmt.Sprint(parents, idx); got != "[0 1 1 2 3 4] [-1 0 1 -1 2 -1]" {
		t.Fatal(got)
	}
	if _, idx := withChildless([]int32{0, 1, 1, 2}, 3); idx != nil {
		t.Fatal("nothing is missing, yet rows were added")
	}
}

func TestScalarSubqueryOfManyRows(t *testing.T) {
	q, err := Compile(&plan.SingleRow{Child: table()}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(rows []row) ([]row, error) {
		var out []*columnar.Batch
		_, err := q.Run(context.Background(), Batch{
			Input: func(context.Context, *plan.Relation) ([]connector.Partition, error) {
				return []connector.Partition{&memory{rows: pieces(table().Attrs, rows, 1)}}, nil
			},
			Emit: func(b *columnar.Batch) error { out = append(out, b); return nil },
		})
		return rowsOf(out), err
	}
	got, err := run(nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "no row", got, []row{{nil, nil, nil}}, true)
	if _, err = run([]row{{nil, "a", nil}, {nil, "b", nil}}); sparkerr.Condition(err) != "SCALAR_SUBQUERY_TOO_MANY_ROWS" {
		t.Fatalf("two rows: %v", err)
	}
}

// fussy is a filter and a map function that refuses rows with a null key.
type fussy struct{}

func (fussy) Info() udf.Info           { return udf.Info{} }
func (fussy) Output() *columnar.Schema { return nil }
func (fussy) Close() error             { return nil }
func (fussy) refused(in *columnar.Batch) []udf.RowError {
	var out []udf.RowError
	for i := range in.Rows {
		if in.Columns[0].IsNull(i) {
			out = append(out, udf.RowError{Row: i, Code: 7, Text: "no key"})
		}
	}
	return out
}

func (f fussy) Filter(_ context.Context, _ udf.Call, in *columnar.Batch) (columnar.Bitmap, []udf.RowError, error) {
	keep := columnar.NewBitmapSet(in.Rows)
	for i := range in.Rows {
		if !in.Columns[0].IsNull(i) && in.Columns[0].StringAt(i) == "k0" {
			keep.Clear(i)
		}
	}
	return keep, f.refused(in), nil
}

func (f fussy) Rows(_ context.Context, _ udf.Call, in *columnar.Batch) (udf.Rows, error) {
	b := columnar.NewBuilder(columnar.String, 0)
	for i := range in.Rows {
		if !in.Columns[0].IsNull(i) {
			b.AppendString(in.Columns[0].StringAt(i) + "!")
		}
	}
	c := b.Finish()
	return udf.Rows{Batch: columnar.NewBatch(nil, []*columnar.Column{c}, c.Len), Errors: f.refused(in)}, nil
}

func TestUserFunctionsAndTheirRefusals(t *testing.T) {
	data := []row{{int64(1), "k0", nil}, {int64(2), nil, int64(5)}, {int64(3), "k1", nil}}
	for _, mapped := range []bool{false, true} {
		build := func(p plan.OnError) plan.Node {
			if mapped {
				return &plan.UDFRows{Info: udf.Info{Module: "m", Name: "f", Kind: udf.Map}, Function: fussy{}, Input: []*expr.Attr{cKey}, Attrs: []*expr.Attr{attr(50, "out", columnar.String)}, OnError: p, Child: events()}
			}
			return &plan.UDFFilter{Info: udf.Info{Module: "m", Name: "f", Kind: udf.Filter}, Function: fussy{}, Input: []*expr.Attr{cKey}, OnError: p, Child: events()}
		}
		want := []row{data[2]}
		if mapped {
			want = []row{{"k0!"}, {"k1!"}}
		}
		s := newStream(t, build(plan.OnError{DeadLetter: "bad"}), connector.Append, Options{})
		s.input["events"] = pieces(events().Attrs, data, 2)
		got, res := s.batch(false)
		same(t, "dead letter", got, want, true)
		if l := strings.Join(s.letter, ""); l != "bad m no key [2 <nil> 5]\n" || res.SkippedRows != 1 {
			t.Fatalf("dead letters %q, %d skipped", l, res.SkippedRows)
		}
		s = newStream(t, build(plan.OnError{Skip: true}), connector.Append, Options{})
		s.input["events"] = pieces(events().Attrs, data, 2)
		same(t, "skip", s.step(), want, true)
		if len(s.letter) > 0 {
			t.Fatal("a skipped row was handed on")
		}
		q, err := Compile(build(plan.OnError{}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = q.Run(context.Background(), Batch{ID: 9, Input: func(context.Context, *plan.Relation) ([]connector.Partition, error) {
			return []connector.Partition{&memory{rows: s.input["events"]}}, nil
		}, Emit: func(*columnar.Batch) error { return nil }})
		name := "filter"
		if mapped {
			name = "map"
		}
		if wantErr := fmt.Sprintf(`batch 9: operator %q: module "m": function "f": row 1: no key (code 7)`, name); err == nil || err.Error() != wantErr {
			t.Fatalf("got %v, want %s", err, wantErr)
		}
	}
}

func TestRunEndsWithTheFirstErrorAndLeavesNoGoroutine(t *testing.T) {
	broken := errors.New("broken")
	for _, where := range []string{"emit", "expression", "cancel", "source"} {
		var n plan.Node = events()
		if where == "expression" {
			n = &plan.Filter{Child: n, Cond: &fn{typ: columnar.Bool, name: "f", args: []expr.Expr{cVal}, f: func(a []columnar.Datum) (columnar.Datum, error) {
				if a[0] == int64(500) {
					return nil, broken
				}
				return true, nil
			}}}
		}
		q, err := Compile(n, Options{Streaming: true, Workers: 4, BatchRows: 8})
		if err != nil {
			t.Fatal(err)
		}
		var rows []row
		for i := range 3000 {
			rows = append(rows, row{int64(i), "k", int64(i)})
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		emitted := 0
		_, err = q.Run(ctx, Batch{
			Input: func(context.Context, *plan.Relation) ([]connector.Partition, error) {
				if where == "source" {
					return nil, broken
				}
				return []connector.Partition{&memory{rows: pieces(events().Attrs, rows, 3), lazy: true}}, nil
			},
			Emit: func(*columnar.Batch) error {
				emitted++
				if emitted == 100 && where == "emit" {
					return broken
				}
				if emitted == 100 && where == "cancel" {
					cancel(broken)
				}
				return nil
			},
		})
		if !errors.Is(err, broken) {
			t.Fatalf("%s: got %v", where, err)
		}
		cancel(nil)
	}
}

func TestOutputKeepsTheOrderOfArrival(t *testing.T) {
	rnd := seeded(t)
	var rows []row
	for i := range 2000 {
		rows = append(rows, row{int64(i), "k", int64(rnd.Intn(9))})
	}
	n := &plan.Filter{Child: events(), Cond: compare(t, ">", cVal, lit(2))}
	s := newStream(t, n, connector.Append, Options{Workers: 4, BatchRows: 5})
	s.parts = 7
	s.input["events"] = pieces(events().Attrs, rows, 11)
	var want []row
	for _, r := range rows {
		if r[2].(int64) > 2 {
			want = append(want, r)
		}
	}
	same(t, "order", s.step(), want, true)
}

func TestSmallPiecesAreEmittedTogether(t *testing.T) {
	q, err := Compile(events(), Options{Streaming: true, BatchRows: 100})
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for i := range 230 {
		rows = append(rows, row{int64(i), "k", nil})
	}
	var sizes []int
	_, err = q.Run(context.Background(), Batch{
		Input: func(context.Context, *plan.Relation) ([]connector.Partition, error) {
			return []connector.Partition{&memory{rows: append(pieces(events().Attrs, rows[:130], 3), pieces(events().Attrs, rows[130:], 80)...)}}, nil
		},
		Emit: func(b *columnar.Batch) error { sizes = append(sizes, b.Rows); return nil },
	})
	if got := fmt.Sprint(sizes); err != nil || got != "[51 51 108 20]" {
		t.Fatalf("pieces of %s rows, error %v", got, err)
	}
}
