package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/host"
	"github.com/wstream/wstream/internal/generate"
)

// defaultBenchTime is how long a function is measured.
const defaultBenchTime = time.Second

// measured is a function's line of `module bench`.
type measured struct {
	Function   string  `json:"function"`
	Kind       string  `json:"kind"`
	RowsPerSec float64 `json:"rowsPerSecond"`
	NsPerRow   float64 `json:"nsPerRow"`
	FuelPerRow float64 `json:"fuelPerRow"`
	Refused    int     `json:"refusedRows"`
	Note       string  `json:"note,omitempty"`
}

func (p *program) moduleBench(c *cli.Context) error {
	if n := c.Args().Len(); n != 1 && n != 2 {
		return invalid("which module? e.g. `wstream module bench clicks.wasm parse`")
	}
	if c.Int("rows") < 1 {
		return invalid("flag --rows: found %d, expected at least 1", c.Int("rows"))
	}
	m, done, err := p.openModule(c, c.Args().First())
	if err != nil {
		return err
	}
	defer done()
	var all []measured
	var text strings.Builder
	fmt.Fprintf(&text, "%-20s %-13s %14s %10s %12s\n", "function", "kind", "rows/s", "ns/row", "fuel/row")
	for _, spec := range m.Functions() {
		if only := c.Args().Get(1); only != "" && only != spec.Name {
			continue
		}
		r, err := benchFunction(c, m, &spec)
		if err != nil {
			return fmt.Errorf("module %q: %s: %w", m.Name(), spec.Name, err)
		}
		all = append(all, r)
		if r.Note != "" {
			fmt.Fprintf(&text, "%-20s %-13s %s\n", r.Function, r.Kind, r.Note)
			continue
		}
		fmt.Fprintf(&text, "%-20s %-13s %14.0f %10.1f %12.1f", r.Function, r.Kind, r.RowsPerSec, r.NsPerRow, r.FuelPerRow)
		if r.Refused > 0 {
			fmt.Fprintf(&text, "  %s refused a call", count(r.Refused, "row"))
		}
		text.WriteByte('\n')
	}
	if len(all) == 0 {
		_, err := m.Function(c.Args().Get(1))
		return &coded{err, exitInvalid}
	}
	p.succeed("module bench", text.String(), all)
	return nil
}

// benchFunction measures one function; those that take any columns where --schema does not say which, and foreachBatch
// functions that may not write, are only named.
func benchFunction(c *cli.Context, m *host.Module, spec *abi.Spec) (measured, error) {
	r := measured{Function: spec.Name, Kind: spec.Kind.String()}
	if spec.Input == nil && c.String("schema") == "" {
		r.Note = "not measured: it takes any columns; say which with --schema"
		return r, nil
	}
	b, schema, err := boundFunction(c.Context, c, m, spec.Name)
	if err != nil {
		return r, err
	}
	in, err := benchInput(c, spec, schema)
	if err != nil {
		return r, err
	}
	t := benchCall{b: b, in: in, group: make([]uint32, in.Rows)}
	for i := range t.group {
		t.group[i] = uint32(i % 64)
	}
	if spec.Kind == abi.KindState {
		if t.keys, err = groupRows(spec, in); err != nil {
			return r, err
		}
	}
	r.Refused, err = t.call(c.Context) // warms up
	var status *host.StatusError
	if spec.Kind == abi.KindForeachBatch && errors.As(err, &status) {
		r.Note = "not measured: " + status.Error() + "; allow what it writes to, e.g. --allow sql:NAME: nothing is written"
		return r, nil
	}
	if err != nil {
		return r, err
	}
	before := m.Stats()
	began := time.Now()
	for time.Since(began) < c.Duration("time") {
		if _, err := t.call(c.Context); err != nil {
			return r, err
		}
	}
	took, after := time.Since(began), m.Stats()
	rows := float64(max(after.Rows-before.Rows, 1))
	r.RowsPerSec, r.NsPerRow = rows/took.Seconds(), float64(took.Nanoseconds())/rows
	r.FuelPerRow = float64(after.Fuel-before.Fuel) / rows
	return r, nil
}

// benchCall is one call that is measured.
type benchCall struct {
	b     *host.Bound
	in    *columnar.Batch
	group []uint32
	keys  host.GroupsInput // of a state function; the state of one call is that of the next
}

