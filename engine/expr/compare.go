package expr

import (
	"bytes"
	"math"
	"math/bits"
	"strings"

	"github.com/wstream/wstream/columnar"
)

// cmpOp is a comparison that yields a boolean.
type cmpOp uint8

const (
	opEq cmpOp = iota
	opLt
	opLe
	opGt
	opGe
	opNullEq
)

var cmpSigns = [...]string{"=", "<", "<=", ">", ">=", "<=>"}

// flip is the operator for exchanged operands.
func (o cmpOp) flip() cmpOp { return [...]cmpOp{opEq, opGt, opGe, opLt, opLe, opNullEq}[o] }

// comparison is l op r of operands of one type.
type comparison struct {
	op   cmpOp
	l, r Expr
}

// NewEq is l = r of operands of one type.
func NewEq(l, r Expr) Expr { return &comparison{opEq, l, r} }

// NewNullEq is l <=> r of operands of one type.
func NewNullEq(l, r Expr) Expr { return &comparison{opNullEq, l, r} }

// EqOperands gives the operands of an equality, = or <=>, for the planner of joins; ok is false for
// any other expression.
func EqOperands(e Expr) (l, r Expr, nullSafe, ok bool) {
	c, is := unnamed(e).(*comparison)
	if !is || c.op != opEq && c.op != opNullEq {
		return nil, nil, false, false
	}
	return c.l, c.r, c.op == opNullEq, true
}

// InequalityOperands gives the operands and the sign of <, <=, > or >=, for the planner of
// time-range joins; ok is false for any other expression.
func InequalityOperands(e Expr) (l Expr, sign string, r Expr, ok bool) {
	c, is := unnamed(e).(*comparison)
	if !is || c.op == opEq || c.op == opNullEq {
		return nil, "", nil, false
	}
	return c.l, cmpSigns[c.op], c.r, true
}

func (b *Binder) compare(sign string, l, r Expr) (Expr, error) {
	var op cmpOp
	negate := false
	switch sign {
	case "=", "==":
		op = opEq
	case "<>", "!=":
		op, negate = opEq, true
	case "<=>":
		op = opNullEq
	case "<":
		op = opLt
	case "<=":
		op = opLe
	case ">":
		op = opGt
	case ">=":
		op = opGe
	}
	sql := "(" + l.SQL() + " " + cmpSigns[op] + " " + r.SQL() + ")"
	l, r, folded := b.comparisonTypes(op, l, r)
	if folded != nil {
		return folded, nil
	}
	if !l.Type().Equal(r.Type()) {
		return nil, diffBinary(sql, l, r)
	}
	t := l.Type()
	if op == opEq || op == opNullEq {
		if hasMap(t) || t.Kind == columnar.KindVariant {
			return nil, mismatch("INVALID_ORDERING_TYPE", sql, "the `%s` does not support ordering on type \"%s\"", cmpSigns[op], t.SQL())
		}
	} else if !isOrderable(t) {
		return nil, mismatch("INVALID_ORDERING_TYPE", sql, "the `%s` does not support ordering on type \"%s\"", cmpSigns[op], t.SQL())
	}
	var e Expr = &comparison{op, l, r}
	if negate {
		e = NewNot(e)
	}
	return e, nil
}

// diffBinary is the error for operands of a binary operator that have no common type.
func diffBinary(sql string, l, r Expr) error {
	return mismatch("BINARY_OP_DIFF_TYPES", sql, "the left and right operands of the binary operator have incompatible types (\"%s\" and \"%s\")", l.Type().SQL(), r.Type().SQL())
}

