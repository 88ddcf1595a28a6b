package state

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// Part is the share of a store that one task works on. Every method takes hash = columnar.HashBytes(key); keys of other
// parts must not be given. A Part is used by one goroutine at a time.
//
// Methods that may meet the cold store do not return errors one by one: after a batch of work the caller asks Err once,
// and Commit asks it too. After an error the part answers as if nothing were there.
type Part struct {
	buckets *[Buckets]bucket
	store   *Store
	db      *DB
	index   int
	mine    []uint8
	err     error
	sink    uint64 // keeps loads that only warm the cache from being optimised away
	refs    []Ref
	due     []dueRef
	need    []uint64 // scratch of warm
}

// Err returns the first error that the part met in the cold store since the last Load, or nil.
func (p *Part) Err() error { return p.err }

// Rows returns the number of entries in the part.
func (p *Part) Rows() int64 {
	n := int64(0)
	for _, i := range p.mine {
		n += int64(p.buckets[i].rows)
	}
	return n
}

// Find returns the entry of key, of a Multi store the first value of key, or 0.
func (p *Part) Find(hash uint64, key []byte) Ref {
	b := &p.buckets[hash>>56]
	off, _ := b.find(hash, key)
	if isCold(off) {
		off = p.warmKey(uint8(hash>>56), hash, key)
	}
	if off == 0 {
		return 0
	}
	if p.db.cold != nil {
		b.words[off+2] |= hotFlag
	}
	return makeRef(uint8(hash>>56), off)
}

// Get returns the value of key. The bytes are the store's own: read only, valid until the next change of the part.
func (p *Part) Get(hash uint64, key []byte) (value []byte, ok bool) {
	ref := p.Find(hash, key)
	if ref == 0 {
		return nil, false
	}
	return p.Value(ref), true
}

// Value returns the value of an entry. It starts at an address that is a multiple of eight. The bytes are read only and
// valid until the next change of the part.
func (p *Part) Value(ref Ref) []byte { return p.buckets[ref.bucket()].value(ref.off()) }

// Key returns the key of an entry: read only, valid until the next change of the part.
func (p *Part) Key(ref Ref) []byte { return p.buckets[ref.bucket()].key(ref.off()) }

// Hash returns the hash of the key of an entry.
func (p *Part) Hash(ref Ref) uint64 { return p.buckets[ref.bucket()].words[ref.off()] }

// Expiry returns the expiry of an entry in µs since 1970, NoExpiry if it has none.
func (p *Part) Expiry(ref Ref) int64 { return p.buckets[ref.bucket()].expiry(ref.off()) }

// Mut returns the value of an entry for being changed in place, and counts the entry as changed in this batch. It starts
// at an address that is a multiple of eight. The bytes are valid until the next call that adds or resizes an entry of
// the part; later writes to them may be lost.
func (p *Part) Mut(ref Ref) []byte {
	b := &p.buckets[ref.bucket()]
	b.touch(ref.off())
	return b.value(ref.off())
}

// Upsert returns the entry of key. If there is none it adds one with a value of size zero bytes that never expires
// (use SetExpiry), and says so. An entry that was there is not changed, whatever its size. In a Multi store it
// answers for the first value of the key.
func (p *Part) Upsert(hash uint64, key []byte, size int) (ref Ref, created bool) {
	n := uint8(hash >> 56)
	b := &p.buckets[n]
	off, _ := b.find(hash, key)
	if isCold(off) {
		off = p.warmKey(n, hash, key)
	}
	if off != 0 {
		return makeRef(n, off), false
	}
	return makeRef(n, b.insert(hash, key, uint32(size), NoExpiry)), true
}

// Put sets the value and the expiry of key, and returns its entry. The expiry is in µs since 1970; NoExpiry for never. In
// a Multi store it replaces the first value of the key.
func (p *Part) Put(hash uint64, key, value []byte, expiry int64) Ref {
	n := uint8(hash >> 56)
	b := &p.buckets[n]
	off, _ := b.find(hash, key)
	if isCold(off) {
		off = p.warmKey(n, hash, key)
	}
	if off == 0 {
		off = b.insert(hash, key, uint32(len(value)), expiry)
	} else {
		off = b.resizeValue(off, uint32(len(value)))
		b.setExpiry(off, expiry)
	}
	copy(b.value(off), value)
	return makeRef(n, off)
}

