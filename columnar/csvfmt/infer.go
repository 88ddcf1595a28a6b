package csvfmt

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/columnar/records"
)

// Inference finds the schema of CSV files: the names from the first header, and, with InferSchema, the narrowest
// types that all values read as.
type Inference struct {
	opts    Options
	formats *records.Formats
	tokens  *tokenizer
	comment string
	header  []string // nil until the first record
	line    []byte   // the header as it is written
	types   []*columnar.Type

	datesAreTimestamps bool // a date, as dateFormat has it, reads as a timestamp
}

// NewInference begins.
func NewInference(opts Options) (*Inference, error) {
	f, err := opts.formats()
	if err != nil {
		return nil, err
	}
	if opts.SamplingRatio <= 0 && opts.InferSchema {
		return nil, fmt.Errorf("option \"samplingRatio\" is %g, expected more than 0", opts.SamplingRatio)
	}
	if p := opts.TimestampFormat; p != "" && opts.InferSchema {
		if _, err := javatext.CompileDatetimePattern(p, true); err != nil {
			return nil, fmt.Errorf("option \"timestampFormat\": %w", err)
		}
	}
	if opts.MaxChars < -1 || opts.MaxColumns < 0 {
		return nil, errLimits(&opts)
	}
	n := &Inference{opts: opts, formats: f, tokens: newTokenizer(&opts), datesAreTimestamps: opts.TimestampFormat == ""}
	if !n.datesAreTimestamps {
		w, err := records.NewFormats(records.FormatOptions{TimeZone: opts.Zone(), Locale: opts.Locale, DateFormat: opts.DateFormat, Writing: true})
		if err == nil {
			_, err = f.ParseTimestamp(string(w.AppendDate(nil, 0)))
		}
		n.datesAreTimestamps = err == nil
	}
	if opts.Comment != 0 {
		n.comment = string(standIns(&opts, []byte(string(opts.Comment))))
	}
	return n, nil
}

// Add looks at whole lines, or in multi-line mode at a file; start tells that data is the beginning of a file.
func (n *Inference) Add(data []byte, start bool) error {
	data = clean(&n.opts, data)
	header := start && n.opts.Header
	d := Decoder{opts: n.opts, comment: n.comment}
	if n.opts.MultiLine {
		n.tokens.detectEnd(data, n.opts.LineSep)
		for i := 0; i < len(data); {
			if k := n.tokens.endAt(data, i); k > 0 {
				i += k
				continue
			}
			if n.comment != "" && bytes.HasPrefix(data[i:], []byte(n.comment)) {
				for i < len(data) && n.tokens.endAt(data, i) == 0 {
					i++
				}
				continue
			}
			end, err := n.tokens.record(data, i)
			if err != nil {
				return err
			}
			i = end
			n.addTokens(header)
			header = false
		}
		return nil
	}
	for len(data) > 0 {
		var line []byte
		line, data = lines.Cut(data, n.opts.LineSep)
		if d.skipped(line) {
			continue
		}
		// Every line that looks like the first header is one; those of other files that do not are data.
		if header = n.opts.Header && (n.header == nil || bytes.Equal(line, n.line)); header {
			n.line = bytes.Clone(line)
		}
		if _, err := n.tokens.record(line, 0); err != nil {
			return err
		}
		n.addTokens(header)
		if n.header != nil && !n.opts.InferSchema {
			return nil
		}
	}
	return nil
}

// Wants tells whether more data could change the schema.
func (n *Inference) Wants() bool { return n.header == nil || n.opts.InferSchema }

// addTokens takes the tokens of one record, which may be a header.
func (n *Inference) addTokens(isHeader bool) {
	row := make([]string, len(n.tokens.tokens))
	for i, t := range n.tokens.tokens {
		switch t.kind {
		case absent:
			row[i] = n.opts.NullValue
		case empty:
			row[i] = or(n.opts.EmptyValue, "")
		default:
			row[i] = string(originals(&n.opts, t.text))
		}
	}
	if n.header == nil {
		n.header = n.safeNames(row)
		n.types = make([]*columnar.Type, len(row))
		for i := range n.types {
			n.types[i] = columnar.Null
		}
	}
	if isHeader || !n.opts.InferSchema {
		return
	}
	for i, field := range row {
		if i < len(n.types) && field != "" && field != n.opts.NullValue {
			n.types[i] = n.merge(n.types[i], n.typeOf(n.types[i], field))
		}
	}
}

// safeNames makes names of a header: an empty one becomes _cN, one of several that are equal but for case gets its
// position behind it. Without header all are _cN.
func (n *Inference) safeNames(row []string) []string {
	count := map[string]int{}
	for _, name := range row {
		count[strings.ToLower(name)]++
	}
	out := make([]string, len(row))
	for i, name := range row {
		switch {
		case !n.opts.Header || name == "" || name == n.opts.NullValue:
			out[i] = "_c" + strconv.Itoa(i)
		case count[strings.ToLower(name)] > 1:
			out[i] = fmt.Sprintf("%s%d", name, i)
		default:
			out[i] = name
		}
	}
	return out
}

