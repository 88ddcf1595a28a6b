package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/host"
)

// runRows is how many rows `module run` hands over in one call.
const runRows = 8192

func (p *program) moduleRun(c *cli.Context) error {
	if c.Args().Len() != 2 {
		return invalid("expected a module and a function: `wstream module run clicks.wasm parse`")
	}
	m, done, err := p.openModule(c, c.Args().First())
	if err != nil {
		return err
	}
	defer done()
	b, schema, err := boundFunction(c.Context, c, m, c.Args().Get(1))
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(p.out, 1<<16)
	defer out.Flush()
	in, err := readRows(p.in, "standard input", schema, c.Bool("lines"))
	if err != nil {
		return err
	}
	t := &trial{p: p, b: b, out: out, call: host.Call{QueryID: "module run", BatchTime: time.Now().UnixMicro(), Watermark: abi.NoWatermark}}
	switch b.Spec().Kind {
	case abi.KindAggregate:
		err = t.aggregate(c.Context, in)
	case abi.KindState:
		err = t.groups(c.Context, in)
	case abi.KindForeachBatch:
		err = t.foreach(c.Context, in)
	default:
		for from := 0; from < in.Rows && err == nil; from += runRows {
			err = t.rows(c.Context, in.Slice(from, min(from+runRows, in.Rows)), from)
		}
	}
	if err != nil {
		return fmt.Errorf("module %q: %s: %w", m.Name(), b.Spec().Name, err)
	}
	return nil
}

// readRows reads JSON lines as one batch, or lines as they stand as its first column.
func readRows(r io.Reader, what string, s *columnar.Schema, plain bool) (*columnar.Batch, error) {
	cols := make([]*columnar.Builder, len(s.Fields))
	for i, f := range s.Fields {
		cols[i] = columnar.NewBuilder(f.Type, 0)
	}
	if plain && (len(cols) == 0 || !s.Fields[0].Type.HasBytes()) {
		return nil, invalid("flag --lines: expected a first column of type STRING or BINARY, found %s", s.String())
	}
	in := bufio.NewReaderSize(r, 1<<16)
	rows := 0
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		text := bytes.TrimSuffix(line, []byte("\n"))
		switch {
		case len(bytes.TrimSpace(text)) == 0:
		case plain:
			cols[0].AppendBytes(text)
			for _, b := range cols[1:] {
				b.AppendNull()
			}
			rows++
		default:
			row, bad := datumjson.ParseRow(s, text)
			if bad != nil {
				return nil, invalid("%s: line %d: %w; expected an object with the columns %s", what, n, bad, s.String())
			}
			for i, d := range row {
				cols[i].AppendDatum(d)
			}
			rows++
		}
		if err == io.EOF {
			break
		}
	}
	out := make([]*columnar.Column, len(cols))
	for i, b := range cols {
		out[i] = b.Finish()
	}
	return columnar.NewBatch(s, out, rows), nil
}

// trial calls one function and prints what it answers.
type trial struct {
	p    *program
	b    *host.Bound
	out  *bufio.Writer
	call host.Call
	buf  []byte
}

// rows calls a function of a kind that looks at rows one by one; from is the number of the first one.
func (t *trial) rows(ctx context.Context, in *columnar.Batch, from int) error {
	switch t.b.Spec().Kind {
	case abi.KindFilter:
		keep, errs, err := t.b.Filter(ctx, t.call, in)
		if err != nil {
			return err
		}
		for i := range in.Rows {
			if keep.Get(i) {
				t.print(in, i)
			}
		}
		t.refused(errs, from)
	case abi.KindScalar:
		c, errs, err := t.b.Scalar(ctx, t.call, in)
		if err != nil {
			return err
		}
		for i := range c.Len {
			t.buf = append(datumjson.Append(t.buf[:0], c.Type, c.Datum(i)), '\n')
			_, _ = t.out.Write(t.buf)
		}
		t.refused(errs, from)
	default:
		r, err := t.b.Rows(ctx, t.call, in)
		if err != nil {
			return err
		}
		t.printAll(r.Batch)
		t.refused(r.Errors, from)
	}
	return nil
}

