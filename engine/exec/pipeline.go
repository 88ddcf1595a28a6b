package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
)

// pipe is one or, behind a union, several branches whose rows have the same columns.
type pipe struct {
	branches []*branch
	attrs    []*expr.Attr
	static   bool  // no streaming relation is below
	lag      int64 // µs by which the watermark at this place lies behind the query's
}

// branch is a pipeline without its sink.
type branch struct {
	source source
	steps  []step
	serial bool // expressions depend on the position of rows: one worker
}

// source gives the row batches that a pipeline works on.
type source interface {
	// each calls emit for morsels in order. It runs whatever it depends on first. An error of emit
	// is returned as it is.
	each(r *run, emit func(morsel) error) error
	// forget drops what was kept from runs before, if it depends on relation rel (-1: any).
	forget(rel int)
}

// morsel is a piece of a source's rows, numbered in order: rows, or a chunk still to be decoded, or
// a function that makes them.
type morsel struct {
	seq   int64
	part  partition
	rows  *columnar.Batch
	chunk connector.Chunk
	scan  *scan
	build func() (*columnar.Batch, error)
}

// partition is the part of a source that a morsel comes from.
type partition struct {
	index int    // among the partitions of the batch
	id    string // connector.Partition.ID
}

// step is a stateless operator in a pipeline. Steps are shared by all workers and do not change
// while a pipeline runs.
type step interface {
	// push handles rows that reach step i of the worker's chain, and gives its own to w.push(i+1, …).
	push(w *worker, i int, in *columnar.Batch) error
}

// localStep is a step that keeps something for each worker while a branch runs.
type localStep interface {
	step
	newLocal(w *worker) any
	// close merges what a worker has kept into the run; calls do not overlap.
	close(r *run, local any) error
}

// preparedStep is a step that needs something done before the first row of a run.
type preparedStep interface {
	step
	prepare(r *run) error
	forget(rel int)
}

// sink is the end of a pipeline. Either put is set, and is called by all workers at once, or take,
// which gets the items in order, one at a time; prepare makes an item of rows in the worker.
type sink struct {
	put     func(w *worker, rows *columnar.Batch) error
	take    func(item any) error
	prepare func(w *worker, rows *columnar.Batch) (any, error)
}

// errEnough is returned by a sink that needs no more rows.
var errEnough = errors.New("enough rows")

// worker runs morsels of a branch through its steps.
type worker struct {
	id    int
	run   *run
	ctx   context.Context
	expr  expr.Context
	steps []step
	local []any
	part  partition
	seq   int64
	bases []int64 // rows of the partition that step i has seen, for serial branches
	side  *sequencer
	out   func(w *worker, rows *columnar.Batch) error
}

// push gives rows to step i, or to the sink after the last one.
func (w *worker) push(i int, rows *columnar.Batch) error {
	if rows.Rows == 0 {
		return nil
	}
	if i == len(w.steps) {
		return w.out(w, rows)
	}
	return w.steps[i].push(w, i, rows)
}

// context is the context for expressions of step i.
func (w *worker) context(i int) *expr.Context {
	w.expr.RowBase = w.bases[i]
	return &w.expr
}

// advance counts the rows that step i has seen of the partition.
func (w *worker) advance(i, rows int) { w.bases[i] += int64(rows) }

// aside hands on late or refused rows, in the order of the morsels.
func (w *worker) aside(f func() error) error { return w.side.offer(w.seq, f) }

func (w *worker) enter(m *morsel) {
	w.seq = m.seq
	if w.part != m.part || m.seq == 0 {
		w.part = m.part
		w.expr.Partition = m.part.index
		w.expr.Seed = seedOf(w.run.opt.Expr.Seed, w.run.batch.ID, m.part.index)
		clear(w.bases)
	}
}

