package expr

import (
	"math"
	"math/big"
	"math/rand"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

func testBinder() *Binder { return &Binder{ANSI: true, Registry: NewRegistry(Builtins())} }

// column makes a nullable Ref and its column of random values.
func randomColumn(rng *rand.Rand, t *columnar.Type, n int, nulls bool) *columnar.Column {
	b := columnar.NewBuilder(t, n)
	for range n {
		if nulls && rng.Intn(5) == 0 {
			b.AppendNull()
			continue
		}
		appendRandom(rng, b)
	}
	return b.Finish()
}

func appendRandom(rng *rand.Rand, b *columnar.Builder) {
	t := b.Type()
	edge := []int64{0, 1, -1, 2, 7, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32, 127, -128}
	small := func() int64 {
		if rng.Intn(3) == 0 {
			return edge[rng.Intn(len(edge))]
		}
		return rng.Int63n(2000) - 1000
	}
	switch t.Kind {
	case columnar.KindBool:
		b.AppendBool(rng.Intn(2) == 0)
	case columnar.KindFloat32, columnar.KindFloat64:
		f := []float64{0, math.Copysign(0, -1), 1.5, -2.25, math.NaN(), math.Inf(1), math.Inf(-1), rng.NormFloat64()}
		b.AppendFloat(f[rng.Intn(len(f))])
	case columnar.KindDecimal:
		p := columnar.Pow10(rng.Intn(t.Precision + 1))
		v := new(big.Int).Rand(rng, p.Big())
		if rng.Intn(2) == 0 {
			v.Neg(v)
		}
		d, _ := columnar.Dec128FromBig(v)
		b.AppendDecimal(d)
	case columnar.KindString, columnar.KindBinary:
		b.AppendString([]string{"", "a", "b", "ab", "é", "日本", "zz"}[rng.Intn(7)])
	case columnar.KindArray:
		for range rng.Intn(4) {
			appendRandom(rng, b.Child(0))
		}
		b.AppendNested()
	case columnar.KindStruct:
		for i := range t.Fields {
			appendRandom(rng, b.Child(i))
		}
		b.AppendNested()
	default:
		b.AppendInt(small())
	}
}

func refTo(i int, t *columnar.Type) *Ref {
	return &Ref{Index: i, Name: "c" + itoa(i), Typ: t, Null: true}
}

// TestIntegerArithmetic compares every operator of every width with big integers, for columns and
// constants on either side.
func TestIntegerArithmetic(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	b := testBinder()
	for _, typ := range []*columnar.Type{columnar.Int8, columnar.Int16, columnar.Int32, columnar.Int64} {
		bits := uint(typ.Width() * 8)
		lo, hi := new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), bits-1)), new(big.Int).Lsh(big.NewInt(1), bits-1)
		for _, op := range []string{"+", "-", "*", "%", "pmod"} {
			for range 40 {
				n := 1 + rng.Intn(150)
				cols := []*columnar.Column{randomColumn(rng, typ, n, true), randomColumn(rng, typ, n, true)}
				args := []Expr{refTo(0, typ), refTo(1, typ)}
				if k := rng.Intn(3); k < 2 {
					v := randomColumn(rng, typ, 1, false)
					args[k] = NewLiteral(typ, v.Datum(0))
					cols[k] = columnar.Repeat(typ, v.Datum(0), n)
				}
				e, err := b.numeric(op, args[0], args[1], modeTry, "")
				if err != nil {
					t.Fatal(err)
				}
				got, err := e.Eval(&Context{ANSI: true}, columnar.NewBatch(nil, cols, n))
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					want, ok := bigOp(op, cols, i)
					ok = ok && want.Cmp(lo) >= 0 && want.Cmp(hi) < 0
					if got.IsNull(i) != !ok || ok && intAt(got, i) != want.Int64() {
						t.Fatalf("%s: %v %s %v gave %v, want %v (null: %v)", typ, cols[0].Datum(i), op, cols[1].Datum(i), got.Datum(i), want, !ok)
					}
				}
			}
		}
	}
}

func bigOp(op string, cols []*columnar.Column, i int) (*big.Int, bool) {
	if cols[0].IsNull(i) || cols[1].IsNull(i) {
		return nil, false
	}
	x, y := big.NewInt(intAt(cols[0], i)), big.NewInt(intAt(cols[1], i))
	switch op {
	case "+":
		return x.Add(x, y), true
	case "-":
		return x.Sub(x, y), true
	case "*":
		return x.Mul(x, y), true
	}
	if y.Sign() == 0 {
		return nil, false
	}
	r := new(big.Int).Rem(x, y)
	if op == "pmod" && r.Sign() < 0 {
		// As Java adds in the type's width.
		w := uint(cols[0].Type.Width() * 8)
		s := new(big.Int).Add(r, y)
		r.Rem(big.NewInt(s.Int64()<<(64-w)>>(64-w)), y)
	}
	return r, true
}

