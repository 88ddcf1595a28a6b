package exec

import (
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/plan"
)

// setOp is INTERSECT or EXCEPT, with or without ALL, of bounded inputs.
type setOp struct {
	left, right *pipe
	except, all bool
	shape       *keyShape
	schema      *columnar.Schema
}

func (c *compiler) setOp(n *plan.SetOp, _ attrSet) (*pipe, error) {
	if c.opt.Streaming && plan.IsStreaming(n) {
		return nil, fmt.Errorf("operator %q cannot be run on a stream", n.Name())
	}
	s := &setOp{except: n.Except, all: n.All, shape: newKeyShape(typesOf(n.Attrs)), schema: schemaOf(n.Attrs)}
	for _, side := range []struct {
		node plan.Node
		pipe **pipe
	}{{n.Left, &s.left}, {n.Right, &s.right}} {
		out := side.node.Output()
		p, err := c.compile(side.node, attrSet{}.withAttrs(out))
		if err != nil {
			return nil, err
		}
		if err := c.arrange(p, out); err != nil {
			return nil, err
		}
		*side.pipe = p
	}
	return &pipe{branches: []*branch{{source: s}}, attrs: n.Attrs, static: s.left.static && s.right.static}, nil
}

func (s *setOp) forget(rel int) {
	s.left.forget(rel)
	s.right.forget(rel)
}

func (s *setOp) each(r *run, emit func(morsel) error) error {
	table := newKeyTable(s.shape)
	var count []int64 // how often the right side has each key
	err := r.drive(s.right, sink{take: func(item any) error {
		rows := item.(*columnar.Batch)
		group := make([]uint32, rows.Rows)
		if err := table.assign(rows.Columns, rows.Rows, group); err != nil {
			return err
		}
		for len(count) < table.len() {
			count = append(count, 0)
		}
		for _, g := range group {
			count[g]++
		}
		return nil
	}})
	if err != nil {
		return err
	}
	given := make([]bool, len(count)) // DISTINCT: the key was emitted
	return r.drive(s.left, sink{take: func(item any) error {
		rows := item.(*columnar.Batch)
		group := make([]uint32, rows.Rows)
		if err := table.assign(rows.Columns, rows.Rows, group); err != nil {
			return err
		}
		for len(count) < table.len() {
			count, given = append(count, 0), append(given, false)
		}
		var idx []int32
		for i, g := range group {
			on := count[g] > 0
			if s.all && on {
				count[g]--
			}
			if on == s.except || !s.all && given[g] {
				continue
			}
			given[g] = true
			idx = append(idx, int32(i))
		}
		if len(idx) == 0 {
			return nil
		}
		rows = columnar.TakeBatch(rows, idx)
		return emit(morsel{rows: columnar.NewBatch(s.schema, rows.Columns, rows.Rows)})
	}})
}
