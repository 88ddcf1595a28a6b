package javatext

// ParseTime reads a time of day the way CAST(s AS TIME) does: [h]h:[m]m[:[s]s[.fraction]], cut to microseconds,
// alone or behind a "T", and with "AM" or "PM" behind an hour of 1 to 12. It returns nanoseconds since
// midnight.
func ParseTime(s string) (nanos int64, ok bool) {
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	half := byte(0)
	if n := len(s); n > 2 && s[n-1]|0x20 == 'm' && (s[n-2]|0x20 == 'a' || s[n-2]|0x20 == 'p') {
		half = s[n-2] | 0x20
		s = s[:n-2]
	}
	t, ok := parseTimestampText(s)
	if !ok || !t.justTime || t.hasZone {
		return 0, false
	}
	if half != 0 {
		if t.hour < 1 || t.hour > 12 {
			return 0, false
		}
		t.hour %= 12
		if half == 'p' {
			t.hour += 12
		}
	}
	micros, ok := t.timeMicros()
	return micros * 1000, ok
}

// AppendTime writes HH:mm:ss, and a fraction without its trailing zeros if there is one, of nanoseconds since
// midnight.
func AppendTime(dst []byte, nanos int64) []byte {
	return appendClock(dst, int(nanos/nanosPerSecond), nanos%nanosPerSecond)
}
