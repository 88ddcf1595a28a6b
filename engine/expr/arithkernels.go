package expr

import (
	"math"
	"math/bits"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

type signed interface {
	~int8 | ~int16 | ~int32 | ~int64
}

// arithInts computes a whole column of integers. Overflow is noticed once for all rows; only then
// are the rows looked at one by one.
func arithInts[T interface {
	signed
	columnar.Value
}](e *arith, out *columnar.Column, l, r vec) error {
	n := out.Len
	if e.op == "div" {
		return divInts[T](e, out, l, r)
	}
	out.Data = columnar.AlignedBytes(n * e.typ.Width())
	d := columnar.Values[T](out)
	var bad bool
	switch e.op {
	case "+":
		switch {
		case r.con:
			bad = addConst(d, columnar.Values[T](l.Column), constValue[T](r))
		case l.con:
			bad = addConst(d, columnar.Values[T](r.Column), constValue[T](l))
		default:
			bad = addSlices(d, columnar.Values[T](l.Column), columnar.Values[T](r.Column))
		}
	case "-":
		switch {
		case r.con:
			bad = subConst(d, columnar.Values[T](l.Column), constValue[T](r))
		case l.con:
			bad = constSub(d, constValue[T](l), columnar.Values[T](r.Column))
		default:
			bad = subSlices(d, columnar.Values[T](l.Column), columnar.Values[T](r.Column))
		}
	case "*":
		switch {
		case r.con:
			bad = mulConst(d, columnar.Values[T](l.Column), constValue[T](r))
		case l.con:
			bad = mulConst(d, columnar.Values[T](r.Column), constValue[T](l))
		default:
			bad = mulSlices(d, columnar.Values[T](l.Column), columnar.Values[T](r.Column))
		}
	default:
		if r.con {
			if c := constValue[T](r); c != 0 {
				modConst(d, columnar.Values[T](l.Column), c, e.op == "pmod")
				return nil
			}
		}
		return modInts(e, out, d, columnar.Values[T](l.full(n)), columnar.Values[T](r.full(n)))
	}
	if !bad || e.mode == modeLegacy && e.typ.IsIntegral() {
		return nil
	}
	ownValid(out)
	x, y := columnar.Values[T](l.full(n)), columnar.Values[T](r.full(n))
	for i := range d {
		if !out.IsNull(i) && overflows(e.op, x[i], y[i]) {
			if err := e.fault(out, i, intOverflow(e, int64(x[i]), int64(y[i]))); err != nil {
				return err
			}
		}
	}
	return nil
}

// overflows tells whether x op y leaves T.
func overflows[T signed](op string, x, y T) bool {
	switch op {
	case "+":
		r := x + y
		return (x^r)&(y^r) < 0
	case "-":
		r := x - y
		return (x^y)&(x^r) < 0
	}
	_, bad := mulChecked(x, y)
	return bad
}

func intOverflow(e *arith, x, y int64) error {
	hint := map[string]string{"+": "try_add", "-": "try_subtract", "*": "try_multiply"}[e.op]
	switch e.typ.Kind {
	case columnar.KindInt8, columnar.KindInt16:
		return sparkerr.New("BINARY_ARITHMETIC_OVERFLOW", "%d %s %d caused overflow; use `%s` to get NULL instead", x, e.op, y, hint)
	case columnar.KindYearMonth, columnar.KindDayTime:
		return sparkerr.New("INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION", "interval overflow; use `%s` to get NULL instead", hint)
	}
	return overflow(hint)
}

func addSlices[T signed](d, x, y []T) bool {
	var bad T
	y, d = y[:len(x)], d[:len(x)]
	for i, a := range x {
		b := y[i]
		r := a + b
		bad |= (a ^ r) & (b ^ r)
		d[i] = r
	}
	return bad < 0
}

func addConst[T signed](d, x []T, c T) bool {
	var bad T
	d = d[:len(x)]
	for i, a := range x {
		r := a + c
		bad |= (a ^ r) & (c ^ r)
		d[i] = r
	}
	return bad < 0
}

func subSlices[T signed](d, x, y []T) bool {
	var bad T
	y, d = y[:len(x)], d[:len(x)]
	for i, a := range x {
		b := y[i]
		r := a - b
		bad |= (a ^ b) & (a ^ r)
		d[i] = r
	}
	return bad < 0
}

func subConst[T signed](d, x []T, c T) bool {
	var bad T
	d = d[:len(x)]
	for i, a := range x {
		r := a - c
		bad |= (a ^ c) & (a ^ r)
		d[i] = r
	}
	return bad < 0
}

func constSub[T signed](d []T, c T, y []T) bool {
	var bad T
	d = d[:len(y)]
	for i, b := range y {
		r := c - b
		bad |= (c ^ b) & (c ^ r)
		d[i] = r
	}
	return bad < 0
}

// mulChecked is x*y and whether it overflowed: the high half of the product must be the sign of the low.
func mulChecked[T signed](x, y T) (T, bool) {
	r := x * y
	hi, lo := bits.Mul64(uint64(int64(x)), uint64(int64(y)))
	h := int64(hi) - int64(x)>>63&int64(y) - int64(y)>>63&int64(x)
	return r, h != int64(lo)>>63 || int64(r) != int64(lo)
}

func mulSlices[T signed](d, x, y []T) bool {
	bad := false
	y, d = y[:len(x)], d[:len(x)]
	for i, a := range x {
		r, o := mulChecked(a, y[i])
		bad = bad || o
		d[i] = r
	}
	return bad
}

func mulConst[T signed](d, x []T, c T) bool {
	bad := false
	d = d[:len(x)]
	for i, a := range x {
		r, o := mulChecked(a, c)
		bad = bad || o
		d[i] = r
	}
	return bad
}

// divInts is the integral quotient as BIGINT.
func divInts[T interface {
	signed
	columnar.Value
}](e *arith, out *columnar.Column, l, r vec) error {
	n := out.Len
	out.Data = columnar.AlignedBytes(n * 8)
	d := columnar.Values[int64](out)
	x, y := columnar.Values[T](l.full(n)), columnar.Values[T](r.full(n))
	owned := false
	for i := range d {
		b := y[i]
		if b == 0 || b == -1 {
			if out.IsNull(i) {
				continue
			}
			if b == 0 || x[i] == -x[i] && x[i] != 0 && e.mode != modeLegacy && l.Type.Kind == columnar.KindInt64 {
				if !owned {
					ownValid(out)
					owned = true
				}
				err := divideByZero()
				if b != 0 {
					err = overflow("try_divide")
				}
				if err := e.fault(out, i, err); err != nil {
					return err
				}
				continue
			}
			d[i] = -int64(x[i])
			continue
		}
		d[i] = int64(x[i] / b)
	}
	return nil
}

func modConst[T signed](d, x []T, c T, pos bool) {
	d = d[:len(x)]
	for i, a := range x {
		r := a % c
		if pos && r < 0 {
			r = (r + c) % c
		}
		d[i] = r
	}
}

func modInts[T signed](e *arith, out *columnar.Column, d, x, y []T) error {
	owned := false
	pos := e.op == "pmod"
	for i := range d {
		b := y[i]
		if b == 0 {
			if out.IsNull(i) {
				continue
			}
			if !owned {
				ownValid(out)
				owned = true
			}
			if err := e.fault(out, i, zeroFault(e.op)); err != nil {
				return err
			}
			continue
		}
		r := x[i] % b
		if pos && r < 0 {
			r = (r + b) % b
		}
		d[i] = r
	}
	return nil
}

type floating interface{ ~float32 | ~float64 }

func arithFloats[T interface {
	floating
	columnar.Value
}](e *arith, out *columnar.Column, l, r vec) error {
	n := out.Len
	out.Data = columnar.AlignedBytes(n * e.typ.Width())
	d := columnar.Values[T](out)
	switch e.op {
	case "+":
		if l.con {
			l, r = r, l
		}
		x := columnar.Values[T](l.Column)
		if r.con {
			c := constValue[T](r)
			for i, a := range x {
				d[i] = a + c
			}
			return nil
		}
		y := columnar.Values[T](r.Column)[:len(x)]
		for i, a := range x {
			d[i] = a + y[i]
		}
		return nil
	case "*":
		if l.con {
			l, r = r, l
		}
		x := columnar.Values[T](l.Column)
		if r.con {
			c := constValue[T](r)
			for i, a := range x {
				d[i] = a * c
			}
			return nil
		}
		y := columnar.Values[T](r.Column)[:len(x)]
		for i, a := range x {
			d[i] = a * y[i]
		}
		return nil
	case "-":
		if l.con {
			c := constValue[T](l)
			for i, b := range columnar.Values[T](r.Column) {
				d[i] = c - b
			}
			return nil
		}
		x := columnar.Values[T](l.Column)
		if r.con {
			c := constValue[T](r)
			for i, a := range x {
				d[i] = a - c
			}
			return nil
		}
		y := columnar.Values[T](r.Column)[:len(x)]
		for i, a := range x {
			d[i] = a - y[i]
		}
		return nil
	case "/":
		if r.con {
			if c := constValue[T](r); c != 0 {
				for i, a := range columnar.Values[T](l.Column) {
					d[i] = a / c
				}
				return nil
			}
		}
	}
	x, y := columnar.Values[T](l.full(n)), columnar.Values[T](r.full(n))
	zero := false
	switch e.op {
	case "/":
		y = y[:len(x)]
		for i, a := range x {
			b := y[i]
			zero = zero || b == 0
			d[i] = a / b
		}
	default:
		for i, a := range x {
			b := y[i]
			if b == 0 {
				zero = true
				continue
			}
			r := T(math.Mod(float64(a), float64(b)))
			if e.op == "pmod" && r < 0 {
				r = T(math.Mod(float64(r+b), float64(b)))
			}
			d[i] = r
		}
	}
	if !zero {
		return nil
	}
	ownValid(out)
	for i, b := range y {
		if b == 0 && !out.IsNull(i) {
			if err := e.fault(out, i, zeroFault(e.op)); err != nil {
				return err
			}
		}
	}
	return nil
}

// arithCalendar adds and subtracts intervals of months, days and microseconds.
func arithCalendar(e *arith, out *columnar.Column, l, r vec) error {
	n := out.Len
	out.Data = columnar.AlignedBytes(n * 16)
	ownValid(out)
	d := columnar.Values[columnar.CalendarInterval](out)
	x, y := columnar.Values[columnar.CalendarInterval](l.Column), columnar.Values[columnar.CalendarInterval](r.Column)
	for i := range d {
		if out.IsNull(i) {
			continue
		}
		a, b := x[l.row(i)], y[r.row(i)]
		if e.op == "-" {
			b = columnar.CalendarInterval{Months: -b.Months, Days: -b.Days, Micros: -b.Micros}
		}
		d[i] = columnar.CalendarInterval{Months: a.Months + b.Months, Days: a.Days + b.Days, Micros: a.Micros + b.Micros}
		if overflows("+", a.Months, b.Months) || overflows("+", a.Days, b.Days) || overflows("+", a.Micros, b.Micros) {
			if err := e.fault(out, i, sparkerr.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "interval overflow")); err != nil {
				return err
			}
		}
	}
	return nil
}
