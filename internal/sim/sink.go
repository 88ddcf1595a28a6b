package main

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/vfs"
)

// errSink is what a sink fails with.
var errSink = errors.New("the sink is out of order")

// table is a sink with transactions: it takes each batch once, whole, and knows what it has got. It outlives processes.
type table struct {
	w       *world
	name    string
	batches map[int64]string
	replays int
}

func newTable(w *world, name string) *table {
	return &table{w: w, name: name, batches: map[int64]string{}}
}

// rows are all rows, sorted.
func (t *table) rows() []string {
	var out []string
	for _, b := range t.batches {
		out = append(out, strings.Split(strings.TrimSuffix(b, "\n"), "\n")...)
	}
	out = slices.DeleteFunc(out, func(s string) bool { return s == "" })
	slices.Sort(out)
	return out
}

// put publishes a batch. One that is there already stays; it must be the same.
func (t *table) put(id int64, text string) {
	t.w.trace.add("publish", t.name, id, crc32.ChecksumIEEE([]byte(text)))
	old, ok := t.batches[id]
	if !ok {
		t.batches[id] = text
		return
	}
	t.replays++
	if old != text {
		t.w.fail("sink %q: batch %d came again as\n%swhat came first was\n%s", t.name, id, text, old)
	}
}

// conn is the sink as one process has it.
type conn struct {
	t *table
	p *process
}

// Description implements connector.Sink.
func (c *conn) Description() string { return "sim[" + c.t.name + "]" }

// Close implements connector.Sink.
func (c *conn) Close() error { return nil }

// fails says whether a fault of the sink strikes now.
func (c *conn) fails(k kind) bool {
	p := c.p
	if p.dead || p.fault == nil || p.fault.kind != k {
		return false
	}
	if p.ops++; p.ops != p.fault.at {
		return false
	}
	p.hit(k)
	return true
}

// Begin implements connector.Sink.
func (c *conn) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	if c.p.dead {
		return nil, errDead
	}
	if c.fails(sinkError) {
		return nil, errSink
	}
	return &tableWriter{c: c, id: info.BatchID}, nil
}

type tableWriter struct {
	c     *conn
	id    int64
	lines []string
}

// Write implements connector.BatchWriter.
func (w *tableWriter) Write(_ context.Context, b *columnar.Batch) error {
	if w.c.p.dead {
		return errDead
	}
	if w.c.fails(sinkError) {
		return errSink
	}
	for i := range b.Rows {
		var line strings.Builder
		for _, c := range b.Columns {
			fmt.Fprintf(&line, "%v|", c.Datum(i))
		}
		w.lines = append(w.lines, line.String())
	}
	return nil
}

// Commit implements connector.BatchWriter.
func (w *tableWriter) Commit(context.Context) error {
	c := w.c
	if c.p.dead {
		return errDead
	}
	if c.fails(sinkError) {
		return errSink
	}
	dies := c.fails(sinkCrash)
	if dies && c.p.fault.before {
		c.p.die(crashKill)
		return errDead
	}
	slices.Sort(w.lines)
	text := ""
	for _, l := range w.lines {
		text += l + "\n"
	}
	c.t.put(w.id, text)
	if dies {
		c.p.die(crashKill)
		return errDead
	}
	if c.fails(sinkLostReply) {
		return errSink
	}
	return nil
}

// Abort implements connector.BatchWriter.
func (w *tableWriter) Abort(context.Context) error { return nil }

// published are the lines of the files that a reader of the folder sees, sorted.
func (w *world) published(dir string) ([]string, error) {
	var out []string
	for _, name := range w.mem.Walk(dir) {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(rel, "_") || strings.HasPrefix(rel, ".") || strings.Contains(rel, "/_") {
			continue
		}
		b, err := vfs.ReadFile(w.mem, name)
		if err != nil {
			return nil, err
		}
		for _, line := range strings.Split(string(b), "\n") {
			if line != "" {
				out = append(out, line)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}
