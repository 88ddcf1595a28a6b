package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/google/uuid"

	"github.com/wstream/wstream/internal/vfs"
)

// FormatVersion is the version of the checkpoint's format.
//
//	1: first
//	2: a manifest per owner
const FormatVersion = 2

// metadata is the file of this name. It is written once.
type metadata struct {
	ID     string `json:"id"`
	Format int    `json:"format"`
	// Forked names where a copy comes from: the ids of the checkpoints that it was copied from, oldest first.
	Forked []string `json:"forked,omitempty"`
}

func (c *Checkpoint) path(elem ...string) string {
	return vfs.Join(append([]string{c.dir}, elem...)...)
}

// loadMetadata reads the metadata, or makes it if the folder holds no checkpoint yet and create is set.
func (c *Checkpoint) loadMetadata(create bool) error {
	name := c.path("metadata")
	err := readSealed(c.fs, name, &c.meta)
	switch {
	case err == nil:
		if c.meta.Format > FormatVersion {
			return &VersionError{name, c.meta.Format, FormatVersion}
		}
		if _, err := uuid.Parse(c.meta.ID); err != nil {
			return &DamagedError{name, err.Error()}
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if terms, err := c.terms(); err != nil {
		return err
	} else if len(terms) > 0 {
		return &MissingError{name, fmt.Sprintf("it holds the query's id, and %q is there", manifestName(terms[0]))}
	}
	for _, sub := range []string{"manifest", "offsets", "commits", "state", "logs"} {
		there, err := vfs.Exists(c.fs, c.path(sub))
		if err != nil {
			return err
		}
		if there {
			return &MissingError{name, fmt.Sprintf("it holds the query's id, and %q is there", sub)}
		}
	}
	if !create {
		return fmt.Errorf("checkpoint %q: %w", c.dir, ErrNotFound)
	}
	id := c.opts.QueryID
	if id == "" {
		id = uuid.NewString()
	}
	c.meta = metadata{ID: id, Format: FormatVersion}
	b, err := sealed(c.meta)
	if err != nil {
		return err
	}
	return vfs.WriteFile(c.fs, name, b)
}
