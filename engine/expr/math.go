package expr

import (
	"math"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr/javamath"
)

// unaryMath registers a function of one double. null tells for which arguments the result is null.
func unaryMath(name, printed, doc, example string, f func(float64) float64, null func(float64) bool, aliases ...string) *Function {
	return &Function{
		Name: name, Aliases: aliases, Family: "math", Signature: name + "(expr)", Doc: doc, Example: example,
		Bind: func(b *Binder, args []Expr) (Expr, error) {
			text := printed
			if b.name() != name {
				text = b.name()
			}
			if err := b.argCount(args, 1, 1); err != nil {
				return nil, err
			}
			args, err := b.coerceAs(sqlCall(text, args), args, isDouble)
			if err != nil {
				return nil, err
			}
			e := simple(text, args, columnar.Float64, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
				out := map1(columnar.Float64, a[0], n, f)
				if null != nil {
					ownValid(out)
					for i, v := range columnar.Values[float64](a[0].full(n)) {
						if null(v) {
							clearValid(out, i)
						}
					}
				}
				return out, nil
			})
			e.null, e.nullFn = true, nil // says Spark of all of them
			e.safe = true
			return e, nil
		},
	}
}

// binaryMath registers a function of two doubles.
func binaryMath(name, printed, doc, example string, f func(x, y float64) float64, aliases ...string) *Function {
	return &Function{
		Name: name, Aliases: aliases, Family: "math", Signature: name + "(expr1, expr2)", Doc: doc, Example: example,
		Bind: func(b *Binder, args []Expr) (Expr, error) {
			text := printed
			if b.name() != name {
				text = b.name()
				if text == "power" {
					text = "POWER"
				}
			}
			if err := b.argCount(args, 2, 2); err != nil {
				return nil, err
			}
			args, err := b.coerceAs(sqlCall(text, args), args, isDouble)
			if err != nil {
				return nil, err
			}
			e := simple(text, args, columnar.Float64, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
				return map2(columnar.Float64, a[0], a[1], n, f), nil
			})
			e.safe = true
			return e, nil
		},
	}
}

func bindNanvl(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	types := [2]*columnar.Type{args[0].Type(), args[1].Type()}
	in := isDouble
	if types[0].Kind == columnar.KindFloat32 && types[1].Kind == columnar.KindFloat32 {
		in = isType(columnar.Float32)
	}
	args, err := b.coerce(args, in)
	if err != nil {
		return nil, err
	}
	t := args[0].Type()
	// The second argument counts only where the first is NaN.
	if !isHarmless(args[1]) {
		return b.nanvlByCase(args)
	}
	return &call{
		name: "nanvl", args: args, typ: t, null: anyNullable(args), nullFn: anyNullable, nulls: true, safe: true,
		kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			x, y := a[0].full(n), a[1].full(n)
			pick := make([]int32, n)
			for i := range pick {
				pick[i] = int32(i)
				if !x.IsNull(i) {
					if v := floatAt(x, i); v != v {
						pick[i] += int32(n)
					}
				}
			}
			return columnar.Take(columnar.Concat([]*columnar.Column{x, y}), pick), nil
		},
	}, nil
}

func bindIsnan(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	args, err := b.coerce(args, oneOf(isDouble, isType(columnar.Float32)))
	if err != nil {
		return nil, err
	}
	return &call{
		name: "isnan", args: args, typ: columnar.Bool, nulls: true, safe: true,
		kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			c := a[0].full(n)
			out := columnar.NewBitmap(n)
			for i := 0; i < n; i++ {
				if !c.IsNull(i) {
					if v := floatAt(c, i); v != v {
						out.Set(i)
					}
				}
			}
			return columnar.NewBools(n, out, nil), nil
		},
	}, nil
}

// roundMode is a direction of rounding; the values are those of javatext.
type roundMode = javatext.RoundingMode

const (
	roundHalfUp   = javatext.HalfUp
	roundHalfEven = javatext.HalfEven
	roundCeil     = javatext.Ceiling
	roundFloor    = javatext.Floor
)

