package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// history is what a test has seen of a checkpoint between the runs of a query. A checkpoint forgets old batches; the
// history does not.
type history struct {
	fs      vfs.FS
	dir     string
	offsets map[int64][]byte // offset entries by batch, as JSON
	commits map[int64][]byte
	hashes  int // commit entries that have a hash of the output
}

func newHistory(dir string) *history {
	return &history{fs: vfs.OS(), dir: dir, offsets: map[int64][]byte{}, commits: map[int64][]byte{}}
}

// look reads the checkpoint while nobody owns it. An entry that has changed since it was last seen is a fault: a batch runs
// again with exactly the offsets, the time and the watermark of its first time, and is committed once.
func (h *history) look(t *testing.T) {
	t.Helper()
	c, err := checkpoint.Open(h.fs, h.dir, checkpoint.Options{ReadOnly: true})
	var missing *checkpoint.MissingError
	if errors.Is(err, checkpoint.ErrNotFound) || errors.As(err, &missing) && len(h.offsets) == 0 {
		return // killed before it was made
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	batches, err := c.Batches()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		if b.Offsets != nil {
			h.take(t, h.offsets, b.ID, "offset", b.Offsets)
		}
		if b.Commit != nil {
			if _, known := h.commits[b.ID]; !known && b.Commit.OutputHash != nil {
				h.hashes++
			}
			h.take(t, h.commits, b.ID, "commit", b.Commit)
		}
	}
}

func (h *history) take(t *testing.T, seen map[int64][]byte, id int64, log string, entry any) {
	t.Helper()
	b, err := json.Marshal(entry)
	if err != nil {
		t.Fatal(err)
	}
	if old, ok := seen[id]; ok && !bytes.Equal(old, b) {
		// An offset entry counts from when it is seen with a commit entry, or seen twice: what was not synced may go.
		t.Errorf("%s: the %s entry of batch %d has changed from\n%s to\n%s", h.dir, log, id, old, b)
	}
	seen[id] = b
}

// check says that the history has no gap: every batch from 0 to the last has an offset entry and a commit entry, and reads
// on where the one before ended.
func (h *history) check(t *testing.T) {
	t.Helper()
	h.look(t)
	last := int64(len(h.commits)) - 1
	var before checkpoint.OffsetEntry
	for id := range int64(len(h.commits)) {
		if h.commits[id] == nil || h.offsets[id] == nil {
			t.Errorf("%s: batch %d of 0 to %d is missing in the commit or offset log", h.dir, id, last)
			return
		}
		var e checkpoint.OffsetEntry
		if err := json.Unmarshal(h.offsets[id], &e); err != nil {
			t.Fatal(err)
		}
		for i, s := range e.Sources {
			if id > 0 && !bytes.Equal(s.Start, before.Sources[i].End) {
				t.Errorf("%s: batch %d reads from %s, the one before ended at %s", h.dir, id, s.Start, before.Sources[i].End)
			}
		}
		before = e
	}
	if len(h.offsets) != len(h.commits) {
		t.Errorf("%s: %d batches are planned, %d committed", h.dir, len(h.offsets), len(h.commits))
	}
}

// String counts the batches.
func (h *history) String() string {
	return fmt.Sprintf("%d batches committed, none missing, %d with a hash of the output", len(h.commits), h.hashes)
}
