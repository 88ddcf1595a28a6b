package state

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/wstream/wstream/internal/recordlog"
)

// FormatVersion is the version of the format of the state: of the records of the change log, of snapshots, and of the hash
// of the content.
//
//	1: first
const FormatVersion = 1

// DB is the keyed state of one query. Open, Store and Load make it ready; Commit and Abort end batches. The methods of a
// DB are called by one goroutine at a time, and never while a Part is in use, except Pending.Write.
type DB struct {
	opts     Options
	stores   []*Store
	byName   map[string]*Store
	version  int64
	loaded   bool
	checked  bool  // every store that was loaded has been asked for
	broken   error // set when what is in memory and what is on disk may differ: only Load helps
	log      *recordlog.Log
	begun    bool // the log has a segment of this owner
	encoders []*encoder
	snaps    []*snapshotInfo // those on disk that count, oldest first
	files    []string        // snapshots before the first of snaps that others may refer to
	bad      []string        // snapshots that were damaged and repaired: deleted with the next commit
	places   [Buckets]bucketPlace
	// undeleted are files that count no more and have not been deleted yet.
	undeleted []string
	job       *snapshotJob // the snapshot being written, or written and not yet looked at
	cursor    int          // the bucket at which the next snapshot goes on
	debt      int64        // bytes of buckets that the next snapshot should write
	metrics   Metrics
	cold      *coldStore // nil until something is evicted
	// evictCursor is the bucket at which the next eviction goes on.
	evictCursor int
	// evictedTo is the memory of the tables after the last eviction, or when the last one was not needed.
	evictedTo int64
	// evictFloor is up to which memory the last eviction, which could not free enough, need not be repeated.
	evictFloor int64
}

// CommitInfo says what a commit did.
type CommitInfo struct {
	// Version is the batch id.
	Version int64
	// Hash is the hash of the whole content of the state, whatever its layout and history: equal content, equal hash.
	Hash uint64
	// Stores has one entry per store, in order of their first Store call.
	Stores []StoreInfo
	// BytesWritten is what the change log grew by.
	BytesWritten int64
	// Changed says whether any entry changed.
	Changed bool
}

// StoreInfo is the part of CommitInfo about one store.
type StoreInfo struct {
	Name     string
	Operator string
	// Rows is the number of entries after the commit.
	Rows int64
	// Updated and Removed count the entries that were put or changed, and removed, in the batch.
	Updated, Removed int64
	// MemoryBytes is what the tables take in memory, ColdKeys how many keys lie in the cold store.
	MemoryBytes, ColdKeys int64
}

// Metrics are counters since Open, and sizes as of the last commit.
type Metrics struct {
	// Repaired counts snapshots that were damaged and replaced by an older one and the change log.
	Repaired int64
	// Snapshots counts snapshot files written, SnapshotBytes their bytes.
	Snapshots, SnapshotBytes int64
	// Evicted and Fetched count keys moved to and from the cold store.
	Evicted, Fetched int64
	// MemoryBytes is what all tables take in memory.
	MemoryBytes int64
	// ReplayedBatches is how many change-log records the last Load applied.
	ReplayedBatches int64
}

// Open opens the state in a folder. Nothing is read before Load.
func Open(opts Options) (*DB, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("state %q: %w", opts.Dir, err)
	}
	db := &DB{opts: opts, byName: map[string]*Store{}, version: -1}
	for range min(opts.Partitions, runtime.GOMAXPROCS(0)) {
		db.encoders = append(db.encoders, &encoder{})
	}
	return db, nil
}

// Store returns the store that the spec describes, new or as it was loaded. A store that was loaded with other schemas or
// flags is a *SchemaError, which names the operator and both shapes, and so is one that Load has not found in a state that
// is not empty. All stores must be asked for before the first Commit. They may be asked for before Load, which then
// compares all of them, and refuses what the query no longer has.
func (db *DB) Store(spec StoreSpec) (*Store, error) {
	if s := db.byName[spec.Name]; s != nil {
		if s.claimed {
			return nil, fmt.Errorf("state %q: store %q is asked for twice", db.opts.Dir, spec.Name)
		}
		if err := compareSpecs(s.spec, spec); err != nil {
			return nil, err
		}
		s.spec, s.claimed = spec, true
		return s, nil
	}
	if db.loaded && db.version >= 0 {
		return nil, db.missing(spec)
	}
	return db.addStore(spec, true), nil
}

