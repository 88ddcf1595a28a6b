package plan

import (
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/udf"
)

// CheckStreaming refuses what a streaming query cannot do in an output mode, before anything runs.
// It works on the analysed plan. Warnings name queries that are legal but keep state for ever.
func CheckStreaming(root Node, mode connector.OutputMode) (warnings []string, err error) {
	if !IsStreaming(root) {
		return nil, sparkerr.New("WRITE_STREAM_NOT_ALLOWED", "`writeStream` can be called only on streaming Dataset/DataFrame: the sink reads nothing but static tables; use `wstream sql` for them, or drop `static: true` of a source")
	}
	c := &streamChecker{mode: mode}
	root = conditionsIntoJoins(dropAliases(root)) // FROM l, r WHERE l.key = r.key is a join with an equality
	for _, look := range []func(Node){c.aggregatesOf, c.check, c.chains} {
		if look(root); c.err != nil {
			return nil, c.err
		}
	}
	return c.warnings, nil
}

type streamChecker struct {
	mode     connector.OutputMode
	err      error
	warnings []string
}

func (c *streamChecker) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// refuse is a refusal that Spark has no name for.
func (c *streamChecker) refuse(what, format string, args ...any) {
	c.fail(sparkerr.New("UNSUPPORTED_STREAMING_OPERATION."+what, format, args...))
}

// badMode is the refusal of an operation in the query's output mode.
func (c *streamChecker) badMode(format string, args ...any) {
	c.fail(sparkerr.New("STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION", "invalid streaming output mode: %s. This output mode is not supported for "+format, append([]any{c.mode}, args...)...))
}

// hasEventTime tells whether one of the columns carries a watermark.
func hasEventTime(attrs []*expr.Attr) bool {
	for _, a := range attrs {
		if a.EventTime != nil {
			return true
		}
	}
	return false
}

// EventTimeKey is the grouping column of an aggregation that carries a watermark, or nil.
func EventTimeKey(n *Aggregate) *expr.Attr {
	for _, k := range n.Keys {
		if a := NamedAttr(k); a.EventTime != nil {
			return a
		}
	}
	return nil
}

func (c *streamChecker) check(n Node) {
	Walk(n, func(m Node) bool {
		if c.err != nil || !IsStreaming(m) {
			return false
		}
		c.node(m)
		return c.err == nil
	})
}

func (c *streamChecker) node(n Node) {
	for _, e := range nodeExprs(n) {
		expr.Walk(e, func(x expr.Expr) bool {
			if agg, ok := x.(expr.Aggregate); ok && agg.Call().Distinct {
				c.refuse("DISTINCT_AGGREGATE", "distinct aggregations are not supported on streaming DataFrames/Datasets: found %s. Consider using approx_count_distinct() instead", agg.SQL())
			}
			if strings.HasPrefix(x.SQL(), "monotonically_increasing_id(") {
				c.refuse("EXPRESSION", "expression monotonically_increasing_id() is not supported with streaming DataFrames/Datasets")
			}
			return c.err == nil
		})
	}
	switch n := n.(type) {
	case *Watermark:
		if n.Column.EventTime != nil {
			c.refuse("WATERMARK_REDEFINED", "redefining watermark is disallowed: column %q has a watermark already; keep one of the two", n.Column.Name)
		}
	case *Aggregate:
		c.aggregate(n)
	case *Dedup:
		if n.WithinWatermark && !hasEventTime(n.Child.Output()) {
			c.refuse("DEDUP_WITHOUT_WATERMARK", "dropDuplicatesWithinWatermark is not supported on streaming DataFrames/Datasets without watermark; add a step `watermark: {column: …, delay: …}` before it")
		}
		if !n.WithinWatermark && !hasEventTime(n.Keys) {
			c.warnings = append(c.warnings, "dropDuplicates without an event-time column among its keys keeps every key for ever; dropDuplicatesWithinWatermark forgets them after the watermark's delay")
		}
	case *Join:
		c.join(n)
	case *Sort:
		if c.mode != connector.Complete || !aggregatesWith(n.Child, func(a *Aggregate) bool { return !a.Distinct }) {
			c.refuse("ORDER_BY", "sorting is not supported on streaming DataFrames/Datasets, unless it is on aggregated DataFrame/Dataset in Complete output mode")
		}
	case *Limit:
		if n.Offset > 0 {
			c.refuse("OFFSET", "OFFSET is not supported on streaming DataFrames/Datasets")
		}
		if c.mode == connector.Update {
			c.refuse("LIMIT", "limits are not supported on streaming DataFrames/Datasets in Update output mode")
		}
	case *Sample:
		c.refuse("SAMPLE", "sampling is not supported on streaming DataFrames/Datasets")
	case *Window:
		c.fail(sparkerr.New("NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING", "window function is not supported in %s on streaming DataFrames/Datasets. Structured Streaming only supports time-window aggregation using the WINDOW function", n.Exprs[0].SQL()))
	case *SetOp:
		c.setOp(n)
	case *Union:
		for _, in := range n.Inputs {
			if !IsStreaming(in) {
				c.refuse("UNION", "union between streaming and batch DataFrames/Datasets is not supported")
			}
		}
	case *GroupState:
		c.groupState(n)
	}
}

