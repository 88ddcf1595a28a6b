package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/host"
	"github.com/wstream/wstream/sdk"
)

func (p *program) moduleCommand() *cli.Command {
	guest := func(more ...cli.Flag) []cli.Flag {
		return append(more,
			&cli.StringSliceFlag{Name: "config", Usage: "an entry of the module's config: `KEY=VALUE`"},
			&cli.StringSliceFlag{Name: "limit", Usage: "a limit: `KEY=VALUE`, e.g. fuel=1e9, memory=64MiB, deadline=2s"},
			&cli.StringSliceFlag{Name: "allow", Usage: "allow a capability, e.g. metric"},
			&cli.StringFlag{Name: "schema", Usage: "the input's columns as `DDL`, for a function that takes any; a subset and more columns are fine"},
		)
	}
	return &cli.Command{Name: "module", Usage: "make, build, check, try and measure guests", Subcommands: []*cli.Command{
		{
			Name: "new", Usage: "write a guest that builds, in " + strings.Join(sdk.Languages(), ", "), ArgsUsage: "LANGUAGE NAME [DIR]",
			Description: "DIR is NAME if not given. Files that are there are not overwritten.", Action: p.moduleNew,
		},
		{Name: "build", Usage: "compile the guest in a folder, whose language follows from its files, or a .js file", ArgsUsage: "DIR", Action: p.moduleBuild},
		{
			Name: "check", Usage: "hold modules against the ABI: odd inputs, and the same answer from fresh and used instances", ArgsUsage: "FILE…",
			Description: "Prints a line per function and problem; with -q problems only. Ends with 1 if there is one.", Flags: guest()[:2], Action: p.moduleCheck,
		},
		{Name: "inspect", Usage: "functions, needs, imports, hash and size of a module", ArgsUsage: "FILE", Action: p.moduleInspect},
		{
			Name: "run", Usage: "call a function on rows from standard input", ArgsUsage: "FILE FUNCTION",
			Description: "Reads JSON lines in the notation of pipeline tests, decoded by the function's declared input or --schema,\n" +
				"and prints its rows as JSON lines. Rows that the function refuses go to standard error.",
			Flags: guest(&cli.BoolFlag{Name: "lines", Usage: "each line of standard input is the value of the first column, as it stands"}), Action: p.moduleRun,
		},
		{
			Name: "bench", Usage: "rows a second, time and fuel per row of a module's functions", ArgsUsage: "FILE [FUNCTION]",
			Flags: guest(
				&cli.IntFlag{Name: "rows", Value: 10_000, Usage: "`N` rows a call"},
				&cli.DurationFlag{Name: "time", Value: defaultBenchTime, Usage: "measure each function for `DURATION`"},
				&cli.StringFlag{Name: "input", Usage: "rows from the JSON lines of `FILE` in place of made-up ones; for a parse function its lines as they stand"},
			), Action: p.moduleBench,
		},
	}}
}

// openModule loads the module that is the first argument, under the command's flags.
func (p *program) openModule(c *cli.Context, path string) (*host.Module, func(), error) {
	env, done, err := p.environment(c.Context, nil)
	if err != nil {
		return nil, nil, err
	}
	cfg := host.ModuleConfig{Path: path, Capabilities: host.Capabilities{Log: guestLog{p}}}
	if cfg.Config, err = pairs("config", c.StringSlice("config")); err == nil {
		var limits map[string]string
		if limits, err = pairs("limit", c.StringSlice("limit")); err == nil {
			cfg.Limits, err = host.ParseLimits(limits)
		}
	}
	if err == nil {
		cfg.Permissions, err = host.ParsePermissions(c.StringSlice("allow"))
	}
	if err != nil {
		done()
		return nil, nil, &coded{err, exitInvalid}
	}
	m, err := env.Host.Load(c.Context, cfg)
	if err != nil {
		done()
		return nil, nil, moduleError(err)
	}
	return m, done, nil
}

// moduleError gives an error of loading its exit code: usage where there is no such file, environment where it may not be
// read.
func moduleError(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &coded{err, exitInvalid}
	case errors.Is(err, fs.ErrPermission):
		return environment(err)
	}
	return err
}

// pairs reads repeated flags KEY=VALUE.
func pairs(flag string, list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, kv := range list {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, invalid("flag --%s: found %q, expected KEY=VALUE", flag, kv)
		}
		out[k] = v
	}
	return out, nil
}

