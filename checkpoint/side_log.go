package checkpoint

import (
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"

	"github.com/wstream/wstream/internal/recordlog"
)

// SideLog is a log of a source or sink, with at most one entry per batch: which files a file source has given to which
// batch, or what a sink has published. An entry counts if the offset log has its batch: what was written for a batch that
// was never planned is gone after a restart.
type SideLog struct {
	c      *Checkpoint
	folder string
	log    *recordlog.Log
	begun  bool
}

// SideEntry is an entry of a SideLog.
type SideEntry struct {
	// Batch is the batch that the entry belongs to. A compact entry stands for this batch and all before it.
	Batch   int64
	Compact bool
	// Payload is the owner's own, JSON by convention, so that people can read it.
	Payload []byte
}

// Segments of many short runs are copied together from this number on, as long as that is little to copy.
const (
	mergeSegments = 32
	mergeBytes    = 16 << 20
)

const (
	sidePlain   = '+'
	sideCompact = '='
)

// SourceLog returns the log of a source. The name is made of letters, digits and "._-".
func (c *Checkpoint) SourceLog(name string) (*SideLog, error) { return c.sideLog("source-" + name) }

// SinkLog returns the log of a sink. The name is made of letters, digits and "._-".
func (c *Checkpoint) SinkLog(name string) (*SideLog, error) { return c.sideLog("sink-" + name) }

func (c *Checkpoint) sideLog(name string) (*SideLog, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`).MatchString(name) {
		return nil, fmt.Errorf("checkpoint %q: %q cannot be the name of a log", c.dir, name)
	}
	folder := filepath.ToSlash(filepath.Join("logs", name))
	if s := c.side[folder]; s != nil {
		return s, nil
	}
	if c.readOnly && c.man.Logs[folder] == nil {
		return nil, fmt.Errorf("checkpoint %q: log %q: %w", c.dir, name, fs.ErrNotExist)
	}
	log, err := c.openLog(folder, true, "", "")
	if err != nil {
		return nil, err
	}
	s := &SideLog{c: c, folder: folder, log: log}
	if !c.readOnly {
		if err := c.removeUnlisted(folder); err != nil {
			return nil, err
		}
		if last := c.offsets.Last(); log.Last() > last { // written for a batch that was then not planned
			if err := s.begin(last); err != nil {
				return nil, err
			}
		}
	}
	c.side[folder] = s
	return s, nil
}

// begin starts a segment of this owner behind the entry base.
func (s *SideLog) begin(base int64) error {
	own := s.log.Generation() + 1
	if len(s.log.Segments()) >= mergeSegments { // they take a generation of their own
		own++
	}
	if err := s.c.raise(own); err != nil {
		return err
	}
	dropped, err := s.log.Merge(mergeSegments, mergeBytes)
	if err != nil {
		return err
	}
	s.c.starting = true
	err = s.log.Begin(max(s.c.man.Epoch, s.log.Generation()+1), base)
	s.c.starting = false
	if err != nil {
		return err
	}
	s.begun = true
	dropped = append(dropped, s.log.DropEmpty()...)
	if err := s.list(); err != nil {
		return err
	}
	return s.log.Delete(dropped)
}

// list makes the manifest name the segments that the log has now.
func (s *SideLog) list() error {
	m := s.c.man.clone()
	m.Logs[s.folder] = s.log.Segments()
	return s.c.storeManifest(m)
}

// Append adds the entry of a batch, which must not be committed. It is durable when Append returns. Appending for the
// same batch again, in a replay, replaces the entry. A source appends before the batch is planned, that is before
// WriteOffsets.
func (s *SideLog) Append(batch int64, payload []byte) error {
	if err := s.append(batch, sidePlain, payload); err != nil {
		return fmt.Errorf("batch %d: log %q: %w", batch, s.folder, err)
	}
	return nil
}

func (s *SideLog) append(batch int64, kind byte, payload []byte) error {
	if batch <= s.c.commits.Last() {
		return fmt.Errorf("the batch is committed")
	}
	if !s.begun || batch <= s.log.Last() {
		if err := s.begin(min(s.log.Last(), batch-1)); err != nil {
			return err
		}
	}
	if err := s.c.CheckOwner(); err != nil {
		return err
	}
	return s.log.Append(batch, true, []byte{kind}, payload)
}

// Scan calls fn with the entries that count, oldest first, beginning with the newest compact one.
func (s *SideLog) Scan(fn func(SideEntry) error) error {
	var entries []SideEntry
	last := int64(math.MaxInt64)
	if s.c.readOnly {
		last = s.c.offsets.Last()
	}
	err := s.log.Scan(-1, last, func(id int64, b []byte) error {
		if len(b) == 0 || b[0] != sidePlain && b[0] != sideCompact {
			return fmt.Errorf("unknown kind of entry")
		}
		e := SideEntry{Batch: id, Compact: b[0] == sideCompact, Payload: b[1:]}
		if e.Compact {
			entries = entries[:0]
		}
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

// Compact replaces all entries of the batches up to upTo by one, which merge makes of them. The caller must not need to go
// back before upTo any more: upTo is at most the oldest batch that Purge keeps.
func (s *SideLog) Compact(upTo int64, merge func(entries []SideEntry) ([]byte, error)) error {
	var old, rest []SideEntry
	err := s.Scan(func(e SideEntry) error {
		if e.Batch <= upTo {
			old = append(old, e)
		} else {
			rest = append(rest, e)
		}
		return nil
	})
	if err != nil || len(old) < 2 {
		return err
	}
	payload, err := merge(old)
	if err != nil {
		return err
	}
	at := old[len(old)-1].Batch
	// Everything is written to a new segment first; the manifest then makes it count and the old ones not, in one step.
	gen := s.log.Generation() + 1
	if err := s.c.raise(gen); err != nil {
		return err
	}
	s.c.starting = true
	defer func() { s.c.starting = false }()
	if err := s.log.Begin(gen, at-1); err != nil {
		return err
	}
	if err := s.log.Append(at, true, []byte{sideCompact}, payload); err != nil {
		return err
	}
	for _, e := range rest {
		if err := s.log.Append(e.Batch, true, []byte{sidePlain}, e.Payload); err != nil {
			return err
		}
	}
	s.begun = true
	dropped := append(s.log.DropBelow(at), s.log.DropEmpty()...)
	if err := s.list(); err != nil {
		return err
	}
	return s.log.Delete(dropped)
}
