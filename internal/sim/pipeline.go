package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/connect"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/engine/udf"
	"github.com/wstream/wstream/internal/vfs"
	"github.com/wstream/wstream/pipeline"
)

// rowSchema is the schema of every source.
const rowSchema = "k INT, v BIGINT, ts TIMESTAMP"

// scenario is what a seed runs, faults apart.
type scenario struct {
	shape   string // of the pipeline, in a word
	text    string // the pipeline file
	sources []string
	files   bool // sources are JSON files, otherwise memory
	objects bool // the checkpoint is in an object store
	sink    string
	late    bool // late rows go to a sink of their own
	// phases are the rows that are there from each phase on, by source, one chunk a batch.
	phases   []map[string][]chunk
	keep     int   // batches to keep in the checkpoint
	segment  int64 // bytes of a log segment
	snapshot int64 // bytes of log between snapshots
}

// pick chooses one of several.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// newScenario makes the scenario of a seed.
func newScenario(r *rand.Rand) *scenario {
	s := &scenario{
		sources: []string{"a"}, files: r.IntN(3) == 0, sink: "ledger", keep: pick(r, 1, 2, 4, 100), segment: pick[int64](r, 300, 2000, 20000),
		snapshot: pick[int64](r, 2500, 6000, 40000),
	}
	delay := pick(r, 0, 5, 20)
	view, mode := "", "append"
	mark := fmt.Sprintf("      - watermark: {column: ts, delay: %d seconds}\n", delay)
	window := pick(r, "'10 seconds'", "'30 seconds'", "'20 seconds', '10 seconds'")
	switch s.shape = pick(r, "stateless", "window", "session", "join", "dedup", "chain", "total", "union", "timers", "timers"); s.shape {
	case "stateless":
		view = fmt.Sprintf("  out:\n    sql: SELECT k, v * 2 AS w, ts FROM a WHERE v %% %d <> 0\n", 2+r.IntN(3))
	case "window":
		mode = pick(r, "append", "update")
		view = "  marked:\n    from: a\n    steps:\n" + mark + "  out:\n    sql: SELECT window.start AS s, window.end AS e, k, count(*) AS n, sum(v) AS t, max(v) AS m FROM marked GROUP BY window(ts, " +
			window + "), k\n"
		s.late = r.IntN(2) == 0
	case "session":
		view = "  marked:\n    from: a\n    steps:\n" + mark + fmt.Sprintf(
			"  out:\n    sql: SELECT session_window.start AS s, session_window.end AS e, k, count(*) AS n, sum(v) AS t FROM marked GROUP BY session_window(ts, '%d seconds'), k\n",
			pick(r, 3, 10, 25))
		s.late = r.IntN(2) == 0
	case "join":
		s.sources = append(s.sources, "b")
		kind := pick(r, "JOIN", "LEFT JOIN", "FULL JOIN")
		view = "  left:\n    from: a\n    steps:\n" + mark + "  right:\n    from: b\n    steps:\n" + mark +
			"  out:\n    sql: SELECT l.k AS k, l.v AS v, r.v AS w FROM left l " + kind +
			fmt.Sprintf(" right r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL %d SECONDS\n", pick(r, 5, 15))
	case "dedup":
		step := pick(r, "dropDuplicates: [k, ts]", "dropDuplicatesWithinWatermark: [k]")
		view = "  out:\n    from: a\n    steps:\n" + mark + "      - " + step + "\n"
	case "chain":
		view = "  once:\n    from: a\n    steps:\n" + mark + "      - dropDuplicates: [k, ts]\n  out:\n    sql: SELECT window.end AS e, count(*) AS n, sum(v) AS t FROM once GROUP BY window(ts, " + window + ")\n"
	case "union":
		s.sources = append(s.sources, "b")
		view = "  left:\n    from: a\n    steps:\n" + mark + "  right:\n    from: b\n    steps:\n" + mark +
			"  both:\n    sql: SELECT k, v, ts FROM left UNION ALL SELECT k, v, ts FROM right\n" +
			"  out:\n    sql: SELECT window.end AS e, k, count(*) AS n, sum(v) AS t FROM both GROUP BY window(ts, " + window + "), k\n"
	case "timers":
		view = "  out:\n    from: a\n    steps:\n" + mark + fmt.Sprintf("      - flatMapGroupsWithState: sim.quiet%d\n", pick(r, quietSeconds()...))
	case "total":
		mode = pick(r, "complete", "update")
		view = "  out:\n    sql: SELECT k, count(*) AS n, sum(v) AS t, min(v) AS m FROM a GROUP BY k\n"
	}
	if mode == "append" && r.IntN(3) == 0 {
		s.sink = "files"
	}
	if s.late {
		view = strings.Replace(view, "  out:\n", "  out:\n    late: lates\n", 1)
	}
	s.objects = r.IntN(3) == 0
	s.text = s.file(view, mode)
	s.fill(r)
	return s
}

// file is the pipeline file.
func (s *scenario) file(views, mode string) string {
	var b strings.Builder
	b.WriteString("name: sim\nmodules: {sim: {path: sim.wasm}}\nsources:\n")
	for _, name := range s.sources {
		fmt.Fprintf(&b, "  %s:\n    format: json\n    schema: %s\n    options: {path: /in/%s, maxFilesPerTrigger: 1}\n", name, rowSchema, name)
	}
	b.WriteString("views:\n" + views + "sinks:\n")
	format := "memory"
	if s.sink == "files" {
		format = "json\n    options: {path: /out}"
	}
	fmt.Fprintf(&b, "  sink:\n    from: out\n    format: %s\n    outputMode: %s\n    trigger: {availableNow: true}\n    checkpointLocation: /checkpoint\n", format, mode)
	if s.late {
		b.WriteString("  lates:\n    format: json\n    options: {path: /lates}\n")
	}
	return b.String()
}

// plans keeps what compiling a pipeline file gives, since many seeds share one.
type plans struct {
	mu sync.Mutex
	by map[string]planned
}

type planned struct {
	spec stream.Spec
	err  error
}

// of compiles the pipeline of a scenario. The result is the caller's to change.
func (p *plans) of(s *scenario) (stream.Spec, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := fmt.Sprint(s.files, s.sink, s.text)
	got, ok := p.by[key]
	if !ok {
		got.spec, got.err = compile(s)
		p.by[key] = got
	}
	return got.spec, got.err
}

func compile(s *scenario) (stream.Spec, error) {
	var none stream.Spec
	f, err := pipeline.Parse("sim.yaml", "/", []byte(s.text))
	if err != nil {
		return none, err
	}
	f.Modules = nil // "sim" is in Go
	env := &pipeline.Environment{Connectors: connect.All(), Registry: expr.NewRegistry(expr.Builtins()), FS: vfs.NewStrictMem(), Functions: []udf.Module{timers{}}}
	schema, err := columnar.ParseDDL(rowSchema)
	if err != nil {
		return none, err
	}
	overrides := map[string]pipeline.Override{}
	if !s.files {
		for _, name := range s.sources {
			overrides[name] = pipeline.Override{Schema: schema, Source: stream.Source{Kind: "sim"}}
		}
	}
	rt, err := env.Open(context.Background(), f, overrides)
	if err != nil {
		return none, err
	}
	o := pipeline.RunOptions{SideSinks: map[string]stream.Sink{}}
	if s.late {
		o.SideSinks["lates"] = stream.Sink{Kind: "sim", Open: func(connector.Env) (connector.Sink, error) { return nil, fmt.Errorf("no sink") }}
	}
	return rt.Spec(rt.File.Sink("sink"), o)
}
