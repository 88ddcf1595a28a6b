package stream

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/exec"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/state"
)

// finishing is a batch whose rows have all been computed, until its commit entry is durable.
type finishing struct {
	q       *Query
	b       *batch
	main    *output
	side    *sideOutputs
	res     *exec.Result
	pending *state.Pending
	mark    int64            // watermark of the next batch, ms
	saved   map[string]int64 // for the commit entry
	heldBy  string
	ended   int64         // when the batch was committed, ms
	done    chan struct{} // closed at the end
	late    func()        // in a simulation: runs the end of the batch, unless it has run
	err     error
}

// errFinish marks errors of the end of a batch.
var errFinish = errors.New("finish")

type finishError struct{ err error }

func (e *finishError) Error() string        { return e.err.Error() }
func (e *finishError) Unwrap() error        { return e.err }
func (e *finishError) Is(target error) bool { return target == errFinish }

// fault is what the batch has failed with, once done is closed.
func (f *finishing) fault() error { return f.err }

// begin has the batch finished beside what follows.
func (f *finishing) begin(ctx context.Context) {
	if f.q.spec.Simulation != nil {
		f.late = sync.OnceFunc(func() { f.run(ctx) })
		return
	}
	go f.run(ctx)
}

// ready is closed when the batch has been finished. Whoever asks is going to wait for it.
func (f *finishing) ready() <-chan struct{} {
	if f.late != nil {
		f.late()
	}
	return f.done
}

// run makes state and output durable, then the commit entry.
//
// State and output may be made durable in any order, and are so at the same time: a crash in between leaves no commit
// entry, so that the batch runs again on the state of the batch before, to the same output.
func (f *finishing) run(ctx context.Context) {
	defer close(f.done)
	err := safely(func() error {
		if err := f.publish(ctx); err != nil {
			return err
		}
		return f.commit(ctx)
	})
	if err != nil {
		if e := abortAll(append(f.side.all(), f.main)); e != nil {
			f.q.warn(f.b.id, "%v", e)
		}
		f.err = inBatch(f.b.id, &finishError{err})
	}
}

// publish makes state and output durable.
func (f *finishing) publish(ctx context.Context) error {
	q, points := f.q, f.q.spec.Failpoints
	var written, published error
	writeState := func() {
		began := q.now()
		written = safely(f.pending.Write)
		f.b.durations.StateCommit = q.now() - began
	}
	publish := func() {
		began := q.now()
		published = safely(func() error { return f.publishOutput(ctx) })
		f.b.durations.SinkCommit = q.now() - began
	}
	switch {
	case f.pending == nil:
		publish()
	case points.Armed(failpoint.StateCommitted, f.b.id):
		writeState() // which passes the point, before the sink is touched
		if written == nil {
			publish()
		}
	default:
		q.beside(writeState, publish)
	}
	return errors.Join(written, published)
}

// publishOutput commits the batch at the sinks, the query's own last.
func (f *finishing) publishOutput(ctx context.Context) error {
	outs := append(f.side.all(), f.main)
	// A process that was suspended and has lost the checkpoint meanwhile should not publish beside the one that has it.
	if err := f.q.ledger.checkOwner(); err != nil {
		return err
	}
	if err := f.note(); err != nil {
		return err
	}
	for _, o := range outs {
		if err := o.commit(ctx); err != nil {
			return err
		}
	}
	return f.q.spec.Failpoints.Hit(failpoint.SinkPublished, f.b.id)
}

// note writes down what is about to be published, for the run of the batch after a crash, and compares it with what the run
// before a crash has noted.
func (f *finishing) note() error {
	n := checkpoint.OutputNote{BatchID: f.b.id, Rows: f.main.rows, Hash: checkpoint.Hash(f.main.hash.sum)}
	if f.pending != nil {
		n.StateHash = checkpoint.Hash(f.pending.Info.Hash)
	}
	before, differs, err := f.q.ledger.note(n, f.b.replay)
	if err == nil && differs {
		f.q.warn(f.b.id, "%s", replayDiffers(before, n))
	}
	return err
}

