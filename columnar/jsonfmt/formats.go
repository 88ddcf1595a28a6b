package jsonfmt

import (
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// formats reads the texts of dates and times, by the patterns of the options or as CAST does.
type formats struct {
	zone         *javatext.Zone
	zoneErr      error
	timestamp    func(string) (int64, error)
	timestampNTZ func(string) (int64, error)
	date         func(string) (int32, error)
	clock        func(string) (int64, error)
}

// badCast is the error of a text that CAST refuses.
func badCast(s string, t *columnar.Type) error {
	return sparkerr.New("CAST_INVALID_INPUT", "the value %q cannot be cast to %q because it is malformed", s, t.SQL())
}

func newFormats(o *Options) *formats {
	f := &formats{}
	f.zone, f.zoneErr = javatext.LookupZone(o.Zone())
	if f.zoneErr != nil {
		f.zone = javatext.UTC()
	}
	fallback := func(pattern string) bool {
		if o.DateTimeFallback != nil {
			return *o.DateTimeFallback
		}
		return pattern == ""
	}
	f.timestamp = f.castTimestamp
	f.timestampNTZ = castTimestampNTZ
	f.date = castDate
	f.clock = castTime
	if fallback(o.TimestampFormat) {
		strict := f.timestamp
		f.timestamp = func(s string) (int64, error) {
			v, err := strict(s)
			if err != nil {
				// "2026-03-01T00:00GMT+01:00" was once written so.
				if i := strings.Index(s, "GMT"); i >= 0 {
					if v, ok := javatext.ParseTimestamp(s[:i]+s[i+3:], f.zone, now()); ok {
						return v, nil
					}
				}
			}
			return v, err
		}
	}
	if fallback(o.DateFormat) {
		strict := f.date
		f.date = func(s string) (int32, error) {
			v, err := strict(s)
			if err == nil {
				return v, nil
			}
			text := s
			if i := strings.Index(s, "GMT"); i >= 0 {
				text = s[:i] + s[i+3:]
			}
			if v, ok := javatext.ParseDate(text); ok {
				return v, nil
			}
			// Very old writers gave the days since 1970.
			if v, ok := javaInt(s); ok {
				return gregorianDays(v), nil
			}
			return v, err
		}
	}
	return f
}

// now is the moment that a time without a date takes its day from, in microseconds.
func now() int64 { return time.Now().UnixMicro() }

func (f *formats) castTimestamp(s string) (int64, error) {
	if v, ok := javatext.ParseTimestamp(s, f.zone, now()); ok {
		return v, nil
	}
	return 0, badCast(s, columnar.Timestamp)
}

func castTimestampNTZ(s string) (int64, error) {
	if v, ok := javatext.ParseTimestampNTZ(s, false); ok {
		return v, nil
	}
	return 0, badCast(s, columnar.TimestampNTZ)
}

func castDate(s string) (int32, error) {
	if v, ok := javatext.ParseDate(s); ok {
		return v, nil
	}
	return 0, badCast(s, columnar.Date)
}

func castTime(s string) (int64, error) {
	if v, ok := javatext.ParseTime(s); ok {
		return v, nil
	}
	return 0, badCast(s, columnar.Time)
}

// javaInt reads what Integer.parseInt takes.
func javaInt(s string) (int32, bool) {
	t := s
	negative := strings.HasPrefix(t, "-")
	if negative || strings.HasPrefix(t, "+") {
		t = t[1:]
	}
	if t == "" || len(t) > 10 {
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
