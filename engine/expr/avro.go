package expr

import (
	"fmt"
	"strings"
	"sync"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/avrofmt"
	"github.com/wstream/wstream/columnar/sparkerr"
	widening "github.com/wstream/wstream/columnar/widen"
	"github.com/wstream/wstream/internal/schemaregistry"
)

// avroFunctions are the functions of single Avro values.
func avroFunctions() []*Function {
	const family = "avro"
	return []*Function{
		{
			Name: "from_avro", Family: family, Signature: "from_avro(binary, schema[, options])",
			Doc:     "The value in Avro's binary form, by a schema in JSON; with the option schema.registry.url by the schemas of a registry.",
			Example: `SELECT from_avro(X'02', '"int"') → 1`, Bind: bindFromAvro,
		},
		{
			Name: "to_avro", Family: family, Signature: "to_avro(expr[, schema[, options]])",
			Doc:     "A value in Avro's binary form; with the option schema.registry.url in the frame of a registry.",
			Example: `SELECT hex(to_avro(1)) → 02`, Bind: bindToAvro,
		},
	}
}

// avroArguments reads the schema and the options of a call; both are constants, and may be left out or NULL.
func (b *Binder) avroArguments(args []Expr) (schema string, options map[string]string, registry *schemaregistry.Client, err error) {
	if len(args) > 1 {
		v, err := b.constant(b.sql(args), args, 1, isString, "jsonFormatSchema")
		if err != nil {
			return "", nil, nil, err
		}
		schema, _ = v.(string)
	}
	if len(args) > 2 {
		if options, err = b.optionsArgument(args[2]); err != nil {
			return "", nil, nil, err
		}
	}
	registry, err = schemaregistry.New(options)
	if err == nil && registry != nil && options[schemaregistry.OptionSubject] == "" && schema == "" {
		err = sparkerr.New("INVALID_OPTIONS", "the option %q of `%s` needs the option %q too, or a schema", schemaregistry.OptionURL, b.name(), schemaregistry.OptionSubject)
	}
	return schema, options, registry, err
}

// registered is the schema of a subject in a registry.
func registered(c *schemaregistry.Client, options map[string]string) (schemaregistry.Schema, error) {
	s, err := c.Version(options[schemaregistry.OptionSubject], options[schemaregistry.OptionVersion])
	if err == nil && s.Type != "" && s.Type != "AVRO" {
		err = fmt.Errorf("schema registry: the subject %q has schemas of %s, not of AVRO", options[schemaregistry.OptionSubject], s.Type)
	}
	return s, err
}

func parseAvro(text string) (*avrofmt.Schema, error) {
	s, err := avrofmt.ParseSchema(text)
	if err != nil {
		return nil, sparkerr.New("AVRO_INVALID_SCHEMA", "the Avro schema cannot be used").WithCause(err)
	}
	return s, nil
}

func bindFromAvro(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	sql, name := b.sql(args), b.name()
	in, err := b.expectAs(sql, args[:1], isBinary)
	if err != nil {
		return nil, err
	}
	text, options, registry, err := b.avroArguments(args)
	if err != nil {
		return nil, err
	}
	d := &avroDecoder{registry: registry, permissive: strings.EqualFold(options["mode"], "PERMISSIVE"), known: map[int32]*avrofmt.Schema{}}
	if m := options["mode"]; m != "" && !d.permissive && !strings.EqualFold(m, "FAILFAST") {
		return nil, sparkerr.New("PARSE_MODE_UNSUPPORTED", "the function `%s` doesn't support the %s mode; acceptable modes are PERMISSIVE and FAILFAST", name, m)
	}
	if text == "" && registry != nil {
		s, err := registered(registry, options)
		if err != nil {
			return nil, err
		}
		text = s.Text
	}
	if d.writer, err = parseAvro(text); err != nil {
		return nil, err
	}
	reader := d.writer
	if o := options["avroSchema"]; o != "" {
		if reader, err = parseAvro(o); err != nil {
			return nil, err
		}
	}
	d.typ = reader.Type()
	if d.permissive {
		d.typ = asNullable(d.typ)
	}
	e := simple(name, in, d.typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) { return d.decode(a[0], n) })
	e.null, e.nullFn = true, nil
	e.text = func([]Expr) string { return sql }
	return e, nil
}

// avroDecoder decodes values that were written with one schema, or with those that a registry names.
type avroDecoder struct {
	writer     *avrofmt.Schema
	typ        *columnar.Type
	registry   *schemaregistry.Client
	permissive bool

	mu    sync.Mutex
	known map[int32]*avrofmt.Schema
}

