package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/udf"
)

// quietSeconds are after how many seconds without a row a key is called quiet.
func quietSeconds() []int { return []int{3, 12} }

// timers is a module of state functions: "quietN" counts the rows of each key, emits the count, and sets a timer of event
// time, at which it emits the count below zero and forgets the key.
type timers struct{}

// Name implements udf.Module.
func (timers) Name() string { return "sim" }

// Hash implements udf.Module.
func (timers) Hash() string { return "sim" }

// Functions implements udf.Module.
func (timers) Functions() (out []udf.Info) {
	for _, n := range quietSeconds() {
		out = append(out, quiet(n).Info())
	}
	return out
}

// Bind implements udf.Module.
func (timers) Bind(name string, _ *columnar.Schema) (udf.Function, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "quiet"))
	if err != nil {
		return nil, fmt.Errorf("no function %q", name)
	}
	return quiet(n), nil
}

// quiet is the bound function; its value is the number of seconds.
type quiet int

func schemaOf(fields ...columnar.Field) *columnar.Schema { return columnar.NewSchema(fields...) }

// Info implements udf.Function.
func (q quiet) Info() udf.Info {
	k := columnar.Field{Name: "k", Type: columnar.Int32, Nullable: true}
	return udf.Info{
		Module: "sim", Name: fmt.Sprintf("quiet%d", int(q)), Kind: udf.State, Output: q.Output(), Key: schemaOf(k), Mode: "append", Timeout: "event", Time: "ts",
		Input: schemaOf(k, columnar.Field{Name: "ts", Type: columnar.Timestamp, Nullable: true}),
	}
}

// Output implements udf.Function.
func (q quiet) Output() *columnar.Schema {
	return schemaOf(columnar.Field{Name: "k", Type: columnar.Int32, Nullable: true}, columnar.Field{Name: "n", Type: columnar.Int64, Nullable: true})
}

// Close implements udf.Function.
func (quiet) Close() error { return nil }

// Call implements udf.StateFunction.
func (q quiet) Call(_ context.Context, call udf.Call, in udf.StateInput) (udf.StateOutput, error) {
	n := in.Keys.Rows
	k, count, st := columnar.NewBuilder(columnar.Int32, n), columnar.NewBuilder(columnar.Int64, n), columnar.NewBuilder(columnar.Binary, n)
	out := udf.StateOutput{Action: make([]udf.StateAction, n), Timer: make([]int64, n)}
	for g := range n {
		rows := int64(0)
		if !in.State.IsNull(g) {
			var err error
			if rows, err = strconv.ParseInt(in.State.StringAt(g), 10, 64); err != nil {
				return out, err
			}
		}
		k.AppendFrom(in.Keys.Columns[0], g)
		out.Parent = append(out.Parent, int32(g))
		if in.Expired[g] {
			count.AppendInt(-rows)
			st.AppendNull()
			out.Action[g] = udf.DeleteState
			continue
		}
		last := call.Watermark
		for r := int(in.Offsets[g]); r < int(in.Offsets[g+1]); r++ {
			rows++
			if ts := in.Rows.Columns[1]; !ts.IsNull(r) {
				last = max(last, columnar.Values[int64](ts)[r])
			}
		}
		count.AppendInt(rows)
		st.AppendString(strconv.FormatInt(rows, 10))
		out.Action[g], out.Timer[g] = udf.PutState, last+int64(q)*1_000_000+1_000
	}
	out.State = st.Finish()
	out.Rows = columnar.NewBatch(q.Output(), []*columnar.Column{k.Finish(), count.Finish()}, n)
	return out, nil
}
