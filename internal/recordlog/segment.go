package recordlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/wstream/wstream/internal/vfs"
)

// SegmentHeader is the first record of every segment.
type SegmentHeader struct {
	// Format is FormatVersion of the writer.
	Format int `json:"format"`
	// Kind is Options.Kind.
	Kind string `json:"kind"`
	// Query is Options.Query.
	Query string `json:"query"`
	// Generation counts the owners of the log; it grows with every Begin.
	Generation int64 `json:"generation"`
	// Base is the last id before this segment: records of older segments with greater ids are void.
	Base int64 `json:"base"`
	// Tail is the last id that the log did hold when the segment was started. It is below Base if the records between
	// had nothing in them.
	Tail int64 `json:"tail"`
	// Begun is the base with which the generation began, in those of its segments that were started later on: what older
	// generations hold above it is void, even where the first segment of this one is not needed any more.
	Begun *int64 `json:"begun,omitempty"`
	// Merged are generation and base of the segments whose records this one has taken over, see Log.Merge.
	Merged [][2]int64 `json:"merged,omitempty"`
	// Extra is Options.Extra.
	Extra json.RawMessage `json:"extra,omitempty"`
}

// segment is one file of a log.
type segment struct {
	name    string // path
	gen     int64
	base    int64 // from the name
	header  SegmentHeader
	torn    bool // the header itself was not written in full
	entries []entry
	limit   int64 // greatest id that is visible, by the bases of later segments
}

type entry struct {
	id  int64
	off int64 // of the payload
	n   int64
	crc uint32
}

// starts returns generation and base of the owners whose records the segment holds.
func (s *segment) starts() [][2]int64 {
	if len(s.header.Merged) > 0 {
		return s.header.Merged
	}
	if s.header.Begun != nil {
		return [][2]int64{{s.gen, *s.header.Begun}}
	}
	return [][2]int64{{s.gen, s.base}}
}

// begun returns the least base with which the owners began whose records the segment holds.
func (s *segment) begun() int64 {
	least := s.base
	for _, start := range s.starts() {
		least = min(least, start[1])
	}
	return least
}

// segmentName is "GENERATION-FIRST.log": the number of the owner and the first id that the segment may hold.
func segmentName(gen, base int64) string { return fmt.Sprintf("%08d-%020d.log", gen, base+1) }

func parseSegmentName(name string) (gen, base int64, ok bool) {
	if !strings.HasSuffix(name, ".log") || len(name) != 8+1+20+4 {
		return 0, 0, false
	}
	if _, err := fmt.Sscanf(name, "%08d-%020d.log", &gen, &base); err != nil {
		return 0, 0, false
	}
	base--
	return gen, base, segmentName(gen, base) == name
}

// DamagedError says that a file of a log is damaged in a way that a crash cannot explain.
type DamagedError struct {
	File   string
	Offset int64
	Reason string
}

// Error names the file.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("file %q is damaged at byte %d: %s", e.File, e.Offset, e.Reason)
}

// VersionError says that a file was written by a newer version of the program.
type VersionError struct {
	File      string
	Have, Can int
}

// Error names the file and both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("file %q has format version %d, this program reads up to version %d", e.File, e.Have, e.Can)
}

// walk reads the frames of the segment without their payloads, but for the last one, which may be torn.
func (s *segment) walk(o *Options) error {
	f, err := o.FS.Open(s.name)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	r := &windowReader{f: f, size: size}
	pos := int64(0)
	first := true
	for {
		fr, next, err := s.frameAt(r, pos)
		if err != nil {
			return fmt.Errorf("read %q: %w", s.name, err)
		}
		if next < 0 { // the end, or a record that was not written in full
			s.torn = first
			return nil
		}
		if first {
			if err := s.readHeader(o, r, pos, fr); err != nil {
				return err
			}
			first = false
		} else {
			if fr.typ != typeRecord {
				return &DamagedError{s.name, pos, fmt.Sprintf("unknown frame type %q", fr.typ)}
			}
			last := s.base
			if n := len(s.entries); n > 0 {
				last = s.entries[n-1].id
			}
			if fr.id <= last || !o.Sparse && fr.id != last+1 {
				return &DamagedError{s.name, pos, fmt.Sprintf("entry %d follows entry %d", fr.id, last)}
			}
			s.entries = append(s.entries, entry{fr.id, pos + headerSize, fr.length, fr.crc})
		}
		pos = next
	}
}

