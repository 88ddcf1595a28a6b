package jsonfmt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/jsonfmt/jsontoken"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// AppendVariant writes the JSON text of a VARIANT as Spark holds it: without blanks, fields in the
// order of their names, decimals without trailing zeros. It fails on text that does not begin with
// a JSON value and on names that repeat within an object; what follows the value is not looked at.
func AppendVariant(dst []byte, text []byte, opts Options) ([]byte, error) {
	opts.Features.ReplacementDecoding = true
	r := reader{opts: &opts}
	r.s.Reset(text, opts.Features)
	t, err := r.s.Next()
	if err != nil {
		return dst, err
	}
	if t == jsontoken.None {
		return dst, &jsontoken.SyntaxError{Text: "no JSON value in an empty text"}
	}
	return r.appendVariant(dst)
}

// variant reads the current value as a VARIANT.
func (r *reader) variant() (columnar.Datum, error) {
	text, err := r.appendVariant(nil)
	if err != nil {
		return nil, err
	}
	return string(text), nil
}

// variantRecord reads a whole record as one VARIANT.
func (r *reader) variantRecord(text []byte) ([]columnar.Datum, error) {
	r.s.Reset(text, r.opts.Features)
	t, err := r.s.Next()
	if err != nil || t == jsontoken.None {
		return nil, err
	}
	v, err := r.variant()
	if err != nil {
		return nil, err
	}
	return []columnar.Datum{columnar.StructDatum{v}}, nil
}

// variantField is a field of an object before it is sorted.
type variantField struct {
	name  string
	value []byte
}

func (r *reader) appendVariant(dst []byte) ([]byte, error) {
	switch r.s.Current() {
	case jsontoken.StartObject:
		var fields []variantField
		for {
			t, err := r.s.Next()
			if err != nil {
				return dst, err
			}
			if t == jsontoken.EndObject || t == jsontoken.None {
				break
			}
			name, _ := r.s.Text()
			f := variantField{name: string(name)}
			if _, err := r.s.Next(); err != nil {
				return dst, err
			}
			if f.value, err = r.appendVariant(nil); err != nil {
				return dst, err
			}
			fields = append(fields, f)
		}
		slices.SortStableFunc(fields, func(a, b variantField) int { return strings.Compare(a.name, b.name) })
		dst = append(dst, '{')
		for i, f := range fields {
			if i > 0 {
				if f.name == fields[i-1].name {
					return dst, sparkerr.New("VARIANT_DUPLICATE_KEY", "Failed to build variant because of a duplicate object key %q.", f.name)
				}
				dst = append(dst, ',')
			}
			dst = append(appendJSONString(dst, f.name, false), ':')
			dst = append(dst, f.value...)
		}
		return append(dst, '}'), nil
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
			if dst, err = r.appendVariant(dst); err != nil {
				return dst, err
			}
		}
	case jsontoken.Int, jsontoken.Float:
		text := string(r.s.NumberText())
		if r.s.Special() {
			return appendJSONString(dst, javatext.DoubleString(specialFloat(text)), false), nil
		}
		if v, err := strconv.ParseInt(text, 10, 64); err == nil && r.s.Current() == jsontoken.Int {
			return strconv.AppendInt(dst, v, 10), nil
		}
		if !strings.ContainsAny(text, "eE") {
			if plain, ok := plainDecimal(text); ok {
				return append(dst, plain...), nil
			}
		}
		v, _ := strconv.ParseFloat(text, 64)
		if v-v != 0 {
			return appendJSONString(dst, javatext.DoubleString(v), false), nil
		}
		return javatext.AppendDouble(dst, v), nil
	}
	return r.print(dst)
}

// plainDecimal drops the trailing zeros of a number without exponent that is a DECIMAL of at most 38
// digits; ok is false for longer ones.
func plainDecimal(text string) (string, bool) {
	whole, frac, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	digits := len(frac)
	if w := strings.TrimLeft(whole, "0"); w != "" {
		digits += len(w)
	} else {
		digits = len(strings.TrimLeft(frac, "0"))
	}
	if digits > 38 || len(frac) > 38 {
		return "", false
	}
	frac = strings.TrimRight(frac, "0")
	if strings.Trim(whole, "0") == "" && frac == "" {
		return "0", true
	}
	if frac != "" {
		whole += "." + frac
	}
	if strings.HasPrefix(text, "-") {
		whole = "-" + whole
	}
	return whole, true
}
