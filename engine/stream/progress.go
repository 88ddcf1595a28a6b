package stream

import (
	"encoding/json"
	"math"
	"time"
)

// Progress describes a batch in the form of Spark's StreamingQueryProgress: its JSON has the same keys, and some more.
type Progress struct {
	ID    string `json:"id"`
	RunID string `json:"runId"`
	Name  string `json:"name"`
	// Timestamp is when the batch began, in ISO 8601 with milliseconds.
	Timestamp string `json:"timestamp"`
	BatchID   int64  `json:"batchId"`
	// BatchDuration is in ms.
	BatchDuration          int64             `json:"batchDuration"`
	NumInputRows           int64             `json:"numInputRows"`
	InputRowsPerSecond     Rate              `json:"inputRowsPerSecond"`
	ProcessedRowsPerSecond Rate              `json:"processedRowsPerSecond"`
	DurationMs             Durations         `json:"durationMs"`
	EventTime              map[string]string `json:"eventTime,omitempty"`
	StateOperators         []StateProgress   `json:"stateOperators"`
	Sources                []SourceProgress  `json:"sources"`
	Sink                   SinkProgress      `json:"sink"`
	// ObservedMetrics are what user functions have counted.
	ObservedMetrics map[string]float64 `json:"observedMetrics,omitempty"`
	// NoData says that the batch had no input and was run for the watermark or a timer.
	NoData bool `json:"noData,omitempty"`
	// Replay says that the batch was run before and a crash came before its commit entry.
	Replay bool `json:"replay,omitempty"`
	// SkippedRows were refused by user functions and skipped or sent to a dead-letter sink.
	SkippedRows int64 `json:"numSkippedRows,omitempty"`
}

// Rate is a number of rows per second. NaN and infinities, of batches that took no time, are null in JSON.
type Rate float64

// MarshalJSON writes the number.
func (r Rate) MarshalJSON() ([]byte, error) {
	if f := float64(r); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

// Durations says what a batch's time went into, in ms. Finishing goes on beside the next batch if batches are large, so that
// the parts may add up to more than the whole.
type Durations struct {
	TriggerExecution int64 `json:"triggerExecution"`
	LatestOffset     int64 `json:"latestOffset"`  // asking the sources
	QueryPlanning    int64 `json:"queryPlanning"` // compiling; 0 but for the first batch
	WalCommit        int64 `json:"walCommit"`     // offset entry
	GetBatch         int64 `json:"getBatch"`      // planning partitions
	AddBatch         int64 `json:"addBatch"`      // reading, computing, writing
	StateCommit      int64 `json:"stateCommit"`   // state durable
	SinkCommit       int64 `json:"sinkCommit"`    // output published
	CommitOffsets    int64 `json:"commitOffsets"` // commit entry
}

// steady makes those 0 that are negative, because the clock of the machine was set back meanwhile.
func (d *Durations) steady() {
	for _, ms := range []*int64{
		&d.TriggerExecution, &d.LatestOffset, &d.QueryPlanning, &d.WalCommit, &d.GetBatch, &d.AddBatch, &d.StateCommit, &d.SinkCommit, &d.CommitOffsets,
	} {
		*ms = max(*ms, 0)
	}
}

// StateProgress describes a stateful operator after a batch.
type StateProgress struct {
	OperatorName              string           `json:"operatorName"`
	NumRowsTotal              int64            `json:"numRowsTotal"`
	NumRowsUpdated            int64            `json:"numRowsUpdated"`
	AllUpdatesTimeMs          int64            `json:"allUpdatesTimeMs"`
	NumRowsRemoved            int64            `json:"numRowsRemoved"`
	AllRemovalsTimeMs         int64            `json:"allRemovalsTimeMs"`
	CommitTimeMs              int64            `json:"commitTimeMs"`
	MemoryUsedBytes           int64            `json:"memoryUsedBytes"`
	NumRowsDroppedByWatermark int64            `json:"numRowsDroppedByWatermark"`
	NumShufflePartitions      int64            `json:"numShufflePartitions"`
	NumStateStoreInstances    int64            `json:"numStateStoreInstances"`
	CustomMetrics             map[string]int64 `json:"customMetrics,omitempty"`
}

// SourceProgress describes what a batch read of a source.
type SourceProgress struct {
	Description            string            `json:"description"`
	StartOffset            json.RawMessage   `json:"startOffset"`
	EndOffset              json.RawMessage   `json:"endOffset"`
	LatestOffset           json.RawMessage   `json:"latestOffset"`
	NumInputRows           int64             `json:"numInputRows"`
	InputRowsPerSecond     Rate              `json:"inputRowsPerSecond"`
	ProcessedRowsPerSecond Rate              `json:"processedRowsPerSecond"`
	Metrics                map[string]string `json:"metrics,omitempty"`
	// Name is the source's name in the query.
	Name string `json:"name"`
	// NumCorruptRecords could not be parsed wholly.
	NumCorruptRecords int64 `json:"numCorruptRecords"`
	// Lag is how many rows are left to read by partition, where the source knows.
	Lag map[string]int64 `json:"lag,omitempty"`
}

// SinkProgress describes what a batch wrote.
type SinkProgress struct {
	Description   string            `json:"description"`
	NumOutputRows int64             `json:"numOutputRows"`
	Metrics       map[string]string `json:"metrics,omitempty"`
	// SideRows counts the late rows and dead letters by sink.
	SideRows map[string]int64 `json:"sideRows,omitempty"`
}

// JSON is the progress on one line.
func (p Progress) JSON() string {
	b, err := json.Marshal(p)
	if err != nil {
		return "{}"
	}
	return string(b)
}

// LateRows is the number of rows that all operators dropped because of the watermark.
func (p Progress) LateRows() int64 {
	n := int64(0)
	for _, o := range p.StateOperators {
		n += o.NumRowsDroppedByWatermark
	}
	return n
}

// StateRows is the number of entries in the state of all operators.
func (p Progress) StateRows() int64 {
	n := int64(0)
	for _, o := range p.StateOperators {
		n += o.NumRowsTotal
	}
	return n
}

// isoMs writes ms since 1970 as Spark's progress events do.
func isoMs(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
