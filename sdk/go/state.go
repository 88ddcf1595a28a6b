package wstream

// Group is a key of a State function's call, with its rows, its old state and what becomes of it.
type Group struct {
	Index    int  // among the keys of the call: what Call.Parent takes
	From, To int  // the key's rows
	HasState bool // whether there is an old state
	TimedOut bool // whether the key is there because its time-out has passed, without rows
	Timeout  int64
	Key      []*Column // row Index is the key
	Old      []*Column // row Index is the old state

	action  int8
	timeout int64
}

// What becomes of a key's state.
const (
	keepState   = 0
	setState    = 1
	removeState = 2
)

// Remove removes the key's state.
func (g *Group) Remove() { g.action = removeState }

// SetTimeout asks for a call when the watermark (or the time) has passed t, in microseconds. A time-out lasts until
// the next call for the key.
func (g *Group) SetTimeout(t int64) { g.timeout = t }

// Set says that the key's state is set; the handler then adds one value to each builder of the state.
func (g *Group) Set() { g.action = setState }

// Groups makes a handler of a function that looks at one key. states are the types of the state's columns, in order;
// outputs those of the output's. The function adds rows to out and calls Call.Parent(g.Index) for each of them. Where
// it calls g.Set it must add one value to each of state; for all other keys nothing.
func Groups(states, outputs []Type, key func(c *Call, g *Group, state, out []*Builder) error) Handler {
	return func(c *Call) error {
		var in, old *section
		for i := range c.sections {
			switch c.sections[i].id {
			case sectionGroups:
				in = &c.sections[i]
			case sectionState:
				old = &c.sections[i]
			}
		}
		if in == nil || old == nil {
			return errRequest
		}
		action, timeout := NewBuilder(TypeInt8, in.rows), NewBuilder(TypeInt64, in.rows)
		answer := []*Builder{action, timeout}
		for _, t := range states {
			answer = append(answer, NewBuilder(t, in.rows))
		}
		out := make([]*Builder, len(outputs))
		for i, t := range outputs {
			out[i] = c.Output(t)
		}
		c.Parents()
		from := 0
		for i := range in.rows {
			flags := in.columns[1].Int8(i)
			g := &Group{
				Index: i, From: from, To: int(in.columns[0].Int32(i)), HasState: flags&1 != 0, TimedOut: flags&2 != 0,
				Timeout: in.columns[2].Int64(i), Key: in.columns[3:], Old: old.columns, timeout: NoTimeout,
			}
			from = g.To
			if err := key(c, g, answer[2:], out); err != nil {
				return err
			}
			action.Int8(g.action)
			timeout.Int64(g.timeout)
			if g.action != setState {
				for _, b := range answer[2:] {
					b.Null()
				}
			}
		}
		c.outSections = append(c.outSections, outSection{sectionState, in.rows, answer})
		return nil
	}
}
