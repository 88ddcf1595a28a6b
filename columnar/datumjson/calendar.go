package datumjson

import (
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar/javatext"
)

func appendPadded(dst []byte, v int64, width int) []byte {
	s := strconv.FormatInt(v, 10)
	for i := len(s); i < width; i++ {
		dst = append(dst, '0')
	}
	return append(dst, s...)
}

func appendTimestamp(dst []byte, micros int64) []byte {
	const day = 86400e6
	days := javatext.FloorDiv(micros, day)
	rest := micros - days*day
	dst = append(javatext.AppendDate(dst, int32(days)), 'T')
	dst = append(appendPadded(dst, rest/3600e6, 2), ':')
	dst = append(appendPadded(dst, rest/60e6%60, 2), ':')
	dst = append(appendPadded(dst, rest/1e6%60, 2), '.')
	return appendPadded(dst, rest%1e6, 6)
}

// digits reads s as a number of at least min and at most max digits.
func digits(s string, min, max int) (int64, bool) {
	if len(s) < min || len(s) > max {
		return 0, false
	}
	var n int64
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

// parseDays reads a date as days since 1970-01-01.
func parseDays(s string) (int64, bool) {
	sign := int64(1)
	if strings.HasPrefix(s, "-") {
		sign = -1
	}
	part := strings.Split(strings.TrimLeft(s, "+-"), "-")
	if len(part) != 3 {
		return 0, false
	}
	y, ok1 := digits(part[0], 4, 7)
	m, ok2 := digits(part[1], 2, 2)
	d, ok3 := digits(part[2], 2, 2)
	if !ok1 || !ok2 || !ok3 || m < 1 || m > 12 || d < 1 {
		return 0, false
	}
	y *= sign
	return javatext.DaysFromCivil(y, int(m), int(d)), int(d) <= javatext.DaysInMonth(y, int(m))
}

func parseDate(s string) (int32, bool) {
	days, ok := parseDays(s)
	return int32(days), ok && days == int64(int32(days))
}

// parseClock reads HH:MM[:SS[.fraction]] as nanoseconds.
func parseClock(s string) (int64, bool) {
	s, frac, dot := strings.Cut(s, ".")
	part := strings.Split(s, ":")
	if len(part) < 2 || len(part) > 3 || dot && len(part) != 3 {
		return 0, false
	}
	var v [3]int64
	for i, p := range part {
		n, ok := digits(p, 2, 2)
		if !ok {
			return 0, false
		}
		v[i] = n
	}
	if v[0] > 23 || v[1] > 59 || v[2] > 59 {
		return 0, false
	}
	nanos := ((v[0]*60+v[1])*60 + v[2]) * 1e9
	if dot {
		f, ok := digits(frac, 1, 9)
		if !ok {
			return 0, false
		}
		for i := len(frac); i < 9; i++ {
			f *= 10
		}
		nanos += f
	}
	return nanos, true
}

// parseTimestamp reads an ISO date and time as microseconds; only with zone it may end in Z or ±HH:MM.
func parseTimestamp(s string, zone bool) (int64, bool) {
	var offset int64
	date, clock := s, ""
	if i := strings.IndexAny(s, "T "); i >= 0 {
		date, clock = s[:i], s[i+1:]
		if zone {
			if strings.HasSuffix(clock, "Z") {
				clock = clock[:len(clock)-1]
			} else if j := strings.LastIndexAny(clock, "+-"); j >= 0 {
				n, ok := parseClock(clock[j+1:])
				if !ok {
					return 0, false
				}
				if offset = n / 1000; clock[j] == '-' {
					offset = -offset
				}
				clock = clock[:j]
			}
		}
	}
	days, ok := parseDays(date)
	if !ok {
		return 0, false
	}
	nanos := int64(0)
	if clock != "" {
		if nanos, ok = parseClock(clock); !ok {
			return 0, false
		}
	}
	if days > 106751991 || days < -106751991 { // the limits of microseconds in 64 bits
		return 0, false
	}
	return days*86400e6 + nanos/1000 - offset, true
}