// finding is a line of `module check` as --json shows it.
type finding struct {
	File     string `json:"file"`
	Function string `json:"function,omitempty"`
	Check    string `json:"check"`
	OK       bool   `json:"ok"`
	Problem  string `json:"problem,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

func (p *program) moduleCheck(c *cli.Context) error {
	if c.Args().Len() == 0 {
		return invalid("which module? e.g. `wstream module check clicks.wasm`")
	}
	var all []finding
	problems := 0
	for _, path := range c.Args().Slice() {
		list, err := p.checkModule(c, path)
		if err != nil {
			return err
		}
		for _, f := range list {
			all = append(all, f)
			if !f.OK {
				problems++
			}
			if !p.json && (!f.OK || !p.quiet) {
				fmt.Fprintln(p.out, p.findingText(f))
			}
		}
	}
	if problems == 0 {
		text := ""
		if !p.quiet {
			text = fmt.Sprintf("%s checked, no problems", count(c.Args().Len(), "module"))
		}
		p.succeed("module check", text, all)
		return nil
	}
	err := fmt.Errorf("%s found in %s", count(problems, "problem"), count(c.Args().Len(), "module"))
	if p.json {
		p.printJSON(result{Command: "module check", Result: all, Error: failureOf(err)})
		return &reported{err}
	}
	return err
}

func (p *program) findingText(f finding) string {
	name := f.File
	if f.Function != "" {
		name += ": " + f.Function
	}
	switch {
	case !f.OK:
		return fmt.Sprintf("%s: %s: %s: %s", p.paint("31", "problem"), name, f.Check, f.Problem)
	case f.Detail != "":
		return fmt.Sprintf("ok: %s: %s (%s)", name, f.Check, f.Detail)
	}
	return fmt.Sprintf("ok: %s: %s", name, f.Check)
}

// checkModule gives what was looked at in one file. A file that is no module is a problem, one that is not there an error.
func (p *program) checkModule(c *cli.Context, path string) ([]finding, error) {
	m, done, err := p.openModule(c, path)
	if err != nil {
		var code *coded
		if errors.As(err, &code) {
			return nil, err
		}
		return []finding{{File: path, Check: "load", Problem: err.Error()}}, nil
	}
	defer done()
	out := []finding{{File: path, Check: "load", OK: true}}
	for _, f := range m.Check(c.Context) {
		out = append(out, finding{File: path, Function: f.Function, Check: f.What, OK: f.Problem == "", Problem: f.Problem, Detail: f.Detail})
	}
	return out, c.Context.Err()
}

// inspected is a module as `module inspect` shows it.
type inspected struct {
	Name      string         `json:"name"`
	Version   string         `json:"version"`
	ABI       int            `json:"abi"`
	SHA256    string         `json:"sha256"`
	Bytes     int64          `json:"bytes"`
	Functions []abi.Function `json:"functions"`
	Needs     []string       `json:"needs"`
	Imports   []string       `json:"imports"`
	SQL       []string       `json:"statements,omitempty"`
	Metrics   []string       `json:"metrics,omitempty"`
}

func (p *program) moduleInspect(c *cli.Context) error {
	if c.Args().Len() != 1 {
		return invalid("which module? e.g. `wstream module inspect clicks.wasm`")
	}
	path := c.Args().First()
	m, done, err := p.openModule(c, path)
	if err != nil {
		return err
	}
	defer done()
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	man := m.Manifest()
	r := inspected{
		Name: man.Name, Version: man.Version, ABI: man.ABI, SHA256: m.Hash(), Bytes: st.Size(), Functions: man.Functions,
		Needs: append([]string{}, m.Needs()...), Imports: []string{}, SQL: man.Statements, Metrics: man.Metrics,
	}
	for _, i := range m.Imports() {
		r.Imports = append(r.Imports, i.Module+"."+i.Name)
	}
	p.succeed("module inspect", r.text(), r)
	return nil
}

func (r inspected) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, ABI %d, %d bytes\nsha256 %s\n", r.Name, r.Version, r.ABI, r.Bytes, r.SHA256)
	for _, f := range r.Functions {
		fmt.Fprintf(&b, "\n%s (%s)\n", f.Name, f.Kind)
		line := func(name, text string) {
			if text != "" {
				fmt.Fprintf(&b, "  %-8s %s\n", name, text)
			}
		}
		if f.Doc != "" {
			fmt.Fprintf(&b, "  %s\n", f.Doc)
		}
		line("input", f.Input)
		line("output", f.Output)
		line("key", f.Key)
		line("state", f.State)
		line("mode", f.Mode)
		line("timeout", f.Timeout)
		line("time", f.Time)
		line("features", strings.Join(f.Features, ", "))
	}
	list := func(name string, items []string) {
		if len(items) == 0 {
			items = []string{"nothing"}
		}
		fmt.Fprintf(&b, "\n%s: %s", name, strings.Join(items, ", "))
	}
	list("needs", r.Needs)
	list("imports", r.Imports)
	if len(r.Metrics) > 0 {
		list("metrics", r.Metrics)
	}
	b.WriteByte('\n')
	for _, s := range r.SQL {
		fmt.Fprintf(&b, "statement: %s\n", s)
	}
	return b.String()
}

// boundFunction prepares a function for the schema that --schema gives, or the one that it declares.
func boundFunction(ctx context.Context, c *cli.Context, m *host.Module, name string) (*host.Bound, *columnar.Schema, error) {
	spec, err := m.Function(name)
	if err != nil {
		return nil, nil, &coded{err, exitInvalid}
	}
	schema := spec.Input
	if ddl := c.String("schema"); ddl != "" {
		if schema, err = columnar.ParseDDL(ddl); err != nil {
			return nil, nil, invalid("flag --schema: %w", err)
		}
	}
	if schema == nil {
		return nil, nil, invalid("function %q takes any columns; say which with --schema, e.g. --schema 'id BIGINT, url STRING'", name)
	}
	b, err := m.Bind(ctx, name, schema)
	return b, schema, err
}
