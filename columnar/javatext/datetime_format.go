package javatext

import (
	"strconv"
)

var (
	shortMonths   = [...]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
	longMonths    = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	shortDays     = [...]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	longDays      = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	shortQuarters = [...]string{"Q1", "Q2", "Q3", "Q4"}
	longQuarters  = [...]string{"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"}
	shortEras     = [...]string{"BC", "AD"}
	longEras      = [...]string{"Before Christ", "Anno Domini"}
	halfDays      = [...]string{"AM", "PM"}
)

// fieldTexts returns the texts of a field and the value of the first.
func fieldTexts(field datetimeField, long bool) (texts []string, first int64) {
	switch field {
	case fieldMonth:
		if long {
			return longMonths[:], 1
		}
		return shortMonths[:], 1
	case fieldDayOfWeek:
		if long {
			return longDays[:], 1
		}
		return shortDays[:], 1
	case fieldQuarter:
		if long {
			return longQuarters[:], 1
		}
		return shortQuarters[:], 1
	case fieldEra:
		if long {
			return longEras[:], 0
		}
		return shortEras[:], 0
	}
	return halfDays[:], 0
}

// datetimeValue is what a formatter writes: a wall clock, perhaps without a date or without a zone.
type datetimeValue struct {
	hasDate  bool
	days     int64
	year     int64
	month    int
	day      int
	nanos    int64 // of the day
	zone     *Zone // nil if there is none
	offset   int
	moment   int64 // microseconds since the epoch, for the name of the zone
	optional int   // how many optional parts are open
}

// AppendTimestamp writes a timestamp in a zone, as date_format does.
func (f *DatetimeFormatter) AppendTimestamp(dst []byte, micros int64, zone *Zone) ([]byte, error) {
	offset := zone.Offset(micros)
	v := datetimeValue{hasDate: true, zone: zone, offset: offset, moment: micros}
	v.setLocal(FloorDiv(micros, microsPerSecond)+int64(offset), FloorMod(micros, microsPerSecond))
	return f.append(dst, &v)
}

// AppendTimestampNTZ writes a timestamp without time zone. A letter for the zone is an error.
func (f *DatetimeFormatter) AppendTimestampNTZ(dst []byte, micros int64) ([]byte, error) {
	v := datetimeValue{hasDate: true}
	v.setLocal(FloorDiv(micros, microsPerSecond), FloorMod(micros, microsPerSecond))
	return f.append(dst, &v)
}

// AppendDate writes a date. A letter for the time or the zone is an error.
func (f *DatetimeFormatter) AppendDate(dst []byte, days int32) ([]byte, error) {
	v := datetimeValue{hasDate: true, nanos: -1}
	v.days = int64(days)
	v.year, v.month, v.day = CivilFromDays(v.days)
	return f.append(dst, &v)
}

// AppendTime writes a time of day in nanoseconds. A letter for the date or the zone is an error.
func (f *DatetimeFormatter) AppendTime(dst []byte, nanos int64) ([]byte, error) {
	return f.append(dst, &datetimeValue{nanos: nanos})
}

func (v *datetimeValue) setLocal(seconds, micros int64) {
	v.days = FloorDiv(seconds, secondsPerDay)
	v.year, v.month, v.day = CivilFromDays(v.days)
	v.nanos = (seconds-v.days*secondsPerDay)*nanosPerSecond + micros*1000
}

