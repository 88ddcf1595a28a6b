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
		if hasVariant(a.Typ) {
			e := sparkerr.New("UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE", "the feature is not supported: cannot have VARIANT type columns in DataFrame which calls set operations (INTERSECT, EXCEPT, etc.), but the type of column `%s` is %q; leave it out, or compare its text, to_json(%s)", a.Name, a.Typ.SQL(), a.Name)
			if at != nil {
				e.WithPos(at.At().Line, at.At().Col)
			}
			return e
		}
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

// hasVariant tells whether a variant is in a type.
func hasVariant(t *columnar.Type) bool {
	if t.Kind == columnar.KindVariant || t.Elem != nil && hasVariant(t.Elem) {
		return true
	}
	for _, f := range t.Fields {
		if hasVariant(f.Type) {
			return true
		}
	}
	return false
}

// groupable refuses a grouping key whose values have no order.
func groupable(keys []expr.Expr) error {
	for _, k := range keys {
		if hasVariant(k.Type()) {
			return sparkerr.New("GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", "the expression \"%s\" cannot be used as a grouping expression because its data type \"%s\" is not an orderable data type", k.SQL(), k.Type().SQL())
		}
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
