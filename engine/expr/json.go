package expr

import (
	"sync"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/jsonfmt"
)

// jsonFunctions are the functions of JSON texts.
func jsonFunctions() []*Function {
	const family = "json"
	f := func(name, signature, doc, example string, bind func(b *Binder, args []Expr) (Expr, error)) *Function {
		return &Function{Name: name, Family: family, Signature: signature, Doc: doc, Example: example, Bind: bind}
	}
	return []*Function{
		f("get_json_object", "get_json_object(json, path)", "The value at a path of a JSON text, NULL where there is none.", `SELECT get_json_object('{"a":"b"}', '$.a') → b`, bindGetJSONObject),
		f("json_array_length", "json_array_length(json)", "The number of elements of a JSON array, NULL for anything else.", "SELECT json_array_length('[1,2]') → 2", bindJSONArrayLength),
		f("json_object_keys", "json_object_keys(json)", "The names of a JSON object, NULL for anything else.", `SELECT json_object_keys('{"a":1}') → [a]`, bindJSONObjectKeys),
		f("json_tuple", "json_tuple(json, name, …)", "Generates a row with a column c0, c1, … for each of the named fields of a JSON object.", `SELECT json_tuple('{"a":1}', 'a') → 1`, bindJSONTuple),
		f("from_json", "from_json(json, schema[, options])", "The JSON text as a value of a schema in DDL; options as map(…).", `SELECT from_json('{"a":1}', 'a INT') → {1}`, bindFromJSON),
		f("to_json", "to_json(expr[, options])", "A struct, array, map or variant as JSON text.", `SELECT to_json(struct(1 AS a)) → {"a":1}`, bindToJSON),
		f("schema_of_json", "schema_of_json(json[, options])", "The schema of a constant JSON text in DDL.", `SELECT schema_of_json('{"a":1}') → STRUCT<a: BIGINT>`, bindSchemaOfJSON),
	}
}

func bindGetJSONObject(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	in, err := b.expect(args, isString)
	if err != nil {
		return nil, err
	}
	e := simple(b.name(), in, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		x := jsonfmt.NewExtractor()
		var path *jsonfmt.Path
		var last string
		ok, compiled := false, false
		return rows(columnar.String, a, n, func(w *columnar.Builder, i int) error {
			if p := str(a[1], i); !compiled || p != last {
				path, ok = jsonfmt.CompilePath(p)
				last, compiled = p, true
			}
			if !ok {
				w.AppendNull()
				return nil
			}
			buf := w.Scratch()
			out, found := x.AppendPath(buf, raw(a[0], i), path)
			if !found {
				w.AppendNull()
				return nil
			}
			w.FinishScratch(out)
			return nil
		})
	})
	e.null, e.nullFn = true, nil
	return e, nil
}

func bindJSONArrayLength(b *Binder, args []Expr) (Expr, error) {
	return jsonExtract(b, args, columnar.Int32, func(x *jsonfmt.Extractor, w *columnar.Builder, doc []byte) {
		if k, ok := x.ArrayLength(doc); ok {
			w.AppendInt(int64(k))
		} else {
			w.AppendNull()
		}
	})
}

func bindJSONObjectKeys(b *Binder, args []Expr) (Expr, error) {
	return jsonExtract(b, args, columnar.ArrayOf(columnar.String, true), func(x *jsonfmt.Extractor, w *columnar.Builder, doc []byte) {
		keys, ok := x.ObjectKeys(doc)
		if !ok {
			w.AppendNull()
			return
		}
		for _, k := range keys {
			w.Child(0).AppendString(k)
		}
		w.AppendNested()
	})
}

// jsonExtract binds a function of one JSON text; f appends one row.
func jsonExtract(b *Binder, args []Expr, typ *columnar.Type, f func(x *jsonfmt.Extractor, w *columnar.Builder, doc []byte)) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	in, err := b.expect(args, isString)
	if err != nil {
		return nil, err
	}
	e := simple(b.name(), in, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		x := jsonfmt.NewExtractor()
		return rows(typ, a, n, func(w *columnar.Builder, i int) error {
			f(x, w, raw(a[0], i))
			return nil
		})
	})
	e.null, e.nullFn = true, nil
	return e, nil
}

// bindJSONTuple binds json_tuple, which gives one row for every input row.
func bindJSONTuple(b *Binder, args []Expr) (Expr, error) {
	if len(args) < 2 {
		return nil, b.wrongArgs("> 1", len(args))
	}
	cols := make([]columnar.Field, len(args)-1)
	for i, a := range args {
		if a.Type().Kind != columnar.KindString {
			return nil, mismatch("NON_STRING_TYPE", b.sql(args), "all arguments of the function `json_tuple` must be strings")
		}
		if i > 0 {
			cols[i-1] = field("c"+itoa(i-1), columnar.String, true)
		}
	}
	return &generator{name: b.name(), args: args, cols: cols, run: func(_ *Context, a []vec, n int) ([]*columnar.Column, []int32, error) {
		x := jsonfmt.NewExtractor()
		parent := make([]int32, n)
		builders := make([]*columnar.Builder, len(cols))
		for k := range builders {
			builders[k] = columnar.NewBuilder(columnar.String, n)
		}
		names, place := make([]string, 0, len(cols)), make([]int, len(cols))
		for i := 0; i < n; i++ {
			parent[i] = int32(i)
			names = names[:0]
			for k := range cols {
				place[k] = -1
				if !a[k+1].null(i) {
					place[k] = len(names)
					names = append(names, str(a[k+1], i))
				}
			}
			var values []*string
			if !a[0].null(i) {
				values = x.Tuple(raw(a[0], i), names)
			}
			for k, w := range builders {
				if p := place[k]; p >= 0 && p < len(values) && values[p] != nil {
					w.AppendString(*values[p])
				} else {
					w.AppendNull()
				}
			}
		}
		out := make([]*columnar.Column, len(cols))
		for k, w := range builders {
			out[k] = w.Finish()
		}
		return out, parent, nil
	}}, nil
}

