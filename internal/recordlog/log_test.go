package recordlog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/wstream/wstream/internal/vfs"
)

func newOptions(t testing.TB, fsys vfs.FS) Options {
	t.Helper()
	if err := vfs.MkdirAllSync(fsys, "/log"); err != nil {
		t.Fatal(err)
	}
	return Options{FS: fsys, Dir: "/log", Kind: "offsets", Query: "q1"}
}

func payload(id int64) []byte {
	return []byte(fmt.Sprintf(`{"batchId":%d,"pad":"%s"}`, id, strings.Repeat("x", int(id*7%50))))
}

func mustOpen(t testing.TB, o Options) *Log {
	t.Helper()
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func fill(t testing.TB, l *Log, from, to int64) {
	t.Helper()
	for id := from; id <= to; id++ {
		if err := l.Append(id, true, payload(id)); err != nil {
			t.Fatal(err)
		}
	}
}

// ids reads the log back and checks every payload.
func ids(t testing.TB, l *Log) []int64 {
	t.Helper()
	var out []int64
	err := l.Scan(-1, 1<<40, func(id int64, b []byte) error {
		if !bytes.Equal(b, payload(id)) {
			t.Fatalf("entry %d is %q", id, b)
		}
		out = append(out, id)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func upTo(n int64) (out []int64) {
	for i := range n + 1 {
		out = append(out, i)
	}
	return out
}

func both(t *testing.T, fn func(t *testing.T, preallocate int64)) {
	t.Run("append", func(t *testing.T) { fn(t, 0) })
	t.Run("preallocate", func(t *testing.T) { fn(t, 4096) })
}

// TestTornTail cuts the last record at every byte, leaving the end of the file or zeros behind.
func TestTornTail(t *testing.T) {
	both(t, func(t *testing.T, pre int64) {
		for _, zeros := range []int{0, 1, 100, 5000} {
			m := vfs.NewStrictMem()
			o := newOptions(t, m)
			o.Preallocate = pre
			l := mustOpen(t, o)
			if err := l.Begin(1, -1); err != nil {
				t.Fatal(err)
			}
			fill(t, l, 0, 3)
			start := l.pos
			fill(t, l, 4, 4)
			end := l.pos
			name := m.Walk("/log")[0]
			for cut := start; cut < end; cut++ {
				c := m.Clone()
				_ = c.Corrupt(name, func(b []byte) []byte { return append(b[:cut:cut], make([]byte, zeros)...) })
				o := o
				o.FS = c
				l := mustOpen(t, o)
				if got := ids(t, l); fmt.Sprint(got) != fmt.Sprint(upTo(3)) {
					t.Fatalf("cut at %d of %d..%d with %d zeros: %v", cut, start, end, zeros, got)
				}
				if err := l.Begin(2, l.Last()); err != nil {
					t.Fatal(err)
				}
				fill(t, l, 4, 6)
				if got := ids(t, mustOpen(t, o)); fmt.Sprint(got) != fmt.Sprint(upTo(6)) {
					t.Fatalf("after cut at %d: %v", cut, got)
				}
			}
		}
	})
}

// TestBitFlips flips every bit of a log: what is read is the same, or an error names the file.
func TestBitFlips(t *testing.T) {
	both(t, func(t *testing.T, pre int64) {
		m := vfs.NewStrictMem()
		o := newOptions(t, m)
		o.Preallocate = pre
		l := mustOpen(t, o)
		if err := l.Begin(1, -1); err != nil {
			t.Fatal(err)
		}
		fill(t, l, 0, 4)
		name := m.Walk("/log")[0]
		content, err := vfs.ReadFile(m, name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range content {
			for bit := range 8 {
				if i > int(l.pos)+64 && bit > 0 {
					continue
				}
				_ = m.Corrupt(name, func([]byte) []byte {
					b := bytes.Clone(content)
					b[i] ^= 1 << bit
					return b
				})
				l, err := Open(o)
				if err == nil {
					var got []int64
					err = l.Scan(-1, 1<<40, func(id int64, b []byte) error {
						if !bytes.Equal(b, payload(id)) {
							t.Fatalf("flip %d.%d: entry %d is %q", i, bit, id, b)
						}
						got = append(got, id)
						return nil
					})
					if err == nil && len(got) != 5 {
						t.Fatalf("flip %d.%d: only %v", i, bit, got)
					}
				}
				if err != nil && !strings.Contains(err.Error(), name) {
					t.Fatalf("flip %d.%d: error without the file: %v", i, bit, err)
				}
			}
		}
	})
}

// TestUnwrittenSector is a record over several sectors of which one was never written.
func TestUnwrittenSector(t *testing.T) {
	m := vfs.NewStrictMem()
	o := newOptions(t, m)
	o.Preallocate = 16384
	l := mustOpen(t, o)
	if err := l.Begin(1, -1); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 0, 1)
	start := l.pos
	if err := l.Append(2, true, bytes.Repeat([]byte("y"), 3000)); err != nil {
		t.Fatal(err)
	}
	end := l.pos
	name := m.Walk("/log")[0]
	for sector := start / 512; sector*512 < end; sector++ {
		c := m.Clone()
		_ = c.Corrupt(name, func(b []byte) []byte {
			clear(b[max(start, sector*512):min(end, sector*512+512)])
			return b
		})
		o := o
		o.FS = c
		if got := ids(t, mustOpen(t, o)); fmt.Sprint(got) != fmt.Sprint(upTo(1)) {
			t.Fatalf("sector %d: %v", sector, got)
		}
	}
	// The same in the middle of a log is damage.
	fill2 := m.Clone()
	_ = fill2.Corrupt(name, func(b []byte) []byte { clear(b[start : start+512]); return b })
	o.FS = fill2
	f, _ := fill2.OpenReadWrite(name)
	l2 := &Log{o: o, f: f, pos: end, ahead: 1 << 20}
	if _, err := l2.write(typeRecord, 3, payload(3)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), name) {
		t.Fatalf("zeroed sector in the middle: %v", err)
	}
}

// TestUnwrittenBeginning is a record of which the first few bytes are at the end of a sector that was not written, and the rest
// in one that was.
func TestUnwrittenBeginning(t *testing.T) {
	for before := int64(1); before < 60; before++ {
		m := vfs.NewStrictMem()
		o := newOptions(t, m)
		l := mustOpen(t, o)
		if err := l.Begin(1, -1); err != nil {
			t.Fatal(err)
		}
		pad := 1024 - before - l.pos - headerSize - trailerSize
		if err := l.Append(0, true, bytes.Repeat([]byte("p"), int(pad))); err != nil {
			t.Fatal(err)
		}
		if err := l.Append(1, false, payload(1)); err != nil {
			t.Fatal(err)
		}
		name := m.Walk("/log")[0]
		_ = m.Corrupt(name, func(b []byte) []byte {
			clear(b[1024-before : 1024])
			return b
		})
		if l = mustOpen(t, o); l.Last() != 0 {
			t.Fatalf("%d bytes before the end of a sector: last is %d", before, l.Last())
		}
		// The same with a whole record behind it is damage.
		f, _ := m.OpenReadWrite(name)
		l2 := &Log{o: o, f: f, pos: 1024 - before + headerSize + int64(len(payload(1))) + trailerSize}
		if _, err := l2.write(typeRecord, 2, payload(2)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Fatalf("an unwritten beginning in the middle: %v", err)
		}
	}
}

// TestCrashAtEverySync runs a log with rolls, restarts and purges on a file system that loses what is not synced, and
// crashes it after every sync: what was acknowledged is there, in order, without gaps.
func TestCrashAtEverySync(t *testing.T) {
	both(t, func(t *testing.T, pre int64) {
		for stop := 1; ; stop++ {
			m := vfs.NewStrictMem()
			o := newOptions(t, m)
			o.Preallocate = pre
			o.SegmentBytes = 600
			count := 0
			acked := int64(-1)
			type crash struct{}
			m.OnSync(func(op, name string) {
				if count++; count == stop {
					panic(crash{})
				}
			})
			crashed := func() (crashed bool) {
				defer func() {
					if r := recover(); r != nil {
						if _, ok := r.(crash); !ok {
							panic(r)
						}
						crashed = true
					}
				}()
				for gen := int64(1); gen <= 3; gen++ {
					l := mustOpen(t, o)
					if err := l.Begin(gen, l.Last()); err != nil {
						t.Fatal(err)
					}
					if err := l.Delete(l.DropEmpty()); err != nil {
						t.Fatal(err)
					}
					for range 12 {
						if err := l.Append(l.Last()+1, true, payload(l.Last()+1)); err != nil {
							t.Fatal(err)
						}
						acked = l.Last()
					}
					if err := l.Delete(l.DropBelow(acked - 5)); err != nil {
						t.Fatal(err)
					}
				}
				return false
			}()
			m.OnSync(nil)
			m.Crash()
			l := mustOpen(t, o)
			if l.Last() < acked || l.Last() > acked+1 {
				t.Fatalf("crash at sync %d: last is %d, acknowledged %d", stop, l.Last(), acked)
			}
			got := ids(t, l)
			for i, id := range got {
				if id != got[0]+int64(i) {
					t.Fatalf("crash at sync %d: %v", stop, got)
				}
			}
			if acked >= 0 && got[0] > max(0, acked-5) {
				t.Fatalf("crash at sync %d: %v, but %d was to be kept", stop, got, acked-5)
			}
			if !crashed {
				break
			}
		}
	})
}

// TestStaleOwner writes with an owner whose successor has begun: nobody sees it.
func TestStaleOwner(t *testing.T) {
	m := vfs.NewStrictMem()
	o := newOptions(t, m)
	stale := mustOpen(t, o)
	if err := stale.Begin(1, -1); err != nil {
		t.Fatal(err)
	}
	fill(t, stale, 0, 2)
	l := mustOpen(t, o)
	if err := l.Begin(2, l.Last()); err != nil {
		t.Fatal(err)
	}
	if err := stale.Append(3, true, []byte("stale")); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 3, 3)
	if err := stale.Append(4, true, []byte("stale")); err != nil {
		t.Fatal(err)
	}
	if got := ids(t, mustOpen(t, o)); fmt.Sprint(got) != "[0 1 2 3]" {
		t.Fatal(got)
	}
}

// TestLateOwner is an owner that was suspended right before its first segment, and writes it when its successor has begun,
// gone on, and deleted the segments that nobody needs any more, its own first one included.
func TestLateOwner(t *testing.T) {
	m := vfs.NewStrictMem()
	o := newOptions(t, m)
	o.SegmentBytes = 300
	l := mustOpen(t, o)
	if err := l.Begin(1, -1); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 0, 2)
	late := mustOpen(t, o)
	l = mustOpen(t, o)
	if err := l.Begin(3, l.Last()); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 3, 20)
	if err := l.Delete(l.DropBelow(15)); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(ids(t, mustOpen(t, o)))
	if err := late.newSegment(2, late.Last(), nil); err != nil { // Begin has come to here before
		t.Fatal(err)
	}
	if err := late.Append(3, true, []byte("late")); err != nil {
		t.Fatal(err)
	}
	l = mustOpen(t, o)
	if got := fmt.Sprint(ids(t, l)); got != want {
		t.Fatalf("%s, expected %s", got, want)
	}
	if l.Visible(2, 3) {
		t.Fatal("what the late owner wrote is visible")
	}
	if err := l.Begin(4, l.Last()); err != nil {
		t.Fatal(err)
	}
	if err := l.Delete(l.DropEmpty()); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 21, 21)
	if got := fmt.Sprint(ids(t, mustOpen(t, o))); got != strings.TrimSuffix(want, "]")+" 21]" {
		t.Fatal(got)
	}
}

