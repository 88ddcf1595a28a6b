package expr

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// localMicros is a timestamp's wall clock: in the session's zone, or as it is without zone.
func localMicros(ctx *Context, t *columnar.Type, v int64) int64 {
	if t.Kind == columnar.KindTimestamp {
		return ctx.zone().ToLocal(v)
	}
	return v
}

// dayOf is the number of days of a wall clock.
func dayOf(micros int64) int64 { return javatext.FloorDiv(micros, microsPerDay) }

// dateInt binds a function of a date that gives an INT.
func dateInt(f func(days int64) int) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		name := b.name()
		args, err := b.coerce(args, isDate)
		if err != nil {
			return nil, err
		}
		e := simple(name, args, columnar.Int32, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return map1(columnar.Int32, a[0], n, func(d int32) int32 { return int32(f(int64(d))) }), nil
		})
		e.safe = true
		return e, nil
	}
}

// clockInt binds a function of the time of day that gives an INT.
func clockInt(f func(micros int64) int64) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if len(args) == 0 {
			return nil, b.wrongArgs("> 0", 0)
		}
		args = args[:1] // Spark takes more arguments, and looks at none of them
		name := b.name()
		if args[0].Type().Kind == columnar.KindTime {
			return simple(name, args, columnar.Int32, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
				return map1(columnar.Int32, a[0], n, func(v int64) int32 { return int32(f(v / 1000)) }), nil
			}), nil
		}
		args, err := b.coerce(args, isAnyStamp)
		if err != nil {
			return nil, err
		}
		t := args[0].Type()
		e := simple(name, args, columnar.Int32, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
			if offset, fixed := ctx.zone().Fixed(); fixed || t.Kind == columnar.KindTimestampNTZ {
				if t.Kind == columnar.KindTimestampNTZ {
					offset = 0
				}
				return map1(columnar.Int32, a[0], n, func(v int64) int32 {
					r := (v + offset) % microsPerDay
					if r < 0 {
						r += microsPerDay
					}
					return int32(f(r))
				}), nil
			}
			return map1(columnar.Int32, a[0], n, func(v int64) int32 {
				return int32(f(javatext.FloorMod(localMicros(ctx, t, v), microsPerDay)))
			}), nil
		})
		e.safe = true
		return e, nil
	}
}

func yearOf(d int64) int     { y, _, _ := javatext.CivilFromDays(d); return int(y) }
func monthOf(d int64) int    { _, m, _ := javatext.CivilFromDays(d); return m }
func dayOfMonth(d int64) int { _, _, x := javatext.CivilFromDays(d); return x }
func quarterOf(d int64) int  { return (monthOf(d)-1)/3 + 1 }

// isoDay is 1 for Monday to 7 for Sunday.
func isoDay(d int64) int { return int(javatext.FloorMod(d+3, 7)) + 1 }

func dayOfYear(d int64) int {
	y, _, _ := javatext.CivilFromDays(d)
	return int(d-javatext.DaysFromCivil(y, 1, 1)) + 1
}

// isoWeek is the ISO week and the year that it belongs to.
func isoWeek(d int64) (year int64, week int) {
	thursday := d + int64(4-isoDay(d))
	y, _, _ := javatext.CivilFromDays(thursday)
	return y, int(thursday-javatext.DaysFromCivil(y, 1, 1))/7 + 1
}

// nameFn binds a function of a date that gives a name of three letters.
func nameFn(f func(days int64) string) func(b *Binder, args []Expr) (Expr, error) {
	return typed{specs: []spec{isDate}, out: columnar.String, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
		w.AppendString(f(int64(i32(a[0], i))))
		return nil
	}}.bind
}

func dayName(d int64) string {
	return [...]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}[isoDay(d)-1]
}

func monthName(d int64) string {
	return [...]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}[monthOf(d)-1]
}

// bindExtract binds extract(field FROM source) and date_part(field, source).
func bindExtract(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	name := b.name()
	v, ok, err := b.foldable(args[0])
	if err != nil {
		return nil, err
	}
	if k := args[0].Type().Kind; !ok || k != columnar.KindString && k != columnar.KindNull {
		return nil, sparkerr.New("NON_FOLDABLE_ARGUMENT", "the function `%s` requires the parameter `field` to be a foldable expression of the type \"STRING\", but the actual argument is a non-foldable", name)
	}
	sql := sqlCall(name, args)
	switch name {
	case "extract":
		sql = "extract(" + strings.ToUpper(args[0].SQL()) + " FROM " + args[1].SQL() + ")"
	case "datepart":
		sql = "datepart(" + args[0].SQL() + " FROM " + args[1].SQL() + ")"
	}
	text, isText := v.(string)
	if !isText {
		return Named(NewLiteral(columnar.Float64, nil), sql), nil
	}
	src := args[1]
	e, err := b.part(strings.ToUpper(text), src)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, sparkerr.New("INVALID_EXTRACT_FIELD", "cannot extract `%s` from \"%s\"", text, src.SQL())
	}
	return Named(e, sql), nil
}

