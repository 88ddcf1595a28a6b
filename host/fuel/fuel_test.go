package fuel

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

var limits = Limits{MemoryPages: 1024, TableElements: 1 << 16}

const features = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst |
	experimental.CoreFeaturesExceptionHandling

// modules are the modules kept in the repository, by path.
func modules(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, pattern := range []string{"../testdata/hostile/*.wasm", "testdata/*.wasm", "../../testdata/guests/*.wasm", "../../testdata/guests/*/*.wasm"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out[f] = b
		}
	}
	if len(out) < 10 {
		t.Fatalf("found only %d modules", len(out))
	}
	return out
}

// TestStaysValid rewrites every kept module: what the compiler took before it takes after.
func TestStaysValid(t *testing.T) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features))
	defer r.Close(ctx)
	for name, b := range modules(t) {
		if len(b) > 1<<20 {
			continue
		}
		out, err := Rewrite(b, limits)
		var refused *Error
		var limit *LimitError
		if err != nil && (errors.As(err, &refused) || errors.As(err, &limit)) {
			if !strings.Contains(name, "hostile") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		before, beforeErr := r.CompileModule(ctx, b)
		after, afterErr := r.CompileModule(ctx, out)
		if (beforeErr == nil) != (afterErr == nil) {
			t.Errorf("%s: before: %v; after: %v", name, beforeErr, afterErr)
			continue
		}
		if beforeErr != nil {
			continue
		}
		if len(before.ExportedFunctions()) != len(after.ExportedFunctions()) {
			t.Errorf("%s: exports differ", name)
		}
		for e, d := range before.ExportedFunctions() {
			if a := after.ExportedFunctions()[e]; a == nil || a.Name() != d.Name() {
				t.Errorf("%s: export %q has lost its function's name", name, e)
			}
		}
	}
}

// TestTruncated cuts and spoils modules at every byte: an error, never a panic.
func TestTruncated(t *testing.T) {
	for _, b := range modules(t) {
		if len(b) > 800 {
			continue
		}
		for i := range b {
			if _, err := Rewrite(b[:i], limits); err == nil && i > 0 && i < len(b)-1 {
				// Only whole sections may be missing, and then something else is amiss or nothing depends on them.
				if _, err := split(b[:i]); err != nil {
					t.Fatalf("took a module cut at %d", i)
				}
			}
			for _, x := range []byte{0x00, 0x7f, 0x80, 0xff} {
				c := append([]byte{}, b...)
				c[i] = x
				Rewrite(c, limits)
			}
		}
	}
}

// FuzzRewrite gives the rewriter anything. What it makes of a module that the compiler takes, the compiler takes too.
func FuzzRewrite(f *testing.F) {
	for _, b := range modules(f) {
		if len(b) < 4000 {
			f.Add(b)
		}
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features))
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := Rewrite(b, limits)
		if err != nil {
			return
		}
		if !compiles(ctx, r, b) {
			return
		}
		after, err := r.CompileModule(ctx, out)
		if err != nil {
			t.Fatalf("no longer valid: %v", err)
		}
		after.Close(ctx)
	})
}

// compiles says whether the compiler takes a module. It gives up over some that are not valid, which the host survives.
func compiles(ctx context.Context, r wazero.Runtime, b []byte) (ok bool) {
	defer func() { ok = recover() == nil && ok }()
	m, err := r.CompileModule(ctx, b)
	if err != nil {
		return false
	}
	return m.Close(ctx) == nil
}

// result is what came of a call of the export "run".
type result struct {
	value, used uint64
	ticks       int
	overflow    bool
	left        int32 // of the stack afterwards
}

// run rewrites a module and calls its export "run" with a number and a stack.
func run(t *testing.T, c wazero.RuntimeConfig, file string, arg uint64, stack int32) (res result) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err = Rewrite(b, limits)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, c.WithCoreFeatures(features))
	defer r.Close(ctx)
	const portion = 100
	_, err = r.NewHostModuleBuilder(ImportModule).NewFunctionBuilder().WithGoFunction(api.GoFunc(func(_ context.Context, stack []uint64) {
		counter := int32(uint32(stack[0]))
		if counter == Overflow {
			res.overflow = true
			panic("overflow")
		}
		res.ticks++
		res.used += uint64(int64(portion) - int64(counter))
		stack[0] = portion
	}), []api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeI32}).Export(ImportName).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Instantiate(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	counter, left := m.ExportedGlobal(Counter).(api.MutableGlobal), m.ExportedGlobal(Stack).(api.MutableGlobal)
	counter.Set(portion)
	left.Set(uint64(stack))
	values, err := m.ExportedFunction("run").Call(ctx, arg)
	if res.overflow {
		return res
	}
	if err != nil {
		t.Fatal(err)
	}
	res.value, res.left = values[0], int32(uint32(left.Get()))
	res.used += portion - uint64(uint32(counter.Get()))
	return res
}

