// Package failpoint makes a process fail at a named point, for tests of what a crash leaves behind.
//
// A point is named where the code passes it, by Hit or Torn on a *Set that was handed down. A nil *Set is valid, never
// fires and costs a comparison. There is no package state.
package failpoint

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Names of the points, in the order in which a batch passes them. Each is the state of the world at the crash.
const (
	PlanDone          = "plan.done"           // offsets chosen, nothing written
	OffsetLogPartial  = "offset.log.partial"  // half of the offset entry written
	OffsetLogUnsynced = "offset.log.unsynced" // offset entry written, not synced
	OffsetDurable     = "offset.durable"      // offset entry durable, nothing read
	SourceMid         = "source.mid"          // half of the rows read
	OpMid             = "op.mid"              // half of the rows applied to the state
	StateLogPartial   = "state.log.partial"   // half of the change-log record written
	StateCommitted    = "state.committed"     // state durable, sink untouched
	SinkPartial       = "sink.partial"        // half of a file or an open transaction
	SinkStaged        = "sink.staged"         // output complete, not published
	SinkPublished     = "sink.published"      // output visible, no commit entry
	CommitLogPartial  = "commit.log.partial"  // half of the commit entry written
	CommitLogUnsynced = "commit.log.unsynced" // commit entry written, not synced
	CommitDurable     = "commit.durable"      // commit entry durable, source not told
	PurgeMid          = "purge.mid"           // some old entries and files deleted
	StateSnapshotMid  = "state.snapshot.mid"  // half of a snapshot written
	NoDataMid         = "nodata.mid"          // within a batch without data
	StopMid           = "stop.mid"            // within a graceful stop
	RecoverMid        = "recover.mid"         // within the replay of a start
)

// Names lists every point.
func Names() []string {
	return []string{
		PlanDone, OffsetLogPartial, OffsetLogUnsynced, OffsetDurable, SourceMid, OpMid, StateLogPartial, StateCommitted,
		SinkPartial, SinkStaged, SinkPublished, CommitLogPartial, CommitLogUnsynced, CommitDurable, PurgeMid,
		StateSnapshotMid, NoDataMid, StopMid, RecoverMid,
	}
}

// Action is what happens when a point fires.
type Action int

// The actions.
const (
	Kill  Action = iota // SIGKILL to the own process
	Err                 // Hit returns an *Error
	Sleep               // Hit waits
	Torn                // Torn cuts the write, then the process is killed; Hit treats it as Kill
)

// AnyBatch in Rule.Batch matches every batch.
const AnyBatch = int64(-1)

// Rule is one armed point.
type Rule struct {
	Name   string
	Batch  int64 // AnyBatch, or the batch in which it fires
	Nth    int   // it fires at the nth pass, from 1
	Action Action
	Wait   time.Duration // of Sleep
}

// Error is what a point with the action err returns.
type Error struct {
	Name  string
	Batch int64
}

// Error says which point fired.
func (e *Error) Error() string {
	return fmt.Sprintf("failpoint %q fired in batch %d", e.Name, e.Batch)
}

// Set is a list of armed points. Its methods may be called from several goroutines; those of a nil Set do nothing.
type Set struct {
	mu     sync.Mutex
	rules  []Rule
	passed []int
	fired  map[string]int
	kill   func()
}

// New returns a set of the given rules.
func New(rules ...Rule) *Set {
	return &Set{rules: rules, passed: make([]int, len(rules)), fired: map[string]int{}, kill: killSelf}
}

// Parse reads a comma-separated list of NAME@batch=N[:nth][=kill|err|sleep:MS|torn], the format of --fail-at and
// WSTREAM_FAILPOINT. The empty text gives a nil Set. "@batch=N" may be left out for any batch.
func Parse(text string) (*Set, error) {
	var rules []Rule
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		r, err := parseRule(part)
		if err != nil {
			return nil, fmt.Errorf("failpoint %q: %w", part, err)
		}
		rules = append(rules, r)
	}
	if rules == nil {
		return nil, nil
	}
	return New(rules...), nil
}

