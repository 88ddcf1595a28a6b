// Package wstream is for writing guests of wstream in Go. A guest is a main package with one variable:
//
//	package main
//
//	import "github.com/wstream/wstream/sdk/go"
//
//	var _ = wstream.Export(wstream.Module{Name: "sample", Version: "1.0.0", Functions: []wstream.Function{{
//		Name: "big", Kind: wstream.Filter, Input: "amount DOUBLE",
//		Call: wstream.FilterRows(func(c *wstream.Call, row int) (bool, error) {
//			return c.Column(0).Float64(row) > 50, nil
//		}),
//	}}})
//
//	func main() {}
//
// It is built by
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags="-s -w" -o sample.wasm
//
// The host calls a function with many rows at once. What the guest sees of an input column is the host's bytes, valid
// during the call; what it keeps beyond, it must copy. The same input must give the same output: there is no time but
// the batch's (Call.BatchTime), and random numbers follow from the call.
package wstream

// Kind is what a function is for.
type Kind string

// The kinds of function.
const (
	Parse        Kind = "parse"        // 0..n rows for each input row
	Filter       Kind = "filter"       // keeps rows or not
	Scalar       Kind = "scalar"       // one column, for SQL
	Map          Kind = "map"          // columns for the same, or fewer or more, rows
	Aggregate    Kind = "aggregate"    // a value for a group, for SQL
	State        Kind = "state"        // rows by key with state and time-outs
	ForeachBatch Kind = "foreachBatch" // writes through a capability
)

// Module is all that a guest says of itself.
type Module struct {
	Name, Version string
	Functions     []Function
	Statements    []string // SQL statements that Call.Exec may run
	Metrics       []string // names that Call.Add and Call.Observe may use
}

// Function is one function of a module. Schemas are DDL: "user_id STRING, amount DOUBLE".
type Function struct {
	Name   string
	Kind   Kind
	Doc    string
	Input  string // columns asked for by name; "*" for all
	Output string // of parse, scalar, map, aggregate and state; "same" for the input's columns

	// The following belong to State.
	Key     string // columns of the key
	State   string // columns of the state
	Mode    string // "append" or "update": the output mode that the function's rows are for
	Timeout string // "none", "event" or "processing"
	Time    string // the event-time column

	// Bind, if there, looks at the config and the input once and gives what Call is then, or refuses.
	Bind func(*Bind) (Handler, error)
	// Call handles rows; unused where Bind is there.
	Call Handler
}

// Handler handles one call. An error fails the batch; rows are refused with Call.Refuse.
type Handler func(c *Call) error

// Exported stands for a module that is exported.
type Exported struct{}

// exported is the module that the host sees.
var exported Module

// Export makes m the module that the host sees. It is for a package-level variable of the main package, so that it
// runs when the instance starts.
func Export(m Module) Exported {
	exported = m
	return Exported{}
}
