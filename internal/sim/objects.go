package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/internal/objectfs"
	"github.com/wstream/wstream/internal/vfs"
)

// errStore is what an object store that does not serve answers.
var errStore = errors.New("503")

// objectDir is where the checkpoint is in an object store.
const objectDir = "s3://bucket/checkpoint"

// checkpoint returns where the checkpoint lies, as nobody's process sees it.
func (w *world) checkpoint() (vfs.FS, string) {
	if !w.scenario.objects {
		return w.mem, checkpointDir
	}
	return objectfs.New(func(string) (objectfs.Store, error) { return w.store, nil }, w.objectOptions()), objectDir
}

// objectOptions let no time pass, and nothing happen at the same time.
func (w *world) objectOptions() objectfs.Options {
	return objectfs.Options{Lease: -1, Readers: 1, Sleep: func(time.Duration) {}, Now: func() time.Time { return w.clock.now }}
}

// checkpoint returns where the checkpoint lies, as a process sees it.
func (p *process) checkpoint() (vfs.FS, string) {
	if !p.w.scenario.objects {
		return disk{p}, checkpointDir
	}
	fsys := objectfs.New(func(string) (objectfs.Store, error) { return bucket{p}, nil }, p.w.objectOptions())
	return objects{fsys, p}, objectDir
}

func (p *process) owner() checkpoint.Owner {
	return checkpoint.Owner{RunID: fmt.Sprintf("run-%d", p.id), PID: p.id, Host: "sim"}
}

// objects is the file system over the store. Its locks are those of the disk, which die with their process.
type objects struct {
	*objectfs.FS
	p *process
}

// Lock implements vfs.FS.
func (o objects) Lock(string) (io.Closer, error) {
	if err := o.p.w.mem.MkdirAll("/locks"); err != nil {
		return nil, err
	}
	return disk{o.p}.Lock("/locks/checkpoint")
}

// bucket is the store as one process sees it. Every request goes into the trace and may meet a fault.
type bucket struct{ p *process }

// Get implements objectfs.Store.
func (b bucket) Get(ctx context.Context, key string) (data []byte, etag string, err error) {
	data, err = do(b.p, opGet, key, nil, func() ([]byte, error) {
		var err error
		data, etag, err = b.p.w.store.Get(ctx, key)
		return data, err
	})
	return data, etag, err
}

// Put implements objectfs.Store.
func (b bucket) Put(ctx context.Context, key string, data []byte, cond objectfs.Condition) (string, error) {
	return do(b.p, opPut, key, data, func() (string, error) { return b.p.w.store.Put(ctx, key, data, cond) })
}

// Delete implements objectfs.Store.
func (b bucket) Delete(ctx context.Context, key string) error {
	return b.p.run(opDelete, key, func() error { return b.p.w.store.Delete(ctx, key) })
}

// List implements objectfs.Store.
func (b bucket) List(ctx context.Context, prefix string, flat bool) ([]objectfs.Object, error) {
	return do(b.p, opIndex, prefix, nil, func() ([]objectfs.Object, error) { return b.p.w.store.List(ctx, prefix, flat) })
}

// lastCommitted is the last batch that is committed, -1 if there is none or the checkpoint does not open.
func (w *world) lastCommitted() int64 {
	fsys, dir := w.checkpoint()
	c, err := checkpoint.Open(fsys, dir, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return -1
	}
	defer c.Close()
	return c.LastCommitID()
}

// rollBack makes an earlier batch of those that are kept the last one, until it has gone well. What comes after it runs
// again, with the same rows, since the input is the same.
func (w *world) rollBack() bool {
	fsys, dir := w.checkpoint()
	c, err := checkpoint.Open(fsys, dir, checkpoint.Options{ReadOnly: true})
	if err != nil {
		w.fail("checkpoint: %v", err)
		return false
	}
	last := c.LastCommitID()
	from := max(last-int64(w.scenario.keep)+1, c.Oldest(), w.phaseFrom)
	_ = c.Close()
	if from >= last {
		return true
	}
	to := from + int64(w.chance.IntN(int(last-from)))
	for {
		if w.starts++; w.starts > maxStarts {
			w.fail("the rollback has not come to its end after %d starts", maxStarts)
			return false
		}
		p := w.newProcess()
		p.fault = w.nextFault()
		err := p.rollBack(to)
		if p.failedSync != "" && w.chance.IntN(2) == 0 {
			w.mem.CrashKeeping(w.chance.IntN)
		}
		if err == nil {
			w.hit(rolledBack)
			return len(w.failures) == 0
		}
		if !p.struck {
			w.fail("the rollback to batch %d failed, and no fault had struck: %v", to, err)
			return false
		}
	}
}

// rollBack is the life of a process that rolls back.
func (p *process) rollBack(to int64) (err error) {
	w := p.w
	w.running = p
	defer func() { w.running = nil }()
	fsys, dir := p.checkpoint()
	o := checkpoint.Options{RunID: p.owner().RunID, Process: p.owner(), Now: w.clock.Now, SegmentBytes: w.scenario.segment}
	c, err := checkpoint.Open(fsys, dir, o)
	if err == nil {
		if c.LastCommitID() > to {
			err = c.Rollback(to)
		}
		if e := c.Close(); err == nil {
			err = e
		}
	}
	w.trace.add("rollback", fmt.Sprint(err), to, 0)
	if p.dead {
		return errDead
	}
	for _, l := range p.locks {
		_ = l.Close()
	}
	return err
}
