package columnar

import (
	"encoding/binary"
	"math/bits"
)

// The hash of keys in tables and of state buckets. It is part of the state's format: the top 8
// bits of HashBytes choose the bucket, so it must never change for a released version.
const (
	hashK0 = 0x9E3779B97F4A7C15
	hashK1 = 0xD6E8FEB86659FD93
)

// MixHash is the step of the hash: two words into one, each bit of which depends on all of theirs.
func MixHash(a, b uint64) uint64 { h, l := bits.Mul64(a, b); return h ^ l }

// HashBytes hashes an encoded key. Reading: 16 bytes a round by two overlapping words at the end.
func HashBytes(s []byte) uint64 {
	n := len(s)
	h := uint64(n) * hashK0
	for len(s) > 16 {
		h = MixHash(binary.LittleEndian.Uint64(s)^hashK0, binary.LittleEndian.Uint64(s[8:])^h)
		s = s[16:]
	}
	var a, b uint64
	switch {
	case len(s) >= 8:
		a, b = binary.LittleEndian.Uint64(s), binary.LittleEndian.Uint64(s[len(s)-8:])
	case len(s) >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(s)), uint64(binary.LittleEndian.Uint32(s[len(s)-4:]))
	case len(s) > 0:
		a = uint64(s[0])<<16 | uint64(s[len(s)>>1])<<8 | uint64(s[len(s)-1])
	}
	return MixHash(MixHash(a^hashK1, b^h), hashK0)
}

// HashUint64 hashes one word.
func HashUint64(v uint64) uint64 { return MixHash(MixHash(v^hashK1, hashK0), hashK0) }

// Bucket is the state bucket, 0…255, of a key's hash.
func Bucket(hash uint64) int { return int(hash >> 56) }
