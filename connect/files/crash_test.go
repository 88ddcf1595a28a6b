package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/vfs"
)

// durableLog is a sink's log that no crash touches.
type durableLog map[int64]json.RawMessage

func (l durableLog) Put(batch int64, v json.RawMessage) error { l[batch] = v; return nil }

func (l durableLog) Each(f func(int64, json.RawMessage) error) error {
	var ids []int64
	for b := range l {
		ids = append(ids, b)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	for _, b := range ids {
		if err := f(b, l[b]); err != nil {
			return err
		}
	}
	return nil
}

func (l durableLog) Compact(int64, json.RawMessage) error { return nil }

// job writes three batches of rows into two folders.
type job struct {
	t         *testing.T
	mem       *vfs.Mem
	fs        vfs.FS
	log       durableLog
	committed int64
}

func newJob(t *testing.T) *job {
	m := vfs.NewStrictMem()
	if err := vfs.MkdirAllSync(m, "/data"); err != nil {
		t.Fatal(err)
	}
	return &job{t: t, mem: m, fs: m, log: durableLog{}, committed: -1}
}

const jobBatches = 3

// run goes on from the last commit until all batches are written, as a start of the query does.
func (j *job) run() error {
	ctx := context.Background()
	env := connector.Env{Name: "out", QueryID: "0123456789abcdef", BaseDir: "/data", FS: j.fs, Log: j.log}
	s, err := newSink(jsonFormat(), env, connector.NewOptions(map[string]string{"path": "out", "partitionBy": "k"}))
	if err != nil {
		return err
	}
	if err := s.(connector.Recoverer).Recover(ctx, j.committed); err != nil {
		return err
	}
	schema := columnar.NewSchema(columnar.Field{Name: "k", Type: columnar.Int64, Nullable: true}, columnar.Field{Name: "n", Type: columnar.Int64, Nullable: true})
	for batch := j.committed + 1; batch < jobBatches; batch++ {
		w, err := s.Begin(ctx, connector.BatchInfo{QueryID: env.QueryID, BatchID: batch, Schema: schema})
		if err != nil {
			return err
		}
		keys, values := make([]int64, 10), make([]int64, 10)
		for i := range values {
			keys[i], values[i] = int64(i%2), batch*100+int64(i)
		}
		rows := columnar.NewBatch(schema, []*columnar.Column{columnar.NewFixed(columnar.Int64, keys, nil), columnar.NewFixed(columnar.Int64, values, nil)}, 10)
		if err := w.Write(ctx, rows); err != nil {
			return errors.Join(err, w.Abort(ctx))
		}
		if err := w.Commit(ctx); err != nil {
			return err
		}
		j.committed = batch
	}
	return nil
}

// content is the files that readers see, by the manifest and by a plain listing, with their text.
func (j *job) content() string {
	j.t.Helper()
	var out strings.Builder
	for _, plain := range []bool{false, true} {
		l := &lister{fs: j.mem, pattern: "/data/out"}
		files, err := l.list()
		if plain {
			files, err = l.folder(nil, l.pattern)
		}
		if err != nil {
			j.t.Fatal(err)
		}
		sort.Slice(files, func(a, b int) bool { return files[a].Path < files[b].Path })
		for _, f := range files {
			text, err := vfs.ReadFile(j.mem, f.Path)
			if err != nil {
				j.t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s %s\n", f.Path, text)
		}
	}
	for _, name := range j.mem.Walk("/data") {
		if strings.Contains(name, "staging") {
			fmt.Fprintf(&out, "left behind: %s\n", filepath.Base(name))
		}
	}
	return out.String()
}

type powerLoss struct{}

// TestPowerLoss loses the power after each sync, with all that was not synced.
func TestPowerLoss(t *testing.T) {
	straight := newJob(t)
	if err := straight.run(); err != nil {
		t.Fatal(err)
	}
	want := straight.content()
	if strings.Count(want, "{") != 2*10*jobBatches {
		t.Fatalf("without a crash:\n%s", want)
	}
	for k := 1; ; k++ {
		j := newJob(t)
		n, lost := 0, false
		j.mem.OnSync(func(string, string) {
			if n++; n == k {
				panic(powerLoss{})
			}
		})
		err := func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					if _, ok := p.(powerLoss); !ok {
						panic(p)
					}
					lost = true
				}
			}()
			return j.run()
		}()
		if err != nil {
			t.Fatal(err)
		}
		if !lost {
			t.Logf("%d syncs", k-1)
			return
		}
		j.mem.Crash()
		j.mem.OnSync(nil)
		if err := j.run(); err != nil {
			t.Fatalf("after sync %d: %v", k, err)
		}
		if got := j.content(); got != want {
			t.Fatalf("after sync %d: got\n%s\nwant\n%s", k, got, want)
		}
	}
}

// TestDiskFull fills the disk at each write, then makes room and starts again.
func TestDiskFull(t *testing.T) {
	straight := newJob(t)
	if err := straight.run(); err != nil {
		t.Fatal(err)
	}
	want := straight.content()
	for k := 1; ; k++ {
		j := newJob(t)
		in := vfs.NewInjector(vfs.DiskFull(k))
		j.fs = vfs.NewFaulty(j.mem, in)
		err := j.run()
		if in.Fired() == 0 {
			if k < jobBatches*3 {
				t.Fatalf("only %d writes", k-1)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), "make room on the disk") {
			t.Fatalf("write %d: %v", k, err)
		}
		j.fs = j.mem
		if err := j.run(); err != nil {
			t.Fatalf("after write %d: %v", k, err)
		}
		if got := j.content(); got != want {
			t.Fatalf("after write %d: got\n%s\nwant\n%s", k, got, want)
		}
	}
}

// TestRecoverOfAFormerOwner: a start that was stopped before its recovery, or in the middle of it, takes nothing back when
// another process has written and committed batches since.
func TestRecoverOfAFormerOwner(t *testing.T) {
	for after := range 6 { // questions that are still answered by yes
		j := newJob(t)
		if err := j.run(); err != nil {
			t.Fatal(err)
		}
		want := j.files()
		errTaken, asked := errors.New("taken over"), 0
		env := connector.Env{Name: "out", QueryID: "0123456789abcdef", BaseDir: "/data", FS: j.fs, Log: j.log, CheckOwner: func() error {
			if asked++; asked > after {
				return errTaken
			}
			return nil
		}}
		s, err := newSink(jsonFormat(), env, connector.NewOptions(map[string]string{"path": "out", "partitionBy": "k"}))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.(connector.Recoverer).Recover(t.Context(), 0); !errors.Is(err, errTaken) {
			t.Fatalf("after %d questions: %v", after, err)
		}
		if got, most := len(want)-len(j.files()), max(after-2, 0); got > most { // one for the staging, one for the manifest, then one for each file
			t.Errorf("after %d questions %d files are gone, at most %d may be", after, got, most)
		}
	}
}

// files are the files of rows that have been published.
func (j *job) files() []string {
	var out []string
	for _, k := range []string{"k=0", "k=1"} {
		entries, err := j.fs.List(filepath.Join("/data/out", k))
		if err != nil {
			j.t.Fatal(err)
		}
		for _, e := range entries {
			out = append(out, k+"/"+e.Name())
		}
	}
	return out
}