// schemaOf is the schema that a message was written with, and the value within it.
func (d *avroDecoder) schemaOf(message []byte) (*avrofmt.Schema, []byte, error) {
	if d.registry == nil {
		return d.writer, message, nil
	}
	id, value, ok := schemaregistry.Unframe(message)
	if !ok {
		return nil, nil, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.known[id]; s != nil {
		return s, value, nil
	}
	r, err := d.registry.ByID(id)
	if err != nil {
		return nil, nil, err
	}
	s, err := parseAvro(r.Text)
	if err == nil {
		d.known[id] = s
	}
	return s, value, err
}

func (d *avroDecoder) decode(in vec, n int) (*columnar.Column, error) {
	type part struct {
		schema *avrofmt.Schema
		b      *columnar.Builder
		rows   []int32
	}
	var parts []*part
	var cur *part
	for i := range n {
		if in.null(i) {
			continue
		}
		s, value, err := d.schemaOf(in.BytesAt(in.row(i)))
		if err != nil {
			return nil, err
		}
		if s == nil || s.Check(value) != nil {
			if d.permissive {
				continue
			}
			why := "the bytes are no value of the schema"
			if s == nil {
				why = "the message has no frame of a schema registry: a zero byte and the schema's number in four bytes"
			}
			return nil, sparkerr.New("MALFORMED_AVRO_MESSAGE", "malformed Avro messages are detected in message deserialization: %s; to process malformed Avro messages as NULL, set the option 'mode' to 'PERMISSIVE'", why)
		}
		if cur == nil || cur.schema != s {
			cur = nil
			for _, p := range parts {
				if p.schema == s {
					cur = p
				}
			}
			if cur == nil {
				cur = &part{schema: s, b: columnar.NewBuilder(s.Type(), n)}
				parts = append(parts, cur)
			}
		}
		if err := s.Decode(cur.b, value); err != nil {
			return nil, sparkerr.New("MALFORMED_AVRO_MESSAGE", "malformed Avro messages are detected in message deserialization").WithCause(err)
		}
		cur.rows = append(cur.rows, int32(i))
	}
	pick := make([]int32, n)
	for i := range pick {
		pick[i] = -1
	}
	var cols []*columnar.Column
	base := int32(0)
	for _, p := range parts {
		c, err := adaptColumn(p.b.Finish(), d.typ)
		if err != nil {
			return nil, err
		}
		for k, r := range p.rows {
			pick[r] = base + int32(k)
		}
		base += int32(len(p.rows))
		cols = append(cols, c)
	}
	if len(cols) == 0 {
		return columnar.NewNull(d.typ, n), nil
	}
	return columnar.Take(columnar.Concat(cols), pick), nil
}

// adaptColumn is c as a type that an older or a newer schema gives: fields are found by name, those that are missing
// are null, numbers become wider.
func adaptColumn(c *columnar.Column, t *columnar.Type) (*columnar.Column, error) {
	if c.Type.Equal(t) {
		return c.WithType(t), nil
	}
	out := *c
	out.Type = t
	switch {
	case c.Type.Kind == columnar.KindStruct && t.Kind == columnar.KindStruct:
		out.Children = make([]*columnar.Column, len(t.Fields))
		for i, f := range t.Fields {
			at := -1
			for k, g := range c.Type.Fields {
				if g.Name == f.Name {
					at = k
				}
			}
			if at < 0 {
				out.Children[i] = columnar.NewNull(f.Type, c.Len)
				continue
			}
			k, err := adaptColumn(c.Children[at], f.Type)
			if err != nil {
				return nil, fmt.Errorf("field %q: %w", f.Name, err)
			}
			out.Children[i] = k
		}
		return &out, nil
	case c.Type.Kind == columnar.KindArray && t.Kind == columnar.KindArray, c.Type.Kind == columnar.KindMap && t.Kind == columnar.KindMap:
		last := len(c.Children) - 1
		k, err := adaptColumn(c.Children[last], t.Elem)
		if err != nil {
			return nil, err
		}
		out.Children = append(append([]*columnar.Column{}, c.Children[:last]...), k)
		return &out, nil
	case widening.Can(c.Type, t):
		return widening.Column(c, t)
	}
	return nil, sparkerr.New("AVRO_INCOMPATIBLE_READ_TYPE", "a value of %s was written where %s is wanted", c.Type.SQL(), t.SQL())
}

func bindToAvro(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 3); err != nil {
		return nil, err
	}
	sql, name := b.sql(args), b.name()
	text, options, registry, err := b.avroArguments(args)
	if err != nil {
		return nil, err
	}
	in := args[0]
	var s *avrofmt.Schema
	switch {
	case text != "":
		s, err = parseAvro(text)
	case registry != nil && options[schemaregistry.OptionVersion] != "":
		var r schemaregistry.Schema
		if r, err = registered(registry, options); err == nil {
			s, err = parseAvro(r.Text)
		}
	default:
		s, err = avrofmt.SchemaOf(in.Type(), in.Nullable())
	}
	if err != nil {
		return nil, err
	}
	if !in.Type().Equal(s.Type()) {
		if !canCast(in.Type(), s.Type(), b.castMode()) || in.Type().IsNested() != s.Type().IsNested() {
			return nil, mismatch("TYPE_CHECK_FAILURE_WITH_HINT", sql, "a value of \"%s\" cannot be written by the Avro schema, which is one of \"%s\"", in.Type().SQL(), s.Type().SQL())
		}
		in = b.implicit(in, s.Type())
	}
	number := sync.OnceValues(func() (int32, error) {
		if registry == nil {
			return 0, nil
		}
		return registry.Register(options[schemaregistry.OptionSubject], schemaregistry.Schema{Text: s.String()})
	})
	e := simple(name, []Expr{in}, columnar.Binary, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		id, err := number()
		if err != nil {
			return nil, err
		}
		w := columnar.NewBuilder(columnar.Binary, n)
		var buf []byte
		for i := range n {
			if a[0].null(i) && !s.Nullable() {
				w.AppendNull()
				continue
			}
			if buf = buf[:0]; registry != nil {
				buf = schemaregistry.AppendFrame(buf, id)
			}
			if buf, err = s.Encode(buf, a[0].Column, a[0].row(i)); err != nil {
				return nil, fmt.Errorf("%s: %w", sql, err)
			}
			w.AppendBytes(buf)
		}
		return w.Finish(), nil
	})
	e.null, e.nullFn, e.nulls = true, nil, true
	e.text = func([]Expr) string { return sql }
	return e, nil
}
