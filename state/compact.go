package state

// compact copies the records that are in use into a new arena, in order of the table, if more than half of the arena is
// garbage. Only between batches: offsets change.
func (b *bucket) compact() {
	if b.dead > 256 && b.dead*2 > len(b.words) {
		b.rewrite()
	} else if b.lay.expiring && len(b.index.heap)+len(b.index.due) > 2*b.rows+1024 {
		b.rebuildIndex()
	}
}

// rewrite lays arena and table out anew.
func (b *bucket) rewrite() {
	old := b.words
	live := max(len(old)-b.dead, 1)
	b.words = make([]uint64, 1, live+live/16+8)
	move := func(off uint32) uint32 {
		now := uint32(len(b.words))
		n := b.lay.key + wordsOf(uint32(old[off+1])) + uint32(old[off+2])&^allFlags
		b.words = append(b.words, old[off:off+n]...)
		return now
	}
	for i, s := range b.slots {
		off := uint32(s)
		if off == 0 || isCold(off) {
			continue
		}
		if !b.lay.multi {
			b.slots[i] = s>>32<<32 | uint64(move(off))
			continue
		}
		head := move(off)
		last := head
		for off = uint32(old[off+b.lay.seq+1]); off != 0; off = uint32(old[off+b.lay.seq+1]) {
			now := move(off)
			b.setLinks(last, now, b.prev(last))
			b.setLinks(now, 0, last)
			last = now
		}
		b.setLinks(last, 0, b.prev(last))
		b.setLinks(head, b.next(head), last)
		b.slots[i] = s>>32<<32 | uint64(head)
	}
	b.dead = 0
	shift := b.shift
	for shift < 30 && b.keys*4 < 3<<(32-shift)/4 { // a quarter of what it may hold
		shift++
	}
	if shift != b.shift {
		b.resize(shift)
	}
	if b.lay.expiring {
		b.rebuildIndex()
	}
}
