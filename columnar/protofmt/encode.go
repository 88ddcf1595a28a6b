package protofmt

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// outField is a field of a message that is written from a column.
type outField struct {
	num      int32
	name     string // of the column, for messages
	kind     protoreflect.Kind
	col      int
	conv     outConv
	repeated bool
	packed   bool
	required bool
	presence bool
	defBits  uint64 // the default, which a field without presence is not written for
	defData  []byte
	symbols  map[string]int32
	nums     map[int32]bool
	sub      *outMessage
}

type outConv uint8

const (
	outPlain outConv = iota
	outStruct
	outMap
	outTimestamp
	outDuration
	outWrap
	outEnumName
	outEnumNumber
	outUnsigned
	outNothing
)

type outMessage struct {
	fields []outField // by number
}

// Encoder writes structs as messages. It is immutable, so that it may serve many goroutines.
type Encoder struct{ root *outMessage }

// NewEncoder compiles how a struct becomes a message: fields are found by name in any case. A column that the message
// lacks is NO_SQL_TYPE_IN_PROTOBUF_SCHEMA, a required field without a column PROTOBUF_FIELD_MISSING_IN_SQL_SCHEMA, types
// that do not fit are UNABLE_TO_CONVERT_TO_PROTOBUF_MESSAGE_TYPE.
func NewEncoder(m protoreflect.MessageDescriptor, t *columnar.Type) (*Encoder, error) {
	root, err := outMessageOf(m, t, nil)
	if err != nil {
		return nil, sparkerr.New("UNABLE_TO_CONVERT_TO_PROTOBUF_MESSAGE_TYPE", "unable to convert the SQL type \"%s\" to the Protobuf message %q", t.SQL(), m.Name()).WithCause(err)
	}
	return &Encoder{root}, nil
}

func pathOf(path []string) string {
	if len(path) == 0 {
		return "top-level record"
	}
	return "field '" + strings.Join(path, ".") + "'"
}

func outMessageOf(d protoreflect.MessageDescriptor, t *columnar.Type, path []string) (*outMessage, error) {
	m := &outMessage{}
	used := map[protoreflect.FieldNumber]bool{}
	for i, c := range t.Fields {
		var found []protoreflect.FieldDescriptor
		for k := range d.Fields().Len() {
			if fd := d.Fields().Get(k); strings.EqualFold(string(fd.Name()), c.Name) {
				found = append(found, fd)
			}
		}
		at := append(slices.Clone(path), c.Name)
		switch {
		case len(found) == 0:
			return nil, sparkerr.New("NO_SQL_TYPE_IN_PROTOBUF_SCHEMA", "cannot find %s in the Protobuf message %q", pathOf(at), d.FullName())
		case len(found) > 1:
			return nil, sparkerr.New("PROTOBUF_FIELD_MISSING", "searching for %q in the Protobuf message %q gave %d matches", c.Name, d.FullName(), len(found))
		}
		f, err := outFieldOf(found[0], c.Type, at)
		if err != nil {
			return nil, err
		}
		f.col = i
		used[found[0].Number()] = true
		m.fields = append(m.fields, f)
	}
	for k := range d.Fields().Len() {
		if fd := d.Fields().Get(k); fd.Cardinality() == protoreflect.Required && !used[fd.Number()] {
			return nil, sparkerr.New("PROTOBUF_FIELD_MISSING_IN_SQL_SCHEMA", "found %s in the Protobuf schema but there is no match in the SQL schema", pathOf(append(slices.Clone(path), string(fd.Name()))))
		}
	}
	slices.SortStableFunc(m.fields, func(a, b outField) int { return int(a.num) - int(b.num) })
	return m, nil
}

