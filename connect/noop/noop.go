// Package noop is a sink that counts rows and drops them, to measure what comes before it.
package noop

import (
	"context"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// Spec is the sink "noop". As in Spark it takes any option and looks at none.
func Spec() *connector.Spec {
	return &connector.Spec{
		Format:       "noop",
		Doc:          "Drops all rows. It shows how fast the rest of a query is.",
		Promise:      "nothing is kept",
		Example:      "sources:\n  ticks: {format: rate-micro-batch, options: {rowsPerBatch: 100000}}\nsinks:\n  nowhere:\n    from: ticks\n    format: noop\n",
		Prefixes:     []string{""},
		NoCheckpoint: true,
		NewSink: func(connector.Env, connector.Options) (connector.Sink, error) {
			return sink{}, nil
		},
	}
}

type sink struct{}

// Begin implements connector.Sink.
func (sink) Begin(context.Context, connector.BatchInfo) (connector.BatchWriter, error) {
	return writer{}, nil
}

// Description implements connector.Sink.
func (sink) Description() string { return "NoopTable" }

// Close implements connector.Sink.
func (sink) Close() error { return nil }

type writer struct{}

// Write implements connector.BatchWriter.
func (writer) Write(context.Context, *columnar.Batch) error { return nil }

// Commit implements connector.BatchWriter.
func (writer) Commit(context.Context) error { return nil }

// Abort implements connector.BatchWriter.
func (writer) Abort(context.Context) error { return nil }
