package javatext

import (
	"math"
	"strconv"
	"testing"
)

// TestParseNumbers compares the readers of numbers and booleans with Spark's and Java's.
func TestParseNumbers(t *testing.T) {
	showInt := func(v int64, ok bool) string {
		if !ok {
			return "-"
		}
		return strconv.FormatInt(v, 10)
	}
	showDecimal := func(v Int128, status DecimalStatus, scale int) string {
		switch status {
		case DecimalInvalid:
			return "-"
		case DecimalTooLarge:
			return "large"
		case DecimalUnsupported:
			return "unsupported"
		}
		return string(AppendDecimal(nil, v, scale))
	}
	goldenLines(t, "number", "\t", func(line int, f []string) {
		s, err := strconv.Unquote(f[0])
		if err != nil {
			t.Fatal(err)
		}
		check := func(what, got, want string) {
			if got != want {
				t.Errorf("line %d: %s of %q is %s, want %s", line, what, s, got, want)
			}
		}
		check("bigint", showInt(ParseBigint(s, false)), f[1])
		check("bigint without ANSI", showInt(ParseBigint(s, true)), f[2])
		b := "-"
		if v, ok := ParseBoolean(s); ok {
			b = strconv.FormatBool(v)
		}
		check("boolean", b, f[3])
		v, status := ParseDecimal(s, 12, 3)
		check("decimal(12,3)", showDecimal(v, status, 3), f[4])
		v, status = ParseDecimal(s, 38, 10)
		check("decimal(38,10)", showDecimal(v, status, 10), f[5])
		// Spark's names of infinities and NaN go beyond Java's.
		d, ok := ParseDouble(s)
		if f[6] != "-" || ok && d-d == 0 {
			bits := "-"
			if ok {
				bits = strconv.FormatUint(math.Float64bits(d), 16)
			}
			if d != d {
				bits = "7ff8000000000000"
			}
			check("double", bits, f[6])
		}
		x, ok := ParseFloat(s)
		if f[7] != "-" || ok && x-x == 0 {
			bits := "-"
			if ok {
				bits = strconv.FormatUint(uint64(math.Float32bits(x)), 16)
			}
			if x != x {
				bits = "7fc00000"
			}
			check("float", bits, f[7])
		}
		for i, bases := range [][2]int{{10, -16}, {36, 10}} {
			c, ok, _ := Conv(s, bases[0], bases[1])
			if !ok {
				c = "null"
			}
			check("conv", c, f[8+i])
		}
	})
}

func TestParseFloatingNames(t *testing.T) {
	for s, want := range map[string]string{
		"inf": "Infinity", " -INF ": "-Infinity", "+Inf": "Infinity", "nan": "NaN", "Nan": "NaN", "-infinity": "-Infinity",
		"-nan": "", "+NaN": "NaN", "infinit": "", "1_000": "", "0x1F": "",
	} {
		v, ok := ParseDouble(s)
		if ok != (want != "") || ok && DoubleString(v) != want {
			t.Errorf("%q is %v, %v, want %s", s, v, ok, want)
		}
	}
}

func TestRound(t *testing.T) {
	goldenLines(t, "round", "\t", func(line int, f []string) {
		bits, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		v := math.Float64frombits(bits)
		places, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatal(err)
		}
		for i, mode := range []RoundingMode{HalfUp, HalfEven, Ceiling, Floor} {
			if got := DoubleString(RoundDouble(v, places, mode)); got != f[2+i] {
				t.Errorf("line %d: %v to %d places, mode %d, is %s, want %s", line, v, places, mode, got, f[2+i])
			}
		}
		if x := float32(v); x-x == 0 {
			if got := FloatString(RoundFloat(x, places, HalfUp)); got != f[6] {
				t.Errorf("line %d: float %v to %d places is %s, want %s", line, x, places, got, f[6])
			}
		}
		got := "large"
		if d, status := DecimalFromDouble(v, 20, 4); status == DecimalOK {
			got = string(AppendDecimal(nil, d, 4))
		}
		if got != f[7] {
			t.Errorf("line %d: decimal of %v is %s, want %s", line, v, got, f[7])
		}
	})
}

func TestRoundBigint(t *testing.T) {
	for _, c := range []struct {
		v      int64
		places int
		mode   RoundingMode
		want   int64
		ok     bool
	}{
		{25, -1, HalfUp, 30, true},
		{25, -1, HalfEven, 20, true},
		{-25, -1, HalfUp, -30, true},
		{127, -3, HalfUp, 0, true},
		{25, 2, HalfUp, 25, true},
		{9223372036854775807, -1, HalfUp, 0, false},
		{9223372036854775807, -100, HalfUp, 0, true},
		{501, -3, HalfUp, 1000, true},
		{-9223372036854775808, -2, HalfUp, -9223372036854775800, true},
		{1234, -2, Ceiling, 1300, true},
		{1234, -2, Floor, 1200, true},
		{-1234, -2, Floor, -1300, true},
		{0, -5, Ceiling, 0, true},
		{1, -2, Ceiling, 100, true},
	} {
		got, ok := RoundBigint(c.v, c.places, c.mode)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%d to %d places is %d, %v, want %d", c.v, c.places, got, ok, c.want)
		}
	}
}

func TestRoundDecimal(t *testing.T) {
	for _, c := range []struct {
		v        string
		from, to int
		mode     RoundingMode
		want     string
		wantTo   int
	}{
		{"2.345", 3, 2, HalfUp, "2.35", 2},
		{"2.345", 3, 2, HalfEven, "2.34", 2},
		{"-2.567", 3, 0, Floor, "-3", 0},
		{"-2.567", 3, -2, Floor, "-100", 0},
		{"2.567", 3, -2, Ceiling, "100", 0},
		{"99.99", 2, 1, HalfUp, "100.0", 1},
		{"1234.5678", 4, -2, HalfUp, "1200", 0},
		{"0.001", 3, 5, HalfUp, "0.00100", 5},
	} {
		v, _ := ParseDecimal(c.v, 38, c.from)
		got, ok := RoundDecimal(v, c.from, c.to, c.mode)
		if s := string(AppendDecimal(nil, got, c.wantTo)); !ok || s != c.want {
			t.Errorf("%s to %d places is %s, %v, want %s", c.v, c.to, s, ok, c.want)
		}
	}
}

func FuzzParseNumbers(f *testing.F) {
	f.Add("1.5e-3")
	f.Add("0x1.8p3f")
	f.Add("\u0661.\u0662E5")
	f.Fuzz(func(t *testing.T, s string) {
		if v, ok := ParseBigint(s, true); ok {
			if again, ok := ParseBigint(strconv.FormatInt(v, 10), false); !ok || again != v {
				t.Fatalf("%q is %d, then %d", s, v, again)
			}
		}
		ParseBoolean(s)
		Conv(s, 36, -2)
		if v, status := ParseDecimal(s, 38, 9); status == DecimalOK {
			again, status := ParseDecimal(string(AppendDecimal(nil, v, 9)), 38, 9)
			if status != DecimalOK || again != v {
				t.Fatalf("%q is %v, then %v", s, v, again)
			}
		}
		if v, ok := ParseDouble(s); ok && v == v {
			if again, ok := ParseDouble(DoubleString(v)); !ok || again != v {
				t.Fatalf("%q is %v, then %v", s, v, again)
			}
			RoundDouble(v, 2, HalfUp)
		}
		ParseFloat(s)
	})
}

func BenchmarkRoundDouble(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		RoundDouble(1234.5678, 2, HalfUp)
	}
}
