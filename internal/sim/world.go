package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/internal/objectfs"
	"github.com/wstream/wstream/internal/vfs"
)

const checkpointDir = "/checkpoint"

// maxStarts is how many starts a run may take before it counts as one that does not come to an end.
const maxStarts = 60

// world is one run of a scenario: all that outlives its processes.
type world struct {
	seed      uint64
	scenario  *scenario
	base      stream.Spec
	schema    *columnar.Schema
	mem       *vfs.Mem
	store     *objectfs.MemStore
	clock     *clock
	chance    *rand.Rand // nil in a run without faults
	trace     *trace
	struck    counts
	there     map[string][]chunk
	main      *table
	lates     *table
	running   *process
	starts    int
	started   int               // processes, those beside others included
	tasks     int               // state partitions of the last start
	ops       map[operation]int // of the run without faults, by kind
	left      int               // faults still to come
	phaseFrom int64             // the last batch of the phase before: a rollback does not go behind it
	failures  []string
}

// fail notes something that must not be.
func (w *world) fail(format string, args ...any) {
	w.failures = append(w.failures, fmt.Sprintf(format, args...))
}

// hit counts a fault.
func (w *world) hit(k kind) { w.struck[k]++ }

func newWorld(seed uint64, s *scenario, base stream.Spec, schema *columnar.Schema, show func(string)) *world {
	w := &world{
		seed: seed, scenario: s, base: base, schema: schema, mem: vfs.NewStrictMem(), store: objectfs.NewMemStore(), trace: newTrace(show), struck: counts{},
		there: map[string][]chunk{}, tasks: 2, phaseFrom: -1,
	}
	w.clock = &clock{w: w, now: time.Unix(1_700_000_000, 0).UTC()}
	w.main, w.lates = newTable(w, "main"), newTable(w, "lates")
	return w
}

// play runs all phases and returns what the sinks hold at the end.
func (w *world) play() result {
	for i, phase := range w.scenario.phases {
		for _, name := range w.scenario.sources {
			for _, c := range phase[name] {
				if w.scenario.files {
					if err := w.mem.Put(fmt.Sprintf("/in/%s/%06d.json", name, len(w.there[name])), c.json()); err != nil {
						w.fail("input: %v", err)
					}
				}
				w.there[name] = append(w.there[name], c)
			}
		}
		if i > 0 && w.chance != nil {
			w.hit(restarted)
		}
		if !w.runPhase() {
			break
		}
		if w.chance != nil && w.chance.IntN(3) == 0 && (!w.rollBack() || !w.runPhase()) {
			break
		}
		w.phaseFrom = w.lastCommitted()
	}
	return w.result()
}

// runPhase starts the query until it has ended well.
func (w *world) runPhase() bool {
	for {
		if w.starts++; w.starts > maxStarts {
			w.fail("the query has not come to its end after %d starts", maxStarts)
			return false
		}
		p := w.newProcess()
		p.fault = w.nextFault()
		if w.chance != nil && w.chance.IntN(3) == 0 {
			p.jumps = 3
		}
		err := p.live()
		if p.failedSync != "" && w.chance.IntN(2) == 0 {
			w.mem.CrashKeeping(w.chance.IntN) // what could not be synced is lost in part
		}
		if len(w.failures) > 0 {
			return false
		}
		if err == nil {
			return true
		}
		if !p.struck {
			w.fail("start %d failed, and no fault had struck: %v", w.starts, err)
			return false
		}
	}
}

func (w *world) newProcess() *process {
	w.started++
	return &process{w: w, id: w.started}
}

// nextFault chooses what the next process is to suffer.
func (w *world) nextFault() *fault {
	if w.chance == nil || w.left == 0 {
		return nil
	}
	w.left--
	r := w.chance
	f := &fault{kind: w.kind(), before: r.IntN(2) == 0}
	span := 8
	switch f.kind {
	case sourceError, sourceMid, sinkError, sinkLostReply, sinkCrash:
	case writeTorn:
		span = w.ops[opWrite]
	default:
		span = 0
		for op, n := range w.ops {
			if f.matches(op) {
				span += n
			}
		}
	}
	f.at = 1 + r.IntN(max(span, 1))
	if r.IntN(3) > 0 { // early ones more often, since a process has less to do the later it starts
		f.at = 1 + r.IntN(f.at)
	}
	switch {
	case slices.Contains([]kind{storeSilent, storeLate}, f.kind):
		f.before = false
	case !slices.Contains([]kind{crashLost, crashPartly, crashKill, sinkCrash}, f.kind):
		f.before = true
	}
	return f
}

// kind chooses a kind of fault, those of which most can be learned more often.
func (w *world) kind() kind {
	r := w.chance
	if r.IntN(2) == 0 {
		return pick(r, crashLost, crashPartly, crashKill)
	}
	all := []kind{diskFull, writeTorn, syncError, readError, renameError, removeError, createError, ownerRefused, ownerTaken, ownerPartly}
	if w.scenario.objects {
		all = []kind{storeBusy, storeSilent, storeDown, storeLate, ownerTaken, ownerPartly, ownerRefused}
	}
	if !w.scenario.files {
		all = append(all, sourceError, sourceMid)
	}
	if w.scenario.sink != "files" {
		all = append(all, sinkError, sinkLostReply, sinkCrash)
	}
	return pick(r, all...)
}

