package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/wstream/wstream/columnar"
)

// outcome is what a seed has come to.
type outcome struct {
	seed     uint64
	shape    string
	struck   counts
	starts   int
	replays  int
	trace    uint64
	failures []string
}

// simulator runs seeds. It may be used from several goroutines.
type simulator struct {
	plans  plans
	schema *columnar.Schema
}

func newSimulator() (*simulator, error) {
	schema, err := columnar.ParseDDL(rowSchema)
	if err != nil {
		return nil, err
	}
	return &simulator{plans: plans{by: map[string]planned{}}, schema: schema}, nil
}

// run runs one seed. show, if not nil, gets every line of the trace.
func (s *simulator) run(seed uint64, show func(string)) outcome {
	sc := newScenario(rand.New(rand.NewPCG(seed, 1)))
	out := outcome{seed: seed, shape: sc.shape + " to " + sc.sink}
	base, err := s.plans.of(sc)
	if err != nil {
		out.failures = []string{fmt.Sprintf("the pipeline does not compile: %v\n%s", err, sc.text)}
		return out
	}
	calm := newWorld(seed, sc, base, s.schema, nil)
	want := calm.play()
	w := newWorld(seed, sc, base, s.schema, show)
	w.chance = rand.New(rand.NewPCG(seed, 2))
	w.ops, w.left = calm.trace.ops, 1+w.chance.IntN(6)
	got := w.play()
	w.compare(got, want)
	out.struck, out.starts, out.replays, out.trace = w.struck, w.started, w.main.replays+w.lates.replays, w.trace.sum^calm.trace.sum
	for _, f := range calm.failures {
		out.failures = append(out.failures, "without faults: "+f)
	}
	out.failures = append(out.failures, w.failures...)
	return out
}

// String tells of a seed that has failed.
func (o outcome) String() string {
	return fmt.Sprintf("seed %d (%s): %s\nreplay it by: go run ./internal/sim -seed %d -trace", o.seed, o.shape, strings.Join(o.failures, "\n  "), o.seed)
}