// comparisonTypes gives the operands one type where that is possible.
func (b *Binder) comparisonTypes(op cmpOp, l, r Expr) (Expr, Expr, Expr) {
	x, y := l.Type(), r.Type()
	if x.Equal(y) {
		return l, r, nil
	}
	if b.ANSI {
		if t := b.promoteString(x, y); t != nil && (x.Kind == columnar.KindString || y.Kind == columnar.KindString) {
			return b.implicit(l, t), b.implicit(r, t), nil
		}
	} else if t := legacyCompareType(x, y, op); t != nil {
		return b.implicit(l, t), b.implicit(r, t), nil
	}
	if !b.ANSI && (op == opEq || op == opNullEq) {
		switch { // a number is true when it is one
		case x.Kind == columnar.KindBool && y.IsNumeric():
			return b.implicit(l, y), r, nil
		case y.Kind == columnar.KindBool && x.IsNumeric():
			return l, b.implicit(r, x), nil
		}
	}
	if x.Kind == columnar.KindDecimal && y.Kind == columnar.KindDecimal {
		t := commonDecimal(x, y)
		return b.implicit(l, t), b.implicit(r, t), nil
	}
	if e := integralAndDecimalLiteral(op, l, r); e != nil {
		return nil, nil, b.integralCompare(e)
	}
	l, r = b.decimalOperands(l, r)
	x, y = l.Type(), r.Type()
	if x.Kind == columnar.KindDecimal && y.Kind == columnar.KindDecimal && !x.Equal(y) {
		t := commonDecimal(x, y)
		return b.implicit(l, t), b.implicit(r, t), nil
	}
	if t := b.tightest(x, y); t != nil {
		return b.implicit(l, t), b.implicit(r, t), nil
	}
	// Structs and arrays whose members differ are widened too; names of fields do not count.
	if x.IsNested() && x.Kind == y.Kind {
		if t := renamed(y, x); t != nil {
			if w := b.tightest(x, t); w != nil {
				return b.implicit(l, w), b.implicit(b.implicit(r, t), w), nil
			}
		}
	}
	return l, r, nil
}

// renamed is t with the field names of like, or nil when their shapes differ.
func renamed(t, like *columnar.Type) *columnar.Type {
	switch {
	case t.Kind != like.Kind || !t.IsNested():
		return t
	case t.Kind == columnar.KindArray:
		return columnar.ArrayOf(renamed(t.Elem, like.Elem), t.ElemNullable)
	case t.Kind == columnar.KindMap:
		return columnar.MapOf(renamed(t.Key, like.Key), renamed(t.Elem, like.Elem), t.ElemNullable)
	}
	if len(t.Fields) != len(like.Fields) {
		return t
	}
	fs := append([]columnar.Field(nil), t.Fields...)
	for i := range fs {
		fs[i].Name = like.Fields[i].Name
		fs[i].Type = renamed(fs[i].Type, like.Fields[i].Type)
	}
	return columnar.StructOf(fs...)
}

// integralCompare finishes the coercion of a comparison of integers.
func (b *Binder) integralCompare(e Expr) Expr {
	c, ok := e.(*comparison)
	if !ok {
		return e
	}
	l, r, _ := b.comparisonTypes(c.op, c.l, c.r)
	return &comparison{c.op, l, r}
}

// legacyCompareType is the type in which the older dialect compares a string with something else.
func legacyCompareType(x, y *columnar.Type, op cmpOp) *columnar.Type {
	if x.Kind != columnar.KindString {
		if y.Kind != columnar.KindString {
			return nil
		}
		x, y = y, x
	}
	switch y.Kind {
	case columnar.KindNull:
		return x
	case columnar.KindDate:
		return columnar.Date
	case columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindTime, columnar.KindBool:
		return y
	case columnar.KindDecimal:
		return columnar.Float64
	case columnar.KindYearMonth, columnar.KindDayTime:
		return nil
	case columnar.KindString, columnar.KindBinary:
		if y.Kind == columnar.KindBinary {
			return columnar.Binary
		}
		return nil
	}
	if isAtomic(y) {
		return y
	}
	return nil
}

// integralAndDecimalLiteral replaces the comparison of an integer with a decimal literal by one of
// integers, or by a constant where the literal lies outside the type's range.
func integralAndDecimalLiteral(op cmpOp, l, r Expr) Expr {
	if op == opEq || op == opNullEq {
		return nil
	}
	lit, i, flipped := asDecimalLiteral(r), l, false
	if lit == nil || !l.Type().IsIntegral() {
		lit, i, flipped = asDecimalLiteral(l), r, true
		if lit == nil || !r.Type().IsIntegral() {
			return nil
		}
	}
	o := op
	if flipped {
		o = op.flip()
	}
	// i o lit
	v, scale := lit.Value.(columnar.Dec128), lit.Typ.Scale
	floor, exact := floorDecimal(v, scale)
	w := i.Type().Width() * 8
	lo, hi := columnar.Dec128FromInt64(math.MinInt64>>(64-w)), columnar.Dec128FromInt64(math.MaxInt64>>(64-w))
	below := floor.Cmp(lo) < 0
	above := floor.Cmp(hi) > 0 || floor.Cmp(hi) == 0 && !exact
	if below || above {
		v := (o == opGt || o == opGe) == below
		if !i.Nullable() {
			return NewBool(v)
		}
		return &caseWhen{[]Expr{NewIsNull(i)}, []Expr{NewLiteral(columnar.Bool, nil)}, NewBool(v), columnar.Bool, true}
	}
	n := floor.Int64()
	if (o == opLt || o == opGe) && !exact {
		n++
	}
	k := NewLiteral(columnar.Int64, n)
	if flipped {
		return &comparison{op, k, i}
	}
	return &comparison{op, i, k}
}

