package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/csvfmt"
)

// csvFunctions are the functions of CSV texts.
func csvFunctions() []*Function {
	const family = "csv"
	f := func(name, signature, doc, example string, bind func(b *Binder, args []Expr) (Expr, error)) *Function {
		return &Function{Name: name, Family: family, Signature: signature, Doc: doc, Example: example, Bind: bind}
	}
	return []*Function{
		f("from_csv", "from_csv(csv, schema[, options])", "The CSV record as a struct of a schema in DDL; options as map(…).", "SELECT from_csv('1,x', 'a INT, b STRING') → {1, x}", bindFromCSV),
		f("to_csv", "to_csv(struct[, options])", "A struct as a CSV record.", "SELECT to_csv(struct(1, 'x')) → 1,x", bindToCSV),
		f("schema_of_csv", "schema_of_csv(csv[, options])", "The schema of a constant CSV record in DDL.", "SELECT schema_of_csv('1,x') → STRUCT<_c0: INT, _c1: STRING>", bindSchemaOfCSV),
	}
}

// csvOptions reads the options of a CSV function.
func (b *Binder) csvOptions(args []Expr, at int) (csvfmt.Options, error) {
	var options map[string]string
	if len(args) > at {
		var err error
		if options, err = b.optionsArgument(args[at]); err != nil {
			return csvfmt.Options{}, err
		}
	}
	return csvfmt.ParseOptions(options, javaZone(b.zone()).ID())
}

func bindFromCSV(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	t, err := b.schemaArgument(args[1])
	if err != nil {
		return nil, err
	}
	opts, err := b.csvOptions(args, 2)
	if err != nil {
		return nil, err
	}
	in, err := b.expectAs(sqlCall(b.name(), args[:1]), args[:1], isString)
	if err != nil {
		return nil, err
	}
	t = asNullable(t)
	pool := &decoders[*csvfmt.Decoder]{make: func() (*csvfmt.Decoder, error) { return csvfmt.NewColumn(t, opts) }}
	if err := pool.check(); err != nil {
		return nil, err
	}
	e := simple(b.name(), in, t, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		d, err := pool.get()
		if err != nil {
			return nil, err
		}
		c, _, err := d.DecodeColumn(a[0].Column)
		if err != nil {
			return nil, err
		}
		pool.put(d)
		return vec{c, a[0].con}.full(n), nil
	})
	e.null, e.nullFn = true, nil
	return e, nil
}

func bindToCSV(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	opts, err := b.csvOptions(args, 1)
	if err != nil {
		return nil, err
	}
	t := args[0].Type()
	if t.Kind != columnar.KindStruct || hasVariant(t) {
		return nil, mismatch("UNSUPPORTED_INPUT_TYPE", sqlCall(b.name(), args[:1]), "the input of `%s` can't be \"%s\" type data", b.name(), t.SQL())
	}
	schema := columnar.NewSchema(t.Fields...)
	pool := &decoders[*csvfmt.Writer]{make: func() (*csvfmt.Writer, error) { return csvfmt.NewWriter(schema, opts, true) }}
	if err := pool.check(); err != nil {
		return nil, err
	}
	e := simple(b.name(), args[:1:1], columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		out, err := pool.get()
		if err != nil {
			return nil, err
		}
		defer pool.put(out)
		fields := a[0].Children
		return rows(columnar.String, a, n, func(w *columnar.Builder, i int) error {
			w.FinishScratch(out.AppendFields(w.Scratch(), fields, a[0].row(i)))
			return nil
		})
	})
	e.null, e.nullFn = true, nil
	return e, nil
}

func bindSchemaOfCSV(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	opts, err := b.csvOptions(args, 1)
	if err != nil {
		return nil, err
	}
	text, err := b.constantText(args, "csv")
	if err != nil {
		return nil, err
	}
	return simple(b.name(), []Expr{text}, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		s, err := csvfmt.SchemaOf(str(a[0], 0), opts)
		if err != nil {
			return nil, err
		}
		return columnar.Repeat(columnar.String, s.Struct().SQL(), n), nil
	}), nil
}
