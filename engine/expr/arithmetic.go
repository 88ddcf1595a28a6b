package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// arithMode says what becomes of a fault of arithmetic.
type arithMode uint8

const (
	modeANSI   arithMode = iota // an error
	modeLegacy                  // wraps around; null for division by zero and decimals
	modeTry                     // null
)

func (b *Binder) arithMode() arithMode {
	if b.ANSI {
		return modeANSI
	}
	return modeLegacy
}

// arith is a binary operator on numbers or ANSI intervals of one type: + - * / % div pmod.
type arith struct {
	op   string
	mode arithMode
	l, r Expr
	typ  *columnar.Type
	name string // printed as name(l, r) when not empty
}

// arithmetic binds an operator, which may also move dates and intervals.
func (b *Binder) arithmetic(op string, l, r Expr, mode arithMode) (Expr, error) {
	if e, err := b.temporal(op, l, r, mode); e != nil || err != nil {
		return e, err
	}
	name := ""
	if op == "pmod" {
		name = "pmod"
	}
	return b.numeric(op, l, r, mode, name)
}

// modulo is mod(l, r), which is % by another name.
func (b *Binder) modulo(l, r Expr) (Expr, error) { return b.numeric("%", l, r, b.arithMode(), "mod") }

func arithSQL(op, name string, l, r Expr) string {
	if name != "" {
		return sqlCall(name, []Expr{l, r})
	}
	return "(" + l.SQL() + " " + op + " " + r.SQL() + ")"
}

// operandSpec is what an operator takes.
func operandSpec(op string) spec {
	switch op {
	case "/":
		return oneOf(isDouble, isDecimal)
	case "div":
		return oneOf(isBigint, isDecimal, isYearMonth, isDayTime)
	case "+", "-":
		return isNumericOrInterval
	}
	return isNumeric
}

func (b *Binder) numeric(op string, l, r Expr, mode arithMode, name string) (Expr, error) {
	sql := arithSQL(op, name, l, r)
	l, r = b.stringOperands(l, r)
	l, r = b.decimalOperands(l, r)
	lt, rt := l.Type(), r.Type()
	numeric := func(t *columnar.Type) bool { return t.IsNumeric() || t.Kind == columnar.KindNull }
	switch op {
	case "/":
		if lt.Kind != columnar.KindFloat64 && lt.Kind != columnar.KindDecimal && numeric(lt) && numeric(rt) {
			l, r = b.implicit(l, columnar.Float64), b.implicit(r, columnar.Float64)
		}
	case "div":
		l, r = b.toLong(l), b.toLong(r)
	}
	l, r, err := b.binaryOperands(sql, l, r, operandSpec(op))
	if err != nil {
		return nil, err
	}
	if isInterval := l.Type().Kind == columnar.KindYearMonth || l.Type().Kind == columnar.KindDayTime; isInterval && mode == modeLegacy {
		mode = modeANSI // intervals never wrap around
	}
	e := &arith{op: op, mode: mode, l: l, r: r, typ: l.Type(), name: name}
	switch {
	case op == "div":
		e.typ = columnar.Int64
	case e.typ.Kind == columnar.KindDecimal:
		e.typ = arithmeticDecimal(op, l.Type(), r.Type())
	}
	return e, nil
}

func (b *Binder) toLong(e Expr) Expr {
	switch e.Type().Kind {
	case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32:
		return b.implicit(e, columnar.Int64)
	}
	return e
}

// stringOperands casts a string operand to the type of the other one, as arithmetic does.
func (b *Binder) stringOperands(l, r Expr) (Expr, Expr) {
	x, y := l.Type(), r.Type()
	if b.ANSI {
		if x.Kind != columnar.KindString && y.Kind != columnar.KindString {
			return l, r
		}
		if t := b.promoteString(x, y); t != nil {
			return b.implicit(l, t), b.implicit(r, t)
		}
		return l, r
	}
	interval := func(t *columnar.Type) bool {
		return t.Kind == columnar.KindCalendar || t.Kind == columnar.KindDayTime || t.Kind == columnar.KindYearMonth
	}
	if x.Kind == columnar.KindString && !interval(y) {
		l = b.implicit(l, columnar.Float64)
	}
	if y.Kind == columnar.KindString && !interval(x) {
		r = b.implicit(r, columnar.Float64)
	}
	return l, r
}

// decimalOperands brings an operand beside a decimal to decimal, or both to double beside a float.
// An integer literal becomes a decimal of just its digits.
func (b *Binder) decimalOperands(l, r Expr) (Expr, Expr) {
	x, y := l.Type(), r.Type()
	xd, yd := x.Kind == columnar.KindDecimal, y.Kind == columnar.KindDecimal
	switch {
	case xd == yd:
	case yd:
		if t, ok := literalDecimal(l); ok {
			return b.implicit(l, t), r
		}
		if x.IsIntegral() {
			return b.implicit(l, decimalOf(x)), r
		}
		if x.IsFloating() {
			return l, b.implicit(r, columnar.Float64)
		}
	default:
		r, l = b.decimalOperands(r, l)
	}
	return l, r
}