func asDecimalLiteral(e Expr) *Literal {
	l, ok := e.(*Literal)
	if !ok || l.Typ.Kind != columnar.KindDecimal || l.Value == nil {
		return nil
	}
	return l
}

// floorDecimal is the greatest whole number not above a decimal, and whether it equals it.
func floorDecimal(v columnar.Dec128, scale int) (columnar.Dec128, bool) {
	if scale <= 0 {
		return v, true
	}
	q, rem := divDec(v, columnar.Pow10(scale))
	if rem.Sign() == 0 {
		return q, true
	}
	if v.Sign() < 0 {
		q, _ = q.Sub(columnar.Dec128FromInt64(1))
	}
	return q, false
}

func (e *comparison) Type() *columnar.Type { return columnar.Bool }
func (e *comparison) Nullable() bool {
	return e.op != opNullEq && (e.l.Nullable() || e.r.Nullable())
}
func (e *comparison) Children() []Expr { return []Expr{e.l, e.r} }
func (e *comparison) WithChildren(c []Expr) Expr {
	return &comparison{e.op, c[0], c[1]}
}

func (e *comparison) SQL() string {
	return "(" + e.l.SQL() + " " + cmpSigns[e.op] + " " + e.r.SQL() + ")"
}
func (e *comparison) harmless() bool { return true }

func (e *comparison) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 {
		return columnar.NewEmpty(columnar.Bool), nil
	}
	l, r, err := eval2(ctx, e.l, e.r, in)
	if err != nil {
		if e.op == opNullEq {
			return nil, err
		}
		return narrowed(ctx, e, []int{0, 1}, in, nil, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return columnar.NewBools(n, compareBits(e.op, a[0], a[1], n), validOf(a...)), nil
		})
	}
	if e.op == opNullEq {
		lv, rv := validBits(l, n), validBits(r, n)
		out := columnar.NewBitmap(n)
		if !anyNull(l, r) {
			out = compareBits(opEq, l, r, n)
		}
		for i := range out {
			out[i] = out[i]&lv[i]&rv[i] | ^lv[i]&^rv[i]
		}
		return columnar.NewBools(n, out, nil), nil
	}
	if anyNull(l, r) {
		return columnar.NewNull(columnar.Bool, n), nil
	}
	return columnar.NewBools(n, compareBits(e.op, l, r, n), validOf(l, r)), nil
}

// compareLess gives the rows where a < b; rows with nulls are unspecified.
func compareLess(a, b vec, n int) columnar.Bitmap {
	if anyNull(a, b) {
		return columnar.NewBitmap(n)
	}
	return compareBits(opLt, a, b, n)
}

// compareBits compares two operands of one type that are not constant nulls; rows with nulls are unspecified.
func compareBits(op cmpOp, a, b vec, n int) columnar.Bitmap {
	if a.con {
		if b.con {
			a = vec{a.full(n), false}
			if n == 1 {
				b = vec{b.Column, false}
			}
		} else {
			a, b, op = b, a, op.flip()
		}
	}
	out := columnar.NewBitmap(n)
	switch t := a.Type; t.Kind {
	case columnar.KindInt8:
		compareOrdered[int8](op, out, a, b)
	case columnar.KindInt16:
		compareOrdered[int16](op, out, a, b)
	case columnar.KindInt32, columnar.KindDate, columnar.KindYearMonth:
		compareOrdered[int32](op, out, a, b)
	case columnar.KindInt64, columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindTime, columnar.KindDayTime:
		compareOrdered[int64](op, out, a, b)
	case columnar.KindFloat32:
		compareFloats[float32](op, out, a, b)
	case columnar.KindFloat64:
		compareFloats[float64](op, out, a, b)
	case columnar.KindBool:
		compareBools(op, out, a, b)
	case columnar.KindString, columnar.KindBinary:
		if t.Collation != "" {
			compareRows(op, out, a, b)
		} else if op == opEq {
			equalBytes(out, a, b)
		} else {
			compareBytes(op, out, a, b)
		}
	default:
		compareRows(op, out, a, b)
	}
	return out
}