// TestDecimalArithmetic compares decimal operators with rational numbers.
func TestDecimalArithmetic(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	types := []*columnar.Type{columnar.Decimal(5, 2), columnar.Decimal(18, 6), columnar.Decimal(38, 0), columnar.Decimal(38, 18), columnar.Decimal(38, 38), columnar.Decimal(20, 1)}
	for range 3000 {
		x, y := types[rng.Intn(len(types))], types[rng.Intn(len(types))]
		op := []string{"+", "-", "*", "/", "%"}[rng.Intn(5)]
		typ := arithmeticDecimal(op, x, y)
		a, b := randomColumn(rng, x, 1, false).Datum(0).(columnar.Dec128), randomColumn(rng, y, 1, false).Datum(0).(columnar.Dec128)
		if b.Sign() == 0 {
			continue
		}
		o := decimalOp{op, x.Scale, y.Scale, typ}
		got, ok := o.compute(a, b)
		p, q := rational(a, x.Scale), rational(b, y.Scale)
		r := new(big.Rat)
		switch op {
		case "+":
			r.Add(p, q)
		case "-":
			r.Sub(p, q)
		case "*":
			r.Mul(p, q)
		case "/":
			r.Quo(p, q)
		default:
			n := new(big.Rat).Quo(p, q)
			w := new(big.Int).Quo(n.Num(), n.Denom())
			r.Sub(p, new(big.Rat).Mul(q, new(big.Rat).SetInt(w)))
		}
		r.Mul(r, new(big.Rat).SetInt(bigPow10(typ.Scale)))
		want := bigDivHalfUp(new(big.Int).Set(r.Num()), r.Denom())
		d, fits := columnar.Dec128FromBig(want)
		fits = fits && d.FitsPrecision(typ.Precision)
		if ok != fits || ok && got != d {
			t.Fatalf("%s %s %s: %v %s %v gave %v (%v), want %v (%v)", x, op, y, p, op, q, got.Big(), ok, want, fits)
		}
	}
}

func rational(v columnar.Dec128, scale int) *big.Rat {
	return new(big.Rat).SetFrac(v.Big(), bigPow10(scale))
}

func TestDivideWide(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	for range 20000 {
		v, d := randomDec(rng), randomDec(rng)
		if d.Sign() == 0 {
			continue
		}
		q, r := divDec(v, d)
		wq, wr := new(big.Int).QuoRem(v.Big(), d.Big(), new(big.Int))
		if q.Big().Cmp(wq) != 0 || r.Big().Cmp(wr) != 0 {
			t.Fatalf("%v / %v gave %v rest %v, want %v rest %v", v.Big(), d.Big(), q.Big(), r.Big(), wq, wr)
		}
	}
}

func randomDec(rng *rand.Rand) columnar.Dec128 {
	v := columnar.Dec128{Lo: rng.Uint64(), Hi: int64(rng.Uint64()) >> uint(1+rng.Intn(63))}
	if rng.Intn(3) == 0 {
		v.Hi = int64(v.Lo) >> 63
	}
	if rng.Intn(4) == 0 {
		v.Lo &= 0xff
	}
	return v
}

// TestComparisons compares the kernels of all types with the comparison of two values.
func TestComparisons(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	st := columnar.StructOf(field("a", columnar.Int32, true), field("b", columnar.String, true))
	for _, typ := range []*columnar.Type{
		columnar.Bool, columnar.Int8, columnar.Int16, columnar.Int32, columnar.Int64, columnar.Float32, columnar.Float64,
		columnar.Decimal(10, 2), columnar.String, columnar.Binary, columnar.Date, columnar.Timestamp, columnar.ArrayOf(columnar.Int32, true), st,
	} {
		for op := opEq; op <= opNullEq; op++ {
			for range 6 {
				n := 1 + rng.Intn(200)
				cols := []*columnar.Column{randomColumn(rng, typ, n, true), randomColumn(rng, typ, n, true)}
				args := []Expr{refTo(0, typ), refTo(1, typ)}
				if k := rng.Intn(4); k < 2 {
					args[k] = NewLiteral(typ, cols[k].Datum(0))
					cols[k] = columnar.Repeat(typ, cols[k].Datum(0), n)
				}
				got, err := (&comparison{op, args[0], args[1]}).Eval(&Context{}, columnar.NewBatch(nil, cols, n))
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					xn, yn := cols[0].IsNull(i), cols[1].IsNull(i)
					var want any
					switch {
					case op == opNullEq && (xn || yn):
						want = xn && yn
					case xn || yn:
					default:
						want = holds(op, compareAt(cols[0], i, cols[1], i))
					}
					if got.Datum(i) != want {
						t.Fatalf("%s: %v %s %v gave %v, want %v", typ, cols[0].Datum(i), cmpSigns[op], cols[1].Datum(i), got.Datum(i), want)
					}
				}
			}
		}
	}
}

