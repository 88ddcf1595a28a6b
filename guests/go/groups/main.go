// Command groups is the guest of ../../c/groups in Go: functions with state by key, over rows of ts TIMESTAMP, k STRING,
// v INT, the key being k.
package main

import "github.com/wstream/wstream/sdk/go"

func main() {}

const minute = 60_000_000 // microseconds

const (
	timestamp = wstream.TypeTimestamp
	str       = wstream.TypeString
	bigint    = wstream.TypeInt64
	integer   = wstream.TypeInt32
)

// function makes the declaration of a state function.
func function(name, mode, timeout, state, output string, states, outputs []wstream.Type,
	key func(c *wstream.Call, g *wstream.Group, state, out []*wstream.Builder) error,
) wstream.Function {
	return wstream.Function{
		Name: name, Kind: wstream.State, Input: "ts TIMESTAMP, k STRING, v INT", Output: output, Key: "k STRING",
		State: state, Mode: mode, Timeout: timeout, Time: "ts", Call: wstream.Groups(states, outputs, key),
	}
}

var _ = wstream.Export(wstream.Module{Name: "groups", Version: "1.0.0", Functions: []wstream.Function{
	function("running_count", "update", "none", "cnt BIGINT, total BIGINT", "k STRING, cnt BIGINT, total BIGINT",
		[]wstream.Type{bigint, bigint}, []wstream.Type{str, bigint, bigint}, runningCount),
	function("first", "append", "none", "seen BOOLEAN", "k STRING, v INT",
		[]wstream.Type{wstream.TypeBool}, []wstream.Type{str, integer}, first),
	function("maxima", "append", "none", "best INT", "k STRING, v INT",
		[]wstream.Type{integer}, []wstream.Type{str, integer}, maxima),
	function("sessions", "append", "event", "begin TIMESTAMP, last TIMESTAMP, cnt BIGINT",
		"k STRING, begin TIMESTAMP, last TIMESTAMP, cnt BIGINT",
		[]wstream.Type{timestamp, timestamp, bigint}, []wstream.Type{str, timestamp, timestamp, bigint}, sessions),
	function("alert", "update", "event", "total BIGINT", "k STRING, what STRING, total BIGINT",
		[]wstream.Type{bigint}, []wstream.Type{str, str, bigint}, alert),
}})

// totalOf is the sum of the group's values that are not null.
func totalOf(c *wstream.Call, g *wstream.Group) (sum int64) {
	for i := g.From; i < g.To; i++ {
		if v := c.Column(2); !v.IsNull(i) {
			sum += int64(v.Int32(i))
		}
	}
	return sum
}

// milliseconds cuts microseconds: time-outs are in whole milliseconds.
func milliseconds(us int64) int64 {
	r := us % 1000
	if r < 0 {
		r += 1000
	}
	return us - r
}

// old is value i of the old state, or 0.
func old(g *wstream.Group, i int) int64 {
	if !g.HasState {
		return 0
	}
	return g.Old[i].Int64(g.Index)
}

// runningCount counts rows and adds up v; it emits the new values each time.
func runningCount(c *wstream.Call, g *wstream.Group, state, out []*wstream.Builder) error {
	values := [2]int64{old(g, 0) + int64(g.To-g.From), old(g, 1) + totalOf(c, g)}
	out[0].From(g.Key[0], g.Index)
	g.Set()
	for i, v := range values {
		state[i].Int64(v)
		out[1+i].Int64(v)
	}
	c.Parent(g.Index)
	return nil
}

// first emits the v of a key's first row, ever.
func first(c *wstream.Call, g *wstream.Group, state, out []*wstream.Builder) error {
	if g.HasState {
		return nil
	}
	g.Set()
	state[0].Bool(true)
	out[0].From(g.Key[0], g.Index)
	out[1].From(c.Column(2), g.From)
	c.Parent(g.Index)
	return nil
}

// maxima emits each v that is greater than all before it.
func maxima(c *wstream.Call, g *wstream.Group, state, out []*wstream.Builder) error {
	has, best, found := g.HasState, int32(0), false
	if has {
		best = g.Old[0].Int32(g.Index)
	}
	for i := g.From; i < g.To; i++ {
		v := c.Column(2)
		if v.IsNull(i) || has && v.Int32(i) <= best {
			continue
		}
		best, has, found = v.Int32(i), true, true
		out[0].From(g.Key[0], g.Index)
		out[1].Int32(best)
		c.Parent(g.Index)
	}
	if found {
		g.Set()
		state[0].Int32(best)
	}
	return nil
}

// sessions have a gap of five minutes: they are emitted, and forgotten, once the watermark has passed their end.
func sessions(c *wstream.Call, g *wstream.Group, state, out []*wstream.Builder) error {
	if g.TimedOut {
		out[0].From(g.Key[0], g.Index)
		for i := range 3 {
			out[1+i].Int64(old(g, i))
		}
		c.Parent(g.Index)
		g.Remove()
		return nil
	}
	begin, last, ok := old(g, 0), old(g, 1), g.HasState
	for i := g.From; i < g.To; i++ {
		if c.Column(0).IsNull(i) {
			continue
		}
		t := milliseconds(c.Column(0).Int64(i))
		if !ok {
			begin, last, ok = t, t, true
		}
		begin, last = min(begin, t), max(last, t)
	}
	g.Set()
	state[0].Int64(begin)
	state[1].Int64(last)
	state[2].Int64(old(g, 2) + int64(g.To-g.From))
	g.SetTimeout(last + 5*minute)
	return nil
}

// alert emits 'over' when the sum of v reaches ten, or 'idle' when ten minutes pass without a row.
func alert(c *wstream.Call, g *wstream.Group, state, out []*wstream.Builder) error {
	total, what := old(g, 0), "over"
	if g.TimedOut {
		what = "idle"
	} else {
		total += totalOf(c, g)
	}
	if g.TimedOut || total >= 10 {
		out[0].From(g.Key[0], g.Index)
		out[1].String(what)
		out[2].Int64(total)
		c.Parent(g.Index)
		g.Remove()
		return nil
	}
	last := int64(-1 << 62)
	for i := g.From; i < g.To; i++ {
		if ts := c.Column(0); !ts.IsNull(i) {
			last = max(last, milliseconds(ts.Int64(i)))
		}
	}
	g.Set()
	state[0].Int64(total)
	g.SetTimeout(last + 10*minute)
	return nil
}
