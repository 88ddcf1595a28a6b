package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/klauspost/compress/s2"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/internal/vfs"
)

// coldBase marks offsets in slots whose record lies in the cold store. The bits below are the ticket of the record: the
// number of a page, and the record's place in it. No other record of the bucket has it now, so that what is left over in
// the cold store is never taken for it.
const coldBase = 0xC0000000

// Records are packed into pages, because badger's cost is by entry: up to pageRecords of them, and no more after pageBytes.
const (
	pageBits    = 6
	pageRecords = 1 << pageBits
	pageBytes   = 8 << 10
	maxPages    = (math.MaxUint32 - coldBase) >> pageBits
)

func isCold(off uint32) bool { return off >= coldBase }

// maxThreshold is the greatest size of a value that badger keeps beside its key.
const maxThreshold = 1 << 20

// maxCold is the size from which on the values of a key stay in memory whatever the limit.
const maxCold = 64 << 20

// coldStore keeps the records that do not fit into memory, in badger. It is a cache of what the change log and the
// snapshots hold: it is never synced, and wiped at every start. Methods may be called from several goroutines.
type coldStore struct {
	dir     string
	db      *badger.DB
	fetched atomic.Int64
	evicted int64
}

// coldBuffer is the size of the buffers that badger builds its tables in. It keeps up to ten of them, and two to three tables
// in memory that are smaller: coldBuffers is what all of it takes. The size is a power of two, because badger rounds it up to
// one, and doubles a buffer that is not enough: so the tables are made to fit.
func coldBuffer(limit int64) int64 {
	return 1 << (bits.Len64(uint64(min(max(limit/128, 4<<20), 32<<20))) - 1)
}

const coldBuffers = 12

// coldBlock is the size of a block of a table, into which pages must fit well: what is left of it is wasted.
const coldBlock = 32 << 10

// openCold makes an empty cold store.
func openCold(dir string, limit int64) (*coldStore, error) {
	if err := vfs.OS().RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := vfs.OS().MkdirAll(dir); err != nil {
		return nil, err
	}
	buffer := coldBuffer(limit)
	opts := badger.DefaultOptions(dir).WithLogger(nil).WithSyncWrites(false).WithDetectConflicts(false).
		WithMemTableSize(buffer * 3 / 4).WithNumMemtables(2).WithBaseTableSize(buffer / 2).WithBlockSize(coldBlock).
		WithCompression(options.None).WithBlockCacheSize(0).WithNumCompactors(2).
		WithValueThreshold(min(buffer/16, maxThreshold)).WithValueLogFileSize(256 << 20).WithMetricsEnabled(false).WithNumVersionsToKeep(1)
	opts.TableSizeMultiplier = 1
	db, err := badger.Open(opts)
	if err != nil {
		return nil, fmt.Errorf("cold store %q: %w", dir, err)
	}
	return &coldStore{dir: dir, db: db}, nil
}

func (c *coldStore) close() error {
	if c == nil {
		return nil
	}
	return errors.Join(c.db.Close(), vfs.OS().RemoveAll(c.dir))
}

// coldPage counts the records of a page: how many were written, and how many of them still count.
type coldPage struct{ live, written uint8 }

// coldKey is the key of a page in badger.
func coldKey(store uint16, bucket uint8, page uint32) []byte {
	k := make([]byte, 7)
	binary.BigEndian.PutUint16(k, store)
	k[2] = bucket
	binary.BigEndian.PutUint32(k[3:], page)
	return k
}

