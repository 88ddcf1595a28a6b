package host

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wstream/wstream/abi"
)

// Reasons why a call was ended. A Trap wraps one of them, or is what the guest itself ran into.
var (
	// ErrOutOfFuel says that the guest used up the call's fuel.
	ErrOutOfFuel = errors.New("out of fuel")
	// ErrDeadline says that the guest took longer than the call's deadline.
	ErrDeadline = errors.New("deadline passed")
	// ErrStackOverflow says that the guest called itself too deep.
	ErrStackOverflow = errors.New("stack overflow")
)

// Trap says that a guest was stopped, or answered with what the contract does not allow. The instance is
// thrown away.
type Trap struct {
	// Reason is what happened, the same for the same input: "out of fuel", "unreachable", "frame: …".
	Reason string
	// Elapsed is how long the call took; 0 where that says nothing.
	Elapsed time.Duration
	// Stack are the guest's functions, innermost first; may be empty.
	Stack []string
	cause error
}

// Error is the reason, how long it took if that matters, and the innermost functions.
func (t *Trap) Error() string {
	var b strings.Builder
	b.WriteString(t.Reason)
	if t.Elapsed > 0 {
		fmt.Fprintf(&b, " after %s", seconds(t.Elapsed))
	}
	if len(t.Stack) > 0 {
		fmt.Fprintf(&b, " in %s", strings.Join(t.Stack, " < "))
	}
	return b.String()
}

// Unwrap gives ErrOutOfFuel, ErrDeadline, an *abi.FrameError or the runtime's error.
func (t *Trap) Unwrap() error { return t.cause }

// seconds is a duration as "2 s" or "0.14 s".
func seconds(d time.Duration) string {
	s := fmt.Sprintf("%.2f", d.Seconds())
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") + " s"
}

// StatusError is a negative status that a guest answered, with the text that it gave.
type StatusError struct {
	Status abi.Status
	Text   string
}

// Error is the guest's text, or the status's name.
func (e *StatusError) Error() string {
	switch {
	case e.Text == "":
		return e.Status.String()
	case e.Status == abi.StatusFailed:
		return e.Text
	}
	return e.Status.String() + ": " + e.Text
}

// maxStack is how many functions of a trap's stack are kept.
const maxStack = 4

// trapOf makes a Trap of the runtime's error, whose text has the stack in lines of its own.
func trapOf(err error, elapsed time.Duration) *Trap {
	t := &Trap{cause: err}
	switch {
	case errors.Is(err, ErrOutOfFuel):
		t.Reason, t.Elapsed = ErrOutOfFuel.Error(), elapsed
		return t
	case errors.Is(err, ErrDeadline):
		t.Reason, t.Elapsed = ErrDeadline.Error(), elapsed
		return t
	}
	if errors.Is(err, ErrStackOverflow) {
		t.Reason = ErrStackOverflow.Error()
		return t
	}
	var exit *exitError
	if errors.As(err, &exit) {
		t.Reason = exit.Error()
		return t
	}
	head, stack, _ := strings.Cut(err.Error(), "\nwasm stack trace:")
	if i := strings.Index(head, "wasm error: "); i >= 0 {
		head = head[i+len("wasm error: "):]
	}
	t.Reason = head
	for _, line := range strings.Split(stack, "\n") {
		line = strings.TrimSpace(line)
		name, _, ok := strings.Cut(line, "(")
		if !ok || len(t.Stack) == maxStack {
			continue
		}
		t.Stack = append(t.Stack, strings.TrimPrefix(name, "."))
	}
	return t
}
