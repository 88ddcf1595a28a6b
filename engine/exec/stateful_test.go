package exec

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/udf"
)

// gapOf makes a gap of v seconds out of a column.
func gapOf(e expr.Expr) expr.Expr {
	return &fn{typ: columnar.Calendar, name: "gap", args: []expr.Expr{e}, f: func(a []columnar.Datum) (columnar.Datum, error) {
		if a[0] == nil {
			return nil, nil
		}
		return columnar.CalendarInterval{Micros: a[0].(int64) * 1e6}, nil
	}}
}

// sessionPlan counts per key and session; the gap is v seconds.
func sessionPlan(rel *plan.Relation, calls ...expr.Expr) plan.Node {
	w := marked(attr(10, "session_window", windowType), 10e6)
	n := &plan.SessionWindow{Window: w, Time: marked(cTS, 10e6), Gap: gapOf(cVal), Child: withWatermark(rel, 0, cTS, 10e6)}
	keys := []expr.Expr{cKey, w}
	return &plan.Aggregate{Keys: keys, Exprs: append(append([]expr.Expr{}, keys...), calls...), Session: w, Child: n, ID: 0}
}

// dumbSession is a session, or a row as a session of its own.
type dumbSession struct {
	key        columnar.Datum
	start, end int64
	values     []columnar.Datum
}

func (s dumbSession) row() row {
	return row{s.key, columnar.StructDatum{s.start, s.end}, int64(len(s.values)), s.values}
}

// dumbMerge merges sessions of one key that touch.
func dumbMerge(all []dumbSession) []dumbSession {
	for again := true; again; {
		again = false
		for i := 0; i < len(all) && !again; i++ {
			for k := i + 1; k < len(all) && !again; k++ {
				a, b := all[i], all[k]
				if a.key == b.key && a.start <= b.end && b.start <= a.end {
					all[i] = dumbSession{a.key, min(a.start, b.start), max(a.end, b.end), append(append([]columnar.Datum{}, a.values...), b.values...)}
					all = append(all[:k], all[k+1:]...)
					again = true
				}
			}
		}
	}
	return all
}

func TestSessionsAgainstDumbEvaluator(t *testing.T) {
	for _, mode := range []connector.OutputMode{connector.Append, connector.Complete} {
		for _, list := range []bool{false, true} {
			t.Run(fmt.Sprint(mode, list), func(t *testing.T) {
				rnd := seeded(t)
				calls := []expr.Expr{alias(20, "c", countStar())}
				if list {
					calls = append(calls, alias(21, "l", listOf(cVal)))
				}
				s := newStream(t, sessionPlan(events(), calls...), mode, Options{Workers: 1 + rnd.Intn(3), Partitions: 1 + rnd.Intn(4), BatchRows: 1 + rnd.Intn(30), ExchangeBytes: 1 + int64(rnd.Intn(4000))})
				var open []dumbSession
				now := int64(100e6)
				for n := range 15 {
					var rows []row
					for range rnd.Intn(60) {
						now += int64(rnd.Intn(1500)) * 1000
						r := row{now - int64(rnd.Intn(40))*1e6, fmt.Sprint("k", rnd.Intn(5)), int64(rnd.Intn(9) - 1)}
						for i := range r {
							if rnd.Intn(25) == 0 {
								r[i] = nil
							}
						}
						rows = append(rows, r)
					}
					s.input["events"] = pieces(s.q.relations[0].Attrs, rows, 1+rnd.Intn(40))
					late, evict := s.late, s.mark
					got, res := s.batch(false)
					dropped := int64(0)
					for _, r := range rows {
						if r[0] == nil || r[2] == nil || r[2].(int64) <= 0 {
							continue
						}
						start := r[0].(int64)
						end := start + r[2].(int64)*1e6
						if end <= late { // in complete mode too
							dropped++
							continue
						}
						open = append(open, dumbSession{r[1], start, end, []columnar.Datum{r[2]}})
					}
					open = dumbMerge(open)
					var want []row
					var keep []dumbSession
					for _, x := range open {
						switch {
						case mode == connector.Complete:
							want, keep = append(want, x.row()), append(keep, x)
						case x.end <= evict:
							want = append(want, x.row())
						default:
							keep = append(keep, x)
						}
					}
					open = keep
					// The order of a list depends on how rows came together: as a set here.
					for _, rs := range [][]row{got, want} {
						for i := range rs {
							if !list {
								rs[i] = rs[i][:3]
								continue
							}
							var v []string
							for _, x := range rs[i][3].([]columnar.Datum) {
								v = append(v, fmt.Sprint(x))
							}
							sort.Strings(v)
							rs[i][3] = strings.Join(v, ",")
						}
					}
					same(t, fmt.Sprint("batch ", n), got, want, false)
					if op := res.Operators[0]; op.RowsLate != dropped || op.RowsTotal != int64(len(open)) {
						t.Fatalf("batch %d: late %d, total %d; want %d and %d", n, op.RowsLate, op.RowsTotal, dropped, len(open))
					}
				}
			})
		}
	}
}

