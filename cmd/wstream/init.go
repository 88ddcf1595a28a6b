package main

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/sdk"
	guests "github.com/wstream/wstream/testdata/guests"
)

func (p *program) initCommand() *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "write a working pipeline with a guest, a test and sample data", ArgsUsage: "[DIR]",
		Description: "Lint, test and run work right after; with a broker or a database once that is there. Nothing is asked, and files\nthat are there are not overwritten.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "guest", Value: "go", Usage: "`LANGUAGE` of the guest: " + strings.Join(sdk.Languages(), ", ")},
			&cli.StringFlag{Name: "source", Value: "json", Usage: "`FORMAT` of the source: " + strings.Join(initSources(), ", ")},
			&cli.StringFlag{Name: "sink", Value: "console", Usage: "`FORMAT` of the sink: " + strings.Join(sortedKeys(initSinks()), ", ")},
		},
		Action: p.initPipeline,
	}
}

// initSources are the sources that `init` knows.
func initSources() []string { return []string{"json", "csv", "kafka"} }

// initSink is a sink that `init` knows.
type initSink struct {
	mode       string // the output mode
	options    string // its options, and whatever else belongs to the sink
	connection string // an entry of connections
}

func initSinks() map[string]initSink {
	table := "    options: {connection: results, table: totals, mode: upsert, key: [window_start, item]}\n"
	return map[string]initSink{
		"console":  {mode: "update", options: "    options: {truncate: \"false\"}\n"},
		"json":     {mode: "append", options: "    options: {path: out/totals}\n"},
		"csv":      {mode: "append", options: "    options: {path: out/totals}\n"},
		"parquet":  {mode: "append", options: "    options: {path: out/totals}\n"},
		"sqlite":   {mode: "update", options: table, connection: `{driver: sqlite, dsn: results.db}`},
		"postgres": {mode: "update", options: table, connection: `{driver: postgres, dsn: "${RESULTS_DSN:-postgres://postgres@localhost:5432/postgres}"}`},
		"mysql":    {mode: "update", options: table, connection: `{driver: mysql, dsn: "${RESULTS_DSN:-root@tcp(localhost:3306)/test}"}`},
	}
}

func (p *program) initPipeline(c *cli.Context) error {
	if c.Args().Len() > 1 {
		return invalid("expected at most one folder: `wstream init orders`")
	}
	dir := c.Args().First()
	if dir == "" {
		dir = "."
	}
	files, err := initFiles(c.String("guest"), c.String("source"), c.String("sink"))
	if err != nil {
		return err
	}
	if err := writeNew(dir, files); err != nil {
		return err
	}
	file := filepath.Join(dir, "pipeline.yaml")
	text := fmt.Sprintf("%s written to %s\n\n  wstream lint %s\n  wstream test %s\n  wstream run --available-now %s\n  wstream module build %s   (after a change of the guest)",
		count(len(files), "file"), dir, file, dir, file, filepath.Join(dir, "guest"))
	p.succeed("init", text, map[string]any{"dir": dir, "files": sortedKeys(files), "pipeline": file})
	return nil
}

