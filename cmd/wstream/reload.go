package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wstream/wstream/pipeline"
)

// devPoll is how often `run --dev` looks at its files.
const devPoll = 300 * time.Millisecond

// reloader runs pipelines and goes over to what their files and modules say by then, when a SIGHUP asks for it, or, with
// `run --dev`, whenever one of them has changed: the queries end at a batch boundary, and the new ones go on from their
// checkpoints. What does not lint, or could not go on from its checkpoint, leaves the old queries running.
type reloader struct {
	p       *program
	watch   bool // --dev
	paths   []string
	sets    []string
	modules []string
	only    []string // the sinks that are run; empty for all
	runner  func(env *pipeline.Environment) *runner
}

// launched is what runs.
type launched struct {
	stop  context.CancelFunc
	done  chan error
	close func()
}

// run runs the files, which were opened already, until the queries end or ctx does.
func (d *reloader) run(ctx context.Context, files []*pipeline.File, env *pipeline.Environment) error {
	hangup := make(chan os.Signal, 1)
	if !terminal(d.p.out) && !terminal(d.p.err) && !signal.Ignored(syscall.SIGHUP) { // closing a terminal ends what runs in it
		signal.Notify(hangup, syscall.SIGHUP)
		defer signal.Stop(hangup)
	}
	was := d.fingerprints()
	running := d.launch(ctx, files, env, func() {})
	var changes <-chan time.Time
	if d.watch {
		tick := time.NewTicker(devPoll)
		defer tick.Stop()
		changes = tick.C
	}
	for {
		select {
		case <-ctx.Done():
			return running.end()
		case err := <-running.ended():
			running.done = nil
			if err == nil || !d.watch || ctx.Err() != nil {
				running.close()
				return err
			}
			d.p.report("run", err)
			d.p.note("dev: the run failed; waiting for a change")
			continue
		case <-hangup:
		case <-changes:
			if maps.Equal(was, d.fingerprints()) {
				continue
			}
			time.Sleep(devPoll / 3) // an editor or a compiler may still be writing
		}
		now := d.fingerprints()
		changed := changedFiles(was, now)
		was = now
		if len(changed) == 0 {
			changed = []string{"nothing has changed"}
		}
		if err := d.check(ctx); err != nil {
			d.refuse(changed, err)
			continue
		}
		if err := running.end(); err != nil && !errors.Is(err, context.Canceled) {
			d.p.report("run", err)
		}
		d.tell("reloaded", changed, nil)
		files, env, done, err := d.open(ctx)
		if err != nil {
			return err
		}
		running = d.launch(ctx, files, env, done)
	}
}

// open reads the files and loads the modules.
func (d *reloader) open(ctx context.Context) ([]*pipeline.File, *pipeline.Environment, func(), error) {
	files, err := d.p.loadSet(d.paths, d.sets)
	if err != nil {
		return nil, nil, nil, err
	}
	env, done, err := d.p.environment(ctx, d.modules)
	return files, env, done, err
}

// launch runs files until they end or the version is ended.
func (d *reloader) launch(ctx context.Context, files []*pipeline.File, env *pipeline.Environment, done func()) *launched {
	runCtx, cancel := context.WithCancel(ctx)
	r := &launched{stop: cancel, done: make(chan error, 1), close: done}
	ended := r.done
	go func() { ended <- d.runner(env).run(runCtx, files) }()
	return r
}

// ended gives what the run ended with; nothing once that was taken.
func (r *launched) ended() <-chan error { return r.done }

// end stops the run at a batch boundary. Being stopped is no error.
func (r *launched) end() error {
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

// check gives the faults of the files as they are now, and what of them could not go on from its checkpoint.
func (d *reloader) check(ctx context.Context) error {
	files, env, done, err := d.open(ctx)
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
		faults = rt.Lint()
		if all = append(all, faults...); len(faults) > 0 {
			continue
		}
		for _, s := range f.Queries() {
			if len(d.only) > 0 && !slices.Contains(d.only, s.Name) {
				continue
			}
			r, err := planSink(rt, s)
			if err != nil {
				return err
			}
			if r.Verdict == verdictRebuild || r.Verdict == verdictRefused {
				return fmt.Errorf("sink %q cannot go on from its checkpoint: %s: %s", s.Name, r.Verdict, strings.Join(r.Why, "; "))
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	return nil
}

// fingerprints are the hashes of the pipeline files and their modules. A file that cannot be read has none.
func (d *reloader) fingerprints() map[string]string {
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
func (d *reloader) refuse(changed []string, err error) {
	d.tell("reloadRefused", changed, err)
}

// name is what has asked for a reload.
func (d *reloader) name() string {
	if d.watch {
		return "dev"
	}
	return "SIGHUP"
}

func (d *reloader) tell(what string, changed []string, err error) {
	if d.p.json {
		e := event{Event: what, Changed: changed}
		if err != nil {
			e.Error = failureOf(err)
		}
		d.p.printJSON(e)
		return
	}
	if err != nil {
		d.p.report("run", fmt.Errorf("%s: not reloaded, what ran before goes on: %s\n%w", d.name(), strings.Join(changed, ", "), err))
		return
	}
	d.p.note("%s: reloaded: %s", d.name(), strings.Join(changed, ", "))
}
