package records

import (
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// Zone is the time zone of timestamps that name none: that of the option, else that of the session, else UTC.
func Zone(option, session string) string {
	switch {
	case option != "":
		return option
	case session != "":
		return session
	}
	return "UTC"
}

// FormatOptions are the options that decide how fields are read and written as text. An empty pattern
// stands for what CAST takes, and for ISO 8601 in writing.
type FormatOptions struct {
	TimeZone           string // of timestamps without a zone: an IANA name or an offset
	Locale             string // "en-US"
	DateFormat         string
	TimestampFormat    string
	TimestampNTZFormat string
	TimeFormat         string
	Fallback           *bool // enableDateTimeParsingFallback; nil: where there is no pattern
	Writing            bool  // the patterns are for writing; they are checked at once
	Milliseconds       bool  // writing cuts timestamps to milliseconds
	EpochDays          bool  // a date may be the days since 1970, as old writers of JSON had it
}

// Formats reads and writes the fields of one source or sink. It is safe for several goroutines.
type Formats struct {
	Zone     *javatext.Zone
	decimals *decimalSymbols // nil for those of English

	parseTimestamp    func(string) (int64, error)
	parseTimestampNTZ func(string) (int64, error)
	parseDate         func(string) (int32, error)
	parseTime         func(string) (int64, error)

	appendTimestamp    func([]byte, int64) []byte
	appendTimestampNTZ func([]byte, int64) []byte
	appendDate         func([]byte, int32) []byte
	appendTime         func([]byte, int64) []byte
}

// BadCast is the error of a text that CAST refuses.
func BadCast(s string, t *columnar.Type) error {
	return sparkerr.New("CAST_INVALID_INPUT", "The value %q of the type \"STRING\" cannot be cast to %q because it is malformed.", s, t.SQL())
}

// NewFormats compiles options. An unknown time zone is an error at once; a pattern that is none becomes the error
// of each field that needs it.
func NewFormats(o FormatOptions) (*Formats, error) {
	f := &Formats{decimals: symbolsOf(o.Locale)}
	var err error
	if f.Zone, err = javatext.LookupZone(o.TimeZone); err != nil {
		return nil, sparkerr.New("INVALID_TIMEZONE", "The timezone: %s is invalid. The timezone must be either a region-based zone ID, such as Europe/Paris, or an offset, such as +01:00.", o.TimeZone).WithCause(err)
	}
	fallback := func(pattern string) bool {
		if o.Fallback != nil {
			return *o.Fallback
		}
		return pattern == ""
	}
	f.iso(o.Milliseconds)
	if o.Writing {
		return f, f.writing(o)
	}
	f.patterns(o)
	if fallback(o.TimestampFormat) {
		strict := f.parseTimestamp
		f.parseTimestamp = func(s string) (int64, error) {
			v, err := strict(s)
			if err == nil {
				return v, nil
			}
			if v, ok := javatext.ParseTimestamp(withoutGMT(s), f.Zone, now(s)); ok {
				return v, nil
			}
			return 0, err
		}
	}
	if fallback(o.DateFormat) {
		strict := f.parseDate
		f.parseDate = func(s string) (int32, error) {
			v, err := strict(s)
			if err == nil {
				return v, nil
			}
			if v, ok := javatext.ParseDate(withoutGMT(s)); ok {
				return v, nil
			}
			if o.EpochDays {
				if v, ok := javaInt(s); ok {
					return gregorianDays(v), nil
				}
			}
			return 0, err
		}
	}
	return f, nil
}

// withoutGMT drops "GMT", which was once written in front of an offset.
func withoutGMT(s string) string {
	if i := strings.Index(s, "GMT"); i >= 0 {
		return s[:i] + s[i+3:]
	}
	return s
}

// now is the moment that a time without a date takes its day from, in microseconds; the clock is not asked for a
// text that begins with a year.
func now(s string) int64 {
	if len(s) > 4 && s[4] == '-' {
		return 0
	}
	return time.Now().UnixMicro()
}

// iso sets what goes without patterns; cut leaves out microseconds in writing.
func (f *Formats) iso(cut bool) {
	f.parseTimestamp = func(s string) (int64, error) {
		if v, ok := javatext.ParseTimestamp(s, f.Zone, now(s)); ok {
			return v, nil
		}
		return 0, BadCast(s, columnar.Timestamp)
	}
	f.parseTimestampNTZ = func(s string) (int64, error) {
		if v, ok := javatext.ParseTimestampNTZ(s, false); ok {
			return v, nil
		}
		return 0, BadCast(s, columnar.TimestampNTZ)
	}
	f.parseDate = func(s string) (int32, error) {
		if v, ok := javatext.ParseDate(s); ok {
			return v, nil
		}
		return 0, BadCast(s, columnar.Date)
	}
	f.parseTime = func(s string) (int64, error) {
		if v, ok := javatext.ParseTime(s); ok {
			return v, nil
		}
		return 0, BadCast(s, columnar.Time)
	}
	f.appendTimestamp = func(dst []byte, v int64) []byte { return appendISO(dst, v, f.Zone, cut) }
	f.appendTimestampNTZ = func(dst []byte, v int64) []byte { return appendISO(dst, v, nil, cut) }
	f.appendDate = javatext.AppendDate
	f.appendTime = javatext.AppendTime
}

// ParseTimestamp reads microseconds since the epoch.
func (f *Formats) ParseTimestamp(s string) (int64, error) { return f.parseTimestamp(s) }

// ParseTimestampNTZ reads microseconds of a wall clock.
func (f *Formats) ParseTimestampNTZ(s string) (int64, error) { return f.parseTimestampNTZ(s) }

// ParseDate reads days since 1970-01-01.
func (f *Formats) ParseDate(s string) (int32, error) { return f.parseDate(s) }

// ParseTime reads nanoseconds since midnight.
func (f *Formats) ParseTime(s string) (int64, error) { return f.parseTime(s) }

// AppendTimestamp writes a TIMESTAMP behind dst.
func (f *Formats) AppendTimestamp(dst []byte, v int64) []byte { return f.appendTimestamp(dst, v) }

// AppendTimestampNTZ writes a TIMESTAMP_NTZ behind dst.
func (f *Formats) AppendTimestampNTZ(dst []byte, v int64) []byte { return f.appendTimestampNTZ(dst, v) }

// AppendDate writes a DATE behind dst.
func (f *Formats) AppendDate(dst []byte, v int32) []byte { return f.appendDate(dst, v) }

// AppendTime writes a TIME behind dst.
func (f *Formats) AppendTime(dst []byte, v int64) []byte { return f.appendTime(dst, v) }

// ParseInterval reads an interval of any of the three kinds as CAST does.
func ParseInterval(t *columnar.Type, s string) (columnar.Datum, error) {
	start, end := javatext.IntervalUnit(t.Start), javatext.IntervalUnit(t.End)
	switch t.Kind {
	case columnar.KindYearMonth:
		v, err := javatext.ParseYearMonthInterval(s, start, end)
		if err != nil {
			return nil, err
		}
		return v, nil
	case columnar.KindDayTime:
		v, err := javatext.ParseDayTimeInterval(s, start, end)
		if err != nil {
			return nil, err
		}
		return v, nil
	}
	v, err := javatext.ParseCalendarInterval(s)
	if err != nil {
		return nil, err
	}
	return columnar.CalendarInterval(v), nil
}

// AppendInterval writes the value of row i of an interval column behind dst.
func AppendInterval(dst []byte, c *columnar.Column, i int) []byte {
	start, end := javatext.IntervalUnit(c.Type.Start), javatext.IntervalUnit(c.Type.End)
	switch c.Type.Kind {
	case columnar.KindYearMonth:
		return javatext.AppendYearMonthInterval(dst, columnar.Values[int32](c)[i], start, end)
	case columnar.KindDayTime:
		return javatext.AppendDayTimeInterval(dst, columnar.Values[int64](c)[i], start, end)
	}
	return javatext.AppendCalendarInterval(dst, javatext.CalendarInterval(columnar.Values[columnar.CalendarInterval](c)[i]))
}

// appendISO writes a moment in a zone with its offset, or without one when there is no zone, as
// "2026-03-01T10:11:12.123Z": with milliseconds, and with microseconds where there are any and cut is off.
func appendISO(dst []byte, micros int64, zone *javatext.Zone, cut bool) []byte {
	offset := 0
	local := micros
	if zone != nil {
		offset = zone.Offset(micros)
		local += int64(offset) * 1e6
	}
	const day = 86400e6
	days := javatext.FloorDiv(local, day)
	rest := local - days*day
	dst = append(javatext.AppendDate(dst, int32(days)), 'T')
	dst = append(append2(dst, rest/3600e6), ':')
	dst = append(append2(dst, rest/60e6%60), ':')
	dst = append(append2(dst, rest/1e6%60), '.')
	frac := rest % 1e6
	dst = append(dst, byte('0'+frac/100000), byte('0'+frac/10000%10), byte('0'+frac/1000%10))
	if !cut && frac%1000 != 0 {
		dst = append(dst, byte('0'+frac/100%10), byte('0'+frac/10%10), byte('0'+frac%10))
	}
	switch {
	case zone == nil:
		return dst
	case offset == 0:
		return append(dst, 'Z')
	case offset < 0:
		dst, offset = append(dst, '-'), -offset
	default:
		dst = append(dst, '+')
	}
	dst = append(append2(dst, int64(offset/3600)), ':')
	dst = append2(dst, int64(offset/60%60))
	if offset%60 != 0 { // of old local times
		dst = append2(append(dst, ':'), int64(offset%60))
	}
	return dst
}

func append2(dst []byte, v int64) []byte { return append(dst, byte('0'+v/10), byte('0'+v%10)) }

// javaInt reads what Integer.parseInt takes.
func javaInt(s string) (int32, bool) {
	t := javatext.FoldDigits(s)
	negative := strings.HasPrefix(t, "-")
	if negative || strings.HasPrefix(t, "+") {
		t = t[1:]
	}
	if t == "" || len(t) > 18 {
		return 0, false
	}
	var n int64
	for i := 0; i < len(t); i++ {
		if t[i]-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(t[i]-'0')
	}
	if negative {
		n = -n
	}
	return int32(n), n == int64(int32(n))
}

// gregorianDays takes days that were counted in the Julian calendar up to 1582-10-15, as old Spark did,
// to the proleptic Gregorian calendar: the date keeps its year, month and day.
func gregorianDays(days int32) int32 {
	const firstGregorian = -141427 // 1582-10-15
	if days >= firstGregorian {
		return days
	}
	// Julian day number to a date of the Julian calendar, by Richards' formula for non-negative numbers.
	const period = 1461 * 100000
	j := int64(days) + 2440588
	shift := int64(0)
	if j < 0 {
		shift = (-j)/period + 1
		j += shift * period
	}
	f := j + 1401
	e := 4*f + 3
	g := e % 1461 / 4
	h := 5*g + 2
	day := int(h%153/5) + 1
	month := int((h/153+2)%12) + 1
	year := e/1461 - 4716 + int64(14-month)/12 - shift*400000
	return int32(javatext.DaysFromCivil(year, month, day))
}
