package plan

import (
	"fmt"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// Outline is a plan in a form that is stable over releases: `explain --format json` prints it, and
// another engine can be driven by it. Columns are named name#id, so that equal names stay apart.
type Outline struct {
	Op      string          `json:"op"`
	Details map[string]any  `json:"details,omitempty"`
	Output  []OutlineColumn `json:"output"`
	Inputs  []*Outline      `json:"inputs,omitempty"`
	ID      *int            `json:"statefulOperator,omitempty"`
}

// OutlineColumn is a column of a node's output.
type OutlineColumn struct {
	Name      string `json:"name"`
	ID        int64  `json:"id"`
	Type      string `json:"type"`
	Nullable  bool   `json:"nullable"`
	Watermark string `json:"watermark,omitempty"`
}

// OutlineOf describes a plan.
func OutlineOf(n Node) *Outline {
	o := &Outline{Op: n.Name(), Details: map[string]any{}}
	for _, a := range n.Output() {
		c := OutlineColumn{Name: a.Name, ID: int64(a.ID), Type: a.Typ.SQL(), Nullable: a.Null}
		if a.EventTime != nil {
			c.Watermark = micros(a.EventTime.DelayMicros)
		}
		o.Output = append(o.Output, c)
	}
	if o.Output == nil {
		o.Output = []OutlineColumn{}
	}
	stateful := func(id int) {
		if id >= 0 {
			o.ID = &id
		}
	}
	d := o.Details
	switch m := n.(type) {
	case *Relation:
		d["source"], d["streaming"] = m.Source, m.Streaming
	case *Local:
		d["rows"] = m.Data.Rows
	case *Project:
		d["exprs"] = texts(m.Exprs)
	case *Filter:
		d["condition"] = text(m.Cond)
	case *Watermark:
		d["column"], d["delay"] = text(m.Column), micros(m.DelayMicros)
		if m.ByPartition {
			d["scope"] = "partition"
		}
		if m.IdleMicros > 0 {
			d["idle"] = micros(m.IdleMicros)
		}
	case *TimeWindow:
		d["time"], d["size"], d["slide"], d["start"] = text(m.Time), micros(m.Size), micros(m.Slide), micros(m.Start)
	case *SessionWindow:
		d["time"], d["gap"] = text(m.Time), text(m.Gap)
	case *Aggregate:
		d["keys"], d["exprs"] = texts(m.Keys), texts(m.Exprs)
		if m.Session != nil {
			d["session"] = text(m.Session)
		}
		stateful(m.ID)
	case *Expand:
		var rows [][]string
		for _, p := range m.Projections {
			rows = append(rows, texts(p))
		}
		d["projections"] = rows
	case *Join:
		d["kind"] = string(m.Kind)
		if m.Cond != nil {
			d["condition"] = text(m.Cond)
		}
		stateful(m.ID)
	case *SetOp:
		d["all"] = m.All
	case *Dedup:
		var keys []expr.Expr
		for _, k := range m.Keys {
			keys = append(keys, k)
		}
		d["keys"], d["withinWatermark"] = texts(keys), m.WithinWatermark
		stateful(m.ID)
	case *Sort:
		d["keys"], d["global"] = sortTexts(m.Keys), m.Global
	case *Limit:
		d["count"], d["offset"] = m.Count, m.Offset
		stateful(m.ID)
	case *Sample:
		d["fraction"] = m.Fraction
	case *Generate:
		d["generator"], d["outer"] = text(m.Generator), m.Outer
	case *Window:
		d["exprs"], d["partition"], d["order"] = texts(m.Exprs), texts(m.Partition), sortTexts(m.Order)
	case *Alias:
		d["relation"] = m.Relation
	case *UDFRows:
		d["function"] = m.Info.Module + "." + m.Info.Name
		onError(d, m.OnError)
	case *UDFFilter:
		d["function"] = m.Info.Module + "." + m.Info.Name
		onError(d, m.OnError)
	case *GroupState:
		d["function"], d["mode"], d["timeout"] = m.Info.Module+"."+m.Info.Name, m.Info.Mode, m.Info.Timeout
		onError(d, m.OnError)
		stateful(m.ID)
	case *LateOutput:
		d["sink"] = m.Sink
	}
	if len(d) == 0 {
		o.Details = nil
	}
	for _, c := range n.Children() {
		o.Inputs = append(o.Inputs, OutlineOf(c))
	}
	return o
}

func onError(d map[string]any, p OnError) {
	switch {
	case p.Skip:
		d["onError"] = "skip"
	case p.DeadLetter != "":
		d["onError"] = "deadLetter " + p.DeadLetter
	}
}

// text prints an expression with the identities of its columns.
func text(e expr.Expr) string {
	if al, ok := e.(*expr.Alias); ok {
		return text(al.Child) + " AS " + columnar.QuoteIdentifier(al.Name) + "#" + itoa(int64(al.ID))
	}
	return expr.Transform(e, func(x expr.Expr) expr.Expr {
		if a, ok := x.(*expr.Attr); ok {
			c := *a
			c.Name = a.Name + "#" + itoa(int64(a.ID))
			return &c
		}
		return x
	}).SQL()
}

func texts(es []expr.Expr) []string {
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = text(e)
	}
	return out
}

