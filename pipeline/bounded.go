package pipeline

import (
	"context"

	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/udf"
)

// OpenBounded opens a pipeline for bounded queries: every source, streams too, is a table of what is
// there now.
func (e *Environment) OpenBounded(ctx context.Context, f *File) (*Runtime, error) {
	rt, err := e.Open(ctx, f, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range rt.catalog.Sources {
		r.Static = true
	}
	return rt, nil
}

// Catalog resolves the pipeline's names.
func (r *Runtime) Catalog() plan.Catalog { return r.catalog }

// ReadBounded plans the reading of all that a source holds now.
func (r *Runtime) ReadBounded(ctx context.Context, rel *plan.Relation) ([]connector.Partition, error) {
	s, err := r.source(rel.Source)
	if err != nil {
		return nil, err
	}
	src, err := s.Open(connector.Env{Static: true})
	if err != nil {
		return nil, err
	}
	end, _, err := src.Next(ctx, nil, true)
	if err != nil {
		return nil, err
	}
	parts, err := src.Plan(ctx, nil, end)
	if err != nil {
		return nil, err
	}
	return parts, nil
}

// NoRelations is a catalog without anything.
type NoRelations struct{}

// Relation implements plan.Catalog.
func (NoRelations) Relation(*plan.Analyzer, []string) (plan.Node, bool, error) {
	return nil, false, nil
}

// Relations implements plan.Catalog.
func (NoRelations) Relations() []string { return nil }

// Module implements plan.Catalog.
func (NoRelations) Module(string) (udf.Module, bool) { return nil, false }
