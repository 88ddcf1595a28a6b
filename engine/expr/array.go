package expr

import (
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// gather makes an array column out of elements idx of a child column, row r having idx[offsets[r]:offsets[r+1]].
func gather(typ *columnar.Type, elem *columnar.Column, offsets, idx []int32, valid columnar.Bitmap) *columnar.Column {
	return &columnar.Column{Type: typ, Len: len(offsets) - 1, Valid: valid, Offsets: offsets, Children: []*columnar.Column{columnar.Take(elem, idx)}}
}

// lists builds offsets and element indices row by row.
type lists struct {
	offsets, idx []int32
	valid        columnar.Bitmap
	n            int
}

func newLists(n int) *lists { return &lists{offsets: make([]int32, 1, n+1), n: n} }

// end closes a row.
func (l *lists) end() { l.offsets = append(l.offsets, int32(len(l.idx))) }

// endNull closes a row that is null.
func (l *lists) endNull() {
	if l.valid == nil {
		l.valid = columnar.NewBitmapSet(l.n)
	}
	l.valid.Clear(len(l.offsets) - 1)
	l.end()
}

func (l *lists) column(typ *columnar.Type, elem *columnar.Column) *columnar.Column {
	return gather(typ, elem, l.offsets, l.idx, l.valid)
}

// span is the elements of row i of an array or map operand.
func (v vec) span(i int) (lo, hi int32) {
	r := v.row(i)
	return v.Offsets[r], v.Offsets[r+1]
}

// createArray binds array(…).
func createArray(b *Binder, args []Expr) (Expr, error) {
	out, t := b.toCommon(args, b.wider)
	if t == nil {
		return nil, diffTypes("DATA_DIFF_TYPES", b.sql(args), "array", args)
	}
	return NewArray(t, out...), nil
}

// NewArray is an array of expressions that have one type.
func NewArray(elem *columnar.Type, items ...Expr) Expr {
	typ := columnar.ArrayOf(elem, anyNullable(items))
	return &call{name: "array", args: items, typ: typ, nulls: true, safe: true, kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		off := make([]int32, n+1)
		if len(a) == 0 {
			return &columnar.Column{Type: typ, Len: n, Offsets: off, Children: []*columnar.Column{columnar.NewEmpty(elem)}}, nil
		}
		return gatherRows(typ, elem, a, n), nil
	}}
}

// gatherRows interleaves operands: row i of the result has the i-th value of each.
func gatherRows(typ, elem *columnar.Type, a []vec, n int) *columnar.Column {
	parts := make([]*columnar.Column, len(a))
	base := make([]int32, len(a))
	at := int32(0)
	for k, v := range a {
		parts[k] = v.Column.WithType(elem)
		if v.Type.Kind == columnar.KindNull && elem.Kind != columnar.KindNull {
			parts[k] = columnar.NewNull(elem, v.Len)
		}
		base[k] = at
		at += int32(v.Len)
	}
	idx, off := make([]int32, 0, n*len(a)), make([]int32, n+1)
	for i := 0; i < n; i++ {
		for k, v := range a {
			idx = append(idx, base[k]+int32(v.row(i)))
		}
		off[i+1] = int32(len(idx))
	}
	return gather(typ, columnar.Concat(parts), off, idx, nil)
}

// arrayAndValue coerces an array and a value to be looked for or added.
func (b *Binder) arrayAndValue(args []Expr, arr, val int, nullValue bool) ([]Expr, error) {
	sql := b.sql(args)
	x, y := args[arr].Type(), args[val].Type()
	untyped := y.Kind == columnar.KindNull && (b.name() == "array_contains" || x.Kind != columnar.KindArray || x.Elem.Kind == columnar.KindNull && b.name() != "array_remove")
	if !nullValue && (x.Kind == columnar.KindNull || untyped) && b.name() != "array_remove" {
		return nil, mismatch("NULL_TYPE", sql, "null typed values cannot be used as arguments of `%s`", b.name())
	}
	switch {
	case x.Kind == columnar.KindArray:
	case b.name() != "array_remove":
		return nil, unexpectedInput(sql, arr, `"ARRAY"`, args[arr])
	default:
		return nil, mismatch("ARRAY_FUNCTION_DIFF_TYPES", sql, "input to `%s` should have been \"ARRAY\" followed by a value with same element type, but it's [\"%s\", \"%s\"]", b.name(), x.SQL(), y.SQL())
	}
	two := b.tightestLegacy
	if b.name() == "array_contains" {
		two = b.widerNoStrings
	}
	t := two(x.Elem, y)
	if t == nil {
		return nil, mismatch("ARRAY_FUNCTION_DIFF_TYPES", sql, "input to `%s` should have been \"ARRAY\" followed by a value with same element type, but it's [\"%s\", \"%s\"]", b.name(), x.SQL(), y.SQL())
	}
	out := append([]Expr(nil), args...)
	out[arr] = b.implicit(args[arr], columnar.ArrayOf(t, x.ElemNullable))
	out[val] = b.implicit(args[val], t)
	return out, nil
}

// equalAt tells whether element j of the array operand equals row i of the value operand; neither is null.
func equalAt(elems *columnar.Column, j int, v vec, i int) bool {
	return compareAt(elems, j, v.Column, v.row(i)) == 0
}

