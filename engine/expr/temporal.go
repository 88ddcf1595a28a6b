package expr

import (
	"math"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// temporal binds the operators whose operands are dates, timestamps or intervals; it gives nil for
// those that plain arithmetic handles.
func (b *Binder) temporal(op string, l, r Expr, mode arithMode) (Expr, error) {
	x, y := l.Type(), r.Type()
	isIntv := func(t *columnar.Type) bool {
		return t.Kind == columnar.KindYearMonth || t.Kind == columnar.KindDayTime || t.Kind == columnar.KindCalendar
	}
	isTemporal := func(t *columnar.Type) bool { return isDatetime(t) || isIntv(t) || t.Kind == columnar.KindTime }
	if !isTemporal(x) && !isTemporal(y) {
		return nil, nil
	}
	dayOnly := func(t *columnar.Type) bool {
		return t.Kind == columnar.KindDayTime && t.Start == columnar.FieldDay && t.End == columnar.FieldDay
	}
	stamp := func(t *columnar.Type) bool {
		return t.Kind == columnar.KindTimestamp || t.Kind == columnar.KindTimestampNTZ
	}
	switch op {
	case "+":
		switch {
		case x.Kind == columnar.KindDate && dayOnly(y):
			return b.dateAdd(l, extractDays(r), "date_add", false)
		case dayOnly(x) && y.Kind == columnar.KindDate:
			return b.dateAdd(r, extractDays(l), "date_add", false)
		case isDatetime(x) && y.Kind == columnar.KindYearMonth, stamp(x) && y.Kind == columnar.KindDayTime, x.Kind == columnar.KindDate && isIntv(y),
			x.Kind == columnar.KindTime && y.Kind == columnar.KindDayTime:
			return b.moveBy(l, r, false, mode)
		case x.Kind == columnar.KindYearMonth && isDatetime(y), x.Kind == columnar.KindDayTime && (stamp(y) || y.Kind == columnar.KindTime), isIntv(x) && y.Kind == columnar.KindDate:
			return b.moveBy(r, l, false, mode)
		case x.Kind == y.Kind && isIntv(x):
			return nil, nil
		case x.Kind == columnar.KindNull && (y.Kind == columnar.KindYearMonth || y.Kind == columnar.KindDayTime), y.Kind == columnar.KindNull && (x.Kind == columnar.KindYearMonth || x.Kind == columnar.KindDayTime):
			return nil, nil
		case isDatetime(x) && y.Kind == columnar.KindNull, stamp(x) && y.Kind == columnar.KindCalendar:
			return b.moveBy(l, r, false, mode)
		case x.Kind == columnar.KindNull && isDatetime(y):
			return b.moveBy(r, l, false, mode)
		case y.Kind == columnar.KindCalendar || y.Kind == columnar.KindDayTime:
			return b.moveBy(l, r, false, mode)
		case x.Kind == columnar.KindCalendar || x.Kind == columnar.KindDayTime:
			return b.moveBy(r, l, false, mode)
		case x.Kind == columnar.KindDate && y.Kind != columnar.KindString:
			return b.dateAdd(l, r, "date_add", false)
		case y.Kind == columnar.KindDate && x.Kind != columnar.KindString:
			return b.dateAdd(r, l, "date_add", false)
		case x.Kind == columnar.KindDate: // and a string, which is no number of days
			return nil, unexpectedInput(sqlCall("date_add", []Expr{l, r}), 1, `("INT" or "SMALLINT" or "TINYINT")`, r)
		}
	case "-":
		switch {
		case x.Kind == columnar.KindDate && dayOnly(y):
			d := extractDays(r)
			return b.dateAdd(l, &negation{x: d, ansi: b.ANSI, text: "(- " + d.SQL() + ")"}, "date_add", false)
		case isDatetime(x) && y.Kind == columnar.KindYearMonth, stamp(x) && y.Kind == columnar.KindDayTime, x.Kind == columnar.KindDate && isIntv(y),
			x.Kind == columnar.KindTime && y.Kind == columnar.KindDayTime:
			return b.moveBy(l, r, true, mode)
		case x.Kind == columnar.KindTime && y.Kind == columnar.KindTime:
			return &timeDiff{l, r}, nil
		case x.Kind == y.Kind && isIntv(x):
			return nil, nil
		case x.Kind == columnar.KindNull && (y.Kind == columnar.KindYearMonth || y.Kind == columnar.KindDayTime), y.Kind == columnar.KindNull && (x.Kind == columnar.KindYearMonth || x.Kind == columnar.KindDayTime):
			return nil, nil
		case y.Kind == columnar.KindCalendar || y.Kind == columnar.KindDayTime:
			return b.moveBy(l, r, true, mode)
		case stamp(x) || stamp(y):
			return b.stampDiff(l, r)
		case y.Kind == columnar.KindDate, x.Kind == columnar.KindDate && (y.Kind == columnar.KindNull || y.Kind == columnar.KindString && b.ANSI):
			return b.dateDiff(l, r)
		case x.Kind == columnar.KindDate:
			return b.dateAdd(l, r, "date_sub", true)
		}
	case "*":
		switch {
		case isIntv(x):
			return b.scaleInterval("*", l, r, mode)
		case isIntv(y):
			return b.scaleInterval("*", r, l, mode)
		}
	case "/":
		if isIntv(x) {
			return b.scaleInterval("/", l, r, mode)
		}
	}
	return nil, nil
}

// extractDays is the number of days of an INTERVAL DAY.
func extractDays(e Expr) Expr {
	return &call{
		name: "extractansiintervaldays", args: []Expr{e}, typ: columnar.Int32, null: e.Nullable(), safe: true,
		kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			s := columnar.Values[int64](a[0].full(n))
			d := make([]int32, n)
			for i, v := range s {
				d[i] = int32(v / microsPerDay)
			}
			return columnar.NewFixed(columnar.Int32, d, validOf(a[0])), nil
		},
	}
}

