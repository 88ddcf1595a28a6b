package show

import (
	"fmt"
	"strings"

	"github.com/wstream/wstream/columnar"
)

// Tree is a schema as printSchema prints it.
func Tree(s *columnar.Schema) string {
	var b strings.Builder
	b.WriteString("root\n")
	treeFields(&b, s.Fields, " |")
	return b.String()
}

func treeFields(b *strings.Builder, fields []columnar.Field, prefix string) {
	for _, f := range fields {
		fmt.Fprintf(b, "%s-- %s: %s (nullable = %t)\n", prefix, f.Name, typeName(f.Type), f.Nullable)
		treeType(b, f.Type, prefix+"    |")
	}
}

func treeType(b *strings.Builder, t *columnar.Type, prefix string) {
	switch t.Kind {
	case columnar.KindArray:
		fmt.Fprintf(b, "%s-- element: %s (containsNull = %t)\n", prefix, typeName(t.Elem), t.ElemNullable)
		treeType(b, t.Elem, prefix+"    |")
	case columnar.KindMap:
		fmt.Fprintf(b, "%s-- key: %s\n", prefix, typeName(t.Key))
		treeType(b, t.Key, prefix+"    |")
		fmt.Fprintf(b, "%s-- value: %s (valueContainsNull = %t)\n", prefix, typeName(t.Elem), t.ElemNullable)
		treeType(b, t.Elem, prefix+"    |")
	case columnar.KindStruct:
		treeFields(b, t.Fields, prefix)
	}
}

// typeName is a type's name in a tree.
func typeName(t *columnar.Type) string {
	switch t.Kind {
	case columnar.KindInt8:
		return "byte"
	case columnar.KindInt16:
		return "short"
	case columnar.KindInt32:
		return "integer"
	case columnar.KindInt64:
		return "long"
	case columnar.KindArray:
		return "array"
	case columnar.KindMap:
		return "map"
	case columnar.KindStruct:
		return "struct"
	}
	return t.String()
}
