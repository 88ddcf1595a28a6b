package exec

import (
	"fmt"
	"slices"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// compiler turns plan nodes into pipelines.
type compiler struct {
	q    *Query
	opt  *Options
	late string // sink for late rows of the operators being compiled; empty for none
	// first tells that the operator above keeps the first of some rows, so that their order shows.
	first bool
}

// compileFor compiles the input of an operator to which the order of rows matters or not.
func (c *compiler) compileFor(first bool, n plan.Node, need attrSet) (*pipe, error) {
	saved := c.first
	c.first = first
	p, err := c.compile(n, need)
	c.first = saved
	return p, err
}

// compile makes a pipeline whose rows have the needed columns of n, and maybe others.
func (c *compiler) compile(n plan.Node, need attrSet) (*pipe, error) {
	switch n := n.(type) {
	case *plan.Relation:
		return c.relation(n, need)
	case *plan.Local:
		attrs := need.of(n.Attrs)
		rows := pick(schemaOf(attrs), n.Data, positions(n.Attrs, attrs))
		return &pipe{branches: []*branch{{source: &rowsSource{rows: []*columnar.Batch{rows}}}}, attrs: attrs, static: true}, nil
	case *plan.Project:
		return c.project(n, need)
	case *plan.Filter:
		return c.filter(n, need)
	case *plan.Watermark:
		return c.watermark(n, need)
	case *plan.TimeWindow:
		return c.timeWindow(n, need)
	case *plan.SessionWindow:
		return c.sessionWindow(n, need)
	case *plan.Expand:
		return c.expand(n, need)
	case *plan.Generate:
		return c.generate(n, need)
	case *plan.Sample:
		return c.sample(n, need)
	case *plan.Union:
		return c.union(n, need)
	case *plan.Alias:
		return c.compile(n.Child, need)
	case *plan.UDFRows:
		return c.udfRows(n, need)
	case *plan.UDFFilter:
		return c.udfFilter(n, need)
	case *plan.LateOutput:
		saved := c.late
		c.late = n.Sink
		p, err := c.compile(n.Child, need)
		c.late = saved
		return p, err
	case *plan.Aggregate:
		return c.aggregate(n, need)
	case *plan.Dedup:
		return c.dedup(n, need)
	case *plan.Limit:
		return c.limit(n, need)
	case *plan.Sort:
		return c.sort(n, need)
	case *plan.SetOp:
		return c.setOp(n, need)
	case *plan.Join:
		return c.join(n, need)
	case *plan.SingleRow:
		return c.singleRow(n, need)
	case *plan.Window:
		return c.window(n, need)
	case *plan.GroupState:
		return c.groupState(n, need)
	}
	return nil, fmt.Errorf("operator %q cannot be run", n.Name())
}

// arrange adds a step that gives exactly the columns attrs, in their order.
func (c *compiler) arrange(p *pipe, attrs []*expr.Attr) error {
	pos := positions(p.attrs, attrs)
	for i, at := range pos {
		if at < 0 {
			return fmt.Errorf("column %q is not among the columns of the plan", attrs[i].Name)
		}
	}
	same := identity(pos, len(p.attrs))
	for i, a := range attrs {
		same = same && a.Name == p.attrs[pos[i]].Name && a.Null == p.attrs[pos[i]].Null
	}
	if !same {
		p.add(&columns{pos: pos, schema: schemaOf(attrs)}, false)
	}
	p.attrs = attrs
	return nil
}

// columns picks columns by position.
type columns struct {
	pos    []int
	schema *columnar.Schema
}

func (s *columns) push(w *worker, i int, in *columnar.Batch) error {
	return w.push(i+1, pick(s.schema, in, s.pos))
}

// order puts operators and watermarks in the order of their IDs.
func (c *compiler) order() {
	slices.SortStableFunc(c.q.stateful, func(a, b stateful) int { return a.info().ID - b.info().ID })
}

func (c *compiler) relation(n *plan.Relation, need attrSet) (*pipe, error) {
	s, attrs := newScan(n, len(c.q.relations), need)
	c.q.relations = append(c.q.relations, n)
	return &pipe{branches: []*branch{{source: s}}, attrs: attrs, static: !n.Streaming}, nil
}

func (c *compiler) project(n *plan.Project, need attrSet) (*pipe, error) {
	var exprs []expr.Expr
	var attrs []*expr.Attr
	for _, e := range n.Exprs {
		if a := plan.NamedAttr(e); need[a.ID] {
			exprs, attrs = append(exprs, e), append(attrs, a)
		}
	}
	p, err := c.compile(n.Child, attrSet{}.with(exprs...))
	if err != nil {
		return nil, err
	}
	bound, err := bind(exprs, p.attrs)
	if err != nil {
		return nil, operatorError("project", err)
	}
	p.add(&project{exprs: bound, schema: schemaOf(attrs)}, positional(exprs...))
	p.attrs = attrs
	return p, nil
}

func (c *compiler) filter(n *plan.Filter, need attrSet) (*pipe, error) {
	p, err := c.compile(n.Child, need.with(n.Cond))
	if err != nil {
		return nil, err
	}
	cond, err := expr.BindRefs(n.Cond, p.attrs)
	if err != nil {
		return nil, operatorError("filter", err)
	}
	attrs := need.of(p.attrs)
	keep := positions(p.attrs, attrs)
	p.add(&filter{cond: cond, keep: keep, all: identity(keep, len(p.attrs)), schema: schemaOf(attrs)}, positional(n.Cond))
	p.attrs = attrs
	return p, nil
}

func (c *compiler) watermark(n *plan.Watermark, need attrSet) (*pipe, error) {
	// The node's own attributes may differ from the child's in their event time only.
	p, err := c.compile(n.Child, need.withAttrs([]*expr.Attr{n.Column}))
	if err != nil {
		return nil, err
	}
	at := position(p.attrs, n.Column.ID)
	if at < 0 {
		return nil, fmt.Errorf("operator %q: column %q is not among the columns of the plan", "watermark", n.Column.Name)
	}
	index := -1
	for i, w := range c.q.watermark {
		if w.ID == n.ID {
			index = i
		}
	}
	if index < 0 {
		index = len(c.q.watermark)
		c.q.watermark = append(c.q.watermark, n)
	}
	p.add(&watermark{index: index, column: at, window: n.Column.Typ.Kind == columnar.KindStruct, byPartition: n.ByPartition}, false)
	attrs := make([]*expr.Attr, len(p.attrs))
	for i, a := range p.attrs {
		attrs[i] = a
		if k := position(n.Attrs, a.ID); k >= 0 {
			attrs[i] = n.Attrs[k]
		}
	}
	p.attrs = attrs
	return p, nil
}

func (c *compiler) timeWindow(n *plan.TimeWindow, need attrSet) (*pipe, error) {
	p, err := c.compile(n.Child, need.with(n.Time))
	if err != nil {
		return nil, err
	}
	s := &timeWindow{size: n.Size, slide: n.Slide, offset: n.Start}
	if s.time, err = expr.BindRefs(n.Time, p.attrs); err != nil {
		return nil, operatorError("window", err)
	}
	attrs := need.of(p.attrs)
	s.keep = positions(p.attrs, attrs)
	if need[n.Window.ID] {
		s.window = n.Window.Typ
		attrs = append(attrs, n.Window)
	}
	s.schema = schemaOf(attrs)
	p.add(s, positional(n.Time))
	p.attrs = attrs
	return p, nil
}

func (c *compiler) sessionWindow(n *plan.SessionWindow, need attrSet) (*pipe, error) {
	p, err := c.compile(n.Child, need.with(n.Time, n.Gap))
	if err != nil {
		return nil, err
	}
	s := &sessionWindow{}
	end, err := c.binder().Func("+", n.Time, n.Gap)
	if err != nil {
		return nil, operatorError("session_window", err)
	}
	bound, err := bind([]expr.Expr{n.Time, end}, p.attrs)
	if err != nil {
		return nil, operatorError("session_window", err)
	}
	s.time, s.end = bound[0], bound[1]
	attrs := need.of(p.attrs)
	s.keep = positions(p.attrs, attrs)
	if need[n.Window.ID] {
		s.window = n.Window.Typ
		attrs = append(attrs, n.Window)
	}
	s.schema = schemaOf(attrs)
	p.add(s, positional(n.Time, n.Gap))
	p.attrs = attrs
	return p, nil
}

// binder makes expressions that the plan does not have.
func (c *compiler) binder() *expr.Binder {
	return &expr.Binder{ANSI: c.opt.Expr.ANSI, Zone: c.opt.Expr.Zone, Registry: expr.NewRegistry(expr.Builtins())}
}

func (c *compiler) expand(n *plan.Expand, need attrSet) (*pipe, error) {
	var attrs []*expr.Attr
	projections := make([][]expr.Expr, len(n.Projections))
	var all []expr.Expr
	for i, a := range n.Attrs {
		if need[a.ID] {
			attrs = append(attrs, a)
			for k, p := range n.Projections {
				projections[k] = append(projections[k], p[i])
				all = append(all, p[i])
			}
		}
	}
	p, err := c.compile(n.Child, attrSet{}.with(all...))
	if err != nil {
		return nil, err
	}
	for k := range projections {
		if projections[k], err = bind(projections[k], p.attrs); err != nil {
			return nil, operatorError("expand", err)
		}
	}
	p.add(&expand{projections: projections, schema: schemaOf(attrs)}, positional(all...))
	p.attrs = attrs
	return p, nil
}

func (c *compiler) generate(n *plan.Generate, need attrSet) (*pipe, error) {
	p, err := c.compile(n.Child, need.with(n.Generator))
	if err != nil {
		return nil, err
	}
	bound, err := expr.BindRefs(n.Generator, p.attrs)
	if err != nil {
		return nil, operatorError("generate", err)
	}
	gen, ok := bound.(expr.Generator)
	if !ok {
		return nil, fmt.Errorf("operator %q: %q makes no rows", "generate", n.Generator.SQL())
	}
	attrs := need.of(p.attrs)
	s := &generate{gen: gen, outer: n.Outer, keep: positions(p.attrs, attrs)}
	for i, a := range n.Attrs {
		s.types = append(s.types, a.Typ)
		if need[a.ID] {
			s.made = append(s.made, i)
			attrs = append(attrs, a)
		}
	}
	s.schema = schemaOf(attrs)
	p.add(s, positional(n.Generator))
	p.attrs = attrs
	return p, nil
}

func (c *compiler) sample(n *plan.Sample, need attrSet) (*pipe, error) {
	if n.Fraction < 0 {
		return c.limit(&plan.Limit{Count: n.Rows, Child: n.Child, ID: -1}, need)
	}
	p, err := c.compile(n.Child, need)
	if err != nil {
		return nil, err
	}
	limit := ^uint64(0)
	if n.Fraction < 1 {
		limit = uint64(n.Fraction * (1 << 63) * 2)
	}
	p.add(&sample{limit: limit, seed: uint64(n.Seed)}, true)
	return p, nil
}

func (c *compiler) union(n *plan.Union, need attrSet) (*pipe, error) {
	attrs := need.of(n.Attrs)
	out := &pipe{attrs: attrs, static: true}
	for _, in := range n.Inputs {
		have := in.Output()
		var want []*expr.Attr
		for i, a := range n.Attrs {
			if need[a.ID] {
				want = append(want, have[i])
			}
		}
		p, err := c.compile(in, attrSet{}.withAttrs(want))
		if err != nil {
			return nil, err
		}
		p.add(&columns{pos: positions(p.attrs, want), schema: schemaOf(attrs)}, false)
		out.branches = append(out.branches, p.branches...)
		out.static = out.static && p.static
		out.lag = max(out.lag, p.lag)
	}
	return out, nil
}

func (c *compiler) udfRows(n *plan.UDFRows, need attrSet) (*pipe, error) {
	want := attrSet{}.withAttrs(n.Input)
	if n.OnError.DeadLetter != "" {
		want = want.withAttrs(n.Child.Output())
	}
	p, err := c.compile(n.Child, want)
	if err != nil {
		return nil, err
	}
	s := &udfRows{fn: n.Function, input: positions(p.attrs, n.Input), schema: schemaOf(n.Input), refusals: refusalsOf(n.Name(), n.Info.Module, n.Info.Name, n.OnError)}
	var attrs []*expr.Attr
	for i, a := range n.Attrs {
		if need[a.ID] {
			s.keep = append(s.keep, i)
			attrs = append(attrs, a)
		}
	}
	s.out = schemaOf(attrs)
	p.add(s, false)
	p.attrs = attrs
	return p, nil
}

func (c *compiler) udfFilter(n *plan.UDFFilter, need attrSet) (*pipe, error) {
	want := need.withAttrs(n.Input)
	if n.OnError.DeadLetter != "" {
		want = want.withAttrs(n.Child.Output())
	}
	p, err := c.compile(n.Child, want)
	if err != nil {
		return nil, err
	}
	attrs := need.of(p.attrs)
	p.add(&udfFilter{
		fn: n.Function, input: positions(p.attrs, n.Input), schema: schemaOf(n.Input),
		keep: positions(p.attrs, attrs), out: schemaOf(attrs),
		refusals: refusalsOf(n.Name(), n.Info.Module, n.Info.Name, n.OnError),
	}, false)
	p.attrs = attrs
	return p, nil
}

func refusalsOf(operator, module, function string, policy plan.OnError) refusals {
	return refusals{operator: operator, module: module, function: function, policy: policy}
}
