package expr

import "github.com/wstream/wstream/columnar"

// narrowed computes e for the rows whose operands are all present, evaluating each operand only for
// the rows in which none of those before it, in order, is null; the other rows are null. It is what Spark's
// generated code does row by row, and is needed only when an operand failed for some row: the fault may
// lie in a row that never gets so far. stop, when not nil, tells of further rows of the first operand that
// end as null. kernel gets the operands in the order of Children.
func narrowed(ctx *Context, e Expr, order []int, in *columnar.Batch, stop func(first *columnar.Column, i int) bool, kernel func(ctx *Context, args []vec, n int) (*columnar.Column, error)) (*columnar.Column, error) {
	kids := e.Children()
	rows := make([]int32, in.Rows)
	for i := range rows {
		rows[i] = int32(i)
	}
	cols := make([]*columnar.Column, len(kids))
	cur := in
	for k, at := range order {
		v, err := eval(ctx, kids[at], cur)
		if err != nil {
			return nil, err
		}
		c := v.full(cur.Rows)
		var keep []int32
		for i := 0; i < cur.Rows; i++ {
			if !c.IsNull(i) && c.Type.Kind != columnar.KindNull && (k > 0 || stop == nil || !stop(c, i)) {
				keep = append(keep, int32(i))
			}
		}
		cols[at] = c
		if len(keep) == cur.Rows {
			continue
		}
		if len(keep) == 0 {
			return columnar.NewNull(e.Type(), in.Rows), nil
		}
		for j, c := range cols {
			if c != nil {
				cols[j] = columnar.Take(c, keep)
			}
		}
		left := make([]int32, len(keep))
		for i, r := range keep {
			left[i] = rows[r]
		}
		rows = left
		ctx, cur = takeRows(ctx, e, cur, keep)
	}
	args := make([]vec, len(cols))
	for i, c := range cols {
		args[i] = vec{c, false}
	}
	out, err := kernel(ctx, args, len(rows))
	if err != nil || len(rows) == in.Rows {
		return out, err
	}
	pick := make([]int32, in.Rows)
	for i := range pick {
		pick[i] = -1
	}
	for i, r := range rows {
		pick[r] = int32(i)
	}
	return columnar.Take(out.WithType(e.Type()), pick), nil
}

// inOrder is 0, 1, … n-1.
func inOrder(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
