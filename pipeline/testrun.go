package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/memory"
	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/internal/vfs"
)

// Mode is a way to run a test.
type Mode string

// The modes of tests.
const (
	Straight Mode = "straight" // as written
	Crash    Mode = "crash"    // the process dies after every batch, half the time before its commit is noted
	Rescale  Mode = "rescale"  // restored after every step at another number of partitions
)

// Modes are all modes.
func Modes() []Mode { return []Mode{Straight, Crash, Rescale} }

// Failure is what a test found wrong, with a place in the test file.
type Failure struct {
	File string
	Pos  Pos
	Mode Mode
	Text string
}

// Error is the place and the text.
func (f *Failure) Error() string {
	where := f.File
	if f.Pos.Line > 0 {
		where = fmtPos(f.File, f.Pos)
	}
	if f.Mode != "" && f.Mode != Straight {
		return fmt.Sprintf("%s (%s): %s", where, f.Mode, f.Text)
	}
	return where + ": " + f.Text
}

// testStart is where the clock of tests stands at the beginning.
func testStart() time.Time { return time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC) }

// stepTimeout bounds one step, against queries that never become idle.
const stepTimeout = 60 * time.Second

// RunTest runs a test in one mode. A nil result means that it passed.
func (e *Environment) RunTest(ctx context.Context, t *TestFile, mode Mode) error {
	r := &testRun{env: e, test: t, mode: mode}
	defer r.close()
	return r.run(ctx)
}

// testRun is one run of a test.
type testRun struct {
	env     *Environment
	test    *TestFile
	mode    Mode
	rt      *Runtime
	sink    *Sink
	sources map[string]*memory.Stream
	capture *captureSink
	fs      *vfs.Mem
	clock   *stream.StepClock
	query   *stream.Query
	starts  int
	crashed map[int64]bool // batches that were crashed before their commit
	allowed int64          // crash mode: the batch that may run in this start
	late    map[int64]int64
	state   map[int64]int64
	got     []StepResult
}

// StepResult is what a step gave, for --update and messages.
type StepResult struct {
	Schema *columnar.Schema
	Rows   []*columnar.Batch
}

var errCrash = errors.New("crash of the test")

func (r *testRun) fail(p Pos, format string, args ...any) error {
	return &Failure{File: r.test.Path, Pos: p, Mode: r.mode, Text: fmt.Sprintf(format, args...)}
}

func (r *testRun) close() {
	if r.query != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = r.query.Stop(ctx)
		r.query = nil
	}
}

func (r *testRun) run(ctx context.Context) error {
	err := r.open(ctx)
	if err == nil {
		err = r.start(ctx)
	}
	t := r.test
	if t.Error != "" {
		return r.expectError(t.ErrorPos, t.Error, err)
	}
	if err != nil {
		if len(t.Steps) > 0 && t.Steps[0].RuntimeError != "" {
			return r.expectError(t.Steps[0].Pos, t.Steps[0].RuntimeError, err)
		}
		return r.fail(Pos{}, "the query does not start: %s", err)
	}
	first := int64(0)
	for i, s := range t.Steps {
		if err := r.step(ctx, s, &first); err != nil {
			return err
		}
		if r.mode == Rescale && i+1 < len(t.Steps) && !t.Steps[i+1].Restart {
			if err := r.restart(ctx); err != nil {
				return r.fail(s.Pos, "restart after the step: %s", err)
			}
		}
	}
	return nil
}

// open loads the pipeline with its streaming sources replaced by memory.
func (r *testRun) open(ctx context.Context) error {
	if r.test.planFault != nil {
		return r.test.planFault
	}
	f := r.test.Pipeline
	r.sources = map[string]*memory.Stream{}
	r.fs = vfs.NewStrictMem()
	r.clock = stream.NewStepClock(testStart(), time.Second)
	r.capture = newCapture()
	r.late, r.state, r.crashed = map[int64]int64{}, map[int64]int64{}, map[int64]bool{}
	overrides := map[string]Override{}
	for _, s := range f.Sources {
		if s.Static || s.Rows != nil {
			continue
		}
		overrides[s.Name] = Override{Source: stream.Source{Kind: s.Format, Open: func(connector.Env) (connector.Source, error) { return r.sources[s.Name].Source(), nil }}}
	}
	e := r.env
	env := &Environment{
		Connectors: e.Connectors, Registry: e.Registry, Host: e.Host, ModuleDirs: e.ModuleDirs, GuestLog: e.GuestLog, Metrics: e.Metrics,
		Warn: e.Warn, FS: e.FS, Out: e.Out, Now: r.clock.Now,
	}
	rt, err := env.Open(ctx, f, overrides)
	if err != nil {
		return err
	}
	r.rt = rt
	for name := range overrides {
		schema, _, err := rt.schemaOf(f.Source(name))
		if err != nil {
			return err
		}
		r.sources[name] = memory.NewStream(schema)
	}
	return r.chooseSink()
}

