package datumjson

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
)

// Member is one name and value of an Object.
type Member struct {
	Name  string
	Value any
}

// Object is a JSON object with its members in the order written, repeated names included.
type Object []Member

// invalidUTF8 is the name that marks a STRING whose bytes are not UTF-8.
const invalidUTF8 = "$invalid_utf8_base64"

// Parse reads one value of type t. Numbers may be written as strings and decimals as numbers;
// a timestamp may leave out its fraction, its seconds or its time, and may carry an offset.
func Parse(t *columnar.Type, text []byte) (columnar.Datum, error) {
	v, err := decode(text)
	if err != nil {
		return nil, err
	}
	return FromAny(t, v)
}

// ParseRow reads an object as one row of schema s, one Datum a column. A missing member is NULL, a
// member without a column is an error. A list of [name, value] stands for an object, as for structs.
func ParseRow(s *columnar.Schema, text []byte) ([]columnar.Datum, error) {
	v, err := decode(text)
	if err != nil {
		return nil, err
	}
	return RowFromAny(s, v)
}

// RowFromAny is ParseRow of a value that was decoded before, by this package, by encoding/json or
// from YAML.
func RowFromAny(s *columnar.Schema, v any) ([]columnar.Datum, error) {
	d, err := structOf(s.Fields, v)
	return []columnar.Datum(d), err
}

// decode reads one JSON document into nil, bool, json.Number, string, []any and Object.
func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := decodeValue(dec)
	if err != nil {
		return nil, fmt.Errorf("value %.100q: %w", text, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("value %.100q: more than one value", text)
	}
	return v, nil
}

func decodeValue(dec *json.Decoder) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := decodeValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	case json.Delim('{'):
		obj := Object{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := decodeValue(dec)
			if err != nil {
				return nil, err
			}
			obj = append(obj, Member{name.(string), v})
		}
		_, err := dec.Token()
		return obj, err
	}
	return tok, nil
}

// members views an object of any decoder as members in order; a Go map comes in any order.
func members(v any) (Object, bool) {
	switch v := v.(type) {
	case Object:
		return v, true
	case map[string]any:
		obj := make(Object, 0, len(v))
		for k, e := range v {
			obj = append(obj, Member{k, e})
		}
		return obj, true
	case []any: // pairs of [name, value]
		obj := make(Object, 0, len(v))
		for _, e := range v {
			pair, ok := e.([]any)
			if !ok || len(pair) != 2 {
				return nil, false
			}
			name, ok := pair[0].(string)
			if !ok {
				return nil, false
			}
			obj = append(obj, Member{name, pair[1]})
		}
		return obj, true
	}
	return nil, false
}

// FromAny makes a Datum of type t from a value that was decoded before: nil, bool, any Go integer,
// float64, json.Number, string, []any, map[string]any or Object.
func FromAny(t *columnar.Type, v any) (columnar.Datum, error) {
	if v == nil {
		return nil, nil
	}
	switch t.Kind {
	case columnar.KindNull:
		return nil, mismatch(t, v)
	case columnar.KindBool:
		if b, ok := v.(bool); ok {
			return b, nil
		}
		return nil, mismatch(t, v)
	case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32, columnar.KindInt64:
		return integer(t, v)
	case columnar.KindFloat32, columnar.KindFloat64:
		return float(t, v)
	case columnar.KindDecimal:
		return decimal(t, v)
	case columnar.KindString:
		return stringOf(t, v)
	case columnar.KindVariant:
		return string(appendAny(nil, v)), nil
	case columnar.KindArray:
		return arrayOf(t, v)
	case columnar.KindMap:
		return mapOf(t, v)
	case columnar.KindStruct:
		d, err := structOf(t.Fields, v)
		if err != nil {
			return nil, err
		}
		return d, nil
	}
	s, ok := v.(string)
	if !ok {
		return nil, mismatch(t, v)
	}
	var d columnar.Datum
	ok = false
	switch t.Kind {
	case columnar.KindBinary:
		b, err := base64.StdEncoding.DecodeString(s)
		d, ok = b, err == nil
	case columnar.KindDate:
		d, ok = parseDate(s)
	case columnar.KindTimestamp:
		d, ok = parseTimestamp(s, true)
	case columnar.KindTimestampNTZ:
		d, ok = parseTimestamp(s, false)
	case columnar.KindTime:
		d, ok = parseClock(s)
	case columnar.KindYearMonth:
		v, err := javatext.ParseYearMonthInterval(s, javatext.IntervalUnit(t.Start), javatext.IntervalUnit(t.End))
		d, ok = v, err == nil
	case columnar.KindDayTime:
		v, err := javatext.ParseDayTimeInterval(s, javatext.IntervalUnit(t.Start), javatext.IntervalUnit(t.End))
		d, ok = v, err == nil
	case columnar.KindCalendar:
		v, err := javatext.ParseCalendarInterval(s)
		d, ok = columnar.CalendarInterval(v), err == nil
	}
	if !ok {
		return nil, mismatch(t, v)
	}
	return d, nil
}

