package expr

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/wstream/wstream/columnar"
)

// The hash functions of Spark: Murmur3 in 32 bits and xxHash in 64, over values by type.

// hashFunc hashes the basic values; bytes are hashed in Spark's way of reading them.
type hashFunc interface {
	word32(v uint32, seed uint64) uint64
	word64(v uint64, seed uint64) uint64
	bytes(b []byte, seed uint64) uint64
}

type murmur3 struct{}

func murmurMixK(k uint32) uint32 { return bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593 }

func murmurMixH(h, k uint32) uint32 { return bits.RotateLeft32(h^k, 13)*5 + 0xe6546b64 }

func murmurEnd(h, n uint32) uint64 {
	h ^= n
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	h ^= h >> 16
	return uint64(h)
}

func (murmur3) word32(v uint32, seed uint64) uint64 {
	return murmurEnd(murmurMixH(uint32(seed), murmurMixK(v)), 4)
}

func (murmur3) word64(v uint64, seed uint64) uint64 {
	h := murmurMixH(uint32(seed), murmurMixK(uint32(v)))
	return murmurEnd(murmurMixH(h, murmurMixK(uint32(v>>32))), 8)
}

// bytes mixes whole words, then each byte of the rest as a signed word of its own.
func (murmur3) bytes(b []byte, seed uint64) uint64 {
	h := uint32(seed)
	n := uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		h = murmurMixH(h, murmurMixK(binary.LittleEndian.Uint32(b)))
	}
	for _, c := range b {
		h = murmurMixH(h, murmurMixK(uint32(int32(int8(c)))))
	}
	return murmurEnd(h, n)
}

type xxHash64 struct{}

const (
	xxPrime1 = 0x9E3779B185EBCA87
	xxPrime2 = 0xC2B2AE3D27D4EB4F
	xxPrime3 = 0x165667B19E3779F9
	xxPrime4 = 0x85EBCA77C2B2AE63
	xxPrime5 = 0x27D4EB2F165667C5
)

func xxEnd(h uint64) uint64 {
	h ^= h >> 33
	h *= xxPrime2
	h ^= h >> 29
	h *= xxPrime3
	return h ^ h>>32
}

func (xxHash64) word32(v uint32, seed uint64) uint64 {
	h := seed + xxPrime5 + 4
	h ^= uint64(v) * xxPrime1
	h = bits.RotateLeft64(h, 23)*xxPrime2 + xxPrime3
	return xxEnd(h)
}

func (xxHash64) word64(v uint64, seed uint64) uint64 {
	h := seed + xxPrime5 + 8
	h ^= bits.RotateLeft64(v*xxPrime2, 31) * xxPrime1
	h = bits.RotateLeft64(h, 27)*xxPrime1 + xxPrime4
	return xxEnd(h)
}

func (xxHash64) bytes(b []byte, seed uint64) uint64 {
	n := uint64(len(b))
	var h uint64
	if len(b) >= 32 {
		p1 := uint64(xxPrime1) // a variable, so that the sums below wrap
		v1, v2, v3, v4 := seed+p1+xxPrime2, seed+xxPrime2, seed, seed-p1
		round := func(v uint64, i int) uint64 {
			return bits.RotateLeft64(v+binary.LittleEndian.Uint64(b[i:])*xxPrime2, 31) * xxPrime1
		}
		for ; len(b) >= 32; b = b[32:] {
			v1, v2, v3, v4 = round(v1, 0), round(v2, 8), round(v3, 16), round(v4, 24)
		}
		h = bits.RotateLeft64(v1, 1) + bits.RotateLeft64(v2, 7) + bits.RotateLeft64(v3, 12) + bits.RotateLeft64(v4, 18)
		for _, v := range [...]uint64{v1, v2, v3, v4} {
			h ^= bits.RotateLeft64(v*xxPrime2, 31) * xxPrime1
			h = h*xxPrime1 + xxPrime4
		}
	} else {
		h = seed + xxPrime5
	}
	h += n
	for ; len(b) >= 8; b = b[8:] {
		h ^= bits.RotateLeft64(binary.LittleEndian.Uint64(b)*xxPrime2, 31) * xxPrime1
		h = bits.RotateLeft64(h, 27)*xxPrime1 + xxPrime4
	}
	if len(b) >= 4 {
		h ^= uint64(binary.LittleEndian.Uint32(b)) * xxPrime1
		h = bits.RotateLeft64(h, 23)*xxPrime2 + xxPrime3
		b = b[4:]
	}
	for _, c := range b {
		h ^= uint64(c) * xxPrime5
		h = bits.RotateLeft64(h, 11) * xxPrime1
	}
	return xxEnd(h)
}

