// Package exec holds the physical operators and runs an optimised logical plan: micro-batch after
// micro-batch for a streaming query, once for a bounded one.
//
// # How a plan runs
//
// Compile turns the tree of plan nodes into pipelines. A pipeline is a source of row batches, a
// chain of stateless steps (filter, project, windows, user functions, joins with a built table)
// and a sink. Operators that must see many rows before they can answer (aggregates, sorts, joins of
// two streams, state functions) end a pipeline and are the source of the next one.
//
// One goroutine reads a source in order and numbers what it reads. Workers decode and run the
// steps. Sinks that depend on order (the final output, LIMIT, deduplication, collect_list) get
// their rows in the order of the numbers, whichever worker is ready first; the others get row
// batches by number modulo workers, so that a replayed batch adds up floating-point values in the
// same order and gives the same bytes.
//
// Stateful operators hash-partition rows by key. A partition owns the state buckets b with
// b % Partitions == p; partitions are worked on side by side.
//
// # Time
//
// All times are microseconds since 1970 in UTC. A row is late for an operator when its time value
// (the end of a window, otherwise the event time) is at or below the watermark of the batch before
// (Batch.LateWatermark); state is finalised and removed when its end is at or below the watermark
// of the batch itself (Batch.EvictWatermark). Behind a join over a range of time both lag by that
// range.
package exec
