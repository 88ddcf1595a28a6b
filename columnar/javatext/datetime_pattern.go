package javatext

import (
	"strings"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// datetimeField is a field of java.time that a pattern letter stands for.
type datetimeField uint8

const (
	fieldEra datetimeField = iota
	fieldYearOfEra
	fieldYear
	fieldQuarter
	fieldMonth
	fieldDayOfYear
	fieldDayOfMonth
	fieldAlignedDay
	fieldDayOfWeek
	fieldAmPm
	fieldHour
	fieldClockHour
	fieldHourOfAmPm
	fieldClockHourOfAmPm
	fieldMinute
	fieldSecond
	fieldNano
	fieldJulianDay
	fieldOffset
	fieldCount
)

// fieldNames are the names in Java's messages.
var fieldNames = [fieldCount]string{
	"Era", "YearOfEra", "Year", "QuarterOfYear", "MonthOfYear", "DayOfYear", "DayOfMonth", "AlignedDayOfWeekInMonth", "DayOfWeek", "AmPmOfDay",
	"HourOfDay", "ClockHourOfDay", "HourOfAmPm", "ClockHourOfAmPm", "MinuteOfHour", "SecondOfMinute", "NanoOfSecond", "ModifiedJulianDay", "OffsetSeconds",
}

// datetimeItemKind says what an item of a pattern is.
type datetimeItemKind uint8

const (
	itemLiteral datetimeItemKind = iota
	itemNumber
	itemReduced // a year in two digits
	itemFraction
	itemText
	itemOffset
	itemLocalizedOffset
	itemZoneID
	itemZoneText
	itemOptional
)

// signStyle is java.time.format.SignStyle.
type signStyle uint8

const (
	signNormal signStyle = iota
	signNotNegative
	signExceedsPad
)

// datetimeItem is an item of a pattern.
type datetimeItem struct {
	kind       datetimeItemKind
	field      datetimeField
	minWidth   int
	maxWidth   int
	sign       signStyle
	subsequent int // digits of the numbers that follow without a gap
	long       bool
	generic    bool
	offsetType int    // as in OffsetIdPrinterParser.PATTERNS
	text       string // a literal, or what is written for no offset
	items      []datetimeItem
}

// DatetimeFormatter is a compiled date-time pattern as Spark uses those of java.time.format.DateTimeFormatter: with
// letters y M d H and so on, quotes, and optional parts in brackets; in English, with strict rules. It is
// safe for use by several goroutines.
type DatetimeFormatter struct {
	pattern string
	items   []datetimeItem
}

// CompileDatetimePattern compiles a pattern, for reading texts (to_timestamp) or for writing them (date_format): some
// letters only write, and a fraction is read with any number of digits up to its letters.
//
// What Spark refuses is INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION if its old formatter would have
// taken it, with what is wrong as the cause, otherwise DATETIME_WEEK_BASED_PATTERN of the same, or
// INVALID_DATETIME_PATTERN of some kind.
func CompileDatetimePattern(pattern string, reading bool) (*DatetimeFormatter, error) {
	f := &DatetimeFormatter{pattern: pattern}
	err := f.compile(reading)
	if err == nil {
		return f, nil
	}
	if isSimpleDateFormat(pattern) {
		return nil, sparkerr.New("INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION",
			"You may get a different result due to the upgrading to Spark >= 3.0: Fail to recognize '%s' pattern in the DateTimeFormatter.", pattern).WithCause(err)
	}
	if sparkerr.Condition(err) == "" {
		return nil, sparkerr.New("INVALID_DATETIME_PATTERN.WITH_SUGGESTION", "Unrecognized datetime pattern: '%s'.", pattern).WithCause(err)
	}
	return nil, err
}

// Pattern returns the pattern.
func (f *DatetimeFormatter) Pattern() string { return f.pattern }

// isSimpleDateFormat tells whether java.text.SimpleDateFormat takes the pattern.
func isSimpleDateFormat(pattern string) bool {
	inQuote := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c == '\'' {
			inQuote = !inQuote
			continue
		}
		if inQuote || !isASCIILetter(c) {
			continue
		}
		if !strings.ContainsRune("GyMdkHmsSEDFwWahKzZYuXL", rune(c)) {
			return false
		}
		from := i
		for i+1 < len(pattern) && pattern[i+1] == c {
			i++
		}
		if c == 'X' && i-from+1 > 3 {
			return false
		}
	}
	return !inQuote
}