// binaryOperands finishes the coercion of a binary operator's operands to one type and checks it.
func (b *Binder) binaryOperands(sql string, l, r Expr, in spec) (Expr, Expr, error) {
	x, y := l.Type(), r.Type()
	bothDecimal := x.Kind == columnar.KindDecimal && y.Kind == columnar.KindDecimal
	if !x.Equal(y) && !bothDecimal {
		if t := b.tightest(x, y); t != nil && in.accepts(t) {
			l, r = b.implicit(l, t), b.implicit(r, t)
		}
	} else if x.Kind == columnar.KindNull && !in.accepts(x) {
		l, r = b.implicit(l, in.def), b.implicit(r, in.def)
	}
	x, y = l.Type(), r.Type()
	if !x.Equal(y) && !bothDecimal {
		return nil, nil, diffBinary(sql, l, r)
	}
	if !in.accepts(x) {
		return nil, nil, mismatch("BINARY_OP_WRONG_TYPE", sql, "the binary operator requires the input type %s, not \"%s\"", in.text(), x.SQL())
	}
	return l, r, nil
}

func (e *arith) Type() *columnar.Type { return e.typ }

func (e *arith) Nullable() bool {
	if e.l.Nullable() || e.r.Nullable() || e.mode == modeTry {
		return true
	}
	switch e.op {
	case "/", "%", "div", "pmod":
		return true
	}
	return e.mode != modeANSI && e.typ.Kind == columnar.KindDecimal
}

func (e *arith) Children() []Expr { return []Expr{e.l, e.r} }

func (e *arith) WithChildren(c []Expr) Expr {
	out := *e
	out.l, out.r = c[0], c[1]
	return &out
}

func (e *arith) SQL() string { return arithSQL(e.op, e.name, e.l, e.r) }

// harmless: floating addition and the like never fail; wrapping arithmetic does not either.
func (e *arith) harmless() bool {
	if e.mode != modeANSI {
		return true
	}
	return e.typ.IsFloating() && (e.op == "+" || e.op == "-" || e.op == "*")
}

func (e *arith) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 {
		return columnar.NewEmpty(e.typ), nil
	}
	l, r, err := eval2(ctx, e.l, e.r, in)
	if err != nil {
		compute := func(_ *Context, a []vec, n int) (*columnar.Column, error) { return e.compute(a[0], a[1], n) }
		switch e.op {
		case "/", "%", "div", "pmod": // the divisor comes first, and a zero without ANSI needs no dividend
			var zero func(c *columnar.Column, i int) bool
			if e.mode != modeANSI {
				zero = isZero
			}
			return narrowed(ctx, e, []int{1, 0}, in, zero, compute)
		}
		return narrowed(ctx, e, []int{0, 1}, in, nil, compute)
	}
	if anyNull(l, r) {
		return columnar.NewNull(e.typ, n), nil
	}
	return e.compute(l, r, n)
}

// isZero tells whether the number in row i is zero.
func isZero(c *columnar.Column, i int) bool {
	switch v := c.Datum(i).(type) {
	case int8:
		return v == 0
	case int16:
		return v == 0
	case int32:
		return v == 0
	case int64:
		return v == 0
	case float32:
		return v == 0
	case float64:
		return v == 0
	case columnar.Dec128:
		return v == columnar.Dec128{}
	}
	return false
}

