package exec

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// group runs goroutines and keeps the first error. fail, if set, is called once with it.
type group struct {
	wg   sync.WaitGroup
	mu   sync.Mutex
	err  error
	fail func(error)
}

// run starts f in a goroutine.
func (g *group) run(f func() error) {
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		g.note(safely(f))
	}()
}

// note keeps an error that is not nil, if it is the first.
func (g *group) note(err error) {
	if err == nil {
		return
	}
	g.mu.Lock()
	first := g.err == nil
	if first {
		g.err = err
	}
	g.mu.Unlock()
	if first && g.fail != nil {
		g.fail(err)
	}
}

// wait waits for all goroutines and gives the first error.
func (g *group) wait() error {
	g.wg.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// safely turns a panic of f into an error, so that a fault of one query does not end the process,
// in which other queries run.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal fault: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// parallel calls f for 0 … n-1 in goroutines of their own, or in this one when n is 1.
func parallel(n int, f func(i int) error) error {
	if n == 1 {
		return safely(func() error { return f(0) })
	}
	var g group
	for i := range n {
		g.run(func() error { return f(i) })
	}
	return g.wait()
}
