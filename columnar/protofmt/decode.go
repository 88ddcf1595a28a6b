package protofmt

import (
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
)

// slot is what was found of a field within the message at hand.
type slot struct {
	set  bool
	bits uint64
	data []byte
}

// Decoder decodes messages of a schema, one after the other. It serves one goroutine.
type Decoder struct {
	s     *Schema
	slots []slot
	name  []byte
}

// NewDecoder makes a decoder of s.
func NewDecoder(s *Schema) *Decoder { return &Decoder{s: s, slots: make([]slot, s.slots)} }

// Check tells whether data is a message of the schema.
func (d *Decoder) Check(data []byte) error { return d.message(d.s.root, data, nil) }

// Decode appends the message in data to b, a builder of the schema's type. After an error b is of no more use.
func (d *Decoder) Decode(b *columnar.Builder, data []byte) error {
	return d.message(d.s.root, data, b)
}

// message reads a message and appends it to b, a builder of its struct; without b it only looks.
func (d *Decoder) message(m *message, data []byte, b *columnar.Builder) error {
	if err := d.scan(m, data, b); err != nil {
		return err
	}
	slots := d.slots[m.base : m.base+len(m.fields)]
	for i := range m.fields {
		f := &m.fields[i]
		if f.col < 0 {
			continue
		}
		var c *columnar.Builder
		if b != nil {
			c = b.Child(f.col)
		}
		if err := d.emit(f, &slots[i], c, false); err != nil {
			return err
		}
	}
	if b != nil {
		if m.dummy {
			b.Child(0).AppendNull()
		}
		b.AppendNested()
	}
	return nil
}

// scan fills the slots of a message; the elements of repeated fields go into the builders at once.
func (d *Decoder) scan(m *message, data []byte, b *columnar.Builder) error {
	slots := d.slots[m.base : m.base+len(m.fields)]
	clear(slots)
	guess := 0
	for p := 0; p < len(data); {
		num, wire, q, err := tag(data, p)
		if err != nil {
			return err
		}
		if wire == wireEnd {
			return errGroup
		}
		i := m.find(num, guess)
		if i < 0 {
			if p, err = skip(data, q, num, wire, deepestGroup); err != nil {
				return err
			}
			continue
		}
		guess = i
		f := &m.fields[i]
		if f.repeated {
			if p, err = d.element(m, f, data, q, wire, b); err != nil {
				return err
			}
			continue
		}
		guess++
		if wire != f.wire {
			if m.top {
				return errWire
			}
			if p, err = skip(data, q, num, wire, deepestGroup); err != nil {
				return err
			}
			continue
		}
		if p, err = d.single(m, f, &slots[i], data, q); err != nil {
			return err
		}
	}
	for _, i := range m.required {
		if !slots[i].set {
			return errRequired
		}
	}
	return nil
}

// single reads the value of a field that is not repeated into its slot.
func (d *Decoder) single(m *message, f *field, s *slot, data []byte, p int) (int, error) {
	var err error
	switch f.wire {
	case wireBytes:
		var v []byte
		if v, p, err = block(data, p); err != nil {
			return p, err
		}
		d.bytes(m, f, s, v)
		if f.kind == protoreflect.StringKind && f.strict && !utf8.Valid(v) {
			return p, errUTF8
		}
	case wireStart:
		var v []byte
		if v, p, err = group(data, p, f.num); err != nil {
			return p, err
		}
		d.bytes(m, f, s, v)
	default:
		var v uint64
		if v, p, err = scalar(data, p, f.wire); err != nil {
			return p, err
		}
		if v = f.narrow(v); f.enum != nil && f.enum.closed && f.enum.find(int32(v)) < 0 {
			if m.top {
				return p, errWire
			}
			return p, nil
		}
		d.clearOthers(m, f, s)
		s.bits, s.set = v, f.presence || v != 0
	}
	return p, nil
}

// bytes sets a slot to bytes; a message that comes again is merged with what came before, which putting the bytes one
// behind the other does.
func (d *Decoder) bytes(m *message, f *field, s *slot, v []byte) {
	d.clearOthers(m, f, s)
	if s.set && f.sub != nil {
		v = append(append(make([]byte, 0, len(s.data)+len(v)), s.data...), v...)
	}
	s.data, s.set = v, f.presence || len(v) > 0
}

// clearOthers forgets the other members of a oneof.
func (d *Decoder) clearOthers(m *message, f *field, s *slot) {
	if f.oneof < 0 || s.set {
		return
	}
	for _, i := range m.oneofs[f.oneof] {
		d.slots[m.base+i] = slot{}
	}
}

// narrow brings a number from the wire to the width of its kind.
func (f *field) narrow(v uint64) uint64 {
	switch f.kind {
	case protoreflect.BoolKind:
		if v != 0 {
			return 1
		}
		return 0
	case protoreflect.Int32Kind, protoreflect.EnumKind, protoreflect.Sfixed32Kind:
		return uint64(int64(int32(v)))
	case protoreflect.Sint32Kind:
		return uint64(int64(int32(zigzag(uint64(uint32(v))))))
	case protoreflect.Sint64Kind:
		return uint64(zigzag(v))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return uint64(uint32(v))
	}
	return v
}

