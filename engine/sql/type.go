package sql

import (
	"strconv"
	"strings"

	"github.com/wstream/wstream/engine/sql/interval"
)

// Type is a data type as written in CAST or in a schema. Synonyms are resolved, bounds are checked:
//
//	Name                                       what else is set
//	BOOLEAN TINYINT SMALLINT INT BIGINT        nothing
//	FLOAT DOUBLE DATE BINARY VOID VARIANT      nothing
//	TIMESTAMP TIMESTAMP_NTZ                    nothing (TIMESTAMP_LTZ is TIMESTAMP)
//	STRING                                     Collation, or empty
//	CHAR VARCHAR                               Length
//	DECIMAL                                    Precision, Scale
//	TIME                                       Precision
//	GEOMETRY GEOGRAPHY                         SRID, a number or ANY
//	INTERVAL                                   Calendar, or Start and End
//	ARRAY                                      Elem
//	MAP                                        Key, Elem
//	STRUCT                                     Fields
type Type struct {
	Span
	Name      string // in upper case
	Length    int
	Precision int
	Scale     int
	Collation string
	SRID      string
	Calendar  bool // INTERVAL without fields
	Start     interval.Field
	End       interval.Field
	Key       *Type
	Elem      *Type
	Fields    []Field
}

// Field is a column of a schema or a field of a struct.
type Field struct {
	Span
	Name      string
	Type      *Type
	NotNull   bool
	Comment   string
	Commented bool // COMMENT was written, perhaps with an empty text
}

// String writes the type as Spark's SQL does, e.g. "MAP<STRING, ARRAY<INT>>".
func (t *Type) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

func (t *Type) write(b *strings.Builder) {
	b.WriteString(t.Name)
	switch t.Name {
	case "STRING":
		if t.Collation != "" {
			b.WriteString(" COLLATE " + t.Collation)
		}
	case "CHAR", "VARCHAR":
		b.WriteString("(" + strconv.Itoa(t.Length) + ")")
	case "DECIMAL":
		b.WriteString("(" + strconv.Itoa(t.Precision) + "," + strconv.Itoa(t.Scale) + ")")
	case "TIME":
		b.WriteString("(" + strconv.Itoa(t.Precision) + ")")
	case "GEOMETRY", "GEOGRAPHY":
		b.WriteString("(" + t.SRID + ")")
	case "INTERVAL":
		if t.Calendar {
			return
		}
		b.WriteString(" " + t.Start.String())
		if t.Start != t.End {
			b.WriteString(" TO " + t.End.String())
		}
	case "ARRAY":
		b.WriteByte('<')
		t.Elem.write(b)
		b.WriteByte('>')
	case "MAP":
		b.WriteByte('<')
		t.Key.write(b)
		b.WriteString(", ")
		t.Elem.write(b)
		b.WriteByte('>')
	case "STRUCT":
		b.WriteByte('<')
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(quoteIfNeeded(f.Name) + ": ")
			f.Type.write(b)
			if f.NotNull {
				b.WriteString(" NOT NULL")
			}
			if f.Commented {
				b.WriteString(" COMMENT '" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(f.Comment) + "'")
			}
		}
		b.WriteByte('>')
	}
}

// quoteIfNeeded puts a name in back quotes unless it could stand without them.
func quoteIfNeeded(name string) string {
	if name != "" && asciiWord(name) && strings.Trim(name, "0123456789") != "" {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
