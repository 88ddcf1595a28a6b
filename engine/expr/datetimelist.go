package expr

import (
	"cmp"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// datetimeFunctions are the functions of dates, timestamps and intervals that need no pattern.
func datetimeFunctions() []*Function {
	const family = "datetime"
	f := func(name, signature, doc, example string, bind func(b *Binder, args []Expr) (Expr, error), aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Family: family, Signature: signature, Doc: doc, Example: example, Bind: bind}
	}
	noTime := func(b *Binder, args []Expr) (Expr, error) {
		return nil, sparkerr.New("UNSUPPORTED_TIME_TYPE", "the data type TIME is not supported by the function `%s`", b.Call.Name)
	}
	return []*Function{
		f("year", "year(date)", "The year.", "SELECT year(date'2026-03-01') → 2026", dateInt(yearOf)),
		f("quarter", "quarter(date)", "The quarter of the year.", "SELECT quarter(date'2026-03-01') → 1", dateInt(quarterOf)),
		f("month", "month(date)", "The month of the year.", "SELECT month(date'2026-03-01') → 3", dateInt(monthOf)),
		f("day", "day(date)", "The day of the month.", "SELECT day(date'2026-03-01') → 1", dateInt(dayOfMonth), "dayofmonth"),
		f("dayofyear", "dayofyear(date)", "The day of the year.", "SELECT dayofyear(date'2026-03-01') → 60", dateInt(dayOfYear)),
		f("dayofweek", "dayofweek(date)", "The day of the week, 1 for Sunday.", "SELECT dayofweek(date'2026-03-01') → 1", dateInt(func(d int64) int { return isoDay(d)%7 + 1 })),
		f("dayofweekiso", "extract(DOW_ISO FROM date)", "The day of the week, 1 for Monday.", "", dateInt(isoDay)),
		f("weekday", "weekday(date)", "The day of the week, 0 for Monday.", "SELECT weekday(date'2026-03-01') → 6", dateInt(func(d int64) int { return isoDay(d) - 1 })),
		f("weekofyear", "weekofyear(date)", "The ISO week.", "SELECT weekofyear(date'2021-01-01') → 53", dateInt(func(d int64) int { _, w := isoWeek(d); return w })),
		f("yearofweek", "extract(YEAROFWEEK FROM date)", "The year that the ISO week belongs to.", "", dateInt(func(d int64) int { y, _ := isoWeek(d); return int(y) })),
		f("hour", "hour(timestamp)", "The hour of the day.", "SELECT hour(timestamp'2026-03-01 10:11:12') → 10", clockInt(func(v int64) int64 { return v / 3_600_000_000 })),
		f("minute", "minute(timestamp)", "The minute of the hour.", "SELECT minute(timestamp'2026-03-01 10:11:12') → 11", clockInt(func(v int64) int64 { return v / 60_000_000 % 60 })),
		f("second", "second(timestamp)", "The second of the minute.", "SELECT second(timestamp'2026-03-01 10:11:12') → 12", clockInt(func(v int64) int64 { return v / 1_000_000 % 60 })),
		f("dayname", "dayname(date)", "The short name of the day.", "SELECT dayname(date'2026-03-01') → Sun", nameFn(dayName)),
		f("monthname", "monthname(date)", "The short name of the month.", "SELECT monthname(date'2026-03-01') → Mar", nameFn(monthName)),
		f("extract", "extract(field FROM source)", "A field of a date, a timestamp or an interval.", "SELECT extract(YEAR FROM date'2026-03-01') → 2026", bindExtract),
		f("date_part", "date_part(field, source)", "The same, called like a function.", "SELECT date_part('YEAR', date'2026-03-01') → 2026", bindExtract, "datepart"),
		f("last_day", "last_day(date)", "The last day of the month.", "SELECT last_day(date'2026-02-01') → 2026-02-28", typed{specs: []spec{isDate}, out: columnar.Date, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			y, m, _ := javatext.CivilFromDays(int64(i32(a[0], i)))
			w.AppendInt(javatext.DaysFromCivil(y, m, javatext.DaysInMonth(y, m)))
			return nil
		}}.bind),
		f("next_day", "next_day(date, day)", "The first such day of the week behind a date.", "SELECT next_day(date'2026-03-01', 'MO') → 2026-03-02", bindNextDay),
		f("add_months", "add_months(date, n)", "The date n months on.", "SELECT add_months(date'2026-01-31', 1) → 2026-02-28", typed{specs: []spec{isDate, isInt}, out: columnar.Date, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			d, ok := addMonths(int64(i32(a[0], i)), i32(a[1], i))
			if !ok || d != int64(int32(d)) {
				return sparkerr.New("ARITHMETIC_OVERFLOW", "the date %d months on lies outside of the range of dates", i32(a[1], i))
			}
			w.AppendInt(d)
			return nil
		}}.bind),
		f("date_add", "date_add(date, n)", "The date n days on.", "SELECT date_add(date'2026-03-01', 1) → 2026-03-02", bindDateMove(false), "dateadd"),
		f("date_sub", "date_sub(date, n)", "The date n days back.", "SELECT date_sub(date'2026-03-01', 1) → 2026-02-28", bindDateMove(true)),
		f("timestampadd", "timestampadd(unit, n, timestamp)", "The time n units on.", "SELECT timestampadd(HOUR, 1, timestamp'2026-03-01 10:00:00') → 2026-03-01 11:00:00", func(b *Binder, args []Expr) (Expr, error) { return b.timestampAdd(args) }),
		f("timestampdiff", "timestampdiff(unit, from, to)", "Whole units between two times.", "SELECT timestampdiff(HOUR, timestamp'2026-03-01', timestamp'2026-03-02') → 24", func(b *Binder, args []Expr) (Expr, error) { return b.timestampDiff(args) }),
		f("datediff", "datediff(to, from)", "The days between two dates.", "SELECT datediff(date'2026-03-01', date'2026-02-01') → 28", bindDateDiff, "date_diff"),
		f("months_between", "months_between(a, b[, round])", "The months between two times.", "SELECT months_between(date'2026-02-15', date'2026-01-15') → 1.0", typed{specs: []spec{isTimestamp, isTimestamp, isBool}, defaults: []Expr{NewBool(true)}, show: true, out: columnar.Float64, row: func(ctx *Context, w *columnar.Builder, a []vec, i int) error {
			w.AppendFloat(monthsBetween(ctx.zone(), i64(a[0], i), i64(a[1], i), truth(a[2], i)))
			return nil
		}}.bind),
		f("date_trunc", "date_trunc(unit, timestamp)", "The time cut to a unit, NULL for an unknown one.", "SELECT date_trunc('HOUR', timestamp'2026-03-01 10:11:12') → 2026-03-01 10:00:00", bindDateTrunc),
		f("trunc", "trunc(date, unit)", "The date cut to a unit of at least a week, NULL for another one.", "SELECT trunc(date'2026-03-15', 'MM') → 2026-03-01", bindTrunc),
		f("make_date", "make_date(year, month, day)", "A date of its parts.", "SELECT make_date(2026, 3, 1) → 2026-03-01", bindMakeDate),
		f("make_timestamp", "make_timestamp(year, month, day, hour, minute, seconds[, zone])", "A timestamp of its parts.", "SELECT make_timestamp(2026, 3, 1, 10, 11, 12.5) → 2026-03-01 10:11:12.5", bindMakeTimestamp(columnar.Timestamp, true, false), "make_timestamp_ltz"),
		f("try_make_timestamp", "try_make_timestamp(year, month, day, hour, minute, seconds[, zone])", "The same, NULL where that fails.", "SELECT try_make_timestamp(2026, 13, 1, 0, 0, 0) → NULL", bindMakeTimestamp(columnar.Timestamp, true, true), "try_make_timestamp_ltz"),
		f("make_timestamp_ntz", "make_timestamp_ntz(year, month, day, hour, minute, seconds)", "A wall clock of its parts.", "SELECT make_timestamp_ntz(2026, 3, 1, 10, 11, 12) → 2026-03-01 10:11:12", bindMakeTimestamp(columnar.TimestampNTZ, false, false)),
		f("try_make_timestamp_ntz", "try_make_timestamp_ntz(year, month, day, hour, minute, seconds)", "The same, NULL where that fails.", "SELECT try_make_timestamp_ntz(2026, 13, 1, 0, 0, 0) → NULL", bindMakeTimestamp(columnar.TimestampNTZ, false, true)),
		f("date_from_unix_date", "date_from_unix_date(days)", "The date so many days after 1970-01-01.", "SELECT date_from_unix_date(1) → 1970-01-02", typed{specs: []spec{isInt}, out: columnar.Date, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			w.AppendInt(int64(i32(a[0], i)))
			return nil
		}}.bind),
		f("unix_date", "unix_date(date)", "The days since 1970-01-01.", "SELECT unix_date(date'1970-01-02') → 1", typed{specs: []spec{isDate}, out: columnar.Int32, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			w.AppendInt(int64(i32(a[0], i)))
			return nil
		}}.strict),
		f("timestamp_seconds", "timestamp_seconds(n)", "The time so many seconds after 1970.", "SELECT timestamp_seconds(0) → 1970-01-01 00:00:00", stampOf(1_000_000)),
		f("timestamp_millis", "timestamp_millis(n)", "The time so many milliseconds after 1970.", "SELECT timestamp_millis(0) → 1970-01-01 00:00:00", stampOf(1000)),
		f("timestamp_micros", "timestamp_micros(n)", "The time so many microseconds after 1970.", "SELECT timestamp_micros(0) → 1970-01-01 00:00:00", stampOf(1)),
		f("unix_seconds", "unix_seconds(timestamp)", "The seconds since 1970, cut down.", "SELECT unix_seconds(timestamp'1970-01-01 00:00:01') → 1", unixOf(1_000_000)),
		f("unix_millis", "unix_millis(timestamp)", "The milliseconds since 1970, cut down.", "SELECT unix_millis(timestamp'1970-01-01 00:00:01') → 1000", unixOf(1000)),
		f("unix_micros", "unix_micros(timestamp)", "The microseconds since 1970.", "SELECT unix_micros(timestamp'1970-01-01 00:00:01') → 1000000", unixOf(1)),
		f("from_utc_timestamp", "from_utc_timestamp(timestamp, zone)", "The wall clock of a zone at a time of UTC.", "SELECT from_utc_timestamp('2016-08-31', 'Asia/Seoul') → 2016-08-31 09:00:00", zoneShift(true)),
		f("to_utc_timestamp", "to_utc_timestamp(timestamp, zone)", "The time of UTC at the wall clock of a zone.", "SELECT to_utc_timestamp('2016-08-31', 'Asia/Seoul') → 2016-08-30 15:00:00", zoneShift(false)),
		f("convert_timezone", "convert_timezone([from,] to, timestamp_ntz)", "A wall clock of one zone as that of another.", "SELECT convert_timezone('UTC', 'Asia/Kolkata', timestamp_ntz'2026-03-01') → 2026-03-01 05:30:00", bindConvertTimezone),
		f("current_timezone", "current_timezone()", "The session's time zone.", "SELECT current_timezone() → UTC", func(b *Binder, args []Expr) (Expr, error) {
			if err := b.argCount(args, 0, 0); err != nil {
				return nil, err
			}
			return Named(NewString(javaZone(b.zone()).ID()), b.sql(args)), nil
		}),
		f("current_timestamp", "current_timestamp()", "The time of the batch.", "SELECT current_timestamp()", bindNow(columnar.Timestamp), "now"),
		f("current_date", "current_date()", "The date of the batch in the session's zone.", "SELECT current_date()", bindNow(columnar.Date), "curdate"),
		f("localtimestamp", "localtimestamp()", "The wall clock of the batch in the session's zone.", "SELECT localtimestamp()", bindNow(columnar.TimestampNTZ)),
		f("current_time", "current_time()", "The time of day of the batch in the session's zone.", "SELECT current_time()", bindNow(&columnar.Type{Kind: columnar.KindTime, Precision: 6})),
		f("make_interval", "make_interval([years[, months[, weeks[, days[, hours[, minutes[, seconds]]]]]]])", "An interval of its parts.", "SELECT make_interval(1, 2) → 1 years 2 months", bindMakeInterval(false)),
		f("try_make_interval", "try_make_interval([years[, …]])", "The same, NULL where it overflows.", "SELECT try_make_interval(1, 2) → 1 years 2 months", bindMakeInterval(true)),
		f("make_dt_interval", "make_dt_interval([days[, hours[, minutes[, seconds]]]])", "A day-time interval of its parts.", "SELECT make_dt_interval(1, 2, 3, 4.005006) → INTERVAL '1 02:03:04.005006' DAY TO SECOND", bindMakeDayTime),
		f("make_ym_interval", "make_ym_interval([years[, months]])", "A year-month interval of its parts.", "SELECT make_ym_interval(1, 2) → INTERVAL '1-2' YEAR TO MONTH", bindMakeYearMonth),
		f("time_bucket", "time_bucket(size, timestamp[, origin])", "The start of the bucket that a time lies in.", "SELECT time_bucket(interval 5 minutes, timestamp'2026-03-01 10:11:12') → 2026-03-01 10:10:00", typed{specs: []spec{isDayTime, isTimestamp, isTimestamp}, defaults: []Expr{NewLiteral(columnar.Timestamp, int64(0))}, show: true, out: columnar.Timestamp, check: func(b *Binder, args []Expr) error {
			if _, ok, err := b.foldable(args[0]); err != nil || !ok {
				return cmp.Or(err, mismatch("NON_FOLDABLE_INPUT", b.sql(args), "the input `bucketSize` should be a foldable \"%s\" expression; however, got \"%s\"", args[0].Type().SQL(), args[0].SQL()))
			}
			return nil
		}, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			size, v, origin := i64(a[0], i), i64(a[1], i), i64(a[2], i)
			if size <= 0 {
				return sparkerr.New("INVALID_PARAMETER_VALUE.BUCKET_SIZE", "the size of the buckets must be greater than zero")
			}
			w.AppendInt(origin + javatext.FloorDiv(v-origin, size)*size)
			return nil
		}}.bind),
		f("make_time", "make_time(hour, minute, seconds)", "Not available: Spark refuses it as well by default.", "", noTime),
		f("to_time", "to_time(str[, pattern])", "Not available: Spark refuses it as well by default.", "", noTime),
		f("try_to_time", "try_to_time(str[, pattern])", "Not available: Spark refuses it as well by default.", "", noTime),
		f("time_trunc", "time_trunc(unit, time)", "Not available: Spark refuses it as well by default.", "", noTime),
		f("time_diff", "time_diff(unit, from, to)", "Not available: Spark refuses it as well by default.", "", noTime),
		f("time_from_seconds", "time_from_seconds(seconds)", "Not available: Spark refuses it as well by default.", "", noTime),
		f("time_from_millis", "time_from_millis(millis)", "Not available: Spark refuses it as well by default.", "", noTime),
		f("time_from_micros", "time_from_micros(micros)", "Not available: Spark refuses it as well by default.", "", noTime),
		f("time_to_seconds", "time_to_seconds(time)", "Not available: Spark refuses it as well by default.", "", noTime),
		f("time_to_millis", "time_to_millis(time)", "Not available: Spark refuses it as well by default.", "", noTime),
		f("time_to_micros", "time_to_micros(time)", "Not available: Spark refuses it as well by default.", "", noTime),
	}
}