// TestLogic goes through all combinations of three values, with a right side that must not fail
// where it is not needed.
func TestLogic(t *testing.T) {
	vals := []columnar.Datum{true, false, nil}
	l, r := columnar.NewBuilder(columnar.Bool, 9), columnar.NewBuilder(columnar.Bool, 9)
	for _, x := range vals {
		for _, y := range vals {
			l.AppendDatum(x)
			r.AppendDatum(y)
		}
	}
	in := columnar.NewBatch(nil, []*columnar.Column{l.Finish(), r.Finish()}, 9)
	for _, or := range []bool{false, true} {
		for _, right := range []Expr{refTo(1, columnar.Bool), &failWhere{refTo(0, columnar.Bool), refTo(1, columnar.Bool), or}} {
			got, err := (&logic{or, refTo(0, columnar.Bool), right}).Eval(&Context{}, in)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range []columnar.Datum{true, true, true, false, false, false, nil, nil, nil} {
				y := vals[i%3]
				var want columnar.Datum
				switch {
				case x == or || y == or:
					want = or
				case x != nil && y != nil:
					want = !or
				}
				if got.Datum(i) != want {
					t.Errorf("%v or=%v %v is %v, want %v", x, or, y, got.Datum(i), want)
				}
			}
		}
	}
}

// failWhere gives x but fails for rows where cond is bad.
type failWhere struct {
	cond, x Expr
	bad     bool
}

func (e *failWhere) Type() *columnar.Type       { return e.x.Type() }
func (e *failWhere) Nullable() bool             { return true }
func (e *failWhere) Children() []Expr           { return []Expr{e.cond, e.x} }
func (e *failWhere) WithChildren(c []Expr) Expr { return &failWhere{c[0], c[1], e.bad} }
func (e *failWhere) SQL() string                { return "fail" }
func (e *failWhere) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	c, err := e.cond.Eval(ctx, in)
	if err != nil {
		return nil, err
	}
	for i := range in.Rows {
		if !c.IsNull(i) && c.Bits.Get(i) == e.bad {
			return nil, sparkerr.New("REACHED", "row %d", i)
		}
	}
	return e.x.Eval(ctx, in)
}

// TestGuardedFaults: branches that a row does not take are not evaluated for it.
func TestGuardedFaults(t *testing.T) {
	b := testBinder()
	a, z := refTo(0, columnar.Int32), refTo(1, columnar.Int32)
	in := columnar.NewBatch(nil, []*columnar.Column{
		columnar.FromData(columnar.Int32, int32(10), int32(7), nil, int32(3)),
		columnar.FromData(columnar.Int32, int32(2), int32(0), int32(0), nil),
	}, 4)
	must := func(e Expr, err error) Expr {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	zero := must(b.Compare("=", z, NewInt(0)))
	quot := must(b.Arithmetic("div", a, z))
	mod := must(b.Arithmetic("%", a, z))
	for name, c := range map[string]struct {
		e    Expr
		want []columnar.Datum
	}{
		"if":       {must(b.If(zero, NewLiteral(columnar.Int64, int64(-1)), quot)), []columnar.Datum{int64(5), int64(-1), int64(-1), nil}},
		"case":     {must(b.Case([]When{{must(b.Not(zero)), quot}}, nil)), []columnar.Datum{int64(5), nil, nil, nil}},
		"and":      {must(b.And(must(b.Not(zero)), must(b.Compare(">", quot, NewLiteral(columnar.Int64, int64(1)))))), []columnar.Datum{true, false, false, nil}},
		"or":       {must(b.Or(zero, must(b.Compare(">", mod, NewInt(0))))), []columnar.Datum{false, true, true, nil}},
		"coalesce": {must(b.Func("coalesce", must(b.Func("nullif", z, NewInt(0))), a)), []columnar.Datum{int32(2), int32(7), nil, int32(3)}},
	} {
		got, err := c.e.Eval(&Context{ANSI: true}, in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, w := range c.want {
			if got.Datum(i) != w {
				t.Errorf("%s: row %d is %v, want %v", name, i, got.Datum(i), w)
			}
		}
	}
	if _, err := quot.Eval(&Context{ANSI: true}, in); sparkerr.Condition(err) != "DIVIDE_BY_ZERO" {
		t.Errorf("unguarded division gave %v", err)
	}
	// A null dividend does not divide by zero.
	if _, err := quot.Eval(&Context{ANSI: true}, in.Slice(2, 4)); err != nil {
		t.Error(err)
	}
}

func TestUnknownFunction(t *testing.T) {
	b := testBinder()
	_, err := b.Func("coalesc", NewInt(1))
	if sparkerr.Condition(err) != "UNRESOLVED_ROUTINE" || err.Error() != "[UNRESOLVED_ROUTINE] there is no function `coalesc`; did you mean \"coalesce\"?" {
		t.Errorf("got %v", err)
	}
	if _, err = b.Func("zzqqxx"); err == nil || sparkerr.Condition(err) != "UNRESOLVED_ROUTINE" {
		t.Errorf("got %v", err)
	}
}

func TestRegistryIsSound(t *testing.T) {
	seen := map[string]string{}
	for _, f := range Builtins() {
		for _, n := range append([]string{f.Name}, f.Aliases...) {
			if by, ok := seen[n]; ok {
				t.Errorf("%q is both of %q and of %q", n, by, f.Name)
			}
			seen[n] = f.Name
		}
		if f.Family == "" || f.Signature == "" || f.Doc == "" || f.Bind == nil {
			t.Errorf("function %q lacks its family, signature, text or Bind", f.Name)
		}
	}
}
