package expr

import "github.com/wstream/wstream/columnar"

// Aggregate is a bound call of an aggregate function. It stands in the expressions of an
// Aggregate plan node, is computed by the aggregation operator through accumulators, and is
// never evaluated itself.
type Aggregate interface {
	Expr
	// Name is the function's name in lower case.
	Name() string
	// State describes the accumulator's columns as they are kept in the state store.
	State() []columnar.Field
	// New makes an accumulator without groups.
	New(ctx *Context) Accumulator
	// OrderSensitive tells whether the result depends on the order of rows (first, collect_list …).
	OrderSensitive() bool
	// Call gives the parts of the call that the operator handles itself.
	Call() *AggCall
}

// AggCall is what every aggregate call may carry. The operator evaluates Args, applies Filter and
// Distinct, and sorts by Order before the accumulator sees the rows.
type AggCall struct {
	Args     []Expr
	Filter   Expr // nil: all rows
	Distinct bool
	Order    []SortKey // WITHIN GROUP (ORDER BY …); already applied to Args' rows by the operator
}

// SortKey is one key of an ORDER BY.
type SortKey struct {
	Expr       Expr
	Desc       bool
	NullsFirst bool
}

// Accumulator holds the running values of one aggregate call for many groups, numbered from 0.
// It belongs to one goroutine.
type Accumulator interface {
	// Grow makes room for groups up to n-1; new groups are empty.
	Grow(n int)
	// Update adds rows: group[i] is the group of row i, args[k] the k-th argument's column.
	Update(group []uint32, args []*columnar.Column) error
	// Merge folds accumulators in, row i of the columns of State into group[i]. What group[i]
	// already holds counts as earlier than what is merged.
	Merge(group []uint32, state []*columnar.Column) error
	// State gives the accumulators of groups 0 … n-1 as columns, as Aggregate.State describes.
	State() ([]*columnar.Column, error)
	// Result gives the value of groups 0 … n-1.
	Result() (*columnar.Column, error)
	// Reset removes all groups and keeps the memory.
	Reset()
}