func bindArrayContains(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	args, err := b.arrayAndValue(args, 0, 1, false)
	if err != nil {
		return nil, err
	}
	if err := b.orderingType(args, args[1].Type()); err != nil {
		return nil, err
	}
	nullFn := func(a []Expr) bool { return anyNullable(a) || a[0].Type().ElemNullable }
	e := simple("array_contains", args, columnar.Bool, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		elems := a[0].Children[0]
		wide := elems.Type.Kind == columnar.KindInt64 && elems.Valid == nil
		out := bools(a, n, func(i int) bool {
			lo, hi := a[0].span(i)
			if wide {
				return slices.Contains(columnar.Values[int64](elems)[lo:hi], columnar.Values[int64](a[1].Column)[a[1].row(i)])
			}
			for j := lo; j < hi; j++ {
				if !elems.IsNull(int(j)) && equalAt(elems, int(j), a[1], i) {
					return true
				}
			}
			return false
		})
		if elems.NullCount() > 0 {
			ownValid(out)
			for i := 0; i < n; i++ {
				if out.IsNull(i) || out.Bits.Get(i) {
					continue
				}
				lo, hi := a[0].span(i)
				for j := lo; j < hi; j++ {
					if elems.IsNull(int(j)) {
						clearValid(out, i)
						break
					}
				}
			}
		}
		return out, nil
	})
	e.null, e.nullFn, e.safe = nullFn(args), nullFn, true
	return e, nil
}

func bindArrayPosition(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	args, err := b.arrayAndValue(args, 0, 1, false)
	if err != nil {
		return nil, err
	}
	if err := b.orderingType(args, args[1].Type()); err != nil {
		return nil, err
	}
	return simple("array_position", args, columnar.Int64, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		elems := a[0].Children[0]
		return rows(columnar.Int64, a, n, func(out *columnar.Builder, i int) error {
			lo, hi := a[0].span(i)
			for j := lo; j < hi; j++ {
				if !elems.IsNull(int(j)) && equalAt(elems, int(j), a[1], i) {
					out.AppendInt(int64(j - lo + 1))
					return nil
				}
			}
			out.AppendInt(0)
			return nil
		})
	}), nil
}

func bindArrayRemove(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	args, err := b.arrayAndValue(args, 0, 1, false)
	if err != nil {
		return nil, err
	}
	if err := b.orderingType(args, args[1].Type()); err != nil {
		return nil, err
	}
	typ := args[0].Type()
	return simple("array_remove", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return filterElements(typ, a, n, func(elems *columnar.Column, i int, j int32) bool {
			return elems.IsNull(int(j)) || !equalAt(elems, int(j), a[1], i)
		}), nil
	}), nil
}

// filterElements keeps the elements of the first operand that keep accepts.
func filterElements(typ *columnar.Type, a []vec, n int, keep func(elems *columnar.Column, i int, j int32) bool) *columnar.Column {
	l := newLists(n)
	valid := validOf(a...)
	elems := a[0].Children[0]
	for i := 0; i < n; i++ {
		if valid != nil && !valid.Get(i) {
			l.endNull()
			continue
		}
		lo, hi := a[0].span(i)
		for j := lo; j < hi; j++ {
			if keep(elems, i, j) {
				l.idx = append(l.idx, j)
			}
		}
		l.end()
	}
	return l.column(typ, elems)
}

// bindArrayAdd binds array_append and array_prepend.
func bindArrayAdd(front bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 2, 2); err != nil {
			return nil, err
		}
		args, err := b.arrayAndValue(args, 0, 1, true)
		if err != nil {
			return nil, err
		}
		typ := columnar.ArrayOf(args[0].Type().Elem, true)
		return &call{
			name: b.name(), args: args, typ: typ, null: args[0].Nullable(), nullFn: func(a []Expr) bool { return a[0].Nullable() }, nulls: true, safe: true,
			kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
				elems := columnar.Concat([]*columnar.Column{a[0].Children[0], a[1].Column.WithType(typ.Elem)})
				base := int32(a[0].Children[0].Len)
				l := newLists(n)
				for i := 0; i < n; i++ {
					if a[0].null(i) {
						l.endNull()
						continue
					}
					if front {
						l.idx = append(l.idx, base+int32(a[1].row(i)))
					}
					lo, hi := a[0].span(i)
					for j := lo; j < hi; j++ {
						l.idx = append(l.idx, j)
					}
					if !front {
						l.idx = append(l.idx, base+int32(a[1].row(i)))
					}
					l.end()
				}
				return l.column(typ, elems), nil
			},
		}, nil
	}
}

func bindArrayInsert(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 3, 3); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	x, y := args[0].Type(), args[2].Type()
	diff := func() error {
		return mismatch("ARRAY_FUNCTION_DIFF_TYPES", sql, "input to `array_insert` should have been \"ARRAY\" followed by a value with same element type, but it's [\"%s\", \"%s\"]", x.SQL(), y.SQL())
	}
	if x.Kind != columnar.KindArray {
		return nil, diff()
	}
	t := b.tightestLegacy(x.Elem, y)
	if t == nil {
		return nil, diff()
	}
	switch args[1].Type().Kind {
	case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32:
	default:
		return nil, unexpectedInput(sql, 1, `"INT"`, args[1])
	}
	args = []Expr{b.implicit(args[0], columnar.ArrayOf(t, x.ElemNullable)), b.implicit(args[1], columnar.Int32), b.implicit(args[2], t)}
	typ := columnar.ArrayOf(t, true)
	nullFn := func(a []Expr) bool { return a[0].Nullable() || a[1].Nullable() }
	return &call{
		name: "array_insert", args: args, typ: typ, null: nullFn(args), nullFn: nullFn, nulls: true,
		kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			elems := columnar.Concat([]*columnar.Column{a[0].Children[0], a[2].Column.WithType(t)})
			base := int32(a[0].Children[0].Len)
			l := newLists(n)
			for i := 0; i < n; i++ {
				if a[0].null(i) || a[1].null(i) {
					l.endNull()
					continue
				}
				pos := int(columnar.Values[int32](a[1].Column)[a[1].row(i)])
				if pos == 0 {
					return nil, zeroIndex()
				}
				lo, hi := a[0].span(i)
				size := int(hi - lo)
				at := pos - 1 // where the value goes, counted in the result
				total := max(size+1, pos)
				lead := 0 // elements of the array move right by so many
				if pos < 0 {
					at = size + 1 + pos
					if at < 0 {
						lead = -at
						total = size + 1 + lead
						at = 0
					} else {
						total = size + 1
					}
				}
				if total > maxArraySize {
					return nil, arrayTooLong(int64(total), "array_insert")
				}
				next := lo
				for k := 0; k < total; k++ {
					switch {
					case k == at:
						l.idx = append(l.idx, base+int32(a[2].row(i)))
					case lead > 0 && k <= lead:
						l.idx = append(l.idx, -1)
					case next < hi:
						l.idx = append(l.idx, next)
						next++
					default:
						l.idx = append(l.idx, -1)
					}
				}
				l.end()
			}
			return l.column(typ, elems), nil
		},
	}, nil
}

