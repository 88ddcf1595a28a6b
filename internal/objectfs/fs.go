package objectfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wstream/wstream/internal/vfs"
)

// FS is a vfs.FS of which every name is "s3://BUCKET/KEY". It may be used from several goroutines.
type FS struct {
	o    Options
	open func(bucket string) (Store, error)

	mu     sync.Mutex
	stores map[string]Store
	staged map[string][]byte // files that end in ".tmp", which are nowhere else
	dirs   map[string]bool   // folders that were made: a store knows of none without objects
	etags  map[string]string // of the objects that this FS has put by a rename
	parts  partCache
	locks  map[string]bool // without leases

	reached atomic.Bool // the store has answered once
}

// New returns a file system over the buckets that open opens; each is opened once.
func New(open func(bucket string) (Store, error), o Options) *FS {
	o.fill()
	return &FS{
		o: o, open: open, stores: map[string]Store{}, staged: map[string][]byte{}, dirs: map[string]bool{}, etags: map[string]string{},
		locks: map[string]bool{},
	}
}

// Remote implements vfs.Remoter.
func (f *FS) Remote(string) bool { return true }

// at finds the store and the key of a name.
func (f *FS) at(name string) (Store, string, error) {
	bucket, key, err := parse(name)
	if err != nil {
		return nil, "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.stores[bucket]; s != nil {
		return s, key, nil
	}
	s, err := f.open(bucket)
	if err != nil {
		return nil, "", fmt.Errorf("bucket %q: %w", bucket, err)
	}
	f.stores[bucket] = s
	return s, key, nil
}

// clean is the one spelling of a name by which the maps of an FS are kept.
func clean(name string) string {
	bucket, key, _ := parse(name)
	return bucket + "/" + key
}

func temporary(name string) bool { return strings.HasSuffix(name, ".tmp") }

func pathError(op, name string, err error) error { return &os.PathError{Op: op, Path: name, Err: err} }

// offsetDigits is the length of the offset behind the plus in the key of a part.
const offsetDigits = 20

func partKey(key string, offset int64) string {
	if offset == 0 {
		return key
	}
	return fmt.Sprintf("%s+%0*d", key, offsetDigits, offset)
}

// splitPart splits the key of a part into that of its file and its offset, 0 for the first.
func splitPart(key string) (file string, offset int64) {
	i := len(key) - offsetDigits - 1
	if i <= 0 || key[i] != '+' {
		return key, 0
	}
	offset, err := strconv.ParseInt(key[i+1:], 10, 64)
	if err != nil || partKey(key[:i], offset) != key {
		return key, 0
	}
	return key[:i], offset
}

// partsOf lists the parts of a file, by offset; fs.ErrNotExist if there is none.
func (f *FS) partsOf(s Store, key string) ([]Object, error) {
	objects, err := f.list(s, key)
	if err != nil {
		return nil, err
	}
	objects = slices.DeleteFunc(objects, func(o Object) bool {
		file, _ := splitPart(o.Key)
		return o.Dir || file != key
	})
	// Without its first object a file is not there: it was removed, and what is left came from a removal that was cut short, or
	// from a former owner that did not know of it.
	if len(objects) == 0 || objects[0].Key != key {
		return nil, fs.ErrNotExist
	}
	size := int64(0)
	for _, o := range objects {
		if _, offset := splitPart(o.Key); offset != size {
			return nil, fmt.Errorf("the object %q is missing: the next one is %q", partKey(key, size), o.Key)
		}
		size += o.Size
	}
	return objects, nil
}

// Create implements vfs.FS.
func (f *FS) Create(name string) (vfs.File, error) {
	s, key, err := f.at(name)
	if err != nil {
		return nil, err
	}
	if temporary(name) {
		return &file{fs: f, name: name, staged: true}, nil
	}
	objects, err := f.partsOf(s, key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, pathError("create", name, err)
	}
	for _, o := range slices.Backward(objects) {
		if o.Key == key {
			break // the first Sync replaces it
		}
		if err := f.delete(s, o.Key); err != nil {
			return nil, pathError("create", name, err)
		}
	}
	return &file{fs: f, name: name, store: s, key: key, replace: true, unmade: true}, nil
}

