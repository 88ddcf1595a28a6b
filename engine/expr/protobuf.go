package expr

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/protofmt"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/internal/schemaregistry"
)

// largestDescriptor bounds the file that from_protobuf and to_protobuf are given.
const largestDescriptor = 64 << 20

// protobufFunctions are the functions of single Protobuf messages.
func protobufFunctions() []*Function {
	const family = "protobuf"
	return []*Function{
		{
			Name: "from_protobuf", Family: family, Signature: "from_protobuf(binary, messageName, descriptor[, options])",
			Doc:     "The struct in Protobuf's binary form, by a message of a descriptor: the path of a file that protoc wrote, or its bytes; with the option schema.registry.url by the schemas of a registry.",
			Example: `SELECT from_protobuf(X'08051201', 'P', X'0A320A07702E70726F746F221F0A0150120C0A0178180120012805520178120C0A0173180220012809520173620670726F746F33', map('mode', 'PERMISSIVE')) → NULL`, Bind: bindFromProtobuf,
		},
		{
			Name: "to_protobuf", Family: family, Signature: "to_protobuf(struct, messageName, descriptor[, options])",
			Doc:     "A struct in Protobuf's binary form, by a message of a descriptor; with the option schema.registry.url in the frame of a registry.",
			Example: `SELECT hex(to_protobuf(named_struct('x', 5, 's', 'a'), 'P', X'0A320A07702E70726F746F221F0A0150120C0A0178180120012805520178120C0A0173180220012809520173620670726F746F33')) → 0805120161`, Bind: bindToProtobuf,
		},
	}
}

// protobufCall is what from_protobuf and to_protobuf are called with beside the value.
type protobufCall struct {
	name, sql  string
	message    string // "" when a registry's frame names it
	descriptor *protofmt.Files
	values     map[string]string
	options    protofmt.Options
	registry   *schemaregistry.Client
}

// protobufArguments reads the constants of a call.
func (b *Binder) protobufArguments(args []Expr) (*protobufCall, error) {
	if err := b.argCount(args, 2, 4); err != nil {
		return nil, err
	}
	c := &protobufCall{name: b.name(), sql: b.sql(args)}
	hint := func(format string, a ...any) error {
		return mismatch("TYPE_CHECK_FAILURE_WITH_HINT", c.sql, "the "+format, a...)
	}
	upper := strings.ToUpper(c.name)
	text, ok, err := b.foldable(args[1])
	if err != nil {
		return nil, err
	}
	if t := args[1].Type().Kind; !ok || t != columnar.KindString && t != columnar.KindNull {
		return nil, hint("second argument of the %s SQL function must be a constant string representing the Protobuf message name", upper)
	}
	c.message, _ = text.(string)
	rest := args[2:]
	if len(rest) > 0 && rest[0].Type().Kind != columnar.KindMap {
		v, ok, err := b.foldable(rest[0])
		if err != nil {
			return nil, err
		}
		switch d := v.(type) {
		case nil:
			ok = ok && slices.Contains([]columnar.Kind{columnar.KindNull, columnar.KindString, columnar.KindBinary}, rest[0].Type().Kind)
		case string:
			if rest[0].Type().Kind == columnar.KindString {
				c.descriptor, err = readDescriptor(b.Dir, d)
			}
		case []byte:
			c.descriptor, err = protofmt.ParseDescriptorSet(d)
		default:
			ok = false
		}
		if !ok {
			return nil, hint("third argument of the %s SQL function must be a constant string representing the Protobuf descriptor file path, or the descriptor's bytes", upper)
		}
		if err != nil {
			return nil, err
		}
		rest = rest[1:]
	}
	switch {
	case len(rest) > 1:
		return nil, hint("third argument of the %s SQL function is a map of options, so that there is no fourth", upper)
	case len(rest) == 1 && rest[0].Type().Kind != columnar.KindNull:
		if rest[0].Type().Kind != columnar.KindMap || rest[0].Type().Key.Kind != columnar.KindNull && !isConst(rest[0]) {
			return nil, hint("fourth argument of the %s SQL function must be a constant map of strings to strings containing the options", upper)
		}
		if rest[0].Type().Key.Kind != columnar.KindNull { // otherwise it is map(), without an option
			if c.values, err = b.optionsArgument(rest[0]); err != nil {
				return nil, err
			}
		}
	}
	if c.options, err = protofmt.ParseOptions(c.name, c.values); err != nil {
		return nil, err
	}
	if c.registry, err = schemaregistry.New(c.values); err != nil {
		return nil, err
	}
	switch {
	case c.descriptor == nil && c.registry == nil:
		return nil, sparkerr.New("CANNOT_LOAD_PROTOBUF_CLASS",
			"`%s` needs a descriptor: the path of a file that protoc --include_imports --descriptor_set_out=FILE has written, its bytes, or the option %q", c.name, schemaregistry.OptionURL)
	case c.registry == nil && c.message == "":
		return nil, sparkerr.New("PROTOBUF_MESSAGE_NOT_FOUND", "`%s` needs the name of a message as its second argument", c.name)
	case c.registry != nil && c.descriptor == nil && c.values[schemaregistry.OptionSubject] == "":
		return nil, sparkerr.New("INVALID_OPTIONS", "the option %q of `%s` needs the option %q too, or a descriptor", schemaregistry.OptionURL, c.name, schemaregistry.OptionSubject)
	}
	return c, nil
}

