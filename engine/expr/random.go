package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// random is rand(), randn(), uniform() and randstr(): a value per row that depends on the seed, the
// partition and the row's position only. With a seed the values are Spark's.
type random struct {
	kind   randomKind
	seed   int64
	fixed  bool // a seed was given: batches repeat it
	lo, hi Expr // bounds of uniform
	length int  // of randstr
	typ    *columnar.Type
	text   string
}

// randomKind tells what a random is made into.
type randomKind uint8

const (
	randomUnit   randomKind = iota // in [0, 1)
	randomNormal                   // of the standard normal distribution
	randomRange                    // between two bounds
	randomText                     // letters and digits
)

func bindRandom(kind randomKind) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 0, 1); err != nil {
			return nil, err
		}
		name := "rand"
		if kind == randomNormal {
			name = "randn"
		}
		e := &random{kind: kind, typ: columnar.Float64, text: sqlCall(name, args)}
		return e, b.seeded(e, args, 0)
	}
}

// seeded gives e the seed of argument i, or one that tells calls of one statement apart.
func (b *Binder) seeded(e *random, args []Expr, i int) error {
	if i >= len(args) {
		e.seed = int64(columnar.HashUint64(uint64(b.Call.Line)<<32 | uint64(uint32(b.Call.Col))))
		return nil
	}
	e.fixed = true
	var err error
	e.seed, err = b.seed(args, i)
	return err
}

// seed reads argument i as a constant seed; NULL is 0.
func (b *Binder) seed(args []Expr, i int) (int64, error) {
	sql := b.sql(args)
	if t := args[i].Type(); !oneOf(isInt, isBigint).accepts(t) && t.Kind != columnar.KindNull {
		return 0, unexpectedInput(sql, i, oneOf(isInt, isBigint).text(), args[i])
	}
	if !isConst(args[i]) {
		return 0, sparkerr.New("SEED_EXPRESSION_IS_UNFOLDABLE", "the seed expression \"%s\" of the expression \"%s\" must be foldable", args[i].SQL(), sql)
	}
	v, err := b.constant(sql, args, i, isBigint, "seed")
	s, _ := v.(int64)
	return s, err
}

func bindUniform(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	bounds, err := b.expectAs(b.sql(args), args[:2], isNumeric)
	if err != nil {
		return nil, err
	}
	for i, e := range bounds {
		if !isConst(e) {
			return nil, nonFoldable(b.sql(args), [...]string{"min", "max"}[i], args[i])
		}
	}
	e := &random{kind: randomRange, typ: uniformType(bounds[0].Type(), bounds[1].Type()), text: b.sql(args)}
	e.lo, e.hi = NewCast(bounds[0], columnar.Float64, b.castMode(), true), NewCast(bounds[1], columnar.Float64, b.castMode(), true)
	return e, b.seeded(e, args, 2)
}

// uniformType is the type of numbers between two of given types.
func uniformType(x, y *columnar.Type) *columnar.Type {
	for _, k := range []columnar.Kind{columnar.KindFloat64, columnar.KindFloat32} {
		if x.Kind == k || y.Kind == k {
			return &columnar.Type{Kind: k}
		}
	}
	dx, dy := x.Kind == columnar.KindDecimal, y.Kind == columnar.KindDecimal
	switch {
	case dx && dy && y.Precision > x.Precision, dy && !dx:
		return y
	case dx:
		return x
	case kindOrder(y.Kind) > kindOrder(x.Kind):
		return y
	}
	return x
}

// bindRandstr binds randstr(length[, seed]).
func bindRandstr(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	v, err := b.constant(b.sql(args), args, 0, isInt, "length")
	if err != nil {
		return nil, err
	}
	n, _ := v.(int32)
	if n < 0 {
		return nil, sparkerr.New("INVALID_PARAMETER_VALUE.LENGTH", "the value of parameter(s) `length` in `randstr` is invalid: expects `length` greater than or equal to 0, but got %d", n)
	}
	e := &random{kind: randomText, typ: columnar.String, length: int(n), text: b.sql(args)}
	return e, b.seeded(e, args, 1)
}

// Nondeterministic marks the expression as one that must not be moved or folded.
func (e *random) Nondeterministic()        {}
func (e *random) Type() *columnar.Type     { return e.typ }
func (e *random) Nullable() bool           { return e.lo != nil && (e.lo.Nullable() || e.hi.Nullable()) }
func (e *random) Children() []Expr         { return nil }
func (e *random) WithChildren([]Expr) Expr { return e }
func (e *random) SQL() string              { return e.text }

// start is the sequence at the first row of the batch.
func (e *random) start(ctx *Context) *xorShift {
	seed := e.seed + int64(ctx.Partition)
	if !e.fixed {
		seed += ctx.Seed
	}
	x := newXORShift(seed)
	switch done := uint64(ctx.RowBase); e.kind {
	case randomNormal: // how many steps a number takes depends on the numbers
		for ; done > 0; done-- {
			x.gaussian()
		}
	case randomText:
		x.skip(done * uint64(e.length))
	default:
		x.skip(2 * done)
	}
	return x
}

func (e *random) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 {
		return columnar.NewEmpty(e.typ), nil
	}
	x := e.start(ctx)
	if e.kind == randomText {
		if int64(e.length)*int64(n) > maxString {
			return nil, sparkerr.New("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER", "%d strings of %d letters do not fit in a batch", n, e.length)
		}
		off, buf := make([]int32, n+1), make([]byte, 0, n*e.length)
		for i := range n {
			buf = x.letters(buf, e.length)
			off[i+1] = int32(len(buf))
		}
		return columnar.NewBytes(e.typ, off, buf, nil), nil
	}
	d := make([]float64, n)
	for i := range d {
		if e.kind == randomNormal {
			d[i] = x.gaussian()
		} else {
			d[i] = x.float()
		}
	}
	if e.kind != randomRange {
		return columnar.NewFixed(columnar.Float64, d, nil), nil
	}
	lo, hi, err := eval2(ctx, e.lo, e.hi, in)
	if err != nil {
		return nil, err
	}
	if anyNull(lo, hi) {
		return columnar.NewNull(e.typ, n), nil
	}
	l := constValue[float64](lo)
	h := constValue[float64](hi)
	for i, v := range d {
		d[i] = l + (h-l)*v
	}
	c := columnar.NewFixed(columnar.Float64, d, nil)
	if e.typ.Kind == columnar.KindFloat64 {
		return c, nil
	}
	mode := CastLegacy
	if ctx.ANSI {
		mode = CastANSI
	}
	return NewCast(&Ref{Typ: columnar.Float64}, e.typ, mode, true).Eval(ctx, columnar.NewBatch(columnar.NewSchema(), []*columnar.Column{c}, n))
}
