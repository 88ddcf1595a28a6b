package csvfmt

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/records"
	"github.com/wstream/wstream/columnar/show"
)

// Writer writes rows of a schema as CSV, for files and for to_csv. It serves one goroutine.
type Writer struct {
	opts                Options
	schema              *columnar.Schema
	formats             *records.Formats
	style               show.Style
	sep                 string
	quote, escape, esc2 string // as they are written; "" for none
	comment             string
	empty               string
	trimLeft, trimRight bool
	special             [256]bool // the first bytes of what makes quotes necessary, and of quotes themselves
	buf                 []byte
}

// NewWriter makes a writer. With function, for to_csv, timestamps are cut to milliseconds as Spark does and
// nested types are written as a cast writes them; without, for files, nested types are refused.
func NewWriter(schema *columnar.Schema, opts Options, function bool) (*Writer, error) {
	if !function {
		for _, f := range schema.Fields {
			if err := checkType(f); err != nil {
				return nil, err
			}
		}
	}
	f, err := records.NewFormats(records.FormatOptions{
		TimeZone: opts.Zone(), Locale: opts.Locale, DateFormat: opts.DateFormat, TimestampFormat: opts.TimestampFormat,
		TimestampNTZFormat: opts.TimestampNTZFormat, TimeFormat: opts.TimeFormat, Writing: true, Milliseconds: function,
	})
	if err != nil {
		return nil, err
	}
	w := &Writer{
		opts: opts, schema: schema, formats: f, style: show.Cast(f.Zone), sep: opts.Sep, comment: "#", empty: or(opts.EmptyValue, `""`),
		trimLeft: or(opts.IgnoreLeading, true), trimRight: or(opts.IgnoreTrailing, true),
	}
	w.style.Scientific = true
	char := func(r rune) string {
		if r <= 0 {
			return ""
		}
		return string(r)
	}
	w.quote, w.escape = char(opts.Quote), char(opts.Escape)
	switch {
	case opts.EscapeEscape != 0:
		w.esc2 = char(opts.EscapeEscape)
	case opts.Escape != opts.Quote:
		w.esc2 = w.escape
	}
	if opts.Comment != 0 {
		w.comment = char(opts.Comment)
	}
	for _, s := range []string{w.sep, w.quote, "\n", "\r", opts.LineSep} {
		if s != "" {
			w.special[s[0]] = true
		}
	}
	return w, nil
}

func (w *Writer) lineEnd(dst []byte) []byte {
	if w.opts.LineSep == "" {
		return append(dst, '\n')
	}
	return append(dst, w.opts.LineSep...)
}

// AppendHeader writes the names of the columns as a line behind dst.
func (w *Writer) AppendHeader(dst []byte) []byte {
	for i, f := range w.schema.Fields {
		if i > 0 {
			dst = append(dst, w.sep...)
		}
		dst = w.field(dst, []byte(f.Name), i == 0)
	}
	return w.lineEnd(dst)
}

// AppendRow writes row i of b as a line behind dst.
func (w *Writer) AppendRow(dst []byte, b *columnar.Batch, i int) []byte {
	return w.lineEnd(w.AppendFields(dst, b.Columns, i))
}

// AppendFields writes row i of the columns behind dst, without a line end.
func (w *Writer) AppendFields(dst []byte, cols []*columnar.Column, i int) []byte {
	for k, c := range cols {
		if k > 0 {
			dst = append(dst, w.sep...)
		}
		if c.IsNull(i) {
			if w.opts.QuoteAll {
				dst = append(append(append(dst, w.quote...), w.opts.NullValue...), w.quote...)
			} else {
				dst = append(dst, w.opts.NullValue...)
			}
			continue
		}
		w.buf = w.value(w.buf[:0], c, i)
		dst = w.field(dst, w.buf, k == 0)
	}
	return dst
}

func (w *Writer) value(dst []byte, c *columnar.Column, i int) []byte {
	switch c.Type.Kind {
	case columnar.KindDate:
		return w.formats.AppendDate(dst, columnar.Values[int32](c)[i])
	case columnar.KindTimestamp:
		return w.formats.AppendTimestamp(dst, columnar.Values[int64](c)[i])
	case columnar.KindTimestampNTZ:
		return w.formats.AppendTimestampNTZ(dst, columnar.Values[int64](c)[i])
	case columnar.KindTime:
		return w.formats.AppendTime(dst, columnar.Values[int64](c)[i])
	case columnar.KindFloat64:
		return w.float(dst, columnar.Values[float64](c)[i], javatext.AppendDouble(nil, columnar.Values[float64](c)[i]))
	case columnar.KindFloat32:
		v := columnar.Values[float32](c)[i]
		return w.float(dst, float64(v), javatext.AppendFloat(nil, v))
	}
	return w.style.Append(dst, c, i)
}

// float writes NaN and infinities in the words of the options where they differ from Java's, so that the same
// options read them again.
func (w *Writer) float(dst []byte, v float64, text []byte) []byte {
	if v != v && w.opts.NaNValue != "" {
		return append(dst, w.opts.NaNValue...)
	}
	return append(dst, text...)
}

// field writes one value, in quotes where it needs them.
func (w *Writer) field(dst, text []byte, first bool) []byte {
	if w.trimLeft {
		for len(text) > 0 && text[0] <= ' ' {
			text = text[1:]
		}
	}
	if w.trimRight {
		for len(text) > 0 && text[len(text)-1] <= ' ' {
			text = text[:len(text)-1]
		}
	}
	if len(text) == 0 {
		return append(dst, w.empty...)
	}
	if w.quote == "" || !w.opts.QuoteAll && !w.needsQuotes(text, first) {
		return append(dst, text...)
	}
	dst = append(dst, w.quote...)
	for len(text) > 0 {
		switch {
		case bytes.HasPrefix(text, []byte(w.quote)):
			dst = append(append(dst, w.escape...), w.quote...)
			text = text[len(w.quote):]
			continue
		case w.escape != "" && w.esc2 != "" && bytes.HasPrefix(text, []byte(w.escape)):
			dst = append(append(dst, w.esc2...), w.escape...)
			text = text[len(w.escape):]
			continue
		}
		_, size := utf8.DecodeRune(text)
		dst = append(dst, text[:size]...)
		text = text[size:]
	}
	return append(dst, w.quote...)
}

// needsQuotes tells whether a value would be read differently without quotes.
func (w *Writer) needsQuotes(text []byte, first bool) bool {
	if bytes.HasPrefix(text, []byte(w.quote)) || first && bytes.HasPrefix(text, []byte(w.comment)) {
		return true
	}
	for n := 1; n < len(w.sep); n++ {
		if bytes.HasSuffix(text, []byte(w.sep[:n])) { // which would make the delimiter behind it begin too early
			return true
		}
	}
	for i, c := range text {
		if !w.special[c] {
			continue
		}
		rest := string(text[i:])
		if strings.HasPrefix(rest, w.sep) || c == '\n' || c == '\r' || w.opts.EscapeQuotes && strings.HasPrefix(rest, w.quote) ||
			w.opts.LineSep != "" && strings.HasPrefix(rest, w.opts.LineSep) {
			return true
		}
	}
	return false
}
