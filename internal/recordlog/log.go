// Package recordlog keeps numbered records in segment files that are only ever appended to. It is what the offset log, the
// commit log and the change log of the state have in common.
//
// # Segments, generations and what is visible
//
// Every owner of a log begins a segment of its own, with a generation above all earlier ones and a base: the last id
// that it takes over. Records of older segments with ids above the base are void from then on. So nothing is ever cut off
// or written over: a torn tail is left where it is, a rollback is a new segment with a lower base, and what an owner
// writes that has lost its lock without noticing is never seen by anybody.
//
// # What a crash may leave, and what it may not
//
// A record that was not written in full at the end of a segment is as if it had never been written: the file ends within
// it, or shows zeros from some byte on, or lacks a whole sector. Anything else that does not read well is damage and is
// refused with a DamagedError that names the file. A gap between segments is damage too.
package recordlog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// Options describe a log.
type Options struct {
	// FS and Dir say where the segments lie.
	FS  vfs.FS
	Dir string
	// Kind is what the log holds, e.g. "offsets". A segment of another kind is refused.
	Kind string
	// Query is the id of the query; a segment of another one is refused, unless it is of one of Ancestors, from which
	// the query was forked. Empty compares nothing.
	Query     string
	Ancestors []string
	// Only names the segments that count; one of them that is missing is an error, others are not looked at. Nil is all.
	Only []string
	// Extra returns what goes into SegmentHeader.Extra of a new segment; nil for nothing.
	Extra func() json.RawMessage
	// Sparse allows ids to be left out. Otherwise every id follows the one before.
	Sparse bool
	// Unlisted says that nothing lists the segments that count, so that a crash may undo some of the deletions of the oldest
	// ones: what lies before a gap does not count then. Otherwise a gap is damage.
	Unlisted bool
	// Preallocate writes zeros this many bytes ahead, so that a sync after a small record need not write the file's
	// length. 0 appends.
	Preallocate int64
	// SegmentBytes is the length from which on a segment is closed; 0 is 64 MiB.
	SegmentBytes int64
	// OnSegment is called with the name of each new segment, after its header is durable and before it is used.
	OnSegment func(name string) error
	// Failpoints, and the names of the points passed with half of a record written and before it is synced.
	Failpoints              *failpoint.Set
	PartialPoint, SyncPoint string
}

// Log is an open log. It is used by one goroutine at a time.
type Log struct {
	o        Options
	segments []*segment // by generation and base
	last     int64      // last visible id
	tail     int64      // last id that is really there, at most last
	f        vfs.File   // of the segment being written, the last of segments; nil before Begin
	pos      int64      // where the next record goes
	ahead    int64      // length of the file, zeros from pos on
	unsynced bool       // the last record was not synced
	err      error      // a write failed: nothing more may be written
	buf      []byte
}

// ErrBroken is wrapped by what Append returns after an earlier write has failed.
var ErrBroken = errors.New("the log is broken by an earlier error")

// Open reads which records a log holds. The folder must exist.
func Open(o Options) (*Log, error) {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 64 << 20
	}
	if vfs.Remote(o.FS, o.Dir) {
		o.Preallocate = 0 // every byte that a sync adds is sent
	}
	l := &Log{o: o, last: -1, tail: -1}
	infos, err := o.FS.List(o.Dir)
	if err != nil {
		return nil, err
	}
	missing := slices.Clone(o.Only)
	for _, info := range infos {
		gen, base, ok := parseSegmentName(info.Name())
		if !ok || o.Only != nil && !slices.Contains(o.Only, info.Name()) {
			continue
		}
		missing = slices.DeleteFunc(missing, func(n string) bool { return n == info.Name() })
		s := &segment{name: vfs.Join(o.Dir, info.Name()), gen: gen, base: base}
		if err := s.walk(&l.o); err != nil {
			return nil, err
		}
		l.segments = append(l.segments, s)
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("file %q is missing: %w", vfs.Join(o.Dir, missing[0]), fs.ErrNotExist)
	}
	slices.SortFunc(l.segments, func(a, b *segment) int {
		return cmp.Or(cmp.Compare(a.gen, b.gen), cmp.Compare(a.base, b.base))
	})
	return l, l.connect()
}

