package avrofmt

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
)

// Schema is an Avro schema for values that stand alone, without a file's header, such as those in the messages
// of a broker. It is immutable.
type Schema struct {
	root *node
	text string
}

// ParseSchema reads a schema in JSON.
func ParseSchema(text string) (*Schema, error) {
	root, err := parseSchema([]byte(text))
	if err != nil {
		return nil, err
	}
	return &Schema{root, text}, nil
}

// SchemaOf is the schema that values of a type are written with when none is given. A type that Avro cannot hold is
// an error.
func SchemaOf(t *columnar.Type, nullable bool) (*Schema, error) {
	v, err := nullableJSON(t, nullable, "topLevelRecord", "")
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return ParseSchema(string(text))
}

// Type is the type of the values.
func (s *Schema) Type() *columnar.Type { return s.root.typ }

// Nullable tells whether a value may be null.
func (s *Schema) Nullable() bool { return s.root.null }

// String is the schema in JSON.
func (s *Schema) String() string { return s.text }

// Check tells whether data is a value of the schema; bytes behind it do not count.
func (s *Schema) Check(data []byte) error {
	in := source{b: data, free: 1 << 16}
	in.read(s.root, nil)
	return in.err
}

// Decode appends the value in data to b, a builder of the schema's type. After an error b is of no more use;
// Check finds nearly all of them beforehand.
func (s *Schema) Decode(b *columnar.Builder, data []byte) error {
	in := source{b: data, free: 1 << 16}
	in.read(s.root, b)
	return in.err
}

// Encode appends row i of c, a column of the schema's type, to dst. A null where none may be, and a text that is no
// symbol of an enum, are errors.
func (s *Schema) Encode(dst []byte, c *columnar.Column, i int) ([]byte, error) {
	return s.root.encode(dst, c, i)
}

func (n *node) encode(dst []byte, c *columnar.Column, i int) ([]byte, error) {
	if n.kind == kindUnion {
		return n.encodeUnion(dst, c, i)
	}
	if n.kind == kindNull {
		return dst, nil
	}
	if c.IsNull(i) {
		return nil, fmt.Errorf("a NULL where the Avro schema has %s, which may be none", n.typ.SQL())
	}
	var err error
	switch n.kind {
	case kindBoolean:
		if c.Bits.Get(i) {
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	case kindInt:
		v := int64(0)
		if c.Type.Width() == 8 {
			v = columnar.Values[int64](c)[i] / 1e6 // time-millis
		} else {
			v = int64(columnar.Values[int32](c)[i])
		}
		return appendLong(dst, v), nil
	case kindLong:
		v := columnar.Values[int64](c)[i]
		switch n.logical {
		case "timestamp-millis", "local-timestamp-millis":
			v = javatext.FloorDiv(v, 1000)
		case "time-micros":
			v /= 1000
		}
		return appendLong(dst, v), nil
	case kindFloat:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(columnar.Values[float32](c)[i])), nil
	case kindDouble:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(columnar.Values[float64](c)[i])), nil
	case kindBytes, kindFixed:
		return n.encodeBytes(dst, c, i)
	case kindString:
		return appendBytes(dst, c.BytesAt(i)), nil
	case kindEnum:
		k := slices.Index(n.symbols, c.StringAt(i))
		if k < 0 {
			return nil, fmt.Errorf("%q is none of the symbols %q of the Avro schema", c.StringAt(i), n.symbols)
		}
		return appendLong(dst, int64(k)), nil
	case kindArray, kindMap:
		from, to := int(c.Offsets[i]), int(c.Offsets[i+1])
		if from < to {
			dst = appendLong(dst, int64(to-from))
		}
		for j := from; j < to; j++ {
			if n.kind == kindMap {
				dst = appendBytes(dst, c.Children[0].BytesAt(j))
			}
			if dst, err = n.kids[0].encode(dst, c.Children[len(c.Children)-1], j); err != nil {
				return nil, err
			}
		}
		return append(dst, 0), nil
	}
	for k, f := range n.kids {
		if dst, err = f.encode(dst, c.Children[k], i); err != nil {
			return nil, fmt.Errorf("field %q: %w", n.typ.Fields[k].Name, err)
		}
	}
	return dst, nil
}

// encodeBytes writes binary values and decimals, which are whole numbers in the fewest bytes or in a fixed number.
func (n *node) encodeBytes(dst []byte, c *columnar.Column, i int) ([]byte, error) {
	v := c.BytesAt
	var raw []byte
	if n.typ.Kind == columnar.KindDecimal {
		d := columnar.Values[columnar.Dec128](c)[i]
		raw = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(d.Hi)), d.Lo)
		sign := byte(d.Hi >> 63)
		least := 1
		if n.kind == kindFixed {
			least = n.size
		}
		for len(raw) > least && raw[0] == sign && raw[1]&0x80 == sign&0x80 {
			raw = raw[1:]
		}
		for len(raw) < least {
			raw = append([]byte{sign}, raw...)
		}
	} else {
		raw = v(i)
	}
	if n.kind == kindBytes {
		return appendBytes(dst, raw), nil
	}
	if len(raw) != n.size {
		return nil, fmt.Errorf("%d bytes where the Avro schema has a fixed of %d", len(raw), n.size)
	}
	return append(dst, raw...), nil
}

func (n *node) encodeUnion(dst []byte, c *columnar.Column, i int) ([]byte, error) {
	at := slices.IndexFunc(n.kids, func(k *node) bool { return (k.kind == kindNull) == c.IsNull(i) && (c.IsNull(i) || k.typ.Equal(c.Type)) })
	if at < 0 {
		return nil, fmt.Errorf("the union of the Avro schema has no branch for a value of %s", n.typ.SQL())
	}
	return n.kids[at].encode(appendLong(dst, int64(at)), c, i)
}
