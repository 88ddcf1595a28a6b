package javatext

import (
	"fmt"
	"strconv"
)

// fieldRange returns the values that a field may have, and how Java writes them.
func fieldRange(f datetimeField) (low, high int64, text string) {
	switch f {
	case fieldEra, fieldAmPm:
		return 0, 1, "0 - 1"
	case fieldYearOfEra:
		return 1, maxYear, "1 - 999999999/1000000000"
	case fieldYear:
		return minYear, maxYear, "-999999999 - 999999999"
	case fieldMonth:
		return 1, 12, "1 - 12"
	case fieldDayOfYear:
		return 1, 366, "1 - 365/366"
	case fieldDayOfMonth:
		return 1, 31, "1 - 28/31"
	case fieldHour:
		return 0, 23, "0 - 23"
	case fieldClockHour:
		return 1, 24, "1 - 24"
	case fieldHourOfAmPm:
		return 0, 11, "0 - 11"
	case fieldClockHourOfAmPm:
		return 1, 12, "1 - 12"
	case fieldMinute, fieldSecond:
		return 0, 59, "0 - 59"
	case fieldNano:
		return 0, 999_999_999, "0 - 999999999"
	case fieldJulianDay:
		return -365243219162 + julianDayOfEpoch, 365241780471 + julianDayOfEpoch, "-365243178575 - 365241821058"
	}
	return -18 * 3600, 18 * 3600, "-64800 - 64800"
}

// checkField refuses a value out of its range.
func checkField(f datetimeField, v int64) error {
	low, high, text := fieldRange(f)
	if v < low || v > high {
		return dateTimeException(fmt.Sprintf("Invalid value for %s (valid values %s): %d", fieldNames[f], text, v))
	}
	return nil
}

// resolve makes a date and a time of the fields, by java.time's strict rules. Fields that are left are in neither.
func (p *parsedDatetime) resolve() (days, nanos int64, hasDate, hasTime bool, err error) {
	if days, hasDate, err = p.resolveDate(); err != nil {
		return
	}
	if nanos, hasTime, err = p.resolveTime(); err != nil {
		return
	}
	if hasDate {
		v := datetimeValue{hasDate: true, days: days, nanos: -1}
		v.year, v.month, v.day = CivilFromDays(days)
		for f := fieldEra; f <= fieldDayOfWeek; f++ {
			if !p.isSet(f) {
				continue
			}
			if got, _ := v.get(f); got != p.values[f] {
				err = conflict(f, got, p.values[f], string(appendCivil(nil, v.year, v.month, v.day)))
				return
			}
			p.take(f)
		}
	}
	if hasTime {
		v := datetimeValue{nanos: nanos}
		for f := fieldAmPm; f <= fieldNano; f++ {
			if !p.isSet(f) {
				continue
			}
			if got, _ := v.get(f); got != p.values[f] {
				err = conflict(f, got, p.values[f], javaTime(nanos))
				return
			}
			p.take(f)
		}
	}
	if hasDate && hasTime {
		err = p.checkOffset()
	}
	return
}

// checkOffset refuses an offset of more than 18 hours.
func (p *parsedDatetime) checkOffset() error {
	if p.isSet(fieldOffset) {
		if low, high, _ := fieldRange(fieldOffset); p.values[fieldOffset] < low || p.values[fieldOffset] > high {
			return dateTimeException("Zone offset not in valid range: -18:00 to +18:00")
		}
	}
	return nil
}

func conflict(f datetimeField, got, parsed int64, from string) error {
	return dateTimeException(fmt.Sprintf("Conflict found: Field %s %d differs from %s %d derived from %s", fieldNames[f], got, fieldNames[f], parsed, from))
}

// javaTime writes a time as LocalTime.toString.
func javaTime(nanos int64) string {
	text := string(appendClock(nil, int(nanos/nanosPerSecond), 0))
	switch rest := nanos % nanosPerSecond; {
	case rest != 0 && rest%1_000_000 == 0:
		return text + fmt.Sprintf(".%03d", rest/1_000_000)
	case rest != 0 && rest%1000 == 0:
		return text + fmt.Sprintf(".%06d", rest/1000)
	case rest != 0:
		return text + fmt.Sprintf(".%09d", rest)
	case nanos/nanosPerSecond%60 == 0:
		return text[:5]
	}
	return text
}

