package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/wstream/wstream/internal/recordlog"
	"github.com/wstream/wstream/internal/vfs"
)

// Finding is something that Repair has found.
type Finding struct {
	// File is the file, relative to the checkpoint.
	File string `json:"file"`
	// Damage says what is wrong with it.
	Damage string `json:"damage"`
	// Action says what was done, or what can be done where Repair can do nothing.
	Action string `json:"action"`
	// Repaired says whether it was.
	Repaired bool `json:"repaired"`
}

// Repair mends what can be mended without losing or doubling a row, in a checkpoint that nobody owns: metadata and manifest
// are made anew from the headers of the logs; a commit entry that is damaged and the last one is dropped, so that its batch
// runs again as its offset entry says; the note of the output, which is never needed, is deleted. What was damaged is kept
// beside it with the ending ".damaged". What cannot be mended is in the result as well, with Repaired false. The state is
// not looked at, see CutCommit.
//
// Errors: ErrNotFound, *LockedError, *VersionError, and faults of the file system.
func Repair(fsys vfs.FS, dir string) ([]Finding, error) {
	c := &Checkpoint{fs: fsys, dir: dir, readOnly: true, side: map[string]*SideLog{}, opts: Options{SegmentBytes: 1 << 20}}
	if there, err := vfs.Exists(fsys, dir); err != nil {
		return nil, err
	} else if !there {
		return nil, fmt.Errorf("checkpoint %q: %w", dir, ErrNotFound)
	}
	segments, err := c.allSegments()
	if err != nil {
		return nil, err
	}
	if len(segments) == 0 {
		return nil, fmt.Errorf("checkpoint %q: %w: it holds no segment of a log", dir, ErrNotFound)
	}
	lock, err := fsys.Lock(c.path("lock"))
	if errors.Is(err, vfs.ErrLocked) {
		m, _ := c.loadManifest()
		return nil, &LockedError{dir, m.Owner}
	}
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	var found []Finding
	for _, step := range []func([]foundSegment) (*Finding, error){c.repairMetadata, c.repairManifest, c.repairNote} {
		f, err := step(segments)
		if err != nil {
			return found, err
		}
		if f != nil {
			found = append(found, *f)
			if !f.Repaired {
				return found, nil // the logs cannot be read without it
			}
		}
	}
	more, err := c.repairLogs()
	return append(found, more...), err
}

// foundSegment is a segment of any log of a checkpoint.
type foundSegment struct {
	folder, name string
	header       recordlog.SegmentHeader
	ok           bool // the header reads well
}

