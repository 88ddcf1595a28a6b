package exec

import (
	"fmt"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

var (
	cTS  = attr(1, "ts", columnar.Timestamp)
	cKey = attr(2, "k", columnar.String)
	cVal = attr(3, "v", columnar.Int64)
)

func events() *plan.Relation {
	return &plan.Relation{Source: "events", Streaming: true, Attrs: []*expr.Attr{cTS, cKey, cVal}}
}

// windowed groups events by a window and key.
func windowed(size, slide int64, late string, calls ...expr.Expr) plan.Node {
	w := attr(10, "window", windowType)
	w.Null = false
	w = marked(w, 10e6)
	var n plan.Node = &plan.TimeWindow{Window: w, Time: marked(cTS, 10e6), Size: size, Slide: slide, Child: withWatermark(events(), 0, cTS, 10e6)}
	keys := []expr.Expr{w, cKey}
	n = &plan.Aggregate{Keys: keys, Exprs: append(append([]expr.Expr{}, keys...), calls...), Child: n, ID: 0}
	if late != "" {
		n = &plan.LateOutput{Sink: late, Child: n}
	}
	return n
}

// dumbWindows is windowed, a row at a time.
type dumbWindows struct {
	size, slide int64
	mode        connector.OutputMode
	groups      map[string]row // start, key, count, sum, list
	order       []string
}

func (d *dumbWindows) batch(rows []row, late, evict int64) (out []row, dropped int64) {
	touched := map[string]bool{}
	for _, r := range rows {
		if r[0] == nil {
			continue
		}
		ts := r[0].(int64)
		for start := floorDiv(ts, d.slide) * d.slide; start+d.size > ts; start -= d.slide {
			if d.mode != connector.Complete && start+d.size <= late {
				dropped++
				continue
			}
			id := fmt.Sprint(start, r[1])
			g := d.groups[id]
			if g == nil {
				g = row{start, r[1], int64(0), nil, []columnar.Datum{}}
				d.groups[id] = g
				d.order = append(d.order, id)
			}
			g[2] = g[2].(int64) + 1
			if r[2] != nil {
				if g[3] == nil {
					g[3] = int64(0)
				}
				g[3] = g[3].(int64) + r[2].(int64)
				g[4] = append(append([]columnar.Datum{}, g[4].([]columnar.Datum)...), r[2])
			}
			touched[id] = true
		}
	}
	emit := func(g row) {
		out = append(out, append(row{columnar.StructDatum{g[0], g[0].(int64) + d.size}}, g[1:]...))
	}
	for id, g := range d.groups {
		if d.mode == connector.Update && touched[id] || d.mode == connector.Complete {
			emit(g)
		}
		if d.mode != connector.Complete && g[0].(int64)+d.size <= evict {
			if d.mode == connector.Append {
				emit(g)
			}
			delete(d.groups, id)
		}
	}
	return out, dropped
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func TestWindowedAggregationAgainstDumbEvaluator(t *testing.T) {
	for _, mode := range []connector.OutputMode{connector.Append, connector.Update, connector.Complete} {
		for _, list := range []bool{false, true} {
			for _, slide := range []int64{10e6, 4e6} {
				t.Run(fmt.Sprint(mode, list, slide), func(t *testing.T) {
					rnd := seeded(t)
					calls := []expr.Expr{alias(20, "c", countStar()), alias(21, "s", sumOf(cVal))}
					if list {
						calls = append(calls, alias(22, "l", listOf(cVal)))
					}
					s := newStream(t, windowed(10e6, slide, "late", calls...), mode, Options{Workers: 1 + rnd.Intn(3), Partitions: 1 + rnd.Intn(4), BatchRows: 16})
					dumb := &dumbWindows{size: 10e6, slide: slide, mode: mode, groups: map[string]row{}}
					now := int64(100e6)
					for n := range 12 {
						var rows []row
						for range rnd.Intn(200) {
							now += int64(rnd.Intn(400_000))
							r := row{now - int64(rnd.Intn(40e6)), fmt.Sprint("k", rnd.Intn(6)), int64(rnd.Intn(100))}
							for i := range r {
								if rnd.Intn(20) == 0 {
									r[i] = nil
								}
							}
							rows = append(rows, r)
						}
						s.input["events"] = pieces(s.q.relations[0].Attrs, rows, 1+rnd.Intn(40))
						s.parts = 1 + rnd.Intn(3)
						late, evict := s.late, s.mark
						got, res := s.batch(false)
						want, dropped := dumb.batch(rows, late, evict)
						for i := range want {
							want[i] = want[i][:len(s.q.Schema().Fields)]
						}
						same(t, fmt.Sprint("batch ", n), got, want, false)
						op := res.Operators[0]
						if op.RowsLate != dropped || op.RowsTotal != int64(len(dumb.groups)) || int64(len(s.lates)) != dropped {
							t.Fatalf("batch %d: late %d (%d handed on), total %d; want %d and %d", n, op.RowsLate, len(s.lates), op.RowsTotal, dropped, len(dumb.groups))
						}
						s.lates = nil
					}
				})
			}
		}
	}
}

func TestGlobalAggregateGivesRowForEmptyBatch(t *testing.T) {
	root := &plan.Aggregate{Exprs: []expr.Expr{alias(20, "c", countStar()), alias(21, "s", sumOf(cVal))}, Child: events(), ID: 0}
	s := newStream(t, root, connector.Update, Options{})
	got := s.step()
	same(t, "empty", got, []row{{int64(0), nil}}, true)
	s.input["events"] = pieces(events().Attrs, []row{{nil, "a", int64(3)}, {nil, "b", int64(4)}}, 1)
	same(t, "two rows", s.step(), []row{{int64(2), int64(7)}}, true)
}

func TestKeysOfEveryShape(t *testing.T) {
	typ := columnar.StructOf(columnar.Field{Name: "a", Type: columnar.Int16, Nullable: true}, columnar.Field{Name: "b", Type: columnar.String, Nullable: true})
	cols := []*expr.Attr{
		attr(1, "i", columnar.Int32), attr(2, "b", columnar.Bool), attr(3, "d", columnar.Decimal(10, 2)), attr(4, "f", columnar.Float64),
		attr(5, "s", columnar.String), attr(6, "t", columnar.String), attr(7, "st", typ), attr(8, "l", columnar.ArrayOf(columnar.Int32, true)), attr(9, "by", columnar.Int8),
		attr(10, "n", columnar.Null),
	}
	rnd := seeded(t)
	draw := func(a *expr.Attr) columnar.Datum {
		if a.Typ.Kind == columnar.KindNull || rnd.Intn(5) == 0 {
			return nil
		}
		n := rnd.Intn(3)
		switch a.Name {
		case "i":
			return int32(n)
		case "b":
			return n == 0
		case "d":
			return columnar.Dec128FromInt64(int64(n - 1))
		case "f":
			return float64(n) / 2
		case "st":
			if n == 0 {
				return columnar.StructDatum{nil, "x"}
			}
			return columnar.StructDatum{int16(n), "y"}
		case "l":
			return []columnar.Datum{int32(n), nil}
		case "by":
			return int8(-n)
		}
		return "stringstringstring"[:n*6]
	}
	for range 60 {
		var keys []*expr.Attr
		for _, c := range cols {
			if rnd.Intn(4) == 0 {
				keys = append(keys, c)
			}
		}
		var rows []row
		count := map[string]int64{}
		for range 300 {
			r := make(row, len(cols))
			id := ""
			for i, c := range cols {
				r[i] = draw(c)
				if position(keys, c.ID) >= 0 {
					id += fmt.Sprint(r[i], "|")
				}
			}
			rows = append(rows, r)
			count[id]++
		}
		rel := &plan.Relation{Source: "events", Attrs: cols}
		root := &plan.Aggregate{Keys: exprsOf(keys), Exprs: append(exprsOf(keys), alias(20, "c", countStar())), Child: rel, ID: 0}
		check := func(what string, got []row) {
			t.Helper()
			if len(got) != len(count) {
				t.Fatalf("%s: %d groups, want %d, by %v", what, len(got), len(count), keys)
			}
			for _, r := range got {
				id := ""
				for _, v := range r[:len(keys)] {
					id += fmt.Sprint(v, "|")
				}
				if r[len(keys)] != count[id] {
					t.Fatalf("%s: group %s has %v, want %d", what, id, r[len(keys)], count[id])
				}
			}
		}
		in := map[string][]*columnar.Batch{"events": pieces(cols, rows, 7)}
		check("bounded", bounded(t, root, Options{Workers: 3, Partitions: 3}, in))
		rel.Streaming = true
		s := newStream(t, root, connector.Complete, Options{})
		s.input = in
		check("stream", s.step())
		for k := range count {
			count[k] *= 2
		}
		check("stream again", s.step())
	}
}

func TestDistinctFilterAndOrderOfCalls(t *testing.T) {
	distinct := countStar()
	distinct.name = "count(DISTINCT v)"
	distinct.call = expr.AggCall{Args: []expr.Expr{cVal}, Distinct: true}
	distinct.step = func(a columnar.Datum, args []columnar.Datum) columnar.Datum {
		if args[0] == nil {
			return a
		}
		return a.(int64) + 1
	}
	filtered := sumOf(cVal)
	filtered.call.Filter = &fn{typ: columnar.Bool, name: "v>10", args: []expr.Expr{cVal}, f: func(a []columnar.Datum) (columnar.Datum, error) {
		if a[0] == nil {
			return nil, nil
		}
		return a[0].(int64) > 10, nil
	}}
	ordered := listOf(cVal)
	ordered.call.Order = []expr.SortKey{{Expr: cVal, Desc: true}}
	root := &plan.Aggregate{Keys: []expr.Expr{cKey}, Exprs: []expr.Expr{cKey, alias(20, "d", distinct), alias(21, "f", filtered), alias(22, "o", ordered)}, Child: events(), ID: 0}
	data := []row{{nil, "a", int64(5)}, {nil, "a", int64(20)}, {nil, "b", int64(7)}, {nil, "a", int64(5)}, {nil, "a", nil}, {nil, "a", int64(30)}}
	want := []row{{"a", int64(3), int64(50), []columnar.Datum{int64(30), int64(20), int64(5), int64(5)}}, {"b", int64(1), nil, []columnar.Datum{int64(7)}}}
	in := map[string][]*columnar.Batch{"events": pieces(events().Attrs, data, 2)}
	rel := root.Child.(*plan.Relation)
	rel.Streaming = false
	same(t, "bounded", bounded(t, root, Options{Workers: 2}, in), want, false)
	rel.Streaming = true
	s := newStream(t, root, connector.Update, Options{})
	for i := range in["events"] {
		s.input["events"] = in["events"][i : i+1]
		got := s.step()
		if i == 2 {
			same(t, "stream", got, want[:1], false)
		}
	}
}
