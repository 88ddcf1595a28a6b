package host

import (
	"context"
	"fmt"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
)

// Groups calls a state function for all keys of a batch and partition. The state of a key is bytes outside of
// the guest and columns inside: the row encoding of package columnar, one value after the other, of the columns
// that the manifest declares as the state. A group that makes the guest trap by itself comes back as an error;
// its state and time-out stay as they are.
func (b *Bound) Groups(ctx context.Context, c Call, in GroupsInput) (GroupsOutput, error) {
	out, err := b.groups(ctx, c, in)
	if err != nil {
		return GroupsOutput{}, b.wrap(err)
	}
	return out, nil
}

func (b *Bound) groups(ctx context.Context, c Call, in GroupsInput) (GroupsOutput, error) {
	if err := b.expect([]abi.Kind{abi.KindState}, in.Rows); err != nil {
		return GroupsOutput{}, err
	}
	n := in.Keys.Rows
	if len(in.Offsets) != n+1 || in.State.Len != n || len(in.Expired) != n || len(in.Timeout) != n ||
		len(in.Keys.Columns) != len(b.spec.Key.Fields) || int(in.Offsets[n]) != in.Rows.Rows {
		return GroupsOutput{}, fmt.Errorf("%d groups with %d offsets, %d states, %d time-outs", n, len(in.Offsets), in.State.Len, len(in.Timeout))
	}
	state, err := b.decodeState(in.State)
	if err != nil {
		return GroupsOutput{}, err
	}
	g := groupsCall{b: b, call: &c, in: &in, rows: b.view(in.Rows), state: state}
	g.out.State = &columnar.Column{Type: columnar.Binary}
	x := isolation{
		run: func(from, to int, fresh bool) error { return g.run(ctx, from, to, fresh) },
		refuse: func(group int, t *Trap) {
			g.out.Errors = append(g.out.Errors, refusal(group, t))
			g.keep(group)
		},
	}
	step := n
	if size := b.sliceRows(g.rows, in.Rows.Rows); in.Rows.Rows > 0 {
		step = max(1, int(int64(n)*int64(size)/int64(in.Rows.Rows)))
	}
	if err := x.over(ctx, n, max(1, min(step, maxSliceRows))); err != nil {
		return GroupsOutput{}, err
	}
	return g.finish(), nil
}

// groupsCall puts the answers for slices of the groups together.
type groupsCall struct {
	b     *Bound
	call  *Call
	in    *GroupsInput
	rows  []*columnar.Column
	state []*columnar.Column
	parts []*columnar.Batch
	out   GroupsOutput
	bytes columnar.RowKeys // states of a slice, encoded
	data  []byte
	offs  []int32
	valid []bool
	size  int64 // bytes of rows and states so far
}

// run hands over groups from … to.
func (g *groupsCall) run(ctx context.Context, from, to int, fresh bool) error {
	lo, hi := int(g.in.Offsets[from]), int(g.in.Offsets[to])
	n := to - from
	f := &abi.Frame{
		Header:   g.call.header(abi.KindState, abi.OpCall, hi-lo),
		Columns:  cutColumns(g.rows, lo, hi),
		Sections: []abi.Section{g.section(from, to), {ID: abi.SectionState, Rows: n, Columns: cutColumns(g.state, from, to)}},
	}
	answers, err := g.b.exchange(ctx, g.call, f, &abi.Want{Fields: g.b.want}, fresh)
	if err != nil {
		return err
	}
	if len(answers) != 1 {
		return &Trap{Reason: fmt.Sprintf("answers with %d frames, not one", len(answers))}
	}
	return g.add(from, to, answers[0])
}

// section describes groups from … to to the guest.
func (g *groupsCall) section(from, to int) abi.Section {
	n := to - from
	ends, flags := make([]int32, n), make([]int8, n)
	for i := range ends {
		ends[i] = g.in.Offsets[from+i+1] - g.in.Offsets[from]
		if !g.in.State.IsNull(from + i) {
			flags[i] |= abi.GroupHasState
		}
		if g.in.Expired[from+i] {
			flags[i] |= abi.GroupTimedOut
		}
	}
	cols := []*columnar.Column{
		columnar.NewFixed(columnar.Int32, ends, nil), columnar.NewFixed(columnar.Int8, flags, nil),
		columnar.NewFixed(columnar.Int64, g.in.Timeout[from:to:to], nil),
	}
	return abi.Section{ID: abi.SectionGroups, Rows: n, Columns: append(cols, cutColumns(g.in.Keys.Columns, from, to)...)}
}

