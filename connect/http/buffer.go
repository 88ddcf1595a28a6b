package http

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wstream/wstream/internal/recordlog"
	"github.com/wstream/wstream/internal/vfs"
)

// buffer keeps requests on disk, in records that are numbered from 1: a record holds the requests that were made durable by
// one sync. It lies in a folder of the checkpoint. A record is forgotten some time after a batch with it is committed.
type buffer struct {
	limits

	mu      sync.Mutex
	first   int64               // the record whose size is sizes[0]
	sizes   []int64             // bytes of the records from first on
	last    int64               // the newest record
	taken   int64               // records up to this one belong to committed batches
	waiting int64               // bytes of the records behind taken, and of pending
	needed  int64               // records below it are not needed any more
	keys    map[string]*keptKey // requests by their Idempotency-Key
	order   []string            // the same keys, oldest first
	coming  map[string]*arrival // requests of pending that have a key
	pending []*arrival          // not durable yet
	writing bool                // a goroutine makes them durable
	broken  error               // nothing more is taken: a write has failed, or the buffer was closed
	more    chan struct{}       // closed when there are more records, or nothing more is taken
	done    sync.WaitGroup      // the writing goroutine

	logMu sync.Mutex // guards what follows; held during a sync, unlike mu
	log   *recordlog.Log
	fs    vfs.FS
	dir   string
	gone  []string // files to be deleted
	warn  func(format string, args ...any)
}

// limits bound a buffer.
type limits struct {
	room    int64 // bytes that may wait for a commit
	spare   int64 // bytes of committed requests that are kept for a rollback
	segment int64 // bytes of a file; the buffer shrinks by whole files
	keys    int   // how many keys are known at least
}

// keptKey is what is known of a request that was taken.
type keptKey struct {
	record int64  // where it is written
	hash   uint64 // of its body
}

// arrival is a request that is about to become durable. err is set before durable is closed.
type arrival struct {
	request
	durable chan struct{}
	err     error
}

// Errors of put.
var (
	errFull   = errors.New("the buffer is full")
	errClosed = errors.New("the query ends")
	errReused = errors.New("the same Idempotency-Key came with another body before")
)

// groupBytes is how long the bodies of a record are in all, unless one is longer.
const groupBytes = 4 << 20

// openBuffer reads what an earlier run has left.
func openBuffer(fsys vfs.FS, dir string, l limits, warn func(format string, args ...any)) (*buffer, error) {
	if err := vfs.MkdirAllSync(fsys, dir); err != nil {
		return nil, err
	}
	b := &buffer{
		limits: l, fs: fsys, dir: dir, warn: warn, keys: map[string]*keptKey{}, coming: map[string]*arrival{}, more: make(chan struct{}),
	}
	var err error
	if b.log, err = recordlog.Open(b.options(nil)); err != nil {
		return nil, err
	}
	b.last = max(b.log.Last(), 0)
	b.first = b.last + 1
	note := func(id int64, payload []byte) error {
		h, err := readRecord(payload)
		if err == nil {
			b.note(id, h)
		}
		return err
	}
	if err := b.log.Scan(1, b.last, note); err != nil {
		return nil, err
	}
	if err := b.log.Begin(b.log.Generation()+1, b.last); err != nil {
		return nil, err
	}
	if err := b.adopt(note); err != nil {
		return nil, errors.Join(err, b.log.Close())
	}
	return b, b.log.Delete(b.log.DropEmpty())
}

func (b *buffer) options(only []string) recordlog.Options {
	return recordlog.Options{FS: b.fs, Dir: b.dir, Kind: "http", Sparse: true, SegmentBytes: b.segment, Only: only}
}

// adopt takes over what a former owner, which was suspended perhaps, has written between our look at its files and the
// begin of ours. From here on it sees that it is not the owner before it answers a request; see owned.
func (b *buffer) adopt(note func(id int64, payload []byte) error) error {
	infos, err := b.fs.List(b.dir)
	if err != nil {
		return err
	}
	var old []string
	for _, info := range infos {
		if gen, ok := recordlog.Generation(info.Name()); ok && gen < b.log.Generation() {
			old = append(old, info.Name())
		}
	}
	if len(old) == 0 {
		return nil
	}
	former, err := recordlog.Open(b.options(old))
	if err != nil {
		return err
	}
	return former.Scan(b.last+1, former.Last(), func(id int64, payload []byte) error {
		if err := b.log.Append(id, true, payload); err != nil {
			return err
		}
		return note(id, payload)
	})
}

