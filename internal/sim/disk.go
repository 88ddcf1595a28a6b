package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"syscall"

	"github.com/wstream/wstream/internal/vfs"
)

// errDead is what everything returns to a process that has been killed.
var errDead = errors.New("the process is dead")

// operation is a kind of operation on the disk.
type operation string

// The operations.
const (
	opRead    operation = "read"
	opWrite   operation = "write"
	opSync    operation = "sync"
	opSyncDir operation = "syncdir"
	opCreate  operation = "create"
	opOpen    operation = "open"
	opRename  operation = "rename"
	opRemove  operation = "remove"
	opList    operation = "list"
	opCut     operation = "truncate"
	opMkdir   operation = "mkdir"
	opLock    operation = "lock"
	opPut     operation = "put"    // of an object
	opDelete  operation = "delete" // of an object
	opGet     operation = "get"
	opIndex   operation = "index" // a list of objects
)

// changes says that an operation changes the disk or makes something durable: crashes strike there.
func (o operation) changes() bool {
	return o != opRead && o != opOpen && o != opList && o != opGet && o != opIndex
}

// disk is the file system as one process sees it. Every operation goes into the trace and may meet a fault.
type disk struct{ p *process }

// do runs an operation, unless the process is dead or a fault strikes. What a fault prevents does not
// happen at all.
func do[T any](p *process, op operation, name string, data []byte, run func() (T, error)) (T, error) {
	var zero T
	if p.dead {
		return zero, errDead
	}
	p.w.trace.ops[op]++
	p.w.trace.add(string(op), name, int64(len(data)), crc32.Checksum(data, p.w.trace.table))
	f := p.strike(op)
	if f != nil && f.before {
		if err := p.suffer(f, op, name); err != nil {
			return zero, err
		}
	}
	v, err := run()
	if f != nil && !f.before {
		if err := p.suffer(f, op, name); err != nil {
			return zero, err
		}
	}
	if p.dead {
		return zero, errDead
	}
	return v, err
}

func (p *process) run(op operation, name string, run func() error) error {
	_, err := do(p, op, name, nil, func() (struct{}, error) { return struct{}{}, run() })
	return err
}

func (d disk) file(op operation, name string, open func() (vfs.File, error)) (vfs.File, error) {
	f, err := do(d.p, op, name, nil, open)
	if err != nil {
		return nil, err
	}
	return &diskFile{f, name, d.p}, nil
}

// Create implements vfs.FS.
func (d disk) Create(name string) (vfs.File, error) {
	return d.file(opCreate, name, func() (vfs.File, error) { return d.p.w.mem.Create(name) })
}

// CreateNew implements vfs.Excluder.
func (d disk) CreateNew(name string) (vfs.File, error) {
	return d.file(opCreate, name, func() (vfs.File, error) { return d.p.w.mem.CreateNew(name) })
}

// RenameNew implements vfs.Excluder.
func (d disk) RenameNew(from, to string) error {
	return d.p.run(opRename, to, func() error { return d.p.w.mem.RenameNew(from, to) })
}

// Open implements vfs.FS.
func (d disk) Open(name string) (vfs.File, error) {
	return d.file(opOpen, name, func() (vfs.File, error) { return d.p.w.mem.Open(name) })
}

// OpenAppend implements vfs.FS.
func (d disk) OpenAppend(name string) (vfs.File, error) {
	return d.file(opCreate, name, func() (vfs.File, error) { return d.p.w.mem.OpenAppend(name) })
}

// OpenReadWrite implements vfs.FS.
func (d disk) OpenReadWrite(name string) (vfs.File, error) {
	return d.file(opOpen, name, func() (vfs.File, error) { return d.p.w.mem.OpenReadWrite(name) })
}

// Rename implements vfs.FS.
func (d disk) Rename(from, to string) error {
	return d.p.run(opRename, to, func() error { return d.p.w.mem.Rename(from, to) })
}

// Remove implements vfs.FS.
func (d disk) Remove(name string) error {
	return d.p.run(opRemove, name, func() error { return d.p.w.mem.Remove(name) })
}

// RemoveAll implements vfs.FS.
func (d disk) RemoveAll(name string) error {
	return d.p.run(opRemove, name, func() error { return d.p.w.mem.RemoveAll(name) })
}

