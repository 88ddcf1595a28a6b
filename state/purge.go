package state

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// Purge deletes what is not needed to load version keepFrom or a later one. It keeps two snapshots at or before keepFrom, so
// that a damaged one can be repaired. When it fails it goes on the next time.
func (db *DB) Purge(keepFrom int64) error {
	if db.log == nil || db.opts.ReadOnly || !db.begun {
		return nil
	}
	if err := db.finishSnapshot(false); err != nil {
		db.broken = err
		return err
	}
	keep := 0 // the first of snaps to keep
	for i, s := range db.snaps {
		if s.header.Version <= keepFrom {
			keep = i - 1
		}
	}
	if keep > 0 || len(db.files) > 0 {
		db.dropBefore(max(keep, 0))
	}
	for len(db.undeleted) > 0 {
		name := vfs.Join(db.opts.Dir, db.undeleted[0])
		if err := db.opts.FS.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		db.undeleted = db.undeleted[1:]
		if err := db.opts.Failpoints.Hit(failpoint.PurgeMid, db.version); err != nil {
			return err
		}
	}
	return nil
}

// dropBefore takes the snapshots before the one with the index keep, and the files that nothing refers to any more, off
// their lists, to be deleted.
func (db *DB) dropBefore(keep int) {
	needed := map[string]bool{}
	kept := slices.Clone(db.snaps[keep:])
	if db.job != nil {
		kept = append(kept, db.job.info)
	}
	logFrom := db.version
	for _, s := range kept {
		needed[s.name] = true
		for _, f := range s.header.Files {
			needed[f] = true
		}
		logFrom = min(logFrom, s.oldest())
	}
	for _, at := range db.places { // what the next snapshot may refer to
		needed[at.file] = true
	}
	if keep > 0 {
		db.undeleted = append(db.undeleted, db.log.DropBelow(logFrom+1)...)
	}
	db.files = append(db.files, snapshotNames(db.snaps[:keep])...)
	db.snaps = slices.Delete(db.snaps, 0, keep)
	db.files = slices.DeleteFunc(db.files, func(name string) bool {
		if !needed[name] {
			db.undeleted = append(db.undeleted, name)
		}
		return !needed[name]
	})
}

func snapshotNames(snaps []*snapshotInfo) (names []string) {
	for _, s := range snaps {
		names = append(names, s.name)
	}
	return names
}

// Oldest returns the oldest version that Load can go back to, Version()+1 if there is none.
func (db *DB) Oldest() int64 {
	if db.log == nil {
		return db.version + 1
	}
	first := db.log.First()
	if first == 0 {
		return -1
	}
	for _, s := range db.snaps {
		if s.missing == nil && s.oldest()+1 >= first {
			return s.header.Version
		}
	}
	return db.version + 1
}