// SetValue replaces the value of an entry and returns the entry's new Ref; the old one is void.
func (p *Part) SetValue(ref Ref, value []byte) Ref {
	b := &p.buckets[ref.bucket()]
	off := b.resizeValue(ref.off(), uint32(len(value)))
	copy(b.value(off), value)
	return makeRef(ref.bucket(), off)
}

// Resize makes the value of an entry size bytes long, keeping its front and zeroing what is new, and returns the
// entry's new Ref; the old one is void. Values that grow get room to spare, so that appending costs little.
func (p *Part) Resize(ref Ref, size int) Ref {
	return makeRef(ref.bucket(), p.buckets[ref.bucket()].resizeValue(ref.off(), uint32(size)))
}

// SetExpiry changes the expiry of an entry, in µs since 1970. In a store that is not Expiring it does nothing.
func (p *Part) SetExpiry(ref Ref, expiry int64) {
	p.buckets[ref.bucket()].setExpiry(ref.off(), expiry)
}

// Remove deletes an entry, of a Multi store this one value.
func (p *Part) Remove(ref Ref) { p.buckets[ref.bucket()].remove(ref.off()) }

// Delete deletes key with all its values and says whether it was there.
func (p *Part) Delete(hash uint64, key []byte) bool {
	ref := p.Find(hash, key)
	if ref == 0 {
		return false
	}
	b := &p.buckets[ref.bucket()]
	for off := ref.off(); off != 0; {
		next := uint32(0)
		if b.lay.multi {
			next = b.next(off)
		}
		b.remove(off)
		off = next
	}
	return true
}

// Append adds a value to the end of the list of key. Only for Multi stores. Each value has its own expiry. The first one
// is found by Find, the others by Next.
func (p *Part) Append(hash uint64, key, value []byte, expiry int64) Ref {
	n := uint8(hash >> 56)
	b := &p.buckets[n]
	if off, _ := b.find(hash, key); isCold(off) {
		p.warmKey(n, hash, key)
	}
	off := b.insert(hash, key, uint32(len(value)), expiry)
	copy(b.value(off), value)
	return makeRef(n, off)
}

// Next returns the value that was appended to the same key after ref, or 0. Only for Multi stores. To remove values while
// walking, ask for Next first.
func (p *Part) Next(ref Ref) Ref {
	off := p.buckets[ref.bucket()].next(ref.off())
	if off == 0 {
		return 0
	}
	return makeRef(ref.bucket(), off)
}

// NextExpiry returns a time before which nothing in the part expires, NoExpiry if nothing ever does. It may be earlier
// than the first real expiry, never later.
func (p *Part) NextExpiry() int64 {
	t := NoExpiry
	for _, i := range p.mine {
		t = min(t, p.buckets[i].index.next())
	}
	return t
}

// Due appends to refs the entries that expire at upTo (µs since 1970) or before, in order of their expiry, and removes
// none. It costs by what is due. Entries with equal expiries come in an order that depends on the content alone.
func (p *Part) Due(upTo int64, refs []Ref) []Ref {
	if upTo == NoExpiry {
		upTo--
	}
	due := p.due[:0]
	for _, n := range p.mine {
		b := &p.buckets[n]
		if b.index.next() > upTo {
			continue
		}
		err := b.takeDue(upTo, func(tags []uint32) error { return p.store.warmTags(n, tags) })
		if err != nil {
			p.fail(err)
			return refs
		}
		for _, it := range b.index.due {
			if it.expiry > upTo {
				break
			}
			due = append(due, dueRef{it.expiry, uint32(len(due)), n, it.off})
		}
	}
	slices.SortFunc(due, func(a, c dueRef) int {
		if a.expiry != c.expiry {
			return cmp.Compare(a.expiry, c.expiry)
		}
		return cmp.Compare(a.at, c.at)
	})
	refs = slices.Grow(refs, len(due))
	for _, d := range due {
		refs = append(refs, makeRef(d.bucket, d.off))
	}
	if p.due = due; cap(due) > 4*len(due)+1024 {
		p.due = nil
	}
	return refs
}