// dateAdd is a date moved by days, forward or back.
func (b *Binder) dateAdd(d, days Expr, name string, back bool) (Expr, error) {
	sql := sqlCall(name, []Expr{d, days})
	if t := d.Type(); isDatetime(t) && t.Kind != columnar.KindDate || t.Kind == columnar.KindString {
		d = b.implicit(d, columnar.Date)
	}
	if b.ANSI && days.Type().Kind == columnar.KindString && isConst(days) {
		days = b.implicit(days, columnar.Int32)
	}
	args, err := b.expectAs(sql, []Expr{d, days}, isDate, oneOf(isInt, isType(columnar.Int16), isType(columnar.Int8)))
	if err != nil {
		return nil, err
	}
	args[1] = b.implicit(args[1], columnar.Int32)
	return &call{
		name: name, args: args, typ: columnar.Date, null: args[0].Nullable() || args[1].Nullable(), safe: true,
		kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			x, y := columnar.Values[int32](a[0].full(n)), columnar.Values[int32](a[1].full(n))
			out := make([]int32, n)
			if back {
				for i := range out {
					out[i] = x[i] - y[i]
				}
			} else {
				for i := range out {
					out[i] = x[i] + y[i]
				}
			}
			return columnar.NewFixed(columnar.Date, out, validOf(a...)), nil
		},
	}, nil
}

// dateDiff is the days between two dates, as INTERVAL DAY.
func (b *Binder) dateDiff(l, r Expr) (Expr, error) {
	sql := "(" + l.SQL() + " - " + r.SQL() + ")"
	args, err := b.coerceAs(sql, []Expr{l, r}, isDate)
	if err != nil {
		return nil, err
	}
	typ := columnar.DayTime(columnar.FieldDay, columnar.FieldDay)
	return &call{
		args: args, typ: typ, null: args[0].Nullable() || args[1].Nullable(), safe: true, text: infixText(" - "),
		kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			x, y := columnar.Values[int32](a[0].full(n)), columnar.Values[int32](a[1].full(n))
			out := make([]int64, n)
			for i := range out {
				out[i] = (int64(x[i]) - int64(y[i])) * microsPerDay
			}
			return columnar.NewFixed(typ, out, validOf(a...)), nil
		},
	}, nil
}

// infixText prints two operands with a sign between them, in parentheses.
func infixText(sign string) func([]Expr) string {
	return func(a []Expr) string { return "(" + a[0].SQL() + sign + a[1].SQL() + ")" }
}

