package javatext

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// parsedDatetime is what has been read so far.
type parsedDatetime struct {
	has    uint32 // bits of the fields
	values [fieldCount]int64
	zone   *Zone
}

// datetimeParser reads a text by the items of a pattern.
type datetimeParser struct {
	s string
	parsedDatetime
	err error // a refusal for another reason than the text at the position
}

func (p *parsedDatetime) isSet(f datetimeField) bool { return p.has>>f&1 != 0 }

func (p *parsedDatetime) set(f datetimeField, v int64) {
	p.has |= 1 << f
	p.values[f] = v
}

// take returns a value and removes it.
func (p *parsedDatetime) take(f datetimeField) int64 {
	p.has &^= 1 << f
	return p.values[f]
}

// ParseTimestamp reads a timestamp, as to_timestamp(s, pattern) does; a text without a zone is a wall clock of the given one.
// What the text leaves open is taken from 1970-01-01 00:00. The error is CANNOT_PARSE_TIMESTAMP; instead is the
// function that it advises to use ("try_to_timestamp", "try_to_date").
func (f *DatetimeFormatter) ParseTimestamp(s string, zone *Zone, instead string) (micros int64, err error) {
	p := datetimeParser{s: s}
	days, nanos, err := f.parse(&p)
	if err == nil {
		if p.zone != nil {
			zone = p.zone
		}
		// Between a zone and an offset the zone decides.
		var ok bool
		switch {
		case p.zone == nil && p.isSet(fieldOffset):
			micros, ok = localMoment(days, nanos/1000, nil, p.values[fieldOffset]*microsPerSecond)
		default:
			micros, ok = localMoment(days, nanos/1000, zone, 0)
		}
		if ok {
			return micros, nil
		}
		err = &JavaError{Exception: "java.lang.ArithmeticException", Text: "long overflow"}
	}
	return 0, cannotParse(err, instead)
}

// ParseTimestampNTZ reads a timestamp without time zone; a zone in the text is ignored, or refused if allowZone is false.
func (f *DatetimeFormatter) ParseTimestampNTZ(s string, allowZone bool, instead string) (micros int64, err error) {
	p := datetimeParser{s: s}
	days, nanos, err := f.parse(&p)
	if err == nil && !allowZone && (p.zone != nil || p.isSet(fieldOffset)) {
		err = dateTimeException("Text '" + abbreviated(s) + "' could not be parsed: it has a zone")
	}
	if err == nil {
		if micros, ok := addDays(nanos/1000, days); ok {
			return micros, nil
		}
		err = &JavaError{Exception: "java.lang.ArithmeticException", Text: "long overflow"}
	}
	return 0, cannotParse(err, instead)
}

// ParseDate reads a date; the time and the zone in the text are ignored.
func (f *DatetimeFormatter) ParseDate(s, instead string) (days int32, err error) {
	p := datetimeParser{s: s}
	d, _, err := f.parse(&p)
	if err == nil {
		if days = int32(d); int64(days) == d {
			return days, nil
		}
		err = &JavaError{Exception: "java.lang.ArithmeticException", Text: "integer overflow"}
	}
	return 0, cannotParse(err, instead)
}

// ParseTime reads a time of day, as to_time(s, pattern); what is missing is zero. It returns nanoseconds.
func (f *DatetimeFormatter) ParseTime(s string) (nanos int64, err error) {
	p := datetimeParser{s: s}
	if err := f.read(&p); err != nil {
		return 0, err
	}
	_, nanos, _, hasTime, err := p.resolve()
	if err != nil {
		return 0, couldNotParse(s, err)
	}
	if !hasTime {
		nanos, err = p.missingTime()
	}
	return nanos, err
}

func cannotParse(err error, instead string) error {
	return sparkerr.New("CANNOT_PARSE_TIMESTAMP", "%s. Use `%s` to tolerate invalid input string and return NULL instead.", err.Error(), instead).WithCause(err)
}

// abbreviated cuts a text for a message.
func abbreviated(s string) string {
	if utf16Length(s) <= 64 {
		return s
	}
	units := 0
	for i, r := range s {
		if units >= 64 {
			return s[:i] + "..."
		}
		units++
		if r > 0xffff {
			units++
		}
	}
	return s
}

func couldNotParse(s string, err error) error {
	return dateTimeException("Text '" + abbreviated(s) + "' could not be parsed: " + err.Error())
}

// read matches the whole text.
func (f *DatetimeFormatter) read(p *datetimeParser) error {
	if !utf8.ValidString(p.s) {
		p.s = javaString(p.s)
	}
	end := p.parseItems(f.items, 0)
	switch {
	case p.err != nil:
		return couldNotParse(p.s, p.err)
	case end < 0:
		return dateTimeException("Text '" + abbreviated(p.s) + "' could not be parsed at index " + strconv.Itoa(utf16Length(p.s[:min(^end, len(p.s))])))
	case end < len(p.s):
		return dateTimeException("Text '" + abbreviated(p.s) + "' could not be parsed, unparsed text found at index " + strconv.Itoa(utf16Length(p.s[:end])))
	}
	return nil
}