// compile checks the pattern for what Spark does not want, and compiles it.
func (f *DatetimeFormatter) compile(reading bool) error {
	quoted := strings.Split(f.pattern+" ", "'")
	hasEra := false
	for i := 0; i < len(quoted); i += 2 {
		hasEra = hasEra || strings.Contains(quoted[i], "G")
	}
	for i := 0; i < len(quoted); i += 2 {
		part := quoted[i]
		for _, c := range part {
			if strings.ContainsRune("YWwuec", c) {
				return sparkerr.New("INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_WEEK_BASED_PATTERN",
					"You may get a different result due to the upgrading to Spark >= 3.0: All week-based patterns are unsupported since Spark 3.0, detected week-based character: %c.", c)
			}
		}
		for _, c := range part {
			if strings.ContainsRune("ABnNp", c) || reading && strings.ContainsRune("EFqQ", c) {
				return sparkerr.New("INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER",
					"Unrecognized datetime pattern: %s. Illegal pattern character found in datetime pattern: %c. Please provide legal character.", f.pattern, c)
			}
		}
		for _, long := range []string{"GGGGG", "MMMMM", "LLLLL", "EEEEE", "QQQQQ", "qqqqq", "yyyyyyy"} {
			if strings.Contains(part, long) {
				return sparkerr.New("INVALID_DATETIME_PATTERN.LENGTH",
					"Unrecognized datetime pattern: %s. Too many letters in datetime pattern: %s. Please reduce pattern length.", f.pattern, long)
			}
		}
		if !hasEra {
			// The letter u has years before Christ.
			quoted[i] = strings.ReplaceAll(part, "y", "u")
		}
	}
	pattern := strings.TrimSuffix(strings.Join(quoted, "'"), " ")
	b := &datetimeBuilder{pattern: pattern, sections: []datetimeSection{{valueIndex: -1}}}
	var err error
	if reading && strings.Contains(pattern, "S") {
		err = b.addReading(pattern)
	} else {
		err = b.add(pattern)
	}
	if err != nil {
		return err
	}
	// What is left open is closed at the end.
	for len(b.sections) > 1 {
		b.endOptional()
	}
	f.items = b.sections[0].items
	return nil
}

// datetimeBuilder is java.time.format.DateTimeFormatterBuilder.
type datetimeBuilder struct {
	pattern  string
	sections []datetimeSection // the optional parts that are open
}

// datetimeSection is a part of a pattern. valueIndex is the number in front of adjacent ones, or -1.
type datetimeSection struct {
	items      []datetimeItem
	valueIndex int
}

func (b *datetimeBuilder) active() *datetimeSection { return &b.sections[len(b.sections)-1] }

// addReading adds a pattern whose fractions may be shorter than their letters.
func (b *datetimeBuilder) addReading(pattern string) error {
	parts := strings.Split(pattern, "'")
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	for i, part := range parts {
		switch {
		case part == "" && i != 0:
			b.literal("'")
		case i%2 == 1:
			b.literal(part)
		}
		if i%2 == 1 {
			continue
		}
		for part != "" {
			n := strings.IndexByte(part, 'S')
			if n < 0 {
				n = len(part)
			}
			if err := b.add(part[:n]); err != nil {
				return err
			}
			part = part[n:]
			letters := len(part) - len(strings.TrimLeft(part, "S"))
			if letters > 9 {
				return illegalArgument("Maximum width must be from 1 to 9 inclusive but was 10")
			}
			if letters > 0 {
				b.fraction(1, letters)
			}
			part = part[letters:]
		}
	}
	return nil
}

