package interval

import (
	"math"
	"strings"
)

// ParseYearMonth reads an interval of the type INTERVAL start TO end (both Year or Month), written
// as "1-2", "-1-2", "5", or as a whole literal such as "INTERVAL '1-2' YEAR TO MONTH".
// The result is in months. Errors carry the conditions INVALID_INTERVAL_FORMAT.*.
func ParseYearMonth(text string, start, end Field) (int32, error) {
	c := ansiScanner{s: trimAll(text)}
	literal := c.literalPrefix()
	negative := c.sign(false)
	if literal {
		if !c.byte('\'') {
			return 0, unmatched(text, start, end)
		}
		negative = c.sign(negative)
	}
	first, ok := c.digits(math.MaxInt)
	if !ok {
		return 0, unmatched(text, start, end)
	}
	second := ""
	if start != end {
		if !c.byte('-') {
			return 0, unmatched(text, start, end)
		}
		if second, ok = c.digits(math.MaxInt); !ok {
			return 0, unmatched(text, start, end)
		}
	}
	if !c.finish(literal, start, end) {
		return 0, unmatched(text, start, end)
	}
	var months int64
	switch {
	case start != end:
		years, okYear := inRange(first, math.MaxInt32/12)
		rest, okMonth := inRange(second, 11)
		months, ok = years*12+rest, okYear && okMonth
	case start == Year:
		months, ok = inRange(first, math.MaxInt32/12)
		months *= 12
	default:
		months, ok = inRange(first, math.MaxInt32)
	}
	if negative {
		months = -months
	}
	if !ok || months > math.MaxInt32 {
		return 0, formatError("INTERVAL_PARSING", text, "Error parsing interval year-month string.")
	}
	return int32(months), nil
}

// ParseDayTime reads an interval of the type INTERVAL start TO end (both of Day to Second), written
// as "1 02:03:04.5", "30:15", "-7", or as a whole literal such as "INTERVAL '1' DAY". The first
// field may be of any size, the others of at most two digits within their range. The result is in
// microseconds; further digits of a fraction are cut. Errors carry the conditions
// INVALID_INTERVAL_FORMAT.*.
func ParseDayTime(text string, start, end Field) (int64, error) {
	c := ansiScanner{s: trimAll(text)}
	literal := c.literalPrefix()
	negative := c.sign(false)
	if literal {
		if !c.byte('\'') {
			return 0, unmatched(text, start, end)
		}
		negative = c.sign(negative)
	}
	var fields [Second + 1]string
	for f := start; f <= end; f++ {
		if f > start {
			sep := byte(':')
			if f == Hour {
				sep = ' '
			}
			if !c.byte(sep) {
				return 0, unmatched(text, start, end)
			}
		}
		var ok bool
		if fields[f], ok = c.digits(maxDigits(f, f == start)); !ok {
			return 0, unmatched(text, start, end)
		}
	}
	nanos := int64(0)
	if end == Second {
		var ok bool
		if nanos, ok = c.fraction(); !ok {
			return 0, unmatched(text, start, end)
		}
	}
	if !c.finish(literal, start, end) {
		return 0, unmatched(text, start, end)
	}
	micros, ok := nanos/1000, true
	if negative {
		micros = -micros
	}
	for f := start; f <= end && ok; f++ {
		limit := int64(math.MaxInt64) / fieldMicros(f)
		if f > start {
			limit = map[Field]int64{Hour: 23, Minute: 59, Second: 59}[f]
		}
		var v int64
		if v, ok = inRange(fields[f], limit); ok {
			if negative {
				v = -v
			}
			micros, ok = addExact(micros, v*fieldMicros(f))
		}
	}
	if !ok {
		return 0, formatError("INTERVAL_PARSING", text, "Error parsing interval day-time string.")
	}
	return micros, nil
}

// UnsupportedFromTo is the error of a literal INTERVAL 'text' from TO to whose fields do not go together.
func UnsupportedFromTo(text, from, to string) error {
	return formatError("UNSUPPORTED_FROM_TO_EXPRESSION", text, "Cannot support (interval '%s' %s to %s) expression.",
		text, strings.ToLower(from), strings.ToLower(to))
}

