package sql

// Pipe is input |> operator.
type Pipe struct {
	Span
	Input Query
	Op    PipeOp
}

// PipeOp is what stands behind |>: one of the types of pipe.go.
type PipeOp interface {
	Node
	pipeOp()
}

// PipeSelect is |> SELECT …. Aggregates are not allowed in it.
type PipeSelect struct {
	Span
	Hints    []Hint
	Distinct bool
	Items    []Expr
	Windows  []NamedWindow
}

// PipeExtend is |> EXTEND a AS b, …: columns added behind the others.
type PipeExtend struct {
	Span
	Items []Expr
}

// PipeSet is |> SET a = x, …: columns replaced in their place.
type PipeSet struct {
	Span
	Columns []Ident
	Values  []Expr
}

// PipeDrop is |> DROP a, ….
type PipeDrop struct {
	Span
	Columns []Ident
}

// PipeAs is |> AS name.
type PipeAs struct {
	Span
	Name Ident
}

// PipeWhere is |> WHERE cond.
type PipeWhere struct {
	Span
	Cond Expr
}

// PipePivot is |> PIVOT (…); the clause's Input is nil.
type PipePivot struct {
	Span
	Pivot *Pivot
}

// PipeUnpivot is |> UNPIVOT (…); the clause's Input is nil.
type PipeUnpivot struct {
	Span
	Unpivot *Unpivot
}

// PipeSample is |> TABLESAMPLE (…).
type PipeSample struct {
	Span
	Sample *Sample
}

// PipeJoin is |> JOIN …; the join's Left is nil.
type PipeJoin struct {
	Span
	Join *Join
}

// PipeSetOp is |> UNION ALL query and the like.
type PipeSetOp struct {
	Span
	Kind  SetOpKind
	All   bool
	Right Query
}

// PipeOrder is |> ORDER BY, |> LIMIT and the like; the clause's Input is nil.
type PipeOrder struct {
	Span
	Order *Ordered
}

// PipeAggregate is |> AGGREGATE a, b [GROUP BY …]. The result has the grouping columns first.
type PipeAggregate struct {
	Span
	Items   []Expr
	GroupBy *GroupBy // or nil; its items may be *Alias
}

func (*PipeSelect) pipeOp()    {}
func (*PipeExtend) pipeOp()    {}
func (*PipeSet) pipeOp()       {}
func (*PipeDrop) pipeOp()      {}
func (*PipeAs) pipeOp()        {}
func (*PipeWhere) pipeOp()     {}
func (*PipePivot) pipeOp()     {}
func (*PipeUnpivot) pipeOp()   {}
func (*PipeSample) pipeOp()    {}
func (*PipeJoin) pipeOp()      {}
func (*PipeSetOp) pipeOp()     {}
func (*PipeOrder) pipeOp()     {}
func (*PipeAggregate) pipeOp() {}
