package expr

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

func negativeFrequency(n int64) error {
	return sparkerr.New("_LEGACY_ERROR_TEMP_2013", "negative values found in frequency: %d", n)
}

// orderError is the error of a function that needs exactly one key in WITHIN GROUP.
func (b *Binder) orderError(got int) error {
	if got == 0 {
		return sparkerr.New("INVALID_WITHIN_GROUP_EXPRESSION.WITHIN_GROUP_MISSING", "invalid function `%s` with WITHIN GROUP; WITHIN GROUP is required for inverse distribution function", b.name())
	}
	return sparkerr.New("INVALID_WITHIN_GROUP_EXPRESSION.WRONG_NUM_ARGS", "invalid function `%s` with WITHIN GROUP; it requires 1 orderings in WITHIN GROUP but got %d", b.name(), got)
}

func bindMode(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 0, 2); err != nil {
		return nil, err
	}
	var v Expr
	pick := 0 // of equally frequent values: the one that Spark comes upon first, the least, the greatest
	text := ""
	switch {
	case len(args) == 0:
		if len(b.Call.Order) != 1 {
			return nil, b.orderError(len(b.Call.Order))
		}
		k := b.Call.Order[0]
		b.Call.Order = nil
		v, pick = k.Expr, 1
		text = "mode() WITHIN GROUP (ORDER BY " + v.SQL() + " DESC)"
		if k.Desc {
			pick = 2
			text = "mode() WITHIN GROUP (ORDER BY " + v.SQL() + ")"
		}
	default:
		v = args[0]
		text = sqlCall("mode", args[:1])
		if len(args) == 2 {
			f, err := b.flag(args[1])
			if err != nil {
				return nil, err
			}
			if f {
				pick = 1
				text = "mode() WITHIN GROUP (ORDER BY " + v.SQL() + " DESC)"
			}
		}
	}
	t := v.Type()
	if hasMap(t) {
		return nil, mismatch("UNSUPPORTED_INPUT_TYPE", text, "the input of `mode` can't be \"MAP\" type data")
	}
	arr := columnar.ArrayOf(t, false)
	a := b.aggregate([]Expr{v}, t, true, []columnar.Field{field("values", arr, false), field("counts", columnar.ArrayOf(columnar.Int64, false), false)},
		func(*Context) Accumulator { return &modeAcc{typ: t, pick: pick} })
	a.text = func([]Expr, bool) string { return text }
	return a, nil
}

// modeAcc counts the different values of each group.
type modeAcc struct {
	typ   *columnar.Type
	pick  int
	list  chains
	vals  *columnar.Builder
	n     []int64
	known map[string]int32
	key   []byte
}

func (a *modeAcc) Grow(n int) {
	a.list.grow(n)
	if a.vals == nil {
		a.vals, a.known = columnar.NewBuilder(a.typ, n), map[string]int32{}
	}
}

func (a *modeAcc) add(g uint32, c *columnar.Column, i int, n int64) {
	a.key = binary.LittleEndian.AppendUint32(a.key[:0], g)
	a.key = columnar.AppendValue(a.key, c, i, true)
	k, ok := a.known[string(a.key)]
	if !ok {
		k = int32(len(a.n))
		a.known[string(a.key)] = k
		a.list.push(g)
		if c.Type.IsFloating() {
			a.vals.AppendFloat(columnar.NormalizeFloat(floatAt(c, i)))
		} else {
			a.vals.AppendFrom(c, i)
		}
		a.n = append(a.n, 0)
	}
	a.n[k] += n
}

func (a *modeAcc) Update(group []uint32, args []*columnar.Column) error {
	for i, g := range group {
		if !args[0].IsNull(i) {
			a.add(g, args[0], i, 1)
		}
	}
	return nil
}

func (a *modeAcc) Merge(group []uint32, state []*columnar.Column) error {
	v, n := state[0], state[1]
	ns := columnar.Values[int64](n.Children[0])
	for i, g := range group {
		for j := int32(0); j < v.Offsets[i+1]-v.Offsets[i]; j++ {
			a.add(g, v.Children[0], int(v.Offsets[i]+j), ns[n.Offsets[i]+j])
		}
	}
	return nil
}

// all gives the values so far without losing them.
func (a *modeAcc) all() *columnar.Column {
	c := a.vals.Finish()
	for i := 0; i < c.Len; i++ {
		a.vals.AppendFrom(c, i)
	}
	return c
}

func (a *modeAcc) State() ([]*columnar.Column, error) {
	idx, off := a.list.each()
	ns := make([]int64, len(idx))
	for i, k := range idx {
		ns[i] = a.n[k]
	}
	v := &columnar.Column{Type: columnar.ArrayOf(a.typ, false), Len: len(off) - 1, Offsets: off, Children: []*columnar.Column{columnar.Take(a.all(), idx)}}
	n := &columnar.Column{Type: columnar.ArrayOf(columnar.Int64, false), Len: len(off) - 1, Offsets: off, Children: []*columnar.Column{columnar.NewFixed(columnar.Int64, ns, nil)}}
	return []*columnar.Column{v, n}, nil
}

func (a *modeAcc) Result() (*columnar.Column, error) {
	c := a.all()
	idx, off := a.list.each()
	out := make([]int32, len(off)-1)
	for g := range out {
		best := int32(-1)
		if a.pick == 0 {
			best = a.firstOfMost(c, idx[off[g]:off[g+1]])
			out[g] = best
			continue
		}
		for _, k := range idx[off[g]:off[g+1]] {
			switch {
			case best < 0 || a.n[k] > a.n[best]:
				best = k
			case a.n[k] == a.n[best]:
				if d := compareAt(c, int(k), c, int(best)); d != 0 && d < 0 == (a.pick == 1) {
					best = k
				}
			}
		}
		out[g] = best
	}
	return columnar.Take(c, out), nil
}

