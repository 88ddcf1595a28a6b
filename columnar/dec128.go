package columnar

import (
	"math/big"
	"math/bits"
)

// Dec128 is a 128-bit two's complement integer: the unscaled value of a decimal, in the memory
// layout of Arrow's decimal128.
type Dec128 struct {
	Lo uint64
	Hi int64
}

// Dec128FromInt64 widens v.
func Dec128FromInt64(v int64) Dec128 { return Dec128{uint64(v), v >> 63} }

// Dec128FromBig converts v; ok is false when it needs more than 128 bits.
func Dec128FromBig(v *big.Int) (d Dec128, ok bool) {
	if v.BitLen() > 127 {
		return Dec128{}, false
	}
	var buf [16]byte
	abs := new(big.Int).Abs(v)
	abs.FillBytes(buf[:])
	for i := 0; i < 8; i++ {
		d.Hi = d.Hi<<8 | int64(buf[i])
		d.Lo = d.Lo<<8 | uint64(buf[8+i])
	}
	if v.Sign() < 0 {
		d = d.Neg()
	}
	return d, true
}

// Big is d as a big integer.
func (d Dec128) Big() *big.Int {
	neg := d.Hi < 0
	if neg {
		d = d.Neg()
	}
	v := new(big.Int).SetUint64(uint64(d.Hi))
	v.Lsh(v, 64)
	v.Or(v, new(big.Int).SetUint64(d.Lo))
	if neg {
		v.Neg(v)
	}
	return v
}

// Neg is -d, wrapping.
func (d Dec128) Neg() Dec128 {
	lo, borrow := bits.Sub64(0, d.Lo, 0)
	hi, _ := bits.Sub64(0, uint64(d.Hi), borrow)
	return Dec128{lo, int64(hi)}
}

// Add is d+o, wrapping; ok is false on overflow of 128 bits.
func (d Dec128) Add(o Dec128) (r Dec128, ok bool) {
	lo, carry := bits.Add64(d.Lo, o.Lo, 0)
	hi, _ := bits.Add64(uint64(d.Hi), uint64(o.Hi), carry)
	r = Dec128{lo, int64(hi)}
	return r, (d.Hi^o.Hi) < 0 || (d.Hi^r.Hi) >= 0
}

// Sub is d-o, wrapping; ok is false on overflow of 128 bits.
func (d Dec128) Sub(o Dec128) (r Dec128, ok bool) {
	lo, borrow := bits.Sub64(d.Lo, o.Lo, 0)
	hi, _ := bits.Sub64(uint64(d.Hi), uint64(o.Hi), borrow)
	r = Dec128{lo, int64(hi)}
	return r, (d.Hi^o.Hi) >= 0 || (d.Hi^r.Hi) >= 0
}

// Sign is -1, 0 or 1.
func (d Dec128) Sign() int {
	if d.Hi < 0 {
		return -1
	}
	if d.Hi == 0 && d.Lo == 0 {
		return 0
	}
	return 1
}

// Cmp compares two values of equal scale.
func (d Dec128) Cmp(o Dec128) int {
	switch {
	case d.Hi < o.Hi:
		return -1
	case d.Hi > o.Hi:
		return 1
	case d.Lo < o.Lo:
		return -1
	case d.Lo > o.Lo:
		return 1
	}
	return 0
}

// IsInt64 tells whether d fits in an int64.
func (d Dec128) IsInt64() bool { return d.Hi == int64(d.Lo)>>63 }

// Int64 is the low 64 bits.
func (d Dec128) Int64() int64 { return int64(d.Lo) }

// pow10 holds 10^0 … 10^38.
var pow10 = func() (p [39]Dec128) {
	v := big.NewInt(1)
	for i := range p {
		p[i], _ = Dec128FromBig(v)
		v = new(big.Int).Mul(v, big.NewInt(10))
	}
	return p
}()

// Pow10 is 10^n for 0 ≤ n ≤ 38.
func Pow10(n int) Dec128 { return pow10[n] }

// FitsPrecision tells whether |d| < 10^p.
func (d Dec128) FitsPrecision(p int) bool {
	if d.Hi < 0 {
		d = d.Neg()
		if d.Hi < 0 {
			return false
		}
	}
	return p > 38 || d.Cmp(pow10[p]) < 0
}

// MulInt64 is d*m; ok is false on overflow of 128 bits.
func (d Dec128) MulInt64(m int64) (Dec128, bool) { return d.Mul(Dec128FromInt64(m)) }

// Mul is d*o; ok is false on overflow of 128 bits.
func (d Dec128) Mul(o Dec128) (r Dec128, ok bool) {
	neg := (d.Hi < 0) != (o.Hi < 0)
	if d.Hi < 0 {
		d = d.Neg()
	}
	if o.Hi < 0 {
		o = o.Neg()
	}
	hi, lo := bits.Mul64(d.Lo, o.Lo)
	h1, l1 := bits.Mul64(uint64(d.Hi), o.Lo)
	h2, l2 := bits.Mul64(d.Lo, uint64(o.Hi))
	hi, c1 := bits.Add64(hi, l1, 0)
	hi, c2 := bits.Add64(hi, l2, 0)
	if h1|h2|c1|c2 != 0 || d.Hi != 0 && o.Hi != 0 || int64(hi) < 0 {
		return Dec128{}, false
	}
	r = Dec128{lo, int64(hi)}
	if neg {
		r = r.Neg()
	}
	return r, true
}

// AppendDec appends d with the given scale in plain notation, e.g. "-0.10".
func AppendDec(dst []byte, d Dec128, scale int) []byte {
	if d.Hi < 0 {
		dst = append(dst, '-')
		d = d.Neg()
	}
	var buf [40]byte
	p := len(buf)
	hi, lo := uint64(d.Hi), d.Lo
	for hi != 0 {
		var rem uint64
		hi, rem = hi/1e18, hi%1e18
		lo, rem = bits.Div64(rem, lo, 1e18)
		for i := 0; i < 18; i++ {
			p--
			buf[p] = byte('0' + rem%10)
			rem /= 10
		}
	}
	for lo != 0 {
		p--
		buf[p] = byte('0' + lo%10)
		lo /= 10
	}
	for len(buf)-p <= scale {
		p--
		buf[p] = '0'
	}
	dst = append(dst, buf[p:len(buf)-scale]...)
	if scale > 0 {
		dst = append(dst, '.')
		dst = append(dst, buf[len(buf)-scale:]...)
	}
	return dst
}