// maxArraySize is the most elements an array may have.
const maxArraySize = 2147483632

// maxBatchElements is the most elements that functions make of the rows of one batch.
const maxBatchElements = 1 << 26

func arrayTooLong(n int64, fn string) error {
	return sparkerr.New("COLLECTION_SIZE_LIMIT_EXCEEDED.FUNCTION", "can't create array with %d elements which exceeding the array size limit %d; unsuccessful try to create arrays in the function `%s`", n, maxArraySize, fn)
}

func zeroIndex() error {
	return sparkerr.New("INVALID_INDEX_OF_ZERO", "the index 0 is invalid; an index shall be either < 0 or > 0 (the first element has index 1)")
}

// elementKey encodes an element so that equal values have equal keys.
func elementKey(buf []byte, c *columnar.Column, j int) []byte {
	return columnar.AppendValue(buf, c, j, true)
}

func bindArrayDistinct(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	args, err := b.expect(args, isArray)
	if err != nil {
		return nil, err
	}
	typ := args[0].Type()
	if err := b.orderingType(args, typ.Elem); err != nil && noMapKey(typ.Elem) {
		return nil, err
	}
	return simple("array_distinct", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		s := elementSet{}
		out := filterElements(typ, a, n, func(elems *columnar.Column, i int, j int32) bool {
			lo, _ := a[0].span(i)
			if j == lo {
				s.clear()
			}
			return s.add(elems, int(j))
		})
		normalizeFloats(out)
		return out, nil
	}), nil
}

// elementSet knows the elements that were added.
type elementSet struct {
	known map[string]struct{}
	buf   []byte
	few   []uint64 // the elements while they are few numbers; known has those beyond
}

// fewElements is how many numbers are looked through one by one.
const fewElements = 16

func (s *elementSet) clear() {
	if len(s.known) > 0 {
		clear(s.known)
	}
	s.few = s.few[:0]
}

// bitsOf is an element that is a number of at most 64 bits and equal only where its bits are.
func bitsOf(c *columnar.Column, j int) (uint64, bool) {
	if c.Valid != nil && !c.Valid.Get(j) {
		return 0, false
	}
	switch c.Type.Kind {
	case columnar.KindInt64, columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindTime, columnar.KindDayTime:
		return columnar.Values[uint64](c)[j], true
	case columnar.KindInt32, columnar.KindDate, columnar.KindYearMonth:
		return uint64(columnar.Values[uint32](c)[j]), true
	}
	return 0, false
}

func (s *elementSet) has(c *columnar.Column, j int) bool {
	if b, ok := bitsOf(c, j); ok && slices.Contains(s.few, b) {
		return true
	}
	if len(s.known) == 0 {
		return false
	}
	s.buf = elementKey(s.buf[:0], c, j)
	_, ok := s.known[string(s.buf)]
	return ok
}

// add puts an element in and tells whether it was new.
func (s *elementSet) add(c *columnar.Column, j int) bool {
	if s.has(c, j) {
		return false
	}
	if b, ok := bitsOf(c, j); ok && len(s.few) < fewElements {
		s.few = append(s.few, b)
		return true
	}
	if s.known == nil {
		s.known = map[string]struct{}{}
	}
	s.buf = elementKey(s.buf[:0], c, j)
	s.known[string(s.buf)] = struct{}{}
	return true
}

// normalizeFloats makes -0.0 to 0.0 in the elements of a fresh array column, as set functions do.
func normalizeFloats(c *columnar.Column) {
	k := c.Children[0]
	switch k.Type.Kind {
	case columnar.KindFloat64:
		v := columnar.Values[float64](k)
		for i, x := range v {
			if x == 0 {
				v[i] = 0
			}
		}
	case columnar.KindFloat32:
		v := columnar.Values[float32](k)
		for i, x := range v {
			if x == 0 {
				v[i] = 0
			}
		}
	}
}

// twoArrays coerces two arrays to one element type.
func (b *Binder) twoArrays(args []Expr) ([]Expr, *columnar.Type, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, nil, err
	}
	sql := b.sql(args)
	x, y := args[0].Type(), args[1].Type()
	diff := func() error {
		return mismatch("BINARY_ARRAY_DIFF_TYPES", sql, "input to function `%s` should have been two \"ARRAY\" with same element type, but it's [\"%s\", \"%s\"]", b.name(), x.SQL(), y.SQL())
	}
	if x.Kind != columnar.KindArray || y.Kind != columnar.KindArray {
		return nil, nil, diff()
	}
	t := b.tightestLegacy(x.Elem, y.Elem)
	if t == nil {
		return nil, nil, diff()
	}
	if hasMap(t) || !isOrderable(t) {
		return nil, nil, mismatch("INVALID_ORDERING_TYPE", sql, "the `%s` does not support ordering on type \"%s\"", b.name(), t.SQL())
	}
	return []Expr{b.implicit(args[0], columnar.ArrayOf(t, x.ElemNullable)), b.implicit(args[1], columnar.ArrayOf(t, y.ElemNullable))}, t, nil
}

