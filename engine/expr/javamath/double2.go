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

// reciprocal is 1/n of a whole number.
func reciprocal(n float64) double2 {
	q := 1 / n
	return double2{q, math.FMA(-q, n, 1) / n}
}

// sincos are the sine and cosine of an angle of at most pi/4, by their series.
func (a double2) sincos() (s, c double2) {
	x2 := a.mul(a)
	s, c = a, double2{1, 0}
	ts, tc := a, c
	for k := 1.0; k < 28; k += 2 {
		tc = tc.mul(x2).mul(reciprocal(-k * (k + 1)))
		ts = ts.mul(x2).mul(reciprocal(-(k + 1) * (k + 2)))
		s, c = s.add(ts), c.add(tc)
		if math.Abs(tc.hi) < 0x1p-112 {
			break
		}
	}
	return s, c
}
