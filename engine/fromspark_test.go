package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/connect"
	"github.com/wstream/wstream/engine"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/memory"
	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/pipeline"
)

// The functions from here to fromSparkInput stand on the page docs/from-spark.md, letter by letter.

func clicksPerWindow(ctx context.Context, s *engine.Session) (*engine.StreamingQuery, error) {
	clicks := s.ReadStream().Format("json").Schema("ts TIMESTAMP, url STRING").Option("maxFilesPerTrigger", "1").Load("clicks")
	counts := clicks.
		WithWatermark("ts", "10 minutes").
		GroupBy("window(ts, '10 minutes')", "url").
		Count().
		Select("window.start AS start", "url", "count")
	return counts.WriteStream().
		Format("json").Option("path", "out").Option("checkpointLocation", "checkpoint").
		OutputMode(engine.Append).Trigger(engine.AvailableNow()).
		Start(ctx)
}

func sensorAlerts(ctx context.Context, s *engine.Session) (*engine.StreamingQuery, error) {
	readings := s.ReadStream().Format("json").Schema("ts TIMESTAMP, device STRING, temperature DOUBLE").
		Option("maxFilesPerTrigger", "1").Load("sensors")
	alerts := readings.
		Filter("temperature IS NOT NULL").
		WithWatermark("ts", "5 minutes").
		GroupBy("window(ts, '10 minutes', '5 minutes') AS w", "device").
		Agg("avg(temperature) AS mean", "max(temperature) AS top").
		Where("mean > 30").
		Select("w.end AS until", "device", "mean", "top")
	return alerts.WriteStream().
		Format("json").Option("path", "out").Option("checkpointLocation", "checkpoint").
		Trigger(engine.AvailableNow()).Start(ctx)
}

func sales(ctx context.Context, s *engine.Session) (*engine.StreamingQuery, error) {
	sales := s.ReadStream().Format("json").Schema("item STRING, amount DECIMAL(10,2)").Load("sales")
	items := s.Read().Format("csv").Schema("item STRING, category STRING").Option("header", "true").Load("items.csv")
	enriched := sales.JoinUsing(items, []string{"item"}, "left")
	first, err := enriched.WriteStream().
		Format("json").Option("path", "out").Option("checkpointLocation", "checkpoint").
		Trigger(engine.AvailableNow()).Start(ctx)
	if err != nil {
		return nil, err
	}
	if err := first.AwaitTermination(ctx); err != nil {
		return nil, err
	}
	totals := enriched.GroupBy("category").Agg("sum(amount) AS total")
	return totals.WriteStream().OutputMode(engine.Complete).
		ForeachBatch(func(ctx context.Context, rows *engine.DataFrame, batch int64) error {
			return write(ctx, rows, "out2")
		}).
		Option("checkpointLocation", "checkpoint2").Trigger(engine.AvailableNow()).Start(ctx)
}

func impressionsAndClicks(ctx context.Context, s *engine.Session) (*engine.StreamingQuery, error) {
	impressions := s.ReadStream().Format("json").Schema("ad INT, shown TIMESTAMP").Option("maxFilesPerTrigger", "1").
		Load("impressions").WithWatermark("shown", "10 minutes")
	clicks := s.ReadStream().Format("json").Schema("ad INT, clicked TIMESTAMP").Option("maxFilesPerTrigger", "1").
		Load("adclicks").WithWatermark("clicked", "20 minutes")
	joined := impressions.Alias("i").
		Join(clicks.Alias("c"), "i.ad = c.ad AND c.clicked BETWEEN i.shown AND i.shown + INTERVAL 1 HOUR", "left").
		Select("i.ad", "shown", "clicked")
	return joined.WriteStream().
		Format("json").Option("path", "out").Option("checkpointLocation", "checkpoint").
		Trigger(engine.AvailableNow()).Start(ctx)
}