// bindArraySet binds array_union, array_intersect and array_except.
func bindArraySet(op string) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		args, t, err := b.twoArrays(args)
		if err != nil {
			return nil, err
		}
		x, y := args[0].Type().ElemNullable, args[1].Type().ElemNullable
		nullable := x || y
		switch op {
		case "intersect":
			nullable = x && y
		case "except":
			nullable = x
		}
		typ := columnar.ArrayOf(t, nullable)
		return simple("array_"+op, args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			valid := validOf(a...)
			l := newLists(n)
			first, second := a[0].Children[0], a[1].Children[0]
			base := int32(first.Len)
			var seen, other elementSet
			for i := 0; i < n; i++ {
				if valid != nil && !valid.Get(i) {
					l.endNull()
					continue
				}
				seen.clear()
				lo, hi := a[0].span(i)
				lo2, hi2 := a[1].span(i)
				if op != "union" {
					other.clear()
					for j := lo2; j < hi2; j++ {
						other.add(second, int(j))
					}
				}
				for j := lo; j < hi; j++ {
					if op != "union" && other.has(first, int(j)) != (op == "intersect") {
						continue
					}
					if seen.add(first, int(j)) {
						l.idx = append(l.idx, j)
					}
				}
				if op == "union" {
					for j := lo2; j < hi2; j++ {
						if seen.add(second, int(j)) {
							l.idx = append(l.idx, base+j)
						}
					}
				}
				l.end()
			}
			out := l.column(typ, columnar.Concat([]*columnar.Column{first.WithType(t), second.WithType(t)}))
			normalizeFloats(out)
			return out, nil
		}), nil
	}
}

func bindArraysOverlap(b *Binder, args []Expr) (Expr, error) {
	args, _, err := b.twoArrays(args)
	if err != nil {
		return nil, err
	}
	nullFn := func(a []Expr) bool {
		return anyNullable(a) || a[0].Type().ElemNullable || a[1].Type().ElemNullable
	}
	e := simple("arrays_overlap", args, columnar.Bool, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		first, second := a[0].Children[0], a[1].Children[0]
		var known elementSet
		return rows(columnar.Bool, a, n, func(out *columnar.Builder, i int) error {
			known.clear()
			lo, hi := a[0].span(i)
			lo2, hi2 := a[1].span(i)
			unknown := false
			for j := lo2; j < hi2; j++ {
				if second.IsNull(int(j)) {
					unknown = true
				} else {
					known.add(second, int(j))
				}
			}
			for j := lo; j < hi; j++ {
				if first.IsNull(int(j)) {
					unknown = true
				} else if known.has(first, int(j)) {
					out.AppendBool(true)
					return nil
				}
			}
			if unknown && lo < hi && lo2 < hi2 {
				out.AppendNull()
			} else {
				out.AppendBool(false)
			}
			return nil
		})
	})
	e.null, e.nullFn = nullFn(args), nullFn
	return e, nil
}

// fieldName is the name that an argument gives to a field made of it, or "".
func fieldName(e Expr) string {
	switch x := e.(type) {
	case *Attr:
		return x.Name
	case *Ref:
		return x.Name
	case *Alias:
		return x.Name
	case *getField:
		return x.field().Name
	case *LambdaVar:
		return x.Name
	}
	return ""
}

func bindArraysZip(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, -1); err != nil {
		return nil, err
	}
	names := make([]string, len(args))
	for i, a := range args {
		if names[i] = fieldName(a); names[i] == "" {
			names[i] = itoa(i)
		}
		if b.Call.ArgAliases != nil && i < len(b.Call.ArgAliases) && b.Call.ArgAliases[i] != "" {
			names[i] = b.Call.ArgAliases[i]
		}
	}
	args, err := b.expect(args, isArray)
	if err != nil {
		return nil, err
	}
	fs := make([]columnar.Field, len(args))
	for i, a := range args {
		fs[i] = field(names[i], a.Type().Elem, true)
	}
	st := columnar.StructOf(fs...)
	typ := columnar.ArrayOf(st, false)
	return simple("arrays_zip", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		valid := validOf(a...)
		off := make([]int32, n+1)
		idx := make([][]int32, len(a))
		for i := 0; i < n; i++ {
			longest := int32(0)
			if valid == nil || valid.Get(i) {
				for _, v := range a {
					lo, hi := v.span(i)
					longest = max(longest, hi-lo)
				}
				for k, v := range a {
					lo, hi := v.span(i)
					for j := lo; j < lo+longest; j++ {
						if j < hi {
							idx[k] = append(idx[k], j)
						} else {
							idx[k] = append(idx[k], -1)
						}
					}
				}
			}
			off[i+1] = off[i] + longest
		}
		kids := make([]*columnar.Column, len(a))
		for k, v := range a {
			kids[k] = columnar.Take(v.Children[0], idx[k])
		}
		s := &columnar.Column{Type: st, Len: int(off[n]), Children: kids}
		return &columnar.Column{Type: typ, Len: n, Valid: valid, Offsets: off, Children: []*columnar.Column{s}}, nil
	}), nil
}

// bindArrayExtreme binds array_max and array_min.
func bindArrayExtreme(max bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		args, err := b.coerce(args, isArray)
		if err != nil {
			return nil, err
		}
		t := args[0].Type().Elem
		if err := b.orderingType(args, t); err != nil {
			return nil, err
		}
		e := simple(b.name(), args, t, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			elems := a[0].Children[0]
			pick := make([]int32, n)
			if elems.Type.Kind == columnar.KindInt64 && elems.Valid == nil {
				extremeOfEach(pick, a[0], columnar.Values[int64](elems), max)
				return columnar.Take(elems, pick), nil
			}
			for i := range pick {
				pick[i] = -1
				if a[0].null(i) {
					continue
				}
				lo, hi := a[0].span(i)
				for j := lo; j < hi; j++ {
					if elems.IsNull(int(j)) {
						continue
					}
					if p := pick[i]; p < 0 {
						pick[i] = j
					} else if c := compareAt(elems, int(j), elems, int(p)); c != 0 && c > 0 == max {
						pick[i] = j
					}
				}
			}
			return columnar.Take(elems, pick), nil
		})
		e.null, e.nullFn, e.safe = true, func([]Expr) bool { return true }, true
		return e, nil
	}
}

