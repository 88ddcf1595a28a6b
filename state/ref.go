package state

// Buckets is the fixed number of buckets of every store. It is part of the format and never changes.
const Buckets = 256

// NoExpiry is the expiry of an entry that never expires.
const NoExpiry = int64(1<<63 - 1)

// Ref names an entry of a Part. The zero Ref is no entry. A Ref stays valid until the entry is removed, until SetValue
// or Put returns another one for it, or until the next Commit, Abort or Load, whichever comes first.
type Ref uint64

func makeRef(bucket uint8, off uint32) Ref { return Ref(bucket)<<32 | Ref(off) }

// bucket returns the number of the bucket that the entry lies in.
func (r Ref) bucket() uint8 { return uint8(r >> 32) }

// off returns the offset of the entry's record in the arena of its bucket, in words.
func (r Ref) off() uint32 { return uint32(r) }

// BucketOf returns the bucket that a key with the given hash belongs to.
func BucketOf(hash uint64) uint8 { return uint8(hash >> 56) }
