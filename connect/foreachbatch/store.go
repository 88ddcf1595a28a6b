package foreachbatch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wstream/wstream/engine/connector"
)

// Bounds of what a guest may keep.
const (
	maxStoreKeys  = 1 << 20
	maxStoreBytes = 64 << 20
	// compactAfter is how many entries the log gets before they become one.
	compactAfter = 64
)

// store is the keys and values of a guest. It is in memory, and in the sink's log in the checkpoint: an entry holds what one
// batch has changed, so that a batch is there as a whole or not at all. A batch that runs again sees what was there before
// it ran for the first time.
type store struct {
	log     connector.MetadataLog
	values  map[storeKey][]byte // without the last entry
	bytes   int                 // of keys and values
	last    storeEntry          // the last entry of the log; its batch is -1 where there is none
	folded  int64               // the last batch in values
	entries int                 // of the log
}

// storeKey is a namespace and a key in it.
type storeKey struct{ namespace, key string }

// storeEntry is what a batch has changed.
type storeEntry struct {
	Batch   int64         `json:"-"`
	Changes []storeChange `json:"changes"`
}

// storeChange is a new value, or nil where the key is gone.
type storeChange struct {
	Namespace string `json:"ns"`
	Key       []byte `json:"key"`
	Value     []byte `json:"value"`
	Gone      bool   `json:"gone,omitempty"`
}

// openStore reads the log.
func openStore(log connector.MetadataLog) (*store, error) {
	s := &store{log: log, values: map[storeKey][]byte{}, last: storeEntry{Batch: -1}, folded: -1}
	err := log.Each(func(batch int64, v json.RawMessage) error {
		e := storeEntry{Batch: batch}
		if err := json.Unmarshal(v, &e); err != nil {
			return fmt.Errorf("keys and values of batch %d: %w", batch, err)
		}
		// A batch that ran again has written anew.
		if s.last.Batch < batch {
			s.fold()
		}
		s.last = e
		s.entries++
		return nil
	})
	return s, err
}

// fold takes the last entry into the values.
func (s *store) fold() {
	if s.last.Batch < 0 {
		return
	}
	for _, c := range s.last.Changes {
		s.set(storeKey{c.Namespace, string(c.Key)}, c.Value, c.Gone)
	}
	s.folded = s.last.Batch
	s.last = storeEntry{Batch: -1}
}

func (s *store) set(k storeKey, v []byte, gone bool) {
	if old, ok := s.values[k]; ok {
		s.bytes -= len(k.namespace) + len(k.key) + len(old)
		delete(s.values, k)
	}
	if !gone {
		s.bytes += len(k.namespace) + len(k.key) + len(v)
		s.values[k] = v
	}
}

// begin opens a batch; done says that it was committed before.
func (s *store) begin(batch int64) (t *storeBatch, done bool) {
	if s.last.Batch < batch {
		s.fold()
	}
	done = s.last.Batch >= batch || s.folded >= batch
	return &storeBatch{s: s, batch: batch, changes: map[storeKey]*storeChange{}}, done
}

// storeBatch is the store as one batch sees it. It implements host.KV.
type storeBatch struct {
	s       *store
	batch   int64
	changes map[storeKey]*storeChange
	bytes   int // of the changes
}

// Get implements host.KV.
func (t *storeBatch) Get(_ context.Context, namespace string, key []byte) ([]byte, bool, error) {
	k := storeKey{namespace, string(key)}
	if c, ok := t.changes[k]; ok {
		return c.Value, !c.Gone, nil
	}
	v, ok := t.s.values[k]
	return v, ok, nil
}

// Put implements host.KV.
func (t *storeBatch) Put(_ context.Context, namespace string, key, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	return t.change(&storeChange{Namespace: namespace, Key: key, Value: value})
}

// Delete implements host.KV.
func (t *storeBatch) Delete(_ context.Context, namespace string, key []byte) error {
	return t.change(&storeChange{Namespace: namespace, Key: key, Gone: true})
}

func (t *storeBatch) change(c *storeChange) error {
	k := storeKey{c.Namespace, string(c.Key)}
	if old, ok := t.changes[k]; ok {
		t.bytes -= len(old.Value) + len(k.key) + len(k.namespace)
	}
	t.changes[k] = c
	t.bytes += len(c.Value) + len(k.key) + len(k.namespace)
	// What is replaced counts twice: the bound is on what there may be at most while the batch is open.
	if n := t.s.bytes + t.bytes; n > maxStoreBytes {
		return fmt.Errorf("namespace %q: keys and values would take %d bytes, allowed are %d; delete what is no longer needed", c.Namespace, n, maxStoreBytes)
	}
	if n := len(t.s.values) + len(t.changes); n > maxStoreKeys {
		return fmt.Errorf("namespace %q: there would be %d keys, allowed are %d; delete what is no longer needed", c.Namespace, n, maxStoreKeys)
	}
	return nil
}

// commit makes the changes durable, as one entry.
func (t *storeBatch) commit() error {
	s := t.s
	if len(t.changes) == 0 && s.last.Batch != t.batch {
		return nil
	}
	e := storeEntry{Batch: t.batch, Changes: []storeChange{}}
	for _, c := range t.changes {
		e.Changes = append(e.Changes, *c)
	}
	e.sort()
	if s.entries >= compactAfter && s.folded >= 0 {
		if err := s.compact(); err != nil {
			return err
		}
	}
	v, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := s.log.Put(t.batch, v); err != nil {
		return fmt.Errorf("keys and values: %w", err)
	}
	s.last = e
	s.entries++
	return nil
}

// compact makes one entry of all that are folded.
func (s *store) compact() error {
	all := storeEntry{Changes: []storeChange{}}
	for k, v := range s.values {
		all.Changes = append(all.Changes, storeChange{Namespace: k.namespace, Key: []byte(k.key), Value: v})
	}
	all.sort()
	v, err := json.Marshal(all)
	if err != nil {
		return err
	}
	s.entries = 0
	return s.log.Compact(s.folded, v)
}

// sort gives the changes an order, so that a batch has one entry.
func (e *storeEntry) sort() {
	slices.SortFunc(e.Changes, func(a, b storeChange) int {
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(string(a.Key), string(b.Key))
	})
}
