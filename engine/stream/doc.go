// Package stream runs a compiled query as micro-batches: it chooses offsets, keeps the checkpoint, follows watermarks, obeys
// the trigger, and reports progress.
//
// # The life of a batch
//
//	plan      ask every source for its end        plan.done
//	offsets   offset entry durable                offset.log.*, offset.durable
//	run       read, compute, write to the sink    source.mid, op.mid, sink.partial
//	finish    state durable, sink published       state.*, sink.staged, sink.published
//	commit    commit entry durable                commit.log.*, commit.durable
//	tell      sources told, old entries deleted   purge.mid
//
// A start runs every batch again that has an offset entry and no commit entry, with exactly the entry's offsets, id, time
// and watermark, on the state of the batch before. Why that is enough at each of the crash points, and why state and sink
// may become durable in any order, is written down in docs/exactly-once.md.
//
// # Who does what
//
// One goroutine, the loop of loop.go, plans and runs. A large batch is finished by a second goroutine while the loop plans
// and runs the next one; at most one batch is being finished at any time, and a batch publishes nothing before the one in
// front of it has its commit entry. Small batches are finished by the loop itself, which costs nothing and takes less time.
//
// Whatever fails ends the query with a *QueryError. There is no second try within a run: a new Start does what a restart
// after a crash does.
package stream