func TestRollback(t *testing.T) {
	m := vfs.NewStrictMem()
	o := newOptions(t, m)
	o.SegmentBytes = 300
	l := mustOpen(t, o)
	if err := l.Begin(1, -1); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 0, 9)
	if err := l.Begin(2, 4); err != nil {
		t.Fatal(err)
	}
	if l = mustOpen(t, o); l.Last() != 4 || fmt.Sprint(ids(t, l)) != "[0 1 2 3 4]" {
		t.Fatal(l.Last(), ids(t, l))
	}
	if err := l.Begin(3, 4); err != nil {
		t.Fatal(err)
	}
	if err := l.Delete(l.DropEmpty()); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 5, 7)
	if l = mustOpen(t, o); fmt.Sprint(ids(t, l)) != "[0 1 2 3 4 5 6 7]" {
		t.Fatal(ids(t, l))
	}
	if !l.Visible(1, 4) || l.Visible(1, 5) || !l.Visible(3, 5) {
		t.Fatal("visibility")
	}
}

// TestMerge copies many short segments into one, crashing at every sync: nothing is lost or doubled.
func TestMerge(t *testing.T) {
	type crash struct{}
	for stop := 0; stop < 12; stop++ {
		m := vfs.NewStrictMem()
		_ = m.SyncDir("/")
		o := newOptions(t, m)
		o.SegmentBytes = 400
		next := int64(0)
		for gen := int64(1); gen <= 9; gen++ {
			l := mustOpen(t, o)
			base := l.Last()
			if gen == 4 {
				base -= 2
			}
			if err := l.Begin(gen, base); err != nil {
				t.Fatal(err)
			}
			next = base + 1
			for range 3 {
				fill(t, l, next, next)
				next++
			}
		}
		count := 0
		m.OnSync(func(op, name string) {
			if count++; count == stop {
				panic(crash{})
			}
		})
		l := mustOpen(t, o)
		before := len(l.Segments())
		func() {
			defer func() {
				if r := recover(); r != nil {
					if _, ok := r.(crash); !ok {
						panic(r)
					}
				}
			}()
			visible := func() (out []bool) {
				for gen := range int64(12) {
					for id := range next + 3 {
						out = append(out, l.Visible(gen, id))
					}
				}
				return out
			}
			was := visible()
			merged, err := l.Merge(5, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Delete(merged); err != nil {
				t.Fatal(err)
			}
			if now := visible(); fmt.Sprint(now) != fmt.Sprint(was) {
				t.Fatalf("other things are visible: %v, before %v", now, was)
			}
			if err := l.Begin(l.Generation()+1, l.Last()); err != nil {
				t.Fatal(err)
			}
		}()
		m.OnSync(nil)
		m.Crash()
		l = mustOpen(t, o)
		if got := ids(t, l); fmt.Sprint(got) != fmt.Sprint(upTo(next-1)) {
			t.Fatalf("crash at sync %d: %v", stop, got)
		}
		if stop == 0 && len(l.Segments()) > before-4 {
			t.Fatalf("%d segments, %d before", len(l.Segments()), before)
		}
		if err := l.Begin(l.Generation()+1, l.Last()); err != nil {
			t.Fatal(err)
		}
		fill(t, l, next, next+3)
		if got := ids(t, mustOpen(t, o)); fmt.Sprint(got) != fmt.Sprint(upTo(next+3)) {
			t.Fatalf("after a crash at sync %d: %v", stop, got)
		}
	}
}

// TestMissingSegment deletes each segment but the oldest and the newest: the gap is named.
func TestMissingSegment(t *testing.T) {
	m := vfs.NewStrictMem()
	o := newOptions(t, m)
	o.SegmentBytes = 300
	l := mustOpen(t, o)
	if err := l.Begin(1, -1); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 0, 30)
	names := m.Walk("/log")
	for _, name := range names[1 : len(names)-1] {
		c := m.Clone()
		if err := c.Remove(name); err != nil {
			t.Fatal(err)
		}
		o := o
		o.FS = c
		var damaged *DamagedError
		if _, err := Open(o); !errors.As(err, &damaged) {
			t.Fatalf("without %s: %v", name, err)
		}
	}
	o.Only = l.Segments()
	if err := m.Remove(names[len(names)-1]); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), names[len(names)-1]) {
		t.Fatal(err)
	}
}

