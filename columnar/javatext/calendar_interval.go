package javatext

import (
	"math"
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// CalendarInterval is Spark's INTERVAL of months, days and microseconds, which cannot be converted into each
// other.
type CalendarInterval struct {
	Months, Days int32
	Micros       int64
}

// ParseCalendarInterval reads numbers with units behind them, such as "1 year -2 days 3.5 seconds", with or without
// "interval" in front, in any case. Units are year, month, week, day, hour, minute, second, millisecond and
// microsecond, with or without an "s"; only seconds may have a fraction. Errors are INVALID_INTERVAL_FORMAT
// of some kind.
func ParseCalendarInterval(text string) (CalendarInterval, error) {
	p := calendarIntervalParser{text: text, s: strings.ToLower(TrimAll(text))}
	if p.s == "" {
		return CalendarInterval{}, p.fail("INPUT_IS_EMPTY", "Interval string cannot be empty.")
	}
	if rest, ok := strings.CutPrefix(p.s, "interval"); ok {
		if rest == "" {
			return CalendarInterval{}, p.fail("INPUT_IS_EMPTY", "Interval string cannot be empty.")
		}
		if !isJavaSpace(rest[0]) {
			return CalendarInterval{}, p.fail("INVALID_PREFIX", "Invalid interval prefix "+p.word()+".")
		}
		p.i = len("interval") + 1
	}
	p.skipSpace()
	for p.i < len(p.s) {
		if err := p.parseField(); err != nil {
			return CalendarInterval{}, err
		}
		p.skipSpace()
	}
	return p.result, nil
}

// calendarIntervalParser walks over the text of an interval.
type calendarIntervalParser struct {
	text, s string
	i       int
	result  CalendarInterval
}

func (p *calendarIntervalParser) fail(kind, text string) error {
	return sparkerr.New("INVALID_INTERVAL_FORMAT."+kind, "Error parsing '%s' to interval. Please ensure that the value provided is in a valid format for defining "+
		"an interval. You can reference the documentation for the correct format. %s", p.text, text)
}

// word returns the word at the position, or the last one.
func (p *calendarIntervalParser) word() string {
	words := strings.FieldsFunc(p.s, func(r rune) bool { return r < 0x80 && isJavaSpace(byte(r)) })
	at := len(strings.FieldsFunc(p.s[:min(p.i+1, len(p.s))], func(r rune) bool { return r < 0x80 && isJavaSpace(byte(r)) }))
	if at == 0 || len(words) == 0 {
		return ""
	}
	return words[min(at, len(words))-1]
}

// isJavaSpace is Character.isWhitespace for ASCII.
func isJavaSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' || c >= 0x1c && c <= 0x1f }

func (p *calendarIntervalParser) skipSpace() {
	for p.i < len(p.s) && isJavaSpace(p.s[p.i]) {
		p.i++
	}
}

// parseField reads a signed number and its unit.
func (p *calendarIntervalParser) parseField() error {
	negative := false
	pointFirst := false
	switch c := p.s[p.i]; {
	case c == '-' || c == '+':
		negative = c == '-'
		p.i++
		p.skipSpace()
		if p.i == len(p.s) {
			return p.fail("MISSING_NUMBER", "Expect a number after "+p.word()+" but hit EOL.")
		}
	case c == '.':
		pointFirst = true
	case !isASCIIDigit(c):
		return p.fail("UNRECOGNIZED_NUMBER", "Unrecognized number "+p.word()+".")
	}
	value := int64(0)
	hasFraction := pointFirst
	if !pointFirst {
		for ; p.i < len(p.s) && isASCIIDigit(p.s[p.i]); p.i++ {
			hi, ok := mulExact(value, 10)
			if hi, ok2 := addExact(hi, int64(p.s[p.i]-'0')); ok && ok2 {
				value = hi
				continue
			}
			return p.fail("ARITHMETIC_EXCEPTION", "Uncaught arithmetic exception while parsing '"+p.text+"'.")
		}
		if p.i < len(p.s) && p.s[p.i] == '.' {
			hasFraction = true
		}
	}
	fraction := int64(0)
	if hasFraction {
		p.i++
		from := p.i
		unit := int64(nanosPerSecond / 10)
		for ; p.i < len(p.s) && isASCIIDigit(p.s[p.i]); p.i++ {
			if unit == 0 {
				return p.fail("INVALID_PRECISION", "Interval can only support nanosecond precision, "+p.word()+" is out of range.")
			}
			fraction += int64(p.s[p.i]-'0') * unit
			unit /= 10
		}
		if pointFirst && p.i == from && p.i < len(p.s) {
			return p.fail("INVALID_VALUE", "Invalid value "+p.word()+".")
		}
		fraction /= 1000
	}
	switch {
	case p.i == len(p.s):
		return p.fail("MISSING_UNIT", "Expect a unit name after "+p.word()+" but hit EOL.")
	case !isJavaSpace(p.s[p.i]):
		return p.fail("INVALID_VALUE", "Invalid value "+p.word()+".")
	}
	p.skipSpace()
	if p.i == len(p.s) {
		return p.fail("UNKNOWN_PARSING_ERROR", "Unknown error when parsing "+p.word()+".")
	}
	if negative {
		value, fraction = -value, -fraction
	}
	return p.parseUnit(value, fraction, hasFraction)
}

// parseUnit reads a unit and adds so many of it to the result.
func (p *calendarIntervalParser) parseUnit(value, fraction int64, hasFraction bool) error {
	if hasFraction && p.s[p.i] != 's' {
		return p.fail("INVALID_FRACTION", p.word()+" cannot have fractional part.")
	}
	rest := p.s[p.i:]
	var ok bool
	is := func(unit string) bool {
		if strings.HasPrefix(rest, unit) {
			p.i += len(unit)
			return true
		}
		return false
	}
	r := &p.result
	switch {
	case is("year"):
		r.Months, ok = addScaled(r.Months, value, 12)
	case is("month"):
		r.Months, ok = addScaled(r.Months, value, 1)
	case is("week"):
		r.Days, ok = addScaled(r.Days, value, 7)
	case is("day"):
		r.Days, ok = addScaled(r.Days, value, 1)
	case is("hour"):
		r.Micros, ok = addMicros(r.Micros, value, microsPerHour)
	case is("minute"):
		r.Micros, ok = addMicros(r.Micros, value, microsPerMinute)
	case is("second"):
		if r.Micros, ok = addMicros(r.Micros, value, microsPerSecond); ok {
			r.Micros, ok = addExact(r.Micros, fraction)
		}
	case is("millisecond"):
		r.Micros, ok = addMicros(r.Micros, value, 1000)
	case is("microsecond"):
		r.Micros, ok = addMicros(r.Micros, value, 1)
	default:
		return p.fail("INVALID_UNIT", "Invalid unit "+p.word()+".")
	}
	if !ok {
		return p.fail("ARITHMETIC_EXCEPTION", "Uncaught arithmetic exception while parsing '"+p.text+"'.")
	}
	if p.i < len(p.s) && p.s[p.i] == 's' {
		p.i++
	}
	if p.i < len(p.s) && !isJavaSpace(p.s[p.i]) {
		return p.fail("INVALID_UNIT", "Invalid unit "+p.word()+".")
	}
	return nil
}

func addExact(a, b int64) (int64, bool) {
	sum := a + b
	return sum, (a < 0) != (b < 0) || (sum < 0) == (a < 0)
}

func mulExact(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	product := a * b
	return product, product/b == a && !(a == math.MinInt64 && b == -1) && !(b == math.MinInt64 && a == -1)
}

// addScaled returns sum + value*unit within 32 bits.
func addScaled(sum int32, value, unit int64) (int32, bool) {
	v, ok := mulExact(value, unit)
	if !ok {
		return 0, false
	}
	v, ok = addExact(v, int64(sum))
	return int32(v), ok && v == int64(int32(v))
}

// addMicros returns sum + value*unit.
func addMicros(sum, value, unit int64) (int64, bool) {
	v, ok := mulExact(value, unit)
	if !ok {
		return 0, false
	}
	return addExact(sum, v)
}

// AppendCalendarInterval writes the interval as Spark does: "1 years 2 months 21 days 5 hours 7.5 seconds", without
// the parts that are zero; "0 seconds" if all are.
func AppendCalendarInterval(dst []byte, v CalendarInterval) []byte {
	if v == (CalendarInterval{}) {
		return append(dst, "0 seconds"...)
	}
	start := len(dst)
	part := func(n int64, unit string) {
		if n == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = appendInt(dst, n)
		dst = append(dst, unit...)
	}
	part(int64(v.Months/12), " years")
	part(int64(v.Months%12), " months")
	part(int64(v.Days), " days")
	part(v.Micros/microsPerHour, " hours")
	part(v.Micros%microsPerHour/microsPerMinute, " minutes")
	if rest := v.Micros % microsPerMinute; rest != 0 {
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if rest < 0 {
			dst = append(dst, '-')
			rest = -rest
		}
		dst = appendInt(dst, rest/microsPerSecond)
		dst = appendFraction(dst, rest%microsPerSecond*1000)
		dst = append(dst, " seconds"...)
	}
	return dst
}

// Duration returns the length of the days, of 24 hours each, and microseconds of v. ok is false if it leaves 64
// bits (INTERVAL_ARITHMETIC_OVERFLOW).
func (v CalendarInterval) Duration() (micros int64, ok bool) {
	return addMicros(v.Micros, int64(v.Days), microsPerDay)
}
