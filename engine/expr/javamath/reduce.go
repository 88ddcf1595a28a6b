package javamath

import (
	"math/big"
	"sync"
)

// hugePrecision is enough bits for the rest of the greatest double by pi/2 in twice the precision.
const hugePrecision = 1024 + 256

// bigHalfPi is pi/2, by Machin's formula pi/4 = 4 atan(1/5) - atan(1/239).
var bigHalfPi = sync.OnceValue(func() *big.Float {
	arc := func(n int64) *big.Int {
		// atan(1/n) as a whole number of 2^-(hugePrecision+64).
		term := new(big.Int).Lsh(big.NewInt(1), hugePrecision+64)
		term.Quo(term, big.NewInt(n))
		sum := new(big.Int).Set(term)
		for k := int64(3); term.Sign() != 0; k += 2 {
			term.Quo(term, big.NewInt(-n*n))
			sum.Add(sum, new(big.Int).Quo(term, big.NewInt(k)))
		}
		return sum
	}
	quarter := arc(5)
	quarter.Sub(quarter.Lsh(quarter, 2), arc(239))
	half := new(big.Float).SetPrec(hugePrecision + 32).SetInt(quarter)
	return half.SetMantExp(half, 1-hugePrecision-64)
})

// reduceHuge is reduce for any finite x; it takes microseconds.
func reduceHuge(x float64) (r double2, q int64) {
	halfPi := bigHalfPi()
	rest := new(big.Float).SetPrec(hugePrecision).SetFloat64(x)
	n, _ := new(big.Float).SetPrec(hugePrecision).Quo(rest, halfPi).Int(nil)
	product := new(big.Float).SetPrec(2 * hugePrecision).SetInt(n)
	rest.Sub(rest, product.Mul(product, halfPi))
	// The rest has the sign of x; beyond pi/4 the next multiple is nearer.
	if eighth := new(big.Float).Quo(halfPi, big.NewFloat(2)); new(big.Float).Abs(rest).Cmp(eighth) > 0 {
		step := int64(rest.Sign())
		n.Add(n, big.NewInt(step))
		rest.Sub(rest, new(big.Float).Mul(halfPi, big.NewFloat(float64(step)).SetPrec(hugePrecision)))
	}
	hi, _ := rest.Float64()
	lo, _ := rest.Sub(rest, big.NewFloat(hi)).Float64()
	return double2{hi, lo}, new(big.Int).And(n, big.NewInt(3)).Int64()
}