// owned is an error if another process has begun to write here.
func (b *buffer) owned() error {
	infos, err := b.fs.List(b.dir)
	for _, info := range infos {
		if gen, ok := recordlog.Generation(info.Name()); ok && gen > b.log.Generation() {
			return errors.New("another process has taken over the checkpoint")
		}
	}
	return err
}

// note remembers a record that is durable. The lock is held, or nobody else knows the buffer yet.
func (b *buffer) note(id int64, h recordHeader) {
	if len(b.sizes) == 0 {
		b.first = id
	}
	for b.first+int64(len(b.sizes)) < id {
		b.sizes = append(b.sizes, 0)
	}
	b.sizes = append(b.sizes, h.bytes())
	b.waiting += h.bytes()
	b.last = id
	for _, k := range h.Keys {
		b.noteKey(k.Key, k.Hash, id)
	}
	for i := range h.Requests {
		if r := &h.Requests[i]; r.Key != "" {
			b.noteKey(r.Key, r.Hash, id)
		}
	}
}

func (b *buffer) noteKey(key string, hash uint64, id int64) {
	if k := b.keys[key]; k != nil {
		k.record = id
		return
	}
	b.keys[key] = &keptKey{id, hash}
	if b.order = append(b.order, key); len(b.order) > b.limits.keys {
		delete(b.keys, b.order[0])
		b.order = b.order[1:]
	}
}

// begin says that records up to at are of batches that are durable: new ones are numbered above it.
func (b *buffer) begin(at int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.commit(at)
	if b.last < at {
		b.last, b.first, b.sizes = at, at+1, nil
	}
}

// put makes a request durable; one with a key that is there already is not taken again. It returns errFull, errReused, or
// why nothing is taken any more.
func (b *buffer) put(r request) error {
	a := &arrival{request: r, durable: make(chan struct{})}
	b.mu.Lock()
	if r.Key != "" {
		if k := b.keys[r.Key]; k != nil {
			b.mu.Unlock()
			if k.hash != r.Hash {
				return errReused
			}
			return nil
		}
		if p := b.coming[r.Key]; p != nil {
			b.mu.Unlock()
			if p.Hash != r.Hash {
				return errReused
			}
			<-p.durable
			return p.err
		}
	}
	size := int64(r.Bytes)
	switch {
	case b.broken != nil:
		defer b.mu.Unlock()
		return b.broken
	case b.waiting > 0 && b.waiting+size > b.room:
		b.mu.Unlock()
		return errFull
	}
	b.waiting += size
	b.pending = append(b.pending, a)
	if r.Key != "" {
		b.coming[r.Key] = a
	}
	if !b.writing {
		b.writing = true
		b.done.Go(b.write)
	}
	b.mu.Unlock()
	<-a.durable
	return a.err
}

// write makes what is pending durable, a group by each sync, until nothing is pending.
func (b *buffer) write() {
	for {
		b.mu.Lock()
		if b.broken != nil || len(b.pending) == 0 {
			for _, a := range b.pending {
				a.err = b.broken
				close(a.durable)
			}
			b.pending, b.writing = nil, false
			b.mu.Unlock()
			return
		}
		n, size := 0, 0
		for n < len(b.pending) && (n == 0 || size+b.pending[n].Bytes <= groupBytes) {
			size += b.pending[n].Bytes
			n++
		}
		group := slices.Clone(b.pending[:n])
		b.pending = slices.Delete(b.pending, 0, n)
		id, needed := b.last+1, b.needed
		b.mu.Unlock()

		h, err := b.append(id, needed, group)

		b.mu.Lock()
		for _, a := range group {
			b.waiting -= int64(a.Bytes) // note counts them again
			delete(b.coming, a.Key)
		}
		if err == nil {
			b.note(id, h)
		} else {
			err = fmt.Errorf("the buffer of requests: %w", err)
			b.broken = err
		}
		b.signal()
		b.mu.Unlock()
		for _, a := range group {
			a.err = err
			close(a.durable)
		}
	}
}

