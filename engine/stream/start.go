package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/exec"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/internal/vfs"
	"github.com/wstream/wstream/state"
)

// Start opens the checkpoint, compiles the plan, opens sources and sinks, and begins to run batches in the background. When
// it returns an error nothing runs and nothing has been read or written but by the opening of the checkpoint. The query
// ends when ctx does, giving up the running batch; Stop is the gentle way.
//
// A restart that changes what it may not (see Shape) is refused, as is a checkpoint that another process owns, that is
// damaged, or that a newer version has written.
func Start(ctx context.Context, spec Spec) (*Query, error) {
	temporary := spec.Checkpoint == ""
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("query %q: %w", spec.Name, err)
	}
	q := &Query{
		spec: spec, runID: spec.newRunID(), temporary: temporary, sides: map[string]connector.Sink{},
		stopping: make(chan struct{}), wake: make(chan struct{}, 1), done: make(chan struct{}), last: -1,
		status: Status{Message: "Initializing sources"},
	}
	if err := q.open(ctx); err != nil {
		_ = q.release() // the fault before it is the one to tell
		return nil, q.queryError(err)
	}
	run, cancel := context.WithCancelCause(ctx)
	q.cancel = cancel
	q.tell(func(l Listener) {
		if l.Started != nil {
			l.Started(StartedEvent{q.id, q.runID, spec.Name, spec.Clock.Now(), temporary})
		}
	})
	for _, w := range q.spec.Warnings {
		q.warn(-1, "%s", w)
	}
	go q.main(run)
	return q, nil
}

// open makes everything ready.
func (q *Query) open(ctx context.Context) error {
	spec := &q.spec
	o := checkpoint.Options{Create: true, RunID: q.runID, Now: spec.Clock.Now, Failpoints: spec.Failpoints}
	if s := spec.Simulation; s != nil {
		o.QueryID, o.Process, o.SegmentBytes = s.QueryID, s.Process, s.SegmentBytes
	}
	c, err := checkpoint.Open(spec.CheckpointFS, spec.Checkpoint, o)
	if err != nil {
		return err
	}
	q.ledger = &ledger{c: c}
	q.id = c.QueryID()
	if err := q.compile(); err != nil {
		return err
	}
	if err := q.takeShape(); err != nil {
		return err
	}
	if err := q.restore(); err != nil {
		return err
	}
	if err := q.openSources(); err != nil {
		return err
	}
	return q.openSinks(ctx)
}

// compile makes the program and the state that it needs.
func (q *Query) compile() error {
	spec := &q.spec
	began := q.now()
	db, err := state.Open(q.stateOptions())
	if err != nil {
		return err
	}
	q.state = db
	compile := spec.compile
	if compile == nil {
		compile = func(root plan.Node, opt exec.Options) (program, error) {
			compiled, err := exec.Compile(root, opt)
			if err != nil {
				return nil, err // a nil *exec.Query would be a program
			}
			return compiled, nil
		}
	}
	q.program, err = compile(spec.Plan, exec.Options{
		QueryID: q.id, Streaming: true, Mode: spec.Mode, State: db, Workers: spec.Settings.Workers, OrderPartitions: spec.Settings.OrderPartitions, Inline: spec.Simulation != nil,
		Expr: expr.Context{Zone: spec.Settings.Zone, ANSI: spec.Settings.ANSI, Seed: int64(columnar.HashBytes([]byte(q.id)))},
	})
	if err != nil {
		return err
	}
	q.operators = q.program.Operators()
	for _, op := range q.operators {
		q.driven = q.driven || op.WatermarkDriven
		q.timers = q.timers || op.ProcessingTimers
	}
	if len(q.operators) == 0 {
		q.state = nil
		if err := db.Close(); err != nil {
			return err
		}
	}
	q.marks = newWatermarks(spec.Plan, spec.Settings.WatermarkPolicy)
	q.modules = map[string]string{}
	if spec.Plan != nil {
		for name, m := range plan.Modules(spec.Plan) {
			q.modules[name] = m.Hash()
		}
	}
	q.compiled = q.now() - began
	q.sources()
	return nil
}

