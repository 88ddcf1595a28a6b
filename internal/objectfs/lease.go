package objectfs

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/wstream/wstream/internal/vfs"
)

// A lock is an object that its holder puts anew at intervals, under the condition that it still is the one that it has put
// last (If-Match). Who wants it looks whether its entity tag stays the same for a whole lease, by its own clock, and then
// replaces it under the same condition; clocks of two machines are never compared. A holder that was away for so long finds
// out at its next put. What it does until then the manifests of the checkpoint fence off: a lease only keeps two processes
// from taking a checkpoint from one another all the time.

// leaseBody is the content of the object.
type leaseBody struct {
	Holder   string `json:"holder"` // an id per lock
	Seq      int64  `json:"seq"`
	LeaseMs  int64  `json:"leaseMs"`
	Machine  string `json:"machine"` // empty where it cannot be told
	PID      int    `json:"pid"`
	Started  string `json:"started"` // what tells the process from a later one with its pid
	Released bool   `json:"released,omitempty"`
}

type lease struct {
	fs    *FS
	store Store
	key   string
	body  leaseBody
	etag  string
	stop  chan struct{}
	done  sync.WaitGroup
	once  sync.Once
	lost  bool
}

// takeLease takes the lock, or returns vfs.ErrLocked.
func (f *FS) takeLease(s Store, key string) (*lease, error) {
	l := &lease{fs: f, store: s, key: key, stop: make(chan struct{})}
	l.body = leaseBody{Holder: uuid.NewString(), LeaseMs: f.o.Lease.Milliseconds(), Machine: machine(), PID: os.Getpid(), Started: started(os.Getpid())}
	err := l.put(Condition{IfAbsent: true})
	if err == nil {
		if err := l.probe(); err != nil {
			return nil, err
		}
	} else if errors.Is(err, ErrPrecondition) {
		err = l.takeOver()
	}
	if err != nil {
		return nil, err
	}
	l.done.Go(l.renew)
	return l, nil
}

// put puts the next body.
func (l *lease) put(cond Condition) error {
	l.body.Seq++
	b, err := json.Marshal(l.body)
	if err != nil {
		return err
	}
	etag, err := l.fs.put(l.store, l.key, append(b, '\n'), cond)
	if err == nil {
		l.etag = etag
	}
	return err
}

// probe finds out whether the store honours conditions: an object that is there cannot be put as a new one.
func (l *lease) probe() error {
	err := l.fs.patient("put", l.key, func(ctx context.Context) error {
		_, err := l.store.Put(ctx, l.key, []byte("probe\n"), Condition{IfAbsent: true})
		return err
	})
	if errors.Is(err, ErrPrecondition) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(
		errors.New("the object store ignores If-None-Match: two processes could own one checkpoint; use one that has conditional writes"),
		l.fs.delete(l.store, l.key),
	)
}

// takeOver takes the lock from a holder that has given it back, is known to be dead, or shows no sign of life.
func (l *lease) takeOver() error {
	body, etag, err := l.look()
	if err != nil {
		return err
	}
	// The holder's own lease counts: it may be longer than ours.
	wait := max(l.fs.o.Lease, time.Duration(body.LeaseMs)*time.Millisecond)
	began := time.Now()
	for !body.Released && !dead(body) && time.Since(began) < wait {
		l.fs.o.Sleep(min(wait/10, time.Second))
		_, now, err := l.look()
		if err != nil {
			return err
		}
		if now != etag {
			return vfs.ErrLocked
		}
	}
	err = l.put(Condition{IfMatch: etag})
	if errors.Is(err, ErrPrecondition) {
		return vfs.ErrLocked
	}
	return err
}

// look reads the object. What does not read well is from nobody.
func (l *lease) look() (body leaseBody, etag string, err error) {
	b, etag, err := l.fs.get(l.store, l.key)
	if errors.Is(err, fs.ErrNotExist) {
		return body, "", vfs.ErrLocked // somebody is taking it apart just now
	}
	if err != nil {
		return body, "", err
	}
	_ = json.Unmarshal(b, &body)
	return body, etag, nil
}

// renew shows signs of life until the lock is given back or lost.
func (l *lease) renew() {
	tick := time.NewTicker(l.fs.o.Lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		if err := l.put(Condition{IfMatch: l.etag}); errors.Is(err, ErrPrecondition) || errors.Is(err, fs.ErrNotExist) {
			l.lost = true
			return
		}
	}
}

// Close gives the lock back.
func (l *lease) Close() error {
	var err error
	l.once.Do(func() {
		close(l.stop)
		l.done.Wait()
		if l.lost {
			return
		}
		l.body.Released = true
		if err = l.put(Condition{IfMatch: l.etag}); errors.Is(err, ErrPrecondition) {
			err = nil // somebody has it by now
		}
	})
	return err
}

// machine names this machine until its next start, and the room of process ids in it; empty where that cannot be told.
func machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || runtime.GOOS != "linux" {
		return ""
	}
	room, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + room
}

// started says when a process of this machine was started, in the kernel's own unit; empty if there is none.
func started(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name in brackets may hold anything; behind it the start is the 20th field.
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// dead says whether the holder is known to be dead: it was a process of this machine, and is there no more.
func dead(b leaseBody) bool {
	return b.Machine != "" && b.Machine == machine() && started(b.PID) != b.Started
}
