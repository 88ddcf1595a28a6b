package javatext

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// decimalDigits develops the decimal digits of a binary floating-point number exactly as JDK 17 does. It is
// Steele and White's and David Gay's "dtoa", which stops at the first digit that tells the number from its
// neighbours, with three peculiarities of the JDK that are visible in its output: at least two digits are
// developed for numbers printed with an exponent, the distance to both neighbours of a power of two is
// taken to be that of the nearer one, and digits of whole numbers below 2^63 that the precision does not
// carry are cut off by rounding half up.
type decimalDigits struct {
	digits [32]byte
	n      int
	// decExp is the exponent e in 0.DIGITS * 10^e.
	decExp int
}

// bitsOf5 holds the number of bits of 5^i.
var bitsOf5 = [...]int{0, 3, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28, 31, 33, 35, 38, 40, 42, 45, 47, 49, 52, 54, 56, 59, 61}

// pow5 holds the powers of five that fit into 63 bits.
var pow5 = [...]int64{
	1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625, 1220703125,
	6103515625, 30517578125, 152587890625, 762939453125, 3814697265625, 19073486328125, 95367431640625,
	476837158203125, 2384185791015625, 11920928955078125, 59604644775390625, 298023223876953125, 1490116119384765625,
}

func sizeOf5(i int) int {
	if i < len(bitsOf5) {
		return bitsOf5[i]
	}
	return i * 3
}

// setDouble sets the digits of a double that is positive and finite.
func (d *decimalDigits) setDouble(v float64) {
	b := math.Float64bits(v)
	exp, frac := int(b>>52), b&(1<<52-1)
	switch {
	case exp > 0 && frac != 0 && (exp < 1023+53 || exp > 1023+137):
		// Only for the other kinds of numbers can a decimal of 17 digits lie on the border between two doubles;
		// for these JDK 17 finds the shortest digits.
		d.setShortest(v, 64)
	case exp == 0:
		zeros := bits.LeadingZeros64(frac)
		d.develop(1-(zeros-11)-1023, frac<<uint(zeros-11), 64-zeros, true)
	default:
		d.develop(exp-1023, frac|1<<52, 53, true)
	}
}

// setFloat sets the digits of a float that is positive and finite.
func (d *decimalDigits) setFloat(v float32) {
	b := math.Float32bits(v)
	exp, frac := int(b>>23), b&(1<<23-1)
	switch {
	case exp > 0 && frac != 0 && (exp < 127+24 || exp > 127+100):
		d.setShortest(float64(v), 32)
	case exp == 0:
		zeros := bits.LeadingZeros32(frac)
		d.develop(1-(zeros-8)-127, uint64(frac<<uint(zeros-8))<<29, 32-zeros, true)
	default:
		d.develop(exp-127, uint64(frac|1<<23)<<29, 24, true)
	}
}

// setShortest sets the shortest digits that are read as v again.
func (d *decimalDigits) setShortest(v float64, bitSize int) {
	// D[.DDDD]e±XX
	text := strconv.AppendFloat(d.digits[:0], v, 'e', -1, bitSize)
	i := 1
	d.n = 1
	if text[1] == '.' {
		for i = 2; text[i] != 'e'; i++ {
			text[d.n] = text[i]
			d.n++
		}
	}
	exp := 0
	for _, c := range text[i+2:] {
		exp = exp*10 + int(c-'0')
	}
	if text[i+1] == '-' {
		exp = -exp
	}
	d.decExp = exp + 1
}

// develop sets the digits of frac * 2^(binExp-52), where frac has its highest bit at 52. significant is the
// number of bits that the format carries (53 for a normal double, 24 for a normal float). compatible asks
// for two digits where an exponent will be printed.
func (d *decimalDigits) develop(binExp int, frac uint64, significant int, compatible bool) {
	d.n = 0
	tailZeros := bits.TrailingZeros64(frac)
	fracBits := 53 - tailZeros
	tinyBits := max(0, fracBits-binExp-1)
	if binExp <= 62 && binExp >= -21 && tinyBits == 0 && fracBits < 64 {
		insignificant := 0
		if binExp > significant {
			if p := binExp - significant - 1; p > 1 {
				insignificant = p * 1233 >> 12 // floor(p * log10(2)), right for all p < 64
			}
		}
		if binExp >= 52 {
			frac <<= uint(binExp - 52)
		} else {
			frac >>= uint(52 - binExp)
		}
		d.developInteger(frac, insignificant)
		return
	}
	decExp := estimateDecExp(frac, binExp)
	b5 := max(0, -decExp)
	b2 := b5 + tinyBits + binExp
	s5 := max(0, decExp)
	s2 := s5 + tinyBits
	m5 := b5
	m2 := b2 - significant
	frac >>= uint(tailZeros)
	b2 -= fracBits - 1
	common := min(b2, s2)
	b2 -= common
	s2 -= common
	m2 -= common
	if fracBits == 1 {
		m2--
	}
	if m2 < 0 {
		b2 -= m2
		s2 -= m2
		m2 = 0
	}
	bBits := fracBits + b2 + sizeOf5(b5)
	tenSBits := s2 + 1 + sizeOf5(s5+1)
	var low, high bool
	var difference int // sign of twice the rest against one unit of the last digit
	if bBits < 64 && tenSBits < 64 {
		low, high, difference, decExp = d.developWord(frac, b5, b2, s5, s2, m5, m2, decExp, compatible)
	} else {
		low, high, difference, decExp = d.developBig(frac, b5, b2, s5, s2, m5, m2, decExp, compatible)
	}
	d.decExp = decExp + 1
	if high && (!low || difference > 0 || difference == 0 && d.digits[d.n-1]&1 != 0) {
		d.roundUp()
	}
}

