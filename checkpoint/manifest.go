package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

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

// manifest is the file of this name: who owns the checkpoint, and which segments count. Writing it anew is the one step by
// which an owner takes over, a rollback happens, or a segment begins and ends to count.
type manifest struct {
	Format int   `json:"format"`
	Epoch  int64 `json:"epoch"`
	Owner  Owner `json:"owner"`
	// Logs maps the folder of a log to its segments, oldest first.
	Logs map[string][]string `json:"logs"`
}

func (m manifest) clone() manifest {
	m.Logs = maps.Clone(m.Logs)
	for k, v := range m.Logs {
		m.Logs[k] = slices.Clone(v)
	}
	return m
}

// loadManifest reads the manifest. In a checkpoint that has just been made there is none: its epoch is 0.
func (c *Checkpoint) loadManifest() (manifest, error) {
	var m manifest
	name := c.path("manifest")
	err := readSealed(c.fs, name, &m)
	if err == nil {
		if m.Format > FormatVersion {
			return m, &VersionError{name, m.Format, FormatVersion}
		}
		return m, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	for _, log := range []string{"offsets", "commits"} {
		infos, err := c.fs.List(c.path(log))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return m, err
		}
		for _, info := range infos {
			if recordlog.IsSegment(info.Name()) {
				return m, &MissingError{name, fmt.Sprintf("%q holds segments", c.path(log))}
			}
		}
	}
	return manifest{}, nil
}

// storeManifest makes m the manifest, unless another owner has written it since.
func (c *Checkpoint) storeManifest(m manifest) error {
	if err := c.CheckOwner(); err != nil {
		return err
	}
	m.Format = FormatVersion
	b, err := sealed(m)
	if err != nil {
		return err
	}
	if err := vfs.WriteFile(c.fs, c.path("manifest"), b); err != nil {
		return err
	}
	c.man, c.manRaw = m, b
	return nil
}

// CheckOwner says whether this process still owns the checkpoint: nil, or a *FencedError that names who does. It costs
// the reading of a small file. Every Write method asks it; a sink that publishes by itself may ask it right before.
func (c *Checkpoint) CheckOwner() error {
	if c.readOnly {
		return fmt.Errorf("checkpoint %q is open for reading only", c.dir)
	}
	if c.closed {
		return fmt.Errorf("checkpoint %q: %w", c.dir, os.ErrClosed)
	}
	if b, err := vfs.ReadFile(c.fs, c.path("manifest")); err == nil && c.manRaw != nil && bytes.Equal(b, c.manRaw) {
		return nil
	}
	var m manifest
	if err := readSealed(c.fs, c.path("manifest"), &m); err != nil {
		if errors.Is(err, fs.ErrNotExist) && c.man.Epoch == 0 {
			return nil
		}
		return fmt.Errorf("checkpoint %q: %w", c.dir, err)
	}
	if m.Epoch != c.man.Epoch || m.Owner != c.man.Owner {
		return &FencedError{c.dir, m.Owner}
	}
	return nil
}

// removeUnlisted deletes what a crash has left: segments that no manifest lists, and temporary files.
func (c *Checkpoint) removeUnlisted(log string) error {
	infos, err := c.fs.List(c.path(log))
	if err != nil {
		return err
	}
	for _, info := range infos {
		name := info.Name()
		listed := slices.Contains(c.man.Logs[log], name)
		if listed || !recordlog.IsSegment(name) && filepath.Ext(name) != ".tmp" {
			continue
		}
		if err := c.fs.Remove(c.path(log, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
