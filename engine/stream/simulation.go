package stream

import "github.com/wstream/wstream/checkpoint"

// Simulation takes everything that is left to chance or to the machine out of a query: ids, the order of things that
// may happen at the same time, and goroutines. A query that is given the same Simulation, clock, file system, sources and
// sinks does exactly the same again.
type Simulation struct {
	// QueryID is the id of a checkpoint that is made, a UUID; Process is how the run calls itself in the checkpoint.
	QueryID string
	Process checkpoint.Owner
	// Beside runs two things that may be done at the same time, in any order, and returns when both are done.
	Beside func(a, b func())
	// Later tells, where something may be done beside what follows, to do it as late as can be: a batch is then finished
	// when the next one has been planned and computed. Otherwise it is done at once.
	Later func() bool
	// SegmentBytes and SnapshotBytes make segments of logs and the intervals of snapshots small; 0 is as usual.
	SegmentBytes, SnapshotBytes int64
}

// beside runs two things at the same time.
func (q *Query) beside(a, b func()) {
	if s := q.spec.Simulation; s != nil {
		s.Beside(a, b)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		a()
	}()
	b()
	<-done
}
