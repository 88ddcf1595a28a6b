package sql

// Column is a name in an expression, `a` or `t.a.b`; what its parts mean (table, column, field) is
// for the analyser to find out.
type Column struct {
	Span
	Parts []Ident
}

// FieldAccess is base.field where base is not itself a name: `f(x).a`, `arr[0].a`.
type FieldAccess struct {
	Span
	Base  Expr
	Field Ident
}

// Subscript is base[index], of an array or a map.
type Subscript struct {
	Span
	Base, Index Expr
}

// PathAccess is base:path, the extraction from a VARIANT.
type PathAccess struct {
	Span
	Base Expr
	Path string // as a JSON path, e.g. "$.a[0]['b c']"
	Last string // the last key of the path, after which the column is named; empty if there is none
}

// Star is `*` or `t.*`, perhaps with columns left out.
type Star struct {
	Span
	Qualifier []Ident   // empty for a bare star
	Except    [][]Ident // the names in EXCEPT (…)
}

// Alias is `x AS name` or `x AS (a, b)`; names only appear where a named expression may stand
// (select list, struct(…), row constructors, pivot).
type Alias struct {
	Span
	X     Expr
	Names []Ident // one, or several in the form AS (a, b)
	List  bool    // the parenthesised form, even with one name
}

// UnaryOp is a prefix operator on values.
type UnaryOp string

// The prefix operators.
const (
	OpNeg  UnaryOp = "-"
	OpPos  UnaryOp = "+"
	OpBNot UnaryOp = "~"
)

// Unary is a prefix operator applied to a value. `-5` is a NumberLit instead.
type Unary struct {
	Span
	Op UnaryOp
	X  Expr
}

// BinaryOp is an infix operator, in its canonical spelling.
type BinaryOp string

// The infix operators. `==` is OpEq, `!=` is OpNe, `!<` is OpGe and `!>` is OpLe.
const (
	OpMul    BinaryOp = "*"
	OpDiv    BinaryOp = "/"
	OpMod    BinaryOp = "%"
	OpIntDiv BinaryOp = "div"
	OpAdd    BinaryOp = "+"
	OpSub    BinaryOp = "-"
	OpConcat BinaryOp = "||"
	OpShl    BinaryOp = "<<"
	OpShr    BinaryOp = ">>"
	OpShrU   BinaryOp = ">>>"
	OpBAnd   BinaryOp = "&"
	OpXor    BinaryOp = "^"
	OpBOr    BinaryOp = "|"
	OpEq     BinaryOp = "="
	OpNullEq BinaryOp = "<=>"
	OpNe     BinaryOp = "<>"
	OpLt     BinaryOp = "<"
	OpLe     BinaryOp = "<="
	OpGt     BinaryOp = ">"
	OpGe     BinaryOp = ">="
	OpAnd    BinaryOp = "AND"
	OpOr     BinaryOp = "OR"
)

// Binary is an infix operator between two operands. A chain of ANDs (or of ORs) is a balanced
// tree, as Spark builds it: a AND b AND c AND d is ((a AND b) AND (c AND d)).
type Binary struct {
	Span
	Op   BinaryOp
	L, R Expr
}

// Not is NOT x or !x.
type Not struct {
	Span
	X Expr
}

// Between is x [NOT] BETWEEN low AND high.
type Between struct {
	Span
	X, Low, High Expr
	Not          bool
}

// In is x [NOT] IN (a, b, …).
type In struct {
	Span
	X    Expr
	List []Expr
	Not  bool
}

// InQuery is x [NOT] IN (query).
type InQuery struct {
	Span
	X     Expr
	Query Query
	Not   bool
}

// LikeKind is the sort of pattern.
type LikeKind string

// The sorts of patterns; REGEXP is RLike.
const (
	Like  LikeKind = "LIKE"
	ILike LikeKind = "ILIKE"
	RLike LikeKind = "RLIKE"
)

// LikeExpr is x [NOT] LIKE pattern [ESCAPE 'c'], or ILIKE, or RLIKE.
type LikeExpr struct {
	Span
	Kind       LikeKind
	X, Pattern Expr
	Escape     rune // the escape character, '\\' unless said otherwise
	Not        bool
}

// LikeList is x [NOT] LIKE ANY|SOME|ALL (a, b, …), or ILIKE.
type LikeList struct {
	Span
	Kind     LikeKind
	All      bool // ALL; otherwise ANY
	X        Expr
	Patterns []Expr
	Not      bool
}

// IsNull is x IS [NOT] NULL.
type IsNull struct {
	Span
	X   Expr
	Not bool
}

// IsTruth is x IS [NOT] TRUE, FALSE or UNKNOWN.
type IsTruth struct {
	Span
	X     Expr
	Value string // "TRUE", "FALSE" or "UNKNOWN"
	Not   bool
}

// IsDistinct is x IS [NOT] DISTINCT FROM y.
type IsDistinct struct {
	Span
	X, Y Expr
	Not  bool
}

// Exists is EXISTS (query).
type Exists struct {
	Span
	Query Query
}

// Subquery is a query in parentheses used as a value.
type Subquery struct {
	Span
	Query Query
}

// Cast is CAST(x AS type), TRY_CAST(x AS type) or x::type.
type Cast struct {
	Span
	X     Expr
	Type  *Type
	Try   bool
	Colon bool // written x::type
}

