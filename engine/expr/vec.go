package expr

import "github.com/wstream/wstream/columnar"

// vec is an operand of a kernel: a column with a value per row, or, when con is set, a column of
// one row that stands for every row.
type vec struct {
	*columnar.Column
	con bool
}

// row is the position of row i in the column.
func (v vec) row(i int) int {
	if v.con {
		return 0
	}
	return i
}

// null tells whether row i is null.
func (v vec) null(i int) bool { return v.IsNull(v.row(i)) }

// allNull tells whether the operand is a constant null.
func (v vec) allNull() bool {
	return v.Type.Kind == columnar.KindNull || v.con && v.Len > 0 && v.IsNull(0)
}

// full is the operand as a column of n rows.
func (v vec) full(n int) *columnar.Column {
	if !v.con || v.Len == n {
		return v.Column
	}
	if v.IsNull(0) {
		return columnar.NewNull(v.Type, n)
	}
	return columnar.Take(v.Column, make([]int32, n))
}

// constValue views the only value of a constant fixed-width operand.
func constValue[T columnar.Value](v vec) T { return columnar.Values[T](v.Column)[0] }

// validOf combines the null bitmaps of operands; constants must not be null.
func validOf(vs ...vec) columnar.Bitmap {
	var out columnar.Bitmap
	for _, v := range vs {
		if !v.con {
			out = columnar.And(out, v.Valid)
		}
	}
	return out
}

// anyNull tells whether an operand is a constant null.
func anyNull(vs ...vec) bool {
	for _, v := range vs {
		if v.allNull() {
			return true
		}
	}
	return false
}

// oneRow is a batch of one row without columns, over which constants are evaluated.
func oneRow() *columnar.Batch { return columnar.NewBatch(&columnar.Schema{}, nil, 1) }

// isConst tells whether e has the same value for every row of every batch of any context.
func isConst(e Expr) bool {
	switch x := e.(type) {
	case *Literal:
		return true
	case *Attr, *Ref, *LambdaVar, *Lambda, *WindowCall, Aggregate, Generator, Nondeterministic, batchConstant:
		return false
	case *Alias:
		return isConst(x.Child)
	}
	kids := e.Children()
	if len(kids) == 0 {
		_, ok := e.(constLeaf)
		return ok
	}
	for _, k := range kids {
		if !isConst(k) {
			return false
		}
	}
	return true
}

// constLeaf is implemented by expressions without operands that are nevertheless constant.
type constLeaf interface{ constLeaf() }

// batchConstant is implemented by expressions whose value depends on the Context.
type batchConstant interface{ batchConstant() }

// eval evaluates an operand of an expression; in must have rows.
func eval(ctx *Context, e Expr, in *columnar.Batch) (vec, error) {
	if isConst(e) {
		if l, ok := e.(*Literal); ok {
			return vec{columnar.FromData(l.Typ, l.Value), true}, nil
		}
		c, err := e.Eval(ctx, oneRow())
		return vec{c, true}, err
	}
	c, err := e.Eval(ctx, in)
	return vec{c, false}, err
}

// eval2 evaluates two operands, left to right.
func eval2(ctx *Context, l, r Expr, in *columnar.Batch) (a, b vec, err error) {
	if a, err = eval(ctx, l, in); err != nil {
		return
	}
	b, err = eval(ctx, r, in)
	return
}

// evalAll evaluates operands, left to right.
func evalAll(ctx *Context, es []Expr, in *columnar.Batch) ([]vec, error) {
	out := make([]vec, len(es))
	for i, e := range es {
		v, err := eval(ctx, e, in)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// Fold evaluates the constant parts of e once. A part that fails is left as it is, so that the
// fault appears only if a row reaches it.
func Fold(ctx *Context, e Expr) Expr {
	return Transform(e, func(x Expr) Expr {
		switch x.(type) {
		case *Literal, *Alias:
			return x
		}
		if !isConst(x) {
			return x
		}
		c, err := x.Eval(ctx, oneRow())
		if err != nil {
			return x
		}
		return &Literal{Typ: x.Type(), Value: c.Datum(0), Text: x.SQL()}
	})
}