func (q *Query) stateOptions() state.Options {
	spec := &q.spec
	o := state.Options{
		Partitions: min(spec.Settings.ShufflePartitions, state.Buckets), MemoryLimit: spec.Settings.StateMemory, Failpoints: spec.Failpoints,
	}
	if s := spec.Simulation; s != nil {
		o.SegmentBytes, o.SnapshotBytes, o.SyncSnapshots, o.LateSnapshots = s.SegmentBytes, s.SnapshotBytes, true, s.Later
	}
	if !q.temporary {
		o.FS, o.Dir, o.QueryID, o.Ancestors = spec.CheckpointFS, vfs.Join(spec.Checkpoint, "state"), q.id, q.ledger.c.Ancestors()
		o.Generation = q.ledger.c.Epoch()
		if vfs.Remote(o.FS, o.Dir) { // what exceeds the memory lies on the local disk, as always
			o.ColdDir = filepath.Join(os.TempDir(), "wstream-state-"+q.id)
		}
	}
	return o
}

// sources lists the relations that the plan reads, each once.
func (q *Query) sources() {
	inputs, tables := map[string]*input{}, map[string]*static{}
	for _, rel := range q.program.Relations() {
		src := q.spec.Sources[rel.Source]
		switch {
		case rel.Streaming && inputs[rel.Source] == nil:
			in := &input{name: rel.Source, kind: src.Kind, spec: src}
			inputs[rel.Source] = in
			q.inputs = append(q.inputs, in)
		case !rel.Streaming && tables[rel.Source] == nil:
			t := &static{name: rel.Source, spec: src}
			tables[rel.Source] = t
			q.statics = append(q.statics, t)
		}
		if !rel.Streaming {
			tables[rel.Source].rels = append(tables[rel.Source].rels, rel)
		}
	}
}

// takeShape describes the query and compares it with what the checkpoint was written with.
func (q *Query) takeShape() error {
	shape := newShape(q.spec.Plan, q.spec.Mode, q.inputs, q.operators)
	var err error
	if q.shape, err = json.Marshal(shape); err != nil {
		return err
	}
	s := &q.spec.Settings
	q.conf = map[string]string{
		"timezone": s.Zone.String(), "ansi": strconv.FormatBool(s.ANSI), "watermarkPolicy": string(s.WatermarkPolicy),
	}
	for name, hash := range q.modules {
		q.conf[modulePrefix+name] = hash
	}
	last, err := q.ledger.c.LastOffsets()
	if err != nil || last == nil {
		return err
	}
	old, ok, err := readShape(last.Query)
	if err != nil {
		return fmt.Errorf("checkpoint %q: batch %d: shape of the query: %w", q.spec.Checkpoint, last.BatchID, err)
	}
	if ok {
		if err := shape.MayFollow(old); err != nil {
			return err
		}
	} else if len(last.Sources) != len(q.inputs) {
		return fmt.Errorf("checkpoint %q: batch %d has %d sources, the query has %d", q.spec.Checkpoint, last.BatchID, len(last.Sources), len(q.inputs))
	}
	if q.ledger.c.LastCommitID() == last.BatchID {
		return nil
	}
	// The batch that a crash has left is run again as it was.
	names := make([]string, 0, len(q.conf))
	for name := range q.conf {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		was, ok := last.Conf[name]
		if !ok || was == q.conf[name] {
			continue
		}
		if module, ok := strings.CutPrefix(name, modulePrefix); ok {
			q.spec.Warnings = append(q.spec.Warnings, fmt.Sprintf(
				"batch %d was begun with another version of module %q: if its output has been published already, what the new version gives instead is not seen", last.BatchID, module))
		} else {
			return inBatch(last.BatchID, fmt.Errorf("the batch was begun with the setting %s: %s and must be finished with it, but it is %s now; set it back until the batch is committed",
				name, was, q.conf[name]))
		}
	}
	return nil
}

// modulePrefix stands before the names of modules among the settings of a batch.
const modulePrefix = "module."

// restore brings state, offsets and watermarks to where the last commit left them.
func (q *Query) restore() error {
	c := q.ledger.c
	q.last = c.LastCommitID()
	q.nextID = q.last + 1
	q.planning.Store(q.nextID)
	commit, err := c.LastCommit()
	if err != nil {
		return err
	}
	if q.state != nil {
		if commit != nil && commit.StateHash != nil {
			err = q.state.LoadCommitted(q.last, uint64(*commit.StateHash))
		} else {
			err = q.state.Load(q.last)
		}
		if err != nil {
			return err
		}
	}
	if commit == nil {
		return nil
	}
	offsets, err := c.Offsets(q.last)
	if err != nil {
		return err
	}
	for i, r := range q.ranges(offsets) {
		q.inputs[i].pos = r.end
	}
	q.timer = commit.NextInputWatermarksMs[timerName]
	q.marks.restore(commit.NextInputWatermarksMs, q.now())
	q.marks.before, q.marks.current = offsets.WatermarkMs, offsets.WatermarkMs
	q.marks.next = max(commit.NextWatermarkMs, offsets.WatermarkMs)
	q.mark, q.lastTime = q.marks.next, offsets.TimestampMs
	return nil
}

