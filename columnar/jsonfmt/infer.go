package jsonfmt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/jsonfmt/jsontoken"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/columnar/records"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// Inference finds the schema of JSON files: all fields that occur, in the order of their names, each of the
// narrowest type that takes all its values. Whole numbers are BIGINT, others DOUBLE.
type Inference struct {
	opts    Options
	reader  reader
	sofar   *columnar.Type
	records int
}

// NewInference begins.
func NewInference(opts Options) (*Inference, error) {
	f, err := opts.formats()
	if err != nil {
		return nil, err
	}
	if opts.SamplingRatio <= 0 {
		return nil, fmt.Errorf("option \"samplingRatio\" must be greater than 0, but is %g", opts.SamplingRatio)
	}
	if p := opts.TimestampNTZFormat; p != "" {
		if _, err := javatext.CompileDatetimePattern(p, true); err != nil {
			return nil, sparkerr.New("INVALID_DATETIME_PATTERN.WITH_SUGGESTION", "option \"timestampNTZFormat\": unrecognized datetime pattern '%s'", p).WithCause(err)
		}
	}
	if p := opts.TimestampFormat; p != "" {
		if _, err := javatext.CompileDatetimePattern(p, true); err != nil {
			return nil, fmt.Errorf("option \"timestampFormat\": %w", err)
		}
	}
	n := &Inference{opts: opts, sofar: columnar.StructOf()}
	n.opts.Features.ReplacementDecoding = opts.FromJSON || opts.Encoding != ""
	n.reader = reader{opts: &n.opts, formats: f}
	return n, nil
}

// Add looks at whole lines, or in multi-line mode at one document.
func (n *Inference) Add(data []byte) error {
	if n.opts.MultiLine {
		return n.addRecord(data)
	}
	for len(data) > 0 {
		var line []byte
		line, data = lines.Cut(data, n.opts.LineSep)
		if err := n.addRecord(line); err != nil {
			return err
		}
	}
	return nil
}

// addRecord takes one record; with a sampling ratio of 0.1 every tenth.
func (n *Inference) addRecord(text []byte) error {
	n.records++
	if r := n.opts.SamplingRatio; r < 1 && int(float64(n.records)*r) == int(float64(n.records-1)*r) {
		return nil
	}
	n.reader.s.Reset(text, n.opts.Features)
	token, err := n.reader.s.Next()
	var t *columnar.Type
	if err == nil {
		if token == jsontoken.None {
			return nil
		}
		t, err = n.reader.infer()
	}
	if sparkerr.Condition(err) == "NEGATIVE_SCALE_DISALLOWED" {
		return err
	}
	if err != nil {
		switch n.opts.Mode {
		case records.DropMalformed:
			return nil
		case records.FailFast:
			return records.Malformed(text, err)
		}
		t = columnar.StructOf(n.corruptField())
	}
	n.sofar, err = n.mergeRoot(n.sofar, t)
	return err
}

func (n *Inference) corruptField() columnar.Field {
	return columnar.Field{Name: n.opts.CorruptColumn, Type: columnar.String, Nullable: true}
}

// mergeRoot merges the types of two records. A list of objects counts as its objects; anything else that is no object
// is a corrupt record.
func (n *Inference) mergeRoot(a, b *columnar.Type) (*columnar.Type, error) {
	for a.Kind == columnar.KindArray {
		a = a.Elem
	}
	for b.Kind == columnar.KindArray {
		b = b.Elem
	}
	if a.Kind != columnar.KindStruct {
		a, b = b, a
	}
	switch {
	case a.Kind != columnar.KindStruct || b.Kind == columnar.KindStruct:
		return mergeTypes(a, b), nil
	case b.Kind == columnar.KindNull:
		return a, nil
	case n.opts.Mode == records.DropMalformed:
		return a, nil
	case n.opts.Mode == records.FailFast:
		return nil, sparkerr.New("INVALID_JSON_RECORD_TYPE", "Detected an invalid type of a JSON record while inferring a common schema in the mode FAILFAST. Expected a STRUCT type, but found %q.", b.SQL())
	}
	return mergeTypes(a, columnar.StructOf(n.corruptField())), nil
}

// Schema is what has been found.
func (n *Inference) Schema() *columnar.Schema {
	t := n.sofar
	for t.Kind == columnar.KindArray {
		t = t.Elem
	}
	if t = n.opts.canonical(t); t == nil || t.Kind != columnar.KindStruct {
		return &columnar.Schema{}
	}
	return &columnar.Schema{Fields: t.Fields}
}