func (r *testRun) chooseSink() error {
	q := r.rt.File.Queries()
	var names []string
	for _, s := range q {
		names = append(names, s.Name)
		if s.Name == r.test.Sink || r.test.Sink == "" && len(q) == 1 {
			r.sink = s
		}
	}
	if r.sink == nil {
		return fmt.Errorf("`sink` must name one of: %s", strings.Join(names, ", "))
	}
	return nil
}

// start starts the query from its checkpoint.
func (r *testRun) start(ctx context.Context) error {
	sink := stream.Sink{Kind: "memory", Open: func(connector.Env) (connector.Sink, error) { return r.capture, nil }}
	o := RunOptions{
		Trigger: &stream.Trigger{Kind: stream.Manual}, Clock: r.clock, Checkpoint: "/checkpoint", CheckpointFS: r.fs, Sink: &sink,
		SideSinks: map[string]stream.Sink{}, Listeners: []stream.Listener{{Progress: r.progress}},
	}
	for _, s := range r.rt.File.Sinks {
		if s.From == "" {
			o.SideSinks[s.Name] = stream.Sink{Kind: "memory", Open: func(connector.Env) (connector.Sink, error) { return newCapture(), nil }}
		}
	}
	switch r.mode {
	case Rescale:
		o.Partitions = []int{2, 5, 1, 3}[r.starts%4]
	case Crash:
		r.allowed = -1
		o.BatchGate = r.gate
		r.capture.published = r.published
	}
	r.starts++
	spec, err := r.rt.Spec(r.sink, o)
	if err != nil {
		return err
	}
	r.query, err = stream.Start(ctx, spec)
	return err
}

// gate lets one batch run per start in crash mode.
func (r *testRun) gate(batch int64) error {
	if r.allowed >= 0 && batch != r.allowed {
		return errCrash
	}
	r.allowed = batch
	return nil
}

// published dies after the output of every other batch, once, before its commit is noted.
func (r *testRun) published(batch int64) error {
	if batch%2 == 1 && !r.crashed[batch] {
		r.crashed[batch] = true
		return errCrash
	}
	return nil
}

func (r *testRun) progress(p stream.Progress) {
	r.late[p.BatchID], r.state[p.BatchID] = p.LateRows(), p.StateRows()
}

func (r *testRun) restart(ctx context.Context) error {
	stop, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	err := r.query.Stop(stop)
	r.query = nil
	if err != nil && !errors.Is(err, errCrash) {
		return err
	}
	return r.start(ctx)
}

// settle runs batches until nothing is left to do, over crashes in crash mode.
func (r *testRun) settle(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	for n := 0; ; n++ {
		err := r.query.ProcessAllAvailable(wait)
		if err == nil || !errors.Is(err, errCrash) {
			return err
		}
		if n > 10_000 {
			return fmt.Errorf("the query never becomes idle")
		}
		_ = r.query.Stop(wait)
		r.query = nil
		r.fs.Crash()
		if err := r.start(ctx); err != nil {
			return fmt.Errorf("start after a crash: %w", err)
		}
	}
}

func (r *testRun) step(ctx context.Context, s *TestStep, first *int64) error {
	var err error
	if s.Restart {
		if err := r.restart(ctx); err != nil {
			if s.RuntimeError != "" {
				return r.expectError(s.Pos, s.RuntimeError, err)
			}
			return r.fail(s.Pos, "restart: %s", err)
		}
		err = r.settle(ctx)
	} else {
		rows := 0
		rd := &reader{file: r.test.Path}
		adds := map[*memory.Stream]*columnar.Batch{}
		for _, in := range s.Input {
			src := r.sources[in.source]
			if src == nil {
				var names []string
				for n := range r.sources {
					names = append(names, n)
				}
				sort.Strings(names)
				return r.fail(in.pos, "input: no streaming source %q; known are: %s", in.source, strings.Join(names, ", "))
			}
			b := rd.rowsOf(in.rows, src.Schema(), fmt.Sprintf("input of source %q", in.source))
			if b.Rows > 0 {
				adds[src] = b
			}
			rows += b.Rows
		}
		if len(rd.errs) > 0 {
			return rd.errs[0]
		}
		for src, b := range adds {
			src.Add(b)
		}
		if rows > 0 {
			err = r.settle(ctx)
		}
	}
	if s.RuntimeError != "" {
		return r.expectError(s.Pos, s.RuntimeError, err)
	}
	if err != nil {
		return r.fail(s.Pos, "the query failed: %s", err)
	}
	from := *first
	last := r.query.LastBatch()
	*first = last + 1
	return r.compare(s, from, last)
}

// expectError compares a failure with the condition that the test names.
func (r *testRun) expectError(p Pos, want string, err error) error {
	if err == nil {
		return r.fail(p, "the query runs, expected the error %s", want)
	}
	if strings.HasPrefix(want, "_LEGACY_ERROR_TEMP") {
		return nil
	}
	conditions := allConditions(err)
	for _, c := range conditions {
		if c == want {
			return nil
		}
	}
	return r.fail(p, "expected the error %s, found: %s", want, err)
}

