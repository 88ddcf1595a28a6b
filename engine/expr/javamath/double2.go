package javamath

import "math"

// double2 is the unevaluated sum of two doubles, the second at most half a unit of the first: about 106
// bits.
type double2 struct{ hi, lo float64 }

func (a double2) value() float64 { return a.hi + a.lo }

// sum2 is a+b without loss.
func sum2(a, b float64) double2 {
	s := a + b
	v := s - a
	return double2{s, (a - (s - v)) + (b - v)}
}

// mul1 is a*b without loss.
func mul1(a, b float64) double2 {
	p := a * b
	return double2{p, math.FMA(a, b, -p)}
}

func (a double2) add(b double2) double2 {
	s := sum2(a.hi, b.hi)
	t := sum2(a.lo, b.lo)
	s = sum2(s.hi, s.lo+t.hi)
	return sum2(s.hi, s.lo+t.lo)
}

func (a double2) neg() double2 { return double2{-a.hi, -a.lo} }

func (a double2) sub(b double2) double2 { return a.add(b.neg()) }

func (a double2) mul(b double2) double2 {
	p := mul1(a.hi, b.hi)
	return sum2(p.hi, p.lo+(a.hi*b.lo+a.lo*b.hi))
}

func (a double2) div(b double2) double2 {
	q := a.hi / b.hi
	r := a.sub(b.mul(double2{q, 0}))
	q2 := r.hi / b.hi
	r = r.sub(b.mul(double2{q2, 0}))
	return sum2(q, q2).add(double2{r.hi / b.hi, 0})
}

// sincos are the sine and cosine of an angle of at most pi/4, by their series.
func (a double2) sincos() (s, c double2) {
	x2 := a.mul(a)
	s, c = a, double2{1, 0}
	ts, tc := a, c
	for k := 1.0; k < 28; k += 2 {
		tc = tc.mul(x2).div(double2{-k * (k + 1), 0})
		ts = ts.mul(x2).div(double2{-(k + 1) * (k + 2), 0})
		s, c = s.add(ts), c.add(tc)
		if math.Abs(tc.hi) < 0x1p-112 {
			break
		}
	}
	return s, c
}

// ln2 is ln 2 in twice the precision.
var ln2 = double2{math.Ln2, 2.319046813846299558417771e-17}

// exp is e^a as a number near 1 and a power of two.
func (a double2) exp() (m double2, k int) {
	k = int(math.RoundToEven(a.hi / math.Ln2))
	r := a.sub(ln2.mul(double2{float64(k), 0}))
	m = double2{1, 0}
	t := m
	for n := 1.0; n < 40; n++ {
		t = t.mul(r).div(double2{n, 0})
		m = m.add(t)
		if math.Abs(t.hi) < 0x1p-112 {
			break
		}
	}
	return m, k
}

// logOf is ln(x) in twice the precision for a finite x > 0: the double's logarithm, and a step of Newton.
func logOf(x float64) double2 {
	f, e := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f *= 2
		e--
	}
	y := double2{math.Log(f), 0}
	m, k := y.neg().exp()
	m = double2{math.Ldexp(m.hi, k), math.Ldexp(m.lo, k)}
	d := m.mul(double2{f, 0}).sub(double2{1, 0}) // f*e^-y - 1, small
	half := d.mul(d).mul(double2{0.5, 0})
	y = y.add(d.sub(half))
	return y.add(ln2.mul(double2{float64(e), 0}))
}
