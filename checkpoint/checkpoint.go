package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/recordlog"
	"github.com/wstream/wstream/internal/vfs"
)

// Options configure Open.
type Options struct {
	// Create makes the checkpoint if the folder holds none. Otherwise that is an ErrNotFound.
	Create bool
	// ReadOnly reads without taking the lock, also while another process owns the checkpoint. Nothing is written.
	ReadOnly bool
	// RunID is the id of this run, for messages to others; empty is a new one.
	RunID string
	// Process is how this process calls itself in the checkpoint; what is zero is found out. RunID is taken from above.
	Process Owner
	// QueryID is the id of a checkpoint that is made; empty is a random one.
	QueryID string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// SegmentBytes is the length at which a log segment is closed; 0 is 1 MiB.
	SegmentBytes int64
	// Failpoints are the crash points of tests; nil has none.
	Failpoints *failpoint.Set
}

// Checkpoint is an open checkpoint. Its methods are called by one goroutine at a time, except CheckOwner.
type Checkpoint struct {
	fs       vfs.FS
	dir      string
	opts     Options
	meta     metadata
	man      manifest
	lock     io.Closer
	offsets  *recordlog.Log
	commits  *recordlog.Log
	side     map[string]*SideLog
	note     vfs.File // the note of the last output, once there is one
	readOnly bool
	closed   bool
	broken   error // a write of the manifest failed: nothing more may be written
	// undeleted are files that count no more and could not be deleted yet.
	undeleted []string
	starting  bool // segments are being begun: the manifest is written once for all of them
}