// aggregate folds all rows into one accumulator and prints the result.
func (t *trial) aggregate(ctx context.Context, in *columnar.Batch) error {
	acc := columnar.NewNull(columnar.Binary, 1)
	for from := 0; from < in.Rows; from += runRows {
		part := in.Slice(from, min(from+runRows, in.Rows))
		var err error
		if acc, err = t.b.Update(ctx, t.call, part, make([]uint32, part.Rows), acc); err != nil {
			return err
		}
	}
	c, err := t.b.Finish(ctx, t.call, acc)
	if err != nil {
		return err
	}
	t.buf = append(datumjson.Append(t.buf[:0], c.Type, c.Datum(0)), '\n')
	_, err = t.out.Write(t.buf)
	return err
}

// groupRows puts the rows of each key together, for a call of a state function without state before.
func groupRows(spec *abi.Spec, in *columnar.Batch) (host.GroupsInput, error) {
	keyOf := make([]string, in.Rows)
	order := make([]int32, in.Rows)
	var at []int
	for _, f := range spec.Key.Fields {
		i := in.Schema.IndexFold(f.Name)
		if i < 0 {
			return host.GroupsInput{}, invalid("key column %q is not in the input: %s", f.Name, in.Schema.String())
		}
		at = append(at, i)
	}
	for r := range in.Rows {
		var key []byte
		for _, i := range at {
			key = append(datumjson.Append(key, in.Columns[i].Type, in.Columns[i].Datum(r)), 0)
		}
		keyOf[r], order[r] = string(key), int32(r)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return bytes.Compare([]byte(keyOf[a]), []byte(keyOf[b])) })
	g := host.GroupsInput{Rows: columnar.TakeBatch(in, order), Offsets: []int32{0}}
	var first []int32
	for i, r := range order {
		if i == 0 || keyOf[r] != keyOf[order[i-1]] {
			first = append(first, r)
			if i > 0 {
				g.Offsets = append(g.Offsets, int32(i))
			}
		}
	}
	if in.Rows > 0 {
		g.Offsets = append(g.Offsets, int32(in.Rows))
	}
	n := len(first)
	keys := make([]*columnar.Column, len(at))
	for k, i := range at {
		keys[k] = columnar.Take(in.Columns[i], first)
	}
	g.Keys, g.State = columnar.NewBatch(spec.Key, keys, n), columnar.NewNull(columnar.Binary, n)
	g.Expired, g.Timeout = make([]bool, n), slices.Repeat([]int64{abi.NoTimeout}, n)
	return g, nil
}

// groups calls a state function once, with the rows of each key together and no state before.
func (t *trial) groups(ctx context.Context, in *columnar.Batch) error {
	g, err := groupRows(t.b.Spec(), in)
	if err != nil {
		return err
	}
	r, err := t.b.Groups(ctx, t.call, g)
	if err != nil {
		return err
	}
	t.printAll(r.Rows)
	for _, e := range r.Errors {
		t.p.warn(fmt.Sprintf("group %d refused: %s", e.Row, e.Text))
	}
	return nil
}

// foreach hands over all rows as one batch. What the guest wants to write is denied.
func (t *trial) foreach(ctx context.Context, in *columnar.Batch) error {
	w, err := t.b.Begin(ctx, t.call)
	if err != nil {
		return err
	}
	if err := w.Write(ctx, in); err != nil {
		w.Abort(ctx)
		return err
	}
	if err := w.Commit(ctx); err != nil {
		return err
	}
	t.p.note("%s handed over; what the function writes through capabilities is denied here", count(in.Rows, "row"))
	return nil
}

func (t *trial) print(b *columnar.Batch, i int) {
	t.buf = append(datumjson.AppendRow(t.buf[:0], b, i), '\n')
	_, _ = t.out.Write(t.buf)
}

func (t *trial) printAll(b *columnar.Batch) {
	for i := range b.Rows {
		t.print(b, i)
	}
}

// refused tells of rows that were refused, counted from 1 as lines are.
func (t *trial) refused(errs []host.RowError, from int) {
	for _, e := range errs {
		t.p.warn(fmt.Sprintf("row %d refused: %s", from+e.Row+1, e.Text))
	}
}
