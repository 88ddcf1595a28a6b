package files

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// widener makes batches of the source's whole schema of what a decoder gave: columns that nobody
// asked for are null, columns of key=value folders come from the path.
type widener struct {
	schema *columnar.Schema
	from   []int            // per column of schema: position in the decoded batch, -1 for null, -2 for the path
	keys   []string         // per column of schema: key of the folder, for -2
	ctx    *expr.Context    // casts of folder values
	nulls  []*columnar.Type // types of the null columns
}

// widen gives the batch its whole width.
func (w *widener) widen(b *columnar.Batch, path string) *columnar.Batch {
	cols := make([]*columnar.Column, len(w.from))
	var values map[string]string
	for i, f := range w.from {
		t := w.schema.Fields[i].Type
		switch {
		case f >= 0:
			cols[i] = b.Columns[f]
		case f == -2:
			if values == nil {
				values = folderValues(path)
			}
			cols[i] = w.folderColumn(values, w.keys[i], t, b.Rows)
		default:
			cols[i] = columnar.NewNull(t, b.Rows)
		}
	}
	return columnar.NewBatch(w.schema, cols, b.Rows)
}

// folderColumn is the value of a key=value folder for all rows of a file.
func (w *widener) folderColumn(values map[string]string, key string, t *columnar.Type, rows int) *columnar.Column {
	v, ok := values[strings.ToLower(key)]
	if !ok || v == "__HIVE_DEFAULT_PARTITION__" {
		return columnar.NewNull(t, rows)
	}
	one := columnar.FromData(columnar.String, v)
	c, err := expr.CastColumn(w.ctx, one, t, expr.CastTry)
	if err != nil {
		return columnar.NewNull(t, rows)
	}
	return columnar.Take(c, make([]int32, rows))
}

// folderValues reads the key=value folders of a path; keys in lower case.
func folderValues(path string) map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		if k, v, ok := strings.Cut(part, "="); ok {
			if u, err := url.PathUnescape(v); err == nil {
				v = u
			}
			out[strings.ToLower(k)] = v
		}
	}
	return out
}