// bindCeilFloor binds ceil and floor, with or without a number of digits.
func bindCeilFloor(mode roundMode, printed string) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 2); err != nil {
			return nil, err
		}
		name := b.name()
		if len(args) == 2 {
			if args[1].Type().Kind != columnar.KindInt32 {
				return nil, notConstant(name, "scale")
			}
			args, err := b.coerce(args, isDecimal, isInt)
			if err != nil {
				return nil, err
			}
			v, ok, err := b.foldable(args[1])
			if err != nil {
				return nil, err
			}
			s, is := v.(int32)
			if !ok || !is {
				return nil, sparkerr.New("NON_FOLDABLE_ARGUMENT", "the function `%s` requires the parameter `scale` to be a foldable expression of the type \"INT\"", name)
			}
			return b.rounding(name, mode, args, int(s)), nil
		}
		if name == strings.ToLower(printed) {
			name = printed
		}
		args, err := b.coerceAs(sqlCall(name, args), args, oneOf(isDouble, isDecimal, isBigint))
		if err != nil {
			return nil, err
		}
		t := args[0].Type()
		switch t.Kind {
		case columnar.KindDecimal:
			if t.Scale == 0 {
				return Named(args[0], sqlCall(name, args)), nil
			}
			typ := bounded(t.Precision-t.Scale+1, 0)
			e := simple(name, args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
				return map1(typ, a[0], n, func(v columnar.Dec128) columnar.Dec128 {
					r, _ := roundDecimal(v, t.Scale, 0, mode, 38)
					return r
				}), nil
			})
			e.null, e.nullFn = true, nil
			return e, nil
		case columnar.KindFloat64:
			e := simple(name, args, columnar.Int64, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
				if mode == roundCeil {
					return map1(columnar.Int64, a[0], n, func(v float64) int64 { return javaLong(math.Ceil(v)) }), nil
				}
				return map1(columnar.Int64, a[0], n, func(v float64) int64 { return javaLong(math.Floor(v)) }), nil
			})
			e.null, e.nullFn, e.safe = true, nil, true
			return e, nil
		}
		return Named(args[0], sqlCall(name, args)), nil
	}
}

// bindRound binds round and bround.
func bindRound(mode roundMode) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 2); err != nil {
			return nil, err
		}
		if len(args) == 1 {
			args = append(args[:1:1], NewInt(0))
		}
		args, err := b.coerce(args, isNumeric, isInt)
		if err != nil {
			return nil, err
		}
		v, ok, err := b.foldable(args[1])
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, nonFoldable(b.sql(args), "scale", args[1])
		}
		s, is := v.(int32)
		if !is {
			return Named(NewLiteral(roundedType(args[0].Type(), 0), nil), b.sql(args)), nil
		}
		e := b.rounding(b.name(), mode, args, int(s))
		e.null, e.nullFn = true, nil // says Spark, since without ANSI a decimal may overflow
		return e, nil
	}
}

// roundedType is the type of a number of type t that was rounded to scale digits.
func roundedType(t *columnar.Type, scale int) *columnar.Type {
	if t.Kind != columnar.KindDecimal {
		return t
	}
	whole := t.Precision - t.Scale + 1
	if scale < 0 {
		return columnar.Decimal(min(max(whole, -scale+1), maxPrecision), 0)
	}
	s := min(t.Scale, scale)
	return columnar.Decimal(min(whole+s, maxPrecision), s)
}

