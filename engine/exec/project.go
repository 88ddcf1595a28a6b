package exec

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// project computes a column per expression.
type project struct {
	exprs  []expr.Expr
	schema *columnar.Schema
}

func (p *project) push(w *worker, i int, in *columnar.Batch) error {
	cols, err := evalAll(w.context(i), p.exprs, in)
	w.advance(i, in.Rows)
	if err != nil {
		return operatorError("project", err)
	}
	return w.push(i+1, columnar.NewBatch(p.schema, cols, in.Rows))
}

// expand computes several projections of the same rows: GROUPING SETS, CUBE and ROLLUP.
type expand struct {
	projections [][]expr.Expr
	schema      *columnar.Schema
}

func (e *expand) push(w *worker, i int, in *columnar.Batch) error {
	ctx := w.context(i)
	w.advance(i, in.Rows)
	for _, p := range e.projections {
		cols, err := evalAll(ctx, p, in)
		if err != nil {
			return operatorError("expand", err)
		}
		if err := w.push(i+1, columnar.NewBatch(e.schema, cols, in.Rows)); err != nil {
			return err
		}
	}
	return nil
}
