package avrofmt

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// kind is an Avro type without its parameters.
type kind uint8

const (
	kindNull kind = iota
	kindBoolean
	kindInt
	kindLong
	kindFloat
	kindDouble
	kindBytes
	kindString
	kindFixed
	kindEnum
	kindArray
	kindMap
	kindRecord
	kindUnion
)

// node is a type of a file's schema, and what its values become.
type node struct {
	kind    kind
	logical string
	size    int      // of a fixed
	symbols []string // of an enum
	names   []string // of a record's fields
	kids    []*node  // fields, branches, or the element or value
	typ     *columnar.Type
	null    bool // the value may be null
	count   int  // types within, a named one as often as it is used
	branch  int  // of a union of null and one type: the index of the type; -1 for other unions
}

var primitives = map[string]kind{
	"null": kindNull, "boolean": kindBoolean, "int": kindInt, "long": kindLong, "float": kindFloat, "double": kindDouble, "bytes": kindBytes, "string": kindString,
}

const maxDepth = 200

// parser reads a schema; types may be named and used again, but not within themselves.
type parser struct {
	named map[string]*node
	open  map[string]bool
}

func parseSchema(text []byte) (*node, error) {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("Avro schema: %w", err)
	}
	p := &parser{named: map[string]*node{}, open: map[string]bool{}}
	return p.parse(v, "", 0)
}

func fullName(name, space string) string {
	for i := range name {
		if name[i] == '.' {
			return name
		}
	}
	if space == "" {
		return name
	}
	return space + "." + name
}

func (p *parser) parse(v any, space string, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("an Avro schema of more than %d levels", maxDepth)
	}
	switch v := v.(type) {
	case string:
		if k, ok := primitives[v]; ok {
			n := &node{kind: k}
			return n, n.convert(nil)
		}
		name := fullName(v, space)
		if p.open[name] {
			return nil, sparkerr.New("RECURSIVE_AVRO_SCHEMA", "The Avro type %q contains itself, which no column can.", name)
		}
		if n, ok := p.named[name]; ok {
			return n, nil
		}
		if n, ok := p.named[v]; ok {
			return n, nil
		}
		return nil, fmt.Errorf("Avro type %q is unknown", v)
	case []any:
		n := &node{kind: kindUnion}
		for _, b := range v {
			kid, err := p.parse(b, space, depth+1)
			if err != nil {
				return nil, err
			}
			n.kids = append(n.kids, kid)
		}
		return n, n.union()
	case map[string]any:
		return p.object(v, space, depth)
	}
	return nil, fmt.Errorf("%v is no Avro type", v)
}

func (p *parser) object(v map[string]any, space string, depth int) (*node, error) {
	name, isText := v["type"].(string)
	if !isText {
		return p.parse(v["type"], space, depth+1)
	}
	n := &node{}
	n.logical, _ = v["logicalType"].(string)
	switch name {
	case "record", "error", "enum", "fixed":
	case "array", "map":
		n.kind = kindArray
		key := "items"
		if name == "map" {
			n.kind, key = kindMap, "values"
		}
		kid, err := p.parse(v[key], space, depth+1)
		if err != nil {
			return nil, err
		}
		n.kids = []*node{kid}
		return n, n.convert(v)
	default:
		k, ok := primitives[name]
		if !ok {
			return p.parse(name, space, depth+1)
		}
		n.kind = k
		return n, n.convert(v)
	}
	short, _ := v["name"].(string)
	if s, ok := v["namespace"].(string); ok {
		space = s
	}
	full := fullName(short, space)
	p.named[full] = n
	switch name {
	case "enum":
		n.kind = kindEnum
		symbols, _ := v["symbols"].([]any)
		for _, s := range symbols {
			n.symbols = append(n.symbols, fmt.Sprint(s))
		}
	case "fixed":
		n.kind = kindFixed
		size, ok := v["size"].(float64)
		if !ok || size < 0 || size > 1<<30 {
			return nil, fmt.Errorf("Avro type %q: a fixed of %v bytes", full, v["size"])
		}
		n.size = int(size)
	default:
		n.kind = kindRecord
		p.open[full] = true
		fields, _ := v["fields"].([]any)
		for _, f := range fields {
			m, ok := f.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("Avro type %q: %v is no field", full, f)
			}
			fieldName, _ := m["name"].(string)
			kid, err := p.parse(m["type"], space, depth+1)
			if err != nil {
				return nil, fmt.Errorf("field %q: %w", fieldName, err)
			}
			n.names, n.kids = append(n.names, fieldName), append(n.kids, kid)
		}
		delete(p.open, full)
	}
	return n, n.convert(v)
}