// timerName is the name under which the commit log keeps the earliest processing-time timer.
const timerName = "timer"

// ranges are what an offset entry reads of the query's inputs, in their order.
func (q *Query) ranges(e *checkpoint.OffsetEntry) []batchRange {
	old, ok, err := readShape(e.Query)
	now := newShape(nil, q.spec.Mode, q.inputs, nil)
	order := old.match(now)
	out := make([]batchRange, len(q.inputs))
	for i := range out {
		at := i
		if ok && err == nil && order != nil {
			at = order[i]
		}
		if at < len(e.Sources) {
			out[i] = batchRange{normal(e.Sources[at].Start), normal(e.Sources[at].End)}
		}
	}
	return out
}

// env is what every connector of the query gets.
func (q *Query) env(name string) connector.Env {
	return connector.Env{
		Name: name, QueryID: q.id, Zone: q.spec.Settings.Zone, ANSI: q.spec.Settings.ANSI, FS: q.spec.FS, Now: q.spec.Clock.Now,
		Warn: func(format string, args ...any) { q.warn(q.LastBatch()+1, format, args...) }, Failpoints: q.spec.Failpoints,
	}
}

func (q *Query) openSources() error {
	open := func(name string, s Source, env connector.Env) (connector.Source, error) {
		if s.Open == nil {
			return nil, fmt.Errorf("there is no source %q", name)
		}
		src, err := s.Open(env)
		if err != nil {
			return nil, fmt.Errorf("source %q: %w", name, err)
		}
		return src, nil
	}
	for _, in := range q.inputs {
		env := q.env(in.name)
		env.Log, env.NextBatch = q.ledger.sourceLog(in.name), q.planning.Load
		env.OwnFS, env.OwnDir = q.spec.CheckpointFS, vfs.Join(q.spec.Checkpoint, "buffers", logName(in.name))
		var err error
		if in.src, err = open(in.name, in.spec, env); err != nil {
			return err
		}
	}
	for _, t := range q.statics {
		env := q.env(t.name)
		env.Static, env.QueryID = true, ""
		var err error
		if t.src, err = open(t.name, t.spec, env); err != nil {
			return err
		}
	}
	return nil
}

func (q *Query) openSinks(ctx context.Context) error {
	open := func(name, log string, s Sink, schema *columnar.Schema) (connector.Sink, error) {
		env := q.env(name)
		env.Log, env.Schema, env.CheckOwner = q.ledger.sinkLog(log), schema, q.ledger.checkOwner
		sink, err := s.Open(env)
		if err != nil {
			return nil, fmt.Errorf("sink %q: %w", name, err)
		}
		if r, ok := sink.(connector.Recoverer); ok {
			if err := q.ledger.checkOwner(); err != nil { // a start that was stopped on its way must not undo what others did since
				return sink, err
			}
			if err := r.Recover(ctx, q.last); err != nil {
				return sink, fmt.Errorf("sink %q: recover after batch %d: %w", name, q.last, err)
			}
		}
		return sink, nil
	}
	var err error
	if q.sink, err = open(q.spec.Name, "main", q.spec.Sink, q.program.Schema()); err != nil {
		return err
	}
	for name, s := range q.spec.SideSinks {
		if q.sides[name], err = open(name, "side-"+name, s, nil); err != nil {
			return err
		}
	}
	return nil
}

// release closes everything that open has opened.
func (q *Query) release() error {
	var errs []error
	for _, in := range q.inputs {
		if in.src != nil {
			errs = append(errs, in.src.Close())
		}
	}
	for _, t := range q.statics {
		if t.src != nil {
			errs = append(errs, t.src.Close())
		}
	}
	if q.sink != nil {
		errs = append(errs, q.sink.Close())
	}
	for _, s := range q.sides {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	if q.program != nil {
		errs = append(errs, q.program.Close())
	}
	if q.state != nil {
		errs = append(errs, q.state.Close())
	}
	if q.ledger != nil {
		errs = append(errs, q.ledger.close())
	}
	return errors.Join(errs...)
}

// temporaryFS is where a checkpoint lies that need not last.
func temporaryFS() vfs.FS { return vfs.NewStrictMem() }

// millis are the ms of a duration.
func millis(d time.Duration) int64 { return d.Milliseconds() }
