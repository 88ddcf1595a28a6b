package parquetfmt

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wstream/wstream/columnar"
)

// rowMetadata is the key under which Spark keeps its schema in a file.
const rowMetadata = "org.apache.spark.sql.parquet.row.metadata"

// jsonField is a field in the JSON form of a schema.
type jsonField struct {
	Name     string         `json:"name"`
	Type     any            `json:"type"`
	Nullable bool           `json:"nullable"`
	Metadata map[string]any `json:"metadata"`
}

// SchemaJSON is a schema in the JSON form that Spark keeps schemas in.
func SchemaJSON(s *columnar.Schema) (string, error) {
	text, err := json.Marshal(typeJSON(s.Struct()))
	return string(text), err
}

func typeJSON(t *columnar.Type) any {
	if t.Declared != "" {
		return declaredJSON(t.Declared)
	}
	switch t.Kind {
	case columnar.KindString:
		return "string" // the collation is in the field's metadata
	case columnar.KindInt8:
		return "byte"
	case columnar.KindInt16:
		return "short"
	case columnar.KindInt32:
		return "integer"
	case columnar.KindInt64:
		return "long"
	case columnar.KindArray:
		return struct {
			Type         string `json:"type"`
			ElementType  any    `json:"elementType"`
			ContainsNull bool   `json:"containsNull"`
		}{"array", typeJSON(t.Elem), t.ElemNullable}
	case columnar.KindMap:
		return struct {
			Type              string `json:"type"`
			KeyType           any    `json:"keyType"`
			ValueType         any    `json:"valueType"`
			ValueContainsNull bool   `json:"valueContainsNull"`
		}{"map", typeJSON(t.Key), typeJSON(t.Elem), t.ElemNullable}
	case columnar.KindStruct:
		fields := make([]jsonField, len(t.Fields))
		for i, f := range t.Fields {
			meta := map[string]any{}
			if f.Comment != "" || f.Commented {
				meta["comment"] = f.Comment
			}
			if c := collations(nil, f.Name, f.Type); c != nil {
				meta[collationsKey] = c
			}
			fields[i] = jsonField{f.Name, typeJSON(f.Type), f.Nullable, meta}
		}
		return struct {
			Type   string      `json:"type"`
			Fields []jsonField `json:"fields"`
		}{"struct", fields}
	}
	return t.String()
}

// collationsKey is where a field's metadata keep the collations of the strings in it.
const collationsKey = "__COLLATIONS"

// collations adds the collations of a type under the path of their string, "a.element" for the elements of "a". Those of
// a struct are with its own fields.
func collations(found map[string]string, path string, t *columnar.Type) map[string]string {
	switch t.Kind {
	case columnar.KindString:
		if t.Collation == "" {
			break
		}
		if found == nil {
			found = map[string]string{}
		}
		provider := "icu."
		if strings.HasPrefix(t.Collation, "UTF8_") {
			provider = "spark."
		}
		found[path] = provider + t.Collation
	case columnar.KindArray:
		found = collations(found, path+".element", t.Elem)
	case columnar.KindMap:
		found = collations(collations(found, path+".key", t.Key), path+".value", t.Elem)
	}
	return found
}

// declaredJSON is the name in JSON of a type that is declared as CHAR, VARCHAR, GEOMETRY or GEOGRAPHY.
func declaredJSON(declared string) string {
	name, collation, collated := strings.Cut(declared, " COLLATE ")
	lower := strings.ToLower(name)
	if collated && lower == "string" {
		return lower + " collate " + collation
	}
	kind, id, _ := strings.Cut(strings.TrimSuffix(lower, ")"), "(")
	if kind != "geometry" && kind != "geography" {
		return lower
	}
	switch id {
	case "4326":
		id = "OGC:CRS84"
	case "any", "0":
		id = "SRID:" + strings.ToUpper(id)
	default:
		id = "EPSG:" + id
	}
	if kind == "geography" {
		id += ", SPHERICAL"
	}
	return kind + "(" + id + ")"
}

// ParseSchemaJSON reads what SchemaJSON and Spark write.
func ParseSchemaJSON(text string) (*columnar.Schema, error) {
	t, err := parseTypeJSON(json.RawMessage(text), 0)
	if err != nil {
		return nil, err
	}
	if t.Kind != columnar.KindStruct {
		return nil, fmt.Errorf("a schema in JSON is a struct, not %s", t)
	}
	return &columnar.Schema{Fields: t.Fields}, nil
}

const maxSchemaDepth = 500

func parseTypeJSON(text json.RawMessage, depth int) (*columnar.Type, error) {
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("a schema of more than %d levels", maxSchemaDepth)
	}
	var name string
	if json.Unmarshal(text, &name) == nil {
		switch name {
		case "byte":
			return columnar.Int8, nil
		case "short":
			return columnar.Int16, nil
		case "integer":
			return columnar.Int32, nil
		case "long":
			return columnar.Int64, nil
		case "null", "void":
			return columnar.Null, nil
		}
		if strings.HasPrefix(name, "varchar(") || strings.HasPrefix(name, "char(") {
			return columnar.String, nil
		}
		return columnar.ParseType(name)
	}
	var t struct {
		Type              string          `json:"type"`
		ElementType       json.RawMessage `json:"elementType"`
		ContainsNull      bool            `json:"containsNull"`
		KeyType           json.RawMessage `json:"keyType"`
		ValueType         json.RawMessage `json:"valueType"`
		ValueContainsNull bool            `json:"valueContainsNull"`
		SQLType           json.RawMessage `json:"sqlType"`
		Fields            []struct {
			Name     string          `json:"name"`
			Type     json.RawMessage `json:"type"`
			Nullable bool            `json:"nullable"`
			Metadata map[string]any  `json:"metadata"`
		} `json:"fields"`
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("schema in JSON: %w", err)
	}
	switch t.Type {
	case "array":
		elem, err := parseTypeJSON(t.ElementType, depth+1)
		if err != nil {
			return nil, err
		}
		return columnar.ArrayOf(elem, t.ContainsNull), nil
	case "map":
		key, err := parseTypeJSON(t.KeyType, depth+1)
		if err != nil {
			return nil, err
		}
		value, err := parseTypeJSON(t.ValueType, depth+1)
		if err != nil {
			return nil, err
		}
		return columnar.MapOf(key, value, t.ValueContainsNull), nil
	case "struct":
		fields := make([]columnar.Field, len(t.Fields))
		for i, f := range t.Fields {
			ft, err := parseTypeJSON(f.Type, depth+1)
			if err != nil {
				return nil, fmt.Errorf("field %q: %w", f.Name, err)
			}
			comment, _ := f.Metadata["comment"].(string)
			fields[i] = columnar.Field{Name: f.Name, Type: ft, Nullable: f.Nullable, Comment: comment}
		}
		return columnar.StructOf(fields...), nil
	case "udt":
		return parseTypeJSON(t.SQLType, depth+1)
	}
	return nil, fmt.Errorf("type %.100q in a schema is unknown", text)
}
