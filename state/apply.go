package state

import (
	"fmt"

	"github.com/wstream/wstream/columnar"
)

// apply makes the changes of a section in a bucket and keeps the sum of the content up to date. There is no undo: the
// caller ends the batch.
func (b *bucket) apply(s *section, seed uint64, bucketNo uint8, warm func(tags []uint32) error) error {
	if s.flags&flagReset != 0 {
		*b = bucket{lay: b.lay, expired: nothingDue, seq: b.seq}
	}
	if s.flags&flagExpired != 0 {
		if err := b.applyExpired(s.expired, seed, warm); err != nil {
			return err
		}
	}
	r := columnReader{b: s.rest}
	delLens, putLens := r.skipUvarints(s.deletes), r.skipUvarints(s.puts)
	var delSeqs, putSeqs, expiries columnReader
	if b.lay.multi {
		delSeqs, putSeqs = r.skipUvarints(s.deletes), r.skipUvarints(s.puts)
	}
	if b.lay.expiring {
		expiries = r.skipUvarints(s.puts)
	}
	vlens := r.skipUvarints(s.puts)
	delKeys := columnReader{b: r.bytes(delLens.sum())}
	keys := columnReader{b: r.bytes(putLens.sum())}
	values := columnReader{b: r.bytes(vlens.sum())}
	if r.bad || len(r.b) != 0 {
		return fmt.Errorf("the columns of a section of bucket %d do not fit its length", bucketNo)
	}
	if b.cold > 0 {
		if err := b.warmKeys(delKeys, delLens, warm); err != nil {
			return err
		}
		if err := b.warmKeys(keys, putLens, warm); err != nil {
			return err
		}
	}
	for range s.deletes {
		key := delKeys.bytes(delLens.uvarint())
		seq := uint64(0)
		if b.lay.multi {
			seq = delSeqs.uvarint()
		}
		off := b.findSeq(columnar.HashBytes(key), key, seq)
		if off == 0 {
			return fmt.Errorf("an entry to delete is not in bucket %d", bucketNo)
		}
		b.sum -= b.entrySum(off, seed)
		b.remove(off)
	}
	expiry := int64(0)
	for range s.puts {
		key := keys.bytes(putLens.uvarint())
		value := values.bytes(vlens.uvarint())
		seq := uint64(0)
		if b.lay.multi {
			seq = putSeqs.uvarint()
		}
		at := NoExpiry
		if b.lay.expiring {
			expiry += expiries.varint()
			at = expiry
		}
		hash := columnar.HashBytes(key)
		if BucketOf(hash) != bucketNo {
			return fmt.Errorf("a key of bucket %d is stored in bucket %d", BucketOf(hash), bucketNo)
		}
		off := uint32(0)
		if s.flags&flagReset == 0 || b.lay.multi {
			off = b.findSeq(hash, key, seq)
		}
		if off == 0 {
			off = b.newRecord(hash, key, uint32(len(value)), wordsOf(uint32(len(value))))
			if b.lay.multi {
				b.words[off+b.lay.seq] = seq
			}
			b.attach(off, at)
		} else {
			b.sum -= b.entrySum(off, seed)
			off = b.resizeValue(off, uint32(len(value)))
			b.setExpiry(off, at)
		}
		copy(b.value(off), value)
		b.sum += b.entrySum(off, seed)
	}
	if s.flags&flagSeq != 0 {
		b.seq = s.seq
	}
	return nil
}

// warmKeys makes the records of a column of keys resident. The readers are copies.
func (b *bucket) warmKeys(keys, lens columnReader, warm func(tags []uint32) error) error {
	var tags []uint32
	for len(lens.b) > 0 && !lens.bad {
		key := keys.bytes(lens.uvarint())
		if tag := tagOf(columnar.HashBytes(key)); len(b.coldSlots(tag, nil)) > 0 {
			tags = append(tags, tag)
		}
	}
	if len(tags) == 0 {
		return nil
	}
	return warm(tags)
}

// findSeq returns the record of a key with the given sequence number; of a plain store the record of the key.
func (b *bucket) findSeq(hash uint64, key []byte, seq uint64) uint32 {
	off, _ := b.find(hash, key)
	if !b.lay.multi || off == 0 {
		return off
	}
	if last := b.prev(off); b.seqOf(last) < seq {
		return 0
	}
	for ; off != 0; off = b.next(off) {
		if b.seqOf(off) == seq {
			return off
		}
	}
	return 0
}

func (b *bucket) applyExpired(upTo int64, seed uint64, warm func(tags []uint32) error) error {
	if err := b.takeDue(upTo, warm); err != nil {
		return err
	}
	n := 0
	for _, it := range b.index.due {
		if it.expiry > upTo {
			break
		}
		b.sum -= b.entrySum(it.off, seed)
		b.remove(it.off)
		n++
	}
	b.index.due = b.index.due[:copy(b.index.due, b.index.due[n:])]
	return nil
}

// entrySum is the hash of the entry at off.
func (b *bucket) entrySum(off uint32, seed uint64) uint64 {
	return entrySum(seed, b.words[off], b.seqOf(off), b.expiry(off), b.value(off))
}
