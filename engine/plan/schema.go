package plan

import (
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/sql"
)

// SchemaOf reads a schema in DDL for a reader, which takes neither CHAR nor VARCHAR, and neither GEOMETRY nor GEOGRAPHY.
func SchemaOf(ddl string) (*columnar.Schema, error) {
	s, err := DeclaredSchema(ddl)
	if err != nil {
		return nil, err
	}
	for _, f := range s.Fields {
		if err := readable(f.Name, f.Type); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// DeclaredSchema reads a schema in DDL and keeps all that it says: the lengths of CHAR and VARCHAR, which are strings to
// everything that computes, and GEOMETRY and GEOGRAPHY, which nothing can compute with.
func DeclaredSchema(ddl string) (*columnar.Schema, error) {
	fs, err := sql.ParseSchema(ddl)
	if err != nil {
		return nil, err
	}
	return columnar.NewSchema(fieldsOf(fs, true)...), nil
}

// readable is the error of a type that no reader takes.
func readable(column string, t *columnar.Type) error {
	if t == nil {
		return nil
	}
	if t.Declared != "" {
		switch t.Kind {
		case columnar.KindBinary:
			return sparkerr.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "column %q: no reader supports the type %q", column, t.SQL())
		case columnar.KindString:
			if t.Declared != declaredBinary {
				return sparkerr.New("UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING", "column %q: the char/varchar type can't be used in the table schema; use STRING", column)
			}
		}
	}
	for _, f := range t.Fields {
		if err := readable(column, f.Type); err != nil {
			return err
		}
	}
	if err := readable(column, t.Key); err != nil {
		return err
	}
	return readable(column, t.Elem)
}

// declaredBinary is the collation that strings have anyway, spelt out.
const declaredBinary = "STRING COLLATE UTF8_BINARY"

// typeOf turns the syntax of a type into the type. Unless it is to be kept as declared, CHAR and VARCHAR are STRING.
func typeOf(t *sql.Type, declared bool) *columnar.Type {
	switch t.Name {
	case "BOOLEAN":
		return columnar.Bool
	case "TINYINT":
		return columnar.Int8
	case "SMALLINT":
		return columnar.Int16
	case "INT":
		return columnar.Int32
	case "BIGINT":
		return columnar.Int64
	case "FLOAT":
		return columnar.Float32
	case "DOUBLE":
		return columnar.Float64
	case "DATE":
		return columnar.Date
	case "BINARY":
		return columnar.Binary
	case "VOID":
		return columnar.Null
	case "VARIANT":
		return columnar.Variant
	case "TIMESTAMP":
		return columnar.Timestamp
	case "TIMESTAMP_NTZ":
		return columnar.TimestampNTZ
	case "DECIMAL":
		return columnar.Decimal(t.Precision, t.Scale)
	case "TIME":
		return &columnar.Type{Kind: columnar.KindTime, Precision: t.Precision}
	case "GEOMETRY", "GEOGRAPHY":
		return &columnar.Type{Kind: columnar.KindBinary, Declared: fmt.Sprintf("%s(%s)", t.Name, t.SRID)}
	case "INTERVAL":
		if t.Calendar {
			return columnar.Calendar
		}
		if t.Start.YearMonth() {
			return columnar.YearMonth(columnar.IntervalField(t.Start), columnar.IntervalField(t.End))
		}
		return columnar.DayTime(columnar.IntervalField(t.Start), columnar.IntervalField(t.End))
	case "ARRAY":
		return columnar.ArrayOf(typeOf(t.Elem, declared), true)
	case "MAP":
		return columnar.MapOf(typeOf(t.Key, declared), typeOf(t.Elem, declared), true)
	case "STRUCT":
		return columnar.StructOf(fieldsOf(t.Fields, declared)...)
	}
	return stringOf(t, declared)
}

// stringOf is the type of STRING, CHAR and VARCHAR with their collations.
func stringOf(t *sql.Type, declared bool) *columnar.Type {
	out := columnar.Type{Kind: columnar.KindString, Collation: t.Collation}
	if t.Collation == "UTF8_BINARY" {
		out.Collation, out.Declared = "", declaredBinary
	}
	if declared && t.Name != "STRING" {
		out.Declared = fmt.Sprintf("%s(%d)", t.Name, t.Length)
		if t.Collation == "UTF8_BINARY" {
			out.Declared += " COLLATE UTF8_BINARY"
		}
	}
	if out.Collation == "" && out.Declared == "" {
		return columnar.String
	}
	return &out
}

func fieldsOf(fs []sql.Field, declared bool) []columnar.Field {
	out := make([]columnar.Field, len(fs))
	for i, f := range fs {
		out[i] = columnar.Field{Name: f.Name, Type: typeOf(f.Type, declared), Nullable: !f.NotNull, Comment: f.Comment, Commented: f.Commented && f.Comment == ""}
	}
	return out
}
