package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/udf"
	"github.com/wstream/wstream/host"
)

// Guest is a loaded module as the engine sees it.
type Guest struct{ *host.Module }

// LoadModules compiles the modules of a file. dirs are searched by file name for a module whose
// path is not there. Beside the faults it gives the modules that have none.
func LoadModules(ctx context.Context, h *host.Host, f *File, dirs []string, caps host.Capabilities) (map[string]udf.Module, Errors) {
	out := map[string]udf.Module{}
	var errs Errors
	fail := func(m *Module, text string, err error) {
		errs = append(errs, &Error{File: f.Path, Line: m.Pos.Line, Col: m.Pos.Col, Message: text, Cause: err})
		f.fault(m)
	}
	for _, m := range f.Modules {
		if f.faulty[m] {
			continue
		}
		p, err := host.ParsePermissions(m.Allow)
		if err != nil {
			fail(m, fmt.Sprintf("module %q: allow: %s", m.Name, err), err)
			continue
		}
		path := findModule(f.Dir, m.Path, dirs)
		mod, err := h.Load(ctx, host.ModuleConfig{
			Name: m.Name, Path: path, SHA256: m.SHA256, Config: m.Config, Permissions: p, Capabilities: caps, TimeZone: f.Settings.Timezone,
			Limits: host.Limits{MemoryBytes: m.Limits.MemoryBytes, Fuel: m.Limits.Fuel, Deadline: m.Limits.Deadline, OutputBytes: int(m.Limits.OutputBytes), LogBytes: int(m.Limits.LogBytes)},
		})
		if err != nil {
			text := err.Error()
			if errors.Is(err, fs.ErrNotExist) {
				text += fmt.Sprintf("; expected the file of module %q there, build it or correct `path`", m.Name)
			}
			fail(m, text, err)
			continue
		}
		out[m.Name] = Guest{mod}
	}
	return out, errs
}

// findModule is the path of a module's file: beside the pipeline, else in one of dirs by its name.
func findModule(dir, path string, dirs []string) string {
	p := path
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	if fileExists(p) {
		return p
	}
	for _, d := range dirs {
		if q := filepath.Join(d, filepath.Base(path)); fileExists(q) {
			return q
		}
	}
	return p
}

// info is a function's declaration in the engine's words.
func (g Guest) info(s *abi.Spec) udf.Info {
	i := udf.Info{
		Module: g.Name(), Name: s.Name, Kind: udf.Kind(s.Kind.String()), Input: s.Input, Output: s.Output, SameOutput: s.Function.Output == "same",
		Key: s.Key, StateOf: s.State, Mode: s.Mode, Timeout: s.Timeout, Time: s.Time,
	}
	if i.Timeout == "" {
		i.Timeout = "none"
	}
	return i
}

// Functions implements udf.Module.
func (g Guest) Functions() []udf.Info {
	specs := g.Module.Functions()
	out := make([]udf.Info, len(specs))
	for i := range specs {
		out[i] = g.info(&specs[i])
	}
	return out
}

// Bind implements udf.Module.
func (g Guest) Bind(function string, input *columnar.Schema) (udf.Function, error) {
	b, err := g.Module.Bind(context.Background(), function, input)
	if err != nil {
		return nil, err
	}
	f := bound{b, g.info(b.Spec())}
	switch f.info.Kind {
	case udf.Parse, udf.Map:
		return rowGuest{f}, nil
	case udf.Filter:
		return filterGuest{f}, nil
	case udf.Scalar:
		return scalarGuest{f}, nil
	case udf.Aggregate:
		return aggregateGuest{f}, nil
	case udf.State:
		return stateGuest{f}, nil
	}
	return f, nil
}

type bound struct {
	b    *host.Bound
	info udf.Info
}

// Info implements udf.Function.
func (f bound) Info() udf.Info { return f.info }

// Output implements udf.Function.
func (f bound) Output() *columnar.Schema { return f.b.Output() }

