package sql

import (
	"strings"

	"github.com/wstream/wstream/engine/sql/interval"
)

// unitWord tells whether the token is a unit of an interval, in singular or plural.
func unitWord(t *token) bool {
	switch t.word {
	case "NANOSECOND", "NANOSECONDS", "MICROSECOND", "MICROSECONDS", "MILLISECOND", "MILLISECONDS", "SECOND", "SECONDS",
		"MINUTE", "MINUTES", "HOUR", "HOURS", "DAY", "DAYS", "WEEK", "WEEKS", "MONTH", "MONTHS", "YEAR", "YEARS":
		return true
	}
	return false
}

// fieldWord tells whether the token is a unit that may stand beside TO.
func fieldWord(t *token) bool {
	_, ok := interval.ParseField(t.word)
	return ok
}

// intervalPart is a value of an interval literal with its unit, or its units around TO.
type intervalPart struct {
	sign   string
	value  *token
	text   string // the value: a number as written, or a string's text
	unit   *token
	toUnit *token // nil without TO
}

// intervalPartAhead tells whether a value and a unit follow.
func (p *parser) intervalPartAhead() bool {
	n := 0
	if p.isOp("-") || p.isOp("+") {
		n = 1
	}
	switch t := p.ahead(n); t.kind {
	case tokString:
		for n++; p.ahead(n).kind == tokString; n++ {
		}
	case tokNumber:
		if !intervalNumber(t.text) {
			return false
		}
		n++
	default:
		return false
	}
	return unitWord(p.ahead(n))
}

// intervalNumber tells whether a number may stand in an interval: it has no exponent and no suffix.
func intervalNumber(text string) bool {
	for i := 0; i < len(text); i++ {
		if !isDigit(text[i]) && text[i] != '.' {
			return false
		}
	}
	return true
}

// intervalLiteral reads INTERVAL with values and units: 1 DAY 2 HOURS, '1-2' YEAR TO MONTH.
func (p *parser) intervalLiteral() (Expr, error) {
	start := p.i
	p.i++
	var parts []intervalPart
	ranges := 0
	for len(parts) == 0 || p.intervalPartAhead() {
		part, err := p.intervalPart()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if part.toUnit != nil {
			ranges++
		}
	}
	at := p.spanFrom(start)
	switch {
	case ranges > 0 && len(parts) > 1:
		p.fault(at, "_LEGACY_ERROR_TEMP_0024", "Can only have a single from-to unit in the interval literal syntax.")
		return &IntervalLit{Span: at, Start: interval.Day, End: interval.Second}, nil //nolint:nilerr // noted by invalidTyped
	case ranges > 0:
		return p.intervalRange(at, parts[0]), nil
	}
	return p.intervalUnits(at, parts), nil
}

// intervalPart reads one value with its unit.
func (p *parser) intervalPart() (intervalPart, error) {
	var part intervalPart
	if p.isOp("-") || p.isOp("+") {
		part.sign = p.next().text
	}
	part.value = p.peek()
	switch {
	case part.value.kind == tokString:
		part.text, _ = p.stringSeq()
	case part.value.kind == tokNumber && intervalNumber(part.value.text):
		part.text = p.next().text
	default:
		return part, p.fail("a number", "a string")
	}
	if !unitWord(p.peek()) {
		return part, p.fail("a unit such as DAY or HOURS")
	}
	part.unit = p.next()
	if p.is("TO") && fieldWord(part.unit) && fieldWord(p.ahead(1)) {
		part.toUnit = p.ahead(1)
		p.i += 2
	}
	return part, nil
}

// signed is the part's text with the sign before it taken into account.
func (part intervalPart) signed() string {
	if part.value.kind != tokString {
		return part.sign + part.text
	}
	if part.sign != "-" {
		return part.text
	}
	if rest, ok := strings.CutPrefix(part.text, "-"); ok {
		return rest
	}
	return "-" + part.text
}

