package state

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wstream/wstream/internal/vfs"
)

// history is what a state was after each commit.
type history struct {
	models [][]*model
	hashes []uint64
	nows   []int64
}

// openModel opens the state on a file system with all model stores, at the last version of the history.
func openModel(t testing.TB, opts Options, h *history) (*DB, []*Store) {
	t.Helper()
	db, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	var stores []*Store
	for _, spec := range modelSpecs {
		s, err := db.Store(spec)
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
	}
	version := int64(len(h.models)) - 1
	if version < 0 {
		err = db.Load(-1)
	} else {
		err = db.LoadCommitted(version, h.hashes[version])
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := db.Metrics().Repaired; n != 0 {
		t.Fatalf("version %d: %d snapshots repaired", version, n)
	}
	return db, stores
}

func emptyModels() (out []*model) {
	for _, spec := range modelSpecs {
		out = append(out, &model{multi: spec.Multi, entries: map[string][]modelValue{}})
	}
	return out
}

func cloneModels(ms []*model) (out []*model) {
	for _, m := range ms {
		out = append(out, m.clone())
	}
	return out
}

func compareModels(t testing.TB, what string, stores []*Store, models []*model) {
	t.Helper()
	for i, m := range models {
		if got, want := dumpStore(t, stores[i]), m.dump(); got != want {
			t.Fatalf("%s: store %d:\n got %s\nwant %s", what, i, got, want)
		}
	}
}

// TestRestarts does random things to a state on disk with commits, aborts, power losses, other numbers of partitions,
// rollbacks and purges, and compares it with maps.
func TestRestarts(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { restarts(t, seed, Options{}) })
	}
}

func restarts(t *testing.T, seed uint64, base Options) {
	r := rand.New(rand.NewPCG(seed, 2))
	m := vfs.NewStrictMem()
	_ = m.SyncDir("/")
	opts := base
	opts.FS, opts.Dir, opts.QueryID = m, "/state", "q"
	newOptions := func() Options {
		o := opts
		o.Partitions = 1 + r.IntN(7)
		o.SnapshotBytes = []int64{1, 5000, 20000}[r.IntN(3)]
		o.SegmentBytes = []int64{1, 3000, 1 << 20}[r.IntN(3)]
		o.SyncSnapshots = r.IntN(2) == 0
		return o
	}
	var h history
	db, stores := openModel(t, newOptions(), &h)
	var models []*model
	now := int64(1000)
	keys := []int{3, 50, 1000}[r.IntN(3)]
	kept := int64(-1) // versions from here on must be loadable
	for round := range 80 {
		switch op := r.IntN(20); {
		case op < 3: // restart, perhaps after a power loss
			if r.IntN(2) == 0 {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			} else if db.job != nil {
				<-db.job.done
			}
			if r.IntN(2) == 0 {
				m.Crash()
			}
			db, stores = openModel(t, newOptions(), &h)
		case op < 4: // roll back
			last := int64(len(h.models)) - 1
			to := last - r.Int64N(last-kept+1)
			h.models, h.hashes, h.nows = h.models[:to+1], h.hashes[:to+1], h.nows[:to+1]
			if db.job != nil {
				<-db.job.done
			}
			db, stores = openModel(t, newOptions(), &h)
		case op < 6: // a read-only look at some version
			if last := int64(len(h.models)) - 1; last >= 0 && last >= kept {
				v := max(last-r.Int64N(last-kept+1), 0)
				if db.job != nil {
					<-db.job.done
				}
				ro := opts
				ro.ReadOnly = true
				look, err := Open(ro)
				if err != nil {
					t.Fatal(err)
				}
				if err := look.LoadCommitted(v, h.hashes[v]); err != nil || look.Metrics().Repaired > 0 {
					t.Fatal(err, look.Metrics())
				}
				compareModels(t, fmt.Sprintf("look at %d", v), look.Stores(), h.models[v])
			}
			continue
		case op < 8:
			keep := int64(len(h.models)) - 1 - r.Int64N(5)
			if keep > kept {
				if err := db.Purge(keep); err != nil {
					t.Fatal(err)
				}
				kept = keep
			}
			continue
		}
		if n := len(h.models); n > 0 {
			models, now = cloneModels(h.models[n-1]), h.nows[n-1]
		} else {
			models, now = emptyModels(), 1000
		}
		compareModels(t, fmt.Sprintf("round %d at version %d", round, db.Version()), stores, models)
		for range r.IntN(300) {
			i := r.IntN(len(stores))
			step(t, r, stores[i], models[i], keys, &now)
		}
		if r.IntN(5) == 0 {
			db.Abort()
			continue
		}
		info, err := db.Commit(int64(len(h.models)))
		if err != nil {
			t.Fatal(err)
		}
		h.models, h.hashes, h.nows = append(h.models, models), append(h.hashes, info.Hash), append(h.nows, now)
	}
}

// TestColdStore is TestRestarts with next to no memory, so that nearly everything lies in badger between batches.
func TestColdStore(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			limit := int64(1)
			if seed%2 == 1 {
				limit = 300 << 10
			}
			restarts(t, 1000+seed, Options{MemoryLimit: limit, ColdDir: t.TempDir() + "/cold"})
		})
	}
}

// TestManyShortRuns starts a query anew for every batch: the files stay few, and what a start replays stays bounded.
func TestManyShortRuns(t *testing.T) {
	m := vfs.NewStrictMem()
	_ = m.SyncDir("/")
	opts := Options{FS: m, Dir: "/state", QueryID: "q", Partitions: 2, SnapshotBytes: 400 << 10}
	var h history
	models := emptyModels()
	now := int64(1000)
	r := rand.New(rand.NewPCG(5, 5))
	for run := range int64(600) {
		db, stores := openModel(t, opts, &h)
		if n := db.Metrics().ReplayedBatches; n > 210 {
			t.Fatalf("run %d replays %d batches", run, n)
		}
		for range 3 {
			step(t, r, stores[0], models[0], 50, &now)
		}
		info, err := db.Commit(run)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Purge(run - 10); err != nil {
			t.Fatal(err)
		}
		h.models, h.hashes = append(h.models, nil), append(h.hashes, info.Hash)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if n := len(m.Walk("/state")); n > 80 {
			t.Fatalf("run %d leaves %d files", run, n)
		}
	}
	db, stores := openModel(t, opts, &h)
	compareModels(t, "at the end", stores[:1], models[:1])
	db.Close()
}
