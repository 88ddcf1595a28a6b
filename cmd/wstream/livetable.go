package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wstream/wstream/engine/stream"
)

// liveTable shows the progress of all queries: on a terminal a table that is drawn anew, elsewhere a line
// per query every few seconds. With -q and --json it shows nothing.
type liveTable struct {
	p     *program
	mu    sync.Mutex
	rows  map[string]*liveRow
	order []string
	drawn int // lines on the terminal that belong to the table
	last  time.Time
	tty   bool
	off   bool
	shown bool // nothing has changed since it was drawn
}

type liveRow struct {
	last             stream.Progress
	batches, in, out int64
	late, corrupt    int64
	since            time.Time
}

func newLiveTable(p *program) *liveTable {
	return &liveTable{p: p, rows: map[string]*liveRow{}, tty: terminal(p.err) && terminal(p.out), off: p.quiet || p.json}
}

// progress takes a batch of a query.
func (t *liveTable) progress(name string, pr stream.Progress) {
	if t.off {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown = false
	r := t.row(name)
	r.last = pr
	r.batches++
	r.in += pr.NumInputRows
	r.out += max(pr.Sink.NumOutputRows, 0)
	r.late += pr.LateRows()
	for _, s := range pr.Sources {
		r.corrupt += s.NumCorruptRecords
	}
	every := 5 * time.Second
	if t.tty {
		every = 200 * time.Millisecond
	}
	if time.Since(t.last) >= every {
		t.draw()
	}
}

// start notes when a query began, which its rows per second count from.
func (t *liveTable) start(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.row(name)
}

// row is a query's line; the caller holds mu.
func (t *liveTable) row(name string) *liveRow {
	r := t.rows[name]
	if r == nil {
		r = &liveRow{since: time.Now()}
		t.rows[name] = r
		t.order = append(t.order, name)
	}
	return r
}

// draw prints the table; the caller holds mu.
func (t *liveTable) draw() {
	t.last, t.shown = time.Now(), true
	var b strings.Builder
	if t.tty && t.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", t.drawn)
	}
	lines := 0
	if t.tty {
		fmt.Fprintf(&b, "%-20s %8s %12s %12s %12s %10s %8s  %s\n", "query", "batch", "rows in", "rows out", "rows/s", "state", "late", "watermark")
		lines++
	}
	for _, n := range t.order {
		r := t.rows[n]
		rate := float64(r.in) / max(time.Since(r.since).Seconds(), 0.001)
		mark := r.last.EventTime["watermark"]
		if t.tty {
			fmt.Fprintf(&b, "%-20s %8d %12d %12d %12.0f %10d %8d  %s\n", n, r.last.BatchID, r.in, r.out, rate, r.last.StateRows(), r.late, mark)
		} else if r.batches == 0 {
			fmt.Fprintf(&b, "query %q: no batches\n", n)
		} else {
			fmt.Fprintf(&b, "query %q: %s, the last is %d: %s in, %d out, %.0f rows/s, %d in state, %d late", n, count(int(r.batches), "batch"), r.last.BatchID, count(int(r.in), "row"), r.out, rate, r.last.StateRows(), r.late)
			if r.corrupt > 0 {
				fmt.Fprintf(&b, ", %d corrupt", r.corrupt)
			}
			if mark != "" {
				fmt.Fprintf(&b, ", watermark %s", mark)
			}
			b.WriteByte('\n')
		}
		lines++
	}
	t.p.mu.Lock()
	fmt.Fprint(t.p.err, b.String())
	t.p.mu.Unlock()
	t.drawn = lines
}

// close draws the last state, if that has not been shown yet.
func (t *liveTable) close() {
	if t == nil || t.off {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) > 0 && !t.shown {
		t.draw()
	}
}
