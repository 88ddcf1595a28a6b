package expr

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/jsonfmt"
)

// variantType is the type of a variant's value; the members of an object are a struct's fields in their order.
func variantType(text []byte) *columnar.Type {
	switch jsonFirst(text) {
	case '{':
		var fields []columnar.Field
		jsonParts(text, func(name, value []byte) bool {
			fields = append(fields, columnar.Field{Name: jsonString(name), Type: variantType(value), Nullable: true})
			return true
		})
		return columnar.StructOf(fields...)
	case '[':
		elem := columnar.Null
		jsonParts(text, func(_, value []byte) bool {
			elem = mergeVariantTypes(elem, variantType(value))
			return true
		})
		return columnar.ArrayOf(elem, true)
	case '"':
		return columnar.String
	case 't', 'f':
		return columnar.Bool
	case 'n':
		return columnar.Null
	}
	s := strings.TrimSpace(string(text))
	// A DECIMAL has no zeros at its end, a DOUBLE always has a fraction.
	if strings.ContainsAny(s, "eE") || strings.HasSuffix(s, ".0") {
		return columnar.Float64
	}
	c := numberColumn(s)
	if c.Type.Kind != columnar.KindDecimal {
		return c.Type
	}
	whole, frac, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	digits := len(strings.TrimLeft(whole+frac, "0"))
	return columnar.Decimal(max(digits, len(frac), 1), len(frac))
}

// mergeVariantTypes is the narrowest type of values of two types, VARIANT when they have nothing in common.
func mergeVariantTypes(a, b *columnar.Type) *columnar.Type {
	return jsonfmt.MergeTypes(a, b, columnar.Variant)
}

// variantSchema writes a variant's type as Spark does: in SQL, but with OBJECT for its objects.
func variantSchema(dst *strings.Builder, t *columnar.Type) {
	switch t.Kind {
	case columnar.KindStruct:
		dst.WriteString("OBJECT<")
		for i, f := range t.Fields {
			if i > 0 {
				dst.WriteString(", ")
			}
			dst.WriteString(columnar.QuoteIdentifier(f.Name))
			dst.WriteString(": ")
			variantSchema(dst, f.Type)
		}
		dst.WriteByte('>')
	case columnar.KindArray:
		dst.WriteString("ARRAY<")
		variantSchema(dst, t.Elem)
		dst.WriteByte('>')
	default:
		dst.WriteString(t.SQL())
	}
}

// variantSchemaText is variantSchema as a string.
func variantSchemaText(t *columnar.Type) string {
	var s strings.Builder
	variantSchema(&s, t)
	return s.String()
}

// bindSchemaOfVariantAgg binds schema_of_variant_agg.
func bindSchemaOfVariantAgg(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	in, err := b.expect(args, isVariant)
	if err != nil {
		return nil, err
	}
	return b.aggregate(in, columnar.String, false, []columnar.Field{field("schema", columnar.String, false)},
		func(*Context) Accumulator { return &variantSchemaAcc{} }), nil
}

// variantSchemaAcc is the type that all values of each group have in common.
type variantSchemaAcc struct{ types []*columnar.Type }

func (a *variantSchemaAcc) Grow(n int) { a.types = growTo(a.types, n) }

func (a *variantSchemaAcc) add(g uint32, t *columnar.Type) {
	if a.types[g] != nil {
		t = mergeVariantTypes(a.types[g], t)
	}
	a.types[g] = t
}

func (a *variantSchemaAcc) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	for i, g := range group {
		if !c.IsNull(i) {
			a.add(g, variantType(c.BytesAt(i)))
		}
	}
	return nil
}

func (a *variantSchemaAcc) Merge(group []uint32, state []*columnar.Column) error {
	for i, g := range group {
		t, err := columnar.ParseType(state[0].StringAt(i))
		if err != nil {
			return err
		}
		a.add(g, t)
	}
	return nil
}

func (a *variantSchemaAcc) texts(write func(t *columnar.Type) string) *columnar.Column {
	out := make([]string, len(a.types))
	for i, t := range a.types {
		if t == nil {
			t = columnar.Null
		}
		out[i] = write(t)
	}
	return columnar.NewStrings(out)
}

func (a *variantSchemaAcc) State() ([]*columnar.Column, error) {
	return []*columnar.Column{a.texts((*columnar.Type).SQL)}, nil
}

func (a *variantSchemaAcc) Result() (*columnar.Column, error) { return a.texts(variantSchemaText), nil }

func (a *variantSchemaAcc) Reset() { a.types = resetSlice(a.types) }
