package wstream

import (
	"bytes"
	"testing"
)

// tryBuilders encodes columns and reads them again.
func tryBuilders(rows int, b ...*Builder) *Call {
	c := &Call{out: b, rows: rows}
	return decode(c.encode(nil))
}

func TestNestedUndo(t *testing.T) {
	inner := NewBuilder(TypeInt32, 0)
	l := NewList(NewStruct(inner, NewBuilder(TypeString, 0)))
	add := func(v int32) {
		inner.Int32(v)
		l.Child(0).Child(1).String("x")
		l.Child(0).End()
	}
	add(1)
	add(2)
	l.End()
	add(3)         // in no row yet
	inner.Int32(4) // nor this, of which the other member is missing
	l.undo(1)      // as after a panic
	l.Null()
	add(5)
	l.End()
	c := tryBuilders(3, l).Column(0)
	if c.Len != 3 || !c.IsNull(1) || c.Child(0).Len != 3 || c.Child(0).Child(0).Int32(2) != 5 || c.Child(0).Child(1).String(2) != "x" {
		t.Errorf("%d rows, %d elements", c.Len, c.Child(0).Len)
	}
}

func TestNestedFrom(t *testing.T) {
	k, v := NewBuilder(TypeString, 0), NewList(NewBuilder(TypeBool, 0))
	m := NewMap(k, v)
	for i := range 3 {
		k.String("key")
		v.Child(0).Bool(i%2 == 0)
		v.End()
	}
	m.End()
	m.Null()
	in := tryBuilders(2, m).Column(0)
	again := NewMap(NewBuilder(TypeString, 0), NewList(NewBuilder(TypeBool, 0)))
	for i := range 2 {
		again.From(in, i)
	}
	a, b := (&Call{out: []*Builder{m}, rows: 2}).encode(nil), (&Call{out: []*Builder{again}, rows: 2}).encode(nil)
	if !bytes.Equal(a, b) {
		t.Error("another frame")
	}
}

func TestPanicRefusesRow(t *testing.T) {
	list := func() []*Builder { return []*Builder{NewList(NewBuilder(TypeInt32, 0))} }
	f := Function{Call: ParseRowsOf(list, func(c *Call, row int, out []*Builder) error {
		out[0].Child(0).Int32(c.Column(0).Int32(row))
		if row == 1 {
			panic("one")
		}
		out[0].End()
		return nil
	})}
	in := NewBuilder(TypeInt32, 0)
	for i := range 3 {
		in.Int32(int32(i))
	}
	r, err := Trial{}.Try(f, in)
	if err != nil {
		t.Fatal(err)
	}
	if r.Rows != 2 || r.Parents[1] != 2 || len(r.Refused) != 1 || r.Refused[0].Text != "panic: one" || r.Columns[0].Child(0).Int32(1) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestAggregateRows(t *testing.T) {
	h := AggregateRows(1, TypeInt8, func(c *Call, row int, acc []byte) { acc[0] += byte(c.Column(0).Int8(row)) },
		func(acc, other []byte) { acc[0] += other[0] }, func(acc []byte, out *Builder) { out.Int8(int8(acc[0])) })
	column := func(values ...int8) *Builder {
		b := NewBuilder(TypeInt8, 0)
		for _, v := range values {
			b.Int8(v)
		}
		return b
	}
	group := NewBuilder(TypeInt32, 0)
	for _, g := range []int32{1, 0, 1} {
		group.Int32(g)
	}
	old := NewBuilder(TypeBinary, 0)
	old.Null()
	old.Bytes([]byte{10})
	run := func(op uint16, in *Builder) *Call {
		c := &Call{out: []*Builder{in}, op: op, rows: 3}
		if op != opFinish {
			c.outSections = []outSection{{sectionAccumulators, 2, []*Builder{old}}, {sectionGroupIndex, 3, []*Builder{group}}}
		}
		call := decode(c.encode(nil))
		if err := h(call); err != nil {
			t.Fatal(err)
		}
		return decode(call.encode(nil))
	}
	acc := run(opCall, column(1, 2, 3)).sections[0].columns[0]
	if acc.Bytes(0)[0] != 2 || acc.Bytes(1)[0] != 14 {
		t.Errorf("update: %v %v", acc.Bytes(0), acc.Bytes(1))
	}
	other := NewBuilder(TypeBinary, 0)
	other.Bytes([]byte{5})
	other.Null()
	other.Bytes([]byte{6})
	if acc = run(opMerge, other).sections[0].columns[0]; acc.Bytes(0)[0] != 0 || acc.Bytes(1)[0] != 21 {
		t.Errorf("merge: %v %v", acc.Bytes(0), acc.Bytes(1))
	}
	if c := run(opFinish, other).Column(0); c.Int8(0) != 5 || c.Int8(1) != 0 || c.Int8(2) != 6 {
		t.Error("finish")
	}
}

func TestGroups(t *testing.T) {
	key, end, flags, timeout, state := NewBuilder(TypeString, 0), NewBuilder(TypeInt32, 0), NewBuilder(TypeInt8, 0), NewBuilder(TypeInt64, 0), NewBuilder(TypeInt64, 0)
	for i, k := range []string{"a", "b"} {
		key.String(k)
		end.Int32(int32(i + 1))
		flags.Int8(int8(i))
		timeout.Int64(NoTimeout)
		state.Int64(int64(i * 7))
	}
	rows := NewBuilder(TypeInt32, 0)
	rows.Int32(1)
	rows.Int32(2)
	in := &Call{out: []*Builder{rows}, rows: 2, outSections: []outSection{
		{sectionGroups, 2, []*Builder{end, flags, timeout, key}},
		{sectionState, 2, []*Builder{state}},
	}}
	c := decode(in.encode(nil))
	h := Groups([]Type{TypeInt64}, []Type{TypeString}, func(c *Call, g *Group, state, out []*Builder) error {
		if g.HasState {
			g.Remove()
			out[0].From(g.Key[0], g.Index)
			c.Parent(g.Index)
			return nil
		}
		g.Set()
		g.SetTimeout(5)
		state[0].Int64(int64(c.Column(0).Int32(g.From)))
		return nil
	})
	if err := h(c); err != nil {
		t.Fatal(err)
	}
	out := decode(c.encode(nil))
	s := out.sections[0]
	if out.rows != 1 || out.Column(0).String(0) != "b" || s.columns[0].Int8(0) != setState || s.columns[0].Int8(1) != removeState ||
		s.columns[1].Int64(0) != 5 || s.columns[2].Int64(0) != 1 || !s.columns[2].IsNull(1) {
		t.Errorf("%d rows", out.rows)
	}
}

func TestBind(t *testing.T) {
	b, err := parseBind([]byte(`{"function":"f","input":[{"name":"a\"b","type":"ARRAY<INT>","nullable":true}],"config":{"k":"\u00e9\n"},"timezone":"UTC"}`))
	if err != nil || b.Function != "f" || b.Input[0].Name != `a"b` || b.Config["k"] != "é\n" {
		t.Errorf("%+v, %v", b, err)
	}
	if _, err := parseBind([]byte(`{"function":`)); err == nil {
		t.Error("half a request was taken")
	}
}