// connect finds out what is visible and checks that it has no gaps.
func (l *Log) connect() error {
	limit := int64(math.MaxInt64) // by the segments behind
	older := int64(math.MaxInt64) // the same, for segments of older generations than that of the last one looked at
	for i := len(l.segments) - 1; i >= 0; i-- {
		s := l.segments[i]
		if i+1 < len(l.segments) && l.segments[i+1].gen > s.gen {
			limit = min(limit, older)
		}
		s.limit = limit
		if l.neverBegun(s) {
			continue
		}
		limit, older = min(limit, s.base), min(older, s.begun())
		n, _ := slices.BinarySearchFunc(s.entries, s.limit, func(e entry, id int64) int {
			if e.id <= id {
				return -1
			}
			return 1
		})
		s.entries = s.entries[:n]
	}
	l.last, l.tail = -1, -1
	first := true
	for i, s := range l.segments {
		if l.neverBegun(s) {
			continue
		}
		// What a former owner wrote after the first segments of later ones had been deleted is the beginning of nothing.
		if first && len(s.entries) == 0 && s.base >= s.limit {
			continue
		}
		base := min(s.base, s.limit)
		if first {
			first = false
			l.last, l.tail = base, base
			if !s.torn {
				l.tail = min(s.header.Tail, base)
			}
		} else {
			l.tail = min(l.tail, base)
			// A segment that is void as a whole says nothing about what was there before a lower base.
			if want := s.header.Tail; !s.torn && s.base <= s.limit && l.tail < want && !l.o.Sparse {
				if !l.o.Unlisted {
					return &DamagedError{l.FileOf(l.tail + 1), 0, fmt.Sprintf("entries %d to %d are missing", l.tail+1, want)}
				}
				for _, before := range l.segments[:i] {
					before.entries = nil
				}
				l.tail = min(want, base)
			}
			l.last = base
		}
		if n := len(s.entries); n > 0 {
			l.last = s.entries[n-1].id
			l.tail = l.last
		}
	}
	return nil
}

// neverBegun says whether a segment is that of an owner that was stopped before its header was durable, and has written nothing:
// it is as if it were not there. One that is listed was durable.
func (l *Log) neverBegun(s *segment) bool { return s.torn && l.o.Unlisted }

// Segments returns the names of the segment files, oldest first.
func (l *Log) Segments() []string {
	var out []string
	for _, s := range l.segments {
		out = append(out, filepath.Base(s.name))
	}
	return out
}

// Headers returns the headers of the segments, oldest first. A segment without a complete header is left out.
func (l *Log) Headers() []SegmentHeader {
	var out []SegmentHeader
	for _, s := range l.segments {
		if !s.torn {
			out = append(out, s.header)
		}
	}
	return out
}

// Generation returns the highest generation there is, 0 if there is none.
func (l *Log) Generation() int64 {
	if len(l.segments) == 0 {
		return 0
	}
	return l.segments[len(l.segments)-1].gen
}

// Last returns the greatest visible id, -1 if there is none.
func (l *Log) Last() int64 { return l.last }

// Tail returns the greatest id whose record is there. It is below Last if a segment was begun further on.
func (l *Log) Tail() int64 { return l.tail }

// First returns the smallest visible id that is still there, Last()+1 if there is none.
func (l *Log) First() int64 {
	for _, s := range l.segments {
		if len(s.entries) > 0 {
			return s.entries[0].id
		}
	}
	return l.last + 1
}

// Visible says whether what generation gen wrote for id counts, and is not void by the base of a later generation.
func (l *Log) Visible(gen, id int64) bool {
	for _, s := range l.segments {
		if l.neverBegun(s) {
			continue
		}
		for _, start := range s.starts() {
			if start[0] > gen && id > start[1] {
				return false
			}
		}
	}
	return true
}

