package parquetfmt

import (
	"fmt"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// toNode is a field as Spark lays it out in a file.
func toNode(name string, t *columnar.Type, nullable bool) (schema.Node, error) {
	rep := parquet.Repetitions.Required
	if nullable {
		rep = parquet.Repetitions.Optional
	}
	plain := func(p parquet.Type) (schema.Node, error) { return schema.NewPrimitiveNode(name, rep, p, -1, 0) }
	logical := func(l schema.LogicalType, p parquet.Type, size int) (schema.Node, error) {
		return schema.NewPrimitiveNodeLogical(name, rep, l, p, size, -1)
	}
	switch t.Kind {
	case columnar.KindBool:
		return plain(parquet.Types.Boolean)
	case columnar.KindInt8:
		return logical(schema.NewIntLogicalType(8, true), parquet.Types.Int32, 0)
	case columnar.KindInt16:
		return logical(schema.NewIntLogicalType(16, true), parquet.Types.Int32, 0)
	case columnar.KindInt32, columnar.KindYearMonth:
		return plain(parquet.Types.Int32)
	case columnar.KindInt64, columnar.KindDayTime:
		return plain(parquet.Types.Int64)
	case columnar.KindFloat32:
		return plain(parquet.Types.Float)
	case columnar.KindFloat64:
		return plain(parquet.Types.Double)
	case columnar.KindDecimal:
		l := schema.NewDecimalLogicalType(int32(t.Precision), int32(t.Scale))
		switch {
		case t.Precision <= 9:
			return logical(l, parquet.Types.Int32, 0)
		case t.Precision <= 18:
			return logical(l, parquet.Types.Int64, 0)
		}
		return logical(l, parquet.Types.FixedLenByteArray, decimalBytes(t.Precision))
	case columnar.KindString:
		return logical(schema.StringLogicalType{}, parquet.Types.ByteArray, 0)
	case columnar.KindVariant:
		return logical(schema.JSONLogicalType{}, parquet.Types.ByteArray, 0)
	case columnar.KindBinary:
		return plain(parquet.Types.ByteArray)
	case columnar.KindDate:
		return logical(schema.DateLogicalType{}, parquet.Types.Int32, 0)
	case columnar.KindTimestamp:
		return logical(schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), parquet.Types.Int64, 0)
	case columnar.KindTimestampNTZ:
		return logical(schema.NewTimestampLogicalType(false, schema.TimeUnitMicros), parquet.Types.Int64, 0)
	case columnar.KindTime:
		return logical(schema.NewTimeLogicalType(false, schema.TimeUnitMicros), parquet.Types.Int64, 0)
	case columnar.KindArray:
		elem, err := toNode("element", t.Elem, t.ElemNullable)
		if err != nil {
			return nil, err
		}
		list, err := schema.NewGroupNode("list", parquet.Repetitions.Repeated, schema.FieldList{elem}, -1)
		if err != nil {
			return nil, err
		}
		return schema.NewGroupNodeLogical(name, rep, schema.FieldList{list}, schema.NewListLogicalType(), -1)
	case columnar.KindMap:
		key, err := toNode("key", t.Key, false)
		if err != nil {
			return nil, err
		}
		value, err := toNode("value", t.Elem, t.ElemNullable)
		if err != nil {
			return nil, err
		}
		entries, err := schema.NewGroupNode("key_value", parquet.Repetitions.Repeated, schema.FieldList{key, value}, -1)
		if err != nil {
			return nil, err
		}
		return schema.NewGroupNodeLogical(name, rep, schema.FieldList{entries}, schema.MapLogicalType{}, -1)
	case columnar.KindStruct:
		if len(t.Fields) == 0 {
			return nil, unsupported(name, t)
		}
		fields := schema.FieldList{}
		for _, f := range t.Fields {
			n, err := toNode(f.Name, f.Type, f.Nullable)
			if err != nil {
				return nil, err
			}
			fields = append(fields, n)
		}
		return schema.NewGroupNode(name, rep, fields, -1)
	}
	return nil, unsupported(name, t)
}

func unsupported(name string, t *columnar.Type) error {
	return sparkerr.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "The Parquet datasource doesn't support the column %s of the type %q.",
		columnar.QuoteIdentifier(name), t.SQL())
}

// decimalBytes is the least number of bytes that holds every unscaled value of a precision.
func decimalBytes(precision int) int {
	n := 1
	for !fitsBytes(columnar.Pow10(precision), n) {
		n++
	}
	return n
}

// fitsBytes tells whether all values below limit have a two's complement of n bytes.
func fitsBytes(limit columnar.Dec128, n int) bool {
	if n >= 16 {
		return true
	}
	bits := uint(8*n - 1)
	max := columnar.Dec128{Lo: 1 << (bits & 63)}
	if bits >= 64 {
		max = columnar.Dec128{Hi: 1 << (bits - 64)}
	}
	return limit.Cmp(max) <= 0
}

