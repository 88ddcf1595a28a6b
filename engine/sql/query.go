package sql

// Select is SELECT … FROM … WHERE … GROUP BY … HAVING …. `FROM t` alone is one with a bare star, and
// `FROM t SELECT a` is the same as `SELECT a FROM t`.
type Select struct {
	Span
	Hints    []Hint
	Distinct bool
	Items    []Expr   // may be *Alias and *Star
	From     Relation // nil for one row without columns; LATERAL VIEWs are around it
	Where    Expr     // or nil
	GroupBy  *GroupBy // or nil
	Having   Expr     // or nil
	Windows  []NamedWindow
}

// Hint is one hint of /*+ … */.
type Hint struct {
	Span
	Name Ident
	Args []Expr
}

// GroupBy is a GROUP BY clause.
type GroupBy struct {
	Span
	All   bool   // GROUP BY ALL; Items is empty then
	Items []Expr // may be *GroupingSets
}

// GroupingKind is the sort of grouping analytics.
type GroupingKind uint8

// The sorts of grouping analytics.
const (
	Rollup GroupingKind = iota
	Cube
	Sets
)

// GroupingSets is ROLLUP(…), CUBE(…) or GROUPING SETS(…) in a GROUP BY, also for `a, b WITH ROLLUP`.
type GroupingSets struct {
	Span
	Kind GroupingKind
	// Sets holds, for Rollup and Cube, the elements to combine, each of one or more expressions;
	// for Sets, the sets, each of which may be empty or hold a single *GroupingSets.
	Sets [][]Expr
	// Base holds the expressions of the form GROUP BY a, b GROUPING SETS (…); otherwise nil.
	Base []Expr
}

func (*GroupingSets) exprNode() {}

// NamedWindow is name AS (…) of a WINDOW clause.
type NamedWindow struct {
	Span
	Name Ident
	Spec *WindowSpec
}

// SetOpKind is the sort of a set operation.
type SetOpKind uint8

// The set operations; MINUS is Except.
const (
	Union SetOpKind = iota
	Intersect
	Except
)

// String is the operation's name in SQL.
func (k SetOpKind) String() string { return [...]string{"UNION", "INTERSECT", "EXCEPT"}[k] }

// SetOp is a set operation of two queries. INTERSECT binds tighter than the others.
type SetOp struct {
	Span
	Kind        SetOpKind
	All         bool
	Left, Right Query
}

// TableQuery is TABLE name.
type TableQuery struct {
	Span
	Table *Table
}

// ValuesQuery is VALUES … as a query of its own.
type ValuesQuery struct {
	Span
	Input Relation // *Values, or *Aliased around it
}

// With is WITH a AS (…), b AS (…) before a query.
type With struct {
	Span
	Recursive bool
	CTEs      []CTE
	Body      Query
}

// CTE is one named query of a With; a later one may refer to an earlier one.
type CTE struct {
	Span
	Name     Ident
	Columns  []Ident
	MaxLevel int64 // MAX RECURSION LEVEL n, or 0
	Query    Query
}

// Ordered is a query with ORDER BY, LIMIT and the like behind it; at least one of them is there.
type Ordered struct {
	Span
	Input        Query // nil in a pipe operator
	OrderBy      []SortItem
	OrderByAll   *SortItem // ORDER BY ALL, with its direction; X is nil. OrderBy is empty then
	SortBy       []SortItem
	ClusterBy    []Expr
	DistributeBy []Expr
	Windows      []NamedWindow
	Limit        Expr // nil for none; LIMIT ALL is none
	Offset       Expr // or nil
}

func (*Select) queryNode()      {}
func (*SetOp) queryNode()       {}
func (*TableQuery) queryNode()  {}
func (*ValuesQuery) queryNode() {}
func (*With) queryNode()        {}
func (*Ordered) queryNode()     {}
func (*Pipe) queryNode()        {}