// commit writes the commit entry, also when the query is to end now: everything else of the batch is there.
func (f *finishing) commit(ctx context.Context) error {
	q := f.q
	began := q.now()
	e := checkpoint.CommitEntry{
		BatchID: f.b.id, NextWatermarkMs: f.mark, NextInputWatermarksMs: f.saved, TimestampMs: began,
		OutputRows: f.main.rows, Modules: q.modules,
	}
	hash := checkpoint.Hash(f.main.hash.sum)
	e.OutputHash = &hash
	for _, in := range f.res.Inputs {
		if in.Relation == nil || in.Relation.Streaming {
			e.InputRows += in.Rows
		}
	}
	if f.pending != nil {
		h := checkpoint.Hash(f.pending.Info.Hash)
		e.StateHash = &h
		e.StateRows = map[string]int64{}
		for _, s := range f.pending.Info.Stores {
			e.StateRows[s.Name] = s.Rows
		}
	}
	if err := q.ledger.writeCommit(context.WithoutCancel(ctx), e); err != nil {
		return err
	}
	f.ended = q.now()
	f.b.durations.CommitOffsets = f.ended - began
	return nil
}

// crashPoints are the points between running a batch and finishing it.
func (f *finishing) crashPoints() error {
	points := f.q.spec.Failpoints
	if points == nil {
		return nil
	}
	if f.b.noData {
		if err := points.Hit(failpoint.NoDataMid, f.b.id); err != nil {
			return err
		}
	}
	if f.b.replay {
		return points.Hit(failpoint.RecoverMid, f.b.id)
	}
	return nil
}

// settle waits for the batch that is being finished, if there is one.
func (q *Query) settle(ctx context.Context) error {
	f := q.front
	if f == nil {
		return nil
	}
	q.front = nil
	<-f.ready()
	return q.ended(ctx, f)
}

// ended does what comes behind the commit entry: sources are told, old entries deleted, progress reported.
func (q *Query) ended(ctx context.Context, f *finishing) error {
	if f.err != nil {
		return f.err
	}
	b := f.b
	ends := make([]connector.Offset, len(b.ranges))
	for i, r := range b.ranges {
		ends[i] = r.end
	}
	if !b.noData {
		q.tellSources(ctx, b.id, ends)
	}
	if err := q.purge(); err != nil {
		if !isRemoval(err) {
			return inBatch(b.id, err)
		}
		q.warn(b.id, "old entries of the checkpoint could not be deleted, the next batch tries again: %v", err)
	}
	p := f.progress()
	q.mu.Lock()
	q.last, q.mark = b.id, f.mark
	if len(q.progress) == recentProgress {
		q.progress = append(q.progress[:0], q.progress[1:]...)
	}
	q.progress = append(q.progress, p)
	q.mu.Unlock()
	for i, in := range f.res.Inputs {
		if in.Sample != "" {
			q.warn(b.id, "source %q: %d rows could not be parsed wholly, one of them: %s", f.res.Inputs[i].Relation.Source, in.CorruptRows, in.Sample)
		}
	}
	q.tell(func(l Listener) {
		if l.Progress != nil {
			l.Progress(p)
		}
	})
	if c, ok := q.spec.Clock.(*StepClock); ok {
		c.batchDone()
	}
	return nil
}

// isRemoval tells whether an error is that a file could not be deleted. What else fails in a purge, a sync above all, leaves
// the disk in an unknown state and ends the query.
func isRemoval(err error) bool {
	var e *fs.PathError
	return errors.As(err, &e) && e.Op == "remove"
}

// purge deletes what no rollback needs any more.
func (q *Query) purge() error {
	if err := q.ledger.purge(q.spec.Settings.KeepBatches); err != nil {
		return err
	}
	if q.state == nil {
		return nil
	}
	return q.state.Purge(q.ledger.keepFrom)
}

// tellSources tells the sources that a batch is committed. What they do then can be done later as well: a fault is a
// warning.
func (q *Query) tellSources(ctx context.Context, batch int64, ends []connector.Offset) {
	for i, in := range q.inputs {
		if c, ok := in.src.(connector.Committer); ok && ends[i] != nil {
			if err := c.Commit(ctx, batch, ends[i]); err != nil {
				q.warn(batch, "source %q: %v", in.name, err)
			}
		}
	}
}

