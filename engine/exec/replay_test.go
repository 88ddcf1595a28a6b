package exec

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/udf"
)

// TestReplayGivesTheSameRowsInTheSameOrder runs the same batches twice. Floating-point sums depend on the
// order of additions, so equal text means equal order.
func TestReplayGivesTheSameRowsInTheSameOrder(t *testing.T) {
	rnd := seeded(t)
	tenth := &fn{typ: columnar.Float64, name: "v/10", args: []expr.Expr{cVal}, f: func(a []columnar.Datum) (columnar.Datum, error) {
		if a[0] == nil {
			return 0.0, nil
		}
		return float64(a[0].(int64)) / 10, nil
	}}
	sum := func() expr.Expr { return alias(20, "s", newFastAgg("sum", tenth)) }
	lMark, rMark := marked(lTS, 10e6), marked(rTS, 10e6)
	join := func() plan.Node {
		left := withWatermark(&plan.Relation{Source: "events", Streaming: true, Attrs: lAll}, 0, lTS, 10e6)
		right := withWatermark(&plan.Relation{Source: "events", Streaming: true, Attrs: rAll}, 1, rTS, 10e6)
		cond := expr.NewAnd(expr.NewEq(lKey, rKey), compare(t, "<", lMark, plus(rMark, 5e6)), compare(t, "<", rMark, plus(lMark, 5e6)))
		return &plan.Join{Kind: plan.FullJoin, Left: left, Right: right, Cond: cond}
	}
	counted := func() plan.Node {
		out := []*expr.Attr{attr(30, "k", columnar.String), attr(31, "n", columnar.Int64)}
		return &plan.GroupState{
			Function: &counting{timer: func(last int64) int64 { return last + 9e6 }}, Info: udf.Info{Timeout: "event"}, Keys: []*expr.Attr{cKey},
			Input: []*expr.Attr{cTS, cKey, cVal}, Time: marked(cTS, 10e6), Attrs: out, OnError: plan.OnError{Skip: true}, Child: withWatermark(events(), 0, cTS, 10e6),
		}
	}
	for name, c := range map[string]struct {
		build func() plan.Node
		mode  connector.OutputMode
	}{
		"windows append":   {func() plan.Node { return windowed(10e6, 5e6, "", sum()) }, connector.Append},
		"windows update":   {func() plan.Node { return windowed(10e6, 10e6, "", sum()) }, connector.Update},
		"windows complete": {func() plan.Node { return windowed(10e6, 10e6, "", sum()) }, connector.Complete},
		"sessions":         {func() plan.Node { return sessionPlan(events(), sum()) }, connector.Append},
		"join":             {join, connector.Append},
		"state function":   {counted, connector.Append},
		"duplicates": {func() plan.Node {
			return &plan.Dedup{Keys: []*expr.Attr{cKey, cVal}, WithinWatermark: true, Child: withWatermark(events(), 0, cTS, 10e6)}
		}, connector.Append},
	} {
		opt := Options{Workers: 3, Partitions: 3, BatchRows: 10, ExchangeBytes: 2000}
		a, b := newStream(t, c.build(), c.mode, opt), newStream(t, c.build(), c.mode, opt)
		now, emitted := int64(100e6), 0
		for n := range 8 {
			var rows []row
			for range 200 {
				now += int64(rnd.Intn(60_000))
				rows = append(rows, row{now - int64(rnd.Intn(12e6)), fmt.Sprint("k", rnd.Intn(30)), int64(rnd.Intn(9))})
			}
			in := pieces(events().Attrs, rows, 7)
			a.input["events"], b.input["events"] = in, in
			got, _ := a.batch(false)
			want, _ := b.batch(false)
			same(t, fmt.Sprint(name, ", batch ", n), got, want, true)
			emitted += len(got)
		}
		if emitted == 0 {
			t.Fatalf("%s: nothing came out", name)
		}
	}
}

// TestGateComesBeforeStateAndOutput checks that nothing is emitted or kept before the gate opens.
func TestGateComesBeforeStateAndOutput(t *testing.T) {
	shut := errors.New("shut")
	join := &plan.Join{
		Kind: plan.Inner, Left: &plan.Relation{Source: "events", Streaming: true, Attrs: lAll},
		Right: &plan.Relation{Source: "events", Streaming: true, Attrs: rAll}, Cond: expr.NewEq(lKey, rKey),
	}
	for name, root := range map[string]plan.Node{
		"stateless": events(),
		"aggregate": windowed(10e6, 10e6, "", alias(20, "c", countStar())),
		"sessions":  sessionPlan(events(), alias(20, "c", countStar())),
		"join":      join,
		"dedup":     &plan.Dedup{Keys: []*expr.Attr{cKey}, Child: events()},
		"limit":     &plan.Limit{Count: 3, Child: events()},
	} {
		s := newStream(t, root, connector.Append, Options{})
		in := pieces(events().Attrs, []row{{int64(1e6), "a", int64(1)}, {int64(2e6), "b", int64(2)}}, 1)
		b := Batch{
			Gate: func(context.Context) error { return shut },
			Input: func(context.Context, *plan.Relation) ([]connector.Partition, error) {
				return []connector.Partition{&memory{rows: in}}, nil
			},
			Emit: func(*columnar.Batch) error { t.Fatalf("%s: rows before the gate", name); return nil },
		}
		if _, err := s.q.Run(context.Background(), b); !errors.Is(err, shut) {
			t.Fatalf("%s: got %v", name, err)
		}
		if info, err := s.db.Commit(s.id); err != nil || info.Changed {
			t.Fatalf("%s: the state has changed (%v), error %v", name, info.Changed, err)
		}
		s.id++
		s.input["events"] = in
		s.batch(false)
	}
}
