package columnar

import (
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// AsNullable is the schema with nulls allowed everywhere, nested fields included: what a reader of files makes of a
// declared schema, as no file keeps a promise of NOT NULL.
func (s *Schema) AsNullable() *Schema {
	if s == nil {
		return nil
	}
	return &Schema{Fields: nullableFields(s.Fields)}
}

func nullableFields(fields []Field) []Field {
	out := make([]Field, len(fields))
	for i, f := range fields {
		f.Nullable, f.Type = true, f.Type.asNullable()
		out[i] = f
	}
	return out
}

func (t *Type) asNullable() *Type {
	switch t.Kind {
	case KindArray:
		return ArrayOf(t.Elem.asNullable(), true)
	case KindMap:
		return MapOf(t.Key.asNullable(), t.Elem.asNullable(), true)
	case KindStruct:
		out := *t
		out.Fields = nullableFields(t.Fields)
		return &out
	}
	return t
}

// CheckNames refuses two columns, or two fields of a struct, whose names differ in case at most.
func (s *Schema) CheckNames() error {
	if s == nil {
		return nil
	}
	return checkNames(s.Fields)
}

func checkNames(fields []Field) error {
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		key := strings.ToLower(f.Name)
		if seen[key] {
			return sparkerr.New("COLUMN_ALREADY_EXISTS", "The column %s already exists. Choose another name or rename the existing column.", QuoteIdentifier(key))
		}
		seen[key] = true
	}
	for _, f := range fields {
		for t := range structsOf(f.Type) {
			if err := checkNames(t.Fields); err != nil {
				return err
			}
		}
	}
	return nil
}

// structsOf yields the outermost structs of a type.
func structsOf(t *Type) func(yield func(*Type) bool) {
	return func(yield func(*Type) bool) {
		switch t.Kind {
		case KindStruct:
			yield(t)
		case KindArray:
			structsOf(t.Elem)(yield)
		case KindMap:
			more := true
			structsOf(t.Key)(func(k *Type) bool { more = yield(k); return more })
			if more {
				structsOf(t.Elem)(yield)
			}
		}
	}
}
