package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// report is one run of the benchmarks, as it is kept.
type report struct {
	At      time.Time `json:"at"`
	Commit  string    `json:"commit,omitempty"`
	Go      string    `json:"go"`
	System  string    `json:"system"`
	CPU     string    `json:"cpu,omitempty"`
	Cores   int       `json:"cores"`
	Figures []figure  `json:"figures"`
}

func newReport(figures []figure) report {
	r := report{
		At: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		CPU: cpuName(), Cores: runtime.GOMAXPROCS(0), Figures: figures,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				r.Commit = s.Value
			}
		}
	}
	return r
}

// write appends the report to a file, as one line of JSON.
func (r report) write(name string) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// table prints the figures for people.
func (r report) table(w io.Writer) error {
	width := 0
	for _, f := range r.Figures {
		width = max(width, len(f.Way)+2)
	}
	lines := []string{
		fmt.Sprintf("%s, %s, %d cores, %s\n", r.CPU, r.System, r.Cores, r.Go),
		fmt.Sprintf("%-*s  %14s  %14s  %8s", width, "", "rows/s", "per core", "of plain"),
	}
	job := ""
	for _, f := range r.Figures {
		if f.Job != job {
			job = f.Job
			lines = append(lines, job)
		}
		note := f.Answer
		switch {
		case f.Error != "":
			note = "FAILED: " + f.Error
		case f.Missing != "":
			note = "left out: " + f.Missing
		}
		first, second := count(f.RowsPerSecond), count(f.RowsPerCoreSecond)
		if f.P99Ms > 0 {
			first, second = fmt.Sprintf("p50 %.1f ms", f.P50Ms), fmt.Sprintf("p99 %.1f ms", f.P99Ms)
		}
		lines = append(lines, fmt.Sprintf("  %-*s  %14s  %14s  %8s  %s", width-2, f.Way, first, second, share(f.OfPlain), note))
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// failed counts the figures with an error.
func (r report) failed() int {
	n := 0
	for _, f := range r.Figures {
		if f.Error != "" {
			n++
		}
	}
	return n
}

// count is a rate with groups of three digits; - for none.
func count(v float64) string {
	if v == 0 {
		return "-"
	}
	digits := strconv.FormatInt(int64(v+0.5), 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

func share(v float64) string {
	if v == 0 {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// cpuName is the processor's name where the system tells it.
func cpuName() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
