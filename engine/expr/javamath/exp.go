package javamath

import "math"

const (
	ln2Hi  = 6.93147180369123816490e-01 // the leading 32 bits of ln 2
	ln2Lo  = 1.90821492927058770002e-10
	invLn2 = 1.44269504088896338700e+00
)

// Exp is e^x.
func Exp(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 1):
		return x
	case math.IsInf(x, -1):
		return 0
	case x > 7.09782712893383973096e+02:
		return math.Inf(1)
	case x < -7.45133219101941108420e+02:
		return 0
	}
	// x = k*ln2 + (hi-lo) with the rest at most ln2/2.
	k, hi, lo, r := 0, 0.0, 0.0, x
	if a := math.Abs(x); a > 0.5*math.Ln2 {
		switch {
		case a < 1.5*math.Ln2 && x > 0:
			k = 1
		case a < 1.5*math.Ln2:
			k = -1
		default:
			k = int(invLn2*x + math.Copysign(0.5, x))
		}
		hi = x - float64(float64(k)*ln2Hi)
		lo = float64(k) * ln2Lo
		r = hi - lo
	} else if a < 1.0/(1<<28) {
		return 1 + x
	}
	t := float64(r * r)
	c := r - float64(t*(1.66666666666666019037e-01+float64(t*(-2.77777777770155933842e-03+float64(t*(6.61375632143793436117e-05+float64(t*(-1.65339022054652515390e-06+float64(t*4.13813679705723846039e-08)))))))))
	if k == 0 {
		return 1 - (float64(r*c)/(c-2) - r)
	}
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	return math.Ldexp(y, k)
}

// Expm1 is e^x - 1.
func Expm1(x float64) float64 { return math.Expm1(x) }

// Log is the natural logarithm.
func Log(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	// x = 2^k * (1+f) with sqrt(2)/2 < 1+f < sqrt(2), cut at the high word as the algorithm says.
	k := 0
	if x < 0x1p-1022 {
		x *= 1 << 54
		k = -54
	}
	bits := math.Float64bits(x)
	hx := int32(bits >> 32)
	k += int(hx>>20) - 1023
	hx &= 0x000fffff
	i := (hx + 0x95f64) & 0x100000
	x = math.Float64frombits(uint64(uint32(hx|(i^0x3ff00000)))<<32 | bits&0xffffffff)
	k += int(i >> 20)
	f := x - 1
	dk := float64(k)
	if 0x000fffff&(2+hx) < 3 { // |f| < 2^-20
		if f == 0 {
			if k == 0 {
				return 0
			}
			return float64(dk*ln2Hi) + float64(dk*ln2Lo)
		}
		r := float64(f*f) * (0.5 - float64(0.33333333333333333*f))
		if k == 0 {
			return f - r
		}
		return float64(dk*ln2Hi) - ((r - float64(dk*ln2Lo)) - f)
	}
	s := f / (2 + f)
	z := float64(s * s)
	w := float64(z * z)
	t1 := w * (3.999999999940941908e-01 + float64(w*(2.222219843214978396e-01+float64(w*1.531383769920937332e-01))))
	t2 := z * (6.666666666666735130e-01 + float64(w*(2.857142874366239149e-01+float64(w*(1.818357216161805012e-01+float64(w*1.479819860511658591e-01))))))
	r := t2 + t1
	if (hx-0x6147a)|(0x6b851-hx) > 0 {
		h := float64(0.5*f) * f
		if k == 0 {
			return f - (h - float64(s*(h+r)))
		}
		return float64(dk*ln2Hi) - ((h - (float64(s*(h+r)) + float64(dk*ln2Lo))) - f)
	}
	if k == 0 {
		return f - float64(s*(f-r))
	}
	return float64(dk*ln2Hi) - ((float64(s*(f-r)) - float64(dk*ln2Lo)) - f)
}

