package state

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wstream/wstream/columnar"
)

// model is the dumb second opinion: one Go map per store.
type model struct {
	multi   bool
	entries map[string][]modelValue // by key, in order of appending
}

type modelValue struct {
	value  string
	expiry int64
}

func (m *model) clone() *model {
	c := &model{multi: m.multi, entries: map[string][]modelValue{}}
	for k, v := range m.entries {
		c.entries[k] = slices.Clone(v)
	}
	return c
}

func (m *model) rows() (n int) {
	for _, v := range m.entries {
		n += len(v)
	}
	return n
}

// dump prints the model the way dumpStore prints a store.
func (m *model) dump() string {
	var b bytes.Buffer
	for _, k := range slices.Sorted(maps.Keys(m.entries)) {
		for _, v := range m.entries[k] {
			fmt.Fprintf(&b, "%x=%x@%d\n", k, v.value, v.expiry)
		}
	}
	return b.String()
}

func dumpStore(t testing.TB, s *Store) string {
	t.Helper()
	type row struct {
		key, line string
	}
	var rows []row
	for i := range s.db.Partitions() {
		p := s.Part(i)
		err := p.Each(func(ref Ref) error {
			k := string(p.Key(ref))
			rows = append(rows, row{k, fmt.Sprintf("%x=%x@%d\n", k, p.Value(ref), p.Expiry(ref))})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	var b bytes.Buffer
	for _, r := range rows {
		b.WriteString(r.line)
	}
	return b.String()
}

func partOf(s *Store, hash uint64) *Part { return s.Part(int(BucketOf(hash)) % s.db.Partitions()) }

// randomKey draws from few keys, so that they meet again, of several lengths.
func randomKey(r *rand.Rand, n int) []byte {
	k := r.IntN(n)
	key := binary.BigEndian.AppendUint32(nil, uint32(k))
	return append(key, bytes.Repeat([]byte{byte(k)}, k%11)...)
}

func randomValue(r *rand.Rand) []byte {
	v := make([]byte, r.IntN(40))
	for i := range v {
		v[i] = byte(r.IntN(256))
	}
	return v
}

// step does one random thing to store and model.
func step(t testing.TB, r *rand.Rand, s *Store, m *model, keys int, now *int64) {
	key := randomKey(r, keys)
	hash := columnar.HashBytes(key)
	p := partOf(s, hash)
	k := string(key)
	expiry := NoExpiry
	if s.spec.Expiring && r.IntN(4) > 0 {
		expiry = *now + r.Int64N(100)
	}
	switch op := r.IntN(100); {
	case op < 25: // read
		v, ok := p.Get(hash, key)
		want := m.entries[k]
		if ok != (len(want) > 0) || ok && string(v) != want[0].value {
			t.Fatalf("get %x: %x %v, want %v", key, v, ok, want)
		}
	case op < 45 && s.spec.Multi: // append
		value := randomValue(r)
		p.Append(hash, key, value, expiry)
		m.entries[k] = append(m.entries[k], modelValue{string(value), expiry})
	case op < 45: // put
		value := randomValue(r)
		p.Put(hash, key, value, expiry)
		m.entries[k] = []modelValue{{string(value), expiry}}
	case op < 65: // upsert and change in place
		ref, created := p.Upsert(hash, key, 8)
		if created != (len(m.entries[k]) == 0) {
			t.Fatalf("upsert %x: created %v", key, created)
		}
		if created {
			m.entries[k] = []modelValue{{string(make([]byte, 8)), NoExpiry}}
		}
		if v := p.Mut(ref); len(v) > 0 {
			v[0]++
		}
		mv := []byte(m.entries[k][0].value)
		if len(mv) > 0 {
			mv[0]++
		}
		m.entries[k][0].value = string(mv)
	case op < 75: // one value of a key: change, grow or remove
		vals := m.entries[k]
		if len(vals) == 0 {
			return
		}
		i := r.IntN(len(vals))
		ref := p.Find(hash, key)
		for range i {
			ref = p.Next(ref)
		}
		if string(p.Value(ref)) != vals[i].value {
			t.Fatalf("value %d of %x: %x, want %x", i, key, p.Value(ref), vals[i].value)
		}
		switch r.IntN(3) {
		case 0:
			p.Remove(ref)
			if m.entries[k] = slices.Delete(vals, i, i+1); len(m.entries[k]) == 0 {
				delete(m.entries, k)
			}
		case 1:
			value := randomValue(r)
			p.SetValue(ref, value)
			vals[i].value = string(value)
		case 2:
			if s.spec.Expiring {
				p.SetExpiry(ref, expiry)
				vals[i].expiry = expiry
			}
		}
	case op < 80: // grow
		ref := p.Find(hash, key)
		if ref == 0 {
			return
		}
		n := r.IntN(60)
		ref = p.Resize(ref, n)
		if len(p.Value(ref)) != n {
			t.Fatalf("resize %x: %d bytes, want %d", key, len(p.Value(ref)), n)
		}
		v := m.entries[k][0].value
		m.entries[k][0].value = (v + string(make([]byte, n)))[:n]
	case op < 88: // delete
		if ok := p.Delete(hash, key); ok != (len(m.entries[k]) > 0) {
			t.Fatalf("delete %x: %v", key, ok)
		}
		delete(m.entries, k)
	case op < 90 && s.spec.Expiring: // time moves on
		*now += r.Int64N(60)
		expireAll(t, s, m, *now)
	}
}

func expireAll(t testing.TB, s *Store, m *model, upTo int64) {
	t.Helper()
	var want []string
	for k, vals := range m.entries {
		var keep []modelValue
		for _, v := range vals {
			if v.expiry <= upTo {
				want = append(want, fmt.Sprintf("%x=%x@%d", k, v.value, v.expiry))
			} else {
				keep = append(keep, v)
			}
		}
		if m.entries[k] = keep; len(keep) == 0 {
			delete(m.entries, k)
		}
	}
	var got []string
	for i := range s.db.Partitions() {
		last := int64(-1 << 62)
		n, err := s.Part(i).Expired(upTo, func(key, value []byte, expiry int64) error {
			if expiry < last {
				t.Fatalf("expiry %d after %d", expiry, last)
			}
			last = expiry
			got = append(got, fmt.Sprintf("%x=%x@%d", key, value, expiry))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		_ = n
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Fatalf("expired up to %d:\n got %v\nwant %v", upTo, got, want)
	}
}

var modelSpecs = []StoreSpec{
	{Name: "0.plain", Operator: "plain", KeySchema: "k BINARY", ValueSchema: "v BINARY"},
	{Name: "1.expiring", Operator: "expiring", KeySchema: "k BINARY", ValueSchema: "v BINARY", Expiring: true},
	{Name: "2.multi", Operator: "multi", KeySchema: "k BINARY", ValueSchema: "v BINARY", Multi: true},
	{Name: "3.both", Operator: "both", KeySchema: "k BINARY", ValueSchema: "v BINARY", Multi: true, Expiring: true},
}

// TestModel does random things to every kind of store and compares it with a map, over batches that are committed or
// aborted.
func TestModel(t *testing.T) {
	for seed := range uint64(15) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			db, err := Open(Options{Partitions: 1 + r.IntN(5)})
			if err != nil {
				t.Fatal(err)
			}
			var stores []*Store
			var models []*model
			for _, spec := range modelSpecs {
				s, err := db.Store(spec)
				if err != nil {
					t.Fatal(err)
				}
				stores = append(stores, s)
				models = append(models, &model{multi: spec.Multi, entries: map[string][]modelValue{}})
			}
			if err := db.Load(-1); err != nil {
				t.Fatal(err)
			}
			now := int64(1000)
			keys := []int{3, 50, 2000}[r.IntN(3)]
			batch := int64(0)
			for range 30 {
				before := make([]*model, len(models))
				for i, m := range models {
					before[i] = m.clone()
				}
				nowBefore := now
				for range r.IntN(400) {
					i := r.IntN(len(stores))
					step(t, r, stores[i], models[i], keys, &now)
				}
				if r.IntN(4) == 0 {
					db.Abort()
					models, now = before, nowBefore
				} else {
					info, err := db.Commit(batch)
					if err != nil {
						t.Fatal(err)
					}
					batch++
					for i, m := range models {
						if info.Stores[i].Rows != int64(m.rows()) {
							t.Fatalf("store %d: %d rows, want %d", i, info.Stores[i].Rows, m.rows())
						}
					}
				}
				for i, m := range models {
					if got, want := dumpStore(t, stores[i]), m.dump(); got != want {
						t.Fatalf("store %d after batch %d:\n got %s\nwant %s", i, batch-1, got, want)
					}
				}
			}
		})
	}
}

func hashOf(key []byte) uint64 { return columnar.HashBytes(key) }
