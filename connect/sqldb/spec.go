package sqldb

import (
	"fmt"

	"github.com/wstream/wstream/engine/connector"
)

// Specs are the sinks and lookup tables postgres, mysql and sqlite.
func Specs() []*connector.Spec {
	return []*connector.Spec{
		spec("postgres", "PostgreSQL", "${ANALYTICS_DSN:-postgres://localhost/analytics}"),
		spec("mysql", "MySQL or MariaDB", "${ANALYTICS_DSN:-user:password@tcp(localhost:3306)/analytics}"),
		spec("sqlite", "SQLite", "analytics.db"),
	}
}

func spec(driver, name, dsn string) *connector.Spec {
	return &connector.Spec{
		Format: driver,
		Doc: "A table of " + name + ". As a sink it takes the rows of a batch in one transaction; the table is made if it is not there. " +
			"As a static source it is a lookup table for joins.",
		Promise: "exactly once: the transaction of a batch carries its id, and a batch that is there already is not written again",
		Example: fmt.Sprintf("connections:\n  analytics: {driver: %[1]s, dsn: %[2]q}\n"+
			"sources:\n  ticks: {format: rate-micro-batch, options: {rowsPerBatch: 10}}\n"+
			"views:\n  per_key: {sql: \"SELECT value %% 10 AS k, count(*) AS n, max(timestamp) AS latest FROM ticks GROUP BY value %% 10\"}\n"+
			"sinks:\n  totals:\n    from: per_key\n    format: %[1]s\n"+
			"    options: {connection: analytics, table: ticks_per_key, mode: upsert, key: [k]}\n    outputMode: update\n    checkpointLocation: checkpoint/totals\n", driver, dsn),
		Options: []connector.Option{
			{Name: "connection", Type: "name", Doc: "The entry of connections to use. Its own options are connectTimeout (10 s), statementTimeout (10 minutes) and retryTimeout (1 minute)."},
			{Name: "dsn", Type: "text", Doc: "In place of connection: where the database is."},
			{Name: "table", Type: "name", Doc: "The table, with its schema or database before a dot if need be. Columns are found by name."},
			{Name: "mode", Type: "append | upsert", Default: "append", Doc: "Sink: upsert replaces the row with the same key, append adds rows. In output mode complete the table is emptied first."},
			{Name: "key", Type: "columns", Doc: "Sink, mode upsert: the columns that make a row; of several rows of a batch with the same key the last one counts."},
			{Name: "badText", Type: "replace | remove | fail", Default: "replace", Doc: "Sink: what becomes of NUL characters and invalid UTF-8 where the database takes none: replace by U+FFFD, remove, or fail. NaN where there is none is null, or fails."},
			{Name: "query", Type: "SQL", Doc: "Source: a SELECT in place of a table."},
		},
		Types: types(driver),
		NewSink: func(env connector.Env, o connector.Options) (connector.Sink, error) {
			return newSink(driver, env, o)
		},
		NewSource: func(env connector.Env, o connector.Options) (connector.Source, error) {
			return newTable(driver, env, o)
		},
	}
}