// intervalRange makes the literal of the form '1 02:03' DAY TO MINUTE.
func (p *parser) intervalRange(at Span, part intervalPart) Expr {
	from, _ := interval.ParseField(part.unit.word)
	to, _ := interval.ParseField(part.toUnit.word)
	lit := &IntervalLit{Span: at, Start: from, End: to}
	if part.value.kind != tokString {
		p.fault(at, "_LEGACY_ERROR_TEMP_0027", "The value of from-to unit must be a string.")
		return lit
	}
	text := part.signed()
	var err error
	switch {
	case from >= to || from.YearMonth() != to.YearMonth():
		err = interval.UnsupportedFromTo(text, part.unit.text, part.toUnit.text)
	case from.YearMonth():
		lit.Months, err = interval.ParseYearMonth(text, from, to)
	default:
		lit.Micros, err = interval.ParseDayTime(text, from, to)
	}
	if err != nil {
		p.faultErr(at, err)
	}
	return lit
}

// intervalUnits makes the literal of the form 1 DAY 2 HOURS.
func (p *parser) intervalUnits(at Span, parts []intervalPart) Expr {
	var b strings.Builder
	units := make([]string, len(parts))
	for i, part := range parts {
		if part.value.kind == tokString && strings.ContainsFunc(part.text, isLetter) {
			p.fault(at, "_LEGACY_ERROR_TEMP_0026",
				"Can only use numbers in the interval value part for multiple unit value pairs interval form, but got invalid value: %s.", part.text)
			return &IntervalLit{Span: at, Start: interval.Day, End: interval.Second}
		}
		b.WriteString(" " + part.signed() + " " + part.unit.text)
		units[i] = part.unit.word
	}
	c, err := interval.Parse(b.String())
	if err != nil {
		p.faultErr(at, err)
		return &IntervalLit{Span: at, Start: interval.Day, End: interval.Second}
	}
	return p.intervalOf(at, c, units)
}

// intervalString makes the literal of the form INTERVAL '1 day 2 hours'.
func (p *parser) intervalString(at Span, text string) (Expr, error) {
	c, err := interval.Parse(text)
	if err != nil {
		p.invalidTyped(at, "INTERVAL", text)
		return &IntervalLit{Span: at, Start: interval.Day, End: interval.Second}, nil //nolint:nilerr // invalidTyped has noted it
	}
	var units []string
	for _, w := range strings.Fields(text) {
		if w = strings.ToUpper(w); w != "INTERVAL" && isLetter(rune(w[0])) {
			units = append(units, w)
		}
	}
	return p.intervalOf(at, c, units), nil
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// intervalOf gives an interval the type of its units: from the coarsest to the finest. Units of
// years and months do not mix with the others.
func (p *parser) intervalOf(at Span, c interval.Calendar, units []string) Expr {
	lit := &IntervalLit{Span: at}
	yearMonth, dayTime := false, false
	for i, u := range units {
		f := unitField(u)
		yearMonth = yearMonth || f.YearMonth()
		dayTime = dayTime || !f.YearMonth()
		if i == 0 || f < lit.Start {
			lit.Start = f
		}
		if i == 0 || f > lit.End {
			lit.End = f
		}
	}
	switch {
	case yearMonth && dayTime:
		p.fault(at, "_LEGACY_ERROR_TEMP_0029", "Cannot mix year-month and day-time fields: %s.", at.Text(p.src))
	case yearMonth:
		lit.Months = c.Months
	default:
		micros, ok := c.Duration()
		if !ok {
			p.fault(at, "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION",
				"Integer overflow while operating with intervals. Try devising appropriate values for the interval parameters.")
		}
		lit.Micros = micros
	}
	return lit
}

// unitField is the field of an interval type that a unit counts in: weeks are days, fractions of
// seconds are seconds.
func unitField(unit string) interval.Field {
	switch strings.TrimSuffix(unit, "S") {
	case "YEAR":
		return interval.Year
	case "MONTH":
		return interval.Month
	case "WEEK", "DAY":
		return interval.Day
	case "HOUR":
		return interval.Hour
	case "MINUTE":
		return interval.Minute
	default:
		return interval.Second
	}
}
