package protofmt

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// largestNesting bounds messages within messages of a .proto text.
const largestNesting = 64

// ParseSource reads the text of a .proto file, as a schema registry keeps it. imports gives the text of an imported file
// by its path; Google's own files are known and not asked for. Options, services and comments are passed over.
func ParseSource(text string, imports func(path string) (string, error)) (*Files, error) {
	s := &sources{known: googleFiles(), done: map[string]bool{}, imports: imports}
	if err := s.add("schema.proto", text); err != nil {
		return nil, err
	}
	// The first file is the schema itself, which At and Message begin with.
	last := len(s.set.File) - 1
	ordered := &descriptorpb.FileDescriptorSet{File: append([]*descriptorpb.FileDescriptorProto{s.set.File[last]}, s.set.File[:last]...)}
	return newFiles(ordered)
}

// googleFiles are the files that every compiler of Protocol Buffers brings along.
func googleFiles() map[string]protoreflect.FileDescriptor {
	out := map[string]protoreflect.FileDescriptor{}
	for _, f := range []protoreflect.FileDescriptor{
		anypb.File_google_protobuf_any_proto, durationpb.File_google_protobuf_duration_proto, emptypb.File_google_protobuf_empty_proto,
		fieldmaskpb.File_google_protobuf_field_mask_proto, structpb.File_google_protobuf_struct_proto,
		timestamppb.File_google_protobuf_timestamp_proto, wrapperspb.File_google_protobuf_wrappers_proto, descriptorpb.File_google_protobuf_descriptor_proto,
	} {
		out[f.Path()] = f
	}
	return out
}

// sources collects files, each behind those that it imports.
type sources struct {
	set     descriptorpb.FileDescriptorSet
	known   map[string]protoreflect.FileDescriptor
	done    map[string]bool
	imports func(path string) (string, error)
}

func (s *sources) add(path, text string) error {
	s.done[path] = true
	p := &sourceParser{text: text, line: 1, file: &descriptorpb.FileDescriptorProto{Name: proto.String(path), Syntax: proto.String("proto2")}}
	if err := p.parse(); err != nil {
		return fmt.Errorf("%s:%d: %w", path, p.line, err)
	}
	var needed []string
	for _, dep := range p.file.Dependency {
		switch {
		case s.done[dep]:
		case s.known[dep] != nil:
			s.done[dep] = true
			s.set.File = append(s.set.File, protodesc.ToFileDescriptorProto(s.known[dep]))
		case s.imports == nil, strings.HasPrefix(dep, "confluent/") || strings.HasPrefix(dep, "google/type/"):
			// Options of others, such as confluent.field_meta, are passed over, and so are the files that declare them.
			continue
		default:
			text, err := s.imports(dep)
			if err != nil {
				return fmt.Errorf("%s imports %q: %w", path, dep, err)
			}
			if err := s.add(dep, text); err != nil {
				return err
			}
		}
		needed = append(needed, dep)
	}
	p.file.Dependency = needed
	p.file.PublicDependency = nil
	for i, dep := range needed {
		if p.public[dep] {
			p.file.PublicDependency = append(p.file.PublicDependency, int32(i))
		}
	}
	s.set.File = append(s.set.File, p.file)
	s.resolve(p.file)
	return nil
}

// resolve makes names of types whole: a name is looked for in the message that it stands in and then outwards.
func (s *sources) resolve(file *descriptorpb.FileDescriptorProto) {
	kinds := map[string]descriptorpb.FieldDescriptorProto_Type{}
	for _, f := range s.set.File {
		prefix := ""
		if f.GetPackage() != "" {
			prefix = "." + f.GetPackage()
		}
		collect(kinds, prefix, f.MessageType, f.EnumType)
	}
	scope := ""
	if file.GetPackage() != "" {
		scope = "." + file.GetPackage()
	}
	for _, m := range file.MessageType {
		resolveMessage(kinds, scope+"."+m.GetName(), m)
	}
	for _, x := range file.Extension {
		resolveField(kinds, scope, x)
	}
}

func collect(kinds map[string]descriptorpb.FieldDescriptorProto_Type, prefix string, messages []*descriptorpb.DescriptorProto, enums []*descriptorpb.EnumDescriptorProto) {
	for _, e := range enums {
		kinds[prefix+"."+e.GetName()] = descriptorpb.FieldDescriptorProto_TYPE_ENUM
	}
	for _, m := range messages {
		kinds[prefix+"."+m.GetName()] = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
		collect(kinds, prefix+"."+m.GetName(), m.NestedType, m.EnumType)
	}
}

