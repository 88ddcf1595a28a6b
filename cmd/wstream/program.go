package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/pipeline"
)

// Exit codes, as docs/cli.md lists them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitInvalid     = 2
	exitEnvironment = 3
	exitInterrupted = 130
	exitTerminated  = 143
)

// program is one run of the command line.
type program struct {
	in       io.Reader
	out, err io.Writer
	args     []string

	json    bool
	quiet   bool
	noColor bool

	signal atomic.Int32 // the exit code of the signal that stopped the run, 0 for none
	mu     sync.Mutex   // over out and err
}

// signals ends ctx at the first SIGINT or SIGTERM; the second one kills, as without a handler.
func (p *program) signals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-ch:
			code := int32(exitInterrupted)
			if s == syscall.SIGTERM {
				code = exitTerminated
			}
			p.signal.Store(code)
			signal.Stop(ch)
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(ch); cancel() }
}

// coded is an error with the exit code that it asks for.
type coded struct {
	err  error
	code int
}

func (e *coded) Error() string { return e.err.Error() }
func (e *coded) Unwrap() error { return e.err }

func invalid(format string, args ...any) error {
	return &coded{fmt.Errorf(format, args...), exitInvalid}
}

func environment(err error) error { return &coded{err, exitEnvironment} }

// exitCode is the code that an error ends the program with.
func exitCode(err error) int {
	var c *coded
	var many pipeline.Errors
	var one *pipeline.Error
	var away *connector.UnavailableError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &c):
		return c.code
	case errors.As(err, &away):
		return exitEnvironment
	case errors.As(err, &many), errors.As(err, &one):
		return exitInvalid
	case ofEnvironment(err):
		return exitEnvironment
	case strings.HasPrefix(err.Error(), "Required flag"): // of the library, which has no type for it
		return exitInvalid
	}
	return exitFailed
}

// run runs a command and gives the exit code.
func (p *program) run(ctx context.Context) int {
	app := p.app()
	err := app.RunContext(ctx, flagsFirst(app, p.args))
	code := exitCode(err)
	if err != nil {
		p.report(commandName(p.args), err)
	}
	if s := p.signal.Load(); s != 0 && (code == exitOK || errors.Is(err, context.Canceled)) {
		code = int(s)
	}
	return code
}

// commandName is the command that arguments name, with its group: "run", "module check".
func commandName(args []string) string {
	var path []string
	list := (&program{}).commands()
	for _, a := range args[min(1, len(args)):] {
		if strings.HasPrefix(a, "-") {
			continue
		}
		i := slices.IndexFunc(list, func(c *cli.Command) bool { return c.Name == a })
		if i < 0 {
			if len(path) == 0 {
				return a
			}
			break
		}
		path, list = append(path, a), list[i].Subcommands
	}
	return strings.Join(path, " ")
}

