package javatext

import (
	"math/big"
	"strconv"
	"strings"
	"testing"
)

// TestDecimalFormat compares patterns with java.text.DecimalFormat.
func TestDecimalFormat(t *testing.T) {
	goldenLines(t, "decimalformat", "\t", func(line int, f []string) {
		pattern := mustUnquote(t, f[0])
		p, err := CompileDecimalFormat(pattern)
		got := "-"
		if err == nil {
			switch {
			case f[1][0] == 'L':
				v, _ := strconv.ParseInt(f[1][1:], 10, 64)
				got = string(p.AppendBigint(nil, v))
			case f[1][0] == 'D':
				v, _ := ParseDouble(f[1][1:])
				got = string(p.AppendDouble(nil, v))
			default:
				v, scale := mustDecimal(t, f[1])
				got = string(p.AppendDecimal(nil, v, scale, false))
			}
			got = strconv.Quote(got)
		}
		want := f[2]
		if want != "-" {
			want = strconv.Quote(mustUnquote(t, want))
		}
		if got != want {
			t.Errorf("line %d: %q of %s is %s, want %s (%v)", line, pattern, f[1], got, want, err)
		}
	})
}

func TestNumberFormatPlaces(t *testing.T) {
	f := NumberFormat(400)
	v, _ := ParseDecimal("2.5", 2, 1)
	for want, got := range map[int][]byte{342: f.AppendDouble(nil, 2.5), 343: f.AppendBigint(nil, 25), 402: f.AppendDecimal(nil, v, 1, false)} {
		if len(got) != want {
			t.Errorf("%d characters, want %d", len(got), want)
		}
	}
	if got := NumberFormat(1<<31-1).AppendDouble(nil, 2.5); len(got) != 342 {
		t.Errorf("%d characters", len(got))
	}
}

// mustDecimal reads a decimal with all of its digits.
func mustDecimal(t *testing.T, s string) (Int128, int) {
	t.Helper()
	_, fraction, _ := strings.Cut(s, ".")
	b, ok := new(big.Int).SetString(strings.ReplaceAll(s, ".", ""), 10)
	if !ok || b.BitLen() > 127 {
		t.Fatalf("%q is no decimal", s)
	}
	negative := b.Sign() < 0
	b.Abs(b)
	hi := new(big.Int).Rsh(b, 64).Uint64()
	lo := new(big.Int).And(b, new(big.Int).SetUint64(1<<64-1)).Uint64()
	return signedInt128(hi, lo, negative), len(fraction)
}

func FuzzDecimalFormat(f *testing.F) {
	f.Add("#,##0.00;(#)", 1234.5, int64(5))
	f.Add("##0.##E0", 0.000123, int64(-5))
	f.Fuzz(func(t *testing.T, pattern string, v float64, i int64) {
		if len(pattern) > 60 {
			return
		}
		p, err := CompileDecimalFormat(pattern)
		if err != nil {
			return
		}
		p.AppendDouble(nil, v)
		p.AppendBigint(nil, i)
		p.AppendDecimal(nil, Int128{Lo: uint64(i), Hi: i}, 20, false)
	})
}
