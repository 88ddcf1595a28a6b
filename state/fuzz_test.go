package state

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wstream/wstream/internal/vfs"
)

// FuzzSections applies any bytes as sections, to all kinds of stores: no panic, and the tables stay sound.
func FuzzSections(f *testing.F) {
	db, err := Open(Options{})
	if err != nil {
		f.Fatal(err)
	}
	for _, spec := range modelSpecs {
		s, err := db.Store(spec)
		if err != nil {
			f.Fatal(err)
		}
		e := &encoder{}
		for i := range int64(30) {
			key := []byte{byte(i), byte(i % 7), 3}
			b := &s.buckets[BucketOf(hashOf(key))]
			b.insert(hashOf(key), key, 5, i*3)
			b.gather(e, s, BucketOf(hashOf(key)))
			b.endBatch()
			b.expired = i
			b.remove(func() uint32 { off, _ := b.find(hashOf(key), key); return off }())
			b.gather(e, s, BucketOf(hashOf(key)))
		}
		f.Add(e.raw)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		db, err := Open(Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range modelSpecs {
			if _, err := db.Store(spec); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Load(-1); err != nil {
			t.Fatal(err)
		}
		for len(b) > 0 {
			sec, rest, err := nextSection(b)
			if err != nil || sec.store >= uint64(len(db.stores)) {
				break
			}
			if b = rest; db.stores[sec.store].applySection(&sec) != nil {
				break
			}
		}
		rows := int64(0)
		for _, s := range db.stores {
			_ = s.Part(0).Each(func(Ref) error { rows++; return nil })
			rows -= s.Rows()
		}
		if rows != 0 {
			t.Fatalf("the tables hold %d rows more than they count", rows)
		}
	})
}

// FuzzSnapshot reads any bytes as a snapshot.
func FuzzSnapshot(f *testing.F) {
	name := ""
	files, err := filepath.Glob(filepath.Join("testdata", "v1", "state", "*.snap"))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		name = filepath.Base(file)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := newMem()
		_ = m.MkdirAll(faultDir)
		w, err := m.Create(filepath.Join(faultDir, name))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(b)
		db, err := Open(Options{FS: vfs.FS(m), Dir: faultDir})
		if err != nil {
			t.Fatal(err)
		}
		_ = db.eachBlocks(name, func(chunks [][]byte) error {
			for _, c := range chunks {
				if _, err := unpackChunk(c); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// FuzzColdPage reads any bytes as a page of the cold store.
func FuzzColdPage(f *testing.F) {
	s := newStore(&DB{opts: Options{Partitions: 1}}, modelSpecs[3], 0)
	w := &pageWriter{}
	w.begin(3)
	for i := range byte(5) {
		key := []byte{i, 1}
		b := &s.buckets[BucketOf(hashOf(key))]
		w.add(b, b.insert(hashOf(key), key, uint32(i), int64(i)))
	}
	w.bytes()
	f.Add(w.plain)
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = givePage(b, []uint32{3 << pageBits, 3<<pageBits + 4}, func(_ uint32, blob []byte) error {
			return s.lay.eachCold(blob, func(key []byte, seq uint64, expiry int64, value []byte) {})
		})
		_ = s.lay.eachCold(b, func(key []byte, seq uint64, expiry int64, value []byte) {})
	})
}