// failure is an error as --json shows it.
type failure struct {
	Code       string `json:"code"`
	Message    string `json:"message"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
	Column     int    `json:"column,omitempty"`
	Suggestion string `json:"suggestion,omitempty"`
}

// result is the one object that a command prints with --json.
type result struct {
	Command string   `json:"command"`
	OK      bool     `json:"ok"`
	Result  any      `json:"result,omitempty"`
	Error   *failure `json:"error,omitempty"`
}

// failureOf describes an error; of several faults of a file the first one.
func failureOf(err error) *failure {
	f := &failure{Code: "FAILED", Message: err.Error()}
	if c := sparkerr.Condition(err); c != "" {
		f.Code = c
	}
	var many pipeline.Errors
	var one *pipeline.Error
	if errors.As(err, &many) && len(many) > 0 {
		one = many[0]
	} else {
		errors.As(err, &one)
	}
	var se *sparkerr.Error
	if one != nil {
		f.File, f.Line, f.Column, f.Suggestion = one.File, one.Line, one.Col, one.Suggestion
		if f.Code == "FAILED" {
			f.Code = "INVALID_PIPELINE"
		}
		if f.Suggestion == "" && errors.As(one, &se) {
			f.Suggestion = se.Suggestion
		}
	} else if errors.As(err, &se) {
		f.Line, f.Column, f.Suggestion = se.Line, se.Col, se.Suggestion
	}
	if f.Suggestion == "" {
		f.Suggestion = remedy(err)
	}
	return f
}

// report prints an error: a line for people, or an object with --json.
func (p *program) report(command string, err error) {
	var done *reported
	if errors.As(err, &done) {
		return
	}
	if p.json {
		p.printJSON(result{Command: command, Error: failureOf(err)})
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text := err.Error()
	if fix := remedy(err); fix != "" {
		text = strings.Join(strings.Fields(text), " ") + "; " + fix // drivers spread their reasons over lines
	}
	fmt.Fprintln(p.err, p.paint("31", "error: ")+text)
}

// reported is an error that the command has printed itself.
type reported struct{ err error }

func (e *reported) Error() string { return e.err.Error() }
func (e *reported) Unwrap() error { return e.err }

func (p *program) printJSON(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(`{"ok":false,"error":{"code":"INTERNAL","message":` + fmt.Sprintf("%q", err.Error()) + `}}`)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Write(append(b, '\n'))
}

// succeed prints the result of a command: text for people, an object with --json.
func (p *program) succeed(command, text string, v any) {
	if p.json {
		p.printJSON(result{Command: command, OK: true, Result: v})
		return
	}
	if text != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		fmt.Fprint(p.out, text)
		if !strings.HasSuffix(text, "\n") {
			fmt.Fprintln(p.out)
		}
	}
}

// note prints a line about what goes on, unless -q or --json was given.
func (p *program) note(format string, args ...any) {
	if p.quiet || p.json {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.err, format+"\n", args...)
}

// warn prints a warning.
func (p *program) warn(text string) {
	if p.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.err, p.paint("33", "warning: ")+text)
}

// terminal tells whether w is a terminal.
func terminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// paint colours text where standard error is a terminal.
func (p *program) paint(code, text string) string {
	if p.noColor || !terminal(p.err) || os.Getenv("NO_COLOR") != "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// app is the tree of commands.
func (p *program) app() *cli.App {
	app := &cli.App{
		Name: "wstream", Usage: "streams as tables: SQL, windows and Wasm in one binary", Version: version(),
		Writer: p.out, ErrWriter: p.err, Reader: p.in, HideVersion: false, EnableBashCompletion: true, Suggest: true,
		UseShortOptionHandling: true, ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError: wrongUse, Commands: p.commands(),
	}
	for _, c := range app.Commands {
		p.globals(c)
	}
	app.Action = func(c *cli.Context) error {
		if c.Args().Present() {
			return noCommand(c.Args().First(), app.Commands, "wstream")
		}
		return cli.ShowAppHelp(c)
	}
	return app
}

// noCommand is the error of a word that names no command of the group, with the nearest one.
func noCommand(word string, commands []*cli.Command, group string) error {
	var names []string
	for _, c := range commands {
		names = append(names, c.Names()...)
	}
	if near := pipeline.Nearest(word, names); near != "" {
		return invalid("no command %q; did you mean %q? `%s --help` lists all", word, near, group)
	}
	return invalid("no command %q; `%s --help` lists all", word, group)
}

// wrongUse is the error of flags that a command does not take or that lack their value, with the nearest flag.
func wrongUse(c *cli.Context, err error, _ bool) error {
	command := "wstream"
	if c.Command.HelpName != command {
		command += " " + strings.TrimPrefix(c.Command.HelpName, command+" ")
	}
	flag, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: ")
	if !unknown {
		return invalid("%s; `%s --help` lists the flags", err, command)
	}
	var names []string
	for _, f := range c.Command.Flags {
		for _, n := range f.Names() {
			if len(n) > 1 {
				names = append(names, n)
			}
		}
	}
	if near := pipeline.Nearest(strings.TrimLeft(flag, "-"), names); near != "" {
		return invalid("no flag %q; did you mean %q? `%s --help` lists all", flag, "--"+near, command)
	}
	return invalid("no flag %q; `%s --help` lists all", flag, command)
}

// globals adds the flags that stand everywhere.
func (p *program) globals(c *cli.Command) {
	c.OnUsageError = wrongUse
	if len(c.Subcommands) > 0 {
		for _, s := range c.Subcommands {
			p.globals(s)
		}
		if c.Action == nil {
			c.Action = func(x *cli.Context) error {
				if x.Args().Present() {
					return noCommand(x.Args().First(), c.Subcommands, "wstream "+x.Command.Name)
				}
				return cli.ShowSubcommandHelp(x)
			}
		}
		return
	}
	c.Flags = append(c.Flags,
		&cli.BoolFlag{Name: "json", Usage: "print one JSON object, or JSON lines for rows and events", Destination: &p.json},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print results and errors only", Destination: &p.quiet},
		&cli.BoolFlag{Name: "no-color", Usage: "no colours", Destination: &p.noColor},
	)
}