// maxDigits is how many digits a field may have, as the first one or a later one.
func maxDigits(f Field, first bool) int {
	if !first {
		return 2
	}
	return map[Field]int{Day: 9, Hour: 10, Minute: 12, Second: 13}[f]
}

func fieldMicros(f Field) int64 {
	switch f {
	case Day:
		return MicrosPerDay
	case Hour:
		return MicrosPerHour
	case Minute:
		return MicrosPerMinute
	default:
		return MicrosPerSecond
	}
}

// inRange reads digits as a number from 0 to limit.
func inRange(digits string, limit int64) (int64, bool) {
	v := int64(0)
	for i := 0; i < len(digits); i++ {
		d := int64(digits[i] - '0')
		if v > (limit-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}

// shape is the form that the text of an interval type must have, e.g. "d h:m:s.n".
func shape(start, end Field) string {
	letters := [...]string{"y", "m", "d", "h", "m", "s.n"}
	var b strings.Builder
	for f := start; f <= end; f++ {
		if f > start {
			switch f {
			case Month:
				b.WriteByte('-')
			case Hour:
				b.WriteByte(' ')
			default:
				b.WriteByte(':')
			}
		}
		b.WriteString(letters[f])
	}
	return b.String()
}

// typeName is "DAY TO SECOND" or just "DAY".
func typeName(start, end Field) string {
	if start == end {
		return start.String()
	}
	return start.String() + " TO " + end.String()
}

// unmatched is the error of a text that has not the form of its type.
func unmatched(text string, start, end Field) error {
	kind, sub, notice := "year-month", "UNMATCHED_FORMAT_STRING", ""
	if !start.YearMonth() {
		kind, sub = "day-time", "UNMATCHED_FORMAT_STRING_WITH_NOTICE"
		notice = ` Set "spark.sql.legacy.fromDayTimeString.enabled" to "true" to restore the behavior before Spark 3.0.`
	}
	s, name := shape(start, end), typeName(start, end)
	return formatError(sub, text, "Interval string does not match %s format of `[+|-]%s`, `INTERVAL [+|-]'[+|-]%s' %s` when cast to interval %s: %s.%s",
		kind, s, s, name, strings.ToLower(name), text, notice)
}

// ansiScanner walks over the text of an ANSI interval.
type ansiScanner struct {
	s string
	i int
}

// literalPrefix skips the word INTERVAL of a whole literal.
func (c *ansiScanner) literalPrefix() bool {
	const word = "interval"
	if len(c.s) <= len(word) || !strings.EqualFold(c.s[:len(word)], word) || !isSpace(c.s[len(word)]) {
		return false
	}
	c.i = len(word)
	c.spaces()
	return true
}

// sign reads a sign, if there is one, and flips negative by it.
func (c *ansiScanner) sign(negative bool) bool {
	if c.byte('-') {
		return !negative
	}
	c.byte('+')
	return negative
}

func (c *ansiScanner) byte(b byte) bool {
	if c.i < len(c.s) && c.s[c.i] == b {
		c.i++
		return true
	}
	return false
}

func (c *ansiScanner) spaces() bool {
	start := c.i
	for c.i < len(c.s) && isSpace(c.s[c.i]) {
		c.i++
	}
	return c.i > start
}

func (c *ansiScanner) digits(most int) (string, bool) {
	start := c.i
	for c.i < len(c.s) && c.s[c.i] >= '0' && c.s[c.i] <= '9' {
		c.i++
	}
	n := c.i - start
	return c.s[start:c.i], n > 0 && n <= most
}

// fraction reads ".5" as nanoseconds; up to nine digits.
func (c *ansiScanner) fraction() (int64, bool) {
	if !c.byte('.') {
		return 0, true
	}
	d, ok := c.digits(9)
	if !ok {
		return 0, false
	}
	v, _ := inRange((d + "00000000")[:9], math.MaxInt64)
	return v, true
}

// finish reads the end of the text: nothing, or the quote and the fields of a whole literal.
func (c *ansiScanner) finish(literal bool, start, end Field) bool {
	if !literal {
		return c.i == len(c.s)
	}
	if !c.byte('\'') || !c.spaces() {
		return false
	}
	return strings.EqualFold(strings.Join(strings.Fields(c.s[c.i:]), " "), typeName(start, end))
}
