package state

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wstream/wstream/internal/vfs"
)

var update = flag.Bool("update", false, "write the state folder of the current format version anew")

// goldenSpecs are all kinds of stores.
var goldenSpecs = []StoreSpec{
	{Name: "0.count", Operator: "count per user", KeySchema: "user STRING", ValueSchema: "n BIGINT"},
	{Name: "1.left", Operator: "join", KeySchema: "user STRING", ValueSchema: "row BINARY", Multi: true, Expiring: true},
}

// writeGolden makes the state that the golden folders hold: 12 batches with puts, deletes, expiries, lists and snapshots.
func writeGolden(t *testing.T, m *vfs.Mem) {
	opts := faultOptions(m)
	db, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	var stores []*Store
	for _, spec := range goldenSpecs {
		s, err := db.Store(spec)
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
	}
	if err := db.Load(-1); err != nil {
		t.Fatal(err)
	}
	for b := range int64(12) {
		for i := range int64(8) {
			key := fmt.Appendf(nil, "user-%d", (b*5+i*i)%23)
			hash := hashOf(key)
			ref, _ := partOf(stores[0], hash).Upsert(hash, key, 8)
			partOf(stores[0], hash).Mut(ref)[0]++
			partOf(stores[1], hash).Append(hash, key, fmt.Appendf(nil, "click %d of batch %d", i, b), b*100+i)
		}
		gone := fmt.Appendf(nil, "user-%d", b*7%23)
		partOf(stores[0], hashOf(gone)).Delete(hashOf(gone), gone)
		for p := range db.Partitions() {
			if _, err := stores[1].Part(p).Expired(b*100-250, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Commit(b); err != nil {
			t.Fatal(err)
		}
		if err := db.Purge(b - 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// printState prints a state so that a person can follow what it holds.
func printState(t *testing.T, db *DB) string {
	out := fmt.Sprintf("version %d, hash %016x\n", db.Version(), db.Hash())
	for _, s := range db.Stores() {
		out += fmt.Sprintf("%s of operator %q: key %s, value %s, %d rows\n",
			s.spec.Name, s.spec.Operator, s.spec.KeySchema, s.spec.ValueSchema, s.Rows())
		for n := range Buckets {
			p := s.partOfBucket(uint8(n))
			err := p.eachBucket(uint8(n), func(ref Ref) error {
				out += fmt.Sprintf("  %q = %q", p.Key(ref), p.Value(ref))
				if e := p.Expiry(ref); e != NoExpiry {
					out += fmt.Sprintf(" until %d", e)
				}
				out += "\n"
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

// TestGolden loads states that earlier versions have written. A folder is never changed once a version is released.
func TestGolden(t *testing.T) {
	if *update {
		m := newMem()
		writeGolden(t, m)
		dir := filepath.Join("testdata", "v1", "state")
		if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range m.Walk(faultDir) {
			b, err := vfs.ReadFile(m, name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		db, err := Inspect(faultOptions(m), 11)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("testdata", "v1", "content.txt"), []byte(printState(t, db)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, version := range []string{"v1"} {
		m := newMem()
		if err := m.MkdirAll(faultDir); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join("testdata", version, "state", "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f, err := m.Create(filepath.Join(faultDir, filepath.Base(file)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(filepath.Join("testdata", version, "content.txt"))
		if err != nil {
			t.Fatal(err)
		}
		db, err := Open(faultOptions(m))
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Load(11); err != nil {
			t.Fatal(err)
		}
		if got := printState(t, db); got != string(want) {
			t.Fatalf("%s:\n%s\nwant\n%s", version, got, want)
		}
		if db.Metrics().Repaired > 0 {
			t.Fatal("a snapshot did not read well")
		}
		for _, spec := range goldenSpecs {
			if _, err := db.Store(spec); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Commit(12); err != nil {
			t.Fatal(err)
		}
	}
}
