package plan

import "github.com/wstream/wstream/engine/expr"

// NamedAttr is the column that a named expression of a Project or Aggregate makes.
func NamedAttr(e expr.Expr) *expr.Attr {
	switch x := e.(type) {
	case *expr.Attr:
		return x
	case *expr.Alias:
		return &expr.Attr{ID: x.ID, Name: x.Name, Typ: x.Type(), Null: x.Nullable(), EventTime: eventTimeOf(x.Child)}
	}
	return &expr.Attr{Name: e.SQL(), Typ: e.Type(), Null: e.Nullable()}
}

func namedAttrs(es []expr.Expr) []*expr.Attr {
	out := make([]*expr.Attr, len(es))
	for i, e := range es {
		out[i] = NamedAttr(e)
	}
	return out
}

// nullable are copies of attrs that may be null, for the side of an outer join that may be missing.
func nullable(attrs []*expr.Attr) []*expr.Attr {
	out := make([]*expr.Attr, len(attrs))
	for i, a := range attrs {
		c := *a
		c.Null = true
		out[i] = &c
	}
	return out
}

func concat(a, b []*expr.Attr) []*expr.Attr {
	return append(append(make([]*expr.Attr, 0, len(a)+len(b)), a...), b...)
}

// Output implements Node.
func (n *Relation) Output() []*expr.Attr { return n.Attrs }

// Output implements Node.
func (n *Local) Output() []*expr.Attr { return n.Attrs }

// Output implements Node.
func (n *Project) Output() []*expr.Attr { return namedAttrs(n.Exprs) }

// Output implements Node.
func (n *Filter) Output() []*expr.Attr { return n.Child.Output() }

// Output implements Node.
func (n *Watermark) Output() []*expr.Attr { return n.Attrs }

// Output implements Node.
func (n *TimeWindow) Output() []*expr.Attr {
	return concat(n.Child.Output(), []*expr.Attr{n.Window})
}

// Output implements Node.
func (n *SessionWindow) Output() []*expr.Attr {
	return concat(n.Child.Output(), []*expr.Attr{n.Window})
}

// Output implements Node.
func (n *Aggregate) Output() []*expr.Attr { return namedAttrs(n.Exprs) }

// Output implements Node.
func (n *Expand) Output() []*expr.Attr { return n.Attrs }

// Output implements Node.
func (n *Join) Output() []*expr.Attr {
	l, r := n.Left.Output(), n.Right.Output()
	switch n.Kind {
	case LeftSemi, LeftAnti:
		return l
	case LeftJoin:
		return concat(l, nullable(r))
	case RightJoin:
		return concat(nullable(l), r)
	case FullJoin:
		return concat(nullable(l), nullable(r))
	}
	return concat(l, r)
}

// Output implements Node.
func (n *Union) Output() []*expr.Attr { return n.Attrs }

// Output implements Node.
func (n *SetOp) Output() []*expr.Attr { return n.Attrs }

// Output implements Node.
func (n *Dedup) Output() []*expr.Attr { return n.Child.Output() }

// Output implements Node.
func (n *Sort) Output() []*expr.Attr { return n.Child.Output() }

// Output implements Node.
func (n *Limit) Output() []*expr.Attr { return n.Child.Output() }

// Output implements Node.
func (n *Sample) Output() []*expr.Attr { return n.Child.Output() }

// Output implements Node.
func (n *Generate) Output() []*expr.Attr { return concat(n.Child.Output(), n.Attrs) }

// Output implements Node.
func (n *Window) Output() []*expr.Attr { return concat(n.Child.Output(), namedAttrs(n.Exprs)) }

// Output implements Node.
func (n *Alias) Output() []*expr.Attr { return n.Attrs }

// Output implements Node.
func (n *UDFRows) Output() []*expr.Attr { return n.Attrs }

// Output implements Node.
func (n *UDFFilter) Output() []*expr.Attr { return n.Child.Output() }

// Output implements Node.
func (n *GroupState) Output() []*expr.Attr { return n.Attrs }

// Output implements Node.
func (n *LateOutput) Output() []*expr.Attr { return n.Child.Output() }

// Children implements Node.
func (n *Relation) Children() []Node { return nil }

// Children implements Node.
func (n *Local) Children() []Node { return nil }

// Children implements Node.
func (n *Project) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *Filter) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *Watermark) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *TimeWindow) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *SessionWindow) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *Aggregate) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *Expand) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *Join) Children() []Node { return []Node{n.Left, n.Right} }