// TestCounts checks results and the exact number of counts, on both engines, for functions that leave in every way
// there is: by falling off the end, return, branches to the outermost block, a tail call, with several results.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		arg, result, used uint64
	}{
		{0, 0, 11}, {1, 10, 20}, {10, 280, 74}, {1000, 2_007_055, 6014},
	} {
		for _, engine := range engines() {
			r := run(t, engine, "testdata/exits.wasm", c.arg, 1<<20)
			if r.value != c.result || r.used != c.used || (r.ticks > 0) != (c.used > 100) {
				t.Errorf("run(%d) gives %+v, want %d with %d counts", c.arg, r, c.result, c.used)
			}
		}
	}
}

func engines() []wazero.RuntimeConfig {
	return []wazero.RuntimeConfig{wazero.NewRuntimeConfig(), wazero.NewRuntimeConfigInterpreter()}
}

// TestStack goes deep by calls of every kind: the stack is whole again afterwards, and used up where it should be.
func TestStack(t *testing.T) {
	for _, engine := range engines() {
		for _, c := range []struct {
			depth    uint64
			stack    int32
			overflow bool
		}{{0, 1 << 10, false}, {100, 1 << 16, false}, {1000, 1 << 18, false}, {1000, 1 << 16, true}} {
			r := run(t, engine, "testdata/recursion.wasm", c.depth, c.stack)
			if r.overflow != c.overflow || !c.overflow && (r.value != c.depth || r.left != c.stack) {
				t.Errorf("run(%d) with %d bytes: %+v", c.depth, c.stack, r)
			}
		}
	}
}

// TestLimits shows that declared maxima are lowered and minima refused.
func TestLimits(t *testing.T) {
	memory := func(flags byte, nums ...uint32) []byte {
		body := []byte{1, flags}
		for _, n := range nums {
			body = appendU32(body, n)
		}
		return append(append([]byte{}, magic...), append([]byte{byte(sectionMemory), byte(len(body))}, body...)...)
	}
	for _, c := range []struct {
		in   []byte
		want string
	}{
		{memory(0, 1), "1 1024"},
		{memory(1, 1, 100), "1 100"},
		{memory(1, 1, 65536), "1 1024"},
		{memory(0, 1025), "memory: needs 67174400 bytes, allowed are 67108864"},
		{memory(3, 1, 2), "not a valid module: memory section, offset 0xc: is shared between threads, which the host does not offer"},
	} {
		out, err := Rewrite(c.in, limits)
		got := ""
		if err != nil {
			got = err.Error()
		} else if m, err := split(out); err == nil {
			r := m.reader(sectionMemory)
			r.u32()
			lo, hi, _ := limitsOf(r)
			got = strings.Join([]string{num(lo), num(hi)}, " ")
		}
		if got != c.want {
			t.Errorf("%x: %s, want %s", c.in, got, c.want)
		}
	}
}

func num(n uint32) string {
	var b [10]byte
	i := len(b)
	for {
		i--
		b[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(b[i:])
		}
	}
}

// TestHidden shows that a module cannot reach what the rewriting adds, by an index that it does not have itself.
func TestHidden(t *testing.T) {
	// type () -> (), one function; its body reads or sets global 0, or calls function 1.
	module := func(code ...byte) []byte {
		b := append([]byte{}, magic...)
		b = append(b, byte(sectionType), 4, 1, 0x60, 0, 0, byte(sectionFunction), 2, 1, 0)
		body := append([]byte{0}, append(code, opEnd)...)
		sec := appendBytes([]byte{1}, body)
		return appendBytes(append(b, byte(sectionCode)), sec)
	}
	for _, c := range []struct {
		code []byte
		want string
	}{
		{[]byte{opI32Const, 0, opGlobalSet, 0}, "not a valid module: code section, offset 0x1b: there is no global 0"},
		{[]byte{opGlobalGet, 0, opDrop}, "not a valid module: code section, offset 0x19: there is no global 0"},
		{[]byte{opCall, 1}, "not a valid module: code section, offset 0x19: there is no function 1"},
		{[]byte{opRefFunc, 1, opDrop}, "not a valid module: code section, offset 0x19: there is no function 1"},
		{[]byte{opVector, 0x8c, 0x00}, "not a valid module: code section, offset 0x1a: unknown vector instruction"},
		{[]byte{opAtomic, 0x03, 0x00}, "not a valid module: code section, offset 0x18: uses threads, which the host does not offer"},
	} {
		_, err := Rewrite(module(c.code...), limits)
		if err == nil || err.Error() != c.want {
			t.Errorf("%x: %v, want %s", c.code, err, c.want)
		}
	}
}

func BenchmarkRewrite(b *testing.B) {
	var largest []byte
	for _, m := range modules(b) {
		if len(m) > len(largest) {
			largest = m
		}
	}
	b.SetBytes(int64(len(largest)))
	for b.Loop() {
		if _, err := Rewrite(largest, limits); err != nil {
			b.Fatal(err)
		}
	}
}
