package pipeline

import (
	"fmt"
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/engine/udf"
)

// Catalog resolves the names of a pipeline file: sources and views, and the functions of its modules.
type Catalog struct {
	File    *File
	Sources map[string]*Relation  // by source name: schema and whether it is streaming
	Modules map[string]udf.Module // by module name

	busy   map[string]bool // views being resolved, against cycles
	behind bool            // a query named an element with a fault of its own, so that its faults may come of that
}

// Relation is what the planner must know of a source.
type Relation struct {
	Attrs  func(a *plan.Analyzer) []*expr.Attr
	Static bool
	Table  any
}

// Relations implements plan.Catalog.
func (c *Catalog) Relations() []string {
	var out []string
	for _, s := range c.File.Sources {
		out = append(out, s.Name)
	}
	for _, v := range c.File.Views {
		out = append(out, v.Name)
	}
	return out
}

// Module implements plan.Catalog.
func (c *Catalog) Module(name string) (udf.Module, bool) {
	m, ok := c.Modules[name]
	c.behind = c.behind || c.File.faultyModule(name)
	return m, ok
}

// Relation implements plan.Catalog.
func (c *Catalog) Relation(a *plan.Analyzer, name []string) (plan.Node, bool, error) {
	if len(name) != 1 {
		return nil, false, nil
	}
	for _, s := range c.File.Sources {
		if strings.EqualFold(s.Name, name[0]) {
			r := c.Sources[s.Name]
			c.behind = c.behind || c.File.faulty[s]
			if r == nil {
				return nil, false, fmt.Errorf("source %q was not opened", s.Name)
			}
			return &plan.Relation{Source: s.Name, Streaming: !r.Static, Attrs: r.Attrs(a), Table: r.Table}, true, nil
		}
	}
	for _, v := range c.File.Views {
		if strings.EqualFold(v.Name, name[0]) {
			c.behind = c.behind || c.File.faulty[v]
			n, err := c.view(a, v)
			return n, true, err
		}
	}
	return nil, false, nil
}

// viewError marks an error of a view that another query names, so that its place is the view's.
type viewError struct{ err *Error }

func (e *viewError) Error() string { return e.err.Error() }
func (e *viewError) Unwrap() error { return e.err.Cause }

func (c *Catalog) fault(p Pos, what string, err error) error {
	if _, ok := err.(*viewError); ok {
		return err
	}
	e := &Error{File: c.File.Path, Line: p.Line, Col: p.Col, Cause: err}
	if se := asSpark(err); se != nil {
		e.Message, e.Suggestion = sparkText(what, se), se.Suggestion
	} else {
		e.Message = what + ": " + err.Error()
	}
	return &viewError{e}
}

// query analyses the text of a query.
func (c *Catalog) query(a *plan.Analyzer, s *SQL, what string) (plan.Node, error) {
	q, err := sql.ParseQuery(s.Text)
	if err == nil {
		var n plan.Node
		if n, err = a.Query(q); err == nil {
			return n, nil
		}
	}
	p := s.at.at(1, 1)
	if se := asSpark(err); se != nil && se.Line > 0 {
		p = s.at.at(se.Line, se.Col)
	}
	return nil, c.fault(p, what, err)
}

// view analyses a view, each time anew: its columns get identities of their own.
func (c *Catalog) view(a *plan.Analyzer, v *View) (plan.Node, error) {
	what := fmt.Sprintf("view %q", v.Name)
	key := strings.ToLower(v.Name)
	if c.busy == nil {
		c.busy = map[string]bool{}
	}
	if c.busy[key] {
		return nil, c.fault(v.Pos, what, sparkerr.New("RECURSIVE_VIEW", "the view refers to itself, by way of others perhaps"))
	}
	c.busy[key] = true
	defer delete(c.busy, key)
	n, err := c.viewBody(a, v, what)
	if err != nil {
		return nil, err
	}
	if v.Late != "" {
		n = &plan.LateOutput{Sink: v.Late, Child: n}
	}
	return n, nil
}

