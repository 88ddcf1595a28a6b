package stream

import (
	"context"
	"sync"
	"time"
)

// Clock is where a query takes the time from, and waits for it.
type Clock interface {
	// Now is the time.
	Now() time.Time
	// Sleep returns when d has passed, or with the error of ctx when it ends.
	Sleep(ctx context.Context, d time.Duration) error
}

type systemClock struct{}

// SystemClock is the clock of the machine.
func SystemClock() Clock { return systemClock{} }

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// StepClock is a clock for tests. It stands still, but for a step that it takes after each batch that a query commits, and
// for Advance. Whoever sleeps wakes up when the time has been moved far enough.
type StepClock struct {
	mu      sync.Mutex
	now     time.Time
	step    time.Duration
	changed chan struct{} // closed when the time moves
	asleep  chan struct{} // closed when somebody falls asleep
	sleeps  int
}

// NewStepClock is a clock that shows start and moves by step after each batch.
func NewStepClock(start time.Time, step time.Duration) *StepClock {
	return &StepClock{now: start, step: step, changed: make(chan struct{}), asleep: make(chan struct{})}
}

// Now is the time that the clock shows.
func (c *StepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the time.
func (c *StepClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.sleeps = 0 // everybody wakes up and looks
	close(c.changed)
	c.changed = make(chan struct{})
}

// batchDone takes the step after a batch.
func (c *StepClock) batchDone() { c.Advance(c.step) }

// Sleep waits until the clock has been moved by d.
func (c *StepClock) Sleep(ctx context.Context, d time.Duration) error {
	until := c.Now().Add(d)
	for {
		c.mu.Lock()
		now, changed := c.now, c.changed
		if now.Before(until) {
			c.sleeps++
			close(c.asleep)
			c.asleep = make(chan struct{})
		}
		c.mu.Unlock()
		if !now.Before(until) {
			return ctx.Err()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			c.mu.Lock()
			if changed == c.changed {
				c.sleeps--
			}
			c.mu.Unlock()
			return context.Cause(ctx)
		}
	}
}

// AwaitSleeper returns when somebody waits for the clock to move, or ctx ends.
func (c *StepClock) AwaitSleeper(ctx context.Context) error {
	for {
		c.mu.Lock()
		n, asleep := c.sleeps, c.asleep
		c.mu.Unlock()
		if n > 0 {
			return nil
		}
		select {
		case <-asleep:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
