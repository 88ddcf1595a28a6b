package files

import (
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// Specs are the file formats.
func Specs() []*connector.Spec {
	var out []*connector.Spec
	for _, f := range []*format{jsonFormat(), csvFormat(), parquetFormat(), textFileFormat(), avroFormat(), arrowFormat()} {
		out = append(out, f.spec())
	}
	return out
}

// commonOptions are the options of every source and sink of files.
func commonOptions() []connector.Option {
	return []connector.Option{
		{Name: "path", Type: "path", Required: true, Doc: "The folder, file or glob to read, or the folder to write."},
		{Name: "maxFilesPerTrigger", Type: "number", Doc: "How many files a batch reads at most."},
		{Name: "maxBytesPerTrigger", Type: "size", Doc: "How many bytes of files a batch reads at most, one file at least; a size such as 64m."},
		{Name: "latestFirst", Type: "boolean", Default: "false", Doc: "Whether the newest files are read first."},
		{Name: "maxFileAge", Type: "duration", Default: "7d", Doc: "Files older than this, against the newest one that was read, are passed over after the first batch."},
		{Name: "fileNameOnly", Type: "boolean", Default: "false", Doc: "Whether files of one name in several folders are the same file."},
		{Name: "cleanSource", Type: "off | archive | delete", Default: "off", Doc: "What becomes of a file when its batch is committed: off, archive or delete."},
		{Name: "sourceArchiveDir", Type: "path", Doc: "Where cleanSource archive moves files to, under their whole path."},
		{Name: "recursiveFileLookup", Type: "boolean", Default: "false", Doc: "Whether all folders below the path are read, not only key=value ones."},
		{Name: "pathGlobFilter", Type: "glob", Doc: "A glob that the names of files must match."},
		{Name: "modifiedAfter", Type: "time", Doc: "Bounded tables: only files changed later than this time are read."},
		{Name: "modifiedBefore", Type: "time", Doc: "Bounded tables: only files changed earlier than this time are read."},
		{Name: "basePath", Type: "path", Doc: "The folder below which key=value folders are columns; the path up to its first wild card unless set."},
		{Name: "ignoreMissingFiles", Type: "boolean", Default: "false", Doc: "Whether files that vanish before they are read are passed over."},
		{Name: "ignoreCorruptFiles", Type: "boolean", Default: "false", Doc: "Whether the rest of a file that cannot be read is passed over."},
		{Name: "partitionBy", Type: "columns", Doc: "Writing: columns whose values become key=value folders rather than columns of the files."},
		{Name: "maxFileSize", Type: "size", Default: "1g", Doc: "Writing: bytes after which a file is ended and the next one begun."},
		{Name: "maxRecordsPerFile", Type: "number", Doc: "Writing: rows after which a file is ended and the next one begun."},
	}
}

// spec describes the format as a connector.
func (f *format) spec() *connector.Spec {
	schema := "\n    schema: id INT, name STRING"
	s := &connector.Spec{
		Format: f.name, Doc: f.doc, LenientOptions: true, NeedsSchema: f.fixed == nil, NullableSchema: true,
		Options: append(commonOptions(), f.options...),
		NewSource: func(env connector.Env, o connector.Options) (connector.Source, error) {
			src, err := newSource(f, env, o)
			if err != nil {
				return nil, err
			}
			return src, nil
		},
		NewSink: func(env connector.Env, o connector.Options) (connector.Sink, error) {
			return newSink(f, env, o)
		},
		Modes:   []connector.OutputMode{connector.Append},
		Promise: "exactly once for readers of the manifest, and for a plain listing once a run has ended; never a part of a file",
	}
	if f.fixed != nil {
		schema = ""
		s.FixedSchema = func(connector.Options) (*columnar.Schema, error) { return f.fixed, nil }
	}
	s.Example = fmt.Sprintf("sources:\n  people:\n    format: %[1]s%[2]s\n    options: {path: incoming, maxFilesPerTrigger: 10}\n"+
		"sinks:\n  copy:\n    from: people\n    format: %[1]s\n    options: {path: copy, maxFileSize: 256m}\n    checkpointLocation: checkpoint/copy\n", f.name, schema)
	return s
}