// TestUnlisted deletes each segment but the newest: where nothing lists them, a crash may have undone the deletion of those
// before, which do not count then.
func TestUnlisted(t *testing.T) {
	m := vfs.NewStrictMem()
	o := newOptions(t, m)
	o.SegmentBytes = 300
	o.Unlisted = true
	l := mustOpen(t, o)
	if err := l.Begin(1, -1); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 0, 30)
	names := m.Walk("/log")
	for i, name := range names[:len(names)-1] {
		c := m.Clone()
		if err := c.Remove(name); err != nil {
			t.Fatal(err)
		}
		o := o
		o.FS = c
		l := mustOpen(t, o)
		_, first, _ := parseSegmentName(strings.TrimPrefix(names[i+1], "/log/"))
		got := ids(t, l)
		if l.First() != first+1 || got[0] != first+1 || l.Last() != 30 || len(got) != int(30-first) {
			t.Fatalf("without %s: %v, first is %d", name, got, l.First())
		}
		if err := l.Begin(2, 30); err != nil {
			t.Fatal(err)
		}
		fill(t, l, 31, 31)
		if got := ids(t, mustOpen(t, o)); len(got) != int(31-first) {
			t.Fatalf("without %s, after the next owner: %v", name, got)
		}
	}
}

// TestTornHeader is an owner of which nothing but a part of its first segment's header has come to the disk: it is as if it
// had not been there.
func TestTornHeader(t *testing.T) {
	for _, base := range []int64{-1, 1, 3} {
		m := vfs.NewStrictMem()
		o := newOptions(t, m)
		o.Unlisted = true
		l := mustOpen(t, o)
		if err := l.Begin(1, -1); err != nil {
			t.Fatal(err)
		}
		fill(t, l, 0, 3)
		l = mustOpen(t, o)
		if err := l.Begin(2, base); err != nil {
			t.Fatal(err)
		}
		_ = m.Corrupt(m.Walk("/log")[1], func(b []byte) []byte { return b[:50] })
		l = mustOpen(t, o)
		if got := ids(t, l); fmt.Sprint(got) != "[0 1 2 3]" || l.First() != 0 || l.Last() != 3 || !l.Visible(1, 3) {
			t.Fatalf("base %d: %v, %d to %d", base, got, l.First(), l.Last())
		}
		if err := l.Begin(3, 3); err != nil {
			t.Fatal(err)
		}
		if err := l.Delete(l.DropEmpty()); err != nil {
			t.Fatal(err)
		}
		fill(t, l, 4, 4)
		if got := ids(t, mustOpen(t, o)); fmt.Sprint(got) != "[0 1 2 3 4]" {
			t.Fatalf("base %d: %v", base, got)
		}
	}
}

