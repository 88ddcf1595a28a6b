// Package batch runs bounded queries: SQL over tables that are read once. It is what `wstream sql`,
// the batch actions of the Go API and the golden cases of the functions run on.
package batch

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/exec"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/engine/udf"
)

// Session holds what statements share: functions, settings, relations, and the temporary views that
// statements make. It serves one goroutine.
type Session struct {
	Registry *expr.Registry
	Settings plan.Settings
	// Catalog has the relations from outside; nil has none.
	Catalog plan.Catalog
	// Input reads a relation of the catalog; nil fails for every relation.
	Input func(ctx context.Context, rel *plan.Relation) ([]connector.Partition, error)
	// Workers is the number of goroutines of a statement; 0 is 1, which suits small data.
	Workers int

	views map[string]view
}

type view struct {
	name    string
	query   sql.Query
	columns []string
}

// Result is the rows of a statement.
type Result struct {
	Schema  *columnar.Schema
	Batches []*columnar.Batch
}

// Rows is the number of rows.
func (r *Result) Rows() int {
	n := 0
	for _, b := range r.Batches {
		n += b.Rows
	}
	return n
}

// Run runs a statement. Statements that are no queries give a result without columns.
func (s *Session) Run(ctx context.Context, text string) (*Result, error) {
	st, err := sql.ParseStatement(WithoutVariables(text))
	if err != nil {
		return nil, err
	}
	switch st := st.(type) {
	case *sql.QueryStatement:
		return s.query(ctx, st.Query)
	case *sql.CreateView:
		return s.createView(st)
	case *sql.SetOption:
		return s.set(st)
	case *sql.Describe:
		return s.describe(st)
	}
	return nil, sparkerr.New("UNSUPPORTED_FEATURE", "this statement is not supported; known are queries, CREATE TEMPORARY VIEW, SET and DESCRIBE")
}

// Plan analyses and optimises a query.
func (s *Session) Plan(q sql.Query) (plan.Node, error) {
	a := plan.NewAnalyzer(catalog{s}, s.Settings, s.Registry)
	n, err := a.Query(q)
	if err != nil {
		return nil, err
	}
	return a.Optimize(n), nil
}

// query runs a query; the result's schema is that of the query as analysed, since the optimiser may
// know better than Spark's analyser what is never null.
func (s *Session) query(ctx context.Context, q sql.Query) (*Result, error) {
	a := plan.NewAnalyzer(catalog{s}, s.Settings, s.Registry)
	n, err := a.Query(q)
	if err != nil {
		return nil, err
	}
	return s.execute(ctx, a.Optimize(n), schemaOf(n))
}

// Execute runs an optimised plan.
func (s *Session) Execute(ctx context.Context, root plan.Node) (*Result, error) {
	return s.execute(ctx, root, schemaOf(root))
}

func (s *Session) execute(ctx context.Context, root plan.Node, schema *columnar.Schema) (*Result, error) {
	zone := s.Settings.Zone
	if zone == nil {
		zone = time.UTC
	}
	workers := max(s.Workers, 1)
	q, err := exec.Compile(root, exec.Options{Workers: workers, Partitions: workers, Expr: expr.Context{Zone: zone, ANSI: s.Settings.ANSI}})
	if err != nil {
		return nil, err
	}
	defer q.Close()
	now := time.Now
	if s.Settings.Now != nil {
		now = s.Settings.Now
	}
	res := &Result{Schema: schema}
	_, err = q.Run(ctx, exec.Batch{
		Time: now().UnixMicro(),
		Input: func(ctx context.Context, rel *plan.Relation) ([]connector.Partition, error) {
			if s.Input == nil {
				return nil, sparkerr.New("TABLE_OR_VIEW_NOT_FOUND", "relation %q cannot be read here", rel.Source)
			}
			return s.Input(ctx, rel)
		},
		Emit: func(b *columnar.Batch) error {
			if b.Rows > 0 {
				res.Batches = append(res.Batches, b)
			}
			return nil
		},
	})
	if err != nil {
		return nil, statementError(err)
	}
	return res, nil
}

