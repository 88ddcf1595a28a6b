package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// figure is what was measured of one measurement.
type figure struct {
	Job string `json:"job"`
	Way string `json:"way"`
	// Rows is the number of input rows of a run, Runs how often it was run.
	Rows int `json:"rows,omitempty"`
	Runs int `json:"runs,omitempty"`
	// RowsPerSecond is by the clock, RowsPerCoreSecond by the seconds of all cores together, both of the median run.
	RowsPerSecond     float64 `json:"rowsPerSecond,omitempty"`
	RowsPerCoreSecond float64 `json:"rowsPerCoreSecond,omitempty"`
	// OfPlain is RowsPerCoreSecond as a share of the plain Go loop's of the same job.
	OfPlain float64 `json:"ofPlain,omitempty"`
	// P50Ms and P99Ms are of measurements of latency: the percentiles of the run with the median p99. OfPlain is the p99's share then.
	P50Ms  float64 `json:"p50Ms,omitempty"`
	P99Ms  float64 `json:"p99Ms,omitempty"`
	Answer string  `json:"answer,omitempty"`
	// Missing says why there is nothing; Error what went wrong.
	Missing string `json:"missing,omitempty"`
	Error   string `json:"error,omitempty"`
}

// taken is a run's figures.
type taken struct{ elapsed, cpu, p50, p99 time.Duration }

// session is a measurement in the making.
type session struct {
	m     measurement
	run   run
	times []taken
	f     figure
}

// meter runs measurements.
type meter struct {
	env *env
	// runs is how often a whole path runs; a kernel runs as many rounds of kernelTime each.
	runs       int
	kernelTime time.Duration
	say        func(format string, args ...any)
}

// measure runs all measurements, turn by turn, so that a drift of the machine's speed touches all alike, and gives their
// figures in order. What fails is said in its figure.
func (m *meter) measure(ctx context.Context, all []measurement) []figure {
	sessions := make([]*session, len(all))
	for i, one := range all {
		s := &session{m: one, f: figure{Job: one.job, Way: one.way}}
		sessions[i] = s
		m.say("%s: %s: preparing", one.job, one.way)
		var err error
		if s.run, err = one.prepare(ctx, m.env); err != nil {
			s.fail(err)
		}
	}
	for round := range m.runs {
		for _, s := range sessions {
			if s.run == nil || ctx.Err() != nil {
				continue
			}
			m.say("%s: %s: run %d of %d", s.m.job, s.m.way, round+1, m.runs)
			if err := m.once(ctx, s); err != nil {
				s.fail(err)
			}
		}
	}
	plain := map[string]figure{}
	figures := make([]figure, len(sessions))
	for i, s := range sessions {
		s.finish()
		first, ok := plain[s.f.Job]
		if !ok {
			first = s.f
			plain[s.f.Job] = first
		}
		if first.RowsPerCoreSecond > 0 && s.f.RowsPerCoreSecond > 0 {
			s.f.OfPlain = s.f.RowsPerCoreSecond / first.RowsPerCoreSecond
		}
		if first.P99Ms > 0 && s.f.P99Ms > 0 {
			s.f.OfPlain = s.f.P99Ms / first.P99Ms
		}
		if s.f.Error == "" && s.f.Answer != "" && first.Answer != "" && s.f.Answer != first.Answer {
			s.f.Error = fmt.Sprintf("answers %s where the plain loop answers %s", s.f.Answer, first.Answer)
		}
		figures[i] = s.f
	}
	return figures
}

// once runs a whole path, or a round of a kernel: as many runs as fill the time.
func (m *meter) once(ctx context.Context, s *session) error {
	rows, repeat := 0, 1
	if !s.m.whole && len(s.times) == 0 {
		// Once before it counts, so that tables are filled and buffers have their size.
		if _, err := s.run(ctx); err != nil {
			return err
		}
	}
	for {
		begin, cpu := time.Now(), cpuTime()
		for range repeat {
			o, err := s.run(ctx)
			if err != nil {
				return err
			}
			rows, s.f.Answer = o.rows, o.answer
			if o.cpu > 0 || o.p99 > 0 {
				s.f.Rows = rows
				s.times = append(s.times, taken{o.elapsed, o.cpu, o.p50, o.p99})
				return nil
			}
		}
		t := taken{elapsed: time.Since(begin), cpu: cpuTime() - cpu}
		if s.m.whole || t.elapsed >= m.kernelTime {
			s.f.Rows = rows
			n := time.Duration(repeat)
			s.times = append(s.times, taken{elapsed: t.elapsed / n, cpu: t.cpu / n})
			return nil
		}
		per := max(t.elapsed/time.Duration(repeat), time.Nanosecond)
		repeat = max(2*repeat, int(math.Ceil(float64(m.kernelTime)/float64(per)*1.1)))
	}
}

func (s *session) fail(err error) {
	s.run = nil
	if m := missing(""); errors.As(err, &m) {
		s.f.Missing = string(m)
	} else {
		s.f.Error = err.Error()
	}
}

// finish takes the medians.
func (s *session) finish() {
	if s.f.Runs = len(s.times); s.f.Runs == 0 {
		return
	}
	if slices.SortFunc(s.times, func(a, b taken) int { return cmp.Compare(a.p99, b.p99) }); s.times[0].p99 > 0 {
		t := s.times[len(s.times)/2]
		s.f.P50Ms, s.f.P99Ms = ms(t.p50), ms(t.p99)
		return
	}
	elapsed, cpu := make([]time.Duration, len(s.times)), make([]time.Duration, len(s.times))
	for i, t := range s.times {
		elapsed[i], cpu[i] = t.elapsed, t.cpu
	}
	slices.Sort(elapsed)
	slices.Sort(cpu)
	s.f.RowsPerSecond = float64(s.f.Rows) / elapsed[len(elapsed)/2].Seconds()
	// The kernel counts CPU time in ticks; a run too short to have any took its elapsed time.
	c := cpu[len(cpu)/2]
	if c <= 0 {
		c = elapsed[len(elapsed)/2]
	}
	s.f.RowsPerCoreSecond = float64(s.f.Rows) / c.Seconds()
}

// ms is a duration in milliseconds.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// now begins and since ends a measurement within a run that does more than what counts.
func now() (time.Time, time.Duration) { return time.Now(), cpuTime() }

func since(begin time.Time, cpu time.Duration) (elapsed, used time.Duration) {
	return time.Since(begin), max(cpuTime()-cpu, 1)
}

// cpuTime is what this process has used of all cores.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// progress prints to standard error while a terminal or a log looks on.
func progress(quiet bool) func(string, ...any) {
	return func(format string, args ...any) {
		if !quiet {
			fmt.Fprintf(os.Stderr, format+"\n", args...)
		}
	}
}