// add takes the answer for groups from … to.
func (g *groupsCall) add(from, to int, d *abi.Decoded) error {
	n := to - from
	errs, err := rowErrors(d, n)
	if err != nil {
		return err
	}
	parents, err := parentsOf(d, n, 0)
	if err != nil {
		return err
	}
	if parents == nil && d.Header.Rows > 0 {
		return &Trap{Reason: "frame: rows without a section of parents"}
	}
	s := d.Section(abi.SectionState)
	if s == nil || s.Rows != n || len(s.Columns) != 2+len(g.state) || !shape(s, columnar.KindInt8, columnar.KindInt64) {
		return &Trap{Reason: fmt.Sprintf("frame: section of state: is not action TINYINT, time-out BIGINT and the state's %d columns, of %d rows",
			len(g.state), n)}
	}
	for i, f := range g.b.spec.State.Fields {
		if got := s.Columns[2+i].Type; !got.Equal(f.Type) {
			return &Trap{Reason: fmt.Sprintf("frame: section of state: column %q is %s, declared is %s", f.Name, got.SQL(), f.Type.SQL())}
		}
	}
	actions := columnar.Values[int8](s.Columns[0])
	for i, a := range actions {
		if a < abi.StateKeep || a > abi.StateRemove {
			return &Trap{Reason: fmt.Sprintf("frame: section of state: group %d has the action %d", i, a)}
		}
	}
	columnar.EncodeRows(&g.bytes, s.Columns[2:], n, false)
	for i, a := range actions {
		g.out.Action = append(g.out.Action, uint8(a))
		if a == abi.StateSet {
			g.data = append(g.data, g.bytes.Row(i)...)
		}
		g.valid = append(g.valid, a == abi.StateSet)
		g.offs = append(g.offs, int32(len(g.data)))
	}
	g.out.Timeout = append(g.out.Timeout, columnar.Values[int64](s.Columns[1])...)
	for _, p := range parents {
		g.out.Parents = append(g.out.Parents, p+int32(from))
	}
	for _, e := range errs {
		e.Row += from
		g.out.Errors = append(g.out.Errors, e)
	}
	if d.Header.Rows > 0 {
		g.parts = append(g.parts, &columnar.Batch{Columns: d.Columns, Rows: d.Header.Rows})
	}
	for _, c := range d.Columns {
		g.size += int64(columnBytes(c))
	}
	return checkBatchBytes(g.size + int64(len(g.data)))
}

// keep leaves a group as it is.
func (g *groupsCall) keep(group int) {
	g.out.Action = append(g.out.Action, abi.StateKeep)
	g.out.Timeout = append(g.out.Timeout, g.in.Timeout[group])
	g.valid = append(g.valid, false)
	g.offs = append(g.offs, int32(len(g.data)))
}

func (g *groupsCall) finish() GroupsOutput {
	g.out.Rows = columnar.EmptyBatch(g.b.output)
	if len(g.parts) > 0 {
		g.out.Rows = columnar.ConcatBatches(g.parts)
		g.out.Rows.Schema = g.b.output
	}
	valid := columnar.NewBitmap(len(g.valid))
	for i, v := range g.valid {
		if v {
			valid.Set(i)
		}
	}
	g.out.State = columnar.NewBytes(columnar.Binary, append([]int32{0}, g.offs...), g.data, valid)
	return g.out
}

// decodeState gives the columns of the states, all null where there is none.
func (b *Bound) decodeState(state *columnar.Column) ([]*columnar.Column, error) {
	fields := b.spec.State.Fields
	builders := make([]*columnar.Builder, len(fields))
	for i, f := range fields {
		builders[i] = columnar.NewBuilder(f.Type, state.Len)
	}
	for row := 0; row < state.Len; row++ {
		if state.IsNull(row) {
			for _, k := range builders {
				k.AppendNull()
			}
			continue
		}
		rest := state.BytesAt(row)
		for i := range builders {
			var ok bool
			if rest, ok = columnar.DecodeValue(builders[i], rest); !ok {
				return nil, fmt.Errorf("state of group %d is not %s", row, b.spec.State)
			}
		}
		if len(rest) > 0 {
			return nil, fmt.Errorf("state of group %d is longer than %s", row, b.spec.State)
		}
	}
	out := make([]*columnar.Column, len(fields))
	for i, k := range builders {
		out[i] = k.Finish()
	}
	return out, nil
}
