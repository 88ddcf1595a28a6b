package host

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/host/fuel"
)

// hostFunction is a function that guests may import. The stack has the parameters and takes the result.
type hostFunction struct {
	module, name string
	sig          signature
	call         func(ctx context.Context, in *instance, stack []uint64)
}

// hostFunctions are all of them.
func hostFunctions() []hostFunction {
	list := []hostFunction{{
		fuel.ImportModule, fuel.ImportName,
		signature{[]api.ValueType{i32}, []api.ValueType{i32}},
		func(_ context.Context, in *instance, stack []uint64) {
			stack[0] = uint64(uint32(in.tick(int32(uint32(stack[0])))))
		},
	}}
	list = append(list, logFunctions()...)
	list = append(list, metricFunctions()...)
	list = append(list, sqlFunctions()...)
	list = append(list, kvFunctions()...)
	list = append(list, produceFunctions()...)
	return append(list, wasiFunctions()...)
}

// registerImports gives the host's functions to a runtime. Which instance calls is known by the context.
func registerImports(ctx context.Context, r wazero.Runtime) error {
	builders := map[string]wazero.HostModuleBuilder{}
	for _, f := range hostFunctions() {
		b := builders[f.module]
		if b == nil {
			b = r.NewHostModuleBuilder(f.module)
			builders[f.module] = b
		}
		call := f.call
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
			in := instanceOf(ctx)
			if in.mod == nil { // while it is being instantiated
				in.mod = mod
			}
			call(ctx, in, stack)
		}), f.sig.params, f.sig.results).Export(f.name)
	}
	for name, b := range builders {
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("host module %q: %w", name, err)
		}
	}
	return nil
}

// checkImports refuses what the host does not have, by name, before anything runs.
func checkImports(imports []api.FunctionDefinition) error {
	known := map[[2]string]signature{}
	var modules []string
	for _, f := range hostFunctions() {
		known[[2]string{f.module, f.name}] = f.sig
		if f.module != fuel.ImportModule && !slices.Contains(modules, f.module) {
			modules = append(modules, f.module)
		}
	}
	for _, d := range imports {
		module, name, _ := d.Import()
		sig, ok := known[[2]string{module, name}]
		switch {
		case ok && sig.equal(d):
		case ok:
			return fmt.Errorf("imports %q of %q as %s, not as %s", name, module, signature{d.ParamTypes(), d.ResultTypes()}, sig)
		case slices.Contains(modules, module):
			return fmt.Errorf("imports %q of %q, which does not have it", name, module)
		default:
			sort.Strings(modules)
			return fmt.Errorf("imports %q of %q; this host offers %s", name, module, strings.Join(modules, ", "))
		}
	}
	return nil
}

// params are value types of i32 parameters, for signatures.
func params(n int) []api.ValueType {
	p := make([]api.ValueType, n)
	for i := range p {
		p[i] = i32
	}
	return p
}

// bytes reads what a guest passes as pointer and length; nil where it is not inside its memory or longer
// than limit.
func (in *instance) bytes(ptr, n uint64, limit int) []byte {
	if uint64(uint32(n)) > uint64(limit) {
		return nil
	}
	b, ok := in.mod.Memory().Read(uint32(ptr), uint32(n))
	if !ok {
		return nil
	}
	if b == nil {
		b = []byte{}
	}
	return b
}

// reply writes a value to the guest's buffer if it fits, and gives the length that it has.
func (in *instance) reply(ptr, room uint64, value []byte) uint64 {
	if len(value) <= int(uint32(room)) && !in.mod.Memory().Write(uint32(ptr), value) {
		return answer(abi.StatusBadFrame)
	}
	return uint64(len(value))
}

// answer is a status as a result.
func answer(s abi.Status) uint64 { return uint64(int64(s)) }
