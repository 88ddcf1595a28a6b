package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/connect"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/host"
	"github.com/wstream/wstream/pipeline"
)

// commands are all commands, in the order of the documentation.
func (p *program) commands() []*cli.Command {
	return []*cli.Command{
		p.quickstartCommand(),
		p.initCommand(),
		p.runCommand(),
		p.testCommand(),
		p.lintCommand(),
		p.explainCommand(),
		p.planCommand(),
		p.doctorCommand(),
		p.sqlCommand(),
		p.checkpointCommand(),
		p.stateCommand(),
		p.moduleCommand(),
		p.generateCommand(),
		p.listCommand(),
		p.docsCommand(),
		p.completionCommand(),
		p.versionCommand(),
	}
}

// environment makes what pipelines run in. Close the host when done.
func (p *program) environment(ctx context.Context, moduleDirs []string) (*pipeline.Environment, func(), error) {
	h, err := host.New(ctx, host.Config{CacheDir: host.DefaultCacheDir()})
	if err != nil {
		return nil, nil, err
	}
	env := &pipeline.Environment{
		Connectors: connect.All(), Registry: expr.NewRegistry(expr.Builtins()), Host: h, ModuleDirs: moduleDirs,
		GuestLog: guestLog{p}, Warn: p.warn,
	}
	return env, func() { _ = h.Close(context.Background()) }, nil
}

// guestLog prints the log lines of guests to standard error.
type guestLog struct{ p *program }

// Log implements host.Logger.
func (g guestLog) Log(module, function string, level int, line string) {
	names := [...]string{"debug", "info", "warning", "error"}
	if g.p.quiet && level < host.LevelWarning {
		return
	}
	g.p.mu.Lock()
	defer g.p.mu.Unlock()
	fmt.Fprintf(g.p.err, "%s: module %q: %s: %s\n", names[min(max(level, 0), 3)], module, function, line)
}

// readFile reads a pipeline file and gives its name in messages and the folder that its paths are relative to; - is the one
// at standard input, whose paths are relative to the working folder.
func (p *program) readFile(path string) (name, dir string, text []byte, err error) {
	if path != "-" {
		text, err = os.ReadFile(path)
		return path, filepath.Dir(path), text, err
	}
	if text, err = io.ReadAll(p.in); err != nil {
		err = fmt.Errorf("standard input: %w", err)
	}
	return "standard input", ".", text, err
}

// loadFile reads a pipeline file, as readFile does.
func (p *program) loadFile(path string) (*pipeline.File, error) {
	name, dir, text, err := p.readFile(path)
	if err != nil {
		return nil, err
	}
	return pipeline.Parse(name, dir, text)
}