func outFieldOf(fd protoreflect.FieldDescriptor, t *columnar.Type, path []string) (outField, error) {
	f := outField{num: int32(fd.Number()), name: strings.Join(path, "."), kind: fd.Kind(), required: fd.Cardinality() == protoreflect.Required, presence: fd.HasPresence()}
	bad := func() (outField, error) {
		return f, sparkerr.New("CANNOT_CONVERT_SQL_TYPE_TO_PROTOBUF_FIELD_TYPE",
			"cannot convert SQL %s to Protobuf %s because schema is incompatible (protobufType = %s, sqlType = \"%s\")", pathOf(path), fd.FullName(), fd.Kind(), t.SQL())
	}
	if !fd.IsList() && fd.Message() == nil {
		f.defBits, f.defData = rawDefault(fd)
	}
	if fd.IsMap() {
		if t.Kind != columnar.KindMap {
			return bad()
		}
		key, err := outFieldOf(fd.MapKey(), t.Key, append(slices.Clone(path), "key"))
		if err != nil {
			return f, err
		}
		value, err := outFieldOf(fd.MapValue(), t.Elem, append(slices.Clone(path), "value"))
		if err != nil {
			return f, err
		}
		value.col = 1
		f.conv, f.sub, f.repeated = outMap, &outMessage{fields: []outField{key, value}}, true
		return f, nil
	}
	if fd.IsList() {
		if t.Kind != columnar.KindArray {
			return bad()
		}
		f.repeated, f.packed = true, fd.IsPacked()
		t = t.Elem
	}
	ok := false
	switch t.Kind {
	case columnar.KindNull:
		f.conv, ok = outNothing, true
	case columnar.KindDecimal:
		f.conv = outUnsigned
		ok = fd.Kind() == protoreflect.Uint64Kind && t.Precision == 20 && t.Scale == 0
	case columnar.KindInt64:
		p := plainType(fd.Kind())
		switch {
		case fd.Kind() == protoreflect.Uint32Kind:
			f.conv, ok = outUnsigned, true
		default:
			ok = p == columnar.Int64
		}
	case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32, columnar.KindDate:
		ok = plainType(fd.Kind()) == columnar.Int32
		if fd.Kind() == protoreflect.EnumKind && t.Kind == columnar.KindInt32 {
			f.conv, ok = outEnumNumber, true
			f.nums = map[int32]bool{}
			for i := range fd.Enum().Values().Len() {
				f.nums[int32(fd.Enum().Values().Get(i).Number())] = true
			}
		}
	case columnar.KindString:
		ok = fd.Kind() == protoreflect.StringKind
		if fd.Kind() == protoreflect.EnumKind {
			f.conv, ok = outEnumName, true
			f.symbols = map[string]int32{}
			for i := range fd.Enum().Values().Len() {
				v := fd.Enum().Values().Get(i)
				f.symbols[string(v.Name())] = int32(v.Number())
			}
		}
	case columnar.KindBool, columnar.KindFloat32, columnar.KindFloat64, columnar.KindBinary:
		ok = plainType(fd.Kind()) == t
	case columnar.KindTimestamp:
		f.conv = outTimestamp
		ok = fd.Message() != nil && isInstant(fd.Message(), "Timestamp")
	case columnar.KindDayTime:
		f.conv = outDuration
		ok = fd.Message() != nil && isInstant(fd.Message(), "Duration")
	case columnar.KindStruct:
		if fd.Message() != nil {
			sub, err := outMessageOf(fd.Message(), t, path)
			if err != nil {
				return f, err
			}
			f.conv, f.sub, ok = outStruct, sub, true
		}
	}
	if !ok && fd.Message() != nil && isWrapper(fd.Message()) {
		sub, err := outFieldOf(fd.Message().Fields().Get(0), t, path)
		if err == nil && !sub.repeated && sub.sub == nil {
			f.conv, f.sub, ok = outWrap, &outMessage{fields: []outField{sub}}, true
		}
	}
	if !ok {
		return bad()
	}
	return f, nil
}

// Encode appends row i of c, a struct of the encoder's type, as a message.
func (e *Encoder) Encode(dst []byte, c *columnar.Column, i int) ([]byte, error) {
	return e.root.encode(dst, c, i)
}

