package engine

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/memory"
	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is what connectors of the tests read and write: streams, tables and sinks by the option "path".
type world struct {
	streams map[string]*memory.Stream
	sinks   map[string]*memory.Sink
}

func (w *world) spec() *connector.Spec {
	return &connector.Spec{
		Format: "memory", NeedsSchema: true, Options: []connector.Option{{Name: "path", Required: true, Doc: "which one"}},
		NewSource: func(_ connector.Env, o connector.Options) (connector.Source, error) {
			s := w.streams[o.String("path", "")]
			if s == nil {
				return nil, fmt.Errorf("no stream %q", o.String("path", ""))
			}
			return s.Source(), nil
		},
		NewSink: func(_ connector.Env, o connector.Options) (connector.Sink, error) {
			k := o.String("path", "")
			if w.sinks[k] == nil {
				w.sinks[k] = memory.NewSink()
			}
			return w.sinks[k], nil
		},
	}
}

const ddl = "ts TIMESTAMP, k STRING, v INT"

func newWorld(t testing.TB) (*world, *Session) {
	t.Helper()
	schema, err := columnar.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{streams: map[string]*memory.Stream{"a": memory.NewStream(schema), "b": memory.NewStream(schema)}, sinks: map[string]*memory.Sink{}}
	s, err := NewSession([]*connector.Spec{w.spec()}, Options{
		FS: vfs.NewStrictMem(), Clock: stream.NewStepClock(time.Unix(1_000_000, 0), time.Second), Workers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, s
}

// rows are rows of ddl: second, key, value.
func rows(t testing.TB, data ...[]any) *columnar.Batch {
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
		b[1].AppendString(r[1].(string))
		b[2].AppendInt(int64(r[2].(int)))
	}
	cols := make([]*columnar.Column, len(b))
	for i := range b {
		cols[i] = b[i].Finish()
	}
	return columnar.NewBatch(schema, cols, len(data))
}

// text writes rows as JSON, sorted.
func text(batches []*columnar.Batch) string {
	var out []string
	for _, b := range batches {
		for i := range b.Rows {
			out = append(out, string(datumjson.AppendRow(nil, b, i)))
		}
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

func collect(t testing.TB, df *DataFrame) string {
	t.Helper()
	res, err := df.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return text(res.Batches)
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestSQL(t *testing.T) {
	_, s := newWorld(t)
	equal(t, "literal", collect(t, s.SQL("SELECT 1 AS one")), `{"one":1}`)
	if err := s.SQL("CREATE TEMPORARY VIEW v AS SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(n, s)").Err(); err != nil {
		t.Fatal(err)
	}
	equal(t, "view", collect(t, s.SQL("SELECT s FROM v WHERE n > 1")), `{"s":"b"}`)
	equal(t, "again", sparkerr.Condition(s.SQL("CREATE TEMPORARY VIEW v AS SELECT 1").Err()), "TEMP_TABLE_OR_VIEW_ALREADY_EXISTS")
	equal(t, "unknown", sparkerr.Condition(s.SQL("SELECT * FROM w").Err()), "TABLE_OR_VIEW_NOT_FOUND")
	equal(t, "syntax", sparkerr.Condition(s.SQL("SELEC 1").Err()), "PARSE_SYNTAX_ERROR")
	if err := s.SQL("SET ansi = false").Err(); err != nil {
		t.Fatal(err)
	}
	equal(t, "without ANSI", collect(t, s.SQL("SELECT CAST('x' AS INT) AS n")), `{"n":null}`)
	equal(t, "dropped", s.DropTempView("V"), true)
	equal(t, "after it was dropped", sparkerr.Condition(s.Table("v").Err()), "TABLE_OR_VIEW_NOT_FOUND")
}

func TestDataFrame(t *testing.T) {
	_, s := newWorld(t)
	schema, _ := columnar.ParseDDL(ddl)
	df := s.CreateDataFrame(schema, rows(t, []any{1, "a", 1}, []any{2, "b", 2}, []any{3, "a", 3}))
	equal(t, "filter and select", collect(t, df.Filter("v > 1").Select("k", "v * 2 AS w")), `{"k":"a","w":6} {"k":"b","w":4}`)
	equal(t, "with column", collect(t, df.Select("v").WithColumn("w", "v + 1").WithColumn("v", "10").Limit(1)), `{"v":10,"w":2}`)
	equal(t, "renamed, dropped", collect(t, df.WithColumnRenamed("v", "x").Drop("ts", "nothing").Filter("x = 2")), `{"k":"b","x":2}`)
	equal(t, "grouped", collect(t, df.GroupBy("k").Agg("sum(v) AS s", "count(*) AS n")), `{"k":"a","s":4,"n":2} {"k":"b","s":2,"n":1}`)
	equal(t, "count per group", collect(t, df.GroupBy("k").Count()), `{"k":"a","count":2} {"k":"b","count":1}`)
	equal(t, "all aggregated", collect(t, df.Agg("max(v) AS m")), `{"m":3}`)
	equal(t, "union, distinct", collect(t, df.Union(df).Select("k").Distinct()), `{"k":"a"} {"k":"b"}`)
	equal(t, "without duplicates", collect(t, df.DropDuplicates("k").Select("v")), `{"v":1} {"v":2}`)
	equal(t, "self-join", collect(t, df.Alias("l").Join(df.Alias("r"), "l.k = r.k AND l.v < r.v", "inner").Select("l.v AS a", "r.v AS b")), `{"a":1,"b":3}`)
	names := s.SQL("SELECT * FROM VALUES ('a', 'anna') AS t(k, name)")
	equal(t, "using", collect(t, df.JoinUsing(names, []string{"k"}, "left").Filter("v < 3").Select("k", "name")), `{"k":"a","name":"anna"} {"k":"b","name":null}`)
	equal(t, "anti", collect(t, df.JoinUsing(names, []string{"k"}, "left_anti").Select("k")), `{"k":"b"}`)
	equal(t, "SQL over it", collect(t, df.SQL("SELECT max(v) AS m FROM input WHERE k = 'a'")), `{"m":3}`)
	n, err := df.Count(t.Context())
	equal(t, "count", n, 3)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "range", collect(t, s.Range(0, 3, 1)), `{"id":0} {"id":1} {"id":2}`)
	res, err := df.OrderBy("v DESC").Select("v").Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "sorted", fmt.Sprint(Rows(res)), "[[3] [2] [1]]")
	var shown strings.Builder
	if err := df.OrderBy("v").Select("k", "v").Show(t.Context(), &shown, 2, 20); err != nil {
		t.Fatal(err)
	}
	equal(t, "shown", shown.String(), "+---+---+\n|  k|  v|\n+---+---+\n|  a|  1|\n|  b|  2|\n+---+---+\nonly showing top 2 rows\n")
	if err := df.CreateOrReplaceTempView("events"); err != nil {
		t.Fatal(err)
	}
	equal(t, "view", collect(t, s.SQL("SELECT count(*) AS n FROM events e JOIN events f ON e.k = f.k")), `{"n":5}`)
}

func TestMistakesStayInTheFrame(t *testing.T) {
	_, s := newWorld(t)
	schema, _ := columnar.ParseDDL(ddl)
	df := s.CreateDataFrame(schema)
	bad := df.Select("nothing").Filter("v > 1").GroupBy("k").Count()
	equal(t, "unknown column", sparkerr.Condition(bad.Err()), "UNRESOLVED_COLUMN.WITH_SUGGESTION")
	_, err := bad.Collect(t.Context())
	equal(t, "of an action", err, bad.Err())
	equal(t, "join kind", sparkerr.Condition(df.Join(df, "", "sideways").Err()), "UNSUPPORTED_JOIN_TYPE")
	equal(t, "format", sparkerr.Condition(s.Read().Format("memry").Load().Err()), "DATA_SOURCE_NOT_FOUND")
	err = s.Read().Format("memory").Schema(ddl).Option("path", "a").Option("pth", "b").Load().Err()
	if err == nil || !strings.Contains(err.Error(), `did you mean "path"?`) {
		t.Errorf("unknown option: %v", err)
	}
}

func TestStream(t *testing.T) {
	w, s := newWorld(t)
	events := s.ReadStream().Format("memory").Name("events").Schema(ddl).Load("a").WithWatermark("ts", "10 seconds")
	counts := events.GroupBy("window(ts, '10 seconds') AS w", "k").Agg("count(*) AS n").Select("k", "n")
	equal(t, "streaming", counts.IsStreaming(), true)
	explained, err := counts.Explain()
	if err != nil || !strings.Contains(explained, "Watermark") {
		t.Errorf("explain: %v, %s", err, explained)
	}
	_, err = counts.Collect(t.Context())
	equal(t, "a batch action", sparkerr.Condition(err), "UNSUPPORTED_STREAMING_OPERATION.BATCH_ACTION")
	_, err = counts.OrderBy("n").WriteStream().Format("memory").Start(t.Context(), "out")
	if err == nil {
		t.Error("a sorted stream was started")
	}
	begin := func() *StreamingQuery {
		t.Helper()
		q, err := counts.WriteStream().QueryName("counts").Format("memory").Option("path", "out").
			Option("checkpointLocation", "/ckpt").Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	q := begin()
	w.streams["a"].Add(rows(t, []any{1, "a", 1}, []any{2, "a", 1}, []any{3, "b", 1}))
	if err := q.ProcessAllAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := q.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "output before the window is over", text(w.sinks["out"].All()), "")
	q = begin()
	equal(t, "active", len(s.Streams().Active()) > 0, true)
	w.streams["a"].Add(rows(t, []any{25, "a", 1}))
	if err := q.ProcessAllAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "output", text(w.sinks["out"].All()), `{"k":"a","n":2} {"k":"b","n":1}`)
	if err := s.Streams().StopAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Streams().AwaitAnyTermination(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestForeachBatch(t *testing.T) {
	w, s := newWorld(t)
	w.streams["a"].Add(rows(t, []any{1, "a", 1}, []any{2, "b", 5}))
	var got []string
	write := func(f func(ctx context.Context, df *DataFrame, id int64) error) error {
		q, err := s.ReadStream().Format("memory").Schema(ddl).Load("a").WriteStream().QueryName("q").Trigger(AvailableNow()).ForeachBatch(f).Start(t.Context())
		if err != nil {
			return err
		}
		return q.AwaitTermination(t.Context())
	}
	err := write(func(ctx context.Context, df *DataFrame, id int64) error {
		res, err := df.Agg("sum(v) AS s").Collect(ctx)
		if err == nil {
			got = append(got, fmt.Sprint(id, text(res.Batches)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "batches", strings.Join(got, "; "), `0{"s":6}`)
	fault := errors.New("no room")
	err = write(func(context.Context, *DataFrame, int64) error { return fault })
	equal(t, "condition", sparkerr.Condition(err), "FOREACH_BATCH_USER_FUNCTION_ERROR")
	equal(t, "cause", errors.Is(err, fault), true)
	equal(t, "ended with a fault", errors.Is(s.Streams().AwaitAnyTermination(t.Context()), fault), true)
}
