package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
)

// Bound is a function prepared for inputs of one schema. Its methods may be called from many goroutines.
type Bound struct {
	module  *Module
	spec    *abi.Spec
	id      int
	input   *columnar.Schema // of the batches that are given to it
	columns []int            // what the guest sees of them
	types   []*columnar.Type // as what it sees it: STRING as BINARY where it asked for that
	names   *columnar.Schema // and by which names
	output  *columnar.Schema
	want    []columnar.Field // the output that answers are checked against
}

// Spec is the function as the manifest declares it.
func (b *Bound) Spec() *abi.Spec { return b.spec }

// Module is where the function comes from.
func (b *Bound) Module() *Module { return b.module }

// Output is the schema of the result; nil for filters and foreachBatch.
func (b *Bound) Output() *columnar.Schema { return b.output }

// wrap puts the module and the function before an error.
func (b *Bound) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("module %q: function %q: %w", b.module.label, b.spec.Name, err)
}

// choose finds the columns that the function asks for.
func (b *Bound) choose() error {
	if b.spec.Input == nil {
		for i, f := range b.input.Fields {
			b.columns = append(b.columns, i)
			b.types = append(b.types, f.Type)
		}
		return nil
	}
	for _, f := range b.spec.Input.Fields {
		i := b.input.Index(f.Name)
		if i < 0 {
			i = b.input.IndexFold(f.Name)
		}
		if i < 0 {
			var names []string
			for _, have := range b.input.Fields {
				names = append(names, have.Name)
			}
			return fmt.Errorf("input column %q is missing; there are %s", f.Name, strings.Join(names, ", "))
		}
		have := b.input.Fields[i].Type
		if !f.Type.Equal(have) && !(f.Type.Kind == columnar.KindBinary && have.Kind == columnar.KindString) {
			return fmt.Errorf("input column %q is %s, the function takes %s", f.Name, have.SQL(), f.Type.SQL())
		}
		b.columns = append(b.columns, i)
		b.types = append(b.types, f.Type)
	}
	return nil
}

// first binds in one instance and learns what the output is.
func (b *Bound) first(ctx context.Context) error {
	in, err := b.module.take(ctx)
	if err != nil {
		return err
	}
	in.begin(ctx, nil)
	err = b.learn(ctx, in)
	in.end()
	if err != nil {
		in.close(ctx)
		return err
	}
	b.module.give(ctx, in)
	return nil
}

func (b *Bound) learn(ctx context.Context, in *instance) error {
	b.names = &columnar.Schema{}
	for _, c := range b.columns {
		b.names.Fields = append(b.names.Fields, b.input.Fields[c])
	}
	h, err := in.handle(ctx, b)
	if err != nil {
		return err
	}
	switch {
	case b.spec.Kind == abi.KindFilter:
		b.want = []columnar.Field{{Name: "keep", Type: columnar.Bool, Nullable: true}}
		return nil
	case b.spec.Kind == abi.KindForeachBatch:
		return nil
	case b.spec.Output != nil:
		b.output = b.spec.Output
	case b.spec.Function.Output == abi.SameOutput:
		b.output = b.input
	default:
		if in.output == nil {
			return fmt.Errorf("the output is said by bind, but there is no export %q", abi.ExportOutput)
		}
		v, err := in.invoke(ctx, in.output, uint64(h))
		if err != nil {
			return err
		}
		if v < 0 {
			return fmt.Errorf("output: %w", in.status(ctx, v))
		}
		text, err := in.region("output schema", v, abi.MaxManifestBytes)
		if err != nil {
			return err
		}
		if b.output, err = columnar.ParseDDL(string(text)); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		one := b.spec.Kind == abi.KindScalar || b.spec.Kind == abi.KindAggregate
		if n := len(b.output.Fields); n == 0 || one && n != 1 {
			return fmt.Errorf("output: kind %s cannot have %d columns", b.spec.Kind, n)
		}
	}
	b.want = b.output.Fields
	return nil
}

// request is what the guest is told at bind.
func (b *Bound) request() *abi.BindRequest {
	r := &abi.BindRequest{Function: b.spec.Name, Config: b.module.config.Config, TimeZone: b.module.config.TimeZone}
	if r.Config == nil {
		r.Config = map[string]string{}
	}
	if r.TimeZone == "" {
		r.TimeZone = "UTC"
	}
	r.Input = make([]abi.BindColumn, len(b.columns))
	for i, c := range b.columns {
		f := b.input.Fields[c]
		r.Input[i] = abi.BindColumn{Name: f.Name, Type: b.types[i].SQL(), Nullable: f.Nullable}
	}
	return r
}

// view gives the columns that the guest sees of a batch.
func (b *Bound) view(in *columnar.Batch) []*columnar.Column {
	cols := make([]*columnar.Column, len(b.columns))
	for i, c := range b.columns {
		cols[i] = in.Columns[c]
		if cols[i].Type.Kind != b.types[i].Kind {
			cols[i] = cols[i].WithType(b.types[i])
		}
	}
	return cols
}

