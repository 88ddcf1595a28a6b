package jsonfmt

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/jsonfmt/jsontoken"
	"github.com/wstream/wstream/columnar/records"
	"github.com/wstream/wstream/columnar/show"
)

// Writer writes values of one type as JSON, for files and for to_json. It is safe for several goroutines.
type Writer struct {
	opts    Options
	formats *records.Formats
	root    *outNode
}

// outNode is a type with the texts of its fields' names.
type outNode struct {
	typ   *columnar.Type
	names []string // in quotes, with the colon
	kids  []*outNode
}

// NewWriter makes a writer for values of type t: the struct of the columns for a file, or what to_json is given.
// Files carry timestamps with microseconds where there are any, so that they read back as they were; with
// opts.FromJSON, for the function, they are cut to milliseconds as Spark does.
func NewWriter(t *columnar.Type, opts Options) (*Writer, error) {
	f, err := records.NewFormats(records.FormatOptions{
		TimeZone: opts.Zone(), Locale: opts.Locale, DateFormat: opts.DateFormat, TimestampFormat: opts.TimestampFormat,
		TimestampNTZFormat: opts.TimestampNTZFormat, TimeFormat: opts.TimeFormat, Writing: true, Milliseconds: opts.FromJSON,
	})
	if err != nil {
		return nil, err
	}
	w := &Writer{opts: opts, formats: f}
	w.root = w.node(t)
	return w, nil
}

func (w *Writer) node(t *columnar.Type) *outNode {
	n := &outNode{typ: t}
	switch t.Kind {
	case columnar.KindArray:
		n.kids = []*outNode{w.node(t.Elem)}
	case columnar.KindMap:
		n.kids = []*outNode{w.node(t.Key), w.node(t.Elem)}
	case columnar.KindStruct:
		colon := ":"
		if w.opts.Pretty {
			colon = " : "
		}
		for _, f := range t.Fields {
			n.names = append(n.names, string(w.quoted(nil, f.Name))+colon)
			n.kids = append(n.kids, w.node(f.Type))
		}
	}
	return n
}

func (w *Writer) quoted(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = string(jsontoken.ReplaceInvalid([]byte(s)))
	}
	return appendJSONString(dst, s, w.opts.WriteNonASCIIAsCode)
}

// AppendRow writes row i of b, whose columns are the fields of the writer's type, as a line behind dst.
func (w *Writer) AppendRow(dst []byte, b *columnar.Batch, i int) []byte {
	dst = w.object(dst, w.root, b.Columns, i, 0)
	if w.opts.LineSep == "" {
		return append(dst, '\n')
	}
	return append(dst, w.opts.LineSep...)
}

// AppendValue writes the value of row i of c, a column of the writer's type, behind dst; a NULL is null.
func (w *Writer) AppendValue(dst []byte, c *columnar.Column, i int) []byte {
	return w.value(dst, w.root, c, i, 0)
}

// newline begins a line of an object at a depth, when lines are wanted.
func (w *Writer) newline(dst []byte, depth int) []byte {
	if !w.opts.Pretty {
		return dst
	}
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, ' ', ' ')
	}
	return dst
}

