package avrofmt

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/wstream/wstream/columnar"
)

var errBroken = errors.New("broken Avro data")

// source walks over the bytes of a block; an error stays.
type source struct {
	b    []byte
	err  error
	free int // elements without any byte that may still be read, so that a count cannot run away
}

func (s *source) fail() {
	if s.err == nil {
		s.err = errBroken
	}
	s.b = nil
}

func (s *source) long() int64 {
	u, n := binary.Uvarint(s.b)
	if n <= 0 {
		s.fail()
		return 0
	}
	s.b = s.b[n:]
	return int64(u>>1) ^ -int64(u&1)
}

func (s *source) int() int32 {
	v := s.long()
	if v != int64(int32(v)) {
		s.fail()
	}
	return int32(v)
}

func (s *source) take(n int64) []byte {
	if n < 0 || n > int64(len(s.b)) {
		s.fail()
		return nil
	}
	out := s.b[:n]
	s.b = s.b[n:]
	return out
}

func (s *source) bytes() []byte { return s.take(s.long()) }

// blocks calls f for each element of an array or map.
func (s *source) blocks(f func()) {
	for s.err == nil {
		n := s.long()
		if n == 0 {
			return
		}
		if n < 0 {
			if n = -n; n < 0 {
				s.fail()
				return
			}
			s.long() // the size in bytes
		}
		for ; n > 0 && s.err == nil; n-- {
			before := len(s.b)
			f()
			if len(s.b) == before {
				if s.free--; s.free < 0 {
					s.fail()
				}
			}
		}
	}
}

// read reads a value of a node into b, which has the node's type; a nil b passes over it.
func (s *source) read(n *node, b *columnar.Builder) {
	if s.err != nil {
		return
	}
	switch n.kind {
	case kindNull:
		if b != nil {
			b.AppendNull()
		}
	case kindBoolean:
		if v := s.take(1); b != nil && v != nil {
			b.AppendBool(v[0] != 0)
		}
	case kindInt:
		v := int64(s.int())
		if n.logical == "time-millis" {
			v *= 1e6
		}
		if b != nil {
			b.AppendInt(v)
		}
	case kindLong:
		v := s.long()
		switch n.logical {
		case "timestamp-millis", "local-timestamp-millis":
			if v > math.MaxInt64/1000 || v < math.MinInt64/1000 {
				s.fail()
			}
			v *= 1000
		case "time-micros":
			v *= 1000
		}
		if b != nil {
			b.AppendInt(v)
		}
	case kindFloat:
		if v := s.take(4); b != nil && v != nil {
			b.AppendFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(v))))
		}
	case kindDouble:
		if v := s.take(8); b != nil && v != nil {
			b.AppendFloat(math.Float64frombits(binary.LittleEndian.Uint64(v)))
		}
	case kindBytes, kindString:
		s.text(n, s.bytes(), b)
	case kindFixed:
		s.text(n, s.take(int64(n.size)), b)
	case kindEnum:
		i := s.int()
		if i < 0 || int(i) >= len(n.symbols) {
			s.fail()
		} else if b != nil {
			b.AppendString(n.symbols[i])
		}
	case kindArray:
		var elem *columnar.Builder
		if b != nil {
			elem = b.Child(0)
		}
		s.blocks(func() { s.read(n.kids[0], elem) })
		if b != nil {
			b.AppendNested()
		}
	case kindMap:
		s.blocks(func() {
			key := s.bytes()
			if b == nil {
				s.read(n.kids[0], nil)
				return
			}
			b.Child(0).AppendBytes(key)
			s.read(n.kids[0], b.Child(1))
		})
		if b != nil {
			b.AppendNested()
		}
	case kindRecord:
		for i, k := range n.kids {
			if b == nil {
				s.read(k, nil)
			} else {
				s.read(k, b.Child(i))
			}
		}
		if b != nil {
			b.AppendNested()
		}
	default:
		s.readUnion(n, b)
	}
}

func (s *source) text(n *node, v []byte, b *columnar.Builder) {
	if b == nil || s.err != nil {
		return
	}
	if n.typ.Kind != columnar.KindDecimal {
		b.AppendBytes(v)
		return
	}
	if len(v) > 16 {
		s.fail()
		return
	}
	var buf [16]byte
	if len(v) > 0 && v[0]&0x80 != 0 {
		for i := range buf {
			buf[i] = 0xff
		}
	}
	copy(buf[16-len(v):], v)
	b.AppendDecimal(columnar.Dec128{Lo: binary.BigEndian.Uint64(buf[8:]), Hi: int64(binary.BigEndian.Uint64(buf[:8]))})
}

func (s *source) readUnion(n *node, b *columnar.Builder) {
	i := s.long()
	if i < 0 || i >= int64(len(n.kids)) {
		s.fail()
		return
	}
	k := n.kids[i]
	switch {
	case b == nil:
		s.read(k, nil)
	case k.kind == kindNull:
		b.AppendNull()
	case n.typ.Kind == columnar.KindInt64 && k.kind == kindInt:
		b.AppendInt(int64(s.int()))
	case n.branch >= 0 || n.typ.Kind != columnar.KindStruct:
		s.read(k, b)
	default:
		at := 0
		for j, other := range n.kids {
			if other.kind == kindNull {
				continue
			}
			if int64(j) == i {
				s.read(k, b.Child(at))
			} else {
				b.Child(at).AppendNull()
			}
			at++
		}
		b.AppendNested()
	}
}