// add adds a pattern.
func (b *datetimeBuilder) add(pattern string) error {
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case isASCIILetter(c):
			n := 1
			for i+n < len(pattern) && pattern[i+n] == c {
				n++
			}
			if err := b.letters(c, n); err != nil {
				return err
			}
			i += n
		case c == '\'':
			from := i + 1
			for i = from; i < len(pattern); i++ {
				if pattern[i] != '\'' {
					continue
				}
				if i+1 == len(pattern) || pattern[i+1] != '\'' {
					break
				}
				i++
			}
			if i >= len(pattern) {
				return illegalArgument("Pattern ends with an incomplete string literal: " + pattern)
			}
			if text := pattern[from:i]; text == "" {
				b.literal("'")
			} else {
				b.literal(strings.ReplaceAll(text, "''", "'"))
			}
			i++
		case c == '[':
			b.active().valueIndex = -1
			b.sections = append(b.sections, datetimeSection{valueIndex: -1})
			i++
		case c == ']':
			if len(b.sections) == 1 {
				return illegalArgument("Pattern invalid as it contains ] without previous [")
			}
			b.endOptional()
			i++
		case c == '{' || c == '}' || c == '#':
			return illegalArgument("Pattern includes reserved character: '" + string(c) + "'")
		default:
			_, n := utf8.DecodeRuneInString(pattern[i:])
			b.literal(pattern[i : i+n])
			i += n
		}
	}
	return nil
}

func (b *datetimeBuilder) endOptional() {
	items := b.active().items
	b.sections = b.sections[:len(b.sections)-1]
	b.active().valueIndex = -1
	if len(items) > 0 {
		b.append(datetimeItem{kind: itemOptional, items: items})
	}
}

// append adds an item that is no number.
func (b *datetimeBuilder) append(item datetimeItem) {
	s := b.active()
	s.items = append(s.items, item)
	s.valueIndex = -1
}

func (b *datetimeBuilder) literal(text string) {
	b.append(datetimeItem{kind: itemLiteral, text: text})
}

// value adds a number. Numbers that follow each other without a gap are told apart by their widths.
func (b *datetimeBuilder) value(item datetimeItem) {
	s := b.active()
	s.items = append(s.items, item)
	last := len(s.items) - 1
	if s.valueIndex < 0 {
		s.valueIndex = last
		return
	}
	base := &s.items[s.valueIndex]
	if item.minWidth == item.maxWidth && item.sign == signNotNegative {
		base.subsequent += item.maxWidth
	} else {
		// The new number is the one in front now, and nothing is left to the others.
		base.subsequent = 0
		s.valueIndex = last
	}
}

func (b *datetimeBuilder) number(field datetimeField, minWidth, maxWidth int, sign signStyle) {
	b.value(datetimeItem{kind: itemNumber, field: field, minWidth: minWidth, maxWidth: maxWidth, sign: sign})
}

func (b *datetimeBuilder) fraction(minWidth, maxWidth int) {
	item := datetimeItem{kind: itemFraction, field: fieldNano, minWidth: minWidth, maxWidth: maxWidth, sign: signNotNegative}
	if minWidth == maxWidth {
		b.value(item)
	} else {
		b.append(item)
	}
}

func tooManyLetters(c byte) error { return illegalArgument("Too many pattern letters: " + string(c)) }

// numberLetters are the letters of numbers with one or two digits.
var numberLetters = map[byte]datetimeField{
	'd': fieldDayOfMonth, 'H': fieldHour, 'k': fieldClockHour, 'K': fieldHourOfAmPm, 'h': fieldClockHourOfAmPm, 'm': fieldMinute, 's': fieldSecond,
}

