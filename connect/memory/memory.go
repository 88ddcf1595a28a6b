// Package memory is the sink that keeps rows in the process, for tests and for trying things out. Pipeline
// tests put their own in its place.
package memory

import (
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/memory"
)

// Spec documents the connector.
func Spec() *connector.Spec {
	return &connector.Spec{
		Format: "memory", Doc: "rows kept in the process, for tests", NoCheckpoint: true,
		Promise: "at least once, for people and tests: the rows end with the process",
		NewSink: func(connector.Env, connector.Options) (connector.Sink, error) { return memory.NewSink(), nil },
	}
}