func TestSessionsOfBoundedInputAndOrderWithin(t *testing.T) {
	rel := events()
	rel.Streaming = false
	root := sessionPlan(rel, alias(20, "c", countStar()), alias(21, "l", listOf(cVal)))
	data := []row{{int64(10e6), "a", int64(5)}, {int64(1e6), "a", int64(2)}, {int64(3e6), "a", int64(4)}, {int64(6e6), "b", int64(4)}, {int64(6e6), "a", int64(3)}}
	got := bounded(t, root, Options{Workers: 2, Partitions: 3}, map[string][]*columnar.Batch{"events": pieces(rel.Attrs, data, 2)})
	same(t, "sessions", got, []row{
		{"a", columnar.StructDatum{int64(1e6), int64(9e6)}, int64(3), []columnar.Datum{int64(2), int64(4), int64(3)}},
		{"a", columnar.StructDatum{int64(10e6), int64(15e6)}, int64(1), []columnar.Datum{int64(5)}},
		{"b", columnar.StructDatum{int64(6e6), int64(10e6)}, int64(1), []columnar.Datum{int64(4)}},
	}, false)
}

func TestDropDuplicatesAgainstDumbEvaluator(t *testing.T) {
	for _, kind := range []string{"key", "key and time", "within"} {
		t.Run(kind, func(t *testing.T) {
			rnd := seeded(t)
			mark := marked(cTS, 10e6)
			n := &plan.Dedup{Keys: []*expr.Attr{cKey}, WithinWatermark: kind == "within", Child: withWatermark(events(), 0, cTS, 10e6)}
			if kind == "key and time" {
				n.Keys = append(n.Keys, mark)
			}
			s := newStream(t, n, connector.Append, Options{Workers: 1 + rnd.Intn(3), Partitions: 1 + rnd.Intn(4), BatchRows: 1 + rnd.Intn(30), ExchangeBytes: 1 + int64(rnd.Intn(4000))})
			seen := map[string]int64{} // expiry
			now := int64(100e6)
			for n := range 15 {
				var rows []row
				for range rnd.Intn(80) {
					now += int64(rnd.Intn(900)) * 1000
					r := row{(now - int64(rnd.Intn(15))*1e6) / 1e6 * 1e6, fmt.Sprint("k", rnd.Intn(20)), int64(rnd.Intn(1e6))}
					for i := range r[1:] {
						if rnd.Intn(25) == 0 {
							r[i+1] = nil
						}
					}
					rows = append(rows, r)
				}
				s.input["events"] = pieces(s.q.relations[0].Attrs, rows, 1+rnd.Intn(40))
				late, evict := s.late, s.mark
				got, res := s.batch(false)
				var want []row
				dropped := int64(0)
				for _, r := range rows {
					ts := r[0].(int64)
					if ts <= late {
						dropped++
						continue
					}
					key, expiry := fmt.Sprint(r[1]), int64(1<<62)
					switch kind {
					case "key and time":
						key, expiry = key+fmt.Sprint(ts), ts
					case "within":
						expiry = ts + 10e6
					}
					if _, dup := seen[key]; !dup {
						seen[key] = expiry
						want = append(want, r)
					}
				}
				for k, e := range seen {
					if e <= evict {
						delete(seen, k)
					}
				}
				same(t, fmt.Sprint("batch ", n), got, want, true)
				if op := res.Operators[0]; op.RowsLate != dropped || op.RowsTotal != int64(len(seen)) || op.RowsUpdated != int64(len(want)) {
					t.Fatalf("batch %d: late %d, total %d, updated %d; want %d, %d, %d", n, op.RowsLate, op.RowsTotal, op.RowsUpdated, dropped, len(seen), len(want))
				}
			}
		})
	}
}

func TestLimitOverTheLifeOfAQuery(t *testing.T) {
	s := newStream(t, &plan.Limit{Count: 5, Child: events()}, connector.Append, Options{BatchRows: 2})
	data := []row{{int64(1), "a", int64(1)}, {int64(2), "b", int64(2)}, {int64(3), "c", int64(3)}}
	s.input["events"] = pieces(events().Attrs, data, 2)
	same(t, "first", s.step(), data, true)
	same(t, "second", s.step(), data[:2], true)
	got, res := s.batch(false)
	same(t, "third", got, nil, true)
	if res.Inputs[0].Rows != 3 {
		t.Fatalf("read %d rows, want 3: a stream is read to its end", res.Inputs[0].Rows)
	}
}

// counting is a state function: it counts rows per key, emits the count, and sets a timer.
type counting struct{ timer func(last int64) int64 }

