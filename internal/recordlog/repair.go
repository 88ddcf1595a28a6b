package recordlog

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"path/filepath"

	"github.com/wstream/wstream/internal/vfs"
)

// CutLast takes the damaged last record off a segment, of which the bytes are kept beside it under the ending ".damaged". It
// refuses when something that reads like a record lies behind the damage: then that was not the last one.
func CutLast(fsys vfs.FS, d *DamagedError) error {
	b, err := vfs.ReadFile(fsys, d.File)
	if err != nil {
		return err
	}
	if d.Offset > int64(len(b)) || d.Offset+1 < int64(len(b)) && hasFrame(b[d.Offset+1:]) {
		return fmt.Errorf("file %q: the damage at byte %d is not in the last record", d.File, d.Offset)
	}
	if err := vfs.WriteFile(fsys, d.File+".damaged", b); err != nil {
		return err
	}
	if vfs.Remote(fsys, d.File) { // it may be of several objects
		if err := fsys.Remove(d.File); err != nil {
			return err
		}
	}
	return vfs.WriteFile(fsys, d.File, b[:d.Offset])
}

// ReadHeader returns the header of a segment file; ok is false if it does not read well.
func ReadHeader(fsys vfs.FS, name string) (h SegmentHeader, ok bool) {
	f, err := fsys.Open(name)
	if err != nil {
		return h, false
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return h, false
	}
	gen, base, ok := parseSegmentName(filepath.Base(name))
	if !ok {
		return h, false
	}
	s := &segment{name: name, gen: gen, base: base}
	r := &windowReader{f: f, size: size}
	fr, next, err := s.frameAt(r, 0)
	if err != nil || next < 0 {
		return h, false
	}
	// Kind and query are what is asked for, so that they are not compared.
	payload, err := r.at(headerSize, fr.length)
	if err != nil || fr.typ != typeHeader {
		return h, false
	}
	if crc32.Checksum(payload, crcTable()) != fr.crc || json.Unmarshal(payload, &h) != nil {
		return SegmentHeader{}, false
	}
	return h, h.Generation == gen && h.Base == base && h.Format <= FormatVersion
}
