// Package state keeps the keyed state of one streaming query, versioned by batch id.
//
// A DB lies in one folder and holds named stores, one per stateful use ("0.aggregate", "1.left"). A store maps keys to
// values and is cut into 256 fixed buckets by the top eight bits of the key's hash. A task p of P owns the buckets b
// with b % P == p, through a Part; P may change at every start, the buckets never do.
//
// # The life of a batch
//
//	db, err := state.Open(state.Options{FS: vfs.OS(), Dir: dir, Partitions: 2})
//	counts, err := db.Store(state.StoreSpec{Name: "0.count", Operator: "count per user", KeySchema: "user STRING", ValueSchema: "n BIGINT"})
//	err = db.Load(version)                  // the last committed batch, -1 for a new query
//	part := counts.Part(p)                  // one goroutine at a time; different parts run side by side
//	ref, created := part.Upsert(hash, key, 8)
//	v := part.Mut(ref)                      // 8 bytes, zero when created; changed in place
//	info, err := db.Commit(batch)           // durable when it returns; or db.Abort() to be back at the last version
//
// Changes are made in place and remembered in an undo list, so that reading costs one look-up, a commit costs by what
// changed, and Abort puts everything back.
//
// # What is on disk
//
// The truth is the change log: one checksummed, columnar, compressed record per batch, with the changes of all stores.
// Snapshots of buckets, written a few at a time as the log grows, bound what a start must replay. What exceeds the
// memory limit lies in badger, which is a cache: it is wiped at every start and never trusted. See
// docs/formats/state.md for the bytes.
//
// # Memory
//
// Tables contain no Go pointers. A bucket is an arena of words with records in it and an open-addressing table of
// (32 bits of hash, offset) kept in order of the hash, so that walking a bucket is in an order which depends on its
// content alone: a replayed batch sees the same order as the first run.
package state