// allSegments lists the segments of all logs, whether a manifest names them or not, by generation.
func (c *Checkpoint) allSegments() ([]foundSegment, error) {
	folders := []string{"offsets", "commits", "state"}
	infos, err := c.fs.List(c.path("logs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, info := range infos {
		if info.IsDir() {
			folders = append(folders, "logs/"+info.Name())
		}
	}
	var out []foundSegment
	for _, folder := range folders {
		infos, err := c.fs.List(c.path(folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, info := range infos {
			if _, ok := recordlog.Generation(info.Name()); !ok {
				continue
			}
			s := foundSegment{folder: folder, name: info.Name()}
			s.header, s.ok = recordlog.ReadHeader(c.fs, c.path(folder, info.Name()))
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b foundSegment) int {
		x, _ := recordlog.Generation(a.name)
		y, _ := recordlog.Generation(b.name)
		return cmp.Compare(x, y)
	})
	return out, nil
}

// unreadable says whether an error is one that making the file anew mends.
func unreadable(err error) bool {
	var damaged *DamagedError
	var missing *MissingError
	return errors.As(err, &damaged) || errors.As(err, &missing) || errors.Is(err, fs.ErrNotExist)
}

// keep copies a damaged file beside itself.
func (c *Checkpoint) keep(name string) error {
	b, err := vfs.ReadFile(c.fs, c.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return vfs.WriteFile(c.fs, c.path(name+".damaged"), b)
}

// repairMetadata takes the id of the query, and those that it was copied from, from the headers of the segments.
func (c *Checkpoint) repairMetadata(segments []foundSegment) (*Finding, error) {
	err := c.loadMetadata(false)
	if err == nil {
		return nil, nil
	}
	if !unreadable(err) && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	var ids []string
	for _, s := range segments {
		if _, err := uuid.Parse(s.header.Query); s.ok && err == nil {
			ids = slices.DeleteFunc(ids, func(id string) bool { return id == s.header.Query })
			ids = append(ids, s.header.Query)
		}
	}
	f := &Finding{File: "metadata", Damage: reason(err)}
	if len(ids) == 0 {
		f.Action = "no segment names the query's id; restore the file from a copy of the checkpoint"
		return f, nil
	}
	c.meta = metadata{ID: ids[len(ids)-1], Format: FormatVersion, Forked: ids[:len(ids)-1]}
	b, err := sealed(c.meta)
	if err != nil {
		return nil, err
	}
	if err := c.keep("metadata"); err != nil {
		return nil, err
	}
	f.Repaired, f.Action = true, fmt.Sprintf("made anew: query id %s, from the headers of the logs", c.meta.ID)
	return f, vfs.WriteFile(c.fs, c.path("metadata"), b)
}

// repairManifest makes a manifest that lists all segments that there are. Those that did not count when the old one was
// written are what its owner had begun in the end, and empty, or hold again what others hold.
func (c *Checkpoint) repairManifest(segments []foundSegment) (*Finding, error) {
	_, err := c.loadManifest()
	if err == nil {
		return nil, nil
	}
	if !unreadable(err) {
		return nil, err
	}
	terms, e := c.terms()
	if e != nil {
		return nil, e
	}
	m := manifest{Format: FormatVersion, Owner: Owner{RunID: "repair"}, Logs: map[string][]string{"offsets": {}, "commits": {}}, term: 1}
	if len(terms) > 0 {
		m.term = max(m.term, terms[0])
	}
	for _, s := range segments {
		gen, _ := recordlog.Generation(s.name)
		m.Epoch = max(m.Epoch, gen)
		if s.folder != "state" {
			m.Logs[s.folder] = append(m.Logs[s.folder], s.name)
		}
	}
	name := manifestName(m.term)
	b, e := sealed(m)
	if e != nil {
		return nil, e
	}
	if e := c.keep(name); e != nil {
		return nil, e
	}
	f := &Finding{File: name, Damage: reason(err), Repaired: true, Action: fmt.Sprintf("made anew: it lists all %d segments that are there", len(segments))}
	return f, vfs.WriteFile(c.fs, c.path(name), b)
}

// repairNote deletes a note of the output that does not read well.
func (c *Checkpoint) repairNote([]foundSegment) (*Finding, error) {
	var n OutputNote
	err := readSealed(c.fs, c.notePath(), &n)
	var damaged *DamagedError
	if !errors.As(err, &damaged) {
		return nil, nil
	}
	f := &Finding{File: "output", Damage: damaged.Reason, Repaired: true, Action: "deleted: it is a help, which nothing needs"}
	return f, removeIfThere(c.fs, c.notePath())
}

// repairLogs reads all logs.
func (c *Checkpoint) repairLogs() (found []Finding, err error) {
	for range 3 {
		err := c.openLogs()
		var damaged *recordlog.DamagedError
		switch {
		case err == nil:
			return append(found, c.lookAtEntries()...), nil
		case errors.As(err, &damaged):
			f, again, err := c.repairLast(damaged)
			if err != nil {
				return found, err
			}
			found = append(found, f)
			if again {
				continue
			}
			return found, nil
		case unreadable(err):
			return append(found, c.finding(err)), nil
		}
		return found, err
	}
	return found, nil
}

// repairLast drops the last commit entry if that is what is damaged; again says that the logs can be read anew.
func (c *Checkpoint) repairLast(d *recordlog.DamagedError) (f Finding, again bool, err error) {
	f = c.finding(d)
	if filepath.Base(filepath.Dir(d.File)) != "commits" {
		return f, false, nil
	}
	if err := recordlog.CutLast(c.fs, d); err != nil {
		return f, false, nil //nolint:nilerr // it is not the last one: nothing can be done
	}
	f.Repaired, f.Action = true, "the entry is dropped: its batch runs again at the next start, over the same offsets"
	return f, true, nil
}

// finding is one about which nothing can be done.
func (c *Checkpoint) finding(err error) Finding {
	f := Finding{Damage: err.Error(), Action: "it cannot be made from anything else; restore it from a copy of the checkpoint, or start with a new one"}
	var record *recordlog.DamagedError
	var damaged *DamagedError
	var missing *MissingError
	switch {
	case errors.As(err, &record):
		f.File, f.Damage = record.File, fmt.Sprintf("byte %d: %s", record.Offset, record.Reason)
	case errors.As(err, &damaged):
		f.File, f.Damage = damaged.File, damaged.Reason
	case errors.As(err, &missing):
		f.File, f.Damage = missing.File, "it is missing: "+missing.Reason
	}
	if rel, err := filepath.Rel(c.dir, f.File); err == nil && !vfs.Remote(c.fs, c.dir) {
		f.File = filepath.ToSlash(rel)
	} else {
		f.File = strings.TrimPrefix(f.File, c.dir+"/")
	}
	return f
}

func reason(err error) string {
	var damaged *DamagedError
	var missing *MissingError
	switch {
	case errors.As(err, &damaged):
		return damaged.Reason
	case errors.As(err, &missing):
		return "it is missing: " + missing.Reason
	}
	return "it is missing"
}

// lookAtEntries reads every entry of every log.
func (c *Checkpoint) lookAtEntries() (found []Finding) {
	err := c.Verify()
	if err == nil {
		return nil
	}
	for _, e := range joined(err) {
		f := c.finding(e)
		if strings.HasPrefix(f.File, "offsets/") || strings.HasPrefix(f.File, "commits/") {
			f.Action = "the entry is of an older batch: the query can go on, but not go back as far; `wstream checkpoint fork` would copy the damage"
		}
		found = append(found, f)
	}
	return found
}

// joined takes an error of errors.Join apart.
func joined(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}

// CutCommit drops the last commit entry, so that its batch runs again at the next start, over the same offsets. It is for a
// state of which the last batch is damaged. Nobody may own the checkpoint.
func CutCommit(fsys vfs.FS, dir string) error {
	c, err := Open(fsys, dir, Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	if c.commits.Last() < 0 {
		return fmt.Errorf("checkpoint %q: no batch is committed", dir)
	}
	return c.begin(c.offsets.Last(), c.commits.Last()-1)
}