// extremeOfEach sets pick to the place of the least or greatest of each list of numbers, -1 for none.
func extremeOfEach(pick []int32, lists vec, v []int64, max bool) {
	for i := range pick {
		pick[i] = -1
		if lists.null(i) {
			continue
		}
		lo, hi := lists.span(i)
		if lo == hi {
			continue
		}
		best := lo
		for j := lo + 1; j < hi; j++ {
			if max && v[j] > v[best] || !max && v[j] < v[best] {
				best = j
			}
		}
		pick[i] = best
	}
}

func bindSortArray(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	if len(args) == 1 {
		args = append(args[:1:1], NewBool(true))
	}
	sql := b.sql(args)
	if t := args[0].Type(); t.Kind != columnar.KindArray {
		if t.Kind != columnar.KindNull {
			return nil, unexpectedInput(sql, 0, `"ARRAY"`, args[0])
		}
		args = []Expr{b.implicit(args[0], columnar.ArrayOf(columnar.Null, true)), args[1]}
	}
	if k := args[1].Type().Kind; k == columnar.KindNull {
		args = []Expr{args[0], b.implicit(args[1], columnar.Bool)}
	} else if k != columnar.KindBool {
		return nil, unexpectedInput(sql, 1, `"BOOLEAN"`, args[1])
	}
	typ := args[0].Type()
	if err := b.orderingType(args, typ.Elem); err != nil {
		return nil, err
	}
	e := simple("sort_array", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		if elems := a[0].Children[0]; elems.Type.Kind == columnar.KindInt64 && elems.Valid == nil && a[1].con && !a[0].con {
			return sortLongs(typ, a[0].Column, n, !a[1].Bits.Get(0)), nil
		}
		return sortElements(typ, a, n, func(elems *columnar.Column, i int) func(x, y int32) int {
			desc := !a[1].Bits.Get(a[1].row(i))
			return func(x, y int32) int {
				c := compareAt(elems, int(x), elems, int(y))
				if desc {
					return -c
				}
				return c
			}
		}), nil
	})
	return e, nil
}

// sortElements sorts each array by an order that may depend on the row.
// sortLongs sorts lists of BIGINT without nulls.
func sortLongs(typ *columnar.Type, c *columnar.Column, n int, desc bool) *columnar.Column {
	from, to := c.Offsets[0], c.Offsets[n]
	v := slices.Clone(columnar.Values[int64](c.Children[0])[from:to])
	off := make([]int32, n+1)
	for i := range n {
		lo, hi := c.Offsets[i]-from, c.Offsets[i+1]-from
		off[i+1] = hi
		s := v[lo:hi]
		if slices.Sort(s); desc {
			slices.Reverse(s)
		}
	}
	return &columnar.Column{Type: typ, Len: n, Valid: c.Valid, Offsets: off, Children: []*columnar.Column{columnar.NewFixed(c.Children[0].Type, v, nil)}}
}

func sortElements(typ *columnar.Type, a []vec, n int, order func(elems *columnar.Column, i int) func(x, y int32) int) *columnar.Column {
	l := newLists(n)
	valid := validOf(a...)
	elems := a[0].Children[0]
	for i := 0; i < n; i++ {
		if valid != nil && !valid.Get(i) {
			l.endNull()
			continue
		}
		lo, hi := a[0].span(i)
		from := len(l.idx)
		for j := lo; j < hi; j++ {
			l.idx = append(l.idx, j)
		}
		cmp := order(elems, i)
		s := l.idx[from:]
		sort.SliceStable(s, func(x, y int) bool { return cmp(s[x], s[y]) < 0 })
		l.end()
	}
	return l.column(typ, elems)
}

// bindSize binds size and cardinality, of arrays and maps.
func bindSize(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	args, err := b.expect(args, oneOf(isArray, isMap))
	if err != nil {
		return nil, err
	}
	return sizeOf(b.name(), args, !b.ANSI), nil
}

// sizeOf is the number of elements; in the older dialect that of NULL is -1.
func sizeOf(name string, args []Expr, minusOne bool) Expr {
	if args[0].Type().Kind == columnar.KindNull {
		args = []Expr{&Literal{Typ: columnar.ArrayOf(columnar.Null, true), Text: args[0].SQL()}}
	}
	e := simple(name, args, columnar.Int32, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		d := make([]int32, n)
		c := a[0].full(n)
		for i := range d {
			if minusOne && c.IsNull(i) {
				d[i] = -1
				continue
			}
			d[i] = c.Offsets[i+1] - c.Offsets[i]
		}
		valid := c.Valid
		if minusOne {
			valid = nil
		}
		return columnar.NewFixed(columnar.Int32, d, valid), nil
	})
	if minusOne {
		e.nulls, e.null, e.nullFn = true, false, nil
	}
	e.safe = true
	return e
}

func bindArraySize(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	args, err := b.expect(args, isArray)
	if err != nil {
		return nil, err
	}
	return sizeOf("array_size", args, false), nil
}

func bindSlice(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 3, 3); err != nil {
		return nil, err
	}
	args, err := b.coerce(args, isArray, isInt, isInt)
	if err != nil {
		return nil, err
	}
	typ := args[0].Type()
	return simple("slice", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		valid := validOf(a...)
		l := newLists(n)
		for i := 0; i < n; i++ {
			if valid != nil && !valid.Get(i) {
				l.endNull()
				continue
			}
			start, length := intAt(a[1].Column, a[1].row(i)), intAt(a[2].Column, a[2].row(i))
			lo, hi := a[0].span(i)
			size := int64(hi - lo)
			if start == 0 {
				return nil, sparkerr.New("INVALID_PARAMETER_VALUE.START", "the value of parameter(s) `start` in `slice` is invalid: expects a positive or a negative value for `start`, but got 0")
			}
			if length < 0 {
				return nil, sparkerr.New("INVALID_PARAMETER_VALUE.LENGTH", "the value of parameter(s) `length` in `slice` is invalid: expects `length` greater than or equal to 0, but got %d", length)
			}
			from := start - 1
			if start < 0 {
				from = size + start
			}
			if from >= 0 {
				for j := from; j < min(from+length, size); j++ {
					l.idx = append(l.idx, lo+int32(j))
				}
			}
			l.end()
		}
		return l.column(typ, a[0].Children[0]), nil
	}), nil
}

