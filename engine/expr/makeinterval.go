package expr

import (
	"math"
	"math/big"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// isSeconds takes the seconds of make_interval: DECIMAL(18, 6).
func isSeconds() spec { return isType(columnar.Decimal(18, 6)) }

// noSeconds is the default for them.
func noSeconds() Expr {
	return &Literal{Typ: columnar.Decimal(18, 6), Value: columnar.Dec128{}, Text: "0.000000"}
}

// withDefaults appends zeros for the INT parameters that are missing, and seconds last.
func withDefaults(args []Expr, ints int) []Expr {
	full := args[:len(args):len(args)]
	for len(full) < ints {
		full = append(full, NewInt(0))
	}
	if len(full) == ints {
		full = append(full, noSeconds())
	}
	return full
}

// bindMakeInterval binds make_interval(years, months, weeks, days, hours, minutes, seconds).
func bindMakeInterval(try bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 0, 7); err != nil {
			return nil, err
		}
		name, strict := b.name(), b.ANSI && !try
		full := withDefaults(args, 6)
		sql := sqlCall(name, full)
		in, err := b.coerceAs(sql, full, isInt, isInt, isInt, isInt, isInt, isInt, isSeconds())
		if err != nil {
			return nil, err
		}
		e := simple(name, in, columnar.Calendar, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return rows(columnar.Calendar, a, n, func(w *columnar.Builder, i int) error {
				months := int64(i32(a[0], i))*12 + int64(i32(a[1], i))
				days := int64(i32(a[2], i))*7 + int64(i32(a[3], i))
				secs := columnar.Values[columnar.Dec128](a[6].Column)[a[6].row(i)].Big()
				micros := new(big.Int).Add(secs, big.NewInt(int64(i32(a[4], i))*3_600_000_000+int64(i32(a[5], i))*60_000_000))
				if months != int64(int32(months)) || days != int64(int32(days)) || !micros.IsInt64() {
					if strict {
						return sparkerr.New("ARITHMETIC_OVERFLOW", "integer overflow. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error")
					}
					w.AppendNull()
					return nil
				}
				w.AppendCalendar(columnar.CalendarInterval{Months: int32(months), Days: int32(days), Micros: micros.Int64()})
				return nil
			})
		})
		e.text = func([]Expr) string { return sql }
		if !strict {
			e.null, e.nullFn = true, nil
		}
		return e, nil
	}
}

func intervalOverflow() error {
	return sparkerr.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "integer overflow while operating with intervals")
}

// bindMakeDayTime binds make_dt_interval(days, hours, minutes, seconds).
func bindMakeDayTime(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 0, 4); err != nil {
		return nil, err
	}
	name, full := b.name(), withDefaults(args, 3)
	sql := sqlCall(name, full)
	in, err := b.coerceAs(sql, full, isInt, isInt, isInt, isSeconds())
	if err != nil {
		return nil, err
	}
	typ := columnar.DayTime(columnar.FieldDay, columnar.FieldSecond)
	e := simple(name, in, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(typ, a, n, func(w *columnar.Builder, i int) error {
			v := columnar.Values[columnar.Dec128](a[3].Column)[a[3].row(i)].Big()
			v = new(big.Int).Add(v, new(big.Int).Mul(big.NewInt(int64(i32(a[0], i))), big.NewInt(microsPerDay)))
			v.Add(v, big.NewInt(int64(i32(a[1], i))*3_600_000_000+int64(i32(a[2], i))*60_000_000))
			if !v.IsInt64() {
				return intervalOverflow()
			}
			w.AppendInt(v.Int64())
			return nil
		})
	})
	e.text = func([]Expr) string { return sql }
	return e, nil
}

// bindMakeYearMonth binds make_ym_interval(years, months).
func bindMakeYearMonth(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 0, 2); err != nil {
		return nil, err
	}
	full := args[:len(args):len(args)]
	for len(full) < 2 {
		full = append(full, NewInt(0))
	}
	name, sql := b.name(), sqlCall(b.name(), full)
	in, err := b.coerceAs(sql, full, isInt)
	if err != nil {
		return nil, err
	}
	typ := columnar.YearMonth(columnar.FieldYear, columnar.FieldMonth)
	e := simple(name, in, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(typ, a, n, func(w *columnar.Builder, i int) error {
			v := int64(i32(a[0], i))*12 + int64(i32(a[1], i))
			if v > math.MaxInt32 || v < math.MinInt32 {
				return intervalOverflow()
			}
			w.AppendInt(v)
			return nil
		})
	})
	e.text = func([]Expr) string { return sql }
	return e, nil
}
