package javatext

import (
	"math/big"
	"math/bits"
)

// Int128 is a 128-bit two's complement integer, the unscaled value of a DECIMAL.
type Int128 struct {
	Lo uint64
	Hi int64
}

// Int128FromInt64 widens v.
func Int128FromInt64(v int64) Int128 { return Int128{uint64(v), v >> 63} }

// Big returns v as a big integer.
func (v Int128) Big() *big.Int {
	hi, lo := v.abs()
	b := new(big.Int).SetUint64(hi)
	b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(lo))
	if v.Hi < 0 {
		b.Neg(b)
	}
	return b
}

// Sign returns -1, 0 or 1.
func (v Int128) Sign() int {
	switch {
	case v.Hi < 0:
		return -1
	case v.Hi == 0 && v.Lo == 0:
		return 0
	}
	return 1
}

// abs returns the absolute value.
func (v Int128) abs() (hi, lo uint64) {
	if v.Hi >= 0 {
		return uint64(v.Hi), v.Lo
	}
	lo, borrow := bits.Sub64(0, v.Lo, 0)
	hi, _ = bits.Sub64(0, uint64(v.Hi), borrow)
	return hi, lo
}

// signedInt128 returns an absolute value with a sign.
func signedInt128(hi, lo uint64, negative bool) Int128 {
	v := Int128{lo, int64(hi)}
	if negative {
		var borrow uint64
		v.Lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
		v.Hi = int64(hi)
	}
	return v
}

// mulAdd returns v*m + a; the result must fit.
func mulAdd(hi, lo, m, a uint64) (uint64, uint64) {
	carry, l := bits.Mul64(lo, m)
	h := hi*m + carry
	l, c := bits.Add64(l, a, 0)
	return h + c, l
}

// maxDigits is the greatest precision of a DECIMAL.
const maxDigits = 38

// digits128 writes the decimal digits of an absolute value, without leading zeros, into the end of buf and returns
// where they begin. 0 has no digits.
func digits128(buf *[40]byte, hi, lo uint64) int {
	p := len(buf)
	for hi != 0 {
		var rest uint64
		hi, rest = hi/1e18, hi%1e18
		lo, rest = bits.Div64(rest, lo, 1e18)
		for range 18 {
			p--
			buf[p] = byte('0' + rest%10)
			rest /= 10
		}
	}
	for lo != 0 {
		p--
		buf[p] = byte('0' + lo%10)
		lo /= 10
	}
	return p
}