func bindArrayRepeat(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	args, err := b.coerce(args, isAny, isInt)
	if err != nil {
		return nil, err
	}
	t := args[0].Type()
	typ := columnar.ArrayOf(t, args[0].Nullable())
	return &call{
		name: "array_repeat", args: args, typ: typ, null: args[1].Nullable(), nullFn: func(a []Expr) bool { return a[1].Nullable() }, nulls: true,
		kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			l := newLists(n)
			for i := 0; i < n; i++ {
				if a[1].null(i) {
					l.endNull()
					continue
				}
				k := intAt(a[1].Column, a[1].row(i))
				if k > maxArraySize || int64(len(l.idx))+k > maxBatchElements {
					return nil, arrayTooLong(k, "array_repeat")
				}
				for ; k > 0; k-- {
					l.idx = append(l.idx, int32(a[0].row(i)))
				}
				l.end()
			}
			return l.column(typ, a[0].Column), nil
		},
	}, nil
}

func bindArrayCompact(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	args, err := b.expect(args, isArray)
	if err != nil {
		return nil, err
	}
	typ := columnar.ArrayOf(args[0].Type().Elem, false)
	e := simple("array_compact", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return filterElements(typ, a, n, func(elems *columnar.Column, _ int, j int32) bool { return !elems.IsNull(int(j)) }), nil
	})
	e.safe = true
	return e, nil
}

func bindArrayJoin(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	out, err := b.coerceAs(sql, args[:1], arrayOf(columnar.String))
	if err != nil {
		return nil, err
	}
	args = append(out, args[1:]...)
	if args, err = b.expectAs(sql, args, isAny, isString, isString); err != nil {
		return nil, err
	}
	return simple("array_join", args, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		elems := a[0].Children[0]
		return rows(columnar.String, a, n, func(out *columnar.Builder, i int) error {
			sep := a[1].StringAt(a[1].row(i))
			buf := out.Scratch()
			first := true
			lo, hi := a[0].span(i)
			for j := lo; j < hi; j++ {
				null := elems.IsNull(int(j))
				if null && len(a) < 3 {
					continue
				}
				if !first {
					buf = append(buf, sep...)
				}
				first = false
				if null {
					buf = append(buf, a[2].BytesAt(a[2].row(i))...)
				} else {
					buf = append(buf, elems.BytesAt(int(j))...)
				}
			}
			out.FinishScratch(buf)
			return nil
		})
	}), nil
}

func bindFlatten(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	t := args[0].Type()
	if t.Kind != columnar.KindArray || t.Elem.Kind != columnar.KindArray {
		return nil, unexpectedInput(b.sql(args), 0, `"ARRAY" of "ARRAY"`, args[0])
	}
	typ := t.Elem
	nullFn := func(a []Expr) bool { return a[0].Nullable() || a[0].Type().ElemNullable }
	e := simple("flatten", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		outer := a[0].Children[0]
		elems := outer.Children[0]
		l := newLists(n)
	row:
		for i := 0; i < n; i++ {
			if a[0].null(i) {
				l.endNull()
				continue
			}
			from := len(l.idx)
			lo, hi := a[0].span(i)
			for j := lo; j < hi; j++ {
				if outer.IsNull(int(j)) {
					l.idx = l.idx[:from]
					l.endNull()
					continue row
				}
				for k := outer.Offsets[j]; k < outer.Offsets[j+1]; k++ {
					l.idx = append(l.idx, k)
				}
			}
			l.end()
		}
		return l.column(typ, elems), nil
	})
	e.null, e.nullFn = nullFn(args), nullFn
	return e, nil
}

// bindReverse binds reverse: of strings by characters, of binary values by bytes, and of arrays.
func bindReverse(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	args, err := b.coerce(args, oneOf(isString, isArray, isBinary))
	if err != nil {
		return nil, err
	}
	typ := args[0].Type()
	e := simple("reverse", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		if typ.Kind == columnar.KindBinary {
			return mapString(typ, a[0], n, func(dst []byte, s string) []byte {
				from := len(dst)
				dst = append(dst, s...)
				slices.Reverse(dst[from:])
				return dst
			}), nil
		}
		if typ.Kind == columnar.KindString {
			return mapString(typ, a[0], n, func(dst []byte, s string) []byte {
				if isASCII(s) || !validUTF8(s) {
					from := len(dst)
					dst = append(dst, s...)
					slices.Reverse(dst[from:])
					return dst
				}
				for i := len(s); i > 0; {
					_, k := utf8.DecodeLastRuneInString(s[:i])
					dst = append(dst, s[i-k:i]...)
					i -= k
				}
				return dst
			}), nil
		}
		l := newLists(n)
		for i := 0; i < n; i++ {
			if a[0].null(i) {
				l.endNull()
				continue
			}
			lo, hi := a[0].span(i)
			for j := hi - 1; j >= lo; j-- {
				l.idx = append(l.idx, j)
			}
			l.end()
		}
		return l.column(typ, a[0].Children[0]), nil
	})
	return e, nil
}

