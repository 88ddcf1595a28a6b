package exec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/udf"
	"github.com/wstream/wstream/state"
)

// groupState applies a state function to the groups of a key: one call for all keys of a batch and
// partition. The state of a key is the row encoding of timer TIMESTAMP, state BINARY.
type groupState struct {
	id       int
	opt      *Options
	input    *pipe
	fn       udf.StateFunction
	keys     []int
	keyAttrs *columnar.Schema
	types    []*columnar.Type
	columns  []int // handed to the function
	schema   *columnar.Schema
	event    *eventTime // of rows, when late ones are dropped
	timers   string     // none, event, processing or both
	store    *state.Store
	clock    *state.Store // with both: the processing-time timers of the keys, which expire apart
	keep     []int
	out      *columnar.Schema
	late     string
	values   string // the shape of the state, for restarts
	refusals refusals
}

func (c *compiler) groupState(n *plan.GroupState, need attrSet) (*pipe, error) {
	want := attrSet{}.withAttrs(n.Keys).withAttrs(n.Input)
	if n.Time != nil {
		want[n.Time.ID] = true
	}
	if c.late != "" || n.OnError.DeadLetter != "" {
		want = want.withAttrs(n.Child.Output())
	}
	g := &groupState{
		id: n.ID, opt: c.opt, fn: n.Function, keyAttrs: schemaOf(n.Keys), types: typesOf(n.Keys), schema: schemaOf(n.Input),
		timers: n.Info.Timeout, late: c.late, refusals: refusalsOf("flatMapGroupsWithState", n.Info.Module, n.Info.Name, n.OnError),
	}
	g.values = "timer TIMESTAMP,state BINARY"
	if n.Info.StateOf != nil { // what the function says is in the bytes
		g.values += " | " + n.Info.StateOf.String()
	}
	if c.opt.Streaming && plan.IsStreaming(n.Child) {
		if _, err := oneEventTime("flatMapGroupsWithState", n.Child.Output()); err != nil {
			return nil, err
		}
	}
	in, err := c.compile(n.Child, want)
	if err != nil {
		return nil, err
	}
	g.input, g.keys, g.columns = in, positions(in.attrs, n.Keys), positions(in.attrs, n.Input)
	if g.timers == "event" || g.timers == "both" {
		if n.Time == nil {
			return nil, fmt.Errorf("operator %q: a time-out by event time needs a watermark", "flatMapGroupsWithState")
		}
		g.event = &eventTime{column: position(in.attrs, n.Time.ID), window: n.Time.Typ.Kind == columnar.KindStruct}
	}
	attrs := need.of(n.Attrs)
	g.keep, g.out = positions(n.Attrs, attrs), schemaOf(attrs)
	if c.opt.Streaming && plan.IsStreaming(n.Child) {
		if g.store, err = c.store(g.id, "groups", "flatMapGroupsWithState", g.keyAttrs.String(), "timer TIMESTAMP,state BINARY", g.hasTimers(), false); err != nil {
			return nil, err
		}
		if g.timers == "both" {
			if g.clock, err = c.store(g.id, "clock", "flatMapGroupsWithState", g.keyAttrs.String(), "", true, false); err != nil {
				return nil, err
			}
		}
		c.q.stateful = append(c.q.stateful, g)
	}
	return &pipe{branches: []*branch{{source: g}}, attrs: attrs, static: in.static, lag: in.lag}, nil
}

func (g *groupState) hasTimers() bool {
	return g.timers == "event" || g.timers == "processing" || g.timers == "both"
}

func (g *groupState) info() OperatorInfo {
	stores := []string{g.store.Spec().Name}
	if g.clock != nil {
		stores = append(stores, g.clock.Spec().Name)
	}
	return OperatorInfo{
		ID: g.id, Name: "flatMapGroupsWithState", Stores: stores, KeySchema: g.keyAttrs.String(), ValueSchema: g.values,
		WatermarkDriven: g.timers == "event" || g.timers == "both", ProcessingTimers: g.timers == "processing" || g.timers == "both",
	}
}

