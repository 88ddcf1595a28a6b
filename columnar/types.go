// Package columnar holds the data model of the engine: Spark's types, columns in Arrow's
// physical layout, batches of them, and the kernels that run over whole columns.
//
// A Column owns plain Go memory that the garbage collector frees; it is laid out byte for byte
// as an Arrow array without an offset, so that a batch goes to Arrow (Parquet, IPC) and into a
// guest's memory without conversion. docs/RATIONALE.md says why the hot path does not hold
// arrow.Array values themselves.
package columnar

import (
	"cmp"
	"fmt"
	"strings"
)

// Kind names a type's family; parameters (precision, fields, …) live in Type.
type Kind uint8

// The kinds, in an order that the guest ABI and stored state never depend on.
const (
	KindNull         Kind = iota // VOID: no buffer, every row null
	KindBool                     // bitmap in Data
	KindInt8                     // TINYINT
	KindInt16                    // SMALLINT
	KindInt32                    // INT
	KindInt64                    // BIGINT
	KindFloat32                  // FLOAT
	KindFloat64                  // DOUBLE
	KindDecimal                  // DECIMAL(p,s): 16 bytes, little-endian two's complement
	KindString                   // Offsets + Data, UTF-8 (Spark allows invalid bytes)
	KindBinary                   // Offsets + Data
	KindDate                     // int32 days since 1970-01-01
	KindTimestamp                // int64 microseconds since the epoch, UTC
	KindTimestampNTZ             // int64 microseconds of a wall clock without zone
	KindTime                     // int64 nanoseconds since midnight
	KindYearMonth                // int32 months; Start..End in Type
	KindDayTime                  // int64 microseconds; Start..End in Type
	KindCalendar                 // 16 bytes: int32 months, int32 days, int64 microseconds
	KindArray                    // Offsets + Children[0]
	KindMap                      // Offsets + Children[0] (keys), Children[1] (values)
	KindStruct                   // one child per field
	KindVariant                  // Offsets + Data: the JSON text of the value
)

// IntervalField is a unit that bounds an ANSI interval type.
type IntervalField uint8

// Interval fields; year-month intervals use the first two, day-time intervals the others.
const (
	FieldYear IntervalField = iota
	FieldMonth
	FieldDay
	FieldHour
	FieldMinute
	FieldSecond
)

// String gives the field's lower-case name.
func (f IntervalField) String() string {
	return [...]string{"year", "month", "day", "hour", "minute", "second"}[f]
}

// Type is a Spark SQL type. Types are immutable and may be shared; compare with Equal.
type Type struct {
	Kind         Kind
	Precision    int           // Decimal: 1..38; Time: 0..6
	Scale        int           // Decimal
	Start, End   IntervalField // YearMonth, DayTime
	Elem         *Type         // Array: element; Map: value
	ElemNullable bool          // Array: containsNull; Map: valueContainsNull
	Key          *Type         // Map
	Fields       []Field       // Struct
	Collation    string        // String: "" is UTF8_BINARY
	// Declared is what a schema in DDL calls a type that Kind does not tell apart: "CHAR(5)", "VARCHAR(10)",
	// "GEOMETRY(4326)", "STRING COLLATE UTF8_BINARY"; "" for all others. Only what prints a schema looks at it.
	Declared string
}

// Field is a named column of a schema, or a member of a struct.
type Field struct {
	Name     string
	Type     *Type
	Nullable bool
	Comment  string
	// Commented says that a comment was declared, though it is empty.
	Commented bool
}

// hasComment reports whether a field is printed with a comment.
func (f *Field) hasComment() bool { return f.Comment != "" || f.Commented }

// The types without parameters.
var (
	Null         = &Type{Kind: KindNull}
	Bool         = &Type{Kind: KindBool}
	Int8         = &Type{Kind: KindInt8}
	Int16        = &Type{Kind: KindInt16}
	Int32        = &Type{Kind: KindInt32}
	Int64        = &Type{Kind: KindInt64}
	Float32      = &Type{Kind: KindFloat32}
	Float64      = &Type{Kind: KindFloat64}
	String       = &Type{Kind: KindString}
	Binary       = &Type{Kind: KindBinary}
	Date         = &Type{Kind: KindDate}
	Timestamp    = &Type{Kind: KindTimestamp}
	TimestampNTZ = &Type{Kind: KindTimestampNTZ}
	Time         = &Type{Kind: KindTime, Precision: 6}
	Calendar     = &Type{Kind: KindCalendar}
	Variant      = &Type{Kind: KindVariant}
)

