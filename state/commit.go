package state

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/wstream/wstream/internal/failpoint"
)

// A record of the change log is the format version (a byte), the hash of the content after the batch (u64), and chunks.
const recordHead = 9

// Pending is a batch whose changes have been gathered and are not durable yet.
type Pending struct {
	// Info is what the commit will have done.
	Info   CommitInfo
	db     *DB
	pieces [][]byte
	job    *snapshotJob
}

// Prepare gathers the changes since the last Commit for the version batch. When it returns the parts may be used for the
// next batch, while Write makes this one durable.
func (db *DB) Prepare(batch int64) (*Pending, error) {
	if db.broken != nil {
		return nil, fmt.Errorf("state %q: batch %d: an earlier error: %w", db.opts.Dir, batch, db.broken)
	}
	if !db.loaded {
		return nil, fmt.Errorf("state %q: commit of batch %d before load", db.opts.Dir, batch)
	}
	if db.opts.ReadOnly {
		return nil, fmt.Errorf("state %q is open for reading only", db.opts.Dir)
	}
	if batch != db.version+1 {
		return nil, fmt.Errorf("state %q: commit of batch %d after version %d", db.opts.Dir, batch, db.version)
	}
	if err := db.checkUnclaimed(); err != nil {
		return nil, err
	}
	if err := db.partError(); err != nil {
		return nil, err
	}
	if err := db.finishSnapshot(false); err != nil {
		db.broken = err
		return nil, fmt.Errorf("state %q: batch %d: snapshot: %w", db.opts.Dir, batch, err)
	}
	p := &Pending{db: db, Info: CommitInfo{Version: batch}}
	infos := make([]StoreInfo, len(db.stores)*db.opts.Partitions) // by partition, then store
	for _, e := range db.encoders {
		e.reset()
	}
	db.eachPart(func(e *encoder, part int) {
		db.gatherPart(e, part, infos[part*len(db.stores):][:len(db.stores)])
	})
	for i, s := range db.stores {
		sum := StoreInfo{Name: s.spec.Name, Operator: s.spec.Operator}
		for part := range db.opts.Partitions {
			in := &infos[part*len(db.stores)+i]
			sum.Rows += in.Rows
			sum.Updated += in.Updated
			sum.Removed += in.Removed
			sum.MemoryBytes += in.MemoryBytes
			sum.ColdKeys += in.ColdKeys
		}
		p.Info.Stores = append(p.Info.Stores, sum)
	}
	db.version = batch
	p.Info.Hash = db.Hash()
	head := make([]byte, recordHead)
	head[0] = FormatVersion
	binary.LittleEndian.PutUint64(head[1:], p.Info.Hash)
	p.pieces = append(p.pieces, head)
	for _, e := range db.encoders {
		e.flush()
		p.Info.Changed = p.Info.Changed || e.sections > 0
		if len(e.out) > 0 {
			p.pieces = append(p.pieces, e.out)
		}
	}
	for _, b := range p.pieces {
		p.Info.BytesWritten += int64(len(b))
	}
	if err := db.retireCold(p.Info.Stores); err != nil {
		db.broken = err
		return nil, fmt.Errorf("state %q: batch %d: %w", db.opts.Dir, batch, err)
	}
	if err := db.evict(); err != nil {
		db.broken = err
		return nil, fmt.Errorf("state %q: batch %d: %w", db.opts.Dir, batch, err)
	}
	if db.cold != nil {
		for i, s := range db.stores {
			p.Info.Stores[i].MemoryBytes, p.Info.Stores[i].ColdKeys = s.MemoryUsed(), s.coldKeys()
		}
	}
	if db.opts.Dir != "" {
		job, err := db.planSnapshot(p.Info.BytesWritten)
		if err != nil {
			db.broken = err
			return nil, fmt.Errorf("state %q: batch %d: snapshot: %w", db.opts.Dir, batch, err)
		}
		p.job = job
	}
	return p, nil
}