// rounding rounds the first argument to a constant number of digits.
func (b *Binder) rounding(name string, mode roundMode, args []Expr, scale int) *call {
	t := args[0].Type()
	typ := roundedType(t, scale)
	ansi := b.ANSI
	kernel := func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		if scale == math.MinInt32 || scale == math.MaxInt32 && t.IsFloating() { // beyond what Java's BigDecimal counts
			return nil, sparkerr.New("ARITHMETIC_OVERFLOW", "cannot round to %d digits", scale)
		}
		switch {
		case t.Kind == columnar.KindDecimal:
			out := &columnar.Column{Type: typ, Len: n, Valid: validOf(a[0]), Data: columnar.AlignedBytes(16 * n)}
			ownValid(out)
			d := columnar.Values[columnar.Dec128](out)
			for i, v := range columnar.Values[columnar.Dec128](a[0].full(n)) {
				if out.IsNull(i) {
					continue
				}
				r, ok := roundDecimal(v, t.Scale, scale, mode, typ.Precision)
				if !ok {
					if ansi {
						return nil, sparkerr.New("NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION", "%s cannot be represented as Decimal(%d, %d)", columnar.AppendDec(nil, v, t.Scale), typ.Precision, typ.Scale)
					}
					clearValid(out, i)
				}
				d[i] = r
			}
			return out, nil
		case t.Kind == columnar.KindFloat64:
			return map1(t, a[0], n, func(v float64) float64 { return javatext.RoundDouble(v, scale, mode) }), nil
		case t.Kind == columnar.KindFloat32:
			return map1(t, a[0], n, func(v float32) float32 { return javatext.RoundFloat(v, scale, mode) }), nil
		}
		c := a[0].full(n)
		if scale >= 0 {
			return c, nil
		}
		k := caster{mode: CastANSI}
		o := k.output(c, t)
		for i := 0; i < n; i++ {
			if c.IsNull(i) {
				continue
			}
			r := roundInt(intAt(c, i), -scale, mode)
			if !r.IsInt64() || !fitsInt(r.Int64(), t.Width()) {
				if ansi {
					return nil, overflow("")
				}
			}
			o.putInt(i, r.Int64())
		}
		return o.col, nil
	}
	e := simple(name, args, typ, kernel)
	e.safe = t.IsFloating()
	return e
}

// roundDecimal rounds v of scale s to scale to, which may be negative, and gives the result with
// the scale max(min(s, to), 0).
func roundDecimal(v columnar.Dec128, s, to int, mode roundMode, precision int) (columnar.Dec128, bool) {
	if to >= s {
		return v, v.FitsPrecision(precision)
	}
	cut := s - to
	if cut > 38 {
		// Everything lies behind the last digit: only directed rounding can leave more than zero.
		if mode == roundCeil && v.Sign() > 0 || mode == roundFloor && v.Sign() < 0 {
			return columnar.Dec128{}, false
		}
		return columnar.Dec128{}, true
	}
	d := columnar.Pow10(cut)
	q, r := divDec(v, d)
	one := columnar.Dec128{Lo: 1}
	up := false // away from zero
	switch mode {
	case roundCeil:
		up = r.Sign() > 0
	case roundFloor:
		up = r.Sign() < 0
	default:
		if r.Hi < 0 {
			r = r.Neg()
		}
		rest, _ := d.Sub(r)
		c := r.Cmp(rest)
		up = c > 0 || c == 0 && (mode == roundHalfUp || q.Lo&1 == 1)
	}
	if up {
		if v.Hi < 0 {
			q, _ = q.Sub(one)
		} else {
			q, _ = q.Add(one)
		}
	}
	if to < 0 {
		var ok bool
		if q, ok = q.Mul(columnar.Pow10(-to)); !ok {
			return q, false
		}
	}
	return q, q.FitsPrecision(precision)
}

// roundInt rounds an integer to a multiple of 10^n.
func roundInt(v int64, n int, mode roundMode) columnar.Dec128 {
	if n > 19 {
		return columnar.Dec128{}
	}
	r, _ := roundDecimal(columnar.Dec128FromInt64(v), 0, -n, mode, 39)
	return r
}

func bindLog(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	if len(args) == 1 {
		args = []Expr{&Literal{Typ: columnar.Float64, Value: math.E, Text: "E()"}, args[0]}
	}
	args, err := b.coerceAs(sqlCall("LOG", args), args, isDouble)
	if err != nil {
		return nil, err
	}
	e := simple("LOG", args, columnar.Float64, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		out := map2(columnar.Float64, a[0], a[1], n, func(base, x float64) float64 {
			if base == math.E {
				return javamath.Log(x)
			}
			return javamath.Log(x) / javamath.Log(base)
		})
		ownValid(out)
		x, y := columnar.Values[float64](a[0].full(n)), columnar.Values[float64](a[1].full(n))
		for i := range x {
			if x[i] <= 0 || y[i] <= 0 {
				clearValid(out, i)
			}
		}
		return out, nil
	})
	e.null, e.nullFn, e.safe = true, func([]Expr) bool { return true }, true
	return e, nil
}

