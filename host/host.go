// Package host runs guests: WebAssembly modules that speak the contract of package abi. It turns a
// module's function into a Go value that works on record batches, keeps what the guest does within limits,
// and believes nothing that the guest says before package abi has checked it.
//
// A Host is a runtime with its compiled modules; a Module is one file under one configuration; Bind makes
// a Bound, a function for one input schema, whose methods (Rows, Filter, Scalar, Groups, …) follow from the
// function's kind and may be called from many goroutines: every call takes an instance from the module's
// pool, and an instance serves one call at a time.
package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wstream/wstream/host/fuel"
)

// Config says how guests are run.
type Config struct {
	// CacheDir is a folder for compiled modules, shared with other processes; "" compiles anew each
	// time. DefaultCacheDir gives the usual one.
	CacheDir string
	// Interpreter runs guests without compiling them: some 20 times slower, on any architecture.
	Interpreter bool
	// Unmetered runs modules as they are, without the counters of package fuel: nothing then stops an endless loop, and
	// of the limits only those on memory as a whole, output and logs hold. It is there to measure what the counters cost; no
	// pipeline and no flag of the command line can ask for it.
	Unmetered bool
}

// Host is a runtime. It is safe for use by many goroutines.
type Host struct {
	runtime   wazero.Runtime
	cache     wazero.CompilationCache
	unmetered bool

	mu      sync.Mutex
	modules []*Module
}

// features are what a guest may use of WebAssembly. Threads and typed function references are left out.
const features = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall |
	experimental.CoreFeaturesExtendedConst | experimental.CoreFeaturesExceptionHandling

// DefaultCacheDir is the folder for compiled modules below the user's cache folder, or "" when there is none
// that can be written to.
func DefaultCacheDir() string {
	base, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir := filepath.Join(base, "wstream", "modules")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return ""
	}
	probe, err := os.CreateTemp(dir, ".probe-")
	if err != nil {
		return ""
	}
	if errors.Join(probe.Close(), os.Remove(probe.Name())) != nil {
		return ""
	}
	return dir
}

// New makes a runtime. Close frees it and all its modules.
func New(ctx context.Context, c Config) (*Host, error) {
	rc := wazero.NewRuntimeConfig()
	if c.Interpreter {
		rc = wazero.NewRuntimeConfigInterpreter()
	}
	h := &Host{unmetered: c.Unmetered}
	if c.Unmetered {
		rc = rc.WithMemoryLimitPages(uint32(maxMemoryBytes / fuel.PageSize))
	}
	if c.CacheDir != "" && !c.Interpreter {
		cache, err := wazero.NewCompilationCacheWithDir(c.CacheDir)
		if err != nil {
			return nil, fmt.Errorf("module cache %q: %w", c.CacheDir, err)
		}
		h.cache = cache
		rc = rc.WithCompilationCache(cache)
	}
	rc = rc.WithCoreFeatures(features).WithDebugInfoEnabled(true)
	h.runtime = wazero.NewRuntimeWithConfig(ctx, rc)
	if err := registerImports(ctx, h.runtime); err != nil {
		return nil, errors.Join(err, h.Close(ctx))
	}
	return h, nil
}

// Close frees the runtime. No call may be running.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.modules {
		m.pool.close(ctx)
	}
	h.modules = nil
	err := h.runtime.Close(ctx)
	if h.cache != nil {
		err = errors.Join(err, h.cache.Close(ctx))
	}
	return err
}
