package state

import (
	"fmt"
	"math"
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
	if memory <= o.MemoryLimit {
		return nil
	}
	if db.cold == nil {
		c, err := openCold(o.ColdDir)
		if err != nil {
			return err
		}
		db.cold = c
	}
	batch := db.cold.db.NewWriteBatch()
	defer batch.Cancel()
	excess := memory - o.MemoryLimit + o.MemoryLimit/32 // a little more, so that not every batch has to
	for range 2 * Buckets {
		n := uint8(db.evictCursor)
		db.evictCursor = (db.evictCursor + 1) % Buckets
		for _, s := range db.stores {
			freed, err := s.evictBucket(n, batch)
			if err != nil {
				return fmt.Errorf("cold store %q: %w", o.ColdDir, err)
			}
			excess -= freed
		}
		if excess <= 0 {
			break
		}
	}
	if err := batch.Flush(); err != nil {
		return fmt.Errorf("cold store %q: %w", o.ColdDir, err)
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
			b.stale, b.tickets = nil, 0
		}
	}
	return db.dropCold()
}

// evictBucket moves the records of a bucket that were not used lately, and returns how many bytes that has freed.
func (s *Store) evictBucket(n uint8, batch *badger.WriteBatch) (int64, error) {
	b, c := &s.buckets[n], s.db.cold
	before := b.memory()
	moved := 0
	for i, x := range b.slots {
		head := uint32(x)
		if head == 0 || isCold(head) {
			continue
		}
		hot, size, expiry := false, 0, NoExpiry
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
		if hot || size*8 > maxCold {
			continue
		}
		var ticket uint32
		var err error
		if w := b.words[head+2]; uint32(w)&cleanFlag != 0 {
			ticket = uint32(w >> 32)
		} else {
			if ticket, err = b.newTicket(); err != nil {
				return 0, err
			}
			if err := batch.Set(coldKey(s.id, n, ticket), b.appendCold(nil, head, ticket)); err != nil {
				return 0, err
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
	if moved > 0 {
		b.rewrite()
	}
	c.evicted += int64(moved)
	return before - b.memory(), nil
}

// newTicket returns a ticket that no cold record of the bucket has.
func (b *bucket) newTicket() (uint32, error) {
	if n := len(b.stale); n > 0 {
		t := b.stale[n-1]
		b.stale = b.stale[:n-1]
		return t, nil
	}
	if b.tickets == math.MaxUint32-coldBase {
		return 0, fmt.Errorf("it has run out of tickets")
	}
	b.tickets++
	return b.tickets - 1, nil
}

// coldDir is where the cold store lies by default; none if the state is not on the real file system.
func (o *Options) coldDir() string {
	if o.ColdDir != "" || o.Dir == "" || o.ReadOnly || o.FS != vfs.OS() {
		return o.ColdDir
	}
	return filepath.Join(o.Dir, "cold")
}
