package state

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/recordlog"
	"github.com/wstream/wstream/internal/vfs"
)

// Load makes the state what it was at the end of the batch version; -1 is the empty state. Whatever was not committed is
// dropped, and what was committed after version is void with the next Commit. A state that does not hold version is an
// error, and so is one with other stores than were asked for, see Store.
func (db *DB) Load(version int64) error { return db.load(version, nil) }

// LoadCommitted is Load with the hash that CommitInfo gave for version, from the checkpoint's commit log. A state with
// another content is refused.
func (db *DB) LoadCommitted(version int64, hash uint64) error { return db.load(version, &hash) }

func (db *DB) load(version int64, hash *uint64) error {
	if err := db.Close(); err != nil && db.broken == nil {
		return err
	}
	db.evictFloor = 0
	db.broken, db.begun, db.checked = nil, false, false
	db.files, db.bad, db.undeleted, db.places = nil, nil, nil, [Buckets]bucketPlace{}
	db.snaps, db.debt, db.metrics.ReplayedBatches = nil, 0, 0
	if err := db.dropCold(); err != nil {
		return fmt.Errorf("load state: %w", err)
	}
	for _, s := range db.stores {
		s.clear()
		s.persisted = false
	}
	if db.opts.Dir != "" {
		if err := db.openLog(); err != nil {
			return fmt.Errorf("load state: %w", err)
		}
	}
	if version >= 0 {
		if err := db.restore(version, hash); err != nil {
			return fmt.Errorf("load state of batch %d: %w", version, err)
		}
	}
	db.version, db.loaded = version, true
	return nil
}

func (db *DB) openLog() (err error) {
	o := &db.opts
	if !o.ReadOnly {
		if err := vfs.MkdirAllSync(o.FS, o.Dir); err != nil {
			return err
		}
	}
	db.log, err = recordlog.Open(recordlog.Options{
		FS: o.FS, Dir: o.Dir, Kind: "state", Unlisted: true, Query: o.QueryID, Ancestors: o.Ancestors, Extra: db.extra,
		SegmentBytes: o.SegmentBytes, Failpoints: o.Failpoints, PartialPoint: failpoint.StateLogPartial,
	})
	return err
}

// restore reads a snapshot and the change log after it. When a snapshot is damaged the one before it takes its place.
func (db *DB) restore(version int64, hash *uint64) error {
	if db.log == nil {
		return fmt.Errorf("there is no folder to load it from")
	}
	if len(db.log.Segments()) == 0 {
		return &DamagedError{db.opts.Dir, "it holds no state"}
	}
	if err := db.loadStores(); err != nil {
		return err
	}
	snaps, problem, err := db.findSnapshots()
	if err != nil {
		return err
	}
	// From the newest snapshot that is not too new down to none at all, which is the log from its very beginning.
	for i := len(snaps); i >= 0; i-- {
		var from *snapshotInfo
		if i > 0 {
			if from = snaps[i-1]; from.header.Version > version {
				continue
			}
		}
		err := error(nil)
		if from != nil && from.missing != nil {
			err = from.missing
		} else {
			err = db.restoreFrom(from, version, hash)
		}
		if err == nil {
			for _, s := range snaps[:i] {
				if s.missing != nil {
					db.files = append(db.files, s.name)
				} else {
					db.snaps = append(db.snaps, s)
				}
			}
			if problem != nil {
				db.metrics.Repaired++
			}
			return nil
		}
		if from == nil || !errors.Is(err, errBadSnapshot) && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, problem)
		}
		problem = cmp.Or(problem, err)
		db.bad = append(db.bad, from.name)
	}
	return problem
}

// loadStores makes the stores what the change log says, comparing them with those that were asked for already.
func (db *DB) loadStores() error {
	headers := db.log.Headers()
	if len(headers) == 0 {
		return &DamagedError{db.opts.Dir, "no segment of the change log has a header"}
	}
	var t storeTable
	if err := json.Unmarshal(headers[len(headers)-1].Extra, &t); err != nil {
		return &DamagedError{db.opts.Dir, fmt.Sprintf("store table: %v", err)}
	}
	if t.Format > FormatVersion {
		return &VersionError{db.opts.Dir, t.Format, FormatVersion}
	}
	wanted := db.stores
	asked := slices.ContainsFunc(wanted, func(s *Store) bool { return s.claimed })
	db.stores, db.byName = nil, map[string]*Store{}
	for i, st := range t.Stores {
		spec := StoreSpec{
			Name: st.Name, Operator: st.Operator, KeySchema: st.Key, ValueSchema: st.Value, Expiring: st.Expiring, Multi: st.Multi,
		}
		j := slices.IndexFunc(wanted, func(s *Store) bool { return s.spec.Name == spec.Name })
		switch {
		case j >= 0:
			s := wanted[j]
			if err := compareSpecs(spec, s.spec); err != nil {
				return err
			}
			s.id = uint16(i)
			db.stores = append(db.stores, s)
			db.byName[spec.Name] = s
		case asked:
			return &SchemaError{Store: spec.Name, Operator: spec.Operator, What: "unknown"}
		default:
			db.addStore(spec, false)
		}
		db.stores[i].persisted = true
	}
	for _, s := range wanted {
		if db.byName[s.spec.Name] == nil {
			return db.missing(s.spec)
		}
	}
	return nil
}