// Open opens the checkpoint in a folder for writing: it takes the lock, and raises the epoch, so that a former owner
// cannot write any more. See Options.ReadOnly for only looking.
//
// Errors: ErrNotFound; *LockedError if another process owns it; *MissingError and *DamagedError for files that are not as
// they must be; *VersionError if a newer program has written it. After an error nothing has been changed.
func Open(fsys vfs.FS, dir string, opts Options) (*Checkpoint, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.SegmentBytes == 0 {
		opts.SegmentBytes = 1 << 20
		if vfs.Remote(fsys, dir) {
			opts.SegmentBytes = 64 << 10 // an object per entry: fewer of them to be listed and read
		}
	}
	if opts.RunID == "" {
		opts.RunID = uuid.NewString()
	}
	c := &Checkpoint{
		fs: fsys, dir: dir, opts: opts, readOnly: opts.ReadOnly, side: map[string]*SideLog{},
	}
	if opts.ReadOnly {
		return c, c.openLogs()
	}
	if err := c.own(); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// openLogs reads metadata, manifest and the two logs without writing anything.
func (c *Checkpoint) openLogs() (err error) {
	if err := c.loadMetadata(false); err != nil {
		return err
	}
	if c.man, err = c.loadManifest(); err != nil {
		return err
	}
	return c.readLogs()
}

func (c *Checkpoint) readLogs() (err error) {
	if c.offsets, err = c.openLog("offsets", false, failpoint.OffsetLogPartial, failpoint.OffsetLogUnsynced); err != nil {
		return err
	}
	if c.commits, err = c.openLog("commits", false, failpoint.CommitLogPartial, failpoint.CommitLogUnsynced); err != nil {
		return err
	}
	return c.checkLogs()
}

// checkLogs refuses what no crash can have left.
func (c *Checkpoint) checkLogs() error {
	offsets, commits := c.offsets.Last(), c.commits.Last()
	if commits > offsets {
		return &DamagedError{c.offsets.FileOf(offsets + 1), fmt.Sprintf(
			"batch %d is committed, but the last entry of the offset log is %d", commits, offsets)}
	}
	if first := c.offsets.First(); first <= offsets && first > commits+1 {
		return &DamagedError{c.commits.FileOf(commits + 1), fmt.Sprintf(
			"the last entry of the commit log is %d, but the offset log begins with %d", commits, first)}
	}
	if commits >= 0 && c.commits.First() > commits {
		return &DamagedError{c.commits.FileOf(commits), fmt.Sprintf("entry %d is missing", commits)}
	}
	return nil
}

// openLog opens the log in a folder of the checkpoint with the segments that the manifest lists.
func (c *Checkpoint) openLog(folder string, sparse bool, partial, unsynced string) (*recordlog.Log, error) {
	if !c.readOnly {
		if err := vfs.MkdirAllSync(c.fs, c.path(folder)); err != nil {
			return nil, err
		}
	}
	only := c.man.Logs[folder]
	if only == nil {
		only = []string{}
	}
	o := recordlog.Options{
		FS: c.fs, Dir: c.path(folder), Only: only, Kind: filepath.ToSlash(folder), Query: c.meta.ID,
		Ancestors: c.meta.Forked, Sparse: sparse, SegmentBytes: c.opts.SegmentBytes, Preallocate: 64 << 10,
		Failpoints: c.opts.Failpoints, PartialPoint: partial, SyncPoint: unsynced,
		OnSegment: func(name string) error { return c.listSegment(folder, name) },
	}
	l, err := recordlog.Open(o)
	if errors.Is(err, fs.ErrNotExist) && len(only) == 0 {
		return nil, &MissingError{c.path(folder), "it is a folder of every checkpoint"}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingError{c.path(folder), err.Error()}
	}
	return l, err
}

// listSegment puts a new segment into the manifest.
func (c *Checkpoint) listSegment(folder, name string) error {
	if c.starting {
		return nil
	}
	m := c.man.clone()
	m.Logs[folder] = append(m.Logs[folder], name)
	return c.storeManifest(m)
}

// own makes this process the owner.
func (c *Checkpoint) own() error {
	if there, err := vfs.Exists(c.fs, c.dir); err != nil {
		return err
	} else if !there && !c.opts.Create {
		return fmt.Errorf("checkpoint %q: %w", c.dir, ErrNotFound)
	}
	// Look before touching anything, so that what is refused stays as it is.
	if err := c.look(); err != nil && !(c.opts.Create && errors.Is(err, ErrNotFound)) {
		return err
	}
	if err := vfs.MkdirAllSync(c.fs, c.dir); err != nil {
		return err
	}
	lock, err := c.fs.Lock(c.path("lock"))
	if errors.Is(err, vfs.ErrLocked) {
		m, _ := c.loadManifest()
		return &LockedError{c.dir, m.Owner}
	}
	if err != nil {
		return fmt.Errorf("lock %q: %w", c.path("lock"), err)
	}
	c.lock = lock
	if err := c.lookAtLogs(); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err := c.loadMetadata(true); err != nil {
		return err
	}
	if err := c.claim(); err != nil {
		return err
	}
	if err := c.readLogs(); err != nil {
		return err
	}
	if c.offsets.Last() > c.commits.Last() {
		if err := c.opts.Failpoints.Hit(failpoint.RecoverMid, c.commits.Last()+1); err != nil {
			return err
		}
	}
	return c.begin(c.offsets.Last(), c.commits.Last())
}

// owner describes this process.
func (o *Options) owner() Owner {
	w := o.Process
	w.RunID = o.RunID
	if w.PID == 0 {
		w.PID = os.Getpid()
	}
	if w.Host == "" {
		w.Host, _ = os.Hostname()
	}
	if w.StartMs == 0 {
		w.StartMs = o.Now().UnixMilli()
	}
	return w
}

// look reads metadata and manifest. These are replaced as a whole, so that it does not matter whether another process owns
// the checkpoint.
func (c *Checkpoint) look() (err error) {
	if err := c.loadMetadata(false); err != nil {
		return err
	}
	_, err = c.loadManifest()
	return err
}

// lookAtLogs reads everything without changing anything.
func (c *Checkpoint) lookAtLogs() (err error) {
	l := &Checkpoint{fs: c.fs, dir: c.dir, opts: c.opts, readOnly: true}
	if err := l.loadMetadata(false); err != nil {
		return err
	}
	if l.man, err = l.loadManifest(); err != nil || l.man.Epoch == 0 || l.man.Logs == nil {
		return err // the start that made the checkpoint did not come far
	}
	return l.readLogs()
}

// begin starts new segments of both logs behind the given entries, under a new epoch if the logs have segments of this
// one, and makes them count.
func (c *Checkpoint) begin(offsets, commits int64) error {
	c.starting = true
	defer func() { c.starting = false }()
	m := c.man.clone()
	if m.Logs == nil {
		m.Logs = map[string][]string{}
	}
	m.Epoch = max(m.Epoch, c.offsets.Generation()+1, c.commits.Generation()+1)
	for _, s := range c.sides() {
		m.Epoch = max(m.Epoch, s.log.Generation()+1)
	}
	if err := c.raise(m.Epoch); err != nil {
		return err
	}
	for folder, s := range c.sides() {
		if err := s.log.Begin(m.Epoch, min(s.log.Last(), offsets)); err != nil {
			return err
		}
		s.log.DropEmpty()
		m.Logs[folder] = s.log.Segments()
	}
	for _, l := range []struct {
		folder string
		log    *recordlog.Log
		base   int64
	}{{"offsets", c.offsets, offsets}, {"commits", c.commits, commits}} {
		if err := l.log.Begin(m.Epoch, l.base); err != nil {
			return err
		}
		l.log.DropEmpty()
		m.Logs[l.folder] = l.log.Segments()
	}
	if err := c.storeManifest(m); err != nil {
		return err
	}
	for _, folder := range []string{"offsets", "commits", "."} {
		if err := c.removeUnlisted(folder); err != nil {
			return err
		}
	}
	return nil
}

// sides are the side logs in the order of their folders, so that equal runs do equal things to the disk.
func (c *Checkpoint) sides() iter.Seq2[string, *SideLog] {
	return func(yield func(string, *SideLog) bool) {
		for _, folder := range slices.Sorted(maps.Keys(c.side)) {
			if !yield(folder, c.side[folder]) {
				return
			}
		}
	}
}

// Close gives the lock back. What was written stays.
func (c *Checkpoint) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	var errs []error
	for _, l := range []*recordlog.Log{c.offsets, c.commits} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	for _, l := range c.sides() {
		errs = append(errs, l.log.Close())
	}
	if c.note != nil {
		errs = append(errs, c.note.Close())
	}
	if c.lock != nil {
		errs = append(errs, c.lock.Close())
	}
	return errors.Join(errs...)
}

