// Command sim runs streaming queries in a deterministic simulation, with faults: `go run ./internal/sim -seed N`.
//
// A seed decides everything: the pipeline, its input, its sources and sinks, the order of what may happen at the same time,
// the clock, and which faults strike when. Nothing real is used: the disk is a strict file system in memory, time passes
// when somebody looks at the clock, and a query does one thing after the other in one goroutine (stream.Simulation). The
// same seed gives the same trace, byte for byte.
//
// # What is checked
//
// Each seed runs its pipeline twice: once without faults, and once with faults and as many starts as they ask for. Then
// the rows of every sink must be the same multiset, each batch that came to a transactional sink again must have brought
// the same rows, the commit log must have an entry for every batch and end with the same batch and the same hash of the
// state, and a query may have failed only where a fault had struck.
//
// # Faults
//
// They are named and counted in faults.go. A run in which none has struck is counted as such.
package main
