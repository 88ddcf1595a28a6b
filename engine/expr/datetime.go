package expr

import (
	"math"
	"slices"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// now is current_timestamp() and its relatives: the time of the batch.
type now struct {
	name string
	typ  *columnar.Type
}

func (e *now) Type() *columnar.Type     { return e.typ }
func (e *now) Nullable() bool           { return false }
func (e *now) Children() []Expr         { return nil }
func (e *now) WithChildren([]Expr) Expr { return e }
func (e *now) SQL() string              { return e.name + "()" }
func (e *now) harmless() bool           { return true }

// BatchDependent keeps the planner from computing the value before the batch.
func (e *now) BatchDependent() bool { return true }

func (e *now) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	var d columnar.Datum
	local := ctx.zone().ToLocal(ctx.BatchTime)
	switch e.typ.Kind {
	case columnar.KindDate:
		d = int32(dayOf(local))
	case columnar.KindTimestampNTZ:
		d = local
	case columnar.KindTime:
		d = javatext.FloorMod(local, microsPerDay) * 1000
	default:
		d = ctx.BatchTime
	}
	return columnar.Repeat(e.typ, d, in.Rows), nil
}

func bindNow(typ *columnar.Type) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		most := 0
		if typ.Kind == columnar.KindTime {
			most = 1
		}
		if err := b.argCount(args, 0, most); err != nil {
			return nil, err
		}
		return &now{b.name(), typ}, nil
	}
}

// truncDate cuts a date to a unit of at least a week; ok is false for other units.
func truncDate(days int64, unit string) (int64, bool) {
	y, m, _ := javatext.CivilFromDays(days)
	switch strings.ToUpper(unit) {
	case "YEAR", "YYYY", "YY":
		return javatext.DaysFromCivil(y, 1, 1), true
	case "QUARTER":
		return javatext.DaysFromCivil(y, (m-1)/3*3+1, 1), true
	case "MONTH", "MM", "MON":
		return javatext.DaysFromCivil(y, m, 1), true
	case "WEEK":
		return days - int64(isoDay(days)-1), true
	}
	return 0, false
}

// truncMicros cuts a wall clock to a unit; ok is false for other units.
func truncMicros(local int64, unit string) (int64, bool) {
	step := int64(0)
	switch strings.ToUpper(unit) {
	case "MICROSECOND":
		return local, true
	case "MILLISECOND":
		step = 1000
	case "SECOND":
		step = 1_000_000
	case "MINUTE":
		step = 60_000_000
	case "HOUR":
		step = 3_600_000_000
	case "DAY", "DD":
		step = microsPerDay
	default:
		d, ok := truncDate(dayOf(local), unit)
		return d * microsPerDay, ok
	}
	return local - javatext.FloorMod(local, step), true
}

// unknownUnit is null of a type when the constant unit at args[at] is none that known accepts, and nil
// otherwise: what the other argument is, or whether it can be cast, does not count then.
func (b *Binder) unknownUnit(name string, args []Expr, at int, t *columnar.Type, known func(string) bool) Expr {
	v, ok, err := b.foldable(args[at])
	if u, is := v.(string); err != nil || !ok || is && known(u) {
		return nil
	}
	return Named(NewLiteral(t, nil), sqlCall(name, args))
}

// bindTrunc binds trunc(date, unit).
func bindTrunc(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	name := b.name()
	args, err := b.coerce(args, isDate, isString)
	if err != nil {
		return nil, err
	}
	if e := b.unknownUnit(name, args, 1, columnar.Date, func(u string) bool {
		_, ok := truncDate(0, u)
		return ok
	}); e != nil {
		return e, nil
	}
	e := simple(name, args, columnar.Date, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(columnar.Date, a, n, func(w *columnar.Builder, i int) error {
			if d, ok := truncDate(int64(i32(a[0], i)), str(a[1], i)); ok {
				w.AppendInt(d)
			} else {
				w.AppendNull()
			}
			return nil
		})
	})
	e.null, e.nullFn = true, nil
	return e, nil
}

