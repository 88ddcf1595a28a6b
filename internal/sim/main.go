package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout)) }

// run is the program: 0 if all seeds have gone well, 1 if one has failed, 2 for bad arguments.
func run(args []string, out io.Writer) int {
	flags := flag.NewFlagSet("sim", flag.ContinueOnError)
	flags.SetOutput(out)
	seed := flags.Uint64("seed", 0, "run this one seed and print what it did")
	from := flags.Uint64("from", 1, "the first of several seeds")
	n := flags.Uint64("n", 0, "run this many seeds")
	trace := flags.Bool("trace", false, "with -seed: print every event")
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "how many seeds are run at the same time")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	s, err := newSimulator()
	if err != nil {
		fmt.Fprintln(out, err)
		return 2
	}
	if *n == 0 {
		return one(s, *seed, *trace, out)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800) // every seed makes its own small world, and leaves it
	}
	began, told := time.Now(), time.Now()
	t := s.many(*from, *n, *workers, func(o outcome) { fmt.Fprintln(out, o) }, func(done int) {
		if time.Since(told) > progressEvery {
			told = time.Now()
			fmt.Fprintf(out, "%d of %d seeds, %v\n", done, *n, time.Since(began).Round(time.Second))
		}
	})
	fmt.Fprintf(out, "%s%.2f ms per seed and core\n", t, time.Since(began).Seconds()*1000*float64(*workers)/float64(*n))
	if t.failed > 0 {
		return 1
	}
	return 0
}

// progressEvery is how often many seeds tell how far they are.
const progressEvery = 30 * time.Second

// one runs a single seed.
func one(s *simulator, seed uint64, trace bool, out io.Writer) int {
	var show func(string)
	if trace {
		show = func(line string) { fmt.Fprintln(out, line) }
	}
	o := s.run(seed, show)
	fmt.Fprintf(out, "seed %d: %s, %d processes, %d batches came again, trace %016x\n%s", seed, o.shape, o.starts, o.replays, o.trace, o.struck)
	if len(o.failures) > 0 {
		fmt.Fprintln(out, o)
		return 1
	}
	return 0
}

// totals are the sums over many seeds.
type totals struct {
	seeds, failed, calm, starts, replays int
	struck                               counts
	shapes                               map[string]int
}

// String shows the sums by kind of fault.
func (t totals) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d seeds, %d failed; %d starts, %d batches came again; %d seeds without a fault that struck\nfaults by kind:\n%sseeds by pipeline:\n",
		t.seeds, t.failed, t.starts, t.replays, t.calm, t.struck)
	names := make([]string, 0, len(t.shapes))
	for name := range t.shapes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "  %-20s %8d\n", name, t.shapes[name])
	}
	return b.String()
}

// maxFailures is after how many failed seeds no more are run.
const maxFailures = 20

// many runs seeds on several goroutines, each seed on one, and tells of those that fail and how many are done.
func (s *simulator) many(from, n uint64, workers int, failed func(outcome), done func(int)) totals {
	t := totals{struck: counts{}, shapes: map[string]int{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var next atomic.Uint64
	for range max(workers, 1) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
				o := s.run(from+i, nil)
				mu.Lock()
				t.seeds++
				t.starts += o.starts
				t.replays += o.replays
				t.struck.add(o.struck)
				t.shapes[o.shape]++
				if !o.struck.struck() {
					t.calm++
				}
				stop := false
				if len(o.failures) > 0 {
					t.failed++
					failed(o)
					stop = t.failed >= maxFailures
				}
				done(t.seeds)
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	wg.Wait()
	return t
}
