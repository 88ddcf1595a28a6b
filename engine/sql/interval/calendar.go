package interval

import (
	"math"
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// Calendar is an interval whose months, days and microseconds are kept apart, since a month has no
// fixed number of days and a day no fixed number of hours.
type Calendar struct {
	Months int32
	Days   int32
	Micros int64
}

// Duration is the interval's length in microseconds, with days of 24 hours and months left out.
// The second result is false on overflow.
func (c Calendar) Duration() (int64, bool) {
	days, ok := mulExact(int64(c.Days), MicrosPerDay)
	if !ok {
		return 0, false
	}
	return addExact(days, c.Micros)
}

// formatError makes the INVALID_INTERVAL_FORMAT error of a sub-condition.
func formatError(sub, input, format string, args ...any) *sparkerr.Error {
	e := sparkerr.New("INVALID_INTERVAL_FORMAT."+sub, format, args...)
	e.Message = "Error parsing '" + input + "' to interval. Please ensure that the value provided is in a valid format " +
		"for defining an interval. You can reference the documentation for the correct format. " + e.Message
	return e
}

// Parse reads an interval of units such as "1 day 2 hours", "interval -1.5 seconds" or
// "5 minutes". A week is 7 days; only seconds may have a fraction, of which six digits count.
// Errors carry the conditions INVALID_INTERVAL_FORMAT.*.
func Parse(text string) (Calendar, error) {
	p := calendarParser{input: text, s: strings.ToLower(trimAll(text))}
	if p.s == "" {
		return Calendar{}, formatError("INPUT_IS_EMPTY", text, "Interval string cannot be empty.")
	}
	if rest, ok := strings.CutPrefix(p.s, "interval"); ok {
		if rest == "" {
			return Calendar{}, formatError("INPUT_IS_EMPTY", text, "Interval string cannot be empty.")
		}
		if !isSpace(rest[0]) {
			return Calendar{}, formatError("INVALID_PREFIX", text, "Invalid interval prefix %s.", p.wordAt(0))
		}
		p.i = len(p.s) - len(rest)
	}
	for p.skipSpace(); p.i < len(p.s); p.skipSpace() {
		if err := p.pair(); err != nil {
			return Calendar{}, err
		}
	}
	return p.sum, nil
}

// calendarParser holds the place in a text of number and unit pairs.
type calendarParser struct {
	input string // as given, for messages
	s     string // trimmed, in lower case
	i     int
	sum   Calendar
}

// noFraction marks a number without a point.
const noFraction = -1

// pair reads one number with its unit and adds it to the sum.
func (p *calendarParser) pair() error {
	negative := false
	point := false
	switch c := p.s[p.i]; {
	case c == '-' || c == '+':
		negative = c == '-'
		p.i++
		p.skipSpace()
		if p.i == len(p.s) {
			return formatError("MISSING_NUMBER", p.input, "Expect a number after %s but hit EOL.", p.lastWord())
		}
	case c == '.':
		point = true
		p.i++
	case c < '0' || c > '9':
		return formatError("UNRECOGNIZED_NUMBER", p.input, "Unrecognized number %s.", p.wordAt(p.i))
	}
	value, nanos, scale, err := p.number(point)
	if err != nil {
		return err
	}
	p.skipSpace()
	if p.i == len(p.s) {
		return formatError("MISSING_UNIT", p.input, "Expect a unit name after %s but hit EOL.", p.lastWord())
	}
	return p.unit(value, nanos, scale, negative)
}

// number reads the digits of a number: its whole part, its fraction in nanoseconds, and the scale
// left (noFraction if there was no point).
func (p *calendarParser) number(point bool) (value, nanos, scale int64, err error) {
	const full = 100_000_000
	scale = noFraction
	for !point {
		if p.i == len(p.s) {
			return 0, 0, 0, formatError("MISSING_UNIT", p.input, "Expect a unit name after %s but hit EOL.", p.lastWord())
		}
		c := p.s[p.i]
		switch {
		case c >= '0' && c <= '9':
			v, ok := mulExact(value, 10)
			if ok {
				v, ok = addExact(v, int64(c-'0'))
			}
			if !ok {
				return 0, 0, 0, p.overflow()
			}
			value = v
		case isSpace(c):
			return value, 0, scale, nil
		case c == '.':
			point = true
		default:
			return 0, 0, 0, formatError("INVALID_VALUE", p.input, "Invalid value %s.", p.wordAt(p.i))
		}
		p.i++
	}
	for scale = full; ; p.i++ {
		if p.i == len(p.s) {
			return 0, 0, 0, formatError("MISSING_UNIT", p.input, "Expect a unit name after %s but hit EOL.", p.lastWord())
		}
		c := p.s[p.i]
		switch {
		case c >= '0' && c <= '9' && scale > 0:
			nanos += int64(c-'0') * scale
			scale /= 10
		case isSpace(c) && scale != full:
			return value, nanos, scale, nil
		case c >= '0' && c <= '9':
			return 0, 0, 0, formatError("INVALID_PRECISION", p.input,
				"Interval can only support nanosecond precision, %s is out of range.", p.wordAt(p.i))
		default:
			return 0, 0, 0, formatError("INVALID_VALUE", p.input, "Invalid value %s.", p.wordAt(p.i))
		}
	}
}

// unit reads a unit name and adds value of it to the sum.
func (p *calendarParser) unit(value, nanos, scale int64, negative bool) error {
	word := p.wordAt(p.i)
	if scale != noFraction && p.s[p.i] != 's' {
		return formatError("INVALID_FRACTION", p.input, "%s cannot have fractional part.", word)
	}
	p.i += len(word)
	micros := nanos / 1000
	if negative {
		value, micros = -value, -micros
	}
	var ok bool
	switch strings.TrimSuffix(word, "s") {
	case "year":
		p.sum.Months, ok = addScaled(p.sum.Months, value, 12)
	case "month":
		p.sum.Months, ok = addScaled(p.sum.Months, value, 1)
	case "week":
		p.sum.Days, ok = addScaled(p.sum.Days, value, 7)
	case "day":
		p.sum.Days, ok = addScaled(p.sum.Days, value, 1)
	case "hour":
		ok = p.addMicros(value, MicrosPerHour)
	case "minute":
		ok = p.addMicros(value, MicrosPerMinute)
	case "second":
		ok = p.addMicros(value, MicrosPerSecond) && p.addMicros(micros, 1)
	case "millisecond":
		ok = p.addMicros(value, MicrosPerMilli)
	case "microsecond":
		ok = p.addMicros(value, 1)
	default:
		return formatError("INVALID_UNIT", p.input, "Invalid unit %s.", word)
	}
	if !ok {
		return p.overflow()
	}
	return nil
}

func (p *calendarParser) overflow() error {
	return formatError("ARITHMETIC_EXCEPTION", p.input, "Uncaught arithmetic exception while parsing '%s'.", p.input)
}

func (p *calendarParser) addMicros(value, unit int64) bool {
	v, ok := mulExact(value, unit)
	if !ok {
		return false
	}
	p.sum.Micros, ok = addExact(p.sum.Micros, v)
	return ok
}

func (p *calendarParser) skipSpace() {
	for p.i < len(p.s) && isSpace(p.s[p.i]) {
		p.i++
	}
}

// wordAt is the word around the byte at i.
func (p *calendarParser) wordAt(i int) string {
	start, end := i, i
	for start > 0 && !isSpace(p.s[start-1]) {
		start--
	}
	for end < len(p.s) && !isSpace(p.s[end]) {
		end++
	}
	return p.s[start:end]
}

// lastWord is the last word of the text.
func (p *calendarParser) lastWord() string {
	if p.s == "" {
		return ""
	}
	return p.wordAt(len(p.s) - 1)
}

// addScaled is sum + value*unit in 32 bits.
func addScaled(sum int32, value, unit int64) (int32, bool) {
	v, ok := mulExact(value, unit)
	if !ok {
		return 0, false
	}
	v, ok = addExact(int64(sum), v)
	if !ok || v > math.MaxInt32 || v < math.MinInt32 {
		return 0, false
	}
	return int32(v), true
}

// isSpace tells whether c is white space or a control character, as Spark's trimAll has it.
func isSpace(c byte) bool { return c <= ' ' || c == 0x7f }

func trimAll(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r < 0x80 && isSpace(byte(r)) })
}

func mulExact(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	c := a * b
	if c/b != a || (a == -1 && b == math.MinInt64) || (b == -1 && a == math.MinInt64) {
		return 0, false
	}
	return c, true
}

func addExact(a, b int64) (int64, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}
