package main

import (
	"context"
	"fmt"
	"time"
)

// measurement is one way of doing a job. The ways of a job stand below one another in the table, and all must give the same
// answer; the first of them is the plain Go loop that the others are compared with.
type measurement struct {
	// job is what is done, way is who does it.
	job, way string
	// whole says that a run is the whole path of a job, not a kernel: it is run few times, each from the start.
	whole bool
	// prepare makes what a run needs. An error of type missing leaves the measurement out.
	prepare func(context.Context, *env) (run, error)
}

// run does the job once.
type run func(context.Context) (outcome, error)

// outcome is what a run did.
type outcome struct {
	// rows is the number of input rows.
	rows int
	// answer is the result in words, equal for all ways of a job.
	answer string
	// elapsed and cpu are the run's own figures where it is another process; else they are measured from outside.
	elapsed, cpu time.Duration
	// p50 and p99 are the percentiles of the time that a row took, of measurements of latency.
	p50, p99 time.Duration
}

// missing says what a measurement needs that is not there.
type missing string

func (m missing) Error() string { return string(m) }

// measurements lists all, job by job. A way of the engine's is added to its job here and nowhere else.
func measurements() []measurement {
	var all []measurement
	all = append(all, decoding()...)
	all = append(all, grouping()...)
	all = append(all, calling()...)
	all = append(all, filtering()...)
	all = append(all, fromFiles()...)
	all = append(all, fromKafka()...)
	all = append(all, copyKafka()...)
	all = append(all, latency()...)
	return all
}

// find keeps the measurements whose job or way contains the text.
func find(all []measurement, text string) ([]measurement, error) {
	if text == "" {
		return all, nil
	}
	var kept []measurement
	for _, m := range all {
		if containsFold(m.job+"/"+m.way, text) {
			kept = append(kept, m)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("no measurement contains %q; -list lists them", text)
	}
	return kept, nil
}
