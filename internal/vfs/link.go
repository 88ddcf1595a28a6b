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

// CreateNew implements Excluder.
func (osFS) CreateNew(name string) (File, error) {
	return wrapOS(os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644))
}

// RenameNew implements Excluder.
func (o osFS) RenameNew(from, to string) error { return renameByLink(o, from, to) }

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
		err = RenameNew(fsys, tmp, name)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(fsys.Remove(tmp)))
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// Excluder is implemented by file systems that can make a file only if it is not there.
type Excluder interface {
	// CreateNew makes an empty file for reading and writing, which must not be there: fs.ErrExist if it is.
	CreateNew(name string) (File, error)
	// RenameNew gives a file another name, which must not be taken: fs.ErrExist if it is.
	RenameNew(from, to string) error
}

// CreateNew makes an empty file that must not be there: fs.ErrExist if it is. Where the file system cannot tell, somebody who
// makes it at the very same moment is not seen.
func CreateNew(fsys FS, name string) (File, error) {
	if e, ok := fsys.(Excluder); ok {
		return e.CreateNew(name)
	}
	there, err := Exists(fsys, name)
	if err != nil {
		return nil, err
	}
	if there {
		return nil, pathError("create", name, fs.ErrExist)
	}
	return fsys.Create(name)
}

// RenameNew gives a file another name in the same folder, unless that is taken: fs.ErrExist then.
func RenameNew(fsys FS, tmp, name string) error {
	if e, ok := fsys.(Excluder); ok {
		return e.RenameNew(tmp, name)
	}
	return renameByLink(fsys, tmp, name)
}

// renameByLink renames by a second name, where there are hard links, and otherwise after a look.
func renameByLink(fsys FS, tmp, name string) error {
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
