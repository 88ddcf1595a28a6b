package groupstate

import (
	"context"
	"fmt"
	"reflect"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/udf"
)

// FlatMap applies f to the groups of a data frame: K is the type of the key, I of a row of the input, S of the state and
// O of a row of the result. The function is called once for each key that has rows in a batch, or a timer that has passed. An
// error ends the query, unless spec.OnError says otherwise; the state of the key then stays as it was.
func FlatMap[K, I, S, O any](df *engine.DataFrame, spec Spec, f func(g *Group[K, I, S], emit func(O)) error) *engine.DataFrame {
	if spec.Mode == "" {
		spec.Mode = connector.Append
	}
	t, err := newTyped[K, I, S, O](spec)
	m := &module{spec: BatchSpec{Spec: spec}, err: err}
	if err == nil {
		m.spec.Input, m.spec.KeyOf, m.spec.Output, m.spec.State = t.input(), t.key.schema, t.out.schema, t.state.schema
	}
	m.f = func(ctx context.Context, call udf.Call, in udf.StateInput) (udf.StateOutput, error) {
		return t.call(ctx, call, in, f)
	}
	return df.ApplyModule(m, m.functionName(), udf.State, spec.OnError)
}

// Map is FlatMap for a function that gives one row in each call. It emits in mode update, as mapGroupsWithState does.
func Map[K, I, S, O any](df *engine.DataFrame, spec Spec, f func(g *Group[K, I, S]) (O, error)) *engine.DataFrame {
	if spec.Mode == "" {
		spec.Mode = connector.Update
	}
	return FlatMap(df, spec, func(g *Group[K, I, S], emit func(O)) error {
		row, err := f(g)
		if err == nil {
			emit(row)
		}
		return err
	})
}

// functionName is the name under which the function is looked up, also where the spec has none.
func (m *module) functionName() string {
	if m.spec.Name == "" {
		m.spec.Name = "function"
	}
	return m.spec.Name
}

// typed are the codecs of a function.
type typed[K, I, S, O any] struct {
	spec                Spec
	key, in, state, out *codec
}

func newTyped[K, I, S, O any](spec Spec) (*typed[K, I, S, O], error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	t := &typed[K, I, S, O]{spec: spec}
	var err error
	make := func(dst **codec, typ reflect.Type, what string, names ...string) {
		if err != nil {
			return
		}
		if *dst, err = newCodec(typ, what, names); err != nil {
			err = fmt.Errorf("state function %q: %w", spec.Name, err)
		}
	}
	make(&t.key, reflect.TypeFor[K](), "the key", spec.Key...)
	make(&t.in, reflect.TypeFor[I](), "the input", "value")
	make(&t.state, reflect.TypeFor[S](), "the state", "value")
	make(&t.out, reflect.TypeFor[O](), "the output", "value")
	if err != nil {
		return nil, err
	}
	if len(t.key.schema.Fields) == 0 {
		return nil, fmt.Errorf("state function %q: the key %s has no exported fields", spec.Name, t.key.typ)
	}
	for i, name := range spec.Key {
		if t.key.index != nil && (len(spec.Key) != len(t.key.schema.Fields) || t.key.schema.IndexFold(name) < 0) {
			return nil, fmt.Errorf("state function %q: the key columns %q are not the fields of the key, which are (%s)", spec.Name, spec.Key, t.key.schema)
		}
		if t.key.index == nil {
			t.key.schema.Fields[i].Name = name
		}
	}
	return t, nil
}

// input are the columns of the input and, behind them, those of the key, so that their types are looked at too.
func (t *typed[K, I, S, O]) input() *columnar.Schema {
	s := &columnar.Schema{Fields: append([]columnar.Field{}, t.in.schema.Fields...)}
	for _, f := range t.key.schema.Fields {
		if s.IndexFold(f.Name) < 0 {
			s.Fields = append(s.Fields, f)
		}
	}
	return s
}

// call calls f for each group.
func (t *typed[K, I, S, O]) call(ctx context.Context, call udf.Call, in udf.StateInput, f func(*Group[K, I, S], func(O)) error) (udf.StateOutput, error) {
	n := in.Keys.Rows
	res := udf.StateOutput{Action: make([]udf.StateAction, n), Timer: make([]int64, n)}
	if t.spec.timeout() == "both" {
		res.Clock = make([]int64, n)
	}
	out, states := t.out.builders(0), columnar.NewBuilder(columnar.Binary, n)
	var enc columnar.RowKeys
	for i := range n {
		if i%1024 == 0 && ctx.Err() != nil {
			return res, ctx.Err()
		}
		g := &Group[K, I, S]{
			rows: in.Rows.Columns, from: int(in.Offsets[i]), to: int(in.Offsets[i+1]), codec: t.in,
			watermark: call.Watermark, now: call.BatchTime,
		}
		before := t.out.len(out)
		if err := t.one(g, in, i, func(row O) error { return t.out.write(out, reflect.ValueOf(row)) }, f); err != nil {
			t.out.cut(&out, before)
			res.Errors = append(res.Errors, udf.RowError{Row: i, Text: err.Error()})
			states.AppendNull()
			continue
		}
		for range t.out.len(out) - before {
			res.Parent = append(res.Parent, int32(i))
		}
		if err := t.answer(g, &res, i, states, &enc); err != nil {
			return res, err
		}
	}
	res.State = states.Finish()
	cols := make([]*columnar.Column, len(out))
	for k, b := range out {
		cols[k] = b.Finish()
	}
	res.Rows = columnar.NewBatch(t.out.schema, cols, len(res.Parent))
	return res, nil
}

