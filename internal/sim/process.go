package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/internal/objectfs"
)

// process is one start of the query, up to its end or its death.
type process struct {
	w          *world
	id         int
	dead       bool
	locks      []io.Closer
	fault      *fault // what it is to suffer; nil for nothing
	second     bool   // it was started beside another one
	ops        int    // operations so far that a fault may strike
	jumps      int    // how often the clock may jump
	full       bool   // the disk is full
	failedSync string // the file whose fsync has failed; its last one is not tried again
	struck     bool   // something has happened for which the query may fail
}

// fault is a fault that a process is to suffer.
type fault struct {
	kind   kind
	at     int  // the number of the operation at which it strikes, among those of its kind
	before bool // strikes before the operation has had its effect, otherwise after
}

// matches says whether a fault strikes at operations of a kind.
func (f *fault) matches(op operation) bool {
	switch f.kind {
	case crashLost, crashPartly, crashKill, ownerRefused, ownerTaken, ownerPartly:
		return op.changes()
	case diskFull:
		return op == opWrite || op == opCreate
	case syncError:
		return op == opSync || op == opSyncDir
	case readError:
		return op == opRead
	case storeBusy, storeSilent, storeDown:
		return op == opPut || op == opDelete || op == opGet || op == opIndex
	case storeLate:
		return op == opPut || op == opDelete
	case renameError:
		return op == opRename
	case removeError:
		return op == opRemove
	case createError:
		return op == opCreate
	}
	return false
}

// strike counts an operation and returns the fault that strikes it.
func (p *process) strike(op operation) *fault {
	f := p.fault
	if f == nil || !f.matches(op) {
		return nil
	}
	p.ops++
	if p.ops == f.at || f.kind == diskFull && p.ops > f.at {
		return f
	}
	if (f.kind == storeDown || f.kind == storeLate) && p.ops > f.at {
		return &fault{kind: storeDown, at: f.at, before: true}
	}
	return nil
}

// tear says how many bytes of a write of n bytes are written, if it is the one to be torn; otherwise -1.
func (p *process) tear(n int) int {
	if p.fault == nil || p.fault.kind != writeTorn || p.dead {
		return -1
	}
	if p.ops++; p.ops != p.fault.at {
		return -1
	}
	p.hit(writeTorn)
	return p.w.chance.IntN(n + 1)
}

// hit counts a fault that the query may fail of.
func (p *process) hit(k kind) {
	p.struck = p.struck || !k.harmless()
	p.w.hit(k)
}

// suffer does what a fault does. An error is the result of the operation.
func (p *process) suffer(f *fault, op operation, name string) error {
	switch f.kind {
	case crashLost, crashPartly, crashKill:
		p.hit(f.kind)
		p.die(f.kind)
		return errDead
	case diskFull:
		if !p.full {
			p.full = true
			p.hit(diskFull)
		}
		return pathError(string(op), name, syscall.ENOSPC)
	case storeBusy, storeSilent, storeDown, storeLate:
		if !p.full {
			p.full = f.kind == storeDown || f.kind == storeLate
			p.hit(f.kind)
		}
		return &objectfs.TransientError{Err: errStore}
	case syncError:
		p.hit(syncError)
		p.failedSync = name
		return pathError("sync", name, syscall.EIO)
	case ownerRefused, ownerTaken, ownerPartly:
		if takesBack(op, name) { // the one moment of which the promises say that it is not covered
			f.at++
			return nil
		}
		p.meet(f.kind)
		return nil
	default:
		p.hit(f.kind)
		return pathError(string(op), name, syscall.EIO)
	}
}

// takesBack says whether an operation is one with which a start takes back what was published and not committed: a file of
// the output, or lines of its manifest.
func takesBack(op operation, name string) bool {
	return strings.HasPrefix(name, "/out/") && (op == opRemove || op == opRename && strings.HasSuffix(name, ".jsonl"))
}

// die ends the process at once.
func (p *process) die(k kind) {
	p.dead = true
	p.w.trace.add("die", string(k), int64(p.id), 0)
	switch k {
	case crashLost:
		p.w.mem.Crash()
	case crashPartly:
		p.w.mem.CrashKeeping(p.w.chance.IntN)
	default:
		for _, l := range p.locks {
			_ = l.Close() // as the operating system does; nothing can go wrong in memory
		}
	}
}

// meet suspends the process while another one is started on the same checkpoint.
func (p *process) meet(k kind) {
	w := p.w
	if k != ownerRefused {
		w.mem.Unlock()
		p.struck = true
	}
	other := w.newProcess()
	other.second = true
	if k == ownerPartly {
		other.fault = &fault{kind: crashKill, at: 1 + w.chance.IntN(60), before: w.chance.IntN(2) == 0}
	}
	w.trace.add("meet", string(k), int64(other.id), 0)
	err := other.live()
	w.running = p
	var locked *checkpoint.LockedError
	switch {
	case k == ownerRefused && len(p.locks) == 0: // it came before the first had the lock
		p.struck = true
		w.hit(ownerTaken)
	case k == ownerRefused:
		w.hit(k)
		if !errors.As(err, &locked) {
			w.fail("a second process was not refused, but ended with: %v", err)
		}
	default:
		w.hit(k)
		if err != nil && !other.struck {
			w.fail("the process that took over: %v", err)
		}
	}
}

// live starts the query and waits for its end.
func (p *process) live() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			p.w.fail("%v", err)
		}
	}()
	w := p.w
	w.running = p
	defer func() { w.running = nil }()
	q, err := stream.Start(context.Background(), w.spec(p))
	if err == nil {
		err = q.AwaitTermination(context.Background())
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	w.trace.add("end", text, int64(p.id), 0)
	if p.dead {
		return errDead
	}
	for _, l := range p.locks {
		_ = l.Close()
	}
	if p.failedSync != "" && err == nil {
		w.fail("an fsync of %q failed and the query went on", p.failedSync)
	}
	return err
}