// Dir returns the folder of the checkpoint.
func (c *Checkpoint) Dir() string { return c.dir }

// FS returns the file system of the checkpoint.
func (c *Checkpoint) FS() vfs.FS { return c.fs }

// QueryID returns the id of the query, a UUID that stays the same for the life of the checkpoint.
func (c *Checkpoint) QueryID() string { return c.meta.ID }

// Ancestors returns the query ids that the checkpoint was forked from, oldest first.
func (c *Checkpoint) Ancestors() []string { return c.meta.Forked }

// Epoch returns the number of this owner. It and the one before it are greater than what any former owner has used as a
// generation, and no later one will use them. It is what the state takes as the generation of its own files.
func (c *Checkpoint) Epoch() int64 { return c.man.Epoch }

// Owner returns who opened the checkpoint last.
func (c *Checkpoint) Owner() Owner { return c.man.Owner }

// RunID returns the id of this run.
func (c *Checkpoint) RunID() string { return c.opts.RunID }

// LastOffsets returns the newest entry of the offset log, nil if no batch has been planned yet.
func (c *Checkpoint) LastOffsets() (*OffsetEntry, error) {
	if c.offsets.Last() < 0 {
		return nil, nil
	}
	return c.Offsets(c.offsets.Last())
}

// LastCommit returns the newest entry of the commit log, nil if no batch has been committed yet.
func (c *Checkpoint) LastCommit() (*CommitEntry, error) {
	if c.commits.Last() < 0 {
		return nil, nil
	}
	return c.Commit(c.commits.Last())
}

