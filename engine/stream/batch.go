package stream

import (
	"context"
	"fmt"
	"time"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/exec"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/internal/failpoint"
)

// batch is a micro-batch on its way.
type batch struct {
	id        int64
	time      int64 // ms since 1970
	watermark int64 // ms: state up to here is finalised
	late      int64 // ms: rows up to here are late
	noData    bool
	replay    bool
	ranges    []batchRange
	began     int64 // ms, when the trigger fired
	sinceLast int64 // ms since the trigger of the batch before, 0 for the first
	durations Durations
}

// step runs the next batch, if there is anything to do.
func (q *Query) step(ctx context.Context) (ran bool, err error) {
	began := q.now()
	q.setStatus(Status{Message: "Getting offsets from sources", IsTriggerActive: true})
	q.planning.Store(q.nextID)
	ranges, err := ends(ctx, q.inputs, q.spec.Trigger.Kind, q.spec.Simulation != nil)
	if err != nil {
		return false, inBatch(q.nextID, err)
	}
	asked := q.now()
	q.takeLags(ranges, asked)
	q.marks.move(asked)
	data := anyData(ranges)
	if !data && !q.wantsNoData(asked) {
		return false, nil
	}
	q.idleFrom = 0
	if q.spec.BatchGate != nil {
		if err := q.spec.BatchGate(q.nextID); err != nil {
			return false, inBatch(q.nextID, err)
		}
	}
	b := &batch{
		id: q.nextID, time: max(asked, q.lastTime), watermark: q.marks.next, late: q.marks.current, noData: !data,
		ranges: ranges, began: began,
	}
	b.durations.LatestOffset = asked - began
	if err := q.plan(ctx, b); err != nil {
		return false, inBatch(b.id, err)
	}
	return true, inBatch(b.id, q.run(ctx, b))
}

// wantsNoData tells whether a batch without data is due.
func (q *Query) wantsNoData(now int64) bool {
	if q.spec.Trigger.Kind == Once {
		return false
	}
	return q.driven && q.marks.next > q.marks.current || q.timers && q.timer > 0 && now >= q.timer
}

// takeLags asks the sources how far their partitions lag behind, where a watermark depends on it.
func (q *Query) takeLags(ranges []batchRange, now int64) {
	for i, in := range q.inputs {
		r, ok := in.src.(connector.LagReporter)
		if !ok || in.latest == nil || !q.marks.wantsLags(in.name) {
			continue
		}
		q.marks.lags(in.name, r.Lag(ranges[i].end, in.latest), now)
	}
}

// plan makes the batch durable as it will be run, now and after a crash.
func (q *Query) plan(ctx context.Context, b *batch) error {
	if err := q.spec.Failpoints.Hit(failpoint.PlanDone, b.id); err != nil {
		return err
	}
	e := checkpoint.OffsetEntry{
		BatchID: b.id, TimestampMs: b.time, WatermarkMs: b.watermark, NoData: b.noData, Conf: q.conf, Query: q.shape,
	}
	if len(q.marks.nodes) > 1 {
		e.InputWatermarksMs = map[string]int64{}
		for _, n := range q.marks.nodes {
			e.InputWatermarksMs[n.name] = n.mark()
		}
	}
	for i, in := range q.inputs {
		e.Sources = append(e.Sources, checkpoint.SourceOffsets{Name: in.name, Start: b.ranges[i].start, End: b.ranges[i].end})
	}
	began := q.now()
	if err := q.ledger.writeOffsets(ctx, e); err != nil {
		return err
	}
	b.durations.WalCommit = q.now() - began
	return nil
}

// replay runs a batch again as its offset entry says.
func (q *Query) replay(ctx context.Context, e *checkpoint.OffsetEntry) error {
	b := &batch{
		id: e.BatchID, time: e.TimestampMs, watermark: e.WatermarkMs, late: q.marks.current, noData: e.NoData, replay: true,
		ranges: q.ranges(e), began: q.now(),
	}
	q.marks.next = max(q.marks.next, e.WatermarkMs)
	if b.id != q.nextID {
		return inBatch(b.id, fmt.Errorf("checkpoint %q: expected batch %d to be the next one", q.spec.Checkpoint, q.nextID))
	}
	return inBatch(b.id, q.run(ctx, b))
}