// Log10 is the logarithm to base 10.
func Log10(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	k := 0
	if x < 0x1p-1022 {
		x *= 1 << 54
		k = -54
	}
	bits := math.Float64bits(x)
	k += int(bits>>52) - 1023
	i := 0
	if k < 0 {
		i = 1
	}
	y := float64(k + i)
	x = math.Float64frombits(bits&(1<<52-1) | uint64(0x3ff-i)<<52)
	z := float64(y*3.69423907715893078616e-13) + float64(4.34294481903251816668e-01*Log(x))
	return z + float64(y*3.01029995663611771306e-01)
}

// Log1p is ln(1+x).
func Log1p(x float64) float64 { return math.Log1p(x) }

// Sinh is the hyperbolic sine.
func Sinh(x float64) float64 {
	if x-x != 0 {
		return x
	}
	a, h := math.Abs(x), math.Copysign(0.5, x)
	switch {
	case a < 1.0/(1<<28):
		return x
	case a < 22:
		t := Expm1(a)
		if a < 1 {
			return h * (2*t - float64(t*t)/(t+1))
		}
		return h * (t + t/(t+1))
	case a < 709.78:
		return h * Exp(a)
	case a <= 7.10475860073943863426e+02:
		w := Exp(0.5 * a)
		return float64(h*w) * w
	}
	return x * 1e307
}

// Cosh is the hyperbolic cosine.
func Cosh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x-x != 0:
		return x * x
	case a < 0.5*math.Ln2:
		t := Expm1(a)
		w := 1 + t
		if a < 1.0/(1<<55) {
			return w
		}
		return 1 + float64(t*t)/(w+w)
	case a < 22:
		t := Exp(a)
		return 0.5*t + 0.5/t
	case a < 709.78:
		return 0.5 * Exp(a)
	case a <= 7.10475860073943863426e+02:
		w := Exp(0.5 * a)
		return float64(0.5*w) * w
	}
	return math.Inf(1)
}

// Tanh is the hyperbolic tangent.
func Tanh(x float64) float64 {
	if x != x {
		return x
	}
	a, z := math.Abs(x), 1.0
	switch {
	case a < 1.0/(1<<55):
		return x
	case a >= 22:
	case a >= 1:
		z = 1 - 2/(Expm1(2*a)+2)
	default:
		t := Expm1(-2 * a)
		z = -t / (t + 2)
	}
	return math.Copysign(z, x)
}

// Asinh is the inverse hyperbolic sine.
func Asinh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x-x != 0 || a < 1.0/(1<<28):
		return x
	case a > 1<<28:
		return math.Copysign(Log(a)+math.Ln2, x)
	case a > 2:
		return math.Copysign(Log(2*a+1/(math.Sqrt(float64(x*x)+1)+a)), x)
	}
	t := float64(x * x)
	return math.Copysign(Log1p(a+t/(1+math.Sqrt(1+t))), x)
}

// Cbrt is the cube root.
func Cbrt(x float64) float64 {
	if x-x != 0 || x == 0 {
		return x
	}
	a := math.Abs(x)
	// A third of the exponent, and a rational correction, give 23 bits.
	var t float64
	if a < 0x1p-1022 {
		t = 0x1p54 * a
		t = math.Float64frombits((math.Float64bits(t)>>32/3 + 696219795) << 32)
	} else {
		t = math.Float64frombits((math.Float64bits(a)>>32/3 + 715094163) << 32)
	}
	r := float64(t*t) / a
	s := 5.42857142857142815906e-01 + float64(r*t)
	t *= 3.57142857142857150787e-01 + 1.60714285714285720630e+00/(s+1.41428571428571436819e+00+-7.05306122448979611050e-01/s)
	// Cut to 20 bits, rounded up; one step of Newton then doubles them.
	t = math.Float64frombits((math.Float64bits(t)>>32 + 1) << 32)
	s = t * t
	r = a / s
	w := t + t
	r = (r - t) / (w + r)
	return math.Copysign(t+float64(t*r), x)
}