// readDescriptor reads a file that protoc has written, once, when the query is planned. A relative path starts from dir,
// the folder of the pipeline file, as those of sources do.
func readDescriptor(dir, path string) (*protofmt.Files, error) {
	missing := func(cause error) error {
		return sparkerr.New("PROTOBUF_DESCRIPTOR_FILE_NOT_FOUND", "error reading the Protobuf descriptor file %q", path).WithCause(cause)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, missing(err)
	case !info.Mode().IsRegular() || info.Size() > largestDescriptor:
		return nil, missing(fmt.Errorf("it is no file of at most %d bytes", largestDescriptor))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, missing(err)
	}
	return protofmt.ParseDescriptorSet(data)
}

// files are the descriptors of a registry's schema, with what it imports.
func (c *protobufCall) files(s schemaregistry.Schema) (*protofmt.Files, error) {
	if s.Type != "PROTOBUF" {
		return nil, fmt.Errorf("schema registry: schema %d is one of %q, not of PROTOBUF", s.ID, s.Type)
	}
	refs := s.References
	load := func(path string) (string, error) {
		for _, r := range refs {
			if r.Name == path {
				in, err := c.registry.Version(r.Subject, strconv.Itoa(r.Version))
				refs = append(refs, in.References...)
				return in.Text, err
			}
		}
		return "", fmt.Errorf("schema registry: schema %d has no reference of that name", s.ID)
	}
	f, err := protofmt.ParseSource(s.Text, load)
	if err != nil {
		return nil, fmt.Errorf("schema registry: schema %d: %w", s.ID, err)
	}
	return f, nil
}

// subject is the schema of the subject in the options.
func (c *protobufCall) subject() (schemaregistry.Schema, *protofmt.Files, error) {
	s, err := c.registry.Version(c.values[schemaregistry.OptionSubject], c.values[schemaregistry.OptionVersion])
	if err != nil {
		return s, nil, err
	}
	f, err := c.files(s)
	return s, f, err
}

// find is the message of the call in descriptors, the first one when the call does not name one.
func (c *protobufCall) find(f *protofmt.Files) (protoreflect.MessageDescriptor, error) {
	if c.message == "" {
		return f.At([]int{0})
	}
	return f.Message(c.message)
}

func bindFromProtobuf(b *Binder, args []Expr) (Expr, error) {
	c, err := b.protobufArguments(args)
	if err != nil {
		return nil, err
	}
	in, err := b.expectAs(c.sql, args[:1], isBinary)
	if err != nil {
		return nil, err
	}
	files := c.descriptor
	if files == nil {
		if _, files, err = c.subject(); err != nil {
			return nil, err
		}
	}
	m, err := c.find(files)
	if err != nil {
		return nil, err
	}
	reader, err := protofmt.NewSchema(files, m, c.options)
	if err != nil {
		return nil, err
	}
	d := &protobufDecoder{call: c, reader: reader, known: map[string]*protofmt.Schema{}}
	e := simple(c.name, in, reader.Type(), func(_ *Context, a []vec, n int) (*columnar.Column, error) { return d.decode(a[0], n) })
	e.null, e.nullFn = true, nil
	e.text = func([]Expr) string { return c.sql }
	return e, nil
}

// protobufDecoder decodes messages of one schema, or of those that a registry names.
type protobufDecoder struct {
	call   *protobufCall
	reader *protofmt.Schema

	mu    sync.Mutex
	known map[string]*protofmt.Schema // by the schema's number and the message's place
}

// schemaOf is the schema that a message was written with, and the message itself; nil for one without a frame.
func (d *protobufDecoder) schemaOf(message []byte) (*protofmt.Schema, []byte, error) {
	if d.call.registry == nil {
		return d.reader, message, nil
	}
	id, rest, ok := schemaregistry.Unframe(message)
	if !ok {
		return nil, nil, nil
	}
	path, value, ok := schemaregistry.UnframeIndexes(rest)
	if !ok {
		return nil, nil, nil
	}
	key := message[:len(message)-len(value)]
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.known[string(key)]; s != nil {
		return s, value, nil
	}
	r, err := d.call.registry.ByID(id)
	if err != nil {
		return nil, nil, err
	}
	files, err := d.call.files(r)
	if err != nil {
		return nil, nil, err
	}
	m, err := files.At(path)
	if err != nil {
		return nil, nil, err
	}
	s, err := protofmt.NewSchema(files, m, d.call.options)
	if err == nil {
		d.known[string(key)] = s
	}
	return s, value, err
}