// loadFiles reads pipeline files.
func (p *program) loadFiles(paths []string) ([]*pipeline.File, error) {
	if len(paths) == 0 {
		return nil, invalid("which file? e.g. `wstream %s pipeline.yaml`", commandName(p.args))
	}
	var out []*pipeline.File
	var errs pipeline.Errors
	for _, path := range paths {
		f, err := p.loadFile(path)
		if es, ok := err.(pipeline.Errors); ok {
			errs = append(errs, es...)
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, invalid("pipeline file %q is not there: %w; correct the path, or make a pipeline with `wstream init`", path, err)
		}
		if err != nil {
			return nil, &coded{err, exitInvalid}
		}
		out = append(out, f)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return out, nil
}

func (p *program) lintCommand() *cli.Command {
	return &cli.Command{
		Name: "lint", Usage: "check pipeline files without running them: every fault at once, with line, column and suggestion", ArgsUsage: "PATH…",
		Flags: []cli.Flag{&cli.StringSliceFlag{Name: "modules", Usage: "look for modules that are not at their path in `DIR`"}},
		Action: func(c *cli.Context) error {
			files, err := walk(c.Args().Slice(), func(path string) bool { return isPipelineFile(path) || isTestFile(path) })
			if err != nil {
				return err
			}
			if len(files) == 0 {
				return invalid("no file ends in .yaml or .yml under %s", strings.Join(c.Args().Slice(), ", "))
			}
			env, done, err := p.environment(c.Context, c.StringSlice("modules"))
			if err != nil {
				return err
			}
			defer done()
			var all pipeline.Errors
			for _, path := range files {
				all = append(all, p.lintFile(c.Context, env, path)...)
			}
			if len(all) == 0 {
				p.succeed("lint", fmt.Sprintf("%s: no faults", count(len(files), "file")), map[string]any{"files": files})
				return nil
			}
			if p.json {
				list := make([]*failure, len(all))
				for i, e := range all {
					list[i] = failureOf(e)
				}
				p.printJSON(map[string]any{"command": "lint", "ok": false, "result": list, "error": list[0]})
			} else {
				for _, e := range all {
					fmt.Fprintln(p.out, e.Error())
				}
			}
			return &coded{&reported{all}, exitInvalid}
		},
	}
}

// lintFile gives all faults of a pipeline file, or of the form of a test file.
func (p *program) lintFile(ctx context.Context, env *pipeline.Environment, path string) pipeline.Errors {
	var faults pipeline.Errors
	if isTestFile(path) {
		_, err := pipeline.LoadTest(path)
		if err == nil || errors.As(err, &faults) {
			return faults
		}
		return pipeline.Errors{{File: path, Message: err.Error(), Cause: err}}
	}
	name, dir, text, err := p.readFile(path)
	if err != nil {
		return pipeline.Errors{{File: path, Message: err.Error(), Cause: err}}
	}
	return env.Lint(ctx, name, dir, text)
}

func (p *program) listCommand() *cli.Command {
	list := func(name, usage string, rows func() []listed) *cli.Command {
		return &cli.Command{Name: name, Usage: usage, Action: func(c *cli.Context) error {
			r := rows()
			if f := c.Args().First(); f != "" {
				var kept []listed
				for _, x := range r {
					if strings.Contains(strings.ToLower(x.Name), strings.ToLower(f)) {
						kept = append(kept, x)
					}
				}
				r = kept
			}
			var b strings.Builder
			for _, x := range r {
				fmt.Fprintf(&b, "%-28s %s\n", x.Name, x.Doc)
			}
			p.succeed("list "+name, b.String(), r)
			return nil
		}}
	}
	return &cli.Command{Name: "list", Usage: "list what there is", Subcommands: []*cli.Command{
		list("sources", "formats that can be read", func() []listed { return connectors(true) }),
		list("sinks", "formats that can be written", func() []listed { return connectors(false) }),
		list("functions", "functions of SQL", func() []listed {
			var out []listed
			for _, f := range expr.Builtins() {
				out = append(out, listed{Name: f.Name, Doc: f.Doc, Signature: f.Signature, Family: f.Family, Example: f.Example})
			}
			sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
			return out
		}),
		list("steps", "steps of a view", func() []listed { return steps() }),
	}}
}

// listed is a line of a list.
type listed struct {
	Name      string `json:"name"`
	Doc       string `json:"doc"`
	Signature string `json:"signature,omitempty"`
	Family    string `json:"family,omitempty"`
	Example   string `json:"example,omitempty"`
	Promise   string `json:"promise,omitempty"`
}

func connectors(sources bool) []listed {
	var out []listed
	for _, s := range connect.All() {
		if sources && s.NewSource != nil || !sources && s.NewSink != nil {
			l := listed{Name: s.Format, Doc: s.Doc}
			if !sources {
				l.Promise = s.Promise
			}
			out = append(out, l)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

func steps() []listed {
	return []listed{
		{Name: "parse", Doc: "a Wasm function that makes rows of a binary column: `- parse: module.function`"},
		{Name: "filter", Doc: "a Wasm function that keeps rows: `- filter: module.function`"},
		{Name: "map", Doc: "a Wasm function that makes columns: `- map: module.function`"},
		{Name: "flatMapGroupsWithState", Doc: "a Wasm function over groups with state: `- flatMapGroupsWithState: module.function`"},
		{Name: "watermark", Doc: "how late rows may be: `- watermark: {column: event_time, delay: 10 minutes}`; also scope: partition, idle: 5 minutes"},
		{Name: "dropDuplicates", Doc: "the first row of each combination of columns: `- dropDuplicates: [id]`"},
		{Name: "dropDuplicatesWithinWatermark", Doc: "the same, forgotten after the watermark's delay"},
		{Name: "sql", Doc: "a query over the relation so far, called input: `- sql: SELECT … FROM input`"},
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "ch") {
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}
