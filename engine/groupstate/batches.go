package groupstate

import (
	"context"
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/udf"
)

// BatchSpec declares a state function on columns.
type BatchSpec struct {
	Spec
	// Input are the columns that the function gets; the types must be those of the data frame's columns.
	Input *columnar.Schema
	// KeyOf are the columns by which rows are grouped; it takes the place of Spec.Key.
	KeyOf *columnar.Schema
	// Output are the columns of the rows that the function emits.
	Output *columnar.Schema
	// State is what the bytes of the function's state hold, or nil. It is compared at a restart.
	State *columnar.Schema
}

// BatchFunc is a state function on columns: one call for all keys of a batch and a partition. State is bytes that the
// function alone understands; the answer has a row of State, an Action and a Timer for each key (0 for none), and where the
// spec has timers of both kinds (a TTL is one of processing time) a Clock. Calls come from several goroutines.
type BatchFunc func(ctx context.Context, call udf.Call, in udf.StateInput) (udf.StateOutput, error)

// Batches applies a state function on columns to the groups of a data frame. Spec.TTL is up to the function: it only makes
// processing-time timers possible.
func Batches(df *engine.DataFrame, spec BatchSpec, f BatchFunc) *engine.DataFrame {
	if spec.Mode == "" {
		spec.Mode = connector.Append
	}
	m := &module{spec: spec, f: f}
	m.err = spec.check()
	return df.ApplyModule(m, spec.Name, udf.State, spec.OnError)
}

// module is the set of one function in Go.
type module struct {
	spec BatchSpec
	f    BatchFunc
	err  error // of the spec, told when the function is bound
}

// Name implements udf.Module.
func (m *module) Name() string { return "go" }

// Hash implements udf.Module. It covers what the function declares: the code of a program has no hash of its own.
func (m *module) Hash() string {
	text := fmt.Sprintf("%s\n%v\n%v\n%v\n%v\n%s\n%s", m.spec.Name, m.spec.Input, m.spec.KeyOf, m.spec.Output, m.spec.State, m.spec.Mode, m.spec.timeout())
	return fmt.Sprintf("%016x", columnar.HashBytes([]byte(text)))
}

func (m *module) info() udf.Info {
	return udf.Info{
		Module: m.Name(), Name: m.spec.Name, Kind: udf.State, Input: m.spec.Input, Output: m.spec.Output, Key: m.spec.KeyOf,
		Mode: string(m.spec.Mode), Timeout: m.spec.timeout(), StateOf: m.spec.State,
	}
}

// Functions implements udf.Module.
func (m *module) Functions() []udf.Info { return []udf.Info{m.info()} }

// Bind implements udf.Module.
func (m *module) Bind(string, *columnar.Schema) (udf.Function, error) {
	if m.err != nil {
		return nil, m.err
	}
	return (*function)(m), nil
}

// function is the bound function.
type function module

// Info implements udf.Function.
func (f *function) Info() udf.Info { return (*module)(f).info() }

// Output implements udf.Function.
func (f *function) Output() *columnar.Schema { return f.spec.Output }

// Close implements udf.Function.
func (f *function) Close() error { return nil }

// Call implements udf.StateFunction.
func (f *function) Call(ctx context.Context, call udf.Call, in udf.StateInput) (udf.StateOutput, error) {
	return f.f(ctx, call, in)
}