// Children implements Node.
func (n *Union) Children() []Node { return n.Inputs }

// Children implements Node.
func (n *SetOp) Children() []Node { return []Node{n.Left, n.Right} }

// Children implements Node.
func (n *Dedup) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *Sort) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *Limit) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *Sample) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *Generate) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *Window) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *Alias) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *UDFRows) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *UDFFilter) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *GroupState) Children() []Node { return []Node{n.Child} }

// Children implements Node.
func (n *LateOutput) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Relation) WithChildren([]Node) Node { return n }

// WithChildren implements Node.
func (n *Local) WithChildren([]Node) Node { return n }

// WithChildren implements Node.
func (n *Project) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *Filter) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *Watermark) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *TimeWindow) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *SessionWindow) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *Aggregate) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *Expand) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *Join) WithChildren(c []Node) Node { m := *n; m.Left, m.Right = c[0], c[1]; return &m }

// WithChildren implements Node.
func (n *Union) WithChildren(c []Node) Node { m := *n; m.Inputs = c; return &m }

// WithChildren implements Node.
func (n *SetOp) WithChildren(c []Node) Node { m := *n; m.Left, m.Right = c[0], c[1]; return &m }

// WithChildren implements Node.
func (n *Dedup) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *Sort) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *Limit) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *Sample) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *Generate) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *Window) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *Alias) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *UDFRows) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *UDFFilter) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *GroupState) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// WithChildren implements Node.
func (n *LateOutput) WithChildren(c []Node) Node { m := *n; m.Child = c[0]; return &m }

// Name implements Node.
func (*Relation) Name() string { return "Relation" }

// Name implements Node.
func (*Local) Name() string { return "Local" }

// Name implements Node.
func (*Project) Name() string { return "Project" }

// Name implements Node.
func (*Filter) Name() string { return "Filter" }

// Name implements Node.
func (*Watermark) Name() string { return "Watermark" }

// Name implements Node.
func (*TimeWindow) Name() string { return "TimeWindow" }

// Name implements Node.
func (*SessionWindow) Name() string { return "SessionWindow" }

// Name implements Node.
func (*Aggregate) Name() string { return "Aggregate" }

// Name implements Node.
func (*Expand) Name() string { return "Expand" }

// Name implements Node.
func (*Join) Name() string { return "Join" }

// Name implements Node.
func (*Union) Name() string { return "Union" }

// Name implements Node.
func (n *SetOp) Name() string {
	if n.Except {
		return "Except"
	}
	return "Intersect"
}

// Name implements Node.
func (*Dedup) Name() string { return "Deduplicate" }

// Name implements Node.
func (*Sort) Name() string { return "Sort" }

// Name implements Node.
func (*Limit) Name() string { return "Limit" }

// Name implements Node.
func (*Sample) Name() string { return "Sample" }

// Name implements Node.
func (*Generate) Name() string { return "Generate" }

// Name implements Node.
func (*Window) Name() string { return "Window" }

// Name implements Node.
func (*Alias) Name() string { return "Alias" }

// Name implements Node.
func (n *UDFRows) Name() string { return string(n.Info.Kind) }

// Name implements Node.
func (*UDFFilter) Name() string { return "filter" }

// Name implements Node.
func (*GroupState) Name() string { return "FlatMapGroupsWithState" }

// Name implements Node.
func (*LateOutput) Name() string { return "LateOutput" }

// Walk calls f for n and everything below it, parents first; f returning false skips the inputs.
func Walk(n Node, f func(Node) bool) {
	if !f(n) {
		return
	}
	for _, c := range n.Children() {
		Walk(c, f)
	}
}

// Transform rebuilds n bottom up through f.
func Transform(n Node, f func(Node) Node) Node {
	old := n.Children()
	var changed []Node
	for i, c := range old {
		m := Transform(c, f)
		if m != c && changed == nil {
			changed = append(make([]Node, 0, len(old)), old...)
		}
		if changed != nil {
			changed[i] = m
		}
	}
	if changed != nil {
		n = n.WithChildren(changed)
	}
	return f(n)
}

// IsStreaming tells whether a streaming relation is anywhere below n.
func IsStreaming(n Node) bool {
	found := false
	Walk(n, func(m Node) bool {
		if r, ok := m.(*Relation); ok && r.Streaming {
			found = true
		}
		return !found
	})
	return found
}
