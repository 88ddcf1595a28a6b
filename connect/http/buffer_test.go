package http

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wstream/wstream/internal/vfs"
)

var testLimits = limits{room: 1 << 20, spare: 1 << 18, segment: 1 << 12, keys: 1000}

// posted is a request with a body.
func posted(key, body string) request {
	r := request{Key: key, Bytes: len(body), body: []byte(body)}
	if key != "" {
		r.Hash = bodyHash(r.body)
	}
	return r
}

// bodies are the bodies of the records behind from up to to, in order.
func bodies(t *testing.T, b *buffer, from, to int64) (out []string) {
	t.Helper()
	for id := from + 1; id <= to; id++ {
		payload, err := b.read(id)
		if err != nil {
			t.Fatalf("record %d: %v", id, err)
		}
		h, err := readRecord(payload)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range h.Requests {
			out = append(out, string(r.body))
		}
	}
	return out
}

func open(t *testing.T, fsys vfs.FS, l limits) *buffer {
	t.Helper()
	b, err := openBuffer(fsys, "/checkpoint/buffers/in", l, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBuffer puts requests from many goroutines, each of them twice under one key, and finds each once, also after the power
// has failed.
func TestBuffer(t *testing.T) {
	mem := vfs.NewStrictMem()
	b := open(t, mem, testLimits)
	var all sync.WaitGroup
	for i := range 50 {
		for range 2 {
			all.Go(func() {
				if err := b.put(posted(fmt.Sprint("k", i), fmt.Sprint(i))); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	check := func(b *buffer) {
		t.Helper()
		end, _ := b.end(0, 0)
		got := bodies(t, b, 0, end)
		slices.Sort(got)
		if len(got) != 50 || len(slices.Compact(got)) != 50 {
			t.Fatalf("got %q", got)
		}
	}
	check(b)
	mem.Crash()
	b = open(t, mem, testLimits)
	check(b)
	if err := b.put(posted("k0", "0")); err != nil {
		t.Error(err)
	}
	check(b)
	if err := b.put(posted("k0", "another body")); !errors.Is(err, errReused) {
		t.Errorf("another body under the same key: %v", err)
	}
	b.stop(errClosed)
	if err := b.put(posted("", "late")); !errors.Is(err, errClosed) {
		t.Errorf("after the end: %v", err)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
}

// TestBufferBounds refuses what there is no room for until batches are committed, cuts batches by size, and gives the disk
// back; the keys of what was deleted stay known, also after a restart.
func TestBufferBounds(t *testing.T) {
	mem := vfs.NewStrictMem()
	l := limits{room: 4000, spare: 1000, segment: 500, keys: 1000}
	b := open(t, mem, l)
	body := strings.Repeat("x", 100)
	for i := range 40 {
		if err := b.put(posted(fmt.Sprint("k", i), body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.put(posted("", body)); !errors.Is(err, errFull) {
		t.Errorf("beyond the room: %v", err)
	}
	if end, last := b.end(3, 250); end != 5 || last != 40 {
		t.Errorf("a batch of 250 bytes behind 3 ends at %d of %d", end, last)
	}
	if end, _ := b.end(3, 1); end != 4 {
		t.Errorf("a batch of one byte behind 3 ends at %d", end)
	}
	b.committed(30, 0)
	if err := b.put(posted("", body)); err != nil {
		t.Error(err)
	}
	if _, err := b.read(10); err == nil {
		t.Error("record 10 is there, and is more than what is kept for a rollback")
	}
	if got := len(bodies(t, b, 20, 41)); got != 21 {
		t.Errorf("%d bodies are kept, want 21", got)
	}
	infos, err := mem.List(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, info := range infos {
		size += info.Size()
	}
	if size > 12_000 {
		t.Errorf("%d bytes are on disk", size)
	}
	before := maps.Clone(b.keys)
	mem.Crash()
	b = open(t, mem, l)
	b.begin(30)
	if len(b.keys) != 40 || len(before) != 40 {
		t.Errorf("%d keys are known after the restart, %d before it", len(b.keys), len(before))
	}
	if err := b.put(posted("k0", body)); err != nil {
		t.Error(err)
	}
	if end, _ := b.end(0, 0); end != 41 {
		t.Errorf("the end is %d: a request with a known key was taken again", end)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
}

// TestBufferNumbers begins above what batches have, also when the files of the buffer are gone.
func TestBufferNumbers(t *testing.T) {
	b := open(t, vfs.NewStrictMem(), testLimits)
	b.begin(7)
	if err := b.put(posted("", "a")); err != nil {
		t.Fatal(err)
	}
	if end, _ := b.end(7, 0); end != 8 {
		t.Errorf("the end is %d, want 8", end)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
}

// TestBufferOwners lets a process go on that was suspended while another one took over: it answers nothing, and what it had
// answered before is not lost.
func TestBufferOwners(t *testing.T) {
	mem := vfs.NewStrictMem()
	old := open(t, mem, testLimits)
	if err := old.put(posted("", "before")); err != nil {
		t.Fatal(err)
	}
	now := open(t, mem, testLimits)
	if err := old.put(posted("", "stale")); err == nil || !strings.Contains(err.Error(), "taken over") {
		t.Errorf("the former owner: %v", err)
	}
	if err := now.put(posted("", "after")); err != nil {
		t.Fatal(err)
	}
	if got := bodies(t, now, 0, 2); !slices.Equal(got, []string{"before", "after"}) {
		t.Errorf("got %q", got)
	}
	for _, b := range []*buffer{old, now} {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestBufferPowerLoss loses everything that was not synced after each sync, and finds what was answered until then.
func TestBufferPowerLoss(t *testing.T) {
	for n := int64(1); ; n++ {
		mem := vfs.NewStrictMem()
		crashed := false
		syncs := int64(0)
		var after *vfs.Mem
		mem.OnSync(func(string, string) {
			if syncs++; syncs == n {
				crashed, after = true, mem.Clone()
				after.Crash()
			}
		})
		b := open(t, mem, limits{room: 4000, spare: 100, segment: 300, keys: 1000})
		var answered []string
		for i := range 20 {
			body := fmt.Sprintf("%d-%s", i, strings.Repeat("x", 60))
			if err := b.put(posted("", body)); err != nil {
				t.Fatal(err)
			}
			if !crashed {
				answered = append(answered, body)
			}
			if i == 10 {
				b.committed(5, 0)
			}
		}
		if !crashed {
			if n < 20 {
				t.Fatalf("there were %d syncs", syncs)
			}
			return
		}
		b = open(t, after, testLimits)
		end, _ := b.end(0, 0)
		from := b.first - 1
		if got := bodies(t, b, from, end); len(got) < len(answered)-int(from) {
			t.Errorf("after sync %d: %d bodies behind %d, %d were answered", n, len(got), from, len(answered))
		}
	}
}
