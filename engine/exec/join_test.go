package exec

import (
	"fmt"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// compare is l sign r.
func compare(t testing.TB, sign string, l, r expr.Expr) expr.Expr {
	t.Helper()
	b := &expr.Binder{ANSI: true, Registry: expr.NewRegistry(expr.Builtins())}
	e, err := b.Func(sign, l, r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// plus is a time moved by some µs.
func plus(e expr.Expr, d int64) expr.Expr {
	return &fn{typ: e.Type(), name: fmt.Sprint(e.SQL(), "+", d), args: []expr.Expr{e}, f: func(a []columnar.Datum) (columnar.Datum, error) {
		if a[0] == nil {
			return nil, nil
		}
		return a[0].(int64) + d, nil
	}}
}

var (
	lTS, lKey, lVal = attr(1, "lt", columnar.Timestamp), attr(2, "lk", columnar.String), attr(3, "lv", columnar.Int64)
	rTS, rKey, rVal = attr(4, "rt", columnar.Timestamp), attr(5, "rk", columnar.String), attr(6, "rv", columnar.Int64)
	lAll, rAll      = []*expr.Attr{lTS, lKey, lVal}, []*expr.Attr{rTS, rKey, rVal}
)

var kinds = []plan.JoinKind{plan.Inner, plan.LeftJoin, plan.RightJoin, plan.FullJoin, plan.LeftSemi, plan.LeftAnti}

// joinRowsOf joins lists of rows, in the simplest way.
func joinRowsOf(kind plan.JoinKind, left, right []row, on func(l, r row) bool) []row {
	none := func(n int) row { return make(row, n) }
	var out []row
	hit := make([]bool, len(right))
	for _, l := range left {
		any := false
		for i, r := range right {
			if on(l, r) {
				any, hit[i] = true, true
				if kind != plan.LeftSemi && kind != plan.LeftAnti {
					out = append(out, append(append(row{}, l...), r...))
				}
			}
		}
		switch {
		case kind == plan.LeftSemi && any, kind == plan.LeftAnti && !any:
			out = append(out, l)
		case !any && (kind == plan.LeftJoin || kind == plan.FullJoin):
			out = append(out, append(append(row{}, l...), none(3)...))
		}
	}
	for i, r := range right {
		if !hit[i] && (kind == plan.RightJoin || kind == plan.FullJoin) {
			out = append(out, append(none(3), r...))
		}
	}
	return out
}

func TestBoundedJoinsAgainstDumbEvaluator(t *testing.T) {
	rnd := seeded(t)
	draw := func(n int) []row {
		var out []row
		for range rnd.Intn(n) {
			r := row{int64(rnd.Intn(20)), fmt.Sprint("k", rnd.Intn(5)), int64(rnd.Intn(10))}
			for i := range r {
				if rnd.Intn(8) == 0 {
					r[i] = nil
				}
			}
			out = append(out, r)
		}
		return out
	}
	eq := func(a, b columnar.Datum) bool { return a != nil && b != nil && a == b }
	less := func(a, b columnar.Datum) bool { return a != nil && b != nil && a.(int64) < b.(int64) }
	conds := map[string]struct {
		cond expr.Expr
		on   func(l, r row) bool
	}{
		"equal":     {expr.NewEq(lKey, rKey), func(l, r row) bool { return eq(l[1], r[1]) }},
		"null safe": {expr.NewNullEq(lKey, rKey), func(l, r row) bool { return l[1] == r[1] }},
		"two keys and more": {
			expr.NewAnd(expr.NewEq(rKey, lKey), expr.NewEq(lVal, rVal), compare(t, "<", lTS, rTS)),
			func(l, r row) bool { return eq(l[1], r[1]) && eq(l[2], r[2]) && less(l[0], r[0]) },
		},
		"no key":    {compare(t, "<", lVal, rVal), func(l, r row) bool { return less(l[2], r[2]) }},
		"left only": {expr.NewAnd(expr.NewEq(lKey, rKey), compare(t, "<", lVal, &expr.Literal{Typ: columnar.Int64, Value: int64(5)})), func(l, r row) bool { return eq(l[1], r[1]) && less(l[2], int64(5)) }},
		"cross":     {nil, func(l, r row) bool { return true }},
	}
	for name, c := range conds {
		for _, kind := range kinds {
			for n := range 6 {
				left, right := draw(60), draw(60)
				if n == 0 {
					right = nil
				}
				root := &plan.Join{Kind: kind, Left: &plan.Relation{Source: "l", Attrs: lAll}, Right: &plan.Relation{Source: "r", Attrs: rAll}, Cond: c.cond, ID: -1}
				got := bounded(t, root, Options{Workers: 1 + rnd.Intn(3), BatchRows: 1 + rnd.Intn(40)}, map[string][]*columnar.Batch{"l": pieces(lAll, left, 7), "r": pieces(rAll, right, 5)})
				same(t, fmt.Sprint(name, " ", kind), got, joinRowsOf(kind, left, right, c.on), false)
			}
		}
	}
}

func TestNotInOfNulls(t *testing.T) {
	left := []row{{nil, "a", nil}, {nil, "b", nil}, {nil, nil, nil}}
	for _, c := range []struct {
		right []row
		want  []row
	}{
		{nil, left},
		{[]row{{nil, "a", nil}}, left[1:2]},
		{[]row{{nil, "a", nil}, {nil, nil, nil}}, nil},
	} {
		for _, more := range []bool{false, true} {
			cond := expr.NewEq(lKey, rKey)
			if more { // looks at every pair
				cond = expr.NewAnd(cond, expr.NewNullEq(lVal, lVal))
			}
			root := &plan.Join{Kind: plan.LeftAnti, NullAware: true, Left: &plan.Relation{Source: "l", Attrs: lAll}, Right: &plan.Relation{Source: "r", Attrs: rAll}, Cond: cond, ID: -1}
			got := bounded(t, root, Options{}, map[string][]*columnar.Batch{"l": pieces(lAll, left, 2), "r": pieces(rAll, c.right, 1)})
			same(t, fmt.Sprint("right ", c.right, more), got, c.want, false)
		}
	}
}

func TestStreamStaticJoinReadsTableOnce(t *testing.T) {
	stream, table := &plan.Relation{Source: "l", Streaming: true, Attrs: lAll}, &plan.Relation{Source: "r", Attrs: rAll}
	root := &plan.Join{Kind: plan.RightJoin, Left: table, Right: stream, Cond: expr.NewEq(lKey, rKey), ID: -1}
	s := newStream(t, root, connector.Append, Options{})
	left, right := []row{{int64(1), "a", int64(1)}, {int64(2), "b", int64(1)}}, []row{{int64(3), "a", int64(2)}}
	s.input["l"], s.input["r"] = pieces(lAll, left, 1), pieces(rAll, right, 1)
	want := []row{append(append(row{}, right[0]...), left[0]...), append(row{nil, nil, nil}, left[1]...)}
	same(t, "first", s.step(), want, true)
	s.input["r"] = nil
	same(t, "the table is kept", s.step(), want, true)
	s.q.Refresh(table)
	want[0] = append(row{nil, nil, nil}, left[0]...)
	same(t, "refreshed", s.step(), want, true)
}

// dumbStreamJoin keeps both sides in lists.
type dumbStreamJoin struct {
	kind   plan.JoinKind
	on     func(l, r row) bool
	expiry [2]func(r row) (int64, bool)
	kept   [2][]dumbRow
}

type dumbRow struct {
	row     row
	matched bool
}

func (d *dumbStreamJoin) batch(in [2][]row, late, evict int64) (out []row, dropped int64) {
	pair := func(i int, mine, other row) row {
		if i == 1 {
			mine, other = other, mine
		}
		return append(append(row{}, mine...), other...)
	}
	for i := range in {
		for _, r := range in[i] {
			if r[0] != nil && r[0].(int64) <= late {
				dropped++
				continue
			}
			me := dumbRow{row: r}
			for k := range d.kept[1-i] {
				o := &d.kept[1-i][k]
				l, rr := r, o.row
				if i == 1 {
					l, rr = rr, l
				}
				if !d.on(l, rr) {
					continue
				}
				switch {
				case d.kind != plan.LeftSemi:
					out = append(out, pair(i, r, o.row))
				case i == 0 && !me.matched:
					out = append(out, r)
				case i == 1 && !o.matched:
					out = append(out, o.row)
				}
				me.matched, o.matched = true, true
			}
			if d.kind == plan.LeftSemi { // a left row that has come out is not kept
				var left []dumbRow
				for _, l := range d.kept[0] {
					if !l.matched {
						left = append(left, l)
					}
				}
				d.kept[0] = left
			}
			if i == 0 && d.kind == plan.LeftSemi && me.matched {
				continue
			}
			if (d.kind == plan.Inner || d.kind == plan.LeftSemi || d.kind == plan.LeftJoin && i == 1 || d.kind == plan.RightJoin && i == 0) && r[1] == nil {
				continue // can never match
			}
			d.kept[i] = append(d.kept[i], me)
		}
	}
	for i := range d.kept {
		var keep []dumbRow
		for _, r := range d.kept[i] {
			t, ok := d.expiry[i](r.row)
			if !ok || t > evict {
				keep = append(keep, r)
				continue
			}
			if !r.matched && (d.kind == plan.FullJoin || d.kind == plan.LeftJoin && i == 0 || d.kind == plan.RightJoin && i == 1) {
				out = append(out, pair(i, r.row, row{nil, nil, nil}))
			}
		}
		d.kept[i] = keep
	}
	return out, dropped
}

func TestStreamStreamJoinsAgainstDumbEvaluator(t *testing.T) {
	lMark, rMark := marked(lTS, 10e6), marked(rTS, 5e6)
	at := func(r row, shift int64) (int64, bool) {
		if r[0] == nil {
			return 0, false
		}
		return r[0].(int64) + shift, true
	}
	key := func(l, r row) bool { return l[1] != nil && r[1] != nil && l[1] == r[1] }
	both := func(l, r row) bool { return key(l, r) && l[0] != nil && r[0] != nil }
	for name, c := range map[string]struct {
		cond   expr.Expr
		on     func(l, r row) bool
		expiry [2]int64
		bound  bool
	}{
		"range": {
			expr.NewAnd(expr.NewEq(lKey, rKey), compare(t, ">=", rMark, plus(lMark, -3e6)), compare(t, "<", rMark, plus(lMark, 8e6))),
			func(l, r row) bool {
				return both(l, r) && r[0].(int64) >= l[0].(int64)-3e6 && r[0].(int64) < l[0].(int64)+8e6
			},
			[2]int64{8e6, 3e6 + 1000},
			true,
		},
		"equal times": {
			expr.NewAnd(expr.NewEq(lKey, rKey), expr.NewEq(lMark, rMark)),
			func(l, r row) bool { return both(l, r) && l[0] == r[0] },
			[2]int64{0, 0},
			true,
		},
		"no bound": {expr.NewEq(lKey, rKey), key, [2]int64{}, false},
	} {
		for _, kind := range kinds[:5] {
			if !c.bound && kind != plan.Inner {
				continue
			}
			t.Run(fmt.Sprint(name, " ", kind), func(t *testing.T) {
				rnd := seeded(t)
				left := withWatermark(&plan.Relation{Source: "l", Streaming: true, Attrs: lAll}, 0, lTS, 10e6)
				right := withWatermark(&plan.Relation{Source: "r", Streaming: true, Attrs: rAll}, 1, rTS, 5e6)
				root := &plan.Join{Kind: kind, Left: left, Right: right, Cond: c.cond}
				s := newStream(t, root, connector.Append, Options{Workers: 1 + rnd.Intn(3), Partitions: 1 + rnd.Intn(4), BatchRows: 1 + rnd.Intn(30), ExchangeBytes: 1 + int64(rnd.Intn(4000))})
				d := &dumbStreamJoin{kind: kind, on: c.on}
				for i := range d.expiry {
					d.expiry[i] = func(r row) (int64, bool) {
						if !c.bound {
							return 0, false
						}
						return at(r, c.expiry[i])
					}
				}
				now := int64(1000e6)
				for n := range 15 {
					var in [2][]row
					for i := range in {
						for range rnd.Intn(60) {
							now += int64(rnd.Intn(150)) * 1000
							r := row{now - int64(rnd.Intn(12))*1e6, fmt.Sprint("k", rnd.Intn(4)), int64(rnd.Intn(10))}
							if name == "equal times" {
								r[0] = r[0].(int64) / 2e6 * 2e6
							}
							for k := range r {
								if rnd.Intn(25) == 0 {
									r[k] = nil
								}
							}
							in[i] = append(in[i], r)
						}
					}
					if name == "equal times" { // a null among the keys of a side that is not preserved drops out at once
						for i := range in {
							if kind == plan.Inner || kind == plan.LeftSemi || kind == plan.LeftJoin && i == 1 || kind == plan.RightJoin && i == 0 {
								var rows []row
								for _, r := range in[i] {
									if r[0] != nil {
										rows = append(rows, r)
									}
								}
								in[i] = rows
							}
						}
					}
					s.input["l"], s.input["r"] = pieces(lAll, in[0], 9), pieces(rAll, in[1], 11)
					late, evict := s.late, s.mark
					got, res := s.batch(false)
					want, dropped := d.batch(in, late, evict)
					if kind == plan.LeftSemi {
						for i := range want {
							want[i] = want[i][:3]
						}
					}
					same(t, fmt.Sprint("batch ", n), got, want, false)
					op := res.Operators[0]
					if total := int64(len(d.kept[0]) + len(d.kept[1])); op.RowsTotal != total || op.RowsLate != dropped {
						t.Fatalf("batch %d: %d rows in state, %d late; want %d and %d", n, op.RowsTotal, op.RowsLate, total, dropped)
					}
				}
			})
		}
	}
}

func TestOuterRowWhoseOwnConditionFailsComesOutAtOnce(t *testing.T) {
	lMark, rMark := marked(lTS, 0), marked(rTS, 0)
	left := withWatermark(&plan.Relation{Source: "l", Streaming: true, Attrs: lAll}, 0, lTS, 0)
	right := withWatermark(&plan.Relation{Source: "r", Streaming: true, Attrs: rAll}, 1, rTS, 0)
	cond := expr.NewAnd(expr.NewEq(lKey, rKey), expr.NewEq(lMark, rMark), compare(t, "<", lVal, &expr.Literal{Typ: columnar.Int64, Value: int64(5)}))
	s := newStream(t, &plan.Join{Kind: plan.LeftJoin, Left: left, Right: right, Cond: cond}, connector.Append, Options{})
	l := []row{{int64(1e6), "a", int64(9)}, {int64(1e6), "b", int64(1)}}
	s.input["l"] = pieces(lAll, l, 5)
	got, res := s.batch(false)
	same(t, "rows", got, []row{append(append(row{}, l[0]...), nil, nil, nil)}, true)
	if n := res.Operators[0].RowsTotal; n != 1 {
		t.Fatalf("%d rows in state, want 1", n)
	}
}