func bindShuffle(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	seed := int64(0)
	if len(args) == 2 {
		s, err := b.seed(args, 1)
		if err != nil {
			return nil, err
		}
		seed = s
	}
	printed := b.sql(args[:1])
	args, err := b.coerce(args[:1], isArray)
	if err != nil {
		return nil, err
	}
	typ := args[0].Type()
	e := simple("shuffle", args, typ, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
		return sortElements(typ, a, n, func(_ *columnar.Column, i int) func(x, y int32) int {
			k := columnar.HashUint64(uint64(ctx.Seed+seed)) + uint64(ctx.RowBase) + uint64(i)
			return func(x, y int32) int {
				return cmpInt(int64(columnar.HashUint64(k^uint64(x)<<20)), int64(columnar.HashUint64(k^uint64(y)<<20)))
			}
		}), nil
	})
	e.text = func([]Expr) string { return printed }
	return &randomCall{e}, nil
}

// randomCall marks a call as one that must not be moved or folded.
type randomCall struct{ *call }

// Nondeterministic marks the expression.
func (*randomCall) Nondeterministic() {}

// WithChildren implements Expr.
func (r *randomCall) WithChildren(c []Expr) Expr { return &randomCall{r.call.WithChildren(c).(*call)} }

func bindGet(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	if args[0].Type().Kind == columnar.KindNull {
		return nil, unexpectedInput(b.sql(args), 0, `"ARRAY"`, args[0])
	}
	args, err := b.coerce(args, isArray, isInt)
	if err != nil {
		return nil, err
	}
	return arrayAt("get", args, args[0].Type(), func(i int64, size int) (int, error) {
		if i < 0 || i >= int64(size) {
			return -1, nil
		}
		return int(i), nil
	}), nil
}

// bindElementAt binds element_at and try_element_at.
func bindElementAt(try bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 2, 2); err != nil {
			return nil, err
		}
		sql := b.sql(args)
		name := b.name()
		t := args[0].Type()
		switch t.Kind {
		case columnar.KindMap:
			m, key := args[0], args[1]
			k := b.tightestLegacy(t.Key, key.Type())
			if k == nil {
				return nil, mismatch("MAP_FUNCTION_DIFF_TYPES", sql, "input to `element_at` should have been \"MAP\" followed by a value with same key type, but it's [\"%s\", \"%s\"]", t.SQL(), key.Type().SQL())
			}
			m = b.implicit(m, columnar.MapOf(k, t.Elem, t.ElemNullable))
			return b.mapValue(sql, func(a []Expr) string { return sqlCall(name, a) }, m, b.implicit(key, k))
		case columnar.KindArray:
			it := args[1].Type()
			switch it.Kind {
			case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32:
			default:
				return nil, unexpectedInput(sql, 1, `"INT"`, args[1])
			}
			args = []Expr{args[0], b.implicit(args[1], columnar.Int32)}
			fail := b.ANSI && !try
			e := arrayAt(name, args, t, func(i int64, size int) (int, error) {
				switch {
				case i == 0:
					return -1, zeroIndex()
				case i > int64(size) || i < -int64(size):
					if fail {
						return -1, sparkerr.New("INVALID_ARRAY_INDEX_IN_ELEMENT_AT", "the index %d is out of bounds; the array has %d elements; use `try_element_at` to get NULL instead", i, size)
					}
					return -1, nil
				case i < 0:
					return size + int(i), nil
				}
				return int(i) - 1, nil
			})
			if !try {
				e.nullFn = func(a []Expr) bool {
					return itemNullable(a, func(i int64, items []Expr) Expr {
						n := int64(len(items))
						switch {
						case i > 0 && i <= n:
							return items[i-1]
						case i < 0 && i >= -n:
							return items[n+i]
						}
						return nil
					})
				}
				e.null = e.nullFn(args)
			}
			return e, nil
		}
		return nil, unexpectedInput(sql, 0, `("ARRAY" or "MAP")`, args[0])
	}
}

// concat binds concat(…) and ||: strings, binary values, or arrays.
func (b *Binder) concat(args []Expr) (Expr, error) {
	sql := sqlCall("concat", args)
	if len(args) == 0 {
		return Named(NewString(""), sql), nil
	}
	arrays, allBinary := false, true
	for _, a := range args {
		k := a.Type().Kind
		arrays = arrays || k == columnar.KindArray
		allBinary = allBinary && k == columnar.KindBinary
	}
	if arrays {
		for _, a := range args {
			if a.Type().Kind != columnar.KindArray {
				return nil, diffTypes("DATA_DIFF_TYPES", sql, "concat", args)
			}
		}
		out, t := b.toCommon(args, b.wider)
		if t == nil || t.Kind != columnar.KindArray {
			return nil, diffTypes("DATA_DIFF_TYPES", sql, "concat", args)
		}
		return concatArrays(out, t), nil
	}
	if !allBinary {
		out := make([]Expr, len(args))
		for i, a := range args {
			t := a.Type()
			if t.Kind != columnar.KindString && !canCast(t, columnar.String, b.castMode()) || t.IsNested() {
				return nil, unexpectedInput(sql, i, `("STRING" or "BINARY" or "ARRAY")`, a)
			}
			out[i] = b.implicit(a, columnar.String)
		}
		args = out
	}
	typ := args[0].Type()
	e := simple("concat", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		valid := validOf(a...)
		size := 0
		for _, v := range a {
			if v.con {
				size += n * len(v.BytesAt(0))
			} else {
				size += int(v.Offsets[v.Len] - v.Offsets[0])
			}
		}
		off, buf := make([]int32, n+1), make([]byte, 0, size)
		for i := 0; i < n; i++ {
			if valid == nil || valid.Get(i) {
				for _, v := range a {
					buf = append(buf, v.BytesAt(v.row(i))...)
				}
			}
			off[i+1] = int32(len(buf))
		}
		return columnar.NewBytes(typ, off, buf, valid), nil
	})
	e.safe, e.eager = true, true
	return e, nil
}

