package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/internal/generate"
	"github.com/wstream/wstream/pipeline"
	guests "github.com/wstream/wstream/testdata/guests"
)

// quickstartPipeline is the pipeline of the quickstart, as a user would write it.
const quickstartPipeline = `name: quickstart
modules:
  clicks: {path: clicks.wasm, config: {connection: counts}, allow: ["sql:counts"]}
connections:
  counts: {driver: sqlite, dsn: counts.db}
sources:
  raw:
    format: kafka
    options: {kafka.bootstrap.servers: "${QUICKSTART_BROKER}", subscribe: clicks, startingOffsets: earliest}
views:
  events:
    from: raw
    steps:
      - parse: clicks.parse
      - filter: clicks.is_human
      - watermark: {column: event_time, delay: 10 minutes}
    onError: skip
  per_window:
    sql: |
      SELECT window.start AS window_start, window.end AS window_end, url, count(*) AS cnt
      FROM events GROUP BY window(event_time, '10 minutes'), url
sinks:
  table:
    from: per_window
    foreachBatch: clicks.upsert
    outputMode: update
    checkpointLocation: checkpoint/table
`

func (p *program) quickstartCommand() *cli.Command {
	return &cli.Command{
		Name: "quickstart", Usage: "the whole thing in a minute: clicks from an in-process broker, a Wasm parse and filter, windowed counts, a guest's upsert into SQLite",
		Description: "Nothing is installed, and nothing is written outside a temporary folder. Ends by Ctrl-C, or by itself\nafter --seconds.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "seconds", Usage: "end after `N` seconds; 10 where there is no terminal, 60 on one", DefaultText: "10 or 60"},
			&cli.IntFlag{Name: "rate", Value: 20_000, Usage: "`N` clicks a second"},
			&cli.BoolFlag{Name: "keep", Usage: "keep the folder with the pipeline, to go on from it"},
		},
		Action: p.quickstart,
	}
}

func (p *program) quickstart(c *cli.Context) error {
	seconds := c.Int("seconds")
	if seconds <= 0 {
		seconds = 10
		if terminal(p.out) {
			seconds = 60
		}
	}
	dir, err := os.MkdirTemp("", "wstream-quickstart-")
	if err != nil {
		return environment(err)
	}
	if !c.Bool("keep") {
		defer os.RemoveAll(dir)
	}
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, "clicks"))
	if err != nil {
		return environment(err)
	}
	defer broker.Close()
	addr := broker.ListenAddrs()[0]
	if err := os.WriteFile(filepath.Join(dir, "clicks.wasm"), guests.Clicks(), 0o644); err != nil {
		return environment(err)
	}
	file := filepath.Join(dir, "quickstart.yaml")
	if err := os.WriteFile(file, []byte(quickstartPipeline), 0o644); err != nil {
		return environment(err)
	}
	if err := os.Setenv("QUICKSTART_BROKER", addr); err != nil {
		return err
	}
	p.note("%s\nin %s: the pipeline above, over clicks from an in-process broker at %s\n", quickstartPipeline, dir, addr)

	ctx, cancel := context.WithTimeout(c.Context, time.Duration(seconds)*time.Second)
	defer cancel()
	var sent atomic.Int64
	var wg sync.WaitGroup
	wg.Add(1)
	var produceErr error
	go func() {
		defer wg.Done()
		produceErr = produceClicks(ctx, addr, c.Int("rate"), &sent)
	}()
	wg.Add(1)
	go func() {
		defer wg.Done()
		p.showCounts(ctx, filepath.Join(dir, "counts.db"))
	}()
	began := time.Now()
	err = p.quickstartRun(ctx, file, false)
	ended := ctx.Err() != nil
	cancel()
	wg.Wait()
	if err == nil {
		err = produceErr
	}
	if err != nil && !ended {
		return err
	}
	if c.Context.Err() == nil {
		// What the query had not read yet: it goes on from its checkpoint.
		if err := p.quickstartRun(c.Context, file, true); err != nil {
			return err
		}
	}
	return p.quickstartSummary(c, filepath.Join(dir, "counts.db"), sent.Load(), time.Since(began), dir)
}

