package javatext

import (
	"math/bits"
	"strings"
)

// timestampText is a text taken apart by parseTimestampText.
type timestampText struct {
	year, month, day, hour, minute, second int64
	micros                                 int64
	zone                                   string // "" if there is none
	hasZone                                bool
	justTime                               bool
}

// parseTimestampText takes apart [+-]yyyy[y…][-[m]m[-[d]d[( |T)[h]h[:[m]m[:[s]s[.fraction]]]]]][zone], or only
// the time, alone or behind a "T". The zone is not looked up, nor is it checked that the date exists.
func parseTimestampText(s string) (t timestampText, ok bool) {
	// Spark knows the "T" of a time alone only at the very start.
	leadingT := s != "" && s[0] == 'T'
	s = TrimAll(s)
	if s == "" {
		return t, false
	}
	segments := [9]int64{1, 1, 1}
	i, j, digits, fraction := 0, 0, 0, 0
	value, sign := int64(0), int64(1)
	signed := s[0] == '-' || s[0] == '+'
	if signed {
		if s[0] == '-' {
			sign = -1
		}
		j++
	}
	// take stores the number just read, if it may have so many digits.
	take := func(segment, digits int) bool {
		switch segment {
		case 0:
			if digits < 4 || digits > 6 {
				return false
			}
		case 6:
		case 7:
			if digits > 2 {
				return false
			}
		default:
			if digits <= 0 || digits > 2 {
				return false
			}
		}
		segments[segment] = value
		return true
	}
	for ; j < len(s); j++ {
		b := s[j]
		if isASCIIDigit(b) {
			if i == 6 {
				fraction++
			}
			// A fraction is cut to microseconds.
			if i != 6 || digits < 6 {
				value = value*10 + int64(b-'0')
			}
			if digits++; i != 6 && digits > 6 {
				return t, false
			}
			continue
		}
		switch {
		case j == 0 && b == 'T' && leadingT:
			t.justTime = true
			i = 3
			continue
		case i < 2 && b == '-' && take(i, digits):
		case i == 0 && b == ':' && !signed && take(3, digits):
			t.justTime = true
			i = 3
		case i == 2 && (b == ' ' || b == 'T') && take(i, digits):
		case (i == 3 || i == 4) && b == ':' && take(i, digits):
		case i == 5 && b == '.' && take(i, digits):
		case (i == 5 || i == 6) && take(i, digits):
			t.zone, t.hasZone = strings.Trim(s[j:], javaTrimSet), true
			j = len(s) - 1
			i = 6
		default:
			return t, false
		}
		value, digits = 0, 0
		i++
	}
	if !take(i, digits) {
		return t, false
	}
	for ; fraction < 6; fraction++ {
		segments[6] *= 10
	}
	t.year, t.month, t.day = sign*segments[0], segments[1], segments[2]
	t.hour, t.minute, t.second, t.micros = segments[3], segments[4], segments[5], segments[6]
	return t, true
}

// javaTrimSet holds what java.lang.String.trim removes.
const javaTrimSet = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "

// timeMicros returns microseconds since midnight.
func (t *timestampText) timeMicros() (int64, bool) {
	if t.hour > 23 || t.minute > 59 || t.second > 59 {
		return 0, false
	}
	return (t.hour*3600+t.minute*60+t.second)*microsPerSecond + t.micros, true
}

// zoneOffset returns the offset if the zone is one, without making a Zone.
func (t *timestampText) zoneOffset() (seconds int, ok bool) {
	switch z := t.zone; {
	case z == "Z" || z == "UTC" || z == "GMT" || z == "UT":
		return 0, true
	case z != "" && (z[0] == '+' || z[0] == '-'):
		if seconds, ok := parseOffsetID(z); ok {
			return seconds, true
		}
		return parseOffsetID(spreadOffset(z))
	}
	return 0, false
}

// ParseTimestamp reads a timestamp the way CAST(s AS TIMESTAMP) does; see FORMATS of the cast: a date as
// ParseDate takes it without anything behind, then a space or "T", and a time to the hour, minute, second or
// fraction (cut to microseconds), then a zone as LookupZone takes it, with or without a blank before it. Without
// a zone it is a wall clock of the given one. A time alone is of today, which now tells, a moment in
// microseconds since the epoch.
func ParseTimestamp(s string, zone *Zone, now int64) (micros int64, ok bool) {
	t, ok := parseTimestampText(s)
	if !ok {
		return 0, false
	}
	time, ok := t.timeMicros()
	if !ok {
		return 0, false
	}
	if t.hasZone {
		if seconds, isOffset := t.zoneOffset(); isOffset {
			return t.at(time, now, nil, int64(seconds)*microsPerSecond)
		}
		z, err := LookupZone(t.zone)
		if err != nil {
			return 0, false
		}
		zone = z
	}
	return t.at(time, now, zone, 0)
}

// at returns the moment of the wall clock in a zone, or at an offset if there is no zone.
func (t *timestampText) at(time, now int64, zone *Zone, offset int64) (micros int64, ok bool) {
	var days int64
	switch {
	case !t.justTime:
		if !validDate(t.year, int(t.month), int(t.day)) {
			return 0, false
		}
		days = DaysFromCivil(t.year, int(t.month), int(t.day))
	case zone != nil:
		days = FloorDiv(zone.ToLocal(now), microsPerDay)
	default:
		days = FloorDiv(now+offset, microsPerDay)
	}
	return localMoment(days, time, zone, offset)
}

