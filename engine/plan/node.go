// Package plan holds the logical plan: relational operators over bound expressions, the analyser
// that makes it from SQL and from pipeline steps, the rules that streaming queries must keep, and
// the optimiser.
package plan

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/udf"
)

// Node is an operator of the logical plan. Nodes are immutable; a changed plan is a new tree.
type Node interface {
	// Output are the columns in order. Equal AttrIDs in two nodes mean the same column.
	Output() []*expr.Attr
	Children() []Node
	// WithChildren is the same operator over other inputs, which have the columns that it uses.
	WithChildren(c []Node) Node
	// Name is the operator's name in plans, e.g. "Filter".
	Name() string
}

// Relation is a source or a static table as a leaf of the plan.
type Relation struct {
	Source    string // name in the pipeline, or of the table
	Streaming bool
	Attrs     []*expr.Attr
	Table     any // what the planner of the physical plan reads it with: opaque here
}

// Local is rows known at plan time: VALUES, range(), a single row without columns.
type Local struct {
	Attrs []*expr.Attr
	Data  *columnar.Batch
}

// Project computes one column per expression; each is an Attr or an Alias.
type Project struct {
	Exprs []expr.Expr
	Child Node
}

// Filter keeps the rows whose condition is true.
type Filter struct {
	Cond  expr.Expr
	Child Node
}

// Watermark observes the event time of Column and declares how late rows may be.
type Watermark struct {
	ID          int // position among the query's watermarks, in the order of the pipeline
	Column      *expr.Attr
	DelayMicros int64
	DelayText   string
	ByPartition bool  // scope: partition
	IdleMicros  int64 // 0: a silent partition holds the watermark for ever
	Attrs       []*expr.Attr
	Child       Node
}

// TimeWindow adds the column Window, STRUCT<start, end>, and repeats a row for every window that
// its time lies in; rows with a null time drop out. All durations are microseconds.
type TimeWindow struct {
	Window             *expr.Attr
	Time               expr.Expr
	Size, Slide, Start int64
	Child              Node
}

// SessionWindow adds the column Window, STRUCT<start, end>, [time, time+gap) for each row; rows
// with a null time or a gap of zero or less drop out. The Aggregate above it merges windows that touch.
type SessionWindow struct {
	Window *expr.Attr
	Time   expr.Expr
	Gap    expr.Expr // CalendarInterval
	Child  Node
}

// Aggregate groups rows by Keys and computes Exprs, which are made of keys (as Attr of the key's
// ID), and of expr.Aggregate calls. Keys are Attr or Alias.
type Aggregate struct {
	Keys    []expr.Expr
	Exprs   []expr.Expr // each an Attr or an Alias
	Session *expr.Attr  // the key that is a session window, or nil
	Pivot   bool        // made of PIVOT, which streams refuse
	// Distinct is set when it is SELECT DISTINCT or UNION, which Spark does not count where a sort needs an aggregation.
	Distinct bool
	Child    Node
	// ID is the operator's position among the stateful operators of a streaming query; set by
	// Number, -1 when the query is a batch.
	ID int
}

// Expand emits each row once per projection: GROUPING SETS, CUBE and ROLLUP.
type Expand struct {
	Projections [][]expr.Expr
	Attrs       []*expr.Attr
	Child       Node
}

// JoinKind is a kind of join.
type JoinKind string

// The kinds of joins.
const (
	Inner     JoinKind = "inner"
	Cross     JoinKind = "cross"
	LeftJoin  JoinKind = "left outer"
	RightJoin JoinKind = "right outer"
	FullJoin  JoinKind = "full outer"
	LeftSemi  JoinKind = "left semi"
	LeftAnti  JoinKind = "left anti"
)

// Join matches rows of two inputs; a nil condition is true. Lateral joins evaluate Right for each
// row of Left and are resolved to other nodes by the analyser where that is possible.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	Cond        expr.Expr
	// NullAware is the anti join of NOT IN (subquery).
	NullAware bool
	// Once is set on a left outer join that takes the first match of each row only: EXISTS and IN as columns.
	Once bool
	ID   int // as Aggregate.ID
}

// Union appends its inputs, whose columns agree in number and types.
type Union struct {
	Inputs []Node
	Attrs  []*expr.Attr
}

// SetOp is INTERSECT or EXCEPT.
type SetOp struct {
	Except      bool
	All         bool
	Left, Right Node
	Attrs       []*expr.Attr
}

// Dedup keeps the first row of each combination of Keys.
type Dedup struct {
	Keys            []*expr.Attr
	WithinWatermark bool
	Child           Node
	ID              int // as Aggregate.ID
}

// Sort orders rows; within partitions only when Global is false.
type Sort struct {
	Keys   []expr.SortKey
	Global bool
	Child  Node
}

// Limit keeps Count rows after the first Offset; Count is -1 for no limit.
type Limit struct {
	Count, Offset int64
	Child         Node
	ID            int // as Aggregate.ID: a streaming LIMIT in append mode keeps its count in the state
}

// Sample is TABLESAMPLE; refused on streams.
type Sample struct {
	Fraction float64
	Rows     int64 // used when Fraction is negative
	Seed     int64
	Child    Node
}

// Generate joins each row with the rows that a generator function (explode, inline, stack, …)
// makes of it.
type Generate struct {
	Generator expr.Generator
	Outer     bool
	Attrs     []*expr.Attr // the generated columns
	Child     Node
}

// Window computes window functions (… OVER …) for a batch; Exprs are Aliases of expr.WindowCall,
// added to the child's columns.
type Window struct {
	Exprs     []expr.Expr
	Partition []expr.Expr
	Order     []expr.SortKey
	Child     Node
}

// Alias names a relation: its columns can be addressed as Name.column. It vanishes in the optimiser.
type Alias struct {
	Relation string
	Attrs    []*expr.Attr
	Child    Node
}

// OnError is a pipeline's policy for rows that a guest refuses.
type OnError struct {
	Skip       bool
	DeadLetter string // sink; empty for none. With neither, a row error fails the batch.
}

// UDFRows applies a parse or map function; its output columns replace the child's.
type UDFRows struct {
	Module   udf.Module
	Info     udf.Info
	Function udf.RowFunction
	Input    []*expr.Attr // columns handed to the function
	Attrs    []*expr.Attr // result
	OnError  OnError
	Child    Node
}

// UDFFilter keeps the rows that a filter function accepts.
type UDFFilter struct {
	Module   udf.Module
	Info     udf.Info
	Function udf.FilterFunction
	Input    []*expr.Attr
	OnError  OnError
	Child    Node
}

// GroupState applies a state function to the groups of a key (flatMapGroupsWithState).
type GroupState struct {
	Module   udf.Module
	Info     udf.Info
	Function udf.StateFunction
	Keys     []*expr.Attr
	Input    []*expr.Attr
	Time     *expr.Attr // the event-time column, or nil
	Attrs    []*expr.Attr
	OnError  OnError
	Child    Node
	ID       int // as Aggregate.ID
}

// LateOutput marks the relation whose late rows go to a sink (`late:` of a view). It applies to
// the stateful operators below it, down to the next LateOutput.
type LateOutput struct {
	Sink  string
	Child Node
}
