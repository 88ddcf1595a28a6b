package exec

import (
	"context"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/internal/failpoint"
)

// Batch is one micro-batch, or the only run of a bounded query, as Run gets it.
type Batch struct {
	// ID is the batch id; Time is the batch's time in µs, the same in a replay; Attempt counts
	// replays from 0.
	ID      int64
	Time    int64
	Attempt int
	// LateWatermark is the watermark of the batch before: rows at or below it are late.
	// EvictWatermark is the watermark of this batch: state that ends at or below it is finalised.
	// Both in µs, and 0 before the first event.
	LateWatermark, EvictWatermark int64
	// NoData runs the batch without reading any streaming source.
	NoData bool
	// Input gives the partitions of a relation in the batch, in an order that a replay repeats. It
	// is asked once a batch for each streaming relation, and once for a static one until Refresh.
	Input func(ctx context.Context, rel *plan.Relation) ([]connector.Partition, error)
	// Gate, if set, is called once, before the batch touches the state or calls Emit, Late or
	// DeadLetter for the first time, and may wait: until then the batch reads, decodes and aggregates
	// while the one before it is being committed. An error ends the run.
	Gate func(ctx context.Context) error
	// Emit takes the result, in order. Calls do not overlap, but may come from several goroutines.
	// The batch is immutable and may be kept.
	Emit func(rows *columnar.Batch) error
	// Late takes rows that came too late for an operator whose relation names a late output: the
	// sink, the operator's name, the watermark that they missed (µs), and the rows as they entered the
	// operator. Calls of Late and DeadLetter do not overlap. Nil drops them.
	Late func(sink, operator string, watermark int64, rows *columnar.Batch) error
	// DeadLetter takes rows that a user function refused, where onError names a sink: the sink, the
	// rows as the function's step got them, for each the text, and the module. Nil drops them.
	DeadLetter func(sink string, rows *columnar.Batch, texts []string, module string) error
	// Failpoints are the crash points of tests; nil has none.
	Failpoints *failpoint.Set
}
