package columnar

import (
	"math"
	"math/big"
	"reflect"
	"testing"
)

var sample = StructOf(
	Field{Name: "a", Type: Int32, Nullable: true}, Field{Name: "s", Type: String, Nullable: true},
	Field{Name: "l", Type: ArrayOf(Float64, true), Nullable: true},
	Field{Name: "m", Type: MapOf(String, Decimal(10, 2), true), Nullable: true}, Field{Name: "b", Type: Bool, Nullable: true})

func sampleColumn() (*Column, []Datum) {
	var rows []Datum
	for i := 0; i < 150; i++ {
		if i%7 == 3 {
			rows = append(rows, nil)
			continue
		}
		r := StructDatum{int32(i), "x", []Datum{1.5, nil, float64(i)}, MapDatum{[]Datum{"k", "j"}, []Datum{Dec128FromInt64(int64(i)), nil}}, i%2 == 0}
		if i%5 == 0 {
			r[1], r[3] = nil, nil
		}
		rows = append(rows, r)
	}
	return FromData(sample, rows...), rows
}

func TestColumnRoundTrips(t *testing.T) {
	c, rows := sampleColumn()
	check := func(what string, c *Column, want []Datum) {
		t.Helper()
		if c.Len != len(want) {
			t.Fatalf("%s: %d rows, want %d", what, c.Len, len(want))
		}
		for i := range want {
			if got := c.Datum(i); !reflect.DeepEqual(got, want[i]) {
				t.Fatalf("%s: row %d is %v, want %v", what, i, got, want[i])
			}
		}
	}
	check("builder", c, rows)
	check("slice", c.Slice(5, 140), rows[5:140])
	check("slice of slice", c.Slice(5, 140).Slice(60, 70), rows[65:75])
	check("concat", Concat([]*Column{c.Slice(0, 67), c.Slice(67, 67), c.Slice(67, 150)}), rows)
	idx := []int32{149, -1, 0, 3, 77}
	check("take", Take(c, idx), []Datum{rows[149], nil, rows[0], rows[3], rows[77]})

	var keys RowKeys
	EncodeRows(&keys, []*Column{c, c.Children[0]}, c.Len, false)
	b, b2 := NewBuilder(c.Type, 0), NewBuilder(Int32, 0)
	for i := 0; i < c.Len; i++ {
		rest, ok := DecodeValue(b, keys.Row(i))
		if ok {
			rest, ok = DecodeValue(b2, rest)
		}
		if !ok || len(rest) != 0 {
			t.Fatalf("row %d: decoding left %d bytes, ok %v", i, len(rest), ok)
		}
	}
	check("row encoding", b.Finish(), rows)
}

func TestKeysAreNormalized(t *testing.T) {
	c := FromData(Float64, 0.0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0x7ff8000000000001), nil)
	var k RowKeys
	EncodeRows(&k, []*Column{c}, c.Len, true)
	if string(k.Row(0)) != string(k.Row(1)) || string(k.Row(2)) != string(k.Row(3)) || string(k.Row(3)) == string(k.Row(4)) {
		t.Fatal("zeros or NaNs are not one key")
	}
}

func TestDec128(t *testing.T) {
	vals := []string{"0", "1", "-1", "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "18446744073709551616", "1000000000000000000", "-1000000000000000001", "340282366920938463"}
	for _, s := range vals {
		a, _ := new(big.Int).SetString(s, 10)
		d, ok := Dec128FromBig(a)
		if !ok || d.Big().Cmp(a) != 0 {
			t.Fatalf("%s round trips as %v", s, d.Big())
		}
		if got := string(AppendDec(nil, d, 0)); got != s {
			t.Fatalf("%s prints as %s", s, got)
		}
		for _, s2 := range vals {
			b, _ := new(big.Int).SetString(s2, 10)
			e, _ := Dec128FromBig(b)
			want := new(big.Int).Mul(a, b)
			got, ok := d.Mul(e)
			if fits := want.BitLen() <= 127; ok != fits || ok && got.Big().Cmp(want) != 0 {
				t.Fatalf("%s*%s = %v %v, want %v", s, s2, got.Big(), ok, want)
			}
			sum, ok := d.Add(e)
			if w := new(big.Int).Add(a, b); ok && sum.Big().Cmp(w) != 0 || ok != (w.BitLen() <= 127) {
				t.Fatalf("%s+%s = %v %v", s, s2, sum.Big(), ok)
			}
		}
	}
	if got := string(AppendDec(nil, Dec128FromInt64(-5), 3)); got != "-0.005" {
		t.Fatal(got)
	}
}