func (m *outMessage) encode(dst []byte, c *columnar.Column, i int) ([]byte, error) {
	var err error
	for k := range m.fields {
		f := &m.fields[k]
		if dst, err = f.encode(dst, c.Children[f.col], i); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// encode appends row i of the field's column with its tag, or nothing.
func (f *outField) encode(dst []byte, c *columnar.Column, i int) ([]byte, error) {
	if f.conv == outNothing && !f.repeated {
		return dst, nil
	}
	if c.IsNull(i) {
		switch {
		case f.repeated || !f.required:
			return dst, nil
		case f.sub != nil || f.conv == outTimestamp || f.conv == outDuration:
			return nil, fmt.Errorf("the required field %q is NULL", f.name)
		}
		if f.wire() == wireBytes {
			return f.appendBytes(dst, f.defData), nil
		}
		return f.appendBits(f.appendTag(dst), f.defBits), nil
	}
	if f.conv == outMap {
		return f.entries(dst, c, i)
	}
	if !f.repeated {
		return f.value(dst, c, i, f.presence)
	}
	from, to := int(c.Offsets[i]), int(c.Offsets[i+1])
	elems := c.Children[0]
	for j := from; j < to; j++ {
		if elems.IsNull(j) {
			return nil, fmt.Errorf("the repeated field %q has a NULL, which Protobuf cannot hold", f.name)
		}
	}
	if !f.packed || from == to {
		var err error
		for j := from; j < to && err == nil; j++ {
			dst, err = f.value(dst, elems, j, true)
		}
		return dst, err
	}
	dst = binary.AppendUvarint(dst, uint64(f.num)<<3|wireBytes)
	return lengthFirst(dst, func(dst []byte) ([]byte, error) {
		for j := from; j < to; j++ {
			bits, err := f.bits(elems, j)
			if err != nil {
				return nil, err
			}
			dst = f.appendBits(dst, bits)
		}
		return dst, nil
	})
}

func (f *outField) wire() uint64 {
	switch f.kind {
	case protoreflect.MessageKind:
		return wireBytes
	}
	return uint64(wireOf(f.kind))
}

func (f *outField) appendTag(dst []byte) []byte {
	return binary.AppendUvarint(dst, uint64(f.num)<<3|f.wire())
}

func (f *outField) appendBytes(dst, v []byte) []byte {
	return append(binary.AppendUvarint(f.appendTag(dst), uint64(len(v))), v...)
}

// lengthFirst appends what body appends, with its length before it. Most lengths take one byte, which is left free.
func lengthFirst(dst []byte, body func([]byte) ([]byte, error)) ([]byte, error) {
	at := len(dst)
	dst, err := body(append(dst, 0))
	if err != nil {
		return nil, err
	}
	n := len(dst) - at - 1
	if n < 0x80 {
		dst[at] = byte(n)
		return dst, nil
	}
	var head [binary.MaxVarintLen64]byte
	k := binary.PutUvarint(head[:], uint64(n))
	dst = append(dst, head[:k-1]...)
	copy(dst[at+k:], dst[at+1:at+1+n])
	copy(dst[at:], head[:k])
	return dst, nil
}

// value appends a value that is not NULL; without always a default is left out.
func (f *outField) value(dst []byte, c *columnar.Column, i int, always bool) ([]byte, error) {
	switch f.conv {
	case outNothing:
		return dst, nil
	case outStruct:
		if f.kind == protoreflect.GroupKind {
			dst, err := f.sub.encode(f.appendTag(dst), c, i)
			if err != nil {
				return nil, err
			}
			return binary.AppendUvarint(dst, uint64(f.num)<<3|wireEnd), nil
		}
		return lengthFirst(f.appendTag(dst), func(dst []byte) ([]byte, error) { return f.sub.encode(dst, c, i) })
	case outWrap:
		return lengthFirst(f.appendTag(dst), func(dst []byte) ([]byte, error) { return f.sub.fields[0].value(dst, c, i, false) })
	case outTimestamp, outDuration:
		micros := columnar.Values[int64](c)[i]
		if f.conv == outDuration {
			micros = cutInterval(micros, c.Type)
		}
		return lengthFirst(f.appendTag(dst), func(dst []byte) ([]byte, error) { return appendInstant(dst, micros), nil })
	}
	if f.wire() == wireBytes {
		v := c.BytesAt(i)
		if !always && string(v) == string(f.defData) {
			return dst, nil
		}
		return f.appendBytes(dst, v), nil
	}
	bits, err := f.bits(c, i)
	if err != nil {
		return nil, err
	}
	if !always && bits == f.defBits {
		return dst, nil
	}
	return f.appendBits(f.appendTag(dst), bits), nil
}

// appendInstant appends seconds and nanos. As Spark has it, only milliseconds are kept.
func appendInstant(dst []byte, micros int64) []byte {
	millis := micros / 1000
	if micros%1000 < 0 {
		millis--
	}
	if s := millis / 1000; s != 0 {
		dst = binary.AppendUvarint(append(dst, 1<<3|wireVarint), uint64(s))
	}
	if n := millis % 1000 * 1_000_000; n != 0 {
		dst = binary.AppendUvarint(append(dst, 2<<3|wireVarint), uint64(n))
	}
	return dst
}

// cutInterval is an interval as its text has it: without what is below its last field.
func cutInterval(micros int64, t *columnar.Type) int64 {
	unit := int64(1)
	switch t.End {
	case columnar.FieldDay:
		unit = 86_400_000_000
	case columnar.FieldHour:
		unit = 3_600_000_000
	case columnar.FieldMinute:
		unit = 60_000_000
	}
	return micros / unit * unit
}

// bits is a number as scalar gives it back: sign-extended where it is signed.
func (f *outField) bits(c *columnar.Column, i int) (uint64, error) {
	switch f.conv {
	case outEnumName:
		n, ok := f.symbols[c.StringAt(i)]
		if !ok {
			return 0, sparkerr.New("CANNOT_CONVERT_SQL_VALUE_TO_PROTOBUF_ENUM_TYPE", "cannot convert SQL field '%s' to Protobuf because %q is not in defined values for enum", f.name, c.StringAt(i))
		}
		return uint64(int64(n)), nil
	case outEnumNumber:
		n := columnar.Values[int32](c)[i]
		if !f.nums[n] {
			return 0, sparkerr.New("CANNOT_CONVERT_SQL_VALUE_TO_PROTOBUF_ENUM_TYPE", "cannot convert SQL field '%s' to Protobuf because %d is not in defined values for enum", f.name, n)
		}
		return uint64(int64(n)), nil
	case outUnsigned:
		if c.Type.Kind == columnar.KindDecimal {
			return columnar.Values[columnar.Dec128](c)[i].Lo, nil
		}
		return uint64(uint32(columnar.Values[int64](c)[i])), nil
	}
	switch c.Type.Kind {
	case columnar.KindBool:
		if c.Bits.Get(i) {
			return 1, nil
		}
		return 0, nil
	case columnar.KindInt8:
		return f.unsigned(int64(columnar.Values[int8](c)[i])), nil
	case columnar.KindInt16:
		return f.unsigned(int64(columnar.Values[int16](c)[i])), nil
	case columnar.KindInt32, columnar.KindDate:
		return f.unsigned(int64(columnar.Values[int32](c)[i])), nil
	case columnar.KindFloat32:
		return uint64(math.Float32bits(columnar.Values[float32](c)[i])), nil
	case columnar.KindFloat64:
		return math.Float64bits(columnar.Values[float64](c)[i]), nil
	}
	return uint64(columnar.Values[int64](c)[i]), nil
}

// unsigned keeps a number of 32 bits from being extended where the field has no sign.
func (f *outField) unsigned(v int64) uint64 {
	if f.kind == protoreflect.Uint32Kind || f.kind == protoreflect.Fixed32Kind {
		return uint64(uint32(v))
	}
	return uint64(v)
}

func (f *outField) appendBits(dst []byte, v uint64) []byte {
	switch f.wire() {
	case wire64:
		return binary.LittleEndian.AppendUint64(dst, v)
	case wire32:
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	switch f.kind {
	case protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		v = v<<1 ^ uint64(int64(v)>>63)
	}
	return binary.AppendUvarint(dst, v)
}

// entries appends a map: a value that is NULL is written as its default.
func (f *outField) entries(dst []byte, c *columnar.Column, i int) ([]byte, error) {
	key, value := &f.sub.fields[0], &f.sub.fields[1]
	var err error
	for j := int(c.Offsets[i]); j < int(c.Offsets[i+1]) && err == nil; j++ {
		dst, err = lengthFirst(binary.AppendUvarint(dst, uint64(f.num)<<3|wireBytes), func(dst []byte) ([]byte, error) {
			dst, err := key.value(dst, c.Children[0], j, key.presence)
			if err != nil {
				return nil, err
			}
			if !c.Children[1].IsNull(j) {
				return value.value(dst, c.Children[1], j, value.presence)
			}
			if value.sub != nil {
				return nil, fmt.Errorf("the map %q has a NULL where a message must stand", f.name)
			}
			return dst, nil
		})
	}
	return dst, err
}
