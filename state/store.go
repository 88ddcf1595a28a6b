package state

import "github.com/wstream/wstream/columnar"

// StoreSpec describes a store. Everything but Operator is checked at a restart against what the state was written with.
type StoreSpec struct {
	// Name is unique in the query and stable over restarts, e.g. "0.aggregate" or "1.left".
	Name string
	// Operator is how errors call the operator that owns the store, e.g. "sessions per user".
	Operator string
	// KeySchema and ValueSchema are the shapes of keys and values as DDL, e.g. "user STRING, window STRUCT<start:
	// TIMESTAMP, end: TIMESTAMP>". Columns may be renamed between starts; types and their order may not change.
	KeySchema, ValueSchema string
	// Expiring stores give every entry an expiry; the others ignore it and save eight bytes an entry.
	Expiring bool
	// Multi stores keep a list of values under a key, see Part.Append.
	Multi bool
}

// Store is one named table of keyed state.
type Store struct {
	db      *DB
	spec    StoreSpec
	seed    uint64 // hash of the name, for the sum of the content
	id      uint16 // position in the store table of the change log
	lay     layout
	buckets [Buckets]bucket
	parts   []*Part
	// claimed: the query has asked for it. persisted: the change log knows it.
	claimed, persisted bool
}

func newStore(db *DB, spec StoreSpec, id int) *Store {
	s := &Store{db: db, spec: spec, id: uint16(id), seed: columnar.HashBytes([]byte(spec.Name)), lay: newLayout(spec.Expiring, spec.Multi)}
	for p := range db.opts.Partitions {
		part := &Part{buckets: &s.buckets, store: s, db: db, index: p}
		for b := p; b < Buckets; b += db.opts.Partitions {
			part.mine = append(part.mine, uint8(b))
		}
		s.parts = append(s.parts, part)
	}
	s.clear()
	return s
}

// clear empties the store.
func (s *Store) clear() {
	for i := range s.buckets {
		s.buckets[i] = bucket{lay: &s.lay, expired: nothingDue}
	}
	for _, p := range s.parts {
		p.err = nil
	}
}

// Spec returns the description that the store was made with.
func (s *Store) Spec() StoreSpec { return s.spec }

// Part returns the part of task p, which owns the buckets b with b % Partitions == p. One goroutine at a time may use a
// part; different parts may be used at the same time.
func (s *Store) Part(p int) *Part { return s.parts[p] }

// Rows returns the number of entries in all parts. It must not be called while a part is in use.
func (s *Store) Rows() int64 {
	n := int64(0)
	for i := range s.buckets {
		n += int64(s.buckets[i].rows)
	}
	return n
}

// MemoryUsed returns the bytes that the store takes in memory.
func (s *Store) MemoryUsed() int64 {
	n := int64(0)
	for i := range s.buckets {
		n += s.buckets[i].memory()
	}
	return n
}

// coldKeys returns the number of keys in the cold store.
func (s *Store) coldKeys() (n int64) {
	for i := range s.buckets {
		n += int64(s.buckets[i].cold)
	}
	return n
}
