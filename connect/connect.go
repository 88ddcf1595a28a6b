// Package connect lists the sources and sinks that come with the engine. Each stands in a folder of its own, with its
// documentation, options, promise and example.
package connect

import (
	"github.com/wstream/wstream/connect/console"
	"github.com/wstream/wstream/connect/delta"
	"github.com/wstream/wstream/connect/files"
	"github.com/wstream/wstream/connect/http"
	"github.com/wstream/wstream/connect/kafka"
	"github.com/wstream/wstream/connect/memory"
	"github.com/wstream/wstream/connect/nats"
	"github.com/wstream/wstream/connect/noop"
	"github.com/wstream/wstream/connect/rate"
	"github.com/wstream/wstream/connect/socket"
	"github.com/wstream/wstream/connect/sqldb"
	"github.com/wstream/wstream/engine/connector"
)

// All lists every connector, in the order of documentation.
func All() []*connector.Spec {
	var all []*connector.Spec
	all = append(all, files.Specs()...)
	all = append(all, delta.Spec())
	all = append(all, sqldb.Specs()...)
	all = append(all, rate.Specs()...)
	all = append(all, socket.Spec())
	return append(all, console.Spec(), http.Spec(), kafka.Spec(), memory.Spec(), nats.Spec(), noop.Spec())
}