// LastOffsetsID and LastCommitID return the newest batch that has been planned, and committed; -1 if there is none.
func (c *Checkpoint) LastOffsetsID() int64 { return c.offsets.Last() }

// LastCommitID returns the newest batch that has been committed, -1 if there is none.
func (c *Checkpoint) LastCommitID() int64 { return c.commits.Last() }

// Offsets returns the offset entry of a batch, or an ErrNoEntry.
func (c *Checkpoint) Offsets(batch int64) (*OffsetEntry, error) {
	var e OffsetEntry
	if err := c.read(c.offsets, batch, &e); err != nil {
		return nil, err
	}
	if e.BatchID != batch {
		return nil, &DamagedError{c.offsets.FileOf(batch), fmt.Sprintf("the entry of batch %d says %d", batch, e.BatchID)}
	}
	return &e, nil
}

// Commit returns the commit entry of a batch, or an ErrNoEntry.
func (c *Checkpoint) Commit(batch int64) (*CommitEntry, error) {
	var e CommitEntry
	if err := c.read(c.commits, batch, &e); err != nil {
		return nil, err
	}
	if e.BatchID != batch {
		return nil, &DamagedError{c.commits.FileOf(batch), fmt.Sprintf("the entry of batch %d says %d", batch, e.BatchID)}
	}
	return &e, nil
}

func (c *Checkpoint) read(l *recordlog.Log, batch int64, v any) error {
	b, err := l.Read(batch)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("checkpoint %q: batch %d: %w", c.dir, batch, ErrNoEntry)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return &DamagedError{l.FileOf(batch), fmt.Sprintf("batch %d: %v", batch, err)}
	}
	return nil
}

// Pending returns the batches that have been planned and not committed, in order. A start runs them again, before
// anything else, with exactly these offsets, times and watermarks.
func (c *Checkpoint) Pending() ([]*OffsetEntry, error) {
	var out []*OffsetEntry
	for batch := c.commits.Last() + 1; batch <= c.offsets.Last(); batch++ {
		e, err := c.Offsets(batch)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// WriteOffsets appends the plan of the next batch to the offset log. When it returns the entry is durable, and the batch
// may be run. After an error the checkpoint must be opened again before anything else is written: whether the entry is
// there is unknown.
func (c *Checkpoint) WriteOffsets(ctx context.Context, e OffsetEntry) error {
	if err := c.append(ctx, c.offsets, e.BatchID, e); err != nil {
		return fmt.Errorf("batch %d: write offsets: %w", e.BatchID, err)
	}
	return c.opts.Failpoints.Hit(failpoint.OffsetDurable, e.BatchID)
}

// WriteCommit appends the end of a batch to the commit log. When it returns the entry is durable. Its offset entry must
// be there, and the batch before it must be committed. After an error the checkpoint must be opened again.
func (c *Checkpoint) WriteCommit(ctx context.Context, e CommitEntry) error {
	if e.BatchID > c.offsets.Last() {
		return fmt.Errorf("batch %d: write commit: checkpoint %q: the last batch of the offset log is %d", e.BatchID, c.dir, c.offsets.Last())
	}
	if err := c.append(ctx, c.commits, e.BatchID, e); err != nil {
		return fmt.Errorf("batch %d: write commit: %w", e.BatchID, err)
	}
	return c.opts.Failpoints.Hit(failpoint.CommitDurable, e.BatchID)
}

func (c *Checkpoint) append(ctx context.Context, l *recordlog.Log, id int64, v any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	// With an object store the look afterwards must do: it costs a round trip, and what a former owner puts is never seen.
	if !vfs.Remote(c.fs, c.dir) {
		if err := c.CheckOwner(); err != nil {
			return err
		}
	}
	if err := l.Append(id, true, b); err != nil {
		return err
	}
	// Had another process taken over meanwhile, it would not have seen the entry.
	return c.CheckOwner()
}
