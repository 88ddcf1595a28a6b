package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/pipeline"
)

func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run every sink of pipeline files as a streaming query", ArgsUsage: "FILE…",
		Description: "Ends when every query has ended, by Ctrl-C, or when a query fails. With --json prints one line per event.\n\n" +
			"At a SIGHUP it goes over to what the files and modules say by then, at a batch boundary and with the state kept. What\n" +
			"does not lint, or could not go on from its checkpoint, is refused, and what ran before goes on. (Not on a terminal, and\n" +
			"not under nohup.)",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "sink", Usage: "run only the sink `NAME`; may be repeated"},
			&cli.StringSliceFlag{Name: "set", Usage: "change a setting or an option: `KEY=VALUE`, e.g. settings.timezone=UTC or sources.raw.options.path=in"},
			&cli.BoolFlag{Name: "available-now", Usage: "process what is there and end, whatever the triggers say"},
			&cli.BoolFlag{Name: "dev", Usage: "start anew, at a batch boundary, whenever a file or a module changes"},
			&cli.StringSliceFlag{Name: "modules", Usage: "look for modules that are not at their path in `DIR`"},
			&cli.StringFlag{Name: "metrics", Usage: "serve Prometheus metrics at `ADDR`, e.g. :9090"},
			&cli.StringSliceFlag{Name: "fail-at", Usage: "crash point for tests: `NAME@batch=N[:nth][=kill|err|sleep:MS|torn]`"},
			&cli.StringFlag{Name: "profile", Usage: "write CPU and memory profiles into `DIR`"},
		},
		Action: p.runPipelines,
	}
}

// event is a line of `run --json`.
type event struct {
	Event    string           `json:"event"`
	Query    string           `json:"query,omitempty"`
	ID       string           `json:"id,omitempty"`
	RunID    string           `json:"runId,omitempty"`
	Progress *stream.Progress `json:"progress,omitempty"`
	Warning  string           `json:"warning,omitempty"`
	OK       *bool            `json:"ok,omitempty"`
	Changed  []string         `json:"changed,omitempty"` // files, of `run --dev`
	Error    *failure         `json:"error,omitempty"`
}

func (p *program) runPipelines(c *cli.Context) error {
	files, err := p.loadSet(c.Args().Slice(), c.StringSlice("set"))
	if err != nil {
		return err
	}
	points, err := failpoints(c)
	if err != nil {
		return err
	}
	stopProfile, err := p.startProfile(c.String("profile"))
	if err != nil {
		return err
	}
	defer stopProfile()
	env, done, err := p.environment(c.Context, c.StringSlice("modules"))
	if err != nil {
		return err
	}
	defer done()
	metrics, err := p.serveMetrics(c.String("metrics"))
	if err != nil {
		return err
	}
	defer metrics.close()
	newRunner := func(env *pipeline.Environment) *runner {
		env.Metrics = metrics
		return &runner{p: p, env: env, metrics: metrics, headroom: newHeadroom(), points: points, now: c.Bool("available-now"), only: c.StringSlice("sink")}
	}
	if slices.Contains(c.Args().Slice(), "-") {
		if c.Bool("dev") {
			return invalid("flag --dev: standard input is read once; name a file, which can change")
		}
		return newRunner(env).run(c.Context, files)
	}
	d := &reloader{
		p: p, watch: c.Bool("dev"), paths: c.Args().Slice(), sets: c.StringSlice("set"), modules: c.StringSlice("modules"),
		only: c.StringSlice("sink"), runner: newRunner,
	}
	return d.run(c.Context, files, env)
}

// failpoints reads the crash points of --fail-at and of the environment.
func failpoints(c *cli.Context) (*failpoint.Set, error) {
	specs := c.StringSlice("fail-at")
	if v := envVar("WSTREAM_FAILPOINT"); v != "" {
		specs = append(specs, v)
	}
	if len(specs) == 0 {
		return nil, nil
	}
	s, err := failpoint.Parse(strings.Join(specs, ","))
	if err != nil {
		return nil, &coded{err, exitInvalid}
	}
	return s, nil
}

// runner runs the queries of files.
type runner struct {
	p        *program
	env      *pipeline.Environment
	metrics  *metrics
	headroom *headroom
	points   *failpoint.Set
	now      bool
	only     []string
	table    *liveTable
}

// job is a query with what it was made of.
type job struct {
	rt   *pipeline.Runtime
	sink *pipeline.Sink
	q    *stream.Query
}

func (r *runner) run(ctx context.Context, files []*pipeline.File) error {
	jobs, err := r.open(ctx, files)
	if err != nil {
		r.terminated("", err)
		return err
	}
	r.table = newLiveTable(r.p)
	defer r.table.close()
	runCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	for i := range jobs {
		j := &jobs[i]
		if err := r.start(ctx, j); err != nil {
			mu.Lock()
			if first == nil {
				first = err
			}
			mu.Unlock()
			cancel(err)
			break
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			err := r.await(runCtx, j)
			if err != nil {
				mu.Lock()
				if first == nil {
					first = err
				}
				mu.Unlock()
				cancel(err)
			}
		}()
	}
	wg.Wait()
	if first == nil && ctx.Err() != nil && r.p.signal.Load() == 0 {
		first = ctx.Err()
	}
	r.terminated("", first)
	return first
}

