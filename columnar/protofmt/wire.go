package protofmt

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// The wire types.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wireStart  = 3
	wireEnd    = 4
	wire32     = 5
)

// deepestGroup bounds groups within groups, as Google's own readers bound messages.
const deepestGroup = 100

// What a message can be damaged by. They are fixed, since a stream may hold many such messages.
var (
	errShort    = errors.New("the message ends within a field")
	errVarint   = errors.New("a number of more than ten bytes")
	errTag      = errors.New("a field with the number 0 or a wire type that there is not")
	errGroup    = errors.New("the end of a group that has not begun, or groups too deep")
	errUTF8     = errors.New("a string that is not UTF-8")
	errWire     = errors.New("a field whose wire type is not that of the schema, or a number that its enumeration does not have")
	errRequired = errors.New("a required field is missing")
)

func wireOf(k protoreflect.Kind) uint8 {
	switch k {
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return wire64
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return wire32
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return wireBytes
	case protoreflect.GroupKind:
		return wireStart
	}
	return wireVarint
}

// uvarint reads a number at p and gives the position behind it, or an error.
func uvarint(data []byte, p int) (uint64, int, error) {
	if p < len(data) && data[p] < 0x80 {
		return uint64(data[p]), p + 1, nil
	}
	var v uint64
	for shift := uint(0); shift < 70; shift += 7 {
		if p >= len(data) {
			return 0, p, errShort
		}
		c := data[p]
		p++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, p, nil
		}
	}
	return 0, p, errVarint
}

// tag reads a field's number and wire type. Bits beyond the 32nd do not count, as in the Java reader that Spark uses.
func tag(data []byte, p int) (num int32, wire uint8, next int, err error) {
	v, p, err := uvarint(data, p)
	if err != nil {
		return 0, 0, p, err
	}
	v = uint64(uint32(v))
	num, wire = int32(v>>3), uint8(v&7)
	if num == 0 || wire > wire32 {
		return 0, 0, p, errTag
	}
	return num, wire, p, nil
}

// block reads bytes with their length before them. Of the length 32 bits count, as in a tag.
func block(data []byte, p int) ([]byte, int, error) {
	n, p, err := uvarint(data, p)
	if err != nil {
		return nil, p, err
	}
	n = uint64(uint32(n))
	if n > uint64(len(data)-p) {
		return nil, p, errShort
	}
	return data[p : p+int(n)], p + int(n), nil
}

// group is what stands between the start of a group and its end.
func group(data []byte, p int, num int32) ([]byte, int, error) {
	from := p
	for {
		at := p
		n, w, q, err := tag(data, p)
		if err != nil {
			return nil, p, err
		}
		if w == wireEnd {
			if n != num {
				return nil, p, errGroup
			}
			return data[from:at], q, nil
		}
		if p, err = skip(data, q, n, w, deepestGroup); err != nil {
			return nil, p, err
		}
	}
}

// skip passes over a value.
func skip(data []byte, p int, num int32, wire uint8, depth int) (int, error) {
	switch wire {
	case wireVarint:
		_, p, err := uvarint(data, p)
		return p, err
	case wireBytes:
		_, p, err := block(data, p)
		return p, err
	case wire64, wire32:
		n := 8
		if wire == wire32 {
			n = 4
		}
		if len(data)-p < n {
			return p, errShort
		}
		return p + n, nil
	case wireStart:
		if depth == 0 {
			return p, errGroup
		}
		for {
			n, w, q, err := tag(data, p)
			if err != nil {
				return p, err
			}
			if w == wireEnd {
				if n != num {
					return p, errGroup
				}
				return q, nil
			}
			if p, err = skip(data, q, n, w, depth-1); err != nil {
				return p, err
			}
		}
	}
	return p, errGroup
}

// scalar reads a value that is no bytes, message or group.
func scalar(data []byte, p int, wire uint8) (uint64, int, error) {
	switch wire {
	case wire64:
		if len(data)-p < 8 {
			return 0, p, errShort
		}
		return binary.LittleEndian.Uint64(data[p:]), p + 8, nil
	case wire32:
		if len(data)-p < 4 {
			return 0, p, errShort
		}
		return uint64(binary.LittleEndian.Uint32(data[p:])), p + 4, nil
	}
	return uvarint(data, p)
}

// zigzag undoes the encoding of signed numbers.
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