func b2u(b bool) uint64 {
	var v uint64
	if b {
		v = 1
	}
	return v
}

type ordered interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
}

// compareOrdered compares integers; b may be constant, a is not.
func compareOrdered[T interface {
	ordered
	columnar.Value
}](op cmpOp, out columnar.Bitmap, a, b vec) {
	x := columnar.Values[T](a.Column)
	if b.con {
		c := constValue[T](b)
		switch op {
		case opEq:
			eqConst(out, x, c)
		case opLt:
			ltConst(out, x, c)
		case opLe:
			gtConst(out, x, c)
			invert(out, len(x))
		case opGt:
			gtConst(out, x, c)
		case opGe:
			ltConst(out, x, c)
			invert(out, len(x))
		}
		return
	}
	y := columnar.Values[T](b.Column)
	switch op {
	case opEq:
		eqSlices(out, x, y)
	case opLt:
		ltSlices(out, x, y)
	case opLe:
		ltSlices(out, y, x)
		invert(out, len(x))
	case opGt:
		ltSlices(out, y, x)
	case opGe:
		ltSlices(out, x, y)
		invert(out, len(x))
	}
}

func invert(b columnar.Bitmap, n int) {
	for i := range b {
		b[i] = ^b[i]
	}
	b.MaskTail(n)
}

func eqConst[T ordered](out columnar.Bitmap, x []T, c T) {
	for w := range out {
		var word uint64
		for i, v := range x[w<<6 : min(w<<6+64, len(x))] {
			word |= b2u(v == c) << (uint(i) & 63)
		}
		out[w] = word
	}
}

func ltConst[T ordered](out columnar.Bitmap, x []T, c T) {
	for w := range out {
		var word uint64
		for i, v := range x[w<<6 : min(w<<6+64, len(x))] {
			word |= b2u(v < c) << (uint(i) & 63)
		}
		out[w] = word
	}
}

func gtConst[T ordered](out columnar.Bitmap, x []T, c T) {
	for w := range out {
		var word uint64
		for i, v := range x[w<<6 : min(w<<6+64, len(x))] {
			word |= b2u(v > c) << (uint(i) & 63)
		}
		out[w] = word
	}
}

func eqSlices[T ordered](out columnar.Bitmap, x, y []T) {
	for w := range out {
		lo, hi := w<<6, min(w<<6+64, len(x))
		var word uint64
		b := y[lo:hi]
		for i, v := range x[lo:hi] {
			word |= b2u(v == b[i]) << (uint(i) & 63)
		}
		out[w] = word
	}
}

func ltSlices[T ordered](out columnar.Bitmap, x, y []T) {
	for w := range out {
		lo, hi := w<<6, min(w<<6+64, len(x))
		var word uint64
		b := y[lo:hi]
		for i, v := range x[lo:hi] {
			word |= b2u(v < b[i]) << (uint(i) & 63)
		}
		out[w] = word
	}
}

// compareFloats compares with NaN equal to NaN and above everything else.
func compareFloats[T interface {
	~float32 | ~float64
	columnar.Value
}](op cmpOp, out columnar.Bitmap, a, b vec) {
	x := columnar.Values[T](a.Column)
	neg := op == opLe || op == opGe
	if b.con {
		c := constValue[T](b)
		switch {
		case c == c && op == opEq:
			eqConst(out, x, c)
		case c == c && (op == opLt || op == opGe):
			ltConst(out, x, c)
		case c == c: // > and <=: NaN is greater, as v <= c is false for it
			for w := range out {
				var word uint64
				for i, v := range x[w<<6 : min(w<<6+64, len(x))] {
					word |= b2u(!(v <= c)) << (uint(i) & 63)
				}
				out[w] = word
			}
		default:
			for i, v := range x {
				if (op == opEq) == (v != v) && op != opGt && op != opLe {
					out.Set(i)
				}
			}
		}
		if neg {
			invert(out, len(x))
		}
		return
	}
	y := columnar.Values[T](b.Column)
	if op == opGt || op == opLe {
		x, y = y, x
	}
	for w := range out {
		lo, hi := w<<6, min(w<<6+64, len(x))
		var word uint64
		d := y[lo:hi]
		if op == opEq {
			for i, v := range x[lo:hi] {
				word |= (b2u(v == d[i]) | b2u(v != v)&b2u(d[i] != d[i])) << (uint(i) & 63)
			}
		} else {
			for i, v := range x[lo:hi] {
				word |= (b2u(v < d[i]) | b2u(v == v)&b2u(d[i] != d[i])) << (uint(i) & 63)
			}
		}
		out[w] = word
	}
	if neg {
		invert(out, len(x))
	}
}

