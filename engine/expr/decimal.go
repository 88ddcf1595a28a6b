package expr

import (
	"math/big"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// decimalRange is the error for a number that a decimal type cannot hold.
func decimalRange(text string, t *columnar.Type) error {
	return sparkerr.New("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "%s cannot be represented as Decimal(%d, %d)", text, t.Precision, t.Scale)
}

// rescale changes the scale of v, rounding half up, and checks the precision.
func rescale(v columnar.Dec128, from, to, precision int) (columnar.Dec128, bool) {
	switch {
	case to > from:
		if to-from > 38 {
			return columnar.Dec128{}, v.Sign() == 0
		}
		r, ok := v.Mul(columnar.Pow10(to - from))
		return r, ok && r.FitsPrecision(precision)
	case to < from:
		if from-to > 38 {
			return columnar.Dec128{}, true
		}
		v = divHalfUp(v, columnar.Pow10(from-to))
	}
	return v, v.FitsPrecision(precision)
}

// divHalfUp is v/d rounded half away from zero.
func divHalfUp(v, d columnar.Dec128) columnar.Dec128 {
	q, r := divDec(v, d)
	if r.Hi < 0 {
		r = r.Neg()
	}
	if d.Hi < 0 {
		d = d.Neg()
	}
	// |r| >= d/2, without overflow: r >= d-r
	rest, _ := d.Sub(r)
	if r.Cmp(rest) >= 0 {
		one := columnar.Dec128{Lo: 1}
		if v.Hi < 0 {
			q, _ = q.Sub(one)
		} else {
			q, _ = q.Add(one)
		}
	}
	return q
}

// bigHalfUp is v/10^n rounded half away from zero.
func bigHalfUp(v *big.Int, n int) *big.Int {
	if n <= 0 {
		return new(big.Int).Mul(v, bigPow10(-n))
	}
	return bigDivHalfUp(v, bigPow10(n))
}

func bigDivHalfUp(v, d *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(v, d, new(big.Int))
	r.Abs(r).Lsh(r, 1)
	if r.CmpAbs(d) >= 0 {
		if v.Sign() < 0 != (d.Sign() < 0) {
			return q.Sub(q, big.NewInt(1))
		}
		return q.Add(q, big.NewInt(1))
	}
	return q
}

func bigPow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// decimalOp is one operator on decimals of fixed scales.
type decimalOp struct {
	op     string
	s1, s2 int
	typ    *columnar.Type
}

// compute is x op y; ok is false when the result does not fit its type. y is not zero for division.
func (o *decimalOp) compute(x, y columnar.Dec128) (columnar.Dec128, bool) {
	switch o.op {
	case "+", "-":
		s := max(o.s1, o.s2)
		a, ok1 := x.Mul(columnar.Pow10(s - o.s1))
		b, ok2 := y.Mul(columnar.Pow10(s - o.s2))
		if ok1 && ok2 {
			r, ok := a.Add(b)
			if o.op == "-" {
				r, ok = a.Sub(b)
			}
			if ok {
				return rescale(r, s, o.typ.Scale, o.typ.Precision)
			}
		}
	case "*":
		if r, ok := x.Mul(y); ok {
			return rescale(r, o.s1+o.s2, o.typ.Scale, o.typ.Precision)
		}
	case "/":
		// x/10^s1 / (y/10^s2) * 10^s = x*10^(s+s2-s1) / y
		if k := o.typ.Scale + o.s2 - o.s1; k >= 0 && k <= 38 {
			if a, ok := x.Mul(columnar.Pow10(k)); ok {
				r := divHalfUpSigned(a, y)
				return r, r.FitsPrecision(o.typ.Precision)
			}
		}
	case "%", "pmod":
		s := max(o.s1, o.s2)
		a, ok1 := x.Mul(columnar.Pow10(s - o.s1))
		b, ok2 := y.Mul(columnar.Pow10(s - o.s2))
		if ok1 && ok2 {
			_, r := divDec(a, b)
			if o.op == "pmod" && r.Sign() < 0 {
				if t, ok := r.Add(b); ok {
					_, r = divDec(t, b)
				}
			}
			return rescale(r, s, o.typ.Scale, o.typ.Precision)
		}
	}
	return o.slow(x, y)
}

// divHalfUpSigned is a/b rounded half away from zero, for any signs.
func divHalfUpSigned(a, b columnar.Dec128) columnar.Dec128 {
	if b.Hi < 0 {
		a, b = a.Neg(), b.Neg()
	}
	return divHalfUp(a, b)
}

// slow is compute with numbers of any size.
func (o *decimalOp) slow(x, y columnar.Dec128) (columnar.Dec128, bool) {
	a, b := x.Big(), y.Big()
	s := max(o.s1, o.s2)
	var r *big.Int
	switch o.op {
	case "*":
		r, s = a.Mul(a, b), o.s1+o.s2
	case "/":
		k := o.typ.Scale + o.s2 - o.s1
		if k >= 0 {
			a.Mul(a, bigPow10(k))
		} else {
			b.Mul(b, bigPow10(-k))
		}
		r, s = bigDivHalfUp(a, b), o.typ.Scale
	default:
		a.Mul(a, bigPow10(s-o.s1))
		b.Mul(b, bigPow10(s-o.s2))
		switch o.op {
		case "+":
			r = a.Add(a, b)
		case "-":
			r = a.Sub(a, b)
		default:
			r = new(big.Int).Rem(a, b)
			if o.op == "pmod" && r.Sign() < 0 {
				r.Rem(r.Add(r, b), b)
			}
		}
	}
	d, ok := columnar.Dec128FromBig(bigHalfUp(r, s-o.typ.Scale))
	return d, ok && d.FitsPrecision(o.typ.Precision)
}

// exact is the text of x op y before it is cut to the result's type, for messages.
func (o *decimalOp) exact(x, y columnar.Dec128) string {
	a, b := x.Big(), y.Big()
	s := max(o.s1, o.s2)
	if o.op == "*" {
		return bigDecimalText(a.Mul(a, b), o.s1+o.s2)
	}
	a.Mul(a, bigPow10(s-o.s1))
	b.Mul(b, bigPow10(s-o.s2))
	switch o.op {
	case "+":
		return bigDecimalText(a.Add(a, b), s)
	case "-":
		return bigDecimalText(a.Sub(a, b), s)
	}
	return string(columnar.AppendDec(nil, x, o.s1)) + " " + o.op + " " + string(columnar.AppendDec(nil, y, o.s2))
}

// bigDecimalText writes v/10^scale plainly.
func bigDecimalText(v *big.Int, scale int) string {
	s := new(big.Int).Abs(v).String()
	for len(s) <= scale {
		s = "0" + s
	}
	if scale > 0 {
		s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	}
	if v.Sign() < 0 {
		s = "-" + s
	}
	return s
}

func arithDecimals(e *arith, out *columnar.Column, l, r vec) error {
	n := out.Len
	o := decimalOp{e.op, l.Type.Scale, r.Type.Scale, e.typ}
	x, y := columnar.Values[columnar.Dec128](l.Column), columnar.Values[columnar.Dec128](r.Column)
	ownValid(out)
	if e.op == "div" {
		out.Data = columnar.AlignedBytes(n * 8)
		d := columnar.Values[int64](out)
		o.typ = columnar.Decimal(38, 0)
		for i := range d {
			if out.IsNull(i) {
				continue
			}
			b := y[r.row(i)]
			if b.Sign() == 0 {
				if err := e.fault(out, i, divideByZero()); err != nil {
					return err
				}
				continue
			}
			v, ok := o.whole(x[l.row(i)], b)
			if !ok {
				if err := e.fault(out, i, sparkerr.New("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "the quotient cannot be represented as Decimal(38, 0)")); err != nil {
					return err
				}
				continue
			}
			d[i] = v
		}
		return nil
	}
	out.Data = columnar.AlignedBytes(n * 16)
	d := columnar.Values[columnar.Dec128](out)
	if (e.op == "+" || e.op == "-") && o.s1 == o.s2 && e.typ.Scale == o.s1 && e.typ.Precision < 38 && !l.con && !r.con {
		// Equal scales and room for the carry: nothing can overflow.
		for i := range d {
			if e.op == "+" {
				d[i], _ = x[i].Add(y[i])
			} else {
				d[i], _ = x[i].Sub(y[i])
			}
		}
		return nil
	}
	divides := e.op != "+" && e.op != "-" && e.op != "*"
	for i := range d {
		if out.Valid != nil && !out.Valid.Get(i) {
			continue
		}
		a, b := x[l.row(i)], y[r.row(i)]
		if divides && b.Sign() == 0 {
			if err := e.fault(out, i, zeroFault(e.op)); err != nil {
				return err
			}
			continue
		}
		v, ok := o.compute(a, b)
		if !ok {
			if err := e.fault(out, i, decimalRange(o.exact(a, b), e.typ)); err != nil {
				return err
			}
			continue
		}
		d[i] = v
	}
	return nil
}

// whole is the integral part of x/y cut to 64 bits; ok is false for one of more than 38 digits.
func (o *decimalOp) whole(x, y columnar.Dec128) (v int64, ok bool) {
	s := max(o.s1, o.s2)
	a, ok1 := x.Mul(columnar.Pow10(s - o.s1))
	b, ok2 := y.Mul(columnar.Pow10(s - o.s2))
	if ok1 && ok2 {
		q, _ := divDec(a, b)
		return q.Int64(), true
	}
	p, q := x.Big(), y.Big()
	p.Mul(p, bigPow10(s-o.s1))
	q.Mul(q, bigPow10(s-o.s2))
	p.Quo(p, q)
	if p.CmpAbs(bigPow10(maxPrecision)) >= 0 {
		return 0, false
	}
	return int64(new(big.Int).And(p, new(big.Int).SetUint64(^uint64(0))).Uint64()), true
}