// findSnapshots returns the snapshots that count, oldest first, and what is wrong with one that does not read well.
func (db *DB) findSnapshots() (snaps []*snapshotInfo, problem error, err error) {
	infos, err := db.opts.FS.List(db.opts.Dir)
	if err != nil {
		return nil, nil, err
	}
	for _, info := range infos {
		if !isSnapshot(info.Name()) {
			continue
		}
		f, h, _, err := db.openSnapshot(info.Name())
		if errors.Is(err, errBadSnapshot) {
			problem = err
			db.bad = append(db.bad, info.Name())
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		f.Close()
		if db.log.Visible(h.Generation, h.Version) {
			snaps = append(snaps, &snapshotInfo{name: info.Name(), header: h})
		}
	}
	for _, s := range snaps {
		path := vfs.Join(db.opts.Dir, s.name)
		for _, f := range s.header.Files {
			if !slices.ContainsFunc(infos, func(i fs.FileInfo) bool { return i.Name() == f }) {
				s.missing = badSnapshot(path, "file %q, which it refers to, is not there", vfs.Join(db.opts.Dir, f))
			}
		}
		if first := db.log.First(); s.oldest()+1 < first {
			s.missing = badSnapshot(path, "the change log after batch %d is not there, it begins with batch %d", s.oldest(), first)
		}
	}
	slices.SortFunc(snaps, func(a, b *snapshotInfo) int {
		return cmp.Or(cmp.Compare(a.header.Version, b.header.Version), cmp.Compare(a.header.Generation, b.header.Generation))
	})
	return snaps, problem, nil
}

// restoreFrom makes the state that of version from a snapshot, or from nothing, and the change log.
func (db *DB) restoreFrom(from *snapshotInfo, version int64, hash *uint64) error {
	if err := db.dropCold(); err != nil {
		return err
	}
	for _, s := range db.stores {
		s.clear()
	}
	db.places = [Buckets]bucketPlace{}
	db.metrics.ReplayedBatches = 0
	var through [Buckets]int64
	for n := range through {
		through[n] = -1
	}
	start := int64(-1)
	if from != nil {
		if err := db.readBuckets(from, &through); err != nil {
			return err
		}
		start = from.oldest()
	}
	if err := db.opts.Failpoints.Hit(failpoint.RecoverMid, version+1); err != nil {
		return err
	}
	if first := db.log.First(); first > start+1 && start < version && !db.nothingBetween(start, first) {
		return &DamagedError{db.log.FileOf(start + 1), fmt.Sprintf("the change log begins with batch %d, batch %d is needed", first, start+1)}
	}
	last, bytes := start, int64(0)
	var want *uint64
	err := db.log.Scan(start+1, version, func(id int64, payload []byte) error {
		bytes += int64(len(payload)) + perBatch
		sum, err := db.replay(payload, id, &through)
		last, want = id, &sum
		return err
	})
	if err != nil {
		return err
	}
	if last < version && hash == nil && !db.isBase(version) {
		return &DamagedError{db.log.FileOf(last + 1), fmt.Sprintf("the change log ends with batch %d", last)}
	}
	// A snapshot is due by what a start has to read, not only by what one run writes.
	db.debt = (bytes + int64(db.log.SegmentsAfter(start))*perSegment) / 2
	have := db.Hash()
	if last == version && want != nil && have != *want {
		return db.mismatch(from, fmt.Sprintf("the content after batch %d has hash %016x, the change log says %016x", version, have, *want))
	}
	if hash != nil && have != *hash {
		if last < version {
			return &DamagedError{db.log.FileOf(last + 1), fmt.Sprintf(
				"the change log ends with batch %d, and the commit of batch %d is about another content", last, version)}
		}
		return db.mismatch(from, fmt.Sprintf("the content after batch %d has hash %016x, the commit says %016x", version, have, *hash))
	}
	return nil
}

// nothingBetween says whether the owner that has begun with the batch first knew that the records after start were missing:
// batches that changed nothing are not synced, and a crash has taken them.
func (db *DB) nothingBetween(start, first int64) bool {
	for _, h := range db.log.Headers() {
		if h.Base >= first-1 && h.Tail <= start {
			return true
		}
	}
	return false
}

// isBase says whether an owner has begun behind version, so that what is missing before it had nothing in it.
func (db *DB) isBase(version int64) bool {
	for _, h := range db.log.Headers() {
		if h.Base >= version && h.Tail < version {
			return true
		}
	}
	return false
}

func (db *DB) mismatch(from *snapshotInfo, reason string) error {
	if from == nil {
		return &DamagedError{db.opts.Dir, reason}
	}
	return badSnapshot(vfs.Join(db.opts.Dir, from.name), "%s", reason)
}

// readBuckets reads the content of all buckets from a snapshot and the files that it refers to.
func (db *DB) readBuckets(from *snapshotInfo, through *[Buckets]int64) error {
	for i, name := range append([]string{from.name}, from.header.Files...) {
		var wanted [Buckets]bool
		used := false
		for n, place := range from.header.Buckets {
			if place[0] == int64(i) {
				wanted[n], used = true, true
				through[n] = place[1]
			}
		}
		if !used {
			continue
		}
		err := db.eachBlocks(name, func(chunks [][]byte) error {
			if err := db.applyChunks(chunks, func(n uint8) bool { return wanted[n] }); err != nil {
				return badSnapshot(vfs.Join(db.opts.Dir, name), "%v", err)
			}
			return db.evict()
		})
		if errors.Is(err, fs.ErrNotExist) {
			return badSnapshot(vfs.Join(db.opts.Dir, name), "it is not there")
		}
		if err != nil {
			return err
		}
	}
	for n, place := range from.header.Buckets {
		if place[0] < 0 {
			continue
		}
		file := from.name
		if place[0] > 0 {
			file = from.header.Files[place[0]-1]
		}
		db.places[n] = bucketPlace{file, place[1]}
	}
	return nil
}

// replay applies a record of the change log to the buckets that do not have it yet, and returns the hash in it.
func (db *DB) replay(payload []byte, id int64, through *[Buckets]int64) (uint64, error) {
	if len(payload) < recordHead {
		return 0, fmt.Errorf("the record is cut off")
	}
	if payload[0] > FormatVersion {
		return 0, &VersionError{db.log.FileOf(id), int(payload[0]), FormatVersion}
	}
	sum := binary.LittleEndian.Uint64(payload[1:])
	chunks, err := splitChunks(payload[recordHead:])
	if err != nil {
		return 0, err
	}
	db.metrics.ReplayedBatches++
	if err := db.applyChunks(chunks, func(n uint8) bool { return through[n] < id }); err != nil {
		return 0, err
	}
	return sum, db.evict()
}

// applyChunks applies the sections of all chunks to the wanted buckets, several buckets at a time.
func (db *DB) applyChunks(chunks [][]byte, wanted func(bucket uint8) bool) error {
	workers := runtime.GOMAXPROCS(0)
	size := 0
	for _, c := range chunks {
		size += len(c)
	}
	if size < 64<<10 {
		workers = 1
	}
	raw := make([][]byte, len(chunks))
	errs := make([]error, workers)
	work := func(fn func(w int) error) error {
		var wg sync.WaitGroup
		for w := 1; w < workers; w++ {
			wg.Go(func() { errs[w] = fn(w) })
		}
		errs[0] = fn(0)
		wg.Wait()
		return errors.Join(errs...)
	}
	err := work(func(w int) (err error) {
		for i := w; i < len(chunks) && err == nil; i += workers {
			raw[i], err = unpackChunk(chunks[i])
		}
		return err
	})
	if err != nil {
		return err
	}
	return work(func(w int) error {
		for _, b := range raw {
			for len(b) > 0 {
				s, rest, err := nextSection(b)
				if err != nil {
					return err
				}
				b = rest
				if int(s.bucket)%workers != w || !wanted(s.bucket) {
					continue
				}
				if s.store >= uint64(len(db.stores)) {
					return fmt.Errorf("a section names store %d of %d", s.store, len(db.stores))
				}
				if err := db.stores[s.store].applySection(&s); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (s *Store) applySection(sec *section) error {
	b := &s.buckets[sec.bucket]
	if err := b.apply(sec, s.seed, sec.bucket, func(tags []uint32) error { return s.warmTags(sec.bucket, tags) }); err != nil {
		return fmt.Errorf("store %q: %w", s.spec.Name, err)
	}
	b.logBytes += int64(len(sec.rest)) + 1 // a section may have no columns
	if sec.flags&flagReset != 0 {
		b.logBytes = 0
	}
	b.endBatch()
	b.compact()
	return nil
}
