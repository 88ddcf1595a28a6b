package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/exec"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/memory"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
	"github.com/wstream/wstream/state"
)

// The tests of the loop use a program of their own in place of a compiled plan: counts per window of ten seconds, in append
// mode, over rows of one TIMESTAMP.

const second = int64(1_000_000)

var timesSchema = columnar.NewSchema(columnar.Field{Name: "ts", Type: columnar.Timestamp, Nullable: true})

var countsSchema = columnar.NewSchema(
	columnar.Field{Name: "end", Type: columnar.Timestamp}, columnar.Field{Name: "n", Type: columnar.Int64})

// times are rows at the given seconds since 1970.
func times(seconds ...int64) *columnar.Batch {
	v := make([]int64, len(seconds))
	for i, s := range seconds {
		v[i] = s * second
	}
	return columnar.NewBatch(timesSchema, []*columnar.Column{columnar.NewFixed(columnar.Timestamp, v, nil)}, len(v))
}

// watermarkPlan is a plan of sources, each under a watermark with a delay.
func watermarkPlan(delay time.Duration, byPartition bool, idle time.Duration, sources ...string) plan.Node {
	u := &plan.Union{}
	for i, name := range sources {
		at := &expr.Attr{ID: expr.AttrID(i + 1), Name: "ts", Typ: columnar.Timestamp, Null: true}
		rel := &plan.Relation{Source: name, Streaming: true, Attrs: []*expr.Attr{at}}
		u.Inputs = append(u.Inputs, &plan.Watermark{
			ID: i, Column: at, DelayMicros: delay.Microseconds(), ByPartition: byPartition, IdleMicros: idle.Microseconds(),
			Attrs: rel.Attrs, Child: rel,
		})
	}
	if len(u.Inputs) == 1 {
		return u.Inputs[0]
	}
	u.Attrs = u.Inputs[0].Output()
	return u
}

// windows is the program.
type windows struct {
	opt       exec.Options
	store     *state.Store
	relations []*plan.Relation
	marks     []*plan.Watermark
	stateless bool
	driven    bool
	onRun     func(b exec.Batch)
}

func compileWindows(stateless, driven bool) compileFunc {
	return func(root plan.Node, opt exec.Options) (program, error) {
		w := &windows{opt: opt, stateless: stateless, driven: driven}
		plan.Walk(root, func(n plan.Node) bool {
			switch n := n.(type) {
			case *plan.Relation:
				w.relations = append(w.relations, n)
			case *plan.Watermark:
				w.marks = append(w.marks, n)
			}
			return true
		})
		if stateless {
			return w, nil
		}
		var err error
		w.store, err = opt.State.Store(state.StoreSpec{Name: "0.counts", Operator: "counts", KeySchema: "end TIMESTAMP", ValueSchema: "n BIGINT"})
		return w, err
	}
}

func (w *windows) Schema() *columnar.Schema {
	if w.stateless {
		return timesSchema
	}
	return countsSchema
}

func (w *windows) Operators() []exec.OperatorInfo {
	if w.stateless {
		return nil
	}
	return []exec.OperatorInfo{{
		Name: "stateStoreSave", Stores: []string{"0.counts"}, KeySchema: "end TIMESTAMP", ValueSchema: "n BIGINT",
		WatermarkDriven: w.driven, Partitions: w.opt.State.Partitions(),
	}}
}

func (w *windows) Relations() []*plan.Relation { return w.relations }
func (w *windows) Refresh(*plan.Relation)      {}
func (w *windows) Close() error                { return nil }

