package delta

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/vfs"
)

// lyingFS reports a failure of the next link that has happened.
type lyingFS struct {
	vfs.FS
	lie bool
}

func (l *lyingFS) Link(from, to string) error {
	err := l.FS.(vfs.Linker).Link(from, to)
	if err == nil && l.lie {
		l.lie = false
		return errors.New("the answer was lost")
	}
	return err
}

// Rename is what the name is claimed by after the lie; it must not be reached, since the name is there.
func (l *lyingFS) Rename(from, to string) error { return l.FS.Rename(from, to) }

func write(t *testing.T, s connector.Sink, batch int64, values ...int64) error {
	t.Helper()
	schema := columnar.NewSchema(columnar.Field{Name: "n", Type: columnar.Int64, Nullable: true})
	w, err := s.Begin(context.Background(), connector.BatchInfo{QueryID: "query", BatchID: batch, Schema: schema, Mode: connector.Append})
	if err != nil {
		return err
	}
	b := columnar.NewBatch(schema, []*columnar.Column{columnar.NewFixed(columnar.Int64, values, nil)}, len(values))
	if err := w.Write(context.Background(), b); err != nil {
		return err
	}
	return w.Commit(context.Background())
}

func count(t *testing.T, dir string) (files int, rows int64) {
	t.Helper()
	tab, err := openTable(vfs.OS(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tab.sorted() {
		var stats struct{ NumRecords int64 }
		if err := json.Unmarshal([]byte(f.Stats), &stats); err != nil {
			t.Fatal(err)
		}
		files++
		rows += stats.NumRecords
		name, err := place(dir, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		if st, err := vfs.OS().Stat(name); err != nil || st.Size() != f.Size {
			t.Errorf("file %q: %v", name, err)
		}
	}
	return files, rows
}

func sinkAt(t *testing.T, fsys vfs.FS, dir string) connector.Sink {
	t.Helper()
	s, err := newSink(connector.Env{FS: fsys}, connector.NewOptions(map[string]string{"path": dir}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestReplay ignores batches up to the last one, not that one alone.
func TestReplay(t *testing.T) {
	dir := t.TempDir()
	s := sinkAt(t, vfs.OS(), dir)
	for _, batch := range []int64{4, 5, 4, 5, 3} {
		if err := write(t, s, batch, batch); err != nil {
			t.Fatal(err)
		}
	}
	if files, rows := count(t, dir); files != 2 || rows != 2 {
		t.Errorf("%d files with %d rows, want 2 with 2", files, rows)
	}
}

// TestLostAnswer finds its own batch in the log after a commit that was reported as failed.
func TestLostAnswer(t *testing.T) {
	dir := t.TempDir()
	lying := &lyingFS{FS: vfs.OS()}
	s := sinkAt(t, lying, dir)
	if err := write(t, s, 0, 1); err != nil {
		t.Fatal(err)
	}
	lying.lie = true
	if err := write(t, s, 1, 2, 3); err != nil {
		t.Fatal(err)
	}
	if files, rows := count(t, dir); files != 2 || rows != 3 {
		t.Errorf("%d files with %d rows, want 2 with 3", files, rows)
	}
}

// TestTwoWriters has two queries commit to one table; each finds the other's versions and goes behind them.
func TestTwoWriters(t *testing.T) {
	dir := t.TempDir()
	a, b := sinkAt(t, vfs.OS(), dir), sinkAt(t, vfs.OS(), dir)
	schema := columnar.NewSchema(columnar.Field{Name: "n", Type: columnar.Int64, Nullable: true})
	for batch := range int64(3) {
		// Both begin on the same version.
		var writers []connector.BatchWriter
		for i, s := range []connector.Sink{a, b} {
			w, err := s.Begin(t.Context(), connector.BatchInfo{QueryID: string(rune('a' + i)), BatchID: batch, Schema: schema})
			if err != nil {
				t.Fatal(err)
			}
			rows := columnar.NewBatch(schema, []*columnar.Column{columnar.NewFixed(columnar.Int64, []int64{batch}, nil)}, 1)
			if err := w.Write(t.Context(), rows); err != nil {
				t.Fatal(err)
			}
			writers = append(writers, w)
		}
		for _, w := range writers {
			if err := w.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if files, rows := count(t, dir); files != 6 || rows != 6 {
		t.Errorf("%d files with %d rows, want 6 with 6", files, rows)
	}
}
