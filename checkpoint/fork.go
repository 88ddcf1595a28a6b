package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/wstream/wstream/internal/vfs"
)

// Fork copies a checkpoint that nobody owns at the moment, with its state, to a folder that is not there yet or empty. The
// copy has a query id of its own, so that a sink does not take its batches for those of the original, and remembers where
// it comes from.
func Fork(fsys vfs.FS, src, dst string) (queryID string, err error) {
	c, err := Open(fsys, src, Options{ReadOnly: true})
	if err != nil {
		return "", err
	}
	lock, err := fsys.Lock(c.path("lock"))
	if errors.Is(err, vfs.ErrLocked) {
		return "", &LockedError{src, c.man.Owner}
	}
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if c, err = Open(fsys, src, Options{ReadOnly: true}); err != nil { // again, now that nobody writes
		return "", err
	}
	if infos, err := fsys.List(dst); err == nil && len(infos) > 0 {
		return "", fmt.Errorf("folder %q is not empty", dst)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := copyTree(fsys, src, dst, true); err != nil {
		return "", err
	}
	meta := c.meta
	meta.Forked = append(append([]string{}, meta.Forked...), meta.ID)
	meta.ID = uuid.NewString()
	b, err := sealed(meta)
	if err != nil {
		return "", err
	}
	// The metadata comes last: without it the copy is not a checkpoint.
	return meta.ID, vfs.WriteFile(fsys, vfs.Join(dst, "metadata"), b)
}

// Copy copies a checkpoint as it is, whole or damaged, to a folder that is not there yet. Nobody may own it.
func Copy(fsys vfs.FS, src, dst string) error {
	lock, err := fsys.Lock(vfs.Join(src, "lock"))
	if errors.Is(err, vfs.ErrLocked) {
		c := &Checkpoint{fs: fsys, dir: src}
		m, _ := c.loadManifest()
		return &LockedError{src, m.Owner}
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := copyTree(fsys, src, dst, false); err != nil {
		return err
	}
	return removeIfThere(fsys, vfs.Join(dst, "lock"))
}

// copyTree copies a folder durably, but for the lock, the metadata, temporary files, and the cold store of the state,
// which is made anew by every start.
func copyTree(fsys vfs.FS, src, dst string, top bool) error {
	if err := vfs.MkdirAllSync(fsys, dst); err != nil {
		return err
	}
	infos, err := fsys.List(src)
	if err != nil {
		return err
	}
	for _, info := range infos {
		name := info.Name()
		from, to := vfs.Join(src, name), vfs.Join(dst, name)
		switch {
		case top && (name == "lock" || name == "metadata"), filepath.Ext(name) == ".tmp", info.IsDir() && name == "cold":
			continue
		case info.IsDir():
			err = copyTree(fsys, from, to, false)
		default:
			err = copyFile(fsys, from, to)
		}
		if err != nil {
			return err
		}
	}
	return fsys.SyncDir(dst)
}

func copyFile(fsys vfs.FS, from, to string) error {
	in, err := fsys.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	size, err := in.Size()
	if err != nil {
		return err
	}
	out, err := fsys.Create(to)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, io.NewSectionReader(in, 0, size)); err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

func removeIfThere(fsys vfs.FS, name string) error {
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
