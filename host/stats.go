package host

import (
	"sync/atomic"
	"time"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/host/fuel"
)

// Stats is what a module's calls have taken since it was loaded.
type Stats struct {
	Calls     int64         // of guest functions, one a slice of a batch
	Rows      int64         // handed over
	Fuel      int64         // counts used
	Time      time.Duration // in the guest, and in what it asked of the host
	Traps     int64         // instances that were thrown away
	Instances int64         // started
}

// counters are Stats while they change.
type counters struct {
	calls, rows, fuel, nanos, traps, instances atomic.Int64
}

// Stats gives the numbers so far.
func (m *Module) Stats() Stats {
	c := &m.counters
	return Stats{c.calls.Load(), c.rows.Load(), c.fuel.Load(), time.Duration(c.nanos.Load()), c.traps.Load(), c.instances.Load()}
}

// Import is a function that a module imports.
type Import struct{ Module, Name string }

// Imports are the functions that the module imports, but for the host's own for the fuel: what it needs of the host.
func (m *Module) Imports() []Import {
	var out []Import
	for _, d := range m.compiled.ImportedFunctions() {
		if module, name, _ := d.Import(); module != fuel.ImportModule {
			out = append(out, Import{module, name})
		}
	}
	return out
}

// Needs are the modules of the contract that the module imports from, without logs and WASI, which are always there.
func (m *Module) Needs() []string {
	var out []string
	seen := map[string]bool{abi.ModuleLog: true, abi.ModuleWASI: true}
	for _, i := range m.Imports() {
		if !seen[i.Module] {
			seen[i.Module] = true
			out = append(out, i.Module)
		}
	}
	return out
}

// count adds a call of the guest to the numbers.
func (in *instance) count(rows int) {
	c := &in.module.counters
	c.calls.Add(1)
	c.rows.Add(int64(rows))
	if in.counter != nil {
		c.fuel.Add(in.module.config.Limits.Fuel - in.run.fuel - int64(int32(uint32(in.counter.Get()))))
	}
	c.nanos.Add(int64(time.Since(in.run.started)))
}