func concatArrays(args []Expr, t *columnar.Type) Expr {
	for _, a := range args {
		t = mergeNullability(t, a.Type())
	}
	return simple("concat", args, t, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		valid := validOf(a...)
		parts, base, at := make([]*columnar.Column, len(a)), make([]int32, len(a)), int32(0)
		for k, v := range a {
			parts[k] = v.Children[0].WithType(t.Elem)
			base[k] = at
			at += int32(parts[k].Len)
		}
		l := newLists(n)
		for i := 0; i < n; i++ {
			if valid != nil && !valid.Get(i) {
				l.endNull()
				continue
			}
			for k, v := range a {
				lo, hi := v.span(i)
				for j := lo; j < hi; j++ {
					l.idx = append(l.idx, base[k]+j)
				}
			}
			l.end()
		}
		return l.column(t, columnar.Concat(parts)), nil
	})
}

func arrayFunctions() []*Function {
	const family = "array"
	f := func(name, sig, doc, example string, bind func(b *Binder, args []Expr) (Expr, error), aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Family: family, Signature: sig, Doc: doc, Example: example, Bind: bind}
	}
	return []*Function{
		f("array", "array(expr, …)", "An array of the arguments.", "SELECT array(1, 2, 3) → [1,2,3]", createArray),
		f("array_contains", "array_contains(array, value)", "Whether an array has a value.", "SELECT array_contains(array(1, 2), 2) → true", bindArrayContains),
		f("array_position", "array_position(array, value)", "The position of the first element that equals a value, from 1; 0 when there is none.", "SELECT array_position(array(3, 2, 1), 1) → 3", bindArrayPosition),
		f("array_remove", "array_remove(array, value)", "The array without the elements that equal a value.", "SELECT array_remove(array(1, 2, 1), 1) → [2]", bindArrayRemove),
		f("array_append", "array_append(array, value)", "The array with a value behind its elements.", "SELECT array_append(array(1), 2) → [1,2]", bindArrayAdd(false)),
		f("array_prepend", "array_prepend(array, value)", "The array with a value before its elements.", "SELECT array_prepend(array(1), 2) → [2,1]", bindArrayAdd(true)),
		f("array_insert", "array_insert(array, pos, value)", "The array with a value at a position, from 1, or from the end.", "SELECT array_insert(array(1, 3), 2, 2) → [1,2,3]", bindArrayInsert),
		f("array_distinct", "array_distinct(array)", "The array without repeated elements.", "SELECT array_distinct(array(1, 2, 1)) → [1,2]", bindArrayDistinct),
		f("array_union", "array_union(array1, array2)", "The elements of both arrays, each once.", "SELECT array_union(array(1), array(2, 1)) → [1,2]", bindArraySet("union")),
		f("array_intersect", "array_intersect(array1, array2)", "The elements that both arrays have, each once.", "SELECT array_intersect(array(1, 2), array(2)) → [2]", bindArraySet("intersect")),
		f("array_except", "array_except(array1, array2)", "The elements that only the first array has, each once.", "SELECT array_except(array(1, 2), array(2)) → [1]", bindArraySet("except")),
		f("arrays_overlap", "arrays_overlap(array1, array2)", "Whether two arrays have an element in common.", "SELECT arrays_overlap(array(1, 2), array(2)) → true", bindArraysOverlap),
		f("arrays_zip", "arrays_zip(array1, array2, …)", "An array of structs of the elements at equal positions.", "SELECT arrays_zip(array(1, 2), array('a', 'b'))", bindArraysZip),
		f("array_max", "array_max(array)", "The greatest element.", "SELECT array_max(array(1, 20, NULL)) → 20", bindArrayExtreme(true)),
		f("array_min", "array_min(array)", "The least element.", "SELECT array_min(array(1, 20, NULL)) → 1", bindArrayExtreme(false)),
		f("sort_array", "sort_array(array[, ascending])", "The array sorted, nulls first ascending and last descending.", "SELECT sort_array(array(2, 1)) → [1,2]", bindSortArray),
		f("array_size", "array_size(array)", "The number of elements.", "SELECT array_size(array(1, 2)) → 2", bindArraySize),
		f("size", "size(expr)", "The number of elements of an array or entries of a map.", "SELECT size(array(1, 2)) → 2", bindSize, "cardinality"),
		f("slice", "slice(array, start, length)", "Elements from a position on, from 1, or from the end.", "SELECT slice(array(1, 2, 3), 2, 2) → [2,3]", bindSlice),
		f("array_repeat", "array_repeat(value, count)", "An array with a value several times.", "SELECT array_repeat('a', 2) → [a,a]", bindArrayRepeat),
		f("array_compact", "array_compact(array)", "The array without NULL elements.", "SELECT array_compact(array(1, NULL)) → [1]", bindArrayCompact),
		f("array_join", "array_join(array, delimiter[, null])", "The elements joined to one string.", "SELECT array_join(array('a', 'b'), ' ') → a b", bindArrayJoin),
		f("flatten", "flatten(array)", "The elements of an array of arrays.", "SELECT flatten(array(array(1), array(2))) → [1,2]", bindFlatten),
		f("reverse", "reverse(expr)", "A string or an array in reverse order.", "SELECT reverse('abc') → cba", bindReverse),
		f("shuffle", "shuffle(array)", "The array in random order.", "", bindShuffle),
		f("sequence", "sequence(start, stop[, step])", "The values from start to stop.", "SELECT sequence(1, 3) → [1,2,3]", bindSequence),
		f("get", "get(array, index)", "The element at an index from 0, NULL outside of the array.", "SELECT get(array(1, 2), 0) → 1", bindGet),
		f("element_at", "element_at(array, index), element_at(map, key)", "The element at a position from 1, or from the end; the value of a key.", "SELECT element_at(array(1, 2), 2) → 2", bindElementAt(false)),
		f("try_element_at", "try_element_at(array, index), try_element_at(map, key)", "As element_at, but NULL outside of the array.", "SELECT try_element_at(array(1, 2), 3) → NULL", bindElementAt(true)),
		f("concat", "concat(expr, …)", "The concatenation of strings, binary values or arrays.", "SELECT concat('Spark', 'SQL') → SparkSQL", func(b *Binder, args []Expr) (Expr, error) { return b.concat(args) }),
	}
}