func resolveMessage(kinds map[string]descriptorpb.FieldDescriptorProto_Type, scope string, m *descriptorpb.DescriptorProto) {
	for _, f := range m.Field {
		resolveField(kinds, scope, f)
	}
	for _, f := range m.Extension {
		resolveField(kinds, scope, f)
	}
	for _, n := range m.NestedType {
		resolveMessage(kinds, scope+"."+n.GetName(), n)
	}
}

func resolveField(kinds map[string]descriptorpb.FieldDescriptorProto_Type, scope string, f *descriptorpb.FieldDescriptorProto) {
	if f.Extendee != nil {
		f.Extendee = proto.String(whole(kinds, scope, f.GetExtendee()))
	}
	if f.TypeName == nil {
		return
	}
	name := whole(kinds, scope, f.GetTypeName())
	f.TypeName = proto.String(name)
	if f.Type == nil {
		if k, ok := kinds[name]; ok {
			f.Type = k.Enum()
		}
	}
}

func whole(kinds map[string]descriptorpb.FieldDescriptorProto_Type, scope, name string) string {
	if strings.HasPrefix(name, ".") {
		return name
	}
	for {
		if _, ok := kinds[scope+"."+name]; ok {
			return scope + "." + name
		}
		if scope == "" {
			return "." + name
		}
		scope = scope[:strings.LastIndexByte(scope, '.')]
	}
}

// sourceParser reads one .proto text.
type sourceParser struct {
	text   string
	pos    int
	line   int
	tok    string // the token at hand; "" at the end
	str    bool   // it is a string, unquoted
	file   *descriptorpb.FileDescriptorProto
	public map[string]bool
	depth  int
}

func (p *sourceParser) next() error {
	p.tok, p.str = "", false
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch {
		case c == '\n':
			p.line++
			p.pos++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			p.pos++
		case strings.HasPrefix(p.text[p.pos:], "//"):
			for p.pos < len(p.text) && p.text[p.pos] != '\n' {
				p.pos++
			}
		case strings.HasPrefix(p.text[p.pos:], "/*"):
			end := strings.Index(p.text[p.pos+2:], "*/")
			if end < 0 {
				return fmt.Errorf("a comment has no end")
			}
			p.line += strings.Count(p.text[p.pos:p.pos+2+end], "\n")
			p.pos += end + 4
		case c == '"' || c == '\'':
			return p.quoted(c)
		case isWord(c) || c == '.' || c == '-' || c == '+':
			from := p.pos
			for p.pos++; p.pos < len(p.text) && (isWord(p.text[p.pos]) || p.text[p.pos] == '.'); p.pos++ {
			}
			p.tok = p.text[from:p.pos]
			return nil
		default:
			p.tok = p.text[p.pos : p.pos+1]
			p.pos++
			return nil
		}
	}
	return nil
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// quoted reads a string, and those that follow it directly, which are one.
func (p *sourceParser) quoted(quote byte) error {
	var b []byte
	for p.pos++; ; p.pos++ {
		if p.pos >= len(p.text) || p.text[p.pos] == '\n' {
			return fmt.Errorf("a string has no end")
		}
		c := p.text[p.pos]
		if c == quote {
			p.pos++
			break
		}
		if c != '\\' || p.pos+1 >= len(p.text) {
			b = append(b, c)
			continue
		}
		v, _, rest, err := strconv.UnquoteChar(p.text[p.pos:], quote)
		if err != nil {
			return fmt.Errorf("a string has an escape that there is not: %w", err)
		}
		used := len(p.text) - p.pos - len(rest)
		if p.text[p.pos+1] == 'u' || p.text[p.pos+1] == 'U' {
			b = append(b, string(v)...)
		} else {
			b = append(b, byte(v))
		}
		p.pos += used - 1
	}
	p.tok, p.str = string(b), true
	return nil
}

func (p *sourceParser) isEnd() bool { return p.tok == "" && !p.str }

// is tells whether the token at hand is a sign or word.
func (p *sourceParser) is(tok string) bool { return !p.str && p.tok == tok }

