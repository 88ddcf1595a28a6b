package host

import (
	"context"
	"fmt"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
)

// Rows calls a parse or map function. Rows that the guest refuses, and rows that make it trap, come back as
// errors; what fails the whole batch is the error.
func (b *Bound) Rows(ctx context.Context, c Call, in *columnar.Batch) (Rows, error) {
	if err := b.expect([]abi.Kind{abi.KindParse, abi.KindMap}, in); err != nil {
		return Rows{}, b.wrap(err)
	}
	cols := b.view(in)
	acc := rowsResult{limit: int64(b.module.config.Limits.OutputBytes)}
	want := &abi.Want{Fields: b.want}
	for _, t := range b.types {
		if b.spec.Kind == abi.KindMap {
			want.Inputs = append(want.Inputs, t)
		}
	}
	x := isolation{
		run: func(from, to int, fresh bool) error {
			f := &abi.Frame{Header: c.header(b.spec.Kind, abi.OpCall, to-from), Columns: cutColumns(cols, from, to)}
			out, err := b.exchange(ctx, &c, f, want, fresh)
			if err != nil {
				return err
			}
			return acc.add(from, to, f.Columns, out)
		},
		refuse: func(row int, t *Trap) { acc.skip(refusal(row, t)) },
	}
	if err := x.over(ctx, in.Rows, b.sliceRows(cols, in.Rows)); err != nil {
		return Rows{}, b.wrap(err)
	}
	return acc.finish(b.output), nil
}

// rowsResult puts the answers for the slices of a batch together.
type rowsResult struct {
	limit   int64 // bytes of the answer to a slice
	bytes   int64 // so far
	parts   []*columnar.Batch
	parents []int32 // kept from the first part on that is not row for row
	mapped  bool
	rows    int // output rows so far
	errors  []RowError
}

// add takes the answers for rows from … to.
func (a *rowsResult) add(from, to int, cols []*columnar.Column, out []*abi.Decoded) error {
	n := to - from
	var parts []*columnar.Batch
	var parents []int32
	var errs []RowError
	last, repeated := int32(0), int64(0)
	for _, d := range out {
		e, err := rowErrors(d, n)
		if err != nil {
			return err
		}
		errs = append(errs, e...)
		p, err := parentsOf(d, n, last)
		if err != nil {
			return err
		}
		if p == nil { // row for row
			if len(out) != 1 || d.Header.Rows != n {
				return &Trap{Reason: fmt.Sprintf("frame: %d rows for %d rows, without a section of parents", d.Header.Rows, n)}
			}
		} else {
			if len(p) > 0 {
				last = p[len(p)-1]
			}
			parents = append(parents, p...)
		}
		for i, c := range d.Columns {
			if c != nil {
				continue
			}
			c = cols[d.Passed[i]]
			if p != nil {
				if repeated += takenBytes(c, p); repeated > a.limit {
					return &Trap{Reason: fmt.Sprintf("frame: output is larger than allowed: repeats %d bytes of the input, allowed are %d", repeated, a.limit)}
				}
				c = columnar.Take(c, p)
			}
			d.Columns[i] = c
		}
		parts = append(parts, &columnar.Batch{Columns: d.Columns, Rows: d.Header.Rows})
	}
	if len(out) == 0 && len(errs) == 0 && n > 0 {
		return &Trap{Reason: fmt.Sprintf("no output for %d rows", n)}
	}
	rowForRow := len(out) == 1 && out[0].Section(abi.SectionParents) == nil
	if !rowForRow || from != a.rows {
		a.keepParents()
	}
	if a.mapped {
		if rowForRow {
			for i := from; i < to; i++ {
				a.parents = append(a.parents, int32(i))
			}
		}
		for _, p := range parents {
			a.parents = append(a.parents, p+int32(from))
		}
	}
	for _, e := range errs {
		e.Row += from
		a.errors = append(a.errors, e)
	}
	for _, p := range parts {
		a.rows += p.Rows
		for _, c := range p.Columns {
			a.bytes += int64(columnBytes(c))
		}
		if p.Rows > 0 {
			a.parts = append(a.parts, p)
		}
	}
	return checkBatchBytes(a.bytes)
}

// checkBatchBytes keeps what is put together for a batch far from the ends of 32-bit offsets.
func checkBatchBytes(n int64) error {
	if n > maxBatchBytes {
		return fmt.Errorf("answers to one batch with more than %d bytes; smaller batches help", maxBatchBytes)
	}
	return nil
}

// takenBytes is the size that columnar.Take would give the rows p of a column, at least a byte for each element.
func takenBytes(c *columnar.Column, p []int32) int64 {
	n := int64(len(p))
	if c.Offsets == nil {
		for _, k := range c.Children {
			n += takenBytes(k, p)
		}
		return n * int64(max(1, c.Type.Width()))
	}
	elements := int64(0)
	for _, i := range p {
		elements += int64(c.Offsets[i+1] - c.Offsets[i])
	}
	n = 4*n + elements
	for _, k := range c.Children {
		if k.Len > 0 {
			n += int64(columnBytes(k)) / int64(k.Len) * elements
		}
	}
	return n
}

// keepParents begins to keep parents: so far every row came from the row of its own number.
func (a *rowsResult) keepParents() {
	if a.mapped {
		return
	}
	a.mapped = true
	a.parents = make([]int32, a.rows)
	for i := range a.parents {
		a.parents[i] = int32(i)
	}
}

// skip notes a row that gives no rows.
func (a *rowsResult) skip(e RowError) {
	a.keepParents()
	a.errors = append(a.errors, e)
}

func (a *rowsResult) finish(schema *columnar.Schema) Rows {
	r := Rows{Errors: a.errors, Parents: a.parents}
	if len(a.parts) == 0 {
		r.Batch = columnar.EmptyBatch(schema)
		return r
	}
	r.Batch = columnar.ConcatBatches(a.parts)
	r.Batch.Schema = schema
	return r
}

// parentsOf reads the input row of each output row: numbers below n that do not fall, from last on. It is nil
// where the frame has no such section.
func parentsOf(d *abi.Decoded, n int, last int32) ([]int32, error) {
	s := d.Section(abi.SectionParents)
	if s == nil {
		return nil, nil
	}
	if !shape(s, columnar.KindInt32) {
		return nil, &Trap{Reason: "frame: section of parents: is not one INT"}
	}
	if s.Rows != d.Header.Rows {
		return nil, &Trap{Reason: fmt.Sprintf("frame: section of parents: has %d rows of %d", s.Rows, d.Header.Rows)}
	}
	p := columnar.Values[int32](s.Columns[0])
	for i, v := range p {
		if v < last || int(v) >= n {
			return nil, &Trap{Reason: fmt.Sprintf("frame: section of parents: row %d comes from row %d of %d, after row %d", i, v, n, last)}
		}
		last = v
	}
	if p == nil {
		p = []int32{}
	}
	return p, nil
}