// SchemaOf is the type that schema_of_json gives for a document.
func SchemaOf(text []byte, opts Options) (*columnar.Type, error) {
	opts.FromJSON = true
	n, err := NewInference(opts)
	if err != nil {
		return nil, err
	}
	n.reader.s.Reset(text, n.opts.Features)
	if _, err := n.reader.s.Next(); err != nil {
		return nil, err
	}
	t, err := n.reader.infer()
	if err != nil {
		return nil, err
	}
	switch c := opts.canonical(t); {
	case c != nil:
		return c, nil
	case t.Kind == columnar.KindStruct:
		return columnar.StructOf(), nil
	case t.Kind == columnar.KindArray && t.Elem.Kind == columnar.KindStruct:
		return columnar.ArrayOf(columnar.StructOf(), true), nil
	}
	return columnar.String, nil
}

// canonical drops structs without fields and fields without a name, and makes STRING of what was null everywhere. It
// gives nil for what is left without anything.
func (o *Options) canonical(t *columnar.Type) *columnar.Type {
	switch t.Kind {
	case columnar.KindNull:
		if o.DropFieldIfAllNull {
			return nil
		}
		return columnar.String
	case columnar.KindArray:
		if elem := o.canonical(t.Elem); elem != nil {
			return columnar.ArrayOf(elem, true)
		}
		return nil
	case columnar.KindStruct:
		var fields []columnar.Field
		for _, f := range t.Fields {
			if ft := o.canonical(f.Type); ft != nil && f.Name != "" {
				fields = append(fields, columnar.Field{Name: f.Name, Type: ft, Nullable: true})
			}
		}
		if fields == nil {
			return nil
		}
		return columnar.StructOf(fields...)
	}
	return t
}

// infer is the type of the current value.
func (r *reader) infer() (*columnar.Type, error) {
	switch r.s.Current() {
	case jsontoken.FieldName:
		if _, err := r.s.Next(); err != nil {
			return nil, err
		}
		return r.infer()
	case jsontoken.String:
		text, err := r.s.Text()
		if err != nil {
			return nil, err
		}
		return r.inferString(string(text)), nil
	case jsontoken.StartObject:
		var fields []columnar.Field
		for {
			t, err := r.s.Next()
			if err != nil {
				return nil, err
			}
			if t == jsontoken.EndObject || t == jsontoken.None {
				break
			}
			name, _ := r.s.Text()
			f := columnar.Field{Name: string(name), Nullable: true}
			if f.Type, err = r.infer(); err != nil {
				return nil, err
			}
			fields = append(fields, f)
		}
		slices.SortStableFunc(fields, func(a, b columnar.Field) int { return strings.Compare(a.Name, b.Name) })
		if !r.opts.FromJSON {
			return columnar.StructOf(fields...), nil // a reader refuses names that come twice
		}
		return columnar.StructOf(mergeEqualNames(fields)...), nil
	case jsontoken.StartArray:
		elem := columnar.Null
		for {
			t, err := r.s.Next()
			if err != nil {
				return nil, err
			}
			if t == jsontoken.EndArray || t == jsontoken.None {
				return columnar.ArrayOf(elem, true), nil
			}
			et, err := r.infer()
			if err != nil {
				return nil, err
			}
			elem = mergeTypes(elem, et)
		}
	case jsontoken.Int, jsontoken.Float:
		if r.opts.PrimitivesAsString {
			return columnar.String, nil
		}
		return r.inferNumber()
	case jsontoken.True, jsontoken.False:
		if r.opts.PrimitivesAsString {
			return columnar.String, nil
		}
		return columnar.Bool, nil
	}
	return columnar.Null, nil
}

// mergeEqualNames makes one field of neighbours with the same name.
func mergeEqualNames(fields []columnar.Field) []columnar.Field {
	out := fields[:0]
	for _, f := range fields {
		if k := len(out) - 1; k >= 0 && out[k].Name == f.Name {
			out[k].Type = mergeTypes(out[k].Type, f.Type)
			continue
		}
		out = append(out, f)
	}
	return out
}

func (r *reader) inferString(s string) *columnar.Type {
	if s == "" {
		return columnar.Null
	}
	if r.opts.PrefersDecimal {
		if t := decimalType(strings.ReplaceAll(s, ",", "")); t != nil {
			return t
		}
	}
	if r.opts.InferTimestamp {
		if _, err := r.formats.ParseTimestamp(s); err == nil {
			return columnar.Timestamp
		}
	}
	return columnar.String
}

