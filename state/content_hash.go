package state

import (
	"math/bits"

	"github.com/wstream/wstream/columnar"
)

// The hash of the content of the state is the sum, modulo 2^64, of the hashes of its entries. So it does not depend on any
// order, and a commit adjusts it by what changed. It is part of the format: see docs/formats/state.md.
const (
	sumK0 = 0xA0761D6478BD642F
	sumK1 = 0xE7037ED1A0B428DB
	sumK2 = 0x8EBC6AF09C88C6E3
)

func sumMix(a, b uint64) uint64 { h, l := bits.Mul64(a, b); return h ^ l }

// entrySum is the hash of one entry. seed is the hash of the store's name, hash that of the key.
func entrySum(seed, hash, seq uint64, expiry int64, value []byte) uint64 {
	x := sumMix(hash^sumK0, columnar.HashBytes(value)^seed)
	return sumMix(x^uint64(expiry), sumK2^seq) ^ sumMix(x, sumK1)
}
