package state

import (
	"fmt"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"github.com/wstream/wstream/internal/vfs"
)

// evict moves records to the cold store while the tables take more memory than they may. It goes through the buckets
// round and round: a record that was used since the last visit stays and loses its mark, the others go. It is called
// between batches.
func (db *DB) evict() error {
	o := &db.opts
	if o.MemoryLimit == 0 || o.ColdDir == "" {
		return nil
	}
	memory := int64(0)
	for _, s := range db.stores {
		memory += s.MemoryUsed()
	}
	limit, grown := o.MemoryLimit, int64(0)
	if db.cold != nil { // what the cold store itself takes is part of it, and there shall be room for what the next batch brings
		limit -= min(coldBuffers*coldBuffer(limit), limit/4)
		grown = min(max(memory-db.evictedTo, 0), limit/4)
		db.evictedTo = memory
	}
	if memory <= max(limit-grown, db.evictFloor) {
		return nil
	}
	if db.cold == nil {
		c, err := openCold(o.ColdDir, o.MemoryLimit)
		if err != nil {
			return err
		}
		db.cold = c
	}
	batch := db.cold.db.NewWriteBatch()
	defer batch.Cancel()
	target := limit - grown - limit/32 // a little less, so that not every batch has to
	for i := 0; i < 2*Buckets && memory > target; i++ {
		n := uint8(db.evictCursor)
		db.evictCursor = (db.evictCursor + 1) % Buckets
		for _, s := range db.stores {
			freed, err := s.evictBucket(n, batch)
			if err != nil {
				return fmt.Errorf("cold store %q: %w", o.ColdDir, err)
			}
			memory -= freed
		}
	}
	if err := batch.Flush(); err != nil {
		return fmt.Errorf("cold store %q: %w", o.ColdDir, err)
	}
	db.evictedTo, db.evictFloor = memory, 0
	if memory > target { // all is gone that can go: no use in looking through everything after every batch
		db.evictFloor = memory + memory/16
	}
	return nil
}

// retireCold deletes the cold store when nothing in it is needed any more.
func (db *DB) retireCold(stores []StoreInfo) error {
	if db.cold == nil {
		return nil
	}
	for _, s := range stores {
		if s.ColdKeys > 0 {
			return nil
		}
	}
	for _, s := range db.stores {
		for i := range s.buckets {
			b := &s.buckets[i]
			b.eachResident(func(off uint32) { b.words[off+2] &^= cleanFlag })
			b.pages, b.freePages, b.paged = nil, nil, 0
		}
	}
	return db.dropCold()
}

// evictBucket moves the records of a bucket that were not used lately, and returns how many bytes that has freed.
func (s *Store) evictBucket(n uint8, batch *badger.WriteBatch) (int64, error) {
	b := &s.buckets[n]
	before := b.memory()
	if err := s.repack(n); err != nil {
		return 0, err
	}
	w := &pageWriter{}
	moved := 0
	for i, x := range b.slots {
		head := uint32(x)
		if head == 0 || isCold(head) {
			continue
		}
		hot, size, expiry := b.cool(head)
		if hot || size*8 > maxCold {
			continue
		}
		var ticket uint32
		if word := b.words[head+2]; uint32(word)&cleanFlag != 0 {
			ticket = uint32(word >> 32)
		} else {
			if w.n == 0 {
				page, err := b.newPage()
				if err != nil {
					return 0, err
				}
				w.begin(page)
			}
			ticket = w.add(b, head)
			if w.full() {
				if err := s.writePage(n, w, batch); err != nil {
					return 0, err
				}
			}
		}
		b.slots[i] = x>>32<<32 | uint64(coldBase+ticket)
		if b.lay.expiring {
			b.index.push(expiry, uint32(x>>32), coldBase+ticket)
		}
		b.dead += size
		b.cold++
		moved++
	}
	if w.n > 0 {
		if err := s.writePage(n, w, batch); err != nil {
			return 0, err
		}
	}
	if moved > 0 {
		b.rewrite()
	}
	s.db.cold.evicted += int64(moved)
	return before - b.memory(), nil
}

// cool takes the mark of use off the values of a key, and returns whether there was one, their words, and the earliest
// expiry.
func (b *bucket) cool(head uint32) (hot bool, size int, expiry int64) {
	expiry = NoExpiry
	for off := head; off != 0; {
		hot = hot || b.words[off+2]&hotFlag != 0
		b.words[off+2] &^= hotFlag
		size += int(b.size(off))
		expiry = min(expiry, b.expiry(off))
		if !b.lay.multi {
			break
		}
		off = b.next(off)
	}
	return hot, size, expiry
}

// writePage writes a page, which is empty again afterwards.
func (s *Store) writePage(n uint8, w *pageWriter, batch *badger.WriteBatch) error {
	b := &s.buckets[n]
	b.pages[w.page] = coldPage{live: uint8(w.n), written: uint8(w.n)}
	b.paged += int(w.n)
	err := batch.Set(coldKey(s.id, n, w.page), w.bytes())
	w.n = 0
	return err
}

// repack makes the cold records of a bucket resident when most of what its pages hold does not count any more: they go to
// new pages then.
func (s *Store) repack(n uint8) error {
	b := &s.buckets[n]
	inUse := 0
	for _, p := range b.pages {
		inUse += int(p.live)
	}
	if 2*b.paged < 3*inUse+16*pageRecords {
		return nil
	}
	if err := s.warmBucket(n); err != nil {
		return err
	}
	b.eachResident(func(off uint32) { b.forgetTicket(off) })
	return nil
}

// newPage returns the number of a page of the bucket in which no record counts.
func (b *bucket) newPage() (uint32, error) {
	if n := len(b.freePages); n > 0 {
		page := b.freePages[n-1]
		b.freePages = b.freePages[:n-1]
		return page, nil
	}
	if len(b.pages) == maxPages {
		return 0, fmt.Errorf("it has run out of pages")
	}
	b.pages = append(b.pages, coldPage{})
	return uint32(len(b.pages) - 1), nil
}

// coldDir is where the cold store lies by default; none if the state is not on the real file system.
func (o *Options) coldDir() string {
	if o.ColdDir != "" || o.Dir == "" || o.ReadOnly || o.FS != vfs.OS() {
		return o.ColdDir
	}
	return filepath.Join(o.Dir, "cold")
}