func sortTexts(keys []expr.SortKey) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = text(k.Expr)
		if k.Desc {
			out[i] += " DESC"
		} else {
			out[i] += " ASC"
		}
		if k.NullsFirst {
			out[i] += " NULLS FIRST"
		} else {
			out[i] += " NULLS LAST"
		}
	}
	return out
}

// micros prints a length of time in the largest unit that divides it.
func micros(v int64) string {
	for _, u := range []struct {
		n    int64
		name string
	}{{86_400_000_000, "day"}, {3_600_000_000, "hour"}, {60_000_000, "minute"}, {1_000_000, "second"}, {1000, "millisecond"}} {
		if v != 0 && v%u.n == 0 {
			if v/u.n == 1 {
				return "1 " + u.name
			}
			return fmt.Sprintf("%d %ss", v/u.n, u.name)
		}
	}
	if v == 0 {
		return "0 seconds"
	}
	return fmt.Sprintf("%d microseconds", v)
}

// Text is a plan as a tree of lines for people, outputs first.
func Text(n Node) string {
	var b strings.Builder
	writeText(&b, OutlineOf(n), "", "")
	return b.String()
}

func writeText(b *strings.Builder, o *Outline, first, rest string) {
	b.WriteString(first)
	b.WriteString(o.Op)
	for _, k := range sortedKeys(o.Details) {
		switch v := o.Details[k].(type) {
		case bool:
			if v {
				b.WriteString(" " + k)
			}
		case []string:
			if len(v) > 0 {
				fmt.Fprintf(b, " %s=[%s]", k, strings.Join(v, ", "))
			}
		default:
			fmt.Fprintf(b, " %s=%v", k, v)
		}
	}
	if o.ID != nil {
		fmt.Fprintf(b, " state=%d", *o.ID)
	}
	b.WriteByte('\n')
	for i, c := range o.Inputs {
		if i == len(o.Inputs)-1 {
			writeText(b, c, rest+"└─ ", rest+"   ")
		} else {
			writeText(b, c, rest+"├─ ", rest+"│  ")
		}
	}
}

func sortedKeys(m map[string]any) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// Mermaid is a plan as a flow chart in Mermaid's language, inputs on the left.
func Mermaid(n Node) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	next := 0
	var walk func(o *Outline) int
	walk = func(o *Outline) int {
		id := next
		next++
		label := o.Op
		for _, k := range []string{"source", "function", "condition", "keys", "size", "kind", "delay"} {
			if v, ok := o.Details[k]; ok {
				label += "<br/>" + strings.NewReplacer(`"`, "'", "[", "(", "]", ")").Replace(fmt.Sprintf("%s: %v", k, v))
			}
		}
		fmt.Fprintf(&b, "  n%d[\"%s\"]\n", id, label)
		for _, c := range o.Inputs {
			fmt.Fprintf(&b, "  n%d --> n%d\n", walk(c), id)
		}
		return id
	}
	walk(OutlineOf(n))
	return b.String()
}
