package expr

import (
	"slices"

	"github.com/wstream/wstream/columnar"
)

// bindFirstLast binds first, last and any_value.
func bindFirstLast(last bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 2); err != nil {
			return nil, err
		}
		ignore := b.Call.IgnoreNulls
		if len(args) == 2 {
			f, err := b.flag(args[1])
			if err != nil {
				return nil, err
			}
			ignore = ignore || f
		}
		t := args[0].Type()
		a := b.aggregate(args[:1:1], t, true, []columnar.Field{field("value", t, true), field("set", columnar.Bool, false)},
			func(*Context) Accumulator { return &valueAcc{typ: t, last: last, ignore: ignore} })
		a.order = true
		if ignore {
			a.ident = "ignore nulls"
		}
		return a, nil
	}
}

// valueAcc is the first or last value of each group.
type valueAcc struct {
	typ          *columnar.Type
	last, ignore bool
	val          []ref
}

func (a *valueAcc) Grow(n int) { a.val = growTo(a.val, n) }

func (a *valueAcc) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	for i, g := range group {
		if a.ignore && c.IsNull(i) || !a.last && a.val[g].col != nil {
			continue
		}
		a.val[g] = ref{c, int32(i)}
	}
	return nil
}

func (a *valueAcc) Merge(group []uint32, state []*columnar.Column) error {
	for i, g := range group {
		if !state[1].Bits.Get(i) || !a.last && a.val[g].col != nil {
			continue
		}
		a.val[g] = ref{state[0], int32(i)}
	}
	return nil
}

func (a *valueAcc) State() ([]*columnar.Column, error) {
	set := columnar.NewBitmap(len(a.val))
	for i, r := range a.val {
		if r.col != nil {
			set.Set(i)
		}
	}
	return []*columnar.Column{refColumn(a.typ, a.val), columnar.NewBools(len(a.val), set, nil)}, nil
}

func (a *valueAcc) Result() (*columnar.Column, error) { return refColumn(a.typ, a.val), nil }

func (a *valueAcc) Reset() { a.val = resetSlice(a.val) }

// bindBy binds min_by and max_by.
func bindBy(max bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 2, 3); err != nil {
			return nil, err
		}
		t, o := args[0].Type(), args[1].Type()
		if err := b.orderingType(args, o); err != nil {
			return nil, err
		}
		if len(args) == 3 {
			v, err := b.constant(b.sql(args), args, 2, isBigint, "k")
			if err != nil {
				return nil, err
			}
			k, _ := v.(int64)
			if k <= 0 || k > 100000 {
				return nil, mismatch("VALUE_OUT_OF_RANGE", b.sql(args), "the `k` must be between 1 and 100000 (current value = %d)", k)
			}
			pair := columnar.StructOf(field("value", t, true), field("ord", o, false))
			a := b.aggregate(args[:2:2], columnar.ArrayOf(t, true), true, []columnar.Field{field("top", columnar.ArrayOf(pair, false), false)},
				func(*Context) Accumulator { return &topBy{typ: t, ord: o, max: max, k: int(k), pair: pair} })
			return withText(a, b.name(), args), nil
		}
		return b.aggregate(args, t, true, []columnar.Field{field("value", t, true), field("ord", o, true)},
			func(*Context) Accumulator { return &byAcc{typ: t, ordTyp: o, max: max} }), nil
	}
}

// byAcc is the value that belongs to the least or greatest key.
type byAcc struct {
	typ, ordTyp *columnar.Type
	max         bool
	val, ord    []ref
}

func (a *byAcc) Grow(n int) { a.val, a.ord = growTo(a.val, n), growTo(a.ord, n) }

func (a *byAcc) Update(group []uint32, args []*columnar.Column) error {
	c := args[1]
	for i, g := range group {
		if c.IsNull(i) {
			continue
		}
		now := ref{c, int32(i)}
		if best := a.ord[g]; best.col != nil {
			// The later of equal keys counts, as in Spark.
			if d := now.compare(best); d != 0 && d > 0 != a.max {
				continue
			}
		}
		a.ord[g], a.val[g] = now, ref{args[0], int32(i)}
	}
	return nil
}

func (a *byAcc) Merge(group []uint32, state []*columnar.Column) error { return a.Update(group, state) }

func (a *byAcc) State() ([]*columnar.Column, error) {
	return []*columnar.Column{refColumn(a.typ, a.val), refColumn(a.ordTyp, a.ord)}, nil
}

func (a *byAcc) Result() (*columnar.Column, error) { return refColumn(a.typ, a.val), nil }

func (a *byAcc) Reset() { a.val, a.ord = resetSlice(a.val), resetSlice(a.ord) }

// topBy keeps the k values with the least or greatest keys, in a heap whose root is the first to go. Which of equal keys
// stay, and in which order, is that of Spark's heap.
type topBy struct {
	typ, ord, pair *columnar.Type
	max            bool
	k              int
	top            [][]keyed
}

type keyed struct{ val, ord ref }

func (a *topBy) Grow(n int) { a.top = growTo(a.top, n) }

// worse tells whether x goes before y.
func (a *topBy) worse(x, y keyed) bool {
	d := x.ord.compare(y.ord)
	return d != 0 && d < 0 == a.max
}

func (a *topBy) add(g uint32, e keyed) {
	t := a.top[g]
	if len(t) < a.k {
		t = append(t, e)
		for i := len(t) - 1; i > 0 && a.worse(t[i], t[(i-1)/2]); i = (i - 1) / 2 {
			t[i], t[(i-1)/2] = t[(i-1)/2], t[i]
		}
		a.top[g] = t
		return
	}
	if !a.worse(t[0], e) {
		return
	}
	t[0] = e
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(t) {
			return
		}
		if c+1 < len(t) && a.worse(t[c+1], t[c]) {
			c++
		}
		if !a.worse(t[c], t[i]) {
			return
		}
		t[i], t[c] = t[c], t[i]
		i = c
	}
}

func (a *topBy) Update(group []uint32, args []*columnar.Column) error {
	for i, g := range group {
		if !args[1].IsNull(i) {
			a.add(g, keyed{ref{args[0], int32(i)}, ref{args[1], int32(i)}})
		}
	}
	return nil
}

func (a *topBy) Merge(group []uint32, state []*columnar.Column) error {
	c := state[0]
	kid := c.Children[0]
	for i, g := range group {
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			a.add(g, keyed{ref{kid.Children[0], j}, ref{kid.Children[1], j}})
		}
	}
	return nil
}

func (a *topBy) State() ([]*columnar.Column, error) {
	b := columnar.NewBuilder(columnar.ArrayOf(a.pair, false), len(a.top))
	p := b.Child(0)
	for _, t := range a.top {
		for _, e := range t {
			e.val.appendTo(p.Child(0))
			e.ord.appendTo(p.Child(1))
			p.AppendNested()
		}
		b.AppendNested()
	}
	return []*columnar.Column{b.Finish()}, nil
}

func (a *topBy) Result() (*columnar.Column, error) {
	b := columnar.NewBuilder(columnar.ArrayOf(a.typ, true), len(a.top))
	for _, t := range a.top {
		if len(t) == 0 {
			b.AppendNull()
			continue
		}
		best := slices.Clone(t)
		slices.SortStableFunc(best, func(x, y keyed) int {
			if d := x.ord.compare(y.ord); !a.max {
				return d
			} else {
				return -d
			}
		})
		for _, e := range best {
			e.val.appendTo(b.Child(0))
		}
		b.AppendNested()
	}
	return b.Finish(), nil
}

func (a *topBy) Reset() { a.top = resetSlice(a.top) }