// Decimal is DECIMAL(precision, scale); the caller has checked 1 ≤ precision ≤ 38, scale ≤ precision.
func Decimal(precision, scale int) *Type {
	return &Type{Kind: KindDecimal, Precision: precision, Scale: scale}
}

// ArrayOf is ARRAY<elem>.
func ArrayOf(elem *Type, containsNull bool) *Type {
	return &Type{Kind: KindArray, Elem: elem, ElemNullable: containsNull}
}

// MapOf is MAP<key, value>.
func MapOf(key, value *Type, valueContainsNull bool) *Type {
	return &Type{Kind: KindMap, Key: key, Elem: value, ElemNullable: valueContainsNull}
}

// StructOf is STRUCT<fields…>.
func StructOf(fields ...Field) *Type { return &Type{Kind: KindStruct, Fields: fields} }

// YearMonth is INTERVAL start TO end with start, end in year, month.
func YearMonth(start, end IntervalField) *Type {
	return &Type{Kind: KindYearMonth, Start: start, End: end}
}

// DayTime is INTERVAL start TO end with start, end in day … second.
func DayTime(start, end IntervalField) *Type {
	return &Type{Kind: KindDayTime, Start: start, End: end}
}

// Width is the bytes of one value in Data, 0 for kinds without fixed-width values (bool included).
func (t *Type) Width() int {
	switch t.Kind {
	case KindInt8:
		return 1
	case KindInt16:
		return 2
	case KindInt32, KindFloat32, KindDate, KindYearMonth:
		return 4
	case KindInt64, KindFloat64, KindTimestamp, KindTimestampNTZ, KindTime, KindDayTime:
		return 8
	case KindDecimal, KindCalendar:
		return 16
	}
	return 0
}

// HasBytes reports whether values are byte strings (Offsets + Data).
func (t *Type) HasBytes() bool {
	return t.Kind == KindString || t.Kind == KindBinary || t.Kind == KindVariant
}

// IsIntegral reports TINYINT, SMALLINT, INT or BIGINT.
func (t *Type) IsIntegral() bool { return t.Kind >= KindInt8 && t.Kind <= KindInt64 }

// IsNumeric reports integral, float, double or decimal.
func (t *Type) IsNumeric() bool { return t.Kind >= KindInt8 && t.Kind <= KindDecimal }

// IsFloating reports FLOAT or DOUBLE.
func (t *Type) IsFloating() bool { return t.Kind == KindFloat32 || t.Kind == KindFloat64 }

// IsNested reports array, map or struct.
func (t *Type) IsNested() bool {
	return t.Kind == KindArray || t.Kind == KindMap || t.Kind == KindStruct
}

// Equal compares types; nullability inside nested types and comments do not count.
func (t *Type) Equal(o *Type) bool { return t.equal(o, false) }

// EqualStrict compares types with the nullability inside nested types.
func (t *Type) EqualStrict(o *Type) bool { return t.equal(o, true) }

func (t *Type) equal(o *Type, strict bool) bool {
	if t == o {
		return true
	}
	if t == nil || o == nil || t.Kind != o.Kind {
		return false
	}
	switch t.Kind {
	case KindDecimal:
		return t.Precision == o.Precision && t.Scale == o.Scale
	case KindTime:
		return t.Precision == o.Precision
	case KindYearMonth, KindDayTime:
		return t.Start == o.Start && t.End == o.End
	case KindString:
		return strings.EqualFold(t.Collation, o.Collation) // DDL prints them in upper case
	case KindArray:
		return (!strict || t.ElemNullable == o.ElemNullable) && t.Elem.equal(o.Elem, strict)
	case KindMap:
		return (!strict || t.ElemNullable == o.ElemNullable) && t.Key.equal(o.Key, strict) && t.Elem.equal(o.Elem, strict)
	case KindStruct:
		if len(t.Fields) != len(o.Fields) {
			return false
		}
		for i := range t.Fields {
			a, b := &t.Fields[i], &o.Fields[i]
			if a.Name != b.Name || strict && a.Nullable != b.Nullable || !a.Type.equal(b.Type, strict) {
				return false
			}
		}
	}
	return true
}