// fetch reads records of a bucket, which has so many pages, and gives their bytes to fn, one by one in the order of the
// tickets, which must ascend.
func (c *coldStore) fetch(store uint16, bucket uint8, pages int, tickets []uint32, fn func(ticket uint32, blob []byte) error) error {
	c.fetched.Add(int64(len(tickets)))
	wanted := 0
	for i, t := range tickets {
		if i == 0 || t>>pageBits != tickets[i-1]>>pageBits {
			wanted++
		}
	}
	txn := c.db.NewTransaction(false)
	defer txn.Discard()
	var in pageSource = &pageGetter{txn: txn}
	if wanted > scanFrom && wanted > pages/4 {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: coldKey(store, bucket, 0)[:3]})
		defer it.Close()
		in = &pageScanner{it: it}
	}
	var plain []byte
	for i := 0; i < len(tickets); {
		page := tickets[i] >> pageBits
		n := i + 1
		for n < len(tickets) && tickets[n]>>pageBits == page {
			n++
		}
		item, err := in.page(coldKey(store, bucket, page))
		if err == nil {
			err = item.Value(func(b []byte) (err error) {
				if plain, err = s2.Decode(plain[:cap(plain)], b); err != nil {
					return fmt.Errorf("page %d is damaged: %w", page, err)
				}
				return givePage(plain, tickets[i:n], fn)
			})
		}
		if err != nil {
			return fmt.Errorf("cold store %q: %w", c.dir, err)
		}
		i = n
	}
	return nil
}

// scanFrom is from how many pages on a part of a bucket's pages is read in one pass over all of them.
const scanFrom = 32

// pageSource gives pages whose keys ascend.
type pageSource interface {
	page(key []byte) (*badger.Item, error)
}

// pageGetter looks each page up.
type pageGetter struct{ txn *badger.Txn }

func (g *pageGetter) page(key []byte) (*badger.Item, error) { return g.txn.Get(key) }

// pageScanner reads all pages one after another and skips what is not asked for.
type pageScanner struct {
	it    *badger.Iterator
	begun bool
}

func (p *pageScanner) page(key []byte) (*badger.Item, error) {
	if !p.begun {
		p.begun = true
		p.it.Seek(key)
	}
	for ; p.it.Valid(); p.it.Next() {
		switch item := p.it.Item(); bytes.Compare(item.Key(), key) {
		case 0:
			return item, nil
		case 1:
			return nil, badger.ErrKeyNotFound
		}
	}
	return nil, badger.ErrKeyNotFound
}

// A page, which is compressed, is the number of its records (uvarint) and the records, each with its length (uvarint) in front;
// a checksum (u32), which begins with the number of the page, is the end.

// givePage gives fn the records of some tickets of a page.
func givePage(b []byte, tickets []uint32, fn func(ticket uint32, blob []byte) error) error {
	page := tickets[0] >> pageBits
	body := b[:max(len(b)-4, 0)]
	if len(b) < 4 || binary.LittleEndian.Uint32(b[len(body):]) != pageChecksum(page, body) {
		return fmt.Errorf("page %d does not have its checksum", page)
	}
	r := columnReader{b: body}
	n := r.uvarint()
	at := uint64(0)
	for _, t := range tickets {
		for i := uint64(t % pageRecords); at < i; at++ {
			r.bytes(r.uvarint())
		}
		blob := r.bytes(r.uvarint())
		if at++; at > n || r.bad {
			return fmt.Errorf("page %d is damaged: there is no record %d", page, t%pageRecords)
		}
		if err := fn(t, blob); err != nil {
			return err
		}
	}
	return nil
}

func pageChecksum(page uint32, body []byte) uint32 {
	return crc32.Update(page, crc32.MakeTable(crc32.Castagnoli), body)
}

// pageWriter packs records of one bucket into pages.
type pageWriter struct {
	page uint32
	body []byte
	n    uint32

	record, plain []byte // scratch
}

// full says whether the page takes no more records.
func (w *pageWriter) full() bool { return w.n == pageRecords || len(w.body) >= pageBytes }

// bytes returns the page.
func (w *pageWriter) bytes() []byte {
	w.plain = append(binary.AppendUvarint(w.plain[:0], uint64(w.n)), w.body...)
	w.plain = binary.LittleEndian.AppendUint32(w.plain, pageChecksum(w.page, w.plain))
	return s2.Encode(nil, w.plain)
}

// begin starts a page.
func (w *pageWriter) begin(page uint32) {
	w.page, w.n, w.body = page, 0, w.body[:0]
}

// add packs the values of a key and returns the ticket.
func (w *pageWriter) add(b *bucket, off uint32) uint32 {
	ticket := w.page<<pageBits | w.n
	w.record = b.appendCold(w.record[:0], off)
	w.body = append(binary.AppendUvarint(w.body, uint64(len(w.record))), w.record...)
	w.n++
	return ticket
}

