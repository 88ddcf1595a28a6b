package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/jsonfmt"
	"github.com/wstream/wstream/columnar/jsonfmt/jsontoken"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// variantFunctions are the functions of variants.
func variantFunctions() []*Function {
	const family = "variant"
	f := func(name, signature, doc, example string, bind func(b *Binder, args []Expr) (Expr, error)) *Function {
		return &Function{Name: name, Family: family, Signature: signature, Doc: doc, Example: example, Bind: bind}
	}
	return []*Function{
		f("parse_json", "parse_json(json)", "The JSON text as a variant.", `SELECT parse_json('{"a":1}') → {"a":1}`, bindParseJSON(false)),
		f("try_parse_json", "try_parse_json(json)", "As parse_json, but NULL of what is no JSON.", "SELECT try_parse_json('{') → NULL", bindParseJSON(true)),
		f("variant_get", "variant_get(v, path[, type])", "The value at a path of a variant, as a variant or cast to a type.", `SELECT variant_get(parse_json('{"a":1}'), '$.a', 'int') → 1`, bindVariantGet(false)),
		f("try_variant_get", "try_variant_get(v, path[, type])", "As variant_get, but NULL where the cast fails.", `SELECT try_variant_get(parse_json('{"a":"x"}'), '$.a', 'int') → NULL`, bindVariantGet(true)),
		f("semi_structured_extract", "v:path", "The value at a path of a variant, as a variant.", `SELECT parse_json('{"a":1}'):a → 1`, bindSemiStructured),
		f("is_valid_variant", "is_valid_variant(v)", "Whether a variant is one that can be read, as each is here; NULL for NULL.", "SELECT is_valid_variant(parse_json('1')) → true", typed{specs: []spec{isVariant}, out: columnar.Bool, row: func(_ *Context, w *columnar.Builder, _ []vec, _ int) error {
			w.AppendBool(true)
			return nil
		}}.bind),
		f("is_variant_null", "is_variant_null(v)", "Whether a variant holds the null of JSON; false for NULL.", "SELECT is_variant_null(parse_json('null')) → true", bindIsVariantNull),
		f("schema_of_variant", "schema_of_variant(v)", "The schema of a variant.", `SELECT schema_of_variant(parse_json('{"a":1}')) → OBJECT<a: BIGINT>`, bindSchemaOfVariant),
		{Name: "schema_of_variant_agg", Family: "aggregate", Signature: "schema_of_variant_agg(v)", Doc: "The schema that all variants have in common.", Example: "SELECT schema_of_variant_agg(parse_json(j)) FROM VALUES ('1'), ('2') t(j) → BIGINT", Bind: bindSchemaOfVariantAgg},
		f("to_variant_object", "to_variant_object(expr)", "A struct, map or array as a variant.", `SELECT to_variant_object(struct(1 AS a)) → {"a":1}`, bindToVariantObject),
		f("variant_explode", "variant_explode(v)", "Generates a row pos, key, value for each element or member of a variant.", "SELECT * FROM variant_explode(parse_json('[1]')) → 0, NULL, 1", bindVariantExplode(false)),
		f("variant_explode_outer", "variant_explode_outer(v)", "As variant_explode, but a row of NULL for a variant without elements and members.", "SELECT * FROM variant_explode_outer(parse_json('1')) → NULL, NULL, NULL", bindVariantExplode(true)),
	}
}

func bindParseJSON(try bool) func(b *Binder, args []Expr) (Expr, error) {
	// Variants are read from strict JSON.
	d := jsontoken.DefaultFeatures()
	opts := jsonfmt.Options{Features: jsontoken.Features{MaxDepth: d.MaxDepth, MaxNumberLen: d.MaxNumberLen}}
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		in, err := b.expect(args, isString)
		if err != nil {
			return nil, err
		}
		e := simple(b.name(), in, columnar.Variant, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			r := jsonfmt.NewVariantReader(opts)
			return rows(columnar.Variant, a, n, func(w *columnar.Builder, i int) error {
				out, err := r.Append(w.Scratch(), raw(a[0], i))
				switch {
				case err == nil:
					w.FinishScratch(out)
				case try:
					w.AppendNull()
				case sparkerr.Condition(err) == "", sparkerr.Condition(err) == "VARIANT_DUPLICATE_KEY":
					return sparkerr.New("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "malformed records are detected in record parsing: %.200q; use `try_parse_json` to get NULL instead", str(a[0], i)).WithCause(err)
				default:
					return err
				}
				return nil
			})
		})
		if try {
			e.null, e.nullFn = true, nil
		}
		return e, nil
	}
}

// variantTarget tells whether a type can be made of a variant, and with nested false or true also
// whether scalars and arrays of them, or all, can become one.
func variantTarget(t *columnar.Type, nested bool) bool {
	switch t.Kind {
	case columnar.KindArray:
		return variantTarget(t.Elem, nested)
	case columnar.KindMap:
		return nested && t.Key.Kind == columnar.KindString && variantTarget(t.Elem, nested)
	case columnar.KindStruct:
		if !nested {
			return false
		}
		for _, f := range t.Fields {
			if !variantTarget(f.Type, nested) {
				return false
			}
		}
		return true
	case columnar.KindNull, columnar.KindYearMonth, columnar.KindDayTime, columnar.KindCalendar:
		return false
	}
	return true
}