// String is Spark's catalogString, e.g. "array<struct<a:int,b:decimal(10,2)>>".
func (t *Type) String() string {
	if t.Declared != "" {
		name, collation, collated := strings.Cut(t.Declared, " COLLATE ")
		if collation = cmp.Or(t.Collation, collation); collated || collation != "" {
			return strings.ToLower(name) + " collate " + collation
		}
		return strings.ToLower(name)
	}
	switch t.Kind {
	case KindNull:
		return "void"
	case KindBool:
		return "boolean"
	case KindInt8:
		return "tinyint"
	case KindInt16:
		return "smallint"
	case KindInt32:
		return "int"
	case KindInt64:
		return "bigint"
	case KindFloat32:
		return "float"
	case KindFloat64:
		return "double"
	case KindDecimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case KindString:
		if t.Collation != "" {
			return "string collate " + t.Collation
		}
		return "string"
	case KindBinary:
		return "binary"
	case KindDate:
		return "date"
	case KindTimestamp:
		return "timestamp"
	case KindTimestampNTZ:
		return "timestamp_ntz"
	case KindTime:
		return fmt.Sprintf("time(%d)", t.Precision)
	case KindYearMonth, KindDayTime:
		if t.Start == t.End {
			return "interval " + t.Start.String()
		}
		return "interval " + t.Start.String() + " to " + t.End.String()
	case KindCalendar:
		return "interval"
	case KindArray:
		return "array<" + t.Elem.String() + ">"
	case KindMap:
		return "map<" + t.Key.String() + "," + t.Elem.String() + ">"
	case KindStruct:
		var b strings.Builder
		b.WriteString("struct<")
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(f.Name)
			b.WriteByte(':')
			b.WriteString(f.Type.String())
		}
		b.WriteByte('>')
		return b.String()
	case KindVariant:
		return "variant"
	}
	return "unknown"
}

// SQL is the type as Spark writes it in SQL and in error texts, e.g. "ARRAY<STRUCT<a: INT NOT NULL>>".
func (t *Type) SQL() string {
	switch t.Kind {
	case KindArray:
		return "ARRAY<" + t.Elem.SQL() + ">"
	case KindMap:
		return "MAP<" + t.Key.SQL() + ", " + t.Elem.SQL() + ">"
	case KindStruct:
		var b strings.Builder
		b.WriteString("STRUCT<")
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(QuoteIdentifier(f.Name))
			b.WriteString(": ")
			b.WriteString(f.Type.SQL())
			if !f.Nullable {
				b.WriteString(" NOT NULL")
			}
			if f.hasComment() {
				b.WriteString(" COMMENT '" + strings.ReplaceAll(f.Comment, "'", "\\'") + "'")
			}
		}
		b.WriteByte('>')
		return b.String()
	}
	return strings.ToUpper(t.String())
}

// QuoteIdentifier back-quotes a name unless it is a plain ASCII identifier.
func QuoteIdentifier(name string) string {
	plain := name != "" && (name[0] < '0' || name[0] > '9')
	for _, r := range name {
		if !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			plain = false
			break
		}
	}
	if plain {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// Schema is the ordered list of a relation's columns. Names may repeat.
type Schema struct{ Fields []Field }

// NewSchema makes a schema of fields.
func NewSchema(fields ...Field) *Schema { return &Schema{Fields: fields} }

// String is the schema as DDL: "a INT NOT NULL,b STRING".
func (s *Schema) String() string {
	var b strings.Builder
	for i, f := range s.Fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(QuoteIdentifier(f.Name))
		b.WriteByte(' ')
		b.WriteString(f.Type.SQL())
		if !f.Nullable {
			b.WriteString(" NOT NULL")
		}
		if f.hasComment() {
			b.WriteString(" COMMENT '" + strings.ReplaceAll(f.Comment, "'", "\\'") + "'")
		}
	}
	return b.String()
}

// Index is the position of the first column called name (exact case), or -1.
func (s *Schema) Index(name string) int {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// IndexFold is the position of the first column whose name equals name but for case, or -1.
func (s *Schema) IndexFold(name string) int {
	for i := range s.Fields {
		if strings.EqualFold(s.Fields[i].Name, name) {
			return i
		}
	}
	return -1
}

// Equal compares names and types in order; nullability does not count.
func (s *Schema) Equal(o *Schema) bool {
	if len(s.Fields) != len(o.Fields) {
		return false
	}
	for i := range s.Fields {
		if s.Fields[i].Name != o.Fields[i].Name || !s.Fields[i].Type.Equal(o.Fields[i].Type) {
			return false
		}
	}
	return true
}

// Struct is the schema as a struct type.
func (s *Schema) Struct() *Type { return &Type{Kind: KindStruct, Fields: s.Fields} }
