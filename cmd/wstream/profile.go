package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
)

// startProfile begins a CPU profile in a folder; the result ends it and writes a heap profile beside it.
func (p *program) startProfile(dir string) (func(), error) {
	if dir == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, environment(err)
	}
	f, err := os.Create(filepath.Join(dir, "cpu.pprof"))
	if err != nil {
		return nil, environment(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
		if h, err := os.Create(filepath.Join(dir, "heap.pprof")); err == nil {
			runtime.GC()
			_ = pprof.WriteHeapProfile(h)
			h.Close()
		}
		p.note("profiles written to %s", dir)
	}, nil
}
