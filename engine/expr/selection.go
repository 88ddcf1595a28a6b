package expr

import (
	"math/bits"

	"github.com/wstream/wstream/columnar"
)

// lambdaFrame holds the values of lambda variables, one row per row of the batch being evaluated.
type lambdaFrame struct {
	vars []*LambdaVar
	cols []*columnar.Column
}

// used collects what e reads from its batch and from the lambda variables around it.
type used struct {
	cols map[int]bool
	vars map[*LambdaVar]bool
}

func usedBy(e Expr) used {
	u := used{map[int]bool{}, map[*LambdaVar]bool{}}
	Walk(e, func(x Expr) bool {
		switch x := x.(type) {
		case *Ref:
			u.cols[x.Index] = true
		case *LambdaVar:
			u.vars[x] = true
		}
		return true
	})
	return u
}

// takeRows gives rows idx of all that e reads: the batch, and a context with the lambda variables.
// Columns that e does not read are left nil.
func takeRows(ctx *Context, e Expr, in *columnar.Batch, idx []int32) (*Context, *columnar.Batch) {
	u := usedBy(e)
	cols := make([]*columnar.Column, len(in.Columns))
	for i := range u.cols {
		cols[i] = columnar.Take(in.Columns[i], idx)
	}
	out := columnar.NewBatch(in.Schema, cols, len(idx))
	if ctx.lambda == nil || len(u.vars) == 0 {
		return ctx, out
	}
	f := &lambdaFrame{}
	for k, v := range ctx.lambda.vars {
		if u.vars[v] {
			f.vars = append(f.vars, v)
			f.cols = append(f.cols, columnar.Take(ctx.lambda.cols[k], idx))
		}
	}
	c := *ctx
	c.lambda = f
	return &c, out
}

// evalSelected evaluates e for the rows of in whose bit is set in sel (n of them are set). The
// result has n rows, in order.
func evalSelected(ctx *Context, e Expr, in *columnar.Batch, sel columnar.Bitmap, n int) (vec, error) {
	if n == in.Rows || isConst(e) {
		return eval(ctx, e, in)
	}
	c, b := takeRows(ctx, e, in, sel.Indices(make([]int32, 0, n), in.Rows))
	return eval(c, e, b)
}

// harmless is implemented by expressions that may say of themselves whether evaluating them for
// a row that does not need it is free of errors and cheap, given harmless operands.
type harmless interface{ harmless() bool }

// isHarmless tells whether e can be evaluated for rows that do not need it.
func isHarmless(e Expr) bool {
	switch e.(type) {
	case *Literal, *Ref, *Attr, *LambdaVar:
		return true
	}
	h, ok := e.(harmless)
	if !ok || !h.harmless() {
		return false
	}
	for _, c := range e.Children() {
		if !isHarmless(c) {
			return false
		}
	}
	return true
}

// branches assembles a column out of results that stand for some of its rows each. Values of a fixed
// width are put in place at once; others are remembered and copied at the end.
type branches struct {
	typ   *columnar.Type
	n     int
	valid columnar.Bitmap // rows that have a value
	data  []byte          // of a fixed width
	bits  columnar.Bitmap // of booleans
	parts []*columnar.Column
	part  []uint16 // for each row the part that holds its value
	row   []int32  // and the position in it; -1 is null
}

func newBranches(t *columnar.Type, rows int) *branches {
	b := &branches{typ: t, n: rows}
	switch {
	case t.Width() > 0:
		b.data, b.valid = columnar.AlignedBytes(rows*t.Width()), columnar.NewBitmap(rows)
	case t.Kind == columnar.KindBool:
		b.bits, b.valid = columnar.NewBitmap(rows), columnar.NewBitmap(rows)
	default:
		b.part, b.row = make([]uint16, rows), make([]int32, rows)
		for i := range b.row {
			b.row[i] = -1
		}
	}
	return b
}

// add gives the rows set in sel (n of them) the values of v in order.
func (b *branches) add(v vec, sel columnar.Bitmap, n int) {
	if n == 0 || v.allNull() {
		return
	}
	switch {
	case b.data != nil:
		switch b.typ.Width() {
		case 1:
			place[int8](b, v, sel)
		case 2:
			place[int16](b, v, sel)
		case 4:
			place[int32](b, v, sel)
		case 8:
			place[int64](b, v, sel)
		default:
			place[columnar.Dec128](b, v, sel)
		}
		b.placeValid(v, sel, n)
	case b.bits != nil:
		set := trueBits(v, n)
		if n == b.n {
			b.bits = set
		} else {
			for i, w := range spread(set, sel, b.n) {
				b.bits[i] |= w
			}
		}
		b.placeValid(v, sel, n)
	default:
		k := uint16(len(b.parts))
		b.parts = append(b.parts, v.Column)
		row, step := int32(0), int32(1)
		if v.con {
			step = 0
		}
		eachBit(sel, func(i int) {
			b.part[i] = k
			if v.Valid == nil || v.Valid.Get(int(row)) {
				b.row[i] = row
			}
			row += step
		})
	}
}

