package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

func bindCount(b *Binder, args []Expr) (Expr, error) {
	if len(args) == 0 && !b.Call.Star {
		return nil, sparkerr.New("WRONG_NUM_ARGS.WITH_SUGGESTION", "the `count` requires >= 1 parameters but the actual number is 0")
	}
	printed := args
	if b.Call.Star {
		printed = []Expr{NewInt(1)}
	}
	// Arguments that cannot be null need no look at.
	if !b.Call.Distinct {
		var kept []Expr
		for _, a := range args {
			if a.Nullable() {
				kept = append(kept, a)
			}
		}
		if len(kept) == 0 {
			args = nil
		}
	}
	a := b.aggregate(args, columnar.Int64, false, []columnar.Field{field("count", columnar.Int64, false)}, func(*Context) Accumulator { return &countAcc{} })
	a.name = "count"
	if len(args) == 0 {
		sql := aggSQL("count", printed, b.Call.Distinct)
		a.text = func([]Expr, bool) string { return sql }
	}
	return a, nil
}

func bindCountIf(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	if k := args[0].Type().Kind; k != columnar.KindBool && k != columnar.KindNull {
		return nil, unexpectedInput(b.sql(args), 0, `"BOOLEAN"`, args[0])
	}
	sql := args
	return withText(b.aggregate([]Expr{b.implicit(args[0], columnar.Bool)}, columnar.Int64, false, []columnar.Field{field("count", columnar.Int64, false)},
		func(*Context) Accumulator { return &countAcc{ifTrue: true} }), "count_if", sql), nil
}

// withText prints an aggregate with the arguments it was written with.
func withText(a *aggregate, name string, args []Expr) *aggregate {
	if len(args) == len(a.call.Args) {
		return a // the casts inserted are not printed
	}
	sql := aggSQL(name, args, a.call.Distinct)
	a.text = func([]Expr, bool) string { return sql }
	return a
}

// countAcc counts rows whose arguments are all present, or are true.
type countAcc struct {
	n      []int64
	ifTrue bool
}

func (a *countAcc) Grow(n int) { a.n = growTo(a.n, n) }

func (a *countAcc) Update(group []uint32, args []*columnar.Column) error {
	var valid columnar.Bitmap
	for _, c := range args {
		if c.Type.Kind == columnar.KindNull {
			return nil
		}
		valid = columnar.And(valid, c.Valid)
		if a.ifTrue {
			valid = columnar.And(valid, c.Bits)
		}
	}
	n := a.n
	switch {
	case len(n) == 1:
		if valid == nil {
			n[0] += int64(len(group))
		} else {
			n[0] += int64(valid.Count(len(group)))
		}
	case valid == nil:
		for _, g := range group {
			n[g]++
		}
	default:
		for i, g := range group {
			n[g] += int64(valid[i>>6] >> (uint(i) & 63) & 1)
		}
	}
	return nil
}

func (a *countAcc) Merge(group []uint32, state []*columnar.Column) error {
	for i, v := range columnar.Values[int64](state[0]) {
		a.n[group[i]] += v
	}
	return nil
}

func (a *countAcc) State() ([]*columnar.Column, error) {
	return []*columnar.Column{columnar.NewFixed(columnar.Int64, copied(a.n), nil)}, nil
}

func (a *countAcc) Result() (*columnar.Column, error) {
	return columnar.NewFixed(columnar.Int64, copied(a.n), nil), nil
}

func (a *countAcc) Reset() { a.n = resetSlice(a.n) }

// boolAcc is bool_and and bool_or.
type boolAcc struct {
	and  bool
	val  []bool
	seen []bool
}

func bindBoolAgg(and bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		args, err := b.coerce(args, isBool)
		if err != nil {
			return nil, err
		}
		return b.aggregate(args, columnar.Bool, true, []columnar.Field{field("value", columnar.Bool, true)}, func(*Context) Accumulator { return &boolAcc{and: and} }), nil
	}
}

func (a *boolAcc) Grow(n int) { a.val, a.seen = growTo(a.val, n), growTo(a.seen, n) }

func (a *boolAcc) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	for i, g := range group {
		if c.IsNull(i) {
			continue
		}
		v := c.Bits.Get(i)
		switch {
		case !a.seen[g]:
			a.val[g], a.seen[g] = v, true
		case a.and:
			a.val[g] = a.val[g] && v
		default:
			a.val[g] = a.val[g] || v
		}
	}
	return nil
}

func (a *boolAcc) Merge(group []uint32, state []*columnar.Column) error {
	return a.Update(group, state)
}

func (a *boolAcc) State() ([]*columnar.Column, error) {
	c, err := a.Result()
	return []*columnar.Column{c}, err
}

func (a *boolAcc) Result() (*columnar.Column, error) {
	bits := columnar.NewBitmap(len(a.val))
	for i, v := range a.val {
		if v {
			bits.Set(i)
		}
	}
	return columnar.NewBools(len(a.val), bits, seenBitmap(a.seen)), nil
}

func (a *boolAcc) Reset() { a.val, a.seen = resetSlice(a.val), resetSlice(a.seen) }

// bitAcc is bit_and, bit_or and bit_xor, in 64 bits.
type bitAcc struct {
	op   string
	typ  *columnar.Type
	val  []int64
	seen []bool
}

func bindBitAgg(op string) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		args, err := b.expect(args, isIntegral)
		if err != nil {
			return nil, err
		}
		t := args[0].Type()
		return b.aggregate(args, t, true, []columnar.Field{field("value", t, true)}, func(*Context) Accumulator { return &bitAcc{op: op, typ: t} }), nil
	}
}

func (a *bitAcc) Grow(n int) { a.val, a.seen = growTo(a.val, n), growTo(a.seen, n) }

func (a *bitAcc) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	for i, g := range group {
		if c.IsNull(i) {
			continue
		}
		v := intAt(c, i)
		if !a.seen[g] {
			a.val[g], a.seen[g] = v, true
			continue
		}
		switch a.op {
		case "and":
			a.val[g] &= v
		case "or":
			a.val[g] |= v
		default:
			a.val[g] ^= v
		}
	}
	return nil
}

func (a *bitAcc) Merge(group []uint32, state []*columnar.Column) error { return a.Update(group, state) }

func (a *bitAcc) State() ([]*columnar.Column, error) {
	c, err := a.Result()
	return []*columnar.Column{c}, err
}

func (a *bitAcc) Result() (*columnar.Column, error) {
	b := columnar.NewBuilder(a.typ, len(a.val))
	for i, v := range a.val {
		if a.seen[i] {
			b.AppendInt(v)
		} else {
			b.AppendNull()
		}
	}
	return b.Finish(), nil
}

func (a *bitAcc) Reset() { a.val, a.seen = resetSlice(a.val), resetSlice(a.seen) }