// parse reads the text and makes a date and a time of it.
func (f *DatetimeFormatter) parse(p *datetimeParser) (days, nanos int64, err error) {
	if err := f.read(p); err != nil {
		return 0, 0, err
	}
	days, nanos, hasDate, hasTime, err := p.resolve()
	if err != nil {
		return 0, 0, couldNotParse(p.s, err)
	}
	if p.zone == nil {
		if err = p.checkOffset(); err != nil {
			return 0, 0, err
		}
	}
	if !hasDate {
		if days, err = p.missingDate(); err != nil {
			return 0, 0, err
		}
	}
	if !hasTime {
		if nanos, err = p.missingTime(); err != nil {
			return 0, 0, err
		}
	}
	return days, nanos, nil
}

// parseItems returns where the items end in the text, or the complement of where they do not match.
func (p *datetimeParser) parseItems(items []datetimeItem, i int) int {
	for k := range items {
		item := &items[k]
		switch item.kind {
		case itemLiteral:
			n, ok := hasPrefixFold(p.s[i:], item.text)
			if !ok {
				return ^i
			}
			i += n
		case itemOptional:
			saved := p.parsedDatetime
			end := p.parseItems(item.items, i)
			if end < 0 {
				p.parsedDatetime = saved
			} else {
				i = end
			}
		case itemNumber, itemReduced:
			i = p.parseNumber(item, i)
		case itemFraction:
			i = p.parseFraction(item, i)
		case itemText:
			i = p.parseText(item, i)
		case itemOffset:
			i = p.parseOffset(item, i)
		case itemLocalizedOffset:
			i = p.parseLocalizedOffset(item, i)
		case itemZoneID:
			i = p.parseZone(zoneNameTables().ids, i)
		case itemZoneText:
			names := zoneNameTables().short
			if item.long {
				names = zoneNameTables().long
			}
			i = p.parseZone(names, i)
		}
		if i < 0 || p.err != nil {
			return i
		}
	}
	return i
}

// hasPrefixFold tells whether s begins with the prefix in any case, and how long that is in s.
func hasPrefixFold(s, prefix string) (length int, ok bool) {
	if strings.HasPrefix(s, prefix) {
		return len(prefix), true
	}
	for _, r := range prefix {
		q, n := utf8.DecodeRuneInString(s[length:])
		if n == 0 || q != r && unicode.ToUpper(q) != unicode.ToUpper(r) && unicode.ToLower(q) != unicode.ToLower(r) {
			return 0, false
		}
		length += n
	}
	return length, true
}

// setParsed sets a field, and returns the complement of from if it had another value.
func (p *datetimeParser) setParsed(f datetimeField, v int64, from, end int) int {
	if p.isSet(f) && p.values[f] != v {
		p.values[f] = v
		return ^from
	}
	p.set(f, v)
	return end
}

func (p *datetimeParser) parseNumber(item *datetimeItem, i int) int {
	s := p.s
	if i == len(s) {
		return ^i
	}
	negative, positive := s[i] == '-', s[i] == '+'
	if negative || positive {
		if item.sign == signNotNegative || positive && item.sign == signNormal {
			return ^i
		}
		i++
	}
	minEnd := i + item.minWidth
	if minEnd > len(s) {
		return ^i
	}
	end := i
	for end < len(s) && end-i < item.maxWidth+item.subsequent && isASCIIDigit(s[end]) {
		end++
	}
	if end < minEnd {
		return ^i
	}
	if item.subsequent > 0 {
		// The digits of the numbers that follow are left to them.
		end = max(minEnd, end-item.subsequent)
	}
	total, err := strconv.ParseInt(s[i:end], 10, 64)
	if err != nil {
		return ^i
	}
	switch {
	case negative:
		if total == 0 {
			return ^(i - 1)
		}
		total = -total
	case item.sign == signExceedsPad && positive:
		if end-i <= item.minWidth {
			return ^(i - 1)
		}
	case item.sign == signExceedsPad && end-i > item.minWidth:
		return ^i
	}
	if item.kind == itemReduced && end-i == item.minWidth && total >= 0 {
		total += 2000
	}
	return p.setParsed(item.field, total, i, end)
}

func (p *datetimeParser) parseFraction(item *datetimeItem, i int) int {
	s := p.s
	if i == len(s) {
		if item.minWidth > 0 {
			return ^i
		}
		return i
	}
	if i+item.minWidth > len(s) {
		return ^i
	}
	total := int64(0)
	end := i
	for end < len(s) && end-i < item.maxWidth && isASCIIDigit(s[end]) {
		total = total*10 + int64(s[end]-'0')
		end++
	}
	if end < i+item.minWidth {
		return ^i
	}
	for n := end - i; n < 9; n++ {
		total *= 10
	}
	return p.setParsed(fieldNano, total, i, end)
}

func (p *datetimeParser) parseText(item *datetimeItem, i int) int {
	texts, first := fieldTexts(item.field, item.long)
	// Longer texts go first; where one begins with another, as with none of these, the order would matter.
	for k, text := range texts {
		if n, ok := hasPrefixFold(p.s[i:], text); ok {
			return p.setParsed(item.field, first+int64(k), i, i+n)
		}
	}
	return ^i
}
