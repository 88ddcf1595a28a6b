package expr

import (
	"encoding/json"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/sql"
)

// typeArgument reads a constant argument that names a type: a schema or a type in DDL, or a type as
// Spark writes it in JSON.
func (b *Binder) typeArgument(e Expr) (*columnar.Type, error) {
	notText := func() error {
		return sparkerr.New("INVALID_SCHEMA.NON_STRING_LITERAL", "the input schema \"%s\" is not a valid schema string; the input expression must be string literal and not null", e.SQL())
	}
	v, ok, err := b.foldable(e)
	if err != nil {
		return nil, err
	}
	text, is := v.(string)
	if !ok || !is || e.Type().Kind != columnar.KindString {
		return nil, notText()
	}
	return parseSchemaText(text)
}

// schemaArgument is typeArgument for a struct.
func (b *Binder) schemaArgument(e Expr) (*columnar.Type, error) {
	t, err := b.typeArgument(e)
	if err == nil && t.Kind != columnar.KindStruct {
		return nil, sparkerr.New("INVALID_SCHEMA.NON_STRUCT_TYPE", "the input expression \"%s\" must be evaluated to struct type, but got \"%s\"", e.SQL(), t.SQL())
	}
	return t, err
}

// parseSchemaText reads a schema or a type in DDL or JSON; the error is that of the DDL.
func parseSchemaText(text string) (*columnar.Type, error) {
	ddl, err := sql.ParseTypeOrSchema(text)
	if err == nil {
		return ddlType(ddl)
	}
	if t, ok, jsonErr := jsonType([]byte(text)); ok {
		return t, jsonErr
	}
	return nil, err
}

// ddlType turns the syntax of a type into the type. CHAR and VARCHAR are refused.
func ddlType(t *sql.Type) (*columnar.Type, error) {
	switch t.Name {
	case "CHAR", "VARCHAR":
		return nil, sparkerr.New("UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING", "the char/varchar type can't be used in the table schema; use STRING")
	case "STRING":
		if t.Collation != "" && !strings.EqualFold(t.Collation, "UTF8_BINARY") {
			return &columnar.Type{Kind: columnar.KindString, Collation: t.Collation}, nil
		}
		return columnar.String, nil
	case "DECIMAL":
		return columnar.Decimal(t.Precision, t.Scale), nil
	case "TIME":
		return &columnar.Type{Kind: columnar.KindTime, Precision: t.Precision}, nil
	case "INTERVAL":
		start, end := columnar.IntervalField(t.Start), columnar.IntervalField(t.End)
		switch {
		case t.Calendar:
			return columnar.Calendar, nil
		case t.Start.YearMonth():
			return columnar.YearMonth(start, end), nil
		}
		return columnar.DayTime(start, end), nil
	case "ARRAY":
		e, err := ddlType(t.Elem)
		if err != nil {
			return nil, err
		}
		return columnar.ArrayOf(e, true), nil
	case "MAP":
		k, err := ddlType(t.Key)
		if err != nil {
			return nil, err
		}
		v, err := ddlType(t.Elem)
		if err != nil {
			return nil, err
		}
		return columnar.MapOf(k, v, true), nil
	case "STRUCT":
		fields := make([]columnar.Field, len(t.Fields))
		for i, f := range t.Fields {
			ft, err := ddlType(f.Type)
			if err != nil {
				return nil, err
			}
			fields[i] = columnar.Field{Name: f.Name, Type: ft, Nullable: !f.NotNull, Comment: f.Comment}
		}
		return columnar.StructOf(fields...), nil
	}
	if p, err := columnar.ParseType(t.Name); err == nil {
		return p, nil
	}
	return nil, sparkerr.New("UNSUPPORTED_DATATYPE", "unsupported data type \"%s\"", t.String())
}