func parseRule(text string) (Rule, error) {
	r := Rule{Batch: AnyBatch, Nth: 1}
	name, where, hasBatch := strings.Cut(text, "@")
	action := ""
	if hasBatch {
		value, ok := strings.CutPrefix(where, "batch=")
		if !ok {
			return r, fmt.Errorf("expected \"batch=N\" after \"@\", got %q", where)
		}
		value, action, _ = strings.Cut(value, "=")
		batch, nth, hasNth := strings.Cut(value, ":")
		n, err := strconv.ParseInt(batch, 10, 64)
		if err != nil || n < 0 {
			return r, fmt.Errorf("batch must be a number from 0 on, got %q", batch)
		}
		r.Batch = n
		if hasNth {
			if r.Nth, err = strconv.Atoi(nth); err != nil || r.Nth < 1 {
				return r, fmt.Errorf("nth must be a number from 1 on, got %q", nth)
			}
		}
	} else {
		name, action, _ = strings.Cut(text, "=")
	}
	r.Name = name
	if !slices.Contains(Names(), name) {
		return r, fmt.Errorf("no such point; the points are %s", strings.Join(Names(), ", "))
	}
	kind, arg, hasArg := strings.Cut(action, ":")
	switch {
	case kind == "sleep":
		ms, err := strconv.Atoi(arg)
		if err != nil || ms < 0 {
			return r, fmt.Errorf("sleep takes milliseconds, as in \"sleep:50\", got %q", action)
		}
		r.Action, r.Wait = Sleep, time.Duration(ms)*time.Millisecond
	case hasArg:
		return r, fmt.Errorf("action %q takes no argument", kind)
	case kind == "" || kind == "kill":
		r.Action = Kill
	case kind == "err":
		r.Action = Err
	case kind == "torn":
		r.Action = Torn
	default:
		return r, fmt.Errorf("no action %q; the actions are kill, err, sleep:MS and torn", action)
	}
	return r, nil
}

// OnKill replaces what the actions kill and torn do, for tests within one process.
func (s *Set) OnKill(fn func()) { s.kill = fn }

func killSelf() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {} // the signal is on its way
}

// match counts a pass of the point and returns the rule that fires, if one does.
func (s *Set) match(name string, batch int64) *Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.rules {
		r := &s.rules[i]
		if r.Name != name || r.Batch != AnyBatch && r.Batch != batch {
			continue
		}
		s.passed[i]++
		if s.passed[i] == r.Nth {
			s.fired[name]++
			return r
		}
	}
	return nil
}

// Hit says that the code passes the point in the given batch. If the point is armed it does not return (kill), returns
// an *Error (err), or returns late (sleep).
func (s *Set) Hit(name string, batch int64) error {
	if s == nil {
		return nil
	}
	r := s.match(name, batch)
	if r == nil {
		return nil
	}
	switch r.Action {
	case Err:
		return &Error{Name: name, Batch: batch}
	case Sleep:
		time.Sleep(r.Wait)
	default:
		s.kill()
	}
	return nil
}

// Armed says whether some rule could still fire at the point in the batch. Writers ask it before they split a write.
func (s *Set) Armed(name string, batch int64) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.rules {
		if r.Name == name && (r.Batch == AnyBatch || r.Batch == batch) && s.passed[i] < r.Nth {
			return true
		}
	}
	return false
}

// Write writes data by write and passes the point half-way: the first half is written, then the point fires, and the
// second half follows if the process is still there. When the point is not armed data is written at once. With the
// action torn the second half is lost but for its length: zeros stand in its place.
func (s *Set) Write(name string, batch int64, data []byte, write func([]byte) error) error {
	if !s.Armed(name, batch) {
		return write(data)
	}
	half := len(data) / 2
	r := s.match(name, batch)
	if r == nil {
		return write(data)
	}
	if err := write(data[:half]); err != nil {
		return err
	}
	switch r.Action {
	case Err:
		return &Error{Name: name, Batch: batch}
	case Sleep:
		time.Sleep(r.Wait)
	case Torn:
		if err := write(make([]byte, len(data)-half)); err != nil {
			return err
		}
		s.kill()
	default:
		s.kill()
	}
	return write(data[half:])
}

// Fired returns how often each point has fired.
func (s *Set) Fired() map[string]int {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]int, len(s.fired))
	for k, v := range s.fired {
		out[k] = v
	}
	return out
}