// appendCold writes the values of a key as one blob: the number of values, the key, then sequence number, expiry and value of
// each.
func (b *bucket) appendCold(dst []byte, off uint32) []byte {
	n := uint64(1)
	if b.lay.multi {
		for o := b.next(off); o != 0; o = b.next(o) {
			n++
		}
	}
	dst = binary.AppendUvarint(dst, n)
	dst = binary.AppendUvarint(dst, uint64(b.klen(off)))
	dst = append(dst, b.key(off)...)
	for ; n > 0; n-- {
		if b.lay.multi {
			dst = binary.AppendUvarint(dst, b.seqOf(off))
		}
		if b.lay.expiring {
			dst = binary.AppendVarint(dst, b.expiry(off))
		}
		dst = binary.AppendUvarint(dst, uint64(b.vlen(off)))
		dst = append(dst, b.value(off)...)
		if b.lay.multi {
			off = b.next(off)
		}
	}
	return dst
}

// eachCold reads a blob and calls fn with every value in it.
func (l *layout) eachCold(blob []byte, fn func(key []byte, seq uint64, expiry int64, value []byte)) error {
	r := columnReader{b: blob}
	n := r.uvarint()
	key := r.bytes(r.uvarint())
	for ; n > 0 && !r.bad; n-- {
		seq, expiry := uint64(0), NoExpiry
		if l.multi {
			seq = r.uvarint()
		}
		if l.expiring {
			expiry = r.varint()
		}
		value := r.bytes(r.uvarint())
		if !r.bad {
			fn(key, seq, expiry, value)
		}
	}
	if r.bad || len(r.b) > 0 {
		return fmt.Errorf("a record of the cold store is damaged")
	}
	return nil
}

// warmSlot makes the values of a blob resident in the place of a cold slot. flag is hotFlag or 0. As long as the record of
// a plain store does not change, its ticket stays good and evicting it again costs nothing.
func (b *bucket) warmSlot(slot int, ticket uint32, blob []byte, flag uint64) error {
	tag := uint32(b.slots[slot] >> 32)
	head, last := uint32(0), uint32(0)
	err := b.lay.eachCold(blob, func(key []byte, seq uint64, expiry int64, value []byte) {
		off := b.newRecord(columnar.HashBytes(key), key, uint32(len(value)), wordsOf(uint32(len(value))))
		copy(b.value(off), value)
		b.words[off+2] |= flag
		if b.lay.expiring {
			b.words[off+b.lay.expiry] = uint64(expiry)
			b.index.push(expiry, tag, off)
		}
		if b.lay.multi {
			b.words[off+b.lay.seq] = seq
			b.setLinks(off, 0, last)
			if last != 0 {
				b.setLinks(last, off, b.prev(last))
			}
		}
		if last = off; head == 0 {
			head = off
		}
	})
	if err != nil || head == 0 {
		return err
	}
	if b.lay.multi {
		b.setLinks(head, b.next(head), last)
		b.forgetPage(ticket)
	} else {
		b.words[head+2] |= cleanFlag | uint64(ticket)<<32
	}
	b.slots[slot] = uint64(tag)<<32 | uint64(head)
	b.cold--
	return nil
}

// coldSlots appends the tickets of the cold slots of a tag to dst.
func (b *bucket) coldSlots(tag uint32, dst []uint32) []uint32 {
	if b.cold == 0 {
		return dst
	}
	for i := int(tag >> b.shift); ; i++ {
		s := b.slots[i]
		if uint32(s) == 0 || uint32(s>>32) > tag {
			return dst
		}
		if uint32(s>>32) == tag && isCold(uint32(s)) {
			dst = append(dst, uint32(s)-coldBase)
		}
	}
}

