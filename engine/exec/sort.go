package exec

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// sorter orders all rows of its input.
type sorter struct {
	input  *pipe
	keys   []expr.SortKey
	keep   []int
	schema *columnar.Schema
}

func (c *compiler) sort(n *plan.Sort, need attrSet) (*pipe, error) {
	want := need
	for _, k := range n.Keys {
		want = want.with(k.Expr)
	}
	in, err := c.compileFor(false, n.Child, want)
	if err != nil {
		return nil, err
	}
	keys, err := bindSortKeys(n.Keys, in.attrs)
	if err != nil {
		return nil, operatorError("sort", err)
	}
	attrs := need.of(in.attrs)
	s := &sorter{input: in, keys: keys, keep: positions(in.attrs, attrs), schema: schemaOf(attrs)}
	return &pipe{branches: []*branch{{source: s}}, attrs: attrs, static: in.static, lag: in.lag}, nil
}

func (s *sorter) forget(rel int) { s.input.forget(rel) }

func (s *sorter) each(r *run, emit func(morsel) error) error {
	rows, err := r.collect(s.input)
	if err != nil || rows == nil {
		return err
	}
	keys, err := evalSortKeys(r.exprContext(0), s.keys, rows)
	if err != nil {
		return operatorError("sort", err)
	}
	idx := make([]int32, rows.Rows)
	for i := range idx {
		idx[i] = int32(i)
	}
	if err := sortRows(r.ctx, keys, idx); err != nil {
		return err
	}
	rows = pick(s.schema, rows, s.keep)
	for len(idx) > 0 {
		n := min(len(idx), r.opt.BatchRows)
		part := idx[:n]
		if err := emit(morsel{build: func() (*columnar.Batch, error) { return columnar.TakeBatch(rows, part), nil }}); err != nil {
			return err
		}
		idx = idx[n:]
	}
	return nil
}

// collect gives all rows of a pipe in order as one batch, nil when there are none.
func (r *run) collect(p *pipe) (*columnar.Batch, error) {
	var all []*columnar.Batch
	err := r.drive(p, sink{take: func(item any) error {
		all = append(all, item.(*columnar.Batch))
		return nil
	}})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return concatRows(all)
}
