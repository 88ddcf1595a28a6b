package state

import (
	"bytes"
	"cmp"
	"slices"
)

// expiryItem says that the record at off, or the cold record that the slot with this offset stands for, expires at
// expiry or later. Items are hints: the record has the last word, see bucket.takeDue.
type expiryItem struct {
	expiry int64
	tag    uint32
	off    uint32
}

// expiryIndex finds the entries of a bucket that have expired, at a cost by what has expired. It is a heap of four
// children a node. An entry whose expiry moves later keeps its item, which is put right when its time comes; one whose
// expiry moves earlier gets a second item. Items of removed entries are dropped when their time comes, or when they
// outnumber the entries.
type expiryIndex struct {
	heap []expiryItem
	due  []expiryItem // taken from the heap by an earlier look, and still there
}

func (x *expiryIndex) memory() int64 { return int64(cap(x.heap)+cap(x.due)) * 16 }

func (x *expiryIndex) push(expiry int64, tag, off uint32) {
	if expiry == NoExpiry {
		return
	}
	x.heap = append(x.heap, expiryItem{expiry, tag, off})
	h := x.heap
	i := len(h) - 1
	it := h[i]
	for i > 0 {
		parent := (i - 1) / 4
		if h[parent].expiry <= it.expiry {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = it
}

func siftDown(h []expiryItem, i int) {
	it := h[i]
	for {
		c := 4*i + 1
		if c >= len(h) {
			break
		}
		least := c
		for j := c + 1; j < min(c+4, len(h)); j++ {
			if h[j].expiry < h[least].expiry {
				least = j
			}
		}
		if h[least].expiry >= it.expiry {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = it
}

func heapify(h []expiryItem) {
	for i := (len(h) - 2) / 4; i >= 0 && len(h) > 1; i-- {
		siftDown(h, i)
	}
}

// next returns the earliest time at which something may expire.
func (x *expiryIndex) next() int64 {
	if len(x.due) > 0 {
		return x.due[0].expiry
	}
	if len(x.heap) > 0 {
		return x.heap[0].expiry
	}
	return NoExpiry
}

// take moves the items up to upTo from the heap to out. When many go, it sifts through the whole heap once, which by
// then costs less than taking them one by one.
func (x *expiryIndex) take(upTo int64, out []expiryItem) []expiryItem {
	for left := len(x.heap)/16 + 8; len(x.heap) > 0 && x.heap[0].expiry <= upTo; left-- {
		if left == 0 {
			keep := x.heap[:0]
			for _, it := range x.heap {
				if it.expiry <= upTo {
					out = append(out, it)
				} else {
					keep = append(keep, it)
				}
			}
			x.heap = keep
			heapify(keep)
			return out
		}
		out = append(out, x.heap[0])
		last := len(x.heap) - 1
		x.heap[0] = x.heap[last]
		x.heap = x.heap[:last]
		if last > 0 {
			siftDown(x.heap, 0)
		}
	}
	return out
}

// takeDue brings index.due up to date: all entries that expire at or before upTo (and possibly later ones that an
// earlier call found), in order of expiry, hash, key and sequence. loadCold makes the records of some tags resident.
func (b *bucket) takeDue(upTo int64, loadCold func(tags []uint32) error) error {
	x := &b.index
	if x.next() > upTo {
		return nil
	}
	items := slices.Clone(x.due)
	due := x.due[:0]
	var cold []uint32
	for items = x.take(upTo, items); len(items) > 0; items = x.take(upTo, items[:0]) {
		for _, it := range items {
			if isCold(it.off) {
				if b.slotOf(it.tag, it.off) >= 0 {
					cold = append(cold, it.tag)
				}
				continue
			}
			if b.isDead(it.off) {
				continue
			}
			switch e := b.expiry(it.off); {
			case e == it.expiry:
				due = append(due, it)
			case e > it.expiry:
				x.push(e, it.tag, it.off)
			}
		}
		if len(cold) > 0 { // they come back as items of the heap
			if err := loadCold(cold); err != nil {
				return err
			}
			cold = cold[:0]
		}
	}
	slices.SortFunc(due, b.compareDue)
	x.due = slices.CompactFunc(due, func(a, c expiryItem) bool { return a.off == c.off })
	return nil
}

func (b *bucket) compareDue(a, c expiryItem) int {
	if a.expiry != c.expiry {
		return cmp.Compare(a.expiry, c.expiry)
	}
	if a.tag != c.tag {
		return cmp.Compare(a.tag, c.tag)
	}
	if a.off == c.off {
		return 0
	}
	if d := bytes.Compare(b.key(a.off), b.key(c.off)); d != 0 {
		return d
	}
	return cmp.Compare(b.seqOf(a.off), b.seqOf(c.off))
}

// rebuildIndex makes the index anew from the records, after they have moved or when too many items are stale.
func (b *bucket) rebuildIndex() {
	x := &b.index
	var cold []expiryItem
	for _, list := range [][]expiryItem{x.due, x.heap} {
		for _, it := range list {
			if isCold(it.off) && b.slotOf(it.tag, it.off) >= 0 {
				cold = append(cold, it)
			}
		}
	}
	slices.SortFunc(cold, func(a, c expiryItem) int {
		return cmp.Or(cmp.Compare(a.off, c.off), cmp.Compare(a.expiry, c.expiry))
	})
	cold = slices.CompactFunc(cold, func(a, c expiryItem) bool { return a.off == c.off })
	x.heap, x.due = append(make([]expiryItem, 0, len(cold)+b.rows-b.cold), cold...), nil
	b.eachResident(func(off uint32) {
		if e := b.expiry(off); e != NoExpiry {
			x.heap = append(x.heap, expiryItem{e, tagOf(b.words[off]), off})
		}
	})
	heapify(x.heap)
}

// eachResident walks the records in the arena of the table, in order of the slots, the values of a key in their order.
func (b *bucket) eachResident(fn func(off uint32)) {
	for _, s := range b.slots {
		off := uint32(s)
		if off == 0 || isCold(off) {
			continue
		}
		if !b.lay.multi {
			fn(off)
			continue
		}
		for ; off != 0; off = b.next(off) {
			fn(off)
		}
	}
}