// allConditions are the Spark conditions anywhere in an error.
func allConditions(err error) []string {
	var out []string
	var walk func(error)
	walk = func(e error) {
		if e == nil {
			return
		}
		if s, ok := e.(*sparkerr.Error); ok {
			out = append(out, s.Condition)
		}
		switch u := e.(type) {
		case interface{ Unwrap() error }:
			walk(u.Unwrap())
		case interface{ Unwrap() []error }:
			for _, x := range u.Unwrap() {
				walk(x)
			}
		}
	}
	walk(err)
	return out
}

func (r *testRun) compare(s *TestStep, from, last int64) error {
	if s.Batches != nil {
		if n := last - from + 1; n != *s.Batches {
			return r.fail(s.Pos, "%d batches ran, expected %d", n, *s.Batches)
		}
	}
	schema := r.query.Schema()
	rows := r.capture.take(from)
	for i, b := range rows {
		rows[i] = columnar.NewBatch(schema, b.Columns, b.Rows)
	}
	r.got = append(r.got, StepResult{schema, rows})
	if s.Output != nil {
		rd := &reader{file: r.test.Path}
		want := rd.rowsOf(s.Output, schema, "output")
		if len(rd.errs) > 0 {
			return rd.errs[0]
		}
		if d := diffRows(rows, want, s.Ordered); d != "" {
			return r.fail(s.Pos, "the output differs:\n%s", d)
		}
	}
	if s.Watermark != "" {
		w, _ := r.query.Watermark()
		got := string(datumjson.Append(nil, columnar.Timestamp, w))
		want, err := datumjson.FromAny(columnar.Timestamp, s.Watermark)
		if err != nil {
			return r.fail(s.Pos, "watermark: %s", err)
		}
		if w != want.(int64) {
			return r.fail(s.Pos, "the watermark is %s, expected %q", got, s.Watermark)
		}
	}
	if s.LateRows != nil {
		n := int64(0)
		for b := from; b <= last; b++ {
			n += r.late[b]
		}
		if n != *s.LateRows {
			return r.fail(s.Pos, "%d rows were late, expected %d", n, *s.LateRows)
		}
	}
	if s.StateRows != nil {
		if n := r.state[last]; n != *s.StateRows {
			return r.fail(s.Pos, "%d rows are in state, expected %d", n, *s.StateRows)
		}
	}
	return nil
}

// diffRows compares rows as multisets, or in order; doubles agree within 1e-9 relative.
func diffRows(got []*columnar.Batch, want *columnar.Batch, ordered bool) string {
	type row struct {
		text string
		data []columnar.Datum
	}
	rowsOf := func(bs []*columnar.Batch) []row {
		var out []row
		for _, b := range bs {
			for i := 0; i < b.Rows; i++ {
				data := make([]columnar.Datum, len(b.Columns))
				for k, c := range b.Columns {
					data[k] = c.Datum(i)
				}
				out = append(out, row{rowText(b, i), data})
			}
		}
		return out
	}
	g, w := rowsOf(got), rowsOf([]*columnar.Batch{want})
	if !ordered {
		sort.SliceStable(g, func(i, j int) bool { return g[i].text < g[j].text })
		sort.SliceStable(w, func(i, j int) bool { return w[i].text < w[j].text })
	}
	same := func(a, b row) bool {
		if a.text == b.text {
			return true
		}
		for k := range a.data {
			if !sameDatum(a.data[k], b.data[k]) {
				return false
			}
		}
		return true
	}
	if len(g) == len(w) {
		ok := true
		for i := range g {
			ok = ok && same(g[i], w[i])
		}
		if ok {
			return ""
		}
	}
	// Pair off what agrees; the rest is the difference.
	used := make([]bool, len(w))
	var extra []string
next:
	for i, a := range g {
		for j, b := range w {
			if !used[j] && (!ordered || i == j) && same(a, b) {
				used[j] = true
				continue next
			}
		}
		extra = append(extra, a.text)
	}
	var b strings.Builder
	for j := range w {
		if !used[j] {
			b.WriteString("  - " + w[j].text + "\n")
		}
	}
	for _, t := range extra {
		b.WriteString("  + " + t + "\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + "  (- expected, + found)"
}

func sameDatum(a, b columnar.Datum) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && closeFloats(x, y)
	case float32:
		y, ok := b.(float32)
		return ok && closeFloats(float64(x), float64(y))
	case []columnar.Datum:
		y, ok := b.([]columnar.Datum)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameDatum(x[i], y[i]) {
				return false
			}
		}
		return true
	case columnar.StructDatum:
		y, ok := b.(columnar.StructDatum)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameDatum(x[i], y[i]) {
				return false
			}
		}
		return true
	case columnar.MapDatum:
		y, ok := b.(columnar.MapDatum)
		if !ok || len(x.Keys) != len(y.Keys) {
			return false
		}
		for i := range x.Keys {
			hit := false
			for j := range y.Keys {
				hit = hit || sameDatum(x.Keys[i], y.Keys[j]) && sameDatum(x.Values[i], y.Values[j])
			}
			if !hit {
				return false
			}
		}
		return true
	case []byte:
		y, ok := b.([]byte)
		return ok && string(x) == string(y)
	}
	return a == b
}

func closeFloats(x, y float64) bool {
	if x == y || math.IsNaN(x) && math.IsNaN(y) {
		return true
	}
	return math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}
