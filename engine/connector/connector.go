// Package connector declares what the engine needs of the outside: streaming sources, static
// tables and sinks. Connectors (connect/…) implement it, engine/stream drives it; neither knows
// the other.
package connector

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// Offset is a source's position as JSON, nil before anything was read. Only the source reads it;
// the offset log stores it and progress events show it.
type Offset = json.RawMessage

// Env is what the host of a connector gives to it.
type Env struct {
	Name       string           // name of the source or sink in the pipeline
	BaseDir    string           // directory that relative paths start from
	Schema     *columnar.Schema // declared schema of a source, output schema of a sink; nil if none
	QueryID    string           // id of the query, empty for a static table
	Zone       *time.Location   // session time zone
	ANSI       bool
	FS         vfs.FS
	Log        MetadataLog                      // the connector's own durable log in the checkpoint; nil for static tables
	Now        func() time.Time                 // the injected clock
	Warn       func(format string, args ...any) // a warning for the user, shown once a batch
	Failpoints *failpoint.Set
	Connection func(name string) (Connection, error) // connections of the pipeline file
	Static     bool                                  // the source is read once as a bounded table
	Out        io.Writer                             // where sinks for people print; nil is standard output
	Shared     *Shared                               // what connectors of one process have in common; nil has nothing
	OwnFS      vfs.FS                                // streaming sources: where OwnDir lies; nil has none
	OwnDir     string                                // a folder in the checkpoint for whatever the source must keep; the source makes it
	NextBatch  func() int64                          // streaming sources: id of the batch that Next is asked for; nil counts from 0
	CheckOwner func() error                          // streaming sinks: an error when another process has taken the query over; nil is never
}

// Connection is an entry of `connections:` with its variables filled in.
type Connection struct {
	Name, Driver, DSN string
	Options           map[string]string
}

// MetadataLog is a log of JSON values by batch id that lives in the checkpoint: what files a file
// source has seen, what files a file sink has published. An entry is durable when Put returns.
type MetadataLog interface {
	Put(batch int64, v json.RawMessage) error
	// Each calls f for the entries in order of batch.
	Each(f func(batch int64, v json.RawMessage) error) error
	// Compact replaces all entries up to and including batch by one.
	Compact(batch int64, v json.RawMessage) error
}

// Source is a replayable stream: the same offsets always give the same rows.
type Source interface {
	// Schema is the schema of the rows.
	Schema() *columnar.Schema
	// Next chooses the end of the next batch that begins at start, by the limits in its options:
	// end is equal to start when nothing is there. latest is the position of the newest data.
	// With unlimited the limits do not count (trigger once). end must be stable: Plan may be
	// asked for it after a restart.
	Next(ctx context.Context, start Offset, unlimited bool) (end, latest Offset, err error)
	// Plan divides the rows in (start, end] into partitions, in an order that is the same each time.
	Plan(ctx context.Context, start, end Offset) ([]Partition, error)
	// Description is the source as progress events show it, e.g. "KafkaV2[Subscribe[clicks]]".
	Description() string
	Close() error
}

// Partition is a part of a batch's input that one goroutine reads.
type Partition interface {
	// ID names the part of the source that lasts over batches, e.g. "clicks-0", for watermarks by
	// partition. Files have the empty name.
	ID() string
	// Read calls emit for chunks of rows in order. Reading is sequential; the engine decodes
	// chunks in parallel and keeps their order. Columns not listed in need (indices into Schema,
	// nil for all) may come back as all null. Read returns when ctx ends.
	Read(ctx context.Context, need []int, emit func(Chunk) error) error
}

// Chunk is rows that were read but not decoded yet. Decode is called once, from any goroutine.
type Chunk interface {
	Decode(ctx context.Context) (Decoded, error)
}

// Decoded is the result of decoding a chunk.
type Decoded struct {
	Batch       *columnar.Batch
	CorruptRows int64  // rows that could not be parsed wholly
	Sample      string // one of them with its place, for a warning
}

// ReadyChunk is a chunk that is decoded already.
type ReadyChunk struct{ Batch *columnar.Batch }

// Decode implements Chunk.
func (r ReadyChunk) Decode(context.Context) (Decoded, error) { return Decoded{Batch: r.Batch}, nil }