func mismatch(t *columnar.Type, v any) error {
	return fmt.Errorf("%.100s is no value of type %s", appendAny(nil, v), t)
}

// numberText is the digits of a number, however it was decoded.
func numberText(v any) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return string(v), true
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v), true
	}
	return "", false
}

func integer(t *columnar.Type, v any) (columnar.Datum, error) {
	s, ok := numberText(v)
	if !ok {
		return nil, mismatch(t, v)
	}
	n, err := strconv.ParseInt(s, 10, 8*t.Width())
	if err != nil {
		return nil, mismatch(t, v)
	}
	switch t.Kind {
	case columnar.KindInt8:
		return int8(n), nil
	case columnar.KindInt16:
		return int16(n), nil
	case columnar.KindInt32:
		return int32(n), nil
	}
	return n, nil
}

func float(t *columnar.Type, v any) (columnar.Datum, error) {
	s, ok := numberText(v)
	if !ok {
		return nil, mismatch(t, v)
	}
	var f float64
	switch s {
	case "NaN":
		f = math.NaN()
	case "Infinity":
		f = math.Inf(1)
	case "-Infinity":
		f = math.Inf(-1)
	default:
		var err error
		if f, err = strconv.ParseFloat(s, 8*t.Width()); err != nil && !math.IsInf(f, 0) {
			return nil, mismatch(t, v)
		}
	}
	if t.Kind == columnar.KindFloat32 {
		return float32(f), nil
	}
	return f, nil
}

func decimal(t *columnar.Type, v any) (columnar.Datum, error) {
	s, ok := numberText(v)
	if !ok {
		return nil, mismatch(t, v)
	}
	if len(s) > 100 || strings.ContainsAny(s, "/xXpP_") {
		return nil, mismatch(t, v)
	}
	if _, e, ok := strings.Cut(strings.ToLower(s), "e"); ok && len(strings.TrimLeft(e, "+-")) > 3 {
		return nil, mismatch(t, v)
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, mismatch(t, v)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)
	r.Mul(r, new(big.Rat).SetInt(scale))
	if !r.IsInt() {
		return nil, mismatch(t, v)
	}
	d, ok := columnar.Dec128FromBig(r.Num())
	if !ok || !d.FitsPrecision(t.Precision) {
		return nil, mismatch(t, v)
	}
	return d, nil
}

func stringOf(t *columnar.Type, v any) (columnar.Datum, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	if obj, ok := members(v); ok && len(obj) == 1 && obj[0].Name == invalidUTF8 {
		if s, ok := obj[0].Value.(string); ok {
			if b, err := base64.StdEncoding.DecodeString(s); err == nil {
				return string(b), nil
			}
		}
	}
	return nil, mismatch(t, v)
}

func arrayOf(t *columnar.Type, v any) (columnar.Datum, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, mismatch(t, v)
	}
	out := make([]columnar.Datum, len(list))
	for i, e := range list {
		d, err := FromAny(t.Elem, e)
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		out[i] = d
	}
	return out, nil
}

func mapOf(t *columnar.Type, v any) (columnar.Datum, error) {
	var keys, values []any
	if list, ok := v.([]any); ok {
		for _, e := range list {
			pair, ok := e.([]any)
			if !ok || len(pair) != 2 {
				return nil, mismatch(t, v)
			}
			keys, values = append(keys, pair[0]), append(values, pair[1])
		}
	} else {
		obj, ok := members(v)
		if !ok {
			return nil, mismatch(t, v)
		}
		for _, m := range obj {
			keys, values = append(keys, m.Name), append(values, m.Value)
		}
	}
	out := columnar.MapDatum{Keys: make([]columnar.Datum, len(keys)), Values: make([]columnar.Datum, len(keys))}
	for i := range keys {
		var err error
		if out.Keys[i], err = FromAny(t.Key, keys[i]); err != nil {
			return nil, fmt.Errorf("key %d: %w", i, err)
		}
		if out.Values[i], err = FromAny(t.Elem, values[i]); err != nil {
			return nil, fmt.Errorf("value of key %v: %w", keys[i], err)
		}
	}
	return out, nil
}

// structOf matches members to fields by name; where a name repeats, in order.
func structOf(fields []columnar.Field, v any) (columnar.StructDatum, error) {
	obj, ok := members(v)
	if !ok {
		return nil, mismatch(&columnar.Type{Kind: columnar.KindStruct, Fields: fields}, v)
	}
	out, seen := make(columnar.StructDatum, len(fields)), make([]bool, len(fields))
member:
	for _, m := range obj {
		for i, f := range fields {
			if f.Name == m.Name && !seen[i] {
				d, err := FromAny(f.Type, m.Value)
				if err != nil {
					return nil, fmt.Errorf("field %q: %w", f.Name, err)
				}
				out[i], seen[i] = d, true
				continue member
			}
		}
		return nil, fmt.Errorf("no field %q", m.Name)
	}
	return out, nil
}
