package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
)

// main is the goroutine of the query.
func (q *Query) main(ctx context.Context) {
	err := safely(func() error { return q.loop(ctx) })
	stopped := q.stopRequested()
	if front := q.settle(ctx); err == nil || errors.Is(front, errFinish) {
		err = front
	}
	if stopped && err == nil {
		err = inBatch(q.nextID-1, q.spec.Failpoints.Hit(failpoint.StopMid, q.nextID-1))
	}
	if closed := q.release(); err == nil {
		err = closed
	}
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		err = nil // given up because Stop, or whoever owns the context, asked for it
	}
	err = q.queryError(err)
	q.cancel(nil)
	q.mu.Lock()
	q.err = err
	q.status = Status{Message: "Stopped"}
	if err != nil {
		q.status.Message = "Terminated with exception: " + err.Error()
	}
	q.mu.Unlock()
	q.tell(func(l Listener) {
		if l.Terminated != nil {
			l.Terminated(TerminatedEvent{q.id, q.runID, q.spec.Name, q.spec.Clock.Now(), err})
		}
	})
	q.mu.Lock()
	close(q.done)
	waiters := q.waiters
	q.waiters = nil
	q.mu.Unlock()
	for _, w := range waiters {
		w <- err
	}
}

// loop runs batches as the trigger says, until the query ends.
func (q *Query) loop(ctx context.Context) error {
	if q.spec.Trigger.Kind == AvailableNow {
		if err := q.fixEnds(ctx); err != nil {
			return err
		}
	}
	replayed, err := q.recover(ctx)
	if err != nil {
		return err
	}
	if q.spec.Trigger.Kind == Once && replayed > 0 {
		return nil
	}
	for !q.stopRequested() {
		fired := q.spec.Clock.Now()
		waiters := q.takeWaiters()
		ran := false
		if q.spec.Trigger.Kind != Manual || len(waiters) > 0 {
			err = safely(func() (err error) {
				ran, err = q.step(ctx)
				return err
			})
			if err == nil && !ran {
				err = q.settle(ctx)
			}
		}
		if err != nil {
			q.putBack(waiters)
			return err
		}
		if ran {
			q.putBack(waiters)
		} else {
			for _, w := range waiters {
				w <- nil
			}
		}
		if q.spec.Trigger.Kind == Once || q.spec.Trigger.Kind == AvailableNow && !ran {
			return nil
		}
		if err := q.pause(ctx, fired, ran); err != nil {
			return err
		}
	}
	return nil
}

// pause waits for the trigger to fire again.
func (q *Query) pause(ctx context.Context, fired time.Time, ran bool) error {
	if ran && !q.spec.Trigger.grid() {
		return ctxError(ctx)
	}
	if !ran {
		q.idle()
	}
	wait, cancel := q.interruptible(ctx)
	defer cancel()
	var err error
	switch {
	case q.spec.Trigger.Kind == Manual:
		<-wait.Done()
	case q.spec.Trigger.grid():
		q.setStatus(Status{Message: "Waiting for next trigger", IsDataAvailable: ran})
		if d := q.spec.Trigger.next(fired).Sub(q.spec.Clock.Now()); d > 0 {
			err = ignoreEnd(wait, q.spec.Clock.Sleep(wait, d))
		}
	default:
		q.setStatus(Status{Message: "Waiting for data to arrive"})
		err = q.waitOrTimer(wait)
	}
	if err != nil {
		return err
	}
	return ctxError(ctx)
}

// waitOrTimer waits for data, or until a timer is due or a silent partition stops to count.
func (q *Query) waitOrTimer(ctx context.Context) error {
	now := q.now()
	due := int64(0)
	if q.timers && q.timer > 0 {
		due = q.timer
	}
	if t := q.marks.idleAt(now); t > 0 && (due == 0 || t < due) {
		due = t
	}
	if due == 0 {
		return q.wait(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	slept := make(chan struct{})
	go func() {
		defer close(slept)
		if q.spec.Clock.Sleep(ctx, time.Duration(max(due-now, 1))*time.Millisecond) == nil {
			cancel()
		}
	}()
	err := q.wait(ctx)
	cancel()
	<-slept
	return err
}

// interruptible is a context that also ends when the query is to stop, or somebody waits for it to process all.
func (q *Query) interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-q.stopping:
		case <-q.wake:
		case <-ctx.Done():
		}
		cancel()
	}()
	return ctx, func() {
		cancel()
		<-gone
	}
}

// idle tells listeners now and then that there is nothing to do.
func (q *Query) idle() {
	now := q.now()
	if q.idleFrom == 0 {
		q.idleFrom = now
		return
	}
	if now-q.idleFrom < millis(idleEvery) {
		return
	}
	q.idleFrom = now
	q.tell(func(l Listener) {
		if l.Idle != nil {
			l.Idle(IdleEvent{q.id, q.runID, q.spec.Name, q.spec.Clock.Now()})
		}
	})
}

// fixEnds makes the sources give nothing beyond what is there now.
func (q *Query) fixEnds(ctx context.Context) error {
	pending, err := q.ledger.c.Pending()
	if err != nil {
		return err
	}
	starts := make([]connector.Offset, len(q.inputs))
	for i, in := range q.inputs {
		starts[i] = in.pos
	}
	for _, e := range pending {
		for i, r := range q.ranges(e) {
			starts[i] = r.end
		}
	}
	for i, in := range q.inputs {
		b, ok := in.src.(connector.Bounded)
		if !ok {
			continue
		}
		if err := b.Fix(ctx, starts[i]); err != nil {
			return fmt.Errorf("source %q: %w", in.name, err)
		}
	}
	return nil
}

// recover runs the batches again that an earlier run has planned and not committed, and tells the sources once more of the
// last one that was committed.
func (q *Query) recover(ctx context.Context) (replayed int, err error) {
	if q.last >= 0 {
		ends := make([]connector.Offset, len(q.inputs))
		for i, in := range q.inputs {
			ends[i] = in.pos
		}
		q.tellSources(ctx, q.last, ends)
	}
	pending, err := q.ledger.c.Pending()
	if err != nil {
		return 0, err
	}
	for _, e := range pending {
		if err := q.replay(ctx, e); err != nil {
			return replayed, err
		}
		replayed++
		if q.stopRequested() {
			break
		}
	}
	return replayed, nil
}

// ctxError is the reason for which ctx has ended, nil if it has not.
func ctxError(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
