package datumjson

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
)

// Append writes d, a value of type t, behind dst.
func Append(dst []byte, t *columnar.Type, d columnar.Datum) []byte {
	if d == nil {
		return append(dst, "null"...)
	}
	switch t.Kind {
	case columnar.KindBool:
		return strconv.AppendBool(dst, d.(bool))
	case columnar.KindInt8:
		return strconv.AppendInt(dst, int64(d.(int8)), 10)
	case columnar.KindInt16:
		return strconv.AppendInt(dst, int64(d.(int16)), 10)
	case columnar.KindInt32:
		return strconv.AppendInt(dst, int64(d.(int32)), 10)
	case columnar.KindInt64:
		return strconv.AppendInt(dst, d.(int64), 10)
	case columnar.KindFloat32:
		f := d.(float32)
		if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
			return appendQuoted(dst, javatext.FloatString(f))
		}
		return javatext.AppendFloat(dst, f)
	case columnar.KindFloat64:
		f := d.(float64)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return appendQuoted(dst, javatext.DoubleString(f))
		}
		return javatext.AppendDouble(dst, f)
	case columnar.KindDecimal:
		dst = append(dst, '"')
		dst = columnar.AppendDec(dst, d.(columnar.Dec128), t.Scale)
		return append(dst, '"')
	case columnar.KindString:
		return appendString(dst, d.(string))
	case columnar.KindVariant:
		return append(dst, d.(string)...)
	case columnar.KindBinary:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, d.([]byte))
		return append(dst, '"')
	case columnar.KindDate:
		dst = append(dst, '"')
		dst = javatext.AppendDate(dst, d.(int32))
		return append(dst, '"')
	case columnar.KindTimestamp:
		dst = append(dst, '"')
		dst = appendTimestamp(dst, d.(int64))
		return append(dst, 'Z', '"')
	case columnar.KindTimestampNTZ:
		dst = append(dst, '"')
		dst = appendTimestamp(dst, d.(int64))
		return append(dst, '"')
	case columnar.KindTime:
		return fmt.Appendf(dst, `"%02d:%02d:%02d.%09d"`, d.(int64)/3600e9, d.(int64)/60e9%60, d.(int64)/1e9%60, d.(int64)%1e9)
	case columnar.KindYearMonth:
		dst = append(dst, '"')
		dst = javatext.AppendYearMonthInterval(dst, d.(int32), javatext.IntervalUnit(t.Start), javatext.IntervalUnit(t.End))
		return append(dst, '"')
	case columnar.KindDayTime:
		dst = append(dst, '"')
		dst = javatext.AppendDayTimeInterval(dst, d.(int64), javatext.IntervalUnit(t.Start), javatext.IntervalUnit(t.End))
		return append(dst, '"')
	case columnar.KindCalendar:
		dst = append(dst, '"')
		dst = javatext.AppendCalendarInterval(dst, javatext.CalendarInterval(d.(columnar.CalendarInterval)))
		return append(dst, '"')
	case columnar.KindArray:
		dst = append(dst, '[')
		for i, e := range d.([]columnar.Datum) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = Append(dst, t.Elem, e)
		}
		return append(dst, ']')
	case columnar.KindMap:
		return appendMap(dst, t, d.(columnar.MapDatum))
	case columnar.KindStruct:
		return appendStruct(dst, t.Fields, d.(columnar.StructDatum))
	}
	return append(dst, "null"...)
}

// AppendRow writes row i of b as an object, with its NULLs.
func AppendRow(dst []byte, b *columnar.Batch, i int) []byte {
	row := make(columnar.StructDatum, len(b.Columns))
	for k, c := range b.Columns {
		row[k] = c.Datum(i)
	}
	return appendStruct(dst, b.Schema.Fields, row)
}

func appendMap(dst []byte, t *columnar.Type, m columnar.MapDatum) []byte {
	object := t.Key.Kind == columnar.KindString
	for _, k := range m.Keys {
		if s, ok := k.(string); ok && !utf8.ValidString(s) {
			object = false
		}
	}
	if !object {
		dst = append(dst, '[')
		for i := range m.Keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, '[')
			dst = Append(dst, t.Key, m.Keys[i])
			dst = append(dst, ',')
			dst = Append(dst, t.Elem, m.Values[i])
			dst = append(dst, ']')
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i := range m.Keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = Append(dst, t.Key, m.Keys[i])
		dst = append(dst, ':')
		dst = Append(dst, t.Elem, m.Values[i])
	}
	return append(dst, '}')
}

func appendStruct(dst []byte, fields []columnar.Field, d columnar.StructDatum) []byte {
	before, between, behind := byte('{'), byte(':'), byte('}')
	pairs := false
	for i := range fields {
		for j := range fields[:i] {
			if fields[i].Name == fields[j].Name {
				pairs, before, between, behind = true, '[', ',', ']'
			}
		}
	}
	dst = append(dst, before)
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		if pairs {
			dst = append(dst, '[')
		}
		dst = appendQuoted(dst, f.Name)
		dst = append(dst, between)
		dst = Append(dst, f.Type, d[i])
		if pairs {
			dst = append(dst, ']')
		}
	}
	return append(dst, behind)
}

// appendString writes a STRING, with the marker when it is not UTF-8.
func appendString(dst []byte, s string) []byte {
	if utf8.ValidString(s) {
		return appendQuoted(dst, s)
	}
	dst = append(dst, `{"`+invalidUTF8+`":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, []byte(s))
	return append(dst, '"', '}')
}

// appendQuoted writes s as a JSON string and leaves all characters but control characters, quotes
// and backslashes as they are.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < 0x20:
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// appendAny writes a decoded value as compact JSON.
func appendAny(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendQuoted(dst, v)
	case json.Number:
		return append(dst, v...)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return appendQuoted(dst, javatext.DoubleString(v))
		}
		return javatext.AppendDouble(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendAny(dst, e)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendQuoted(dst, m.Name)
			dst = append(dst, ':')
			dst = appendAny(dst, m.Value)
		}
		return append(dst, '}')
	case map[string]any:
		obj, _ := members(v)
		sort.Slice(obj, func(i, j int) bool { return obj[i].Name < obj[j].Name })
		return appendAny(dst, obj)
	}
	return fmt.Append(dst, v)
}