func deduplication(ctx context.Context, s *engine.Session) (*engine.StreamingQuery, error) {
	events := s.ReadStream().Format("json").Schema("id INT, ts TIMESTAMP").Option("maxFilesPerTrigger", "1").Load("events")
	once := events.WithWatermark("ts", "10 minutes").DropDuplicatesWithinWatermark("id")
	return once.WriteStream().
		Format("json").Option("path", "out").Option("checkpointLocation", "checkpoint").
		Trigger(engine.AvailableNow()).Start(ctx)
}

func enrichment(ctx context.Context, s *engine.Session) (*engine.StreamingQuery, error) {
	readings := s.ReadStream().Format("json").Schema("ts TIMESTAMP, device STRING, temperature DOUBLE").Load("sensors")
	devices := s.Read().Format("csv").Schema("device STRING, room STRING").Option("header", "true").
		Refresh(10 * time.Minute).Load("devices.csv")
	named := readings.
		JoinUsing(devices, []string{"device"}, "inner").
		WithColumn("fahrenheit", "round(temperature * 9 / 5 + 32, 1)").
		Select("room", "fahrenheit")
	return named.WriteStream().
		Format("json").Option("path", "out").Option("checkpointLocation", "checkpoint").
		Trigger(engine.AvailableNow()).Start(ctx)
}

// fromSparkInput is what the listings read: files by path, in the order in which they are there.
func fromSparkInput() []string {
	return []string{
		"clicks/1.json", `{"ts":"2026-03-01T10:01:00Z","url":"/a"}` + "\n" + `{"ts":"2026-03-01T10:02:00Z","url":"/a"}` + "\n" + `{"ts":"2026-03-01T10:09:00Z","url":"/b"}`,
		"clicks/2.json", `{"ts":"2026-03-01T10:31:00Z","url":"/a"}`,
		"clicks/3.json", `{"ts":"2026-03-01T10:32:00Z","url":"/a"}`,
		"clicks/4.json", `{"ts":"2026-03-01T10:03:00Z","url":"/late"}` + "\n" + `{"ts":"2026-03-01T11:00:00Z","url":"/b"}`,
		"sensors/1.json", `{"ts":"2026-03-01T10:01:00Z","device":"d1","temperature":35.5}` + "\n" + `{"ts":"2026-03-01T10:02:00Z","device":"d2","temperature":20.0}` + "\n" + `{"ts":"2026-03-01T10:03:00Z","device":"d1"}`,
		"sensors/2.json", `{"ts":"2026-03-01T10:40:00Z","device":"d2","temperature":31.0}`,
		"sales/1.json", `{"item":"tea","amount":"3.50"}` + "\n" + `{"item":"pen","amount":"1.20"}` + "\n" + `{"item":"tea","amount":"2.50"}` + "\n" + `{"item":"x","amount":"9.99"}`,
		"items.csv", "item,category\ntea,drinks\npen,paper\n",
		"devices.csv", "device,room\nd1,hall\nd2,lab\n",
		"impressions/1.json", `{"ad":1,"shown":"2026-03-01T10:00:00Z"}` + "\n" + `{"ad":2,"shown":"2026-03-01T10:05:00Z"}`,
		"impressions/2.json", `{"ad":3,"shown":"2026-03-01T14:00:00Z"}`,
		"adclicks/1.json", `{"ad":1,"clicked":"2026-03-01T10:30:00Z"}` + "\n" + `{"ad":2,"clicked":"2026-03-01T11:30:00Z"}`,
		"adclicks/2.json", `{"ad":9,"clicked":"2026-03-01T14:00:00Z"}`,
		"events/1.json", `{"id":1,"ts":"2026-03-01T10:00:00Z"}` + "\n" + `{"id":1,"ts":"2026-03-01T10:01:00Z"}` + "\n" + `{"id":2,"ts":"2026-03-01T10:02:00Z"}`,
		"events/2.json", `{"id":2,"ts":"2026-03-01T10:05:00Z"}` + "\n" + `{"id":3,"ts":"2026-03-01T10:06:00Z"}`,
	}
}

