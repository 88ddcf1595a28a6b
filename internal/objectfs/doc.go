// Package objectfs is a file system over an object store with the S3 API, for checkpoints.
//
// # How files become objects
//
// A file that is only appended to becomes one object per Sync: "NAME" for its first bytes, and "NAME+OFFSET" for what was
// added from that offset on, twenty digits. Each is put under the condition that there is none (If-None-Match: *), and is
// never changed. A file whose name ends in ".tmp" stays in this process until it is renamed; the rename puts it as one object.
// So there is no copy, no rename and no half of a file in the store.
//
// Sync returns when the store has acknowledged the object. A PUT whose answer is lost is repeated under the same condition; if
// that one is refused, the object is read and compared: it is ours, or somebody else's.
//
// # What the store must promise
//
// What was acknowledged is seen by every later GET and LIST, and If-None-Match: * and If-Match are honoured on PUT. A store
// that ignores the first is found out when the lock is taken, and refused.
package objectfs
