package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
)

// defaultPattern is the pattern of from_unixtime and unix_timestamp when none is given.
const defaultPattern = "yyyy-MM-dd HH:mm:ss"

// datetimePatterns keeps the last date-time pattern compiled, since nearly always it is the same for all rows.
type datetimePatterns struct {
	reading bool
	text    string
	f       *javatext.DatetimeFormatter
}

func (c *datetimePatterns) get(pattern string) (*javatext.DatetimeFormatter, error) {
	if c.f == nil || c.text != pattern {
		f, err := javatext.CompileDatetimePattern(pattern, c.reading)
		if err != nil {
			return nil, err
		}
		c.f, c.text = f, pattern
	}
	return c.f, nil
}

// writeDatetime binds date_format and from_unixtime; scale is the microseconds in a unit of the first argument.
func writeDatetime(first spec, scale int64) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		least := 2
		if scale != 1 {
			least = 1
		}
		if err := b.argCount(args, least, 2); err != nil {
			return nil, err
		}
		if len(args) == 1 {
			args = append(args[:1:1], NewString(defaultPattern))
		}
		in, err := b.coerce(args, first, isString)
		if err != nil {
			return nil, err
		}
		return simple(b.name(), in, columnar.String, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
			z := ctx.zone()
			var c datetimePatterns
			var buf []byte
			return rows(columnar.String, a, n, func(w *columnar.Builder, i int) error {
				f, err := c.get(javatext.MakeValidUTF8(str(a[1], i)))
				if err != nil {
					return err
				}
				micros := i64(a[0], i) * scale // wraps, as in Spark
				if buf, err = f.AppendTimestamp(buf[:0], micros, z); err != nil {
					return err
				}
				w.AppendBytes(buf)
				return nil
			})
		}), nil
	}
}

// isMoment takes what unix_timestamp and to_timestamp with a pattern read: texts, dates and timestamps.
var isMoment = oneOf(isString, isDate, isTimestamp, isNTZ)

// readDatetime is the instant, in microseconds, of texts read by a pattern; dates and timestamps need none. A fault is an
// error that advises to use instead, or null when instead is empty. convert checks the arguments' types.
func (b *Binder) readDatetime(sql string, args []Expr, convert func(sql string, args []Expr, specs ...spec) ([]Expr, error), typ *columnar.Type, instead string, finish func(w *columnar.Builder, micros int64)) (*call, error) {
	in, err := convert(sql, args, isMoment, isString)
	if err != nil {
		return nil, err
	}
	from := in[0].Type().Kind
	ntz := typ.Kind == columnar.KindTimestampNTZ
	e := simple(b.name(), in, typ, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
		z := ctx.zone()
		if from == columnar.KindTimestamp && typ.Kind == columnar.KindInt64 && a[1].con && !a[0].con {
			return map1(typ, a[0], n, func(v int64) int64 { return v / microsPerSecond }), nil
		}
		c := datetimePatterns{reading: true}
		return rows(typ, a, n, func(w *columnar.Builder, i int) error {
			var micros int64
			switch from {
			case columnar.KindDate:
				if micros = int64(i32(a[0], i)) * microsPerDay; !ntz {
					micros = z.FromLocal(micros)
				}
			case columnar.KindTimestamp:
				if micros = i64(a[0], i); ntz {
					micros = z.ToLocal(micros)
				}
			case columnar.KindTimestampNTZ:
				if micros = i64(a[0], i); !ntz {
					micros = z.FromLocal(micros)
				}
			default:
				f, err := c.get(str(a[1], i))
				if err != nil {
					return err
				}
				if ntz {
					micros, err = f.ParseTimestampNTZ(str(a[0], i), true, instead)
				} else {
					micros, err = f.ParseTimestamp(str(a[0], i), z, instead)
				}
				if err != nil {
					if instead == "" {
						w.AppendNull()
						return nil
					}
					return err
				}
			}
			finish(w, micros)
			return nil
		})
	})
	if instead == "" {
		e.null, e.nullFn = true, nil
	}
	e.text = func([]Expr) string { return sql }
	return e, nil
}