// stampDiff is the time between two timestamps: the difference of the wall clocks.
func (b *Binder) stampDiff(l, r Expr) (Expr, error) {
	sql := "(" + l.SQL() + " - " + r.SQL() + ")"
	other := func(e, o Expr) Expr {
		k := e.Type().Kind
		if k == columnar.KindDate || k == columnar.KindString && b.ANSI || k == columnar.KindNull || o.Type().Kind != k && isDatetime(e.Type()) {
			if t := widerDatetime(o.Type(), e.Type()); isDatetime(o.Type()) && t.Kind != columnar.KindDate {
				return b.implicit(e, t)
			}
		}
		return e
	}
	nl, nr := other(l, r), other(r, l)
	for i, e := range []Expr{nl, nr} {
		if !isAnyStamp.accepts(e.Type()) {
			return nil, unexpectedInput(sql, i, `"(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)"`, e)
		}
	}
	typ := columnar.DayTime(columnar.FieldDay, columnar.FieldSecond)
	return &call{
		args: []Expr{nl, nr}, typ: typ, null: nl.Nullable() || nr.Nullable(), text: infixText(" - "),
		kernel: func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
			x, y := columnar.Values[int64](a[0].full(n)), columnar.Values[int64](a[1].full(n))
			out := make([]int64, n)
			z := ctx.zone()
			local := a[0].Type.Kind == columnar.KindTimestamp && z != javatext.UTC()
			for i := range out {
				p, q := x[i], y[i]
				if local {
					p, q = z.ToLocal(p), z.ToLocal(q)
				}
				out[i] = p - q
			}
			return columnar.NewFixed(typ, out, validOf(a...)), nil
		},
	}, nil
}

// timeDiff is the time between two times of day.
type timeDiff struct{ l, r Expr }

func (e *timeDiff) Type() *columnar.Type {
	return columnar.DayTime(columnar.FieldHour, columnar.FieldSecond)
}
func (e *timeDiff) Nullable() bool             { return e.l.Nullable() || e.r.Nullable() }
func (e *timeDiff) Children() []Expr           { return []Expr{e.l, e.r} }
func (e *timeDiff) WithChildren(c []Expr) Expr { return &timeDiff{c[0], c[1]} }
func (e *timeDiff) SQL() string                { return "(" + e.l.SQL() + " - " + e.r.SQL() + ")" }
func (e *timeDiff) harmless() bool             { return true }
func (e *timeDiff) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 {
		return columnar.NewEmpty(e.Type()), nil
	}
	l, r, err := eval2(ctx, e.l, e.r, in)
	if err != nil {
		return nil, err
	}
	if anyNull(l, r) {
		return columnar.NewNull(e.Type(), n), nil
	}
	x, y := columnar.Values[int64](l.full(n)), columnar.Values[int64](r.full(n))
	out := make([]int64, n)
	for i := range out {
		out[i] = (x[i] - y[i]) / 1000
	}
	return columnar.NewFixed(e.Type(), out, validOf(l, r)), nil
}

// movedTime is a date or timestamp moved by an interval, on the calendar of the session zone.
type movedTime struct {
	t, by Expr
	back  bool
	mode  arithMode
	typ   *columnar.Type
}

// moveBy binds t + by or t - by.
func (b *Binder) moveBy(t, by Expr, back bool, mode arithMode) (Expr, error) {
	sign := " + "
	if back {
		sign = " - "
	}
	sql := t.SQL() + sign + by.SQL()
	x, y := t.Type(), by.Type()
	text := x.Kind == columnar.KindString
	switch {
	case x.Kind == columnar.KindDate && y.Kind == columnar.KindYearMonth:
	case x.Kind == columnar.KindDate && y.Kind == columnar.KindCalendar:
	case x.Kind == columnar.KindTime && y.Kind == columnar.KindDayTime:
	case y.Kind == columnar.KindNull && back:
		return nil, nil
	case x.Kind == columnar.KindDate, text, x.Kind == columnar.KindNull:
		t = b.implicit(t, columnar.Timestamp)
	}
	if !isDatetime(t.Type()) && t.Type().Kind != columnar.KindTime {
		return nil, unexpectedInput(sql, 0, isAnyStamp.text(), t)
	}
	if y.Kind == columnar.KindNull {
		by = b.implicit(by, columnar.DayTime(columnar.FieldDay, columnar.FieldSecond))
	}
	var e Expr = &movedTime{t, by, back, mode, t.Type()}
	if text {
		return &named{b.implicit(e, columnar.String), sql}, nil
	}
	if mode == modeTry {
		return e, nil
	}
	return e, nil
}

