// Package vfs is the file system as an interface: the real one, one in memory that loses what was not synced, and one
// that injects faults. Whatever must survive a crash goes through it, so that tests can crash it.
//
// Names are paths with forward slashes or those of the operating system. Errors are those of package os: errors.Is with
// fs.ErrNotExist and the like works on every implementation.
package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// File is an open file. Methods may not be called from several goroutines at once, except ReadAt.
type File interface {
	io.Writer   // at the end of what was written through this File, of files from OpenAppend at the end of the file
	io.ReaderAt // io.EOF at the end of the file
	io.WriterAt // not on files from OpenAppend
	io.Closer
	// Sync returns when the bytes of the file are durable. After an error what is on disk is unknown: it must not be
	// called again in the hope that it works now.
	Sync() error
	// Size returns the length of the file in bytes.
	Size() (int64, error)
	// Truncate changes the length of the file.
	Truncate(size int64) error
}

// FS is a file system. A file or a new name in a folder is durable after File.Sync and SyncDir of the folder.
type FS interface {
	// Create makes an empty file for reading and writing, or empties the one that is there.
	Create(name string) (File, error)
	// Open opens a file for reading.
	Open(name string) (File, error)
	// OpenAppend opens a file for reading and for writing at its end, and makes it if it is not there.
	OpenAppend(name string) (File, error)
	// OpenReadWrite opens a file that is there for reading and for WriteAt.
	OpenReadWrite(name string) (File, error)
	// Rename moves a file, in the place of the one that has the name now, if there is one.
	Rename(from, to string) error
	// Remove deletes a file or an empty folder.
	Remove(name string) error
	// RemoveAll deletes a file or a folder with all that is in it; it is no error if it is not there.
	RemoveAll(name string) error
	// List returns what is in a folder, in order of name.
	List(dir string) ([]fs.FileInfo, error)
	// Stat describes a file or folder.
	Stat(name string) (fs.FileInfo, error)
	// MkdirAll makes a folder and those above it. It is durable after SyncDir of the folder above each.
	MkdirAll(dir string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(dir string) error
	// Lock takes the exclusive lock of a file, which it makes if it is not there, and does not wait: ErrLocked if
	// somebody has it. Closing the result gives the lock back; so does the death of the process.
	Lock(name string) (io.Closer, error)
}

// ErrLocked is returned by Lock when another owner has the lock.
var ErrLocked = errors.New("file is locked")

// ReadFile returns the content of a file.
func ReadFile(fsys FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	buf := make([]byte, size)
	n, err := f.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	return buf[:n], nil
}

// WriteFile replaces the content of a file so that after a crash it is either the old or the new one, and durable when it
// returns: it writes name with the ending ".tmp", syncs it, renames it and syncs the folder.
func WriteFile(fsys FS, name string, data []byte) error {
	tmp := name + ".tmp"
	f, err := fsys.Create(tmp)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := fsys.Rename(tmp, name); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// MkdirAllSync makes a folder and those above it, durably. Each name is durable before the next one is made, so that of the
// folders that are there already only the last one may be the work of a process that was killed before it could sync it.
func MkdirAllSync(fsys FS, dir string) error {
	if Remote(fsys, dir) {
		return fsys.MkdirAll(dir)
	}
	there := filepath.Clean(dir)
	var missing []string
	for ; filepath.Dir(there) != there; there = filepath.Dir(there) {
		if _, err := fsys.Stat(there); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, there)
	}
	// A folder whose parent may not be read is none that such a process has made.
	if err := fsys.SyncDir(filepath.Dir(there)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := fsys.MkdirAll(missing[i]); err != nil {
			return err
		}
		if err := fsys.SyncDir(filepath.Dir(missing[i])); err != nil {
			return err
		}
	}
	return nil
}

// Exists says whether there is a file or folder of this name.
func Exists(fsys FS, name string) (bool, error) {
	_, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
