package groupstate

import (
	"fmt"
	"time"

	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/plan"
)

// Timers are the kinds of timers that a function sets.
type Timers int

// The kinds of timers; they may be combined.
const (
	NoTimers Timers = 0
	// EventTime timers pass with the watermark of the input, which must have one. Late rows are dropped before the function
	// sees them.
	EventTime Timers = 1
	// ProcessingTime timers pass with the clock.
	ProcessingTime Timers = 2
)

// Spec declares a state function.
type Spec struct {
	// Name is what errors, plans and the checkpoint call the function; it is required.
	Name string
	// Key are the columns by which rows are grouped. It may be left out where the key is a struct, whose fields say so.
	Key []string
	// Mode is the output mode that the emitted rows are for: append (the default) or update. The sink must have the same.
	Mode connector.OutputMode
	// Timers are the kinds of timers that the function sets.
	Timers Timers
	// TTL is how long a state lasts after it was last set, by processing time; 0 is for ever.
	TTL time.Duration
	// OnError says what becomes of the rows of a key whose call fails: the zero value ends the query.
	OnError plan.OnError
}

// timeout is what the operator calls the kinds of timers.
func (s *Spec) timeout() string {
	t := s.Timers
	if s.TTL > 0 {
		t |= ProcessingTime
	}
	switch t {
	case EventTime:
		return "event"
	case ProcessingTime:
		return "processing"
	case EventTime | ProcessingTime:
		return "both"
	}
	return "none"
}

func (s *Spec) check() error {
	switch {
	case s.Name == "":
		return fmt.Errorf("a state function needs a name: set Spec.Name")
	case s.Mode != connector.Append && s.Mode != connector.Update:
		return fmt.Errorf("state function %q: emits in mode %q, which must be append or update", s.Name, s.Mode)
	case s.Timers < 0 || s.Timers > EventTime|ProcessingTime:
		return fmt.Errorf("state function %q: unknown kinds of timers %d", s.Name, s.Timers)
	case s.TTL < 0:
		return fmt.Errorf("state function %q: the TTL %s is negative", s.Name, s.TTL)
	}
	return nil
}