// jsonOptions reads the options of a JSON function.
func (b *Binder) jsonOptions(args []Expr, at int) (jsonfmt.Options, error) {
	var options map[string]string
	if len(args) > at {
		var err error
		if options, err = b.optionsArgument(args[at]); err != nil {
			return jsonfmt.Options{}, err
		}
	}
	return jsonfmt.ParseOptions(options, javaZone(b.zone()).ID())
}

func bindFromJSON(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	t, err := b.typeArgument(args[1])
	if err != nil {
		return nil, err
	}
	opts, err := b.jsonOptions(args, 2)
	if err != nil {
		return nil, err
	}
	sql := sqlCall(b.name(), args[:1])
	switch t.Kind {
	case columnar.KindStruct, columnar.KindArray, columnar.KindMap, columnar.KindVariant:
		if !stringKeys(t) {
			return nil, mismatch("INVALID_JSON_MAP_KEY_TYPE", sql, "input schema \"%s\" can only contain STRING as a key type for a MAP", t.SQL())
		}
	default:
		return nil, invalidJSONSchema(sql, t)
	}
	in, err := b.expectAs(sql, args[:1], isString)
	if err != nil {
		return nil, err
	}
	t = asNullable(t)
	pool := &decoders[*jsonfmt.Decoder]{make: func() (*jsonfmt.Decoder, error) { return jsonfmt.NewColumn(t, opts) }}
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
	if t.Kind == columnar.KindMap {
		e.text = func([]Expr) string { return "entries" }
	}
	return e, nil
}

// stringKeys tells whether the keys of all maps in a type are strings.
func stringKeys(t *columnar.Type) bool {
	switch t.Kind {
	case columnar.KindMap:
		return t.Key.Kind == columnar.KindString && stringKeys(t.Elem)
	case columnar.KindArray:
		return stringKeys(t.Elem)
	case columnar.KindStruct:
		for _, f := range t.Fields {
			if !stringKeys(f.Type) {
				return false
			}
		}
	}
	return true
}

func invalidJSONSchema(sql string, t *columnar.Type) error {
	return mismatch("INVALID_JSON_SCHEMA", sql, "input schema \"%s\" must be a struct, an array, a map or a variant", t.SQL())
}

// decoders keeps decoders between batches, since each serves one goroutine at a time.
type decoders[D any] struct {
	pool sync.Pool
	make func() (D, error)
}

// check makes the first decoder.
func (p *decoders[D]) check() error {
	d, err := p.make()
	if err == nil {
		p.pool.Put(d)
	}
	return err
}

func (p *decoders[D]) get() (D, error) {
	if d, ok := p.pool.Get().(D); ok {
		return d, nil
	}
	return p.make()
}

func (p *decoders[D]) put(d D) { p.pool.Put(d) }

func bindToJSON(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	opts, err := b.jsonOptions(args, 1)
	if err != nil {
		return nil, err
	}
	t, sql := args[0].Type(), sqlCall(b.name(), args[:1])
	switch t.Kind {
	case columnar.KindStruct, columnar.KindArray, columnar.KindMap, columnar.KindVariant:
	case columnar.KindNull:
		return Named(NewLiteral(columnar.String, nil), sql), nil
	default:
		return nil, invalidJSONSchema(sql, t)
	}
	opts.FromJSON = true
	writer, err := jsonfmt.NewWriter(t, opts)
	if err != nil {
		return nil, err
	}
	e := simple(b.name(), args[:1:1], columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(columnar.String, a, n, func(w *columnar.Builder, i int) error {
			w.FinishScratch(writer.AppendValue(w.Scratch(), a[0].Column, a[0].row(i)))
			return nil
		})
	})
	e.null, e.nullFn = true, nil
	return e, nil
}

func bindSchemaOfJSON(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	opts, err := b.jsonOptions(args, 1)
	if err != nil {
		return nil, err
	}
	text, err := b.constantText(args, "json")
	if err != nil {
		return nil, err
	}
	return simple(b.name(), []Expr{text}, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		t, err := jsonfmt.SchemaOf(raw(a[0], 0), opts)
		if err != nil {
			return nil, err
		}
		return columnar.Repeat(columnar.String, t.SQL(), n), nil
	}), nil
}
