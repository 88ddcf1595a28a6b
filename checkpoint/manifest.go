package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wstream/wstream/internal/recordlog"
	"github.com/wstream/wstream/internal/vfs"
)

// Owner describes a process that owns a checkpoint.
type Owner struct {
	// RunID is the id of the run of the query.
	RunID string `json:"runId"`
	// PID and Host say which process it is.
	PID  int    `json:"pid"`
	Host string `json:"host"`
	// StartMs is when it opened the checkpoint, in ms since 1970.
	StartMs int64 `json:"startMs"`
}

// String names the process for people.
func (o Owner) String() string {
	if o == (Owner{}) {
		return "another process"
	}
	return fmt.Sprintf("process %d on host %q (run %s)", o.PID, o.Host, o.RunID)
}

// manifest says who owns the checkpoint, and which segments count. Each owner has a file of its own, "manifest-TERM", which
// it makes by the one operation that only one process can do, making a file that is not there, and then replaces as it
// likes: by that an owner takes over, a rollback happens, or a segment begins and ends to count. The greatest term is the
// owner's. So what a former owner still writes, even to its manifest, is never seen.
type manifest struct {
	Format int   `json:"format"`
	Epoch  int64 `json:"epoch"`
	Owner  Owner `json:"owner"`
	// Logs maps the folder of a log to its segments, oldest first. It is nil in a manifest that only claims the checkpoint:
	// then the logs of the term before count.
	Logs map[string][]string `json:"logs"`

	term   int64 // from the name of the file; 0 if there is none
	before int64 // the epoch of the manifest that Logs are from
}

func (m manifest) clone() manifest {
	m.Logs = maps.Clone(m.Logs)
	for k, v := range m.Logs {
		m.Logs[k] = slices.Clone(v)
	}
	return m
}

// manifestName is the file of a term. That of term 0 is the one file that format version 1 has.
func manifestName(term int64) string {
	if term == 0 {
		return "manifest"
	}
	return fmt.Sprintf("manifest-%08d", term)
}

// manifestTerm is the term of a file, its temporary ones included.
func manifestTerm(file string) (term int64, ok bool) {
	digits, ok := strings.CutPrefix(file, "manifest-")
	if !ok {
		return 0, false
	}
	digits, _, _ = strings.Cut(digits, ".")
	_, err := fmt.Sscanf(digits, "%d", &term)
	return term, err == nil && manifestName(term) == "manifest-"+digits
}