func bindDateTrunc(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	name := b.name()
	args, err := b.coerce(args, isString, isTimestamp)
	if err != nil {
		return nil, err
	}
	if e := b.unknownUnit(name, args, 0, columnar.Timestamp, func(u string) bool {
		switch strings.ToUpper(u) {
		case "MICROSECOND", "MILLISECOND", "SECOND":
			return true
		}
		_, ok := truncMicros(0, u)
		return ok
	}); e != nil {
		return e, nil
	}
	e := simple(name, args, columnar.Timestamp, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
		z := ctx.zone()
		if step := clockStep(a[0]); step > 0 && !a[1].con {
			return truncToStep(a[1].Column, step, z), nil
		}
		return rows(columnar.Timestamp, a, n, func(w *columnar.Builder, i int) error {
			v, unit := i64(a[1], i), str(a[0], i)
			var out int64
			ok := true
			switch strings.ToUpper(unit) {
			case "MICROSECOND":
				out = v
			case "MILLISECOND":
				out = v - javatext.FloorMod(v, 1000)
			case "SECOND":
				out = v - javatext.FloorMod(v, 1_000_000)
			case "MINUTE", "HOUR":
				local := z.ToLocal(v)
				var t int64
				t, ok = truncMicros(local, unit)
				out = v - (local - t)
			default:
				var t int64
				if t, ok = truncMicros(z.ToLocal(v), unit); ok {
					out = z.FromLocal(t)
				}
			}
			if !ok {
				w.AppendNull()
			} else {
				w.AppendInt(out)
			}
			return nil
		})
	})
	e.null, e.nullFn = true, nil
	return e, nil
}

// clockStep is the microseconds of a constant unit of at most an hour, 0 for others.
func clockStep(unit vec) int64 {
	if !unit.con {
		return 0
	}
	switch strings.ToUpper(unit.StringAt(0)) {
	case "SECOND":
		return microsPerSecond
	case "MINUTE":
		return 60 * microsPerSecond
	case "HOUR":
		return 3600 * microsPerSecond
	}
	return 0
}

// truncToStep cuts times to steps of the zone's clock.
func truncToStep(c *columnar.Column, step int64, z *javatext.Zone) *columnar.Column {
	v := columnar.Values[int64](c)
	d := make([]int64, len(v))
	offset, fixed := z.Fixed()
	for i, t := range v {
		local := t + offset
		if !fixed {
			local = z.ToLocal(t)
		}
		r := local % step
		if r < 0 {
			r += step
		}
		d[i] = t - r
	}
	return columnar.NewFixed(columnar.Timestamp, d, c.Valid)
}

// weekDay reads a day of the week: its name, or its first two or three letters; 0 for Thursday, as days
// since 1970 count.
func weekDay(s string) (int64, bool) {
	switch strings.ToUpper(s) {
	case "TH", "THU", "THURSDAY":
		return 0, true
	case "FR", "FRI", "FRIDAY":
		return 1, true
	case "SA", "SAT", "SATURDAY":
		return 2, true
	case "SU", "SUN", "SUNDAY":
		return 3, true
	case "MO", "MON", "MONDAY":
		return 4, true
	case "TU", "TUE", "TUESDAY":
		return 5, true
	case "WE", "WED", "WEDNESDAY":
		return 6, true
	}
	return 0, false
}

func bindNextDay(b *Binder, args []Expr) (Expr, error) {
	ansi := b.ANSI
	return typed{specs: []spec{isDate, isString}, out: columnar.Date, nullable: !ansi, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
		target, ok := weekDay(str(a[1], i))
		if !ok {
			if ansi {
				return sparkerr.New("ILLEGAL_DAY_OF_WEEK", "illegal input for day of week: %s", str(a[1], i))
			}
			w.AppendNull()
			return nil
		}
		d := int64(i32(a[0], i))
		w.AppendInt(d + 1 + javatext.FloorMod(target-1-d, 7))
		return nil
	}}.bind(b, args)
}

// monthsBetween is the months between two instants, by Oracle's rules.
func monthsBetween(z *javatext.Zone, x, y int64, round bool) float64 {
	lx, ly := z.ToLocal(x), z.ToLocal(y)
	dx, dy := dayOf(lx), dayOf(ly)
	y1, m1, d1 := javatext.CivilFromDays(dx)
	y2, m2, d2 := javatext.CivilFromDays(dy)
	months := float64((y1*12 + int64(m1)) - (y2*12 + int64(m2)))
	last1, last2 := javatext.DaysInMonth(y1, m1), javatext.DaysInMonth(y2, m2)
	if d1 == d2 || d1 == last1 && d2 == last2 {
		return months
	}
	secs := func(local, day int64) int64 { return (local - day*microsPerDay) / 1_000_000 }
	diff := (secs(lx, dx) + int64(d1)*86400) - (secs(ly, dy) + int64(d2)*86400)
	v := months + float64(diff)/(31*86400)
	if round {
		return math.Round(v*1e8) / 1e8
	}
	return v
}

