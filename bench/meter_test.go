package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// way is a measurement that answers at once.
func way(job, name, answer string, cpu time.Duration, err error) measurement {
	return measurement{job: job, way: name, whole: true, prepare: func(context.Context, *env) (run, error) {
		return func(context.Context) (outcome, error) {
			return outcome{rows: 1000, answer: answer, elapsed: cpu / 2, cpu: cpu}, nil
		}, err
	}}
}

// TestMeasure shows what the table says of ways that agree, disagree, lack something and fail.
func TestMeasure(t *testing.T) {
	m := &meter{env: &env{}, runs: 3, kernelTime: time.Millisecond, say: func(string, ...any) {}}
	r := report{CPU: "a processor", System: "an/os", Cores: 2, Go: "go1", Figures: m.measure(t.Context(), []measurement{
		way("a job", "plain", "42", 10*time.Millisecond, nil),
		way("a job", "engine", "42", 20*time.Millisecond, nil),
		way("a job", "wrong", "43", 20*time.Millisecond, nil),
		way("another", "plain", "1", time.Millisecond, missing("no broker")),
		way("another", "engine", "1", time.Millisecond, errors.New("broken")),
	})}
	var b strings.Builder
	if err := r.table(&b); err != nil {
		t.Fatal(err)
	}
	const want = `a processor, an/os, 2 cores, go1

                  rows/s        per core  of plain
a job
  plain          200,000         100,000      1.00  42
  engine         100,000          50,000      0.50  42
  wrong          100,000          50,000      0.50  FAILED: answers 43 where the plain loop answers 42
another
  plain                -               -         -  left out: no broker
  engine               -               -         -  FAILED: broken
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := r.failed(); n != 2 {
		t.Errorf("%d failed, want 2", n)
	}
}

// TestKernels runs every kernel once, so that a way that gives another answer is seen by the tests.
func TestKernels(t *testing.T) {
	e := &env{root: "..", dir: t.TempDir(), rows: 1000, files: 2, cores: 1}
	m := &meter{env: e, runs: 1, kernelTime: time.Millisecond, say: func(string, ...any) {}}
	var kernels []measurement
	for _, one := range measurements() {
		if !one.whole {
			kernels = append(kernels, one)
		}
	}
	for _, f := range m.measure(t.Context(), kernels) {
		if f.Error != "" || f.RowsPerSecond <= 0 && f.Missing == "" {
			t.Errorf("%s, %s: %v rows/s, %s", f.Job, f.Way, f.RowsPerSecond, f.Error)
		}
	}
}

// TestReportFile shows that a report is one line, appended.
func TestReportFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results.jsonl")
	for range 2 {
		if err := newReport([]figure{{Job: "a", Way: "b"}}).write(name); err != nil {
			t.Fatal(err)
		}
	}
	lines := readLines(t, name)
	if len(lines) != 2 || !strings.Contains(lines[1], `"figures":[{"job":"a","way":"b"}]`) {
		t.Errorf("got %q", lines)
	}
}