// TestFailedSync is an fsync that fails once: the log refuses everything after it, and a restart goes on.
func TestFailedSync(t *testing.T) {
	m := vfs.NewStrictMem()
	inj := vfs.NewInjector(vfs.Fault{Op: vfs.OpSync, Nth: 4, Err: syscall.EIO})
	o := newOptions(t, vfs.NewFaulty(m, inj))
	l := mustOpen(t, o)
	if err := l.Begin(1, -1); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 0, 1)
	if err := l.Append(2, true, payload(2)); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if err := l.Append(2, true, payload(2)); !errors.Is(err, ErrBroken) || !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	m.Crash()
	if got := ids(t, mustOpen(t, o)); fmt.Sprint(got) != "[0 1]" {
		t.Fatal(got)
	}
}

// TestDiskFull fills the disk at every write; with space again the log goes on.
func TestDiskFull(t *testing.T) {
	for nth := 1; nth < 30; nth++ {
		m := vfs.NewStrictMem()
		f := vfs.DiskFull(nth)
		f.Torn = rand.New(rand.NewPCG(uint64(nth), 0)).IntN(60)
		o := newOptions(t, m)
		o.SegmentBytes = 500
		o.FS = vfs.NewFaulty(m, vfs.NewInjector(f))
		acked := int64(-1)
		l := mustOpen(t, o)
		err := l.Begin(1, -1)
		for id := int64(0); err == nil && id < 40; id++ {
			if err = l.Append(id, true, payload(id)); err == nil {
				acked = id
			}
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("write %d: %v", nth, err)
		}
		o.FS = m
		l = mustOpen(t, o)
		if l.Last() != acked {
			t.Fatalf("write %d: last %d, acknowledged %d", nth, l.Last(), acked)
		}
		if err := l.Begin(2, l.Last()); err != nil {
			t.Fatal(err)
		}
		fill(t, l, acked+1, acked+3)
	}
}