func (e *movedTime) Type() *columnar.Type { return e.typ }
func (e *movedTime) Nullable() bool {
	return e.t.Nullable() || e.by.Nullable() || e.mode == modeTry
}
func (e *movedTime) Children() []Expr { return []Expr{e.t, e.by} }
func (e *movedTime) WithChildren(c []Expr) Expr {
	return &movedTime{c[0], c[1], e.back, e.mode, e.typ}
}

func (e *movedTime) SQL() string {
	if e.back {
		return e.t.SQL() + " - " + e.by.SQL()
	}
	return e.t.SQL() + " + " + e.by.SQL()
}

func (e *movedTime) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 {
		return columnar.NewEmpty(e.typ), nil
	}
	t, by, err := eval2(ctx, e.t, e.by, in)
	if err != nil {
		return nil, err
	}
	if anyNull(t, by) {
		return columnar.NewNull(e.typ, n), nil
	}
	out := &columnar.Column{Type: e.typ, Len: n, Valid: validOf(t, by), Data: columnar.AlignedBytes(n * e.typ.Width())}
	m := mover{zone: ctx.zone(), ntz: t.Type.Kind == columnar.KindTimestampNTZ}
	src := t.full(n)
	// An interval below a day in a zone without offset changes is a plain addition.
	if by.Type.Kind == columnar.KindDayTime && t.Type.Kind != columnar.KindTime && (m.ntz || m.zone == javatext.UTC()) {
		x, y := columnar.Values[int64](src), columnar.Values[int64](by.Column)
		d := columnar.Values[int64](out)
		bad := false
		switch {
		case by.con && !e.back:
			bad = addConst(d, x, y[0])
		case by.con:
			bad = subConst(d, x, y[0])
		case e.back:
			bad = subSlices(d, x, y)
		default:
			bad = addSlices(d, x, y)
		}
		if !bad {
			return out, nil
		}
	}
	ownValid(out)
	for i := 0; i < n; i++ {
		if out.IsNull(i) {
			continue
		}
		j := by.row(i)
		var iv columnar.CalendarInterval
		switch by.Type.Kind {
		case columnar.KindYearMonth:
			iv.Months = columnar.Values[int32](by.Column)[j]
		case columnar.KindDayTime:
			v := columnar.Values[int64](by.Column)[j]
			iv.Days, iv.Micros = int32(v/microsPerDay), v%microsPerDay
			if t.Type.Kind == columnar.KindTime {
				iv.Days, iv.Micros = 0, v
			}
		default:
			iv = columnar.Values[columnar.CalendarInterval](by.Column)[j]
		}
		if e.back {
			iv = columnar.CalendarInterval{Months: -iv.Months, Days: -iv.Days, Micros: -iv.Micros}
		}
		ok := true
		switch t.Type.Kind {
		case columnar.KindTime:
			v := columnar.Values[int64](src)[i] + iv.Micros*1000
			if v < 0 || v >= microsPerDay*1000 {
				err, ok = sparkerr.New("DATETIME_OVERFLOW", "datetime operation overflow"), false
			}
			columnar.Values[int64](out)[i] = v
		case columnar.KindDate:
			if iv.Micros != 0 && by.Type.Kind == columnar.KindCalendar {
				if e.mode == modeANSI {
					return nil, sparkerr.New("INVALID_INTERVAL_WITH_MICROSECONDS_ADDITION", "cannot add an interval to a date because its microseconds part is not 0")
				}
				v, good := m.add(columnarDateToMicros(columnar.Values[int32](src)[i], m.zone), iv)
				ok = good
				columnar.Values[int32](out)[i] = int32(javatext.FloorDiv(m.zone.ToLocal(v), microsPerDay))
				break
			}
			var v int64
			v, ok = addMonths(int64(columnar.Values[int32](src)[i]), iv.Months)
			v += int64(iv.Days)
			ok = ok && fitsInt(v, 4)
			columnar.Values[int32](out)[i] = int32(v)
		default:
			columnar.Values[int64](out)[i], ok = m.add(columnar.Values[int64](src)[i], iv)
		}
		if !ok {
			if err == nil {
				err = sparkerr.New("DATETIME_OVERFLOW", "datetime operation overflow")
			}
			if e.mode != modeTry {
				return nil, err
			}
			err = nil
			clearValid(out, i)
		}
	}
	return out, nil
}