func castWithoutSuggestion(sql string, from, to *columnar.Type) error {
	return mismatch("CAST_WITHOUT_SUGGESTION", sql, "cannot cast \"%s\" to \"%s\"", from.SQL(), to.SQL())
}

func bindVariantGet(try bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 2, 3); err != nil {
			return nil, err
		}
		t := columnar.Variant
		if len(args) == 3 {
			var err error
			if t, err = b.typeArgument(args[2]); err != nil {
				return nil, err
			}
			t = asNullable(t)
		}
		sql := sqlCall(b.name(), args[:2])
		in, err := b.expectAs(sql, args[:2], isVariant, isString)
		if err != nil {
			return nil, err
		}
		if !variantTarget(t, true) {
			return nil, castWithoutSuggestion(sql, columnar.Variant, t)
		}
		return variantGet(b, in, t, try), nil
	}
}

// variantGet is the value of args[0] at the path args[1] as type t.
func variantGet(b *Binder, args []Expr, t *columnar.Type, try bool) *call {
	name := b.name()
	mode := CastANSI
	if try {
		mode = CastTry
	}
	e := simple(name, args, t, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
		var steps []variantStep
		var last string
		parsed := false
		parts, err := rows(columnar.Variant, a, n, func(w *columnar.Builder, i int) error {
			if p := str(a[1], i); !parsed || p != last {
				var ok bool
				if steps, ok = parseVariantPath(p); !ok {
					return sparkerr.New("INVALID_VARIANT_GET_PATH", "the path `%s` is not a valid variant extraction path in `%s`", p, name)
				}
				last, parsed = p, true
			}
			if v := variantAt(raw(a[0], i), steps); v != nil {
				w.AppendBytes(v)
			} else {
				w.AppendNull()
			}
			return nil
		})
		if err != nil || t.Kind == columnar.KindVariant {
			return parts, err
		}
		k := &caster{mode: mode, zone: ctx.zone()}
		return k.fromVariant(parts, t)
	})
	e.null, e.nullFn = true, nil
	return e
}

// bindSemiStructured binds the operator v:path.
func bindSemiStructured(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	if args[0].Type().Kind != columnar.KindVariant {
		return nil, sparkerr.New("COLUMN_IS_NOT_VARIANT_TYPE", "required a column of type VARIANT for the `:` operator, but got \"%s\" of type \"%s\"", args[0].SQL(), args[0].Type().SQL())
	}
	return variantGet(b, args, columnar.Variant, false), nil
}

func bindIsVariantNull(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	in, err := b.expect(args, isVariant)
	if err != nil {
		return nil, err
	}
	return &call{name: b.name(), args: in, typ: columnar.Bool, nulls: true, kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		out := columnar.NewBitmap(n)
		for i := 0; i < n; i++ {
			if !a[0].null(i) && jsonFirst(raw(a[0], i)) == 'n' {
				out.Set(i)
			}
		}
		return columnar.NewBools(n, out, nil), nil
	}}, nil
}

func bindSchemaOfVariant(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	in, err := b.expect(args, isVariant)
	if err != nil {
		return nil, err
	}
	return simple(b.name(), in, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(columnar.String, a, n, func(w *columnar.Builder, i int) error {
			w.AppendString(variantSchemaText(variantType(raw(a[0], i))))
			return nil
		})
	}), nil
}

func bindToVariantObject(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	t := args[0].Type()
	if !t.IsNested() || !variantTarget(t, true) {
		return nil, castWithoutSuggestion(b.sql(args), t, columnar.Variant)
	}
	return simple(b.name(), args, columnar.Variant, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
		return toVariant(a[0], n, ctx.zone())
	}), nil
}

// toVariant makes variants of values of any type that variantTarget takes.
func toVariant(v vec, n int, zone *javatext.Zone) (*columnar.Column, error) {
	return rows(columnar.Variant, []vec{v}, n, func(w *columnar.Builder, i int) error {
		w.FinishScratch(appendVariant(w.Scratch(), v.Column, v.row(i), zone))
		return nil
	})
}

// bindVariantExplode binds variant_explode and its outer form.
func bindVariantExplode(outer bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		in, err := b.expect(args, isVariant)
		if err != nil {
			return nil, err
		}
		fields := []columnar.Field{field("pos", columnar.Int32, false), field("key", columnar.String, true), field("value", columnar.Variant, false)}
		return &generator{name: b.name(), args: in, cols: outerFields(fields, outer), outer: outer, run: func(_ *Context, a []vec, n int) ([]*columnar.Column, []int32, error) {
			pos, key, value := columnar.NewBuilder(columnar.Int32, n), columnar.NewBuilder(columnar.String, n), columnar.NewBuilder(columnar.Variant, n)
			var parent []int32
			for i := 0; i < n; i++ {
				if a[0].null(i) {
					continue
				}
				k := int64(0)
				jsonParts(raw(a[0], i), func(name, v []byte) bool {
					pos.AppendInt(k)
					if name == nil {
						key.AppendNull()
					} else {
						key.AppendString(jsonString(name))
					}
					value.AppendBytes(v)
					parent = append(parent, int32(i))
					k++
					return true
				})
			}
			return []*columnar.Column{pos.Finish(), key.Finish(), value.Finish()}, parent, nil
		}}, nil
	}
}
