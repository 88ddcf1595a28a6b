package state

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
)

func TestInspect(t *testing.T) {
	m, want := aged(t)
	opts := faultOptions(m)
	oldest, newest, err := Versions(opts)
	if err != nil || newest != 15 || oldest > 12 || oldest < 0 {
		t.Fatal(oldest, newest, err)
	}
	if err := Verify(opts); err != nil {
		t.Fatal(err)
	}
	look := func(v int64) *DB {
		db, err := Inspect(opts, v)
		if err != nil {
			t.Fatal(err)
		}
		if got := dumpStore(t, db.Stores()[0]); got != want.dumps[v] {
			t.Fatalf("version %d: %s", v, got)
		}
		if _, err := db.Commit(v + 1); err == nil {
			t.Fatal("written through a reader")
		}
		return db
	}
	for v := oldest; v <= newest; v++ {
		look(v)
	}
	if _, err := Inspect(opts, newest+1); err == nil {
		t.Fatal("loaded a version that does not exist")
	}
	if oldest > 0 {
		if _, err := Inspect(opts, oldest-1); err == nil {
			t.Log("an older version than promised can be loaded")
		}
	}
	// The differences turn one dump into the other.
	before, after := strings.Split(want.dumps[14], "\n"), strings.Split(want.dumps[15], "\n")
	lines := map[string]int{}
	for _, l := range before {
		lines[l]++
	}
	err = Diff(look(14), look(15), func(c Change) error {
		if c.InOld {
			lines[strings.TrimSpace(fmt.Sprintf("%x=%x@%d\n", c.Key, c.Old, c.OldExpiry))]--
		}
		if c.InNew {
			lines[strings.TrimSpace(fmt.Sprintf("%x=%x@%d\n", c.Key, c.New, c.NewExpiry))]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range after {
		lines[l]--
	}
	for l, n := range lines {
		if n != 0 {
			t.Fatalf("%q: %d", l, n)
		}
	}
	for _, name := range m.Walk(faultDir) {
		c := m.Clone()
		_ = c.Corrupt(name, func(b []byte) []byte { b[len(b)*2/3] ^= 1; return b })
		opts.FS = c
		if err := Verify(opts); err == nil || !strings.Contains(err.Error(), name) {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// TestSchemas changes what a query asks for between two starts.
func TestSchemas(t *testing.T) {
	spec := StoreSpec{
		Name: "0.sum", Operator: "sum per user", KeySchema: "user STRING, `a b` STRUCT<x: INT, y: ARRAY<STRUCT<z: DATE>>>",
		ValueSchema: "total DECIMAL(10,2), m MAP<STRING, INT>", Expiring: true,
	}
	m := newMem()
	opts := Options{FS: m, Dir: "/s"}
	db, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Store(spec); err != nil {
		t.Fatal(err)
	}
	if err := db.Load(-1); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Commit(0); err != nil {
		t.Fatal(err)
	}
	db.Close()
	change := func(fn func(*StoreSpec)) StoreSpec { s := spec; fn(&s); return s }
	for _, c := range []struct {
		name, want string
		specs      []StoreSpec
	}{
		{"same", "", []StoreSpec{spec}},
		{"renamed columns", "", []StoreSpec{change(func(s *StoreSpec) {
			s.KeySchema = "u string, c STRUCT<`p q`: int, r: array<struct<s:date>>>"
			s.ValueSchema = "sum DECIMAL(10, 2), n MAP<STRING,INT>"
			s.Operator = "sum"
		})}},
		{
			"another type", `the state of operator "sum per user" has another value: the checkpoint holds "total DECIMAL(10,2), m MAP<STRING, INT>", the query wants "total STRING, m MAP<STRING, INT>"`,
			[]StoreSpec{change(func(s *StoreSpec) { s.ValueSchema = "total STRING, m MAP<STRING, INT>" })},
		},
		{"another scale", `another value`, []StoreSpec{change(func(s *StoreSpec) { s.ValueSchema = "total DECIMAL(10,3), m MAP<STRING, INT>" })}},
		{"another key", `another key`, []StoreSpec{change(func(s *StoreSpec) { s.KeySchema += ", site STRING" })}},
		{"another nested type", `another key`, []StoreSpec{change(func(s *StoreSpec) { s.KeySchema = strings.Replace(s.KeySchema, "DATE", "INT", 1) })}},
		{
			"another kind", `another kind: the checkpoint holds "one value per key, expiring", the query wants "several values per key, expiring"`,
			[]StoreSpec{change(func(s *StoreSpec) { s.Multi = true })},
		},
		{
			"gone", `the checkpoint holds state "0.sum" of operator "sum per user", which the query no longer has`,
			[]StoreSpec{change(func(s *StoreSpec) { s.Name = "1.other" })},
		},
		{
			"added", `operator "count" has no state "1.count" in the checkpoint, which holds "0.sum"`,
			[]StoreSpec{spec, {Name: "1.count", Operator: "count", KeySchema: "a INT", ValueSchema: "b INT"}},
		},
	} {
		for _, loadFirst := range []bool{false, true} {
			opts := opts
			opts.FS = m.Clone()
			db, err := Open(opts)
			if err != nil {
				t.Fatal(err)
			}
			if loadFirst {
				err = db.Load(0)
			}
			for _, s := range c.specs {
				if err == nil {
					_, err = db.Store(s)
				}
			}
			if err == nil && !loadFirst {
				err = db.Load(0)
			}
			if err == nil {
				_, err = db.Commit(1)
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) && c.name != "gone") {
				t.Errorf("%s: %v", c.name, err)
			}
			var schema *SchemaError
			if c.want != "" && !errors.As(err, &schema) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// TestNewerVersion refuses what a newer program has written.
func TestNewerVersion(t *testing.T) {
	m := newMem()
	db, s, err := openFault(faultOptions(m), -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := workBatch(s, 0); err != nil {
		t.Fatal(err)
	}
	p, err := db.Prepare(0)
	if err != nil {
		t.Fatal(err)
	}
	p.pieces[0][0] = 9
	if err := p.Write(); err != nil {
		t.Fatal(err)
	}
	db.Close()
	before := len(m.Walk("/"))
	var version *VersionError
	if _, _, err = openFault(faultOptions(m), 0, p.Info.Hash); !errors.As(err, &version) || version.Have != 9 || version.Can != FormatVersion {
		t.Fatal(err)
	}
	if len(m.Walk("/")) != before {
		t.Fatal("something was changed")
	}
}

// TestHashOfContent gives the same hash to the same content, whatever the history, the partitions and the order of stores.
func TestHashOfContent(t *testing.T) {
	build := func(parts int, stores []string, keys []int, detour bool) uint64 {
		db, err := Open(Options{Partitions: parts})
		if err != nil {
			t.Fatal(err)
		}
		byName := map[string]*Store{}
		for _, name := range stores {
			if byName[name], err = db.Store(StoreSpec{Name: name, Expiring: true}); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Load(-1); err != nil {
			t.Fatal(err)
		}
		put := func(store string, k int, value string) {
			key := fmt.Appendf(nil, "k%d", k)
			hash := columnar.HashBytes(key)
			partOf(byName[store], hash).Put(hash, key, []byte(value), int64(k))
		}
		batch := int64(0)
		for _, k := range keys {
			if detour {
				put("a", k, "other")
				put("a", k+1000, "gone")
				if _, err := db.Commit(batch); err != nil {
					t.Fatal(err)
				}
				batch++
				key := fmt.Appendf(nil, "k%d", k+1000)
				hash := columnar.HashBytes(key)
				partOf(byName["a"], hash).Delete(hash, key)
			}
			put("a", k, "value")
			put("b", k, fmt.Sprint(k))
		}
		info, err := db.Commit(batch)
		if err != nil {
			t.Fatal(err)
		}
		return info.Hash
	}
	want := build(1, []string{"a", "b"}, []int{1, 2, 3, 4}, false)
	if got := build(7, []string{"b", "a"}, []int{3, 1, 4, 2}, true); got != want {
		t.Fatalf("%x, want %x", got, want)
	}
	if got := build(1, []string{"a", "b"}, []int{1, 2, 3}, false); got == want {
		t.Fatal("another content has the same hash")
	}
	if got := build(1, []string{"a", "b"}, nil, false); got != 0 {
		t.Fatalf("nothing has the hash %x", got)
	}
}

// TestOrder walks parts in an order that depends on nothing but the content.
func TestOrder(t *testing.T) {
	walk := func(keys []int, detour bool) string {
		db, err := Open(Options{Partitions: 3})
		if err != nil {
			t.Fatal(err)
		}
		s, err := db.Store(StoreSpec{Name: "a", Expiring: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Load(-1); err != nil {
			t.Fatal(err)
		}
		put := func(k int) {
			key := fmt.Appendf(nil, "k%d", k)
			hash := columnar.HashBytes(key)
			partOf(s, hash).Put(hash, key, nil, int64(k%3))
		}
		if detour {
			for k := range 5000 {
				put(k + 10000)
			}
		}
		for _, k := range keys {
			put(k)
		}
		if detour {
			for k := range 5000 {
				key := fmt.Appendf(nil, "k%d", k+10000)
				hash := columnar.HashBytes(key)
				partOf(s, hash).Delete(hash, key)
			}
			if _, err := db.Commit(0); err != nil {
				t.Fatal(err)
			}
		}
		var b strings.Builder
		for p := range 3 {
			_ = s.Part(p).Each(func(ref Ref) error { fmt.Fprintf(&b, "%s ", s.Part(p).Key(ref)); return nil })
			b.WriteString("| ")
			for _, ref := range s.Part(p).Due(1, nil) {
				fmt.Fprintf(&b, "%s ", s.Part(p).Key(ref))
			}
			b.WriteString("\n")
		}
		return b.String()
	}
	var up, down []int
	for k := range 300 {
		up, down = append(up, k), append(down, 299-k)
	}
	if a, b := walk(up, false), walk(down, true); a != b {
		t.Fatalf("%s\n%s", a, b)
	}
}

// TestFork loads the files of the query that a checkpoint was copied from, and refuses those of others.
func TestFork(t *testing.T) {
	m, want := aged(t)
	opts := faultOptions(m)
	opts.QueryID = "copy"
	if _, _, err := openFault(opts, 15, want.hashes[15]); err == nil || !strings.Contains(err.Error(), `"q"`) {
		t.Fatal(err)
	}
	opts.Ancestors = []string{"q"}
	for v := int64(15); v < 20; v++ {
		db, s, err := openFault(opts, v, want.hashes[v])
		if err != nil {
			t.Fatal(err)
		}
		if err := workBatch(s, v+1); err != nil {
			t.Fatal(err)
		}
		info, err := db.Commit(v + 1)
		if err != nil {
			t.Fatal(err)
		}
		want.hashes = append(want.hashes, info.Hash)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