func (p *sourceParser) expect(tok string) error {
	if !p.is(tok) {
		return p.unexpected(fmt.Sprintf("%q", tok))
	}
	return p.next()
}

func (p *sourceParser) unexpected(want string) error {
	if p.isEnd() {
		return fmt.Errorf("found the end, expected %s", want)
	}
	return fmt.Errorf("found %q, expected %s", p.tok, want)
}

// name takes a word.
func (p *sourceParser) name() (string, error) {
	if p.str || p.tok == "" || !isWord(p.tok[0]) && p.tok[0] != '.' {
		return "", p.unexpected("a name")
	}
	n := p.tok
	return n, p.next()
}

func (p *sourceParser) number() (int32, error) {
	n, err := strconv.ParseInt(p.tok, 0, 32)
	if p.str || err != nil {
		return 0, p.unexpected("a number")
	}
	return int32(n), p.next()
}

// pass passes over everything up to a semicolon, or over a body in braces.
func (p *sourceParser) pass() error {
	for depth := 0; !p.isEnd(); {
		tok, str := p.tok, p.str
		if err := p.next(); err != nil {
			return err
		}
		switch {
		case str:
		case tok == "{":
			depth++
		case tok == "}":
			if depth--; depth <= 0 && !p.is(";") {
				return nil
			}
		case tok == ";" && depth <= 0:
			return nil
		}
	}
	return p.unexpected(`";"`)
}

func (p *sourceParser) parse() error {
	p.public = map[string]bool{}
	err := p.next()
	for err == nil && !p.isEnd() {
		word := p.tok
		switch {
		case p.is(";"):
			err = p.next()
		case p.is("syntax"), p.is("edition"):
			err = p.syntax(word)
		case p.is("package"):
			if err = p.next(); err == nil {
				var n string
				if n, err = p.name(); err == nil {
					p.file.Package = proto.String(n)
					err = p.expect(";")
				}
			}
		case p.is("import"):
			err = p.importFile()
		case p.is("message"):
			var m *descriptorpb.DescriptorProto
			if m, err = p.message(); err == nil {
				p.file.MessageType = append(p.file.MessageType, m)
			}
		case p.is("enum"):
			var e *descriptorpb.EnumDescriptorProto
			if e, err = p.enum(); err == nil {
				p.file.EnumType = append(p.file.EnumType, e)
			}
		case p.is("option"), p.is("service"), p.is("extend"):
			// Extensions are no columns, and options change no value that is read here.
			err = p.pass()
		default:
			return p.unexpected("a message, an enum, an import or an option")
		}
	}
	return err
}

func (p *sourceParser) syntax(word string) error {
	if err := p.next(); err != nil {
		return err
	}
	if err := p.expect("="); err != nil {
		return err
	}
	v := p.tok
	switch {
	case word == "syntax" && (v == "proto2" || v == "proto3"):
		p.file.Syntax = proto.String(v)
	case word == "edition" && v == "2023":
		p.file.Syntax = proto.String("editions")
		p.file.Edition = descriptorpb.Edition_EDITION_2023.Enum()
	default:
		return p.unexpected(`"proto2" or "proto3"`)
	}
	if err := p.next(); err != nil {
		return err
	}
	return p.expect(";")
}

func (p *sourceParser) importFile() error {
	if err := p.next(); err != nil {
		return err
	}
	public := p.is("public")
	if public || p.is("weak") {
		if err := p.next(); err != nil {
			return err
		}
	}
	if !p.str {
		return p.unexpected("a file's name in quotes")
	}
	p.file.Dependency = append(p.file.Dependency, p.tok)
	p.public[p.tok] = public
	if err := p.next(); err != nil {
		return err
	}
	return p.expect(";")
}

func (p *sourceParser) message() (*descriptorpb.DescriptorProto, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	n, err := p.name()
	if err != nil {
		return nil, err
	}
	m := &descriptorpb.DescriptorProto{Name: proto.String(n)}
	return m, p.body(m)
}

// body reads the fields of a message between braces.
func (p *sourceParser) body(m *descriptorpb.DescriptorProto) error {
	if p.depth++; p.depth > largestNesting {
		return fmt.Errorf("more than %d messages stand within one another", largestNesting)
	}
	if err := p.expect("{"); err != nil {
		return err
	}
	for !p.is("}") {
		if err := p.member(m); err != nil {
			return err
		}
	}
	p.depth--
	p.optionals(m)
	return p.next()
}

