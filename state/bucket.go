package state

import (
	"math"
	"unsafe"
)

const (
	noSaved    = math.MaxUint32 // undo entry without a saved value
	minHomes   = 4              // smallest table: this many home slots
	deadFlag   = 1 << 31        // in the capacity of a record: it is no longer part of the table
	hotFlag    = 1 << 30        // in the capacity of a record: it was used since the last eviction
	cleanFlag  = 1 << 29        // in the capacity of a record: the cold store has it, under the ticket in the high half
	allFlags   = deadFlag | hotFlag | cleanFlag
	nothingDue = math.MinInt64
)

// bucket is one of the 256 parts of a store: an arena of records, an ordered open-addressing table over it, the undo
// list of the running batch, and the index of expiries. It holds no Go pointers but its slices.
//
// The table is linear probing with the slots kept in order of their tag, the 32 bits of the hash below the bucket's
// eight. The home of a tag is tag >> shift, there is no wrap-around: a run that overflows goes on in spare slots behind
// the last home. So the order of slots is the order of hashes whatever the history, and a look-up of a key that is not
// there ends at the first greater tag.
type bucket struct {
	lay   *layout
	slots []uint64 // tag << 32 | offset; 0 is empty
	shift uint8
	keys  int // occupied slots
	rows  int // entries, those in the cold store included
	cold  int // slots whose record is in the cold store

	words []uint64 // arena; word 0 is never used, so that offset 0 means none
	dead  int      // words of the arena that nothing refers to

	seq uint64 // next sequence number of a Multi store
	sum uint64 // sum of the content hashes of all entries, as of the last commit

	undo      []undoEntry
	saved     []uint64 // values as they were at the start of the batch
	index     expiryIndex
	expired   int64      // everything that expired up to here has been removed in this batch; nothingDue if none was
	seqPrev   uint64     // seq at the start of the batch
	removed   int        // entries removed in this batch
	pages     []coldPage // by number
	freePages []uint32   // pages in which no record counts
	paged     int        // records in the other pages, also those that do not count

	logBytes int64 // change-log bytes since the last snapshot of this bucket
}

// undoEntry remembers one entry as it was before the first change of the batch.
type undoEntry struct {
	cur    uint32 // offset of the record now; 0 when it was removed
	old    uint32 // offset at the start of the batch; 0 when it was not there
	saved  uint32 // where the old value lies in saved, or noSaved: the old record still holds it
	vlen   uint32 // old length of the value
	expiry int64  // old expiry
}

func tagOf(hash uint64) uint32 { return uint32(hash >> 24) }

// ---- records

func (b *bucket) klen(off uint32) uint32    { return uint32(b.words[off+1]) }
func (b *bucket) vlen(off uint32) uint32    { return uint32(b.words[off+1] >> 32) }
func (b *bucket) vcap(off uint32) uint32    { return uint32(b.words[off+2]) &^ allFlags }
func (b *bucket) isDead(off uint32) bool    { return uint32(b.words[off+2])&deadFlag != 0 }
func (b *bucket) valueAt(off uint32) uint32 { return off + b.lay.key + wordsOf(b.klen(off)) }
func (b *bucket) size(off uint32) uint32 {
	return b.lay.key + wordsOf(b.klen(off)) + b.vcap(off)
}

func (b *bucket) key(off uint32) []byte { return b.bytes(off+b.lay.key, b.klen(off)) }

func (b *bucket) value(off uint32) []byte { return b.bytes(b.valueAt(off), b.vlen(off)) }

func (b *bucket) expiry(off uint32) int64 {
	if !b.lay.expiring {
		return NoExpiry
	}
	return int64(b.words[off+b.lay.expiry])
}

func (b *bucket) seqOf(off uint32) uint64 {
	if !b.lay.multi {
		return 0
	}
	return b.words[off+b.lay.seq]
}

func (b *bucket) next(off uint32) uint32 { return uint32(b.words[off+b.lay.seq+1]) }
func (b *bucket) prev(off uint32) uint32 { return uint32(b.words[off+b.lay.seq+1] >> 32) }
func (b *bucket) setLinks(off, next, prev uint32) {
	b.words[off+b.lay.seq+1] = uint64(prev)<<32 | uint64(next)
}

// bytes views n bytes of the arena from word w on. Words are only a carrier of alignment: bytes are written and read as
// bytes, so that what a user sees does not depend on the byte order of the machine.
func (b *bucket) bytes(w, n uint32) []byte {
	if n == 0 {
		return nil
	}
	s := b.words[w : w+wordsOf(n)]
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), n)
}

