package state

// layout says where the parts of a record lie. A record is a run of 64-bit words in the arena of its bucket:
//
//	word 0           hash of the key
//	word 1           length of the key (low half), length of the value (high half), in bytes
//	word 2           capacity for the value in words and flags (low half), index in the undo list (high half)
//	[expiry]         stores with Expiring: the expiry, as int64
//	[seq, links]     stores with Multi: sequence number; offset of the next (low) and the previous (high) value of the key
//	key              padded to whole words
//	value            capacity as above; starts at a word, so that it is aligned to eight bytes
type layout struct {
	expiring bool
	multi    bool
	expiry   uint32 // offset of the expiry word
	seq      uint32 // offset of the sequence number; links follow
	key      uint32 // offset of the key
}

func newLayout(expiring, multi bool) layout {
	l := layout{expiring: expiring, multi: multi, key: 3}
	if expiring {
		l.expiry = l.key
		l.key++
	}
	if multi {
		l.seq = l.key
		l.key += 2
	}
	return l
}

// wordsOf returns how many words n bytes take.
func wordsOf(n uint32) uint32 { return uint32((uint64(n) + 7) >> 3) }