// Read returns the record id; fs.ErrNotExist if there is none.
func (l *Log) Read(id int64) ([]byte, error) {
	for i := len(l.segments) - 1; i >= 0; i-- {
		s := l.segments[i]
		n, ok := slices.BinarySearchFunc(s.entries, id, func(e entry, id int64) int { return cmp.Compare(e.id, id) })
		if !ok {
			continue
		}
		f, err := l.o.FS.Open(s.name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return s.read(f, s.entries[n])
	}
	return nil, fmt.Errorf("%s entry %d: %w", l.o.Kind, id, fs.ErrNotExist)
}

// Scan calls fn with the visible records from id from to id to, in order. Each payload is fn's to keep.
func (l *Log) Scan(from, to int64, fn func(id int64, payload []byte) error) error {
	for _, s := range l.segments {
		if n := len(s.entries); n == 0 || s.entries[n-1].id < from || s.entries[0].id > to {
			continue
		}
		if err := l.scanSegment(s, from, to, fn); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) scanSegment(s *segment, from, to int64, fn func(id int64, payload []byte) error) error {
	f, err := l.o.FS.Open(s.name)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, e := range s.entries {
		if e.id < from || e.id > to {
			continue
		}
		b, err := s.read(f, e)
		if err != nil {
			return err
		}
		if err := fn(e.id, b); err != nil {
			return fmt.Errorf("file %q: entry %d: %w", s.name, e.id, err)
		}
	}
	return nil
}

// FileOf returns the name of the file that holds, or did hold, entry id.
func (l *Log) FileOf(id int64) string {
	for i := len(l.segments) - 1; i >= 0; i-- {
		if s := l.segments[i]; s.base < id && id <= s.limit {
			return s.name
		}
	}
	return l.o.Dir
}

// Begin starts a new segment of the given generation, which must be above Generation, and makes records above base void.
func (l *Log) Begin(gen, base int64) error {
	if err := l.closeFile(); err != nil {
		return err
	}
	if err := l.syncTail(); err != nil {
		return err
	}
	l.tail = l.tailAt(base)
	l.last = base
	l.err = nil
	if err := l.newSegment(gen, base, nil); err != nil {
		return err
	}
	return l.connect()
}

// tailAt returns the greatest id up to base whose record is there; if none is, what the oldest segment says.
func (l *Log) tailAt(base int64) int64 {
	tail, first := min(base, -1), true
	for _, s := range l.segments {
		if first && !l.neverBegun(s) {
			first, tail = false, min(s.base, base)
			if !s.torn {
				tail = min(s.header.Tail, base)
			}
		}
		for _, e := range s.entries {
			if e.id <= base {
				tail = max(tail, e.id)
			}
		}
	}
	return tail
}

// syncTail makes durable what the former owner has written and perhaps not synced. It was read and will be acted upon, so
// it must not vanish later.
func (l *Log) syncTail() error {
	for i := len(l.segments) - 1; i >= 0; i-- {
		s := l.segments[i]
		if len(s.entries) == 0 {
			continue
		}
		f, err := l.o.FS.OpenReadWrite(s.name)
		if err != nil {
			return err
		}
		err = f.Sync()
		return errors.Join(err, f.Close())
	}
	return nil
}

// SegmentsAfter returns how many segments hold visible records above id.
func (l *Log) SegmentsAfter(id int64) (n int) {
	for _, s := range l.segments {
		if k := len(s.entries); k > 0 && s.entries[k-1].id > id {
			n++
		}
	}
	return n
}

// Merge copies the records of the newest segments into one, if there are at least count of them with no more than
// maxBytes in all, and returns the names of the files that are not needed any more, see Delete. Many short runs leave many
// short segments. It is called before Begin. A crash leaves either all or nothing of it.
func (l *Log) Merge(count int, maxBytes int64) (merged []string, err error) {
	from, bytes := len(l.segments), int64(0)
	for from > 0 {
		s := l.segments[from-1]
		if n := len(s.entries); n > 0 {
			bytes += s.entries[n-1].off + s.entries[n-1].n
			gap := s.entries[0].id != s.base+1 || from < len(l.segments) && s.entries[n-1].id != l.segments[from].base
			if s.torn || gap && !l.o.Sparse {
				break
			}
		}
		if bytes > maxBytes {
			break
		}
		from--
	}
	if len(l.segments)-from < count {
		return nil, nil
	}
	gen := l.Generation() + 1
	s := &segment{gen: gen, base: l.segments[from].base}
	s.name = vfs.Join(l.o.Dir, segmentName(gen, s.base))
	s.header = l.newHeader(gen, s.base, l.tailAt(s.base))
	for _, old := range l.segments[from:] {
		for _, start := range old.starts() {
			// One that began no further on says all that those before it say.
			for n := len(s.header.Merged); n > 0 && s.header.Merged[n-1][1] >= start[1]; n-- {
				s.header.Merged = s.header.Merged[:n-1]
			}
			s.header.Merged = append(s.header.Merged, start)
		}
	}
	payload, err := json.Marshal(s.header)
	if err != nil {
		return nil, err
	}
	f, err := l.o.FS.Create(s.name + ".tmp")
	if err != nil {
		return nil, err
	}
	w := &Log{o: Options{FS: l.o.FS}, f: f}
	_, err = w.write(typeHeader, 0, payload)
	for _, old := range l.segments[from:] {
		if err != nil {
			break
		}
		err = l.scanSegment(old, -1, math.MaxInt64, func(id int64, b []byte) error {
			s.entries = append(s.entries, entry{id: id, off: w.pos + headerSize, n: int64(len(b))})
			fr, err := w.write(typeRecord, id, b)
			s.entries[len(s.entries)-1].crc = fr.crc
			return err
		})
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err := vfs.RenameNew(l.o.FS, s.name+".tmp", s.name); err != nil {
		return nil, err
	}
	if err := l.o.FS.SyncDir(l.o.Dir); err != nil {
		return nil, err
	}
	for _, old := range l.segments[from:] {
		merged = append(merged, filepath.Base(old.name))
	}
	l.segments = append(l.segments[:from:from], s)
	return merged, l.connect()
}

// DropEmpty takes the older segments off the log in which no record counts any more, and returns their names. It is called
// after Begin. The files are still there: once nothing lists them any more, Delete removes them.
func (l *Log) DropEmpty() []string {
	var dropped []string
	limit := int64(math.MaxInt64)
	for i := len(l.segments) - 1; i >= 0; i-- {
		s := l.segments[i]
		if !l.neverBegun(s) && (len(s.entries) > 0 || limit > s.begun()) { // the last one included: nothing limits it
			limit = min(limit, s.begun())
			continue
		}
		dropped = append(dropped, filepath.Base(s.name))
		l.segments = slices.Delete(l.segments, i, i+1)
	}
	return dropped
}

// Delete removes the files of segments that were dropped. One that is gone already is no error.
func (l *Log) Delete(names []string) error {
	for _, name := range names {
		if err := l.o.FS.Remove(vfs.Join(l.o.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (l *Log) newHeader(gen, base, tail int64) SegmentHeader {
	h := SegmentHeader{Format: FormatVersion, Kind: l.o.Kind, Query: l.o.Query, Generation: gen, Base: base, Tail: tail}
	if l.o.Extra != nil {
		h.Extra = l.o.Extra()
	}
	return h
}

func (l *Log) newSegment(gen, base int64, begun *int64) error {
	s := &segment{name: vfs.Join(l.o.Dir, segmentName(gen, base)), gen: gen, base: base, limit: math.MaxInt64}
	s.header = l.newHeader(gen, base, l.tail)
	s.header.Begun = begun
	payload, err := json.Marshal(s.header)
	if err != nil {
		return err
	}
	f, err := vfs.CreateNew(l.o.FS, s.name)
	if err != nil {
		return err
	}
	l.f, l.pos, l.ahead, l.unsynced = f, 0, 0, false
	if _, err := l.write(typeHeader, 0, payload); err != nil {
		return l.fail(err)
	}
	if err := f.Sync(); err != nil {
		return l.fail(err)
	}
	if err := l.o.FS.SyncDir(l.o.Dir); err != nil {
		return l.fail(err)
	}
	if l.o.OnSegment != nil {
		if err := l.o.OnSegment(filepath.Base(s.name)); err != nil {
			return l.fail(err)
		}
	}
	l.segments = append(l.segments, s)
	return nil
}

func (l *Log) fail(err error) error {
	l.err = err
	return err
}

// Append writes record id, the payload being the given pieces one behind the other, and makes it durable if sync is set.
// After an error the log takes no more records until the next Begin: what is on disk is unknown then.
func (l *Log) Append(id int64, sync bool, payload ...[]byte) error {
	if l.err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, l.err)
	}
	if l.f == nil {
		return fmt.Errorf("%s log %q: append before begin", l.o.Kind, l.o.Dir)
	}
	if id <= l.last || !l.o.Sparse && id != l.last+1 {
		return fmt.Errorf("%s log %q: entry %d cannot follow entry %d", l.o.Kind, l.o.Dir, id, l.last)
	}
	s := l.segments[len(l.segments)-1]
	if l.pos >= l.o.SegmentBytes && len(s.entries) > 0 {
		begun := s.begun()
		if l.unsynced {
			if err := l.f.Sync(); err != nil {
				return l.fail(err)
			}
		}
		if err := l.closeFile(); err != nil {
			return l.fail(err)
		}
		if err := l.newSegment(s.gen, l.last, &begun); err != nil {
			return err
		}
		if err := l.connect(); err != nil {
			return l.fail(err)
		}
		s = l.segments[len(l.segments)-1]
	}
	at := l.pos
	fr, err := l.write(typeRecord, id, payload...)
	if err != nil {
		return l.fail(err)
	}
	if err := l.o.Failpoints.Hit(l.o.SyncPoint, id); err != nil {
		return l.fail(err)
	}
	if sync {
		if err := l.f.Sync(); err != nil {
			return l.fail(err)
		}
	}
	l.unsynced = !sync
	s.entries = append(s.entries, entry{id: id, off: at + headerSize, n: fr.length, crc: fr.crc})
	l.last, l.tail = id, id
	return nil
}

// smallRecord is up to how many bytes a record is put together in memory and written at once.
const smallRecord = 64 << 10

func (l *Log) write(typ byte, id int64, payload ...[]byte) (fr frame, err error) {
	fr = frame{typ: typ, id: id}
	for _, p := range payload {
		fr.length += int64(len(p))
		fr.crc = crc32.Update(fr.crc, crcTable(), p)
	}
	whole := headerSize + fr.length + trailerSize
	if l.o.Preallocate > 0 && l.pos+whole > l.ahead {
		ahead := l.pos + whole + l.o.Preallocate
		ahead -= ahead % l.o.Preallocate
		if _, err := l.f.WriteAt(make([]byte, ahead-l.ahead), l.ahead); err != nil {
			return fr, err
		}
		l.ahead = ahead
	}
	head := [headerSize]byte{}
	fr.put(head[:])
	if whole > smallRecord && !l.o.Failpoints.Armed(l.o.PartialPoint, id) {
		if err := l.writeRaw(head[:]); err != nil {
			return fr, err
		}
		for _, p := range payload {
			if err := l.writeRaw(p); err != nil {
				return fr, err
			}
		}
		return fr, l.writeRaw([]byte(trailer))
	}
	l.buf = append(l.buf[:0], head[:]...)
	for _, p := range payload {
		l.buf = append(l.buf, p...)
	}
	l.buf = append(l.buf, trailer...)
	if typ != typeRecord {
		return fr, l.writeRaw(l.buf)
	}
	return fr, l.o.Failpoints.Write(l.o.PartialPoint, id, l.buf, l.writeRaw)
}

func (l *Log) writeRaw(b []byte) error {
	n, err := l.f.WriteAt(b, l.pos)
	l.pos += int64(n)
	return err
}

// DropBelow takes the segments off the log whose visible records all have ids below keepFrom, but not the one being
// written, and returns their names, oldest first. The files are still there, see Delete.
func (l *Log) DropBelow(keepFrom int64) []string {
	var dropped []string
	for len(l.segments) > 1 {
		s := l.segments[0]
		if n := len(s.entries); n > 0 && s.entries[n-1].id >= keepFrom {
			break
		}
		dropped = append(dropped, filepath.Base(s.name))
		l.segments = l.segments[1:]
	}
	return dropped
}

// Close closes the file being written and gives back what was preallocated.
func (l *Log) Close() error { return l.closeFile() }

func (l *Log) closeFile() error {
	if l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	if l.err == nil && l.ahead > l.pos {
		if err := f.Truncate(l.pos); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}

// Generation returns the generation in the name of a segment file; ok is false if it is the name of something else.
func Generation(name string) (gen int64, ok bool) {
	gen, _, ok = parseSegmentName(name)
	return gen, ok
}