func (f *DatetimeFormatter) append(dst []byte, v *datetimeValue) ([]byte, error) {
	out, _, err := v.appendItems(dst, f.items)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// appendItems writes items. ok is false if one within an optional part has no value.
func (v *datetimeValue) appendItems(dst []byte, items []datetimeItem) (out []byte, ok bool, err error) {
	for i := range items {
		item := &items[i]
		switch item.kind {
		case itemLiteral:
			dst = append(dst, item.text...)
			continue
		case itemOptional:
			start := len(dst)
			v.optional++
			dst, ok, err = v.appendItems(dst, item.items)
			v.optional--
			if err != nil {
				return dst, false, err
			}
			if !ok {
				dst = dst[:start]
			}
			continue
		case itemOffset, itemLocalizedOffset, itemZoneID, itemZoneText:
			if v.zone == nil {
				if v.optional > 0 {
					return dst, false, nil
				}
				return dst, false, v.missingZone(item)
			}
			dst = v.appendZone(dst, item)
			continue
		}
		value, ok := v.get(item.field)
		if !ok {
			if v.optional > 0 {
				return dst, false, nil
			}
			return dst, false, unsupportedField(item.field)
		}
		if dst, err = item.appendValue(dst, value); err != nil {
			return dst, false, err
		}
	}
	return dst, true, nil
}

func unsupportedField(field datetimeField) error {
	return &JavaError{Exception: "java.time.temporal.UnsupportedTemporalTypeException", Text: "Unsupported field: " + fieldNames[field]}
}

func (v *datetimeValue) missingZone(item *datetimeItem) error {
	if item.kind == itemOffset || item.kind == itemLocalizedOffset {
		return unsupportedField(fieldOffset)
	}
	return dateTimeException("Unable to extract ZoneId from temporal")
}

// get returns the value of a field; ok is false if there is none.
func (v *datetimeValue) get(field datetimeField) (value int64, ok bool) {
	if field >= fieldAmPm && field <= fieldNano {
		if v.nanos < 0 {
			return 0, false
		}
		hour := v.nanos / (3600 * nanosPerSecond)
		switch field {
		case fieldAmPm:
			return hour / 12, true
		case fieldHour:
			return hour, true
		case fieldClockHour:
			if hour == 0 {
				hour = 24
			}
			return hour, true
		case fieldHourOfAmPm:
			return hour % 12, true
		case fieldClockHourOfAmPm:
			if hour %= 12; hour == 0 {
				hour = 12
			}
			return hour, true
		case fieldMinute:
			return v.nanos / (60 * nanosPerSecond) % 60, true
		case fieldSecond:
			return v.nanos / nanosPerSecond % 60, true
		}
		return v.nanos % nanosPerSecond, true
	}
	if !v.hasDate {
		return 0, false
	}
	switch field {
	case fieldEra:
		if v.year > 0 {
			return 1, true
		}
		return 0, true
	case fieldYearOfEra:
		if v.year > 0 {
			return v.year, true
		}
		return 1 - v.year, true
	case fieldYear:
		return v.year, true
	case fieldQuarter:
		return int64(v.month+2) / 3, true
	case fieldMonth:
		return int64(v.month), true
	case fieldDayOfYear:
		return v.days - DaysFromCivil(v.year, 1, 1) + 1, true
	case fieldDayOfMonth:
		return int64(v.day), true
	case fieldAlignedDay:
		return int64(v.day-1)%7 + 1, true
	case fieldDayOfWeek:
		return int64(isoWeekday(v.days)), true
	case fieldJulianDay:
		return v.days + julianDayOfEpoch, true
	}
	return 0, false
}

// julianDayOfEpoch is the modified Julian day of 1970-01-01.
const julianDayOfEpoch = 40587

// appendValue writes the value of the item's field.
func (item *datetimeItem) appendValue(dst []byte, value int64) ([]byte, error) {
	switch item.kind {
	case itemText:
		texts, first := fieldTexts(item.field, item.long)
		return append(dst, texts[value-first]...), nil
	case itemReduced:
		if value < 0 {
			value = -value
		}
		return appendTwoDigits(dst, int(value%100)), nil
	case itemFraction:
		return item.appendFraction(dst, value), nil
	}
	if item.minWidth == 2 && item.maxWidth == 2 && value >= 0 && value < 100 {
		return appendTwoDigits(dst, int(value)), nil
	}
	digits := 1
	abs := value
	if abs < 0 {
		abs = -abs
	}
	for x := abs; x >= 10; x /= 10 {
		digits++
	}
	if digits > item.maxWidth {
		return dst, dateTimeException("Field " + fieldNames[item.field] + " cannot be printed as the value " + strconv.FormatInt(value, 10) +
			" exceeds the maximum print width of " + strconv.Itoa(item.maxWidth))
	}
	if value >= 0 {
		if item.sign == signExceedsPad && item.minWidth < 19 && digits > item.minWidth {
			dst = append(dst, '+')
		}
	} else {
		if item.sign == signNotNegative {
			return dst, dateTimeException("Field " + fieldNames[item.field] + " cannot be printed as the value " + strconv.FormatInt(value, 10) +
				" cannot be negative according to the SignStyle")
		}
		dst = append(dst, '-')
	}
	for ; digits < item.minWidth; digits++ {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, abs, 10), nil
}

// appendFraction writes the first digits of nanoseconds.
func (item *datetimeItem) appendFraction(dst []byte, nanos int64) []byte {
	unit := int64(nanosPerSecond / 10)
	for n := 0; n < item.maxWidth && (n < item.minWidth || nanos > 0); n++ {
		dst = append(dst, byte('0'+nanos/unit))
		nanos %= unit
		if unit > 1 {
			unit /= 10
		}
	}
	return dst
}

// appendZone writes the zone or its offset.
func (v *datetimeValue) appendZone(dst []byte, item *datetimeItem) []byte {
	switch item.kind {
	case itemZoneID:
		return append(dst, v.zone.id...)
	case itemZoneText:
		if item.generic {
			return append(dst, v.zone.genericName(item.long)...)
		}
		return append(dst, v.zone.name(v.moment, item.long)...)
	case itemLocalizedOffset:
		return appendLocalizedOffset(dst, v.offset, item.long)
	}
	return item.appendOffset(dst, v.offset)
}

// appendLocalizedOffset writes GMT+8 or GMT+08:00.
func appendLocalizedOffset(dst []byte, seconds int, long bool) []byte {
	dst = append(dst, "GMT"...)
	if seconds == 0 {
		return dst
	}
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	dst = append(dst, sign)
	hours, minutes, rest := seconds/3600, seconds/60%60, seconds%60
	if long || hours >= 10 {
		dst = appendTwoDigits(dst, hours)
	} else {
		dst = append(dst, byte('0'+hours))
	}
	if long || minutes != 0 || rest != 0 {
		dst = append(dst, ':')
		dst = appendTwoDigits(dst, minutes)
	}
	if rest != 0 {
		dst = append(dst, ':')
		dst = appendTwoDigits(dst, rest)
	}
	return dst
}

// appendOffset writes an offset in one of the forms of the letters X, x and Z.
func (item *datetimeItem) appendOffset(dst []byte, seconds int) []byte {
	if seconds == 0 {
		return append(dst, item.text...)
	}
	start := len(dst)
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	hours, minutes, rest := seconds/3600, seconds/60%60, seconds%60
	dst = append(dst, sign)
	dst = appendTwoDigits(dst, hours)
	colon := item.offsetType > 0 && item.offsetType%2 == 0
	shown := hours
	if item.offsetType >= 3 || minutes > 0 {
		if colon {
			dst = append(dst, ':')
		}
		dst = appendTwoDigits(dst, minutes)
		shown += minutes
		if item.offsetType >= 5 && rest > 0 {
			if colon {
				dst = append(dst, ':')
			}
			dst = appendTwoDigits(dst, rest)
			shown += rest
		}
	}
	if shown == 0 {
		return append(dst[:start], item.text...)
	}
	return dst
}