func (w *Writer) object(dst []byte, n *outNode, fields []*columnar.Column, i, depth int) []byte {
	dst = append(dst, '{')
	first := true
	for k, c := range fields {
		if c.IsNull(i) && w.opts.IgnoreNullFields {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(w.newline(dst, depth+1), n.names[k]...)
		dst = w.value(dst, n.kids[k], c, i, depth+1)
	}
	return w.end(dst, first, '}', depth)
}

// end closes an object.
func (w *Writer) end(dst []byte, empty bool, close byte, depth int) []byte {
	switch {
	case !w.opts.Pretty:
	case empty:
		dst = append(dst, ' ')
	default:
		dst = w.newline(dst, depth)
	}
	return append(dst, close)
}

func (w *Writer) value(dst []byte, n *outNode, c *columnar.Column, i, depth int) []byte {
	if c.IsNull(i) {
		return append(dst, "null"...)
	}
	switch n.typ.Kind {
	case columnar.KindBool:
		return strconv.AppendBool(dst, c.Bits.Get(i))
	case columnar.KindInt8:
		return strconv.AppendInt(dst, int64(columnar.Values[int8](c)[i]), 10)
	case columnar.KindInt16:
		return strconv.AppendInt(dst, int64(columnar.Values[int16](c)[i]), 10)
	case columnar.KindInt32:
		return strconv.AppendInt(dst, int64(columnar.Values[int32](c)[i]), 10)
	case columnar.KindInt64:
		return strconv.AppendInt(dst, columnar.Values[int64](c)[i], 10)
	case columnar.KindFloat32:
		v := columnar.Values[float32](c)[i]
		if v-v != 0 {
			return w.quoted(dst, javatext.FloatString(v))
		}
		return javatext.AppendFloat(dst, v)
	case columnar.KindFloat64:
		v := columnar.Values[float64](c)[i]
		if v-v != 0 {
			return w.quoted(dst, javatext.DoubleString(v))
		}
		return javatext.AppendDouble(dst, v)
	case columnar.KindDecimal:
		return show.AppendBigDecimal(dst, columnar.Values[columnar.Dec128](c)[i], n.typ.Scale)
	case columnar.KindString:
		return w.quoted(dst, c.StringAt(i))
	case columnar.KindVariant:
		return append(dst, c.BytesAt(i)...)
	case columnar.KindBinary:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, c.BytesAt(i))
		return append(dst, '"')
	case columnar.KindArray:
		return w.array(dst, n, c, i, depth)
	case columnar.KindMap:
		dst = append(dst, '{')
		from, to := int(c.Offsets[i]), int(c.Offsets[i+1])
		for j := from; j < to; j++ {
			if j > from {
				dst = append(dst, ',')
			}
			dst = w.quoted(w.newline(dst, depth+1), string(w.key(nil, c.Children[0], j)))
			if w.opts.Pretty {
				dst = append(dst, " : "...)
			} else {
				dst = append(dst, ':')
			}
			dst = w.value(dst, n.kids[1], c.Children[1], j, depth+1)
		}
		return w.end(dst, from == to, '}', depth)
	case columnar.KindStruct:
		return w.object(dst, n, c.Children, i, depth)
	}
	return w.text(dst, c, i)
}

// text writes dates, times and intervals as strings; only odd patterns need escapes.
func (w *Writer) text(dst []byte, c *columnar.Column, i int) []byte {
	dst = append(dst, '"')
	from := len(dst)
	switch c.Type.Kind {
	case columnar.KindDate:
		dst = w.formats.AppendDate(dst, columnar.Values[int32](c)[i])
	case columnar.KindTimestamp:
		dst = w.formats.AppendTimestamp(dst, columnar.Values[int64](c)[i])
	case columnar.KindTimestampNTZ:
		dst = w.formats.AppendTimestampNTZ(dst, columnar.Values[int64](c)[i])
	case columnar.KindTime:
		dst = w.formats.AppendTime(dst, columnar.Values[int64](c)[i])
	default:
		dst = records.AppendInterval(dst, c, i)
	}
	for _, b := range dst[from:] {
		if !plainASCII[b] || b >= utf8.RuneSelf {
			return w.quoted(dst[:from-1], string(dst[from:]))
		}
	}
	return append(dst, '"')
}

func (w *Writer) array(dst []byte, n *outNode, c *columnar.Column, i, depth int) []byte {
	dst = append(dst, '[')
	from, to := int(c.Offsets[i]), int(c.Offsets[i+1])
	for j := from; j < to; j++ {
		if j > from {
			dst = append(dst, ',')
		}
		if w.opts.Pretty {
			dst = append(dst, ' ')
		}
		dst = w.value(dst, n.kids[0], c.Children[0], j, depth)
	}
	if w.opts.Pretty {
		dst = append(dst, ' ')
	}
	return append(dst, ']')
}

// key is the text of a map's key: what Spark's internal value prints, that is days for a date and
// microseconds for a timestamp.
func (w *Writer) key(dst []byte, c *columnar.Column, i int) []byte {
	switch c.Type.Kind {
	case columnar.KindDate, columnar.KindYearMonth:
		return strconv.AppendInt(dst, int64(columnar.Values[int32](c)[i]), 10)
	case columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindTime, columnar.KindDayTime:
		return strconv.AppendInt(dst, columnar.Values[int64](c)[i], 10)
	case columnar.KindStruct:
		dst = append(dst, '[')
		for k, f := range c.Children {
			if k > 0 {
				dst = append(dst, ',')
			}
			if f.IsNull(i) {
				dst = append(dst, "null"...)
			} else {
				dst = w.key(dst, f, i)
			}
		}
		return append(dst, ']')
	}
	style := show.Cast(w.formats.Zone)
	style.Scientific = true
	return style.Append(dst, c, i)
}
