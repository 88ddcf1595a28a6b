package expr

import (
	"math"

	"github.com/wstream/wstream/columnar"
)

// random is rand(), randn() and uniform(): a number per row that depends on the seed, the context
// and the row's position only.
type random struct {
	normal bool
	seed   int64
	fixed  bool // a seed was given: batches repeat it
	lo, hi Expr // bounds of uniform; nil for 0 and 1
	typ    *columnar.Type
	text   string
}

func bindRandom(normal bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 0, 1); err != nil {
			return nil, err
		}
		e := &random{normal: normal, typ: columnar.Float64, text: b.sql(args)}
		if len(args) == 1 {
			seed, err := b.seed(args, 0)
			if err != nil {
				return nil, err
			}
			e.seed, e.fixed = seed, true
		}
		return e, nil
	}
}

// seed reads argument i as a constant seed; NULL is 0.
func (b *Binder) seed(args []Expr, i int) (int64, error) {
	v, err := b.constant(b.sql(args), args, i, oneOf(isInt, isBigint), "seed")
	if err != nil {
		return 0, err
	}
	if s, ok := v.(int32); ok {
		return int64(s), nil
	}
	s, _ := v.(int64)
	return s, nil
}

func bindUniform(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	bounds, err := b.coerce(args[:2], isNumeric)
	if err != nil {
		return nil, err
	}
	bounds, t := b.toCommon(bounds, b.wider)
	for i, e := range bounds {
		if !isConst(e) {
			return nil, nonFoldable(b.sql(args), [...]string{"min", "max"}[i], args[i])
		}
	}
	e := &random{lo: bounds[0], hi: bounds[1], typ: t, text: b.sql(args)}
	if len(args) == 3 {
		seed, err := b.seed(args, 2)
		if err != nil {
			return nil, err
		}
		e.seed, e.fixed = seed, true
	}
	return e, nil
}

// Nondeterministic marks the expression as one that must not be moved or folded.
func (e *random) Nondeterministic()        {}
func (e *random) Type() *columnar.Type     { return e.typ }
func (e *random) Nullable() bool           { return e.lo != nil && (e.lo.Nullable() || e.hi.Nullable()) }
func (e *random) Children() []Expr         { return nil }
func (e *random) WithChildren([]Expr) Expr { return e }
func (e *random) SQL() string              { return e.text }

func (e *random) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	seed := uint64(e.seed) + uint64(ctx.Partition)
	if !e.fixed {
		seed = columnar.HashUint64(uint64(ctx.Seed)) + uint64(ctx.Partition)
	}
	d := make([]float64, n)
	for i := range d {
		k := columnar.HashUint64(seed ^ columnar.HashUint64(uint64(ctx.RowBase)+uint64(i)))
		d[i] = float64(k>>11) / (1 << 53)
		if e.normal {
			u := float64(columnar.HashUint64(k)>>11)/(1<<53) + 0x1p-54
			d[i] = math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*d[i])
		}
	}
	if e.lo == nil {
		return columnar.NewFixed(columnar.Float64, d, nil), nil
	}
	if n == 0 {
		return columnar.NewEmpty(e.typ), nil
	}
	lo, hi, err := eval2(ctx, e.lo, e.hi, in)
	if err != nil {
		return nil, err
	}
	if anyNull(lo, hi) {
		return columnar.NewNull(e.typ, n), nil
	}
	x, y := numberAt(lo.Column, 0), numberAt(hi.Column, 0)
	b := columnar.NewBuilder(e.typ, n)
	for _, v := range d {
		r := x + v*(y-x)
		if !e.typ.IsFloating() {
			r = math.Floor(r)
		}
		appendNumber(b, e.typ, r)
	}
	return b.Finish(), nil
}
