package protofmt

import (
	"math"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// deepestRecursion is the largest recursive.fields.max.depth.
const deepestRecursion = 10

// emptyField is the column of a message without fields, as Spark calls it.
const emptyField = "__dummy_field_in_empty_struct"

// conv is what becomes of a field's value beyond its own kind.
type conv uint8

const (
	convPlain    conv = iota
	convStruct        // a message as a struct
	convMap           // the entries of a map
	convInstant       // seconds and nanos as a timestamp or an interval
	convUnwrap        // the only field of a wrapper
	convAny           // google.protobuf.Any as JSON
	convUnsigned      // uint32 as a bigint, uint64 as a decimal
)

// field is a field of a message that is read.
type field struct {
	num      int32
	kind     protoreflect.Kind
	wire     uint8 // of a single value
	conv     conv
	col      int // in the struct; -1 for one that the schema leaves out
	repeated bool
	required bool
	presence bool
	strict   bool // a string must be UTF-8
	oneof    int  // members are cleared by one another; -1 for none
	hasDef   bool // an explicit default
	defBits  uint64
	defData  []byte
	enum     *enum
	sub      *message
}

// enum is what an enumeration's numbers are.
type enum struct {
	name   string
	ints   bool
	closed bool // an unknown number is no value
	nums   []int32
	names  []string
}

func (e *enum) find(n int32) int {
	i, ok := slices.BinarySearch(e.nums, n)
	if !ok {
		return -1
	}
	return i
}

// message is a message that is read: one for each place in the type, so that each has its own slots.
type message struct {
	fields   []field
	nums     []int32 // sorted
	at       []int32 // the field of each of nums
	oneofs   [][]int
	required []int
	base     int // of its slots
	typ      *columnar.Type
	top      bool
	dummy    bool // it has no column but the one of an empty message
}

// find is the field of a number, guess the one that it probably is; -1 for a number that the message does not have.
func (m *message) find(num int32, guess int) int {
	if guess < len(m.fields) && m.fields[guess].num == num {
		return guess
	}
	if i, ok := slices.BinarySearch(m.nums, num); ok {
		return int(m.at[i])
	}
	return -1
}

// Schema is a message as a struct, to decode by. It is immutable.
type Schema struct {
	root  *message
	typ   *columnar.Type
	slots int
	opts  Options
	files *Files
}

// Type is the type of the values.
func (s *Schema) Type() *columnar.Type { return s.typ }

// Permissive tells whether a damaged message is NULL.
func (s *Schema) Permissive() bool { return s.opts.Permissive }

// NewSchema compiles a message. A message within itself is RECURSIVE_PROTOBUF_SCHEMA unless the options say how deep.
func NewSchema(files *Files, m protoreflect.MessageDescriptor, opts Options) (*Schema, error) {
	s := &Schema{opts: opts, files: files}
	root, err := s.message(m, map[protoreflect.FullName]int{m.FullName(): 1})
	if err != nil {
		return nil, err
	}
	root.top = true
	if len(root.typ.Fields) == 0 && opts.RetainEmpty {
		root.typ, root.dummy = dummy(), true
	}
	s.root, s.typ = root, root.typ
	return s, nil
}

func dummy() *columnar.Type {
	return columnar.StructOf(columnar.Field{Name: emptyField, Type: columnar.String, Nullable: true})
}

// message compiles a message; depth counts the messages around it, itself included.
func (s *Schema) message(d protoreflect.MessageDescriptor, depth map[protoreflect.FullName]int) (*message, error) {
	m := &message{}
	var cols []columnar.Field
	all := d.Fields()
	oneofs := map[int]int{}
	for i := range all.Len() {
		fd := all.Get(i)
		f, t, err := s.field(fd, depth)
		if err != nil {
			return nil, err
		}
		if f.col = -1; t != nil {
			f.col = len(cols)
			cols = append(cols, columnar.Field{Name: string(fd.Name()), Type: t, Nullable: !f.required})
		}
		if o := fd.ContainingOneof(); o != nil && !o.IsSynthetic() {
			k, ok := oneofs[o.Index()]
			if !ok {
				k = len(m.oneofs)
				oneofs[o.Index()] = k
				m.oneofs = append(m.oneofs, nil)
			}
			f.oneof = k
			m.oneofs[k] = append(m.oneofs[k], i)
		}
		if f.required {
			m.required = append(m.required, i)
		}
		m.fields = append(m.fields, f)
	}
	for i := range m.fields {
		m.at = append(m.at, int32(i))
	}
	slices.SortFunc(m.at, func(a, b int32) int { return int(m.fields[a].num) - int(m.fields[b].num) })
	for _, i := range m.at {
		m.nums = append(m.nums, m.fields[i].num)
	}
	m.typ = columnar.StructOf(cols...)
	m.base = s.slots
	s.slots += len(m.fields)
	return m, nil
}

// field compiles a field and gives its type, nil for one that is left out.
func (s *Schema) field(fd protoreflect.FieldDescriptor, depth map[protoreflect.FullName]int) (field, *columnar.Type, error) {
	f := field{
		num: int32(fd.Number()), kind: fd.Kind(), wire: wireOf(fd.Kind()), repeated: fd.IsList() || fd.IsMap(), required: fd.Cardinality() == protoreflect.Required,
		presence: fd.HasPresence(), oneof: -1, strict: fd.ParentFile().Syntax() != protoreflect.Proto2,
	}
	if fd.HasDefault() {
		f.hasDef = true
		f.defBits, f.defData = rawDefault(fd)
	}
	t, err := s.valueType(&f, fd, depth)
	if err != nil || t == nil {
		return f, nil, err
	}
	if fd.IsList() {
		t = columnar.ArrayOf(t, false)
	}
	return f, t, nil
}

func (s *Schema) valueType(f *field, fd protoreflect.FieldDescriptor, depth map[protoreflect.FullName]int) (*columnar.Type, error) {
	if t := plainType(fd.Kind()); t != nil {
		if s.opts.UpcastUint && (fd.Kind() == protoreflect.Uint32Kind || fd.Kind() == protoreflect.Uint64Kind) {
			f.conv = convUnsigned
			return upcast(fd.Kind()), nil
		}
		return t, nil
	}
	if fd.Kind() == protoreflect.EnumKind {
		f.enum = newEnum(fd.Enum(), s.opts.EnumsAsInts)
		if s.opts.EnumsAsInts {
			return columnar.Int32, nil
		}
		return columnar.String, nil
	}
	d := fd.Message()
	switch {
	case fd.IsMap():
		return s.mapType(f, d, depth)
	case isInstant(d, "Duration"):
		f.conv = convInstant
		sub, err := s.message(d, depth)
		f.sub = sub
		return columnar.DayTime(columnar.FieldDay, columnar.FieldSecond), err
	case isInstant(d, "Timestamp"):
		f.conv = convInstant
		sub, err := s.message(d, depth)
		f.sub = sub
		return columnar.Timestamp, err
	case s.opts.AnyAsJSON && d.FullName() == "google.protobuf.Any":
		f.conv = convAny
		sub, err := s.message(d, depth)
		f.sub = sub
		return columnar.String, err
	case s.opts.UnwrapWrapper && isWrapper(d):
		f.conv = convUnwrap
		sub, err := s.message(d, depth)
		if err != nil {
			return nil, err
		}
		f.sub = sub
		return sub.typ.Fields[0].Type, nil
	}
	f.conv = convStruct
	n := depth[d.FullName()]
	switch {
	case n > 0 && (s.opts.MaxDepth <= 0 || s.opts.MaxDepth > deepestRecursion):
		return nil, sparkerr.New("RECURSIVE_PROTOBUF_SCHEMA",
			"the field %q holds the message %q within itself; set the option %q to a number from 1 to %d", fd.FullName(), d.FullName(), "recursive.fields.max.depth", deepestRecursion)
	case n > 0 && n >= s.opts.MaxDepth:
		return nil, nil
	}
	depth[d.FullName()] = n + 1
	sub, err := s.message(d, depth)
	if depth[d.FullName()] = n; n == 0 {
		delete(depth, d.FullName())
	}
	if err != nil {
		return nil, err
	}
	f.sub = sub
	if len(sub.typ.Fields) == 0 {
		if !s.opts.RetainEmpty {
			return nil, nil
		}
		sub.typ, sub.dummy = dummy(), true
	}
	return sub.typ, nil
}

func (s *Schema) mapType(f *field, d protoreflect.MessageDescriptor, depth map[protoreflect.FullName]int) (*columnar.Type, error) {
	f.conv = convMap
	entry, err := s.message(d, depth)
	if err != nil || len(entry.typ.Fields) < 2 {
		return nil, err
	}
	f.sub = entry
	return columnar.MapOf(entry.typ.Fields[0].Type, entry.typ.Fields[1].Type, false), nil
}

// isInstant tells whether a message is one of seconds and nanos, with Google's name in whatever package.
func isInstant(d protoreflect.MessageDescriptor, name protoreflect.Name) bool {
	f := d.Fields()
	return d.Name() == name && f.Len() == 2 && f.Get(0).Name() == "seconds" && f.Get(1).Name() == "nanos"
}

func isWrapper(d protoreflect.MessageDescriptor) bool {
	switch d.FullName() {
	case "google.protobuf.BoolValue", "google.protobuf.Int32Value", "google.protobuf.UInt32Value", "google.protobuf.Int64Value", "google.protobuf.UInt64Value",
		"google.protobuf.StringValue", "google.protobuf.BytesValue", "google.protobuf.FloatValue", "google.protobuf.DoubleValue":
		return true
	}
	return false
}

// plainType is the type of a kind that is neither an enumeration nor a message.
func plainType(k protoreflect.Kind) *columnar.Type {
	switch k {
	case protoreflect.BoolKind:
		return columnar.Bool
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind, protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return columnar.Int32
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return columnar.Int64
	case protoreflect.FloatKind:
		return columnar.Float32
	case protoreflect.DoubleKind:
		return columnar.Float64
	case protoreflect.StringKind:
		return columnar.String
	case protoreflect.BytesKind:
		return columnar.Binary
	}
	return nil
}

func upcast(k protoreflect.Kind) *columnar.Type {
	if k == protoreflect.Uint32Kind {
		return columnar.Int64
	}
	return columnar.Decimal(20, 0)
}

func newEnum(d protoreflect.EnumDescriptor, ints bool) *enum {
	e := &enum{name: string(d.Name()), ints: ints, closed: d.IsClosed()}
	all := d.Values()
	byNum := map[int32]string{}
	for i := range all.Len() {
		v := all.Get(i)
		if _, alias := byNum[int32(v.Number())]; !alias {
			byNum[int32(v.Number())] = string(v.Name())
			e.nums = append(e.nums, int32(v.Number()))
		}
	}
	slices.Sort(e.nums)
	for _, n := range e.nums {
		e.names = append(e.names, byNum[n])
	}
	return e
}

// rawDefault is an explicit default as the wire would have it.
func rawDefault(fd protoreflect.FieldDescriptor) (bits uint64, data []byte) {
	v := fd.Default()
	switch fd.Kind() {
	case protoreflect.BoolKind:
		if v.Bool() {
			bits = 1
		}
	case protoreflect.EnumKind:
		bits = uint64(int64(v.Enum()))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		bits = v.Uint()
	case protoreflect.FloatKind:
		bits = uint64(math.Float32bits(float32(v.Float())))
	case protoreflect.DoubleKind:
		bits = math.Float64bits(v.Float())
	case protoreflect.StringKind:
		data = []byte(v.String())
	case protoreflect.BytesKind:
		data = v.Bytes()
	default:
		bits = uint64(v.Int())
	}
	return bits, data
}