func compareBools(op cmpOp, out columnar.Bitmap, a, b vec) {
	for w := range out {
		x := a.Bits[w]
		var y uint64
		if b.con {
			if b.Bits.Get(0) {
				y = ^uint64(0)
			}
		} else {
			y = b.Bits[w]
		}
		switch op {
		case opEq:
			out[w] = ^(x ^ y)
		case opLt:
			out[w] = ^x & y
		case opLe:
			out[w] = ^x | y
		case opGt:
			out[w] = x &^ y
		case opGe:
			out[w] = x | ^y
		}
	}
	out.MaskTail(a.Len)
}

func equalBytes(out columnar.Bitmap, a, b vec) {
	n := a.Len
	off := a.Offsets[: n+1 : n+1]
	if b.con {
		c := b.BytesAt(0)
		for i := 0; i < n; i++ {
			s := a.Data[off[i]:off[i+1]]
			if len(s) == len(c) && string(s) == string(c) {
				out.Set(i)
			}
		}
		return
	}
	for i := 0; i < n; i++ {
		if string(a.Data[off[i]:off[i+1]]) == string(b.BytesAt(i)) {
			out.Set(i)
		}
	}
}

func compareBytes(op cmpOp, out columnar.Bitmap, a, b vec) {
	for i := 0; i < a.Len; i++ {
		if holds(op, bytes.Compare(a.BytesAt(i), b.BytesAt(b.row(i)))) {
			out.Set(i)
		}
	}
}

// holds tells whether a comparison's outcome satisfies op.
func holds(op cmpOp, c int) bool {
	switch op {
	case opLt:
		return c < 0
	case opLe:
		return c <= 0
	case opGt:
		return c > 0
	case opGe:
		return c >= 0
	}
	return c == 0
}

func compareRows(op cmpOp, out columnar.Bitmap, a, b vec) {
	for i := 0; i < a.Len; i++ {
		j := b.row(i)
		if a.IsNull(i) || b.IsNull(j) {
			continue
		}
		if holds(op, compareAt(a.Column, i, b.Column, j)) {
			out.Set(i)
		}
	}
}

