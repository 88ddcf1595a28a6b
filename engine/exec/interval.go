package exec

import (
	"time"

	"github.com/wstream/wstream/columnar"
)

// addInterval adds months, then days, both of the local calendar, then microseconds, to a time in
// µs; a day of the month that does not exist becomes the last one.
func addInterval(t int64, v columnar.CalendarInterval, zone *time.Location) int64 {
	if v.Months == 0 && v.Days == 0 {
		return t + v.Micros
	}
	if zone == nil {
		zone = time.UTC
	}
	at := time.UnixMicro(t).In(zone)
	y, m, d := at.Date()
	if v.Months != 0 {
		first := time.Date(y, m+time.Month(v.Months), 1, 0, 0, 0, 0, time.UTC)
		y, m = first.Year(), first.Month()
		if last := time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day(); d > last {
			d = last
		}
	}
	at = time.Date(y, m, d+int(v.Days), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), zone)
	return at.UnixMicro() + v.Micros
}
