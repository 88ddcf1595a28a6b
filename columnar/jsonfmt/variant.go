package jsonfmt

import (
	"bytes"
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
	return NewVariantReader(opts).Append(dst, text)
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

// variantField is a field of an object before it is sorted: where its name stands in variantBuffers.names, and where the
// name in quotes and the value stand in the text so far.
type variantField struct{ name, nameEnd, from, to int }

// variantBuffers is what objects are sorted in; it is kept from one value to the next. Objects within one another use it
// as a stack.
type variantBuffers struct {
	fields  []variantField
	names   []byte
	scratch []byte
}

func (v *variantBuffers) nameOf(f variantField) []byte { return v.names[f.name:f.nameEnd] }

func (r *reader) appendVariant(dst []byte) ([]byte, error) {
	switch r.s.Current() {
	case jsontoken.StartObject:
		return r.appendVariantObject(dst)
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
		if r.s.Current() == jsontoken.Int {
			if v, err := strconv.ParseInt(text, 10, 64); err == nil {
				return strconv.AppendInt(dst, v, 10), nil
			}
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

// appendVariantObject writes an object with its fields by name.
func (r *reader) appendVariantObject(dst []byte) ([]byte, error) {
	v := &r.variants
	base, names := len(v.fields), len(v.names)
	defer func() { v.fields, v.names = v.fields[:base], v.names[:names] }()
	dst = append(dst, '{')
	start := len(dst)
	sorted := true
	for {
		t, err := r.s.Next()
		if err != nil {
			return dst, err
		}
		if t == jsontoken.EndObject || t == jsontoken.None {
			break
		}
		name, _ := r.s.Text()
		f := variantField{name: len(v.names)}
		v.names = append(v.names, name...)
		f.nameEnd = len(v.names)
		if len(dst) > start {
			dst = append(dst, ',')
		}
		f.from = len(dst)
		dst = append(appendJSONString(dst, string(v.nameOf(f)), false), ':')
		if _, err := r.s.Next(); err != nil {
			return dst, err
		}
		if dst, err = r.appendVariant(dst); err != nil {
			return dst, err
		}
		f.to = len(dst)
		sorted = sorted && (len(v.fields) == base || bytes.Compare(v.nameOf(v.fields[len(v.fields)-1]), v.nameOf(f)) < 0)
		v.fields = append(v.fields, f)
	}
	if sorted {
		return append(dst, '}'), nil
	}
	fields := v.fields[base:]
	slices.SortStableFunc(fields, func(a, b variantField) int { return bytes.Compare(v.nameOf(a), v.nameOf(b)) })
	for i := 1; i < len(fields); i++ {
		if bytes.Equal(v.nameOf(fields[i-1]), v.nameOf(fields[i])) {
			return dst, sparkerr.New("VARIANT_DUPLICATE_KEY", "Failed to build variant because of a duplicate object key %q.", v.nameOf(fields[i]))
		}
	}
	v.scratch = append(v.scratch[:0], dst[start:]...)
	dst = dst[:start]
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, v.scratch[f.from-start:f.to-start]...)
	}
	return append(dst, '}'), nil
}

// VariantReader reads texts as VARIANT, one after the other. It serves one goroutine.
type VariantReader struct {
	r    reader
	opts Options
}

// NewVariantReader makes a reader.
func NewVariantReader(opts Options) *VariantReader {
	v := &VariantReader{opts: opts}
	v.opts.Features.ReplacementDecoding = true
	v.r.opts = &v.opts
	return v
}

// Append appends what AppendVariant does.
func (v *VariantReader) Append(dst, text []byte) ([]byte, error) {
	v.r.s.Reset(text, v.opts.Features)
	t, err := v.r.s.Next()
	if err != nil {
		return dst, err
	}
	if t == jsontoken.None {
		return dst, &jsontoken.SyntaxError{Text: "no JSON value in an empty text"}
	}
	return v.r.appendVariant(dst)
}
