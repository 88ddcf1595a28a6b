package vfs

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSame does the same things on the real file system and on the one in memory.
func TestSame(t *testing.T) {
	for name, c := range map[string]struct {
		fs   FS
		root string
	}{
		"os": {OS(), t.TempDir()}, "mem": {NewStrictMem(), "/root"}, "faulty": {NewFaulty(NewStrictMem(), NewInjector()), "/root"},
	} {
		t.Run(name, func(t *testing.T) { same(t, c.fs, c.root) })
	}
}

func same(t *testing.T, f FS, root string) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p := func(name string) string { return filepath.Join(root, name) }
	must(MkdirAllSync(f, p("a/b")))
	must(MkdirAllSync(f, p("a/b")))
	must(WriteFile(f, p("a/x"), []byte("hello")))
	b, err := ReadFile(f, p("a/x"))
	if err != nil || string(b) != "hello" {
		t.Fatal(string(b), err)
	}
	if _, err := f.Open(p("nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if _, err := f.OpenReadWrite(p("nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if _, err := f.Create(p("no/folder")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	w, err := f.OpenAppend(p("a/x"))
	must(err)
	_, err = w.Write([]byte(" world"))
	must(err)
	must(w.Sync())
	must(w.Close())
	w, err = f.OpenReadWrite(p("a/x"))
	must(err)
	_, err = w.WriteAt([]byte("J"), 0)
	must(err)
	_, err = w.WriteAt([]byte("!"), 12)
	must(err)
	must(w.Close())
	r, err := f.Open(p("a/x"))
	must(err)
	buf := make([]byte, 20)
	n, err := r.ReadAt(buf, 0)
	if !errors.Is(err, io.EOF) || string(buf[:n]) != "Jello world\x00!" {
		t.Fatalf("%q %v", buf[:n], err)
	}
	if _, err := r.Write([]byte("x")); err == nil {
		t.Fatal("written to a file that was opened for reading")
	}
	if size, err := r.Size(); err != nil || size != 13 {
		t.Fatal(size, err)
	}
	must(r.Close())
	w, err = f.OpenReadWrite(p("a/x"))
	must(err)
	must(w.Truncate(4))
	must(w.Close())
	must(f.Rename(p("a/x"), p("a/b/y")))
	if ok, err := Exists(f, p("a/x")); ok || err != nil {
		t.Fatal(ok, err)
	}
	infos, err := f.List(p("a"))
	if err != nil || len(infos) != 1 || infos[0].Name() != "b" || !infos[0].IsDir() {
		t.Fatal(infos, err)
	}
	info, err := f.Stat(p("a/b/y"))
	if err != nil || info.Size() != 4 || info.IsDir() || info.Name() != "y" {
		t.Fatal(info, err)
	}
	if err := f.Remove(p("a")); err == nil {
		t.Fatal("removed a folder that is not empty")
	}
	lock, err := f.Lock(p("lock"))
	must(err)
	if _, err := f.Lock(p("lock")); !errors.Is(err, ErrLocked) {
		t.Fatal(err)
	}
	must(lock.Close())
	lock, err = f.Lock(p("lock"))
	must(err)
	must(lock.Close())
	must(f.RemoveAll(p("a")))
	must(f.RemoveAll(p("a")))
	if ok, _ := Exists(f, p("a/b/y")); ok {
		t.Fatal("still there")
	}
	must(f.SyncDir(root))
}

// TestCrash loses exactly what was not synced.
func TestCrash(t *testing.T) {
	m := NewStrictMem()
	write := func(name, text string, sync bool) File {
		f, err := m.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte(text))
		if sync {
			_ = f.Sync()
		}
		return f
	}
	_ = m.MkdirAll("/d")
	_ = m.SyncDir("/")
	f := write("/d/synced", "one", true)
	write("/d/unsynced", "two", false)
	_ = m.SyncDir("/d")
	write("/d/nameless", "three", true)
	_, _ = f.Write([]byte(" more"))
	if err := m.Rename("/d/synced", "/d/renamed"); err != nil {
		t.Fatal(err)
	}
	_ = m.MkdirAll("/e/f")
	clone := m.Clone()
	if _, err := m.Lock("/d/unsynced"); err != nil {
		t.Fatal(err)
	}
	m.Crash()
	if got := strings.Join(m.Walk("/"), " "); got != "/d/synced /d/unsynced" {
		t.Fatal(got)
	}
	if b, _ := ReadFile(m, "/d/synced"); string(b) != "one" {
		t.Fatalf("%q", b)
	}
	if b, _ := ReadFile(m, "/d/unsynced"); len(b) != 0 {
		t.Fatalf("%q", b)
	}
	if _, err := f.Write([]byte("x")); err == nil {
		t.Fatal("a file from before the crash can be written")
	}
	if _, err := m.Lock("/d/unsynced"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(clone.Walk("/"), " "); got != "/d/nameless /d/renamed /d/unsynced" {
		t.Fatal(got)
	}
	clone.Crash()
	if got := strings.Join(clone.Walk("/"), " "); got != "/d/synced /d/unsynced" {
		t.Fatal(got)
	}
}

func TestFaults(t *testing.T) {
	m := NewStrictMem()
	inj := NewInjector(
		Fault{Op: OpWrite, Pattern: "*.log", Nth: 2, Err: syscall.ENOSPC, Torn: 3, Forever: true},
		Fault{Op: OpSync, Nth: 1, Err: syscall.EIO},
		Fault{Op: OpRead, Nth: 2, Err: syscall.EIO},
	)
	f := NewFaulty(m, inj)
	log, err := f.Create("/a.log")
	if err != nil {
		t.Fatal(err)
	}
	other, err := f.Create("/other")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Write([]byte("free")); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Write([]byte("first ")); err != nil {
		t.Fatal(err)
	}
	if n, err := log.Write([]byte("second")); n != 3 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(n, err)
	}
	if n, err := log.WriteAt([]byte("third"), 40); n != 3 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(n, err)
	}
	if err := log.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if err := log.Sync(); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(f, "/a.log"); err != nil || !strings.HasPrefix(string(b), "first sec\x00") {
		t.Fatalf("%q %v", b, err)
	}
	if _, err := ReadFile(f, "/a.log"); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if inj.Fired() != 4 || inj.Count(OpWrite) != 4 {
		t.Fatal(inj.Fired(), inj.Count(OpWrite))
	}
}

// TestFolderOfTheKilled is a process that was killed when it had made a folder and not yet synced its name: what the next one
// puts into it survives a power loss.
func TestFolderOfTheKilled(t *testing.T) {
	m := NewStrictMem()
	if err := m.MkdirAll("/a"); err != nil {
		t.Fatal(err)
	}
	if err := m.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	if err := m.MkdirAll("/a/b"); err != nil { // killed here
		t.Fatal(err)
	}
	if err := MkdirAllSync(m, "/a/b/c"); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(m, "/a/b/c/f", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(m, "/a/b/g", []byte("y")); err != nil {
		t.Fatal(err)
	}
	m.Crash()
	for _, name := range []string{"/a/b/c/f", "/a/b/g"} {
		if ok, err := Exists(m, name); !ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	var d Dirs
	for range 2 {
		if err := d.Make(m, "/a/b/d"); err != nil {
			t.Fatal(err)
		}
		m.Crash()
		if ok, err := Exists(m, "/a/b/d"); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
}