// fileField is a node of a file's schema as a column: its type and where its values lie.
type fileField struct {
	name     string
	id       int32 // the field id, -1 for none
	typ      *columnar.Type
	nullable bool
	leaf     int // the leaf column, of leaves
	kids     []*fileField
	def      int16 // definition level from which the value is not null
	rep      int16 // repetition level of the innermost list that the value lies in
	slotDef  int16 // definition level from which there is a place for the value at all
	listDef  int16 // of lists and maps: definition level from which there is an element
	prim     *schema.PrimitiveNode
}

// fileSchema reads the schema of a file.
func fileSchema(s *schema.Schema, spark *columnar.Schema) ([]*fileField, error) {
	r := schemaReader{}
	var out []*fileField
	root := s.Root()
	for i := range root.NumFields() {
		f, err := r.field(root.Field(i), 0, 0, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	if spark != nil {
		for _, f := range out {
			if i := spark.Index(f.name); i >= 0 {
				f.refine(spark.Fields[i].Type)
			}
		}
	}
	return out, nil
}

// refine takes over what Spark's own schema knows better.
func (f *fileField) refine(t *columnar.Type) {
	switch {
	case t.Kind == columnar.KindYearMonth && f.typ.Kind == columnar.KindInt32,
		t.Kind == columnar.KindDayTime && f.typ.Kind == columnar.KindInt64,
		t.Kind == columnar.KindTime && f.typ.Kind == columnar.KindTime,
		t.Kind == columnar.KindString && f.typ.Kind == columnar.KindString,
		t.Kind == columnar.KindVariant && f.typ.Kind == columnar.KindString:
		f.typ = t
	case t.Kind == columnar.KindArray && f.typ.Kind == columnar.KindArray:
		f.kids[0].refine(t.Elem)
		f.typ = columnar.ArrayOf(f.kids[0].typ, f.typ.ElemNullable)
	case t.Kind == columnar.KindMap && f.typ.Kind == columnar.KindMap:
		f.kids[0].refine(t.Key)
		f.kids[1].refine(t.Elem)
		f.typ = columnar.MapOf(f.kids[0].typ, f.kids[1].typ, f.typ.ElemNullable)
	case t.Kind == columnar.KindStruct && f.typ.Kind == columnar.KindStruct:
		fields := append([]columnar.Field{}, f.typ.Fields...)
		for i, k := range f.kids {
			for _, tf := range t.Fields {
				if tf.Name == k.name {
					k.refine(tf.Type)
					fields[i].Type = k.typ
				}
			}
		}
		f.typ = columnar.StructOf(fields...)
	}
}

// schemaReader numbers the leaves as it goes.
type schemaReader struct{ leaves int }

// field reads a node below the given levels.
func (r *schemaReader) field(n schema.Node, def, rep, slotDef int16) (*fileField, error) {
	if n.RepetitionType() == parquet.Repetitions.Repeated {
		// A repeated field outside of a LIST is a list that is never null.
		f := &fileField{name: n.Name(), id: n.FieldID(), def: def, rep: rep, slotDef: slotDef, listDef: def + 1}
		elem, err := r.value(n, def+1, rep+1, def+1)
		if err != nil {
			return nil, err
		}
		f.kids, f.typ = []*fileField{elem}, columnar.ArrayOf(elem.typ, false)
		return f, nil
	}
	if n.RepetitionType() == parquet.Repetitions.Optional {
		def++
	}
	f, err := r.value(n, def, rep, slotDef)
	if err == nil {
		f.nullable = n.RepetitionType() == parquet.Repetitions.Optional
	}
	return f, err
}

// value reads a node whose own repetition has been counted.
func (r *schemaReader) value(n schema.Node, def, rep, slotDef int16) (*fileField, error) {
	f := &fileField{name: n.Name(), id: n.FieldID(), def: def, rep: rep, slotDef: slotDef}
	prim, ok := n.(*schema.PrimitiveNode)
	if ok {
		f.leaf, f.prim = r.leaves, prim
		r.leaves++
		var err error
		f.typ, err = leafType(prim)
		return f, err
	}
	group := n.(*schema.GroupNode)
	switch {
	case isLogical[schema.ListLogicalType](n) || n.ConvertedType() == schema.ConvertedTypes.List:
		if group.NumFields() == 1 && group.Field(0).RepetitionType() == parquet.Repetitions.Repeated {
			return f, r.list(f, group.Field(0))
		}
	case isLogical[schema.MapLogicalType](n) || n.ConvertedType() == schema.ConvertedTypes.Map || n.ConvertedType() == schema.ConvertedTypes.MapKeyValue:
		if group.NumFields() == 1 && group.Field(0).RepetitionType() == parquet.Repetitions.Repeated {
			if entries, ok := group.Field(0).(*schema.GroupNode); ok && entries.NumFields() == 2 {
				return f, r.mapping(f, entries)
			}
		}
	}
	var fields []columnar.Field
	for i := range group.NumFields() {
		kid, err := r.field(group.Field(i), def, rep, slotDef)
		if err != nil {
			return nil, err
		}
		f.kids = append(f.kids, kid)
		fields = append(fields, columnar.Field{Name: kid.name, Type: kid.typ, Nullable: kid.nullable})
	}
	f.typ = columnar.StructOf(fields...)
	return f, nil
}

func isLogical[T schema.LogicalType](n schema.Node) bool {
	switch any(n.LogicalType()).(type) {
	case T, *T:
		return true
	}
	return false
}

// list reads the repeated node of a LIST. By the rules for files of old writers the repeated node itself
// is the element when it is no group, has several fields, or is called "array" or NAME_tuple.
func (r *schemaReader) list(f *fileField, repeated schema.Node) error {
	f.listDef = f.def + 1
	group, ok := repeated.(*schema.GroupNode)
	var elem *fileField
	var err error
	if !ok || group.NumFields() != 1 || repeated.Name() == "array" || repeated.Name() == f.name+"_tuple" {
		elem, err = r.value(repeated, f.listDef, f.rep+1, f.listDef)
	} else {
		elem, err = r.field(group.Field(0), f.listDef, f.rep+1, f.listDef)
	}
	if err != nil {
		return err
	}
	f.kids, f.typ = []*fileField{elem}, columnar.ArrayOf(elem.typ, elem.nullable)
	return nil
}

func (r *schemaReader) mapping(f *fileField, entries *schema.GroupNode) error {
	f.listDef = f.def + 1
	for i := range 2 {
		kid, err := r.field(entries.Field(i), f.listDef, f.rep+1, f.listDef)
		if err != nil {
			return err
		}
		f.kids = append(f.kids, kid)
	}
	f.typ = columnar.MapOf(f.kids[0].typ, f.kids[1].typ, f.kids[1].nullable)
	return nil
}

// leafType is what the values of a leaf are.
func leafType(n *schema.PrimitiveNode) (*columnar.Type, error) {
	if m := n.DecimalMetadata(); m.IsSet {
		if m.Precision < 1 || m.Precision > 38 || m.Scale < 0 || m.Scale > m.Precision {
			return nil, fmt.Errorf("field %q: DECIMAL(%d,%d) is not supported", n.Name(), m.Precision, m.Scale)
		}
		return columnar.Decimal(int(m.Precision), int(m.Scale)), nil
	}
	switch l := n.LogicalType().(type) {
	case *schema.IntLogicalType:
		return intType(int(l.BitWidth()), l.IsSigned()), nil
	case schema.IntLogicalType:
		return intType(int(l.BitWidth()), l.IsSigned()), nil
	case schema.StringLogicalType, *schema.StringLogicalType, schema.EnumLogicalType, *schema.EnumLogicalType, schema.JSONLogicalType, *schema.JSONLogicalType:
		return columnar.String, nil
	case schema.DateLogicalType, *schema.DateLogicalType:
		return columnar.Date, nil
	case *schema.TimestampLogicalType:
		return timestampType(l.IsAdjustedToUTC()), nil
	case schema.TimestampLogicalType:
		return timestampType(l.IsAdjustedToUTC()), nil
	case *schema.TimeLogicalType, schema.TimeLogicalType:
		return columnar.Time, nil
	case schema.Float16LogicalType, *schema.Float16LogicalType:
		return columnar.Float32, nil
	case schema.NullLogicalType, *schema.NullLogicalType:
		return columnar.Null, nil
	}
	switch n.PhysicalType() {
	case parquet.Types.Boolean:
		return columnar.Bool, nil
	case parquet.Types.Int32:
		return columnar.Int32, nil
	case parquet.Types.Int64:
		return columnar.Int64, nil
	case parquet.Types.Int96:
		return columnar.Timestamp, nil
	case parquet.Types.Float:
		return columnar.Float32, nil
	case parquet.Types.Double:
		return columnar.Float64, nil
	}
	return columnar.Binary, nil
}

func timestampType(utc bool) *columnar.Type {
	if utc {
		return columnar.Timestamp
	}
	return columnar.TimestampNTZ
}

// intType is the signed type that holds all integers of a width.
func intType(bits int, signed bool) *columnar.Type {
	if !signed {
		if bits == 64 {
			return columnar.Decimal(20, 0)
		}
		bits *= 2
	}
	switch bits {
	case 8:
		return columnar.Int8
	case 16:
		return columnar.Int16
	case 32:
		return columnar.Int32
	}
	return columnar.Int64
}