func (p *parsedDatetime) resolveDate() (days int64, ok bool, err error) {
	if err := p.resolveEra(); err != nil {
		return 0, false, err
	}
	switch {
	case p.isSet(fieldYear) && p.isSet(fieldMonth) && p.isSet(fieldDayOfMonth):
		if err := checkField(fieldYear, p.values[fieldYear]); err != nil {
			return 0, false, err
		}
		year, month, day := p.take(fieldYear), p.take(fieldMonth), p.take(fieldDayOfMonth)
		if err := checkField(fieldMonth, month); err != nil {
			return 0, false, err
		}
		if days, err = dateOf(year, month, day); err != nil {
			return 0, false, err
		}
		ok = true
	case p.isSet(fieldYear) && p.isSet(fieldDayOfYear):
		if err := checkField(fieldYear, p.values[fieldYear]); err != nil {
			return 0, false, err
		}
		year, day := p.take(fieldYear), p.take(fieldDayOfYear)
		if days, err = dateOfYearDay(year, day); err != nil {
			return 0, false, err
		}
		ok = true
	}
	if p.isSet(fieldJulianDay) {
		v := p.take(fieldJulianDay)
		if low, high, text := fieldRange(fieldJulianDay); v < low || v > high {
			return 0, false, dateTimeException(fmt.Sprintf("Invalid value for ModifiedJulianDay (valid values %s): %d", text, v))
		}
		if v -= julianDayOfEpoch; ok && v != days {
			return 0, false, dateTimeException("Conflict found: Fields resolved to two different dates")
		}
		days, ok = v, true
	}
	return days, ok, nil
}

// resolveEra makes a year of an era and a year of it.
func (p *parsedDatetime) resolveEra() error {
	if !p.isSet(fieldYearOfEra) {
		return nil
	}
	ofEra := p.values[fieldYearOfEra]
	if err := checkField(fieldYearOfEra, ofEra); err != nil {
		return err
	}
	year := ofEra
	switch {
	case p.isSet(fieldEra):
		if p.take(fieldEra) == 0 {
			year = 1 - ofEra
		}
	case p.isSet(fieldYear):
		if p.values[fieldYear] <= 0 {
			year = 1 - ofEra
		}
	default:
		return nil // no era is made up
	}
	p.take(fieldYearOfEra)
	if p.isSet(fieldYear) && p.values[fieldYear] != year {
		return dateTimeException(fmt.Sprintf("Conflict found: Year %d differs from Year %d", p.values[fieldYear], year))
	}
	p.set(fieldYear, year)
	return nil
}

var javaMonths = [...]string{"JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER", "DECEMBER"}

// dateOf is LocalDate.of.
func dateOf(year, month, day int64) (days int64, err error) {
	for _, c := range []struct {
		f datetimeField
		v int64
	}{{fieldYear, year}, {fieldMonth, month}, {fieldDayOfMonth, day}} {
		if err := checkField(c.f, c.v); err != nil {
			return 0, err
		}
	}
	if int(day) > DaysInMonth(year, int(month)) {
		if day == 29 {
			return 0, dateTimeException("Invalid date 'February 29' as '" + strconv.FormatInt(year, 10) + "' is not a leap year")
		}
		return 0, dateTimeException("Invalid date '" + javaMonths[month-1] + " " + strconv.FormatInt(day, 10) + "'")
	}
	return DaysFromCivil(year, int(month), int(day)), nil
}

// dateOfYearDay is LocalDate.ofYearDay.
func dateOfYearDay(year, day int64) (days int64, err error) {
	if err := checkField(fieldYear, year); err != nil {
		return 0, err
	}
	if err := checkField(fieldDayOfYear, day); err != nil {
		return 0, err
	}
	if day == 366 && !IsLeapYear(year) {
		return 0, dateTimeException("Invalid date 'DayOfYear 366' as '" + strconv.FormatInt(year, 10) + "' is not a leap year")
	}
	return DaysFromCivil(year, 1, 1) + day - 1, nil
}

// replaceField sets a field that another one determines, unless it already has a different value.
func (p *parsedDatetime) replaceField(from, to datetimeField, v int64) error {
	if p.isSet(to) && p.values[to] != v {
		return dateTimeException(fmt.Sprintf("Conflict found: %s %d differs from %s %d while resolving  %s", fieldNames[to], p.values[to], fieldNames[to], v, fieldNames[from]))
	}
	p.set(to, v)
	return nil
}

