package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
)

// Update folds rows into accumulators: acc is BINARY with a row a group, null for a group that is new, and
// group[i] is the group of row i. It gives the new accumulators. A trap fails the whole call, after one more
// try: which of a group's rows are in its accumulator must not depend on where it was cut.
func (b *Bound) Update(ctx context.Context, c Call, in *columnar.Batch, group []uint32, acc *columnar.Column) (*columnar.Column, error) {
	if err := b.expect([]abi.Kind{abi.KindAggregate}, in); err != nil {
		return nil, b.wrap(err)
	}
	return b.fold(ctx, &c, abi.OpCall, b.view(in), group, acc)
}

// Merge folds the accumulators of other into those of acc, row by row.
func (b *Bound) Merge(ctx context.Context, c Call, acc, other *columnar.Column) (*columnar.Column, error) {
	if err := b.expect([]abi.Kind{abi.KindAggregate}, nil); err != nil {
		return nil, b.wrap(err)
	}
	group := make([]uint32, other.Len)
	for i := range group {
		group[i] = uint32(i)
	}
	return b.fold(ctx, &c, abi.OpMerge, []*columnar.Column{other}, group, acc)
}

// fold hands over rows with the group that each belongs to, slice by slice.
func (b *Bound) fold(ctx context.Context, c *Call, op abi.Op, cols []*columnar.Column, group []uint32, acc *columnar.Column) (*columnar.Column, error) {
	rows := len(group)
	step := b.sliceRows(cols, rows)
	for from := 0; from < rows; from += step {
		to := min(from+step, rows)
		index := make([]int32, to-from)
		for i, g := range group[from:to] {
			if int(g) >= acc.Len {
				return nil, b.wrap(fmt.Errorf("row %d belongs to group %d of %d", from+i, g, acc.Len))
			}
			index[i] = int32(g)
		}
		f := &abi.Frame{
			Header:  c.header(abi.KindAggregate, op, to-from),
			Columns: cutColumns(cols, from, to),
			Sections: []abi.Section{
				{ID: abi.SectionGroupIndex, Rows: to - from, Columns: []*columnar.Column{columnar.NewFixed(columnar.Int32, index, nil)}},
				{ID: abi.SectionAccumulators, Rows: acc.Len, Columns: []*columnar.Column{acc}},
			},
		}
		d, err := b.twice(ctx, c, f, &abi.Want{Fields: []columnar.Field{}})
		if err != nil {
			return nil, b.wrap(err)
		}
		s := d.Section(abi.SectionAccumulators)
		if s == nil || s.Rows != acc.Len || len(s.Columns) != 1 || s.Columns[0].Type.Kind != columnar.KindBinary {
			return nil, b.wrap(&Trap{Reason: fmt.Sprintf("frame: section of accumulators: is not one BINARY of %d rows", acc.Len)})
		}
		acc = s.Columns[0]
	}
	return acc, nil
}

// Finish gives the result of each accumulator.
func (b *Bound) Finish(ctx context.Context, c Call, acc *columnar.Column) (*columnar.Column, error) {
	if err := b.expect([]abi.Kind{abi.KindAggregate}, nil); err != nil {
		return nil, b.wrap(err)
	}
	var parts []*columnar.Column
	var size int64
	step := b.sliceRows([]*columnar.Column{acc}, acc.Len)
	for from := 0; from < acc.Len; from += step {
		to := min(from+step, acc.Len)
		f := &abi.Frame{Header: c.header(abi.KindAggregate, abi.OpFinish, to-from), Columns: []*columnar.Column{acc.Slice(from, to)}}
		d, err := b.twice(ctx, &c, f, &abi.Want{Fields: b.want})
		if err == nil && d.Header.Rows != to-from {
			err = &Trap{Reason: fmt.Sprintf("frame: %d rows for %d rows", d.Header.Rows, to-from)}
		}
		if err != nil {
			return nil, b.wrap(err)
		}
		parts = append(parts, d.Columns[0])
		if size += int64(columnBytes(d.Columns[0])); checkBatchBytes(size) != nil {
			return nil, b.wrap(checkBatchBytes(size))
		}
	}
	if len(parts) == 0 {
		return columnar.NewEmpty(b.want[0].Type), nil
	}
	return columnar.Concat(parts), nil
}

// twice makes a call that is one piece: once more on a fresh instance after a trap.
func (b *Bound) twice(ctx context.Context, c *Call, f *abi.Frame, want *abi.Want) (*abi.Decoded, error) {
	out, err := b.exchange(ctx, c, f, want, false)
	var trap *Trap
	if errors.As(err, &trap) {
		out, err = b.exchange(ctx, c, f, want, true)
	}
	if err != nil {
		return nil, err
	}
	if len(out) != 1 {
		return nil, &Trap{Reason: fmt.Sprintf("answers with %d frames, not one", len(out))}
	}
	if e, err := rowErrors(out[0], f.Header.Rows); err != nil {
		return nil, err
	} else if len(e) > 0 {
		return nil, &StatusError{Status: abi.StatusFailed, Text: fmt.Sprintf("row %d: %s", e[0].Row, e[0].Text)}
	}
	return out[0], nil
}
