package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/udf"
)

// fileRelation is a file, folder or glob that a query names by its format, as in FROM json.`in/*.json`. ok is false where
// no format of files is called so.
func (s *Session) fileRelation(a *plan.Analyzer, format, path string) (n plan.Node, ok bool, err error) {
	for _, spec := range s.specs {
		if !strings.EqualFold(spec.Format, format) || !spec.NullableSchema || spec.NewSource == nil {
			continue
		}
		rel := &relation{s: s, spec: spec, options: connector.NewOptions(map[string]string{"path": path}), name: spec.Format + ".`" + path + "`"}
		if rel.schema, err = rel.findSchema(); err != nil {
			return nil, false, err
		}
		n, err := rel.build(a)
		return n, err == nil, err
	}
	return nil, false, nil
}

// Files is a catalog in which a query can name files as FROM json.`in/*.json`, beside the relations of another catalog.
type Files struct {
	s     *Session
	inner plan.Catalog
	read  func(ctx context.Context, rel *plan.Relation) ([]connector.Partition, error)
	open  []func() error
}

// NewFiles makes a catalog of files and the relations of inner, which read reads. The session gives connectors, time zone
// and file system. It serves one statement at a time.
func NewFiles(s *Session, inner plan.Catalog, read func(ctx context.Context, rel *plan.Relation) ([]connector.Partition, error)) *Files {
	return &Files{s: s, inner: inner, read: read}
}

// Relation implements plan.Catalog. Relations of the inner catalog go first.
func (f *Files) Relation(a *plan.Analyzer, name []string) (plan.Node, bool, error) {
	n, ok, err := f.inner.Relation(a, name)
	if ok || err != nil || len(name) != 2 {
		return n, ok, err
	}
	return f.s.fileRelation(a, name[0], name[1])
}

// Relations implements plan.Catalog.
func (f *Files) Relations() []string { return f.inner.Relations() }

// Module implements plan.Catalog.
func (f *Files) Module(name string) (udf.Module, bool) { return f.inner.Module(name) }

// Read plans the reading of a relation of the catalog.
func (f *Files) Read(ctx context.Context, rel *plan.Relation) ([]connector.Partition, error) {
	r, ok := rel.Table.(*relation)
	if !ok {
		if f.read == nil {
			return nil, fmt.Errorf("relation %q cannot be read here", rel.Source)
		}
		return f.read(ctx, rel)
	}
	parts, close, err := r.partitions(ctx)
	if err == nil {
		f.open = append(f.open, close)
	}
	return parts, err
}

// Done closes the files of a statement.
func (f *Files) Done() error {
	var first error
	for _, close := range f.open {
		if err := close(); err != nil && first == nil {
			first = err
		}
	}
	f.open = nil
	return first
}
