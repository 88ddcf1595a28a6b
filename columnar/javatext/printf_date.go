package javatext

import "strconv"

// printfDates are the conversions that stand for several others.
var printfDates = map[byte]string{'T': "H:M:S", 'R': "H:M", 'r': "I:M:S p", 'D': "m/d/y", 'F': "Y-m-d", 'c': "a b d H:M:S Z Y"}

// appendDate writes %t of a Long, which are milliseconds since the epoch, in UTC.
func (spec *printfSpec) appendDate(dst []byte, arg *PrintfArg) ([]byte, error) {
	if arg.Kind == PrintfNull {
		return spec.appendNull(dst), nil
	}
	if arg.Kind != PrintfLong {
		return dst, printfError("IllegalFormatConversionException", string(spec.conv)+" != "+javaClasses[arg.Kind])
	}
	v := datetimeValue{hasDate: true}
	v.setLocal(FloorDiv(arg.Int, 1000), FloorMod(arg.Int, 1000)*1000)
	var buf [48]byte
	text := buf[:0]
	if parts, ok := printfDates[spec.conv]; ok {
		for i := range len(parts) {
			switch c := parts[i]; {
			case c == 'p':
				text = append(text, halfDays[v.nanos/(12*3600*nanosPerSecond)]...)
			case isASCIILetter(c):
				text = v.appendPrintfDate(text, c, arg.Int)
			default:
				text = append(text, c)
			}
		}
	} else {
		text = v.appendPrintfDate(text, spec.conv, arg.Int)
	}
	return spec.appendString(dst, string(text)), nil
}

// appendPrintfDate writes a single conversion.
func (v *datetimeValue) appendPrintfDate(dst []byte, c byte, millis int64) []byte {
	number := func(f datetimeField, width int) []byte {
		n, _ := v.get(f)
		return appendPadded(dst, n, width)
	}
	switch c {
	case 'H':
		return number(fieldHour, 2)
	case 'k':
		return number(fieldHour, 1)
	case 'I':
		return number(fieldClockHourOfAmPm, 2)
	case 'l':
		return number(fieldClockHourOfAmPm, 1)
	case 'M':
		return number(fieldMinute, 2)
	case 'S':
		return number(fieldSecond, 2)
	case 'N':
		return number(fieldNano, 9)
	case 'L':
		return appendPadded(dst, FloorMod(millis, 1000), 3)
	case 'Q':
		return strconv.AppendInt(dst, millis, 10)
	case 's':
		return strconv.AppendInt(dst, millis/1000, 10)
	case 'p':
		return append(dst, [...]string{"am", "pm"}[v.nanos/(12*3600*nanosPerSecond)]...)
	case 'z':
		return append(dst, "+0000"...)
	case 'Z':
		return append(dst, "UTC"...)
	case 'a':
		return append(dst, shortDays[isoWeekday(v.days)-1]...)
	case 'A':
		return append(dst, longDays[isoWeekday(v.days)-1]...)
	case 'b', 'h':
		return append(dst, shortMonths[v.month-1]...)
	case 'B':
		return append(dst, longMonths[v.month-1]...)
	case 'C':
		y, _ := v.get(fieldYearOfEra)
		return appendPadded(dst, y/100, 2)
	case 'y':
		y, _ := v.get(fieldYearOfEra)
		return appendPadded(dst, y%100, 2)
	case 'Y':
		return number(fieldYearOfEra, 4)
	case 'd':
		return number(fieldDayOfMonth, 2)
	case 'e':
		return number(fieldDayOfMonth, 1)
	case 'j':
		return number(fieldDayOfYear, 3)
	}
	return number(fieldMonth, 2)
}
