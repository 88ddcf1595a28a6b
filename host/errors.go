package host

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/host/fuel"
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
func (m *Module) trapOf(err error, elapsed time.Duration) *Trap {
	t := &Trap{cause: err}
	head, stack, _ := strings.Cut(err.Error(), "\nwasm stack trace:")
	var exit *exitError
	switch {
	case errors.Is(err, ErrDeadline):
		// Where it was just then says nothing, and differs from run to run.
		t.Reason, t.Elapsed = ErrDeadline.Error(), elapsed
		return t
	case errors.Is(err, ErrOutOfFuel):
		t.Reason, t.Elapsed = ErrOutOfFuel.Error(), elapsed
	case errors.Is(err, ErrStackOverflow):
		t.Reason = ErrStackOverflow.Error()
	case errors.As(err, &exit):
		t.Reason = exit.Error()
	default:
		if i := strings.Index(head, "wasm error: "); i >= 0 {
			head = head[i+len("wasm error: "):]
		}
		t.Reason = head
	}
	t.Stack = m.frames(stack)
	return t
}

// frames reads the innermost functions of a stack. A function is a line ".name(i32) i64"; below it may stand, further in,
// where it was: "0x3c: wstream_code:120", an offset of the code section plus one.
func (m *Module) frames(stack string) []string {
	prefix := "." // the module's own name
	if m.compiled != nil {
		prefix = m.compiled.Name() + "."
	}
	var out []string
	for _, line := range strings.Split(stack, "\n") {
		line = strings.TrimSpace(line)
		if _, at, ok := strings.Cut(line, ": "+fuel.LineFile+":"); ok {
			if n, err := strconv.ParseUint(at, 10, 32); err == nil && n > 0 && len(out) > 0 && !strings.HasSuffix(out[len(out)-1], ")") {
				if file, line, ok := m.lines().Find(uint32(n - 1)); ok {
					out[len(out)-1] += fmt.Sprintf(" (%s:%d)", printable([]byte(file)), line)
				}
			}
			continue
		}
		name, _, ok := strings.Cut(line, "(")
		if !ok || strings.HasPrefix(name, fuel.ImportModule+".") {
			continue
		}
		if len(out) == maxStack {
			break
		}
		name = strings.TrimPrefix(name, prefix)
		if number, ok := strings.CutPrefix(name, "$"); ok {
			name = m.unnamed(number)
		}
		out = append(out, printable([]byte(name)))
	}
	return out
}

// unnamed is what a function without a name is called: by what it is exported as, else by its number, which the host's own
// function has moved by one.
func (m *Module) unnamed(number string) string {
	n, err := strconv.Atoi(number)
	if err != nil {
		return "$" + number
	}
	first := ""
	for name, d := range m.compiled.ExportedFunctions() {
		if int(d.Index()) == n && (first == "" || name < first) {
			first = name
		}
	}
	switch {
	case first != "":
		return first
	case m.host.unmetered:
		return "$" + number
	}
	return fmt.Sprintf("$%d", n-1)
}
