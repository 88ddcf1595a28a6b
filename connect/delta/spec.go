package delta

import "github.com/wstream/wstream/engine/connector"

// Spec is the format "delta".
func Spec() *connector.Spec {
	return &connector.Spec{
		Format: "delta",
		Doc: "A Delta Lake table. Its schema is the table's own. Tables with deletion vectors, columns mapped by name or by id, widened types, and checkpoints of any form " +
			"are read; a stream takes the rows that a deletion vector removes as a change of rows, like rewritten files. Written are tables without mapped columns, constraints and generated columns.",
		Promise: "exactly once: the commit of a batch carries the query's id and the batch's number, and a batch that the table has is not committed again",
		Example: "sources:\n  ticks: {format: rate-micro-batch, options: {rowsPerBatch: 10}}\n" +
			"views:\n  parted: {sql: \"SELECT value, date(timestamp) AS day FROM ticks\"}\n" +
			"sinks:\n  archive:\n    from: parted\n    format: delta\n    options: {path: tables/ticks, partitionBy: day}\n    checkpointLocation: checkpoint/archive\n",
		Options: []connector.Option{
			{Name: "path", Type: "path", Required: true, Doc: "The folder of the table."},
			{Name: "partitionBy", Type: "columns", Doc: "Writing: columns whose values become key=value folders; of a table that is there these are known."},
			{Name: "mergeSchema", Type: "boolean", Default: "false", Doc: "Writing: whether columns that the table does not have are added to it."},
			{Name: "compression", Type: "none | snappy | gzip | zstd | brotli", Default: "snappy", Doc: "Writing: none, snappy, gzip, zstd or brotli."},
			{Name: "maxFileSize", Type: "size", Default: "1g", Doc: "Writing: bytes after which a file is ended and the next one begun."},
			{Name: "maxFilesPerTrigger", Type: "number", Default: "1000", Doc: "How many files a batch reads at most."},
			{Name: "maxBytesPerTrigger", Type: "size", Doc: "How many bytes of files a batch reads at most, one file at least; a size such as 64m."},
			{Name: "startingVersion", Type: "number | latest", Doc: "The version whose changes are read first, or latest for those that come after the start; the whole table unless set."},
			{Name: "ignoreDeletes", Type: "boolean", Default: "false", Doc: "Whether versions that only delete rows are passed over; they end the query otherwise."},
			{Name: "ignoreChanges", Type: "boolean", Default: "false", Doc: "Whether the files that a change has rewritten are read once more."},
			{Name: "skipChangeCommits", Type: "boolean", Default: "false", Doc: "Whether versions that change or delete rows are passed over."},
			{Name: "versionAsOf", Type: "number", Doc: "Static: the version to read, the newest unless set."},
		},
		Modes:     []connector.OutputMode{connector.Append, connector.Complete},
		NewSource: newSource,
		NewSink:   newSink,
	}
}
