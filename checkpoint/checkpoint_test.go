package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

const dir = "/ck"

func clock() time.Time { return time.UnixMilli(1_790_000_000_000) }

func options() Options {
	return Options{
		Create: true, RunID: "run-1", QueryID: "6b1f0d0e-0b1c-4d3e-9a54-0d8f3c6f2a10", Now: clock, SegmentBytes: 3000,
	}
}

func mustOpen(t testing.TB, fsys vfs.FS, opts Options) *Checkpoint {
	t.Helper()
	c, err := Open(fsys, dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// offsetsOf and commitOf are the entries that every test writes for a batch, so that reading can be checked.
func offsetsOf(batch int64) OffsetEntry {
	return OffsetEntry{
		BatchID: batch, TimestampMs: 1_790_000_000_000 + batch, WatermarkMs: batch * 10,
		Sources: []SourceOffsets{{Name: "clicks", Start: json.RawMessage(fmt.Sprint(batch * 5)), End: json.RawMessage(fmt.Sprint(batch*5 + 5))}},
		Conf:    map[string]string{"shufflePartitions": "2"},
	}
}

func commitOf(batch int64) CommitEntry {
	h := Hash(batch * 977)
	return CommitEntry{BatchID: batch, NextWatermarkMs: batch*10 + 10, InputRows: 5, OutputRows: 1, StateHash: &h}
}

func plan(c *Checkpoint, batch int64) error {
	return c.WriteOffsets(context.Background(), offsetsOf(batch))
}

func finish(c *Checkpoint, batch int64) error {
	return c.WriteCommit(context.Background(), commitOf(batch))
}

func run(t testing.TB, c *Checkpoint, from, to int64) {
	t.Helper()
	for b := from; b <= to; b++ {
		if err := errors.Join(plan(c, b), finish(c, b)); err != nil {
			t.Fatal(err)
		}
	}
}

// check compares every entry with what was written and returns "first..last offset, first..last commit".
func check(t testing.TB, c *Checkpoint) string {
	t.Helper()
	s, err := checkErr(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func checkErr(c *Checkpoint) (string, error) {
	batches, err := c.Batches()
	if err != nil {
		return "", err
	}
	text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	for _, b := range batches {
		if b.Offsets != nil && text(b.Offsets) != text(offsetsOf(b.ID)) {
			return "", fmt.Errorf("offsets of %d differ: %s", b.ID, text(b.Offsets))
		}
		if b.Commit != nil && text(b.Commit) != text(commitOf(b.ID)) {
			return "", fmt.Errorf("commit of %d differs: %s", b.ID, text(b.Commit))
		}
	}
	if err := c.Verify(); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d..%d, %d..%d", c.offsets.First(), c.offsets.Last(), c.commits.First(), c.commits.Last()), nil
}

func TestBatches(t *testing.T) {
	m := vfs.NewStrictMem()
	c := mustOpen(t, m, options())
	id := c.QueryID()
	if e, err := c.LastOffsets(); e != nil || err != nil {
		t.Fatal(e, err)
	}
	run(t, c, 0, 40)
	if err := plan(c, 41); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	m.Crash()
	c = mustOpen(t, m, Options{})
	if c.QueryID() != id || check(t, c) != "0..41, 0..40" {
		t.Fatal(c.QueryID(), check(t, c))
	}
	pending, err := c.Pending()
	if err != nil || len(pending) != 1 || pending[0].BatchID != 41 || string(pending[0].Sources[0].End) != "210" {
		t.Fatal(pending, err)
	}
	last, err := c.LastCommit()
	if err != nil || last.NextWatermarkMs != 410 || *last.StateHash != 40*977 {
		t.Fatal(last, err)
	}
	if err := plan(c, 43); err == nil {
		t.Fatal("a gap was accepted")
	}
	if err := finish(c, 42); err == nil {
		t.Fatal("a commit without offsets was accepted")
	}
	if err := finish(c, 41); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Commit(99); !errors.Is(err, ErrNoEntry) {
		t.Fatal(err)
	}
}

// TestUnknownFields keeps what a newer program has written into an entry.
func TestUnknownFields(t *testing.T) {
	var e OffsetEntry
	in := `{"batchId":3,"batchTimestampMs":1,"watermarkMs":2,"lanes":[1,2],"aaa":{"b":null}}`
	if err := json.Unmarshal([]byte(in), &e); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(e)
	if err != nil || string(out) != `{"batchId":3,"batchTimestampMs":1,"watermarkMs":2,"aaa":{"b":null},"lanes":[1,2]}` {
		t.Fatal(string(out), err)
	}
	var c CommitEntry
	in = `{"batchId":3,"nextWatermarkMs":2,"inputRows":0,"outputRows":0,"stateHash":"00000000000000ff","later":"x"}`
	if err := json.Unmarshal([]byte(in), &c); err != nil {
		t.Fatal(err)
	}
	if out, _ := json.Marshal(c); string(out) != in {
		t.Fatal(string(out))
	}
}

func TestNotThere(t *testing.T) {
	m := vfs.NewStrictMem()
	if _, err := Open(m, dir, Options{}); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	if _, err := Open(m, dir, Options{ReadOnly: true}); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
}

// TestNewerVersion refuses a checkpoint of a newer program and touches nothing.
func TestNewerVersion(t *testing.T) {
	for _, file := range []string{"metadata", "manifest"} {
		m := vfs.NewStrictMem()
		c := mustOpen(t, m, options())
		run(t, c, 0, 2)
		c.Close()
		meta, man := c.meta, c.man
		meta.Format, man.Format = 7, 7
		var v any = meta
		if file == "manifest" {
			v, file = man, manifestName(man.term)
		}
		b, _ := sealed(v)
		_ = m.Corrupt(dir+"/"+file, func([]byte) []byte { return b })
		before := snapshot(t, m)
		_, err := Open(m, dir, Options{})
		var version *VersionError
		if !errors.As(err, &version) || version.Have != 7 || version.Can != FormatVersion {
			t.Fatal(err)
		}
		if snapshot(t, m) != before {
			t.Fatal("the checkpoint was changed")
		}
	}
}

func snapshot(t *testing.T, m *vfs.Mem) string {
	var b strings.Builder
	for _, name := range m.Walk(dir) {
		data, err := vfs.ReadFile(m, name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %x\n", name, data)
	}
	return b.String()
}

// progress is what has been acknowledged: the last plan and commit.
type progress struct{ planned, committed int64 }

// lifecycle runs three owners with several batches each.
func lifecycle(m vfs.FS) (p progress, err error) {
	p = progress{-1, -1}
	return p, lifecycleTo(m, &p)
}

func lifecycleTo(m vfs.FS, p *progress) error {
	*p = progress{-1, -1}
	for range 3 {
		c, err := Open(m, dir, options())
		if err != nil {
			return err
		}
		log, err := c.SourceLog("files")
		if err != nil {
			return err
		}
		for range 8 {
			batch := c.LastCommitID() + 1
			if err := log.Append(batch, fmt.Appendf(nil, "[%d]", batch)); err != nil {
				return err
			}
			if err := plan(c, batch); err != nil {
				return err
			}
			p.planned = batch
			if err := finish(c, batch); err != nil {
				return err
			}
			p.committed = batch
			if _, err := c.Purge(4); err != nil {
				return err
			}
		}
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// checkLifecycle opens what lifecycle has left and finds at least what was acknowledged.
func checkLifecycle(t *testing.T, what string, m *vfs.Mem, p progress) {
	t.Helper()
	c, err := Open(m, dir, options())
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer c.Close()
	if _, err := checkErr(c); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if o, k := c.LastOffsetsID(), c.LastCommitID(); o < p.planned || o > p.planned+1 || k < p.committed || k > p.committed+1 {
		t.Fatalf("%s: last are %d and %d, acknowledged %v", what, o, k, p)
	}
	log, err := c.SourceLog("files")
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	next := int64(0)
	err = log.Scan(func(e SideEntry) error {
		if e.Batch != next || string(e.Payload) != fmt.Sprintf("[%d]", next) {
			return fmt.Errorf("entry %d: %q", e.Batch, e.Payload)
		}
		next++
		return nil
	})
	if err != nil || next != c.LastOffsetsID()+1 {
		t.Fatalf("%s: source log ends before %d, offsets at %d: %v", what, next, c.LastOffsetsID(), err)
	}
	// And it goes on.
	batch := c.LastCommitID() + 1
	if batch > c.LastOffsetsID() {
		if err := plan(c, batch); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if err := finish(c, batch); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// TestCrashAtEverySync loses what is not synced after every sync of a life with restarts.
func TestCrashAtEverySync(t *testing.T) {
	type crash struct{}
	for stop := 1; ; stop++ {
		m := vfs.NewStrictMem()
		_ = m.SyncDir("/")
		count := 0
		m.OnSync(func(op, name string) {
			if count++; count == stop {
				panic(crash{})
			}
		})
		var p progress
		crashed := func() (crashed bool) {
			defer func() {
				if r := recover(); r != nil {
					if _, ok := r.(crash); !ok {
						panic(r)
					}
					crashed = true
				}
			}()
			if err := lifecycleTo(m, &p); err != nil {
				t.Fatal(err)
			}
			return false
		}()
		m.OnSync(nil)
		m.Crash()
		checkLifecycle(t, fmt.Sprintf("crash at sync %d", stop), m, p)
		if !crashed {
			return
		}
	}
}

// TestDiskFullAndFailedSync lets every write of a life fail for good, and every sync once.
func TestDiskFullAndFailedSync(t *testing.T) {
	for _, kind := range []string{"full", "torn", "sync", "syncdir", "rename"} {
		for nth := 1; ; nth++ {
			f := vfs.DiskFull(nth)
			switch kind {
			case "torn":
				f.Torn = nth % 70
			case "sync":
				f = vfs.Fault{Op: vfs.OpSync, Nth: nth, Err: syscall.EIO}
			case "syncdir":
				f = vfs.Fault{Op: vfs.OpSyncDir, Nth: nth, Err: syscall.EIO}
			case "rename":
				f = vfs.Fault{Op: vfs.OpRename, Nth: nth, Err: syscall.EIO}
			}
			m := vfs.NewStrictMem()
			_ = m.SyncDir("/")
			inj := vfs.NewInjector(f)
			p, err := lifecycle(vfs.NewFaulty(m, inj))
			if inj.Fired() == 0 {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if !errors.Is(err, f.Err) {
				t.Fatalf("%s %d: %v", kind, nth, err)
			}
			m.Crash()
			checkLifecycle(t, fmt.Sprintf("%s %d", kind, nth), m, p)
		}
	}
}

// TestTornEntries cuts the newest offset entry, and the newest commit entry, at every byte and lower, down to an empty
// file: the entry is as if it were not written, and the query goes on.
func TestTornEntries(t *testing.T) {
	for _, zeros := range []int{0, 700} {
		m := vfs.NewStrictMem()
		c := mustOpen(t, m, options())
		if err := plan(c, 0); err != nil {
			t.Fatal(err)
		}
		c.Close()
		cut(t, m, c.offsets.FileOf(0), zeros, func(m *vfs.Mem) {
			c := mustOpen(t, m, options())
			if c.LastOffsetsID() != -1 {
				t.Fatal(c.LastOffsetsID())
			}
			run(t, c, 0, 1)
		})
		c = mustOpen(t, m, options())
		if err := finish(c, 0); err != nil {
			t.Fatal(err)
		}
		c.Close()
		cut(t, m, c.commits.FileOf(0), zeros, func(m *vfs.Mem) {
			c := mustOpen(t, m, options())
			if p, err := c.Pending(); err != nil || len(p) != 1 {
				t.Fatal(p, err)
			}
			if err := finish(c, 0); err != nil {
				t.Fatal(err)
			}
			run(t, c, 1, 2)
		})
	}
}

func cut(t *testing.T, m *vfs.Mem, name string, zeros int, check func(*vfs.Mem)) {
	b, err := vfs.ReadFile(m, name)
	if err != nil {
		t.Fatal(err)
	}
	end := len(strings.TrimRight(string(b), "\x00"))
	for n := range end {
		c := m.Clone()
		_ = c.Corrupt(name, func(b []byte) []byte { return append(b[:n:n], make([]byte, zeros)...) })
		check(c)
	}
}

// aged returns a checkpoint with several owners and segments, one batch planned and not committed.
func aged(t testing.TB) *vfs.Mem {
	m := vfs.NewStrictMem()
	for i := range int64(3) {
		c := mustOpen(t, m, options())
		run(t, c, i*6, i*6+5)
		log, err := c.SourceLog("files")
		if err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			if err := log.Append(18, []byte("[18]")); err != nil {
				t.Fatal(err)
			}
			if err := plan(c, 18); err != nil {
				t.Fatal(err)
			}
		}
		c.Close()
	}
	return m
}

const agedWant = "0..18, 0..17"

// TestBitFlips flips bits in every file: exactly the same entries, or an error that names the file.
func TestBitFlips(t *testing.T) {
	m := aged(t)
	for _, name := range m.Walk(dir) {
		b, err := vfs.ReadFile(m, name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(b); i += stride(3) {
			bit := i * 5 % 8
			c := m.Clone()
			_ = c.Corrupt(name, func(b []byte) []byte { b[i] ^= 1 << bit; return b })
			got, err := reopen(c)
			if err == nil && got != agedWant {
				t.Fatalf("%s, bit %d of byte %d: %s", name, bit, i, got)
			}
			if err != nil && !strings.Contains(err.Error(), name) {
				t.Fatalf("%s, bit %d of byte %d: the error does not name the file: %v", name, bit, i, err)
			}
		}
	}
}

func reopen(m *vfs.Mem) (string, error) {
	c, err := Open(m, dir, options())
	if err != nil {
		return "", err
	}
	defer c.Close()
	log, err := c.SourceLog("files")
	if err != nil {
		return "", err
	}
	n := 0
	if err := log.Scan(func(e SideEntry) error { n++; return nil }); err != nil {
		return "", err
	}
	s, err := checkErr(c)
	if err == nil && n != 1 {
		return "", fmt.Errorf("%d entries in the source log", n)
	}
	return s, err
}

// TestDeletedFiles deletes each file: the same entries, or an error that names it; never a new id.
func TestDeletedFiles(t *testing.T) {
	m := aged(t)
	for _, name := range m.Walk(dir) {
		c := m.Clone()
		if err := c.Remove(name); err != nil {
			t.Fatal(err)
		}
		got, err := reopen(c)
		if err == nil && (got != agedWant || !strings.HasSuffix(name, "/lock")) {
			t.Fatalf("without %s: %s", name, got)
		}
		called := name
		if strings.Contains(name, "/manifest-") {
			called = dir + "/manifest-*" // its number is not known to anybody else
		}
		if err != nil && !strings.Contains(err.Error(), called) {
			t.Fatalf("without %s: the error does not name the file: %v", name, err)
		}
	}
}

// TestSwappedFiles gives every file the content of every other of its log.
func TestSwappedFiles(t *testing.T) {
	m := aged(t)
	for _, a := range m.Walk(dir) {
		for _, b := range m.Walk(dir) {
			if a >= b || !strings.HasSuffix(a, ".log") || !strings.HasSuffix(b, ".log") {
				continue
			}
			c := m.Clone()
			x, _ := vfs.ReadFile(c, a)
			y, _ := vfs.ReadFile(c, b)
			_ = c.Corrupt(a, func([]byte) []byte { return y })
			_ = c.Corrupt(b, func([]byte) []byte { return x })
			if got, err := reopen(c); err == nil || !strings.Contains(err.Error(), a) && !strings.Contains(err.Error(), b) {
				t.Fatalf("%s and %s: %s, %v", a, b, got, err)
			}
		}
	}
}

// TestTwoOwners starts a second process while the first is alive.
func TestTwoOwners(t *testing.T) {
	m := vfs.NewStrictMem()
	first := mustOpen(t, m, options())
	run(t, first, 0, 1)
	opts := options()
	opts.RunID = "run-2"
	_, err := Open(m, dir, opts)
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Owner.RunID != "run-1" || !strings.Contains(err.Error(), "run-1") {
		t.Fatal(err)
	}
	run(t, first, 2, 2)
	ro, err := Open(m, dir, Options{ReadOnly: true})
	if err != nil || check(t, ro) != "0..2, 0..2" {
		t.Fatal(err)
	}
	if err := plan(ro, 3); err == nil {
		t.Fatal("written through a reader")
	}
}

// TestStaleOwner stops the first owner before each of its steps, lets a second one take over although the lock file was
// deleted, and wakes the first one up: it writes nothing that counts, and its error names the other.
func TestStaleOwner(t *testing.T) {
	for _, step := range []string{"plan", "commit", "side", "purge", "rollback"} {
		m := vfs.NewStrictMem()
		first := mustOpen(t, m, options())
		run(t, first, 0, 1)
		log, err := first.SourceLog("files")
		if err != nil {
			t.Fatal(err)
		}
		if err := plan(first, 2); err != nil {
			t.Fatal(err)
		}
		if err := m.Remove(dir + "/lock"); err != nil {
			t.Fatal(err)
		}
		opts := options()
		opts.RunID = "run-2"
		second := mustOpen(t, m, opts)
		if p, err := second.Pending(); err != nil || len(p) != 1 {
			t.Fatal(p, err)
		}
		switch step {
		case "plan":
			err = plan(first, 3)
		case "commit":
			err = finish(first, 2)
		case "side":
			err = log.Append(3, []byte("stale"))
		case "purge":
			first.undeleted = []string{dir + "/nothing"}
			_, err = first.Purge(1)
		case "rollback":
			err = first.Rollback(0)
		}
		var fenced *FencedError
		if !errors.As(err, &fenced) || fenced.Owner.RunID != "run-2" || !strings.Contains(err.Error(), "run-2") {
			t.Fatalf("%s: %v", step, err)
		}
		if err := finish(second, 2); err != nil {
			t.Fatal(err)
		}
		run(t, second, 3, 3)
		second.Close()
		if got := check(t, mustOpen(t, m, options())); got != "0..3, 0..3" {
			t.Fatalf("%s: %s", step, got)
		}
	}
}

// TestStaleOwnerWithinWrite is the worst moment: the first owner has checked that it is the owner, and is stopped before
// its write reaches the file.
func TestStaleOwnerWithinWrite(t *testing.T) {
	m := vfs.NewStrictMem()
	hold, held := make(chan bool), make(chan bool)
	first, err := Open(&pausing{Mem: m, hold: hold, held: held}, dir, options())
	if err != nil {
		t.Fatal(err)
	}
	run(t, first, 0, 1)
	if err := plan(first, 2); err != nil {
		t.Fatal(err)
	}
	first.fs.(*pausing).armed = true
	result := make(chan error)
	go func() { result <- finish(first, 2) }()
	<-held
	_ = m.Remove(dir + "/lock")
	opts := options()
	opts.RunID = "run-2"
	second := mustOpen(t, m, opts)
	if second.LastCommitID() != 1 {
		t.Fatal(second.LastCommitID())
	}
	hold <- true
	var fenced *FencedError
	if err := <-result; !errors.As(err, &fenced) {
		t.Fatal(err)
	}
	if err := finish(second, 2); err != nil {
		t.Fatal(err)
	}
	second.Close()
	if got := check(t, mustOpen(t, m, options())); got != "0..2, 0..2" {
		t.Fatal(got)
	}
}

// pausing stops in the first write to a commit segment once it is armed.
type pausing struct {
	*vfs.Mem
	hold, held chan bool
	armed      bool
}

type pausingFile struct {
	vfs.File
	p *pausing
}

func (p *pausing) CreateNew(name string) (vfs.File, error) {
	f, err := p.Mem.CreateNew(name)
	if err == nil && strings.Contains(name, "commits") {
		f = pausingFile{f, p}
	}
	return f, err
}

func (f pausingFile) WriteAt(b []byte, off int64) (int, error) {
	if f.p.armed {
		f.p.armed = false
		f.p.held <- true
		<-f.p.hold
	}
	return f.File.WriteAt(b, off)
}

func TestRollback(t *testing.T) {
	m := aged(t)
	c := mustOpen(t, m, options())
	if err := c.Rollback(18); err == nil {
		t.Fatal("rolled back to a batch that is not committed")
	}
	if err := c.Rollback(9); err != nil {
		t.Fatal(err)
	}
	if got := check(t, c); got != "0..9, 0..9" {
		t.Fatal(got)
	}
	c.Close()
	c = mustOpen(t, m, options())
	log, err := c.SourceLog("files")
	if err != nil {
		t.Fatal(err)
	}
	_ = log.Scan(func(e SideEntry) error { t.Fatal("an entry of a batch that was rolled back"); return nil })
	run(t, c, 10, 20)
	if err := c.Rollback(-1); err != nil {
		t.Fatal(err)
	}
	if got := check(t, c); got != "0..-1, 0..-1" {
		t.Fatal(got)
	}
	run(t, c, 0, 3)
	c.Close()
	if got := check(t, mustOpen(t, m, options())); got != "0..3, 0..3" {
		t.Fatal(got)
	}
}

func TestFork(t *testing.T) {
	m := aged(t)
	if err := m.MkdirAll(dir + "/state/cold"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/state/a.log", "/state/cold/junk"} {
		f, _ := m.Create(dir + name)
		f.Close()
	}
	c := mustOpen(t, m, options())
	if _, err := Fork(m, dir, "/copy"); err == nil || !strings.Contains(err.Error(), "run-1") {
		t.Fatal(err)
	}
	c.Close()
	id, err := Fork(m, dir, "/copy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fork(m, dir, "/copy"); err == nil {
		t.Fatal("forked over something")
	}
	f, err := Open(m, "/copy", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.QueryID() != id || id == c.QueryID() || f.Ancestors()[0] != c.QueryID() || check(t, f) != agedWant {
		t.Fatal(f.QueryID(), f.Ancestors(), check(t, f))
	}
	if err := finish(f, 18); err != nil {
		t.Fatal(err)
	}
	run(t, f, 19, 30)
	if got := strings.Join(m.Walk("/copy/state"), " "); got != "/copy/state/a.log" {
		t.Fatal(got)
	}
	if got := check(t, mustOpen(t, m, options())); got != agedWant {
		t.Fatal(got)
	}
}

// TestPurge keeps what was asked for and little more, and takes up again what it could not delete.
func TestPurge(t *testing.T) {
	m := vfs.NewStrictMem()
	inj := vfs.NewInjector(vfs.Fault{Op: vfs.OpRemove, Nth: 2, Err: syscall.EIO, Pattern: "*.log"})
	c := mustOpen(t, vfs.NewFaulty(m, inj), options())
	failures := 0
	for b := range int64(200) {
		run(t, c, b, b)
		from, err := c.Purge(5)
		if err != nil {
			failures++
		}
		if from != max(b-4, 0) {
			t.Fatal(from)
		}
		if c.commits.First() > from || c.offsets.First() > from {
			t.Fatalf("batch %d: %d is gone", b, from)
		}
	}
	if failures != 1 {
		t.Fatalf("%d failures", failures)
	}
	if n := len(m.Walk(dir)); n > 10 {
		t.Fatalf("%d files", n)
	}
	if err := c.Rollback(196); err != nil {
		t.Fatal(err)
	}
	c.Close()
	c = mustOpen(t, m, options())
	run(t, c, 197, 198)
	if err := c.Verify(); err != nil {
		t.Fatal(err)
	}
}

func TestSideLog(t *testing.T) {
	m := vfs.NewStrictMem()
	read := func(l *SideLog) string {
		var b strings.Builder
		if err := l.Scan(func(e SideEntry) error {
			fmt.Fprintf(&b, "%d%v%s ", e.Batch, map[bool]string{true: "=", false: "+"}[e.Compact], e.Payload)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	c := mustOpen(t, m, options())
	log, err := c.SourceLog("0.files")
	if err != nil {
		t.Fatal(err)
	}
	for b := range int64(6) {
		if b != 3 {
			if err := log.Append(b, fmt.Appendf(nil, "f%d", b)); err != nil {
				t.Fatal(err)
			}
		}
		run(t, c, b, b)
	}
	if err := log.Append(6, []byte("f6")); err != nil {
		t.Fatal(err)
	}
	if err := log.Append(6, []byte("f6b")); err != nil {
		t.Fatal(err)
	}
	if got := read(log); got != "0+f0 1+f1 2+f2 4+f4 5+f5 6+f6b " {
		t.Fatal(got)
	}
	c.Close()
	// Batch 6 was never planned.
	c = mustOpen(t, m, options())
	if log, err = c.SourceLog("0.files"); err != nil {
		t.Fatal(err)
	}
	if got := read(log); got != "0+f0 1+f1 2+f2 4+f4 5+f5 " {
		t.Fatal(got)
	}
	err = log.Compact(3, func(entries []SideEntry) ([]byte, error) { return fmt.Appendf(nil, "c%d", len(entries)), nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := read(log); got != "2=c3 4+f4 5+f5 " {
		t.Fatal(got)
	}
	if err := log.Append(6, []byte("f6c")); err != nil {
		t.Fatal(err)
	}
	if err := log.Append(4, nil); err == nil {
		t.Fatal("appended to a committed batch")
	}
	run(t, c, 6, 6)
	c.Close()
	m.Crash()
	c = mustOpen(t, m, options())
	if log, err = c.SourceLog("0.files"); err != nil {
		t.Fatal(err)
	}
	if got := read(log); got != "2=c3 4+f4 5+f5 6+f6c " {
		t.Fatal(got)
	}
	if _, err := c.SourceLog("../x"); err == nil {
		t.Fatal("a path was accepted")
	}
}

// TestFailpoints passes every point of the package and lets it fail there.
func TestFailpoints(t *testing.T) {
	for _, name := range []string{
		failpoint.OffsetLogPartial, failpoint.OffsetLogUnsynced, failpoint.OffsetDurable,
		failpoint.CommitLogPartial, failpoint.CommitLogUnsynced, failpoint.CommitDurable,
	} {
		m := vfs.NewStrictMem()
		opts := options()
		opts.Failpoints = failpoint.New(failpoint.Rule{Name: name, Batch: 1, Nth: 1, Action: failpoint.Err})
		c := mustOpen(t, m, opts)
		run(t, c, 0, 0)
		err := errors.Join(plan(c, 1), finish(c, 1))
		var fired *failpoint.Error
		if !errors.As(err, &fired) || fired.Name != name {
			t.Fatalf("%s: %v", name, err)
		}
		c.Close()
		for _, lost := range []bool{false, true} {
			n := m.Clone()
			if lost {
				n.Crash()
			}
			checkLifecycleless(t, name, n)
		}
	}
}

func checkLifecycleless(t *testing.T, what string, m *vfs.Mem) {
	t.Helper()
	c := mustOpen(t, m, options())
	if _, err := checkErr(c); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	pending, err := c.Pending()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, e := range pending {
		if err := finish(c, e.BatchID); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	run(t, c, c.LastCommitID()+1, 5)
}

// TestManyShortRuns starts anew for every batch: the files stay few, and the log of a source keeps everything.
func TestManyShortRuns(t *testing.T) {
	m := vfs.NewStrictMem()
	for b := range int64(150) {
		c := mustOpen(t, m, options())
		log, err := c.SourceLog("files")
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Append(b, fmt.Appendf(nil, "[%d]", b)); err != nil {
			t.Fatal(err)
		}
		run(t, c, b, b)
		if _, err := c.Purge(10); err != nil {
			t.Fatal(err)
		}
		next := int64(0)
		if err := log.Scan(func(e SideEntry) error {
			if e.Batch != next || string(e.Payload) != fmt.Sprintf("[%d]", next) {
				return fmt.Errorf("entry %d: %q", e.Batch, e.Payload)
			}
			next++
			return nil
		}); err != nil || next != b+1 {
			t.Fatalf("batch %d: %d entries: %v", b, next, err)
		}
		if n := len(m.Walk(dir)); n > 70 {
			t.Fatalf("batch %d: %d files", b, n)
		}
		c.Close()
		m.Crash()
	}
}
