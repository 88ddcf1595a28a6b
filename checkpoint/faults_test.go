package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wstream/wstream/internal/objectfs"
	"github.com/wstream/wstream/internal/vfs"
)

// TestCutFiles ends every file at every byte, with the rest missing or zero: the checkpoint opens with the entries that are
// whole, without one that the sink may have seen being lost, or is refused with the name of a file.
func TestCutFiles(t *testing.T) {
	whole := aged(t)
	opened, refused := 0, 0
	for _, name := range whole.Walk(dir) {
		b, err := vfs.ReadFile(whole, name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(b); i += stride(3) {
			for _, zeros := range []bool{false, true} {
				m := whole.Clone()
				_ = m.Corrupt(name, func(b []byte) []byte {
					if zeros {
						clear(b[i:])
						return b
					}
					return b[:i]
				})
				got, err := reopen(m)
				if err != nil {
					if refused++; !strings.Contains(err.Error(), dir+"/") && !strings.Contains(err.Error(), "source log") {
						t.Fatalf("%s ends at byte %d: the error names no file: %v", name, i, err)
					}
					continue
				}
				opened++
				var offsets, commits int64
				if _, err := fmt.Sscanf(got, "0..%d, 0..%d", &offsets, &commits); err != nil || offsets < 17 || commits > offsets {
					t.Fatalf("%s ends at byte %d: %s", name, i, got)
				}
				if commits < 17 && !strings.Contains(name, "/commits/") || offsets < 18 && !strings.Contains(name, "/offsets/") {
					t.Fatalf("%s ends at byte %d: %s", name, i, got)
				}
			}
		}
	}
	t.Logf("%d opened, %d refused", opened, refused)
}

// plainFS is a file system without hard links and without files that are made only if they are not there.
type plainFS struct{ m *vfs.Mem }

func (p plainFS) Create(n string) (vfs.File, error)        { return p.m.Create(n) }
func (p plainFS) Open(n string) (vfs.File, error)          { return p.m.Open(n) }
func (p plainFS) OpenAppend(n string) (vfs.File, error)    { return p.m.OpenAppend(n) }
func (p plainFS) OpenReadWrite(n string) (vfs.File, error) { return p.m.OpenReadWrite(n) }
func (p plainFS) Rename(a, b string) error                 { return p.m.Rename(a, b) }
func (p plainFS) Remove(n string) error                    { return p.m.Remove(n) }
func (p plainFS) RemoveAll(n string) error                 { return p.m.RemoveAll(n) }
func (p plainFS) List(n string) ([]fs.FileInfo, error)     { return p.m.List(n) }
func (p plainFS) Stat(n string) (fs.FileInfo, error)       { return p.m.Stat(n) }
func (p plainFS) MkdirAll(n string) error                  { return p.m.MkdirAll(n) }
func (p plainFS) SyncDir(n string) error                   { return p.m.SyncDir(n) }
func (p plainFS) Lock(n string) (io.Closer, error)         { return p.m.Lock(n) }

// TestWithoutHardLinks lives on a file system that has none.
func TestWithoutHardLinks(t *testing.T) {
	m := vfs.NewStrictMem()
	p, err := lifecycle(plainFS{m})
	if err != nil {
		t.Fatal(err)
	}
	m.Crash()
	checkLifecycle(t, "without hard links", m, p)
}

// TestReadOnlyFolder refuses to own what it cannot write, changes nothing, and can be looked at.
func TestReadOnlyFolder(t *testing.T) {
	m := aged(t)
	before := snapshot(t, m)
	faults := []vfs.Fault{}
	for _, op := range []vfs.Op{vfs.OpCreate, vfs.OpRename, vfs.OpRemove, vfs.OpWrite} {
		faults = append(faults, vfs.Fault{Op: op, Nth: 1, Err: syscall.EROFS, Torn: -1, Forever: true})
	}
	readOnly := vfs.NewFaulty(m, vfs.NewInjector(faults...))
	if _, err := Open(readOnly, dir, options()); !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
	if after := snapshot(t, m); after != before {
		t.Error("something has changed")
	}
	c, err := Open(readOnly, dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := check(t, c); got != agedWant {
		t.Error(got)
	}
}

const bucketDir = "s3://bucket/ck"

func onObjects(m *objectfs.MemStore) *objectfs.FS {
	return objectfs.New(func(string) (objectfs.Store, error) { return m, nil }, objectfs.Options{Lease: -1, Sleep: func(time.Duration) {}})
}

// agedObjects is aged in an object store.
func agedObjects(t testing.TB) *objectfs.MemStore {
	m := objectfs.NewMemStore()
	for i := range int64(3) {
		c, err := Open(onObjects(m), bucketDir, options())
		if err != nil {
			t.Fatal(err)
		}
		run(t, c, i*6, i*6+5)
		if i == 2 {
			if err := plan(c, 18); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func reopenObjects(m *objectfs.MemStore) (string, error) {
	c, err := Open(onObjects(m), bucketDir, options())
	if err != nil {
		return "", err
	}
	defer c.Close()
	return checkErr(c)
}

// TestDamagedObjects flips a bit in every object, cuts it off, and deletes it: the same entries, all but the last one, or a refusal that
// names it.
func TestDamagedObjects(t *testing.T) {
	whole := agedObjects(t)
	if got, err := reopenObjects(whole.Clone()); err != nil || got != agedWant {
		t.Fatal(got, err)
	}
	keys := whole.Keys()
	for _, key := range keys {
		size := 0
		_ = whole.Clone().Corrupt(key, func(b []byte) []byte { size = len(b); return b })
		for i := -1; i < 2*size; i += stride(11) {
			m := whole.Clone()
			switch {
			case i < 0:
				if err := m.Delete(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			case i < size:
				_ = m.Corrupt(key, func(b []byte) []byte { b[i] ^= 1 << (i % 8); return b })
			default:
				_ = m.Corrupt(key, func(b []byte) []byte { return b[:i-size] })
			}
			got, err := reopenObjects(m)
			if err != nil {
				if !strings.Contains(err.Error(), "s3:/") && !strings.Contains(err.Error(), `"ck/`) {
					t.Fatalf("%s, %d: the error names no object: %v", key, i, err)
				}
				continue
			}
			var offsets, commits int64
			if _, err := fmt.Sscanf(got, "0..%d, 0..%d", &offsets, &commits); err != nil || offsets < 17 || commits > offsets {
				t.Fatalf("%s, %d: %s", key, i, got)
			}
			if commits < 17 && !strings.Contains(key, "/commits/") || offsets < 18 && !strings.Contains(key, "/offsets/") {
				t.Fatalf("%s, %d: %s", key, i, got)
			}
		}
	}
	t.Logf("%d objects", len(keys))
}

// TestObjectsOfManyRuns purges, rolls back, forks to a folder and back, and leaves few objects.
func TestObjectsOfManyRuns(t *testing.T) {
	m := objectfs.NewMemStore()
	for i := range int64(30) {
		c, err := Open(onObjects(m), bucketDir, options())
		if err != nil {
			t.Fatal(err)
		}
		run(t, c, i*5, i*5+4)
		if _, err := c.Purge(10); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.Keys()); n > 60 {
		t.Errorf("%d objects: %v", n, m.Keys())
	}
	c, err := Open(onObjects(m), bucketDir, options())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Rollback(145); err != nil {
		t.Fatal(err)
	}
	run(t, c, 146, 147)
	c.Close()
	folder := t.TempDir() + "/copy"
	both := objectfs.Mux(vfs.OS(), onObjects(m))
	if _, err := Fork(both, bucketDir, folder); err != nil {
		t.Fatal(err)
	}
	if _, err := Fork(both, folder, "s3://bucket/back"); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{folder, "s3://bucket/back"} {
		c, err := Open(both, at, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.LastCommitID() != 147 {
			t.Errorf("%s: batch %d", at, c.LastCommitID())
		}
		run(t, c, 148, 150)
		if err := c.Verify(); err != nil {
			t.Error(err)
		}
		c.Close()
	}
}
