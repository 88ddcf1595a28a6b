package expr

import (
	"bytes"
	"math"

	"github.com/wstream/wstream/columnar"
)

func bindMinMax(max bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		t := args[0].Type()
		if err := b.orderingType(args, t); err != nil {
			return nil, err
		}
		return b.aggregate(args, t, true, []columnar.Field{field("value", t, true)}, func(*Context) Accumulator { return newExtreme(t, max) }), nil
	}
}

func newExtreme(t *columnar.Type, max bool) Accumulator {
	switch t.Kind {
	case columnar.KindInt8:
		return &intExtreme[int8]{typ: t, max: max, empty: extremeOf(max, int8(math.MinInt8), math.MaxInt8)}
	case columnar.KindInt16:
		return &intExtreme[int16]{typ: t, max: max, empty: extremeOf(max, int16(math.MinInt16), math.MaxInt16)}
	case columnar.KindInt32, columnar.KindDate, columnar.KindYearMonth:
		return &intExtreme[int32]{typ: t, max: max, empty: extremeOf(max, int32(math.MinInt32), math.MaxInt32)}
	case columnar.KindInt64, columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindTime, columnar.KindDayTime:
		return &intExtreme[int64]{typ: t, max: max, empty: extremeOf(max, int64(math.MinInt64), math.MaxInt64)}
	case columnar.KindFloat32:
		return &floatExtreme[float32]{typ: t, max: max}
	case columnar.KindFloat64:
		return &floatExtreme[float64]{typ: t, max: max}
	}
	return &rowExtreme{typ: t, max: max}
}

// extremeOf is the value that any other replaces.
func extremeOf[T any](max bool, lo, hi T) T {
	if max {
		return lo
	}
	return hi
}

// intExtreme is min or max of integer-like values.
type intExtreme[T interface {
	signed
	columnar.Value
}] struct {
	typ   *columnar.Type
	max   bool
	empty T
	val   []T
	seen  []bool
}

func (a *intExtreme[T]) Grow(n int) {
	old := len(a.val)
	a.val, a.seen = growTo(a.val, n), growTo(a.seen, n)
	for i := old; i < len(a.val); i++ {
		a.val[i] = a.empty
	}
}

func (a *intExtreme[T]) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	v := columnar.Values[T](c)[:len(group)]
	val, seen := a.val, a.seen
	switch {
	case c.Valid != nil:
		for i, g := range group {
			if c.Valid[i>>6]>>(uint(i)&63)&1 == 0 {
				continue
			}
			if x := v[i]; x > val[g] == a.max && x != val[g] {
				val[g] = x
			}
			seen[g] = true
		}
	case len(val) == 1:
		m := val[0]
		if a.max {
			for _, x := range v {
				m = max(m, x)
			}
		} else {
			for _, x := range v {
				m = min(m, x)
			}
		}
		val[0] = m
		seen[0] = seen[0] || len(v) > 0
	case a.max:
		for i, g := range group {
			val[g] = max(val[g], v[i])
			seen[g] = true
		}
	default:
		for i, g := range group {
			val[g] = min(val[g], v[i])
			seen[g] = true
		}
	}
	return nil
}

func (a *intExtreme[T]) Merge(group []uint32, state []*columnar.Column) error {
	return a.Update(group, state)
}

func (a *intExtreme[T]) State() ([]*columnar.Column, error) {
	c, err := a.Result()
	return []*columnar.Column{c}, err
}

func (a *intExtreme[T]) Result() (*columnar.Column, error) {
	return columnar.NewFixed(a.typ, copied(a.val), seenBitmap(a.seen)), nil
}

func (a *intExtreme[T]) Reset() { a.val, a.seen = a.val[:0], resetSlice(a.seen) }

// floatExtreme is min or max of floating values, NaN being the greatest.
type floatExtreme[T interface {
	floating
	columnar.Value
}] struct {
	typ  *columnar.Type
	max  bool
	val  []T
	seen []bool
}

func (a *floatExtreme[T]) Grow(n int) { a.val, a.seen = growTo(a.val, n), growTo(a.seen, n) }

func (a *floatExtreme[T]) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	v := columnar.Values[T](c)[:len(group)]
	for i, g := range group {
		if c.Valid != nil && c.Valid[i>>6]>>(uint(i)&63)&1 == 0 {
			continue
		}
		x, m := v[i], a.val[g]
		if !a.seen[g] {
			a.val[g], a.seen[g] = x, true
			continue
		}
		if a.max {
			if x > m || x != x {
				a.val[g] = x
			}
		} else if x < m || m != m {
			a.val[g] = x
		}
	}
	return nil
}

func (a *floatExtreme[T]) Merge(group []uint32, state []*columnar.Column) error {
	return a.Update(group, state)
}

func (a *floatExtreme[T]) State() ([]*columnar.Column, error) {
	c, err := a.Result()
	return []*columnar.Column{c}, err
}

func (a *floatExtreme[T]) Result() (*columnar.Column, error) {
	return columnar.NewFixed(a.typ, copied(a.val), seenBitmap(a.seen)), nil
}

func (a *floatExtreme[T]) Reset() { a.val, a.seen = resetSlice(a.val), resetSlice(a.seen) }

// ref is a value by its place in a column; a nil column is no value.
type ref struct {
	col *columnar.Column
	row int32
}

func (r ref) compare(o ref) int { return compareAt(r.col, int(r.row), o.col, int(o.row)) }

// appendTo adds the value, or null, to a builder.
func (r ref) appendTo(b *columnar.Builder) {
	if r.col == nil {
		b.AppendNull()
		return
	}
	b.AppendFrom(r.col, int(r.row))
}

// refColumn makes a column of values, null where there is none.
func refColumn(t *columnar.Type, refs []ref) *columnar.Column {
	b := columnar.NewBuilder(t, len(refs))
	for _, r := range refs {
		r.appendTo(b)
	}
	return b.Finish()
}

// rowExtreme is min or max of strings and all other types that have an order.
type rowExtreme struct {
	typ *columnar.Type
	max bool
	val []ref
}

func (a *rowExtreme) Grow(n int) { a.val = growTo(a.val, n) }

func (a *rowExtreme) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	text := c.Type.HasBytes() && c.Type.Collation == ""
	for i, g := range group {
		if c.IsNull(i) {
			continue
		}
		best, now := &a.val[g], ref{c, int32(i)}
		if best.col != nil {
			var d int
			if text {
				d = bytes.Compare(c.BytesAt(i), best.col.BytesAt(int(best.row)))
			} else {
				d = now.compare(*best)
			}
			if d == 0 || d > 0 != a.max {
				continue
			}
		}
		*best = now
	}
	return nil
}

func (a *rowExtreme) Merge(group []uint32, state []*columnar.Column) error {
	return a.Update(group, state)
}

func (a *rowExtreme) State() ([]*columnar.Column, error) {
	c, err := a.Result()
	return []*columnar.Column{c}, err
}

func (a *rowExtreme) Result() (*columnar.Column, error) { return refColumn(a.typ, a.val), nil }

func (a *rowExtreme) Reset() { a.val = resetSlice(a.val) }