func (p *sourceParser) member(m *descriptorpb.DescriptorProto) error {
	switch {
	case p.isEnd():
		return p.unexpected(`"}"`)
	case p.is(";"):
		return p.next()
	case p.is("message"):
		n, err := p.message()
		m.NestedType = append(m.NestedType, n)
		return err
	case p.is("enum"):
		e, err := p.enum()
		m.EnumType = append(m.EnumType, e)
		return err
	case p.is("option"), p.is("reserved"), p.is("extensions"), p.is("extend"):
		return p.pass()
	case p.is("oneof"):
		return p.oneof(m)
	}
	return p.field(m, -1)
}

func (p *sourceParser) oneof(m *descriptorpb.DescriptorProto) error {
	if err := p.next(); err != nil {
		return err
	}
	n, err := p.name()
	if err != nil {
		return err
	}
	at := int32(len(m.OneofDecl))
	m.OneofDecl = append(m.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: proto.String(n)})
	if err := p.expect("{"); err != nil {
		return err
	}
	for !p.is("}") {
		switch {
		case p.is(";"):
			err = p.next()
		case p.is("option"):
			err = p.pass()
		default:
			err = p.field(m, at)
		}
		if err != nil {
			return err
		}
	}
	return p.next()
}

// scalarType is the type of a word such as int32.
func scalarType(word string) (descriptorpb.FieldDescriptorProto_Type, bool) {
	n, ok := descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(word)]
	t := descriptorpb.FieldDescriptorProto_Type(n)
	switch t {
	case descriptorpb.FieldDescriptorProto_TYPE_GROUP, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, descriptorpb.FieldDescriptorProto_TYPE_ENUM:
		return 0, false
	}
	return t, ok && word == strings.ToLower(word)
}

func (p *sourceParser) field(m *descriptorpb.DescriptorProto, oneof int32) error {
	f := &descriptorpb.FieldDescriptorProto{Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	if oneof >= 0 {
		f.OneofIndex = proto.Int32(oneof)
	}
	labelled := true
	switch {
	case p.is("repeated"):
		f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	case p.is("required"):
		f.Label = descriptorpb.FieldDescriptorProto_LABEL_REQUIRED.Enum()
	case p.is("optional"):
		if p.file.GetSyntax() == "proto3" {
			f.Proto3Optional = proto.Bool(true)
		}
	default:
		labelled = false
	}
	if labelled {
		if err := p.next(); err != nil {
			return err
		}
	}
	word, err := p.name()
	if err != nil {
		return err
	}
	var entry *descriptorpb.DescriptorProto
	switch {
	case word == "map" && p.is("<"):
		if entry, err = p.mapEntry(); err != nil {
			return err
		}
		f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	case word == "group":
		return fmt.Errorf("groups are not read from the text of a schema; give a descriptor file")
	default:
		setType(f, word)
	}
	n, err := p.name()
	if err != nil {
		return err
	}
	f.Name = proto.String(n)
	if entry != nil {
		entry.Name = proto.String(camel(n) + "Entry")
		m.NestedType = append(m.NestedType, entry)
		f.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
		f.TypeName = entry.Name
	}
	if err := p.expect("="); err != nil {
		return err
	}
	num, err := p.number()
	if err != nil {
		return err
	}
	f.Number = proto.Int32(num)
	if p.is("[") {
		if err := p.fieldOptions(f); err != nil {
			return err
		}
	}
	m.Field = append(m.Field, f)
	return p.expect(";")
}

func setType(f *descriptorpb.FieldDescriptorProto, word string) {
	if t, ok := scalarType(word); ok {
		f.Type = t.Enum()
		return
	}
	f.TypeName = proto.String(word)
}

func (p *sourceParser) mapEntry() (*descriptorpb.DescriptorProto, error) {
	e := &descriptorpb.DescriptorProto{Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)}}
	for i, name := range []string{"key", "value"} {
		if err := p.next(); err != nil {
			return nil, err
		}
		word, err := p.name()
		if err != nil {
			return nil, err
		}
		f := &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Number: proto.Int32(int32(i + 1)), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
		setType(f, word)
		e.Field = append(e.Field, f)
		if i == 0 && !p.is(",") {
			return nil, p.unexpected(`","`)
		}
	}
	return e, p.expect(">")
}

