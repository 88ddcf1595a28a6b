package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/udf"
)

// relation is something that is read through a connector; plan.Relation.Table holds one.
type relation struct {
	s         *Session
	name      string // of the source in the query and its checkpoint
	spec      *connector.Spec
	options   connector.Options
	schema    *columnar.Schema
	declared  *columnar.Schema // nil if it was found out
	streaming bool
	refresh   time.Duration
}

// build makes the leaf of a plan.
func (r *relation) build(a *plan.Analyzer) (plan.Node, error) {
	return &plan.Relation{Source: r.name, Streaming: r.streaming, Attrs: a.Attrs(r.schema, ""), Table: r}, nil
}

// open makes the source.
func (r *relation) open(env connector.Env) (connector.Source, error) {
	env.Name, env.Static = r.name, !r.streaming
	return r.spec.NewSource(r.s.env(env, r.declared), r.options)
}

// partitions are all rows of a bounded relation. The source is closed by close.
func (r *relation) partitions(ctx context.Context) (parts []connector.Partition, close func() error, err error) {
	src, err := r.open(connector.Env{})
	if err != nil {
		return nil, nil, err
	}
	end, _, err := src.Next(ctx, nil, true)
	if err == nil {
		parts, err = src.Plan(ctx, nil, end)
	}
	if err != nil {
		_ = src.Close()
		return nil, nil, err
	}
	return parts, src.Close, nil
}

// catalog is what names in the SQL of one session mean. Names of two parts whose first one is hiddenSchema are the parts of a
// data frame that are not made by SQL.
type catalog struct {
	s      *Session
	hidden map[string]func(a *plan.Analyzer) (plan.Node, error)
}

const hiddenSchema = "\x00frame"

// Relation implements plan.Catalog.
func (c *catalog) Relation(a *plan.Analyzer, name []string) (plan.Node, bool, error) {
	if len(name) == 3 && name[0] == hiddenSchema {
		build := c.hidden[name[1]]
		if build == nil {
			return nil, false, fmt.Errorf("part %q of a data frame is not known", name[1])
		}
		n, err := build(a)
		return n, true, err
	}
	if len(name) == 2 {
		return c.s.fileRelation(a, name[0], name[1])
	}
	if len(name) != 1 {
		return nil, false, nil
	}
	c.s.mu.Lock()
	df := c.s.views[strings.ToLower(name[0])]
	c.s.mu.Unlock()
	if df == nil {
		return nil, false, nil
	}
	n, err := df.build(a, c)
	return n, true, err
}

// Relations implements plan.Catalog.
func (c *catalog) Relations() []string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var out []string
	for _, df := range c.s.views {
		out = append(out, df.view)
	}
	return out
}

// Module implements plan.Catalog.
func (c *catalog) Module(name string) (udf.Module, bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	m, ok := c.s.modules[name]
	return m, ok
}
