package expr

import (
	"strconv"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/show"
)

// appendText appends row i of c as CAST(… AS STRING) writes it; the row is not null.
func appendText(dst []byte, c *columnar.Column, i int, zone *javatext.Zone) []byte {
	return textForm{zone: zone}.append(dst, c, i)
}

// textForm is how values become text.
type textForm struct {
	zone       *javatext.Zone
	scientific bool // small decimals with an exponent, as Spark writes them when ANSI is off
}

func (f textForm) append(dst []byte, c *columnar.Column, i int) []byte {
	t := c.Type
	switch t.Kind {
	case columnar.KindBool:
		return strconv.AppendBool(dst, c.Bits.Get(i))
	case columnar.KindInt8:
		return strconv.AppendInt(dst, int64(columnar.Values[int8](c)[i]), 10)
	case columnar.KindInt16:
		return strconv.AppendInt(dst, int64(columnar.Values[int16](c)[i]), 10)
	case columnar.KindInt32:
		return strconv.AppendInt(dst, int64(columnar.Values[int32](c)[i]), 10)
	case columnar.KindInt64:
		return strconv.AppendInt(dst, columnar.Values[int64](c)[i], 10)
	case columnar.KindFloat32:
		return javatext.AppendFloat(dst, columnar.Values[float32](c)[i])
	case columnar.KindFloat64:
		return javatext.AppendDouble(dst, columnar.Values[float64](c)[i])
	case columnar.KindDecimal:
		v := columnar.Values[columnar.Dec128](c)[i]
		if f.scientific {
			return show.AppendBigDecimal(dst, v, t.Scale)
		}
		return columnar.AppendDec(dst, v, t.Scale)
	case columnar.KindString, columnar.KindBinary, columnar.KindVariant:
		return append(dst, c.BytesAt(i)...)
	case columnar.KindDate:
		return javatext.AppendDate(dst, columnar.Values[int32](c)[i])
	case columnar.KindTimestamp:
		return javatext.AppendTimestamp(dst, columnar.Values[int64](c)[i], f.zone)
	case columnar.KindTimestampNTZ:
		return javatext.AppendTimestampNTZ(dst, columnar.Values[int64](c)[i])
	case columnar.KindTime:
		return javatext.AppendTime(dst, columnar.Values[int64](c)[i])
	case columnar.KindYearMonth:
		return javatext.AppendYearMonthInterval(dst, columnar.Values[int32](c)[i], javatext.IntervalUnit(t.Start), javatext.IntervalUnit(t.End))
	case columnar.KindDayTime:
		return javatext.AppendDayTimeInterval(dst, columnar.Values[int64](c)[i], javatext.IntervalUnit(t.Start), javatext.IntervalUnit(t.End))
	case columnar.KindCalendar:
		return javatext.AppendCalendarInterval(dst, javatext.CalendarInterval(columnar.Values[columnar.CalendarInterval](c)[i]))
	case columnar.KindArray:
		dst = append(dst, '[')
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			if j > c.Offsets[i] {
				dst = append(dst, ", "...)
			}
			dst = f.appendOrNull(dst, c.Children[0], int(j))
		}
		return append(dst, ']')
	case columnar.KindMap:
		dst = append(dst, '{')
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			if j > c.Offsets[i] {
				dst = append(dst, ", "...)
			}
			dst = f.appendOrNull(dst, c.Children[0], int(j))
			dst = append(dst, " -> "...)
			dst = f.appendOrNull(dst, c.Children[1], int(j))
		}
		return append(dst, '}')
	case columnar.KindStruct:
		dst = append(dst, '{')
		for k, ch := range c.Children {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			dst = f.appendOrNull(dst, ch, i)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

func (f textForm) appendOrNull(dst []byte, c *columnar.Column, i int) []byte {
	if c.IsNull(i) {
		return append(dst, "null"...)
	}
	return f.append(dst, c, i)
}

const (
	microsPerSecond = 1_000_000
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	microsPerDay    = 24 * microsPerHour
)

// fieldMicros is the length of a day-time field.
func fieldMicros(f columnar.IntervalField) uint64 {
	switch f {
	case columnar.FieldDay:
		return microsPerDay
	case columnar.FieldHour:
		return microsPerHour
	case columnar.FieldMinute:
		return microsPerMinute
	}
	return microsPerSecond
}

// parseDecimal reads a decimal of a type; status says whether it could be read and fits.
func parseDecimal(s string, t *columnar.Type) (columnar.Dec128, javatext.DecimalStatus) {
	v, status := javatext.ParseDecimal(s, t.Precision, t.Scale)
	return columnar.Dec128(v), status
}
