package protofmt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/wstream/wstream/columnar/javatext"
)

// anyJSON prints the message in a google.protobuf.Any as Java's JsonFormat does: names as in the .proto file, no blanks,
// what is not set left out. The message must be in files.
func anyJSON(files *Files, url string, value []byte, enumsAsInts bool) ([]byte, error) {
	p := &jsonPrinter{types: dynamicpb.NewTypes(files.types), enumsAsInts: enumsAsInts}
	if err := p.any(url, value); err != nil {
		return nil, err
	}
	return p.dst, nil
}

type jsonPrinter struct {
	dst         []byte
	types       *dynamicpb.Types
	enumsAsInts bool
}

func (p *jsonPrinter) any(url string, value []byte) error {
	if url == "" && len(value) == 0 {
		p.dst = append(p.dst, "{}"...)
		return nil
	}
	t, err := p.types.FindMessageByURL(url)
	if err != nil {
		return fmt.Errorf("a google.protobuf.Any holds %q, which is not in the descriptor: %w", url, err)
	}
	m := t.New()
	if err := proto.Unmarshal(value, m.Interface()); err != nil {
		return err
	}
	p.dst = append(p.dst, `{"@type":`...)
	p.string(url)
	if strings.HasPrefix(string(m.Descriptor().FullName()), "google.protobuf.") && m.Descriptor().FullName() != "google.protobuf.Empty" {
		p.dst = append(p.dst, `,"value":`...)
		if err := p.message(m); err != nil {
			return err
		}
	} else if err := p.fields(m, true); err != nil {
		return err
	}
	p.dst = append(p.dst, '}')
	return nil
}

func (p *jsonPrinter) message(m protoreflect.Message) error {
	name := m.Descriptor().FullName()
	switch {
	case name == "google.protobuf.Any":
		f := m.Descriptor().Fields()
		return p.any(m.Get(f.ByNumber(1)).String(), m.Get(f.ByNumber(2)).Bytes())
	case isWrapper(m.Descriptor()):
		fd := m.Descriptor().Fields().Get(0)
		return p.value(fd, m.Get(fd))
	case strings.HasPrefix(string(name), "google.protobuf.") && name.Parent() == "google.protobuf" && name != "google.protobuf.Empty":
		text, err := protojson.MarshalOptions{UseProtoNames: true, UseEnumNumbers: p.enumsAsInts, Resolver: p.types}.Marshal(m.Interface())
		if err != nil {
			return err
		}
		var flat bytes.Buffer
		if err := json.Compact(&flat, text); err != nil {
			return err
		}
		p.dst = append(p.dst, flat.Bytes()...)
		return nil
	}
	p.dst = append(p.dst, '{')
	if err := p.fields(m, false); err != nil {
		return err
	}
	p.dst = append(p.dst, '}')
	return nil
}

// fields prints what is set of a message, by the numbers of the fields.
func (p *jsonPrinter) fields(m protoreflect.Message, comma bool) error {
	var set []protoreflect.FieldDescriptor
	m.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		set = append(set, fd)
		return true
	})
	slices.SortFunc(set, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number()) - int(b.Number()) })
	for _, fd := range set {
		if comma {
			p.dst = append(p.dst, ',')
		}
		comma = true
		p.string(string(fd.Name()))
		p.dst = append(p.dst, ':')
		if err := p.field(fd, m.Get(fd)); err != nil {
			return err
		}
	}
	return nil
}

func (p *jsonPrinter) field(fd protoreflect.FieldDescriptor, v protoreflect.Value) error {
	switch {
	case fd.IsList():
		p.dst = append(p.dst, '[')
		for i := range v.List().Len() {
			if i > 0 {
				p.dst = append(p.dst, ',')
			}
			if err := p.value(fd, v.List().Get(i)); err != nil {
				return err
			}
		}
		p.dst = append(p.dst, ']')
		return nil
	case fd.IsMap():
		var keys []protoreflect.MapKey
		v.Map().Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
			keys = append(keys, k)
			return true
		})
		slices.SortFunc(keys, func(a, b protoreflect.MapKey) int { return strings.Compare(a.String(), b.String()) })
		p.dst = append(p.dst, '{')
		for i, k := range keys {
			if i > 0 {
				p.dst = append(p.dst, ',')
			}
			p.string(k.String())
			p.dst = append(p.dst, ':')
			if err := p.value(fd.MapValue(), v.Map().Get(k)); err != nil {
				return err
			}
		}
		p.dst = append(p.dst, '}')
		return nil
	}
	return p.value(fd, v)
}

func (p *jsonPrinter) value(fd protoreflect.FieldDescriptor, v protoreflect.Value) error {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		p.dst = strconv.AppendBool(p.dst, v.Bool())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		p.dst = strconv.AppendInt(p.dst, v.Int(), 10)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		p.dst = strconv.AppendUint(p.dst, v.Uint(), 10)
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		p.dst = append(strconv.AppendInt(append(p.dst, '"'), v.Int(), 10), '"')
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		p.dst = append(strconv.AppendUint(append(p.dst, '"'), v.Uint(), 10), '"')
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		f := v.Float()
		switch {
		case math.IsNaN(f):
			p.dst = append(p.dst, `"NaN"`...)
		case math.IsInf(f, 1):
			p.dst = append(p.dst, `"Infinity"`...)
		case math.IsInf(f, -1):
			p.dst = append(p.dst, `"-Infinity"`...)
		case fd.Kind() == protoreflect.FloatKind:
			p.dst = javatext.AppendFloat(p.dst, float32(f))
		default:
			p.dst = javatext.AppendDouble(p.dst, f)
		}
	case protoreflect.StringKind:
		p.string(v.String())
	case protoreflect.BytesKind:
		p.dst = append(base64.StdEncoding.AppendEncode(append(p.dst, '"'), v.Bytes()), '"')
	case protoreflect.EnumKind:
		d := fd.Enum().Values().ByNumber(v.Enum())
		switch {
		case fd.Enum().FullName() == "google.protobuf.NullValue":
			p.dst = append(p.dst, "null"...)
		case d == nil || p.enumsAsInts:
			p.dst = strconv.AppendInt(p.dst, int64(v.Enum()), 10)
		default:
			p.string(string(d.Name()))
		}
	default:
		return p.message(v.Message())
	}
	return nil
}

// string prints a text as Gson does, which keeps what means something in HTML out.
func (p *jsonPrinter) string(s string) {
	const hex = "0123456789abcdef"
	p.dst = append(p.dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			p.dst = append(p.dst, '\\', byte(r))
		case r == '\n':
			p.dst = append(p.dst, `\n`...)
		case r == '\r':
			p.dst = append(p.dst, `\r`...)
		case r == '\t':
			p.dst = append(p.dst, `\t`...)
		case r == '\b':
			p.dst = append(p.dst, `\b`...)
		case r == '\f':
			p.dst = append(p.dst, `\f`...)
		case r < 0x20, r == '<', r == '>', r == '&', r == '=', r == '\'', r == 0x2028, r == 0x2029:
			p.dst = append(p.dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			p.dst = utf8.AppendRune(p.dst, r)
		}
	}
	p.dst = append(p.dst, '"')
}
