package datumjson

import (
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
)

// Microseconds of the fields of a day-time interval, by columnar.IntervalField.
var fieldMicros = [...]int64{columnar.FieldDay: 86400e6, columnar.FieldHour: 3600e6, columnar.FieldMinute: 60e6, columnar.FieldSecond: 1e6}

func appendUnits(dst []byte, t *columnar.Type) []byte {
	dst = append(dst, strings.ToUpper(t.Start.String())...)
	if t.Start != t.End {
		dst = append(dst, " TO "...)
		dst = append(dst, strings.ToUpper(t.End.String())...)
	}
	return dst
}

// magnitude is |v|, also for the least int64.
func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func appendYearMonth(dst []byte, t *columnar.Type, months int32) []byte {
	dst = append(dst, "INTERVAL '"...)
	if months < 0 {
		dst = append(dst, '-')
	}
	m := magnitude(int64(months))
	switch {
	case t.End == columnar.FieldYear:
		dst = strconv.AppendUint(dst, m/12, 10)
	case t.Start == columnar.FieldMonth:
		dst = strconv.AppendUint(dst, m, 10)
	default:
		dst = strconv.AppendUint(dst, m/12, 10)
		dst = append(dst, '-')
		dst = strconv.AppendUint(dst, m%12, 10)
	}
	return appendUnits(append(dst, "' "...), t)
}

func appendDayTime(dst []byte, t *columnar.Type, micros int64) []byte {
	dst = append(dst, "INTERVAL '"...)
	if micros < 0 {
		dst = append(dst, '-')
	}
	rest := magnitude(micros)
	for f := t.Start; f <= t.End; f++ {
		switch {
		case f == t.Start:
		case f == columnar.FieldHour:
			dst = append(dst, ' ')
		default:
			dst = append(dst, ':')
		}
		n := rest / uint64(fieldMicros[f])
		rest %= uint64(fieldMicros[f])
		if f != columnar.FieldDay && n < 10 {
			dst = append(dst, '0')
		}
		dst = strconv.AppendUint(dst, n, 10)
	}
	if t.End == columnar.FieldSecond {
		dst = appendFraction(dst, rest)
	}
	return appendUnits(append(dst, "' "...), t)
}

// appendFraction writes microseconds below a second as ".5", without trailing zeros.
func appendFraction(dst []byte, micros uint64) []byte {
	if micros == 0 {
		return dst
	}
	s := strconv.FormatUint(1e6+micros, 10)[1:]
	dst = append(dst, '.')
	return append(dst, strings.TrimRight(s, "0")...)
}

func appendCalendar(dst []byte, v columnar.CalendarInterval) []byte {
	start := len(dst)
	unit := func(n int64, name string) {
		if n == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = strconv.AppendInt(dst, n, 10)
		dst = append(dst, name...)
	}
	unit(int64(v.Months/12), " years")
	unit(int64(v.Months%12), " months")
	unit(int64(v.Days), " days")
	unit(v.Micros/3600e6, " hours")
	unit(v.Micros/60e6%60, " minutes")
	if s := v.Micros % 60e6; s != 0 {
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if s < 0 {
			dst = append(dst, '-')
		}
		m := magnitude(s)
		dst = strconv.AppendUint(dst, m/1e6, 10)
		dst = appendFraction(dst, m%1e6)
		dst = append(dst, " seconds"...)
	}
	if len(dst) == start {
		dst = append(dst, "0 seconds"...)
	}
	return dst
}

// ansiBody cuts "INTERVAL '" and the units of t off s, and the sign.
func ansiBody(t *columnar.Type, s string) (body string, negative, ok bool) {
	s, ok = strings.CutPrefix(s, "INTERVAL '")
	if !ok {
		return "", false, false
	}
	s, ok = strings.CutSuffix(s, "' "+string(appendUnits(nil, t)))
	if !ok {
		return "", false, false
	}
	body, negative = strings.CutPrefix(s, "-")
	return body, negative, true
}

func parseYearMonth(t *columnar.Type, s string) (int32, bool) {
	body, negative, ok := ansiBody(t, s)
	if !ok {
		return 0, false
	}
	var months int64
	switch {
	case t.End == columnar.FieldYear:
		months, ok = digits(body, 1, 9)
		months *= 12
	case t.Start == columnar.FieldMonth:
		months, ok = digits(body, 1, 10)
	default:
		y, m, cut := strings.Cut(body, "-")
		years, ok1 := digits(y, 1, 9)
		rest, ok2 := digits(m, 1, 2)
		months, ok = years*12+rest, cut && ok1 && ok2
	}
	if negative {
		months = -months
	}
	return int32(months), ok && months == int64(int32(months))
}

func parseDayTime(t *columnar.Type, s string) (int64, bool) {
	body, negative, ok := ansiBody(t, s)
	if !ok {
		return 0, false
	}
	frac := ""
	if t.End == columnar.FieldSecond {
		body, frac, _ = strings.Cut(body, ".")
	}
	part := strings.FieldsFunc(body, func(r rune) bool { return r == ' ' || r == ':' })
	if len(part) != int(t.End-t.Start)+1 {
		return 0, false
	}
	var total uint64
	for i, p := range part {
		n, ok := digits(p, 1, 18)
		if !ok {
			return 0, false
		}
		total += uint64(n) * uint64(fieldMicros[int(t.Start)+i])
	}
	if frac != "" {
		n, ok := digits(frac, 1, 6)
		if !ok {
			return 0, false
		}
		for i := len(frac); i < 6; i++ {
			n *= 10
		}
		total += uint64(n)
	}
	if negative {
		return int64(-total), total <= 1<<63
	}
	return int64(total), total < 1<<63
}

func parseCalendar(s string) (v columnar.CalendarInterval, ok bool) {
	word := strings.Fields(s)
	if len(word) == 0 || len(word)%2 != 0 {
		return v, false
	}
	for i := 0; i < len(word); i += 2 {
		text, frac, dot := strings.Cut(word[i], ".")
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || dot && word[i+1] != "seconds" {
			return v, false
		}
		switch word[i+1] {
		case "years":
			v.Months += int32(n * 12)
		case "months":
			v.Months += int32(n)
		case "days":
			v.Days += int32(n)
		case "hours":
			v.Micros += n * 3600e6
		case "minutes":
			v.Micros += n * 60e6
		case "seconds":
			f, ok := digits((frac + "000000")[:max(6, len(frac))], 6, 6)
			if !ok {
				return v, false
			}
			if strings.HasPrefix(text, "-") {
				f = -f
			}
			v.Micros += n*1e6 + f
		default:
			return v, false
		}
	}
	return v, true
}
