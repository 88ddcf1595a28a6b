// Package udf declares what the engine needs of user functions. Wasm modules implement it (through
// pipeline, which adapts host), and so do functions written in Go for the Go API; the engine
// never sees a runtime.
package udf

import (
	"context"

	"github.com/wstream/wstream/columnar"
)

// Kind is a function's kind in the guest ABI.
type Kind string

// The kinds of functions.
const (
	Parse        Kind = "parse"
	Filter       Kind = "filter"
	Scalar       Kind = "scalar"
	Map          Kind = "map"
	Aggregate    Kind = "aggregate"
	State        Kind = "state"
	ForeachBatch Kind = "foreachBatch"
)

// Info is a function as its module declares it.
type Info struct {
	Module string
	Name   string
	Kind   Kind
	// Input are the columns asked for, in order; nil accepts any columns.
	Input *columnar.Schema
	// Output is the declared result; nil when it is decided at bind.
	Output *columnar.Schema
	// SameOutput says that the output has the input's columns.
	SameOutput bool
	// The following belong to Kind State.
	Key     *columnar.Schema
	Mode    string // "update" or "append"
	Timeout string // "none", "event", "processing", or "both" of functions in Go
	Time    string // the event-time column, when Timeout is "event"
	StateOf *columnar.Schema
}

// Call identifies one call to a function, so that a replay gives the same bytes.
type Call struct {
	QueryID   string
	BatchID   int64
	Partition int
	Attempt   int
	Watermark int64 // microseconds
	BatchTime int64 // microseconds
}

// RowError is a row that the function refused: the pipeline's onError decides what becomes of it.
type RowError struct {
	Row  int // of the input batch
	Code int32
	Text string
}

// Rows is the result of Parse and Map: rows, and for each the input row that it came from (nil:
// row i comes from row i).
type Rows struct {
	Batch  *columnar.Batch
	Parent []int32
	Errors []RowError
}

// Module is a loaded module, or a set of Go functions under one name.
type Module interface {
	Name() string
	// Hash identifies the code, for the checkpoint.
	Hash() string
	Functions() []Info
	// Bind checks a function against the columns that it will get (chosen by the planner from
	// Info.Input, or all columns when that is nil) and gives something to call. The returned value
	// implements the interface of the function's kind below. Calls may come from many goroutines.
	Bind(function string, input *columnar.Schema) (Function, error)
}

// Function is a bound function.
type Function interface {
	Info() Info
	// Output is the schema of the result; nil for filters and foreachBatch.
	Output() *columnar.Schema
	Close() error
}

// RowFunction is a bound Parse or Map function.
type RowFunction interface {
	Function
	Rows(ctx context.Context, call Call, in *columnar.Batch) (Rows, error)
}

// FilterFunction is a bound Filter: one bit per input row.
type FilterFunction interface {
	Function
	Filter(ctx context.Context, call Call, in *columnar.Batch) (columnar.Bitmap, []RowError, error)
}

// ScalarFunction is a bound Scalar: one column of the input's length.
type ScalarFunction interface {
	Function
	Scalar(ctx context.Context, call Call, in *columnar.Batch) (*columnar.Column, []RowError, error)
}

// AggregateFunction is a bound Aggregate. Accumulators are opaque bytes; a nil row is empty.
type AggregateFunction interface {
	Function
	// Update folds rows into accumulators: acc has one row (BINARY, nullable) per group and group[i]
	// names the group of row i of in.
	Update(ctx context.Context, call Call, in *columnar.Batch, group []uint32, acc *columnar.Column) (*columnar.Column, error)
	// Merge folds row i of other into row i of acc.
	Merge(ctx context.Context, call Call, acc, other *columnar.Column) (*columnar.Column, error)
	// Finish gives the result of each accumulator.
	Finish(ctx context.Context, call Call, acc *columnar.Column) (*columnar.Column, error)
}

// StateInput is all keys of a batch and partition for one call of a state function.
type StateInput struct {
	Rows    *columnar.Batch  // ordered by group
	Offsets []int32          // rows of group g are Offsets[g] … Offsets[g+1]-1; groups without rows are timers
	Keys    *columnar.Batch  // one row per group, the columns of Info.Key
	State   *columnar.Column // BINARY, one per group, null where there is none
	Expired []bool           // group g is called because its timer passed
	Timer   []int64          // the timer that passed, microseconds; 0 otherwise
}

// StateOutput is what a state function answers: rows, and per group the new state and timer.
type StateOutput struct {
	Rows   *columnar.Batch
	Parent []int32          // the group of each output row
	State  *columnar.Column // BINARY, one per group
	Action []StateAction    // one per group
	Timer  []int64          // one per group, microseconds; 0 for none
	Clock  []int64          // where Info.Timeout is "both", the processing-time timers beside Timer's event times; nil otherwise
	Errors []RowError       // Row is a group
}

// StateAction is what becomes of a group's state.
type StateAction uint8

// What becomes of a group's state.
const (
	KeepState StateAction = iota
	PutState
	DeleteState
)

// StateFunction is a bound State function.
type StateFunction interface {
	Function
	Call(ctx context.Context, call Call, in StateInput) (StateOutput, error)
}