// newRecord appends a record with a zeroed value of vlen bytes and room for vcap words, and returns its offset.
func (b *bucket) newRecord(hash uint64, key []byte, vlen, vcap uint32) uint32 {
	if len(b.words) == 0 {
		b.words = append(b.words, 0)
	}
	off := len(b.words)
	kw := wordsOf(uint32(len(key)))
	n := off + int(b.lay.key+kw+vcap)
	if n > cap(b.words) {
		b.words = growWords(b.words, n)
	}
	b.words = b.words[:n]
	rec := b.words[off:n]
	clear(rec)
	rec[0] = hash
	rec[1] = uint64(vlen)<<32 | uint64(uint32(len(key)))
	rec[2] = uint64(vcap)
	copy(b.bytes(uint32(off)+b.lay.key, uint32(len(key))), key)
	return uint32(off)
}

// growWords makes room for n words. Small arenas double; large ones grow by a quarter, because 256 of them at once
// must not take twice what they hold.
func growWords(w []uint64, n int) []uint64 {
	c := 2 * cap(w)
	if cap(w) > 4096 {
		c = cap(w) + cap(w)/4
	}
	out := make([]uint64, len(w), max(c, n, 32))
	copy(out, w)
	return out
}

// ---- table

// find returns the offset of the (first) record of key and its slot; an offset that isCold if the key may lie in the cold
// store; 0 if it is not there.
func (b *bucket) find(hash uint64, key []byte) (off uint32, slot int) {
	if b.keys == 0 {
		return 0, 0
	}
	tag := tagOf(hash)
	cold := -1
	for i := int(tag >> b.shift); ; i++ {
		s := b.slots[i]
		t := uint32(s >> 32)
		if uint32(s) == 0 || t > tag {
			if cold >= 0 {
				return uint32(b.slots[cold]), cold
			}
			return 0, i
		}
		if t < tag {
			continue
		}
		off := uint32(s)
		if isCold(off) {
			if cold < 0 {
				cold = i
			}
			continue
		}
		if b.words[off] == hash && string(b.key(off)) == string(key) {
			return off, i
		}
	}
}

// slotOf returns the slot that holds exactly this tag and offset, or -1.
func (b *bucket) slotOf(tag, off uint32) int {
	if b.keys == 0 {
		return -1
	}
	want := uint64(tag)<<32 | uint64(off)
	for i := int(tag >> b.shift); ; i++ {
		s := b.slots[i]
		if s == want {
			return i
		}
		if uint32(s) == 0 || uint32(s>>32) > tag {
			return -1
		}
	}
}

func tableSize(homes int) int { return homes + homes/8 + 12 }

// insertSlot adds a slot in its place in the order.
func (b *bucket) insertSlot(tag, off uint32) {
	if b.slots == nil {
		b.slots = make([]uint64, tableSize(minHomes))
		b.shift = 30
	}
	if (b.keys+1)*4 > 3<<(32-b.shift) {
		b.resize(b.shift - 1)
	}
	for {
		p := int(tag >> b.shift)
		for uint32(b.slots[p]) != 0 && uint32(b.slots[p]>>32) <= tag {
			p++
		}
		e := p
		for uint32(b.slots[e]) != 0 {
			e++
		}
		if e < len(b.slots)-1 { // the last slot stays empty: it ends every probe
			copy(b.slots[p+1:e+1], b.slots[p:e])
			b.slots[p] = uint64(tag)<<32 | uint64(off)
			b.keys++
			return
		}
		b.resize(b.shift - 1)
	}
}

// deleteSlot removes slot i and moves what was pushed behind its home one back.
func (b *bucket) deleteSlot(i int) {
	e := i + 1
	for uint32(b.slots[e]) != 0 && int(uint32(b.slots[e]>>32)>>b.shift) != e {
		e++
	}
	copy(b.slots[i:e-1], b.slots[i+1:e])
	b.slots[e-1] = 0
	b.keys--
}

// resize lays the table out anew with 1 << (32-shift) homes, or more if the spare slots do not suffice.
func (b *bucket) resize(shift uint8) {
	old := b.slots
	for {
		slots := make([]uint64, tableSize(1<<(32-shift)))
		at, ok := 0, true
		for _, s := range old {
			if uint32(s) == 0 {
				continue
			}
			at = max(at, int(uint32(s>>32)>>shift))
			if at >= len(slots)-1 {
				ok = false
				break
			}
			slots[at] = s
			at++
		}
		if ok {
			b.slots, b.shift = slots, shift
			return
		}
		shift--
	}
}

// ---- changes, with undo

// undoOf returns the undo entry of a record that was changed in this batch. Nothing is cleared at a commit: an index left
// over from an earlier batch is recognised because that entry, if there is one, is about another record.
func (b *bucket) undoOf(off uint32) *undoEntry {
	i := uint32(b.words[off+2] >> 32)
	if int(i) < len(b.undo) && b.undo[i].cur == off {
		return &b.undo[i]
	}
	return nil
}

