package objectfs

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// MemStore is a Store in memory, for tests. A function may be set that injects faults.
type MemStore struct {
	mu      sync.Mutex
	objects map[string]memObject
	puts    int
	fault   func(op, key string) Fault
	counts  map[string]int
}

type memObject struct {
	data []byte
	etag string
	at   time.Time
}

// Fault is what happens to one request to a MemStore.
type Fault struct {
	// Err is what the request returns; nil is no fault.
	Err error
	// Applied says that the request is carried out all the same.
	Applied bool
}

// NewMemStore returns an empty store.
func NewMemStore() *MemStore {
	return &MemStore{objects: map[string]memObject{}, counts: map[string]int{}}
}

// OnRequest sets a function that is asked before every request, "get", "put", "delete" or "list", what is to happen to it.
// It must not use the store.
func (m *MemStore) OnRequest(fn func(op, key string) Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = fn
}

// Count returns how many requests of a kind there have been.
func (m *MemStore) Count(op string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[op]
}

// Keys returns the keys of all objects, in order.
func (m *MemStore) Keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.objects))
}

// Clone returns a copy of the store without its faults.
func (m *MemStore) Clone() *MemStore {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &MemStore{objects: maps.Clone(m.objects), puts: m.puts, counts: map[string]int{}}
}

// Corrupt calls change with the bytes of an object and makes the result its bytes.
func (m *MemStore) Corrupt(key string, change func([]byte) []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[key]
	if !ok {
		return fmt.Errorf("object %q: %w", key, fs.ErrNotExist)
	}
	m.store(key, change(slices.Clone(o.data)))
	return nil
}

func (m *MemStore) begin(op, key string) Fault {
	m.counts[op]++
	if m.fault == nil {
		return Fault{}
	}
	return m.fault(op, key)
}

func (m *MemStore) store(key string, data []byte) string {
	m.puts++
	o := memObject{slices.Clone(data), fmt.Sprintf("%08x", m.puts), time.Unix(int64(m.puts), 0)}
	m.objects[key] = o
	return o.etag
}

// Get implements Store.
func (m *MemStore) Get(_ context.Context, key string) ([]byte, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.begin("get", key); f.Err != nil {
		return nil, "", f.Err
	}
	o, ok := m.objects[key]
	if !ok {
		return nil, "", fs.ErrNotExist
	}
	return slices.Clone(o.data), o.etag, nil
}

// Put implements Store.
func (m *MemStore) Put(_ context.Context, key string, data []byte, cond Condition) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.begin("put", key)
	if f.Err != nil && !f.Applied {
		return "", f.Err
	}
	old, there := m.objects[key]
	if cond.IfAbsent && there || cond.IfMatch != "" && (!there || old.etag != cond.IfMatch) {
		if f.Err != nil {
			return "", f.Err
		}
		return "", ErrPrecondition
	}
	etag := m.store(key, data)
	return etag, f.Err
}

// Delete implements Store.
func (m *MemStore) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.begin("delete", key)
	if f.Err == nil || f.Applied {
		delete(m.objects, key)
	}
	return f.Err
}

// List implements Store.
func (m *MemStore) List(_ context.Context, prefix string, flat bool) ([]Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.begin("list", prefix); f.Err != nil {
		return nil, f.Err
	}
	var out []Object
	for _, key := range slices.Sorted(maps.Keys(m.objects)) {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if i := strings.IndexByte(rest, '/'); flat && i >= 0 {
			dir := prefix + rest[:i+1]
			if len(out) == 0 || out[len(out)-1].Key != dir {
				out = append(out, Object{Key: dir, Dir: true})
			}
			continue
		}
		o := m.objects[key]
		out = append(out, Object{Key: key, Size: int64(len(o.data)), ETag: o.etag, Modified: o.at})
	}
	return out, nil
}
