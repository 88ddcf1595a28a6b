package state

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
)

// Inspect opens the state in a folder for looking at one version of it, also while a query is running on it. Stores lists
// what it holds.
func Inspect(opts Options, version int64) (*DB, error) {
	opts.ReadOnly = true
	db, err := Open(opts)
	if err != nil {
		return nil, err
	}
	if err := db.Load(version); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Versions returns the oldest and the newest version that the state in a folder can be loaded at. Oldest is -1 if it goes
// back to the beginning, and greater than newest if there is none.
func Versions(opts Options) (oldest, newest int64, err error) {
	opts.ReadOnly = true
	db, err := Open(opts)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	if err := db.openLog(); err != nil {
		return 0, 0, err
	}
	snaps, _, err := db.findSnapshots()
	if err != nil {
		return 0, 0, err
	}
	for _, s := range snaps {
		if s.missing == nil {
			db.snaps = append(db.snaps, s)
		}
	}
	db.version = db.log.Last()
	return db.Oldest(), db.log.Last(), nil
}

// Change is a difference between two versions of an entry.
type Change struct {
	// Store is the store's name.
	Store string
	// Key is the key, Old and New are the values; one of them is nil, with a false In, if the entry is on one side only.
	Key, Old, New []byte
	// InOld and InNew say where the entry is.
	InOld, InNew bool
	// OldExpiry and NewExpiry are its expiries in µs since 1970.
	OldExpiry, NewExpiry int64
}

// Diff compares two loaded states and calls fn with every difference, by store, bucket and hash. The bytes are valid during
// the call.
func Diff(before, after *DB, fn func(Change) error) error {
	for _, s := range after.stores {
		other := before.byName[s.spec.Name]
		if other == nil {
			other = newStore(before, s.spec, 0)
		}
		for n := range Buckets {
			if err := diffBucket(other, s, uint8(n), fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// diffBucket merges the entries of a bucket of two states, which come in the same order.
func diffBucket(before, after *Store, n uint8, fn func(Change) error) error {
	list := func(s *Store) (refs []uint32, err error) {
		err = s.partOfBucket(n).eachBucket(n, func(ref Ref) error {
			refs = append(refs, ref.off())
			return nil
		})
		return refs, err
	}
	x, err := list(before)
	if err != nil {
		return err
	}
	y, err := list(after)
	if err != nil {
		return err
	}
	a, b := &before.buckets[n], &after.buckets[n]
	for len(x) > 0 || len(y) > 0 {
		c := Change{Store: after.spec.Name}
		order := 0
		switch {
		case len(x) == 0:
			order = 1
		case len(y) == 0:
			order = -1
		default:
			order = cmp.Or(
				cmp.Compare(a.words[x[0]], b.words[y[0]]), bytes.Compare(a.key(x[0]), b.key(y[0])),
				cmp.Compare(a.seqOf(x[0]), b.seqOf(y[0])),
			)
		}
		if order <= 0 {
			c.Key, c.Old, c.OldExpiry, c.InOld = a.key(x[0]), a.value(x[0]), a.expiry(x[0]), true
			x = x[1:]
		}
		if order >= 0 {
			c.Key, c.New, c.NewExpiry, c.InNew = b.key(y[0]), b.value(y[0]), b.expiry(y[0]), true
			y = y[1:]
		}
		if order == 0 && c.OldExpiry == c.NewExpiry && bytes.Equal(c.Old, c.New) {
			continue
		}
		if err := fn(c); err != nil {
			return err
		}
	}
	return nil
}

// partOfBucket returns the part that owns a bucket.
func (s *Store) partOfBucket(n uint8) *Part { return s.parts[int(n)%len(s.parts)] }

// Verify reads every record of the change log and every snapshot in a folder, and returns all that is wrong, each error
// naming its file. Loading the versions of interest is up to the caller.
func Verify(opts Options) error {
	opts.ReadOnly = true
	db, err := Open(opts)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.openLog(); err != nil {
		return err
	}
	var errs []error
	err = db.log.Scan(-1, db.log.Last(), func(_ int64, payload []byte) error {
		if len(payload) < recordHead {
			return errors.New("the record is cut off")
		}
		chunks, err := splitChunks(payload[recordHead:])
		for _, c := range chunks {
			if err == nil {
				_, err = unpackChunk(c)
			}
		}
		return err
	})
	errs = append(errs, err)
	infos, err := db.opts.FS.List(opts.Dir)
	if err != nil {
		return err
	}
	for _, info := range infos {
		if !isSnapshot(info.Name()) {
			continue
		}
		err := db.eachBlocks(info.Name(), func([][]byte) error { return nil })
		if errors.Is(err, fs.ErrNotExist) { // purged meanwhile
			continue
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