func (p *parsedDatetime) resolveTime() (nanos int64, ok bool, err error) {
	if p.isSet(fieldClockHour) {
		v := p.take(fieldClockHour)
		if err := checkField(fieldClockHour, v); err != nil {
			return 0, false, err
		}
		if err := p.replaceField(fieldClockHour, fieldHour, v%24); err != nil {
			return 0, false, err
		}
	}
	if p.isSet(fieldClockHourOfAmPm) {
		v := p.take(fieldClockHourOfAmPm)
		if err := checkField(fieldClockHourOfAmPm, v); err != nil {
			return 0, false, err
		}
		if err := p.replaceField(fieldClockHourOfAmPm, fieldHourOfAmPm, v%12); err != nil {
			return 0, false, err
		}
	}
	if p.isSet(fieldAmPm) && p.isSet(fieldHourOfAmPm) {
		half, v := p.take(fieldAmPm), p.take(fieldHourOfAmPm)
		if err := checkField(fieldHourOfAmPm, v); err != nil {
			return 0, false, err
		}
		if err := p.replaceField(fieldAmPm, fieldHour, half*12+v); err != nil {
			return 0, false, err
		}
	}
	if p.isSet(fieldHour) {
		hasMinute, hasSecond, hasNano := p.isSet(fieldMinute), p.isSet(fieldSecond), p.isSet(fieldNano)
		if !hasMinute && (hasSecond || hasNano) || hasMinute && !hasSecond && hasNano {
			return 0, false, nil // not looked at any further
		}
		for _, f := range []datetimeField{fieldMinute, fieldNano, fieldHour, fieldSecond} {
			if !p.isSet(f) {
				p.set(f, 0)
			}
			if err := checkField(f, p.values[f]); err != nil {
				return 0, false, err
			}
		}
		nanos, ok = ((p.take(fieldHour)*60+p.take(fieldMinute))*60+p.take(fieldSecond))*nanosPerSecond+p.take(fieldNano), true
	}
	for f := fieldAmPm; f <= fieldNano; f++ {
		if p.isSet(f) {
			if err := checkField(f, p.values[f]); err != nil {
				return 0, false, err
			}
		}
	}
	return nanos, ok, nil
}

// orDefault returns a field that may be left, or a default.
func (p *parsedDatetime) orDefault(f datetimeField, v int64) (int64, error) {
	if !p.isSet(f) {
		return v, nil
	}
	return p.values[f], checkField(f, p.values[f])
}

// missingDate makes a date of the fields that are left, with those of 1970-01-01 for the others.
func (p *parsedDatetime) missingDate() (days int64, err error) {
	year, err := p.orDefault(fieldYear, 1970)
	if err != nil {
		return 0, err
	}
	if !p.isSet(fieldDayOfYear) {
		month, err := p.orDefault(fieldMonth, 1)
		if err != nil {
			return 0, err
		}
		day, err := p.orDefault(fieldDayOfMonth, 1)
		if err != nil {
			return 0, err
		}
		return dateOf(year, month, day)
	}
	ofYear, err := p.orDefault(fieldDayOfYear, 1)
	if err != nil {
		return 0, err
	}
	if days, err = dateOfYearDay(year, ofYear); err != nil {
		return 0, err
	}
	_, m, d := CivilFromDays(days)
	for _, c := range []struct {
		f    datetimeField
		have int
	}{{fieldMonth, m}, {fieldDayOfMonth, d}} {
		v, err := p.orDefault(c.f, int64(c.have))
		if err != nil {
			return 0, err
		}
		if v != int64(c.have) {
			return 0, conflict(c.f, v, int64(c.have), string(appendCivil(nil, year, m, d))+".")
		}
	}
	return days, nil
}

// missingTime makes a time of the fields that are left, with zero for the others; PM alone is noon.
func (p *parsedDatetime) missingTime() (nanos int64, err error) {
	var hour int64
	switch {
	case p.isSet(fieldHour):
		hour, err = p.orDefault(fieldHour, 0)
	case p.isSet(fieldHourOfAmPm):
		hour, err = p.orDefault(fieldHourOfAmPm, 0)
	case p.isSet(fieldAmPm) && p.values[fieldAmPm] == 1:
		hour = 12
	}
	if err != nil {
		return 0, err
	}
	minute, err := p.orDefault(fieldMinute, 0)
	if err != nil {
		return 0, err
	}
	second, err := p.orDefault(fieldSecond, 0)
	if err != nil {
		return 0, err
	}
	nano, err := p.orDefault(fieldNano, 0)
	if err != nil {
		return 0, err
	}
	return ((hour*60+minute)*60+second)*nanosPerSecond + nano, nil
}
