package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/engine/udf"
)

// functionsJob is what -only is given to measure the functions of SQL instead of the jobs.
const functionsJob = "functions"

// functionBench is a function of SQL over a column or two, beside the loop that a programmer would write for this one case.
type functionBench struct {
	family, text string
	// loop computes the same column.
	loop func(in *functionInput) *columnar.Column
	// groups makes the function an aggregate over as many groups; loop gives one row for each.
	groups int
	// why is the reason for which it may be more than three times as slow as its loop.
	why string
	// approximate says that the results of both need not be equal.
	approximate bool
}

// functionFigure is what was measured of one.
type functionFigure struct {
	family, text, why string
	engine, loop      float64 // ns per row
	err               error
}

func (f functionFigure) ratio() float64 { return f.engine / f.loop }

// measureFunctions runs all in turns and takes the least time of each: what is more was the machine's.
func measureFunctions(ctx context.Context, all []functionBench, rounds int, each time.Duration, say func(string, ...any)) []functionFigure {
	in := newFunctionInput()
	out := make([]functionFigure, len(all))
	runs := make([]func() error, len(all))
	for i, b := range all {
		out[i] = functionFigure{family: b.family, text: b.text, why: b.why}
		run, err := b.prepare(in)
		if err == nil {
			err = b.check(in, run)
		}
		out[i].err = err
		runs[i] = func() error { _, err := run(); return err }
	}
	for round := range rounds {
		say("functions: round %d of %d", round+1, rounds)
		for i, b := range all {
			if out[i].err != nil || ctx.Err() != nil {
				continue
			}
			e, err := perRow(each, runs[i])
			l, _ := perRow(each, func() error { b.loop(in); return nil })
			if out[i].err = err; round == 0 {
				out[i].engine, out[i].loop = e, l
			}
			out[i].engine, out[i].loop = min(out[i].engine, e), min(out[i].loop, l)
		}
	}
	return out
}

// perRow calls f for a while and gives the nanoseconds per row of the fastest tenth.
func perRow(each time.Duration, f func() error) (float64, error) {
	var times []time.Duration
	for end := time.Now().Add(each); time.Now().Before(end) || len(times) < 3; {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return float64(times[len(times)/10].Nanoseconds()) / batchRows, nil
}

// prepare binds the function and gives what evaluates it over the whole batch.
func (b functionBench) prepare(in *functionInput) (func() (*columnar.Column, error), error) {
	registry := expr.NewRegistry(expr.Builtins())
	a := plan.NewAnalyzer(in, plan.Settings{ANSI: true, Zone: time.UTC}, registry)
	q, err := sql.ParseQuery("SELECT " + b.text + " AS r FROM t")
	if err != nil {
		return nil, err
	}
	n, err := a.Query(q)
	if err != nil {
		return nil, err
	}
	ctx := &expr.Context{ANSI: true, Zone: time.UTC}
	if b.groups > 0 {
		return b.aggregate(in, ctx, n)
	}
	p, ok := a.Optimize(n).(*plan.Project)
	if !ok {
		return nil, fmt.Errorf("%s is no projection", b.text)
	}
	e, err := expr.BindRefs(expr.Fold(ctx, p.Exprs[0]), in.attrs)
	if err != nil {
		return nil, err
	}
	return func() (*columnar.Column, error) { return e.Eval(ctx, in.batch) }, nil
}

// aggregate gives what updates the groups of an aggregate with the batch, and reads them.
func (b functionBench) aggregate(in *functionInput, ctx *expr.Context, n plan.Node) (func() (*columnar.Column, error), error) {
	var call expr.Aggregate
	plan.Walk(n, func(n plan.Node) bool {
		if g, ok := n.(*plan.Aggregate); ok {
			for _, e := range g.Exprs {
				expr.Walk(e, func(x expr.Expr) bool {
					if f, ok := x.(expr.Aggregate); ok {
						call = f
					}
					return true
				})
			}
		}
		return true
	})
	if call == nil {
		return nil, fmt.Errorf("%s is no aggregate", b.text)
	}
	args := make([]expr.Expr, len(call.Call().Args))
	for i, e := range call.Call().Args {
		bound, err := expr.BindRefs(e, in.attrs)
		if err != nil {
			return nil, err
		}
		args[i] = bound
	}
	acc := call.New(ctx)
	return func() (*columnar.Column, error) {
		acc.Reset()
		acc.Grow(b.groups)
		cols := make([]*columnar.Column, len(args))
		for i, e := range args {
			c, err := e.Eval(ctx, in.batch)
			if err != nil {
				return nil, err
			}
			cols[i] = c
		}
		if err := acc.Update(in.group, cols); err != nil {
			return nil, err
		}
		return acc.Result()
	}, nil
}

// check holds that function and loop give the same.
func (b functionBench) check(in *functionInput, run func() (*columnar.Column, error)) error {
	got, err := run()
	if err != nil {
		return err
	}
	want := b.loop(in)
	if got.Len != want.Len {
		return fmt.Errorf("%d rows, the loop has %d", got.Len, want.Len)
	}
	for i := range got.Len {
		if g, w := fmt.Sprint(got.Datum(i)), fmt.Sprint(want.Datum(i)); g != w && !b.approximate {
			return fmt.Errorf("row %d is %s, the loop has %s", i, g, w)
		}
	}
	return nil
}

// functionTable prints the figures, family by family, and for what is more than three times as slow as its loop the reason.
func functionTable(w io.Writer, all []functionFigure) (failed int, err error) {
	width := 0
	for _, f := range all {
		width = max(width, len(f.text))
	}
	fmt.Fprintf(w, "%-12s %-*s %9s %9s %6s\n", "family", width, "function", "ns/row", "loop", "ratio")
	var slow []string
	for _, f := range all {
		if f.err != nil {
			failed++
			fmt.Fprintf(w, "%-12s %-*s failed: %v\n", f.family, width, f.text, f.err)
			continue
		}
		mark := ""
		if f.ratio() > 3 {
			mark = " *"
			slow = append(slow, fmt.Sprintf("%-*s %s", width, f.text, cmp.Or(f.why, "NO REASON IS GIVEN")))
		}
		fmt.Fprintf(w, "%-12s %-*s %9.2f %9.2f %6.2f%s\n", f.family, width, f.text, f.engine, f.loop, f.ratio(), mark)
	}
	_, err = fmt.Fprintf(w, "%d functions, %d above 3 times their loop:\n  %s\n", len(all), len(slow), strings.Join(slow, "\n  "))
	return failed, err
}

// Relation implements plan.Catalog: t is the batch.
func (in *functionInput) Relation(a *plan.Analyzer, name []string) (plan.Node, bool, error) {
	if !strings.EqualFold(name[len(name)-1], "t") {
		return nil, false, nil
	}
	in.attrs = a.Attrs(in.batch.Schema, "t")
	return &plan.Relation{Source: "t", Attrs: in.attrs}, true, nil
}

// Relations implements plan.Catalog.
func (in *functionInput) Relations() []string { return []string{"t"} }

// Module implements plan.Catalog.
func (in *functionInput) Module(string) (udf.Module, bool) { return nil, false }
