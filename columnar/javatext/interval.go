package javatext

import (
	"math"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// IntervalUnit is a unit that bounds an ANSI interval type, such as DAY and SECOND in INTERVAL DAY TO SECOND.
type IntervalUnit uint8

// The units of year-month intervals, and those of day-time intervals.
const (
	Year IntervalUnit = iota
	Month
	Day
	Hour
	Minute
	Second
)

var intervalUnitNames = [...]string{"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}

// String returns the unit in upper case.
func (u IntervalUnit) String() string { return intervalUnitNames[u] }

// The greatest whole numbers of a unit in 64 bits of microseconds.
const (
	maxIntervalDays    = math.MaxInt64 / microsPerDay
	maxIntervalHours   = math.MaxInt64 / microsPerHour
	maxIntervalMinutes = math.MaxInt64 / microsPerMinute
	maxIntervalSeconds = math.MaxInt64 / microsPerSecond
	minIntervalSeconds = math.MinInt64 / microsPerSecond
)

// maxLeadingDigits is how many digits the first number of a day-time interval may have, by its unit from Day.
var maxLeadingDigits = [...]int{9, 10, 12, 13}

func appendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// ParseYearMonthInterval reads the text of INTERVAL 'text' start TO end, or of a cast to that type: "1-2", "-3", or
// the whole of a literal ("INTERVAL '1-2' YEAR TO MONTH"). It returns months. Errors are
// INVALID_INTERVAL_FORMAT of some kind.
func ParseYearMonthInterval(text string, start, end IntervalUnit) (months int32, err error) {
	s := TrimAll(text)
	negative, body, isLiteral, ok := cutIntervalLiteral(s, start, end)
	if !ok {
		return 0, unmatchedInterval(text, "year-month", start, end)
	}
	if isLiteral {
		s = body
	}
	inner, s := cutIntervalSign(s)
	negative = negative != inner
	first, rest := cutDigits(s)
	if first == "" || (rest != "") != (start != end) {
		return 0, unmatchedInterval(text, "year-month", start, end)
	}
	var v int64
	if start != end {
		second, after := cutDigits(rest[1:])
		if rest[0] != '-' || second == "" || after != "" {
			return 0, unmatchedInterval(text, "year-month", start, end)
		}
		years, ok := digitsInRange(first, 0, math.MaxInt32/12)
		more, ok2 := digitsInRange(second, 0, 11)
		if !ok || !ok2 {
			return 0, failedInterval(text, "year-month")
		}
		v = years*12 + more
	} else {
		n, ok := digitsInRange(first, 0, math.MaxInt64)
		if !ok {
			return 0, failedInterval(text, "year-month")
		}
		v = n
		if end == Year {
			v *= 12 // without regard to what leaves 64 bits, as Spark
			if v != int64(int32(v)) {
				return 0, failedInterval(text, "year-month")
			}
		}
	}
	if negative {
		v = -v
	}
	if v != int64(int32(v)) {
		return 0, failedInterval(text, "year-month")
	}
	return int32(v), nil
}

// ParseDayTimeInterval reads the text of INTERVAL 'text' start TO end, or of a cast to that type: "1 02:03:04.5",
// "-3", or the whole of a literal. It returns microseconds. Errors are INVALID_INTERVAL_FORMAT of some kind,
// or a JavaError for a part out of its range.
func ParseDayTimeInterval(text string, start, end IntervalUnit) (micros int64, err error) {
	s := TrimAll(text)
	negative, body, isLiteral, ok := cutIntervalLiteral(s, start, end)
	if !ok {
		return 0, unmatchedInterval(text, "day-time", start, end)
	}
	if isLiteral {
		s = body
	}
	inner, s := cutIntervalSign(s)
	negative = negative != inner
	var parts [4]string // day, hour, minute, second
	unit := start
	for first := true; ; first = false {
		digits, rest := cutDigits(s)
		limit := 2
		if first {
			limit = maxLeadingDigits[unit-Day]
		}
		if digits == "" || len(digits) > limit {
			return 0, unmatchedInterval(text, "day-time", start, end)
		}
		parts[unit-Day], s = digits, rest
		if unit == end {
			break
		}
		separator := byte(':')
		if unit == Day {
			separator = ' '
		}
		if s == "" || s[0] != separator {
			return 0, unmatchedInterval(text, "day-time", start, end)
		}
		s = s[1:]
		unit++
	}
	fraction := ""
	if s != "" {
		var rest string
		if s[0] == '.' {
			fraction, rest = cutDigits(s[1:])
		}
		if end != Second || fraction == "" || len(fraction) > 9 || rest != "" {
			return 0, unmatchedInterval(text, "day-time", start, end)
		}
	}
	if start == end {
		return oneDayTimePart(text, parts[start-Day], fraction, start, negative)
	}
	return dayTimeParts(&parts, fraction, start, negative)
}

// oneDayTimePart returns the interval of a number of one unit.
func oneDayTimePart(text, digits, fraction string, unit IntervalUnit, negative bool) (int64, error) {
	v, _ := digitsInRange(digits, 0, math.MaxInt64)
	if negative {
		v = -v
	}
	switch unit {
	case Day:
		return v * microsPerDay, nil // wraps around, as in Spark
	case Hour:
		return v * microsPerHour, nil
	case Minute:
		return v * microsPerMinute, nil
	}
	if v < minIntervalSeconds || v > maxIntervalSeconds {
		return 0, failedInterval(text, "day-time")
	}
	micros := fractionMicros(fraction)
	// Spark takes the sign from the whole seconds, so that -0.5 is 0.5.
	if v < 0 {
		micros = -micros
	}
	sum, ok := addExact(v*microsPerSecond, micros)
	if !ok {
		return 0, failedInterval(text, "day-time")
	}
	return sum, nil
}

// dayTimeParts adds the parts from start on.
func dayTimeParts(parts *[4]string, fraction string, start IntervalUnit, negative bool) (int64, error) {
	units := [...]int64{microsPerDay, microsPerHour, microsPerMinute, microsPerSecond}
	limits := [...]int64{maxIntervalDays, 23, 59, 59}
	firstLimits := [...]int64{maxIntervalDays, maxIntervalHours, maxIntervalMinutes, maxIntervalSeconds}
	names := [...]string{"day", "hour", "minute", "second"}
	sum := int64(0)
	for i := start - Day; i < 4; i++ {
		if parts[i] == "" {
			continue
		}
		limit := limits[i]
		if i == start-Day {
			limit = firstLimits[i]
		}
		v, ok := digitsInRange(parts[i], 0, limit)
		if !ok {
			return 0, &JavaError{
				Exception: "java.lang.IllegalArgumentException",
				Text:      "requirement failed: " + names[i] + " " + parts[i] + " outside range [0, " + strconv.FormatInt(limit, 10) + "]",
			}
		}
		v *= units[i]
		if names[i] == "second" {
			v += fractionMicros(fraction)
		}
		if negative {
			v = -v
		}
		if sum, ok = addExact(sum, v); !ok {
			return 0, &JavaError{Exception: "java.lang.ArithmeticException", Text: "long overflow"}
		}
	}
	return sum, nil
}

// fractionMicros returns the microseconds of up to nine digits behind a point.
func fractionMicros(digits string) int64 {
	v := int64(0)
	for i := range 6 {
		v *= 10
		if i < len(digits) {
			v += int64(digits[i] - '0')
		}
	}
	return v
}

// cutIntervalLiteral returns the text within INTERVAL [sign]'…' start TO end, and the sign. ok is false if the text
// begins like that but does not end so.
func cutIntervalLiteral(s string, start, end IntervalUnit) (negative bool, body string, isLiteral, ok bool) {
	const word = "INTERVAL"
	if len(s) < len(word) || !strings.EqualFold(s[:len(word)], word) {
		return false, "", false, true
	}
	rest, spaces := cutRegexSpace(s[len(word):])
	if !spaces {
		return false, "", true, false
	}
	negative, rest = cutIntervalSign(rest)
	if rest == "" || rest[0] != '\'' {
		return false, "", true, false
	}
	body, rest, ok = strings.Cut(rest[1:], "'")
	if !ok {
		return false, "", true, false
	}
	units := []string{start.String()}
	if start != end {
		units = append(units, "TO", end.String())
	}
	for _, unit := range units {
		if rest, ok = cutRegexSpace(rest); !ok || len(rest) < len(unit) || !strings.EqualFold(rest[:len(unit)], unit) {
			return false, "", true, false
		}
		rest = rest[len(unit):]
	}
	return negative, body, true, rest == ""
}

// cutRegexSpace takes what \s+ matches off the front.
func cutRegexSpace(s string) (rest string, found bool) {
	rest = strings.TrimLeft(s, " \t\n\v\f\r")
	return rest, len(rest) < len(s)
}

// cutIntervalSign takes a sign off the front. Spark takes "|" for one, too.
func cutIntervalSign(s string) (negative bool, rest string) {
	if s != "" && (s[0] == '+' || s[0] == '-' || s[0] == '|') {
		return s[0] == '-', s[1:]
	}
	return false, s
}

// cutDigits takes digits off the front.
func cutDigits(s string) (digits, rest string) {
	n := 0
	for n < len(s) && isASCIIDigit(s[n]) {
		n++
	}
	return s[:n], s[n:]
}

// digitsInRange reads digits as a number within bounds.
func digitsInRange(digits string, low, high int64) (int64, bool) {
	v, err := strconv.ParseInt(digits, 10, 64)
	return v, err == nil && v >= low && v <= high
}

func failedInterval(text, kind string) error {
	return sparkerr.New("INVALID_INTERVAL_FORMAT.INTERVAL_PARSING", "Error parsing '%s' to interval. Please ensure that the value provided is in a valid "+
		"format for defining an interval. You can reference the documentation for the correct format. Error parsing interval %s string.", text, kind)
}

// unmatchedInterval is the refusal of a text that does not have the form of the type.
func unmatchedInterval(text, kind string, start, end IntervalUnit) error {
	condition, notice := "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING", ""
	if kind == "day-time" {
		condition += "_WITH_NOTICE"
	}
	typeName := "interval " + strings.ToLower(start.String())
	if start != end {
		typeName += " to " + strings.ToLower(end.String())
	}
	return sparkerr.New(condition, "Error parsing '%s' to interval. Please ensure that the value provided is in a valid format for defining an interval. "+
		"You can reference the documentation for the correct format. Interval string does not match %s format of %s when cast to %s: %s.%s",
		text, kind, intervalForms(start, end), typeName, text, notice)
}

// intervalForms says what a text of the type looks like.
func intervalForms(start, end IntervalUnit) string {
	short := [...]string{"y", "m", "d", "h", "m", "s"}
	form := short[start]
	for u := start + 1; u <= end; u++ {
		switch {
		case u == Month:
			form += "-"
		case u == Hour:
			form += " "
		default:
			form += ":"
		}
		form += short[u]
	}
	if end == Second {
		form += ".n"
	}
	unit := start.String()
	if start != end {
		unit += " TO " + end.String()
	}
	return "`[+|-]" + form + "`, `INTERVAL [+|-]'[+|-]" + form + "' " + unit + "`"
}

// AppendYearMonthInterval writes an interval of so many months in ANSI style: INTERVAL '1-2' YEAR TO MONTH.
func AppendYearMonthInterval(dst []byte, months int32, start, end IntervalUnit) []byte {
	dst = append(dst, "INTERVAL '"...)
	abs := int64(months)
	if start == Month {
		dst = appendInt(dst, abs)
		return append(dst, "' MONTH"...)
	}
	if abs < 0 {
		dst = append(dst, '-')
		abs = -abs
	}
	dst = appendInt(dst, abs/12)
	if end == Year {
		return append(dst, "' YEAR"...)
	}
	dst = append(dst, '-')
	dst = appendInt(dst, abs%12)
	return append(dst, "' YEAR TO MONTH"...)
}

// AppendDayTimeInterval writes an interval of so many microseconds in ANSI style: INTERVAL '1 02:03:04.5' DAY TO
// SECOND. What is less than the last unit is left out.
func AppendDayTimeInterval(dst []byte, micros int64, start, end IntervalUnit) []byte {
	dst = append(dst, "INTERVAL '"...)
	rest := uint64(micros)
	if micros < 0 {
		dst = append(dst, '-')
		rest = -rest
	}
	units := [...]uint64{microsPerDay, microsPerHour, microsPerMinute, microsPerSecond}
	for u := start; u <= end; u++ {
		v := rest / units[u-Day]
		rest %= units[u-Day]
		switch {
		case u == start:
		case u == Hour:
			dst = append(dst, ' ')
		default:
			dst = append(dst, ':')
		}
		if u != Day && v < 10 {
			dst = append(dst, '0')
		}
		dst = strconv.AppendUint(dst, v, 10)
	}
	if end == Second {
		if micros == math.MinInt64 && start != Second {
			// Spark has this one number as a text, with all digits.
			dst = append(dst, ".775808000"...)
		} else {
			dst = appendFraction(dst, int64(rest)*1000)
		}
	}
	dst = append(dst, "' "...)
	dst = append(dst, start.String()...)
	if start != end {
		dst = append(dst, " TO "...)
		dst = append(dst, end.String()...)
	}
	return dst
}
