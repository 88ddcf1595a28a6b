package javatext

const (
	microsPerSecond = 1_000_000
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	microsPerDay    = 24 * microsPerHour
	nanosPerSecond  = 1_000_000_000
	nanosPerDay     = 86400 * nanosPerSecond
	secondsPerDay   = 86400

	// minYear and maxYear bound java.time's years.
	minYear, maxYear = -999_999_999, 999_999_999
)

// FloorDiv returns the quotient rounded towards negative infinity, as Math.floorDiv does. b must not be 0.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// FloorMod returns the remainder with the sign of b, as Math.floorMod does. b must not be 0.
func FloorMod(a, b int64) int64 {
	m := a % b
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

// CivilFromDays splits days since 1970-01-01 into the year, month (1 to 12) and day of the proleptic Gregorian
// calendar. Year 0 is 1 BC.
func CivilFromDays(days int64) (year int64, month, day int) {
	// Years are counted from March, so that a leap day is the last of its year, in eras of 400 years.
	z := days + 719468
	era := FloorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy-(153*mp+2)/5) + 1
	month = int(mp) + 3
	year = yoe + era*400
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// DaysFromCivil is the reverse of CivilFromDays. The month must be 1 to 12; any day is counted on from the
// first of the month.
func DaysFromCivil(year int64, month, day int) int64 {
	y, m := year, int64(month)-3
	if m < 0 {
		m += 12
		y--
	}
	era := FloorDiv(y, 400)
	yoe := y - era*400
	doy := (153*m+2)/5 + int64(day) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

// IsLeapYear tells whether the year has a 29 February.
func IsLeapYear(year int64) bool { return year&3 == 0 && (year%100 != 0 || year%400 == 0) }

// DaysInMonth returns the length of a month (1 to 12) of the year.
func DaysInMonth(year int64, month int) int {
	switch month {
	case 2:
		if IsLeapYear(year) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// validDate tells whether the date exists in java.time.
func validDate(year int64, month, day int) bool {
	return year >= minYear && year <= maxYear && month >= 1 && month <= 12 && day >= 1 && day <= DaysInMonth(year, month)
}
