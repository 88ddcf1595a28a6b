package state

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

const faultDir = "/state"

func faultOptions(fsys vfs.FS) Options {
	return Options{
		FS: fsys, Dir: faultDir, QueryID: "q", Partitions: 2, SnapshotBytes: 3000, SegmentBytes: 4000, SyncSnapshots: true,
	}
}

var faultSpec = StoreSpec{Name: "0.count", Operator: "count", KeySchema: "k INT", ValueSchema: "n INT", Expiring: true}

func newMem() *vfs.Mem {
	m := vfs.NewStrictMem()
	_ = m.SyncDir("/")
	return m
}

func openFault(opts Options, version int64, hash uint64) (*DB, *Store, error) {
	db, err := Open(opts)
	if err != nil {
		return nil, nil, err
	}
	s, err := db.Store(faultSpec)
	if err != nil {
		return nil, nil, err
	}
	if version >= 0 {
		err = db.LoadCommitted(version, hash)
	} else {
		err = db.Load(-1)
	}
	return db, s, err
}

// workBatch does the work of one batch, which depends on nothing but the batch and the state before it.
func workBatch(s *Store, batch int64) error {
	r := rand.New(rand.NewPCG(uint64(batch), 7))
	for range 40 {
		key := fmt.Appendf(nil, "key-%d", r.IntN(60))
		hash := columnar.HashBytes(key)
		p := partOf(s, hash)
		old, _ := p.Get(hash, key)
		value := fmt.Appendf(append([]byte{}, old...), "%d,", batch)
		if r.IntN(6) == 0 {
			p.Delete(hash, key)
			continue
		}
		p.Put(hash, key, value[max(0, len(value)-30):], batch*10+r.Int64N(100))
	}
	for p := range s.db.Partitions() {
		if _, err := s.Part(p).Expired(batch*10, nil); err != nil {
			return err
		}
	}
	return nil
}

// ledger plays the checkpoint: hashes[v] is in the commit log once the batch v is committed.
type ledger struct {
	hashes []uint64
	dumps  []string
}