func (c *counting) Info() udf.Info           { return udf.Info{} }
func (c *counting) Output() *columnar.Schema { return nil }
func (c *counting) Close() error             { return nil }
func (c *counting) Call(_ context.Context, call udf.Call, in udf.StateInput) (udf.StateOutput, error) {
	n := in.Keys.Rows
	k, cnt, st := columnar.NewBuilder(columnar.String, n), columnar.NewBuilder(columnar.Int64, n), columnar.NewBuilder(columnar.Binary, n)
	out := udf.StateOutput{Action: make([]udf.StateAction, n), Timer: make([]int64, n)}
	for g := range n {
		count := 0
		if !in.State.IsNull(g) {
			fmt.Sscan(in.State.StringAt(g), &count)
		}
		if in.Expired[g] {
			k.AppendFrom(in.Keys.Columns[0], g)
			cnt.AppendInt(-int64(count))
			st.AppendNull()
			out.Action[g] = udf.DeleteState
			continue
		}
		last := int64(0)
		for r := in.Offsets[g]; r < in.Offsets[g+1]; r++ {
			count++
			last = max(last, columnar.Values[int64](in.Rows.Columns[0])[r])
		}
		if in.Keys.Columns[0].IsNull(g) {
			out.Errors = append(out.Errors, udf.RowError{Row: g, Text: "no key"})
		}
		k.AppendFrom(in.Keys.Columns[0], g)
		cnt.AppendInt(int64(count))
		st.AppendString(fmt.Sprint(count))
		out.Action[g], out.Timer[g] = udf.PutState, c.timer(last)
	}
	out.State = st.Finish()
	out.Rows = columnar.NewBatch(nil, []*columnar.Column{k.Finish(), cnt.Finish()}, n)
	return out, nil
}

func TestGroupStateTimersAreStrict(t *testing.T) {
	f := &counting{timer: func(last int64) int64 { return last + 5e6 }}
	out := []*expr.Attr{attr(30, "k", columnar.String), attr(31, "n", columnar.Int64)}
	root := &plan.GroupState{
		Function: f, Info: udf.Info{Module: "m", Name: "f", Timeout: "event"}, Keys: []*expr.Attr{cKey}, Input: []*expr.Attr{cTS, cKey, cVal},
		Time: marked(cTS, 0), Attrs: out, Child: withWatermark(events(), 0, cTS, 0), OnError: plan.OnError{DeadLetter: "bad"},
	}
	s := newStream(t, root, connector.Append, Options{Partitions: 3})
	give := func(rows ...row) []row {
		s.input["events"] = pieces(events().Attrs, rows, 2)
		return s.step()
	}
	same(t, "rows", give(row{int64(10e6), "a", nil}, row{int64(10e6), "b", nil}, row{int64(11e6), "a", nil}),
		[]row{{"a", int64(2)}, {"b", int64(1)}}, false)
	// The timer of b is at 15 s: a watermark of 15 s is not past it, and a's rows at 11 s are late.
	same(t, "at the timer", give(row{int64(15e6), "c", nil}, row{int64(11e6), "a", nil}), []row{{"c", int64(1)}}, false)
	same(t, "past it", give(row{int64(15e6 + 1000), "c", nil}), []row{{"c", int64(2)}, {"b", int64(-1)}}, false)
	_, res := s.batch(true)
	if op := res.Operators[0]; op.RowsTotal != 2 {
		t.Fatalf("%d rows in state, want 2", op.RowsTotal)
	}
	give(row{int64(16e6), nil, int64(7)})
	if got := strings.Join(s.letter, ""); got != "bad m no key [16000000 <nil> 7]\n" {
		t.Fatalf("dead letters: %q", got)
	}
}

func TestGroupStateProcessingTimers(t *testing.T) {
	f := &counting{timer: func(int64) int64 { return 2_500_000 }}
	out := []*expr.Attr{attr(30, "k", columnar.String), attr(31, "n", columnar.Int64)}
	root := &plan.GroupState{
		Function: f, Info: udf.Info{Module: "m", Name: "f", Timeout: "processing"}, Keys: []*expr.Attr{cKey}, Input: []*expr.Attr{cTS, cKey, cVal}, Attrs: out, Child: events(),
	}
	s := newStream(t, root, connector.Append, Options{})
	s.input["events"] = pieces(events().Attrs, []row{{int64(10e6), "a", nil}}, 2)
	got, res := s.batch(false)
	same(t, "first", got, []row{{"a", int64(1)}}, true)
	if n := res.Operators[0].NextTimer; n != 2_500_000 {
		t.Fatalf("next timer at %d, want 2500000", n)
	}
	for n, want := range [][]row{nil, nil, {{"a", int64(-1)}}} { // batches are a second apart
		got, res = s.batch(true)
		same(t, fmt.Sprint("batch ", n+1), got, want, true)
	}
	if res.Operators[0].RowsTotal != 0 || res.Operators[0].NextTimer != 0 {
		t.Fatalf("after the timer: %+v", res.Operators[0])
	}
}
