package groupstate_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/groupstate"
	"github.com/wstream/wstream/engine/memory"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ddl = "ts TIMESTAMP, k STRING, v INT"

// Reading is a row of the input.
type Reading struct {
	TS time.Time
	K  string
	V  *int32
}

// world is a stream, a sink, a checkpoint and a clock that outlive sessions.
type world struct {
	t     *testing.T
	input *memory.Stream
	sink  *memory.Sink
	fs    vfs.FS
	clock stream.Clock
	tasks int
	query *engine.StreamingQuery
	make  func(df *engine.DataFrame) *engine.DataFrame
	mode  connector.OutputMode
	seen  int
}

func newWorld(t *testing.T, mode connector.OutputMode, build func(df *engine.DataFrame) *engine.DataFrame) *world {
	t.Helper()
	schema, err := columnar.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	return &world{
		t: t, input: memory.NewStream(schema), sink: memory.NewSink(), fs: vfs.NewStrictMem(), make: build, mode: mode,
		clock: stream.NewStepClock(time.Unix(1_000_000, 0), time.Second),
	}
}

func (w *world) start() error {
	spec := &connector.Spec{
		Format: "memory", NeedsSchema: true,
		NewSource: func(connector.Env, connector.Options) (connector.Source, error) { return w.input.Source(), nil },
		NewSink:   func(connector.Env, connector.Options) (connector.Sink, error) { return w.sink, nil },
	}
	s, err := engine.NewSession([]*connector.Spec{spec}, engine.Options{FS: w.fs, Clock: w.clock, Workers: 1, ShufflePartitions: max(w.tasks, 1)})
	if err != nil {
		w.t.Fatal(err)
	}
	df := w.make(s.ReadStream().Format("memory").Schema(ddl).Load().WithWatermark("ts", "0 seconds"))
	w.query, err = df.WriteStream().Format("memory").OutputMode(w.mode).Option("checkpointLocation", "/checkpoint").
		Trigger(engine.Trigger{Kind: stream.Manual}).Start(w.t.Context())
	return err
}