// quickstartRun runs the pipeline until ctx ends, or with now until it has read all there is; being stopped is not an error.
func (p *program) quickstartRun(ctx context.Context, file string, now bool) error {
	f, err := pipeline.Load(file)
	if err != nil {
		return err
	}
	env, done, err := p.environment(ctx, nil)
	if err != nil {
		return err
	}
	defer done()
	r := &runner{p: &program{in: p.in, out: p.out, err: p.err, quiet: true}, env: env, headroom: newHeadroom(), now: now}
	err = r.run(ctx, []*pipeline.File{f})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// produceClicks writes clicks at a rate until ctx ends. Event times are the clock's, sped up sixty times, so
// that windows of ten minutes close while one looks on.
func produceClicks(ctx context.Context, addr string, rate int, sent *atomic.Int64) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic("clicks"))
	if err != nil {
		return err
	}
	defer cl.Close()
	kind, err := generate.Find("clicks")
	if err != nil {
		return err
	}
	rows := kind.Rows(generate.Part{Seed: 1, Total: rate * 60})
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	per := max(rate/20, 1)
	for {
		select {
		case <-ctx.Done():
			return cl.Flush(context.Background())
		case <-tick.C:
		}
		for range per {
			cl.Produce(context.Background(), &kgo.Record{Value: rows.Append(nil)}, func(_ *kgo.Record, err error) {
				if err == nil {
					sent.Add(1)
				}
			})
		}
	}
}

// counts is what the table holds.
type counts struct {
	windows, rows, total int64
	top                  [][3]string
}

func readCounts(path string) (counts, error) {
	var c counts
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&_pragma=busy_timeout(1000)")
	if err != nil {
		return c, err
	}
	defer db.Close()
	if err := db.QueryRow(`SELECT count(DISTINCT window_start), count(*), coalesce(sum(cnt), 0) FROM clicks_per_window`).Scan(&c.windows, &c.rows, &c.total); err != nil {
		return c, err
	}
	rows, err := db.Query(`SELECT window_start, url, cnt FROM clicks_per_window ORDER BY window_start DESC, cnt DESC LIMIT 8`)
	if err != nil {
		return c, err
	}
	defer rows.Close()
	for rows.Next() {
		var r [3]string
		if err := rows.Scan(&r[0], &r[1], &r[2]); err != nil {
			return c, err
		}
		c.top = append(c.top, r)
	}
	return c, rows.Err()
}

// showCounts prints the newest windows of the table once a second.
func (p *program) showCounts(ctx context.Context, path string) {
	if p.quiet || p.json {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	drawn := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c, err := readCounts(path)
		if err != nil {
			continue // the table is not there yet
		}
		p.mu.Lock()
		if terminal(p.out) && drawn > 0 {
			fmt.Fprintf(p.out, "\x1b[%dA\x1b[J", drawn)
		}
		drawn = 2
		fmt.Fprintf(p.out, "%d clicks counted in %d windows\n%-28s %8s  %s\n", c.total, c.windows, "window_start", "cnt", "url")
		for _, r := range c.top {
			fmt.Fprintf(p.out, "%-28s %8s  %s\n", r[0], r[2], r[1])
			drawn++
		}
		p.mu.Unlock()
	}
}

func (p *program) quickstartSummary(c *cli.Context, path string, sent int64, took time.Duration, dir string) error {
	n, err := readCounts(path)
	if err != nil {
		return fmt.Errorf("the table was not written: %w", err)
	}
	text := fmt.Sprintf("%d clicks sent, %d passed the filter and were counted in %d windows and %d rows of SQLite in %.1f s, exactly once", sent, n.total, n.windows, n.rows, took.Seconds())
	if c.Bool("keep") {
		text += "; the pipeline is in " + dir
	}
	p.succeed("quickstart", text, map[string]any{"sent": sent, "counted": n.total, "windows": n.windows, "rows": n.rows, "seconds": took.Seconds()})
	return nil
}
