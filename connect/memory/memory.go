// Package memory is the sink that keeps batches in memory, for programs that embed the engine and for tests.
package memory

import (
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/memory"
)

// Spec is the sink "memory".
func Spec() *connector.Spec {
	return &connector.Spec{
		Format:       "memory",
		Doc:          "Keeps all rows in memory, where a program that embeds the engine finds them.",
		Promise:      "exactly once while the process lives; nothing after it",
		Example:      "sources:\n  ticks: {format: rate-micro-batch, options: {rowsPerBatch: 10}}\nsinks:\n  kept:\n    from: ticks\n    format: memory\n",
		Options:      []connector.Option{{Name: "queryName", Type: "name", Doc: "The name under which the rows are found; the sink's unless set."}},
		NoCheckpoint: true,
		NewSink: func(env connector.Env, o connector.Options) (connector.Sink, error) {
			return Find(env.Shared, o.String("queryName", env.Name)), nil
		},
	}
}

// Find gives the rows of a sink by its name, also before the query has begun.
func Find(shared *connector.Shared, name string) *memory.Sink {
	return shared.Get("memory sink "+name, func() any { return memory.NewSink() }).(*memory.Sink)
}