// compute is the operation on n > 0 rows of operands that are no constant nulls.
func (e *arith) compute(l, r vec, n int) (*columnar.Column, error) {
	var err error
	if l.con && r.con {
		l = vec{l.full(n), false}
		if n == 1 {
			r.con = false
		}
	}
	out := &columnar.Column{Type: e.typ, Len: n, Valid: validOf(l, r)}
	switch l.Type.Kind {
	case columnar.KindInt8:
		err = arithInts[int8](e, out, l, r)
	case columnar.KindInt16:
		err = arithInts[int16](e, out, l, r)
	case columnar.KindInt32, columnar.KindYearMonth:
		err = arithInts[int32](e, out, l, r)
	case columnar.KindInt64, columnar.KindDayTime:
		err = arithInts[int64](e, out, l, r)
	case columnar.KindFloat32:
		err = arithFloats[float32](e, out, l, r)
	case columnar.KindFloat64:
		err = arithFloats[float64](e, out, l, r)
	case columnar.KindDecimal:
		err = arithDecimals(e, out, l, r)
	case columnar.KindCalendar:
		err = arithCalendar(e, out, l, r)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// fault handles a bad row: under ANSI it gives the error, otherwise the row becomes null unless
// wrapping is right.
func (e *arith) fault(out *columnar.Column, i int, err error) error {
	if e.mode == modeANSI {
		return err
	}
	clearValid(out, i)
	return nil
}

// clearValid makes row i null; the bitmap is copied first if it is shared with an operand.
func clearValid(out *columnar.Column, i int) {
	if out.Valid == nil {
		out.Valid = columnar.NewBitmapSet(out.Len)
	}
	out.Valid.Clear(i)
}

// ownValid gives out a null bitmap of its own.
func ownValid(out *columnar.Column) {
	if out.Valid != nil {
		out.Valid = append(columnar.Bitmap(nil), out.Valid...)
	}
}

// zeroFault is the error of a division by zero for op.
func zeroFault(op string) error {
	if op == "%" || op == "pmod" {
		return sparkerr.New("REMAINDER_BY_ZERO", "remainder by zero; use `try_mod` to get NULL instead")
	}
	return divideByZero()
}

// negate binds the prefix operator - and negative().
func (b *Binder) negate(e Expr, sql string) (Expr, error) {
	if b.ANSI && e.Type().Kind == columnar.KindString {
		e = b.implicit(e, columnar.Float64)
	}
	args, err := b.coerceAs(sql, []Expr{e}, isNumericOrInterval)
	if err != nil {
		return nil, err
	}
	return &negation{x: args[0], ansi: b.ANSI, text: sql}, nil
}

// positive binds the prefix operator +: the operand itself, printed with the sign.
func (b *Binder) positive(e Expr, sql string) (Expr, error) {
	if b.ANSI && e.Type().Kind == columnar.KindString {
		e = b.implicit(e, columnar.Float64)
	}
	args, err := b.coerceAs(sql, []Expr{e}, isNumericOrInterval)
	if err != nil {
		return nil, err
	}
	return &named{args[0], sql}, nil
}

// negation is -x, or |x| when abs is set.
type negation struct {
	x    Expr
	ansi bool
	abs  bool
	text string
}

func bindAbs(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	if b.ANSI && args[0].Type().Kind == columnar.KindString {
		args = []Expr{b.implicit(args[0], columnar.Float64)}
	}
	args, err := b.coerceAs(sql, args, oneOf(isNumeric, isANSIInt))
	if err != nil {
		return nil, err
	}
	return &negation{args[0], b.ANSI, true, sql}, nil
}

func (e *negation) Type() *columnar.Type       { return e.x.Type() }
func (e *negation) Nullable() bool             { return e.x.Nullable() }
func (e *negation) Children() []Expr           { return []Expr{e.x} }
func (e *negation) WithChildren(c []Expr) Expr { return &negation{c[0], e.ansi, e.abs, e.text} }
func (e *negation) harmless() bool             { return !e.ansi || e.x.Type().IsFloating() }
func (e *negation) SQL() string                { return e.text }

func (e *negation) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	c, err := e.x.Eval(ctx, in)
	if err != nil || in.Rows == 0 {
		return c, err
	}
	out := &columnar.Column{Type: c.Type, Len: c.Len, Valid: c.Valid, Data: columnar.AlignedBytes(c.Len * c.Type.Width())}
	ok := true
	switch c.Type.Kind {
	case columnar.KindInt8:
		ok = negateInts[int8](out, c, e.abs)
	case columnar.KindInt16:
		ok = negateInts[int16](out, c, e.abs)
	case columnar.KindInt32, columnar.KindYearMonth:
		ok = negateInts[int32](out, c, e.abs)
	case columnar.KindInt64, columnar.KindDayTime:
		ok = negateInts[int64](out, c, e.abs)
	case columnar.KindFloat32:
		negateFloats[float32](out, c, e.abs)
	case columnar.KindFloat64:
		negateFloats[float64](out, c, e.abs)
	case columnar.KindDecimal:
		d := columnar.Values[columnar.Dec128](out)
		for i, v := range columnar.Values[columnar.Dec128](c) {
			if !e.abs || v.Hi < 0 {
				v = v.Neg()
			}
			d[i] = v
		}
	case columnar.KindCalendar:
		d := columnar.Values[columnar.CalendarInterval](out)
		for i, v := range columnar.Values[columnar.CalendarInterval](c) {
			d[i] = columnar.CalendarInterval{Months: -v.Months, Days: -v.Days, Micros: -v.Micros}
		}
	case columnar.KindNull:
		return c, nil
	}
	if !ok && (e.ansi || !c.Type.IsIntegral()) {
		return nil, overflow("")
	}
	return out, nil
}

// negateInts negates and tells whether no valid row overflowed.
func negateInts[T interface {
	~int8 | ~int16 | ~int32 | ~int64
	columnar.Value
}](out, c *columnar.Column, abs bool) bool {
	d, s := columnar.Values[T](out), columnar.Values[T](c)
	var bad T
	for i, v := range s {
		r := -v
		bad |= v & r // negative only for the least value
		if abs && v >= 0 {
			r = v
		}
		d[i] = r
	}
	if bad >= 0 {
		return true
	}
	for i, v := range s {
		if v < 0 && -v == v && !c.IsNull(i) {
			return false
		}
	}
	return true
}

func negateFloats[T interface {
	~float32 | ~float64
	columnar.Value
}](out, c *columnar.Column, abs bool) {
	d := columnar.Values[T](out)
	for i, v := range columnar.Values[T](c) {
		if abs && (v > 0 || v != v) {
			d[i] = v
		} else if abs && v == 0 {
			d[i] = 0
		} else {
			d[i] = -v
		}
	}
}
