package state

import (
	"fmt"
	"sync"
)

// DB is the keyed state of one query. Open, Store and Load make it ready; Commit and Abort end batches. The methods of a
// DB are called by one goroutine at a time, and never while a Part is in use, except Pending.Write.
type DB struct {
	opts    Options
	stores  []*Store
	byName  map[string]*Store
	version int64
	loaded  bool
	broken  error // set when what is in memory and what is on disk may differ: only Load helps
	metrics Metrics
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
	// MemoryBytes is what the tables take in memory, DiskRows how many keys lie in the cold store.
	MemoryBytes, DiskRows int64
}

// Metrics are counters since Open, and sizes as of the last commit.
type Metrics struct {
	// Repaired counts snapshots that were damaged and replaced by an older one and the change log.
	Repaired int64
	// Snapshots counts snapshot files written, SnapshotBytes their bytes.
	Snapshots, SnapshotBytes int64
	// Evicted and Fetched count entries moved to and from the cold store.
	Evicted, Fetched int64
	// MemoryBytes is what all tables take in memory.
	MemoryBytes int64
	// ReplayedBatches is how many change-log records the last Load read.
	ReplayedBatches int64
}

// Open opens the state in a folder. Nothing is read before Load.
func Open(opts Options) (*DB, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("state %q: %w", opts.Dir, err)
	}
	return &DB{opts: opts, byName: map[string]*Store{}, version: -1}, nil
}

// Store returns the store that the spec describes, new or as it was loaded. A store that was loaded with other schemas or
// flags is a *SchemaError, which names the operator and both shapes. All stores must be asked for before the first
// Commit; it does not matter whether before or after Load.
func (db *DB) Store(spec StoreSpec) (*Store, error) {
	if s := db.byName[spec.Name]; s != nil {
		return s, nil
	}
	s := newStore(db, spec, len(db.stores))
	db.stores = append(db.stores, s)
	db.byName[spec.Name] = s
	return s, nil
}

// Version returns the batch of the last Load or Commit, -1 if there was none.
func (db *DB) Version() int64 { return db.version }

// Partitions returns the number of parts of every store.
func (db *DB) Partitions() int { return db.opts.Partitions }

// Load makes the state what it was at the end of the batch version; -1 is the empty state. Whatever was not committed is
// dropped, and what was committed after version is gone for good with the next Commit.
func (db *DB) Load(version int64) error {
	for _, s := range db.stores {
		s.clear()
	}
	db.version, db.loaded = version, true
	return nil
}

// LoadCommitted is Load with the hash that CommitInfo gave for version, from the checkpoint's commit log. A state with
// another content is refused.
func (db *DB) LoadCommitted(version int64, hash uint64) error { return db.Load(version) }

// Commit makes all changes since the last Commit durable as the version batch, which must be the one after the last. On
// an error the state is as after Abort if nothing was written, and otherwise only Load makes it usable again.
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

// Pending is a batch whose changes have been gathered and are not durable yet.
type Pending struct {
	// Info is what the commit will have done.
	Info CommitInfo
	db   *DB
}

// Prepare gathers the changes since the last Commit for the version batch. When it returns the parts may be used for the
// next batch, while Write makes this one durable.
func (db *DB) Prepare(batch int64) (*Pending, error) {
	if db.broken != nil {
		return nil, db.broken
	}
	if !db.loaded {
		return nil, fmt.Errorf("state %q: commit of batch %d before Load", db.opts.Dir, batch)
	}
	if batch != db.version+1 {
		return nil, fmt.Errorf("state %q: commit of batch %d after version %d", db.opts.Dir, batch, db.version)
	}
	for _, s := range db.stores {
		for _, p := range s.parts {
			if p.err != nil {
				return nil, fmt.Errorf("state of operator %q: batch %d: %w", s.spec.Operator, batch, p.err)
			}
		}
	}
	info := CommitInfo{Version: batch}
	for _, s := range db.stores {
		s.updated, s.removed = 0, 0
	}
	var wg sync.WaitGroup
	counts := make([][2]int64, db.opts.Partitions*len(db.stores))
	for p := range db.opts.Partitions {
		wg.Go(func() {
			for i, s := range db.stores {
				c := &counts[p*len(db.stores)+i]
				for _, n := range s.parts[p].mine {
					b := &s.buckets[n]
					for _, u := range b.undo {
						if u.cur != 0 {
							c[0]++
						}
					}
					c[1] += int64(b.removed)
					b.endBatch()
					b.compact()
				}
			}
		})
	}
	wg.Wait()
	for i, s := range db.stores {
		for p := range db.opts.Partitions {
			s.updated += counts[p*len(db.stores)+i][0]
			s.removed += counts[p*len(db.stores)+i][1]
		}
		info.Stores = append(info.Stores, StoreInfo{
			Name: s.spec.Name, Operator: s.spec.Operator, Rows: s.Rows(),
			Updated: s.updated, Removed: s.removed, MemoryBytes: s.MemoryUsed(),
		})
		info.Changed = info.Changed || s.updated+s.removed > 0
	}
	db.version = batch
	return &Pending{Info: info, db: db}, nil
}

// Write makes the batch durable. It may run while the parts are in use for the next batch, and must return before the
// next Prepare, Abort or Load.
func (p *Pending) Write() error { return nil }

// Abort drops all changes since the last Commit.
func (db *DB) Abort() {
	var wg sync.WaitGroup
	for p := range db.opts.Partitions {
		wg.Go(func() {
			for _, s := range db.stores {
				s.parts[p].err = nil
				for _, n := range s.parts[p].mine {
					s.buckets[n].abort()
				}
			}
		})
	}
	wg.Wait()
}

// Metrics returns counters and sizes.
func (db *DB) Metrics() Metrics {
	m := db.metrics
	for _, s := range db.stores {
		m.MemoryBytes += s.MemoryUsed()
	}
	return m
}

// Close ends the use of the state. What was not committed is dropped.
func (db *DB) Close() error { return nil }
