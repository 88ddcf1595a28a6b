package vfs

import (
	"bytes"
	"path/filepath"
	"slices"
)

// CrashKeeping makes the file system what a power loss may leave when the disk had begun to write what was not synced: of
// the bytes and names that Crash drops, some are kept. pick(n) chooses one of n, so that a seed decides. A name that was
// moved is never lost altogether, and bytes are kept by sectors of 512, as a disk writes them.
func (m *Mem) CrashKeeping(pick func(n int) int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
	m.root.keepNames(pick)
	m.root.keepBytes(pick, map[*memFile]bool{})
}

// keepNames chooses for each name of the folder that has changed whether the change has come to the disk.
func (d *memDir) keepNames(pick func(n int) int) {
	var changed []string
	for name, n := range d.names {
		if d.synced[name] != n {
			changed = append(changed, name)
		}
	}
	for name := range d.synced {
		if _, ok := d.names[name]; !ok {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	if len(changed) > 0 {
		d.keepChanges(changed, pick)
	}
	d.names = map[string]memNode{}
	for _, name := range sortedNames(d.synced) {
		n := d.synced[name]
		d.names[name] = n
		if sub, ok := n.(*memDir); ok {
			sub.keepNames(pick)
		}
	}
}

func (d *memDir) keepChanges(changed []string, pick func(n int) int) {
	before := map[memNode]string{}
	for name, n := range d.synced {
		before[n] = name
	}
	mode := pick(3) // nothing, all, or some of it
	for _, name := range changed {
		if mode == 0 || mode == 2 && pick(2) == 0 {
			continue
		}
		if n, ok := d.names[name]; ok {
			d.synced[name] = n
		} else {
			delete(d.synced, name)
		}
	}
	// What was moved within the folder has its old name if it has not got the new one.
	held := map[memNode]bool{}
	for _, n := range d.synced {
		held[n] = true
	}
	for _, name := range sortedNames(d.names) {
		n := d.names[name]
		if old, ok := before[n]; ok && !held[n] && d.synced[old] == nil {
			d.synced[old] = n
		}
	}
}

// keepBytes chooses for each file which of its sectors have come to the disk.
func (d *memDir) keepBytes(pick func(n int) int, seen map[*memFile]bool) {
	for _, name := range sortedNames(d.names) {
		switch n := d.names[name].(type) {
		case *memDir:
			n.keepBytes(pick, seen)
		case *memFile:
			if !seen[n] {
				seen[n] = true
				n.lock = nil
				n.keepSectors(pick)
			}
		}
	}
}

const memSector = 512

func (f *memFile) keepSectors(pick func(n int) int) {
	defer func() { f.data = slices.Clone(f.synced) }()
	if bytes.Equal(f.data, f.synced) {
		return
	}
	mode := pick(4) // nothing, all, the first bytes of it, or some sectors
	if mode == 0 {
		return
	}
	if mode == 1 {
		f.synced = slices.Clone(f.data)
		return
	}
	size := len(f.data)
	if size > len(f.synced) {
		size = len(f.synced) + pick(size-len(f.synced)+1)
	}
	out := make([]byte, size)
	copy(out, f.synced)
	upTo := size
	if mode == 2 {
		upTo = pick(size + 1)
	}
	for at := 0; at < size; at += memSector {
		end := min(at+memSector, size)
		if bytes.Equal(out[at:end], f.data[at:end]) {
			continue
		}
		if mode == 3 && pick(2) == 1 {
			copy(out[at:end], f.data[at:end])
		} else if mode == 2 && at < upTo {
			copy(out[at:min(end, upTo)], f.data[at:end])
		}
	}
	f.synced = out
}

// Unlock takes all locks away from those who have them, without their noticing: what a file system does that lost its lock
// service, or a person who deletes a lock file.
func (m *Mem) Unlock() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.root.unlock()
}

func (d *memDir) unlock() {
	for _, n := range d.names {
		switch n := n.(type) {
		case *memDir:
			n.unlock()
		case *memFile:
			n.lock = nil
		}
	}
}

func sortedNames(m map[string]memNode) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Put makes a file with the given content, durable at once with the folders above it. For tests.
func (m *Mem) Put(name string, data []byte) error {
	if err := MkdirAllSync(m, filepath.Dir(name)); err != nil {
		return err
	}
	return WriteFile(m, name, data)
}
