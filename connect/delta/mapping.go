package delta

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/parquetfmt"
	"github.com/wstream/wstream/columnar/widen"
)

// mapping says under which names, and in the mode "id" under which field ids, the columns of a table lie in its files. The
// names of a table without column mapping are those of its files.
type mapping struct {
	mode    string               // name, id, or "" for none
	logical *columnar.Schema     // the table's columns
	fields  []columnar.Field     // the same with the files' names, at every depth
	ids     *parquetfmt.FieldIDs // of the fields; nil unless the mode is id
}

// jsonField is a field of a schema in JSON, with what a mapping needs of it.
type jsonField struct {
	Name     string          `json:"name"`
	Type     json.RawMessage `json:"type"`
	Metadata struct {
		ID       int32  `json:"delta.columnMapping.id"`
		Physical string `json:"delta.columnMapping.physicalName"`
	} `json:"metadata"`
}

type jsonType struct {
	Fields      []jsonField     `json:"fields"`
	ElementType json.RawMessage `json:"elementType"`
	KeyType     json.RawMessage `json:"keyType"`
	ValueType   json.RawMessage `json:"valueType"`
}

// newMapping reads the mapping of a table's metadata, whose schema has been parsed as logical.
func newMapping(meta *metaData, logical *columnar.Schema) (*mapping, error) {
	m := &mapping{logical: logical, fields: logical.Fields}
	switch mode := strings.ToLower(meta.Configuration["delta.columnMapping.mode"]); mode {
	case "", "none":
		return m, nil
	case "name", "id":
		m.mode = mode
	default:
		return nil, fmt.Errorf("delta.columnMapping.mode is %q, expected none, name or id", mode)
	}
	t, ids, err := mapped(columnar.StructOf(logical.Fields...), json.RawMessage(meta.SchemaString))
	if err != nil {
		return nil, fmt.Errorf("column mapping: %w", err)
	}
	m.fields = t.Fields
	if m.mode == "id" {
		m.ids = ids
	}
	return m, nil
}

// mapped gives a type with the files' names, and the ids of its fields.
func mapped(t *columnar.Type, text json.RawMessage) (*columnar.Type, *parquetfmt.FieldIDs, error) {
	if !t.IsNested() {
		return t, nil, nil
	}
	var j jsonType
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, nil, err
	}
	ids := &parquetfmt.FieldIDs{}
	switch t.Kind {
	case columnar.KindStruct:
		if len(j.Fields) != len(t.Fields) {
			return nil, nil, fmt.Errorf("a struct has %d fields, expected %d", len(j.Fields), len(t.Fields))
		}
		fields := make([]columnar.Field, len(t.Fields))
		for i, f := range t.Fields {
			inner, kid, err := mapped(f.Type, j.Fields[i].Type)
			if err != nil {
				return nil, nil, fmt.Errorf("field %q: %w", f.Name, err)
			}
			if kid == nil {
				kid = &parquetfmt.FieldIDs{}
			}
			meta := j.Fields[i].Metadata
			if meta.Physical == "" {
				return nil, nil, fmt.Errorf("field %q has no delta.columnMapping.physicalName", f.Name)
			}
			kid.ID = meta.ID
			ids.Kids = append(ids.Kids, kid)
			fields[i] = columnar.Field{Name: meta.Physical, Type: inner, Nullable: f.Nullable}
		}
		return columnar.StructOf(fields...), ids, nil
	case columnar.KindArray:
		elem, kid, err := mapped(t.Elem, j.ElementType)
		ids.Kids = []*parquetfmt.FieldIDs{kid}
		return columnar.ArrayOf(elem, t.ElemNullable), ids, err
	}
	key, keyIDs, err := mapped(t.Key, j.KeyType)
	if err != nil {
		return nil, nil, err
	}
	value, valueIDs, err := mapped(t.Elem, j.ValueType)
	ids.Kids = []*parquetfmt.FieldIDs{keyIDs, valueIDs}
	return columnar.MapOf(key, value, t.ElemNullable), ids, err
}

// physical is the name under which the files, and the log's partition values, have a column.
func (m *mapping) physical(column string) string {
	for i, f := range m.logical.Fields {
		if f.Name == column {
			return m.fields[i].Name
		}
	}
	return column
}

// idsOf are the ids of some of the columns, nil unless the mode is id.
func (m *mapping) idsOf(columns []int) *parquetfmt.FieldIDs {
	if m.ids == nil {
		return nil
	}
	out := &parquetfmt.FieldIDs{}
	for _, c := range columns {
		out.Kids = append(out.Kids, m.ids.Kids[c])
	}
	return out
}

// retype is a column of a file seen under the table's names, which its type has at every depth.
func retype(c *columnar.Column, t *columnar.Type) *columnar.Column {
	out := c.WithType(t)
	if out == c {
		return out
	}
	var types []*columnar.Type
	switch t.Kind {
	case columnar.KindStruct:
		for _, f := range t.Fields {
			types = append(types, f.Type)
		}
	case columnar.KindArray:
		types = []*columnar.Type{t.Elem}
	case columnar.KindMap:
		types = []*columnar.Type{t.Key, t.Elem}
	default:
		return out
	}
	out.Children = make([]*columnar.Column, len(c.Children))
	for i, k := range c.Children {
		out.Children[i] = retype(k, types[i])
	}
	return out
}

// reads tells whether files written under an older schema of a table can be read as this one: every column that both have,
// by its name in the files, has a type that can be read as the newer one. It gives the name of one that cannot.
func (m *mapping) reads(older *mapping) (column string, ok bool) {
	for _, f := range older.fields {
		for i, have := range m.fields {
			if have.Name == f.Name && !readableAs(f.Type, have.Type) {
				return m.logical.Fields[i].Name, false
			}
		}
	}
	return "", true
}

// readableAs tells whether values of a type of a file can be read as another one, as the reader of Parquet does.
func readableAs(from, to *columnar.Type) bool {
	if !to.IsNested() || !from.IsNested() {
		return !to.IsNested() && !from.IsNested() && widen.Can(from, to)
	}
	if from.Kind != to.Kind {
		return false
	}
	switch to.Kind {
	case columnar.KindArray:
		return readableAs(from.Elem, to.Elem)
	case columnar.KindMap:
		return readableAs(from.Key, to.Key) && readableAs(from.Elem, to.Elem)
	}
	for _, f := range from.Fields {
		for _, w := range to.Fields {
			if f.Name == w.Name && !readableAs(f.Type, w.Type) {
				return false
			}
		}
	}
	return true
}

// same tells whether two mappings have the same columns, in the table and in the files.
func (m *mapping) same(o *mapping) bool {
	return m.logical.Equal(o.logical) && (&columnar.Schema{Fields: m.fields}).Equal(&columnar.Schema{Fields: o.fields})
}
