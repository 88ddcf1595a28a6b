package state

import (
	"fmt"

	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// Options configure a DB. The zero value of everything but Dir is usable.
type Options struct {
	// FS is the file system; nil is the real one.
	FS vfs.FS
	// Dir is the folder of the state; it is made if it is not there. Empty keeps the state in memory only: Commit
	// works and nothing survives.
	Dir string
	// QueryID is written into every file and compared when it is read, so that files of another query are refused.
	QueryID string
	// Ancestors are ids of queries whose files are accepted as well: those that the checkpoint was forked from.
	Ancestors []string
	// Partitions is the number of tasks, 1 to 256; 0 is 1. It may change at every start.
	Partitions int
	// Generation is the number of this owner: it and the one before it are greater than those of former owners. The files that
	// this owner writes bear them, so that two owners never write the same file, and a former one that still runs finds
	// out. 0 counts on from what is there.
	Generation int64
	// MemoryLimit is how many bytes tables may take before entries that were not used lately move to the cold store;
	// 0 is no limit. The limit is looked at between batches.
	MemoryLimit int64
	// ColdDir is a folder on the local disk for the cold store, wiped at every start. Empty is Dir/cold if FS is the
	// real file system, otherwise the limit is ignored.
	ColdDir string
	// SnapshotBytes is how much change log may gather before some buckets are written to a snapshot; 0 is 4 MiB.
	SnapshotBytes int64
	// SyncSnapshots writes snapshots within Commit instead of beside the next batch. For tests.
	SyncSnapshots bool
	// LateSnapshots, if set beside SyncSnapshots, is asked for each snapshot whether to write it as late as can be, when it
	// is first needed, instead of within Commit.
	LateSnapshots func() bool
	// SegmentBytes is the size at which a change-log file is closed and the next one started; 0 is 16 MiB.
	SegmentBytes int64
	// Failpoints are the crash points of tests; nil has none.
	Failpoints *failpoint.Set
	// ReadOnly opens the state for looking only: nothing is written, Commit is refused.
	ReadOnly bool
}

// Validate fills in defaults and refuses what makes no sense.
func (o *Options) Validate() error {
	if o.FS == nil {
		o.FS = vfs.OS()
	}
	if o.Partitions == 0 {
		o.Partitions = 1
	}
	if o.Partitions < 1 || o.Partitions > Buckets {
		return fmt.Errorf("partitions must be 1 to %d, not %d", Buckets, o.Partitions)
	}
	if o.MemoryLimit < 0 || o.SnapshotBytes < 0 || o.SegmentBytes < 0 {
		return fmt.Errorf("memory limit, snapshot bytes and segment bytes must not be negative")
	}
	if o.SnapshotBytes == 0 {
		o.SnapshotBytes = 4 << 20
	}
	o.ColdDir = o.coldDir()
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 16 << 20
	}
	return nil
}
