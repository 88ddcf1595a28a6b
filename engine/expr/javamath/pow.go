package javamath

import "math"

// Pow is x^y.
func Pow(x, y float64) float64 {
	switch {
	case y == 0:
		return 1
	case y == 1:
		return x
	case x != x || y != y || (x == 1 || x == -1) && math.IsInf(y, 0):
		return math.NaN()
	case y == 2:
		return x * x
	case x == 0 || x == 1 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Pow(x, y)
	}
	sign := 1.0
	if x < 0 {
		if y != math.Trunc(y) {
			return math.NaN()
		}
		if math.Abs(y) < 1<<53 && math.Mod(y, 2) != 0 {
			sign = -1
		}
		x = -x
	}
	l := logOf(x).mul(double2{y, 0})
	switch {
	case l.hi > 710:
		return sign * math.Inf(1)
	case l.hi < -746:
		return sign * 0
	}
	m, k := l.exp()
	return sign * math.Ldexp(m.value(), k)
}

// Hypot is the square root of x²+y².
func Hypot(x, y float64) float64 {
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		return math.Inf(1)
	}
	if x != x || y != y {
		return math.NaN()
	}
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	if y == 0 {
		return x
	}
	// Scaled so that squares neither overflow nor vanish.
	_, e := math.Frexp(x)
	x, y = math.Ldexp(x, -e), math.Ldexp(y, -e)
	s := mul1(x, x).add(mul1(y, y))
	r := math.Sqrt(s.hi)
	d := s.sub(mul1(r, r))
	return math.Ldexp(r+d.hi/(2*r), e)
}
