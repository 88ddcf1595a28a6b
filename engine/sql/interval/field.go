// Package interval reads the texts of Spark's intervals: "1 day 2 hours" (any mixture of units),
// and the ANSI forms "1-2" (years and months) and "1 02:03:04.5" (days and times).
// Its errors carry Spark's INVALID_INTERVAL_FORMAT conditions.
package interval

import "strings"

// Field is a field of an ANSI interval type. Coarser fields are smaller.
type Field uint8

// The fields of the interval types.
const (
	Year Field = iota
	Month
	Day
	Hour
	Minute
	Second
)

// String is the field's name in SQL, e.g. "DAY".
func (f Field) String() string {
	return [...]string{"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}[f]
}

// YearMonth tells whether the field belongs to the intervals of years and months.
func (f Field) YearMonth() bool { return f <= Month }

// ParseField returns the field of that name, in any case.
func ParseField(name string) (Field, bool) {
	for f := Year; f <= Second; f++ {
		if strings.EqualFold(name, f.String()) {
			return f, true
		}
	}
	return 0, false
}

// Lengths of time in microseconds.
const (
	MicrosPerMilli  int64 = 1_000
	MicrosPerSecond int64 = 1_000_000
	MicrosPerMinute       = 60 * MicrosPerSecond
	MicrosPerHour         = 60 * MicrosPerMinute
	MicrosPerDay          = 24 * MicrosPerHour
)