// run runs a planned batch and brings it to its end, or leaves that to another goroutine if the batch was a large one.
func (q *Query) run(ctx context.Context, b *batch) error {
	q.setStatus(Status{Message: "Processing new data", IsDataAvailable: !b.noData, IsTriggerActive: true})
	q.mu.Lock()
	q.warned = nil
	q.mu.Unlock()
	if q.fired > 0 {
		b.sinceLast = b.began - q.fired
	}
	q.fired, q.nextID, q.lastTime = b.began, b.id+1, b.time
	q.marks.before, q.marks.current = b.late, b.watermark
	for i, in := range q.inputs {
		in.pos = b.ranges[i].end
	}
	info := connector.BatchInfo{
		QueryID: q.id, RunID: q.runID, BatchID: b.id, Replay: b.replay, Mode: q.spec.Mode, Watermark: b.watermark * 1000,
		BatchTime: b.time * 1000, Schema: q.program.Schema(), Failpoints: q.spec.Failpoints,
	}
	f := &finishing{q: q, b: b, main: &output{sink: q.sink, info: info, hashed: true}, side: &sideOutputs{q: q, info: info, front: q.front}, done: make(chan struct{})}
	if q.front != nil {
		f.main.before, f.main.ok = q.front.ready, q.front.fault
	}
	q.refreshTables(b)
	began := time.Now()
	start := q.now()
	var res *exec.Result
	err := safely(func() (err error) {
		res, err = q.program.Run(ctx, q.execBatch(ctx, f))
		return err
	})
	b.durations.AddBatch = q.now() - start
	if err == nil {
		err = f.crashPoints()
	}
	// The batch in front must be done before this one touches what was made durable.
	if front := q.settle(ctx); front != nil {
		err = front
	}
	if err != nil {
		return q.drop(ctx, f, err)
	}
	f.res = res
	q.marks.observe(res.Watermarks, b.time)
	q.nextTimer(res)
	f.mark, f.saved, f.heldBy = q.marks.next, q.saved(), q.marks.heldBy(b.time)
	if q.state != nil {
		if f.pending, err = q.state.Prepare(b.id); err != nil {
			return q.drop(ctx, f, err)
		}
	}
	if q.overlaps() && q.mayOverlap(began) {
		q.front = f
		f.begin(ctx)
		return nil
	}
	f.run(ctx)
	return q.ended(ctx, f)
}

// overlapFrom is how long a batch must run to be finished beside the next one. Below it the switch would cost more than it
// gives, and later data would wait for a batch that was planned too early.
const overlapFrom = 20 * time.Millisecond

// mayOverlap tells whether a batch that was begun at a time is to be finished beside the next one.
func (q *Query) mayOverlap(began time.Time) bool {
	if s := q.spec.Simulation; s != nil {
		return s.Later()
	}
	return time.Since(began) >= q.spec.overlapFrom
}

// overlaps tells whether batches may overlap at all: where one follows another at once.
func (q *Query) overlaps() bool {
	switch q.spec.Trigger.Kind {
	case AsSoonAsPossible, AvailableNow, Continuous:
		return true
	}
	return false
}

// execBatch is the batch as the program gets it.
func (q *Query) execBatch(ctx context.Context, f *finishing) exec.Batch {
	b := f.b
	out := exec.Batch{
		ID: b.id, Time: b.time * 1000, LateWatermark: b.late * 1000, EvictWatermark: b.watermark * 1000, NoData: b.noData,
		Failpoints: q.spec.Failpoints,
		Input: func(ctx context.Context, rel *plan.Relation) ([]connector.Partition, error) {
			began := q.now()
			defer func() {
				q.mu.Lock()
				b.durations.GetBatch += q.now() - began
				q.mu.Unlock()
			}()
			return q.partitions(ctx, b, rel)
		},
		Emit: func(rows *columnar.Batch) error { return f.main.write(ctx, rows) },
	}
	if b.replay {
		out.Attempt = 1
	}
	if len(q.sides) > 0 {
		out.Late = func(sink, operator string, watermark int64, rows *columnar.Batch) error {
			return f.side.write(ctx, sink, lateRows(rows, operator, watermark))
		}
		out.DeadLetter = func(sink string, rows *columnar.Batch, texts []string, module string) error {
			return f.side.write(ctx, sink, deadLetters(rows, texts, module, b.id))
		}
	}
	return out
}

// partitions are what a batch reads of a relation.
func (q *Query) partitions(ctx context.Context, b *batch, rel *plan.Relation) ([]connector.Partition, error) {
	if !rel.Streaming {
		for _, t := range q.statics {
			if t.name == rel.Source {
				return t.partitions(ctx)
			}
		}
	}
	for i, in := range q.inputs {
		if in.name == rel.Source {
			if b.ranges[i].empty() {
				return nil, nil
			}
			return in.src.Plan(ctx, b.ranges[i].start, b.ranges[i].end)
		}
	}
	return nil, fmt.Errorf("there is no source %q", rel.Source)
}

// refreshTables has static tables read again that are old enough.
func (q *Query) refreshTables(b *batch) {
	for _, t := range q.statics {
		if t.due(b.time) {
			for _, rel := range t.rels {
				q.program.Refresh(rel)
			}
			t.loaded = b.time
		} else if !t.asked {
			t.loaded = b.time
		}
	}
}

// nextTimer finds when the next processing-time timer is due.
func (q *Query) nextTimer(res *exec.Result) {
	q.timer = 0
	for _, op := range res.Operators {
		if t := -floorDiv(-op.NextTimer, 1000); op.NextTimer != 0 && (q.timer == 0 || t < q.timer) {
			q.timer = t
		}
	}
}

// saved is what the commit entry keeps for the next batch.
func (q *Query) saved() map[string]int64 {
	out := q.marks.save()
	if q.timer != 0 {
		if out == nil {
			out = map[string]int64{}
		}
		out[timerName] = q.timer
	}
	return out
}

// drop gives a batch up: what was written to the sinks and to the state is as if it had never been.
func (q *Query) drop(ctx context.Context, f *finishing, err error) error {
	if e := f.main.abort(); e != nil {
		q.warn(f.b.id, "%v", e)
	}
	if e := abortAll(f.side.all()); e != nil {
		q.warn(f.b.id, "%v", e)
	}
	if q.state != nil {
		q.state.Abort()
	}
	if ctx.Err() != nil {
		// The end of the context is the reason, whatever it made fail.
		return context.Cause(ctx)
	}
	return err
}