// Aggregates tells whether an aggregation of a stream is in a plan.
func Aggregates(n Node) bool {
	return aggregatesWith(n, func(*Aggregate) bool { return true })
}

func aggregatesWith(n Node, is func(*Aggregate) bool) bool {
	found := false
	Walk(n, func(m Node) bool {
		if a, ok := m.(*Aggregate); ok && IsStreaming(a) && is(a) {
			found = true
		}
		return !found
	})
	return found
}

func (c *streamChecker) aggregate(n *Aggregate) {
	if n.Pivot {
		c.refuse("PIVOT", "PIVOT is not supported on streaming DataFrames/Datasets; write one aggregate with FILTER (WHERE …) per value")
		return
	}
	if n.Session != nil {
		if len(n.Keys) == 1 {
			c.refuse("GLOBAL_SESSION_WINDOW", "session windows without another grouping key are not supported on streaming DataFrames/Datasets; group by a key as well")
			return
		}
		if c.mode == connector.Update {
			c.badMode("session window on streaming DataFrames/DataSets")
			return
		}
	}
}

func (c *streamChecker) setOp(n *SetOp) {
	l, r := IsStreaming(n.Left), IsStreaming(n.Right)
	switch {
	case !n.Except:
		c.refuse("INTERSECT", "INTERSECT of streaming DataFrames/Datasets is not supported")
	case r:
		c.refuse("EXCEPT", "EXCEPT on a streaming DataFrame/Dataset on the right is not supported")
	case l && n.All:
		c.refuse("EXCEPT_ALL", "EXCEPT ALL of a streaming DataFrame/Dataset is not supported: which of equal rows the table takes away depends on all rows that are still to come; use EXCEPT, or a left anti join")
	case c.mode == connector.Append && !hasEventTime(n.Left.Output()):
		c.fail(sparkerr.New("UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK", "append output mode is not supported for EXCEPT on streaming DataFrames/DataSets without a watermarked column: EXCEPT removes duplicates, which needs to know when no more can come; add a step `watermark: {column: …, delay: …}` or use outputMode update"))
	}
}

func (c *streamChecker) groupState(n *GroupState) {
	if c.mode == connector.Complete {
		c.badMode("flatMapGroupsWithState")
		return
	}
	if n.Info.Mode != string(c.mode) {
		c.refuse("STATE_FUNCTION_MODE", "state function %q of module %q emits in mode %s and is not supported in output mode %s; set `outputMode: %s` on the sink", n.Info.Name, n.Info.Module, n.Info.Mode, c.mode, n.Info.Mode)
		return
	}
	if (n.Info.Timeout == "event" || n.Info.Timeout == "both") && n.Time == nil {
		c.refuse("STATE_FUNCTION_WATERMARK", "state function %q of module %q has an event-time timeout, so that its input needs a watermark; add a step `watermark: {column: …, delay: …}` before it", n.Info.Name, n.Info.Module)
	}
	if Aggregates(n.Child) {
		c.refuse("STATE_FUNCTION_AFTER_AGGREGATE", "flatMapGroupsWithState after an aggregation is not supported on streaming DataFrames/Datasets")
	}
}

func (c *streamChecker) join(n *Join) {
	l, r := IsStreaming(n.Left), IsStreaming(n.Right)
	switch {
	case l && !r:
		if n.Kind == RightJoin || n.Kind == FullJoin {
			c.refuse("JOIN", "%s join with a streaming DataFrame/Dataset on the left and a static DataFrame/Dataset on the right is not supported", n.Kind)
		}
	case r && !l:
		if n.Kind == LeftJoin || n.Kind == FullJoin || n.Kind == LeftSemi || n.Kind == LeftAnti {
			c.refuse("JOIN", "%s join with a streaming DataFrame/Dataset on the right and a static DataFrame/Dataset on the left is not supported", n.Kind)
		}
	case l && r:
		c.streamJoin(n)
	}
}