// drive runs all branches of a pipe into a sink.
func (r *run) drive(p *pipe, s sink) error {
	for _, b := range p.branches {
		for _, st := range b.steps {
			if ps, ok := st.(preparedStep); ok {
				if err := ps.prepare(r); err != nil {
					return err
				}
			}
		}
		err := r.branch(b, s)
		if err == errEnough {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// queueLength is how many morsels may wait for each worker.
const queueLength = 2

// branch runs one branch: this goroutine reads, workers are started as morsels come.
func (r *run) branch(b *branch, s sink) error {
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	workers := r.opt.Workers
	if b.serial {
		workers = 1
	}
	var seq *sequencer
	out := s.put
	side := newSequencer(4*workers, func(item any) error { return r.aside(item.(func() error)) })
	g := &group{fail: func(err error) {
		cancel(err)
		side.fail(err)
		if seq != nil {
			seq.fail(err)
		}
	}}
	if s.take != nil {
		seq = newSequencer(4*workers, s.take)
		out = func(w *worker, rows *columnar.Batch) error {
			item := any(rows)
			if s.prepare != nil {
				var err error
				if item, err = s.prepare(w, rows); err != nil || item == nil {
					return err
				}
			}
			return seq.offer(w.seq, item)
		}
	}
	// A sink that needs no order gets morsels by number modulo workers, see the package's comment;
	// with an order to keep, whoever is free takes the next one.
	queues := make([]chan morsel, workers)
	for i := range queues {
		if seq != nil && i > 0 {
			queues[i] = queues[0]
		} else if seq != nil {
			queues[i] = make(chan morsel, queueLength*workers)
		} else {
			queues[i] = make(chan morsel, queueLength)
		}
	}
	newWorker := func(i int) *worker {
		w := &worker{id: i, run: r, ctx: ctx, expr: *r.exprContext(0), steps: b.steps, out: out, side: side}
		w.local, w.bases = make([]any, len(b.steps)), make([]int64, len(b.steps)+1)
		for k, st := range b.steps {
			if ls, ok := st.(localStep); ok {
				w.local[k] = ls.newLocal(w)
			}
		}
		return w
	}
	if r.opt.Inline {
		return safely(func() error { return r.inline(b, newWorker(0), seq) })
	}
	started, n := 0, int64(0)
	start := func(i int) {
		w := newWorker(i)
		g.run(func() error { return w.loop(queues[i], seq) })
	}
	err := safely(func() error {
		return b.source.each(r, func(m morsel) error {
			m.seq = n
			if started < workers {
				start(started)
				started++
			}
			n++
			select {
			case queues[m.seq%int64(workers)] <- m:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	})
	if err != nil {
		g.note(err)
	}
	for i, q := range queues {
		if i == 0 || seq == nil {
			close(q)
		}
	}
	return g.wait()
}

// inline runs one branch in this goroutine.
func (r *run) inline(b *branch, w *worker, seq *sequencer) error {
	n := int64(0)
	err := b.source.each(r, func(m morsel) error {
		m.seq = n
		n++
		return w.one(&m, seq)
	})
	if err != nil || n == 0 {
		return err
	}
	return w.end()
}

// loop takes morsels until the queue is closed, or an error.
func (w *worker) loop(queue <-chan morsel, seq *sequencer) error {
	for m := range queue {
		if err := w.one(&m, seq); err != nil {
			return err
		}
	}
	return w.end()
}

// one takes a morsel.
func (w *worker) one(m *morsel, seq *sequencer) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	w.enter(m)
	if err := w.morsel(m); err != nil {
		return err
	}
	if seq != nil {
		if err := seq.done(m.seq); err != nil {
			return err
		}
	}
	return w.side.done(m.seq)
}

// end closes what the steps have kept for the worker.
func (w *worker) end() error {
	for i, st := range w.steps {
		if ls, ok := st.(localStep); ok {
			w.run.mu.Lock()
			err := ls.close(w.run, w.local[i])
			w.run.mu.Unlock()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// morsel makes the rows of a morsel and pushes them through the steps in pieces.
func (w *worker) morsel(m *morsel) error {
	rows := m.rows
	var err error
	switch {
	case m.chunk != nil:
		rows, err = m.scan.decode(w, m.chunk)
	case m.build != nil:
		rows, err = m.build()
	}
	if err != nil {
		return err
	}
	size := w.run.opt.BatchRows
	if rows.Rows <= size+size/2 {
		return w.push(0, rows)
	}
	for from := 0; from < rows.Rows; from += size {
		if err := w.ctx.Err(); err != nil {
			return context.Cause(w.ctx)
		}
		if err := w.push(0, rows.Slice(from, min(from+size, rows.Rows))); err != nil {
			return err
		}
	}
	return nil
}

// add appends a step to every branch.
func (p *pipe) add(s step, serial bool) {
	for _, b := range p.branches {
		b.steps = append(b.steps[:len(b.steps):len(b.steps)], s)
		b.serial = b.serial || serial
	}
}

// anyOrder tells the last steps that the sink does not care about the order of rows.
func (p *pipe) anyOrder() {
	for _, b := range p.branches {
		for _, s := range b.steps {
			if t, ok := s.(*timeWindow); ok {
				t.anyOrder = true
			}
		}
	}
}

// forget passes on to everything that may keep something of a relation.
func (p *pipe) forget(rel int) {
	for _, b := range p.branches {
		b.source.forget(rel)
		for _, s := range b.steps {
			if ps, ok := s.(preparedStep); ok {
				ps.forget(rel)
			}
		}
	}
}

func (p *pipe) forgetAll() { p.forget(-1) }

// operatorError adds the operator to an error.
func operatorError(name string, err error) error {
	if err == nil || err == errEnough {
		return err
	}
	return fmt.Errorf("operator %q: %w", name, err)
}
