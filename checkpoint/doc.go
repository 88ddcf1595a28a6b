// Package checkpoint keeps what must survive a crash of a streaming query beside its state: the query's id, which batch has
// been planned with which offsets, and which batch has been committed.
//
// # What is in the folder
//
//	metadata       query id and format version, written once
//	manifest       the owner, its fencing epoch, and the list of log segments that count
//	lock           locked while a process owns the checkpoint; its content means nothing
//	offsets/       the offset log: one entry per batch, durable before anything of the batch is read
//	commits/       the commit log: one entry per batch, durable after its output and its state
//	logs/NAME/     logs of sources and sinks
//	state/         the keyed state, see package state
//
// The bytes are described in docs/formats/checkpoint.md.
//
// # What a start does
//
// Open takes the lock, raises the epoch, and reads both logs. Pending returns the batches that have an offset entry and no
// commit entry: they run again with the same ids, offsets, times and watermarks, on the state of the last commit. There is
// nothing else to decide, whatever the moment of the crash.
//
// # Two owners
//
// The lock keeps two processes apart. Should it fail, because the lock file was deleted or the file system does not lock,
// the epoch does: before every durable entry the owner compares the manifest with its own epoch, and each owner appends to
// segments of its own, so that what a former owner still writes is never seen. A process that has lost its checkpoint gets a
// *FencedError that names the other one.
package checkpoint