// developInteger sets the digits of a whole number, without its last insignificant ones.
func (d *decimalDigits) developInteger(v uint64, insignificant int) {
	decExp := 0
	if insignificant != 0 {
		unit := uint64(pow5[insignificant]) << uint(insignificant)
		rest := v % unit
		v /= unit
		decExp += insignificant
		if rest >= unit>>1 {
			v++
		}
	}
	for v%10 == 0 {
		v /= 10
		decExp++
	}
	i := len(d.digits)
	for v != 0 {
		i--
		d.digits[i] = byte('0' + v%10)
		v /= 10
		decExp++
	}
	d.n = copy(d.digits[:], d.digits[i:])
	d.decExp = decExp
}

// developWord is the digit loop for numbers whose parts fit into 63 bits.
func (d *decimalDigits) developWord(frac uint64, b5, b2, s5, s2, m5, m2, decExp int, compatible bool) (low, high bool, difference, exp int) {
	b := int64(frac) * pow5[b5] << uint(b2)
	s := pow5[s5] << uint(s2)
	m := pow5[m5] << uint(m2)
	// Java takes 32-bit arithmetic where it can, in which m alone may overflow.
	small := int32Arithmetic(frac, b5, b2, s5, s2)
	tens := s * 10
	q := b / s
	b = 10 * (b % s)
	m *= 10
	if small {
		m = int64(int32(m))
	}
	low = b < m
	high = b+m > tens
	if q == 0 && !high {
		decExp--
	} else {
		d.push(byte(q))
	}
	if !compatible || decExp < -3 || decExp >= 8 {
		low, high = false, false
	}
	for !low && !high {
		q = b / s
		b = 10 * (b % s)
		m *= 10
		if small {
			m = int64(int32(m))
		}
		if m > 0 {
			low = b < m
			high = b+m > tens
		} else {
			// m overflowed, and is surely greater than b.
			low, high = true, true
		}
		d.push(byte(q))
	}
	switch twice := b << 1; {
	case twice < tens:
		difference = -1
	case twice > tens:
		difference = 1
	}
	return low, high, difference, decExp
}

func int32Arithmetic(frac uint64, b5, b2, s5, s2 int) bool {
	return 64-bits.LeadingZeros64(frac)+b2+sizeOf5(b5) < 32 && s2+1+sizeOf5(s5+1) < 32
}

// developBig is the digit loop for all other numbers.
func (d *decimalDigits) developBig(frac uint64, b5, b2, s5, s2, m5, m2, decExp int, compatible bool) (low, high bool, difference, exp int) {
	b := new(big.Int).SetUint64(frac)
	b.Mul(b, bigPow5(b5)).Lsh(b, uint(b2))
	s := new(big.Int).Lsh(bigPow5(s5), uint(s2))
	m := new(big.Int).Lsh(bigPow5(m5+1), uint(m2+1))
	tens := new(big.Int).Mul(s, bigTen)
	var q, rest, sum big.Int
	next := func() byte {
		q.QuoRem(b, s, &rest)
		b.Mul(&rest, bigTen)
		return byte(q.Uint64())
	}
	digit := next()
	low = b.Cmp(m) < 0
	high = tens.Cmp(sum.Add(b, m)) <= 0
	if digit == 0 && !high {
		decExp--
	} else {
		d.push(digit)
	}
	if !compatible || decExp < -3 || decExp >= 8 {
		low, high = false, false
	}
	for !low && !high {
		digit = next()
		m.Mul(m, bigTen)
		low = b.Cmp(m) < 0
		high = tens.Cmp(sum.Add(b, m)) <= 0
		d.push(digit)
	}
	if high && low {
		difference = sum.Lsh(b, 1).Cmp(tens)
	}
	return low, high, difference, decExp
}

var bigTen = big.NewInt(10)

func bigPow5(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(n)), nil)
}

func (d *decimalDigits) push(digit byte) {
	d.digits[d.n] = '0' + digit
	d.n++
}

// roundUp adds one to the last digit.
func (d *decimalDigits) roundUp() {
	i := d.n - 1
	for d.digits[i] == '9' && i > 0 {
		d.digits[i] = '0'
		i--
	}
	if d.digits[i] == '9' {
		d.decExp++
		d.digits[0] = '1'
		return
	}
	d.digits[i]++
}

// estimateDecExp returns the decimal exponent of the number, or one more than it.
func estimateDecExp(frac uint64, binExp int) int {
	d := math.Float64frombits(1023<<52 | frac&(1<<52-1))
	e := float64((d-1.5)*0.289529654) + 0.176091259 + float64(float64(binExp)*0.301029995663981)
	return int(math.Floor(e))
}