func (c *Catalog) viewBody(a *plan.Analyzer, v *View, what string) (plan.Node, error) {
	if v.SQL != nil {
		return c.query(a, v.SQL, what)
	}
	n, ok, err := c.Relation(a, []string{v.From})
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, c.fault(v.FromPos, what, sparkerr.New("TABLE_OR_VIEW_NOT_FOUND", "no source or view %q", v.From))
	}
	on := plan.OnError{Skip: v.OnError.Skip, DeadLetter: v.OnError.DeadLetter}
	for i := range v.Steps {
		st := &v.Steps[i]
		if n, err = c.step(a, n, st, on, fmt.Sprintf("%s: step %q", what, st.Kind)); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (c *Catalog) step(a *plan.Analyzer, n plan.Node, st *Step, on plan.OnError, what string) (plan.Node, error) {
	call := func(fn string, kind udf.Kind) (plan.Node, error) {
		mod, f, _ := strings.Cut(fn, ".")
		m, ok := c.Module(mod)
		if !ok {
			return nil, c.fault(st.Pos, what, fmt.Errorf("module %q was not loaded", mod))
		}
		out, err := a.Module(n, m, f, kind, on)
		if err != nil {
			return nil, c.fault(st.Pos, what, err)
		}
		return out, nil
	}
	switch {
	case st.Parse != "":
		return call(st.Parse, udf.Parse)
	case st.Filter != "":
		return call(st.Filter, udf.Filter)
	case st.Map != "":
		return call(st.Map, udf.Map)
	case st.State != "":
		return call(st.State, udf.State)
	case st.SQL != nil:
		inner := &inputCatalog{Catalog: c, node: n}
		saved := a.Catalog
		a.Catalog = inner
		defer func() { a.Catalog = saved }()
		return c.query(a, st.SQL, what)
	case st.Watermark != nil:
		w := st.Watermark
		spec := plan.WatermarkSpec{DelayText: w.Delay, ByPartition: w.Scope == "partition", Origin: w}
		d, err := plan.ParseDelay(w.Delay)
		if err != nil {
			return nil, c.fault(w.pos["delay"], what, err)
		}
		spec.DelayMicros = d
		if w.Idle != "" {
			if spec.IdleMicros, err = plan.ParseDelay(w.Idle); err != nil {
				return nil, c.fault(w.pos["idle"], what, err)
			}
		}
		out, err := a.Watermark(n, w.Column, spec)
		if err != nil {
			return nil, c.fault(w.pos["column"], what, err)
		}
		return out, nil
	case st.dedup:
		out, err := a.DropDuplicates(n, st.DropDuplicates, st.Within)
		if err != nil {
			return nil, c.fault(st.Pos, what, err)
		}
		return out, nil
	}
	return nil, c.fault(st.Pos, what, fmt.Errorf("the step is empty"))
}

// inputCatalog adds the name `input` of a step's query.
type inputCatalog struct {
	*Catalog
	node plan.Node
}

// Relation implements plan.Catalog.
func (c *inputCatalog) Relation(a *plan.Analyzer, name []string) (plan.Node, bool, error) {
	if len(name) == 1 && strings.EqualFold(name[0], "input") {
		return c.node, true, nil
	}
	return c.Catalog.Relation(a, name)
}

// Relations implements plan.Catalog.
func (c *inputCatalog) Relations() []string {
	return append([]string{"input"}, c.Catalog.Relations()...)
}

// Plan analyses what a sink takes.
func (c *Catalog) Plan(a *plan.Analyzer, s *Sink) (plan.Node, error) {
	n, ok, err := c.Relation(a, []string{s.From})
	if err != nil {
		return nil, unwrapView(err)
	}
	what := fmt.Sprintf("sink %q", s.Name)
	if !ok {
		return nil, unwrapView(c.fault(s.pos("from"), what, sparkerr.New("TABLE_OR_VIEW_NOT_FOUND", "no source or view %q", s.From)))
	}
	return n, nil
}

// fail is an error at a key of a sink.
func (c *Catalog) fail(s *Sink, key string, err error) error {
	return unwrapView(c.fault(s.pos(key), fmt.Sprintf("sink %q", s.Name), err))
}

func unwrapView(err error) error {
	if v, ok := err.(*viewError); ok {
		return v.err
	}
	return err
}
