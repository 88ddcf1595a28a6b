package connect_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wstream/wstream/connect"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/host"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/pipeline"
)

// bench runs pipelines of a folder, as the command does, but with crash points that return errors.
type bench struct {
	t    *testing.T
	dir  string
	out  lockedBuffer
	mu   sync.Mutex
	warn []string
	env  *pipeline.Environment
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func newBench(t *testing.T) *bench {
	t.Helper()
	h, err := host.New(t.Context(), host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close(context.Background()) })
	b := &bench{t: t, dir: t.TempDir()}
	b.env = &pipeline.Environment{
		Connectors: connect.All(), Registry: expr.NewRegistry(expr.Builtins()), Host: h, Out: &b.out,
		ModuleDirs: []string{"../testdata/guests", "../testdata/guests/groups"},
		Warn: func(text string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.warn = append(b.warn, text)
		},
	}
	return b
}

// write makes a file of the folder.
func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// stamp gives a file a modification time, n seconds behind a fixed moment.
func (b *bench) stamp(name string, n int) {
	b.t.Helper()
	at := time.Unix(1_800_000_000+int64(n), 0)
	if err := os.Chtimes(filepath.Join(b.dir, name), at, at); err != nil {
		b.t.Fatal(err)
	}
}

// open reads a pipeline.
func (b *bench) open(text string) (*pipeline.Runtime, error) {
	f, err := pipeline.Parse(filepath.Join(b.dir, "p.yaml"), b.dir, []byte(text))
	if err != nil {
		return nil, err
	}
	return b.env.Open(b.t.Context(), f, nil)
}

// run runs the query of a sink until it ends; fail is a list of crash points, as --fail-at takes it.
func (b *bench) run(text, sink, fail string) (stream.Progress, error) {
	b.t.Helper()
	points, err := failpoint.Parse(fail)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := b.open(text)
	if err != nil {
		return stream.Progress{}, err
	}
	spec, err := r.Spec(r.File.Sink(sink), pipeline.RunOptions{Failpoints: points})
	if err != nil {
		return stream.Progress{}, err
	}
	spec.Listeners = append(spec.Listeners, stream.Listener{Warning: func(w stream.WarningEvent) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.warn = append(b.warn, fmt.Sprint(w))
	}})
	q, err := stream.Start(b.t.Context(), spec)
	if err != nil {
		return stream.Progress{}, err
	}
	err = q.AwaitTermination(b.t.Context())
	p, _ := q.LastProgress()
	if e := q.Exception(); err == nil {
		err = e
	}
	return p, err
}

// mustRun is run for a query that must succeed.
func (b *bench) mustRun(text, sink string) stream.Progress {
	b.t.Helper()
	p, err := b.run(text, sink, "")
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// warned tells whether a warning has the text.
func (b *bench) warned(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.warn {
		if strings.Contains(w, text) {
			return true
		}
	}
	return false
}

// reset removes the checkpoint and a table.
func (b *bench) reset(t *testing.T, d *database, table string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(b.dir, "checkpoint")); err != nil {
		t.Fatal(err)
	}
	d.exec(t, "DROP TABLE IF EXISTS "+table)
}

// sorted puts lines in order.
func sorted(text string) string {
	lines := strings.SplitAfter(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}