// Committer is implemented by sources that act on rows once their batch is committed (cleanSource,
// consumer group offsets). It may be repeated after a crash.
type Committer interface {
	Commit(ctx context.Context, batch int64, end Offset) error
}

// Bounded is implemented by sources that fix their end for availableNow: after Fix, Next gives
// nothing beyond what was there at the call.
type Bounded interface {
	Fix(ctx context.Context, start Offset) error
}

// Waiter is implemented by sources that can tell of new data instead of being polled.
type Waiter interface {
	// Wait returns when data beyond start may be there, or ctx ends.
	Wait(ctx context.Context, start Offset) error
}

// LagReporter is implemented by sources that know the lag of each partition, for idle partitions
// and metrics; keys are Partition IDs.
type LagReporter interface {
	Lag(start, latest Offset) map[string]int64
}

// MetricsReporter is implemented by sources that have figures of their own for the progress of a batch.
type MetricsReporter interface {
	// Metrics are the figures by name after a batch that ended at end, when the newest data was at latest.
	Metrics(end, latest Offset) map[string]string
}

// OutputMode is how a sink sees results.
type OutputMode string

// The output modes of Structured Streaming.
const (
	Append   OutputMode = "append"
	Update   OutputMode = "update"
	Complete OutputMode = "complete"
)

// BatchInfo identifies a batch to a sink.
type BatchInfo struct {
	QueryID    string // stable over restarts
	RunID      string
	BatchID    int64
	Replay     bool // the batch may have reached the sink before: a crash came between write and commit
	Mode       OutputMode
	Watermark  int64 // microseconds
	BatchTime  int64 // microseconds, the same in a replay
	Schema     *columnar.Schema
	Failpoints *failpoint.Set
}

// Sink writes batches under their id.
type Sink interface {
	// Begin opens batch info.BatchID. Batches come in order and one at a time.
	Begin(ctx context.Context, info BatchInfo) (BatchWriter, error)
	// Description is the sink as progress events show it.
	Description() string
	Close() error
}

// BatchWriter takes the rows of one batch. Exactly one of Commit and Abort ends it.
type BatchWriter interface {
	Write(ctx context.Context, b *columnar.Batch) error
	// Commit publishes the batch: durable and visible when it returns.
	Commit(ctx context.Context) error
	Abort(ctx context.Context) error
}

// Recoverer is implemented by sinks that must look at what an earlier run left, before the first
// batch: lastCommitted is the newest batch with a commit entry, -1 for none.
type Recoverer interface {
	Recover(ctx context.Context, lastCommitted int64) error
}

// Option documents an option of a connector.
type Option struct {
	Name     string // as documented; looked up without case
	Type     string // how a value is written: text, boolean, number, size, duration, path …, or the values there are, with | between them
	Default  string
	Required bool
	Doc      string
}

// Spec is a connector: what documentation, lint and the factory of the session need.
type Spec struct {
	Format   string // name in pipeline files
	Doc      string
	Promise  string // sinks: what is promised, in one line
	Example  string // pipeline fragment that runs
	Options  []Option
	Prefixes []string // option name prefixes that pass through, e.g. "kafka."
	// LenientOptions makes an unknown option a warning (file readers) instead of an error.
	LenientOptions bool
	NeedsSchema    bool // a stream of it needs a schema
	NullableSchema bool // declared columns may be null whatever the schema says, as Spark has it for files
	// FixedSchema gives the schema of a source whose columns follow from its options; nil otherwise.
	FixedSchema  func(o Options) (*columnar.Schema, error)
	NewSource    func(env Env, o Options) (Source, error) // nil: not a source
	NewSink      func(env Env, o Options) (Sink, error)   // nil: not a sink
	Modes        []OutputMode                             // sinks: modes it takes; nil means all
	NoCheckpoint bool                                     // sinks for people: run needs no checkpointLocation
	// Types says, for connectors with types of their own, which of them stand for ours.
	Types []TypeMapping
}

// TypeMapping is how values of a type are kept by a system with types of its own.
type TypeMapping struct {
	Ours   string // in DDL
	Theirs string // of the column that a sink makes
	Back   string // what such a column is read as where no schema is given, in DDL
}
