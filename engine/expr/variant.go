package expr

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
)

// appendVariantText appends a variant as a string: a JSON string without its quotes, anything else
// as JSON.
func appendVariantText(dst, text []byte) []byte {
	if len(text) > 0 && text[0] == '"' {
		var s string
		if json.Unmarshal(text, &s) == nil {
			return append(dst, s...)
		}
	}
	return append(dst, text...)
}

// variantDatum reads the value of a type out of a variant's JSON text.
func (k *caster) variantDatum(text []byte, to *columnar.Type) (columnar.Datum, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, invalidVariant(string(text), to)
	}
	if v == nil {
		return nil, nil
	}
	switch to.Kind {
	case columnar.KindVariant:
		return string(text), nil
	case columnar.KindArray:
		var items []json.RawMessage
		if json.Unmarshal(text, &items) != nil {
			return nil, invalidVariant(string(text), to)
		}
		out := make([]columnar.Datum, len(items))
		for i, it := range items {
			d, err := k.variantDatum(it, to.Elem)
			if err != nil {
				return nil, err
			}
			out[i] = d
		}
		return out, nil
	case columnar.KindStruct, columnar.KindMap:
		names, values, ok := jsonObject(text)
		if !ok || to.Kind == columnar.KindMap && to.Key.Kind != columnar.KindString {
			return nil, invalidVariant(string(text), to)
		}
		if to.Kind == columnar.KindMap {
			m := columnar.MapDatum{}
			for i, n := range names {
				d, err := k.variantDatum(values[i], to.Elem)
				if err != nil {
					return nil, err
				}
				m.Keys, m.Values = append(m.Keys, n), append(m.Values, d)
			}
			return m, nil
		}
		s := make(columnar.StructDatum, len(to.Fields))
		for j, f := range to.Fields {
			for i, n := range names {
				if n == f.Name {
					d, err := k.variantDatum(values[i], f.Type)
					if err != nil {
						return nil, err
					}
					s[j] = d
				}
			}
		}
		return s, nil
	}
	// A scalar goes through the column of its own type.
	var c *columnar.Column
	switch x := v.(type) {
	case bool:
		c = columnar.FromData(columnar.Bool, x)
	case string:
		c = columnar.NewStrings([]string{x})
	case json.Number:
		c = numberColumn(string(x))
	default:
		return nil, invalidVariant(string(text), to)
	}
	if !canCast(c.Type, to, CastANSI) {
		return nil, invalidVariant(string(text), to)
	}
	strict := *k
	strict.mode = CastANSI
	r, err := strict.column(c, to)
	if err != nil {
		return nil, invalidVariant(string(text), to)
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

// jsonObject splits a JSON object into its members in order.
func jsonObject(text []byte) (names []string, values []json.RawMessage, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, false
	}
	for dec.More() {
		t, err := dec.Token()
		name, is := t.(string)
		if err != nil || !is {
			return nil, nil, false
		}
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return nil, nil, false
		}
		names, values = append(names, name), append(values, v)
	}
	return names, values, true
}