// Schema is what has been found. Columns without any value are STRING.
func (n *Inference) Schema() *columnar.Schema {
	s := &columnar.Schema{}
	for i, name := range n.header {
		t := columnar.String
		if n.opts.InferSchema && n.types[i].Kind != columnar.KindNull {
			t = n.types[i]
		}
		s.Fields = append(s.Fields, columnar.Field{Name: name, Type: t, Nullable: true})
	}
	return s
}

// SchemaOf is the type that schema_of_csv gives for one record.
func SchemaOf(text string, opts Options) (*columnar.Schema, error) {
	opts.InferSchema, opts.Header, opts.MultiLine = true, false, false
	n, err := NewInference(opts)
	if err != nil {
		return nil, err
	}
	if _, err := n.tokens.record(clean(&n.opts, []byte(text)), 0); err != nil {
		return nil, err
	}
	n.addTokens(false)
	return n.Schema(), nil
}

// typeOf is the type of a field, looked for from what the column has been so far.
func (n *Inference) typeOf(sofar *columnar.Type, s string) *columnar.Type {
	if sofar.Kind == columnar.KindString {
		return sofar
	}
	b := []byte(s)
	start := sofar.Kind
	switch start {
	case columnar.KindNull, columnar.KindInt32:
		if v, ok := integer(b); ok && v == int64(int32(v)) {
			return columnar.Int32
		}
		fallthrough
	case columnar.KindInt64:
		if _, ok := integer(b); ok {
			return columnar.Int64
		}
		fallthrough
	case columnar.KindDecimal:
		if t := n.wholeDecimal(s); t != nil {
			return t
		}
		fallthrough
	case columnar.KindFloat64:
		if _, ok := javaFloat(s, 64); ok || s == n.opts.NaNValue || s == n.opts.PositiveInf || s == n.opts.NegativeInf {
			return columnar.Float64
		}
		fallthrough
	case columnar.KindDate:
		if n.opts.PreferDate && n.isDate(s) {
			return columnar.Date
		}
		fallthrough
	case columnar.KindTimestamp:
		if _, err := n.formats.ParseTimestamp(s); err == nil {
			return columnar.Timestamp
		}
	}
	if _, ok := boolean(b); ok {
		return columnar.Bool
	}
	return columnar.String
}

// wholeDecimal is the type of a number of scale 0 that is no BIGINT, because of its size or as in 1.5e1, or nil.
func (n *Inference) wholeDecimal(s string) *columnar.Type {
	digits, fraction, seen, point := 0, 0, false, false
	end := len(s)
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		exp, err := strconv.Atoi(s[e+1:])
		if err != nil || exp > 1<<20 || exp < -1<<20 {
			return nil
		}
		end, fraction = e, -exp
	}
	for i := 0; i < end; i++ {
		switch c := s[i]; {
		case c-'0' <= 9:
			seen = true
			if digits > 0 || c != '0' {
				digits++
			}
			if point {
				fraction++
			}
		case i == 0 && (c == '-' || c == '+'):
		case c == '.' && !point:
			point = true
		default:
			return nil
		}
	}
	if !seen || digits > 38 || fraction != 0 {
		return nil
	}
	return columnar.Decimal(max(digits, 1), 0)
}

// isDate tells whether s is a date in the format of the options; only the plain yyyy-MM-dd counts without one.
func (n *Inference) isDate(s string) bool {
	if n.opts.DateFormat != "" {
		_, err := n.formats.ParseDate(s)
		return err == nil
	}
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	_, ok := javatext.ParseDate(s)
	return ok && strings.Trim(s, "-0123456789") == ""
}

// merge is the type that has room for both.
func (n *Inference) merge(a, b *columnar.Type) *columnar.Type {
	switch {
	case a.Kind == columnar.KindNull || a.Equal(b):
		return b
	case a.Kind > b.Kind && b.IsNumeric():
		a, b = b, a
	}
	switch {
	case a.Kind == columnar.KindInt32 && b.Kind == columnar.KindInt64:
		return b
	case a.IsIntegral() && b.Kind == columnar.KindDecimal:
		digits := 10
		if a.Kind == columnar.KindInt64 {
			digits = 20
		}
		return wider(columnar.Decimal(digits, 0), b)
	case a.Kind == columnar.KindDecimal && b.Kind == columnar.KindDecimal:
		return wider(a, b)
	case a.IsNumeric() && b.IsNumeric():
		return columnar.Float64
	case a.Kind == columnar.KindDate && b.Kind == columnar.KindTimestamp, a.Kind == columnar.KindTimestamp && b.Kind == columnar.KindDate:
		if n.datesAreTimestamps {
			return columnar.Timestamp
		}
	}
	return columnar.String
}

func wider(a, b *columnar.Type) *columnar.Type {
	whole, scale := max(a.Precision-a.Scale, b.Precision-b.Scale), max(a.Scale, b.Scale)
	if whole+scale > 38 {
		return columnar.Float64
	}
	return columnar.Decimal(whole+scale, scale)
}