// dueRef is an entry that is due, with its place among those of equal expiry.
type dueRef struct {
	expiry int64
	at     uint32
	bucket uint8
	off    uint32
}

// Expired removes the entries that expire at upTo (µs since 1970) or before, and gives each to fn in order of expiry
// before that. It costs by what expires; in the change log it costs next to nothing. The bytes that fn gets are valid
// during the call; fn must not change the part. When fn returns an error, Expired returns it and has removed nothing. fn
// may be nil. It returns the number of entries removed.
func (p *Part) Expired(upTo int64, fn func(key, value []byte, expiry int64) error) (int, error) {
	if upTo == NoExpiry {
		upTo--
	}
	p.refs = p.Due(upTo, p.refs[:0])
	if p.err != nil {
		return 0, p.err
	}
	if fn != nil {
		for _, ref := range p.refs {
			b, off := &p.buckets[ref.bucket()], ref.off()
			if err := fn(b.key(off), b.value(off), b.expiry(off)); err != nil {
				return 0, err
			}
		}
	}
	for _, ref := range p.refs {
		p.Remove(ref)
	}
	for _, n := range p.mine {
		b := &p.buckets[n]
		b.expired = max(b.expired, upTo)
		if len(b.index.due) > 0 && b.index.due[len(b.index.due)-1].expiry <= upTo {
			b.index.due = b.index.due[:0]
		}
	}
	return len(p.refs), nil
}

// Each calls fn with every entry of the part, by bucket and hash, the values of a key in their order: an order that
// depends on the content of the part alone. fn may change the value of its entry by Mut, and nothing else. An error of fn
// ends the walk and is returned. What lies in the cold store comes into memory and leaves it with the next Commit.
func (p *Part) Each(fn func(ref Ref) error) error {
	for _, n := range p.mine {
		if err := p.eachBucket(n, fn); err != nil {
			return err
		}
	}
	return p.err
}

func (p *Part) eachBucket(n uint8, fn func(ref Ref) error) error {
	b := &p.buckets[n]
	if b.cold > 0 {
		if err := p.store.warmBucket(n); err != nil {
			p.fail(err)
			return err
		}
	}
	for i := 0; i < len(b.slots); i++ {
		if b.slots[i] == 0 {
			continue
		}
		run := i + 1
		for run < len(b.slots) && b.slots[run] != 0 && b.slots[run]>>32 == b.slots[i]>>32 {
			run++
		}
		if run > i+1 { // equal tags stand in the order in which they came: sort them
			slices.SortFunc(b.slots[i:run], func(x, y uint64) int {
				k, l := uint32(x), uint32(y)
				return cmp.Or(cmp.Compare(b.words[k], b.words[l]), bytes.Compare(b.key(k), b.key(l)))
			})
		}
		for ; i < run; i++ {
			for off := uint32(b.slots[i]); off != 0; {
				next := uint32(0)
				if b.lay.multi {
					next = b.next(off)
				}
				if err := fn(makeRef(n, off)); err != nil {
					return err
				}
				off = next
			}
		}
		i--
	}
	return nil
}

func (p *Part) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// prefetchRows is how many rows are looked up together. The loads of one group do not wait for one another.
const prefetchRows = 64

// prefetch loads what looking up rows i..j will read: first all slots, then all records.
func (p *Part) prefetch(hashes []uint64, rows []int32) {
	var offs [prefetchRows]uint32
	for k, r := range rows {
		h := hashes[r]
		b := &p.buckets[h>>56]
		if b.keys == 0 {
			continue
		}
		tag := tagOf(h)
		i := int(tag >> b.shift)
		s := b.slots[i]
		for uint32(s>>32) < tag && uint32(s) != 0 {
			i++
			s = b.slots[i]
		}
		offs[k] = uint32(s)
	}
	x := uint64(0)
	for k, r := range rows {
		if off := offs[k]; off != 0 && !isCold(off) {
			x ^= p.buckets[hashes[r]>>56].words[off]
		}
	}
	p.sink = bits.RotateLeft64(x, 1)
}