// convert finds the type of a node that is no union; attributes are the members of its JSON object.
func (n *node) convert(attributes map[string]any) error {
	if err := n.weigh(); err != nil {
		return err
	}
	number := func(key string, or int) int {
		if f, ok := attributes[key].(float64); ok {
			return int(f)
		}
		return or
	}
	if n.logical == "decimal" && (n.kind == kindBytes || n.kind == kindFixed) {
		p, s := number("precision", 0), number("scale", 0)
		if p >= 1 && p <= 38 && s >= 0 && s <= p && n.size <= 16 {
			n.typ = columnar.Decimal(p, s)
			return nil
		}
	}
	switch n.kind {
	case kindNull:
		n.typ, n.null = columnar.Null, true
	case kindBoolean:
		n.typ = columnar.Bool
	case kindInt:
		switch n.logical {
		case "date":
			n.typ = columnar.Date
		case "time-millis":
			n.typ = columnar.Time
		default:
			n.logical, n.typ = "", columnar.Int32
		}
		if name, ok := attributes["spark.sql.catalyst.type"].(string); ok {
			n.interval(name)
		}
	case kindLong:
		switch n.logical {
		case "timestamp-millis", "timestamp-micros":
			n.typ = columnar.Timestamp
		case "local-timestamp-millis", "local-timestamp-micros":
			n.typ = columnar.TimestampNTZ
		case "time-micros":
			n.typ = columnar.Time
		default:
			n.logical, n.typ = "", columnar.Int64
		}
		if name, ok := attributes["spark.sql.catalyst.type"].(string); ok {
			n.interval(name)
		}
	case kindFloat:
		n.typ = columnar.Float32
	case kindDouble:
		n.typ = columnar.Float64
	case kindString, kindEnum:
		n.typ = columnar.String
	case kindBytes, kindFixed:
		n.typ = columnar.Binary
	case kindArray:
		n.typ = columnar.ArrayOf(n.kids[0].typ, n.kids[0].null)
	case kindMap:
		n.typ = columnar.MapOf(columnar.String, n.kids[0].typ, n.kids[0].null)
	case kindRecord:
		fields := make([]columnar.Field, len(n.kids))
		for i, k := range n.kids {
			fields[i] = columnar.Field{Name: n.names[i], Type: k.typ, Nullable: k.null}
		}
		n.typ = columnar.StructOf(fields...)
	}
	return nil
}

// maxTypes bounds the types of a schema once the named ones are put in place of their names.
const maxTypes = 20_000

// weigh counts the types within a node, which named types can make many of a short text.
func (n *node) weigh() error {
	n.count = 1
	for _, k := range n.kids {
		n.count += k.count
	}
	if n.count > maxTypes {
		return fmt.Errorf("an Avro schema of more than %d types", maxTypes)
	}
	return nil
}

// interval takes a number for an interval where Spark's own mark says so.
func (n *node) interval(name string) {
	t, err := columnar.ParseType(name)
	if err == nil && (t.Kind == columnar.KindYearMonth && n.kind == kindInt || t.Kind == columnar.KindDayTime && n.kind == kindLong) {
		n.typ = t
	}
}

// union finds the type of a union.
func (n *node) union() error {
	if err := n.weigh(); err != nil {
		return err
	}
	var some []int
	for i, k := range n.kids {
		if k.kind == kindNull {
			n.null = true
		} else {
			some = append(some, i)
		}
	}
	n.branch = -1
	switch {
	case len(some) == 0:
		n.typ = columnar.Null
		return nil
	case len(some) == 1:
		n.branch, n.typ = some[0], n.kids[some[0]].typ
		return nil
	case len(some) == 2:
		a, b := n.kids[some[0]], n.kids[some[1]]
		plain := a.logical == "" && b.logical == ""
		switch {
		case plain && (a.kind == kindInt && b.kind == kindLong || a.kind == kindLong && b.kind == kindInt):
			n.typ = columnar.Int64
			return nil
		case plain && (a.kind == kindFloat && b.kind == kindDouble || a.kind == kindDouble && b.kind == kindFloat):
			n.typ = columnar.Float64
			return nil
		}
	}
	var fields []columnar.Field
	for i, k := range some {
		fields = append(fields, columnar.Field{Name: "member" + strconv.Itoa(i), Type: n.kids[k].typ, Nullable: true})
	}
	n.typ = columnar.StructOf(fields...)
	return nil
}