// outFolder is where write puts its rows; a test sets it in the context.
type outFolder struct{}

// write keeps the rows of a batch in place of those before.
func write(ctx context.Context, rows *engine.DataFrame, name string) error {
	res, err := rows.Collect(ctx)
	if err != nil {
		return err
	}
	dir, _ := ctx.Value(outFolder{}).(string)
	return os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(rowsOf(res), "\n")), 0o644)
}

// sparkListing is a section of the page.
type sparkListing struct{ title, golang, yaml, sql string }

func readListings(t *testing.T) []sparkListing {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "from-spark.md"))
	if err != nil {
		t.Fatal(err)
	}
	fence := regexp.MustCompile("(?s)```(go|yaml|sql)\n(.*?)```")
	var out []sparkListing
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		title, rest, _ := strings.Cut(section, "\n")
		l := sparkListing{title: title}
		for _, m := range fence.FindAllStringSubmatch(rest, -1) {
			switch m[1] {
			case "go":
				l.golang = m[2]
			case "yaml":
				l.yaml = m[2]
			case "sql":
				l.sql = m[2]
			}
		}
		if l.golang != "" {
			out = append(out, l)
		}
	}
	return out
}

// sourceOf are the functions of this file as they are written, by name.
func sourceOf(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("fromspark_test.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "fromspark_test.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			out[fn.Name.Name] = string(text[set.Position(fn.Pos()).Offset:set.Position(fn.End()).Offset]) + "\n"
		}
	}
	return out
}

// TestFromSpark runs every listing of docs/from-spark.md in all its forms on the same files and compares what comes out.
func TestFromSpark(t *testing.T) {
	run := map[string]func(context.Context, *engine.Session) (*engine.StreamingQuery, error){
		"clicksPerWindow": clicksPerWindow, "sensorAlerts": sensorAlerts, "sales": sales,
		"impressionsAndClicks": impressionsAndClicks, "deduplication": deduplication, "enrichment": enrichment,
	}
	want := map[string][]string{
		"clicksPerWindow": {`{"start":"2026-03-01T10:00:00.000Z","url":"/a","count":2}`, `{"start":"2026-03-01T10:00:00.000Z","url":"/b","count":1}`, `{"start":"2026-03-01T10:30:00.000Z","url":"/a","count":2}`},
		"sensorAlerts":    {`{"until":"2026-03-01T10:05:00.000Z","device":"d1","mean":35.5,"top":35.5}`, `{"until":"2026-03-01T10:10:00.000Z","device":"d1","mean":35.5,"top":35.5}`},
		"sales": {
			`out2 {"category":"drinks","total":"6.00"}`, `out2 {"category":"paper","total":"1.20"}`, `out2 {"category":null,"total":"9.99"}`,
			`{"item":"pen","amount":1.20,"category":"paper"}`, `{"item":"tea","amount":2.50,"category":"drinks"}`, `{"item":"tea","amount":3.50,"category":"drinks"}`, `{"item":"x","amount":9.99}`,
		},
		"impressionsAndClicks": {`{"ad":1,"shown":"2026-03-01T10:00:00.000Z","clicked":"2026-03-01T10:30:00.000Z"}`, `{"ad":2,"shown":"2026-03-01T10:05:00.000Z"}`},
		"deduplication":        {`{"id":1,"ts":"2026-03-01T10:00:00.000Z"}`, `{"id":2,"ts":"2026-03-01T10:02:00.000Z"}`, `{"id":3,"ts":"2026-03-01T10:06:00.000Z"}`},
		"enrichment":           {`{"room":"hall"}`, `{"room":"hall","fahrenheit":95.9}`, `{"room":"lab","fahrenheit":68.0}`, `{"room":"lab","fahrenheit":87.8}`},
	}
	source, listings := sourceOf(t), readListings(t)
	if len(listings) != len(run) {
		t.Fatalf("%d listings on the page, want %d", len(listings), len(run))
	}
	for _, l := range listings {
		t.Run(l.title, func(t *testing.T) {
			name, _, _ := strings.Cut(strings.TrimPrefix(l.golang, "func "), "(")
			if l.golang != source[name] || run[name] == nil {
				t.Fatalf("the listing of %s is not what the test runs:\n%s", name, l.golang)
			}
			expect := slices.Clone(want[name])
			slices.Sort(expect)
			compare := func(form string, got []string) {
				t.Helper()
				if !slices.Equal(got, expect) {
					t.Errorf("%s gave\n%s\nwant\n%s", form, strings.Join(got, "\n"), strings.Join(expect, "\n"))
				}
			}
			compare("Go", runGo(t, run[name]))
			compare("the pipeline file", runYAML(t, l.yaml, ""))
			if l.sql != "" {
				compare("SQL", runYAML(t, l.yaml, l.sql))
			}
		})
	}
}

