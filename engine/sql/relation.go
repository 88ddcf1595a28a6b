package sql

// Table is a relation by name.
type Table struct {
	Span
	Name    []Ident
	Stream  bool     // written STREAM name or STREAM(name)
	Options []Option // WITH ('key' = 'value', …)
	AsOf    *AsOf    // VERSION or TIMESTAMP AS OF, or nil
}

// Option is one 'key' = value of an option list.
type Option struct {
	Span
	Key, Value string
}

// AsOf is the temporal clause of a table.
type AsOf struct {
	Span
	Version   string // VERSION AS OF: its text
	Timestamp Expr   // TIMESTAMP AS OF: nil for a version
}

// Derived is a query in parentheses behind FROM.
type Derived struct {
	Span
	Query Query
}

// TableFunc is a function as a relation: range(10), explode(a).
type TableFunc struct {
	Span
	Name   []Ident
	Args   []Expr // may be *NamedArg and *TableArg
	Stream bool   // written STREAM f(…)
}

// Values is VALUES (1, 'a'), (2, 'b'). A row that is a *Row, or a call of struct, gives a column for
// each field; any other expression is a row of one column. Columns are called col1, col2, … unless
// an *Aliased around it names them. It is a query as well.
type Values struct {
	Span
	Rows []Expr
}

// Aliased gives a relation a name, and perhaps new names to its columns.
type Aliased struct {
	Span
	Input   Relation
	Name    Ident
	Columns []Ident
}

// JoinKind is the sort of a join.
type JoinKind uint8

// The sorts of joins.
const (
	InnerJoin JoinKind = iota
	CrossJoin
	LeftOuterJoin
	RightOuterJoin
	FullOuterJoin
	LeftSemiJoin
	LeftAntiJoin
)

// String is the join's name in SQL, e.g. "LEFT OUTER".
func (k JoinKind) String() string {
	return [...]string{"INNER", "CROSS", "LEFT OUTER", "RIGHT OUTER", "FULL OUTER", "LEFT SEMI", "LEFT ANTI"}[k]
}

// Join is a join of two relations; a comma between relations is an inner join too.
type Join struct {
	Span
	Kind        JoinKind
	Left, Right Relation
	Natural     bool
	Lateral     bool    // the right side may refer to the left one
	Comma       bool    // written as a comma
	On          Expr    // or nil
	Using       []Ident // or nil
}

// LateralView is LATERAL VIEW [OUTER] f(…) table AS a, b behind a relation.
type LateralView struct {
	Span
	Input   Relation // nil directly behind a SELECT without FROM
	Outer   bool
	Func    *Call
	Name    Ident
	Columns []Ident
}

// Lateral is LATERAL before the first relation of a FROM; elsewhere it is a field of Join.
type Lateral struct {
	Span
	Input Relation
}

// SampleKind is the sort of a TABLESAMPLE.
type SampleKind uint8

// The sorts of samples.
const (
	SamplePercent SampleKind = iota // (n PERCENT)
	SampleRows                      // (expr ROWS)
	SampleBucket                    // (BUCKET n OUT OF m)
)

// Sample is TABLESAMPLE (…) [REPEATABLE (seed)].
type Sample struct {
	Span
	Kind    SampleKind
	Percent float64 // of SamplePercent
	Rows    Expr    // of SampleRows
	Num     int64   // of SampleBucket
	Denom   int64
	Seed    int64
	HasSeed bool
}

// Sampled is a relation with a sample taken of it.
type Sampled struct {
	Span
	Input  Relation
	Sample *Sample
}

// Watermarked is relation WATERMARK column DELAY OF INTERVAL ….
type Watermarked struct {
	Span
	Input  Relation
	Column Expr // an *Alias if it was given a name
	Delay  *IntervalLit
}

// Pivot is the PIVOT clause of a relation.
type Pivot struct {
	Span
	Input      Relation // nil in a pipe operator
	Aggregates []Expr   // may be *Alias
	Columns    []Ident
	Values     []Expr // may be *Alias; a *Row for several columns
}

// Unpivot is the UNPIVOT clause of a relation. A name column tells which of the sets of columns the
// value columns come from; in the single-value form each set has one column.
type Unpivot struct {
	Span
	Input        Relation // nil in a pipe operator
	IncludeNulls bool
	Multi        bool    // FOR … IN ((a, b), …)
	ValueColumns []Ident // as many as each set has columns
	NameColumn   Ident
	Sets         []UnpivotSet
	Alias        Ident // the name of the result, or empty
}

// UnpivotSet is one entry of UNPIVOT's IN list.
type UnpivotSet struct {
	Span
	Columns [][]Ident
	Alias   Ident // or empty
}

func (*Table) relationNode()       {}
func (*Derived) relationNode()     {}
func (*TableFunc) relationNode()   {}
func (*Values) relationNode()      {}
func (*Aliased) relationNode()     {}
func (*Join) relationNode()        {}
func (*LateralView) relationNode() {}
func (*Lateral) relationNode()     {}
func (*Sampled) relationNode()     {}
func (*Watermarked) relationNode() {}
func (*Pivot) relationNode()       {}
func (*Unpivot) relationNode()     {}
