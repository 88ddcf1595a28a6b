package sql

import (
	"math/big"

	"github.com/wstream/wstream/engine/sql/interval"
)

// NullLit is the word NULL.
type NullLit struct{ Span }

// BoolLit is TRUE or FALSE.
type BoolLit struct {
	Span
	Value bool
}

// NumberKind is the Spark type of a number literal.
type NumberKind uint8

// The kinds of number literals, with the spelling that makes them.
const (
	TinyInt  NumberKind = iota // 1Y
	SmallInt                   // 1S
	Int                        // 1, if it fits 32 bits
	BigInt                     // 1L, or a whole number that fits 64 bits only
	Float                      // 1F
	Double                     // 1D, 1e3
	Decimal                    // 1.5, 1BD, or a whole number beyond 64 bits
)

// String is Spark's simple name of the type, e.g. "tinyint".
func (k NumberKind) String() string {
	switch k {
	case TinyInt:
		return "tinyint"
	case SmallInt:
		return "smallint"
	case Int:
		return "int"
	case BigInt:
		return "bigint"
	case Float:
		return "float"
	case Double:
		return "double"
	default:
		return "decimal"
	}
}

// NumberLit is a number, its sign included if one stood directly before it as in `-5` or `- 5`.
// Exactly one of the value fields counts, by Kind; the range has been checked.
type NumberLit struct {
	Span
	Kind NumberKind
	Text string // as written, without suffix, with a leading "-" if negative

	Int       int64    // TinyInt, SmallInt, Int, BigInt
	Float     float64  // Float (rounded to 32 bits), Double
	Unscaled  *big.Int // Decimal: the value is Unscaled * 10^-Scale
	Precision int      // Decimal: at most 38
	Scale     int      // Decimal: 0 to Precision
}

// StringLit is a string with its escapes resolved and adjacent pieces joined.
type StringLit struct {
	Span
	Value string
}

// BinaryLit is X'1F'.
type BinaryLit struct {
	Span
	Value []byte
}

// TypedLit is a date or time in the form TYPE 'text'. The text is not looked at here, since its
// meaning may depend on the session's time zone; who resolves it reports INVALID_TYPED_LITERAL.
type TypedLit struct {
	Span
	Type  string // "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ" or "TIMESTAMP_NTZ"
	Value string
}

// IntervalLit is an INTERVAL literal of any spelling: of years and months if Start is Year or
// Month, of days and times otherwise.
type IntervalLit struct {
	Span
	Start, End interval.Field // its type: INTERVAL Start [TO End]
	Months     int32          // a year-month interval's value
	Micros     int64          // a day-time interval's value
}

// YearMonth tells whether the literal is of years and months.
func (l *IntervalLit) YearMonth() bool { return l.Start.YearMonth() }

// ParameterLit is a parameter marker, `?` or `:name`.
type ParameterLit struct {
	Span
	Name string // empty for `?`
}

func (*NullLit) exprNode()      {}
func (*BoolLit) exprNode()      {}
func (*NumberLit) exprNode()    {}
func (*StringLit) exprNode()    {}
func (*BinaryLit) exprNode()    {}
func (*TypedLit) exprNode()     {}
func (*IntervalLit) exprNode()  {}
func (*ParameterLit) exprNode() {}
