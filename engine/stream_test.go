package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/engine/stream"
)

func process(t *testing.T, q *StreamingQuery) {
	t.Helper()
	if err := q.ProcessAllAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A table that may change is read again when it is old enough, not before.
func TestRefreshOfATable(t *testing.T) {
	w, s := newWorld(t)
	w.streams["b"].Add(rows(t, []any{0, "a", 10}))
	table := s.Read().Format("memory").Schema(ddl).Refresh(3*time.Second).Load("b").Select("k", "v AS price")
	joined := s.ReadStream().Format("memory").Schema(ddl).Load("a").JoinUsing(table, []string{"k"}, "left").Select("v", "price")
	q, err := joined.WriteStream().Format("memory").Trigger(Trigger{Kind: stream.Manual}).Start(t.Context(), "out")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 { // the clock moves by a second with each batch
		w.streams["a"].Add(rows(t, []any{i, "b", i}))
		process(t, q)
		if i == 0 {
			w.streams["b"].Add(rows(t, []any{0, "b", 20}))
		}
	}
	if err := q.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "output", text(w.sinks["out"].All()),
		`{"v":0,"price":null} {"v":1,"price":null} {"v":2,"price":null} {"v":3,"price":20} {"v":4,"price":20}`)
}

// A stream that a query reads twice is one source, with one offset, and its rows are counted once.
func TestSelfJoin(t *testing.T) {
	w, s := newWorld(t)
	events := s.ReadStream().Format("memory").Name("events").Schema(ddl).Load("a").WithWatermark("ts", "0 seconds")
	joined := events.Alias("l").Join(events.Alias("r"), "l.k = r.k AND l.v < r.v AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 5 SECONDS", "inner").
		Select("l.v AS a", "r.v AS b")
	q, err := joined.WriteStream().Format("memory").Trigger(Trigger{Kind: stream.Manual}).Start(t.Context(), "out")
	if err != nil {
		t.Fatal(err)
	}
	w.streams["a"].Add(rows(t, []any{1, "a", 1}, []any{3, "a", 2}, []any{3, "b", 3}))
	process(t, q)
	w.streams["a"].Add(rows(t, []any{4, "a", 5}))
	process(t, q)
	if err := q.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "output", text(w.sinks["out"].All()), `{"a":1,"b":2} {"a":1,"b":5} {"a":2,"b":5}`)
	p := q.RecentProgress()[0]
	equal(t, "sources", len(p.Sources), 1)
	equal(t, "rows", p.NumInputRows, 3)
}

// Late rows come out at a sink of their own, in the batch in which they came.
func TestLateRows(t *testing.T) {
	w, s := newWorld(t)
	counts := s.ReadStream().Format("memory").Schema(ddl).Load("a").WithWatermark("ts", "0 seconds").
		GroupBy("window(ts, '10 seconds') AS w").Agg("count(*) AS n").Select("n").LateRowsTo("late")
	q, err := counts.WriteStream().Format("memory").SideSink("late", "memory", map[string]string{"path": "late"}).
		Trigger(Trigger{Kind: stream.Manual}).Start(t.Context(), "out")
	if err != nil {
		t.Fatal(err)
	}
	w.streams["a"].Add(rows(t, []any{35, "a", 1}))
	process(t, q)
	w.streams["a"].Add(rows(t, []any{5, "late", 2}, []any{36, "a", 3}))
	process(t, q)
	if err := q.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := text(w.sinks["late"].All())
	if !strings.Contains(got, `"_watermark":"1970-01-01T00:00:35`) || !strings.Contains(got, `"_operator":"`) {
		t.Errorf("late rows: %s", got)
	}
	p := q.RecentProgress()
	equal(t, "rows at the side", p[2].Sink.SideRows["late"], 1)
	equal(t, "late rows", p[2].LateRows(), 1)
}

// A restart may rename columns on the way and change filters; it may not group by something else.
func TestWhatARestartMayChange(t *testing.T) {
	w, s := newWorld(t)
	start := func(build func(df *DataFrame) *DataFrame) error {
		q, err := build(s.ReadStream().Format("memory").Name("events").Schema(ddl).Load("a")).WriteStream().Format("memory").OutputMode(Update).
			Option("checkpointLocation", "/restarts").Trigger(AvailableNow()).Start(t.Context(), "out")
		if err != nil {
			return err
		}
		return q.AwaitTermination(t.Context())
	}
	w.streams["a"].Add(rows(t, []any{1, "a", 1}))
	if err := start(func(df *DataFrame) *DataFrame { return df.GroupBy("k").Agg("sum(v) AS s") }); err != nil {
		t.Fatal(err)
	}
	w.streams["a"].Add(rows(t, []any{2, "a", 2}, []any{2, "a", 50}))
	err := start(func(df *DataFrame) *DataFrame {
		return df.Filter("v < 50").Select("v AS amount", "k AS user").GroupBy("user").Agg("sum(amount) AS total")
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "output", text(w.sinks["out"].All()), `{"k":"a","s":1} {"user":"a","total":3}`)
	for what, build := range map[string]func(df *DataFrame) *DataFrame{
		"another key":        func(df *DataFrame) *DataFrame { return df.GroupBy("k || 'x' AS k").Agg("sum(v) AS s") },
		"one more key":       func(df *DataFrame) *DataFrame { return df.GroupBy("k", "ts").Agg("sum(v) AS s") },
		"a count, not a sum": func(df *DataFrame) *DataFrame { return df.GroupBy("k").Agg("count(v) AS s") },
		"another aggregate":  func(df *DataFrame) *DataFrame { return df.GroupBy("k").Agg("max(k) AS s") },
		"one more operator":  func(df *DataFrame) *DataFrame { return df.DropDuplicates("v").GroupBy("k").Agg("sum(v) AS s") },
	} {
		if err := start(build); err == nil {
			t.Errorf("%s: the restart was not refused", what)
		} else {
			t.Logf("%s: %v", what, err)
		}
	}
}
