package vfs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Mem is a file system in memory that keeps apart what was synced and what was not. Crash drops the latter, the way a
// power loss may: bytes of a file since its last Sync, and names of a folder since its last SyncDir. A Mem may be used
// from several goroutines.
type Mem struct {
	mu    sync.Mutex
	root  *memDir
	epoch int // counts crashes: files opened before do not work any more
	syncs int
	hook  func(op, name string)
}

// memDir is a folder: the names as they are, and as they would be after a crash.
type memDir struct {
	names, synced map[string]memNode
	modified      time.Time
}

// memFile is the content of a file: as it is, and as it would be after a crash.
type memFile struct {
	data, synced []byte
	modified     time.Time
	lock         *memLock
}

type memNode interface{}

// NewStrictMem returns an empty file system in memory in which everything that is not synced is lost by Crash.
func NewStrictMem() *Mem { return &Mem{root: newMemDir()} }

func newMemDir() *memDir {
	return &memDir{names: map[string]memNode{}, synced: map[string]memNode{}, modified: time.Unix(0, 0)}
}

// OnSync sets a function that is called after each successful Sync ("sync") and SyncDir ("syncdir"), for tests that crash
// at every such boundary. It may panic; it must not use the file system.
func (m *Mem) OnSync(fn func(op, name string)) { m.hook = fn }

// Syncs returns how many calls of Sync and SyncDir there have been.
func (m *Mem) Syncs() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.syncs
}

// Crash makes the file system what a power loss would leave. Open files stop working, locks are gone.
func (m *Mem) Crash() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
	m.root.crash(map[*memFile]bool{})
}

func (d *memDir) crash(seen map[*memFile]bool) {
	d.names = map[string]memNode{}
	for name, n := range d.synced {
		d.names[name] = n
		switch n := n.(type) {
		case *memDir:
			n.crash(seen)
		case *memFile:
			if !seen[n] {
				seen[n] = true
				n.data = slices.Clone(n.synced)
				n.lock = nil
			}
		}
	}
}

// Clone returns a copy of the file system as it is, with its own unsynced part, for trying several crashes from one state.
func (m *Mem) Clone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Mem{root: m.root.clone(map[memNode]memNode{})}
}

func (d *memDir) clone(seen map[memNode]memNode) *memDir {
	if c, ok := seen[d]; ok {
		return c.(*memDir)
	}
	c := newMemDir()
	c.modified = d.modified
	seen[d] = c
	cloneNode := func(n memNode) memNode {
		switch n := n.(type) {
		case *memDir:
			return n.clone(seen)
		case *memFile:
			if f, ok := seen[n]; ok {
				return f
			}
			f := &memFile{data: slices.Clone(n.data), synced: slices.Clone(n.synced), modified: n.modified}
			seen[n] = f
			return f
		}
		return nil
	}
	for name, n := range d.names {
		c.names[name] = cloneNode(n)
	}
	for name, n := range d.synced {
		c.synced[name] = cloneNode(n)
	}
	return c
}

// Corrupt calls change with the content of a file and makes the result the content, durable at once. For tests.
func (m *Mem) Corrupt(name string, change func([]byte) []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.file("corrupt", name)
	if err != nil {
		return err
	}
	f.data = change(slices.Clone(f.data))
	f.synced = slices.Clone(f.data)
	return nil
}

// Walk returns the names of all files below dir, in order.
func (m *Mem) Walk(dir string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	var walk func(prefix string, d *memDir)
	walk = func(prefix string, d *memDir) {
		for name, n := range d.names {
			if sub, ok := n.(*memDir); ok {
				walk(filepath.Join(prefix, name), sub)
			} else {
				out = append(out, filepath.Join(prefix, name))
			}
		}
	}
	if d, err := m.dir("walk", dir); err == nil {
		walk(dir, d)
	}
	slices.Sort(out)
	return out
}

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

func split(name string) []string {
	name = filepath.ToSlash(filepath.Clean(name))
	name = strings.TrimPrefix(name, filepath.ToSlash(filepath.VolumeName(name)))
	return strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
}

func (m *Mem) node(op, name string) (memNode, error) {
	var n memNode = m.root
	for _, part := range split(name) {
		if part == "." {
			continue
		}
		d, ok := n.(*memDir)
		if !ok {
			return nil, pathError(op, name, fs.ErrNotExist)
		}
		if n, ok = d.names[part]; !ok {
			return nil, pathError(op, name, fs.ErrNotExist)
		}
	}
	return n, nil
}