// golden is a run without faults.
func golden(t testing.TB, batches int64) *ledger {
	t.Helper()
	l := &ledger{}
	db, s, err := openFault(faultOptions(newMem()), -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for b := range batches {
		if err := workBatch(s, b); err != nil {
			t.Fatal(err)
		}
		info, err := db.Commit(b)
		if err != nil {
			t.Fatal(err)
		}
		l.hashes = append(l.hashes, info.Hash)
		l.dumps = append(l.dumps, dumpStore(t, s))
	}
	return l
}

// life runs batches over several owners and returns the last committed one. want gives the hashes that must come out.
func life(fsys vfs.FS, want *ledger, committed *int64, fp *failpoint.Set) error {
	for *committed < int64(len(want.hashes))-1 {
		opts := faultOptions(fsys)
		opts.Failpoints = fp
		hash := uint64(0)
		if *committed >= 0 {
			hash = want.hashes[*committed]
		}
		db, s, err := openFault(opts, *committed, hash)
		if err != nil {
			return err
		}
		if db.Metrics().Repaired > 0 {
			return fmt.Errorf("a snapshot that nobody has damaged was repaired")
		}
		for range 7 {
			b := *committed + 1
			if b >= int64(len(want.hashes)) {
				break
			}
			if err := workBatch(s, b); err != nil {
				return err
			}
			info, err := db.Commit(b)
			if err != nil {
				return err
			}
			if info.Hash != want.hashes[b] {
				return fmt.Errorf("batch %d has hash %x, want %x", b, info.Hash, want.hashes[b])
			}
			*committed = b
			if err := db.Purge(b - 3); err != nil {
				return err
			}
		}
		if err := db.Close(); err != nil {
			return err
		}
	}
	return nil
}

const lifeBatches = 25

// goOn finishes a life and checks its end, and a version that had to be kept.
func goOn(t *testing.T, what string, m *vfs.Mem, want *ledger, committed int64) {
	t.Helper()
	at := committed
	if err := life(m, want, &at, nil); err != nil {
		t.Fatalf("%s (committed %d): %v", what, committed, err)
	}
	for v := int64(lifeBatches - 1); v >= lifeBatches-4; v-- {
		db, s, err := openFault(faultOptions(m), v, want.hashes[v])
		if err != nil {
			t.Fatalf("%s: version %d: %v", what, v, err)
		}
		if got := dumpStore(t, s); got != want.dumps[v] {
			t.Fatalf("%s: version %d:\n%s\nwant\n%s", what, v, got, want.dumps[v])
		}
		db.Close()
	}
	if n := len(m.Walk(faultDir)); n > 16 {
		t.Fatalf("%s: %d files: %v", what, n, m.Walk(faultDir))
	}
}

// TestCrashAtEverySync loses what is not synced after every sync of a life with snapshots, restarts and purges.
func TestCrashAtEverySync(t *testing.T) {
	want := golden(t, lifeBatches)
	type crash struct{}
	for stop := 1; ; stop++ {
		m := newMem()
		count := 0
		m.OnSync(func(op, name string) {
			if count++; count == stop {
				panic(crash{})
			}
		})
		committed := int64(-1)
		crashed := func() (crashed bool) {
			defer func() {
				if r := recover(); r != nil {
					if _, ok := r.(crash); !ok {
						panic(r)
					}
					crashed = true
				}
			}()
			if err := life(m, want, &committed, nil); err != nil {
				t.Fatal(err)
			}
			return false
		}()
		m.OnSync(nil)
		m.Crash()
		goOn(t, fmt.Sprintf("crash at sync %d", stop), m, want, committed)
		if !crashed {
			break
		}
	}
}

// TestFailingDisk lets every write fail for good, and every sync, rename and removal once.
func TestFailingDisk(t *testing.T) {
	want := golden(t, lifeBatches)
	faults := map[string]func(nth int) vfs.Fault{
		"full":    vfs.DiskFull,
		"torn":    func(nth int) vfs.Fault { f := vfs.DiskFull(nth); f.Torn = nth * 13 % 200; return f },
		"sync":    func(nth int) vfs.Fault { return vfs.Fault{Op: vfs.OpSync, Nth: nth, Err: syscall.EIO} },
		"syncdir": func(nth int) vfs.Fault { return vfs.Fault{Op: vfs.OpSyncDir, Nth: nth, Err: syscall.EIO} },
		"rename":  func(nth int) vfs.Fault { return vfs.Fault{Op: vfs.OpRename, Nth: nth, Err: syscall.EIO} },
		"remove":  func(nth int) vfs.Fault { return vfs.Fault{Op: vfs.OpRemove, Nth: nth, Err: syscall.EIO} },
		"read":    func(nth int) vfs.Fault { return vfs.Fault{Op: vfs.OpRead, Nth: nth, Err: syscall.EIO} },
	}
	for kind, fault := range faults {
		for nth := 1; ; nth++ {
			m := newMem()
			inj := vfs.NewInjector(fault(nth))
			committed := int64(-1)
			err := life(vfs.NewFaulty(m, inj), want, &committed, nil)
			if inj.Fired() == 0 {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if !errors.Is(err, fault(nth).Err) {
				t.Fatalf("%s %d: %v", kind, nth, err)
			}
			m.Crash()
			goOn(t, fmt.Sprintf("%s %d", kind, nth), m, want, committed)
		}
	}
}

// TestFailedSyncIsFinal does not try again after a failed sync: what is on disk is unknown.
func TestFailedSyncIsFinal(t *testing.T) {
	m := newMem()
	db, s, err := openFault(faultOptions(vfs.NewFaulty(m, vfs.NewInjector(vfs.Fault{Op: vfs.OpSync, Nth: 3, Err: syscall.EIO}))), -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := int64(0)
	for ; err == nil; b++ {
		if err := workBatch(s, b); err != nil {
			t.Fatal(err)
		}
		_, err = db.Commit(b)
	}
	if !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if _, err = db.Commit(b); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if err := db.Load(b - 2); err != nil {
		t.Fatal(err)
	}
}

// aged is a state with a few snapshots, segments and owners.
func aged(t testing.TB) (*vfs.Mem, *ledger) {
	want := golden(t, 16)
	m := newMem()
	committed := int64(-1)
	if err := life(m, want, &committed, nil); err != nil {
		t.Fatal(err)
	}
	return m, want
}

// loadAged opens the newest version and says whether it is right.
func loadAged(t testing.TB, m *vfs.Mem, want *ledger) (repaired int64, err error) {
	v := int64(len(want.hashes)) - 1
	db, s, err := openFault(faultOptions(m), v, want.hashes[v])
	if err != nil {
		return 0, err
	}
	if got := dumpStore(t, s); got != want.dumps[v] {
		t.Fatalf("loaded\n%s\nwant\n%s", got, want.dumps[v])
	}
	repaired = db.Metrics().Repaired
	if err := workBatch(s, v+1); err != nil {
		return repaired, err
	}
	_, err = db.Commit(v + 1)
	return repaired, err
}

// TestBitFlips flips bits in every file: exactly the same state, or an error that names the file.
func TestBitFlips(t *testing.T) {
	m, want := aged(t)
	repaired := 0
	for _, name := range m.Walk(faultDir) {
		b, err := vfs.ReadFile(m, name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(b); i += 11 {
			c := m.Clone()
			_ = c.Corrupt(name, func(b []byte) []byte { b[i] ^= 1 << (i * 3 % 8); return b })
			n, err := loadAged(t, c, want)
			if err != nil && !strings.Contains(err.Error(), name) {
				t.Fatalf("%s, byte %d: the error does not name the file: %v", name, i, err)
			}
			if n > 0 {
				repaired++
			}
		}
	}
	if repaired == 0 {
		t.Fatal("no damaged snapshot was repaired")
	}
}

// TestRepair damages the newest snapshot: the one before it and the log take its place, once.
func TestRepair(t *testing.T) {
	m, want := aged(t)
	var newest string
	for _, name := range m.Walk(faultDir) {
		if isSnapshot(filepath.Base(name)) {
			newest = name
		}
	}
	_ = m.Corrupt(newest, func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
	if n, err := loadAged(t, m, want); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	v := int64(len(want.hashes)) - 1
	db, s, err := openFault(faultOptions(m), v, want.hashes[v])
	if err != nil || db.Metrics().Repaired != 1 {
		t.Fatal(err, db.Metrics().Repaired)
	}
	for b := v + 1; b < v+3; b++ {
		if err := workBatch(s, b); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Commit(b); err != nil {
			t.Fatal(err)
		}
		if err := db.Purge(b); err != nil {
			t.Fatal(err)
		}
	}
	hash := db.Hash()
	db.Close()
	if db, _, err = openFault(faultOptions(m), v+2, hash); err != nil || db.Metrics().Repaired != 0 {
		t.Fatal(err, "still repairing")
	}
}

// TestDeletedFiles deletes each file in turn: the same state, or an error that names it or the gap it leaves.
func TestDeletedFiles(t *testing.T) {
	m, want := aged(t)
	for _, name := range m.Walk(faultDir) {
		c := m.Clone()
		if err := c.Remove(name); err != nil {
			t.Fatal(err)
		}
		if _, err := loadAged(t, c, want); err != nil && !strings.Contains(err.Error(), faultDir+"/") {
			t.Fatalf("without %s: %v", name, err)
		}
	}
	for _, name := range m.Walk(faultDir) {
		if err := m.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := loadAged(t, m, want); err == nil || !strings.Contains(err.Error(), faultDir) {
		t.Fatal(err)
	}
}

// TestSwappedFiles gives every file the content of every other of its kind.
func TestSwappedFiles(t *testing.T) {
	m, want := aged(t)
	names := m.Walk(faultDir)
	for _, a := range names {
		for _, b := range names {
			if a >= b || filepath.Ext(a) != filepath.Ext(b) {
				continue
			}
			c := m.Clone()
			x, _ := vfs.ReadFile(c, a)
			y, _ := vfs.ReadFile(c, b)
			_ = c.Corrupt(a, func([]byte) []byte { return y })
			_ = c.Corrupt(b, func([]byte) []byte { return x })
			if _, err := loadAged(t, c, want); err != nil && !strings.Contains(err.Error(), a) && !strings.Contains(err.Error(), b) {
				t.Fatalf("%s and %s: %v", a, b, err)
			}
		}
	}
}

// TestTornRecord cuts the last record of the change log at every byte. If its batch was committed that is refused;
// otherwise the batch runs again, with the same result.
func TestTornRecord(t *testing.T) {
	want := golden(t, lifeBatches)
	for _, zeros := range []int{0, 900} {
		m := newMem()
		committed := int64(-1)
		short := &ledger{want.hashes[:10], want.dumps[:10]}
		if err := life(m, short, &committed, nil); err != nil {
			t.Fatal(err)
		}
		var newest string
		for _, name := range m.Walk(faultDir) {
			if strings.HasSuffix(name, ".log") {
				newest = name
			}
			if strings.Contains(name, fmt.Sprintf("snapshot-%020d", 9)) { // with it the record would not be needed
				_ = m.Remove(name)
			}
		}
		b, err := vfs.ReadFile(m, newest)
		if err != nil {
			t.Fatal(err)
		}
		start := strings.LastIndex(string(b), "WSL1")
		for cut := start; cut < len(b); cut += 1 + zeros/100 {
			c := m.Clone()
			_ = c.Corrupt(newest, func(b []byte) []byte { return append(b[:cut:cut], make([]byte, zeros)...) })
			if _, _, err := openFault(faultOptions(c.Clone()), 9, want.hashes[9]); err == nil || !strings.Contains(err.Error(), newest) {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			db, s, err := openFault(faultOptions(c), 8, want.hashes[8])
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			if err := workBatch(s, 9); err != nil {
				t.Fatal(err)
			}
			info, err := db.Commit(9)
			if err != nil || info.Hash != want.hashes[9] {
				t.Fatalf("cut at %d: %v", cut, err)
			}
		}
	}
}

// TestFailpoints passes every point of the package.
func TestFailpoints(t *testing.T) {
	want := golden(t, lifeBatches)
	for _, name := range []string{
		failpoint.StateLogPartial, failpoint.StateCommitted, failpoint.StateSnapshotMid, failpoint.PurgeMid, failpoint.RecoverMid,
	} {
		for nth := 1; nth < 6; nth++ {
			for _, lost := range []bool{false, true} {
				m := newMem()
				fp := failpoint.New(failpoint.Rule{Name: name, Batch: failpoint.AnyBatch, Nth: nth, Action: failpoint.Err})
				committed := int64(-1)
				err := life(m, want, &committed, fp)
				var fired *failpoint.Error
				if !errors.As(err, &fired) {
					if nth == 1 {
						t.Fatalf("%s did not fire: %v", name, err)
					}
					continue
				}
				if lost {
					m.Crash()
				}
				goOn(t, fmt.Sprintf("%s, %d", name, nth), m, want, committed)
			}
		}
	}
}

// TestRecoverMidTwentyTimes crashes in the replay again and again.
func TestRecoverMidTwentyTimes(t *testing.T) {
	m, want := aged(t)
	v := int64(len(want.hashes)) - 1
	for range 20 {
		opts := faultOptions(m)
		opts.Failpoints = failpoint.New(failpoint.Rule{Name: failpoint.RecoverMid, Batch: failpoint.AnyBatch, Nth: 1, Action: failpoint.Err})
		var fired *failpoint.Error
		if _, _, err := openFault(opts, v, want.hashes[v]); !errors.As(err, &fired) {
			t.Fatal(err)
		}
	}
	if _, err := loadAged(t, m, want); err != nil {
		t.Fatal(err)
	}
}

// TestEmptyBatchesMayBeLost loses batches that changed nothing, which are not synced, and finds that nothing is missing.
func TestEmptyBatchesMayBeLost(t *testing.T) {
	m := newMem()
	opts := faultOptions(m)
	opts.SnapshotBytes = 0
	db, s, err := openFault(opts, -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := workBatch(s, 0); err != nil {
		t.Fatal(err)
	}
	var hash uint64
	syncs := 0
	for b := range int64(5) {
		info, err := db.Commit(b)
		if err != nil || info.Changed != (b == 0) {
			t.Fatal(err, info)
		}
		if b == 0 {
			syncs = m.Syncs()
		}
		hash = info.Hash
	}
	if m.Syncs() != syncs {
		t.Fatalf("%d syncs for batches without changes", m.Syncs()-syncs)
	}
	dump := dumpStore(t, s)
	m.Crash()
	if db, s, err = openFault(faultOptions(m), 4, hash); err != nil || dumpStore(t, s) != dump {
		t.Fatal(err)
	}
	if _, _, err := openFault(faultOptions(m), 4, hash+1); err == nil {
		t.Fatal("another content was accepted")
	}
	if err := workBatch(s, 5); err != nil {
		t.Fatal(err)
	}
	info, err := db.Commit(5)
	if err != nil {
		t.Fatal(err)
	}
	m.Crash()
	if _, _, err = openFault(faultOptions(m), 5, info.Hash); err != nil {
		t.Fatal(err)
	}
}

// TestStaleOwner lets a former owner write on: nobody sees it.
func TestStaleOwner(t *testing.T) {
	want := golden(t, 6)
	m := newMem()
	stale, s1, err := openFault(faultOptions(m), -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	commit := func(db *DB, s *Store, b int64, work int64) {
		if err := workBatch(s, work); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Commit(b); err != nil {
			t.Fatal(err)
		}
	}
	for b := range int64(3) {
		commit(stale, s1, b, b)
	}
	db, s2, err := openFault(faultOptions(m), 2, want.hashes[2])
	if err != nil {
		t.Fatal(err)
	}
	commit(db, s2, 3, 3)
	for b := int64(3); b < 9; b++ { // with snapshots
		commit(stale, s1, b, 1000+b)
	}
	commit(db, s2, 4, 4)
	commit(db, s2, 5, 5)
	if _, s2, err = openFault(faultOptions(m), 5, want.hashes[5]); err != nil || dumpStore(t, s2) != want.dumps[5] {
		t.Fatal(err)
	}
}

// TestColdStoreDamage damages what badger has written: an error that names it, and a restart has everything.
func TestColdStoreDamage(t *testing.T) {
	cold := filepath.Join(t.TempDir(), "cold")
	m := newMem()
	opts := faultOptions(m)
	opts.MemoryLimit, opts.ColdDir = 1, cold
	db, s, err := openFault(opts, -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	var info CommitInfo
	for b := range int64(4) {
		for i := range 4000 {
			key := fmt.Appendf(nil, "key-%d", i)
			hash := columnar.HashBytes(key)
			partOf(s, hash).Put(hash, key, fmt.Appendf(nil, "value-%d-%d", b, i), NoExpiry)
		}
		if info, err = db.Commit(b); err != nil {
			t.Fatal(err)
		}
	}
	if db.Metrics().Evicted == 0 || info.Stores[0].ColdKeys == 0 {
		t.Fatal("nothing was evicted", db.Metrics(), info)
	}
	// Take a record away behind the store's back.
	if err := db.cold.db.DropAll(); err != nil {
		t.Fatal(err)
	}
	for i := range 4000 {
		key := fmt.Appendf(nil, "key-%d", i)
		hash := columnar.HashBytes(key)
		partOf(s, hash).Find(hash, key)
	}
	if _, err := db.Commit(db.Version() + 1); err == nil || !strings.Contains(err.Error(), cold) {
		t.Fatal(err)
	}
	// Damage to the files does not outlive the process, because the next one does not look at them.
	if err := os.WriteFile(filepath.Join(cold, "MANIFEST"), []byte("junk"), 0o644); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := db.LoadCommitted(3, info.Hash); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(dumpStore(t, s), "\n"); n != 4000 {
		t.Fatalf("%d entries", n)
	}
}

// TestColdStoreOfAnyLimit: badger has limits of its own on what the memory limit is turned into.
func TestColdStoreOfAnyLimit(t *testing.T) {
	for _, limit := range []int64{1, 1 << 20, 64 << 20, 128 << 20, 512 << 20, 4 << 30, 1 << 40} {
		cold, err := openCold(t.TempDir(), limit)
		if err != nil {
			t.Errorf("limit %d: %v", limit, err)
			continue
		}
		if err := cold.close(); err != nil {
			t.Error(err)
		}
	}
}
