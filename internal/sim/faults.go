package main

import (
	"fmt"
	"slices"
	"strings"
)

// kind is a kind of fault.
type kind string

// The kinds of faults.
const (
	crashLost     kind = "crash.lost"        // power loss: everything that is not synced is gone
	crashPartly   kind = "crash.partly"      // power loss: some sectors and names of it are there, writes are torn
	crashKill     kind = "crash.kill"        // the process is killed, the disk keeps everything
	diskFull      kind = "disk.full"         // ENOSPC from one write on, until the process has ended
	writeTorn     kind = "disk.torn-write"   // a write writes some bytes and fails with EIO
	syncError     kind = "disk.sync-eio"     // one fsync of a file or folder fails; what it should have made durable is lost
	readError     kind = "disk.read-eio"     // one read fails
	renameError   kind = "disk.rename-eio"   // one rename fails
	removeError   kind = "disk.remove-eio"   // one removal fails
	createError   kind = "disk.create-eio"   // one file cannot be made
	clockJump     kind = "clock.jump"        // the clock jumps by up to an hour, back or forth
	sourceError   kind = "source.error"      // the source cannot say what there is
	sourceMid     kind = "source.mid"        // the source fails with some rows of a batch read
	sinkError     kind = "sink.error"        // the sink refuses a batch
	sinkLostReply kind = "sink.lost-reply"   // the sink publishes a batch, and says that it failed
	sinkCrash     kind = "sink.crash"        // the process is killed right before or after the sink has published
	ownerRefused  kind = "owner.refused"     // a second process is started beside the first, which holds the lock
	ownerTaken    kind = "owner.taken-over"  // the lock is lost while a process is suspended: another one runs to the end
	ownerPartly   kind = "owner.taken-part"  // the same, and the other one is killed on its way
	storeBusy     kind = "store.503"         // the object store refuses a request; it is repeated
	storeSilent   kind = "store.lost-reply"  // the object store carries a request out, and the answer is lost; it is repeated
	storeDown     kind = "store.down"        // the object store does not serve until the process has given up
	storeLate     kind = "store.down-late"   // the same, and the first request was carried out
	rolledBack    kind = "rollback"          // an earlier batch is made the last one, by a process of its own
	rescaled      kind = "restart.rescaled"  // a start with another number of state partitions
	restarted     kind = "restart.after-end" // a start after a run that has ended well
)

// kinds are all kinds of faults, in the order in which they are shown.
func kinds() []kind {
	return []kind{
		crashLost, crashPartly, crashKill, diskFull, writeTorn, syncError, readError, renameError, removeError, createError, clockJump,
		sourceError, sourceMid, sinkError, sinkLostReply, sinkCrash, ownerRefused, ownerTaken, ownerPartly,
		storeBusy, storeSilent, storeDown, storeLate, rolledBack, rescaled, restarted,
	}
}

// harmless says that a query need not fail where the fault has struck, and so that it does not count as one that struck.
func (k kind) harmless() bool {
	return slices.Contains([]kind{clockJump, rescaled, restarted, ownerRefused, storeBusy, storeSilent, rolledBack}, k)
}

// counts says how often each kind of fault has struck.
type counts map[kind]int

func (c counts) add(o counts) {
	for k, n := range o {
		c[k] += n
	}
}

// struck says whether any fault was there that a query had to survive.
func (c counts) struck() bool {
	for k, n := range c {
		if n > 0 && !k.harmless() {
			return true
		}
	}
	return false
}

// String lists all kinds, those that never struck included.
func (c counts) String() string {
	var b strings.Builder
	for _, k := range kinds() {
		fmt.Fprintf(&b, "  %-18s %8d\n", k, c[k])
	}
	return b.String()
}
