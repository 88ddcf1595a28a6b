package vfs

import "sync"

// Dirs makes folders durably and remembers those that it has made, so that one that is asked for again costs no sync. The
// zero value is ready; its methods may be called from several goroutines.
type Dirs struct {
	mu    sync.Mutex
	known map[string]bool
}

// knownDirs is how many folders are remembered at most.
const knownDirs = 10_000

// Make makes a folder and those above it like MkdirAllSync.
func (d *Dirs) Make(fsys FS, dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known[dir] {
		if ok, err := Exists(fsys, dir); ok || err != nil {
			return err
		}
	}
	if err := MkdirAllSync(fsys, dir); err != nil {
		return err
	}
	if len(d.known) >= knownDirs {
		d.known = nil
	}
	if d.known == nil {
		d.known = map[string]bool{}
	}
	d.known[dir] = true
	return nil
}