func (m *Mem) dir(op, name string) (*memDir, error) {
	n, err := m.node(op, name)
	if err != nil {
		return nil, err
	}
	d, ok := n.(*memDir)
	if !ok {
		return nil, pathError(op, name, fmt.Errorf("not a directory"))
	}
	return d, nil
}

func (m *Mem) file(op, name string) (*memFile, error) {
	n, err := m.node(op, name)
	if err != nil {
		return nil, err
	}
	f, ok := n.(*memFile)
	if !ok {
		return nil, pathError(op, name, fmt.Errorf("is a directory"))
	}
	return f, nil
}

func (m *Mem) parent(op, name string) (*memDir, string, error) {
	d, err := m.dir(op, filepath.Dir(filepath.Clean(name)))
	if err != nil {
		return nil, "", pathError(op, name, fs.ErrNotExist)
	}
	return d, filepath.Base(name), nil
}

func (m *Mem) open(op, name string, create, truncate, appendOnly, readOnly bool) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, base, err := m.parent(op, name)
	if err != nil {
		return nil, err
	}
	n, ok := d.names[base]
	if !ok && !create {
		return nil, pathError(op, name, fs.ErrNotExist)
	}
	if !ok {
		n = &memFile{modified: time.Unix(0, 0)}
		d.names[base] = n
	}
	f, ok := n.(*memFile)
	if !ok {
		return nil, pathError(op, name, fmt.Errorf("is a directory"))
	}
	if truncate {
		f.data = nil
	}
	h := &memHandle{m: m, f: f, name: name, epoch: m.epoch, appends: appendOnly, readOnly: readOnly}
	return h, nil
}

// Create implements FS.
func (m *Mem) Create(name string) (File, error) {
	return m.open("create", name, true, true, false, false)
}

// Open implements FS.
func (m *Mem) Open(name string) (File, error) {
	return m.open("open", name, false, false, false, true)
}

// OpenAppend implements FS.
func (m *Mem) OpenAppend(name string) (File, error) {
	return m.open("open", name, true, false, true, false)
}

// OpenReadWrite implements FS.
func (m *Mem) OpenReadWrite(name string) (File, error) {
	return m.open("open", name, false, false, false, false)
}

// CreateNew implements Excluder.
func (m *Mem) CreateNew(name string) (File, error) {
	m.mu.Lock()
	d, base, err := m.parent("create", name)
	if err == nil && d.names[base] != nil {
		err = pathError("create", name, fs.ErrExist)
	}
	m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return m.Create(name)
}

// RenameNew implements Excluder.
func (m *Mem) RenameNew(from, to string) error {
	m.mu.Lock()
	d, base, err := m.parent("rename", to)
	if err == nil && d.names[base] != nil {
		err = pathError("rename", to, fs.ErrExist)
	}
	m.mu.Unlock()
	if err != nil {
		return err
	}
	return m.Rename(from, to)
}

// Rename implements FS.
func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, base, err := m.parent("rename", from)
	if err != nil {
		return err
	}
	n, ok := d.names[base]
	if !ok {
		return pathError("rename", from, fs.ErrNotExist)
	}
	d2, base2, err := m.parent("rename", to)
	if err != nil {
		return err
	}
	delete(d.names, base)
	d2.names[base2] = n
	return nil
}

// Remove implements FS.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, base, err := m.parent("remove", name)
	if err != nil {
		return err
	}
	n, ok := d.names[base]
	if !ok {
		return pathError("remove", name, fs.ErrNotExist)
	}
	if sub, ok := n.(*memDir); ok && len(sub.names) > 0 {
		return pathError("remove", name, fmt.Errorf("directory not empty"))
	}
	delete(d.names, base)
	return nil
}

// RemoveAll implements FS.
func (m *Mem) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d, base, err := m.parent("remove", name); err == nil {
		delete(d.names, base)
	}
	return nil
}

