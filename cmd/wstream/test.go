package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/pipeline"
)

func (p *program) testCommand() *cli.Command {
	return &cli.Command{
		Name: "test", Usage: "run pipeline tests (*_test.yaml)", ArgsUsage: "PATH…",
		Description: "Each test runs its pipeline with memory in place of the streaming sources and compares what the\nsink gets. The last line is `N passed, N failed`.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "mode", Value: "straight", Usage: "`MODE`: straight, crash (a crash and restore between all batches), rescale (restored at another parallelism) or all"},
			&cli.StringSliceFlag{Name: "modules", Usage: "look for modules that are not at their path in `DIR`, by file name; may be repeated"},
			&cli.BoolFlag{Name: "update", Usage: "write the outputs that were found into the test files"},
			&cli.StringFlag{Name: "run", Usage: "only tests whose path contains `TEXT`"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "name the tests that pass, too"},
		},
		Action: p.test,
	}
}

// testLine is a test's result as --json shows it.
type testLine struct {
	Test  string `json:"test"`
	Mode  string `json:"mode,omitempty"`
	OK    bool   `json:"ok"`
	Ms    int64  `json:"ms"`
	Error string `json:"error,omitempty"`
}

func (p *program) test(c *cli.Context) error {
	var modes []pipeline.Mode
	switch m := c.String("mode"); m {
	case "all":
		modes = pipeline.Modes()
	case string(pipeline.Straight), string(pipeline.Crash), string(pipeline.Rescale):
		modes = []pipeline.Mode{pipeline.Mode(m)}
	default:
		return invalid("flag --mode: found %q, expected straight, crash, rescale or all", m)
	}
	files, err := walk(c.Args().Slice(), isTestFile)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return invalid("no test under %s: its name ends in _test.yaml, and `wstream init` makes one to start from", strings.Join(c.Args().Slice(), ", "))
	}
	env, done, err := p.environment(c.Context, c.StringSlice("modules"))
	if err != nil {
		return err
	}
	defer done()
	env.Warn, env.GuestLog = nil, nil
	passed, failed := 0, 0
	for _, path := range files {
		if !strings.Contains(path, c.String("run")) {
			continue
		}
		if err := c.Context.Err(); err != nil {
			return err
		}
		began := time.Now()
		mode, err := p.runTest(c, env, path, modes)
		line := testLine{Test: path, OK: err == nil, Ms: time.Since(began).Milliseconds()}
		if err != nil {
			failed++
			line.Mode, line.Error = string(mode), err.Error()
		} else {
			passed++
		}
		switch {
		case p.json:
			p.printJSON(line)
		case err != nil:
			fmt.Fprintf(p.out, "%s %s\n", p.paint("31", "FAIL"), err)
		case c.Bool("verbose"):
			fmt.Fprintf(p.out, "%s %s (%d ms)\n", p.paint("32", "ok  "), path, line.Ms)
		}
	}
	summary := fmt.Sprintf("%d passed, %d failed", passed, failed)
	if p.json {
		p.printJSON(map[string]any{"command": "test", "ok": failed == 0, "result": map[string]int{"passed": passed, "failed": failed}})
	} else {
		fmt.Fprintln(p.out, summary)
	}
	if failed > 0 {
		return &reported{fmt.Errorf("%s", summary)}
	}
	return nil
}

// runTest runs one test in all modes; the first failure counts.
func (p *program) runTest(c *cli.Context, env *pipeline.Environment, path string, modes []pipeline.Mode) (pipeline.Mode, error) {
	t, err := pipeline.LoadTest(path)
	if err != nil {
		return "", err
	}
	if c.Bool("update") {
		text, err := env.UpdateTest(c.Context, t)
		if err != nil {
			return pipeline.Straight, err
		}
		return pipeline.Straight, os.WriteFile(path, text, 0o644)
	}
	for _, m := range modes {
		if err := env.RunTest(c.Context, t, m); err != nil {
			return m, err
		}
	}
	return "", nil
}