func (db *DB) addStore(spec StoreSpec, claimed bool) *Store {
	s := newStore(db, spec, len(db.stores))
	s.claimed = claimed
	db.stores = append(db.stores, s)
	db.byName[spec.Name] = s
	return s
}

func (db *DB) missing(spec StoreSpec) error {
	var names []string
	for _, s := range db.stores {
		if s.persisted {
			names = append(names, fmt.Sprintf("%q", s.spec.Name))
		}
	}
	held := "none"
	if len(names) > 0 {
		held = strings.Join(names, ", ")
	}
	return &SchemaError{Store: spec.Name, Operator: spec.Operator, What: "missing", Stored: held}
}

// Stores returns all stores, those that were loaded and not asked for included.
func (db *DB) Stores() []*Store { return slices.Clone(db.stores) }

// Version returns the batch of the last Load or Commit, -1 if there was none.
func (db *DB) Version() int64 { return db.version }

// Hash returns the hash of the content as of the last Load or Commit, see CommitInfo.
func (db *DB) Hash() (sum uint64) {
	for _, s := range db.stores {
		for i := range s.buckets {
			sum += s.buckets[i].sum
		}
	}
	return sum
}

// Partitions returns the number of parts of every store.
func (db *DB) Partitions() int { return db.opts.Partitions }

// Commit makes all changes since the last Commit durable as the version batch, which must be the one after the last. After
// an error only Load makes the state usable again, unless the error came before anything was written: then Abort does.
func (db *DB) Commit(batch int64) (CommitInfo, error) {
	p, err := db.Prepare(batch)
	if err != nil {
		return CommitInfo{}, err
	}
	if err := p.Write(); err != nil {
		return CommitInfo{}, err
	}
	return p.Info, nil
}

// checkUnclaimed refuses a state that holds stores which the query has not asked for.
func (db *DB) checkUnclaimed() error {
	if db.checked {
		return nil
	}
	for _, s := range db.stores {
		if !s.claimed {
			return &SchemaError{Store: s.spec.Name, Operator: s.spec.Operator, What: "unknown"}
		}
	}
	db.checked = true
	return nil
}

// partError returns the first error that a part met in the cold store.
func (db *DB) partError() error {
	for _, s := range db.stores {
		for _, p := range s.parts {
			if p.err != nil {
				return fmt.Errorf("state of operator %q: %w", s.spec.Operator, p.err)
			}
		}
	}
	return nil
}

// eachPart calls fn for every partition, on as many goroutines as there are encoders, each with its own.
func (db *DB) eachPart(fn func(e *encoder, p int)) {
	if len(db.encoders) == 1 {
		for p := range db.opts.Partitions {
			fn(db.encoders[0], p)
		}
		return
	}
	var wg sync.WaitGroup
	for w, e := range db.encoders {
		wg.Go(func() {
			for p := w; p < db.opts.Partitions; p += len(db.encoders) {
				fn(e, p)
			}
		})
	}
	wg.Wait()
}

// Abort drops all changes since the last Commit.
func (db *DB) Abort() {
	db.eachPart(func(_ *encoder, p int) {
		for _, s := range db.stores {
			s.parts[p].err = nil
			for _, n := range s.parts[p].mine {
				s.buckets[n].abort()
			}
		}
	})
}

// Metrics returns counters and sizes.
func (db *DB) Metrics() Metrics {
	m := db.metrics
	m.MemoryBytes = 0
	if db.cold != nil {
		m.Evicted += db.cold.evicted
		m.Fetched += db.cold.fetched.Load()
	}
	for _, s := range db.stores {
		m.MemoryBytes += s.MemoryUsed()
	}
	return m
}

// dropCold deletes the cold store. What it holds is gone from memory as well: a Load follows, or the end.
func (db *DB) dropCold() error {
	if db.cold == nil {
		return nil
	}
	db.metrics.Evicted += db.cold.evicted
	db.metrics.Fetched += db.cold.fetched.Load()
	err := db.cold.close()
	db.cold = nil
	return err
}

// Close ends the use of the state and waits for a snapshot that is being written. What was not committed is dropped.
func (db *DB) Close() error {
	errs := []error{db.finishSnapshot(true)}
	if db.log != nil {
		errs = append(errs, db.log.Close())
		db.log = nil
	}
	errs = append(errs, db.dropCold())
	db.loaded = false
	return errors.Join(errs...)
}
