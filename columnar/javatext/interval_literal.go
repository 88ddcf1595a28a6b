package javatext

import (
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// IntervalLiteral is the value of an INTERVAL literal written as numbers and units. Its type is a year-month
// interval if Start is Year or Month, otherwise a day-time interval.
type IntervalLiteral struct {
	Start, End IntervalUnit
	Months     int32 // of a year-month interval
	Micros     int64 // of a day-time interval
}

// ParseIntervalLiteral reads the text of INTERVAL '1 day 2 hours', or of INTERVAL 1 DAY 2 HOURS. The type goes from
// the greatest to the smallest unit that is named; weeks count as days, milliseconds and microseconds as
// seconds. It is refused if years or months stand beside other units (_LEGACY_ERROR_TEMP_0029), or if the
// text is no interval: as ParseCalendarInterval does; for a typed literal Spark then says
// INVALID_TYPED_LITERAL.
func ParseIntervalLiteral(text string) (IntervalLiteral, error) {
	v, err := ParseCalendarInterval(text)
	if err != nil {
		return IntervalLiteral{}, err
	}
	var named [6]bool
	for _, word := range strings.Fields(strings.ToLower(text)) {
		switch strings.TrimSuffix(word, "s") {
		case "year":
			named[Year] = true
		case "month":
			named[Month] = true
		case "week", "day":
			named[Day] = true
		case "hour":
			named[Hour] = true
		case "minute":
			named[Minute] = true
		case "second", "millisecond", "microsecond":
			named[Second] = true
		}
	}
	lit := IntervalLiteral{Start: Second + 1}
	for u, ok := range named {
		if !ok {
			continue
		}
		lit.Start = min(lit.Start, IntervalUnit(u))
		lit.End = IntervalUnit(u)
	}
	if lit.Start <= Month {
		if lit.End > Month {
			return IntervalLiteral{}, sparkerr.New("_LEGACY_ERROR_TEMP_0029", "Cannot mix year-month and day-time fields: INTERVAL %s.", text)
		}
		lit.Months = v.Months
		return lit, nil
	}
	if lit.Start > Second {
		lit.Start, lit.End = Second, Second
	}
	micros, ok := v.Duration()
	if !ok {
		return IntervalLiteral{}, sparkerr.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION",
			"Integer overflow while operating with intervals. Try devising appropriate values for the interval parameters.")
	}
	lit.Micros = micros
	return lit, nil
}
