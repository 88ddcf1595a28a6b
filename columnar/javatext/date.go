package javatext

import "math"

// ParseDate reads a date the way CAST(s AS DATE) does: [+-]yyyy[y…][-[m]m[-[d]d]] with blanks around it; behind
// a whole date a "T" or a space may follow, and whatever comes then is ignored. ok is false if the text is
// no date or the date does not exist.
func ParseDate(s string) (days int32, ok bool) {
	s = TrimAll(s)
	if s == "" {
		return 0, false
	}
	segments := [3]int64{1, 1, 1}
	sign := int64(1)
	i, j, digits := 0, 0, 0
	value := int64(0)
	if s[0] == '-' || s[0] == '+' {
		if s[0] == '-' {
			sign = -1
		}
		j++
	}
	for ; j < len(s) && i < 3 && (s[j] != ' ' && s[j] != 'T'); j++ {
		switch b := s[j]; {
		case i < 2 && b == '-':
			if !validDateDigits(i, digits) {
				return 0, false
			}
			segments[i] = value
			value, digits = 0, 0
			i++
		case isASCIIDigit(b):
			value = value*10 + int64(b-'0')
			if digits++; digits > 7 {
				return 0, false
			}
		default:
			return 0, false
		}
	}
	if !validDateDigits(i, digits) || i < 2 && j < len(s) {
		return 0, false
	}
	segments[i] = value
	year := sign * segments[0]
	if !validDate(year, int(segments[1]), int(segments[2])) {
		return 0, false
	}
	d := DaysFromCivil(year, int(segments[1]), int(segments[2]))
	return int32(d), d >= math.MinInt32 && d <= math.MaxInt32
}

// validDateDigits tells whether the year (segment 0), month or day may have so many digits.
func validDateDigits(segment, digits int) bool {
	if segment == 0 {
		return digits >= 4 && digits <= 7
	}
	return digits > 0 && digits <= 2
}

// AppendDate writes yyyy-MM-dd; years beyond 9999 have a plus, years before 0 a minus.
func AppendDate(dst []byte, days int32) []byte {
	year, month, day := CivilFromDays(int64(days))
	return appendCivil(dst, year, month, day)
}

func appendCivil(dst []byte, year int64, month, day int) []byte {
	dst = appendYear(dst, year)
	dst = append(dst, '-')
	dst = appendTwoDigits(dst, month)
	dst = append(dst, '-')
	return appendTwoDigits(dst, day)
}

// appendYear writes a year with at least four digits.
func appendYear(dst []byte, year int64) []byte {
	if year < 0 {
		dst = append(dst, '-')
		year = -year
	} else if year > 9999 {
		dst = append(dst, '+')
	}
	return appendPadded(dst, year, 4)
}

// SpecialDate returns the date that "epoch", "now", "today", "yesterday" or "tomorrow" (in any case, with blanks
// around, and behind all but "now" the id of a zone, which changes nothing) stands for in a DATE literal or
// a cast of a constant. now is the moment of the query in microseconds.
func SpecialDate(s string, zone *Zone, now int64) (days int32, ok bool) {
	today := int32(FloorDiv(zone.ToLocal(now), microsPerDay))
	switch specialWord(s) {
	case "epoch":
		return 0, true
	case "now", "today":
		return today, true
	case "yesterday":
		return today - 1, true
	case "tomorrow":
		return today + 1, true
	}
	return 0, false
}
