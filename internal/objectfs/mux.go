package objectfs

import (
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/wstream/wstream/internal/vfs"
)

// For returns the file system of some names: the real one, or one that sends names that begin with "s3://" to an object
// store, see Environment.
func For(names ...string) (vfs.FS, error) {
	if !slices.ContainsFunc(names, IsLocation) {
		return vfs.OS(), nil
	}
	remote, err := Environment()
	if err != nil {
		return nil, err
	}
	return Mux(vfs.OS(), remote), nil
}

// Mux returns a file system of which the names that begin with "s3://" are in remote, all others in local.
func Mux(local, remote vfs.FS) vfs.FS { return &mux{local, remote} }

type mux struct{ local, remote vfs.FS }

func (m *mux) of(name string) vfs.FS {
	if IsLocation(name) {
		return m.remote
	}
	return m.local
}

// pair returns the file system of two names, which must be one.
func (m *mux) pair(from, to string) (vfs.FS, error) {
	if IsLocation(from) != IsLocation(to) {
		return nil, fmt.Errorf("%q cannot be renamed to %q: they are in two file systems", from, to)
	}
	return m.of(from), nil
}

func (m *mux) Remote(name string) bool                  { return IsLocation(name) }
func (m *mux) Sweep(dir string) error                   { return vfs.Sweep(m.of(dir), dir) }
func (m *mux) Create(name string) (vfs.File, error)     { return m.of(name).Create(name) }
func (m *mux) CreateNew(name string) (vfs.File, error)  { return vfs.CreateNew(m.of(name), name) }
func (m *mux) Open(name string) (vfs.File, error)       { return m.of(name).Open(name) }
func (m *mux) OpenAppend(name string) (vfs.File, error) { return m.of(name).OpenAppend(name) }
func (m *mux) OpenReadWrite(n string) (vfs.File, error) { return m.of(n).OpenReadWrite(n) }
func (m *mux) Remove(name string) error                 { return m.of(name).Remove(name) }
func (m *mux) RemoveAll(name string) error              { return m.of(name).RemoveAll(name) }
func (m *mux) List(dir string) ([]fs.FileInfo, error)   { return m.of(dir).List(dir) }
func (m *mux) Stat(name string) (fs.FileInfo, error)    { return m.of(name).Stat(name) }
func (m *mux) MkdirAll(dir string) error                { return m.of(dir).MkdirAll(dir) }
func (m *mux) SyncDir(dir string) error                 { return m.of(dir).SyncDir(dir) }
func (m *mux) Lock(name string) (io.Closer, error)      { return m.of(name).Lock(name) }

func (m *mux) Rename(from, to string) error {
	fsys, err := m.pair(from, to)
	if err != nil {
		return err
	}
	return fsys.Rename(from, to)
}

func (m *mux) RenameNew(from, to string) error {
	fsys, err := m.pair(from, to)
	if err != nil {
		return err
	}
	return vfs.RenameNew(fsys, from, to)
}
