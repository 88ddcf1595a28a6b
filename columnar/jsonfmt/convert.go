package jsonfmt

import (
	"math"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/jsonfmt/jsontoken"
	"github.com/wstream/wstream/columnar/records"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// partial is the error of an object, array or map of which a part is good.
type partial struct {
	value columnar.Datum
	cause error
}

func (p *partial) Error() string { return p.cause.Error() }

// reader is the slow way from a text to values: it takes the steps that Spark takes, in their order,
// so that what it keeps of a bad record is what Spark keeps.
type reader struct {
	s       jsontoken.Scanner
	formats *records.Formats
	opts    *Options
	reprint bool

	variants variantBuffers
}

// records reads one record of a file: a row, or the rows of a list of objects. An error stands for a
// bad record; rows are then what is good in it, and may be none.
func (r *reader) records(root *node, text []byte) (rows []columnar.Datum, err error) {
	r.s.Reset(text, r.opts.Features)
	t, err := r.s.Next()
	if err != nil {
		return nil, err
	}
	switch t {
	case jsontoken.None:
		return nil, nil
	case jsontoken.StartObject:
		v, err := r.object(root, true)
		if p, ok := err.(*partial); ok {
			return []columnar.Datum{p.value}, p.cause
		}
		if err != nil {
			return nil, err
		}
		return []columnar.Datum{v}, nil
	case jsontoken.StartArray:
		if r.opts.FromJSON {
			return nil, sparkerr.New("MALFORMED_RECORD_IN_PARSING.CANNOT_PARSE_JSON_ARRAYS_AS_STRUCTS",
				"the JSON text is a list, which cannot become a struct: %.200q", text)
		}
		list, err := r.array(root, true)
		if p, ok := err.(*partial); ok {
			return p.value.([]columnar.Datum), p.cause
		}
		return list, err
	case jsontoken.Null:
		return nil, errRootNull()
	}
	return nil, r.mismatch(root.typ)
}

// value reads one document as a value of any type, as from_json does.
func (r *reader) document(root *node, text []byte) (v columnar.Datum, found bool, err error) {
	if root.op == opStruct {
		rows, err := r.records(root, text)
		if len(rows) == 0 {
			return nil, err != nil, err
		}
		return rows[0], true, err
	}
	r.s.Reset(text, r.opts.Features)
	t, err := r.s.Next()
	switch {
	case err != nil:
		return nil, true, err
	case t == jsontoken.None:
		return nil, false, nil
	case t == jsontoken.Null:
		return nil, true, errRootNull()
	case root.op == opArray && t == jsontoken.StartObject && root.kids[0].op == opStruct:
		v, err := r.object(root.kids[0], false)
		if p, ok := err.(*partial); ok {
			return p.value, true, p.cause
		}
		if err != nil {
			return nil, true, err
		}
		return []columnar.Datum{v}, true, nil
	case root.op == opArray && t == jsontoken.StartArray:
		v, err := r.array(root.kids[0], false)
		if p, ok := err.(*partial); ok {
			return p.value, true, p.cause
		}
		if err != nil {
			return nil, true, err
		}
		return v, true, nil
	case root.op == opMap && t == jsontoken.StartObject:
		v, err := r.mapping(root)
		if p, ok := err.(*partial); ok {
			return p.value, true, p.cause
		}
		return v, true, err
	case root.typ.Kind == columnar.KindVariant:
		v, err := r.variant()
		return v, true, err
	}
	return nil, true, r.mismatch(root.typ)
}

func errRootNull() error {
	return sparkerr.New("INVALID_JSON_ROOT_FIELD", "cannot convert the JSON root field to the target type")
}

// object reads the fields of the object that the current token opens. The error is a *partial one if
// fields were bad and the rest is good.
func (r *reader) object(n *node, root bool) (columnar.Datum, error) {
	row := make(columnar.StructDatum, len(n.kids))
	var bad error
	for {
		t, err := r.s.Next()
		if err != nil {
			return nil, err
		}
		if t == jsontoken.None || t == jsontoken.EndObject {
			break
		}
		index := -1
		if name, ok := r.s.Name(); ok {
			if i, ok := n.object.fields[string(name)]; ok {
				index = i
			}
		}
		if index < 0 {
			if err := r.s.Skip(); err != nil {
				return nil, err
			}
			continue
		}
		v, err := r.value(n.kids[index])
		if err == nil {
			row[index] = v
			continue
		}
		if records.IsUpgrade(err) {
			return nil, err
		}
		if bad == nil {
			bad = err
			if p, ok := err.(*partial); ok {
				bad = p.cause
			}
		}
		if p, ok := err.(*partial); ok {
			row[index] = p.value
			continue
		}
		if err := r.s.Skip(); err != nil {
			return nil, err
		}
	}
	if bad != nil {
		return nil, &partial{row, bad}
	}
	return row, nil
}

// array reads the elements of the array that the current token opens; a bad element makes all of it
// bad, unless a part of the element is good. As the root it is a list of rows, which may not be null.
func (r *reader) array(elem *node, root bool) ([]columnar.Datum, error) {
	list := []columnar.Datum{}
	var bad error
	for {
		t, err := r.s.Next()
		if err != nil {
			return nil, err
		}
		if t == jsontoken.None || t == jsontoken.EndArray {
			break
		}
		v, err := r.value(elem)
		if p, ok := err.(*partial); ok {
			if bad == nil {
				bad = p.cause
			}
			v = p.value
		} else if err != nil {
			return nil, err
		} else if v == nil && root {
			return nil, errRootNull()
		}
		list = append(list, v)
	}
	if bad != nil {
		return nil, &partial{list, bad}
	}
	return list, nil
}

// mapping reads the entries of the object that the current token opens; a bad value makes all of it
// bad, unless a part of the value is good. The last of equal keys wins.
func (r *reader) mapping(n *node) (columnar.Datum, error) {
	var m columnar.MapDatum
	at := map[string]int{}
	var bad error
	lost := false
	for {
		t, err := r.s.Next()
		if err != nil {
			return nil, err
		}
		if t == jsontoken.None || t == jsontoken.EndObject {
			break
		}
		name, _ := r.s.Name()
		key := string(name)
		v, err := r.value(n.kids[1])
		if records.IsUpgrade(err) {
			return nil, err
		}
		if err != nil {
			p, ok := err.(*partial)
			if !ok {
				if bad == nil {
					bad = err
				}
				lost = true
				if err := r.s.Skip(); err != nil {
					return nil, err
				}
				continue
			}
			if bad == nil {
				bad = p.cause
			}
			v = p.value
		}
		if i, ok := at[key]; ok {
			m.Values[i] = v
			continue
		}
		at[key] = len(m.Keys)
		m.Keys, m.Values = append(m.Keys, key), append(m.Values, v)
	}
	switch {
	case lost:
		return nil, bad
	case bad != nil:
		return nil, &partial{m, bad}
	}
	return m, nil
}

// mismatch is the error of a token that is no value of type t.
func (r *reader) mismatch(t *columnar.Type) error {
	if r.s.Current() == jsontoken.String {
		text, err := r.s.Text()
		if err != nil {
			return err
		}
		if len(text) == 0 {
			return sparkerr.New("EMPTY_JSON_FIELD_VALUE", "an empty string is no value of type %s", t.SQL())
		}
	}
	name, _ := r.s.Name()
	text, _ := r.s.Text()
	return sparkerr.New("CANNOT_PARSE_JSON_FIELD", "cannot parse the field %q and the value %.100q of the JSON token %s as %s",
		name, text, r.s.Current(), t.SQL())
}

// text is the current string when it is not empty.
func (r *reader) text(t *columnar.Type) (string, error) {
	if r.s.Current() != jsontoken.String {
		return "", r.mismatch(t)
	}
	text, err := r.s.Text()
	if err != nil {
		return "", err
	}
	if len(text) == 0 {
		return "", r.mismatch(t)
	}
	return string(text), nil
}

// value reads the current token, or the value behind the current name, as n's type; null is nil.
func (r *reader) value(n *node) (columnar.Datum, error) {
	if r.s.Current() == jsontoken.FieldName {
		if _, err := r.s.Next(); err != nil {
			return nil, err
		}
	}
	token, t := r.s.Current(), n.typ
	if token == jsontoken.Null && t.Kind == columnar.KindVariant {
		return "null", nil
	}
	if token == jsontoken.None || token == jsontoken.Null {
		return nil, nil
	}
	switch t.Kind {
	case columnar.KindNull:
		return nil, nil
	case columnar.KindBool:
		if token == jsontoken.True || token == jsontoken.False {
			return token == jsontoken.True, nil
		}
	case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32, columnar.KindInt64:
		if token == jsontoken.Int {
			return r.integer(t)
		}
	case columnar.KindFloat32, columnar.KindFloat64:
		return r.float(t)
	case columnar.KindDecimal:
		return r.decimal(t)
	case columnar.KindString:
		return r.anyText()
	case columnar.KindBinary:
		if token == jsontoken.String {
			return r.s.Binary()
		}
	case columnar.KindTimestamp:
		if token == jsontoken.Int {
			v, err := r.integer(columnar.Int64)
			if err != nil {
				return nil, err
			}
			return v.(int64) * 1e6, nil
		}
		s, err := r.text(t)
		if err != nil {
			return nil, err
		}
		return datum(r.formats.ParseTimestamp(s))
	case columnar.KindTimestampNTZ:
		s, err := r.text(t)
		if err != nil {
			return nil, err
		}
		return datum(r.formats.ParseTimestampNTZ(s))
	case columnar.KindDate:
		s, err := r.text(t)
		if err != nil {
			return nil, err
		}
		return datum(r.formats.ParseDate(s))
	case columnar.KindTime:
		s, err := r.text(t)
		if err != nil {
			return nil, err
		}
		return datum(r.formats.ParseTime(s))
	case columnar.KindYearMonth, columnar.KindDayTime, columnar.KindCalendar:
		if token == jsontoken.String {
			text, err := r.s.Text()
			if err != nil {
				return nil, err
			}
			return records.ParseInterval(t, string(text))
		}
	case columnar.KindArray:
		if token == jsontoken.StartArray {
			v, err := r.array(n.kids[0], false)
			if err != nil {
				return nil, err
			}
			return v, nil
		}
	case columnar.KindMap:
		if token == jsontoken.StartObject {
			return r.mapping(n)
		}
	case columnar.KindStruct:
		if token == jsontoken.StartObject {
			return r.object(n, false)
		}
	case columnar.KindVariant:
		return r.variant()
	}
	return nil, r.mismatch(t)
}

// datum makes a Datum of a result, and nil of an error.
func datum[T any](v T, err error) (columnar.Datum, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (r *reader) integer(t *columnar.Type) (columnar.Datum, error) {
	text := string(r.s.NumberText())
	v, err := strconv.ParseInt(text, 10, 64)
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	switch t.Kind {
	case columnar.KindInt8:
		lo, hi = -128, 255 // a byte up to 255 wraps around
	case columnar.KindInt16:
		lo, hi = math.MinInt16, math.MaxInt16
	case columnar.KindInt32:
		lo, hi = math.MinInt32, math.MaxInt32
	}
	if err != nil || v < lo || v > hi {
		return nil, &jsontoken.SyntaxError{Offset: r.s.Start(), Text: "numeric value (" + text + ") out of range of " + t.String()}
	}
	switch t.Kind {
	case columnar.KindInt8:
		return int8(v), nil
	case columnar.KindInt16:
		return int16(v), nil
	case columnar.KindInt32:
		return int32(v), nil
	}
	return v, nil
}

func (r *reader) float(t *columnar.Type) (columnar.Datum, error) {
	var v float64
	switch r.s.Current() {
	case jsontoken.Int, jsontoken.Float:
		text := string(r.s.NumberText())
		if r.s.Special() {
			v = specialFloat(text)
		} else {
			v, _ = strconv.ParseFloat(text, 8*t.Width())
			if v == 0 && r.s.Current() == jsontoken.Int {
				v = 0 // an integer -0 has no sign
			}
		}
	default:
		text, err := r.text(t)
		if err != nil {
			return nil, err
		}
		switch text {
		case "NaN", "+INF", "+Infinity", "Infinity", "-INF", "-Infinity":
			if r.opts.Features.NonNumericNumbers {
				v = specialFloat(text)
				break
			}
			fallthrough
		default:
			return nil, sparkerr.New("MALFORMED_RECORD_IN_PARSING.CANNOT_PARSE_STRING_AS_DATATYPE",
				"the string %.100q is no value of type %s", text, t.SQL())
		}
	}
	if t.Kind == columnar.KindFloat32 {
		return float32(v), nil
	}
	return v, nil
}

func specialFloat(text string) float64 {
	switch {
	case text == "NaN":
		return math.NaN()
	case strings.HasPrefix(text, "-"):
		return math.Inf(-1)
	}
	return math.Inf(1)
}

func (r *reader) decimal(t *columnar.Type) (columnar.Datum, error) {
	var text string
	switch r.s.Current() {
	case jsontoken.Int, jsontoken.Float:
		if r.s.Special() {
			return nil, r.mismatch(t)
		}
		text = string(r.s.NumberText())
	default:
		s, err := r.text(t)
		if err != nil {
			return nil, err
		}
		return datum(r.formats.ParseDecimal(t, s))
	}
	v, status := javatext.ParseDecimal(text, t.Precision, t.Scale)
	if status != javatext.DecimalOK {
		return nil, sparkerr.New("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "%.60s does not fit %s", text, t.SQL())
	}
	return columnar.Dec128{Lo: v.Lo, Hi: v.Hi}, nil
}

// anyText is the text of any value: of a string what it says, of anything else what is written, or
// printed anew where Spark does so.
func (r *reader) anyText() (columnar.Datum, error) {
	if r.s.Current() == jsontoken.String {
		text, err := r.s.Text()
		if err != nil {
			return nil, err
		}
		return string(text), nil
	}
	if r.reprint {
		text, err := r.print(nil)
		return string(text), err
	}
	from := r.s.Start()
	if t := r.s.Current(); t == jsontoken.EndArray || t == jsontoken.EndObject {
		from = r.s.Pos() - 1
	}
	if err := r.s.Skip(); err != nil {
		return nil, err
	}
	return string(r.s.Source()[from:r.s.Pos()]), nil
}

// print writes the current value as compact JSON.
func (r *reader) print(dst []byte) ([]byte, error) {
	switch r.s.Current() {
	case jsontoken.StartObject:
		dst = append(dst, '{')
		for first := true; ; first = false {
			t, err := r.s.Next()
			if err != nil {
				return dst, err
			}
			if t == jsontoken.EndObject || t == jsontoken.None {
				return append(dst, '}'), nil
			}
			if !first {
				dst = append(dst, ',')
			}
			name, _ := r.s.Text()
			dst = append(appendJSONString(dst, string(name), false), ':')
			if _, err := r.s.Next(); err != nil {
				return dst, err
			}
			if dst, err = r.print(dst); err != nil {
				return dst, err
			}
		}
	case jsontoken.StartArray:
		dst = append(dst, '[')
		for first := true; ; first = false {
			t, err := r.s.Next()
			if err != nil {
				return dst, err
			}
			if t == jsontoken.EndArray || t == jsontoken.None {
				return append(dst, ']'), nil
			}
			if !first {
				dst = append(dst, ',')
			}
			if dst, err = r.print(dst); err != nil {
				return dst, err
			}
		}
	case jsontoken.String:
		text, err := r.s.Text()
		if err != nil {
			return dst, err
		}
		return appendJSONString(dst, string(text), false), nil
	case jsontoken.Int:
		text := r.s.NumberText()
		if string(text) == "-0" {
			text = text[1:]
		}
		return append(dst, text...), nil
	case jsontoken.Float:
		if r.s.Special() {
			v := specialFloat(string(r.s.NumberText()))
			return appendJSONString(dst, javatext.DoubleString(v), false), nil
		}
		v, _ := strconv.ParseFloat(string(r.s.NumberText()), 64)
		if math.IsInf(v, 0) {
			return appendJSONString(dst, javatext.DoubleString(v), false), nil
		}
		return javatext.AppendDouble(dst, v), nil
	case jsontoken.True:
		return append(dst, "true"...), nil
	case jsontoken.False:
		return append(dst, "false"...), nil
	case jsontoken.Null:
		return append(dst, "null"...), nil
	}
	return dst, nil
}