// jsonType reads a type as Spark writes it in JSON; ok is false when the text is no such thing.
func jsonType(text []byte) (t *columnar.Type, ok bool, err error) {
	var name string
	if json.Unmarshal(text, &name) == nil {
		return namedType(name)
	}
	var o struct {
		Type   string
		Fields []struct {
			Name     string
			Type     json.RawMessage
			Nullable *bool
			Metadata map[string]json.RawMessage
		}
		ElementType       json.RawMessage
		ContainsNull      bool
		KeyType           json.RawMessage
		ValueType         json.RawMessage
		ValueContainsNull bool
	}
	if json.Unmarshal(text, &o) != nil {
		return nil, false, nil //nolint:nilerr // not a schema in JSON, which is no fault yet
	}
	switch o.Type {
	case "struct":
		fields := make([]columnar.Field, len(o.Fields))
		for i, f := range o.Fields {
			ft, ok, err := jsonType(f.Type)
			if !ok || err != nil {
				return nil, ok, err
			}
			fields[i] = columnar.Field{Name: f.Name, Type: ft, Nullable: f.Nullable == nil || *f.Nullable}
			if c, ok := f.Metadata["comment"]; ok && json.Unmarshal(c, &fields[i].Comment) != nil {
				return nil, false, nil //nolint:nilerr // the same
			}
		}
		return columnar.StructOf(fields...), true, nil
	case "array":
		e, ok, err := jsonType(o.ElementType)
		if !ok || err != nil {
			return nil, ok, err
		}
		return columnar.ArrayOf(e, o.ContainsNull), true, nil
	case "map":
		k, ok, err := jsonType(o.KeyType)
		if !ok || err != nil {
			return nil, ok, err
		}
		v, ok, err := jsonType(o.ValueType)
		if !ok || err != nil {
			return nil, ok, err
		}
		return columnar.MapOf(k, v, o.ValueContainsNull), true, nil
	}
	return nil, false, nil
}

// namedType is a type without parts by its name in JSON.
func namedType(name string) (*columnar.Type, bool, error) {
	if name == "null" {
		return columnar.Null, true, nil
	}
	t, err := sql.ParseType(name)
	if err != nil || t.Elem != nil || t.Name == "STRUCT" {
		return nil, false, nil //nolint:nilerr // the same
	}
	out, err := ddlType(t)
	return out, true, err
}

// asNullable is a type all of whose parts may be null.
func asNullable(t *columnar.Type) *columnar.Type {
	switch t.Kind {
	case columnar.KindArray:
		return columnar.ArrayOf(asNullable(t.Elem), true)
	case columnar.KindMap:
		return columnar.MapOf(asNullable(t.Key), asNullable(t.Elem), true)
	case columnar.KindStruct:
		fields := make([]columnar.Field, len(t.Fields))
		for i, f := range t.Fields {
			f.Type, f.Nullable = asNullable(f.Type), true
			fields[i] = f
		}
		return columnar.StructOf(fields...)
	}
	return t
}

// optionsArgument reads the options of a function, a constant call of map().
func (b *Binder) optionsArgument(e Expr) (map[string]string, error) {
	c, is := e.(*call)
	if !is || c.name != "map" {
		return nil, sparkerr.New("INVALID_OPTIONS.NON_MAP_FUNCTION", "invalid options: must use the `map()` function for options")
	}
	t := e.Type()
	if t.Key.Kind != columnar.KindString || t.Elem.Kind != columnar.KindString {
		return nil, sparkerr.New("INVALID_OPTIONS.NON_STRING_TYPE", "invalid options: a type of keys and values in `map()` must be string, but got \"%s\"", t.SQL())
	}
	v, ok, err := b.foldable(e)
	if err != nil {
		return nil, err
	}
	m, is := v.(columnar.MapDatum)
	if !ok || !is {
		return nil, sparkerr.New("INVALID_OPTIONS.NON_MAP_FUNCTION", "invalid options: the options must be constant")
	}
	out := make(map[string]string, len(m.Keys))
	for i, k := range m.Keys {
		if s, ok := m.Values[i].(string); ok {
			out[k.(string)] = s
		}
	}
	return out, nil
}

// constantText checks the first argument of schema_of_json and the like, a constant string called param.
func (b *Binder) constantText(args []Expr, param string) (Expr, error) {
	call := sqlCall(b.name(), args[:1])
	v, ok, err := b.foldable(args[0])
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, nonFoldable(call, param, args[0])
	case v == nil:
		return nil, mismatch("UNEXPECTED_NULL", call, "the %s must not be null", param)
	}
	in, err := b.expectAs(call, args[:1], isString)
	if err != nil {
		return nil, err
	}
	return in[0], nil
}
