package jsonrows

import "math"

func floatBits(f float64) uint64 { return math.Float64bits(f) }

// Timestamp reads YYYY-MM-DD[T ]HH:MM:SS[.f…][zone] with the zones Z, ±HH:MM, ±HHMM and ±HH, UTC where there is none, and
// gives microseconds since the epoch.
func Timestamp(b []byte) (us int64, ok bool) {
	if len(b) < 19 || b[4] != '-' || b[7] != '-' || b[10] != 'T' && b[10] != ' ' || b[13] != ':' || b[16] != ':' {
		return 0, false
	}
	century, year, month, day := two(b), two(b[2:]), two(b[5:]), two(b[8:])
	hour, minute, second := two(b[11:]), two(b[14:]), two(b[17:])
	if century > 99 || year > 99 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	year += century * 100
	last := 30 + (month+month>>3)&1
	if month == 2 {
		last = 28
		if year%4 == 0 && year%100 != 0 || year%400 == 0 {
			last = 29
		}
	}
	if day > last {
		return 0, false
	}
	us = (days(year, month, day)*86400 + int64(hour*3600+minute*60+second)) * 1e6
	b = b[19:]
	if len(b) > 0 && b[0] == '.' {
		unit, n := int64(100_000), 1
		for ; n < len(b) && b[n]-'0' < 10; n++ {
			us += int64(b[n]-'0') * unit
			unit /= 10
		}
		if n == 1 {
			return 0, false
		}
		b = b[n:]
	}
	switch {
	case len(b) == 0 || len(b) == 1 && b[0] == 'Z':
		return us, true
	case len(b) < 3 || b[0] != '+' && b[0] != '-':
		return 0, false
	}
	zone := two(b[1:]) * 3600
	minutes := b[3:]
	if len(minutes) > 0 && minutes[0] == ':' {
		minutes = minutes[1:]
	}
	switch len(minutes) {
	case 0:
	case 2:
		m := two(minutes)
		if m > 59 {
			return 0, false
		}
		zone += m * 60
	default:
		return 0, false
	}
	if zone >= 19*3600 {
		return 0, false
	}
	if b[0] == '-' {
		zone = -zone
	}
	return us - int64(zone)*1e6, true
}

// two is a number of two digits, or one above 99.
func two(b []byte) int {
	if x, y := b[0]-'0', b[1]-'0'; x < 10 && y < 10 {
		return int(x)*10 + int(y)
	}
	return 1000
}

// days are the days since 1970-01-01 in the proleptic Gregorian calendar.
func days(y, m, d int) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	return int64(365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + d - 719469)
}