func columnarDateToMicros(days int32, z *javatext.Zone) int64 {
	return z.FromLocal(int64(days) * microsPerDay)
}

// mover adds intervals to timestamps on the calendar of a zone.
type mover struct {
	zone *javatext.Zone
	ntz  bool // the timestamps are wall clocks
}

// add moves t by months, then days, then microseconds; ok is false on overflow.
func (m *mover) add(t int64, iv columnar.CalendarInterval) (int64, bool) {
	if iv.Months != 0 || iv.Days != 0 {
		local := t
		if !m.ntz {
			local = m.zone.ToLocal(t)
		}
		days, rest := javatext.FloorDiv(local, microsPerDay), javatext.FloorMod(local, microsPerDay)
		days, ok := addMonths(days, iv.Months)
		if !ok {
			return 0, false
		}
		days += int64(iv.Days)
		if days > math.MaxInt64/microsPerDay-1 || days < math.MinInt64/microsPerDay+1 {
			return 0, false
		}
		local = days*microsPerDay + rest
		t = local
		if !m.ntz {
			t = m.zone.FromLocal(local)
		}
	}
	return t + iv.Micros, !overflows("+", t, iv.Micros)
}

// AddInterval moves a timestamp by an interval on the calendar of the context's time zone; ok is
// false when it leaves the range of timestamps.
func AddInterval(ctx *Context, micros int64, iv columnar.CalendarInterval) (int64, bool) {
	m := mover{zone: ctx.zone()}
	return m.add(micros, iv)
}

// addMonths moves a date by months; a day that the month lacks becomes its last one.
func addMonths(days int64, months int32) (int64, bool) {
	if months == 0 {
		return days, true
	}
	y, mo, d := javatext.CivilFromDays(days)
	total := y*12 + int64(mo-1) + int64(months)
	y, mo = javatext.FloorDiv(total, 12), int(javatext.FloorMod(total, 12))+1
	if y > 300_000_000 || y < -300_000_000 {
		return 0, false
	}
	return javatext.DaysFromCivil(y, mo, min(d, javatext.DaysInMonth(y, mo))), true
}

// scaledInterval is an interval multiplied or divided by a number.
type scaledInterval struct {
	op    string
	i, by Expr
	mode  arithMode
	typ   *columnar.Type
}

// scaleInterval binds i * by or i / by.
func (b *Binder) scaleInterval(op string, i, by Expr, mode arithMode) (Expr, error) {
	e := &scaledInterval{op: op, i: i, by: by, mode: mode}
	num := isNumeric
	switch i.Type().Kind {
	case columnar.KindYearMonth:
		e.typ = columnar.YearMonth(columnar.FieldYear, columnar.FieldMonth)
	case columnar.KindDayTime:
		e.typ = columnar.DayTime(columnar.FieldDay, columnar.FieldSecond)
	default:
		e.typ, num = columnar.Calendar, isDouble
	}
	t := b.implicitType(by.Type(), num)
	if t == nil {
		return nil, unexpectedInput(e.SQL(), 1, num.text(), by)
	}
	e.by = b.implicit(by, t)
	return e, nil
}

func (e *scaledInterval) Type() *columnar.Type { return e.typ }
func (e *scaledInterval) Nullable() bool {
	return e.i.Nullable() || e.by.Nullable() || e.mode == modeTry || e.typ.Kind == columnar.KindCalendar && e.op == "/"
}
func (e *scaledInterval) Children() []Expr { return []Expr{e.i, e.by} }
func (e *scaledInterval) WithChildren(c []Expr) Expr {
	return &scaledInterval{e.op, c[0], c[1], e.mode, e.typ}
}

func (e *scaledInterval) SQL() string {
	if e.typ.Kind == columnar.KindCalendar {
		name := "multiply_interval"
		if e.op == "/" {
			name = "divide_interval"
		}
		return sqlCall(name, []Expr{e.i, e.by})
	}
	return "(" + e.i.SQL() + " " + e.op + " " + e.by.SQL() + ")"
}