func (c *streamChecker) streamJoin(n *Join) {
	if c.mode == connector.Complete {
		c.badMode("streaming joins on streaming DataFrames/DataSets")
		return
	}
	if c.mode != connector.Append && n.Kind != Inner && n.Kind != Cross {
		c.refuse("JOIN_MODE", "%s join between two streaming DataFrames/Datasets is not supported in %s output mode, only in Append output mode", n.Kind, c.mode)
		return
	}
	if n.Kind == LeftAnti {
		c.refuse("JOIN", "left anti join between two streaming DataFrames/Datasets is not supported")
		return
	}
	b := BoundsOf(n)
	if !b.Equality {
		c.refuse("JOIN_WITHOUT_EQUALITY", "stream-stream join without equality predicate is not supported; add a condition `left.key = right.key`")
		return
	}
	if n.Kind == Inner || n.Kind == Cross {
		if !b.Left || !b.Right {
			c.warnings = append(c.warnings, "the inner join of two streams has no time bound on both sides, so that its state can only grow; add watermarks on both sides and a condition such as r.time BETWEEN l.time AND l.time + INTERVAL 1 HOUR")
		}
		return
	}
	lw, rw := hasEventTime(n.Left.Output()), hasEventTime(n.Right.Output())
	// Rows of a side come out unmatched, or are forgotten, when nothing can match them any more.
	bounded := map[JoinKind]bool{LeftJoin: b.Left, LeftSemi: b.Left, RightJoin: b.Right, FullJoin: b.Left && b.Right}[n.Kind]
	if !lw || !rw || !bounded {
		missing := "on both sides"
		if lw && !rw {
			missing = "on the right side"
		} else if rw && !lw {
			missing = "on the left side"
		} else if lw && rw {
			missing = ""
		}
		if missing != "" {
			c.refuse("OUTER_JOIN_WITHOUT_WATERMARK", "%s join of two streams needs a watermark on both sides and a time bound between them, else its unmatched rows would never come out; the watermark is missing %s: add a step `watermark: {column: …, delay: …}` there", n.Kind, missing)
		} else {
			c.refuse("OUTER_JOIN_WITHOUT_TIME_BOUND", "%s join of two streams needs a time bound: join on windows or event times of both sides, or add a condition such as r.time BETWEEN l.time AND l.time + INTERVAL 1 HOUR", n.Kind)
		}
	}
}

// aggregatesOf checks whether the output mode suits the aggregations of the whole query. As in Spark this comes first: the
// mode is what is wrong with a query whose operators could not run either.
func (c *streamChecker) aggregatesOf(root Node) {
	if c.mode == connector.Complete && !Aggregates(root) {
		c.badMode("streaming queries without streaming aggregations on streaming DataFrames/DataSets")
		return
	}
	if c.mode != connector.Append {
		return
	}
	Walk(root, func(n Node) bool {
		if m, ok := n.(*Aggregate); ok && IsStreaming(m) && !m.Pivot && EventTimeKey(m) == nil {
			c.badMode("streaming aggregations without watermark on streaming DataFrames/DataSets; add a step `watermark: {column: …, delay: …}` and group by a window of that column or by the column itself, or use outputMode update")
		}
		return c.err == nil
	})
}

// chains checks which operators may follow one another: in update and complete mode no aggregate may feed another
// aggregate, a join or a state function.
func (c *streamChecker) chains(root Node) {
	if c.mode == connector.Append {
		return
	}
	Walk(root, func(n Node) bool {
		switch m := n.(type) {
		case *Aggregate:
			if IsStreaming(m) && Aggregates(m.Child) {
				c.refuse("MULTIPLE_AGGREGATIONS", "multiple streaming aggregations are not supported with streaming DataFrames/Datasets in %s output mode; use append", c.mode)
			}
		case *Join:
			if IsStreaming(m.Left) && IsStreaming(m.Right) && (Aggregates(m.Left) || Aggregates(m.Right)) {
				c.refuse("JOIN_AFTER_AGGREGATION", "a join of two streams behind an aggregation is not supported in %s output mode; use append", c.mode)
			}
		}
		return c.err == nil
	})
}

// Number gives the stateful operators of a streaming plan their IDs, inputs before outputs, left
// to right: the order in which state stores are named.
func Number(root Node) Node {
	next := 0
	take := func() int { next++; return next - 1 }
	return Transform(root, func(n Node) Node {
		if !IsStreaming(n) {
			return n
		}
		switch m := n.(type) {
		case *Aggregate:
			c := *m
			c.ID = take()
			return &c
		case *Dedup:
			c := *m
			c.ID = take()
			return &c
		case *GroupState:
			c := *m
			c.ID = take()
			return &c
		case *Limit:
			c := *m
			c.ID = take()
			return &c
		case *Join:
			if IsStreaming(m.Left) && IsStreaming(m.Right) {
				c := *m
				c.ID = take()
				return &c
			}
		}
		return n
	})
}

// Modules are the modules whose functions a plan calls, by name.
func Modules(root Node) map[string]udf.Module {
	out := map[string]udf.Module{}
	Walk(root, func(n Node) bool {
		switch m := n.(type) {
		case *UDFRows:
			out[m.Module.Name()] = m.Module
		case *UDFFilter:
			out[m.Module.Name()] = m.Module
		case *GroupState:
			out[m.Module.Name()] = m.Module
		}
		return true
	})
	return out
}