// expect refuses a batch of another shape, or a function of another kind: mistakes of the caller.
func (b *Bound) expect(kinds []abi.Kind, in *columnar.Batch) error {
	ok := false
	for _, k := range kinds {
		ok = ok || k == b.spec.Kind
	}
	if !ok {
		return fmt.Errorf("is of kind %s, not %s", b.spec.Kind, kinds[0])
	}
	if in != nil && len(in.Columns) != len(b.input.Fields) {
		return fmt.Errorf("bound to %d columns, given %d", len(b.input.Fields), len(in.Columns))
	}
	return nil
}

// exchange hands the guest one frame and reads its answers. A fresh instance is used where asked for. After
// a Trap the instance is gone; any other error leaves it alive.
func (b *Bound) exchange(ctx context.Context, c *Call, f *abi.Frame, want *abi.Want, fresh bool) ([]*abi.Decoded, error) {
	in, err := b.instance(ctx, fresh)
	if err != nil {
		return nil, err
	}
	out, err := b.talk(ctx, in, c, f, want)
	b.release(ctx, in, err)
	return out, err
}

func (b *Bound) instance(ctx context.Context, fresh bool) (*instance, error) {
	if fresh {
		return b.module.newInstance(ctx)
	}
	return b.module.take(ctx)
}

// release gives the instance back, or closes it after a trap.
func (b *Bound) release(ctx context.Context, in *instance, err error) {
	var status *StatusError
	if err == nil || errors.As(err, &status) {
		b.module.give(ctx, in)
		return
	}
	b.module.counters.traps.Add(1)
	in.close(ctx)
}

// talk is one call of the guest: its own account of fuel, time and output.
func (b *Bound) talk(ctx context.Context, in *instance, c *Call, f *abi.Frame, want *abi.Want) ([]*abi.Decoded, error) {
	in.begin(ctx, c)
	defer in.end()
	defer in.count(f.Header.Rows)
	in.run.function = b.spec.Name
	caps := c.Capabilities.over(b.module.config.Capabilities)
	in.run.caps = &caps
	in.run.columns = b.names
	h, err := in.handle(ctx, b)
	if err != nil {
		return nil, err
	}
	size, err := in.encoder.Layout(f)
	if err != nil {
		return nil, err
	}
	buf, err := in.input(ctx, size)
	if err != nil {
		return nil, err
	}
	in.encoder.Write(buf)
	v, err := in.invoke(ctx, in.call, uint64(h), uint64(in.bufferAt), uint64(size))
	if err != nil {
		return nil, err
	}
	return in.answers(ctx, h, v, want)
}

// answers reads the frames that a call gave: none, one, or as many as say that there are more.
func (in *instance) answers(ctx context.Context, handle, v int64, want *abi.Want) ([]*abi.Decoded, error) {
	lim := abi.DefaultLimits()
	lim.Bytes = in.module.config.Limits.OutputBytes
	var out []*abi.Decoded
	for {
		if v < 0 {
			return nil, in.status(ctx, v)
		}
		if v == 0 {
			return out, nil
		}
		if len(out) == maxOutputsPerCall {
			return nil, in.bad("answers with more than %d frames", maxOutputsPerCall)
		}
		region, err := in.region("output", v, int(in.memory.Size()))
		if err != nil {
			return nil, err
		}
		d, err := abi.Decode(region, want, lim)
		if err != nil {
			return nil, &Trap{Reason: err.Error(), cause: err}
		}
		lim.Bytes -= size(d)
		out = append(out, d)
		if d.Header.Flags&abi.FlagMore == 0 {
			return out, nil
		}
		if in.next == nil {
			return nil, in.bad("says that there is more, but does not export %q", abi.ExportNext)
		}
		if v, err = in.invoke(ctx, in.next, uint64(handle)); err != nil {
			return nil, err
		}
	}
}

// size is the bytes of a checked frame's columns.
func size(d *abi.Decoded) int {
	n := 0
	for _, c := range d.Columns {
		if c != nil {
			n += c.Size()
		}
	}
	for _, s := range d.Sections {
		for _, c := range s.Columns {
			n += c.Size()
		}
	}
	return n
}

// rowErrors reads the rows that a frame refuses; they must be below rows.
func rowErrors(d *abi.Decoded, rows int) ([]RowError, error) {
	s := d.Section(abi.SectionErrors)
	if s == nil {
		return nil, nil
	}
	if !shape(s, columnar.KindInt32, columnar.KindInt32, columnar.KindString) {
		return nil, &Trap{Reason: "frame: section of errors: is not row INT, code INT, text STRING"}
	}
	at, code := columnar.Values[int32](s.Columns[0]), columnar.Values[int32](s.Columns[1])
	out := make([]RowError, s.Rows)
	for i := range out {
		if at[i] < 0 || int(at[i]) >= rows {
			return nil, &Trap{Reason: fmt.Sprintf("frame: section of errors: names row %d of %d", at[i], rows)}
		}
		text := s.Columns[2].BytesAt(i)
		out[i] = RowError{int(at[i]), code[i], printable(text[:min(len(text), abi.MaxErrorBytes)])}
	}
	return out, nil
}

// shape tells whether a section's columns are of these kinds, without nulls.
func shape(s *abi.Section, kinds ...columnar.Kind) bool {
	if len(s.Columns) < len(kinds) {
		return false
	}
	for i, k := range kinds {
		if s.Columns[i].Type.Kind != k || s.Columns[i].Valid != nil {
			return false
		}
	}
	return true
}
