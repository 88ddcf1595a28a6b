package exec

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/plan"
)

// singleRow passes one row on: a scalar subquery. Without rows it gives one of nulls.
type singleRow struct {
	input  *pipe
	schema *columnar.Schema
}

func (c *compiler) singleRow(n *plan.SingleRow, need attrSet) (*pipe, error) {
	in, err := c.compile(n.Child, need)
	if err != nil {
		return nil, err
	}
	attrs := need.of(n.Output())
	if err := c.arrange(in, attrs); err != nil {
		return nil, err
	}
	return &pipe{branches: []*branch{{source: &singleRow{input: in, schema: schemaOf(attrs)}}}, attrs: attrs, static: in.static, lag: in.lag}, nil
}

func (s *singleRow) forget(rel int) { s.input.forget(rel) }

func (s *singleRow) each(r *run, emit func(morsel) error) error {
	var row *columnar.Batch
	err := r.drive(s.input, sink{take: func(item any) error {
		rows := item.(*columnar.Batch)
		if row != nil || rows.Rows > 1 {
			return operatorError("scalar subquery", sparkerr.New("SCALAR_SUBQUERY_TOO_MANY_ROWS", "more than one row returned by a subquery used as an expression"))
		}
		row = rows
		return nil
	}})
	if err != nil {
		return err
	}
	if row == nil {
		cols := make([]*columnar.Column, len(s.schema.Fields))
		for i, f := range s.schema.Fields {
			cols[i] = columnar.NewNull(f.Type, 1)
		}
		row = columnar.NewBatch(s.schema, cols, 1)
	}
	return emit(morsel{rows: row})
}
