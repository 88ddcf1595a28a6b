package exec

import (
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// timeBound says when a row of one side can match no later row of the other: once the watermark w
// of the other side's event time has w ≥ time + shift, where time is the row's own event time.
type timeBound struct {
	shift int64 // µs
}

// timeBoundOf finds the bound that conditions put on the event time of one side from below, by
// the event time of the other: mine > other + k means that a row is done with once the watermark
// has reached mine - k. Of several bounds the weakest counts, as in Spark. It looks at what
// an inequality computes, not at how it is written, over a year of hours, so that local days of 23
// and 25 hours count with their worst.
func timeBoundOf(conds []expr.Expr, mine, other *expr.Attr, zone *time.Location, ansi bool) (timeBound, bool) {
	var out timeBound
	found := false
	for _, c := range conds {
		l, sign, r, ok := expr.InequalityOperands(c)
		if !ok || plan.UsesMonths(c) {
			continue
		}
		if sign == ">" || sign == ">=" {
			l, r = r, l
		}
		// From here on the condition is l < r or l <= r.
		k, ok := lowerBound(l, r, mine, other, zone, ansi)
		if !ok {
			continue
		}
		shift := -k
		if sign == "<=" || sign == ">=" {
			shift += 1000 // equal times still match: the watermark must be past them by a millisecond
		}
		if !found || shift > out.shift {
			out.shift = shift
		}
		found = true
	}
	return out, found
}

// lowerBound finds the least k for which l < r means mine > other + k.
func lowerBound(l, r expr.Expr, mine, other *expr.Attr, zone *time.Location, ansi bool) (int64, bool) {
	for _, a := range []*expr.Attr{mine, other} {
		if k := a.Typ.Kind; k != columnar.KindTimestamp && k != columnar.KindTimestampNTZ {
			return 0, false // a window: its fields are no event times to count from
		}
	}
	usable := true
	uses := [2]bool{}
	for _, e := range []expr.Expr{l, r} {
		switch e.Type().Kind {
		case columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindDayTime:
		default:
			return 0, false
		}
		expr.Walk(e, func(x expr.Expr) bool {
			if a, ok := x.(*expr.Attr); ok {
				switch a.ID {
				case mine.ID:
					uses[0] = true
				case other.ID:
					uses[1] = true
				default:
					usable = false
				}
			}
			return true
		})
	}
	if !usable || !uses[0] || !uses[1] || !expr.IsDeterministic(l) || !expr.IsDeterministic(r) {
		return 0, false
	}
	attrs := []*expr.Attr{mine, other}
	bound, err := bind([]expr.Expr{l, r}, attrs)
	if err != nil {
		return 0, false
	}
	// The difference l - r at mine = t + a, other = t + b, for hours t of a year.
	const hours, second = 366 * 24, int64(1e6)
	diff := func(a, b int64) []int64 {
		m, o := make([]int64, hours), make([]int64, hours)
		for i := range m {
			t := 1_735_689_600*second + int64(i)*3600*second
			m[i], o[i] = t+a, t+b
		}
		in := columnar.NewBatch(schemaOf(attrs), []*columnar.Column{columnar.NewFixed(mine.Typ, m, nil), columnar.NewFixed(other.Typ, o, nil)}, hours)
		cols, err := evalAll(&expr.Context{Zone: zone, ANSI: ansi}, bound, in)
		if err != nil || cols[0].NullCount()+cols[1].NullCount() > 0 {
			return nil
		}
		x, y := columnar.Values[int64](cols[0]), columnar.Values[int64](cols[1])
		out := make([]int64, hours)
		for i := range out {
			out[i] = x[i] - y[i]
		}
		return out
	}
	at, more, later := diff(0, 0), diff(second, 0), diff(0, second)
	if at == nil || more == nil || later == nil {
		return 0, false
	}
	// l - r must be other - mine + k: mine then has a lower bound. A second away, an hour of a clock
	// change may lie in between, so most of the year decides about the slope.
	k, straight := at[0], 0
	for i, v := range at {
		k = min(k, v)
		if more[i] == v-second && later[i] == v+second {
			straight++
		}
	}
	return k, straight > hours*9/10
}