// hashAt hashes row i of c; a null leaves the seed.
func hashAt[F hashFunc](f F, c *columnar.Column, i int, seed uint64) uint64 {
	if c.IsNull(i) {
		return seed
	}
	switch c.Type.Kind {
	case columnar.KindBool:
		return f.word32(uint32(b2u(c.Bits.Get(i))), seed)
	case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32, columnar.KindDate, columnar.KindYearMonth:
		return f.word32(uint32(intAt(c, i)), seed)
	case columnar.KindInt64, columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindTime, columnar.KindDayTime:
		return f.word64(uint64(columnar.Values[int64](c)[i]), seed)
	case columnar.KindFloat32:
		v := columnar.Values[float32](c)[i]
		if v == 0 {
			v = 0
		}
		if v != v {
			return f.word32(0x7fc00000, seed)
		}
		return f.word32(math.Float32bits(v), seed)
	case columnar.KindFloat64:
		v := columnar.Values[float64](c)[i]
		if v == 0 {
			v = 0
		}
		if v != v {
			return f.word64(0x7ff8000000000000, seed)
		}
		return f.word64(math.Float64bits(v), seed)
	case columnar.KindDecimal:
		v := columnar.Values[columnar.Dec128](c)[i]
		if c.Type.Precision <= 18 {
			return f.word64(v.Lo, seed)
		}
		return f.bytes(bigEndianTwos(v), seed)
	case columnar.KindString, columnar.KindBinary, columnar.KindVariant:
		return f.bytes(c.BytesAt(i), seed)
	case columnar.KindCalendar:
		v := columnar.Values[columnar.CalendarInterval](c)[i]
		return f.word32(uint32(v.Months), f.word32(uint32(v.Days), f.word64(uint64(v.Micros), seed)))
	case columnar.KindArray, columnar.KindMap:
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			for _, ch := range c.Children {
				seed = hashAt(f, ch, int(j), seed)
			}
		}
		return seed
	case columnar.KindStruct:
		for _, ch := range c.Children {
			seed = hashAt(f, ch, i, seed)
		}
		return seed
	}
	return seed
}

// bigEndianTwos is v as the shortest big-endian two's complement.
func bigEndianTwos(v columnar.Dec128) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(v.Hi))
	binary.BigEndian.PutUint64(b[8:], v.Lo)
	i := 0
	for i < 15 && (b[i] == 0 && b[i+1] < 0x80 || b[i] == 0xff && b[i+1] >= 0x80) {
		i++
	}
	return b[i:]
}

// bindHash binds hash and xxhash64.
func bindHash(name string, out *columnar.Type) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, -1); err != nil {
			return nil, err
		}
		for _, a := range args {
			if hasMap(a.Type()) {
				return nil, mismatch("HASH_MAP_TYPE", b.sql(args), "input to the function `%s` cannot contain elements of the \"MAP\" type", name)
			}
			if hasVariant(a.Type()) {
				return nil, mismatch("HASH_VARIANT_TYPE", b.sql(args), "input to the function `%s` cannot contain elements of the \"VARIANT\" type yet", name)
			}
		}
		return &call{
			name: name, args: args, typ: out, nulls: true, safe: true,
			kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
				h := make([]uint64, n)
				for i := range h {
					h[i] = 42
				}
				if name == "hash" {
					hashColumns(murmur3{}, h, a)
					d := make([]int32, n)
					for i, v := range h {
						d[i] = int32(v)
					}
					return columnar.NewFixed(out, d, nil), nil
				}
				hashColumns(xxHash64{}, h, a)
				return columnar.NewFixed(out, h, nil), nil
			},
		}, nil
	}
}

// hashColumns chains the hashes of several columns, row by row; h holds the seeds.
func hashColumns[F hashFunc](f F, h []uint64, cols []vec) {
	for _, c := range cols {
		if c.Type.Kind == columnar.KindNull {
			continue
		}
		switch {
		case c.con || c.Valid != nil:
		case c.Type.Kind == columnar.KindInt64 || c.Type.Kind == columnar.KindTimestamp:
			for i, v := range columnar.Values[uint64](c.Column) {
				h[i] = f.word64(v, h[i])
			}
			continue
		case c.Type.Kind == columnar.KindInt32 || c.Type.Kind == columnar.KindDate:
			for i, v := range columnar.Values[uint32](c.Column) {
				h[i] = f.word32(v, h[i])
			}
			continue
		}
		for i := range h {
			h[i] = hashAt(f, c.Column, c.row(i), h[i])
		}
	}
}
