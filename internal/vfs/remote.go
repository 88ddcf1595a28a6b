package vfs

import (
	"path/filepath"
	"strings"
)

// Remoter is implemented by file systems of which some or all names are objects of a store behind a network. There a file is
// made of whole objects: it grows by what each Sync adds, a rename is for names that end in ".tmp" only, and every call
// costs a round trip.
type Remoter interface {
	// Remote says whether a name is an object.
	Remote(name string) bool
}

// Remote says whether a name of a file system is an object of a store behind a network.
func Remote(fsys FS, name string) bool {
	r, ok := fsys.(Remoter)
	return ok && r.Remote(name)
}

// Sweeper is implemented by file systems on which a removal that was cut short leaves something behind that nobody sees.
type Sweeper interface {
	// Sweep deletes that from a folder.
	Sweep(dir string) error
}

// Sweep deletes what removals have left behind in a folder, where there can be such a thing.
func Sweep(fsys FS, dir string) error {
	if s, ok := fsys.(Sweeper); ok && Remote(fsys, dir) {
		return s.Sweep(dir)
	}
	return nil
}

// Join puts the parts of a name together, as filepath.Join does, and keeps the scheme of a URL such as "s3://bucket".
func Join(elem ...string) string {
	if len(elem) > 0 {
		if scheme, rest, ok := strings.Cut(elem[0], "://"); ok && scheme != "" && !strings.ContainsAny(scheme, `/\`) {
			return scheme + "://" + filepath.ToSlash(filepath.Join(append([]string{rest}, elem[1:]...)...))
		}
	}
	return filepath.Join(elem...)
}

// Sweep implements Sweeper.
func (f *faultyFS) Sweep(dir string) error { return Sweep(f.FS, dir) }

// Remote implements Remoter.
func (f *faultyFS) Remote(name string) bool { return Remote(f.FS, name) }