// spec is the query as a process starts it.
func (w *world) spec(p *process) stream.Spec {
	spec := w.base
	s := w.scenario
	spec.FS, spec.Clock = disk{p}, w.clock
	spec.CheckpointFS, spec.Checkpoint = p.checkpoint()
	spec.Settings.KeepBatches, spec.Settings.Workers = s.keep, 1
	if w.chance != nil && w.chance.IntN(3) == 0 {
		if n := 1 + w.chance.IntN(3); n != w.tasks {
			w.tasks = n
			w.hit(rescaled)
		}
	}
	spec.Settings.ShufflePartitions = w.tasks
	if !s.files {
		spec.Sources = map[string]stream.Source{}
		for _, name := range s.sources {
			spec.Sources[name] = stream.Source{Kind: "sim", Open: func(connector.Env) (connector.Source, error) { return &source{p, name}, nil }}
		}
	}
	if s.sink == "ledger" {
		spec.Sink = stream.Sink{Kind: "sim", Open: func(connector.Env) (connector.Sink, error) { return &conn{w.main, p}, nil }}
	}
	spec.SideSinks = map[string]stream.Sink{}
	if s.late {
		spec.SideSinks["lates"] = stream.Sink{Kind: "sim", Open: func(connector.Env) (connector.Sink, error) { return &conn{w.lates, p}, nil }}
	}
	spec.Simulation = &stream.Simulation{
		QueryID: fmt.Sprintf("00000000-0000-4000-8000-%012x", w.seed&(1<<48-1)),
		Process: p.owner(),
		Beside: func(a, b func()) {
			if w.chance != nil && w.chance.IntN(2) == 0 {
				a, b = b, a
			}
			a()
			b()
		},
		Later:        func() bool { return w.chance != nil && w.chance.IntN(2) == 0 },
		SegmentBytes: s.segment, SnapshotBytes: s.snapshot,
	}
	return spec
}

// result is what a run has come to.
type result struct {
	main, lates []string
	lastBatch   int64
	hash        string
}

// result looks at the sinks and at the checkpoint.
func (w *world) result() (r result) {
	r.main, r.lates, r.lastBatch = w.main.rows(), w.lates.rows(), -1
	var err error
	if w.scenario.sink == "files" {
		if r.main, err = w.published("/out"); err != nil {
			w.fail("output: %v", err)
		}
	}
	if len(w.failures) > 0 {
		return r
	}
	fsys, dir := w.checkpoint()
	c, err := checkpoint.Open(fsys, dir, checkpoint.Options{ReadOnly: true})
	if err != nil {
		w.fail("checkpoint: %v", err)
		return r
	}
	defer c.Close()
	if err := c.Verify(); err != nil {
		w.fail("checkpoint: %v", err)
	}
	bs, err := c.Batches()
	if err != nil {
		w.fail("checkpoint: %v", err)
	}
	for i, b := range bs {
		if b.Commit == nil && b.ID > c.LastCommitID()-int64(w.scenario.keep) {
			w.fail("batch %d has no commit entry", b.ID)
		}
		if i > 0 && b.ID != bs[i-1].ID+1 {
			w.fail("batch %d follows batch %d", b.ID, bs[i-1].ID)
		}
		if i > 0 && b.Offsets != nil && bs[i-1].Offsets != nil && string(b.Offsets.Sources[0].Start) != string(bs[i-1].Offsets.Sources[0].End) {
			w.fail("batch %d does not begin where batch %d ends", b.ID, bs[i-1].ID)
		}
	}
	r.lastBatch = c.LastCommitID()
	last, err := c.LastCommit()
	if err != nil {
		w.fail("checkpoint: %v", err)
	}
	if last != nil && last.StateHash != nil {
		r.hash = fmt.Sprint(*last.StateHash)
	}
	return r
}

// compare notes what differs from a run without faults.
func (w *world) compare(got, want result) {
	if len(w.failures) > 0 {
		return
	}
	difference := func(what string, got, want []string) {
		if slices.Equal(got, want) {
			return
		}
		w.fail("%s: %d rows instead of %d; too many: %s; missing: %s", what, len(got), len(want), minus(got, want), minus(want, got))
	}
	difference("sink", got.main, want.main)
	difference("late rows", got.lates, want.lates)
	if got.lastBatch != want.lastBatch {
		w.fail("the last batch is %d instead of %d", got.lastBatch, want.lastBatch)
	}
	if got.hash != want.hash {
		w.fail("the hash of the state is %s instead of %s", got.hash, want.hash)
	}
}

// minus are the elements of a that b does not have as often, ten of them at most.
func minus(a, b []string) string {
	n := map[string]int{}
	for _, x := range b {
		n[x]++
	}
	var out []string
	for _, x := range a {
		if n[x]--; n[x] < 0 && len(out) < 10 {
			out = append(out, x)
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}