// inputs writes the files into a folder of their own.
func inputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := fromSparkInput()
	start := time.Now().Add(-time.Hour)
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		at := start.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// outputs are the lines that the JSON sink has written, and those of the second sink.
func outputs(t *testing.T, dir string) []string {
	t.Helper()
	rows := []string{}
	files, _ := filepath.Glob(filepath.Join(dir, "out", "*.json"))
	for _, f := range files {
		eachLine(t, f, func(line []byte) { rows = append(rows, string(line)) })
	}
	eachLine(t, filepath.Join(dir, "out2"), func(line []byte) { rows = append(rows, "out2 "+string(line)) })
	slices.Sort(rows)
	return rows
}

func runGo(t *testing.T, f func(context.Context, *engine.Session) (*engine.StreamingQuery, error)) []string {
	t.Helper()
	dir := inputs(t)
	s, err := session(engine.Options{BaseDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithValue(t.Context(), outFolder{}, dir)
	q, err := f(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.AwaitTermination(ctx); err != nil {
		t.Fatal(err)
	}
	return outputs(t, dir)
}

// runYAML runs the sinks of a pipeline file one after the other; queries, if given, take the place of what they read.
func runYAML(t *testing.T, text, queries string) []string {
	t.Helper()
	dir := inputs(t)
	if queries != "" {
		text = withQueries(t, text, strings.Split(queries, ";"))
	}
	f, err := pipeline.Parse("pipeline.yaml", dir, []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	env := &pipeline.Environment{Connectors: connect.All(), Registry: expr.NewRegistry(expr.Builtins())}
	rt, err := env.Open(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, sink := range f.Queries() {
		spec, err := rt.Spec(sink, pipeline.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rows := memory.NewSink()
		if sink.Format == "console" {
			spec.Sink = stream.Sink{Kind: "memory", Open: func(connector.Env) (connector.Sink, error) { return rows, nil }}
		}
		q, err := stream.Start(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.AwaitTermination(t.Context()); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, b := range rows.All() { // go where the function of Go puts them
			lines = append(lines, rowsOf(&engine.Result{Schema: b.Schema, Batches: []*columnar.Batch{b}})...)
		}
		if lines != nil {
			if err := os.WriteFile(filepath.Join(dir, sink.Name), []byte(strings.Join(lines, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return outputs(t, dir)
}

// withQueries replaces the views of a pipeline file by one for each sink.
func withQueries(t *testing.T, text string, queries []string) string {
	t.Helper()
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	views, sinks := map[string]any{}, doc["sinks"].(map[string]any)
	if len(sinks) != len(queries) {
		t.Fatalf("%d queries for %d sinks", len(queries), len(sinks))
	}
	for i, q := range queries {
		name := "out"
		if i > 0 {
			name = fmt.Sprint("out", i+1)
		}
		views["q_"+name] = map[string]any{"sql": q}
		sinks[name].(map[string]any)["from"] = "q_" + name
	}
	doc["views"] = views
	b, err := json.Marshal(doc) // which is YAML as well
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
