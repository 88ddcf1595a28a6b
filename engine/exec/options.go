package exec

import (
	"fmt"
	"runtime"
	"time"

	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/state"
)

// Options say how a plan is to run.
type Options struct {
	// QueryID is the stable id of the query; user functions and random numbers depend on it.
	QueryID string
	// Streaming plans run batch after batch; others once, over bounded inputs, without state.
	Streaming bool
	// Mode is the output mode of a streaming query.
	Mode connector.OutputMode
	// State holds the keyed state. It is needed by a streaming plan with stateful operators, whose
	// stores Compile asks for; the caller then calls State.Load, and State.Commit or State.Abort
	// around every Run. Its number of partitions is the number of tasks of stateful operators.
	State *state.DB
	// Partitions is the number of tasks of stateful operators where there is no State; 0 is Workers.
	Partitions int
	// OrderPartitions is the number of Spark's shuffle partitions whose order rows come out in where that shows; 0 is Partitions.
	OrderPartitions int
	// Workers is the number of goroutines that run a pipeline; 0 is one per processor.
	Workers int
	// Inline runs everything in the goroutine of the caller, whatever Workers says: the same batch does the same things in the
	// same order each time.
	Inline bool
	// Expr is the template of evaluation contexts: zone, ANSI and seed are copied from it.
	Expr expr.Context
	// BatchRows is the number of rows that steps work on at once; 0 is 16,384.
	BatchRows int
	// ExchangeBytes is how many bytes of rows an operator that needs rows in order by key may hold
	// before it works on them; 0 is 64 MiB.
	ExchangeBytes int64
}

// Validate fills in defaults and refuses what makes no sense.
func (o *Options) Validate() error {
	if o.Workers < 0 || o.Partitions < 0 || o.BatchRows < 0 || o.ExchangeBytes < 0 {
		return fmt.Errorf("workers, partitions, batch rows and exchange bytes must not be negative")
	}
	if o.Inline {
		o.Workers = 1
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Workers > 1<<15 {
		return fmt.Errorf("workers must be at most %d, not %d", 1<<15, o.Workers)
	}
	if o.State != nil {
		o.Partitions = o.State.Partitions()
	}
	if o.Partitions == 0 {
		o.Partitions = o.Workers
	}
	if o.OrderPartitions <= 0 {
		o.OrderPartitions = o.Partitions
	}
	if o.BatchRows == 0 {
		o.BatchRows = 16384
	}
	if o.ExchangeBytes == 0 {
		o.ExchangeBytes = 64 << 20
	}
	if o.Expr.Zone == nil {
		o.Expr.Zone = time.UTC
	}
	if o.Streaming && o.Mode == "" {
		o.Mode = connector.Append
	}
	return nil
}