func bindFactorial(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	args, err := b.coerce(args, isInt)
	if err != nil {
		return nil, err
	}
	e := simple("factorial", args, columnar.Int64, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(columnar.Int64, a, n, func(out *columnar.Builder, i int) error {
			v := columnar.Values[int32](a[0].Column)[a[0].row(i)]
			if v < 0 || v > 20 {
				out.AppendNull()
				return nil
			}
			f := int64(1)
			for k := int64(2); k <= int64(v); k++ {
				f *= k
			}
			out.AppendInt(f)
			return nil
		})
	})
	e.null, e.nullFn, e.safe = true, func([]Expr) bool { return true }, true
	return e, nil
}

func bindSign(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	name := b.name()
	if name == "signum" {
		name = "SIGNUM"
	}
	args, err := b.coerceAs(sqlCall(name, args), args, oneOf(isDouble, isYearMonth, isDayTime))
	if err != nil {
		return nil, err
	}
	e := simple(name, args, columnar.Float64, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		c := a[0].full(n)
		d := make([]float64, n)
		for i := range d {
			v := numberAt(c, i)
			switch {
			case v > 0:
				v = 1
			case v < 0:
				v = -1
			}
			d[i] = v
		}
		return columnar.NewFixed(columnar.Float64, d, c.Valid), nil
	})
	e.safe = true
	return e, nil
}

func bindWidthBucket(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 4, 4); err != nil {
		return nil, err
	}
	in := oneOf(isDouble, isYearMonth, isDayTime)
	args, err := b.coerce(args, in, in, in, isBigint)
	if err != nil {
		return nil, err
	}
	e := simple("width_bucket", args, columnar.Int64, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(columnar.Int64, a, n, func(out *columnar.Builder, i int) error {
			at := func(k int) float64 { return numberAt(a[k].Column, a[k].row(i)) }
			v, lo, hi, k := at(0), at(1), at(2), columnar.Values[int64](a[3].Column)[a[3].row(i)]
			if k <= 0 || k == math.MaxInt64 || v != v || lo == hi || lo != lo || hi != hi || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
				out.AppendNull()
				return nil
			}
			if lo > hi {
				v, lo, hi = -v, -lo, -hi
			}
			switch {
			case v < lo:
				out.AppendInt(0)
			case v >= hi:
				out.AppendInt(k + 1)
			default:
				out.AppendInt(javaLong(float64(k)*(v-lo)/(hi-lo)) + 1)
			}
			return nil
		})
	})
	e.null, e.nullFn = true, func([]Expr) bool { return true }
	return e, nil
}

// bindBin is bin(expr): the binary digits of a BIGINT.
func bindBin(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	args, err := b.coerce(args, isBigint)
	if err != nil {
		return nil, err
	}
	return simple("bin", args, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(columnar.String, a, n, func(out *columnar.Builder, i int) error {
			out.FinishScratch(strconv.AppendUint(out.Scratch(), uint64(columnar.Values[int64](a[0].Column)[a[0].row(i)]), 2))
			return nil
		})
	}), nil
}

// bindConv is conv(num, from, to): digits of one base in another one.
func bindConv(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 3, 3); err != nil {
		return nil, err
	}
	args, err := b.coerce(args, isString, isInt, isInt)
	if err != nil {
		return nil, err
	}
	ansi := b.ANSI
	e := simple("conv", args, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(columnar.String, a, n, func(out *columnar.Builder, i int) error {
			s, ok, over := javatext.Conv(a[0].StringAt(a[0].row(i)), int(intAt(a[1].Column, a[1].row(i))), int(intAt(a[2].Column, a[2].row(i))))
			if over && ansi {
				return sparkerr.New("ARITHMETIC_OVERFLOW", "overflow in function conv()")
			}
			if !ok {
				out.AppendNull()
				return nil
			}
			out.AppendString(s)
			return nil
		})
	})
	e.null, e.nullFn = true, func([]Expr) bool { return true }
	return e, nil
}

func constantFunction(name, text, doc string, v float64) *Function {
	return &Function{
		Name: name, Family: "math", Signature: name + "()", Doc: doc, Example: "SELECT " + name + "() → " + javatext.DoubleString(v),
		Bind: func(b *Binder, args []Expr) (Expr, error) {
			if err := b.argCount(args, 0, 0); err != nil {
				return nil, err
			}
			return &Literal{Typ: columnar.Float64, Value: v, Text: text}, nil
		},
	}
}

