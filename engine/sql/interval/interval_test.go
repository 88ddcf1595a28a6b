package interval_test

import (
	"fmt"
	"testing"

	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/sql/interval"
)

func TestParse(t *testing.T) {
	const bad = "INVALID_INTERVAL_FORMAT."
	for _, c := range []struct{ text, want string }{
		{"1 day 2 hours", "0 1 7200000000"},
		{"  INTERVAL -1.5 seconds ", "0 0 -1500000"},
		{"- 3 months +1 year", "9 0 0"},
		{"2 weeks 1 millisecond 1 microsecond", "0 14 1001"},
		{".5 second", "0 0 500000"},
		{"1. second", bad + "INVALID_VALUE"},
		{"1.1234567899 seconds", bad + "INVALID_PRECISION"},
		{"", bad + "INPUT_IS_EMPTY"},
		{"interval", bad + "INPUT_IS_EMPTY"},
		{"interval1 day", bad + "INVALID_PREFIX"},
		{"1", bad + "MISSING_UNIT"},
		{"1.5", bad + "MISSING_UNIT"},
		{"1 day -", bad + "MISSING_NUMBER"},
		{"x", bad + "UNRECOGNIZED_NUMBER"},
		{"1x day", bad + "INVALID_VALUE"},
		{"10 parsecs", bad + "INVALID_UNIT"},
		{"1 dayss", bad + "INVALID_UNIT"},
		{"1.5 days", bad + "INVALID_FRACTION"},
		{"3000000000 days", bad + "ARITHMETIC_EXCEPTION"},
		{"99999999999999999999 seconds", bad + "ARITHMETIC_EXCEPTION"},
	} {
		v, err := interval.Parse(c.text)
		got := fmt.Sprintf("%d %d %d", v.Months, v.Days, v.Micros)
		if err != nil {
			got = sparkerr.Condition(err)
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}

func TestParseFields(t *testing.T) {
	const (
		unmatched = "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING"
		parsing   = "INVALID_INTERVAL_FORMAT.INTERVAL_PARSING"
	)
	for _, c := range []struct {
		text       string
		start, end interval.Field
		want       string
	}{
		{"1-2", interval.Year, interval.Month, "14"},
		{" -1-2 ", interval.Year, interval.Month, "-14"},
		{"INTERVAL -'-1-2' YEAR TO MONTH", interval.Year, interval.Month, "14"},
		{"178956970-7", interval.Year, interval.Month, "2147483647"},
		{"-178956970-8", interval.Year, interval.Month, "-2147483648"},
		{"178956970-8", interval.Year, interval.Month, parsing},
		{"1-12", interval.Year, interval.Month, parsing},
		{"1", interval.Year, interval.Month, unmatched},
		{"2", interval.Year, interval.Year, "24"},
		{"2", interval.Month, interval.Month, "2"},
		{"1 02:03:04.5", interval.Day, interval.Second, "93784500000"},
		{"-1 02:03:04.5", interval.Day, interval.Second, "-93784500000"},
		{"interval '1' day", interval.Day, interval.Day, "86400000000"},
		{"interval '1' hour", interval.Day, interval.Day, unmatched + "_WITH_NOTICE"},
		{"30:00", interval.Hour, interval.Minute, "108000000000"},
		{"30:60", interval.Hour, interval.Minute, parsing},
		{"1:2:3", interval.Hour, interval.Minute, unmatched + "_WITH_NOTICE"},
		{"3.1234567", interval.Second, interval.Second, "3123456"},
		{"106751991", interval.Day, interval.Day, "9223372022400000000"},
		{"106751992", interval.Day, interval.Day, parsing},
		{"x", interval.Day, interval.Day, unmatched + "_WITH_NOTICE"},
	} {
		var v any
		var err error
		if c.start.YearMonth() {
			v, err = interval.ParseYearMonth(c.text, c.start, c.end)
		} else {
			v, err = interval.ParseDayTime(c.text, c.start, c.end)
		}
		got := fmt.Sprint(v)
		if err != nil {
			got = sparkerr.Condition(err)
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}