// fieldOutOfBounds is the error for a part of a date that is not possible.
func fieldOutOfBounds(what string, v int64, range_ string) error {
	return sparkerr.New("DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION", "Invalid value for %s (valid values %s): %d. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error", what, range_, v)
}

func checkDate(y int64, m, d int) error {
	switch {
	case m < 1 || m > 12:
		return fieldOutOfBounds("MonthOfYear", int64(m), "1 - 12")
	case d < 1 || d > 31:
		return fieldOutOfBounds("DayOfMonth", int64(d), "1 - 28/31")
	case d > javatext.DaysInMonth(y, m):
		return sparkerr.New("DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION", "Invalid date: month %d of year %d has %d days, found %d. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error", m, y, javatext.DaysInMonth(y, m), d)
	}
	return nil
}

func bindMakeDate(b *Binder, args []Expr) (Expr, error) {
	ansi := b.ANSI
	return typed{specs: []spec{isInt, isInt, isInt}, out: columnar.Date, nullable: !ansi, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
		y, m, d := int64(i32(a[0], i)), int(i32(a[1], i)), int(i32(a[2], i))
		if err := checkDate(y, m, d); err != nil {
			if ansi {
				return err
			}
			w.AppendNull()
			return nil
		}
		w.AppendInt(javatext.DaysFromCivil(y, m, d))
		return nil
	}}.bind(b, args)
}

// makeStamp computes a wall clock of its parts; seconds come in microseconds.
func makeStamp(y int64, mo, d, h, mi int, secs int64) (int64, error) {
	if secs > 60_000_000 && secs < 61_000_000 {
		return 0, sparkerr.New("INVALID_FRACTION_OF_SECOND", "valid range for seconds is [0, 60] (inclusive), but the provided value is %d.%06d", secs/1_000_000, secs%1_000_000)
	}
	if err := checkDate(y, mo, d); err != nil {
		return 0, err
	}
	switch {
	case h < 0 || h > 23:
		return 0, fieldOutOfBounds("HourOfDay", int64(h), "0 - 23")
	case mi < 0 || mi > 59:
		return 0, fieldOutOfBounds("MinuteOfHour", int64(mi), "0 - 59")
	case secs == 60_000_000:
		return javatext.DaysFromCivil(y, mo, d)*microsPerDay + int64(h)*3_600_000_000 + int64(mi)*60_000_000 + secs, nil
	case secs < 0 || secs > 59_999_999:
		return 0, fieldOutOfBounds("SecondOfMinute", secs/1_000_000, "0 - 59")
	}
	return javatext.DaysFromCivil(y, mo, d)*microsPerDay + int64(h)*3_600_000_000 + int64(mi)*60_000_000 + secs, nil
}

// bindMakeTimestamp binds make_timestamp and its relatives, of six or seven parts.
func bindMakeTimestamp(typ *columnar.Type, zone, try bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if len(args) != 6 && !(zone && len(args) == 7) {
			want := "6"
			if zone {
				want = "[6, 7]"
			}
			return nil, b.wrongArgs(want, len(args))
		}
		name, strict := b.name(), b.ANSI && !try
		sql := b.sql(args)
		in, err := b.coerceAs(sql, args, isInt, isInt, isInt, isInt, isInt, spec{name: "DECIMAL(16,6)", typ: columnar.Decimal(16, 6), def: columnar.Decimal(16, 6), accepts: func(t *columnar.Type) bool {
			return t.Equal(columnar.Decimal(16, 6))
		}}, isString)
		if err != nil {
			return nil, err
		}
		e := simple(name, in, typ, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
			return rows(typ, a, n, func(w *columnar.Builder, i int) error {
				secs := columnar.Values[columnar.Dec128](a[5].Column)[a[5].row(i)].Int64()
				v, err := makeStamp(int64(i32(a[0], i)), int(i32(a[1], i)), int(i32(a[2], i)), int(i32(a[3], i)), int(i32(a[4], i)), secs)
				if err == nil && typ.Kind == columnar.KindTimestamp {
					z := ctx.zone()
					if len(a) == 7 {
						z, err = lookupZone(str(a[6], i))
					}
					if err == nil {
						v = z.FromLocal(v)
					}
				}
				if err != nil {
					if strict {
						return err
					}
					w.AppendNull()
					return nil
				}
				w.AppendInt(v)
				return nil
			})
		})
		if !strict {
			e.null, e.nullFn = true, nil
		} else {
			e.nullFn = func(a []Expr) bool {
				return slices.ContainsFunc(a, func(x Expr) bool {
					if c, ok := x.(*Cast); ok && c.Implicit {
						if l, ok := c.Child.(*Literal); ok { // a constant that does not fit is an error
							return l.Value == nil
						}
					}
					return x.Nullable()
				})
			}
		}
		e.text = func([]Expr) string { return sql }
		return e, nil
	}
}

