package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/wstream/wstream/internal/generate"
)

// env is what measurements run in: a temporary folder with the data, made when it is first asked for, and the places of the
// binary, the broker and the repository.
type env struct {
	// root is the repository.
	root string
	// dir is the temporary folder of this run.
	dir string
	// rows is the number of rows of the whole paths, files that of their files.
	rows, files int
	// cores is the number of goroutines of the plain loops' whole paths.
	cores int
	// latencyFor is how long the latency measurements feed a system, after a warm-up.
	latencyFor time.Duration
	// broker is the address of a Kafka broker; empty until asked for.
	broker string
	// clicksIn is the topic that holds the clicks; empty until asked for.
	clicksIn string
	// stop ends what was started, last first.
	stop []func() error
	// topics counts the topics, so that each has a name of its own.
	topics int
}

// close ends what was started and removes the folder.
func (e *env) close() error {
	var errs []error
	for i := len(e.stop) - 1; i >= 0; i-- {
		errs = append(errs, e.stop[i]())
	}
	return errors.Join(append(errs, os.RemoveAll(e.dir))...)
}

// clicks is the folder of the clicks.
func (e *env) clicks(ctx context.Context) (string, error) {
	dir := filepath.Join(e.dir, "clicks")
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	kind, err := generate.Find("clicks")
	if err != nil {
		return "", err
	}
	// Written under another name, so that a run that was stopped leaves no half.
	half := dir + ".half"
	if err := (generate.Files{Dir: half, Rows: e.rows, Files: e.files, Seed: 1}).Write(ctx, kind); err != nil {
		return "", err
	}
	return dir, os.Rename(half, dir)
}

// sample is n lines of clicks, for the kernels.
func (e *env) sample(n int) ([]byte, error) {
	kind, err := generate.Find("clicks")
	if err != nil {
		return nil, err
	}
	var lines []byte
	for rows := kind.Rows(generate.Part{Seed: 1, Total: 10_000_000}); n > 0; n-- {
		lines = append(rows.Append(lines), '\n')
	}
	return lines, nil
}

// fresh is a new empty folder.
func (e *env) fresh(name string) (string, error) { return os.MkdirTemp(e.dir, name+"-") }

// binary is the path of the built bin/wstream.
func (e *env) binary() (string, error) {
	path := filepath.Join(e.root, "bin", "wstream")
	if _, err := os.Stat(path); err != nil {
		return "", missing("bin/wstream is not built: make build")
	}
	return path, nil
}

// kafka is the address of a broker: the one of the environment, else one started by scripts/kafka.sh where its jars and Java
// are there.
func (e *env) kafka(ctx context.Context) (string, error) {
	if e.broker != "" {
		return e.broker, nil
	}
	for _, name := range []string{"BENCH_BROKER", "WSTREAM_TEST_KAFKA"} {
		if e.broker = os.Getenv(name); e.broker != "" {
			return e.broker, nil
		}
	}
	if _, err := exec.LookPath("java"); err != nil {
		return "", missing("no broker: set BENCH_BROKER, or install Java and run scripts/install.sh kafka")
	}
	if jars, _ := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".cache/wstream/kafka-*/.complete")); len(jars) == 0 {
		return "", missing("no broker: set BENCH_BROKER, or run scripts/install.sh kafka")
	}
	script, dir := filepath.Join(e.root, "scripts/kafka.sh"), filepath.Join(e.dir, "kafka")
	out, err := exec.CommandContext(ctx, script, "start", dir, "0").Output()
	if err != nil {
		return "", fmt.Errorf("%s start: %w", script, err)
	}
	e.stop = append(e.stop, exec.Command(script, "stop", dir).Run)
	e.broker = strings.TrimSpace(string(out))
	return e.broker, nil
}
