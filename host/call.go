package host

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
)

// Call says on whose behalf a function is called. Two calls with the same Call and input give the same
// output: what a guest sees of time and chance follows from these fields.
type Call struct {
	QueryID   string // a UUID; any other text stands for its hash
	BatchID   int64
	Partition int
	Attempt   int
	Watermark int64 // microseconds since the epoch, abi.NoWatermark for none
	BatchTime int64 // microseconds since the epoch, the same in a replay
	Replay    bool  // the batch may have been handed over before
	// Capabilities replace the module's own for this call where they are not nil.
	Capabilities Capabilities
}

// RowError is a row that the function refused, or that made it trap.
type RowError struct {
	Row  int // of the input batch; of Groups, the group
	Code int32
	Text string
}

// TrapCode is the code of a row error that stands for a trap; guests' own codes are what they choose.
const TrapCode = -1

// Rows is the result of a parse or map function.
type Rows struct {
	Batch *columnar.Batch
	// Parents are the input rows that the output rows come from, in rising order; nil: row i comes
	// from row i.
	Parents []int32
	Errors  []RowError
}

// GroupsInput is all keys of a batch and partition, for one call of a state function.
type GroupsInput struct {
	Rows    *columnar.Batch  // in order of group
	Offsets []int32          // the rows of group g are Offsets[g] … Offsets[g+1]-1
	Keys    *columnar.Batch  // a row a group, the columns of the function's key
	State   *columnar.Column // BINARY, a row a group, null where there is none; see Bound.Groups
	Expired []bool           // group g is called because its time-out has passed, without rows
	Timeout []int64          // the time-out of group g in microseconds, abi.NoTimeout for none
}

// GroupsOutput is what a state function answers.
type GroupsOutput struct {
	Rows    *columnar.Batch
	Parents []int32          // the group of each output row, in rising order
	Action  []uint8          // a group's state: abi.StateKeep, abi.StateSet or abi.StateRemove
	State   *columnar.Column // BINARY, a row a group, null unless set
	Timeout []int64          // a group's new time-out in microseconds, abi.NoTimeout for none
	Errors  []RowError
}

// queryID is the id as the frame's 16 bytes.
func (c *Call) queryID() (id [16]byte) {
	if b, err := hex.DecodeString(strings.ReplaceAll(c.QueryID, "-", "")); err == nil && len(b) == 16 {
		return [16]byte(b)
	}
	h := sha256.Sum256([]byte(c.QueryID))
	return [16]byte(h[:16])
}

// seed is what the guest's random numbers of this call begin from.
func (c *Call) seed(function string) [32]byte {
	h := sha256.New()
	id := c.queryID()
	h.Write(id[:])
	h.Write([]byte(function))
	var n [16]byte
	binary.LittleEndian.PutUint64(n[:], uint64(c.Partition))
	binary.LittleEndian.PutUint64(n[8:], uint64(c.BatchID))
	h.Write(n[:])
	return [32]byte(h.Sum(nil))
}

// header is the part of the frame's header that says on whose behalf.
func (c *Call) header(kind abi.Kind, op abi.Op, rows int) abi.Header {
	h := abi.Header{
		Kind: kind, Op: op, Rows: rows, BatchID: c.BatchID, Attempt: uint32(c.Attempt), Partition: uint32(c.Partition),
		Watermark: c.Watermark, BatchTime: c.BatchTime, QueryID: c.queryID(),
	}
	if c.Replay {
		h.Flags |= abi.FlagRetry
	}
	return h
}
