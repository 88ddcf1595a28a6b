package exec

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// generate joins each row with the rows that a generator function makes of it.
type generate struct {
	gen    expr.Generator
	outer  bool
	keep   []int // input columns of the output
	made   []int // generated columns of the output
	types  []*columnar.Type
	schema *columnar.Schema
}

func (g *generate) push(w *worker, i int, in *columnar.Batch) error {
	made, parent, err := g.gen.Generate(w.context(i), in)
	w.advance(i, in.Rows)
	if err != nil {
		return operatorError("generate", err)
	}
	var idx []int32 // generated row of each output row, nil for all in order
	if g.outer {
		parent, idx = withChildless(parent, in.Rows)
	}
	cols := make([]*columnar.Column, 0, len(g.keep)+len(g.made))
	for _, p := range g.keep {
		cols = append(cols, columnar.Take(in.Columns[p], parent))
	}
	for _, p := range g.made {
		c := made[p].WithType(g.types[p])
		if idx != nil {
			c = columnar.Take(c, idx)
		}
		cols = append(cols, c)
	}
	return w.pushPieces(i+1, columnar.NewBatch(g.schema, cols, len(parent)))
}

// withChildless adds the rows that have no child. It gives for each output row the parent and the
// position among the children, -1 for none; idx is nil when nothing was added.
func withChildless(parent []int32, rows int) (parents, idx []int32) {
	next, missing := int32(0), 0
	for _, p := range parent {
		if p > next {
			missing += int(p - next)
		}
		next = max(next, p+1)
	}
	missing += rows - int(next)
	if missing == 0 {
		return parent, nil
	}
	parents = make([]int32, 0, len(parent)+missing)
	idx = make([]int32, 0, len(parent)+missing)
	next = 0
	for k, p := range parent {
		for ; next < p; next++ {
			parents, idx = append(parents, next), append(idx, -1)
		}
		next = max(next, p+1)
		parents, idx = append(parents, p), append(idx, int32(k))
	}
	for ; int(next) < rows; next++ {
		parents, idx = append(parents, next), append(idx, -1)
	}
	return parents, idx
}

// pushPieces pushes rows that may have become many.
func (w *worker) pushPieces(i int, rows *columnar.Batch) error {
	size := w.run.opt.BatchRows
	if rows.Rows <= 2*size {
		return w.push(i, rows)
	}
	for from := 0; from < rows.Rows; from += size {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.push(i, rows.Slice(from, min(from+size, rows.Rows))); err != nil {
			return err
		}
	}
	return nil
}
