// Command bench measures the engine's parts and the whole path beside plain Go loops of the same jobs, in one run, and
// prints rows/s and rows/s per core. `make bench` runs it; README.md says what the figures mean, and how the peers run
// beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

func main() {
	if err := doMain(os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.Exit(1)
	}
}

func doMain(args []string) (err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	rows := flags.Int("rows", 1_000_000, "rows of the whole paths")
	files := flags.Int("files", 20, "files that they lie in")
	runs := flags.Int("runs", 3, "runs of each measurement; the median counts")
	kernel := flags.Duration("time", 300*time.Millisecond, "time of a kernel's round")
	seconds := flags.Duration("latency", 10*time.Second, "time of a latency measurement")
	only := flags.String("only", "", "only measurements whose job or way contains this; functions for those of SQL, which are not among the others")
	out := flags.String("json", "", "append the report to this file, one line of JSON a run")
	root := flags.String("root", ".", "the repository")
	list := flags.Bool("list", false, "list the measurements and end")
	quiet := flags.Bool("q", false, "no progress on standard error")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *only == functionsJob {
		return functions(*runs, *quiet)
	}
	all, err := find(measurements(), *only)
	if err != nil {
		return err
	}
	if *list {
		for _, m := range all {
			fmt.Printf("%s / %s\n", m.job, m.way)
		}
		return nil
	}
	if *rows < 1 || *files < 1 || *runs < 1 {
		return fmt.Errorf("-rows, -files and -runs must be at least 1")
	}
	at, err := filepath.Abs(*root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "wstream-bench-")
	if err != nil {
		return err
	}
	e := &env{root: at, dir: dir, rows: *rows, files: *files, latencyFor: *seconds, cores: runtime.GOMAXPROCS(0)}
	defer func() { err = errors.Join(err, e.close()) }()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	m := &meter{env: e, runs: *runs, kernelTime: *kernel, say: progress(*quiet)}
	r := newReport(m.measure(ctx, all))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if *out != "" {
		if err := r.write(*out); err != nil {
			return err
		}
	}
	if err := r.table(os.Stdout); err != nil {
		return err
	}
	if n := r.failed(); n > 0 {
		return fmt.Errorf("%d measurements failed", n)
	}
	return nil
}

// functions measures the functions of SQL beside their loops.
func functions(rounds int, quiet bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	figures := measureFunctions(ctx, functionBenches(), rounds, 20*time.Millisecond, progress(quiet))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	failed, err := functionTable(os.Stdout, figures)
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d functions failed", failed)
	}
	return err
}