// List implements FS.
func (m *Mem) List(dir string) ([]fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, err := m.dir("open", dir)
	if err != nil {
		return nil, err
	}
	var out []fs.FileInfo
	for name, n := range d.names {
		out = append(out, newMemInfo(name, n))
	}
	slices.SortFunc(out, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

// Stat implements FS.
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.node("stat", name)
	if err != nil {
		return nil, err
	}
	return newMemInfo(filepath.Base(name), n), nil
}

// MkdirAll implements FS.
func (m *Mem) MkdirAll(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.root
	for _, part := range split(dir) {
		if part == "." {
			continue
		}
		n, ok := d.names[part]
		if !ok {
			n = newMemDir()
			d.names[part] = n
		}
		if d, ok = n.(*memDir); !ok {
			return pathError("mkdir", dir, fmt.Errorf("not a directory"))
		}
	}
	return nil
}

// SyncDir implements FS.
func (m *Mem) SyncDir(dir string) error {
	m.mu.Lock()
	d, err := m.dir("sync", dir)
	if err != nil {
		m.mu.Unlock()
		return err
	}
	d.synced = make(map[string]memNode, len(d.names))
	for k, v := range d.names {
		d.synced[k] = v
	}
	m.syncs++
	m.mu.Unlock()
	if m.hook != nil {
		m.hook("syncdir", dir)
	}
	return nil
}

type memLock struct{}

// Lock implements FS.
func (m *Mem) Lock(name string) (io.Closer, error) {
	h, err := m.OpenAppend(name)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f := h.(*memHandle).f
	if f.lock != nil {
		return nil, ErrLocked
	}
	l := &memLock{}
	f.lock = l
	return closeFunc(func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if f.lock == l {
			f.lock = nil
		}
		return nil
	}), nil
}

type closeFunc func() error

func (c closeFunc) Close() error { return c() }

// memHandle is an open file.
type memHandle struct {
	m                 *Mem
	f                 *memFile
	name              string
	epoch             int
	pos               int64
	appends, readOnly bool
	closed            bool
}

func (h *memHandle) check(op string, write bool) error {
	if h.closed || h.epoch != h.m.epoch {
		return pathError(op, h.name, fs.ErrClosed)
	}
	if write && h.readOnly {
		return pathError(op, h.name, fs.ErrPermission)
	}
	return nil
}

func (h *memHandle) Write(b []byte) (int, error) {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if err := h.check("write", true); err != nil {
		return 0, err
	}
	if h.appends {
		h.pos = int64(len(h.f.data))
	}
	h.put(b, h.pos)
	h.pos += int64(len(b))
	return len(b), nil
}

func (h *memHandle) put(b []byte, off int64) {
	if end := off + int64(len(b)); end > int64(len(h.f.data)) {
		h.f.data = append(h.f.data, make([]byte, end-int64(len(h.f.data)))...)
	}
	copy(h.f.data[off:], b)
}

func (h *memHandle) WriteAt(b []byte, off int64) (int, error) {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if err := h.check("write", true); err != nil {
		return 0, err
	}
	if h.appends {
		return 0, pathError("writeat", h.name, fmt.Errorf("opened for appending"))
	}
	h.put(b, off)
	return len(b), nil
}

func (h *memHandle) ReadAt(b []byte, off int64) (int, error) {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if err := h.check("read", false); err != nil {
		return 0, err
	}
	if off >= int64(len(h.f.data)) {
		return 0, io.EOF
	}
	n := copy(b, h.f.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *memHandle) Sync() error {
	h.m.mu.Lock()
	if err := h.check("sync", false); err != nil {
		h.m.mu.Unlock()
		return err
	}
	h.f.synced = slices.Clone(h.f.data)
	h.m.syncs++
	h.m.mu.Unlock()
	if h.m.hook != nil {
		h.m.hook("sync", h.name)
	}
	return nil
}

func (h *memHandle) Size() (int64, error) {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if err := h.check("stat", false); err != nil {
		return 0, err
	}
	return int64(len(h.f.data)), nil
}

func (h *memHandle) Truncate(size int64) error {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if err := h.check("truncate", true); err != nil {
		return err
	}
	if n := int64(len(h.f.data)); size > n {
		h.f.data = append(h.f.data, make([]byte, size-n)...)
	}
	h.f.data = h.f.data[:size:size]
	return nil
}

func (h *memHandle) Close() error {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if h.closed {
		return pathError("close", h.name, os.ErrClosed)
	}
	h.closed = true
	return nil
}

// memInfo describes a file or folder at the moment it was asked for.
type memInfo struct {
	name     string
	size     int64
	dir      bool
	modified time.Time
}

func newMemInfo(name string, n memNode) memInfo {
	switch n := n.(type) {
	case *memFile:
		return memInfo{name, int64(len(n.data)), false, n.modified}
	case *memDir:
		return memInfo{name, 0, true, n.modified}
	}
	return memInfo{name: name}
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) ModTime() time.Time { return i.modified }
func (i memInfo) IsDir() bool        { return i.dir }
func (i memInfo) Sys() any           { return nil }

func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
