package groupstate

import (
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/wstream/wstream/columnar"
)

// Group is a key with its rows of the batch, its state and its timers. It is valid during the call of the function.
type Group[K, I, S any] struct {
	key   K
	rows  []*columnar.Column
	from  int
	to    int
	codec *codec // of I
	err   error

	state S
	entry entry
	set   bool // the state was set in this call
	fired []Timer

	watermark, now int64 // µs
}

// Timer is a timer that has passed.
type Timer struct {
	Name string
	At   time.Time
	// Processing tells a timer of processing time from one of event time.
	Processing bool
}

// Key is the key.
func (g *Group[K, I, S]) Key() K { return g.key }

// Len is the number of rows; 0 when the key is here for its timers alone.
func (g *Group[K, I, S]) Len() int { return g.to - g.from }

// Rows are the rows of the batch in order of arrival.
func (g *Group[K, I, S]) Rows() iter.Seq[I] {
	return func(yield func(I) bool) {
		for i := g.from; i < g.to; i++ {
			var row I
			if err := g.codec.read(reflect.ValueOf(&row).Elem(), g.rows, i); err != nil {
				g.err = err
				return
			}
			if !yield(row) {
				return
			}
		}
	}
}

// State is the state of the key, false when there is none.
func (g *Group[K, I, S]) State() (S, bool) { return g.state, g.entry.state }

// SetState sets the state, and lets its TTL begin anew.
func (g *Group[K, I, S]) SetState(s S) { g.state, g.entry.state, g.set = s, true, true }

// Remove forgets the state and all timers of the key.
func (g *Group[K, I, S]) Remove() {
	var none S
	g.state, g.entry, g.set = none, entry{}, false
}

// SetTimer sets the timer of that name to an event time: it fires when the watermark has passed it. A timer of the name that
// was set before is replaced. Times count in milliseconds.
func (g *Group[K, I, S]) SetTimer(name string, at time.Time) { g.setTimer(name, at, false) }

// SetProcessingTimer is SetTimer by processing time.
func (g *Group[K, I, S]) SetProcessingTimer(name string, at time.Time) { g.setTimer(name, at, true) }

func (g *Group[K, I, S]) setTimer(name string, at time.Time, clock bool) {
	g.DeleteTimer(name)
	g.entry.timers = append(g.entry.timers, timer{name, clock, at.UnixMilli() * 1000})
}

// DeleteTimer deletes the timer of that name; it may be missing.
func (g *Group[K, I, S]) DeleteTimer(name string) {
	g.entry.timers = slices.DeleteFunc(g.entry.timers, func(t timer) bool { return t.name == name })
}

// Timers are the timers that are set and have not passed, in the order in which they were set.
func (g *Group[K, I, S]) Timers() []Timer {
	out := make([]Timer, len(g.entry.timers))
	for i, t := range g.entry.timers {
		out[i] = t.public()
	}
	return out
}

// Fired are the timers that have passed, the earliest first. They are deleted.
func (g *Group[K, I, S]) Fired() []Timer { return g.fired }

// Watermark is the watermark of the batch, 1970-01-01 before the first event.
func (g *Group[K, I, S]) Watermark() time.Time { return time.UnixMicro(g.watermark).UTC() }

// Now is the time of the batch: the same when the batch is replayed.
func (g *Group[K, I, S]) Now() time.Time { return time.UnixMicro(g.now).UTC() }

// fire takes out the timers that have passed.
func (g *Group[K, I, S]) fire() {
	rest := g.entry.timers[:0]
	for _, t := range g.entry.timers {
		now := g.watermark
		if t.clock {
			now = floorMillis(g.now)
		}
		if t.at < now {
			g.fired = append(g.fired, t.public())
		} else {
			rest = append(rest, t)
		}
	}
	g.entry.timers = rest
	slices.SortStableFunc(g.fired, func(a, b Timer) int { return a.At.Compare(b.At) })
}

func (t timer) public() Timer { return Timer{t.name, time.UnixMicro(t.at).UTC(), t.clock} }

// floorMillis cuts microseconds off.
func floorMillis(t int64) int64 { return time.UnixMicro(t).UnixMilli() * 1000 }
