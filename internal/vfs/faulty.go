package vfs

import (
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"sync"
	"syscall"
)

// Op is a kind of operation that an injected fault strikes.
type Op string

// The operations.
const (
	OpWrite   Op = "write" // Write and WriteAt
	OpSync    Op = "sync"  // File.Sync
	OpSyncDir Op = "syncdir"
	OpRead    Op = "read"
	OpCreate  Op = "create" // Create, OpenAppend
	OpRename  Op = "rename"
	OpRemove  Op = "remove"
)

// Fault is one fault to inject.
type Fault struct {
	// Op is the operation that it strikes.
	Op Op
	// Pattern is matched with the base name of the file as by path.Match; empty is every file.
	Pattern string
	// Nth is the operation that it strikes, from 1 on, counted over those that match.
	Nth int
	// Err is what the operation returns. ENOSPC and EIO are the usual ones.
	Err error
	// Torn writes only this many bytes before the error; negative writes none. Only for OpWrite.
	Torn int
	// Forever makes every later operation that matches fail as well, as a full disk does.
	Forever bool
}

// DiskFull is the fault of a disk that is full from the nth write on.
func DiskFull(nth int) Fault {
	return Fault{Op: OpWrite, Nth: nth, Err: syscall.ENOSPC, Torn: -1, Forever: true}
}

// Injector holds faults and counts operations. It may be used from several goroutines.
type Injector struct {
	mu     sync.Mutex
	faults []Fault
	seen   []int
	counts map[Op]int
	fired  int
}

// NewInjector returns an injector of the given faults.
func NewInjector(faults ...Fault) *Injector {
	return &Injector{faults: faults, seen: make([]int, len(faults)), counts: map[Op]int{}}
}

// Count returns how many operations of a kind there have been.
func (i *Injector) Count(op Op) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.counts[op]
}

// Fired returns how often a fault has struck.
func (i *Injector) Fired() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fired
}

// hit counts an operation and returns the fault that strikes it, if one does.
func (i *Injector) hit(op Op, name string) *Fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.counts[op]++
	for k := range i.faults {
		f := &i.faults[k]
		if f.Op != op {
			continue
		}
		if f.Pattern != "" {
			if ok, _ := path.Match(f.Pattern, filepath.Base(name)); !ok {
				continue
			}
		}
		i.seen[k]++
		if i.seen[k] == f.Nth || f.Forever && i.seen[k] > f.Nth {
			i.fired++
			return f
		}
	}
	return nil
}

func (i *Injector) err(op Op, name string) error {
	if f := i.hit(op, name); f != nil {
		return pathError(string(op), name, f.Err)
	}
	return nil
}

// NewFaulty returns a file system that does what fsys does, except where the injector says otherwise.
func NewFaulty(fsys FS, inj *Injector) FS { return &faultyFS{fsys, inj} }

type faultyFS struct {
	FS
	inj *Injector
}

type faultyFile struct {
	File
	name string
	inj  *Injector
}

func (f *faultyFS) wrap(file File, name string, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return &faultyFile{file, name, f.inj}, nil
}

func (f *faultyFS) Create(name string) (File, error) {
	if err := f.inj.err(OpCreate, name); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(name)
	return f.wrap(file, name, err)
}

func (f *faultyFS) CreateNew(name string) (File, error) {
	if err := f.inj.err(OpCreate, name); err != nil {
		return nil, err
	}
	file, err := CreateNew(f.FS, name)
	return f.wrap(file, name, err)
}

func (f *faultyFS) RenameNew(from, to string) error {
	if err := f.inj.err(OpRename, to); err != nil {
		return err
	}
	return RenameNew(f.FS, from, to)
}

func (f *faultyFS) Open(name string) (File, error) {
	file, err := f.FS.Open(name)
	return f.wrap(file, name, err)
}

func (f *faultyFS) OpenAppend(name string) (File, error) {
	if err := f.inj.err(OpCreate, name); err != nil {
		return nil, err
	}
	file, err := f.FS.OpenAppend(name)
	return f.wrap(file, name, err)
}

func (f *faultyFS) OpenReadWrite(name string) (File, error) {
	file, err := f.FS.OpenReadWrite(name)
	return f.wrap(file, name, err)
}

func (f *faultyFS) Rename(from, to string) error {
	if err := f.inj.err(OpRename, to); err != nil {
		return err
	}
	return f.FS.Rename(from, to)
}

func (f *faultyFS) Remove(name string) error {
	if err := f.inj.err(OpRemove, name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f *faultyFS) SyncDir(dir string) error {
	if err := f.inj.err(OpSyncDir, dir); err != nil {
		return err
	}
	return f.FS.SyncDir(dir)
}

func (f *faultyFS) Lock(name string) (io.Closer, error) { return f.FS.Lock(name) }

func (f *faultyFS) List(dir string) ([]fs.FileInfo, error) { return f.FS.List(dir) }

func (f *faultyFile) Write(b []byte) (int, error) {
	if x := f.inj.hit(OpWrite, f.name); x != nil {
		n := 0
		if x.Torn > 0 {
			n, _ = f.File.Write(b[:min(x.Torn, len(b))])
		}
		return n, pathError("write", f.name, x.Err)
	}
	return f.File.Write(b)
}

func (f *faultyFile) WriteAt(b []byte, off int64) (int, error) {
	if x := f.inj.hit(OpWrite, f.name); x != nil {
		n := 0
		if x.Torn > 0 {
			n, _ = f.File.WriteAt(b[:min(x.Torn, len(b))], off)
		}
		return n, pathError("write", f.name, x.Err)
	}
	return f.File.WriteAt(b, off)
}

func (f *faultyFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.inj.err(OpRead, f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, off)
}

func (f *faultyFile) Sync() error {
	if err := f.inj.err(OpSync, f.name); err != nil {
		return err
	}
	return f.File.Sync()
}
