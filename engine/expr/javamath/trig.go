package javamath

import "math"

// Asin is the arc sine.
func Asin(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x || a > 1:
		return math.NaN()
	case a == 1:
		return float64(x*pio2Hi) + float64(x*pio2Lo)
	case a < 0.5:
		if a < 1.0/(1<<27) {
			return x
		}
		return x + float64(x*asinRatio(float64(x*x)))
	}
	t := (1 - a) * 0.5
	r := asinRatio(t)
	s := math.Sqrt(t)
	if math.Float64bits(a)>>32 >= 0x3FEF3333 { // a > 0.975
		return math.Copysign(pio2Hi-(2*(s+float64(s*r))-pio2Lo), x)
	}
	w := highWord(s)
	c := (t - float64(w*w)) / (s + w)
	p := float64(2*s)*r - (pio2Lo - 2*c)
	q := pio2Hi/2 - 2*w
	return math.Copysign(pio2Hi/2-(p-q), x)
}

// Acos is the arc cosine.
func Acos(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x || a > 1:
		return math.NaN()
	case x == 1:
		return 0
	case x == -1:
		return pi
	case a < 0.5:
		if a <= 0x1p-57 {
			return pio2Hi
		}
		return pio2Hi - (x - (pio2Lo - float64(x*asinRatio(float64(x*x)))))
	case x < 0:
		z := (1 + x) * 0.5
		s := math.Sqrt(z)
		w := float64(asinRatio(z)*s) - pio2Lo
		return pi - 2*(s+w)
	}
	z := (1 - x) * 0.5
	s := math.Sqrt(z)
	df := highWord(s)
	c := (z - float64(df*df)) / (s + df)
	w := float64(asinRatio(z)*s) + c
	return 2 * (df + w)
}

const (
	pi     = 3.14159265358979311600e+00
	pio2Hi = 1.57079632679489655800e+00
	pio2Lo = 6.12323399573676603587e-17
)

// highWord is x with the low half of its bits cleared.
func highWord(x float64) float64 { return math.Float64frombits(math.Float64bits(x) &^ 0xffffffff) }

// asinRatio is (asin(x)-x)/x as a function of t = x².
func asinRatio(t float64) float64 {
	p := t * (1.66666666666666657415e-01 + float64(t*(-3.25565818622400915405e-01+float64(t*(2.01212532134862925881e-01+float64(t*(-4.00555345006794114027e-02+float64(t*(7.91534994289814532176e-04+float64(t*3.47933107596021167570e-05))))))))))
	q := 1 + float64(t*(-2.40339491173441421878e+00+float64(t*(2.02094576023350569471e+00+float64(t*(-6.88283971605453293030e-01+float64(t*7.70381505559019352791e-02)))))))
	return p / q
}

// atanParts are the arc tangents of 0.5, 1, 1.5 and infinity in two parts.
var atanParts = [4][2]float64{
	{4.63647609000806093515e-01, 2.26987774529616870924e-17},
	{7.85398163397448278999e-01, 3.06161699786838301793e-17},
	{9.82793723247329054082e-01, 1.39033110312309984516e-17},
	{1.57079632679489655800e+00, 6.12323399573676603587e-17},
}

// Atan is the arc tangent.
func Atan(x float64) float64 {
	a := math.Abs(x)
	if x != x {
		return x
	}
	if a >= 0x1p66 {
		return math.Copysign(atanParts[3][0]+atanParts[3][1], x)
	}
	id := -1
	switch {
	case a < 0.4375:
		if a < 1.0/(1<<29) {
			return x
		}
		a = x
	case a < 0.6875:
		id, a = 0, (2*a-1)/(2+a)
	case a < 1.1875:
		id, a = 1, (a-1)/(a+1)
	case a < 2.4375:
		id, a = 2, (a-1.5)/(1+float64(1.5*a))
	default:
		id, a = 3, -1/a
	}
	z := float64(a * a)
	w := float64(z * z)
	s1 := z * (3.33333333333329318027e-01 + float64(w*(1.42857142725034663711e-01+float64(w*(9.09088713343650656196e-02+float64(w*(6.66107313738753120669e-02+float64(w*(4.97687799461593236017e-02+float64(w*1.62858201153657823623e-02))))))))))
	s2 := w * (-1.99999999998764832476e-01 + float64(w*(-1.11111104054623557880e-01+float64(w*(-7.69187620504482999495e-02+float64(w*(-5.83357013379057348645e-02+float64(w*-3.65315727442169155270e-02))))))))
	if id < 0 {
		return a - float64(a*(s1+s2))
	}
	return math.Copysign(atanParts[id][0]-((float64(a*(s1+s2))-atanParts[id][1])-a), x)
}

// Atan2 is the angle of the point (x, y).
func Atan2(y, x float64) float64 {
	if x != x || y != y || x == 0 || y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return math.Atan2(y, x)
	}
	if x == 1 {
		return Atan(y)
	}
	const piLo = 1.2246467991473531772e-16
	_, ex := math.Frexp(x)
	_, ey := math.Frexp(y)
	var z float64
	switch k := ey - ex; {
	case k > 60:
		z = pio2Hi
	case x < 0 && k < -60:
		z = 0
	default:
		z = Atan(math.Abs(y / x))
	}
	switch {
	case x > 0:
		return math.Copysign(z, y)
	case y > 0:
		return math.Pi - (z - piLo)
	}
	return (z - piLo) - math.Pi
}

// Sin is the sine.
func Sin(x float64) float64 {
	r, q, ok := reduce(x)
	if !ok {
		return math.Sin(x)
	}
	if x == 0 {
		return x
	}
	s, c := r.sincos()
	switch q & 3 {
	case 0:
		return s.value()
	case 1:
		return c.value()
	case 2:
		return -s.value()
	}
	return -c.value()
}

// Cos is the cosine.
func Cos(x float64) float64 {
	r, q, ok := reduce(x)
	if !ok {
		return math.Cos(x)
	}
	s, c := r.sincos()
	switch q & 3 {
	case 0:
		return c.value()
	case 1:
		return -s.value()
	case 2:
		return -c.value()
	}
	return s.value()
}

// Tan is the tangent.
func Tan(x float64) float64 {
	r, q, ok := reduce(x)
	if !ok {
		return math.Tan(x)
	}
	if x == 0 {
		return x
	}
	s, c := r.sincos()
	if q&1 == 0 {
		return s.div(c).value()
	}
	return -c.div(s).value()
}

// reduce splits x into a multiple q of pi/2, of which the last bits matter, and a rest of at most pi/4; ok is
// false for infinities and NaN.
func reduce(x float64) (r double2, q int64, ok bool) {
	if !(math.Abs(x) < 1<<30) {
		if x-x != 0 {
			return r, 0, false
		}
		r, q = reduceHuge(x)
		return r, q, true
	}
	n := math.RoundToEven(x * (2 / math.Pi))
	// pi/2 in three parts; the products are exact in two doubles.
	r = double2{x, 0}
	for _, p := range [...]float64{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110} {
		r = r.sub(mul1(n, p))
	}
	return r, int64(n), true
}