// warmTags makes all records of the given tags of bucket n resident.
func (s *Store) warmTags(n uint8, tags []uint32) error {
	b := &s.buckets[n]
	var found []uint64 // ticket << 32 | tag
	var tickets []uint32
	for _, tag := range tags {
		tickets = b.coldSlots(tag, tickets[:0])
		for _, t := range tickets {
			found = append(found, uint64(t)<<32|uint64(tag))
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	return s.warmTickets(n, found, func(ticket, tag uint32) int { return b.slotOf(tag, coldBase+ticket) }, hotFlag)
}

// warmTickets makes records of bucket n resident. found are the tickets, each << 32 beside what slot makes its slot of, in
// order. flag is that of warmSlot.
func (s *Store) warmTickets(n uint8, found []uint64, slot func(ticket, hint uint32) int, flag uint64) error {
	if len(found) == 0 {
		return nil
	}
	b := &s.buckets[n]
	tickets := make([]uint32, len(found))
	for i, f := range found {
		tickets[i] = uint32(f >> 32)
	}
	i := 0
	err := s.db.cold.fetch(s.id, n, len(b.pages)-len(b.freePages), tickets, func(t uint32, blob []byte) error {
		hint := uint32(found[i])
		i++
		return b.warmSlot(slot(t, hint), t, blob, flag)
	})
	if err != nil {
		return fmt.Errorf("store %q: %w", s.spec.Name, err)
	}
	return nil
}

// warmKey makes the values of key resident, if they lie in the cold store, and returns the offset of the first, or 0.
func (p *Part) warmKey(n uint8, hash uint64, key []byte) uint32 {
	if p.err != nil {
		return 0
	}
	if err := p.store.warmTags(n, []uint32{tagOf(hash)}); err != nil {
		p.fail(err)
		return 0
	}
	off, _ := p.buckets[n].find(hash, key)
	return off
}

// warmRows makes everything resident that looking up the given rows may need, reading each bucket in order.
func (p *Part) warmRows(hashes []uint64, rows []int32) {
	if p.db.cold == nil || p.err != nil {
		return
	}
	need := p.need[:0]
	for _, r := range rows {
		if h := hashes[r]; p.buckets[h>>56].maybeCold(tagOf(h)) {
			need = append(need, h>>24)
		}
	}
	p.warmNeeded(need)
}

// warm is warmRows for all of several lists of hashes.
func (p *Part) warm(lists [][]uint64) {
	if p.db.cold == nil || p.err != nil {
		return
	}
	need := p.need[:0]
	for _, hashes := range lists {
		for _, h := range hashes {
			if p.buckets[h>>56].maybeCold(tagOf(h)) {
				need = append(need, h>>24)
			}
		}
	}
	p.warmNeeded(need)
}

// maybeCold says whether a record of the tag lies in the cold store.
func (b *bucket) maybeCold(tag uint32) bool {
	if b.cold == 0 {
		return false
	}
	for i := int(tag >> b.shift); ; i++ {
		s := b.slots[i]
		if uint32(s) == 0 || uint32(s>>32) > tag {
			return false
		}
		if uint32(s>>32) == tag && isCold(uint32(s)) {
			return true
		}
	}
}

// warmNeeded makes records resident that are given by bucket << 32 | tag, in any order.
func (p *Part) warmNeeded(need []uint64) {
	slices.Sort(need)
	var tags []uint32
	for i := 0; i < len(need); {
		n := need[i] >> 32
		tags = tags[:0]
		for ; i < len(need) && need[i]>>32 == n; i++ {
			if tag := uint32(need[i]); len(tags) == 0 || tag != tags[len(tags)-1] {
				tags = append(tags, tag)
			}
		}
		if err := p.store.warmTags(uint8(n), tags); err != nil {
			p.fail(err)
			break
		}
	}
	p.need = need[:0]
}

// warmBucket makes all records of bucket n resident, for a walk. They are not marked as used, so that the next eviction
// puts back what the walk has not changed.
func (s *Store) warmBucket(n uint8) error {
	b := &s.buckets[n]
	found := make([]uint64, 0, b.cold) // ticket << 32 | slot
	for i, x := range b.slots {
		if off := uint32(x); isCold(off) {
			found = append(found, uint64(off-coldBase)<<32|uint64(i))
		}
	}
	slices.Sort(found)
	return s.warmTickets(n, found, func(_, i uint32) int { return int(i) }, 0)
}