// camel is a name as protoc calls the entry of a map of it.
func camel(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		if r == '_' {
			up = true
			continue
		}
		if up && r >= 'a' && r <= 'z' {
			r -= 'a' - 'A'
		}
		up = false
		b.WriteRune(r)
	}
	return b.String()
}

// fieldOptions reads default and packed; everything else is passed over.
func (p *sourceParser) fieldOptions(f *descriptorpb.FieldDescriptorProto) error {
	if err := p.next(); err != nil {
		return err
	}
	for depth := 0; depth > 0 || !p.is("]"); {
		switch {
		case p.isEnd():
			return p.unexpected(`"]"`)
		case p.is("{"), p.is("["), p.is("("):
			depth++
		case p.is("}"), p.is("]"), p.is(")"):
			depth--
		case depth == 0 && (p.is("default") || p.is("packed")):
			word := p.tok
			if err := p.next(); err != nil {
				return err
			}
			if err := p.expect("="); err != nil {
				return err
			}
			if word == "packed" {
				f.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(p.tok == "true")}
			} else {
				f.DefaultValue = proto.String(defaultText(f, p.tok))
			}
		}
		if err := p.next(); err != nil {
			return err
		}
	}
	return p.next()
}

// defaultText is a default as a descriptor has it.
func defaultText(f *descriptorpb.FieldDescriptorProto, tok string) string {
	switch f.GetType() {
	case descriptorpb.FieldDescriptorProto_TYPE_BYTES:
		var b strings.Builder
		for _, c := range []byte(tok) {
			if c < 0x20 || c > 0x7e || c == '\\' || c == '"' || c == '\'' {
				fmt.Fprintf(&b, "\\%03o", c)
				continue
			}
			b.WriteByte(c)
		}
		return b.String()
	case descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_BOOL, descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, descriptorpb.FieldDescriptorProto_TYPE_FLOAT:
		return tok
	}
	// Numbers may be written in hexadecimal or octal.
	if n, err := strconv.ParseInt(tok, 0, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	if n, err := strconv.ParseUint(tok, 0, 64); err == nil {
		return strconv.FormatUint(n, 10)
	}
	return tok
}

// optionals gives each optional field of proto3 the oneof of its own that a descriptor has for it.
func (p *sourceParser) optionals(m *descriptorpb.DescriptorProto) {
	for _, f := range m.Field {
		if f.GetProto3Optional() {
			f.OneofIndex = proto.Int32(int32(len(m.OneofDecl)))
			m.OneofDecl = append(m.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: proto.String("_" + f.GetName())})
		}
	}
}

func (p *sourceParser) enum() (*descriptorpb.EnumDescriptorProto, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	n, err := p.name()
	if err != nil {
		return nil, err
	}
	e := &descriptorpb.EnumDescriptorProto{Name: proto.String(n)}
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	seen := map[int32]bool{}
	for !p.is("}") {
		switch {
		case p.isEnd():
			return nil, p.unexpected(`"}"`)
		case p.is(";"):
			err = p.next()
		case p.is("option"), p.is("reserved"):
			err = p.pass()
		default:
			var v *descriptorpb.EnumValueDescriptorProto
			if v, err = p.enumValue(); err == nil {
				e.Value = append(e.Value, v)
				if seen[v.GetNumber()] {
					e.Options = &descriptorpb.EnumOptions{AllowAlias: proto.Bool(true)}
				}
				seen[v.GetNumber()] = true
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return e, p.next()
}

func (p *sourceParser) enumValue() (*descriptorpb.EnumValueDescriptorProto, error) {
	n, err := p.name()
	if err != nil {
		return nil, err
	}
	if err := p.expect("="); err != nil {
		return nil, err
	}
	minus := p.is("-")
	if minus {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	num, err := p.number()
	if err != nil {
		return nil, err
	}
	if minus && num != math.MinInt32 {
		num = -num
	}
	if p.is("[") {
		if err := p.fieldOptions(&descriptorpb.FieldDescriptorProto{}); err != nil {
			return nil, err
		}
	}
	return &descriptorpb.EnumValueDescriptorProto{Name: proto.String(n), Number: proto.Int32(num)}, p.expect(";")
}