func (w *windows) Run(ctx context.Context, b exec.Batch) (*exec.Result, error) {
	if w.onRun != nil {
		w.onRun(b)
	}
	res := &exec.Result{Inputs: make([]exec.InputStats, len(w.relations)), Watermarks: make([]exec.EventTimeStats, len(w.marks))}
	late := int64(0)
	for i, rel := range w.relations {
		res.Inputs[i].Relation = rel
		if i < len(w.marks) {
			res.Watermarks[i].ID = w.marks[i].ID
		}
		if b.NoData {
			continue
		}
		parts, err := b.Input(ctx, rel)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			err := p.Read(ctx, nil, func(c connector.Chunk) error {
				d, err := c.Decode(ctx)
				if err != nil {
					return err
				}
				if err := b.Failpoints.Hit(failpoint.SourceMid, b.ID); err != nil {
					return err
				}
				res.Inputs[i].Rows += int64(d.Batch.Rows)
				for _, t := range columnar.Values[int64](d.Batch.Columns[0]) {
					if i < len(w.marks) {
						see(&res.Watermarks[i], t, p.ID())
					}
					if !w.stateless {
						end := (floorDiv(t, 10*second) + 1) * 10 * second
						if end <= b.LateWatermark {
							late++
							continue
						}
						w.add(end)
					}
				}
				if err := b.Failpoints.Hit(failpoint.OpMid, b.ID); err != nil {
					return err
				}
				if w.stateless {
					return b.Emit(d.Batch)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	if w.stateless {
		return res, nil
	}
	return res, w.emit(b, res, late)
}

func see(s *exec.EventTimeStats, t int64, part string) {
	if s.Count == 0 {
		s.Min, s.Max = t, t
	}
	s.Min, s.Max = min(s.Min, t), max(s.Max, t)
	s.Count++
	if s.MaxByPartition == nil {
		s.MaxByPartition = map[string]int64{}
	}
	s.MaxByPartition[part] = max(s.MaxByPartition[part], t)
}

func (w *windows) add(end int64) {
	key := binary.BigEndian.AppendUint64(nil, uint64(end))
	h := columnar.HashBytes(key)
	p := w.store.Part(int(state.BucketOf(h)) % w.opt.State.Partitions())
	ref, _ := p.Upsert(h, key, 8)
	v := p.Mut(ref)
	binary.LittleEndian.PutUint64(v, binary.LittleEndian.Uint64(v)+1)
}

func (w *windows) emit(b exec.Batch, res *exec.Result, late int64) error {
	var ends, counts []int64
	var gone []func()
	for i := range w.opt.State.Partitions() {
		p := w.store.Part(i)
		err := p.Each(func(ref state.Ref) error {
			if end := int64(binary.BigEndian.Uint64(p.Key(ref))); end <= b.EvictWatermark {
				ends = append(ends, end)
				counts = append(counts, int64(binary.LittleEndian.Uint64(p.Value(ref))))
				gone = append(gone, func() { p.Remove(ref) })
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, g := range gone {
		g()
	}
	res.Operators = []exec.OperatorStats{{RowsTotal: w.store.Rows(), RowsRemoved: int64(len(gone)), RowsLate: late}}
	if len(ends) == 0 {
		return nil
	}
	rows := columnar.NewBatch(countsSchema, []*columnar.Column{
		columnar.NewFixed(columnar.Timestamp, ends, nil), columnar.NewFixed(columnar.Int64, counts, nil),
	}, len(ends))
	return b.Emit(rows)
}

// text writes rows as "10:3" for the count 3 of the window that ends at 10 s, or "10" for a row at 10 s, sorted.
func text(batches []*columnar.Batch) string {
	var out []string
	for _, b := range batches {
		for i := range b.Rows {
			s := fmt.Sprint(columnar.Values[int64](b.Columns[0])[i] / second)
			if len(b.Columns) > 1 {
				s += ":" + fmt.Sprint(columnar.Values[int64](b.Columns[1])[i])
			}
			out = append(out, s)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if len(out[i]) != len(out[j]) {
			return len(out[i]) < len(out[j])
		}
		return out[i] < out[j]
	})
	return strings.Join(out, " ")
}

// mortal is what one incarnation of a process can reach: after kill nothing that it does has any effect.
type mortal struct {
	mu   sync.RWMutex
	dead bool
	mem  *vfs.Mem

	counter *atomic.Int64
	limit   int64
}

var errDead = errors.New("the process is dead")

func newMortal(f *fixture) *mortal { return &mortal{mem: f.mem} }

// kill ends the incarnation as a power loss would.
func (m *mortal) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.dead {
		m.dead = true
		m.mem.Crash()
	}
}

// dieAfter kills the incarnation at its first operation after the counter has come to n.
func (m *mortal) dieAfter(counter *atomic.Int64, n int64) { m.counter, m.limit = counter, n }

func (m *mortal) due() bool { return m.counter != nil && m.counter.Load() >= m.limit }

func (m *mortal) isDead() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.dead
}

// do runs f unless the incarnation is dead.
func do[T any](m *mortal, f func() (T, error)) (T, error) {
	if m.due() {
		m.kill()
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.dead {
		var zero T
		return zero, errDead
	}
	return f()
}

func (m *mortal) run(f func() error) error {
	_, err := do(m, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// mortalFS is the file system as the incarnation sees it.
type mortalFS struct{ m *mortal }

func (f mortalFS) file(open func() (vfs.File, error)) (vfs.File, error) {
	file, err := do(f.m, open)
	if err != nil {
		return nil, err
	}
	return mortalFile{file, f.m}, nil
}

func (f mortalFS) Create(n string) (vfs.File, error) {
	return f.file(func() (vfs.File, error) { return f.m.mem.Create(n) })
}

func (f mortalFS) Open(n string) (vfs.File, error) {
	return f.file(func() (vfs.File, error) { return f.m.mem.Open(n) })
}

func (f mortalFS) OpenAppend(n string) (vfs.File, error) {
	return f.file(func() (vfs.File, error) { return f.m.mem.OpenAppend(n) })
}

func (f mortalFS) OpenReadWrite(n string) (vfs.File, error) {
	return f.file(func() (vfs.File, error) { return f.m.mem.OpenReadWrite(n) })
}

func (f mortalFS) Rename(a, b string) error {
	return f.m.run(func() error { return f.m.mem.Rename(a, b) })
}

func (f mortalFS) Remove(n string) error { return f.m.run(func() error { return f.m.mem.Remove(n) }) }

func (f mortalFS) RemoveAll(n string) error {
	return f.m.run(func() error { return f.m.mem.RemoveAll(n) })
}

func (f mortalFS) List(n string) ([]fs.FileInfo, error) {
	return do(f.m, func() ([]fs.FileInfo, error) { return f.m.mem.List(n) })
}

func (f mortalFS) Stat(n string) (fs.FileInfo, error) {
	return do(f.m, func() (fs.FileInfo, error) { return f.m.mem.Stat(n) })
}

func (f mortalFS) MkdirAll(n string) error {
	return f.m.run(func() error { return f.m.mem.MkdirAll(n) })
}

func (f mortalFS) SyncDir(n string) error { return f.m.run(func() error { return f.m.mem.SyncDir(n) }) }

func (f mortalFS) Lock(n string) (io.Closer, error) {
	return do(f.m, func() (io.Closer, error) { return f.m.mem.Lock(n) })
}

type mortalFile struct {
	vfs.File
	m *mortal
}

func (f mortalFile) Write(b []byte) (int, error) {
	return do(f.m, func() (int, error) { return f.File.Write(b) })
}

func (f mortalFile) WriteAt(b []byte, at int64) (int, error) {
	return do(f.m, func() (int, error) { return f.File.WriteAt(b, at) })
}
func (f mortalFile) Sync() error { return f.m.run(f.File.Sync) }
func (f mortalFile) Truncate(n int64) error {
	return f.m.run(func() error { return f.File.Truncate(n) })
}

// ledgerSink is a sink that is exactly-once by the batch id, as a table with transactions is, and that checks replays: what
// it gets a second time must be what it got at first.
type ledgerSink struct {
	t       testing.TB
	mu      sync.Mutex
	rows    map[int64]string
	all     []*columnar.Batch
	last    int64
	replays int
}

func newLedgerSink(t testing.TB) *ledgerSink {
	return &ledgerSink{t: t, rows: map[int64]string{}, last: -1}
}

func (s *ledgerSink) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return text(s.all)
}

// in is the sink as an incarnation of the process reaches it.
func (s *ledgerSink) in(m *mortal) connector.Sink { return &ledgerConn{s, m} }

type ledgerConn struct {
	s *ledgerSink
	m *mortal
}

func (c *ledgerConn) Description() string { return "ledger" }
func (c *ledgerConn) Close() error        { return nil }
func (c *ledgerConn) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	if c.m.isDead() {
		return nil, errDead
	}
	return &ledgerWriter{c: c, info: info}, nil
}

type ledgerWriter struct {
	c    *ledgerConn
	info connector.BatchInfo
	rows []*columnar.Batch
}

func (w *ledgerWriter) Write(_ context.Context, b *columnar.Batch) error {
	w.rows = append(w.rows, b)
	return w.info.Failpoints.Hit(failpoint.SinkPartial, w.info.BatchID)
}

func (w *ledgerWriter) Commit(context.Context) error {
	if err := w.info.Failpoints.Hit(failpoint.SinkStaged, w.info.BatchID); err != nil {
		return err
	}
	return w.c.m.run(func() error {
		s := w.c.s
		s.mu.Lock()
		defer s.mu.Unlock()
		if old, ok := s.rows[w.info.BatchID]; ok {
			s.replays++
			if !w.info.Replay {
				s.t.Errorf("batch %d came twice without being called a replay", w.info.BatchID)
			}
			if old != text(w.rows) {
				s.t.Errorf("batch %d: a replay gave %q after %q", w.info.BatchID, text(w.rows), old)
			}
			return nil
		}
		if w.info.BatchID != s.last+1 {
			s.t.Errorf("batch %d came after batch %d", w.info.BatchID, s.last)
		}
		s.last = w.info.BatchID
		s.rows[w.info.BatchID] = text(w.rows)
		s.all = append(s.all, w.rows...)
		return nil
	})
}

func (w *ledgerWriter) Abort(context.Context) error { return nil }

// fixture is a query with what outlives its runs.
type fixture struct {
	t       testing.TB
	streams map[string]*memory.Stream
	sink    *ledgerSink
	mem     *vfs.Mem
	clock   *StepClock
	spec    Spec
	m       *mortal // of the last start
}

func newFixture(t testing.TB, stateless bool, sources ...string) *fixture {
	f := &fixture{
		t: t, streams: map[string]*memory.Stream{}, sink: newLedgerSink(t), mem: vfs.NewStrictMem(),
		clock: NewStepClock(time.Unix(1_000_000, 0), time.Second),
	}
	f.spec = Spec{
		Name: "test", Plan: watermarkPlan(0, false, 0, sources...), Trigger: Trigger{Kind: Manual}, Sources: map[string]Source{},
		Checkpoint: "/ckpt", Clock: f.clock, Settings: Settings{KeepBatches: 3, Workers: 1}, compile: compileWindows(stateless, true),
	}
	for _, name := range sources {
		s := memory.NewStream(timesSchema)
		f.streams[name] = s
		f.spec.Sources[name] = Source{Kind: "memory", Open: func(connector.Env) (connector.Source, error) { return s.Source(), nil }}
	}
	return f
}

// start starts the query, in a process that does not crash.
func (f *fixture) start() (*Query, error) { return f.startIn(&mortal{mem: f.mem}, nil) }

// sinkIn is the query's sink as an incarnation reaches it.
func (f *fixture) sinkIn(m *mortal) Sink {
	if f.spec.Sink.Open != nil {
		return f.spec.Sink
	}
	return Sink{Kind: "ledger", Open: func(connector.Env) (connector.Sink, error) { return f.sink.in(m), nil }}
}

func (f *fixture) mustStart() *Query {
	f.t.Helper()
	q, err := f.start()
	if err != nil {
		f.t.Fatal(err)
	}
	return q
}

func (f *fixture) process(q *Query) {
	f.t.Helper()
	if err := q.ProcessAllAvailable(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) stop(q *Query) {
	f.t.Helper()
	if err := q.Stop(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// batches are the ids and kinds of the batches of a run, "0 1- 2+" for batch 1 without data and batch 2 replayed.
func batches(q *Query) string {
	var out []string
	for _, p := range q.RecentProgress() {
		s := fmt.Sprint(p.BatchID)
		if p.NoData {
			s += "-"
		}
		if p.Replay {
			s += "+"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
