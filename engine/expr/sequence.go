package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// bindSequence binds sequence over integers, dates and timestamps.
func bindSequence(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	ends, t := b.toCommon(args[:2], b.wider)
	if t == nil {
		return nil, diffTypes("SEQUENCE_WRONG_INPUT_TYPES", sql, "sequence", args)
	}
	out := append([]Expr(nil), ends...)
	wrong := func() error {
		return mismatch("SEQUENCE_WRONG_INPUT_TYPES", sql, "`sequence` uses the wrong parameter type; start and stop must resolve to the same type: integral, date or timestamp, and the step must be an integer or an interval")
	}
	switch {
	case t.IsIntegral():
		if len(args) == 3 {
			all, w := b.toCommon(append(out, args[2]), b.wider)
			if w == nil || !w.IsIntegral() {
				return nil, wrong()
			}
			out, t = all, w
		}
	case isDatetime(t):
		if len(args) == 3 {
			s := args[2]
			switch s.Type().Kind {
			case columnar.KindYearMonth, columnar.KindDayTime, columnar.KindCalendar:
			default:
				return nil, wrong()
			}
			out = append(out, s)
		}
	default:
		return nil, wrong()
	}
	for i, a := range out {
		if i < len(args) && a.SQL() != args[i].SQL() {
			out[i] = Named(a, args[i].SQL())
		}
	}
	typ := columnar.ArrayOf(t, false)
	return simple("sequence", out, typ, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
		s := sequencer{b: columnar.NewBuilder(typ, n), t: t, m: mover{zone: ctx.zone(), ntz: t.Kind == columnar.KindTimestampNTZ}}
		valid := validOf(a...)
		for i := 0; i < n; i++ {
			if valid != nil && !valid.Get(i) {
				s.b.AppendNull()
				continue
			}
			start, stop := intAt(a[0].Column, a[0].row(i)), intAt(a[1].Column, a[1].row(i))
			var err error
			if t.IsIntegral() {
				step := int64(1)
				if len(a) == 3 {
					step = intAt(a[2].Column, a[2].row(i))
				} else if start > stop {
					step = -1
				}
				err = s.integers(start, stop, step)
			} else {
				step := columnar.CalendarInterval{Days: 1}
				if start > stop {
					step.Days = -1
				}
				if len(a) == 3 {
					step = intervalAt(a[2].Column, a[2].row(i))
				}
				err = s.times(start, stop, step)
			}
			if err != nil {
				return nil, err
			}
			s.b.AppendNested()
		}
		return s.b.Finish(), nil
	}), nil
}

// intervalAt is an interval of any type; a day-time one keeps everything as microseconds.
func intervalAt(c *columnar.Column, i int) columnar.CalendarInterval {
	switch c.Type.Kind {
	case columnar.KindYearMonth:
		return columnar.CalendarInterval{Months: columnar.Values[int32](c)[i]}
	case columnar.KindDayTime:
		v := columnar.Values[int64](c)[i]
		return columnar.CalendarInterval{Days: int32(v / microsPerDay), Micros: v % microsPerDay}
	}
	return columnar.Values[columnar.CalendarInterval](c)[i]
}

// sequencer appends the values of one row to the elements of an array builder.
type sequencer struct {
	b *columnar.Builder
	t *columnar.Type
	m mover
}

func (s *sequencer) bounds(start, stop int64, step string) error {
	return sparkerr.New("ILLEGAL_SEQUENCE_BOUNDARIES", "illegal sequence boundaries: %d to %d by %s", start, stop, step)
}

func (s *sequencer) integers(start, stop, step int64) error {
	if step == 0 && start != stop || step > 0 && start > stop || step < 0 && start < stop {
		return s.bounds(start, stop, itoa(int(step)))
	}
	n := uint64(1)
	if start != stop {
		span, by := uint64(stop)-uint64(start), uint64(step)
		if step < 0 {
			span, by = -span, -by
		}
		n = span/by + 1
	}
	if n > maxArraySize || n == 0 {
		return sparkerr.New("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER", "can't create array with %d elements which exceeding the array size limit %d; the value returned by the parameter(s) `count` in the function `sequence`", n, maxArraySize)
	}
	if n > maxBatchElements {
		return sparkerr.New("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER", "an array of %d elements does not fit in a batch", n)
	}
	e := s.b.Child(0)
	for v := start; n > 0; n-- {
		e.AppendInt(v)
		v += step
	}
	return nil
}

// times steps on the calendar, always counted from the start so that month ends do not wear down.
func (s *sequencer) times(start, stop int64, step columnar.CalendarInterval) error {
	e := s.b.Child(0)
	micros := func(v int64) int64 {
		if s.t.Kind == columnar.KindDate {
			return s.m.zone.FromLocal(v * microsPerDay)
		}
		return v
	}
	if s.t.Kind == columnar.KindDate && step.Micros != 0 {
		return sparkerr.New("_LEGACY_ERROR_TEMP_3242", "sequence step must be an interval day to second of day granularity if start and end values are dates")
	}
	// The step's sign is that of its length with months of 28 days.
	length := int64(step.Months)*28*microsPerDay + int64(step.Days)*microsPerDay + step.Micros
	from, to := micros(start), micros(stop)
	if length == 0 && from != to || length > 0 && from > to || length < 0 && from < to {
		return s.bounds(start, stop, string(javatext.AppendCalendarInterval(nil, javatext.CalendarInterval(step))))
	}
	for k := int64(0); ; k++ {
		if k > maxBatchElements {
			return sparkerr.New("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER", "a sequence of more than %d elements does not fit in a batch", maxBatchElements)
		}
		var v int64
		ok := true
		if step.Months == 0 && step.Days == 0 {
			v = from + k*step.Micros
		} else {
			v, ok = s.m.add(from, columnar.CalendarInterval{Months: step.Months * int32(k), Days: step.Days * int32(k), Micros: step.Micros * k})
		}
		if !ok || length > 0 && v > to || length < 0 && v < to {
			return nil
		}
		if s.t.Kind == columnar.KindDate {
			e.AppendInt(javatext.FloorDiv(s.m.zone.ToLocal(v), microsPerDay))
		} else {
			e.AppendInt(v)
		}
		if length == 0 {
			return nil
		}
	}
}
