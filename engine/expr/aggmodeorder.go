package expr

import (
	"math"
	"math/bits"

	"github.com/wstream/wstream/columnar"
)

// hashOrder gives the positions of values, which differ and are put in one after the other, in Spark's OpenHashMap. Of
// values that are equally frequent its mode() is the one at the least position. ok is false for types whose Java
// hash is not that of the value alone.
func hashOrder(c *columnar.Column, at []int32) (pos []int32, ok bool) {
	hashes := make([]uint32, len(at))
	for i, k := range at {
		h, ok := javaHash(c, int(k))
		if !ok {
			return nil, false
		}
		hashes[i] = uint32(murmurEnd(murmurMixH(0, murmurMixK(uint32(h))), 4))
	}
	size := 64
	slots := make([]int32, size) // index + 1
	put := func(i int32) {
		mask := uint32(size - 1)
		p := hashes[i] & mask
		for d := uint32(1); slots[p] != 0; d++ {
			p = (p + d) & mask
		}
		slots[p] = i + 1
	}
	for i := range at {
		put(int32(i))
		if i+1 > size*7/10 {
			old := slots
			size *= 2
			slots = make([]int32, size)
			for _, v := range old {
				if v > 0 {
					put(v - 1)
				}
			}
		}
	}
	pos = make([]int32, len(at))
	for p, v := range slots {
		if v > 0 {
			pos[v-1] = int32(p)
		}
	}
	return pos, true
}

// javaHash is the hashCode of a value as Spark boxes it.
func javaHash(c *columnar.Column, i int) (int32, bool) {
	fold := func(v int64) int32 { return int32(v ^ int64(uint64(v)>>32)) }
	switch v := c.Datum(i).(type) {
	case bool:
		if v {
			return 1231, true
		}
		return 1237, true
	case int8:
		return int32(v), true
	case int16:
		return int32(v), true
	case int32:
		return v, true
	case int64:
		return fold(v), true
	case float32:
		if v != v {
			return 0x7fc00000, true
		}
		return int32(math.Float32bits(v)), true
	case float64:
		if v != v {
			return 0x7ff80000, true
		}
		return fold(int64(math.Float64bits(v))), true
	case string:
		if c.Type.Kind == columnar.KindString && c.Type.Collation == "" {
			return int32(murmur3{}.bytes([]byte(v), 42)), true
		}
	case columnar.Dec128:
		if hi, lo := v.Hi, v.Lo; hi == int64(lo)>>63 && bits.Len64(uint64(max(int64(lo), -int64(lo)))) < 53 {
			return scalaDecimalHash(int64(lo), c.Type.Scale), true
		}
	}
	return 0, false
}

// scalaDecimalHash is the hashCode of Scala's BigDecimal for numbers of up to 53 bits: that of the least of int, long,
// float and double that holds the number.
func scalaDecimalHash(unscaled int64, scale int) int32 {
	d := float64(unscaled) / math.Pow10(scale)
	if l := int64(d); float64(l) == d {
		if l == int64(int32(l)) {
			return int32(l)
		}
		return int32(l ^ int64(uint64(l)>>32))
	}
	if f := float32(d); float64(f) == d {
		return int32(math.Float32bits(f))
	}
	v := int64(math.Float64bits(d))
	return int32(v ^ int64(uint64(v)>>32))
}
