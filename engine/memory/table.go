package memory

import (
	"context"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// NewTable is a bounded table of rows, for static relations.
func NewTable(schema *columnar.Schema, rows ...*columnar.Batch) connector.Source {
	return &table{schema, rows}
}

type table struct {
	schema *columnar.Schema
	rows   []*columnar.Batch
}

// Schema implements connector.Source.
func (t *table) Schema() *columnar.Schema { return t.schema }

// Next implements connector.Source.
func (t *table) Next(context.Context, connector.Offset, bool) (end, latest connector.Offset, err error) {
	return connector.Offset("1"), connector.Offset("1"), nil
}

// Plan implements connector.Source.
func (t *table) Plan(context.Context, connector.Offset, connector.Offset) ([]connector.Partition, error) {
	return []connector.Partition{partition(t.rows)}, nil
}

// Description implements connector.Source.
func (t *table) Description() string { return "MemoryTable" }

// Close implements connector.Source.
func (t *table) Close() error { return nil }
