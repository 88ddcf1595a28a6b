package fuel

import "fmt"

// reader walks over bytes of a module. It keeps the first error and from then on gives zeros, so that
// straight-line decoding needs one check at its end; whoever loops asks count for the number of rounds,
// which is never more than the bytes that are left.
type reader struct {
	b       []byte
	p       int
	base    int // offset of b in the module, for errors
	section string
	err     error
}

// fail records the first problem, at the current position.
func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Section: r.section, Offset: r.base + r.p, Problem: fmt.Sprintf(format, args...)}
		r.p = len(r.b)
	}
}

func (r *reader) done() bool { return r.p >= len(r.b) }

func (r *reader) u8() byte {
	if r.p >= len(r.b) {
		r.fail("ends too early")
		return 0
	}
	c := r.b[r.p]
	r.p++
	return c
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 {
	var v uint32
	for shift := 0; ; shift += 7 {
		c := r.u8()
		if r.err != nil {
			return 0
		}
		if shift == 28 && c > 0x0f {
			r.fail("number does not fit into 32 bits")
			return 0
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
}

// skipSigned passes over a signed LEB128 number of at most max bytes; its value does not matter.
func (r *reader) skipSigned(max int) {
	for i := 0; ; i++ {
		if i == max {
			r.fail("number is too long")
			return
		}
		if r.u8() < 0x80 {
			return
		}
	}
}

// take gives the next n bytes.
func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)-r.p) {
		r.fail("wants %d bytes where %d are left", n, len(r.b)-r.p)
		return nil
	}
	s := r.b[r.p : r.p+int(n) : r.p+int(n)]
	r.p += int(n)
	return s
}

// count reads the length of a vector whose items take at least one byte each.
func (r *reader) count() uint32 {
	n := r.u32()
	if uint64(n) > uint64(len(r.b)-r.p) {
		r.fail("vector of %d items in %d bytes", n, len(r.b)-r.p)
		return 0
	}
	return n
}

func (r *reader) name() []byte { return r.take(r.u32()) }

// since gives the bytes from position p up to here.
func (r *reader) since(p int) []byte { return r.b[p:r.p] }

// Value types of the binary format.
const (
	typeI32       = 0x7f
	typeI64       = 0x7e
	typeF32       = 0x7d
	typeF64       = 0x7c
	typeV128      = 0x7b
	typeFuncref   = 0x70
	typeExternref = 0x6f
	typeExnref    = 0x69
)

// valueType passes over a value type.
func (r *reader) valueType() {
	switch c := r.u8(); c {
	case typeI32, typeI64, typeF32, typeF64, typeV128, typeFuncref, typeExternref, typeExnref:
	default:
		r.fail("unknown value type %#x", c)
	}
}

// referenceType passes over the type of a reference. Typed references to functions, which the compiler
// knows as an experiment, are not offered.
func (r *reader) referenceType() {
	switch c := r.u8(); c {
	case typeFuncref, typeExternref, typeExnref:
	default:
		r.fail("unknown reference type %#x", c)
	}
}

// blockType passes over the type of a block: empty, a value type, or the index of a function type.
func (r *reader) blockType() {
	if r.done() {
		r.fail("ends too early")
		return
	}
	if r.b[r.p] == blockTypeEmpty {
		r.p++
		return
	}
	r.skipSigned(5)
}

// appendU32 writes an unsigned LEB128 number.
func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// appendS32 writes a signed LEB128 number.
func appendS32(b []byte, v int32) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// appendBytes writes a length and the bytes.
func appendBytes(b, s []byte) []byte {
	return append(appendU32(b, uint32(len(s))), s...)
}