// element reads one or, packed, several elements of a repeated field.
func (d *Decoder) element(m *message, f *field, data []byte, p int, wire uint8, b *columnar.Builder) (int, error) {
	var list *columnar.Builder
	if b != nil && f.col >= 0 {
		list = b.Child(f.col)
	}
	if wire == wireBytes && f.wire != wireBytes && f.wire != wireStart {
		v, next, err := block(data, p)
		if err != nil {
			return next, err
		}
		for q := 0; q < len(v); {
			var bits uint64
			if bits, q, err = scalar(v, q, f.wire); err != nil {
				return q, err
			}
			if err := d.number(m, f, bits, list); err != nil {
				return q, err
			}
		}
		return next, nil
	}
	if wire != f.wire {
		if m.top {
			return p, errWire
		}
		return skip(data, p, f.num, wire, deepestGroup)
	}
	var v []byte
	var err error
	switch f.wire {
	case wireBytes:
		v, p, err = block(data, p)
	case wireStart:
		v, p, err = group(data, p, f.num)
	default:
		var bits uint64
		if bits, p, err = scalar(data, p, f.wire); err != nil {
			return p, err
		}
		return p, d.number(m, f, bits, list)
	}
	if err != nil || f.col < 0 {
		return p, err
	}
	if f.kind == protoreflect.StringKind && f.strict && !utf8.Valid(v) {
		return p, errUTF8
	}
	if f.conv == convMap {
		return p, d.entry(f.sub, v, list)
	}
	var c *columnar.Builder
	if list != nil {
		c = list.Child(0)
	}
	return p, d.value(f, &slot{set: true, data: v}, c)
}

// number appends an element that is a number.
func (d *Decoder) number(m *message, f *field, bits uint64, list *columnar.Builder) error {
	bits = f.narrow(bits)
	if f.enum != nil && f.enum.closed && f.enum.find(int32(bits)) < 0 {
		if m.top {
			return errWire
		}
		return nil
	}
	if list == nil {
		return nil
	}
	d.appendNumber(f, bits, list.Child(0))
	return nil
}

// entry appends an entry of a map: what is missing of it is the default.
func (d *Decoder) entry(m *message, data []byte, list *columnar.Builder) error {
	if err := d.scan(m, data, nil); err != nil {
		return err
	}
	for i := range m.fields {
		var c *columnar.Builder
		if list != nil {
			c = list.Child(i)
		}
		if err := d.emit(&m.fields[i], &d.slots[m.base+i], c, true); err != nil {
			return err
		}
	}
	return nil
}

// emit appends what was found of a field, or what stands for a field that is missing; always asks for a value.
func (d *Decoder) emit(f *field, s *slot, b *columnar.Builder, always bool) error {
	switch {
	case f.repeated:
		if b != nil {
			b.AppendNested()
		}
		return nil
	case s.set:
		return d.value(f, s, b)
	case f.hasDef:
		return d.value(f, &slot{set: true, bits: f.defBits, data: f.defData}, b)
	case always, !f.presence && d.s.opts.EmitDefaults:
		none := slot{set: true}
		if f.enum != nil && len(f.enum.nums) > 0 && f.enum.find(0) < 0 {
			none.bits = uint64(int64(f.enum.nums[0]))
		}
		return d.value(f, &none, b)
	case b != nil:
		b.AppendNull()
	}
	return nil
}

// value appends a value to the builder of its type.
func (d *Decoder) value(f *field, s *slot, b *columnar.Builder) error {
	switch f.conv {
	case convStruct:
		return d.message(f.sub, s.data, b)
	case convInstant:
		if err := d.scan(f.sub, s.data, nil); err != nil || b == nil {
			return err
		}
		k := d.slots[f.sub.base:]
		// As Spark has it: the seconds through milliseconds and the nanos cut to microseconds.
		b.AppendInt(int64(k[0].bits)*1_000_000 + int64(k[1].bits)/1000)
		return nil
	case convUnwrap:
		if err := d.scan(f.sub, s.data, nil); err != nil || b == nil {
			return err
		}
		return d.emit(&f.sub.fields[0], &d.slots[f.sub.base], b, false)
	case convAny:
		if err := d.scan(f.sub, s.data, nil); err != nil {
			return err
		}
		k := d.slots[f.sub.base:]
		text, err := anyJSON(d.s.files, string(k[0].data), k[1].data, d.s.opts.EnumsAsInts)
		if err == nil && b != nil {
			b.AppendBytes(text)
		}
		return err
	}
	if b == nil {
		return nil
	}
	switch f.kind {
	case protoreflect.StringKind:
		if !f.strict && !utf8.Valid(s.data) {
			b.AppendString(javatext.MakeValidUTF8(string(s.data)))
			return nil
		}
		b.AppendBytes(s.data)
	case protoreflect.BytesKind:
		b.AppendBytes(s.data)
	default:
		d.appendNumber(f, s.bits, b)
	}
	return nil
}

func (d *Decoder) appendNumber(f *field, bits uint64, b *columnar.Builder) {
	switch f.kind {
	case protoreflect.BoolKind:
		b.AppendBool(bits != 0)
	case protoreflect.FloatKind:
		b.AppendFloat(float64(math.Float32frombits(uint32(bits))))
	case protoreflect.DoubleKind:
		b.AppendFloat(math.Float64frombits(bits))
	case protoreflect.EnumKind:
		switch i := f.enum.find(int32(bits)); {
		case f.enum.ints:
			b.AppendInt(int64(int32(bits)))
		case i >= 0:
			b.AppendString(f.enum.names[i])
		default:
			d.name = append(append(append(d.name[:0], "UNKNOWN_ENUM_VALUE_"...), f.enum.name...), '_')
			b.AppendBytes(strconv.AppendInt(d.name, int64(int32(bits)), 10))
		}
	case protoreflect.Uint64Kind:
		if f.conv == convUnsigned {
			b.AppendDecimal(columnar.Dec128{Lo: bits})
			return
		}
		b.AppendInt(int64(bits))
	default:
		b.AppendInt(int64(bits))
	}
}
