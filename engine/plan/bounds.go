package plan

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// Bounds is what a join's condition says of time.
type Bounds struct {
	Equality bool // some column of the left equals one of the right
	Time     bool // event times of both sides bound each other
	// Left and Right tell that the state of that side can shrink.
	Left, Right bool
}

// BoundsOf looks at the condition of a join of two streams: equal event times or windows, or
// inequalities between event times of the two sides.
func BoundsOf(n *Join) Bounds {
	var b Bounds
	if n.Cond == nil {
		return b
	}
	side := map[expr.AttrID]int{}
	timed := map[expr.AttrID]*expr.Attr{}
	for i, out := range [2][]*expr.Attr{n.Left.Output(), n.Right.Output()} {
		for _, a := range out {
			side[a.ID] = i + 1
			if a.EventTime != nil {
				timed[a.ID] = a
			}
		}
	}
	// sides gives 1, 2 or 3 (both) for the columns of an expression, and whether an event time is among them.
	sides := func(e expr.Expr) (s int, t bool) {
		expr.Walk(e, func(x expr.Expr) bool {
			if a, ok := x.(*expr.Attr); ok {
				s |= side[a.ID]
				t = t || timed[a.ID] != nil
			}
			return true
		})
		return s, t
	}
	for _, c := range expr.SplitAnd(n.Cond) {
		if l, r, _, ok := expr.EqOperands(c); ok {
			ls, lt := sides(l)
			rs, rt := sides(r)
			if ls|rs == 3 && ls != 3 && rs != 3 && ls != 0 && rs != 0 {
				b.Equality = true
				if lt || rt {
					if isTimeLike(l.Type()) || isWindowType(l.Type()) {
						b.Time = true
						b.Left, b.Right = true, true
					}
				}
			}
			continue
		}
		l, sign, r, ok := expr.InequalityOperands(c)
		if !ok || !isTimeLike(l.Type()) || UsesMonths(c) {
			continue
		}
		ls, lt := sides(l)
		rs, rt := sides(r)
		if ls|rs != 3 || !lt || !rt {
			continue
		}
		b.Time = true
		// l < r: a left row is dead once the right's watermark has passed what it can still match from
		// below only; a bound on both sides shrinks both.
		leftSmaller := ls == 1 && (sign == "<" || sign == "<=") || rs == 1 && (sign == ">" || sign == ">=")
		if leftSmaller {
			b.Right = true
		} else {
			b.Left = true
		}
	}
	return b
}

// UsesMonths tells whether an interval with months or years is in a condition. Months differ in length, so that no bound
// on time follows from it, as in Spark.
func UsesMonths(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if x.Type().Kind == columnar.KindYearMonth {
			found = true
		}
		if l, ok := x.(*expr.Literal); ok {
			if c, ok := l.Value.(columnar.CalendarInterval); ok && c.Months != 0 {
				found = true
			}
		}
		return !found
	})
	return found
}

func isTimeLike(t *columnar.Type) bool {
	return t.Kind == columnar.KindTimestamp || t.Kind == columnar.KindTimestampNTZ
}