func mathFunctions() []*Function {
	const family = "math"
	belowZero := func(v float64) bool { return v <= 0 }
	f := func(name, sig, doc, example string, bind func(b *Binder, args []Expr) (Expr, error), aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Family: family, Signature: sig, Doc: doc, Example: example, Bind: bind}
	}
	return []*Function{
		f("abs", "abs(expr)", "The absolute value of a number or interval.", "SELECT abs(-1) → 1", bindAbs),
		f("pmod", "pmod(expr1, expr2)", "The remainder of expr1 divided by expr2, positive for a positive divisor.", "SELECT pmod(-7, 3) → 2", func(b *Binder, args []Expr) (Expr, error) {
			if err := b.argCount(args, 2, 2); err != nil {
				return nil, err
			}
			return b.numeric("pmod", args[0], args[1], b.arithMode(), "pmod")
		}),
		f("ceil", "ceil(expr[, digits])", "The least whole number not below the argument.", "SELECT ceil(-0.1) → 0", bindCeilFloor(roundCeil, "CEIL"), "ceiling"),
		f("floor", "floor(expr[, digits])", "The greatest whole number not above the argument.", "SELECT floor(-0.1) → -1", bindCeilFloor(roundFloor, "FLOOR")),
		f("round", "round(expr[, digits])", "The argument rounded half away from zero.", "SELECT round(2.5, 0) → 3", bindRound(roundHalfUp)),
		f("bround", "bround(expr[, digits])", "The argument rounded half to even.", "SELECT bround(2.5, 0) → 2", bindRound(roundHalfEven)),
		unaryMath("rint", "rint", "The nearest whole number as DOUBLE, half to even.", "SELECT rint(12.3456) → 12.0", math.RoundToEven, nil),
		f("sign", "sign(expr)", "-1.0, 0.0 or 1.0 for a negative, zero or positive argument.", "SELECT sign(40) → 1.0", bindSign, "signum"),
		unaryMath("sqrt", "SQRT", "The square root.", "SELECT sqrt(4) → 2.0", math.Sqrt, nil),
		unaryMath("cbrt", "CBRT", "The cube root.", "SELECT cbrt(27.0) → 3.0", javamath.Cbrt, nil),
		unaryMath("exp", "EXP", "e to the power of the argument.", "SELECT exp(0) → 1.0", javamath.Exp, nil),
		unaryMath("expm1", "EXPM1", "exp(expr) - 1.", "SELECT expm1(0) → 0.0", javamath.Expm1, nil),
		unaryMath("ln", "ln", "The natural logarithm.", "SELECT ln(1) → 0.0", javamath.Log, belowZero),
		f("log", "log([base, ]expr)", "The logarithm to a base, e if none is given.", "SELECT log(10, 100) → 2.0", bindLog),
		unaryMath("log10", "LOG10", "The logarithm to base 10.", "SELECT log10(10) → 1.0", javamath.Log10, belowZero),
		unaryMath("log2", "LOG2", "The logarithm to base 2.", "SELECT log2(2) → 1.0", func(v float64) float64 { return javamath.Log(v) / javamath.Log(2) }, belowZero),
		unaryMath("log1p", "LOG1P", "ln(1 + expr).", "SELECT log1p(0) → 0.0", javamath.Log1p, func(v float64) bool { return v <= -1 }),
		unaryMath("sin", "SIN", "The sine.", "SELECT sin(0) → 0.0", javamath.Sin, nil),
		unaryMath("cos", "COS", "The cosine.", "SELECT cos(0) → 1.0", javamath.Cos, nil),
		unaryMath("tan", "TAN", "The tangent.", "SELECT tan(0) → 0.0", javamath.Tan, nil),
		unaryMath("cot", "COT", "The cotangent.", "SELECT cot(1)", func(v float64) float64 { return 1 / javamath.Tan(v) }, nil),
		unaryMath("sec", "SEC", "The secant.", "SELECT sec(0) → 1.0", func(v float64) float64 { return 1 / javamath.Cos(v) }, nil),
		unaryMath("csc", "CSC", "The cosecant.", "SELECT csc(1)", func(v float64) float64 { return 1 / javamath.Sin(v) }, nil),
		unaryMath("asin", "ASIN", "The arc sine.", "SELECT asin(0) → 0.0", javamath.Asin, nil),
		unaryMath("acos", "ACOS", "The arc cosine.", "SELECT acos(1) → 0.0", javamath.Acos, nil),
		unaryMath("atan", "ATAN", "The arc tangent.", "SELECT atan(0) → 0.0", javamath.Atan, nil),
		binaryMath("atan2", "ATAN2", "The angle of the point (expr2, expr1).", "SELECT atan2(0, 0) → 0.0", func(y, x float64) float64 { return javamath.Atan2(y+0, x+0) }),
		unaryMath("sinh", "SINH", "The hyperbolic sine.", "SELECT sinh(0) → 0.0", javamath.Sinh, nil),
		unaryMath("cosh", "COSH", "The hyperbolic cosine.", "SELECT cosh(0) → 1.0", javamath.Cosh, nil),
		unaryMath("tanh", "TANH", "The hyperbolic tangent.", "SELECT tanh(0) → 0.0", javamath.Tanh, nil),
		unaryMath("asinh", "ASINH", "The inverse hyperbolic sine.", "SELECT asinh(0) → 0.0", javamath.Asinh, nil),
		unaryMath("acosh", "ACOSH", "The inverse hyperbolic cosine.", "SELECT acosh(1) → 0.0", func(v float64) float64 {
			if v < 1 {
				return math.NaN()
			}
			if sq := float64(v * v); !math.IsInf(sq, 1) || math.IsInf(v, 0) {
				return javamath.Log(v + math.Sqrt(sq-1))
			}
			return javamath.Log(v) + math.Ln2
		}, nil),
		unaryMath("atanh", "ATANH", "The inverse hyperbolic tangent.", "SELECT atanh(0) → 0.0", func(v float64) float64 { return 0.5 * (javamath.Log1p(v) - javamath.Log1p(-v)) }, nil),
		unaryMath("degrees", "DEGREES", "Radians as degrees.", "SELECT degrees(0) → 0.0", func(v float64) float64 { return v * 57.29577951308232 }, nil),
		unaryMath("radians", "RADIANS", "Degrees as radians.", "SELECT radians(0) → 0.0", func(v float64) float64 { return v * 0.017453292519943295 }, nil),
		binaryMath("pow", "pow", "expr1 to the power of expr2.", "SELECT pow(2, 3) → 8.0", javamath.Pow, "power"),
		binaryMath("hypot", "HYPOT", "The square root of the sum of squares.", "SELECT hypot(3, 4) → 5.0", javamath.Hypot),
		f("factorial", "factorial(expr)", "The factorial of 0 to 20, NULL beyond.", "SELECT factorial(5) → 120", bindFactorial),
		f("width_bucket", "width_bucket(value, min, max, buckets)", "The number of the bucket of equal width that a value lies in.", "SELECT width_bucket(5.3, 0.2, 10.6, 5) → 3", bindWidthBucket),
		f("bin", "bin(expr)", "The binary digits of a BIGINT.", "SELECT bin(13) → 1101", bindBin),
		f("conv", "conv(num, from, to)", "Digits of one base in another one.", "SELECT conv('100', 2, 10) → 4", bindConv),
		constantFunction("pi", "PI()", "The number pi.", math.Pi),
		constantFunction("e", "E()", "Euler's number.", math.E),
		f("rand", "rand([seed])", "A random number from 0 to 1.", "", bindRandom(randomUnit), "random"),
		f("randn", "randn([seed])", "A random number of the standard normal distribution.", "", bindRandom(randomNormal)),
		f("uniform", "uniform(min, max[, seed])", "A random number between two bounds.", "SELECT uniform(1, 1, 0) → 1", bindUniform),
		f("randstr", "randstr(length[, seed])", "A string of so many random letters and digits.", "SELECT randstr(3, 0) → ceV", bindRandstr),
	}
}

// nanvlByCase is nanvl with the second argument evaluated for NaN alone.
func (b *Binder) nanvlByCase(args []Expr) (Expr, error) {
	nan, err := b.Func("isnan", args[0])
	if err != nil {
		return nil, err
	}
	return &named{&caseWhen{[]Expr{nan}, args[1:2], args[0], args[0].Type(), false}, sqlCall("nanvl", args)}, nil
}