// letters adds a letter that stands n times.
func (b *datetimeBuilder) letters(c byte, n int) error {
	switch c {
	case 'u', 'y':
		field := fieldYear
		if c == 'y' {
			field = fieldYearOfEra
		}
		switch {
		case n == 2:
			b.value(datetimeItem{kind: itemReduced, field: field, minWidth: 2, maxWidth: 2, sign: signNotNegative})
		case n < 4:
			b.number(field, n, 19, signNormal)
		default:
			b.number(field, n, 19, signExceedsPad)
		}
	case 'M', 'L', 'Q', 'q', 'E':
		field := map[byte]datetimeField{'M': fieldMonth, 'L': fieldMonth, 'Q': fieldQuarter, 'q': fieldQuarter, 'E': fieldDayOfWeek}[c]
		switch {
		case n > 4:
			return tooManyLetters(c)
		case n > 2 || c == 'E':
			b.append(datetimeItem{kind: itemText, field: field, long: n == 4})
		case n == 1:
			b.number(field, 1, 19, signNormal)
		default:
			b.number(field, 2, 2, signNotNegative)
		}
	case 'a':
		if n > 1 {
			return tooManyLetters(c)
		}
		b.append(datetimeItem{kind: itemText, field: fieldAmPm})
	case 'G':
		b.append(datetimeItem{kind: itemText, field: fieldEra, long: n == 4})
	case 'S':
		if n > 9 {
			return illegalArgument("Minimum width must be from 0 to 9 inclusive but was 10")
		}
		b.fraction(n, n)
	case 'F':
		if n > 1 {
			return tooManyLetters(c)
		}
		b.number(fieldAlignedDay, 1, 19, signNormal)
	case 'd', 'H', 'k', 'K', 'h', 'm', 's':
		switch n {
		case 1:
			b.number(numberLetters[c], 1, 19, signNormal)
		case 2:
			b.number(numberLetters[c], 2, 2, signNotNegative)
		default:
			return tooManyLetters(c)
		}
	case 'D':
		switch {
		case n == 1:
			b.number(fieldDayOfYear, 1, 19, signNormal)
		case n <= 3:
			b.number(fieldDayOfYear, n, 3, signNotNegative)
		default:
			return tooManyLetters(c)
		}
	case 'g':
		if n > 19 {
			return illegalArgument("The minimum width must be from 1 to 19 inclusive but was 20")
		}
		b.number(fieldJulianDay, n, 19, signNormal)
	default:
		return b.zoneLetters(c, n)
	}
	return nil
}

// zoneLetters adds a letter of a zone or an offset.
func (b *datetimeBuilder) zoneLetters(c byte, n int) error {
	switch c {
	case 'z':
		if n > 4 {
			return tooManyLetters(c)
		}
		b.append(datetimeItem{kind: itemZoneText, long: n == 4})
	case 'v':
		if n != 1 && n != 4 {
			return illegalArgument("Wrong number of pattern letters: v")
		}
		b.append(datetimeItem{kind: itemZoneText, long: n == 4, generic: true})
	case 'V':
		if n != 2 {
			return illegalArgument("Pattern letter count must be 2: V")
		}
		b.append(datetimeItem{kind: itemZoneID})
	case 'Z':
		switch {
		case n < 4:
			b.append(datetimeItem{kind: itemOffset, offsetType: 3, text: "+0000"})
		case n == 4:
			b.append(datetimeItem{kind: itemLocalizedOffset, long: true})
		case n == 5:
			b.append(datetimeItem{kind: itemOffset, offsetType: 6, text: "Z"})
		default:
			return tooManyLetters(c)
		}
	case 'O':
		if n != 1 && n != 4 {
			return illegalArgument("Pattern letter count must be 1 or 4: O")
		}
		b.append(datetimeItem{kind: itemLocalizedOffset, long: n == 4})
	case 'X', 'x':
		if n > 5 {
			return tooManyLetters(c)
		}
		item := datetimeItem{kind: itemOffset, offsetType: n + 1, text: "Z"}
		if n == 1 {
			item.offsetType = 1
		}
		if c == 'x' {
			switch {
			case n == 1:
				item.text = "+00"
			case n%2 == 0:
				item.text = "+0000"
			default:
				item.text = "+00:00"
			}
		}
		b.append(item)
	default:
		return illegalArgument("Unknown pattern letter: " + string(c))
	}
	return nil
}
