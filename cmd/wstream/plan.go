package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/internal/vfs"
	"github.com/wstream/wstream/pipeline"
)

func (p *program) planCommand() *cli.Command {
	return &cli.Command{
		Name: "plan", Usage: "what pipeline files would do to their checkpoints: new, same, safe change, needs a rebuild or refused, and why", ArgsUsage: "FILE…",
		Description: "Nothing is written, and the query may be running. The checkpoint knows sources, state, output mode, settings and\nmodules; other changes, such as a filter, are safe and not seen. Ends with 1 if a sink could not go on.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "set", Usage: "change a setting or an option: `KEY=VALUE`"},
			&cli.StringSliceFlag{Name: "modules", Usage: "look for modules that are not at their path in `DIR`"},
		},
		Action: p.plan,
	}
}

// The verdicts of `plan`.
const (
	verdictNew     = "new"
	verdictSame    = "same"
	verdictSafe    = "safe change"
	verdictRebuild = "needs a rebuild"
	verdictRefused = "refused"
)

// planned is a sink as `plan` shows it.
type planned struct {
	Sink       string   `json:"sink"`
	Verdict    string   `json:"verdict"`
	Why        []string `json:"why,omitempty"`
	Checkpoint string   `json:"checkpoint,omitempty"`
	Batch      int64    `json:"batch"` // the last planned one, -1 for none
}

func (p *program) plan(c *cli.Context) error {
	files, err := p.loadSet(c.Args().Slice(), c.StringSlice("set"))
	if err != nil {
		return err
	}
	env, done, err := p.environment(c.Context, c.StringSlice("modules"))
	if err != nil {
		return err
	}
	defer done()
	var all []planned
	var text strings.Builder
	stuck := 0
	for _, f := range files {
		rt, err := env.Open(c.Context, f, nil)
		if err != nil {
			return err
		}
		for _, s := range f.Queries() {
			r, err := planSink(rt, s)
			if err != nil {
				return err
			}
			if r.Verdict == verdictRebuild || r.Verdict == verdictRefused {
				stuck++
			}
			all = append(all, r)
			fmt.Fprintf(&text, "sink %q: %s\n", r.Sink, r.Verdict)
			for _, w := range r.Why {
				fmt.Fprintf(&text, "  %s\n", w)
			}
		}
	}
	if stuck == 0 {
		p.succeed("plan", text.String(), all)
		return nil
	}
	err = fmt.Errorf("%s cannot go on from the checkpoint", count(stuck, "sink"))
	if p.json {
		p.printJSON(result{Command: "plan", Result: all, Error: failureOf(err)})
	} else {
		fmt.Fprint(p.out, text.String())
	}
	return &reported{err}
}

// planSink compares a query with the checkpoint that it would go on from.
func planSink(rt *pipeline.Runtime, s *pipeline.Sink) (planned, error) {
	spec, err := rt.Spec(s, pipeline.RunOptions{})
	if err != nil {
		return planned{}, err
	}
	r := planned{Sink: s.Name, Verdict: verdictNew, Checkpoint: spec.Checkpoint, Batch: -1}
	if spec.Checkpoint == "" {
		r.Why = []string{"it has no checkpointLocation, and starts anew each time"}
		return r, nil
	}
	now, err := stream.ShapeOf(spec)
	if err != nil {
		return r, err
	}
	cp, err := checkpoint.Open(cmp.Or(spec.CheckpointFS, vfs.OS()), spec.Checkpoint, checkpoint.Options{ReadOnly: true})
	if errors.Is(err, checkpoint.ErrNotFound) {
		r.Why = []string{fmt.Sprintf("there is no checkpoint in %s", spec.Checkpoint)}
		return r, nil
	}
	if err != nil {
		return r, err
	}
	defer cp.Close()
	r.Batch = cp.LastOffsetsID()
	last, err := cp.LastOffsets()
	if err != nil {
		return r, err
	}
	if last == nil {
		r.Why = []string{"the checkpoint has no batch yet"}
		return r, nil
	}
	old, ok, err := stream.CheckpointShape(last)
	if err != nil {
		return r, err
	}
	if !ok {
		r.Verdict, r.Why = verdictSafe, []string{fmt.Sprintf("batch %d does not say which query planned it; only the number of sources will be compared", last.BatchID)}
		return r, nil
	}
	pending := cp.LastOffsetsID() > cp.LastCommitID()
	r.Verdict, r.Why = compareShapes(old, now)
	if r.Verdict == verdictSame {
		r.Why = append(r.Why, confChanges(rt, last, pending, &r.Verdict)...)
	}
	if pending {
		r.Why = append(r.Why, fmt.Sprintf("batch %d was planned and not committed: the next start runs it again first, over the same offsets", last.BatchID))
	}
	return r, nil
}

// compareShapes says what a query of shape now may do with a checkpoint of shape old.
func compareShapes(old, now stream.Shape) (verdict string, why []string) {
	if err := now.MayFollow(old); err != nil {
		// Where only the sources are compared, what is left is the state.
		sources := stream.Shape{Mode: old.Mode, Sources: now.Sources}
		if sources.MayFollow(stream.Shape{Mode: old.Mode, Sources: old.Sources}) != nil {
			return verdictRefused, []string{err.Error(), "the offsets of the checkpoint belong to other sources"}
		}
		return verdictRebuild, []string{err.Error(), "what is in state cannot be read by this query: a new checkpointLocation counts everything anew from the sources, as far as they still have it"}
	}
	verdict = verdictSame
	for i, s := range now.Sources {
		if i < len(old.Sources) && s.Name != old.Sources[i].Name {
			verdict, why = verdictSafe, append(why, fmt.Sprintf("source %d was called %q and is called %q", i, old.Sources[i].Name, s.Name))
		}
	}
	if now.Mode != old.Mode {
		verdict, why = verdictSafe, append(why, fmt.Sprintf("the output mode was %s and is %s; there is no state that depends on it", old.Mode, now.Mode))
	}
	for i, o := range now.Operators {
		if was := old.Operators[i]; o.Key != was.Key || o.Value != was.Value || !slices.Equal(o.Keys, was.Keys) {
			verdict, why = verdictSafe, append(why, fmt.Sprintf("columns in the state of operator %d (%s) have other names and the same types", i, o.Name))
		}
	}
	return verdict, why
}

// confChanges are the changes of modules and settings.
func confChanges(rt *pipeline.Runtime, last *checkpoint.OffsetEntry, pending bool, verdict *string) []string {
	var why []string
	set := rt.File.Settings
	now := map[string]string{"timezone": rt.Zone.String(), "ansi": fmt.Sprint(set.ANSI), "watermarkPolicy": set.WatermarkPolicy}
	for _, name := range sortedKeys(last.Conf) {
		was := last.Conf[name]
		if module, ok := strings.CutPrefix(name, "module."); ok {
			m, ok := rt.Modules[module]
			if !ok || m.Hash() == was {
				continue
			}
			*verdict = verdictSafe
			why = append(why, fmt.Sprintf("module %q is another version: sha256 was %.12s… and is %.12s…", module, was, m.Hash()))
			continue
		}
		is, ok := now[name]
		if !ok || is == was {
			continue
		}
		if pending {
			*verdict = verdictRefused
			why = append(why, fmt.Sprintf("setting %s was %s and is %s, but batch %d must be finished first with what it was", name, was, is, last.BatchID))
			continue
		}
		if *verdict == verdictSame {
			*verdict = verdictSafe
		}
		why = append(why, fmt.Sprintf("setting %s was %s and is %s", name, was, is))
	}
	return why
}
