package javatext

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// TestParseIntervals compares the readers and writers of intervals with Spark's.
func TestParseIntervals(t *testing.T) {
	goldenLines(t, "interval", "\t", func(line int, f []string) {
		s, err := strconv.Unquote(f[0])
		if err != nil {
			t.Fatal(err)
		}
		start, _ := strconv.Atoi(f[1])
		end, _ := strconv.Atoi(f[2])
		var got, text string
		switch {
		case start < 0:
			var v CalendarInterval
			v, err = ParseCalendarInterval(s)
			got = fmt.Sprintf("%d,%d,%d", v.Months, v.Days, v.Micros)
			text = string(AppendCalendarInterval(nil, v))
		case start < 2:
			var v int32
			v, err = ParseYearMonthInterval(s, IntervalUnit(start), IntervalUnit(end))
			got = strconv.Itoa(int(v))
			text = string(AppendYearMonthInterval(nil, v, IntervalUnit(start), IntervalUnit(end)))
		default:
			var v int64
			v, err = ParseDayTimeInterval(s, IntervalUnit(start), IntervalUnit(end))
			got = strconv.FormatInt(v, 10)
			text = string(AppendDayTimeInterval(nil, v, IntervalUnit(start), IntervalUnit(end)))
		}
		if err != nil {
			text = ""
			if got = sparkerr.Condition(err); got == "" {
				got = "-"
			}
		}
		if got != f[3] || text != f[4] {
			t.Errorf("line %d: %q from %d to %d is %s, %q, want %s, %q (%v)", line, s, start, end, got, text, f[3], f[4], err)
		}
	})
}

func TestParseIntervalLiteral(t *testing.T) {
	for text, want := range map[string]string{
		"1 day 2 hours": "INTERVAL '1 02' DAY TO HOUR", "1 WEEK": "INTERVAL '7' DAY", "100 milliseconds": "INTERVAL '00.1' SECOND",
		"1 hour 30 minutes": "INTERVAL '01:30' HOUR TO MINUTE", "interval 1 Year": "INTERVAL '1' YEAR", "1 year 2 months": "INTERVAL '1-2' YEAR TO MONTH",
		"1 month 1 day": "_LEGACY_ERROR_TEMP_0029", "106751992 day": "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "1.5 hours": "INVALID_INTERVAL_FORMAT.INVALID_FRACTION",
		"abc": "INVALID_INTERVAL_FORMAT.UNRECOGNIZED_NUMBER", "-0.5 second": "INTERVAL '-00.5' SECOND",
	} {
		v, err := ParseIntervalLiteral(text)
		got := ""
		switch {
		case err != nil:
			got = sparkerr.Condition(err)
		case v.Start <= Month:
			got = string(AppendYearMonthInterval(nil, v.Months, v.Start, v.End))
		default:
			got = string(AppendDayTimeInterval(nil, v.Micros, v.Start, v.End))
		}
		if got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestAppendLeastInterval(t *testing.T) {
	for want, units := range map[string][2]IntervalUnit{
		"INTERVAL '-106751991 04:00:54.775808000' DAY TO SECOND": {Day, Second}, "INTERVAL '-9223372036854.775808' SECOND": {Second, Second},
		"INTERVAL '-2562047788:00' HOUR TO MINUTE": {Hour, Minute}, "INTERVAL '-153722867280' MINUTE": {Minute, Minute},
	} {
		if got := string(AppendDayTimeInterval(nil, math.MinInt64, units[0], units[1])); got != want {
			t.Errorf("least interval is %s, want %s", got, want)
		}
	}
}

func FuzzParseIntervals(f *testing.F) {
	f.Add("interval 1 day -2.5 seconds", byte(2), byte(5))
	f.Add("INTERVAL -'1-2' YEAR TO MONTH", byte(0), byte(1))
	f.Fuzz(func(t *testing.T, s string, start, end byte) {
		if v, err := ParseCalendarInterval(s); err == nil {
			if again, err := ParseCalendarInterval(string(AppendCalendarInterval(nil, v))); err != nil || again != v {
				t.Fatalf("%q is %v, then %v, %v", s, v, again, err)
			}
		}
		ParseIntervalLiteral(s)
		if start > end || end > 5 || start < 2 && end > 1 {
			return
		}
		a, b := IntervalUnit(start), IntervalUnit(end)
		if start < 2 {
			if v, err := ParseYearMonthInterval(s, a, b); err == nil {
				if again, err := ParseYearMonthInterval(string(AppendYearMonthInterval(nil, v, a, b)), a, b); err != nil || again != v {
					t.Fatalf("%q is %v, then %v, %v", s, v, again, err)
				}
			}
			return
		}
		_, err := ParseDayTimeInterval(s, a, b)
		var javaError *JavaError
		if err != nil && sparkerr.Condition(err) == "" && !errors.As(err, &javaError) {
			t.Fatalf("%q: %T", s, err)
		}
	})
}
