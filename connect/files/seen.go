package files

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sort"

	"github.com/wstream/wstream/engine/connector"
)

// seenFiles is what a source has given to batches, as its log has it.
type seenFiles struct {
	log      connector.MetadataLog // nil for none
	nameOnly bool                  // files of one name are the same file, whatever their folder
	maxAge   int64                 // ms, 0 for no limit

	times   map[string]int64 // modification time by key
	entries []entry          // of the log, oldest first; the first may stand for many
	newest  int64            // modification time of the newest file
	floor   int64            // files older than this are not looked at any more
	cleaned int64            // entries up to this one have been cleaned
}

// entry is the files of one batch; the first entry may stand for all batches up to its id.
type entry struct {
	id    int64
	files []file
}

func newSeenFiles(log connector.MetadataLog, nameOnly bool, maxAge int64) (*seenFiles, error) {
	s := &seenFiles{log: log, nameOnly: nameOnly, maxAge: maxAge, times: map[string]int64{}, cleaned: -1}
	if log == nil {
		return s, nil
	}
	err := log.Each(func(batch int64, v json.RawMessage) error {
		var files []file
		if err := json.Unmarshal(v, &files); err != nil {
			return fmt.Errorf("entry %d of the source's log: %w", batch, err)
		}
		s.note(entry{batch, files})
		return nil
	})
	return s, err
}

func (s *seenFiles) key(path string) string {
	if s.nameOnly {
		return filepath.Base(path)
	}
	return path
}

// note takes an entry of the log over.
func (s *seenFiles) note(e entry) {
	for _, f := range e.files {
		s.times[s.key(f.Path)] = f.MTime
		s.newest = max(s.newest, f.MTime)
	}
	s.entries = append(s.entries, e)
	if s.maxAge > 0 {
		s.floor = max(s.floor, s.newest-s.maxAge)
	}
}

// last is the id of the newest entry, -1 for none.
func (s *seenFiles) last() int64 {
	if len(s.entries) == 0 {
		return -1
	}
	return s.entries[len(s.entries)-1].id
}

// add makes the files of a batch durable.
func (s *seenFiles) add(id int64, files []file) error {
	v, err := json.Marshal(files)
	if err != nil {
		return err
	}
	if s.log != nil {
		if err := s.log.Put(id, v); err != nil {
			return err
		}
	}
	s.note(entry{id, files})
	return nil
}

// after is the id of the first entry beyond id; ok is false if there is none.
func (s *seenFiles) after(id int64) (int64, bool) {
	i := sort.Search(len(s.entries), func(i int) bool { return s.entries[i].id > id })
	if i == len(s.entries) {
		return 0, false
	}
	return s.entries[i].id, true
}

// between gives the files of the entries in (from, to].
func (s *seenFiles) between(from, to int64) ([]file, error) {
	var out []file
	found := false
	for _, e := range s.entries {
		if e.id > from && e.id <= to {
			out = append(out, e.files...)
			found = found || e.id == to
		}
	}
	if !found && to > from {
		return nil, fmt.Errorf("the source's log has no entry %d, which the offsets name", to)
	}
	return out, nil
}

// committed calls f for the files up to entry to that it was not called for before.
func (s *seenFiles) committed(to int64, f func(file)) {
	for _, e := range s.entries {
		if e.id > s.cleaned && e.id <= to {
			for _, x := range e.files {
				f(x)
			}
		}
	}
	s.cleaned = max(s.cleaned, to)
}

// keepEntries is how many entries a rollback may ask for again.
const keepEntries = 100

// compact joins old entries up to entry to, when there are many.
func (s *seenFiles) compact(to int64) error {
	n := sort.Search(len(s.entries), func(i int) bool { return s.entries[i].id > to }) - keepEntries
	if n < keepEntries {
		return nil
	}
	one := entry{id: s.entries[n-1].id, files: []file{}}
	for _, e := range s.entries[:n] {
		for _, f := range e.files {
			if f.MTime >= s.floor {
				one.files = append(one.files, f)
			} else {
				delete(s.times, s.key(f.Path))
			}
		}
	}
	v, err := json.Marshal(one.files)
	if err != nil {
		return err
	}
	s.entries = append([]entry{one}, s.entries[n:]...)
	if s.log == nil {
		return nil
	}
	return s.log.Compact(one.id, v)
}