// Close implements udf.Function; instances belong to the module.
func (f bound) Close() error { return nil }

func hostCall(c udf.Call) host.Call {
	return host.Call{QueryID: c.QueryID, BatchID: c.BatchID, Partition: c.Partition, Attempt: c.Attempt, Watermark: c.Watermark, BatchTime: c.BatchTime}
}

func rowErrors(in []host.RowError) []udf.RowError {
	if len(in) == 0 {
		return nil
	}
	out := make([]udf.RowError, len(in))
	for i, e := range in {
		out[i] = udf.RowError{Row: e.Row, Code: e.Code, Text: e.Text}
	}
	return out
}

type rowGuest struct{ bound }

// Rows implements udf.RowFunction.
func (g rowGuest) Rows(ctx context.Context, c udf.Call, in *columnar.Batch) (udf.Rows, error) {
	r, err := g.b.Rows(ctx, hostCall(c), in)
	return udf.Rows{Batch: r.Batch, Parent: r.Parents, Errors: rowErrors(r.Errors)}, err
}

type filterGuest struct{ bound }

// Filter implements udf.FilterFunction.
func (g filterGuest) Filter(ctx context.Context, c udf.Call, in *columnar.Batch) (columnar.Bitmap, []udf.RowError, error) {
	keep, errs, err := g.b.Filter(ctx, hostCall(c), in)
	return keep, rowErrors(errs), err
}

type scalarGuest struct{ bound }

// Scalar implements udf.ScalarFunction.
func (g scalarGuest) Scalar(ctx context.Context, c udf.Call, in *columnar.Batch) (*columnar.Column, []udf.RowError, error) {
	col, errs, err := g.b.Scalar(ctx, hostCall(c), in)
	return col, rowErrors(errs), err
}

type aggregateGuest struct{ bound }

// Update implements udf.AggregateFunction.
func (g aggregateGuest) Update(ctx context.Context, c udf.Call, in *columnar.Batch, group []uint32, acc *columnar.Column) (*columnar.Column, error) {
	return g.b.Update(ctx, hostCall(c), in, group, acc)
}

// Merge implements udf.AggregateFunction.
func (g aggregateGuest) Merge(ctx context.Context, c udf.Call, acc, other *columnar.Column) (*columnar.Column, error) {
	return g.b.Merge(ctx, hostCall(c), acc, other)
}

// Finish implements udf.AggregateFunction.
func (g aggregateGuest) Finish(ctx context.Context, c udf.Call, acc *columnar.Column) (*columnar.Column, error) {
	return g.b.Finish(ctx, hostCall(c), acc)
}

type stateGuest struct{ bound }

// Call implements udf.StateFunction.
func (g stateGuest) Call(ctx context.Context, c udf.Call, in udf.StateInput) (udf.StateOutput, error) {
	timers := make([]int64, len(in.Timer))
	for i, t := range in.Timer {
		timers[i] = t
		if t == 0 {
			timers[i] = abi.NoTimeout
		}
	}
	out, err := g.b.Groups(ctx, hostCall(c), host.GroupsInput{Rows: in.Rows, Offsets: in.Offsets, Keys: in.Keys, State: in.State, Expired: in.Expired, Timeout: timers})
	if err != nil {
		return udf.StateOutput{}, err
	}
	r := udf.StateOutput{Rows: out.Rows, Parent: out.Parents, State: out.State, Errors: rowErrors(out.Errors)}
	r.Action = make([]udf.StateAction, len(out.Action))
	for i, a := range out.Action {
		switch a {
		case abi.StateSet:
			r.Action[i] = udf.PutState
		case abi.StateRemove:
			r.Action[i] = udf.DeleteState
		}
	}
	r.Timer = make([]int64, len(out.Timeout))
	for i, t := range out.Timeout {
		switch t {
		case abi.NoTimeout:
		case 0: // none to the engine, which compares whole milliseconds
			r.Timer[i] = 1
		default:
			r.Timer[i] = t
		}
	}
	return r, nil
}