func (b *bucket) pushUndo(u undoEntry) {
	off := u.cur
	b.forgetTicket(off)
	b.words[off+2] = uint64(uint32(b.words[off+2])) | uint64(len(b.undo))<<32 | hotFlag
	b.undo = append(b.undo, u)
}

// forgetTicket is called when a record changes that the cold store still has: what it has is of no use any more.
func (b *bucket) forgetTicket(off uint32) {
	if w := b.words[off+2]; uint32(w)&cleanFlag != 0 {
		b.forgetPage(uint32(w >> 32))
		b.words[off+2] = w &^ cleanFlag
	}
}

// forgetPage says that the record of a ticket does not count any more.
func (b *bucket) forgetPage(ticket uint32) {
	page := ticket >> pageBits
	p := &b.pages[page]
	if p.live--; p.live == 0 {
		b.paged -= int(p.written)
		b.freePages = append(b.freePages, page)
	}
}

// touch saves the value and expiry of a record before its first change in this batch.
func (b *bucket) touch(off uint32) {
	i := uint32(b.words[off+2] >> 32)
	if int(i) < len(b.undo) && b.undo[i].cur == off {
		return
	}
	n := b.vlen(off)
	at := b.valueAt(off)
	b.pushUndo(undoEntry{cur: off, old: off, saved: uint32(len(b.saved)), vlen: n, expiry: b.expiry(off)})
	b.saved = append(b.saved, b.words[at:at+wordsOf(n)]...)
}

// insert adds a new entry at the end of the key's values (of a plain store: the only one).
func (b *bucket) insert(hash uint64, key []byte, vlen uint32, expiry int64) uint32 {
	off := b.newRecord(hash, key, vlen, wordsOf(vlen))
	if b.lay.multi {
		b.words[off+b.lay.seq] = b.seq
		b.seq++
	}
	b.attach(off, expiry)
	b.pushUndo(undoEntry{cur: off})
	return off
}

// attach makes a complete record part of table, chain and index.
func (b *bucket) attach(off uint32, expiry int64) {
	b.words[off+2] &^= deadFlag
	if b.lay.expiring {
		b.words[off+b.lay.expiry] = uint64(expiry)
		b.index.push(expiry, tagOf(b.words[off]), off)
	}
	b.rows++
	if !b.lay.multi {
		b.insertSlot(tagOf(b.words[off]), off)
		return
	}
	head, slot := b.find(b.words[off], b.key(off))
	if head == 0 {
		b.setLinks(off, 0, off) // the previous of the first is the last
		b.insertSlot(tagOf(b.words[off]), off)
		return
	}
	// In order of seq, looking from the end: a new value always goes last, only Abort puts values back in between.
	seq, last := b.seqOf(off), b.prev(head)
	at := last
	for at != head && b.seqOf(at) > seq {
		at = b.prev(at)
	}
	if b.seqOf(at) > seq { // before the head
		b.setLinks(off, head, last)
		b.setLinks(head, b.next(head), off)
		b.slots[slot] = uint64(tagOf(b.words[off]))<<32 | uint64(off)
		return
	}
	after := b.next(at)
	b.setLinks(off, after, at)
	b.setLinks(at, off, b.prev(at))
	if after != 0 {
		b.setLinks(after, b.next(after), off)
	} else {
		b.setLinks(head, b.next(head), off)
	}
}

// detach takes a record out of table and chain. The record stays in the arena as garbage, readable until the batch ends.
func (b *bucket) detach(off uint32) {
	b.rows--
	b.forgetTicket(off)
	b.dead += int(b.size(off))
	b.words[off+2] |= deadFlag
	tag := tagOf(b.words[off])
	if !b.lay.multi {
		b.deleteSlot(b.slotOf(tag, off))
		return
	}
	next, prev := b.next(off), b.prev(off)
	if slot := b.slotOf(tag, off); slot >= 0 { // the head
		if next == 0 {
			b.deleteSlot(slot)
			return
		}
		b.setLinks(next, b.next(next), prev)
		b.slots[slot] = uint64(tag)<<32 | uint64(next)
		return
	}
	b.setLinks(prev, next, b.prev(prev))
	if next != 0 {
		b.setLinks(next, b.next(next), prev)
		return
	}
	head, _ := b.find(b.words[off], b.key(off))
	b.setLinks(head, b.next(head), prev)
}

