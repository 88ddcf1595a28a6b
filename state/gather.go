package state

import (
	"bytes"
	"fmt"
	"slices"
	"unsafe"
)

// gather writes the changes of a bucket in this batch to the encoder, adjusts the sum of the content, and counts.
func (b *bucket) gather(e *encoder, s *Store, n uint8) (updated int64) {
	if len(b.undo) == 0 && b.seq == b.seqPrev {
		return 0
	}
	e.begin(s, n)
	if b.seq != b.seqPrev {
		e.flags |= flagSeq
		e.seq = b.seq
	}
	if b.expired != nothingDue {
		for i := range b.undo {
			if u := &b.undo[i]; u.cur == 0 && u.old != 0 && u.expiry <= b.expired {
				e.flags |= flagExpired
				e.expired = b.expired
				break
			}
		}
	}
	for i := range b.undo {
		u := &b.undo[i]
		var old []byte
		if u.old != 0 {
			old = b.oldValue(u)
			b.sum -= entrySum(s.seed, b.words[u.old], b.seqOf(u.old), u.expiry, old)
		}
		if u.cur == 0 {
			if u.old != 0 && u.expiry > b.expired {
				e.delete(b.key(u.old), b.seqOf(u.old))
			}
			continue
		}
		updated++
		value, expiry := b.value(u.cur), b.expiry(u.cur)
		b.sum += entrySum(s.seed, b.words[u.cur], b.seqOf(u.cur), expiry, value)
		if u.old != 0 && u.expiry == expiry && expiry > b.expired && bytes.Equal(old, value) {
			continue // touched, and the same as before
		}
		e.put(b.key(u.cur), b.seqOf(u.cur), expiry, value)
	}
	e.end()
	return updated
}

// oldValue returns the value that an entry had at the start of the batch.
func (b *bucket) oldValue(u *undoEntry) []byte {
	if u.vlen == 0 {
		return nil
	}
	if u.saved == noSaved {
		at := b.valueAt(u.old)
		return b.bytes(at, u.vlen)
	}
	w := b.saved[u.saved : u.saved+wordsOf(u.vlen)]
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), u.vlen)
}

// encodeAll writes the whole content of a bucket to the encoder, to be applied to an empty one.
func (s *Store) encodeAll(e *encoder, n uint8) error {
	b := &s.buckets[n]
	e.begin(s, n)
	e.flags = flagReset
	if b.lay.multi {
		e.flags |= flagSeq
		e.seq = b.seq
	}
	b.eachResident(func(off uint32) {
		e.put(b.key(off), b.seqOf(off), b.expiry(off), b.value(off))
	})
	if b.cold > 0 {
		var tickets []uint32
		for _, x := range b.slots {
			if off := uint32(x); isCold(off) {
				tickets = append(tickets, off-coldBase)
			}
		}
		slices.Sort(tickets)
		err := s.db.cold.fetch(s.id, n, len(b.pages)-len(b.freePages), tickets, func(_ uint32, blob []byte) error {
			return b.lay.eachCold(blob, func(key []byte, seq uint64, expiry int64, value []byte) {
				e.put(key, seq, expiry, value)
			})
		})
		if err != nil {
			return fmt.Errorf("store %q: %w", s.spec.Name, err)
		}
	}
	e.end()
	return nil
}