func (e *scaledInterval) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 {
		return columnar.NewEmpty(e.typ), nil
	}
	iv, by, err := eval2(ctx, e.i, e.by, in)
	if err != nil {
		return nil, err
	}
	if anyNull(iv, by) {
		return columnar.NewNull(e.typ, n), nil
	}
	out := &columnar.Column{Type: e.typ, Len: n, Valid: validOf(iv, by), Data: columnar.AlignedBytes(n * e.typ.Width())}
	ownValid(out)
	for i := 0; i < n; i++ {
		if out.IsNull(i) {
			continue
		}
		j, k := iv.row(i), by.row(i)
		var err error
		switch e.typ.Kind {
		case columnar.KindCalendar:
			columnar.Values[columnar.CalendarInterval](out)[i], err = e.calendar(columnar.Values[columnar.CalendarInterval](iv.Column)[j], columnar.Values[float64](by.Column)[k])
		case columnar.KindYearMonth:
			var v int64
			v, err = e.scale(int64(columnar.Values[int32](iv.Column)[j]), by, k)
			if err == nil && !fitsInt(v, 4) {
				if err = sparkerr.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "integer overflow while operating with intervals"); e.op == "/" && by.Type.IsIntegral() {
					err = quotientOverflow()
				}
			}
			columnar.Values[int32](out)[i] = int32(v)
		default:
			columnar.Values[int64](out)[i], err = e.scale(columnar.Values[int64](iv.Column)[j], by, k)
		}
		if err != nil {
			if e.mode != modeTry {
				return nil, err
			}
			clearValid(out, i)
		}
	}
	return out, nil
}

func intervalByZero() error {
	return sparkerr.New("INTERVAL_DIVIDED_BY_ZERO", "division by zero; use `try_divide` to get NULL instead")
}

// quotientOverflow is the error of the least interval divided by -1.
func quotientOverflow() error {
	return sparkerr.New("INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION", "interval overflow; use `try_divide` to get NULL instead")
}

// scale multiplies or divides units by the number at row k, rounding half away from zero.
func (e *scaledInterval) scale(v int64, by vec, k int) (int64, error) {
	long := sparkerr.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "long overflow while operating with intervals")
	switch {
	case by.Type.IsIntegral():
		m := intAt(by.Column, k)
		if e.op == "*" {
			r, bad := mulChecked(v, m)
			if bad {
				return 0, long
			}
			return r, nil
		}
		if m == 0 {
			return 0, intervalByZero()
		}
		if v == math.MinInt64 && m == -1 {
			return 0, quotientOverflow()
		}
		q, r := v/m, v%m
		if r != 0 && uint64(abs64(r)) >= uint64(abs64(m))-uint64(abs64(r)) {
			if (v < 0) != (m < 0) {
				q--
			} else {
				q++
			}
		}
		return q, nil
	case by.Type.Kind == columnar.KindDecimal:
		d := columnar.Values[columnar.Dec128](by.Column)[k]
		o := decimalOp{op: e.op, s2: by.Type.Scale, typ: columnar.Decimal(38, 0)}
		if e.op == "/" && d.Sign() == 0 {
			return 0, intervalByZero()
		}
		r, ok := o.compute(columnar.Dec128FromInt64(v), d)
		if !ok || !r.IsInt64() {
			return 0, long
		}
		return r.Int64(), nil
	}
	f := floatAt(by.Column, k)
	r := float64(v) * f
	if e.op == "/" {
		if f == 0 {
			return 0, intervalByZero()
		}
		r = float64(v) / f
	}
	r = math.Trunc(r + math.Copysign(0.5, r))
	if !(r >= math.MinInt64 && r < math.MaxInt64) {
		return 0, long
	}
	return int64(r), nil
}

// calendar scales months, days and time apart; fractions of months and days go to the time.
func (e *scaledInterval) calendar(v columnar.CalendarInterval, f float64) (columnar.CalendarInterval, error) {
	if e.op == "/" {
		if f == 0 {
			return v, intervalByZero()
		}
		return scaleCalendar(float64(v.Months)/f, float64(v.Days)/f, float64(v.Micros)/f)
	}
	return scaleCalendar(float64(v.Months)*f, float64(v.Days)*f, float64(v.Micros)*f)
}

func scaleCalendar(months, days, micros float64) (columnar.CalendarInterval, error) {
	whole := math.Trunc(days)
	rest := micros + microsPerDay*(days-whole)
	if math.Abs(months) > math.MaxInt32 || math.Abs(whole) > math.MaxInt32 || math.Abs(rest) >= math.MaxInt64 {
		return columnar.CalendarInterval{}, overflow("")
	}
	return columnar.CalendarInterval{Months: int32(months), Days: int32(whole), Micros: int64(math.Floor(rest + 0.5))}, nil
}