// replace puts record off in the place of record was.
func (b *bucket) replace(was, off uint32) {
	tag := tagOf(b.words[off])
	slot := b.slotOf(tag, was)
	if slot >= 0 {
		b.slots[slot] = uint64(tag)<<32 | uint64(off)
	}
	if b.lay.multi {
		next, prev := b.next(was), b.prev(was)
		if prev == was {
			prev = off
		}
		b.setLinks(off, next, prev)
		if slot < 0 {
			b.setLinks(prev, off, b.prev(prev))
		}
		if next != 0 {
			b.setLinks(next, b.next(next), off)
		} else if slot < 0 {
			head, _ := b.find(b.words[off], b.key(off))
			b.setLinks(head, b.next(head), off)
		}
	}
	if b.lay.expiring {
		b.index.push(b.expiry(off), tag, off)
	}
	b.words[off+2] &^= deadFlag
	b.words[was+2] |= deadFlag
	b.dead += int(b.size(was))
}

// remove deletes the entry.
func (b *bucket) remove(off uint32) {
	if u := b.undoOf(off); u != nil {
		u.cur = 0
	} else {
		b.undo = append(b.undo, undoEntry{old: off, saved: noSaved, vlen: b.vlen(off), expiry: b.expiry(off)})
	}
	b.removed++
	b.detach(off)
}

// resizeValue makes the value n bytes long, keeping what fits and zeroing what is new. It returns the record's offset,
// which changes when the value outgrows its room.
func (b *bucket) resizeValue(off, n uint32) uint32 {
	b.touch(off)
	old := b.vlen(off)
	if n <= b.vcap(off)*8 {
		b.words[off+1] = uint64(n)<<32 | uint64(b.klen(off))
		if n > old {
			clear(b.value(off)[old:])
		}
		return off
	}
	room := wordsOf(n)
	if old > 0 { // a value that grows once grows again
		room += room / 2
	}
	now := b.newRecord(b.words[off], b.key(off), n, room)
	copy(b.value(now), b.value(off))
	if b.lay.expiring {
		b.words[now+b.lay.expiry] = b.words[off+b.lay.expiry]
	}
	if b.lay.multi {
		b.words[now+b.lay.seq] = b.words[off+b.lay.seq]
	}
	i := uint32(b.words[off+2] >> 32)
	b.undo[i].cur = now
	b.words[now+2] |= uint64(i)<<32 | hotFlag
	b.replace(off, now)
	return now
}

// setExpiry changes the expiry of an entry.
func (b *bucket) setExpiry(off uint32, expiry int64) {
	if !b.lay.expiring || b.expiry(off) == expiry {
		return
	}
	b.touch(off)
	if expiry < b.expiry(off) { // an item that is too early finds its way, one that is too late does not
		b.index.push(expiry, tagOf(b.words[off]), off)
	}
	b.words[off+b.lay.expiry] = uint64(expiry)
}

// abort puts everything back as it was at the start of the batch.
func (b *bucket) abort() {
	for i := len(b.undo) - 1; i >= 0; i-- {
		u := &b.undo[i]
		if u.cur != 0 && u.old == 0 {
			b.detach(u.cur)
			continue
		}
		if u.old == 0 {
			continue
		}
		off := u.old
		if u.saved != noSaved {
			b.words[off+1] = uint64(u.vlen)<<32 | uint64(b.klen(off))
			at := b.valueAt(off)
			n := wordsOf(u.vlen)
			copy(b.words[at:at+n], b.saved[u.saved:u.saved+n])
		}
		switch {
		case u.cur == 0:
			b.dead -= int(b.size(off))
			b.attach(off, u.expiry)
		case u.cur != off:
			b.dead -= int(b.size(off))
			if b.lay.expiring {
				b.words[off+b.lay.expiry] = uint64(u.expiry)
			}
			b.replace(u.cur, off)
		case b.lay.expiring && b.expiry(off) != u.expiry:
			b.words[off+b.lay.expiry] = uint64(u.expiry)
			b.index.push(u.expiry, tagOf(b.words[off]), off)
		}
	}
	b.seq = b.seqPrev
	b.endBatch()
}

// endBatch forgets the undo list. What it takes is kept for the next batch unless one batch was far above the usual.
func (b *bucket) endBatch() {
	if cap(b.undo) > 4*len(b.undo)+1024 {
		b.undo = nil
	}
	if cap(b.saved) > 4*len(b.saved)+1024 {
		b.saved = nil
	}
	b.undo, b.saved = b.undo[:0], b.saved[:0]
	b.expired, b.seqPrev, b.removed = nothingDue, b.seq, 0
}

// memory returns the bytes that the bucket takes.
func (b *bucket) memory() int64 {
	return int64(cap(b.words)+cap(b.slots)+cap(b.saved))*8 + int64(cap(b.undo))*24 + b.index.memory()
}