// initFiles are the files of a new pipeline.
func initFiles(language, source, sink string) (map[string]string, error) {
	project, err := sdk.New(language, "guest")
	if err != nil {
		return nil, invalid("flag --guest: %w", err)
	}
	target, ok := initSinks()[sink]
	if !ok {
		return nil, invalid("flag --sink: found %q, expected %s", sink, strings.Join(sortedKeys(initSinks()), ", "))
	}
	files := map[string]string{}
	for name, text := range project.Files {
		files["guest/"+name] = text
	}
	wasm := "guest/" + project.Wasm
	files[wasm] = string(guests.Keep())
	if script, ok := project.Files["guest.js"]; ok {
		code, err := sdk.JavaScript([]byte(script))
		if err != nil {
			return nil, err
		}
		files[wasm] = string(code)
	}
	var from, step string
	const schema = "event_time TIMESTAMP, item STRING, amount DOUBLE"
	switch source {
	case "json", "csv":
		from = "    format: " + source + "\n    schema: " + schema + "\n    options: {path: data}\n"
		files["data/orders-1."+source], files["data/orders-2."+source] = initRows(source, 0, 6), initRows(source, 6, 12)
	case "kafka":
		from = "    format: kafka\n    options: {kafka.bootstrap.servers: \"${BROKERS:-localhost:9092}\", subscribe: orders, startingOffsets: earliest}\n"
		step = "      - sql: SELECT o.* FROM (SELECT from_json(CAST(value AS STRING), '" + schema + "') AS o FROM input)\n"
		files["data/orders.json"] = initRows("json", 0, 12)
	default:
		return nil, invalid("flag --source: found %q, expected %s", source, strings.Join(initSources(), ", "))
	}
	var b strings.Builder
	b.WriteString("# Orders per ten minutes and item. The guest, whose sources are in guest/, says which orders count.\nname: orders\n" +
		"modules:\n  guest: {path: " + wasm + "}\n")
	if target.connection != "" {
		b.WriteString("connections:\n  results: " + target.connection + "\n")
	}
	b.WriteString("sources:\n  orders:\n" + from + "views:\n  kept:\n    from: orders\n    steps:\n" + step +
		"      - filter: guest.keep\n      - watermark: {column: event_time, delay: 10 minutes}\n" +
		"  totals:\n    sql: |\n      SELECT window.start AS window_start, item, count(*) AS orders, sum(amount) AS total\n" +
		"      FROM kept GROUP BY window(event_time, '10 minutes'), item\n" +
		"sinks:\n  totals:\n    from: totals\n    format: " + sink + "\n" + target.options + "    outputMode: " + target.mode + "\n    checkpointLocation: checkpoint/totals\n")
	files["pipeline.yaml"] = b.String()
	files["pipeline_test.yaml"] = initTest(source, target.mode)
	files[".gitignore"] = "checkpoint/\nout/\n*.db\n*.db-*\nguest/node_modules/\n"
	return files, nil
}

// initRows are lines of sample data: an order each three minutes, of which every fourth one has no amount.
func initRows(format string, from, to int) string {
	items := [...]string{"tea", "coffee", "cake"}
	var b strings.Builder
	for i := from; i < to; i++ {
		amount := float64(i%4) * 1.5
		at := fmt.Sprintf("2026-10-06T%02d:%02d:00Z", 12+i*3/60, i*3%60)
		if format == "csv" {
			fmt.Fprintf(&b, "%s,%s,%.2f\n", at, items[i%3], amount)
		} else {
			fmt.Fprintf(&b, "{\"event_time\":%q,\"item\":%q,\"amount\":%.2f}\n", at, items[i%3], amount)
		}
	}
	return b.String()
}

// initTest is the test of a new pipeline: the first window, and what closes it.
func initTest(source, mode string) string {
	row := func(at, item, amount string) string {
		if source == "kafka" {
			value := fmt.Sprintf(`{"event_time":%q,"item":%q,"amount":%s}`, at, item, amount)
			return "        - {value: " + base64.StdEncoding.EncodeToString([]byte(value)) + "}\n"
		}
		return "        - {event_time: \"" + at + "\", item: " + item + ", amount: " + amount + "}\n"
	}
	const first = "      - {window_start: \"2026-10-06T12:00:00Z\", item: tea, orders: 2, total: 5.0}\n"
	const second = "      - {window_start: \"2026-10-06T12:30:00Z\", item: cake, orders: 1, total: 1.0}\n"
	early, late := "    output:\n"+first, "    output:\n"+second
	if mode == "append" {
		early, late = "    output: []\n", "    output:\n"+first
	}
	return "# Two orders of a window and one that the guest refuses; then one that moves the watermark beyond that window.\n" +
		"pipeline: pipeline.yaml\nsink: totals\nsteps:\n  - input:\n      orders:\n" +
		row("2026-10-06T12:01:00Z", "tea", "2.0") + row("2026-10-06T12:02:00Z", "tea", "3.0") + row("2026-10-06T12:03:00Z", "cake", "0.0") + early +
		"  - input:\n      orders:\n" + row("2026-10-06T12:31:00Z", "cake", "1.0") + late
}
