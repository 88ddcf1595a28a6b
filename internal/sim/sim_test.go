package main

import "testing"

// TestSeeds runs the first seeds; `go run ./internal/sim -n N` runs more, and `-seed N` one of them again.
func TestSeeds(t *testing.T) {
	n := uint64(400)
	if testing.Short() {
		n = 50
	}
	s, err := newSimulator()
	if err != nil {
		t.Fatal(err)
	}
	total := s.many(1, n, 2, func(o outcome) { t.Error(o) }, func(int) {})
	t.Log(total)
	if total.calm == int(n) {
		t.Error("no fault has struck: the seeds have tested nothing")
	}
}

// TestSameSeedSameTrace shows that a seed decides everything.
func TestSameSeedSameTrace(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		var traces [2]uint64
		for i := range traces {
			s, err := newSimulator()
			if err != nil {
				t.Fatal(err)
			}
			traces[i] = s.run(seed, nil).trace
		}
		if traces[0] != traces[1] {
			t.Errorf("seed %d: trace %016x, then %016x", seed, traces[0], traces[1])
		}
	}
}
