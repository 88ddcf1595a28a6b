package main

import (
	"os"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"sync"

	"github.com/wstream/wstream/engine/stream"
)

// headroom sets how much memory the garbage collector leaves for garbage. By itself that is as much as is in use, and most of
// what is in use is the state, whose tables live long and hold no pointers: they would take twice what they may. So the
// headroom is that of what batches make, and a little for the tables.
type headroom struct {
	mu      sync.Mutex
	state   map[string]int64 // bytes of the tables, by query
	percent int              // what is set
	off     bool             // the user has said what he wants
}

func newHeadroom() *headroom {
	return &headroom{state: map[string]int64{}, percent: 100, off: os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != ""}
}

// tableHeadroom is the share of the tables that garbage may take beside them, in percent.
const tableHeadroom = 6

// progress takes the size of a query's state after a batch.
func (h *headroom) progress(query string, pr stream.Progress) {
	if h.off || len(pr.StateOperators) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state[query] = 0
	for _, op := range pr.StateOperators {
		h.state[query] += op.MemoryUsedBytes
	}
	tables := int64(0)
	for _, n := range h.state {
		tables += n
	}
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(sample)
	if p := gcPercent(tables, max(int64(sample[0].Value.Uint64()), tables)); p > h.percent+4 || p < h.percent-4 {
		h.percent = p
		debug.SetGCPercent(p)
	}
}

// gcPercent is GOGC for a live heap of which tables bytes are those of the state. What is not tables may have as much garbage
// beside it as is its share of the heap: the larger the tables, the cheaper it is to collect more often.
func gcPercent(tables, live int64) int {
	if tables < 64<<20 {
		return 100
	}
	share := max(float64(live-tables)/float64(live), 1./4)
	other := max(int64(float64(live-tables)*share), 64<<20)
	return int(min((100*other+tableHeadroom*tables)/live, 100))
}
