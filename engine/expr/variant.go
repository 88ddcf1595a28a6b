package expr

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/jsonfmt"
)

// appendVariantText appends a variant as a string: a JSON string without its quotes, anything else
// as JSON.
func appendVariantText(dst, text []byte) []byte {
	if jsonFirst(text) == '"' {
		return append(dst, jsonString(text)...)
	}
	return append(dst, text...)
}

// variantDatum reads the value of a type out of a variant's JSON text. What cannot be cast is an error, or
// unless the mode is CastANSI a null, also as a part of the value.
func (k *caster) variantDatum(text []byte, to *columnar.Type) (columnar.Datum, error) {
	bad := func() (columnar.Datum, error) {
		if k.mode != CastANSI {
			return nil, nil
		}
		return nil, invalidVariant(string(text), to)
	}
	first := jsonFirst(text)
	switch {
	case to.Kind == columnar.KindVariant:
		return string(text), nil
	case first == 'n':
		return nil, nil
	case to.Kind == columnar.KindString:
		return string(appendVariantText(nil, text)), nil
	}
	switch to.Kind {
	case columnar.KindArray:
		if first != '[' {
			return bad()
		}
		out := []columnar.Datum{}
		var failed error
		jsonParts(text, func(_, value []byte) bool {
			d, err := k.variantDatum(value, to.Elem)
			out, failed = append(out, d), err
			return err == nil
		})
		return out, failed
	case columnar.KindMap:
		if first != '{' || to.Key.Kind != columnar.KindString {
			return bad()
		}
		m := columnar.MapDatum{}
		var failed error
		jsonParts(text, func(name, value []byte) bool {
			d, err := k.variantDatum(value, to.Elem)
			m.Keys, m.Values, failed = append(m.Keys, jsonString(name)), append(m.Values, d), err
			return err == nil
		})
		return m, failed
	case columnar.KindStruct:
		if first != '{' {
			return bad()
		}
		s := make(columnar.StructDatum, len(to.Fields))
		var failed error
		jsonParts(text, func(name, value []byte) bool {
			n := jsonString(name)
			for j, f := range to.Fields {
				if n == f.Name {
					s[j], failed = k.variantDatum(value, f.Type)
					break
				}
			}
			return failed == nil
		})
		return s, failed
	}
	// A scalar goes through the column of its own type.
	var c *columnar.Column
	switch first {
	case '{', '[':
		return bad()
	case '"':
		c = columnar.NewStrings([]string{jsonString(text)})
	case 't', 'f':
		c = columnar.FromData(columnar.Bool, first == 't')
	default:
		c = numberColumn(string(text))
	}
	if !canCast(c.Type, to, CastANSI) {
		return bad()
	}
	strict := *k
	strict.mode = CastANSI
	r, err := strict.column(c, to)
	if err != nil {
		return bad()
	}
	return r.Datum(0), nil
}

// numberColumn is a JSON number as BIGINT, DECIMAL or DOUBLE, whichever holds it exactly first.
func numberColumn(s string) *columnar.Column {
	if v, ok := javatext.ParseBigint(s, false); ok {
		return columnar.FromData(columnar.Int64, v)
	}
	if !strings.ContainsAny(s, "eE") {
		scale := 0
		if dot := strings.IndexByte(s, '.'); dot >= 0 {
			scale = len(s) - dot - 1
		}
		if t := columnar.Decimal(38, min(scale, 38)); scale <= 38 {
			if d, status := parseDecimal(s, t); status == javatext.DecimalOK {
				return columnar.FromData(t, d)
			}
		}
	}
	f, _ := javatext.ParseDouble(s)
	return columnar.FromData(columnar.Float64, f)
}

// appendVariant appends row i of c, of any type that can become a variant, as a variant's JSON text.
func appendVariant(dst []byte, c *columnar.Column, i int, zone *javatext.Zone) []byte {
	if c.IsNull(i) {
		return append(dst, "null"...)
	}
	t := c.Type
	switch t.Kind {
	case columnar.KindVariant:
		return append(dst, c.BytesAt(i)...)
	case columnar.KindString:
		return jsonfmt.AppendString(dst, c.StringAt(i))
	case columnar.KindBinary:
		return jsonfmt.AppendString(dst, base64.StdEncoding.EncodeToString(c.BytesAt(i)))
	case columnar.KindBool, columnar.KindInt8, columnar.KindInt16, columnar.KindInt32, columnar.KindInt64:
		return appendText(dst, c, i, zone)
	case columnar.KindFloat32, columnar.KindFloat64:
		text := appendText(nil, c, i, zone)
		if last := text[len(text)-1]; last == 'N' || last == 'y' { // NaN, Infinity
			return jsonfmt.AppendString(dst, string(text))
		}
		return append(dst, text...)
	case columnar.KindDecimal:
		text := appendText(nil, c, i, zone)
		if bytes.IndexByte(text, '.') >= 0 {
			text = bytes.TrimSuffix(bytes.TrimRight(text, "0"), []byte("."))
		}
		return append(dst, text...)
	case columnar.KindTimestamp:
		micros := columnar.Values[int64](c)[i]
		dst = appendText(append(dst, '"'), c, i, zone)
		off, sign := zone.Offset(micros), byte('+')
		if off < 0 {
			off, sign = -off, '-'
		}
		dst = append(dst, sign, byte('0'+off/36000), byte('0'+off/3600%10), ':', byte('0'+off%3600/600), byte('0'+off%600/60))
		return append(dst, '"')
	case columnar.KindArray:
		dst = append(dst, '[')
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			if j > c.Offsets[i] {
				dst = append(dst, ',')
			}
			dst = appendVariant(dst, c.Children[0], int(j), zone)
		}
		return append(dst, ']')
	case columnar.KindMap, columnar.KindStruct:
		return appendVariantObject(dst, c, i, zone)
	}
	// Dates and times are strings.
	return append(appendText(append(dst, '"'), c, i, zone), '"')
}

// appendVariantObject appends a struct or a map as an object, whose members are in the order of their names; of
// several with one name the last one counts.
func appendVariantObject(dst []byte, c *columnar.Column, i int, zone *javatext.Zone) []byte {
	type member struct {
		name   string
		values *columnar.Column
		row    int
	}
	var all []member
	if c.Type.Kind == columnar.KindStruct {
		for k, f := range c.Type.Fields {
			all = append(all, member{f.Name, c.Children[k], i})
		}
	} else {
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			all = append(all, member{c.Children[0].StringAt(int(j)), c.Children[1], int(j)})
		}
	}
	slices.SortStableFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	dst = append(dst, '{')
	some := false
	for k, m := range all {
		if k+1 < len(all) && all[k+1].name == m.name {
			continue
		}
		if some {
			dst = append(dst, ',')
		}
		some = true
		dst = append(jsonfmt.AppendString(dst, m.name), ':')
		dst = appendVariant(dst, m.values, m.row, zone)
	}
	return append(dst, '}')
}