// open loads the pipelines and chooses their sinks; faults of all files come together.
func (r *runner) open(ctx context.Context, files []*pipeline.File) ([]job, error) {
	var jobs []job
	var errs pipeline.Errors
	var names []string
	for _, f := range files {
		rt, err := r.env.Open(ctx, f, nil)
		if es, ok := err.(pipeline.Errors); ok {
			errs = append(errs, es...)
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, s := range f.Queries() {
			names = append(names, s.Name)
			if len(r.only) > 0 && !slicesContain(r.only, s.Name) {
				continue
			}
			if rt.NeedsCheckpoint(s) && s.Checkpoint == "" {
				errs = append(errs, &pipeline.Error{File: f.Path, Line: s.Pos.Line, Col: s.Pos.Col, Message: fmt.Sprintf("sink %q has no checkpointLocation; add e.g. `checkpointLocation: checkpoint/%s`", s.Name, s.Name)})
			}
			jobs = append(jobs, job{rt: rt, sink: s})
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	for _, o := range r.only {
		if !slicesContain(names, o) {
			return nil, invalid("flag --sink: no sink %q; known are: %s", o, strings.Join(names, ", "))
		}
	}
	if len(jobs) == 0 {
		return nil, invalid("there is nothing to run: no sink has `from`")
	}
	return jobs, nil
}

func slicesContain(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (r *runner) start(ctx context.Context, j *job) error {
	o := pipeline.RunOptions{Failpoints: r.points, Listeners: []stream.Listener{{
		Started: func(e stream.StartedEvent) { r.started(j, e) },
		Progress: func(pr stream.Progress) {
			r.metrics.progress(j.sink.Name, pr)
			r.headroom.progress(j.sink.Name, pr)
			if r.p.json {
				r.p.printJSON(event{Event: "progress", Query: j.sink.Name, ID: pr.ID, RunID: pr.RunID, Progress: &pr})
			}
			r.table.progress(j.sink.Name, pr)
		},
		Warning: func(w stream.WarningEvent) {
			if r.p.json {
				r.p.printJSON(event{Event: "warning", Query: j.sink.Name, ID: w.ID, RunID: w.RunID, Warning: w.Text})
				return
			}
			r.p.warn(fmt.Sprintf("query %q: %s", j.sink.Name, w.Text))
		},
	}}}
	if r.now {
		o.Trigger = &stream.Trigger{Kind: stream.AvailableNow}
	}
	spec, err := j.rt.Spec(j.sink, o)
	if err != nil {
		return err
	}
	// A signal ends a start at once, and a query that runs by Stop, behind its batch.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	started := context.AfterFunc(ctx, cancel)
	j.q, err = stream.Start(life, spec)
	if err != nil {
		cancel()
		return err
	}
	started()
	go func() {
		<-j.q.Done()
		cancel()
	}()
	return nil
}

func (r *runner) started(j *job, e stream.StartedEvent) {
	r.table.start(j.sink.Name)
	if r.p.json {
		r.p.printJSON(event{Event: "started", Query: j.sink.Name, ID: e.ID, RunID: e.RunID})
		return
	}
	where := j.sink.Checkpoint
	if e.Temporary {
		where = "none: this query starts anew each time"
	} else if !filepath.IsAbs(where) {
		where = filepath.Join(j.rt.File.Dir, where)
	}
	r.p.note("query %q started (id %s, checkpoint %s)", j.sink.Name, e.ID, where)
}

// await waits for a query, and stops it when the run ends.
func (r *runner) await(ctx context.Context, j *job) error {
	select {
	case <-j.q.Done():
	case <-ctx.Done():
		stop, cancel := context.WithTimeout(context.Background(), time.Minute)
		err := j.q.Stop(stop)
		cancel()
		if err != nil && !errors.Is(err, stream.ErrStopped) {
			return err
		}
	}
	err := j.q.Exception()
	if r.p.json {
		ok := err == nil
		e := event{Event: "queryTerminated", Query: j.sink.Name, ID: j.q.ID(), RunID: j.q.RunID(), OK: &ok}
		if err != nil {
			e.Error = failureOf(err)
		}
		r.p.printJSON(e)
	}
	return err
}

// terminated prints the last line of --json.
func (r *runner) terminated(_ string, err error) {
	if !r.p.json {
		return
	}
	ok := err == nil
	e := event{Event: "terminated", OK: &ok}
	if err != nil {
		e.Error = failureOf(err)
	}
	r.p.printJSON(e)
}
