package show

import (
	"strconv"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/records"
)

// Style is a way to write values as text.
type Style struct {
	Zone *javatext.Zone // of timestamps
	// Null is written for NULLs within arrays, maps and structs, and for a NULL itself.
	Null string
	// HexBinary writes binary values as [48 65]; otherwise they are taken for text.
	HexBinary bool
	// Scientific writes decimals as Java's BigDecimal does, with an exponent for small ones.
	Scientific bool
}

// Pretty is the style of show.
func Pretty(zone *javatext.Zone) Style { return Style{Zone: zone, Null: "NULL", HexBinary: true} }

// Cast is the style of a CAST to STRING.
func Cast(zone *javatext.Zone) Style { return Style{Zone: zone, Null: "null"} }

const hexDigits = "0123456789ABCDEF"

// Append writes the value of row i of c behind dst.
func (s Style) Append(dst []byte, c *columnar.Column, i int) []byte {
	if c.IsNull(i) {
		return append(dst, s.Null...)
	}
	switch c.Type.Kind {
	case columnar.KindBool:
		if c.Bits.Get(i) {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
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
		if s.Scientific {
			return AppendBigDecimal(dst, v, c.Type.Scale)
		}
		return columnar.AppendDec(dst, v, c.Type.Scale)
	case columnar.KindString, columnar.KindVariant:
		return append(dst, c.BytesAt(i)...)
	case columnar.KindBinary:
		if !s.HexBinary {
			return append(dst, c.BytesAt(i)...)
		}
		dst = append(dst, '[')
		for k, b := range c.BytesAt(i) {
			if k > 0 {
				dst = append(dst, ' ')
			}
			dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
		}
		return append(dst, ']')
	case columnar.KindDate:
		return javatext.AppendDate(dst, columnar.Values[int32](c)[i])
	case columnar.KindTimestamp:
		return javatext.AppendTimestamp(dst, columnar.Values[int64](c)[i], s.Zone)
	case columnar.KindTimestampNTZ:
		return javatext.AppendTimestampNTZ(dst, columnar.Values[int64](c)[i])
	case columnar.KindTime:
		return javatext.AppendTime(dst, columnar.Values[int64](c)[i])
	case columnar.KindYearMonth, columnar.KindDayTime, columnar.KindCalendar:
		return records.AppendInterval(dst, c, i)
	case columnar.KindArray:
		dst = append(dst, '[')
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			if j > c.Offsets[i] {
				dst = append(dst, ", "...)
			}
			dst = s.Append(dst, c.Children[0], int(j))
		}
		return append(dst, ']')
	case columnar.KindMap:
		dst = append(dst, '{')
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			if j > c.Offsets[i] {
				dst = append(dst, ", "...)
			}
			dst = s.Append(dst, c.Children[0], int(j))
			dst = append(dst, " -> "...)
			dst = s.Append(dst, c.Children[1], int(j))
		}
		return append(dst, '}')
	case columnar.KindStruct:
		dst = append(dst, '{')
		for k, f := range c.Children {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			dst = s.Append(dst, f, i)
		}
		return append(dst, '}')
	}
	return append(dst, s.Null...)
}

// AppendBigDecimal writes a decimal as java.math.BigDecimal.toString does: plainly, or with an exponent when its first
// digit stands more than six places behind the point.
func AppendBigDecimal(dst []byte, v columnar.Dec128, scale int) []byte {
	var buf [48]byte
	digits := columnar.AppendDec(buf[:0], v, 0)
	negative := digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	exp := len(digits) - 1 - scale
	if scale <= 0 || exp >= -6 {
		return columnar.AppendDec(dst, v, scale)
	}
	if negative {
		dst = append(dst, '-')
	}
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	return strconv.AppendInt(append(dst, 'E'), int64(exp), 10)
}

// units is the length of s in UTF-16 units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x10000 && r != utf8.RuneError {
			n++
		}
	}
	return n
}

// cut is the first n UTF-16 units of s. Half of a character that takes two becomes a question mark, as
// which Java prints it.
func cut(s string, n int) string {
	for i, r := range s {
		size := 1
		if r >= 0x10000 {
			size = 2
		}
		if n < size {
			if n == 1 {
				return s[:i] + "?"
			}
			return s[:i]
		}
		n -= size
	}
	return s
}