// schemaJSON is the Avro schema that Spark writes for a schema.
func schemaJSON(s *columnar.Schema) (string, error) {
	v, err := typeJSON(s.Struct(), "topLevelRecord", "")
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(v)
	return string(text), err
}

func nullableJSON(t *columnar.Type, nullable bool, name, space string) (any, error) {
	v, err := typeJSON(t, name, space)
	if err != nil || !nullable || t.Kind == columnar.KindNull {
		return v, err
	}
	return []any{v, "null"}, nil
}

// member is an entry of an ordered JSON object.
type member struct {
	key   string
	value any
}

type object []member

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		v, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out = append(append(strconv.AppendQuote(out, m.key), ':'), v...)
	}
	return append(out, '}'), nil
}

func typeJSON(t *columnar.Type, name, space string) (any, error) {
	logical := func(base, l string) any { return object{{"type", base}, {"logicalType", l}} }
	switch t.Kind {
	case columnar.KindNull:
		return "null", nil
	case columnar.KindBool:
		return "boolean", nil
	case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32:
		return "int", nil
	case columnar.KindInt64:
		return "long", nil
	case columnar.KindFloat32:
		return "float", nil
	case columnar.KindFloat64:
		return "double", nil
	case columnar.KindString, columnar.KindVariant:
		return "string", nil
	case columnar.KindBinary:
		return "bytes", nil
	case columnar.KindDate:
		return logical("int", "date"), nil
	case columnar.KindTimestamp:
		return logical("long", "timestamp-micros"), nil
	case columnar.KindTimestampNTZ:
		return logical("long", "local-timestamp-micros"), nil
	case columnar.KindTime:
		return logical("long", "time-micros"), nil
	case columnar.KindYearMonth:
		return object{{"type", "int"}, {"spark.sql.catalyst.type", t.String()}}, nil
	case columnar.KindDayTime:
		return object{{"type", "long"}, {"spark.sql.catalyst.type", t.String()}}, nil
	case columnar.KindDecimal:
		full := fullName(name, space) + ".fixed"
		return object{
			{"type", "fixed"},
			{"name", "fixed"},
			{"namespace", full[:len(full)-len(".fixed")]},
			{"size", decimalBytes(t.Precision)},
			{"logicalType", "decimal"},
			{"precision", t.Precision},
			{"scale", t.Scale},
		}, nil
	case columnar.KindArray:
		v, err := nullableJSON(t.Elem, t.ElemNullable, name, space)
		return object{{"type", "array"}, {"items", v}}, err
	case columnar.KindMap:
		if t.Key.Kind != columnar.KindString {
			return nil, unsupported(name, t)
		}
		v, err := nullableJSON(t.Elem, t.ElemNullable, name, space)
		return object{{"type", "map"}, {"values", v}}, err
	case columnar.KindStruct:
		inside := fullName(name, space)
		fields := []any{}
		for _, f := range t.Fields {
			v, err := nullableJSON(f.Type, f.Nullable, f.Name, inside)
			if err != nil {
				return nil, err
			}
			fields = append(fields, object{{"name", f.Name}, {"type", v}})
		}
		o := object{{"type", "record"}, {"name", name}}
		if space != "" {
			o = append(o, member{"namespace", space})
		}
		return append(o, member{"fields", fields}), nil
	}
	return nil, unsupported(name, t)
}

func unsupported(name string, t *columnar.Type) error {
	return sparkerr.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "The Avro datasource doesn't support the column %s of the type %q.",
		columnar.QuoteIdentifier(name), t.SQL())
}

// decimalBytes is the least number of bytes that holds every unscaled value of a precision.
func decimalBytes(precision int) int {
	return [...]int{
		0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 6, 7, 7, 8, 8, 9, 9, 9, 10, 10, 11, 11, 11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16, 16,
	}[precision]
}