// stampOf binds timestamp_seconds, timestamp_millis and timestamp_micros.
func stampOf(micros int64) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		name := b.name()
		s := isIntegral
		if micros == 1_000_000 {
			s = isNumeric
		}
		args, err := b.expect(args, s)
		if err != nil {
			return nil, err
		}
		k := args[0].Type().Kind
		if micros == 1_000_000 && !args[0].Type().IsIntegral() {
			in := args[0]
			if k == columnar.KindFloat32 {
				in = b.implicit(in, columnar.Float64)
			}
			e := simple(name, []Expr{NewCast(in, columnar.Timestamp, CastTry, true)}, columnar.Timestamp, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
				return a[0].full(n), nil
			})
			e.null, e.nullFn = true, nil
			return e, nil
		}
		return simple(name, []Expr{b.implicit(args[0], columnar.Int64)}, columnar.Timestamp, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return rows(columnar.Timestamp, a, n, func(w *columnar.Builder, i int) error {
				v := i64(a[0], i)
				if micros > 1 && (v > math.MaxInt64/micros || v < math.MinInt64/micros) {
					return sparkerr.New("ARITHMETIC_OVERFLOW", "long overflow")
				}
				w.AppendInt(v * micros)
				return nil
			})
		}), nil
	}
}

// unixOf binds unix_seconds, unix_millis and unix_micros.
func unixOf(micros int64) func(b *Binder, args []Expr) (Expr, error) {
	return typed{specs: []spec{isTimestamp}, out: columnar.Int64, check: nil, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
		w.AppendInt(javatext.FloorDiv(i64(a[0], i), micros))
		return nil
	}}.strict
}

// strict is bind without implicit casts but for NULL.
func (t typed) strict(b *Binder, args []Expr) (Expr, error) {
	for i, a := range args {
		k := a.Type().Kind
		if i < len(t.specs) && !t.specs[i].accepts(a.Type()) && k != columnar.KindNull {
			return nil, unexpectedInput(b.sql(args), i, t.specs[i].text(), a)
		}
	}
	return t.bind(b, args)
}

// bindDateMove binds date_add and date_sub, and dateadd with a unit.
func bindDateMove(back bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if b.Call.Unit != "" {
			return b.timestampAdd(args)
		}
		if err := b.argCount(args, 2, 2); err != nil {
			return nil, err
		}
		name := "date_add"
		if back {
			name = "date_sub"
		}
		return b.dateAdd(args[0], args[1], name, back)
	}
}

// unitMicros is a unit of fixed length, or 0.
func unitMicros(unit string) int64 {
	switch unit {
	case "MICROSECOND":
		return 1
	case "MILLISECOND":
		return 1000
	case "SECOND":
		return 1_000_000
	case "MINUTE":
		return 60_000_000
	case "HOUR":
		return 3_600_000_000
	}
	return 0
}

// timestampAdd is timestampadd(unit, n, time).
func (b *Binder) timestampAdd(args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	unit := b.Call.Unit
	text := func(a []Expr) string { return "timestampadd(" + unit + ", " + a[0].SQL() + ", " + a[1].SQL() + ")" }
	sql := text(args)
	in, err := b.coerceAs(sql, args, isBigint, isAnyStamp)
	if err != nil {
		return nil, err
	}
	typ := in[1].Type()
	e := simple("timestampadd", in, typ, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
		m := mover{zone: ctx.zone(), ntz: typ.Kind == columnar.KindTimestampNTZ}
		return rows(typ, a, n, func(w *columnar.Builder, i int) error {
			q, t := i64(a[0], i), i64(a[1], i)
			bad := func() error {
				return sparkerr.New("DATETIME_OVERFLOW", "datetime operation overflow: add %d %s to %d microseconds since 1970", q, unit, t)
			}
			var iv columnar.CalendarInterval
			scale := int64(1)
			switch unit {
			case "DAY", "DAYOFYEAR":
			case "WEEK":
				scale = 7
			case "MONTH":
			case "QUARTER":
				scale = 3
			case "YEAR":
				scale = 12
			default:
				scale = unitMicros(unit)
			}
			if scale == 0 {
				return sparkerr.New("INVALID_PARAMETER_VALUE.DATETIME_UNIT", "expects one of the units without quotes YEAR, QUARTER, MONTH, WEEK, DAY, DAYOFYEAR, HOUR, MINUTE, SECOND, MILLISECOND, MICROSECOND, but got %q", unit)
			}
			if q > math.MaxInt64/scale || q < math.MinInt64/scale {
				return bad()
			}
			v := q * scale
			switch unit {
			case "DAY", "DAYOFYEAR", "WEEK":
				if v > math.MaxInt32 || v < math.MinInt32 {
					return bad()
				}
				iv.Days = int32(v)
			case "MONTH", "QUARTER", "YEAR":
				if v > math.MaxInt32 || v < math.MinInt32 {
					return bad()
				}
				iv.Months = int32(v)
			default:
				iv.Micros = v
			}
			out, ok := m.add(t, iv)
			if !ok {
				return bad()
			}
			w.AppendInt(out)
			return nil
		})
	})
	e.text = text
	return e, nil
}

