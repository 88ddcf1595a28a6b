package checkpoint

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// OffsetEntry is the entry of one batch in the offset log: all that is needed to run the batch again, the same way.
type OffsetEntry struct {
	// BatchID counts from 0 without gaps.
	BatchID int64 `json:"batchId"`
	// TimestampMs is the time of the batch in ms since 1970, which current_timestamp() and processing-time timers see.
	TimestampMs int64 `json:"batchTimestampMs"`
	// WatermarkMs is the watermark during the batch, in ms since 1970.
	WatermarkMs int64 `json:"watermarkMs"`
	// InputWatermarksMs are the watermarks of the watermark operators by their name, where there is more than one.
	InputWatermarksMs map[string]int64 `json:"inputWatermarksMs,omitempty"`
	// NoData says that the batch has no input and only moves the watermark.
	NoData bool `json:"noData,omitempty"`
	// Sources has one entry per source, in the order of the plan.
	Sources []SourceOffsets `json:"sources,omitempty"`
	// Conf are settings that a replay must use whatever the query says now.
	Conf map[string]string `json:"conf,omitempty"`
	// Query is the shape of the query that planned the batch, as JSON of the engine's: what a restart may not change.
	Query json.RawMessage `json:"query,omitempty"`
	// Unknown holds fields of newer versions.
	Unknown map[string]json.RawMessage `json:"-"`
}

// SourceOffsets are the offsets of one source in a batch.
type SourceOffsets struct {
	// Name is the source's name in the query.
	Name string `json:"name"`
	// Start and End are the source's own JSON: the batch reads what lies after Start up to and including End. Start is
	// null in the first batch, End is Start's value if the batch reads nothing.
	Start json.RawMessage `json:"start"`
	End   json.RawMessage `json:"end"`
}

// CommitEntry is the entry of one batch in the commit log: the batch is done, and this is what the next one starts from.
type CommitEntry struct {
	// BatchID is the batch.
	BatchID int64 `json:"batchId"`
	// NextWatermarkMs is the watermark of the next batch, in ms since 1970.
	NextWatermarkMs int64 `json:"nextWatermarkMs"`
	// NextInputWatermarksMs are those of the watermark operators by their name, and whatever else of theirs must survive,
	// such as the times of partitions.
	NextInputWatermarksMs map[string]int64 `json:"nextInputWatermarksMs,omitempty"`
	// TimestampMs is when the batch was committed, in ms since 1970.
	TimestampMs int64 `json:"timestampMs,omitempty"`
	// InputRows and OutputRows count the rows read, and written by the sink; -1 where it does not know.
	InputRows  int64 `json:"inputRows"`
	OutputRows int64 `json:"outputRows"`
	// OutputHash is an order-independent hash of the rows written, if it was computed.
	OutputHash *Hash `json:"outputHash,omitempty"`
	// StateHash is the hash of the whole keyed state after the batch; nil for a query without state.
	StateHash *Hash `json:"stateHash,omitempty"`
	// StateRows counts the entries of each store of the state.
	StateRows map[string]int64 `json:"stateRows,omitempty"`
	// Modules maps the names of the Wasm modules that took part to the SHA-256 of their bytes.
	Modules map[string]string `json:"modules,omitempty"`
	// Unknown holds fields of newer versions.
	Unknown map[string]json.RawMessage `json:"-"`
}

// Hash is a 64-bit hash, in JSON a string of 16 hexadecimal digits.
type Hash uint64

// MarshalText writes the hexadecimal digits.
func (h Hash) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(h)), nil }

// UnmarshalText reads the hexadecimal digits.
func (h *Hash) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 16, 64)
	if err != nil {
		return fmt.Errorf("hash %q is not hexadecimal", b)
	}
	*h = Hash(v)
	return nil
}

// The plain types have no methods, so that encoding/json does not come back here.
type (
	plainOffsets OffsetEntry
	plainCommit  CommitEntry
)

// MarshalJSON writes the entry with its unknown fields.
func (e OffsetEntry) MarshalJSON() ([]byte, error) {
	return marshalWith(plainOffsets(e), e.Unknown)
}

// UnmarshalJSON keeps unknown fields.
func (e *OffsetEntry) UnmarshalJSON(b []byte) error {
	unknown, err := unmarshalWith(b, (*plainOffsets)(e))
	e.Unknown = unknown
	return err
}

// MarshalJSON writes the entry with its unknown fields.
func (e CommitEntry) MarshalJSON() ([]byte, error) {
	return marshalWith(plainCommit(e), e.Unknown)
}

// UnmarshalJSON keeps unknown fields.
func (e *CommitEntry) UnmarshalJSON(b []byte) error {
	unknown, err := unmarshalWith(b, (*plainCommit)(e))
	e.Unknown = unknown
	return err
}

func marshalWith(v any, unknown map[string]json.RawMessage) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil || len(unknown) == 0 {
		return b, err
	}
	u, err := json.Marshal(unknown)
	if err != nil {
		return nil, err
	}
	b[len(b)-1] = ','
	return append(b, u[1:]...), nil
}

// unmarshalWith fills v and returns the fields that v does not have: those that v would not write back.
func unmarshalWith(b []byte, v any) (map[string]json.RawMessage, error) {
	if err := json.Unmarshal(b, v); err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	for _, name := range fieldNames(v) {
		delete(all, name)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

func fieldNames(v any) []string {
	switch v.(type) {
	case *plainOffsets:
		return []string{"batchId", "batchTimestampMs", "watermarkMs", "inputWatermarksMs", "noData", "sources", "conf", "query"}
	case *plainCommit:
		return []string{
			"batchId", "nextWatermarkMs", "nextInputWatermarksMs", "timestampMs", "inputRows", "outputRows", "outputHash",
			"stateHash", "stateRows", "modules",
		}
	}
	return nil
}