func (w *world) stop() {
	w.t.Helper()
	if err := w.query.Stop(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// give runs what there is to do and returns the new output.
func (w *world) give(rows ...[]any) string {
	w.t.Helper()
	if w.query == nil {
		if err := w.start(); err != nil {
			w.t.Fatal(err)
		}
	}
	if len(rows) > 0 {
		w.input.Add(batch(w.t, rows...))
	}
	if err := w.query.ProcessAllAvailable(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	all := w.sink.All()
	var out []string
	for _, b := range all[w.seen:] {
		for i := range b.Rows {
			out = append(out, string(datumjson.AppendRow(nil, b, i)))
		}
	}
	w.seen = len(all)
	slices.Sort(out)
	return strings.Join(out, " ")
}

func (w *world) expect(what, want string, rows ...[]any) {
	w.t.Helper()
	if got := w.give(rows...); got != want {
		w.t.Errorf("%s: got %s, want %s", what, got, want)
	}
}

// last is what the operator said of the last batch.
func (w *world) last() stream.StateProgress {
	w.t.Helper()
	p, ok := w.query.LastProgress()
	if !ok || len(p.StateOperators) != 1 {
		w.t.Fatalf("no progress with one operator: %+v", p)
	}
	return p.StateOperators[0]
}

// batch are rows of ddl: second, key (nil for null), value (nil for null).
func batch(t testing.TB, data ...[]any) *columnar.Batch {
	t.Helper()
	schema, err := columnar.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]*columnar.Builder, len(schema.Fields))
	for i, f := range schema.Fields {
		b[i] = columnar.NewBuilder(f.Type, len(data))
	}
	for _, r := range data {
		b[0].AppendInt(int64(r[0].(int)) * 1_000_000)
		if k, ok := r[1].(string); ok {
			b[1].AppendString(k)
		} else {
			b[1].AppendNull()
		}
		if v, ok := r[2].(int); ok {
			b[2].AppendInt(int64(v))
		} else {
			b[2].AppendNull()
		}
	}
	cols := make([]*columnar.Column, len(b))
	for i := range b {
		cols[i] = b[i].Finish()
	}
	return columnar.NewBatch(schema, cols, len(data))
}

type visit struct {
	Begin, Last time.Time
	Clicks      int64
	Values      []int32
	ByHour      map[string]int64
	Note        *string
}

type ended struct {
	K      string `col:"k"`
	Begin  time.Time
	Clicks int64
	Sum    int64
}

// visits end five seconds after their last row.
func visits(df *engine.DataFrame) *engine.DataFrame {
	return groupstate.FlatMap(df, groupstate.Spec{Name: "visits", Key: []string{"k"}, Timers: groupstate.EventTime},
		func(g *groupstate.Group[string, Reading, visit], emit func(ended)) error {
			v, ok := g.State()
			if len(g.Fired()) > 0 && g.Len() == 0 {
				sum := int64(0)
				for _, x := range v.Values {
					sum += int64(x)
				}
				if v.ByHour["rows"] != v.Clicks || v.Note == nil || *v.Note != g.Key() {
					return fmt.Errorf("the state came back as %+v", v)
				}
				emit(ended{g.Key(), v.Begin, v.Clicks, sum})
				g.Remove()
				return nil
			}
			for r := range g.Rows() {
				if !ok || r.TS.Before(v.Begin) {
					v.Begin, ok = r.TS, true
				}
				if r.TS.After(v.Last) {
					v.Last = r.TS
				}
				if r.V != nil {
					v.Values = append(v.Values, *r.V)
				}
				v.Clicks++
			}
			note := g.Key()
			v.ByHour, v.Note = map[string]int64{"rows": v.Clicks, "a": 1, "z": 2}, &note
			g.SetState(v)
			g.SetTimer("end", v.Last.Add(5*time.Second))
			return nil
		})
}

func TestEventTimers(t *testing.T) {
	w := newWorld(t, connector.Append, visits)
	w.expect("rows", "", []any{10, "a", 1}, []any{11, "b", 2}, []any{12, "a", nil})
	w.expect("at the timer of b", "", []any{16, "c", 5})
	w.expect("behind both", `{"k":"a","Begin":"1970-01-01T00:00:10.000000Z","Clicks":2,"Sum":1} {"k":"b","Begin":"1970-01-01T00:00:11.000000Z","Clicks":1,"Sum":2}`, []any{18, "c", 6})
	w.expect("a late row is dropped", "", []any{17, "a", 9})
	if n := w.last(); n.NumRowsTotal != 1 || n.NumRowsDroppedByWatermark != 1 {
		t.Errorf("%+v", n)
	}
	w.stop()
}

// A restart between all batches, each at another parallelism, gives what a run without one gives.
func TestRestartsAtAnotherParallelism(t *testing.T) {
	run := func(restart bool) string {
		w := newWorld(t, connector.Append, visits)
		var out []string
		for i := range 12 {
			var rows [][]any
			for k := range 9 {
				if (i+k)%4 != 0 {
					rows = append(rows, []any{10 + 2*i + k%3, fmt.Sprint("key", (k*k+i/4)%11), i*k - 3})
				}
			}
			out = append(out, w.give(rows...))
			if restart {
				w.stop()
				w.query, w.tasks = nil, []int{5, 1, 3, 2}[i%4]
			}
		}
		out = append(out, w.give([]any{100, "end", 0}))
		w.stop()
		return strings.Join(out, "\n")
	}
	straight, restarted := run(false), run(true)
	if straight != restarted || !strings.Contains(straight, "Clicks") {
		t.Errorf("straight:\n%s\nrestarted:\n%s", straight, restarted)
	}
}

type fired struct{ K, Timers string }

func TestNamedTimersOfBothKinds(t *testing.T) {
	// Batches are a second of processing time apart.
	w := newWorld(t, connector.Update, func(df *engine.DataFrame) *engine.DataFrame {
		return groupstate.FlatMap(df, groupstate.Spec{Name: "timers", Key: []string{"k"}, Mode: connector.Update, Timers: groupstate.EventTime | groupstate.ProcessingTime},
			func(g *groupstate.Group[string, Reading, int64], emit func(fired)) error {
				var names []string
				for _, t := range g.Fired() {
					names = append(names, fmt.Sprint(t.Name, t.Processing))
				}
				if len(names) > 0 {
					emit(fired{g.Key(), strings.Join(names, ",") + fmt.Sprint(" rows ", g.Len(), " left ", len(g.Timers()))})
				}
				for r := range g.Rows() {
					switch *r.V {
					case 1:
						g.SetTimer("first", r.TS.Add(2*time.Second))
						g.SetTimer("second", r.TS.Add(4*time.Second))
						g.SetProcessingTimer("clock", g.Now().Add(3*time.Second+time.Microsecond))
					case 2:
						g.SetTimer("first", r.TS.Add(50*time.Second)) // moved
					case 3:
						g.DeleteTimer("clock")
					}
				}
				return nil
			})
	})
	var out []string
	for _, rows := range [][][]any{
		{{10, "a", 1}, {10, "b", 1}}, {{11, "a", 2}, {11, "b", 3}}, {{13, "c", 0}}, {{15, "c", 0}}, {{16, "c", 0}}, {{62, "c", 0}, {63, "a", 0}},
	} {
		if text := w.give(rows...); text != "" {
			out = append(out, strings.Split(text, " {")...)
		}
	}
	for i := range out {
		out[i] = strings.NewReplacer("{", "", "}", "", `"`, "").Replace(out[i])
	}
	slices.Sort(out)
	// What was moved fires at its new time only, what was deleted never, each timer once.
	want := "K:a,Timers:clocktrue rows 0 left 2|K:a,Timers:firstfalse rows 0 left 0|K:a,Timers:secondfalse rows 0 left 1|" +
		"K:b,Timers:firstfalse rows 0 left 1|K:b,Timers:secondfalse rows 0 left 0"
	if got := strings.Join(out, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if n := w.last().NumRowsTotal; n != 0 {
		t.Errorf("%d rows are left in state", n)
	}
	w.stop()
}

type count struct {
	K string
	N int64
}

func TestTTL(t *testing.T) {
	w := newWorld(t, connector.Update, func(df *engine.DataFrame) *engine.DataFrame {
		return groupstate.Map(df, groupstate.Spec{Name: "counts", Key: []string{"k"}, TTL: 4 * time.Second},
			func(g *groupstate.Group[string, Reading, int64]) (count, error) {
				n, _ := g.State()
				n += int64(g.Len())
				g.SetState(n)
				return count{g.Key(), n}, nil
			})
	})
	w.expect("1", `{"K":"a","N":1} {"K":"b","N":1}`, []any{10, "a", 1}, []any{10, "b", 1})
	for range 2 {
		w.expect("kept", "")
	}
	w.expect("2", `{"K":"a","N":2}`, []any{10, "a", 1})
	w.expect("3", `{"K":"a","N":3}`, []any{10, "a", 1})
	w.expect("4", `{"K":"a","N":4}`, []any{10, "a", 1})
	w.expect("5", `{"K":"a","N":5}`, []any{10, "a", 1})
	w.expect("6", `{"K":"a","N":6} {"K":"b","N":1}`, []any{10, "a", 1}, []any{10, "b", 1})
	w.stop()
}

// A key that is never seen again leaves nothing behind.
func TestTTLOfAQuietKey(t *testing.T) {
	w := newWorld(t, connector.Update, func(df *engine.DataFrame) *engine.DataFrame {
		return groupstate.Map(df, groupstate.Spec{Name: "counts", Key: []string{"k"}, TTL: 8 * time.Second, Timers: groupstate.EventTime},
			func(g *groupstate.Group[string, Reading, int64]) (count, error) {
				g.SetState(1)
				return count{g.Key(), int64(g.Len())}, nil
			})
	})
	w.give([]any{10, "a", 1})
	for i := range 12 {
		w.give([]any{11 + i, "b", 1})
	}
	if n := w.last().NumRowsTotal; n != 1 {
		t.Errorf("%d keys are in state, want the one of b", n)
	}
	w.stop()
}

type pair struct {
	K string
	V *int32
}

// A key of two columns, one of them null.
func TestStructKeyWithNull(t *testing.T) {
	w := newWorld(t, connector.Update, func(df *engine.DataFrame) *engine.DataFrame {
		return groupstate.Map(df, groupstate.Spec{Name: "pairs"}, func(g *groupstate.Group[pair, struct{}, int64]) (string, error) {
			n, _ := g.State()
			n += int64(g.Len())
			g.SetState(n)
			v := "null"
			if g.Key().V != nil {
				v = fmt.Sprint(*g.Key().V)
			}
			return fmt.Sprint(g.Key().K, " ", v, " ", n), nil
		})
	})
	w.expect("first", `{"value":"a 1 1"} {"value":"a null 2"}`, []any{10, "a", nil}, []any{10, "a", 1}, []any{11, "a", nil})
	w.expect("second", `{"value":"a null 3"}`, []any{10, "a", nil})
	w.stop()
}

func TestErrors(t *testing.T) {
	odd := errors.New("odd key")
	fail := func(onError plan.OnError) func(df *engine.DataFrame) *engine.DataFrame {
		return func(df *engine.DataFrame) *engine.DataFrame {
			return groupstate.FlatMap(df, groupstate.Spec{Name: "odd", Key: []string{"k"}, OnError: onError},
				func(g *groupstate.Group[string, Reading, int64], emit func(count)) error {
					emit(count{g.Key(), int64(g.Len())})
					switch g.Key() {
					case "odd":
						return odd
					case "panic":
						var none []int64
						g.SetState(none[g.Len()])
					}
					g.SetState(1)
					return nil
				})
		}
	}
	w := newWorld(t, connector.Append, fail(plan.OnError{Skip: true}))
	w.expect("skipped", `{"K":"a","N":1} {"K":"b","N":2}`, []any{1, "a", 1}, []any{1, "odd", 1}, []any{1, "b", 1}, []any{1, "panic", 1}, []any{1, "b", 2})
	if n := w.last().NumRowsTotal; n != 2 {
		t.Errorf("%d keys are in state, want 2", n)
	}
	w.stop()
	for key, want := range map[string]string{"odd": `function "odd": group 0: key odd: odd key`, "panic": "key panic: the function panicked: runtime error: index out of range [1] with length 0"} {
		w := newWorld(t, connector.Append, fail(plan.OnError{}))
		if err := w.start(); err != nil {
			t.Fatal(err)
		}
		w.input.Add(batch(t, []any{1, key, 1}))
		if err := w.query.ProcessAllAvailable(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one with %q", err, want)
		}
		_ = w.query.Stop(t.Context())
	}
	w = newWorld(t, connector.Append, func(df *engine.DataFrame) *engine.DataFrame {
		return groupstate.FlatMap(df, groupstate.Spec{Name: "nulls", Key: []string{"k"}}, func(g *groupstate.Group[string, struct{ V int32 }, int64], emit func(count)) error {
			for r := range g.Rows() {
				emit(count{g.Key(), int64(r.V)})
			}
			return nil
		})
	})
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.input.Add(batch(t, []any{1, "a", nil}))
	if err := w.query.ProcessAllAvailable(t.Context()); err == nil || !strings.Contains(err.Error(), `column "V": it is null in a row, which a int32 cannot be; use a *int32`) {
		t.Errorf("a null: %v", err)
	}
	_ = w.query.Stop(t.Context())
}

// What cannot be is refused when the data frame is made, or when the query starts.
func TestRefusals(t *testing.T) {
	type input struct{ V int64 }
	type bad struct{ C chan int }
	nothing := func(g *groupstate.Group[string, Reading, int64], emit func(count)) error { return nil }
	for name, c := range map[string]struct {
		build func(df *engine.DataFrame) *engine.DataFrame
		want  string
	}{
		"no name": {func(df *engine.DataFrame) *engine.DataFrame {
			return groupstate.FlatMap(df, groupstate.Spec{Key: []string{"k"}}, nothing)
		}, "needs a name"},
		"no such column": {func(df *engine.DataFrame) *engine.DataFrame {
			return groupstate.FlatMap(df, groupstate.Spec{Name: "f", Key: []string{"key"}}, nothing)
		}, `asks for column "key" STRING`},
		"two keys": {func(df *engine.DataFrame) *engine.DataFrame {
			return groupstate.FlatMap(df, groupstate.Spec{Name: "f", Key: []string{"k", "v"}}, nothing)
		}, "the key of type string is one column, not 2"},
		"another type": {func(df *engine.DataFrame) *engine.DataFrame {
			return groupstate.FlatMap(df, groupstate.Spec{Name: "f", Key: []string{"k"}}, func(g *groupstate.Group[string, input, int64], emit func(count)) error { return nil })
		}, `asks for column "V" as BIGINT, but it is INT; cast it in a step before`},
		"no column for it": {func(df *engine.DataFrame) *engine.DataFrame {
			return groupstate.FlatMap(df, groupstate.Spec{Name: "f", Key: []string{"k"}}, func(g *groupstate.Group[string, bad, int64], emit func(count)) error { return nil })
		}, "field C: chan int cannot be kept in a column"},
		"mode": {func(df *engine.DataFrame) *engine.DataFrame {
			return groupstate.FlatMap(df, groupstate.Spec{Name: "f", Key: []string{"k"}, Mode: connector.Complete}, nothing)
		}, `emits in mode "complete"`},
		"another mode than the sink": {func(df *engine.DataFrame) *engine.DataFrame {
			return groupstate.FlatMap(df, groupstate.Spec{Name: "f", Key: []string{"k"}, Mode: connector.Update}, nothing)
		}, "STATE_FUNCTION_MODE"},
		"event time without a watermark": {func(df *engine.DataFrame) *engine.DataFrame {
			return groupstate.FlatMap(df.Select("ts + INTERVAL 1 SECOND AS ts", "k", "v"), groupstate.Spec{Name: "f", Key: []string{"k"}, Timers: groupstate.EventTime}, nothing)
		}, "STATE_FUNCTION_WATERMARK"},
	} {
		w := newWorld(t, connector.Append, c.build)
		err := w.start()
		if err == nil {
			_ = w.query.Stop(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want one with %q", name, err, c.want)
		}
	}
}

func TestTimerOfAKindThatWasNotDeclared(t *testing.T) {
	w := newWorld(t, connector.Append, func(df *engine.DataFrame) *engine.DataFrame {
		return groupstate.FlatMap(df, groupstate.Spec{Name: "f", Key: []string{"k"}}, func(g *groupstate.Group[string, Reading, int64], _ func(count)) error {
			g.SetTimer("t", g.Now())
			return nil
		})
	})
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.input.Add(batch(t, []any{1, "a", nil}))
	if err := w.query.ProcessAllAvailable(t.Context()); err == nil || !strings.Contains(err.Error(), `the timer "t" is of a kind that Spec.Timers does not have`) {
		t.Errorf("%v", err)
	}
	_ = w.query.Stop(t.Context())
}

type stateV1 struct{ N int64 }

type stateV2 struct {
	N     int64
	Since *time.Time
	Sum   int64
}

type stateV3 struct{ N string }

func counting[S any](next func(S, int64) (S, string)) func(df *engine.DataFrame) *engine.DataFrame {
	return func(df *engine.DataFrame) *engine.DataFrame {
		return groupstate.Map(df, groupstate.Spec{Name: "counting", Key: []string{"k"}}, func(g *groupstate.Group[string, Reading, S]) (string, error) {
			s, _ := g.State()
			s, text := next(s, int64(g.Len()))
			g.SetState(s)
			return g.Key() + " " + text, nil
		})
	}
}

// A state may get fields at its end; another change is refused before anything runs, naming both shapes.
func TestChangedState(t *testing.T) {
	v1 := counting(func(s stateV1, n int64) (stateV1, string) { s.N += n; return s, fmt.Sprint(s.N) })
	v2 := counting(func(s stateV2, n int64) (stateV2, string) {
		s.N, s.Sum = s.N+n, s.Sum+1
		return s, fmt.Sprint(s.N, " ", s.Sum, " ", s.Since == nil)
	})
	v3 := counting(func(s stateV3, n int64) (stateV3, string) { return s, "" })
	w := newWorld(t, connector.Update, v1)
	w.expect("first", `{"value":"a 1"} {"value":"b 1"}`, []any{1, "a", 1}, []any{1, "b", 1})
	w.stop()
	w.query, w.make = nil, v2
	w.expect("with more fields", `{"value":"a 2 1 true"}`, []any{1, "a", 1})
	w.expect("again", `{"value":"a 3 2 true"} {"value":"b 2 1 true"}`, []any{1, "a", 1}, []any{1, "b", 1})
	w.stop()
	for _, build := range []func(df *engine.DataFrame) *engine.DataFrame{v1, v3} {
		w.make = build
		if err := w.start(); sparkerr.Condition(err) != "STREAMING_QUERY_EVOLUTION_NOT_ALLOWED" || !strings.Contains(err.Error(), "Since TIMESTAMP") {
			t.Errorf("%v", err)
		}
	}
}

// The result of a batch query over the same rows: one call for each key, without timers.
func TestBatch(t *testing.T) {
	s, err := engine.NewSession(nil, engine.Options{FS: vfs.NewStrictMem()})
	if err != nil {
		t.Fatal(err)
	}
	df := s.SQL("SELECT * FROM VALUES (TIMESTAMP '2026-01-01 00:00:00', 'a', 1), (TIMESTAMP '2026-01-01 00:00:01', 'b', 2), (TIMESTAMP '2026-01-01 00:00:02', 'a', 3) AS t(ts, k, v)")
	res, err := groupstate.Map(df, groupstate.Spec{Name: "counts", Key: []string{"k"}}, func(g *groupstate.Group[string, Reading, int64]) (count, error) {
		g.SetState(7)
		return count{g.Key(), int64(g.Len())}, nil
	}).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, b := range res.Batches {
		for i := range b.Rows {
			got[string(b.Columns[0].BytesAt(i))] = columnar.Values[int64](b.Columns[1])[i]
		}
	}
	keys := slices.SortedFunc(maps.Keys(got), cmp.Compare[string])
	if fmt.Sprint(keys, got) != "[a b] map[a:2 b:1]" {
		t.Errorf("%v", got)
	}
}