// compareAt orders two values of one type: nulls before all others inside of nested values, NaN
// last, strings by their bytes. Maps compare by their entries, for grouping only.
func compareAt(a *columnar.Column, i int, b *columnar.Column, j int) int {
	an, bn := a.IsNull(i), b.IsNull(j)
	if an || bn {
		return int(b2u(bn)) - int(b2u(an))
	}
	switch a.Type.Kind {
	case columnar.KindBool:
		return int(b2u(a.Bits.Get(i))) - int(b2u(b.Bits.Get(j)))
	case columnar.KindInt8:
		return cmpInt(columnar.Values[int8](a)[i], columnar.Values[int8](b)[j])
	case columnar.KindInt16:
		return cmpInt(columnar.Values[int16](a)[i], columnar.Values[int16](b)[j])
	case columnar.KindInt32, columnar.KindDate, columnar.KindYearMonth:
		return cmpInt(columnar.Values[int32](a)[i], columnar.Values[int32](b)[j])
	case columnar.KindInt64, columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindTime, columnar.KindDayTime:
		return cmpInt(columnar.Values[int64](a)[i], columnar.Values[int64](b)[j])
	case columnar.KindFloat32:
		return cmpFloat(float64(columnar.Values[float32](a)[i]), float64(columnar.Values[float32](b)[j]))
	case columnar.KindFloat64:
		return cmpFloat(columnar.Values[float64](a)[i], columnar.Values[float64](b)[j])
	case columnar.KindDecimal:
		return columnar.Values[columnar.Dec128](a)[i].Cmp(columnar.Values[columnar.Dec128](b)[j])
	case columnar.KindString:
		if a.Type.Collation != "" {
			return compareCollated(a.Type.Collation, a.StringAt(i), b.StringAt(j))
		}
		return bytes.Compare(a.BytesAt(i), b.BytesAt(j))
	case columnar.KindBinary, columnar.KindVariant:
		return bytes.Compare(a.BytesAt(i), b.BytesAt(j))
	case columnar.KindCalendar:
		x, y := columnar.Values[columnar.CalendarInterval](a)[i], columnar.Values[columnar.CalendarInterval](b)[j]
		if c := cmpInt(x.Months, y.Months); c != 0 {
			return c
		}
		if c := cmpInt(x.Days, y.Days); c != 0 {
			return c
		}
		return cmpInt(x.Micros, y.Micros)
	case columnar.KindStruct:
		for k := range a.Children {
			if c := compareAt(a.Children[k], i, b.Children[k], j); c != 0 {
				return c
			}
		}
		return 0
	case columnar.KindArray, columnar.KindMap:
		x, y := a.Offsets[i], b.Offsets[j]
		for ; x < a.Offsets[i+1] && y < b.Offsets[j+1]; x, y = x+1, y+1 {
			for k := range a.Children {
				if c := compareAt(a.Children[k], int(x), b.Children[k], int(y)); c != 0 {
					return c
				}
			}
		}
		return cmpInt(a.Offsets[i+1]-x, b.Offsets[j+1]-y)
	}
	return 0
}

// Compare orders row i of a and row j of b, columns of one type: nulls first, NaN last. It is the
// order of ORDER BY before directions are applied.
func Compare(a *columnar.Column, i int, b *columnar.Column, j int) int { return compareAt(a, i, b, j) }

func cmpInt[T ~int8 | ~int16 | ~int32 | ~int64](x, y T) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func cmpFloat(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return int(b2u(x != x)) - int(b2u(y != y))
}

// compareCollated orders strings under a collation other than UTF8_BINARY.
func compareCollated(collation, x, y string) int {
	if strings.Contains(collation, "RTRIM") {
		x, y = strings.TrimRight(x, " "), strings.TrimRight(y, " ")
	}
	if strings.Contains(collation, "LCASE") || strings.Contains(collation, "_CI") {
		x, y = strings.ToLower(x), strings.ToLower(y)
	}
	return strings.Compare(x, y)
}

// divDec is the quotient, cut towards zero, and the remainder of a division by d, which is not zero.
func divDec(v, d columnar.Dec128) (q, r columnar.Dec128) {
	neg, dneg := v.Hi < 0, d.Hi < 0
	if neg {
		v = v.Neg()
	}
	if dneg {
		d = d.Neg()
	}
	switch {
	case d.Hi == 0 && v.Hi == 0:
		q.Lo, r.Lo = v.Lo/d.Lo, v.Lo%d.Lo
	case d.Hi == 0:
		q.Hi = int64(uint64(v.Hi) / d.Lo)
		q.Lo, r.Lo = bits.Div64(uint64(v.Hi)%d.Lo, v.Lo, d.Lo)
	default:
		q, r = divWide(v, d)
	}
	if neg != dneg {
		q = q.Neg()
	}
	if neg {
		r = r.Neg()
	}
	return q, r
}

// divWide divides non-negative 128-bit numbers where the divisor exceeds 64 bits: the quotient then
// fits 64 bits and is estimated from the divisor's leading word, at most two too high.
func divWide(v, d columnar.Dec128) (q, r columnar.Dec128) {
	s := uint(bits.LeadingZeros64(uint64(d.Hi)))
	top := uint64(d.Hi)<<s | d.Lo>>1>>(63-s)
	// v/2 keeps the high word below the normalised divisor.
	hi, lo := uint64(v.Hi)>>1, uint64(v.Hi)<<63|v.Lo>>1
	est, _ := bits.Div64(hi, lo, top)
	est = est >> (63 - s)
	if est > 0 {
		est--
	}
	q = columnar.Dec128{Lo: est}
	p, _ := d.Mul(q)
	r, _ = v.Sub(p)
	for r.Cmp(d) >= 0 {
		r, _ = r.Sub(d)
		q, _ = q.Add(columnar.Dec128{Lo: 1})
	}
	return q, r
}