func (r *reader) inferNumber() (*columnar.Type, error) {
	text := string(r.s.NumberText())
	if r.s.Current() == jsontoken.Int {
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return columnar.Int64, nil
		}
	} else if !r.opts.PrefersDecimal {
		return columnar.Float64, nil
	} else if r.s.Special() {
		return nil, fmt.Errorf("%s is no decimal", text)
	} else if scale := scaleOf(text); scale < 0 {
		return nil, sparkerr.New("NEGATIVE_SCALE_DISALLOWED", "Negative scale is not allowed: '%d'. The number is %.60s; leave out prefersDecimal.", scale, text)
	}
	if t := decimalType(text); t != nil {
		return t, nil
	}
	return columnar.Float64, nil
}

// scaleOf is the scale that java.math.BigDecimal gives a number; 0 where its exponent is beyond all bounds.
func scaleOf(text string) int {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil && exponent != "" {
		return 0
	}
	_, frac, _ := strings.Cut(mantissa, ".")
	return len(frac) - e
}

// decimalType is the type of a number as java.math.BigDecimal takes it, or nil when 38 digits are not enough.
func decimalType(text string) *columnar.Type {
	mantissa, exponent, hasExp := strings.Cut(strings.ToLower(text), "e")
	e := 0
	if hasExp {
		var err error
		if e, err = strconv.Atoi(exponent); err != nil || e > 1000 || e < -1000 {
			return nil
		}
	}
	whole, frac, _ := strings.Cut(strings.TrimLeft(mantissa, "+-"), ".")
	digits := strings.TrimLeft(whole+frac, "0")
	if whole+frac == "" || strings.Trim(whole+frac, "0123456789") != "" {
		return nil
	}
	precision, scale := max(len(digits), 1), len(frac)-e
	if scale < 0 {
		precision, scale = precision-scale, 0
	}
	if precision = max(precision, scale); precision > 38 {
		return nil
	}
	if _, status := javatext.ParseDecimal(text, precision, scale); status != javatext.DecimalOK {
		return nil
	}
	return columnar.Decimal(precision, scale)
}

// mergeTypes is the narrowest type that takes the values of both.
func mergeTypes(a, b *columnar.Type) *columnar.Type { return MergeTypes(a, b, columnar.String) }

// MergeTypes is the narrowest type that takes the values of both, where the fields of structs are in the order of
// their names; other is the type of what has nothing in common.
func MergeTypes(a, b, other *columnar.Type) *columnar.Type {
	if a.Kind > b.Kind {
		a, b = b, a
	}
	switch {
	case a.Kind == columnar.KindNull:
		return b
	case a.Kind == columnar.KindStruct && b.Kind == columnar.KindStruct:
		return mergeStructs(a, b, other)
	case a.Kind == columnar.KindArray && b.Kind == columnar.KindArray:
		return columnar.ArrayOf(MergeTypes(a.Elem, b.Elem, other), true)
	case a.Equal(b):
		return a
	case a.Kind == columnar.KindInt64 && b.Kind == columnar.KindFloat64, a.Kind == columnar.KindFloat64 && b.Kind == columnar.KindDecimal:
		return columnar.Float64
	case a.Kind == columnar.KindInt64 && b.Kind == columnar.KindDecimal:
		if b.Precision-b.Scale >= 20 {
			return b
		}
		return MergeTypes(columnar.Decimal(20, 0), b, other)
	case a.Kind == columnar.KindDecimal && b.Kind == columnar.KindDecimal:
		whole, scale := max(a.Precision-a.Scale, b.Precision-b.Scale), max(a.Scale, b.Scale)
		if whole+scale > 38 {
			return columnar.Float64
		}
		return columnar.Decimal(whole+scale, scale)
	}
	return other
}

// mergeStructs merges fields, which are in the order of their names on both sides.
func mergeStructs(a, b, other *columnar.Type) *columnar.Type {
	var fields []columnar.Field
	i, j := 0, 0
	for i < len(a.Fields) || j < len(b.Fields) {
		switch {
		case j == len(b.Fields) || i < len(a.Fields) && a.Fields[i].Name < b.Fields[j].Name:
			fields = append(fields, a.Fields[i])
			i++
		case i == len(a.Fields) || b.Fields[j].Name < a.Fields[i].Name:
			fields = append(fields, b.Fields[j])
			j++
		default:
			f := a.Fields[i]
			f.Type = MergeTypes(f.Type, b.Fields[j].Type, other)
			fields = append(fields, f)
			i++
			j++
		}
	}
	return columnar.StructOf(fields...)
}