// progress describes the batch.
func (f *finishing) progress() Progress {
	q, b := f.q, f.b
	now := f.ended
	b.durations.TriggerExecution = now - b.began
	b.durations.QueryPlanning, q.compiled = q.compiled, 0
	b.durations.steady()
	p := Progress{
		ID: q.id, RunID: q.runID, Name: q.spec.Name, Timestamp: isoMs(b.began), BatchID: b.id, BatchDuration: b.durations.TriggerExecution,
		DurationMs: b.durations, NoData: b.noData, Replay: b.replay, SkippedRows: f.res.SkippedRows,
		StateOperators: []StateProgress{}, Sources: []SourceProgress{},
		Sink: SinkProgress{Description: q.sink.Description(), NumOutputRows: f.main.rows},
	}
	rate := func(rows int64) (in, processed Rate) {
		return Rate(float64(rows) * 1000 / float64(max(b.sinceLast, 0))), Rate(float64(rows) * 1000 / float64(b.durations.TriggerExecution))
	}
	for i, in := range q.inputs {
		s := SourceProgress{
			Name: in.name, Description: in.src.Description(), StartOffset: orNull(b.ranges[i].start), EndOffset: orNull(b.ranges[i].end),
			LatestOffset: orNull(in.latest),
		}
		for _, r := range f.res.Inputs { // a source that is read twice has its rows counted once
			if r.Relation != nil && r.Relation.Streaming && r.Relation.Source == in.name {
				s.NumInputRows, s.NumCorruptRecords = max(s.NumInputRows, r.Rows), max(s.NumCorruptRecords, r.CorruptRows)
			}
		}
		if l, ok := in.src.(connector.LagReporter); ok && in.latest != nil {
			s.Lag = l.Lag(b.ranges[i].end, in.latest)
		}
		if m, ok := in.src.(connector.MetricsReporter); ok && in.latest != nil {
			s.Metrics = m.Metrics(b.ranges[i].end, in.latest)
		}
		s.InputRowsPerSecond, s.ProcessedRowsPerSecond = rate(s.NumInputRows)
		p.NumInputRows += s.NumInputRows
		p.Sources = append(p.Sources, s)
	}
	p.InputRowsPerSecond, p.ProcessedRowsPerSecond = rate(p.NumInputRows)
	f.eventTime(&p)
	f.stateOperators(&p)
	for _, o := range f.side.all() {
		if p.Sink.SideRows == nil {
			p.Sink.SideRows = map[string]int64{}
		}
		p.Sink.SideRows[o.name] = o.rows
	}
	return p
}

func (f *finishing) eventTime(p *Progress) {
	if len(f.q.marks.nodes) == 0 {
		return
	}
	p.EventTime = map[string]string{"watermark": isoMs(f.b.watermark)}
	for _, w := range f.res.Watermarks {
		if w.Count > 0 {
			p.EventTime["max"], p.EventTime["min"] = isoMs(floorDiv(w.Max, 1000)), isoMs(floorDiv(w.Min, 1000))
			p.EventTime["avg"] = isoMs(floorDiv(int64(w.Avg), 1000))
			break
		}
	}
	if f.heldBy != "" {
		p.EventTime["watermarkHeldBy"] = f.heldBy
	}
}

func (f *finishing) stateOperators(p *Progress) {
	for i, s := range f.res.Operators {
		op := f.q.operators[i]
		sp := StateProgress{
			OperatorName: op.Name, NumRowsTotal: s.RowsTotal, NumRowsUpdated: s.RowsUpdated, NumRowsRemoved: s.RowsRemoved,
			AllUpdatesTimeMs: millis(s.Updates), AllRemovalsTimeMs: millis(s.Removals), CommitTimeMs: f.b.durations.StateCommit,
			MemoryUsedBytes: s.MemoryBytes, NumRowsDroppedByWatermark: s.RowsLate, NumShufflePartitions: int64(op.Partitions),
			NumStateStoreInstances: int64(op.Partitions * max(len(op.Stores), 1)),
		}
		if i == 0 && f.q.state != nil {
			m := f.q.state.Metrics()
			sp.CustomMetrics = map[string]int64{
				"snapshotsWritten": m.Snapshots, "snapshotsRepaired": m.Repaired, "rowsEvictedToDisk": m.Evicted, "rowsFetchedFromDisk": m.Fetched,
			}
		}
		p.StateOperators = append(p.StateOperators, sp)
	}
}

// orNull is an offset as JSON shows it.
func orNull(o connector.Offset) connector.Offset {
	if o == nil {
		return connector.Offset("null")
	}
	return o
}
