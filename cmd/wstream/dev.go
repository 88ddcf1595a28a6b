package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/pipeline"
)

// devPoll is how often `run --dev` looks at its files.
const devPoll = 300 * time.Millisecond

// devLoop runs pipelines and starts them anew whenever their files or modules have changed: the queries end at a batch
// boundary, and go on from their checkpoints. A change that does not lint leaves the old queries running.
type devLoop struct {
	p       *program
	paths   []string
	sets    []string
	modules []string
	runner  func(env *pipeline.Environment) *runner
}

// devRun is one version that runs.
type devRun struct {
	stop  context.CancelFunc
	done  chan error
	close func()
}

func (d *devLoop) run(c *cli.Context) error {
	ctx := c.Context
	running, err := d.start(ctx)
	if err != nil {
		return err
	}
	was := d.fingerprints()
	tick := time.NewTicker(devPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return running.end()
		case err := <-running.ended():
			running.done = nil
			if err == nil || ctx.Err() != nil {
				return err
			}
			d.p.report("run", err)
			d.p.note("dev: the run failed; waiting for a change")
			continue
		case <-tick.C:
		}
		now := d.fingerprints()
		if maps.Equal(was, now) {
			continue
		}
		time.Sleep(devPoll / 3) // an editor or a compiler may still be writing
		now = d.fingerprints()
		changed := changedFiles(was, now)
		was = now
		if err := d.lint(ctx); err != nil {
			d.refuse(changed, err)
			continue
		}
		if err := running.end(); err != nil && !errors.Is(err, context.Canceled) {
			d.p.report("run", err)
		}
		d.tell("reloaded", changed, nil)
		if running, err = d.start(ctx); err != nil {
			return err
		}
	}
}

// start opens the files anew, with modules loaded anew, and runs them.
func (d *devLoop) start(ctx context.Context) (*devRun, error) {
	files, err := d.p.loadSet(d.paths, d.sets)
	if err != nil {
		return nil, err
	}
	env, done, err := d.p.environment(ctx, d.modules)
	if err != nil {
		return nil, err
	}
	runCtx, cancel := context.WithCancel(ctx)
	r := &devRun{stop: cancel, done: make(chan error, 1), close: done}
	ended := r.done
	go func() { ended <- d.runner(env).run(runCtx, files) }()
	return r, nil
}

// ended gives what the run ended with; nothing once that was taken.
func (r *devRun) ended() <-chan error { return r.done }

// end stops the run at a batch boundary. Being stopped is no error.
func (r *devRun) end() error {
	r.stop()
	var err error
	if r.done != nil {
		err = <-r.done
	}
	r.close()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// lint gives the faults of the files as they are now.
func (d *devLoop) lint(ctx context.Context) error {
	files, err := d.p.loadSet(d.paths, d.sets)
	if err != nil {
		return err
	}
	env, done, err := d.p.environment(ctx, d.modules)
	if err != nil {
		return err
	}
	defer done()
	env.Warn, env.GuestLog = nil, nil
	var all pipeline.Errors
	for _, f := range files {
		rt, err := env.Open(ctx, f, nil)
		var faults pipeline.Errors
		if errors.As(err, &faults) {
			all = append(all, faults...)
			continue
		}
		if err != nil {
			return err
		}
		all = append(all, rt.Lint()...)
	}
	if len(all) > 0 {
		return all
	}
	return nil
}

// fingerprints are the hashes of the pipeline files and their modules. A file that cannot be read has none.
func (d *devLoop) fingerprints() map[string]string {
	out := map[string]string{}
	add := func(path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			out[path] = "not there"
			return
		}
		sum := sha256.Sum256(b)
		out[path] = hex.EncodeToString(sum[:6])
	}
	for _, path := range d.paths {
		add(path)
		f, err := pipeline.Load(path)
		if err != nil {
			continue
		}
		for _, m := range f.Modules {
			found := in(f.Dir, m.Path)
			if _, err := os.Stat(found); err != nil {
				for _, dir := range d.modules {
					if q := filepath.Join(dir, filepath.Base(m.Path)); fileThere(q) {
						found = q
						break
					}
				}
			}
			add(found)
		}
	}
	return out
}

func fileThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// changedFiles describes the files that differ.
func changedFiles(was, now map[string]string) []string {
	var out []string
	for path, hash := range now {
		if old := was[path]; old == "" {
			out = append(out, fmt.Sprintf("%s: new, %s", path, hash))
		} else if old != hash {
			out = append(out, fmt.Sprintf("%s: %s → %s", path, old, hash))
		}
	}
	for path := range was {
		if _, ok := now[path]; !ok {
			out = append(out, path+": not used any more")
		}
	}
	slices.Sort(out)
	return out
}

// refuse tells of a change that does not lint.
func (d *devLoop) refuse(changed []string, err error) {
	d.tell("reloadRefused", changed, err)
}

func (d *devLoop) tell(what string, changed []string, err error) {
	if d.p.json {
		e := event{Event: what, Changed: changed}
		if err != nil {
			e.Error = failureOf(err)
		}
		d.p.printJSON(e)
		return
	}
	if err != nil {
		d.p.report("run", fmt.Errorf("dev: not reloaded, what ran before goes on: %s\n%w", strings.Join(changed, ", "), err))
		return
	}
	d.p.note("dev: reloaded: %s", strings.Join(changed, ", "))
}