// localMoment returns days and microseconds of a wall clock in UTC, unless the result leaves int64.
func localMoment(days, time int64, zone *Zone, offset int64) (micros int64, ok bool) {
	if zone != nil {
		offset = int64(zone.rules.atLocal(days*secondsPerDay+FloorDiv(time, microsPerSecond)).seconds) * microsPerSecond
	}
	return addDays(time-offset, days)
}

// addDays returns micros + days, unless it leaves int64.
func addDays(micros, days int64) (int64, bool) {
	days += FloorDiv(micros, microsPerDay)
	micros = FloorMod(micros, microsPerDay)
	if days < 0 {
		// So that the sum of the two parts cannot leave int64 on the way.
		days++
		micros -= microsPerDay
	}
	hi, lo := bits.Mul64(uint64(max(days, -days)), microsPerDay)
	if hi != 0 || lo > 1<<63-1 {
		return 0, false
	}
	v := int64(lo)
	if days < 0 {
		v = -v
	}
	sum := v + micros
	if (v < 0) == (micros < 0) && (sum < 0) != (v < 0) && v != 0 && micros != 0 {
		return 0, false
	}
	return sum, true
}

// ParseTimestampNTZ reads a timestamp without time zone the way CAST(s AS TIMESTAMP_NTZ) does: as
// ParseTimestamp, but a time needs a date. A zone must be known and is then ignored, or refused if allowZone
// is false.
func ParseTimestampNTZ(s string, allowZone bool) (micros int64, ok bool) {
	t, ok := parseTimestampText(s)
	if !ok || t.justTime || t.hasZone && !allowZone || !validDate(t.year, int(t.month), int(t.day)) {
		return 0, false
	}
	time, ok := t.timeMicros()
	if !ok {
		return 0, false
	}
	if t.hasZone {
		if _, isOffset := t.zoneOffset(); !isOffset {
			if _, err := LookupZone(t.zone); err != nil {
				return 0, false
			}
		}
	}
	return addDays(time, DaysFromCivil(t.year, int(t.month), int(t.day)))
}

// AppendTimestamp writes yyyy-MM-dd HH:mm:ss of the wall clock in the zone, and a fraction without its
// trailing zeros if there is one.
func AppendTimestamp(dst []byte, micros int64, zone *Zone) []byte {
	return appendLocal(dst, FloorDiv(micros, microsPerSecond)+int64(zone.Offset(micros)), FloorMod(micros, microsPerSecond))
}

// AppendTimestampNTZ is AppendTimestamp for a timestamp without time zone.
func AppendTimestampNTZ(dst []byte, micros int64) []byte {
	return appendLocal(dst, FloorDiv(micros, microsPerSecond), FloorMod(micros, microsPerSecond))
}

// appendLocal writes a wall clock.
func appendLocal(dst []byte, seconds, micros int64) []byte {
	days := FloorDiv(seconds, secondsPerDay)
	year, month, day := CivilFromDays(days)
	dst = appendCivil(dst, year, month, day)
	dst = append(dst, ' ')
	return appendClock(dst, int(seconds-days*secondsPerDay), micros*1000)
}

// appendClock writes HH:mm:ss[.fraction].
func appendClock(dst []byte, secondOfDay int, nanos int64) []byte {
	dst = appendTwoDigits(dst, secondOfDay/3600)
	dst = append(dst, ':')
	dst = appendTwoDigits(dst, secondOfDay/60%60)
	dst = append(dst, ':')
	dst = appendTwoDigits(dst, secondOfDay%60)
	return appendFraction(dst, nanos)
}

// appendFraction writes a point and the nanoseconds without trailing zeros, or nothing for 0.
func appendFraction(dst []byte, nanos int64) []byte {
	if nanos == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := int64(nanosPerSecond / 10); nanos > 0; unit /= 10 {
		dst = append(dst, byte('0'+nanos/unit))
		nanos %= unit
	}
	return dst
}

// SpecialTimestamp returns the moment that "epoch", "now", "today", "yesterday" or "tomorrow" stands for in a
// TIMESTAMP literal or a cast of a constant; see SpecialDate. The days begin at midnight in the zone.
func SpecialTimestamp(s string, zone *Zone, now int64) (micros int64, ok bool) {
	word := specialWord(s)
	switch word {
	case "epoch":
		return 0, true
	case "now":
		return now, true
	}
	days, ok := SpecialDate(s, zone, now)
	if !ok {
		return 0, false
	}
	return localMoment(int64(days), 0, zone, 0)
}

// SpecialTimestampNTZ is SpecialTimestamp for a timestamp without time zone.
func SpecialTimestampNTZ(s string, zone *Zone, now int64) (micros int64, ok bool) {
	switch specialWord(s) {
	case "epoch":
		return 0, true
	case "now":
		return zone.ToLocal(now), true
	}
	days, ok := SpecialDate(s, zone, now)
	return int64(days) * microsPerDay, ok
}

// specialWord returns the word of a special date in lower case, or "".
func specialWord(s string) string {
	s = strings.Trim(s, javaTrimSet)
	n := 0
	for n < len(s) && isASCIILetter(s[n]) {
		n++
	}
	word, zone := s[:n], strings.TrimLeft(s[n:], " \t")
	if len(s) < 3 || n == 0 {
		return ""
	}
	word = strings.ToLower(word)
	if zone != "" {
		if word == "now" {
			return ""
		}
		if _, err := LookupZone(zone); err != nil {
			return ""
		}
	}
	return word
}