// malformedProtobuf is the error of a message that is damaged.
func malformedProtobuf(cause error) error {
	return sparkerr.New("MALFORMED_PROTOBUF_MESSAGE",
		"malformed Protobuf messages are detected in message deserialization; to process a malformed Protobuf message as NULL, set the option 'mode' to 'PERMISSIVE'").WithCause(cause)
}

// protobufPart is the messages of a batch that have one schema.
type protobufPart struct {
	schema  *protofmt.Schema
	decoder *protofmt.Decoder
	b       *columnar.Builder
	rows    []int32
}

func (d *protobufDecoder) decode(in vec, n int) (*columnar.Column, error) {
	if d.call.registry == nil {
		return d.decodeOne(in, n)
	}
	var parts []*protobufPart
	var cur *protobufPart
	for i := range n {
		if in.null(i) {
			continue
		}
		s, value, err := d.schemaOf(in.BytesAt(in.row(i)))
		if err != nil {
			return nil, err
		}
		if s == nil {
			if d.reader.Permissive() {
				continue
			}
			return nil, malformedProtobuf(fmt.Errorf("the message has no frame of a schema registry: a zero byte, the schema's number in four bytes, the message's place in the schema"))
		}
		if cur == nil || cur.schema != s {
			k := slices.IndexFunc(parts, func(p *protobufPart) bool { return p.schema == s })
			if k < 0 {
				k = len(parts)
				parts = append(parts, &protobufPart{schema: s, decoder: protofmt.NewDecoder(s), b: columnar.NewBuilder(s.Type(), n)})
			}
			cur = parts[k]
		}
		if d.reader.Permissive() && cur.decoder.Check(value) != nil {
			continue
		}
		if err := cur.decoder.Decode(cur.b, value); err != nil {
			return nil, malformedProtobuf(err)
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
		c, err := adaptColumn(p.b.Finish(), d.reader.Type())
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
		return columnar.NewNull(d.reader.Type(), n), nil
	}
	return columnar.Take(columnar.Concat(cols), pick), nil
}

// decodeOne decodes rows of the one schema that there is.
func (d *protobufDecoder) decodeOne(in vec, n int) (*columnar.Column, error) {
	b, dec := columnar.NewBuilder(d.reader.Type(), n), protofmt.NewDecoder(d.reader)
	permissive := d.reader.Permissive()
	for i := range n {
		if in.null(i) {
			b.AppendNull()
			continue
		}
		v := in.BytesAt(in.row(i))
		if permissive && dec.Check(v) != nil {
			b.AppendNull()
			continue
		}
		if err := dec.Decode(b, v); err != nil {
			return nil, malformedProtobuf(err)
		}
	}
	return b.Finish(), nil
}

func bindToProtobuf(b *Binder, args []Expr) (Expr, error) {
	c, err := b.protobufArguments(args)
	if err != nil {
		return nil, err
	}
	in := args[0]
	if in.Type().Kind != columnar.KindStruct {
		return nil, mismatch("UNEXPECTED_INPUT_TYPE", c.sql, "the first parameter requires the \"STRUCT\" type, however \"%s\" has the type \"%s\"", in.SQL(), in.Type().SQL())
	}
	files := c.descriptor
	var prefix []byte
	if c.registry != nil {
		s, own, err := c.subject()
		if err != nil {
			return nil, err
		}
		m, err := c.find(own)
		if err != nil {
			return nil, err
		}
		path, ok := own.PathOf(m)
		if !ok {
			return nil, sparkerr.New("PROTOBUF_MESSAGE_NOT_FOUND", "the message %q is imported by the schema of the subject %q, not one of its own", c.message, c.values[schemaregistry.OptionSubject])
		}
		prefix = schemaregistry.AppendIndexes(schemaregistry.AppendFrame(nil, s.ID), path)
		if files == nil {
			files = own
		}
	}
	m, err := c.find(files)
	if err != nil {
		return nil, err
	}
	enc, err := protofmt.NewEncoder(m, in.Type())
	if err != nil {
		return nil, err
	}
	e := simple(c.name, []Expr{in}, columnar.Binary, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		w := columnar.NewBuilder(columnar.Binary, n)
		for i := range n {
			if a[0].null(i) {
				w.AppendNull()
				continue
			}
			buf, err := enc.Encode(append(w.Scratch(), prefix...), a[0].Column, a[0].row(i))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.sql, err)
			}
			w.FinishScratch(buf)
		}
		return w.Finish(), nil
	})
	e.null, e.nullFn = true, nil
	e.text = func([]Expr) string { return c.sql }
	return e, nil
}
