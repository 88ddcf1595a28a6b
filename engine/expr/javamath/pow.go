package javamath

import "math"

// highBits and lowBits are the two halves of a double's bits; withHigh replaces the upper one.
func highBits(x float64) int32 { return int32(math.Float64bits(x) >> 32) }

func lowBits(x float64) uint32 { return uint32(math.Float64bits(x)) }

func withHigh(x float64, high int32) float64 {
	return math.Float64frombits(uint64(uint32(high))<<32 | math.Float64bits(x)&0xffffffff)
}

// Pow is x^y as StrictMath.pow: the logarithm to base 2 in two parts, times y, and 2 to that power. A result may be a
// unit in the last place off, in the same places as Java's. Products are converted so that no machine
// fuses them with a sum.
func Pow(x, y float64) float64 {
	abs := math.Abs(x)
	switch absY := math.Abs(y); {
	case y == 0:
		return 1
	case x != x || y != y:
		return x + y
	case y == 2:
		return x * x
	case y == 0.5 && x >= -math.MaxFloat64:
		return math.Sqrt(x + 0)
	case y == 1:
		return x
	case y == -1:
		return 1 / x
	case math.IsInf(y, 0) && abs == 1:
		return math.NaN()
	case math.IsInf(y, 0):
		if (abs > 1) == (y > 0) {
			return absY
		}
		return 0
	}
	// For negative x: 0 if y is no whole number, 1 if it is odd, 2 if it is even.
	whole := 0
	if math.Signbit(x) {
		switch a := math.Abs(y); {
		case a >= 1<<53:
			whole = 2
		case a == math.Trunc(a):
			whole = 2 - int(int64(a)&1)
		}
	}
	if abs == 0 || abs == 1 || math.IsInf(abs, 1) {
		z := abs
		if y < 0 {
			z = 1 / z
		}
		if math.Signbit(x) {
			switch {
			case abs == 1 && whole == 0:
				return math.NaN()
			case whole == 1:
				z = -z
			}
		}
		return z
	}
	sign := 1.0
	if x < 0 {
		switch whole {
		case 0:
			return math.NaN()
		case 1:
			sign = -1
		}
	}
	var t1, t2 float64
	if math.Abs(y) > 0x1.00000ffffffffp31 {
		switch {
		case abs < 0x1.fffffp-1:
			if y < 0 {
				return sign * math.Inf(1)
			}
			return sign * 0
		case abs > 0x1.00000ffffffffp0:
			if y > 0 {
				return sign * math.Inf(1)
			}
			return sign * 0
		}
		t1, t2 = logNearOne(abs)
	} else {
		t1, t2 = log2Parts(abs)
	}
	return sign * exp2Product(y, t1, t2)
}

// logNearOne is the logarithm to base 2 of a number within 2^-20 of 1, in two parts.
func logNearOne(x float64) (t1, t2 float64) {
	const (
		invLn2High = 0x1.715476p0
		invLn2Low  = 0x1.4ae0bf85ddf44p-26
	)
	t := x - 1
	w := float64(float64(t*t) * (0.5 - float64(t*(0.3333333333333333333333-float64(t*0.25)))))
	u := float64(invLn2High * t)
	v := float64(t*invLn2Low) - float64(w*invLn2)
	t1 = highWord(u + v)
	return t1, v - (t1 - u)
}

// log2Parts is the logarithm to base 2 of a positive number, in two parts.
func log2Parts(x float64) (t1, t2 float64) {
	const (
		cp     = 0x1.ec709dc3a03fdp-1 // 2/(3 ln 2)
		cpHigh = 0x1.ec709ep-1
		cpLow  = -0x1.e2fe0145b01f5p-28
		l1     = 0x1.3333333333303p-1
		l2     = 0x1.b6db6db6fabffp-2
		l3     = 0x1.55555518f264dp-2
		l4     = 0x1.17460a91d4101p-2
		l5     = 0x1.d864a93c9db65p-3
		l6     = 0x1.a7e284a454eefp-3
	)
	n := int32(0)
	ix := highBits(x)
	if ix < 0x00100000 {
		x *= 0x1p53
		n = -53
		ix = highBits(x)
	}
	n += ix>>20 - 0x3ff
	j := ix & 0x000fffff
	ix = j | 0x3ff00000
	base, k := 1.0, int32(0)
	dpHigh, dpLow := 0.0, 0.0
	switch {
	case j <= 0x3988e: // below the root of 3/2
	case j < 0xbb67a: // below the root of 3
		base, k = 1.5, 1
		dpHigh, dpLow = 0x1.2b8034p-1, 0x1.cfdeb43cfd006p-27
	default:
		n++
		ix -= 0x00100000
	}
	x = withHigh(x, ix)
	u := x - base
	v := 1 / (x + base)
	ss := float64(u * v)
	sh := highWord(ss)
	th := withHigh(0, (ix>>1|0x20000000)+0x00080000+k<<18)
	tl := x - (th - base)
	sl := float64(v * ((u - float64(sh*th)) - float64(sh*tl)))
	s2 := float64(ss * ss)
	r := float64(float64(s2*s2) * (l1 + float64(s2*(l2+float64(s2*(l3+float64(s2*(l4+float64(s2*(l5+float64(s2*l6)))))))))))
	r += float64(sl * (sh + ss))
	s2 = float64(sh * sh)
	th = highWord(3 + s2 + r)
	tl = r - ((th - 3) - s2)
	u = float64(sh * th)
	v = float64(sl*th) + float64(tl*ss)
	ph := highWord(u + v)
	pl := v - (ph - u)
	zh := float64(cpHigh * ph)
	zl := float64(cpLow*ph) + float64(pl*cp) + dpLow
	t := float64(n)
	t1 = highWord(((zh + zl) + dpHigh) + t)
	return t1, zl - (((t1 - t) - dpHigh) - zh)
}