// place copies values to the rows set in sel.
func place[T columnar.Value](b *branches, v vec, sel columnar.Bitmap) {
	dst := columnar.Values[T](&columnar.Column{Len: b.n, Data: b.data})
	src := columnar.Values[T](v.Column)
	if v.con {
		c := src[0]
		eachBit(sel, func(i int) { dst[i] = c })
		return
	}
	if len(src) == b.n {
		copy(dst, src)
		return
	}
	k := 0
	for w, word := range sel {
		for ; word != 0; word &= word - 1 {
			dst[w<<6+bits.TrailingZeros64(word)] = src[k]
			k++
		}
	}
}

func (b *branches) placeValid(v vec, sel columnar.Bitmap, n int) {
	switch {
	case v.con || v.Valid == nil:
		for i, w := range sel {
			b.valid[i] |= w
		}
	case n == b.n:
		copy(b.valid, v.Valid)
	default:
		for i, w := range spread(v.Valid, sel, b.n) {
			b.valid[i] |= w
		}
	}
}

// fill gives the rows set in sel the values that v has for them; v has all rows.
func (b *branches) fill(v vec, sel columnar.Bitmap) {
	have := validBits(v, b.n)
	for i := range have {
		have[i] &= sel[i]
		b.valid[i] |= have[i]
	}
	w := b.typ.Width()
	if v.con {
		one := v.Data[:w]
		eachBit(have, func(i int) { copy(b.data[i*w:], one) })
		return
	}
	if w == 8 {
		dst, src := columnar.Values[int64](&columnar.Column{Len: b.n, Data: b.data}), columnar.Values[int64](v.Column)
		for k, word := range have {
			for ; word != 0; word &= word - 1 {
				i := k<<6 + bits.TrailingZeros64(word)
				dst[i] = src[i]
			}
		}
		return
	}
	eachBit(have, func(i int) { copy(b.data[i*w:(i+1)*w], v.Data[i*w:]) })
}

// eachBit calls f for the positions of the one bits.
func eachBit(b columnar.Bitmap, f func(i int)) {
	for w, word := range b {
		for ; word != 0; word &= word - 1 {
			f(w<<6 + bits.TrailingZeros64(word))
		}
	}
}

// column is the result.
func (b *branches) column() *columnar.Column {
	switch {
	case b.data != nil:
		return &columnar.Column{Type: b.typ, Len: b.n, Data: b.data, Valid: validOrNil(b.valid, b.n)}
	case b.bits != nil:
		return columnar.NewBools(b.n, b.bits, validOrNil(b.valid, b.n))
	case len(b.parts) == 0:
		return columnar.NewNull(b.typ, b.n)
	case b.typ.HasBytes():
		return b.bytes()
	}
	base, at := make([]int32, len(b.parts)), int32(0)
	for k, p := range b.parts {
		base[k] = at
		at += int32(p.Len)
	}
	for i, r := range b.row {
		if r >= 0 {
			b.row[i] = base[b.part[i]] + r
		}
	}
	return columnar.Take(columnar.Concat(b.parts), b.row).WithType(b.typ)
}

// bytes copies byte strings from their parts.
func (b *branches) bytes() *columnar.Column {
	off, total := make([]int32, b.n+1), int32(0)
	var valid columnar.Bitmap
	for i, r := range b.row {
		if r >= 0 {
			o := b.parts[b.part[i]].Offsets
			total += o[r+1] - o[r]
		} else {
			if valid == nil {
				valid = columnar.NewBitmapSet(b.n)
			}
			valid.Clear(i)
		}
		off[i+1] = total
	}
	data := make([]byte, total)
	for i, r := range b.row {
		if r >= 0 {
			p := b.parts[b.part[i]]
			copy(data[off[i]:], p.Data[p.Offsets[r]:p.Offsets[r+1]])
		}
	}
	return columnar.NewBytes(b.typ, off, data, valid)
}

// trueBits are the rows where a boolean operand is true.
func trueBits(v vec, n int) columnar.Bitmap {
	if v.Type.Kind == columnar.KindNull {
		return columnar.NewBitmap(n)
	}
	if v.con {
		if v.IsNull(0) || !v.Bits.Get(0) {
			return columnar.NewBitmap(n)
		}
		b := columnar.NewBitmapSet(n)
		b.MaskTail(n)
		return b
	}
	b := make(columnar.Bitmap, columnar.BitmapWords(n))
	copy(b, v.Bits)
	if v.Valid != nil {
		for i := range b {
			b[i] &= v.Valid[i]
		}
	}
	b.MaskTail(n)
	return b
}

// validBits are the rows where an operand is not null.
func validBits(v vec, n int) columnar.Bitmap {
	if v.Type.Kind == columnar.KindNull || v.con && v.IsNull(0) {
		return columnar.NewBitmap(n)
	}
	if v.con || v.Valid == nil {
		b := columnar.NewBitmapSet(n)
		b.MaskTail(n)
		return b
	}
	b := make(columnar.Bitmap, columnar.BitmapWords(n))
	copy(b, v.Valid)
	b.MaskTail(n)
	return b
}
