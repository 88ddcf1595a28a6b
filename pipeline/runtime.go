package pipeline

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/connect/foreachbatch"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/memory"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/engine/udf"
	"github.com/wstream/wstream/host"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/objectfs"
	"github.com/wstream/wstream/internal/vfs"
)

// Environment is what pipelines run in: the connectors and functions that exist, and the runtime of
// guests. One serves many pipelines.
type Environment struct {
	Connectors []*connector.Spec
	Registry   *expr.Registry
	Host       *host.Host
	ModuleDirs []string          // searched by file name for modules whose path is not there
	Functions  []udf.Module      // functions in Go, by the name of their module, beside those of the file
	GuestLog   host.Logger       // nil drops the lines
	Metrics    host.Metrics      // nil drops them
	Now        func() time.Time  // for literals such as timestamp'now'; nil is the system's clock
	Warn       func(text string) // warnings of readers and sinks; nil drops them
	FS         vfs.FS            // nil is the real one
	Out        io.Writer         // where the console sink prints; nil is standard output

	shared connector.Shared
}

// spec finds a connector by its format's name.
func (e *Environment) spec(format string) *connector.Spec {
	for _, s := range e.Connectors {
		if strings.EqualFold(s.Format, format) {
			return s
		}
	}
	return nil
}

// Runtime is a pipeline whose modules are loaded and whose sources' schemas are known.
type Runtime struct {
	File    *File
	Modules map[string]udf.Module
	Zone    *time.Location

	env       *Environment
	catalog   *Catalog
	overrides map[string]Override
}

// Override replaces a source of the file, for tests.
type Override struct {
	Schema *columnar.Schema
	Static bool
	Source stream.Source
}

