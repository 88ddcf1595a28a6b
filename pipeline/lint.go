package pipeline

import (
	"context"
	"errors"

	"github.com/wstream/wstream/engine/plan"
)

// Lint gives all faults of the text of a pipeline file at once, each at its place: those of its form, of its modules, sources
// and sinks, and of every query. A query that names something with a fault of its own is not judged: its faults would be
// those of the other. path names the file in the faults, and dir is where its relative paths start.
func (e *Environment) Lint(ctx context.Context, path, dir string, text []byte) Errors {
	f, errs := parse(path, dir, text)
	if f == nil {
		return errs
	}
	r, opening, err := e.open(ctx, f, nil)
	if err != nil { // of the settings, which have told it themselves
		if len(errs) == 0 {
			errs = Errors{&Error{File: path, Message: err.Error(), Cause: err}}
		}
		return errs
	}
	return append(append(errs, opening...), r.Lint()...).sorted()
}

// Lint compiles every query and gives all faults at once.
func (r *Runtime) Lint() Errors {
	var errs Errors
	seen := map[string]bool{}
	add := func(p Pos, err error) {
		var e *Error
		if !errors.As(err, &e) {
			e = &Error{File: r.File.Path, Line: p.Line, Col: p.Col, Message: err.Error(), Cause: err}
		}
		if !seen[e.Error()] {
			seen[e.Error()] = true
			errs = append(errs, e)
		}
	}
	for _, s := range r.File.Queries() {
		if _, written := s.at["checkpointLocation"]; !written && r.NeedsCheckpoint(s) {
			errs = append(errs, r.fail(s.Pos, nil, "sink %q has no checkpointLocation; add e.g. `checkpointLocation: checkpoint/%s`", s.Name, s.Name))
		}
		if r.File.faulty[s] {
			continue
		}
		r.catalog.behind = false
		if _, err := r.Compile(s); err != nil && !r.catalog.behind {
			add(s.Pos, err)
		}
		errs = append(errs, r.lintForeach(s)...)
	}
	// Views that no sink reads are checked too.
	for _, v := range r.File.Views {
		if r.File.faulty[v] {
			continue
		}
		r.catalog.behind = false
		a := plan.NewAnalyzer(r.catalog, plan.Settings{ANSI: r.File.Settings.ANSI, Zone: r.Zone, Now: r.env.Now, Dir: r.File.Dir}, r.env.Registry)
		if _, err := r.catalog.view(a, v); err != nil && !r.catalog.behind {
			add(v.Pos, unwrapView(err))
		}
	}
	return errs.sorted()
}

// faultyModule tells whether a module of that name has a fault of its own.
func (f *File) faultyModule(name string) bool {
	m := f.Module(name)
	return m != nil && f.faulty[m]
}