// List implements vfs.FS.
func (d disk) List(dir string) ([]fs.FileInfo, error) {
	return do(d.p, opList, dir, nil, func() ([]fs.FileInfo, error) { return d.p.w.mem.List(dir) })
}

// Stat implements vfs.FS.
func (d disk) Stat(name string) (fs.FileInfo, error) {
	return do(d.p, opOpen, name, nil, func() (fs.FileInfo, error) { return d.p.w.mem.Stat(name) })
}

// MkdirAll implements vfs.FS.
func (d disk) MkdirAll(dir string) error {
	return d.p.run(opMkdir, dir, func() error { return d.p.w.mem.MkdirAll(dir) })
}

// SyncDir implements vfs.FS.
func (d disk) SyncDir(dir string) error {
	return d.p.run(opSyncDir, dir, func() error { return d.p.w.mem.SyncDir(dir) })
}

// Lock implements vfs.FS. A lock is given back by the death of its process, too.
func (d disk) Lock(name string) (io.Closer, error) {
	return do(d.p, opLock, name, nil, func() (io.Closer, error) {
		l, err := d.p.w.mem.Lock(name)
		if err == nil {
			d.p.locks = append(d.p.locks, l)
		}
		return l, err
	})
}

type diskFile struct {
	vfs.File
	name string
	p    *process
}

// Write implements vfs.File.
func (f *diskFile) Write(b []byte) (int, error) {
	return f.write(b, f.File.Write)
}

// WriteAt implements vfs.File.
func (f *diskFile) WriteAt(b []byte, off int64) (int, error) {
	return f.write(b, func(b []byte) (int, error) { return f.File.WriteAt(b, off) })
}

func (f *diskFile) write(b []byte, write func([]byte) (int, error)) (int, error) {
	if cut := f.p.tear(len(b)); cut >= 0 && !f.p.dead {
		f.p.w.trace.add("torn", f.name, int64(cut), 0)
		n, _ := write(b[:cut])
		return n, pathError("write", f.name, syscall.EIO)
	}
	return do(f.p, opWrite, f.name, b, func() (int, error) { return write(b) })
}

// ReadAt implements vfs.File.
func (f *diskFile) ReadAt(b []byte, off int64) (int, error) {
	return do(f.p, opRead, f.name, nil, func() (int, error) { return f.File.ReadAt(b, off) })
}

// Sync implements vfs.File.
func (f *diskFile) Sync() error {
	if f.p.failedSync == f.name && !f.p.dead {
		f.p.w.fail("%q was synced again after an fsync of it had failed", f.name)
	}
	return f.p.run(opSync, f.name, f.File.Sync)
}

// Truncate implements vfs.File.
func (f *diskFile) Truncate(size int64) error {
	return f.p.run(opCut, f.name, func() error { return f.File.Truncate(size) })
}

// Close implements vfs.File. It always closes, so that it is no place for a fault.
func (f *diskFile) Close() error {
	err := f.File.Close()
	if f.p.dead {
		return errDead
	}
	return err
}

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// trace is a hash of everything that a run has done, in order.
type trace struct {
	sum   uint64
	n     int64
	ops   map[operation]int // operations on the disk by kind
	table *crc32.Table
	show  func(line string) // nil shows nothing
}

func newTrace(show func(string)) *trace {
	return &trace{sum: 14695981039346656037, ops: map[operation]int{}, table: crc32.MakeTable(crc32.Castagnoli), show: show}
}

// add takes in an event: FNV-1a over its words.
func (t *trace) add(what, name string, n int64, crc uint32) {
	t.n++
	for i := range len(what) {
		t.byte(what[i])
	}
	t.byte(0)
	for i := range len(name) {
		t.byte(name[i])
	}
	for i := 0; i < 64; i += 8 {
		t.byte(byte(n >> i))
	}
	for i := 0; i < 32; i += 8 {
		t.byte(byte(crc >> i))
	}
	if t.show != nil {
		t.show(fmt.Sprintf("%6d %-9s %s %d %08x", t.n, what, name, n, crc))
	}
}

func (t *trace) byte(b byte) { t.sum = (t.sum ^ uint64(b)) * 1099511628211 }