// Open loads the modules and finds the schemas of all sources. The error is Errors when the file
// is at fault. Sources in overrides are taken from there.
func (e *Environment) Open(ctx context.Context, f *File, overrides map[string]Override) (*Runtime, error) {
	r, errs, err := e.open(ctx, f, overrides)
	if err != nil {
		return nil, err
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return r, nil
}

// open is Open that gives, beside the faults, what could be opened; f's faulty elements are noted in it.
func (e *Environment) open(ctx context.Context, f *File, overrides map[string]Override) (*Runtime, Errors, error) {
	zone, err := plan.Location(f.Settings.Timezone)
	if err != nil {
		return nil, nil, err
	}
	r := &Runtime{File: f, Zone: zone, env: e, overrides: overrides}
	var errs Errors
	r.Modules, errs = LoadModules(ctx, e.Host, f, e.ModuleDirs, host.Capabilities{Log: e.GuestLog, Metrics: e.Metrics})
	for _, m := range e.Functions {
		r.Modules[m.Name()] = m
	}
	r.catalog = &Catalog{File: f, Modules: r.Modules, Sources: map[string]*Relation{}}
	for _, s := range f.Sources {
		if f.faulty[s] {
			continue
		}
		schema, static, err := r.schemaOf(s)
		if err != nil {
			errs = append(errs, err)
			f.fault(s)
			continue
		}
		r.catalog.Sources[s.Name] = &Relation{Static: static, Attrs: func(a *plan.Analyzer) []*expr.Attr { return a.Attrs(schema, s.Name) }}
	}
	for _, s := range f.Sinks {
		if mod, _, _ := strings.Cut(s.Foreach, "."); f.faulty[s] || f.faultyModule(mod) {
			continue
		}
		if es := r.checkSink(s); len(es) > 0 {
			errs = append(errs, es...)
			f.fault(s)
		}
	}
	return r, errs.sorted(), nil
}

func (r *Runtime) fail(p Pos, cause error, format string, args ...any) *Error {
	return &Error{File: r.File.Path, Line: p.Line, Col: p.Col, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// schemaOf is the schema of a source and whether it is static.
func (r *Runtime) schemaOf(s *Source) (*columnar.Schema, bool, *Error) {
	what := fmt.Sprintf("source %q", s.Name)
	if o, ok := r.overrides[s.Name]; ok && o.Schema != nil {
		return o.Schema, o.Static, nil
	}
	if s.Rows != nil {
		if s.Schema == nil {
			return nil, false, r.fail(s.Pos, nil, "%s has inline rows and so needs a `schema`", what)
		}
		return s.Schema, true, nil
	}
	spec := r.env.spec(s.Format)
	if spec == nil || spec.NewSource == nil {
		var names []string
		for _, c := range r.env.Connectors {
			if c.NewSource != nil {
				names = append(names, c.Format)
			}
		}
		sort.Strings(names)
		e := r.fail(s.pos("format"), nil, "[DATA_SOURCE_NOT_FOUND] %s: no source format %q; known are: %s", what, s.Format, strings.Join(names, ", "))
		e.Suggestion = Nearest(s.Format, names)
		return nil, false, e
	}
	opts := connector.NewOptions(s.Options)
	if errs := r.checkOptions(spec, opts, spec.LenientOptions, what, s.at, s.Pos); len(errs) > 0 {
		return nil, false, errs[0]
	}
	if spec.FixedSchema != nil && s.Schema == nil {
		schema, err := spec.FixedSchema(opts)
		if err != nil {
			return nil, false, r.fail(s.Pos, err, "%s: %s", what, err)
		}
		if schema != nil {
			return schema, s.Static, nil
		}
	}
	if s.Schema != nil && spec.NullableSchema {
		return s.Schema.AsNullable(), s.Static, nil
	}
	if s.Schema != nil {
		return s.Schema, s.Static, nil
	}
	if !s.Static && spec.NeedsSchema {
		return nil, false, r.fail(s.Pos, nil, "[STREAMING_SOURCE_NEEDS_SCHEMA] %s: a streaming source of format %q needs a schema; add `schema: name TYPE, …`", what, s.Format)
	}
	env := r.connectorEnv(s.Name, s.Schema)
	env.Static = true
	src, err := spec.NewSource(env, opts)
	if err != nil {
		return nil, false, r.fail(s.Pos, err, "%s: %s", what, err)
	}
	defer src.Close()
	return src.Schema(), s.Static, nil
}

// checkOptions looks for unknown and missing options.
func (r *Runtime) checkOptions(spec *connector.Spec, o connector.Options, lenient bool, what string, at map[string]Pos, p Pos) Errors {
	var errs Errors
	var names []string
	for _, d := range spec.Options {
		names = append(names, d.Name)
	}
next:
	for _, n := range o.Names() {
		for _, k := range names {
			if strings.EqualFold(k, n) {
				continue next
			}
		}
		for _, pre := range spec.Prefixes {
			if strings.HasPrefix(strings.ToLower(n), strings.ToLower(pre)) {
				continue next
			}
		}
		pos := p
		if q, ok := at["options."+strings.ToLower(n)]; ok {
			pos = q
		}
		e := r.fail(pos, nil, "%s: format %q has no option %q", what, spec.Format, n)
		e.Suggestion = Nearest(n, names)
		if lenient {
			r.env.warn(e.Error())
			continue
		}
		errs = append(errs, e)
	}
	for _, d := range spec.Options {
		if _, ok := o.Get(d.Name); d.Required && !ok {
			errs = append(errs, r.fail(p, nil, "%s: format %q needs the option %q: %s", what, spec.Format, d.Name, d.Doc))
		}
	}
	return errs
}

func (e *Environment) warn(text string) {
	if e.Warn != nil {
		e.Warn(text)
	}
}

func (e *Environment) fs() vfs.FS {
	if e.FS != nil {
		return e.FS
	}
	return vfs.OS()
}

// connectorEnv is what a connector of this pipeline gets.
func (r *Runtime) connectorEnv(name string, schema *columnar.Schema) connector.Env {
	now := r.env.Now
	if now == nil {
		now = time.Now
	}
	return connector.Env{
		Name: name, BaseDir: r.File.Dir, Schema: schema, Zone: r.Zone, ANSI: r.File.Settings.ANSI, FS: r.env.fs(), Now: now,
		Warn: func(format string, args ...any) {
			r.env.warn(fmt.Sprintf("%s: "+format, append([]any{name}, args...)...))
		},
		Connection: r.connection, Out: r.env.Out, Shared: &r.env.shared,
	}
}

func (r *Runtime) connection(name string) (connector.Connection, error) {
	var names []string
	for _, c := range r.File.Connections {
		if c.Name == name {
			return connector.Connection{Name: c.Name, Driver: c.Driver, DSN: c.DSN, Options: c.Options}, nil
		}
		names = append(names, c.Name)
	}
	err := fmt.Errorf("no connection %q; known are: %s", name, strings.Join(names, ", "))
	if n := Nearest(name, names); n != "" {
		err = fmt.Errorf("%w; did you mean %q?", err, n)
	}
	return connector.Connection{}, err
}

// checkSink checks the format and the options of a sink.
func (r *Runtime) checkSink(s *Sink) Errors {
	what := fmt.Sprintf("sink %q", s.Name)
	if s.Foreach != "" {
		mod, fn, _ := strings.Cut(s.Foreach, ".")
		m, ok := r.Modules[mod]
		if !ok {
			return Errors{r.fail(s.pos("foreachBatch"), nil, "%s: module %q was not loaded", what, mod)}
		}
		var names []string
		for _, f := range m.Functions() {
			if f.Name == fn {
				if f.Kind != udf.ForeachBatch {
					return Errors{r.fail(s.pos("foreachBatch"), nil, "%s: function %q of module %q is of kind %s, expected foreachBatch", what, fn, mod, f.Kind)}
				}
				return r.checkForeachOptions(s, m)
			}
			names = append(names, f.Name)
		}
		e := r.fail(s.pos("foreachBatch"), nil, "[UNRESOLVED_ROUTINE] %s: module %q has no function %q; it has: %s", what, mod, fn, strings.Join(names, ", "))
		e.Suggestion = Nearest(fn, names)
		return Errors{e}
	}
	spec := r.env.spec(s.Format)
	if spec == nil || spec.NewSink == nil {
		var names []string
		for _, c := range r.env.Connectors {
			if c.NewSink != nil {
				names = append(names, c.Format)
			}
		}
		sort.Strings(names)
		e := r.fail(s.pos("format"), nil, "[DATA_SOURCE_NOT_FOUND] %s: no sink format %q; known are: %s", what, s.Format, strings.Join(names, ", "))
		e.Suggestion = Nearest(s.Format, names)
		return Errors{e}
	}
	errs := r.checkOptions(spec, connector.NewOptions(s.Options), false, what, s.at, s.Pos)
	if spec.Modes != nil && s.From != "" {
		ok := false
		var modes []string
		for _, m := range spec.Modes {
			ok = ok || m == s.Mode
			modes = append(modes, string(m))
		}
		if !ok {
			errs = append(errs, r.fail(s.pos("outputMode"), nil, "[STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE] %s: data source %s does not support %s output mode; it takes: %s", what, s.Format, s.Mode, strings.Join(modes, ", ")))
		}
	}
	return errs
}

// Compiled is a query's plan, ready to run.
type Compiled struct {
	Analyzed plan.Node
	Root     plan.Node
	Warnings []string
}

// Compile analyses, checks and optimises the query of a sink.
func (r *Runtime) Compile(s *Sink) (*Compiled, error) {
	a := plan.NewAnalyzer(r.catalog, plan.Settings{ANSI: r.File.Settings.ANSI, Zone: r.Zone, Now: r.env.Now, Dir: r.File.Dir}, r.env.Registry)
	n, err := r.catalog.Plan(a, s)
	if err != nil {
		return nil, err
	}
	warnings, err := plan.CheckStreaming(n, s.Mode)
	if err != nil {
		return nil, r.catalog.fail(s, "outputMode", err)
	}
	root := plan.Number(a.Optimize(n))
	return &Compiled{Analyzed: n, Root: root, Warnings: warnings}, nil
}

// RunOptions change how a query runs, from the command line or a test.
type RunOptions struct {
	Trigger      *stream.Trigger // overrides the sink's
	Clock        stream.Clock
	Listeners    []stream.Listener
	Failpoints   *failpoint.Set
	Checkpoint   string // overrides the sink's
	CheckpointFS vfs.FS
	Sink         *stream.Sink // overrides the sink's format
	SideSinks    map[string]stream.Sink
	Partitions   int // overrides shufflePartitions
	BatchGate    func(batch int64) error
	Workers      int
}

// Spec makes the streaming query of a sink.
func (r *Runtime) Spec(s *Sink, o RunOptions) (stream.Spec, error) {
	c, err := r.Compile(s)
	if err != nil {
		return stream.Spec{}, err
	}
	set := r.File.Settings
	spec := stream.Spec{
		Name: s.Name, Plan: c.Root, Mode: s.Mode, Trigger: stream.Trigger{Kind: stream.TriggerKind(s.Trigger.Kind), Interval: s.Trigger.Interval},
		Sources: map[string]stream.Source{}, SideSinks: map[string]stream.Sink{}, Warnings: c.Warnings, Clock: o.Clock, Listeners: o.Listeners,
		Failpoints: o.Failpoints, FS: r.env.FS, Checkpoint: o.Checkpoint, CheckpointFS: o.CheckpointFS, BatchGate: o.BatchGate,
		Settings: stream.Settings{
			Zone: r.Zone, ANSI: set.ANSI, WatermarkPolicy: stream.WatermarkPolicy(set.WatermarkPolicy),
			ShufflePartitions: set.ShufflePartitions, StateMemory: set.StateMemory, KeepBatches: set.KeepBatches, Workers: o.Workers,
		},
	}
	if o.Trigger != nil {
		spec.Trigger = *o.Trigger
	}
	if o.Partitions > 0 {
		spec.Settings.ShufflePartitions, spec.Settings.OrderPartitions = o.Partitions, set.ShufflePartitions
	}
	if spec.Checkpoint == "" && s.Checkpoint != "" {
		spec.Checkpoint = s.Checkpoint
		switch {
		case objectfs.IsLocation(spec.Checkpoint):
			if spec.CheckpointFS, err = objectfs.For(spec.Checkpoint); err != nil {
				return stream.Spec{}, r.fail(s.Pos, err, "sink %q: checkpointLocation %q: %v", s.Name, s.Checkpoint, err)
			}
		case !filepath.IsAbs(spec.Checkpoint):
			spec.Checkpoint = filepath.Join(r.File.Dir, spec.Checkpoint)
		}
	}
	plan.Walk(c.Root, func(n plan.Node) bool {
		switch m := n.(type) {
		case *plan.Relation:
			if err == nil {
				spec.Sources[m.Source], err = r.source(m.Source)
			}
		case *plan.LateOutput:
			r.side(m.Sink, o, spec.SideSinks)
		case *plan.UDFRows:
			r.side(m.OnError.DeadLetter, o, spec.SideSinks)
		case *plan.UDFFilter:
			r.side(m.OnError.DeadLetter, o, spec.SideSinks)
		case *plan.GroupState:
			r.side(m.OnError.DeadLetter, o, spec.SideSinks)
		}
		return true
	})
	if err != nil {
		return stream.Spec{}, err
	}
	spec.Sink = r.sink(s)
	if o.Sink != nil {
		spec.Sink = *o.Sink
	}
	return spec, nil
}

func (r *Runtime) side(name string, o RunOptions, to map[string]stream.Sink) {
	if name == "" {
		return
	}
	if s, ok := o.SideSinks[name]; ok {
		to[name] = s
		return
	}
	if s := r.File.Sink(name); s != nil {
		to[name] = r.sink(s)
	}
}

// fill completes what the stream package gives with what the pipeline knows.
func (r *Runtime) fill(env connector.Env, name string, schema *columnar.Schema) connector.Env {
	full := r.connectorEnv(name, schema)
	full.QueryID, full.Log, full.Now, full.Failpoints, full.Static = env.QueryID, env.Log, env.Now, env.Failpoints, env.Static
	full.NextBatch, full.OwnFS, full.OwnDir = env.NextBatch, env.OwnFS, env.OwnDir
	full.CheckOwner = env.CheckOwner
	if env.FS != nil {
		full.FS = env.FS
	}
	if full.Now == nil {
		full.Now = time.Now
	}
	if schema == nil {
		full.Schema = env.Schema
	}
	return full
}

func (r *Runtime) source(name string) (stream.Source, error) {
	if o, ok := r.overrides[name]; ok && o.Source.Open != nil {
		return o.Source, nil
	}
	s := r.File.Source(name)
	if s == nil {
		return stream.Source{}, fmt.Errorf("no source %q", name)
	}
	if s.Rows != nil {
		return r.inlineRows(s)
	}
	spec := r.env.spec(s.Format)
	return stream.Source{Kind: spec.Format, Static: s.Static, Refresh: s.Refresh, Open: func(env connector.Env) (connector.Source, error) {
		src, err := spec.NewSource(r.fill(env, s.Name, s.Schema), connector.NewOptions(s.Options))
		if err != nil {
			return nil, err // whoever opens it names the source
		}
		return src, nil
	}}, nil
}

// inlineRows is a static source whose rows stand in the file.
func (r *Runtime) inlineRows(s *Source) (stream.Source, error) {
	rd := &reader{file: r.File.Path}
	b := rd.rowsOf(s.Rows.node, s.Schema, fmt.Sprintf("source %q: rows", s.Name))
	if len(rd.errs) > 0 {
		return stream.Source{}, rd.errs
	}
	return stream.Source{Kind: "rows", Static: true, Open: func(connector.Env) (connector.Source, error) {
		return memory.NewTable(s.Schema, b), nil
	}}, nil
}

func (r *Runtime) sink(s *Sink) stream.Sink {
	if s.Foreach != "" {
		return stream.Sink{Kind: "foreachBatch", Open: func(env connector.Env) (connector.Sink, error) {
			mod, fn, _ := strings.Cut(s.Foreach, ".")
			g, ok := r.Modules[mod].(Guest)
			if !ok {
				return nil, fmt.Errorf("sink %q: module %q is not a Wasm module", s.Name, mod)
			}
			sink, err := foreachbatch.New(r.fill(env, s.Name, nil), g.Module, fn, r.foreachOptions(s))
			if err != nil {
				return nil, fmt.Errorf("sink %q: %w", s.Name, err)
			}
			return sink, nil
		}}
	}
	spec := r.env.spec(s.Format)
	return stream.Sink{Kind: spec.Format, Open: func(env connector.Env) (connector.Sink, error) {
		sink, err := spec.NewSink(r.fill(env, s.Name, nil), connector.NewOptions(s.Options))
		if err != nil {
			return nil, fmt.Errorf("sink %q: %w", s.Name, err)
		}
		return sink, nil
	}}
}

// NeedsCheckpoint tells whether `run` must be given a checkpointLocation for the sink.
func (r *Runtime) NeedsCheckpoint(s *Sink) bool {
	if s.Foreach != "" {
		return true
	}
	spec := r.env.spec(s.Format)
	return spec == nil || !spec.NoCheckpoint
}

// Promise is what the connector of a sink promises, in one line.
func (e *Environment) Promise(s *Sink) string {
	if s.Foreach != "" {
		return "exactly once if the guest is idempotent, or through the host's sql capability, whose transaction carries the ledger"
	}
	if spec := e.spec(s.Format); spec != nil {
		return spec.Promise
	}
	return ""
}