// When is one WHEN … THEN … of a Case.
type When struct {
	Span
	Cond, Then Expr
}

// Case is either form of CASE; Operand is nil in the searched form, Else may be nil.
type Case struct {
	Span
	Operand Expr
	Whens   []When
	Else    Expr
}

// Row is (a, b [AS name], …), a struct of at least two fields; items may be of type *Alias.
type Row struct {
	Span
	Items []Expr
}

// Lambda is x -> body or (x, y) -> body.
type Lambda struct {
	Span
	Params []Ident
	Body   Expr
}

// NamedArg is name => value in the arguments of a function.
type NamedArg struct {
	Span
	Name  Ident
	Value Expr
}

// TableArg is TABLE(…) in the arguments of a table function.
type TableArg struct {
	Span
	Input           Relation // a *Table or a *Derived
	SinglePartition bool
	PartitionBy     []Expr
	OrderBy         []SortItem
}

// Collate is x COLLATE name.
type Collate struct {
	Span
	X         Expr
	Collation []Ident
}

// Nulls is what a function call says of nulls.
type Nulls uint8

// NullsDefault is neither, IgnoreNulls is IGNORE NULLS, RespectNulls is RESPECT NULLS.
const (
	NullsDefault Nulls = iota
	IgnoreNulls
	RespectNulls
)

// Call is a function call, with everything that may follow it. The special syntaxes become calls:
//
//	EXTRACT(f FROM x)                     extract('f', x), Keyword
//	POSITION(a IN b)                      position(a, b), Keyword
//	SUBSTRING(x FROM a FOR b)             substring(x, a, b), Keyword
//	OVERLAY(x PLACING y FROM a FOR b)     overlay(x, y, a, b), Keyword
//	TRIM([BOTH|LEADING|TRAILING] y FROM x)  trim, ltrim or rtrim of (x[, y]), Keyword
//	DATEADD(DAY, n, ts) and the like      dateadd(n, ts), Unit "DAY"
//	DATEDIFF(DAY, a, b) and the like      datediff(a, b), Unit "DAY"
//
// struct(a AS x) keeps its names as *Alias arguments. CURRENT_DATE and the like without parentheses
// are a *Column: they are calls only if there is no column of that name.
type Call struct {
	Span
	Name     []Ident // as written
	Args     []Expr
	Distinct bool       // f(DISTINCT …)
	Unit     string     // the unit of DATEADD and the like, in upper case
	Keyword  bool       // written in a special syntax
	Within   []SortItem // WITHIN GROUP (ORDER BY …)
	Filter   Expr       // FILTER (WHERE …), or nil
	Nulls    Nulls
	Over     *WindowSpec // OVER …, or nil
}

// FuncName is the function's name without its qualifiers, as written.
func (c *Call) FuncName() string { return c.Name[len(c.Name)-1].Name }

// SortItem is one item of an ORDER BY, with Spark's default order of nulls filled in: first when
// ascending, last when descending.
type SortItem struct {
	Span
	X             Expr
	Desc          bool
	NullsFirst    bool
	NullsExplicit bool // NULLS FIRST or NULLS LAST was written
}

// WindowSpec is what follows OVER, or AS in a WINDOW clause.
type WindowSpec struct {
	Span
	Ref         Ident // a named window; nothing else is set then
	PartitionBy []Expr
	OrderBy     []SortItem
	Frame       *Frame // nil if not written
}

// Named tells whether the specification only refers to a named window.
func (w *WindowSpec) Named() bool { return w.Ref.Name != "" }

// Frame is ROWS or RANGE of a window.
type Frame struct {
	Span
	Range      bool // RANGE; otherwise ROWS
	Start, End Bound
}

// BoundKind is the sort of an end of a window frame.
type BoundKind uint8

// The sorts of frame ends.
const (
	UnboundedPreceding BoundKind = iota
	Preceding                    // Offset PRECEDING
	CurrentRow
	Following // Offset FOLLOWING
	UnboundedFollowing
)

// Bound is one end of a window frame.
type Bound struct {
	Span
	Kind   BoundKind
	Offset Expr // of Preceding and Following
}

func (*Column) exprNode()      {}
func (*FieldAccess) exprNode() {}
func (*Subscript) exprNode()   {}
func (*PathAccess) exprNode()  {}
func (*Star) exprNode()        {}
func (*Alias) exprNode()       {}
func (*Unary) exprNode()       {}
func (*Binary) exprNode()      {}
func (*Not) exprNode()         {}
func (*Between) exprNode()     {}
func (*In) exprNode()          {}
func (*InQuery) exprNode()     {}
func (*LikeExpr) exprNode()    {}
func (*LikeList) exprNode()    {}
func (*IsNull) exprNode()      {}
func (*IsTruth) exprNode()     {}
func (*IsDistinct) exprNode()  {}
func (*Exists) exprNode()      {}
func (*Subquery) exprNode()    {}
func (*Cast) exprNode()        {}
func (*Case) exprNode()        {}
func (*Row) exprNode()         {}
func (*Lambda) exprNode()      {}
func (*NamedArg) exprNode()    {}
func (*TableArg) exprNode()    {}
func (*Collate) exprNode()     {}
func (*Call) exprNode()        {}
