package expr

import (
	"math/bits"

	"github.com/wstream/wstream/columnar"
)

// logic is AND or OR in three values.
type logic struct {
	or   bool
	l, r Expr
}

func (b *Binder) logic(op string, l, r Expr) (Expr, error) {
	sql := "(" + l.SQL() + " " + op + " " + r.SQL() + ")"
	if b.ANSI && (l.Type().Kind == columnar.KindString) != (r.Type().Kind == columnar.KindString) {
		if t := b.promoteString(l.Type(), r.Type()); t != nil {
			l, r = b.implicit(l, t), b.implicit(r, t)
		}
	}
	l, r, err := b.binaryOperands(sql, l, r, isBool)
	if err != nil {
		return nil, err
	}
	return &logic{op == "OR", l, r}, nil
}

// NewAnd is the conjunction of BOOLEAN expressions, evaluated left to right; of none it is true.
func NewAnd(es ...Expr) Expr {
	if len(es) == 0 {
		return NewBool(true)
	}
	out := es[0]
	for _, e := range es[1:] {
		out = &logic{false, out, e}
	}
	return out
}

// NewOr is the disjunction of BOOLEAN expressions, evaluated left to right; of none it is false.
func NewOr(es ...Expr) Expr {
	if len(es) == 0 {
		return NewBool(false)
	}
	out := es[0]
	for _, e := range es[1:] {
		out = &logic{true, out, e}
	}
	return out
}

// SplitAnd gives the operands of nested ANDs, left to right; any other expression is its own only operand.
func SplitAnd(e Expr) []Expr {
	if x, ok := unnamed(e).(*logic); ok && !x.or {
		return append(SplitAnd(x.l), SplitAnd(x.r)...)
	}
	return []Expr{e}
}

func (e *logic) Type() *columnar.Type { return columnar.Bool }
func (e *logic) Nullable() bool       { return e.l.Nullable() || e.r.Nullable() }
func (e *logic) Children() []Expr     { return []Expr{e.l, e.r} }
func (e *logic) WithChildren(c []Expr) Expr {
	return &logic{e.or, c[0], c[1]}
}
func (e *logic) harmless() bool { return true }

func (e *logic) SQL() string {
	op := " AND "
	if e.or {
		op = " OR "
	}
	return "(" + e.l.SQL() + op + e.r.SQL() + ")"
}

// Eval evaluates the right side only where the left one does not decide, unless that is free.
func (e *logic) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 {
		return columnar.NewEmpty(columnar.Bool), nil
	}
	l, err := eval(ctx, e.l, in)
	if err != nil {
		return nil, err
	}
	lv := validBits(l, n)
	lt := trueBits(l, n)
	// need: rows where the left side does not decide.
	need := make(columnar.Bitmap, len(lv))
	if e.or {
		for i := range need {
			need[i] = ^lt[i]
		}
	} else {
		for i := range need {
			need[i] = lt[i] | ^lv[i]
		}
	}
	need.MaskTail(n)
	k := need.Count(n)
	if k == 0 {
		return columnar.NewBools(n, lt, validOrNil(lv, n)), nil
	}
	var rt, rv columnar.Bitmap
	if k == n || isHarmless(e.r) {
		r, err := eval(ctx, e.r, in)
		if err != nil {
			return nil, err
		}
		rt, rv = trueBits(r, n), validBits(r, n)
	} else {
		r, err := evalSelected(ctx, e.r, in, need, k)
		if err != nil {
			return nil, err
		}
		rt, rv = spread(trueBits(r, k), need, n), spread(validBits(r, k), need, n)
	}
	out, valid := make(columnar.Bitmap, len(lv)), make(columnar.Bitmap, len(lv))
	if e.or {
		for i := range out {
			out[i] = lt[i] | rt[i]
			valid[i] = lv[i]&rv[i] | out[i]
		}
	} else {
		for i := range out {
			out[i] = lt[i] & rt[i]
			valid[i] = lv[i]&rv[i] | lv[i]&^lt[i] | rv[i]&^rt[i]
		}
	}
	return columnar.NewBools(n, out, validOrNil(valid, n)), nil
}

// spread puts the bits of src, one per set bit of sel in order, at the set bits of sel.
func spread(src, sel columnar.Bitmap, n int) columnar.Bitmap {
	out := columnar.NewBitmap(n)
	k := 0
	for w, word := range sel {
		var v uint64
		for ; word != 0; word &= word - 1 {
			v |= src[k>>6] >> (uint(k) & 63) & 1 << bits.TrailingZeros64(word)
			k++
		}
		out[w] = v
	}
	return out
}

// validOrNil is v, or nil when all n bits are set.
func validOrNil(v columnar.Bitmap, n int) columnar.Bitmap {
	if v == nil || v.Count(n) == n {
		return nil
	}
	return v
}

// not is NOT x.
type not struct{ x Expr }

// NewNot is the negation of a BOOLEAN expression.
func NewNot(e Expr) Expr { return &not{e} }

func (e *not) Type() *columnar.Type       { return columnar.Bool }
func (e *not) Nullable() bool             { return e.x.Nullable() }
func (e *not) Children() []Expr           { return []Expr{e.x} }
func (e *not) WithChildren(c []Expr) Expr { return &not{c[0]} }
func (e *not) SQL() string                { return "(NOT " + e.x.SQL() + ")" }
func (e *not) harmless() bool             { return true }

func (e *not) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	c, err := e.x.Eval(ctx, in)
	if err != nil || in.Rows == 0 {
		return c, err
	}
	bits := make(columnar.Bitmap, columnar.BitmapWords(c.Len))
	for i := range bits {
		bits[i] = ^c.Bits[i]
	}
	return columnar.NewBools(c.Len, bits, c.Valid), nil
}

// isNull is x IS NULL or x IS NOT NULL.
type isNull struct {
	x   Expr
	not bool
}

// NewIsNull is e IS NULL.
func NewIsNull(e Expr) Expr { return &isNull{x: e} }

// NewIsNotNull is e IS NOT NULL.
func NewIsNotNull(e Expr) Expr { return &isNull{x: e, not: true} }

func (e *isNull) Type() *columnar.Type       { return columnar.Bool }
func (e *isNull) Nullable() bool             { return false }
func (e *isNull) Children() []Expr           { return []Expr{e.x} }
func (e *isNull) WithChildren(c []Expr) Expr { return &isNull{c[0], e.not} }
func (e *isNull) harmless() bool             { return true }

func (e *isNull) SQL() string {
	if e.not {
		return "(" + e.x.SQL() + " IS NOT NULL)"
	}
	return "(" + e.x.SQL() + " IS NULL)"
}

func (e *isNull) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	c, err := e.x.Eval(ctx, in)
	if err != nil {
		return nil, err
	}
	bits := validBits(vec{c, false}, c.Len)
	if !e.not {
		for i := range bits {
			bits[i] = ^bits[i]
		}
		bits.MaskTail(c.Len)
	}
	return columnar.NewBools(c.Len, bits, nil), nil
}