// append writes and syncs a record, and then removes the files that hold nothing that is needed. The keys that stand in
// them go into the record, so that they are not forgotten.
func (b *buffer) append(id, needed int64, group []*arrival) (recordHeader, error) {
	b.logMu.Lock()
	defer b.logMu.Unlock()
	var h recordHeader
	if gone := b.log.DropBelow(needed); len(gone) > 0 {
		b.gone = append(b.gone, gone...)
		first := b.log.First()
		b.mu.Lock()
		for _, key := range b.order {
			if k := b.keys[key]; k.record < first {
				h.Keys = append(h.Keys, carriedKey{key, k.hash})
			}
		}
		b.mu.Unlock()
	}
	pieces := make([][]byte, 2, 2+len(group))
	for _, a := range group {
		h.Requests = append(h.Requests, a.request)
		pieces = append(pieces, a.body)
	}
	text, err := json.Marshal(h)
	if err != nil {
		return h, err
	}
	pieces[0], pieces[1] = recordPrefix(len(text)), text
	if err := b.log.Append(id, true, pieces...); err != nil {
		return h, err
	}
	if err := b.owned(); err != nil {
		return h, err
	}
	if err := b.log.Delete(b.gone); err != nil { // tried again behind the next record
		b.warn("the buffer of requests cannot be made smaller: %s", err)
		return h, nil
	}
	b.gone = nil
	return h, nil
}

// signal wakes who waits. The lock is held.
func (b *buffer) signal() {
	close(b.more)
	b.more = make(chan struct{})
}

// end is the last record that a batch takes which begins behind start and takes no more than so many bytes, but one record
// at least; 0 is no limit. It also gives the newest record there is.
func (b *buffer) end(start, most int64) (end, last int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if most <= 0 {
		return max(b.last, start), b.last
	}
	sum := int64(0)
	for end = start; end < b.last; end++ {
		if i := end + 1 - b.first; i >= 0 && i < int64(len(b.sizes)) {
			sum += b.sizes[i]
		}
		if sum > most && end > start {
			break
		}
	}
	return end, b.last
}

// changed is closed when there are more records, or nothing more comes; ready says that it need not be waited for.
func (b *buffer) changed(start int64) (ready bool, more chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last > start || b.broken != nil, b.more
}

// read gives a record.
func (b *buffer) read(id int64) ([]byte, error) {
	b.logMu.Lock()
	defer b.logMu.Unlock()
	return b.log.Read(id)
}

// committed makes room: records up to end belong to committed batches. Those below keep are of batches to which nobody can
// roll back any more; of the others as many are kept as spare allows.
func (b *buffer) committed(end, keep int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.commit(end)
	kept := int64(0)
	for at := b.taken; at >= b.first; at-- {
		if kept += b.sizes[at-b.first]; kept > b.spare || at <= keep {
			keep = at
			break
		}
	}
	b.needed = max(b.needed, min(keep+1, b.taken+1))
	if n := min(b.needed-b.first, int64(len(b.sizes))); n > 0 {
		b.sizes = slices.Delete(b.sizes, 0, int(n))
		b.first += n
	}
}

// commit moves taken. The lock is held.
func (b *buffer) commit(end int64) {
	for at := max(b.taken+1, b.first); at <= end && at-b.first < int64(len(b.sizes)); at++ {
		b.waiting -= b.sizes[at-b.first]
	}
	b.taken = max(b.taken, end)
}

// stop takes no more: who waits to be durable is told err, unless it is on its way to the disk.
func (b *buffer) stop(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken == nil {
		b.broken = err
		b.signal()
	}
}

// fault is why nothing more is taken, nil if it is.
func (b *buffer) fault() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.broken
}

// close waits for a sync that is under way. Nothing is taken any more.
func (b *buffer) close() error {
	b.stop(errClosed)
	b.done.Wait()
	b.logMu.Lock()
	defer b.logMu.Unlock()
	return b.log.Close()
}
