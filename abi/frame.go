package abi

import (
	"math"

	"github.com/wstream/wstream/columnar"
)

// Sizes of the parts of a frame, in bytes. All numbers are little-endian.
const (
	// HeaderSize is the header of version 1; a later one is longer and says so in its second word.
	HeaderSize = 128
	// NodeSize is one entry of the node table.
	NodeSize = 24
	// BufferSize is one entry of the buffer table.
	BufferSize = 16
	// SectionSize is one entry of the section table.
	SectionSize = 16
	// Alignment is what every buffer's offset in a frame from the host is a multiple of.
	Alignment = 64
)

// Magic is the first word of a frame: "WSF1".
const Magic = 0x31465357

// Offsets of the header's fields.
const (
	offMagic          = 0  // u32
	offHeaderSize     = 4  // u32
	offFrameSize      = 8  // u32
	offKind           = 12 // u16
	offOp             = 14 // u16
	offFlags          = 16 // u32
	offRows           = 20 // u32
	offBatchID        = 24 // i64
	offAttempt        = 32 // u32
	offPartition      = 36 // u32
	offWatermark      = 40 // i64
	offBatchTime      = 48 // i64
	offQueryID        = 56 // 16 bytes
	offColumns        = 72 // u32
	offNodes          = 76 // u32
	offBuffers        = 80 // u32
	offSections       = 84 // u32
	offNodesOffset    = 88 // u32
	offBuffersOffset  = 92 // u32
	offSectionsOffset = 96 // u32
)

// Offsets in a node.
const (
	offNodeType     = 0  // u16
	offNodeFlags    = 2  // u16
	offNodeLength   = 4  // u32
	offNodeNulls    = 8  // u32
	offNodeBuffer   = 12 // u32
	offNodeChildren = 16 // u32
	offNodeParam    = 20 // u32
)

// Flags of a node.
const (
	// NodeNullable says that the column may hold nulls.
	NodeNullable = 1 << 0
	// NodePassed says that an output column is an input column untouched: its first buffer is that
	// column's index, and it has no buffers and no children.
	NodePassed = 1 << 1
)

// NoWatermark is the header's watermark where there is none.
const NoWatermark = math.MinInt64

// NoTimeout is the time-out of a key that has none.
const NoTimeout = math.MinInt64

// SectionID names a group of columns beside a frame's main ones.
type SectionID uint32

// The sections. Their columns are in this order, without nulls unless said otherwise.
const (
	// SectionParents, output of parse and map: the input row of each output row, INT.
	SectionParents SectionID = 1
	// SectionErrors, output: rows that the function refuses: row INT, code INT, text STRING.
	SectionErrors SectionID = 2
	// SectionGroups, input of state, a row a key: the end of the key's rows INT, flags TINYINT,
	// time-out BIGINT (µs), then the key's columns.
	SectionGroups SectionID = 3
	// SectionState, a row a key: input the old state's columns; output what to do TINYINT, the new
	// time-out BIGINT (µs), then the new state's columns.
	SectionState SectionID = 4
	// SectionAccumulators, a row a group: input the old accumulators BINARY, null for a new group.
	SectionAccumulators SectionID = 5
	// SectionGroupIndex, input of aggregate, a row a row: the group it belongs to, INT.
	SectionGroupIndex SectionID = 6
)

// Flags of a key in SectionGroups.
const (
	GroupHasState = 1 << 0 // the key has state
	GroupTimedOut = 1 << 1 // the key's time-out has passed; it has no rows
)

// What to do with a key's state, in SectionState of an output.
const (
	StateKeep   = 0
	StateSet    = 1
	StateRemove = 2
)

// Header is what a frame says of itself besides its columns.
type Header struct {
	Kind      Kind
	Op        Op
	Flags     uint32
	Rows      int
	BatchID   int64
	Attempt   uint32
	Partition uint32
	Watermark int64 // µs since the epoch, or NoWatermark
	BatchTime int64 // µs since the epoch
	QueryID   [16]byte
}

// Frame is a batch as it crosses the boundary: its main columns, each of Header.Rows rows, and sections.
type Frame struct {
	Header   Header
	Columns  []*columnar.Column
	Nullable []bool // of the main columns; nil for all
	Sections []Section
}

// Section is a group of columns of Rows rows each.
type Section struct {
	ID      SectionID
	Rows    int
	Columns []*columnar.Column
}

// Section finds a section by its id; nil when there is none.
func (f *Frame) Section(id SectionID) *Section {
	for i := range f.Sections {
		if f.Sections[i].ID == id {
			return &f.Sections[i]
		}
	}
	return nil
}
