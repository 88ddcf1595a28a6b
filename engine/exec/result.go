package exec

import (
	"time"

	"github.com/wstream/wstream/engine/plan"
)

// Result is what a run has counted.
type Result struct {
	// Inputs has an entry for each relation of Query.Relations, in their order.
	Inputs []InputStats
	// Watermarks has an entry for each watermark operator of the plan, in order of its ID.
	Watermarks []EventTimeStats
	// Operators has an entry for each operator of Query.Operators, in their order.
	Operators []OperatorStats
	// OutputRows is the number of rows given to Emit.
	OutputRows int64
	// SkippedRows is the number of rows that user functions refused and onError skipped or sent to
	// a dead-letter sink.
	SkippedRows int64
}

// InputStats counts what was read of one relation.
type InputStats struct {
	Relation *plan.Relation
	Rows     int64
	// CorruptRows could not be parsed wholly; Sample is one of them with its place.
	CorruptRows int64
	Sample      string
}

// EventTimeStats describes the event times that a watermark operator has seen in a run, nulls left
// out. Times are µs; all are 0 when Count is 0.
type EventTimeStats struct {
	ID       int // of plan.Watermark
	Count    int64
	Max, Min int64
	Avg      float64
	// MaxByPartition has the greatest event time by Partition.ID of the source, for watermarks with
	// scope partition.
	MaxByPartition map[string]int64
}

// OperatorStats counts what a stateful operator did in a run.
type OperatorStats struct {
	ID          int   // of the plan node
	RowsTotal   int64 // entries in state after the run
	RowsUpdated int64
	RowsRemoved int64
	// RowsLate were dropped because of the watermark. A row of a windowed aggregate counts once for
	// each window that it missed.
	RowsLate int64
	// Updates and Removals are the time that state updates and removals took, summed over tasks.
	Updates, Removals time.Duration
	MemoryBytes       int64
	// NextTimer is the earliest processing-time timer of a state function in µs, 0 if there is none.
	NextTimer int64
}

// OperatorInfo describes a stateful operator, for the checkpoint's metadata and progress events.
type OperatorInfo struct {
	ID int // of the plan node: the position among the stateful operators
	// Name is Spark's short name: stateStoreSave, sessionWindowStateStoreSaveExec, dedupe,
	// dedupeWithinWatermark, symmetricHashJoin, flatMapGroupsWithState or globalLimit.
	Name string
	// Stores are the names of its stores in the state.
	Stores []string
	// KeySchema and ValueSchema are the shapes of its keys and values as DDL, those of a join's sides
	// parted by " | ".
	KeySchema, ValueSchema string
	// WatermarkDriven tells that a moved watermark asks for a batch without data, because of
	// this operator in the query's output mode.
	WatermarkDriven bool
	// ProcessingTimers tells that a state function may set processing-time timers, so that batches
	// without data must run when OperatorStats.NextTimer has passed.
	ProcessingTimers bool
	// Unbounded tells that nothing ever removes the operator's state.
	Unbounded bool
	// Partitions is the number of tasks.
	Partitions int
}
