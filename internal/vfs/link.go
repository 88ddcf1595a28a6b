package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Linker is implemented by file systems with hard links.
type Linker interface {
	// Link gives a file a second name, which must not be there: fs.ErrExist if it is.
	Link(from, to string) error
}

// Link implements Linker.
func (osFS) Link(from, to string) error { return os.Link(from, to) }

// CreateFile writes a file that must not be there, whole or not at all, and durable when it returns; fs.ErrExist if
// the name is taken. tmp is a name in the same folder that nobody else uses. Where there are no hard links somebody who
// takes the name at the very same moment is not seen.
func CreateFile(fsys FS, tmp, name string, data []byte) error {
	f, err := fsys.Create(tmp)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = claim(fsys, tmp, name)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(fsys.Remove(tmp)))
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// claim gives tmp the name, unless that is taken.
func claim(fsys FS, tmp, name string) error {
	if l, ok := fsys.(Linker); ok {
		err := l.Link(tmp, name)
		if err == nil {
			return fsys.Remove(tmp)
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%q: %w", name, fs.ErrExist)
		}
	}
	there, err := Exists(fsys, name)
	if err != nil {
		return err
	}
	if there {
		return fmt.Errorf("%q: %w", name, fs.ErrExist)
	}
	return fsys.Rename(tmp, name)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