// CreateNew implements vfs.Excluder. Whether the name is free is found out by the first Sync.
func (f *FS) CreateNew(name string) (vfs.File, error) {
	s, key, err := f.at(name)
	if err != nil {
		return nil, err
	}
	return &file{fs: f, name: name, store: s, key: key, unmade: true}, nil
}

// Open implements vfs.FS. It reads the whole file.
func (f *FS) Open(name string) (vfs.File, error) {
	file, err := f.load("open", name)
	if err != nil {
		return nil, err
	}
	file.readOnly = true
	return file, nil
}

// OpenReadWrite implements vfs.FS. A file of several objects can only grow.
func (f *FS) OpenReadWrite(name string) (vfs.File, error) {
	file, err := f.load("open", name)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// OpenAppend implements vfs.FS.
func (f *FS) OpenAppend(name string) (vfs.File, error) {
	file, err := f.load("open", name)
	if errors.Is(err, fs.ErrNotExist) {
		return f.CreateNew(name)
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f *FS) load(op, name string) (*file, error) {
	s, key, err := f.at(name)
	if err != nil {
		return nil, err
	}
	if temporary(name) {
		f.mu.Lock()
		data, ok := f.staged[clean(name)]
		f.mu.Unlock()
		if !ok {
			return nil, pathError(op, name, fs.ErrNotExist)
		}
		return &file{fs: f, name: name, staged: true, data: slices.Clone(data)}, nil
	}
	objects, err := f.partsOf(s, key)
	if err != nil {
		return nil, pathError(op, name, err)
	}
	data, etag, err := f.read(s, objects)
	if err != nil {
		return nil, pathError(op, name, err)
	}
	return &file{
		fs: f, name: name, store: s, key: key, data: data, flushed: int64(len(data)), parts: len(objects), etag: etag,
	}, nil
}

// Rename implements vfs.FS, for names that end in ".tmp": it puts the object.
func (f *FS) Rename(from, to string) error {
	cond := Condition{}
	f.mu.Lock()
	cond.IfMatch = f.etags[clean(to)] // what this process has put nobody else may have changed
	f.mu.Unlock()
	return f.publish(from, to, cond)
}

// RenameNew implements vfs.Excluder.
func (f *FS) RenameNew(from, to string) error { return f.publish(from, to, Condition{IfAbsent: true}) }

func (f *FS) publish(from, to string, cond Condition) error {
	f.mu.Lock()
	data, ok := f.staged[clean(from)]
	f.mu.Unlock()
	if !ok {
		return pathError("rename", from, fs.ErrNotExist)
	}
	s, key, err := f.at(to)
	if err != nil {
		return err
	}
	etag, err := f.put(s, key, data, cond)
	if errors.Is(err, ErrPrecondition) && cond.IfAbsent {
		return pathError("rename", to, fs.ErrExist)
	}
	if err != nil {
		return pathError("rename", to, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.staged, clean(from))
	f.etags[clean(to)] = etag
	return nil
}

// Remove implements vfs.FS. A folder has nothing to be removed.
func (f *FS) Remove(name string) error {
	s, key, err := f.at(name)
	if err != nil {
		return err
	}
	f.mu.Lock()
	_, staged := f.staged[clean(name)]
	delete(f.staged, clean(name))
	delete(f.etags, clean(name))
	f.mu.Unlock()
	if temporary(name) {
		if !staged {
			return pathError("remove", name, fs.ErrNotExist)
		}
		return nil
	}
	objects, err := f.partsOf(s, key)
	if err != nil {
		return pathError("remove", name, err)
	}
	for _, o := range objects { // the first one first: then the file is gone at once
		if err := f.delete(s, o.Key); err != nil {
			return pathError("remove", name, err)
		}
	}
	return nil
}

// Sweep implements vfs.Sweeper: it deletes the objects of files whose first one is gone.
func (f *FS) Sweep(dir string) error {
	s, key, err := f.at(dir)
	if err != nil {
		return err
	}
	objects, err := f.list(s, key+"/")
	if err != nil {
		return pathError("sweep", dir, err)
	}
	first := map[string]bool{}
	for _, o := range objects {
		first[o.Key] = true
	}
	for _, o := range objects {
		if file, offset := splitPart(o.Key); offset > 0 && !first[file] {
			if err := f.delete(s, o.Key); err != nil {
				return pathError("sweep", dir, err)
			}
		}
	}
	return nil
}

// RemoveAll implements vfs.FS.
func (f *FS) RemoveAll(name string) error {
	s, key, err := f.at(name)
	if err != nil {
		return err
	}
	if err := f.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	objects, err := f.listAll(s, key+"/")
	if err != nil {
		return pathError("remove", name, err)
	}
	for _, o := range slices.Backward(objects) {
		if err := f.delete(s, o.Key); err != nil {
			return pathError("remove", name, err)
		}
	}
	return nil
}

// List implements vfs.FS.
func (f *FS) List(dir string) ([]fs.FileInfo, error) {
	s, key, err := f.at(dir)
	if err != nil {
		return nil, err
	}
	prefix := key + "/"
	if key == "" {
		prefix = ""
	}
	objects, err := f.list(s, prefix)
	if err != nil {
		return nil, pathError("list", dir, err)
	}
	f.mu.Lock()
	made := f.dirs[clean(dir)]
	f.mu.Unlock()
	if len(objects) == 0 && !made {
		return nil, pathError("list", dir, fs.ErrNotExist)
	}
	return infos(objects, prefix), nil
}

// infos sums objects up to files and folders, in order of name.
func infos(objects []Object, prefix string) []fs.FileInfo {
	byName := map[string]*info{}
	var out []fs.FileInfo
	for _, o := range objects {
		file, offset := splitPart(strings.TrimSuffix(o.Key, "/"))
		name := strings.TrimPrefix(file, prefix)
		if name == "" {
			continue // a marker that other programs make for a folder
		}
		i := byName[name]
		if i == nil && offset > 0 {
			continue // its first object is gone
		}
		if i == nil {
			i = &info{name: name, dir: o.Dir}
			byName[name] = i
			out = append(out, i)
		}
		i.size += o.Size
		if o.Modified.After(i.modified) {
			i.modified = o.Modified
		}
	}
	slices.SortFunc(out, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return out
}

// Stat implements vfs.FS.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	s, key, err := f.at(name)
	if err != nil {
		return nil, err
	}
	base := key[strings.LastIndexByte(key, '/')+1:]
	f.mu.Lock()
	data, staged := f.staged[clean(name)]
	made := f.dirs[clean(name)]
	f.mu.Unlock()
	if staged {
		return &info{name: base, size: int64(len(data))}, nil
	}
	prefix := key[:len(key)-len(base)]
	objects, err := f.list(s, key)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	for _, i := range infos(objects, prefix) {
		if i.Name() == base {
			return i, nil
		}
	}
	if made || key == "" {
		return &info{name: base, dir: true}, nil
	}
	return nil, pathError("stat", name, fs.ErrNotExist)
}

// MkdirAll implements vfs.FS. The folder is one for this process alone until there is an object in it.
func (f *FS) MkdirAll(dir string) error {
	if _, _, err := parse(dir); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for d := clean(dir); ; d = d[:strings.LastIndexByte(d, '/')] {
		f.dirs[d] = true
		if strings.LastIndexByte(d, '/') < 0 {
			return nil
		}
	}
}

// SyncDir implements vfs.FS: an object that was acknowledged has its name.
func (f *FS) SyncDir(string) error { return nil }

// info describes a file or folder.
type info struct {
	name     string
	size     int64
	modified time.Time
	dir      bool
}

func (i *info) Name() string       { return i.name }
func (i *info) Size() int64        { return i.size }
func (i *info) ModTime() time.Time { return i.modified }
func (i *info) IsDir() bool        { return i.dir }
func (i *info) Sys() any           { return nil }

func (i *info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// Lock implements vfs.FS, see lease.
func (f *FS) Lock(name string) (io.Closer, error) {
	s, key, err := f.at(name)
	if err != nil {
		return nil, err
	}
	if f.o.Lease < 0 {
		return f.lockHere(clean(name))
	}
	l, err := f.takeLease(s, key)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// lockHere takes a lock that only this FS knows of.
func (f *FS) lockHere(name string) (io.Closer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.locks[name] {
		return nil, vfs.ErrLocked
	}
	f.locks[name] = true
	return closer(func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.locks, name)
		return nil
	}), nil
}

type closer func() error

func (c closer) Close() error { return c() }