// statementError takes off where in the engine a statement has failed: it is no batch of a query, and its operators are
// of the engine's making.
func statementError(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		at, ok := strings.CutSuffix(err.Error(), inner.Error())
		if !ok || !strings.HasPrefix(at, "batch ") && !strings.HasPrefix(at, "operator ") {
			return err
		}
		err = inner
	}
}

// schemaOf is a plan's output with the names as the query has them.
func schemaOf(n plan.Node) *columnar.Schema {
	out := n.Output()
	fields := make([]columnar.Field, len(out))
	for i, a := range out {
		fields[i] = a.Field()
	}
	return columnar.NewSchema(fields...)
}

func (s *Session) createView(v *sql.CreateView) (*Result, error) {
	name := v.Name[len(v.Name)-1].Name
	key := strings.ToLower(name)
	if _, ok := s.views[key]; ok && !v.Replace {
		if v.IfNotExists {
			return &Result{Schema: columnar.NewSchema()}, nil
		}
		return nil, sparkerr.New("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS", "cannot create the temporary view `%s` because it already exists; use CREATE OR REPLACE", name)
	}
	if _, err := s.Plan(v.Query); err != nil {
		return nil, err
	}
	if s.views == nil {
		s.views = map[string]view{}
	}
	s.views[key] = view{name, v.Query, sql.Names(v.Columns)}
	return &Result{Schema: columnar.NewSchema()}, nil
}

func (s *Session) describe(d *sql.Describe) (*Result, error) {
	q := d.Query
	if q == nil {
		q = &sql.TableQuery{Span: d.Span, Table: &sql.Table{Span: d.Span, Name: d.Table}}
	}
	n, err := s.Plan(q)
	if err != nil {
		return nil, err
	}
	names, types := columnar.NewBuilder(columnar.String, 0), columnar.NewBuilder(columnar.String, 0)
	for _, o := range n.Output() {
		names.AppendString(o.Name)
		types.AppendString(o.Typ.String())
	}
	schema := columnar.NewSchema(columnar.Field{Name: "col_name", Type: columnar.String}, columnar.Field{Name: "data_type", Type: columnar.String})
	rows := names.Len()
	return &Result{Schema: schema, Batches: []*columnar.Batch{columnar.NewBatch(schema, []*columnar.Column{names.Finish(), types.Finish()}, rows)}}, nil
}

// catalog puts the session's temporary views before the relations from outside.
type catalog struct{ s *Session }

// Relation implements plan.Catalog.
func (c catalog) Relation(a *plan.Analyzer, name []string) (plan.Node, bool, error) {
	if len(name) == 1 {
		if v, ok := c.s.views[strings.ToLower(name[0])]; ok {
			n, err := a.Query(v.query)
			if err == nil && len(v.columns) > 0 {
				n, err = a.Rename(n, v.columns)
			}
			return n, true, err
		}
	}
	if c.s.Catalog == nil {
		return nil, false, nil
	}
	return c.s.Catalog.Relation(a, name)
}

// Relations implements plan.Catalog.
func (c catalog) Relations() []string {
	var out []string
	for _, v := range c.s.views {
		out = append(out, v.name)
	}
	if c.s.Catalog != nil {
		out = append(out, c.s.Catalog.Relations()...)
	}
	return out
}

// Module implements plan.Catalog.
func (c catalog) Module(name string) (udf.Module, bool) {
	if c.s.Catalog == nil {
		return nil, false
	}
	return c.s.Catalog.Module(name)
}

// WithoutVariables takes references to configuration variables, ${name}, out of a statement, as Spark does with those
// that are not set; no setting of this session can be referred to.
func WithoutVariables(text string) string {
	if !strings.Contains(text, "${") {
		return text
	}
	var b strings.Builder
	for {
		from := strings.Index(text, "${")
		if from < 0 {
			break
		}
		to := strings.IndexByte(text[from:], '}')
		if to < 0 {
			break
		}
		b.WriteString(text[:from])
		text = text[from+to+1:]
	}
	return b.String() + text
}
