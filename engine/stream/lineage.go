package stream

import (
	"fmt"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// lineage writes an expression over the columns of n in terms of the sources' columns, so that names given on the way do
// not matter: renaming an alias changes nothing, grouping by something else does.
func lineage(e expr.Expr, n plan.Node) string {
	e = expr.Transform(e, func(x expr.Expr) expr.Expr {
		switch x := x.(type) {
		case *expr.Attr:
			c := *x
			c.Name = origin(x.ID, n)
			if c.Name == "" {
				c.Name = x.Name
			}
			return &c
		case *expr.Alias:
			return x.Child
		}
		return x
	})
	text := e.SQL()
	if len(text) > 200 { // definitions may nest and repeat
		text = fmt.Sprintf("%s…#%016x", strings.ToValidUTF8(text[:120], ""), columnar.HashBytes([]byte(text)))
	}
	return text
}

// origin is where a column of n comes from, empty if n does not have it.
func origin(id expr.AttrID, n plan.Node) string {
	switch n := n.(type) {
	case *plan.Relation:
		return among(id, n.Attrs, n.Source+".")
	case *plan.Local:
		return among(id, n.Attrs, "")
	case *plan.Project:
		return defined(id, n.Exprs, n.Child)
	case *plan.Aggregate:
		if s := defined(id, n.Exprs, n.Child); s != "" {
			return s
		}
		return defined(id, n.Keys, n.Child)
	case *plan.TimeWindow:
		if id == n.Window.ID {
			return fmt.Sprintf("window(%s, %d us, %d us, %d us)", lineage(n.Time, n.Child), n.Size, n.Slide, n.Start)
		}
	case *plan.SessionWindow:
		if id == n.Window.ID {
			return fmt.Sprintf("session_window(%s, %s)", lineage(n.Time, n.Child), lineage(n.Gap, n.Child))
		}
	case *plan.Expand:
		for i, a := range n.Attrs {
			if a.ID == id && len(n.Projections) > 0 {
				return lineage(n.Projections[0][i], n.Child)
			}
		}
	case *plan.Generate:
		if s := among(id, n.Attrs, lineage(n.Generator, n.Child)+"."); s != "" {
			return s
		}
	case *plan.Window:
		for _, e := range n.Exprs {
			if plan.NamedAttr(e).ID == id {
				return lineage(e, n.Child)
			}
		}
	case *plan.UDFRows:
		if s := among(id, n.Attrs, n.Info.Module+"."+n.Info.Name+"."); s != "" {
			return s
		}
	case *plan.GroupState:
		return among(id, n.Attrs, n.Info.Module+"."+n.Info.Name+".")
	case *plan.Union:
		return originOfBoth(id, n.Attrs, n.Inputs)
	case *plan.SetOp:
		return originOfBoth(id, n.Attrs, []plan.Node{n.Left, n.Right})
	}
	for _, c := range n.Children() {
		if s := origin(id, c); s != "" {
			return s
		}
	}
	return ""
}

func among(id expr.AttrID, attrs []*expr.Attr, prefix string) string {
	for _, a := range attrs {
		if a.ID == id {
			return prefix + a.Name
		}
	}
	return ""
}

func defined(id expr.AttrID, exprs []expr.Expr, child plan.Node) string {
	for _, e := range exprs {
		if plan.NamedAttr(e).ID == id {
			return lineage(e, child)
		}
	}
	return ""
}

func originOfBoth(id expr.AttrID, attrs []*expr.Attr, inputs []plan.Node) string {
	for i, a := range attrs {
		if a.ID != id {
			continue
		}
		var parts []string
		for _, in := range inputs {
			parts = append(parts, origin(in.Output()[i].ID, in))
		}
		return "(" + strings.Join(parts, " | ") + ")"
	}
	return ""
}