// parseDatetime binds to_timestamp and to_date and their relatives. Without a pattern they are casts.
func parseDatetime(typ *columnar.Type, instead string, try bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 2); err != nil {
			return nil, err
		}
		sql := b.sql(args)
		if len(args) == 1 {
			takes := isMoment
			if typ.Kind == columnar.KindTimestamp {
				takes = oneOf(isString, isDate, isTimestamp, isNTZ, isNumeric)
			}
			in := args
			if !takes.accepts(args[0].Type()) {
				var err error
				if in, err = b.coerceAs(sql, args, takes); err != nil {
					return nil, err
				}
			}
			e, err := b.Cast(in[0], typ, try)
			if err != nil {
				return nil, err
			}
			return Named(e, sql), nil
		}
		advice := instead
		if try || !b.ANSI {
			advice = ""
		}
		read := typ
		if typ.Kind == columnar.KindDate {
			read = columnar.Timestamp
		}
		e, err := b.readDatetime(sql, args, b.coerceAs, read, advice, func(w *columnar.Builder, micros int64) { w.AppendInt(micros) })
		if err != nil || read == typ {
			return e, err
		}
		d, err := b.Cast(e, typ, try)
		if err != nil {
			return nil, err
		}
		return Named(d, sql), nil
	}
}

// bindUnixTimestamp binds unix_timestamp and to_unix_timestamp: seconds since 1970.
func bindUnixTimestamp(least int) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, least, 2); err != nil {
			return nil, err
		}
		if len(args) == 0 {
			args = []Expr{&now{"current_timestamp", columnar.Timestamp}}
		}
		if len(args) == 1 {
			args = append(args[:1:1], NewString(defaultPattern))
		}
		advice := "try_to_timestamp"
		if !b.ANSI {
			advice = ""
		}
		return b.readDatetime(b.sql(args), args, b.expectAs, columnar.Int64, advice, func(w *columnar.Builder, micros int64) { w.AppendInt(micros / 1_000_000) })
	}
}

// dateFormatFunctions are the functions of dates and timestamps that take a pattern.
func dateFormatFunctions() []*Function {
	f := func(name, signature, doc, example string, bind func(b *Binder, args []Expr) (Expr, error), aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Family: "datetime", Signature: signature, Doc: doc, Example: example, Bind: bind}
	}
	const at, on = "try_to_timestamp", "try_to_date"
	return []*Function{
		f("date_format", "date_format(timestamp, pattern)", "The timestamp as a text, by a pattern of letters.", "SELECT date_format(date'2026-03-01', 'dd.MM.yyyy') → 01.03.2026", writeDatetime(isTimestamp, 1)),
		f("from_unixtime", "from_unixtime(seconds[, pattern])", "The time so many seconds after 1970, as a text.", "SELECT from_unixtime(0) → 1970-01-01 00:00:00", writeDatetime(isBigint, 1_000_000)),
		f("to_timestamp", "to_timestamp(text[, pattern])", "The timestamp that a text says.", "SELECT to_timestamp('01/03/2026 10:11', 'dd/MM/yyyy HH:mm') → 2026-03-01 10:11:00", parseDatetime(columnar.Timestamp, at, false), "to_timestamp_ltz"),
		f("try_to_timestamp", "try_to_timestamp(text[, pattern])", "The same, NULL where that fails.", "SELECT try_to_timestamp('x') → NULL", parseDatetime(columnar.Timestamp, at, true)),
		f("to_timestamp_ntz", "to_timestamp_ntz(text[, pattern])", "The wall clock that a text says.", "SELECT to_timestamp_ntz('2026-03-01 10:11:12') → 2026-03-01 10:11:12", parseDatetime(columnar.TimestampNTZ, at, false)),
		f("to_date", "to_date(text[, pattern])", "The date that a text says.", "SELECT to_date('01/03/2026', 'dd/MM/yyyy') → 2026-03-01", parseDatetime(columnar.Date, on, false)),
		f("try_to_date", "try_to_date(text[, pattern])", "The same, NULL where that fails.", "SELECT try_to_date('x') → NULL", parseDatetime(columnar.Date, on, true)),
		f("unix_timestamp", "unix_timestamp([time[, pattern]])", "The seconds since 1970.", "SELECT unix_timestamp('1970-01-02 00:00:00') → 86400", bindUnixTimestamp(0)),
		f("to_unix_timestamp", "to_unix_timestamp(time[, pattern])", "The seconds since 1970.", "SELECT to_unix_timestamp('1970-01-02', 'yyyy-MM-dd') → 86400", bindUnixTimestamp(1)),
	}
}