// frameAt reads the frame at pos and returns where the next one starts; -1 at the end of what was written.
func (s *segment) frameAt(r *windowReader, pos int64) (frame, int64, error) {
	if pos >= r.size {
		return frame{}, -1, nil
	}
	head, err := r.at(pos, min(headerSize, r.size-pos))
	if err != nil {
		return frame{}, 0, err
	}
	fr, ok := parseFrame(head)
	end := pos + headerSize + fr.length + trailerSize
	if ok && end <= r.size {
		tail, err := r.at(end-trailerSize, trailerSize)
		if err != nil {
			return frame{}, 0, err
		}
		if string(tail) == trailer {
			more, err := r.rest(end, headerSize)
			if err != nil {
				return frame{}, 0, err
			}
			if !allZero(more) { // another frame follows: this payload is looked at when it is read
				return fr, end, nil
			}
			payload, err := r.at(pos+headerSize, fr.length)
			if err != nil {
				return frame{}, 0, err
			}
			if crc32.Checksum(payload, crcTable()) == fr.crc {
				return fr, end, nil
			}
			if hasZeroSector(payload, pos+headerSize) {
				return frame{}, -1, nil
			}
			return frame{}, 0, &DamagedError{s.name, pos, "checksum of the last entry does not match"}
		}
	}
	rest, err := r.rest(pos, r.size-pos)
	if err != nil {
		return frame{}, 0, err
	}
	z := lastNonZero(rest)
	switch {
	case ok && end > r.size: // cut off
		return frame{}, -1, nil
	case ok && pos+int64(z) < end-1: // the end of the record was never written, and nothing after it
		return frame{}, -1, nil
	case !ok && z < headerSize-1 && (len(rest) < headerSize || allZero(rest[z+1:])) && prefixOfHeader(rest[:z+1]):
		return frame{}, -1, nil
	case (beginsUnwritten(rest, pos) || hasZeroSector(rest[:z+1], pos)) && !hasFrame(rest[1:]):
		return frame{}, -1, nil
	}
	return frame{}, 0, &DamagedError{s.name, pos, "not an entry, and not the end of an interrupted write"}
}

// beginsUnwritten says whether the sector in which a frame would begin at pos, where the bytes b lie, was never written: a frame
// that was would begin with the magic. Only what lies in later sectors has come to the disk.
func beginsUnwritten(b []byte, pos int64) bool {
	return allZero(b[:min(sectorSize-pos%sectorSize, int64(len(b)))])
}

// prefixOfHeader says whether b could be the first bytes of a frame header.
func prefixOfHeader(b []byte) bool {
	return len(b) == 0 || strings.HasPrefix(magic, string(b[:min(len(b), len(magic))]))
}

func lastNonZero(b []byte) int {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != 0 {
			return i
		}
	}
	return -1
}

func (s *segment) readHeader(o *Options, r *windowReader, pos int64, fr frame) error {
	if fr.typ != typeHeader {
		return &DamagedError{s.name, pos, "the segment does not begin with a header"}
	}
	payload, err := r.at(pos+headerSize, fr.length)
	if err != nil {
		return err
	}
	if crc32.Checksum(payload, crcTable()) != fr.crc {
		return &DamagedError{s.name, pos, "checksum of the header does not match"}
	}
	if err := json.Unmarshal(payload, &s.header); err != nil {
		return &DamagedError{s.name, pos, fmt.Sprintf("header: %v", err)}
	}
	h := &s.header
	switch {
	case h.Format > FormatVersion:
		return &VersionError{s.name, h.Format, FormatVersion}
	case h.Kind != o.Kind:
		return &DamagedError{s.name, pos, fmt.Sprintf("it is a log of %q, not of %q", h.Kind, o.Kind)}
	case o.Query != "" && h.Query != o.Query && !slices.Contains(o.Ancestors, h.Query):
		return &DamagedError{s.name, pos, fmt.Sprintf("it belongs to query %q, not to query %q", h.Query, o.Query)}
	case h.Generation != s.gen || h.Base != s.base:
		return &DamagedError{s.name, pos, fmt.Sprintf("its name does not fit its header, which says %q", segmentName(h.Generation, h.Base))}
	}
	return nil
}

// read returns the payload of entry e.
func (s *segment) read(f vfs.File, e entry) ([]byte, error) {
	b := make([]byte, e.n)
	if _, err := f.ReadAt(b, e.off); err != nil && !(errors.Is(err, io.EOF) && e.n == 0) {
		return nil, fmt.Errorf("read %q: %w", s.name, err)
	}
	if crc32.Checksum(b, crcTable()) != e.crc {
		return nil, &DamagedError{s.name, e.off, fmt.Sprintf("checksum of entry %d does not match", e.id)}
	}
	return b, nil
}

// windowReader reads a file piece by piece; small pieces that follow one another come from one larger read.
type windowReader struct {
	f    vfs.File
	size int64
	buf  []byte
	off  int64
}

func (r *windowReader) at(off, n int64) ([]byte, error) {
	if off >= r.off && off+n <= r.off+int64(len(r.buf)) {
		return r.buf[off-r.off:][:n], nil
	}
	want := min(max(n, 64<<10), r.size-off)
	if want < n {
		return nil, io.ErrUnexpectedEOF
	}
	r.buf = make([]byte, want)
	r.off = off
	m, err := r.f.ReadAt(r.buf, off)
	if int64(m) < n {
		r.buf = r.buf[:0]
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	r.buf = r.buf[:m]
	return r.buf[:n], nil
}

// rest returns up to n bytes from off on, fewer at the end of the file.
func (r *windowReader) rest(off, n int64) ([]byte, error) { return r.at(off, min(n, r.size-off)) }