// timestampDiff is timestampdiff(unit, from, to): whole units between two wall clocks.
func (b *Binder) timestampDiff(args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	unit := b.Call.Unit
	text := func(a []Expr) string { return "timestampdiff(" + unit + ", " + a[0].SQL() + ", " + a[1].SQL() + ")" }
	in, err := b.coerceAs(text(args), args, isTimestamp)
	if err != nil {
		return nil, err
	}
	e := simple("timestampdiff", in, columnar.Int64, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
		z := ctx.zone()
		return rows(columnar.Int64, a, n, func(w *columnar.Builder, i int) error {
			from, to := z.ToLocal(i64(a[0], i)), z.ToLocal(i64(a[1], i))
			if u := unitMicros(unit); u > 0 {
				w.AppendInt((to - from) / u)
				return nil
			}
			var v int64
			switch unit {
			case "DAY", "DAYOFYEAR":
				v = (to - from) / microsPerDay
			case "WEEK":
				v = (to - from) / (7 * microsPerDay)
			case "MONTH", "QUARTER", "YEAR":
				v = wholeMonths(from, to)
				v /= map[string]int64{"MONTH": 1, "QUARTER": 3, "YEAR": 12}[unit]
			default:
				return sparkerr.New("INVALID_PARAMETER_VALUE.DATETIME_UNIT", "there is no unit %q", unit)
			}
			w.AppendInt(v)
			return nil
		})
	})
	e.text = text
	return e, nil
}

// wholeMonths are the months that fit between two wall clocks.
func wholeMonths(from, to int64) int64 {
	if to < from {
		return -monthsUpTo(to, from)
	}
	return monthsUpTo(from, to)
}

func monthsUpTo(lo, hi int64) int64 {
	y1, m1, d1 := javatext.CivilFromDays(dayOf(lo))
	last := dayOf(hi)
	if last > dayOf(lo) && javatext.FloorMod(hi, microsPerDay) < javatext.FloorMod(lo, microsPerDay) {
		last-- // a day that is not full does not count
	}
	y2, m2, d2 := javatext.CivilFromDays(last)
	n := (y2*12 + int64(m2)) - (y1*12 + int64(m1))
	if d2 < d1 {
		n--
	}
	return n
}

func bindDateDiff(b *Binder, args []Expr) (Expr, error) {
	if b.Call.Unit != "" {
		return b.timestampDiff(args)
	}
	return typed{specs: []spec{isDate, isDate}, out: columnar.Int32, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
		w.AppendInt(int64(i32(a[0], i)) - int64(i32(a[1], i)))
		return nil
	}}.bind(b, args)
}

// zoneShift binds from_utc_timestamp and to_utc_timestamp.
func zoneShift(from bool) func(b *Binder, args []Expr) (Expr, error) {
	return typed{specs: []spec{isTimestamp, isString}, out: columnar.Timestamp, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
		z, err := lookupZone(str(a[1], i))
		if err != nil {
			return err
		}
		v := i64(a[0], i)
		if from {
			w.AppendInt(z.ToLocal(v))
		} else {
			w.AppendInt(z.FromLocal(v))
		}
		return nil
	}}.bind
}

func bindConvertTimezone(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	full := args
	if len(args) == 2 {
		full = []Expr{Named(NewString(javaZone(b.zone()).ID()), "current_timezone()"), args[0], args[1]}
	}
	return typed{specs: []spec{isString, isString, isNTZ}, out: columnar.TimestampNTZ, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
		from, err := lookupZone(str(a[0], i))
		if err != nil {
			return err
		}
		to, err := lookupZone(str(a[1], i))
		if err != nil {
			return err
		}
		w.AppendInt(to.ToLocal(from.FromLocal(i64(a[2], i))))
		return nil
	}}.bind(b, full)
}
