package expr

import (
	"math"
	"math/bits"
)

// xorShift is Spark's XORShiftRandom: the numbers of rand(seed) and its relatives.
type xorShift struct {
	state uint64
	next  float64 // the second number of a pair of normal ones
	has   bool
}

// newXORShift starts the sequence of a seed.
func newXORShift(seed int64) *xorShift {
	b := bits.ReverseBytes64(uint64(seed))
	hash := func(seed uint32) uint32 {
		h := murmurMixH(seed, murmurMixK(uint32(b)))
		h = murmurMixH(h, murmurMixK(uint32(b>>32)))
		return uint32(murmurEnd(h, 8))
	}
	low := hash(0x3c074a61)
	high := hash(low)
	return &xorShift{state: uint64(high)<<32 | uint64(low)}
}

// bits is the next number of n bits, with a sign when n is 32.
func (x *xorShift) bits(n uint) int32 {
	s := x.state
	s ^= s << 21
	s ^= s >> 35
	s ^= s << 4
	x.state = s
	return int32(s & (1<<n - 1))
}

// float is the next number in [0, 1).
func (x *xorShift) float() float64 {
	hi := int64(x.bits(26))
	return float64(hi<<27+int64(x.bits(27))) * 0x1p-53
}

// gaussian is the next number of the normal distribution, by Java's polar method.
func (x *xorShift) gaussian() float64 {
	if x.has {
		x.has = false
		return x.next
	}
	for {
		u, v := 2*x.float()-1, 2*x.float()-1
		s := u*u + v*v
		if s >= 1 || s == 0 {
			continue
		}
		m := math.Sqrt(-2 * math.Log(s) / s)
		x.next, x.has = v*m, true
		return u * m
	}
}

// skip moves the state on by n steps. A step is linear over bits, so that n of them are a power of its matrix.
func (x *xorShift) skip(n uint64) {
	if n < 1<<12 {
		for ; n > 0; n-- {
			x.bits(32)
		}
		return
	}
	var m [64]uint64 // m[i] is what a step makes of bit i
	for i := range m {
		y := xorShift{state: 1 << i}
		y.bits(32)
		m[i] = y.state
	}
	apply := func(v uint64) (out uint64) {
		for ; v != 0; v &= v - 1 {
			out ^= m[bits.TrailingZeros64(v)]
		}
		return out
	}
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			x.state = apply(x.state)
		}
		var sq [64]uint64
		for i := range sq {
			sq[i] = apply(m[i])
		}
		m = sq
	}
}

// letters appends n of the letters and digits of randstr.
func (x *xorShift) letters(dst []byte, n int) []byte {
	const set = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for ; n > 0; n-- {
		v := x.bits(32) % 62
		if v < 0 {
			v = -v
		}
		dst = append(dst, set[v])
	}
	return dst
}