// gatherPart gathers the changes of one partition.
func (db *DB) gatherPart(e *encoder, part int, infos []StoreInfo) {
	for i, s := range db.stores {
		info := &infos[i]
		for _, n := range s.parts[part].mine {
			b := &s.buckets[n]
			if before := len(e.out) + len(e.raw); len(b.undo) > 0 || b.seq != b.seqPrev {
				info.Updated += b.gather(e, s, n)
				info.Removed += int64(b.removed)
				b.logBytes += max(int64(len(e.out)+len(e.raw)-before), 1)
			}
			b.endBatch()
			b.compact()
			info.Rows += int64(b.rows)
			info.ColdKeys += int64(b.cold)
			info.MemoryBytes += b.memory()
		}
	}
}

// Write makes the batch durable. It may run while the parts are in use for the next batch, and must return before the
// next Prepare, Abort, Load or Purge. A batch that changed nothing is written but not synced: should it be lost, LoadCommitted
// finds by the hash that nothing is missing.
func (p *Pending) Write() error {
	db := p.db
	if db.opts.Dir == "" {
		return nil
	}
	if err := db.write(p); err != nil {
		db.broken = err
		return fmt.Errorf("state %q: batch %d: %w", db.opts.Dir, p.Info.Version, err)
	}
	return db.opts.Failpoints.Hit(failpoint.StateCommitted, p.Info.Version)
}

func (db *DB) write(p *Pending) error {
	if !db.begun {
		if err := db.beginLog(p.Info.Version - 1); err != nil {
			return err
		}
	}
	if err := db.log.Append(p.Info.Version, p.Info.Changed, p.pieces...); err != nil {
		return err
	}
	if p.job == nil {
		return nil
	}
	db.job = p.job
	db.job.name(db.log.Generation())
	if db.opts.SyncSnapshots {
		if db.opts.LateSnapshots != nil && db.opts.LateSnapshots() {
			db.job.late = true
			return nil
		}
		db.job.run()
		return db.finishSnapshot(true)
	}
	go db.job.run()
	return nil
}

// Segments of many short runs are copied together from this number on, as long as that is little to copy.
const (
	mergeSegments = 32
	mergeBytes    = 16 << 20
)

// beginLog starts the segment of this owner. What was written after base by others is void from here on.
func (db *DB) beginLog(base int64) error {
	if own := db.opts.Generation; own > 0 && db.log.Generation() >= own {
		return fmt.Errorf("folder %q holds files of owner %d, and this is owner %d: another process has taken over", db.opts.Dir, db.log.Generation(), own)
	}
	merged, err := db.log.Merge(mergeSegments, mergeBytes)
	if err != nil {
		return err
	}
	if err := db.log.Delete(merged); err != nil {
		return err
	}
	if err := db.log.Begin(max(db.log.Generation()+1, db.opts.Generation), base); err != nil {
		return err
	}
	db.begun = true
	for _, s := range db.stores {
		s.persisted = true
	}
	if err := db.log.Delete(db.log.DropEmpty()); err != nil {
		return err
	}
	db.undeleted = append(db.undeleted, db.bad...)
	db.bad = nil
	return db.dropVoidSnapshots()
}

// storeTable is what a segment header and a snapshot say about the stores, in order of their ids.
type storeTable struct {
	Format int           `json:"stateFormat"`
	Stores []storedStore `json:"stores"`
}

type storedStore struct {
	Name     string `json:"name"`
	Operator string `json:"operator"`
	Key      string `json:"key"`
	Value    string `json:"value"`
	Expiring bool   `json:"expiring,omitempty"`
	Multi    bool   `json:"multi,omitempty"`
}

func (db *DB) storeTable() storeTable {
	t := storeTable{Format: FormatVersion}
	for _, s := range db.stores {
		t.Stores = append(t.Stores, storedStore{
			s.spec.Name, s.spec.Operator, s.spec.KeySchema, s.spec.ValueSchema, s.spec.Expiring, s.spec.Multi,
		})
	}
	return t
}

func (db *DB) extra() json.RawMessage {
	b, err := json.Marshal(db.storeTable())
	if err != nil { // strings and booleans always marshal
		return nil
	}
	return b
}