// call calls the function once and says how many rows it refused.
func (t *benchCall) call(ctx context.Context) (refused int, err error) {
	call := host.Call{QueryID: "module bench", BatchTime: 1_700_000_000_000_000, Watermark: abi.NoWatermark}
	var errs []host.RowError
	switch t.b.Spec().Kind {
	case abi.KindFilter:
		_, errs, err = t.b.Filter(ctx, call, t.in)
	case abi.KindScalar:
		_, errs, err = t.b.Scalar(ctx, call, t.in)
	case abi.KindAggregate:
		_, err = t.b.Update(ctx, call, t.in, t.group, columnar.NewNull(columnar.Binary, 64))
	case abi.KindState:
		var r host.GroupsOutput
		if r, err = t.b.Groups(ctx, call, t.keys); err == nil {
			t.keys.State, t.keys.Timeout, errs = r.State, r.Timeout, r.Errors
		}
	case abi.KindForeachBatch:
		call.Capabilities = host.Capabilities{SQL: nowhere{}, KV: nowhere{}, Produce: nowhere{}}
		err = t.write(ctx, call)
	default:
		var r host.Rows
		r, err = t.b.Rows(ctx, call, t.in)
		errs = r.Errors
	}
	return len(errs), err
}

// write hands the rows to a foreachBatch function as one batch.
func (t *benchCall) write(ctx context.Context, call host.Call) error {
	w, err := t.b.Begin(ctx, call)
	if err != nil {
		return err
	}
	if err := w.Write(ctx, t.in); err != nil {
		w.Abort(ctx)
		return err
	}
	return w.Commit(ctx)
}

// nowhere takes what a foreachBatch function writes, and forgets it.
type nowhere struct{}

// Exec says that each row touched one.
func (nowhere) Exec(_ context.Context, _, _ string, rows *columnar.Batch) (int64, error) {
	return int64(rows.Rows), nil
}

// Get finds nothing.
func (nowhere) Get(context.Context, string, []byte) ([]byte, bool, error) { return nil, false, nil }

// Put forgets a value.
func (nowhere) Put(context.Context, string, []byte, []byte) error { return nil }

// Delete has nothing to delete.
func (nowhere) Delete(context.Context, string, []byte) error { return nil }

// Produce forgets records.
func (nowhere) Produce(context.Context, string, *columnar.Batch) error { return nil }

// benchInput are the rows that a function is measured with: those of --input, else clicks for a parse function, else made
// up from the schema.
func benchInput(c *cli.Context, spec *abi.Spec, s *columnar.Schema) (*columnar.Batch, error) {
	rows := c.Int("rows")
	if path := c.String("input"); path != "" {
		f, err := os.Open(path)
		if err != nil {
			return nil, &coded{err, exitInvalid}
		}
		defer f.Close()
		in, err := readRows(f, path, s, spec.Kind == abi.KindParse)
		if err == nil && in.Rows == 0 {
			err = invalid("%s: found no rows, expected at least one", path)
		}
		return in, err
	}
	if spec.Kind == abi.KindParse && len(s.Fields) > 0 && s.Fields[0].Type.HasBytes() {
		kind, err := generate.Find("clicks")
		if err != nil {
			return nil, err
		}
		lines, gen := []byte{}, kind.Rows(generate.Part{Seed: 1, Total: rows})
		for range rows {
			lines = append(gen.Append(lines), '\n')
		}
		return readRows(bytes.NewReader(lines), "clicks", s, true)
	}
	cols := make([]*columnar.Column, len(s.Fields))
	for i, f := range s.Fields {
		b := columnar.NewBuilder(f.Type, rows)
		for r := range rows {
			appendMadeUp(b, r)
		}
		cols[i] = b.Finish()
	}
	return columnar.NewBatch(s, cols, rows), nil
}

// appendMadeUp appends a plausible value.
func appendMadeUp(b *columnar.Builder, row int) {
	t := b.Type()
	switch {
	case t.Kind == columnar.KindBool:
		b.AppendBool(row%2 == 0)
	case t.HasBytes():
		b.AppendString(fmt.Sprintf("/page/%d", row%1000))
	case t.Kind == columnar.KindDecimal:
		b.AppendDecimal(columnar.Dec128FromInt64(int64(row % 10)))
	case t.Kind == columnar.KindTimestamp || t.Kind == columnar.KindTimestampNTZ:
		b.AppendInt(1_700_000_000_000_000 + int64(row)*1000)
	case t.Kind == columnar.KindDate:
		b.AppendInt(int64(20_000 + row%365))
	case t.IsFloating():
		b.AppendFloat(float64(row%1000) / 4)
	case t.Kind == columnar.KindStruct:
		for i := range t.Fields {
			appendMadeUp(b.Child(i), row)
		}
		b.AppendNested()
	case t.Kind == columnar.KindArray:
		appendMadeUp(b.Child(0), row)
		b.AppendNested()
	case t.Kind == columnar.KindInt8 || t.Kind == columnar.KindInt16 || t.Kind == columnar.KindInt32 || t.Kind == columnar.KindInt64 || t.Kind == columnar.KindTime:
		b.AppendInt(int64(row % 100))
	default:
		b.AppendNull()
	}
}
