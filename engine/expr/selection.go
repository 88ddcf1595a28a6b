package expr

import (
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

// branches assembles a column out of results that stand for some of its rows each.
type branches struct {
	typ   *columnar.Type
	parts []*columnar.Column
	at    int32   // rows of all parts
	pick  []int32 // for each row its position among the parts; -1 is null
}

func newBranches(t *columnar.Type, rows int) *branches {
	p := make([]int32, rows)
	for i := range p {
		p[i] = -1
	}
	return &branches{typ: t, pick: p}
}

// add gives the rows set in sel (n of them) the values of v in order.
func (b *branches) add(v vec, sel columnar.Bitmap, n int) {
	if n == 0 || v.Type.Kind == columnar.KindNull {
		return
	}
	b.parts = append(b.parts, v.Column)
	k, step := b.at, int32(1)
	if v.con {
		step = 0
	}
	for i := range b.pick {
		if sel.Get(i) {
			b.pick[i] = k
			k += step
		}
	}
	b.at += int32(v.Len)
}

// column is the result.
func (b *branches) column() *columnar.Column {
	if len(b.parts) == 0 {
		return columnar.NewNull(b.typ, len(b.pick))
	}
	c := columnar.Concat(b.parts)
	if len(b.parts) == 1 && c.Len == len(b.pick) && isIdentity(b.pick) {
		return c.WithType(b.typ)
	}
	return columnar.Take(c, b.pick).WithType(b.typ)
}

func isIdentity(p []int32) bool {
	for i, v := range p {
		if int(v) != i {
			return false
		}
	}
	return true
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
