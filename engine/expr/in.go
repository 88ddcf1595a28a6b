package expr

import (
	"strings"

	"github.com/wstream/wstream/columnar"
)

// inList is x IN (list…) over a list that may hold anything.
type inList struct {
	x    Expr
	list []Expr
}

func inSQL(x Expr, list []Expr) string {
	s := make([]string, len(list))
	for i, e := range list {
		s[i] = e.SQL()
	}
	return "(" + x.SQL() + " IN (" + strings.Join(s, ", ") + "))"
}

func (b *Binder) in(x Expr, list []Expr) (Expr, error) {
	sql := inSQL(x, list)
	all := append([]Expr{x}, list...)
	out, t := b.toCommon(all, b.wider)
	if t == nil {
		return nil, diffTypes("DATA_DIFF_TYPES", sql, "in", all)
	}
	if hasMap(t) {
		return nil, mismatch("INVALID_ORDERING_TYPE", sql, "the `in` does not support ordering on type \"%s\"", t.SQL())
	}
	return &inList{out[0], out[1:]}, nil
}

func (e *inList) Type() *columnar.Type       { return columnar.Bool }
func (e *inList) Nullable() bool             { return e.x.Nullable() || anyNullable(e.list) }
func (e *inList) Children() []Expr           { return append([]Expr{e.x}, e.list...) }
func (e *inList) WithChildren(c []Expr) Expr { return &inList{c[0], c[1:]} }
func (e *inList) SQL() string                { return inSQL(e.x, e.list) }
func (e *inList) harmless() bool             { return true }

// Eval: constants are looked up in a set; other items are compared one after the other.
func (e *inList) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 {
		return columnar.NewEmpty(columnar.Bool), nil
	}
	x, err := eval(ctx, e.x, in)
	if err != nil {
		return nil, err
	}
	if x.allNull() {
		return columnar.NewNull(columnar.Bool, n), nil
	}
	hit := columnar.NewBitmap(n)
	unknown := columnar.NewBitmap(n) // rows where a comparison with null was made
	var constants []vec
	for _, item := range e.list {
		if isConst(item) {
			v, err := eval(ctx, item, in)
			if err != nil {
				// It fails only for a row that equals none of the items before it.
				if len(constants) > 0 {
					inConstants(hit, unknown, x, constants, n)
					constants = nil
				}
				if open := validBits(x, n); allHit(open, hit) {
					break
				}
				return nil, err
			}
			constants = append(constants, v)
			continue
		}
		// Rows that are found already do not evaluate the item.
		left := make(columnar.Bitmap, len(hit))
		for i := range left {
			left[i] = ^hit[i]
		}
		left.MaskTail(n)
		k := left.Count(n)
		if k == 0 {
			break
		}
		harm := isHarmless(item)
		var v vec
		if harm {
			v, err = eval(ctx, item, in)
		} else {
			v, err = evalSelected(ctx, item, in, left, k)
			if err == nil && k < n {
				v = vec{scatterRows(v.full(k), left, n), false}
			}
		}
		if err != nil {
			return nil, err
		}
		eq, ok := columnar.NewBitmap(n), validBits(v, n)
		if !v.allNull() {
			eq = compareBits(opEq, x, v, n)
		}
		for i := range hit {
			hit[i] |= eq[i] & ok[i]
			unknown[i] |= ^ok[i]
		}
	}
	if len(constants) > 0 {
		inConstants(hit, unknown, x, constants, n)
	}
	valid := validBits(x, n)
	for i := range valid {
		hit[i] &= valid[i]
		valid[i] &= hit[i] | ^unknown[i]
	}
	return columnar.NewBools(n, hit, validOrNil(valid, n)), nil
}

// allHit tells whether every row of rows is in hit.
func allHit(rows, hit columnar.Bitmap) bool {
	for i := range rows {
		if rows[i]&^hit[i] != 0 {
			return false
		}
	}
	return true
}

// scatterRows spreads the rows of c over the positions set in sel; the others become null.
func scatterRows(c *columnar.Column, sel columnar.Bitmap, n int) *columnar.Column {
	idx := make([]int32, n)
	k := int32(0)
	for i := range idx {
		idx[i] = -1
		if sel.Get(i) {
			idx[i] = k
			k++
		}
	}
	return columnar.Take(c, idx)
}

// inConstants sets hit where x equals one of the constants.
func inConstants(hit, unknown columnar.Bitmap, x vec, constants []vec, n int) {
	var values []vec
	for _, c := range constants {
		if c.allNull() {
			for i := range unknown {
				unknown[i] = ^uint64(0)
			}
			continue
		}
		values = append(values, c)
	}
	if len(values) == 0 {
		return
	}
	switch {
	case len(values) > 8 && x.Type.Kind == columnar.KindString && x.Type.Collation == "" && !x.con:
		set := make(map[string]struct{}, len(values))
		for _, v := range values {
			set[string(v.BytesAt(0))] = struct{}{}
		}
		for i := 0; i < n; i++ {
			if _, ok := set[x.StringAt(i)]; ok && !x.IsNull(i) {
				hit.Set(i)
			}
		}
	case len(values) > 8 && x.Type.Width() == 8 && !x.Type.IsFloating() && !x.con:
		inSet[int64](hit, x, values)
	case len(values) > 8 && x.Type.Width() == 4 && !x.Type.IsFloating() && !x.con:
		inSet[int32](hit, x, values)
	default:
		for _, v := range values {
			eq := compareBits(opEq, x, v, n)
			for i := range hit {
				hit[i] |= eq[i]
			}
		}
	}
}

func inSet[T interface {
	comparable
	columnar.Value
}](hit columnar.Bitmap, x vec, values []vec) {
	set := make(map[T]struct{}, len(values))
	for _, v := range values {
		set[constValue[T](v)] = struct{}{}
	}
	for i, v := range columnar.Values[T](x.Column) {
		if _, ok := set[v]; ok {
			hit.Set(i)
		}
	}
}