// firstOfMost is the most frequent of the values at some positions, of several the one that Spark finds first; -1 for none.
func (a *modeAcc) firstOfMost(c *columnar.Column, at []int32) int32 {
	best, ties := int32(-1), false
	for _, k := range at {
		switch {
		case best < 0 || a.n[k] > a.n[best]:
			best, ties = k, false
		case a.n[k] == a.n[best]:
			ties = true
		}
	}
	if !ties {
		return best
	}
	pos, ok := hashOrder(c, at)
	if !ok {
		return best
	}
	most, first := a.n[best], int32(math.MaxInt32)
	for i, k := range at {
		if a.n[k] == most && pos[i] < first {
			best, first = k, pos[i]
		}
	}
	return best
}

func (a *modeAcc) Reset() {
	a.list.reset()
	clear(a.known)
	a.n = a.n[:0]
	if a.vals != nil {
		a.vals.Finish()
	}
}

func bindHistogram(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	in := oneOf(isNumeric, isDate, isTimestamp, isNTZ, isYearMonth, isDayTime)
	out, err := b.coerce(args, in, isInt)
	if err != nil {
		return nil, err
	}
	v, ok, err := b.foldable(out[1])
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, nonFoldable(b.sql(args), "nb", args[1])
	}
	n, is := v.(int32)
	if !is {
		return nil, mismatch("UNEXPECTED_NULL", b.sql(args), "the nb must not be null")
	}
	if n < 2 {
		return nil, mismatch("VALUE_OUT_OF_RANGE", b.sql(args), "the nb must be between 2 and %d (current value = %d)", math.MaxInt32, n)
	}
	t := out[0].Type()
	bin := columnar.StructOf(field("x", t, true), field("y", columnar.Float64, true))
	rt := columnar.ArrayOf(bin, true)
	fs := columnar.ArrayOf(columnar.Float64, false)
	a := b.aggregate(out[:1:1], rt, true, []columnar.Field{field("x", fs, false), field("y", fs, false)}, func(*Context) Accumulator {
		return &histogramAcc{in: t, typ: rt, bins: int(n)}
	})
	return withText(a, "histogram_numeric", args), nil
}

// histogramAcc keeps a histogram per group: bins of a centre and a weight, where the two nearest
// are joined when there are too many.
type histogramAcc struct {
	in, typ *columnar.Type
	bins    int
	h       [][]bin
}

type bin struct{ x, y float64 }

func (a *histogramAcc) Grow(n int) { a.h = growTo(a.h, n) }

func (a *histogramAcc) add(g uint32, x, y float64) {
	h := a.h[g]
	i := sort.Search(len(h), func(i int) bool { return cmpFloat(h[i].x, x) >= 0 })
	if i < len(h) && h[i].x == x {
		h[i].y += y
		return
	}
	h = append(h, bin{})
	copy(h[i+1:], h[i:])
	h[i] = bin{x, y}
	if len(h) > a.bins {
		// Of equally near pairs the first is joined.
		at, least := 0, math.Inf(1)
		for k := 0; k+1 < len(h); k++ {
			if d := h[k+1].x - h[k].x; d < least {
				at, least = k, d
			}
		}
		d := h[at].y + h[at+1].y
		h[at].x = h[at].x*(h[at].y/d) + h[at+1].x*(h[at+1].y/d)
		h[at].y = d
		h = append(h[:at+1], h[at+2:]...)
	}
	a.h[g] = h
}

func (a *histogramAcc) Update(group []uint32, args []*columnar.Column) error {
	for i, g := range group {
		if !args[0].IsNull(i) {
			a.add(g, numberAt(args[0], i), 1)
		}
	}
	return nil
}

func (a *histogramAcc) Merge(group []uint32, state []*columnar.Column) error {
	x, y := state[0], state[1]
	xs, ys := columnar.Values[float64](x.Children[0]), columnar.Values[float64](y.Children[0])
	for i, g := range group {
		for j := int32(0); j < x.Offsets[i+1]-x.Offsets[i]; j++ {
			a.add(g, xs[x.Offsets[i]+j], ys[y.Offsets[i]+j])
		}
	}
	return nil
}

func (a *histogramAcc) State() ([]*columnar.Column, error) {
	fs := columnar.ArrayOf(columnar.Float64, false)
	x, y := columnar.NewBuilder(fs, len(a.h)), columnar.NewBuilder(fs, len(a.h))
	for _, h := range a.h {
		for _, b := range h {
			x.Child(0).AppendFloat(b.x)
			y.Child(0).AppendFloat(b.y)
		}
		x.AppendNested()
		y.AppendNested()
	}
	return []*columnar.Column{x.Finish(), y.Finish()}, nil
}

func (a *histogramAcc) Result() (*columnar.Column, error) {
	b := columnar.NewBuilder(a.typ, len(a.h))
	for _, h := range a.h {
		if len(h) == 0 {
			b.AppendNull()
			continue
		}
		s := b.Child(0)
		for _, e := range h {
			appendNumber(s.Child(0), a.in, e.x)
			s.Child(1).AppendFloat(e.y)
			s.AppendNested()
		}
		b.AppendNested()
	}
	return b.Finish(), nil
}

func (a *histogramAcc) Reset() { a.h = resetSlice(a.h) }
