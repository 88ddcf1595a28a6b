package javatext

import (
	"math"
	"strconv"
	"testing"
)

func TestDoubleString(t *testing.T) {
	goldenLines(t, "double", " ", func(line int, f []string) {
		d, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := DoubleString(math.Float64frombits(d)); got != f[1] {
			t.Errorf("line %d: double %s is %q, want %q", line, f[0], got, f[1])
		}
		s, err := strconv.ParseUint(f[2], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		if got := FloatString(math.Float32frombits(uint32(s))); got != f[3] {
			t.Errorf("line %d: float %s is %q, want %q", line, f[2], got, f[3])
		}
	})
}

// FuzzDoubleString compares the fast way to the digits with the JDK's own, and reads them back.
func FuzzDoubleString(f *testing.F) {
	f.Add(uint64(1))
	f.Add(math.Float64bits(1e23))
	f.Add(math.Float64bits(0.1))
	f.Fuzz(func(t *testing.T, bits uint64) {
		v := math.Float64frombits(bits)
		s := DoubleString(v)
		if got, err := strconv.ParseFloat(s, 64); err != nil || got != v && v == v {
			t.Fatalf("%s is not %x but %v, %v", s, bits, got, err)
		}
		exp, frac := int(bits>>52)&0x7ff, bits&(1<<52-1)
		if exp == 0 || exp == 0x7ff {
			return
		}
		var d decimalDigits
		d.develop(exp-1023, frac|1<<52, 53, true)
		if want := appendJavaDigits(nil, d.digits[:d.n], d.decExp); s != string(want) && s != "-"+string(want) {
			t.Fatalf("%x is %s, want %s", bits, s, want)
		}
	})
}

func BenchmarkAppendDouble(b *testing.B) {
	for _, v := range []float64{1234.5, 1.0 / 3, 0.25, 1e23} {
		b.Run(DoubleString(v), func(b *testing.B) {
			var buf [32]byte
			b.ReportAllocs()
			for b.Loop() {
				AppendDouble(buf[:0], v)
			}
		})
	}
}