// part is the extraction of a field, or nil for a field that the source does not have.
func (b *Binder) part(field string, src Expr) (Expr, error) {
	switch src.Type().Kind {
	case columnar.KindYearMonth, columnar.KindDayTime, columnar.KindCalendar:
		return b.intervalPart(field, src)
	case columnar.KindTime:
		switch field {
		case "HOUR", "H", "HOURS", "HR", "HRS":
			return b.Func("hour", src)
		case "MINUTE", "M", "MIN", "MINS", "MINUTES":
			return b.Func("minute", src)
		case "SECOND", "S", "SEC", "SECONDS", "SECS":
			return b.secondsOf(src)
		}
		return nil, nil
	}
	f := func(name string) (Expr, error) { return b.Func(name, src) }
	switch field {
	case "YEAR", "Y", "YEARS", "YR", "YRS":
		return f("year")
	case "YEAROFWEEK":
		return f("yearofweek")
	case "QUARTER", "QTR":
		return f("quarter")
	case "MONTH", "MON", "MONS", "MONTHS":
		return f("month")
	case "WEEK", "W", "WEEKS":
		return f("weekofyear")
	case "DAY", "D", "DAYS":
		return f("dayofmonth")
	case "DAYOFWEEK", "DOW":
		return f("dayofweek")
	case "DAYOFWEEK_ISO", "DOW_ISO":
		return f("dayofweekiso")
	case "DOY":
		return f("dayofyear")
	case "HOUR", "H", "HOURS", "HR", "HRS":
		return f("hour")
	case "MINUTE", "M", "MIN", "MINS", "MINUTES":
		return f("minute")
	case "SECOND", "S", "SEC", "SECONDS", "SECS":
		return b.secondsOf(src)
	}
	return nil, nil
}

// secondsOf is the seconds of a minute with their fraction, as DECIMAL(8, 6).
func (b *Binder) secondsOf(src Expr) (Expr, error) {
	typ := columnar.Decimal(8, 6)
	args := []Expr{src}
	if src.Type().Kind != columnar.KindTime {
		var err error
		if args, err = b.coerceAs("second("+src.SQL()+")", args, isAnyStamp); err != nil {
			return nil, err
		}
	}
	t := args[0].Type()
	return simple("secondwithfraction", args, typ, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
		return map1(typ, a[0], n, func(v int64) columnar.Dec128 {
			if t.Kind == columnar.KindTime {
				return columnar.Dec128FromInt64(v / 1000 % 60_000_000)
			}
			return columnar.Dec128FromInt64(javatext.FloorMod(localMicros(ctx, t, v), 60_000_000))
		}), nil
	}), nil
}

// intervalPart is a field of an interval.
func (b *Binder) intervalPart(field string, src Expr) (Expr, error) {
	t := src.Type()
	months := func(v vec, i int) int64 {
		if t.Kind == columnar.KindYearMonth {
			return int64(i32(v, i))
		}
		return int64(columnar.Values[columnar.CalendarInterval](v.Column)[v.row(i)].Months)
	}
	micros := func(v vec, i int) int64 {
		if t.Kind == columnar.KindDayTime {
			return i64(v, i)
		}
		return columnar.Values[columnar.CalendarInterval](v.Column)[v.row(i)].Micros
	}
	calendarDays := func(v vec, i int) int64 {
		return int64(columnar.Values[columnar.CalendarInterval](v.Column)[v.row(i)].Days)
	}
	has := func(from, to columnar.IntervalField, f columnar.IntervalField) bool {
		return t.Kind == columnar.KindCalendar || from <= f && f <= to
	}
	make := func(typ *columnar.Type, f func(v vec, i int) int64) (Expr, error) {
		return simple("extract", []Expr{src}, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return rows(typ, a, n, func(w *columnar.Builder, i int) error {
				if typ.Kind == columnar.KindDecimal {
					w.AppendDecimal(columnar.Dec128FromInt64(f(a[0], i)))
				} else {
					w.AppendInt(f(a[0], i))
				}
				return nil
			})
		}), nil
	}
	ym := t.Kind != columnar.KindDayTime
	dt := t.Kind != columnar.KindYearMonth
	switch field {
	case "YEAR", "Y", "YEARS", "YR", "YRS":
		if ym && has(t.Start, t.End, columnar.FieldYear) {
			return make(columnar.Int32, func(v vec, i int) int64 { return months(v, i) / 12 })
		}
	case "MONTH", "MON", "MONS", "MONTHS":
		if ym && has(t.Start, t.End, columnar.FieldMonth) {
			return make(columnar.Int8, func(v vec, i int) int64 { return months(v, i) % 12 })
		}
	case "DAY", "D", "DAYS":
		if t.Kind == columnar.KindCalendar {
			return make(columnar.Int32, calendarDays)
		}
		if dt && has(t.Start, t.End, columnar.FieldDay) {
			return make(columnar.Int32, func(v vec, i int) int64 { return micros(v, i) / microsPerDay })
		}
	case "HOUR", "H", "HOURS", "HR", "HRS":
		if dt && has(t.Start, t.End, columnar.FieldHour) {
			return make(columnar.Int8, func(v vec, i int) int64 { return micros(v, i) % microsPerDay / 3_600_000_000 })
		}
	case "MINUTE", "M", "MIN", "MINS", "MINUTES":
		if dt && has(t.Start, t.End, columnar.FieldMinute) {
			return make(columnar.Int8, func(v vec, i int) int64 { return micros(v, i) % 3_600_000_000 / 60_000_000 })
		}
	case "SECOND", "S", "SEC", "SECONDS", "SECS":
		if dt && has(t.Start, t.End, columnar.FieldSecond) {
			return make(columnar.Decimal(8, 6), func(v vec, i int) int64 { return micros(v, i) % 60_000_000 })
		}
	}
	return nil, nil
}
