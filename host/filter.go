package host

import (
	"context"
	"fmt"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
)

// Filter calls a filter function and gives a bit for each row: set where the row is kept. Rows that the guest
// refuses, or that make it trap, are not kept and come back as errors.
func (b *Bound) Filter(ctx context.Context, c Call, in *columnar.Batch) (columnar.Bitmap, []RowError, error) {
	if err := b.expect([]abi.Kind{abi.KindFilter}, in); err != nil {
		return nil, nil, b.wrap(err)
	}
	cols := b.view(in)
	var keep columnar.Bitmap
	var errs []RowError
	want := &abi.Want{Fields: b.want}
	x := isolation{
		run: func(from, to int, fresh bool) error {
			n := to - from
			f := &abi.Frame{Header: c.header(abi.KindFilter, abi.OpCall, n), Columns: cutColumns(cols, from, to)}
			out, err := b.exchange(ctx, &c, f, want, fresh)
			if err != nil {
				return err
			}
			d, err := one(out, n)
			if err != nil {
				return err
			}
			e, err := rowErrors(d, n)
			if err != nil {
				return err
			}
			bits := d.Columns[0].Bits
			if d.Columns[0].Valid != nil {
				bits = columnar.And(bits, d.Columns[0].Valid)
			}
			for _, r := range e {
				bits.Clear(r.Row)
				r.Row += from
				errs = append(errs, r)
			}
			if n == in.Rows {
				keep = bits
				return nil
			}
			if keep == nil {
				keep = columnar.NewBitmap(in.Rows)
			}
			for i := 0; i < n; i++ {
				keep.SetTo(from+i, bits.Get(i))
			}
			return nil
		},
		refuse: func(row int, t *Trap) { errs = append(errs, refusal(row, t)) },
	}
	if err := x.over(ctx, in.Rows, b.sliceRows(cols, in.Rows)); err != nil {
		return nil, nil, b.wrap(err)
	}
	if keep == nil {
		keep = columnar.NewBitmap(in.Rows)
	}
	return keep, errs, nil
}

// one checks that there is exactly one answer, of n rows.
func one(out []*abi.Decoded, n int) (*abi.Decoded, error) {
	if len(out) != 1 {
		return nil, &Trap{Reason: fmt.Sprintf("answers with %d frames, not one", len(out))}
	}
	if out[0].Header.Rows != n {
		return nil, &Trap{Reason: fmt.Sprintf("frame: %d rows for %d rows", out[0].Header.Rows, n)}
	}
	return out[0], nil
}

// Scalar calls a scalar function and gives a column of the input's length. Rows that the guest refuses, or
// that make it trap, are null and come back as errors.
func (b *Bound) Scalar(ctx context.Context, c Call, in *columnar.Batch) (*columnar.Column, []RowError, error) {
	if err := b.expect([]abi.Kind{abi.KindScalar}, in); err != nil {
		return nil, nil, b.wrap(err)
	}
	cols := b.view(in)
	var parts []*columnar.Column
	var errs []RowError
	var bytes int64
	// A refused row has no value, whatever is declared of the others.
	want := &abi.Want{Fields: []columnar.Field{{Name: b.want[0].Name, Type: b.want[0].Type, Nullable: true}}}
	x := isolation{
		run: func(from, to int, fresh bool) error {
			n := to - from
			f := &abi.Frame{Header: c.header(abi.KindScalar, abi.OpCall, n), Columns: cutColumns(cols, from, to)}
			out, err := b.exchange(ctx, &c, f, want, fresh)
			if err != nil {
				return err
			}
			d, err := one(out, n)
			if err != nil {
				return err
			}
			e, err := rowErrors(d, n)
			if err != nil {
				return err
			}
			for _, r := range e {
				r.Row += from
				errs = append(errs, r)
			}
			parts = append(parts, d.Columns[0])
			bytes += int64(columnBytes(d.Columns[0]))
			return checkBatchBytes(bytes)
		},
		refuse: func(row int, t *Trap) {
			errs = append(errs, refusal(row, t))
			parts = append(parts, columnar.NewNull(b.want[0].Type, 1))
		},
	}
	if err := x.over(ctx, in.Rows, b.sliceRows(cols, in.Rows)); err != nil {
		return nil, nil, b.wrap(err)
	}
	if len(parts) == 0 {
		return columnar.NewEmpty(b.want[0].Type), nil, nil
	}
	return columnar.Concat(parts), errs, nil
}
