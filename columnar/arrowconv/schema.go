package arrowconv

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/wstream/wstream/columnar"
)

// typeKey is the metadata of a field that names its Spark type where Arrow's says less.
const typeKey = "wstream.type"

// SchemaToArrow is the Arrow schema of a schema.
func SchemaToArrow(s *columnar.Schema) *arrow.Schema {
	fields := make([]arrow.Field, len(s.Fields))
	for i, f := range s.Fields {
		fields[i] = fieldToArrow(f)
	}
	return arrow.NewSchema(fields, nil)
}

func fieldToArrow(f columnar.Field) arrow.Field {
	out := arrow.Field{Name: f.Name, Type: TypeToArrow(f.Type), Nullable: f.Nullable}
	switch k := f.Type.Kind; {
	case k == columnar.KindVariant, k == columnar.KindYearMonth, k == columnar.KindDayTime, k == columnar.KindTime,
		k == columnar.KindString && f.Type.Collation != "":
		out.Metadata = arrow.NewMetadata([]string{typeKey}, []string{f.Type.String()})
	}
	return out
}

// TypeToArrow is the Arrow type of a type.
func TypeToArrow(t *columnar.Type) arrow.DataType {
	switch t.Kind {
	case columnar.KindBool:
		return arrow.FixedWidthTypes.Boolean
	case columnar.KindInt8:
		return arrow.PrimitiveTypes.Int8
	case columnar.KindInt16:
		return arrow.PrimitiveTypes.Int16
	case columnar.KindInt32:
		return arrow.PrimitiveTypes.Int32
	case columnar.KindInt64:
		return arrow.PrimitiveTypes.Int64
	case columnar.KindFloat32:
		return arrow.PrimitiveTypes.Float32
	case columnar.KindFloat64:
		return arrow.PrimitiveTypes.Float64
	case columnar.KindDecimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case columnar.KindString, columnar.KindVariant:
		return arrow.BinaryTypes.String
	case columnar.KindBinary:
		return arrow.BinaryTypes.Binary
	case columnar.KindDate:
		return arrow.FixedWidthTypes.Date32
	case columnar.KindTimestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case columnar.KindTimestampNTZ:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case columnar.KindTime:
		return arrow.FixedWidthTypes.Time64ns
	case columnar.KindYearMonth:
		return arrow.FixedWidthTypes.MonthInterval
	case columnar.KindDayTime:
		return arrow.FixedWidthTypes.Duration_us
	case columnar.KindCalendar:
		return arrow.FixedWidthTypes.MonthDayNanoInterval
	case columnar.KindArray:
		return arrow.ListOfField(fieldToArrow(columnar.Field{Name: "element", Type: t.Elem, Nullable: t.ElemNullable}))
	case columnar.KindMap:
		key := fieldToArrow(columnar.Field{Name: "key", Type: t.Key})
		value := fieldToArrow(columnar.Field{Name: "value", Type: t.Elem, Nullable: t.ElemNullable})
		m := arrow.MapOfWithMetadata(key.Type, key.Metadata, value.Type, value.Metadata)
		m.SetItemNullable(t.ElemNullable)
		return m
	case columnar.KindStruct:
		fields := make([]arrow.Field, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = fieldToArrow(f)
		}
		return arrow.StructOf(fields...)
	}
	return arrow.Null
}

// SchemaFromArrow is the schema of an Arrow schema. Types that Spark has no equal of become the next
// wider one: unsigned integers, dictionaries, other units of time, large and fixed-size layouts.
func SchemaFromArrow(s *arrow.Schema) (*columnar.Schema, error) {
	out := &columnar.Schema{}
	for _, f := range s.Fields() {
		field, err := fieldFromArrow(f)
		if err != nil {
			return nil, err
		}
		out.Fields = append(out.Fields, field)
	}
	return out, nil
}

func fieldFromArrow(f arrow.Field) (columnar.Field, error) {
	t, err := TypeFromArrow(f.Type)
	if err != nil {
		return columnar.Field{}, fmt.Errorf("field %q: %w", f.Name, err)
	}
	if name, ok := f.Metadata.GetValue(typeKey); ok {
		named, err := columnar.ParseType(name)
		if err != nil {
			return columnar.Field{}, fmt.Errorf("field %q: type %q: %w", f.Name, name, err)
		}
		if named.Width() == t.Width() && named.HasBytes() == t.HasBytes() && !named.IsNested() && !t.IsNested() {
			t = named
		}
	}
	return columnar.Field{Name: f.Name, Type: t, Nullable: f.Nullable}, nil
}

// TypeFromArrow is the Spark type that values of an Arrow type become.
func TypeFromArrow(t arrow.DataType) (*columnar.Type, error) {
	switch t := t.(type) {
	case *arrow.NullType:
		return columnar.Null, nil
	case *arrow.BooleanType:
		return columnar.Bool, nil
	case *arrow.Int8Type:
		return columnar.Int8, nil
	case *arrow.Int16Type, *arrow.Uint8Type:
		return columnar.Int16, nil
	case *arrow.Int32Type, *arrow.Uint16Type:
		return columnar.Int32, nil
	case *arrow.Int64Type, *arrow.Uint32Type:
		return columnar.Int64, nil
	case *arrow.Uint64Type:
		return columnar.Decimal(20, 0), nil
	case *arrow.Float16Type, *arrow.Float32Type:
		return columnar.Float32, nil
	case *arrow.Float64Type:
		return columnar.Float64, nil
	case *arrow.Decimal128Type:
		if t.Precision >= 1 && t.Precision <= 38 && t.Scale >= 0 && t.Scale <= t.Precision {
			return columnar.Decimal(int(t.Precision), int(t.Scale)), nil
		}
	case *arrow.StringType, *arrow.LargeStringType:
		return columnar.String, nil
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.FixedSizeBinaryType:
		return columnar.Binary, nil
	case *arrow.Date32Type, *arrow.Date64Type:
		return columnar.Date, nil
	case *arrow.TimestampType:
		if t.TimeZone == "" {
			return columnar.TimestampNTZ, nil
		}
		return columnar.Timestamp, nil
	case *arrow.Time32Type, *arrow.Time64Type:
		return columnar.Time, nil
	case *arrow.MonthIntervalType:
		return columnar.YearMonth(columnar.FieldYear, columnar.FieldMonth), nil
	case *arrow.DurationType:
		return columnar.DayTime(columnar.FieldDay, columnar.FieldSecond), nil
	case *arrow.MonthDayNanoIntervalType:
		return columnar.Calendar, nil
	case *arrow.MapType: // before the list that a map also is
		key, err := fieldFromArrow(t.KeyField())
		if err != nil {
			return nil, err
		}
		value, err := fieldFromArrow(t.ItemField())
		if err != nil {
			return nil, err
		}
		return columnar.MapOf(key.Type, value.Type, value.Nullable), nil
	case *arrow.ListType, *arrow.LargeListType, *arrow.FixedSizeListType:
		elem, err := fieldFromArrow(t.(arrow.ListLikeType).ElemField())
		if err != nil {
			return nil, err
		}
		return columnar.ArrayOf(elem.Type, elem.Nullable), nil
	case *arrow.StructType:
		fields := make([]columnar.Field, t.NumFields())
		for i := range fields {
			var err error
			if fields[i], err = fieldFromArrow(t.Field(i)); err != nil {
				return nil, err
			}
		}
		return columnar.StructOf(fields...), nil
	case *arrow.DictionaryType:
		return TypeFromArrow(t.ValueType)
	}
	return nil, fmt.Errorf("Arrow type %s has no Spark type", t)
}