// one calls f for group i.
func (t *typed[K, I, S, O]) one(g *Group[K, I, S], in udf.StateInput, i int, write func(O) error, f func(*Group[K, I, S], func(O)) error) (err error) {
	if err := t.key.read(reflect.ValueOf(&g.key).Elem(), in.Keys.Columns, i); err != nil {
		return fmt.Errorf("key: %w", err)
	}
	if !in.State.IsNull(i) {
		if err := g.entry.decode(in.State.BytesAt(i), t.state, reflect.ValueOf(&g.state).Elem()); err != nil {
			return fmt.Errorf("state of key %v: %w", g.key, err)
		}
	}
	if g.entry.expiry != 0 && g.entry.expiry < floorMillis(g.now) {
		var none S
		g.state, g.entry.state, g.entry.expiry = none, false, 0
	}
	g.fire()
	if g.Len() == 0 && len(g.fired) == 0 {
		return nil // a state was forgotten
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("key %v: the function panicked: %v", g.key, p)
		}
	}()
	var bad error
	err = f(g, func(row O) {
		if e := write(row); e != nil && bad == nil {
			bad = e
		}
	})
	for _, e := range []error{err, g.err, bad} {
		if e != nil {
			return fmt.Errorf("key %v: %w", g.key, e)
		}
	}
	return nil
}

// answer says what becomes of the state and the timers of group i.
func (t *typed[K, I, S, O]) answer(g *Group[K, I, S], res *udf.StateOutput, i int, states *columnar.Builder, enc *columnar.RowKeys) error {
	e := &g.entry
	if g.set && t.spec.TTL > 0 {
		e.expiry = floorMillis(g.now) + t.spec.TTL.Microseconds()
	}
	if !e.state {
		e.expiry = 0
	}
	earliest := [2]int64{} // event time, processing time; 0 for none
	add := func(kind int, at int64) {
		at = max(at, 1000) // 0 stands for none
		if earliest[kind] == 0 || at < earliest[kind] {
			earliest[kind] = at
		}
	}
	for _, tm := range e.timers {
		kind, of := 0, EventTime
		if tm.clock {
			kind, of = 1, ProcessingTime
		}
		if t.spec.Timers&of == 0 {
			return fmt.Errorf("state function %q: key %v: the timer %q is of a kind that Spec.Timers does not have", t.spec.Name, g.key, tm.name)
		}
		add(kind, tm.at)
	}
	if e.expiry != 0 {
		add(1, e.expiry)
	}
	switch t.spec.timeout() {
	case "both":
		res.Timer[i], res.Clock[i] = earliest[0], earliest[1]
	case "processing":
		res.Timer[i] = earliest[1]
	default:
		res.Timer[i] = earliest[0]
	}
	if !e.state && len(e.timers) == 0 {
		res.Action[i] = udf.DeleteState
		states.AppendNull()
		return nil
	}
	res.Action[i] = udf.PutState
	var row []byte
	if e.state {
		b := t.state.builders(1)
		if err := t.state.write(b, reflect.ValueOf(g.state)); err != nil {
			return fmt.Errorf("state function %q: state of key %v: %w", t.spec.Name, g.key, err)
		}
		cols := make([]*columnar.Column, len(b))
		for k := range b {
			cols[k] = b[k].Finish()
		}
		columnar.EncodeRows(enc, cols, 1, false)
		row = enc.Row(0)
	}
	states.AppendBytes(e.append(nil, row, len(t.state.schema.Fields)))
	return nil
}

// len is the number of rows in builders.
func (c *codec) len(b []*columnar.Builder) int {
	if len(b) == 0 {
		return 0
	}
	return b[0].Len()
}

// cut takes back the rows from n on.
func (c *codec) cut(b *[]*columnar.Builder, n int) {
	if len(*b) == 0 || (*b)[0].Len() == n && (*b)[len(*b)-1].Len() == n {
		return
	}
	kept := c.builders(n)
	for k, old := range *b {
		col := old.Finish()
		for i := range n {
			kept[k].AppendFrom(col, i)
		}
	}
	*b = kept
}
