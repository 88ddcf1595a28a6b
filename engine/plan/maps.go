package plan

import (
	"slices"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
)

// withoutMaps refuses maps among the columns that rows are compared by in DISTINCT, a set operation or a deduplication,
// as Spark does: it has no order of maps. GROUP BY takes them. at may be nil.
func withoutMaps(attrs []*expr.Attr, at sql.Node) error {
	for _, a := range attrs {
		if hasKind(a.Typ, columnar.KindVariant) {
			e := sparkerr.New("UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE", "the feature is not supported: cannot have VARIANT type columns in DataFrame which calls set operations (INTERSECT, EXCEPT, etc.), but the type of column `%s` is %q; leave it out, or compare its text, to_json(%s)", a.Name, a.Typ.SQL(), a.Name)
			if at != nil {
				e.WithPos(at.At().Line, at.At().Col)
			}
			return e
		}
		if !hasKind(a.Typ, columnar.KindMap) {
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

// groupable refuses a grouping key whose values have no order.
func groupable(keys []expr.Expr) error {
	for _, k := range keys {
		if hasKind(k.Type(), columnar.KindVariant) {
			return sparkerr.New("GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", "the expression \"%s\" cannot be used as a grouping expression because its data type \"%s\" is not an orderable data type", k.SQL(), k.Type().SQL())
		}
	}
	return nil
}

// hasKind tells whether a type of a kind is in a type.
func hasKind(t *columnar.Type, kind columnar.Kind) bool {
	if t.Kind == kind || t.Elem != nil && hasKind(t.Elem, kind) {
		return true
	}
	return slices.ContainsFunc(t.Fields, func(f columnar.Field) bool { return hasKind(f.Type, kind) })
}
