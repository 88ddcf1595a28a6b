package files

import (
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// folders are the key=value folders between the base of a source and a file; keys in lower case.
type folders map[string]string

// hiveNull is how a folder writes that its column is null.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// foldersOf reads the folders of a path below base.
func foldersOf(base, path string) folders {
	rel, err := filepath.Rel(base, filepath.Dir(path))
	if err != nil {
		return nil
	}
	var out folders
	for _, part := range strings.Split(filepath.ToSlash(rel), "/") {
		if k, v, ok := strings.Cut(part, "="); ok && k != "" {
			if u, err := url.PathUnescape(k); err == nil {
				k = u
			}
			if u, err := url.PathUnescape(v); err == nil {
				v = u
			}
			if out == nil {
				out = folders{}
			}
			out[strings.ToLower(k)] = v
		}
	}
	return out
}

// widener makes batches of the source's whole schema of what a decoder gave: columns that nobody
// asked for are null, columns of key=value folders come from the path.
type widener struct {
	schema *columnar.Schema
	from   []int // per column of schema: position in the decoded batch, fromNull or fromFolder
	same   bool  // the decoded batch is as wide as it must be
	zone   *time.Location
}

const (
	fromNull   = -1
	fromFolder = -2
)

// held are the columns of a file, as indices into the schema of the source.
type held struct {
	all  []int // those that are not columns of its folders, by the order in the file
	need []int // those of them that are wanted
}

// newWidener splits the columns need of a schema (nil for all) into those that a file holds and those of its folders.
func newWidener(schema *columnar.Schema, need []int, in folders, zone *time.Location) (*widener, held) {
	w := &widener{schema: schema, from: make([]int, len(schema.Fields)), zone: zone, same: true}
	wanted := make([]bool, len(schema.Fields))
	for _, n := range need {
		wanted[n] = true
	}
	inner := held{all: []int{}, need: []int{}}
	for i := range schema.Fields {
		_, folder := in[strings.ToLower(schema.Fields[i].Name)]
		if !folder {
			inner.all = append(inner.all, i)
		}
		switch {
		case need != nil && !wanted[i]:
			w.from[i], w.same = fromNull, false
		case folder:
			w.from[i], w.same = fromFolder, false
		default:
			w.from[i] = len(inner.need)
			inner.need = append(inner.need, i)
		}
	}
	return w, inner
}

// widen gives the batch its whole width.
func (w *widener) widen(b *columnar.Batch, in folders) *columnar.Batch {
	if w.same {
		return columnar.NewBatch(w.schema, b.Columns, b.Rows)
	}
	cols := make([]*columnar.Column, len(w.from))
	for i, f := range w.from {
		t := w.schema.Fields[i].Type
		switch f {
		case fromNull:
			cols[i] = columnar.NewNull(t, b.Rows)
		case fromFolder:
			cols[i] = w.folder(in[strings.ToLower(w.schema.Fields[i].Name)], t, b.Rows)
		default:
			cols[i] = b.Columns[f]
		}
	}
	return columnar.NewBatch(w.schema, cols, b.Rows)
}

// folder is the value of a key=value folder for all rows of a file; a value that is none of its type is null.
func (w *widener) folder(v string, t *columnar.Type, rows int) *columnar.Column {
	if v == hiveNull {
		return columnar.NewNull(t, rows)
	}
	c, err := expr.CastColumn(&expr.Context{Zone: w.zone}, columnar.FromData(columnar.String, v), t, expr.CastTry)
	if err != nil {
		return columnar.NewNull(t, rows)
	}
	return columnar.Take(c, make([]int32, rows))
}

// inferFolders finds the columns that the folders of files make, with the narrowest type that takes all values.
func inferFolders(base string, files []file, zone *time.Location) []columnar.Field {
	var fields []columnar.Field
	values := map[string][]columnar.Datum{}
	for _, f := range files {
		rel, err := filepath.Rel(base, filepath.Dir(f.Path))
		if err != nil {
			continue
		}
		in := foldersOf(base, f.Path)
		for _, part := range strings.Split(filepath.ToSlash(rel), "/") {
			k, _, ok := strings.Cut(part, "=")
			if !ok || k == "" {
				continue
			}
			if u, err := url.PathUnescape(k); err == nil {
				k = u
			}
			low := strings.ToLower(k)
			if _, known := values[low]; !known {
				fields = append(fields, columnar.Field{Name: k, Nullable: true})
			}
			if v := in[low]; v != hiveNull {
				values[low] = append(values[low], v)
			} else {
				values[low] = append(values[low], nil)
			}
		}
	}
	for i := range fields {
		fields[i].Type = narrowest(values[strings.ToLower(fields[i].Name)], zone)
	}
	return fields
}

// narrowest is the first of INT, BIGINT, DOUBLE, DATE, TIMESTAMP that all values can be cast to, or STRING.
func narrowest(values []columnar.Datum, zone *time.Location) *columnar.Type {
	text := columnar.FromData(columnar.String, values...)
	if text.NullCount() == text.Len {
		return columnar.String
	}
	for _, t := range []*columnar.Type{columnar.Int32, columnar.Int64, columnar.Float64, columnar.Date, columnar.Timestamp} {
		if t.Kind == columnar.KindDate && !all(values, func(s string) bool { return len(s) == len("2006-01-02") }) {
			continue
		}
		c, err := expr.CastColumn(&expr.Context{Zone: zone}, text, t, expr.CastTry)
		if err == nil && c.NullCount() == text.NullCount() {
			return t
		}
	}
	return columnar.String
}

func all(values []columnar.Datum, ok func(string) bool) bool {
	for _, v := range values {
		if s, is := v.(string); is && !ok(s) {
			return false
		}
	}
	return true
}
