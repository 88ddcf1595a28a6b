package plan

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
)

// withoutMaps refuses maps among the columns that rows are compared by in DISTINCT, a set operation or a deduplication,
// as Spark does: it has no order of maps. GROUP BY takes them. at may be nil.
func withoutMaps(attrs []*expr.Attr, at sql.Node) error {
	for _, a := range attrs {
		if !hasMap(a.Typ) {
			continue
		}
		e := sparkerr.New("UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE", "the feature is not supported: cannot have MAP type columns in DataFrame which calls set operations (INTERSECT, EXCEPT, etc.), but the type of column `%s` is %q; leave it out, or compare map_entries of it", a.Name, a.Typ.SQL())
		if at != nil {
			e.WithPos(at.At().Line, at.At().Col)
		}
		return e
	}
	return nil
}

// hasMap tells whether a map is in a type.
func hasMap(t *columnar.Type) bool {
	if t.Kind == columnar.KindMap || t.Elem != nil && hasMap(t.Elem) {
		return true
	}
	for _, f := range t.Fields {
		if hasMap(f.Type) {
			return true
		}
	}
	return false
}
