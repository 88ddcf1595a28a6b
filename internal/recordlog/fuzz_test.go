package recordlog

import (
	"strings"
	"testing"

	"github.com/wstream/wstream/internal/vfs"
)

// FuzzSegment reads any bytes as a segment: no panic, and an error names the file.
func FuzzSegment(f *testing.F) {
	for _, pre := range []int64{0, 512} {
		m := vfs.NewStrictMem()
		o := newOptions(f, m)
		o.Preallocate = pre
		l := mustOpen(f, o)
		if err := l.Begin(1, -1); err != nil {
			f.Fatal(err)
		}
		fill(f, l, 0, 2)
		b, err := vfs.ReadFile(m, m.Walk("/log")[0])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-20])
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		m := vfs.NewStrictMem()
		o := newOptions(t, m)
		name := "/log/" + segmentName(1, -1)
		w, err := m.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		l, err := Open(o)
		if err == nil {
			err = l.Scan(-1, l.Last(), func(id int64, payload []byte) error { return nil })
		}
		if err != nil {
			if !strings.Contains(err.Error(), name) {
				t.Fatalf("the error does not name the file: %v", err)
			}
			return
		}
		// What was readable can be built upon.
		last := l.Last()
		if err := l.Begin(2, last); err != nil {
			t.Fatal(err)
		}
		if err := l.Append(last+1, true, []byte("next")); err != nil {
			t.Fatal(err)
		}
		if l, err = Open(o); err != nil || l.Last() != last+1 {
			t.Fatal(l, err)
		}
	})
}
