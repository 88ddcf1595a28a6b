package delta

import "github.com/wstream/wstream/engine/connector"

// Spec is the format "delta".
func Spec() *connector.Spec {
	return &connector.Spec{
		Format:  "delta",
		Doc:     "A Delta Lake table. Its schema is the table's own.",
		Promise: "exactly once: the commit of a batch carries the query's id and the batch's number, and a batch that the table has is not committed again",
		Example: "sinks:\n  archive:\n    from: raw\n    format: delta\n    options: {path: tables/raw}\n    checkpointLocation: checkpoint/archive\n",
		Options: []connector.Option{
			{Name: "path", Required: true, Doc: "The folder of the table."},
			{Name: "partitionBy", Doc: "Writing: columns whose values become key=value folders; of a table that is there these are known."},
			{Name: "mergeSchema", Default: "false", Doc: "Writing: whether columns that the table does not have are added to it."},
			{Name: "compression", Default: "snappy", Doc: "Writing: none, snappy, gzip, zstd or brotli."},
			{Name: "maxFileSize", Default: "1g", Doc: "Writing: bytes after which a file is ended and the next one begun."},
			{Name: "maxFilesPerTrigger", Default: "1000", Doc: "How many files a batch reads at most."},
			{Name: "maxBytesPerTrigger", Doc: "How many bytes of files a batch reads at most, one file at least; a size such as 64m."},
			{Name: "startingVersion", Doc: "The version whose changes are read first, or latest for those that come after the start; the whole table unless set."},
			{Name: "ignoreDeletes", Default: "false", Doc: "Whether versions that only delete rows are passed over; they end the query otherwise."},
			{Name: "ignoreChanges", Default: "false", Doc: "Whether the files that a change has rewritten are read once more."},
			{Name: "skipChangeCommits", Default: "false", Doc: "Whether versions that change or delete rows are passed over."},
			{Name: "versionAsOf", Doc: "Static: the version to read, the newest unless set."},
		},
		Modes:     []connector.OutputMode{connector.Append, connector.Complete},
		NewSource: newSource,
		NewSink:   newSink,
	}
}
