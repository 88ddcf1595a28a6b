// Package abi is the contract between the host and its guests, as data: names of exports and imports,
// status codes, the manifest, and the frame in which batches cross the boundary. It runs nothing.
// docs/abi.md is the text of the contract; every number here stands there with its meaning, and a version
// that was released does not change.
//
// What a guest hands over is hostile until Decode has checked it; nothing else reads guest memory.
package abi

import "fmt"

// Version is the version of the contract that this package describes.
const Version = 1

// Names of the functions that a guest exports.
const (
	ExportMemory     = "memory"
	ExportMarker     = "wstream_abi_v1"   // () -> (): its presence names the version
	ExportInitialize = "_initialize"      // () -> (): optional, called once after instantiation
	ExportManifest   = "wstream_manifest" // () -> i64: where the JSON manifest lies
	ExportBuffer     = "wstream_buffer"   // (min i32) -> i32: a buffer for the host to write to
	ExportBind       = "wstream_bind"     // (ptr, len i32) -> i64: a handle, or a negative status
	ExportCall       = "wstream_call"     // (handle, ptr, len i32) -> i64: where the output lies, or a status
	ExportNext       = "wstream_next"     // (handle i32) -> i64: optional, the next output after MORE
	ExportOutput     = "wstream_output"   // (handle i32) -> i64: DDL of the output, where the manifest says "bind"
	ExportError      = "wstream_error"    // () -> i64: optional, the text of the last negative status
)

// Modules that a guest may import from.
const (
	ModuleLog     = "wstream_log_v1"
	ModuleMetric  = "wstream_metric_v1"
	ModuleSQL     = "wstream_sql_v1"
	ModuleKV      = "wstream_kv_v1"
	ModuleProduce = "wstream_produce_v1"
	ModuleWASI    = "wasi_snapshot_preview1"
)

// Status is a negative result of a call in either direction.
type Status int64

// The statuses. A guest may answer any negative number; one without a name here counts as Failed.
const (
	StatusFailed          Status = -1 // the function cannot go on with this batch; wstream_error says why
	StatusUnknownFunction Status = -2 // bind: there is no such function
	StatusBadSchema       Status = -3 // bind: the input schema does not fit
	StatusBadConfig       Status = -4 // bind: a setting is missing or wrong
	StatusBadFrame        Status = -5 // the frame is malformed
	StatusNoMemory        Status = -6 // the guest's memory is used up
	StatusDenied          Status = -7 // the pipeline does not allow this capability, connection or topic
	StatusNotFound        Status = -8 // there is no such key, metric, statement or connection
	StatusTooLarge        Status = -9 // more bytes or rows than the limits allow
	StatusUnsupported     Status = -10
)

// String is the status by name and number.
func (s Status) String() string {
	names := [...]string{
		"failed", "unknown function", "bad schema", "bad config", "bad frame", "out of memory",
		"denied", "not found", "too large", "unsupported",
	}
	if s < 0 && int(-s) <= len(names) {
		return names[-s-1]
	}
	return fmt.Sprintf("status %d", int64(s))
}

// Kind is what a function is for.
type Kind uint16

// The kinds of function.
const (
	KindParse        Kind = 1 // 0..n rows for each input row
	KindFilter       Kind = 2 // a bit for each input row
	KindScalar       Kind = 3 // one column of the input's length
	KindMap          Kind = 4 // columns for the same, or fewer or more, rows
	KindAggregate    Kind = 5 // accumulators by group
	KindState        Kind = 6 // rows by key with state and time-outs
	KindForeachBatch Kind = 7 // nothing: the function writes through a capability
)

// kindNames are by Kind, as in a manifest.
var kindNames = [...]string{
	KindParse: "parse", KindFilter: "filter", KindScalar: "scalar", KindMap: "map",
	KindAggregate: "aggregate", KindState: "state", KindForeachBatch: "foreachBatch",
}

// String is the kind as in a manifest.
func (k Kind) String() string {
	if k > 0 && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint16(k))
}

// ParseKind reads a kind as in a manifest.
func ParseKind(s string) (Kind, bool) {
	for k, n := range kindNames {
		if n == s && k > 0 {
			return Kind(k), true
		}
	}
	return 0, false
}

// Op is what is asked of a function in one call.
type Op uint16

// The operations.
const (
	OpCall   Op = 0
	OpMerge  Op = 1 // aggregate: accumulators into accumulators
	OpFinish Op = 2 // aggregate: accumulators to results
	OpCommit Op = 3 // foreachBatch: after the last slice
)

// Flags of a frame.
const (
	FlagFirst = 1 << 0 // input: the first slice of a batch
	FlagLast  = 1 << 1 // input: the last slice of a batch
	FlagRetry = 1 << 2 // input: the batch was, or may have been, handed over before
	FlagMore  = 1 << 3 // output: wstream_next has more
)

// Limits of the contract itself; a pipeline may set lower ones for what it runs.
const (
	// MaxMemoryPages keeps every address below 2 GiB, so that a negative result is always a status.
	MaxMemoryPages = 1<<15 - 1
	// MaxManifestBytes bounds the manifest's text.
	MaxManifestBytes = 1 << 20
	// MaxErrorBytes bounds the text of an error; what is longer is cut.
	MaxErrorBytes = 4096
	// MaxFunctions bounds the functions of a module.
	MaxFunctions = 1024
)
