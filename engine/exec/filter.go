package exec

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// filter keeps the rows whose condition is true, and of them the columns that are needed.
type filter struct {
	cond   expr.Expr
	keep   []int // input columns of the output
	all    bool  // keep is all of them in order
	schema *columnar.Schema
}

func (f *filter) push(w *worker, i int, in *columnar.Batch) error {
	c, err := f.cond.Eval(w.context(i), in)
	w.advance(i, in.Rows)
	if err != nil {
		return operatorError("filter", err)
	}
	rows := in
	if !f.all {
		rows = pick(f.schema, in, f.keep)
	}
	return w.push(i+1, columnar.FilterBatch(rows, trueRows(c)))
}