// exp2Product is 2^(y*(t1+t2)).
func exp2Product(y, t1, t2 float64) float64 {
	const (
		overflow = 8.0085662595372944372e-17
		p1       = 0x1.555555555553ep-3
		p2       = -0x1.6c16c16bebd93p-9
		p3       = 0x1.1566aaf25de2cp-14
		p4       = -0x1.bbd41c5d26bf1p-20
		p5       = 0x1.6376972bea4d0p-25
		ln2      = 0x1.62e42fefa39efp-1
		ln2High  = 0x1.62e43p-1
		ln2Low   = -0x1.05c610ca86c39p-29
	)
	y1 := highWord(y)
	pl := float64((y-y1)*t1) + float64(y*t2)
	ph := float64(y1 * t1)
	z := pl + ph
	j := highBits(z)
	switch {
	case j >= 0x40900000:
		if j != 0x40900000 || lowBits(z) != 0 || pl+overflow > z-ph {
			return math.Inf(1)
		}
	case j&0x7fffffff >= 0x4090cc00:
		if uint32(j) != 0xc090cc00 || lowBits(z) != 0 || pl <= z-ph {
			return 0
		}
	}
	i := j & 0x7fffffff
	n := int32(0)
	if i > 0x3fe00000 {
		n = j + 0x00100000>>(i>>20-0x3ff+1)
		k := (n&0x7fffffff)>>20 - 0x3ff
		t := withHigh(0, n&^(0x000fffff>>k))
		n = (n&0x000fffff | 0x00100000) >> (20 - k)
		if j < 0 {
			n = -n
		}
		ph -= t
	}
	t := highWord(pl + ph)
	u := float64(t * ln2High)
	v := float64((pl-(t-ph))*ln2) + float64(t*ln2Low)
	z = u + v
	w := v - (z - u)
	t = float64(z * z)
	c := z - float64(t*(p1+float64(t*(p2+float64(t*(p3+float64(t*(p4+float64(t*p5)))))))))
	r := float64(z*c)/(c-2) - (w + float64(z*w))
	z = 1 - (r - z)
	if (highBits(z)+n<<20)>>20 <= 0 {
		return math.Ldexp(z, int(n))
	}
	return withHigh(z, highBits(z)+n<<20)
}

// Hypot is the square root of x²+y² as StrictMath.hypot.
func Hypot(x, y float64) float64 {
	a, b := math.Abs(x), math.Abs(y)
	switch {
	case math.IsInf(a, 0) || math.IsInf(b, 0):
		return math.Inf(1)
	case a != a || b != b:
		return a + b
	}
	if b > a {
		a, b = b, a
	}
	ha, hb := highBits(a), highBits(b)
	if ha-hb > 0x3c00000 {
		return a + b // x/y is beyond 2^60
	}
	k := 0
	if a > 0x1.00000ffffffffp500 {
		ha -= 0x25800000
		hb -= 0x25800000
		a *= 0x1p-600
		b *= 0x1p-600
		k = 600
	}
	if b < 0x1p-500 {
		if b < 0x1p-1022 {
			if b == 0 {
				return a
			}
			a *= 0x1p1022
			b *= 0x1p1022
			k -= 1022
		} else {
			ha += 0x25800000
			hb += 0x25800000
			a *= 0x1p600
			b *= 0x1p600
			k -= 600
		}
	}
	w := a - b
	if w > b {
		t1 := withHigh(0, ha)
		t2 := a - t1
		w = math.Sqrt(float64(t1*t1) - (float64(b*(-b)) - float64(t2*(a+t1))))
	} else {
		a += a
		y1 := withHigh(0, hb)
		y2 := b - y1
		t1 := withHigh(0, ha+0x00100000)
		t2 := a - t1
		w = math.Sqrt(float64(t1*y1) - (float64(w*(-w)) - (float64(t1*y2) + float64(t2*b))))
	}
	if k != 0 {
		return math.Ldexp(1, k) * w
	}
	return w
}