func (g *groupState) stats(r *run) OperatorStats {
	s := *r.ops[g]
	s.RowsTotal, s.MemoryBytes = g.store.Rows(), g.store.MemoryUsed()
	timed := g.store
	if g.timers == "both" {
		timed = g.clock
		s.MemoryBytes += g.clock.MemoryUsed()
	}
	if g.timers == "processing" || g.timers == "both" {
		next := state.NoExpiry
		for p := range r.opt.Partitions {
			part := timed.Part(p)
			part.Due(r.batch.Time, nil) // makes the part forget timers that are gone
			next = min(next, part.NextExpiry())
		}
		if next != state.NoExpiry {
			s.NextTimer = next
		}
	}
	return s
}

func (g *groupState) forget(rel int) { g.input.forget(rel) }

func (g *groupState) each(r *run, emit func(morsel) error) error {
	cutoff := r.lateWatermark(g.input.lag)
	prepare := func(w *worker, rows *columnar.Batch) (*exchanged, error) {
		if g.event != nil && g.store != nil {
			if late := g.event.late(rows.Columns, cutoff); late != nil {
				if err := w.dropLate(g, g.late, "flatMapGroupsWithState", cutoff, rows, late); err != nil {
					return nil, err
				}
				rows = columnar.FilterBatch(rows, complement(late, rows.Rows))
			}
		}
		if rows.Rows == 0 {
			return nil, nil
		}
		x := &exchanged{rows: rows}
		x.distribute(columnsAt(rows.Columns, g.keys), r.opt.Partitions)
		return x, nil
	}
	var all []*exchanged
	err := r.exchange(g.input, 0, prepare, func(list []*exchanged) error {
		all = list
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.gate(); err != nil {
		return err
	}
	out := make([]*columnar.Batch, r.opt.Partitions)
	asides := make([][]func() error, r.opt.Partitions)
	err = parallel(r.opt.Partitions, func(p int) error {
		b, err := g.call(r, all, p, func(f func() error) error {
			asides[p] = append(asides[p], f)
			return nil
		})
		out[p] = b
		if err != nil {
			return err
		}
		return r.midway(p)
	})
	if err != nil {
		return operatorError("flatMapGroupsWithState", err)
	}
	for _, list := range asides {
		for _, f := range list {
			if err := r.aside(f); err != nil {
				return err
			}
		}
	}
	for p, b := range out {
		if b != nil && b.Rows > 0 {
			if err := emit(morsel{rows: b, part: partition{index: p}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// groups are what one call of the function is about.
type groups struct {
	rows *columnar.Batch // of the operator's input, ordered by group
	in   udf.StateInput
	enc  columnar.RowKeys
	hash []uint64
	refs []state.Ref // 0 where the state has nothing
}

// call calls the function for the groups of partition p and does what it answers.
func (g *groupState) call(r *run, list []*exchanged, p int, aside func(func() error) error) (*columnar.Batch, error) {
	began := time.Now()
	c, err := g.gather(r, list, p)
	if err != nil || len(c.hash) == 0 {
		return nil, err
	}
	call := r.call(p)
	call.Watermark = r.evictWatermark(g.input.lag)
	res, err := g.fn.Call(r.ctx, call, c.in)
	if err != nil {
		return nil, err
	}
	n := len(c.hash)
	if len(res.Action) != n || len(res.Timer) != n || g.clock != nil && len(res.Clock) != n || res.State == nil || res.State.Len != n {
		return nil, fmt.Errorf("module %q: function %q: the answer is not about the %d groups of the call", g.refusals.module, g.refusals.function, n)
	}
	refused, err := g.refuse(r, c, res.Errors, aside)
	if err != nil {
		return nil, err
	}
	if g.store != nil {
		updated, removed, err := g.put(p, c, &res, refused)
		if err != nil {
			return nil, err
		}
		r.count(g, func(s *OperatorStats) {
			s.RowsUpdated += updated
			s.RowsRemoved += removed
			s.Updates += time.Since(began)
		})
	}
	if res.Rows == nil {
		return nil, nil
	}
	return pick(g.out, res.Rows, g.keep), nil
}

// gather puts rows of partition p in order of their key, and adds the keys whose timer has passed.
func (g *groupState) gather(r *run, list []*exchanged, p int) (*groups, error) {
	c := &groups{rows: columnar.EmptyBatch(schemaOf(g.input.attrs))}
	var parts []*columnar.Batch
	for _, x := range list {
		if len(x.part[p]) > 0 {
			parts = append(parts, columnar.TakeBatch(x.rows, x.part[p]))
		}
	}
	table := newKeyTable(newKeyShape(g.types))
	c.in.Offsets = []int32{0}
	if len(parts) > 0 {
		rows, err := concatRows(parts)
		if err != nil {
			return nil, err
		}
		group := make([]uint32, rows.Rows)
		if err := table.assign(columnsAt(rows.Columns, g.keys), rows.Rows, group); err != nil {
			return nil, err
		}
		var idx []int32
		idx, c.in.Offsets = byGroup(group, table.len())
		c.rows = columnar.TakeBatch(rows, idx)
	}
	n := table.len()
	keys := table.columns(0, n)
	c.hash = encodeKeys(&c.enc, keys, n, nil)
	c.refs = make([]state.Ref, n)
	c.in.Expired, c.in.Timer = make([]bool, n), make([]int64, n)
	if g.store != nil {
		part := g.store.Part(p)
		part.FindRows(&c.enc, c.hash, allRows(n), c.refs)
		if g.hasTimers() {
			more, err := g.expired(r, p, c)
			if err != nil {
				return nil, err
			}
			for i := range keys {
				keys[i] = columnar.Concat([]*columnar.Column{keys[i], more[i]})
			}
		}
		if err := part.Err(); err != nil {
			return nil, err
		}
	}
	n = len(c.refs)
	b := columnar.NewBuilder(columnar.Binary, n)
	for _, ref := range c.refs {
		if ref == 0 {
			b.AppendNull()
			continue
		}
		_, st, ok := splitGroupState(g.store.Part(p).Value(ref))
		if !ok {
			return nil, errRowEncoding
		}
		if st == nil {
			b.AppendNull()
		} else {
			b.AppendBytes(st)
		}
	}
	c.in.State = b.Finish()
	c.in.Keys = columnar.NewBatch(g.keyAttrs, keys, n)
	c.in.Rows = pick(g.schema, c.rows, g.columns)
	return c, nil
}

// expired adds the groups without rows whose timer has passed: strictly, in milliseconds.
func (g *groupState) expired(r *run, p int, c *groups) ([]*columnar.Column, error) {
	part := g.store.Part(p)
	now, clock := r.evictWatermark(g.input.lag), floorMillis(r.batch.Time)
	if g.timers == "processing" {
		now = clock
	}
	called := make(map[state.Ref]bool, len(c.refs))
	for _, ref := range c.refs {
		called[ref] = true
	}
	var keys [][]byte
	enc := columnar.RowKeys{Offsets: c.enc.Offsets[:len(c.refs)+1], Data: c.enc.Data}
	due := part.Due(now-1, nil)
	if g.clock != nil {
		other := g.clock.Part(p)
		for _, ref := range other.Due(clock-1, nil) {
			if at := part.Find(other.Hash(ref), other.Key(ref)); at != 0 {
				due = append(due, at)
			}
		}
		if err := other.Err(); err != nil {
			return nil, err
		}
	}
	for _, ref := range due {
		if called[ref] {
			continue
		}
		called[ref] = true
		timer, _, ok := splitGroupState(part.Value(ref))
		if !ok {
			return nil, errRowEncoding
		}
		key := part.Key(ref)
		keys = append(keys, key)
		enc.Data = append(enc.Data, key...)
		enc.Offsets = append(enc.Offsets, int32(len(enc.Data)))
		c.hash, c.refs = append(c.hash, part.Hash(ref)), append(c.refs, ref)
		c.in.Expired, c.in.Timer = append(c.in.Expired, true), append(c.in.Timer, timer)
		c.in.Offsets = append(c.in.Offsets, c.in.Offsets[len(c.in.Offsets)-1])
	}
	c.enc = enc
	return decodeRows(g.types, keys)
}

// refuse deals with the groups that the function refused, which keep their state.
func (g *groupState) refuse(r *run, c *groups, errs []udf.RowError, aside func(func() error) error) (map[int]bool, error) {
	if len(errs) == 0 {
		return nil, nil
	}
	refused := map[int]bool{}
	var rows []udf.RowError
	for _, e := range errs {
		if e.Row < 0 || e.Row >= len(c.hash) {
			return nil, fmt.Errorf("module %q: function %q: refused group %d of %d", g.refusals.module, g.refusals.function, e.Row, len(c.hash))
		}
		refused[e.Row] = true
		if !g.refusals.policy.Skip && g.refusals.policy.DeadLetter == "" {
			return nil, fmt.Errorf("module %q: function %q: group %d: %s (code %d)", g.refusals.module, g.refusals.function, e.Row, e.Text, e.Code)
		}
		for row := c.in.Offsets[e.Row]; row < c.in.Offsets[e.Row+1]; row++ {
			rows = append(rows, udf.RowError{Row: int(row), Code: e.Code, Text: e.Text})
		}
	}
	return refused, g.refusals.handle(r, c.rows, rows, aside)
}

// put writes states and timers.
func (g *groupState) put(p int, c *groups, res *udf.StateOutput, refused map[int]bool) (updated, removed int64, err error) {
	part := g.store.Part(p)
	var value []byte
	for i, ref := range c.refs {
		action, timer := res.Action[i], res.Timer[i]
		clock := int64(0)
		if g.clock != nil {
			clock = res.Clock[i]
		}
		if refused[i] {
			// The timer that led here must not fire for ever.
			if !c.in.Expired[i] {
				continue
			}
			action, timer, clock = udf.KeepState, 0, 0
		}
		if g.clock != nil {
			setClock(g.clock.Part(p), c.hash[i], c.enc.Row(i), clock)
		}
		var st []byte
		switch action {
		case udf.KeepState:
			st = bytesOrNil(c.in.State, i)
		case udf.PutState:
			st = bytesOrNil(res.State, i)
		case udf.DeleteState:
		default:
			return 0, 0, fmt.Errorf("module %q: function %q: unknown action %d for group %d", g.refusals.module, g.refusals.function, action, i)
		}
		if !g.hasTimers() {
			timer = 0
		}
		if st == nil && timer == 0 && clock == 0 {
			if ref != 0 {
				part.Remove(ref)
				removed++
			}
			continue
		}
		expiry := state.NoExpiry
		if timer != 0 {
			expiry = floorMillis(timer)
		}
		value = appendGroupState(value[:0], timer, st)
		if ref != 0 && bytes.Equal(value, part.Value(ref)) {
			continue
		}
		part.Put(c.hash[i], c.enc.Row(i), value, expiry)
		updated++
	}
	return updated, removed, part.Err()
}

// setClock sets the processing-time timer of a key, 0 for none.
func setClock(part *state.Part, hash uint64, key []byte, clock int64) {
	ref := part.Find(hash, key)
	switch {
	case clock == 0 && ref != 0:
		part.Remove(ref)
	case clock != 0 && (ref == 0 || part.Expiry(ref) != floorMillis(clock)):
		part.Put(hash, key, nil, floorMillis(clock))
	}
}

// bytesOrNil is the value of row i, nil for null only.
func bytesOrNil(c *columnar.Column, i int) []byte {
	if c.IsNull(i) {
		return nil
	}
	if b := c.BytesAt(i); b != nil {
		return b
	}
	return []byte{}
}

// floorMillis cuts microseconds off.
func floorMillis(t int64) int64 {
	m := t % 1000
	if m < 0 {
		m += 1000
	}
	return t - m
}

// appendGroupState encodes a timer (0: none) and a state (nil: none).
func appendGroupState(dst []byte, timer int64, st []byte) []byte {
	if timer == 0 {
		dst = append(dst, 0)
	} else {
		dst = append(dst, 1)
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(timer))
	if st == nil {
		return append(dst, 0, 0, 0, 0, 0)
	}
	dst = append(dst, 1)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(st)))
	return append(dst, st...)
}

// splitGroupState is the reverse of appendGroupState.
func splitGroupState(v []byte) (timer int64, st []byte, ok bool) {
	if len(v) < 14 {
		return 0, nil, false
	}
	if v[0] == 1 {
		timer = int64(binary.LittleEndian.Uint64(v[1:]))
	}
	if v[9] == 0 {
		return timer, nil, true
	}
	n := int(binary.LittleEndian.Uint32(v[10:]))
	if len(v)-14 != n {
		return 0, nil, false
	}
	return timer, v[14 : 14+n : 14+n], true
}
