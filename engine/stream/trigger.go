package stream

import (
	"fmt"
	"time"
)

// TriggerKind is a way to decide when batches run.
type TriggerKind string

// The kinds of triggers.
const (
	// AsSoonAsPossible runs the next batch when the last one is done and there is data.
	AsSoonAsPossible TriggerKind = ""
	// ProcessingTime runs batches at multiples of an interval since 1970, at once after an overrun.
	ProcessingTime TriggerKind = "processingTime"
	// Once runs a single batch of all that is there, without limits.
	Once TriggerKind = "once"
	// AvailableNow runs as many batches as the limits ask for over what was there at the start.
	AvailableNow TriggerKind = "availableNow"
	// Continuous is AsSoonAsPossible with the shortest waits between looks at sources that cannot tell of new data. The
	// interval is taken for compatibility and means nothing: every batch is committed.
	Continuous TriggerKind = "continuous"
	// Manual runs batches only within ProcessAllAvailable, for tests.
	Manual TriggerKind = "manual"
)

// Trigger says when batches run.
type Trigger struct {
	Kind     TriggerKind
	Interval time.Duration
}

// Validate refuses what makes no sense.
func (t Trigger) Validate() error {
	switch t.Kind {
	case AsSoonAsPossible, Once, AvailableNow, Manual:
		return nil
	case ProcessingTime, Continuous:
		if t.Interval < 0 {
			return fmt.Errorf("trigger %s: the interval must not be negative, found %s", t.Kind, t.Interval)
		}
		return nil
	}
	return fmt.Errorf("no trigger %q; the triggers are processingTime, once, availableNow and continuous", t.Kind)
}

// String is the trigger as Spark prints it.
func (t Trigger) String() string {
	switch t.Kind {
	case Once:
		return "OneTimeTrigger"
	case AvailableNow:
		return "AvailableNowTrigger"
	case ProcessingTime:
		return fmt.Sprintf("ProcessingTimeTrigger(%d)", t.Interval.Milliseconds())
	case Continuous:
		return fmt.Sprintf("ContinuousTrigger(%d)", t.Interval.Milliseconds())
	}
	return "ProcessingTimeTrigger(0)"
}

// grid tells whether batches run on an interval.
func (t Trigger) grid() bool { return t.Kind == ProcessingTime && t.Interval > 0 }

// next is when the trigger fires after one that fired at now: the next multiple of the interval since 1970.
func (t Trigger) next(now time.Time) time.Time {
	ms, at := t.Interval.Milliseconds(), now.UnixMilli()
	if ms <= 0 {
		return now
	}
	return time.UnixMilli(floorDiv(at, ms)*ms + ms)
}

// pollWait is how long to wait between looks at sources that cannot tell of new data.
func (t Trigger) pollWait() time.Duration {
	if t.Kind == Continuous {
		return time.Millisecond
	}
	return 10 * time.Millisecond
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