// terms lists the manifests that there are, greatest first.
func (c *Checkpoint) terms() ([]int64, error) {
	infos, err := c.fs.List(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, info := range infos {
		if term, ok := manifestTerm(info.Name()); ok && filepath.Ext(info.Name()) == "" {
			out = append(out, term)
		}
	}
	slices.SortFunc(out, func(a, b int64) int { return int(b - a) })
	return out, nil
}

// loadManifest reads the newest manifest, with the logs of the newest one that has any. In a checkpoint that has just been
// made there is none: its epoch is 0.
func (c *Checkpoint) loadManifest() (manifest, error) {
	for try := 0; ; try++ {
		m, err := c.readManifests()
		if try < 10 && errors.Is(err, fs.ErrNotExist) {
			continue // an owner has replaced what was listed
		}
		return m, err
	}
}

func (c *Checkpoint) readManifests() (manifest, error) {
	terms, err := c.terms()
	if err != nil {
		return manifest{}, err
	}
	var newest manifest
	for i, term := range append(terms, 0) {
		m, err := c.readManifest(term)
		if term == 0 && errors.Is(err, fs.ErrNotExist) {
			return newest, c.checkSegments(newest)
		}
		if err != nil {
			return m, err
		}
		if i == 0 {
			newest = m
		}
		newest.Logs, newest.before = m.Logs, m.Epoch
		if m.Logs != nil {
			break
		}
	}
	return newest, c.checkSegments(newest)
}

func (c *Checkpoint) readManifest(term int64) (manifest, error) {
	m := manifest{term: term}
	name := c.path(manifestName(term))
	if err := readSealed(c.fs, name, &m); err != nil {
		return m, err
	}
	if m.Format > FormatVersion {
		return m, &VersionError{name, m.Format, FormatVersion}
	}
	return m, nil
}

// checkSegments says that a manifest is missing when there are segments of which the newest one cannot know.
func (c *Checkpoint) checkSegments(m manifest) error {
	for _, log := range []string{"offsets", "commits"} {
		infos, err := c.fs.List(c.path(log))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, info := range infos {
			if gen, ok := recordlog.Generation(info.Name()); ok && gen > m.Epoch {
				// Terms and generations differ: which number is missing cannot be said.
				return &MissingError{
					c.path("manifest-*"), fmt.Sprintf("%q holds the segment %q of a later owner than the manifests know", c.path(log), info.Name()),
				}
			}
		}
	}
	return nil
}

// An owner may use two numbers as generations of its files, Epoch and the one before: what it has put together of older ones
// has the lower. In format version 1 generations could run ahead of the epoch, so that a gap is left.
const (
	epochStep = 2
	epochGap  = 1000
)

// claim makes this process the owner: from here on a former one is fenced off. The logs that count are read afterwards, so
// that they are all that it has written.
func (c *Checkpoint) claim() error {
	before, err := c.loadManifest()
	if err != nil {
		return err
	}
	m := manifest{Format: FormatVersion, Epoch: before.Epoch + epochStep, Owner: c.opts.owner(), term: before.term + 1}
	if before.term == 0 && before.Epoch > 0 {
		m.Epoch = before.Epoch + epochGap
	}
	b, err := sealed(m)
	if err != nil {
		return err
	}
	name := c.path(manifestName(m.term))
	err = vfs.CreateFile(c.fs, name+"."+c.opts.RunID+".tmp", name, b)
	if errors.Is(err, fs.ErrExist) { // somebody was faster
		other, err := c.loadManifest()
		return errors.Join(&FencedError{c.dir, other.Owner}, err)
	}
	if err != nil {
		return err
	}
	c.man = m
	if before.term == 0 && before.Epoch > 0 {
		// A program of format version 1 looks at this file alone: it is fenced off, and refuses the checkpoint.
		old, err := sealed(manifest{Format: FormatVersion, Epoch: before.Epoch, Owner: m.Owner, Logs: before.Logs})
		if err != nil {
			return err
		}
		if err := vfs.WriteFile(c.fs, c.path(manifestName(0)), old); err != nil {
			return err
		}
	}
	m, err = c.loadManifest()
	if err != nil {
		return err
	}
	if m.term != c.man.term {
		return &FencedError{c.dir, m.Owner}
	}
	if m.Logs != nil && m.before+epochStep > c.man.Epoch { // it was raised between the first look and the claim
		c.man.Epoch = m.before + epochStep
		if err := c.storeManifest(c.man); err != nil {
			return err
		}
	}
	c.man.Logs = m.Logs
	return nil
}

// raise makes the epoch at least as great as the generation of a segment that is to be begun: no other owner ever uses a
// generation up to it.
func (c *Checkpoint) raise(gen int64) error {
	if gen <= c.man.Epoch {
		return nil
	}
	m := c.man.clone()
	m.Epoch = gen
	return c.storeManifest(m)
}

// storeManifest replaces the manifest of this owner, unless there is another one.
func (c *Checkpoint) storeManifest(m manifest) error {
	if err := c.CheckOwner(); err != nil {
		return err
	}
	m.Format, m.term = FormatVersion, c.man.term
	b, err := sealed(m)
	if err != nil {
		return err
	}
	if err := vfs.WriteFile(c.fs, c.path(manifestName(m.term)), b); err != nil {
		// What is on disk is unknown now, and a sync that comes after one that failed proves nothing.
		c.broken = fmt.Errorf("checkpoint %q: its manifest could not be written before: %w", c.dir, err)
		return err
	}
	c.man = m
	terms, err := c.terms()
	if err != nil {
		return err
	}
	if terms[0] != m.term {
		return c.fenced()
	}
	return nil
}

// CheckOwner says whether this process still owns the checkpoint: nil, or a *FencedError that names who does. After
// an error of the manifest it is that error. It costs looking for two files. Every Write method asks it; a sink that publishes by itself may ask it right before.
func (c *Checkpoint) CheckOwner() error {
	if c.readOnly {
		return fmt.Errorf("checkpoint %q is open for reading only", c.dir)
	}
	if c.closed {
		return fmt.Errorf("checkpoint %q: %w", c.dir, os.ErrClosed)
	}
	if c.broken != nil {
		return c.broken
	}
	if vfs.Remote(c.fs, c.dir) { // one request for both
		terms, err := c.terms()
		if err == nil && (len(terms) == 0 || terms[0] != c.man.term) {
			err = c.fenced()
		}
		return err
	}
	next, err := vfs.Exists(c.fs, c.path(manifestName(c.man.term+1)))
	if err != nil {
		return err
	}
	own, err := vfs.Exists(c.fs, c.path(manifestName(c.man.term)))
	if err != nil {
		return err
	}
	if next || !own {
		return c.fenced()
	}
	return nil
}

// fenced says who has taken the checkpoint over.
func (c *Checkpoint) fenced() error {
	m, err := c.loadManifest()
	if err != nil {
		return fmt.Errorf("checkpoint %q: %w", c.dir, err)
	}
	if m.term <= c.man.term {
		return &MissingError{c.path(manifestName(c.man.term)), "this process has written it and owns the checkpoint"}
	}
	return &FencedError{c.dir, m.Owner}
}

// removeUnlisted deletes what a crash has left: segments of this and former owners that no manifest lists, manifests of
// former owners, and temporary files.
func (c *Checkpoint) removeUnlisted(log string) error {
	if err := vfs.Sweep(c.fs, c.path(log)); err != nil {
		return err
	}
	infos, err := c.fs.List(c.path(log))
	if err != nil {
		return err
	}
	for _, info := range infos {
		name := info.Name()
		gen, segment := recordlog.Generation(name)
		term, manifest := manifestTerm(name)
		switch {
		case segment:
			// One of a later owner is not for this one to judge, should it have lost the checkpoint.
			if gen > c.man.Epoch || slices.Contains(c.man.Logs[log], name) {
				continue
			}
		case manifest:
			if term > c.man.term || name == manifestName(c.man.term) {
				continue
			}
		case filepath.Ext(name) != ".tmp":
			continue
		}
		if err := removeIfThere(c.fs, c.path(log, name)); err != nil {
			return err
		}
	}
	return nil
}
