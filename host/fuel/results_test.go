package fuel

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// generator makes valid modules of any bytes: functions (i32, i32) -> i32 with loops, branches of all kinds, calls, direct
// and by table, tail calls, reads and writes of memory and a global, and bulk operations.
type generator struct {
	choices []byte
	body    []byte
	labels  []bool // of the blocks that are open, outermost first: whether a branch to it carries a value
	left    int    // instructions that may still be written
}

// The generated module: functions, and locals of each beside the two parameters.
const (
	generatedFunctions = 4
	generatedLocals    = 3
	generatedMemory    = 8 // pages
)

// next is the next choice below n; 0 when there are none left.
func (g *generator) next(n int) int {
	if len(g.choices) == 0 {
		return 0
	}
	c := g.choices[0]
	g.choices = g.choices[1:]
	return int(c) % n
}

func (g *generator) emit(b ...byte) { g.body = append(g.body, b...) }

// open and close keep account of a block.
func (g *generator) open(value bool) { g.labels = append(g.labels, value) }

func (g *generator) close() { g.labels = g.labels[:len(g.labels)-1] }

// label chooses a block that a branch without a value may go to; the innermost always is one.
func (g *generator) label() byte {
	n := g.next(len(g.labels))
	if g.labels[len(g.labels)-1-n] {
		return 0
	}
	return byte(n)
}

func (g *generator) u32(n uint32) { g.body = appendU32(g.body, n) }

// value writes what leaves an i32 on the stack.
func (g *generator) value(deep int) {
	if g.left--; g.left < 0 || deep > 4 {
		g.emit(0x41)
		g.body = appendS32(g.body, int32(g.next(256))-100)
		return
	}
	switch g.next(14) {
	case 0, 1:
		g.emit(0x41)
		g.body = appendS32(g.body, int32(g.next(256))<<g.next(24))
	case 2, 3, 4:
		g.emit(0x20, byte(g.next(2+generatedLocals)))
	case 5, 6: // 0x6a add … 0x78 rotr, with the divisions that trap
		g.value(deep + 1)
		g.value(deep + 1)
		g.emit(0x6a + byte(g.next(15)))
	case 7: // comparisons
		g.value(deep + 1)
		g.value(deep + 1)
		g.emit(0x46 + byte(g.next(10)))
	case 8:
		g.value(deep + 1)
		g.emit(0x45, 0x67)
	case 9: // load
		g.value(deep + 1)
		g.emit(0x28, 0)
		g.u32(uint32(g.next(256)) << 10)
	case 10:
		g.value(deep + 1)
		g.value(deep + 1)
		g.emit(0x10, byte(g.next(generatedFunctions)))
	case 11: // call_indirect, one index of which lies outside
		g.value(deep + 1)
		g.value(deep + 1)
		g.emit(0x41, byte(g.next(generatedFunctions+1)), 0x11, 0, 0)
	case 12: // if with a result
		g.value(deep + 1)
		g.emit(0x04, 0x7f)
		g.open(true)
		g.statements(deep + 1)
		g.value(deep + 1)
		g.emit(0x05)
		g.value(deep + 1)
		g.close()
		g.emit(0x0b)
	case 13:
		g.emit([]byte{0x23, 0x3f}[g.next(2)], 0) // the global, or memory.size
	}
}

// statements writes what leaves the stack as it was.
func (g *generator) statements(deep int) {
	for range g.next(4) {
		if g.left--; g.left < 0 || deep > 5 {
			return
		}
		switch g.next(13) {
		case 0, 1:
			g.value(deep)
			g.emit(0x21, byte(g.next(2+generatedLocals)))
		case 2:
			g.value(deep)
			g.emit(0x24, 0)
		case 3: // store
			g.value(deep)
			g.value(deep)
			g.emit(0x36, 0)
			g.u32(uint32(g.next(256)))
		case 4, 5, 6: // loop or block
			g.emit([]byte{0x02, 0x03, 0x03}[g.next(3)], 0x40)
			g.open(false)
			g.statements(deep + 1)
			if g.next(2) == 0 {
				g.value(deep + 1)
				g.emit(0x0d, g.label())
			}
			g.close()
			g.emit(0x0b)
		case 7: // a loop that ends: while (local--) …
			local := byte(2 + g.next(generatedLocals))
			g.emit(0x41)
			g.body = appendS32(g.body, int32(g.next(60)))
			g.emit(0x21, local, 0x03, 0x40)
			g.open(false)
			g.statements(deep + 1)
			g.emit(0x20, local, 0x41, 1, 0x6b, 0x22, local, 0x41, 0, 0x4a, 0x0d, 0)
			g.close()
			g.emit(0x0b)
		case 8: // br_table out of three blocks
			g.emit(0x02, 0x40, 0x02, 0x40, 0x02, 0x40)
			for range 3 {
				g.open(false)
			}
			g.value(deep + 1)
			g.emit(0x0e, 2, 0, 1, 2, 0x0b)
			g.close()
			g.statements(deep + 1)
			g.emit(0x0b)
			g.close()
			g.statements(deep + 1)
			g.close()
			g.emit(0x0b)
		case 9: // return, in an if
			g.value(deep)
			g.emit(0x04, 0x40)
			g.open(false)
			g.value(deep + 1)
			g.emit(0x0f)
			g.close()
			g.emit(0x0b)
		case 10: // memory.fill or memory.copy
			g.value(deep)
			g.value(deep)
			g.value(deep)
			if g.next(2) == 0 {
				g.emit(0xfc, 11, 0)
			} else {
				g.emit(0xfc, 10, 0, 0)
			}
		case 11: // a tail call, in an if
			g.value(deep)
			g.emit(0x04, 0x40)
			g.open(false)
			g.value(deep + 1)
			g.value(deep + 1)
			g.emit(0x12, byte(g.next(generatedFunctions)))
			g.close()
			g.emit(0x0b)
		case 12:
			g.value(deep)
			g.emit(0x40, 0, 0x1a) // memory.grow
		}
	}
}

// generate makes a module that exports its memory and "run", the first function.
func generate(choices []byte) []byte {
	g := &generator{choices: choices}
	code := []byte{generatedFunctions}
	for range generatedFunctions {
		g.body, g.labels, g.left = []byte{1, generatedLocals, 0x7f}, []bool{true}, 120
		g.statements(0)
		g.value(0)
		g.emit(0x0b)
		code = appendBytes(code, g.body)
	}
	m := append([]byte{}, magic...)
	add := func(id sectionID, b ...byte) { m = appendBytes(append(m, byte(id)), b) }
	add(sectionType, 1, 0x60, 2, 0x7f, 0x7f, 1, 0x7f)
	add(sectionFunction, generatedFunctions, 0, 0, 0, 0)
	add(sectionTable, 1, 0x70, 0, generatedFunctions)
	add(sectionMemory, 1, 0, 1)
	add(sectionGlobal, 1, 0x7f, 1, 0x41, 7, 0x0b)
	add(sectionExport, append(appendBytes([]byte{2}, []byte("run")), append([]byte{0, 0}, append(appendBytes(nil, []byte("memory")), 2, 0)...)...)...)
	add(sectionElement, 1, 0, 0x41, 0, 0x0b, generatedFunctions, 0, 1, 2, 3)
	add(sectionCode, code...)
	return m
}

// fate is all that came of a call.
type fate struct {
	value  uint64
	trap   string
	memory [32]byte
	used   int64
}

// trial is a call of a generated module: what the host's function finds in the context.
type trial struct {
	counts int64 // that it may use
	used   int64
	short  bool // they, or the stack, did not do
}

// portion is how many counts a generated module gets at a time.
const portion = 50

// runner is a runtime that all generated modules of a test share.
type runner struct{ wazero.Runtime }

type trialKey struct{}

func newRunner(f *testing.F, c wazero.RuntimeConfig) runner {
	ctx := f.Context()
	r := wazero.NewRuntimeWithConfig(ctx, c.WithCoreFeatures(features).WithMemoryLimitPages(generatedMemory))
	f.Cleanup(func() { _ = r.Close(context.Background()) })
	_, err := r.NewHostModuleBuilder(ImportModule).NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, stack []uint64) {
		t := ctx.Value(trialKey{}).(*trial)
		counter := int32(uint32(stack[0]))
		t.used += portion - int64(counter)
		if t.short = counter == Overflow || t.used > t.counts; t.short {
			panic("short")
		}
		stack[0] = portion
	}), []api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeI32}).Export(ImportName).Instantiate(ctx)
	if err != nil {
		f.Fatal(err)
	}
	return runner{r}
}

// call runs the export "run", of a rewritten module within a number of counts; ok is false when they, or the stack, did not
// do.
func (r runner) call(t *testing.T, module []byte, counts int64, a, b uint32) (f fate, ok bool) {
	tried := &trial{counts: counts}
	ctx := context.WithValue(t.Context(), trialKey{}, tried)
	compiled, err := r.CompileModule(ctx, module)
	if err != nil {
		t.Fatal(err)
	}
	defer compiled.Close(ctx)
	m, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(ctx)
	left, counted := m.ExportedGlobal(Counter).(api.MutableGlobal)
	if counted {
		left.Set(portion)
	}
	out, err := m.ExportedFunction("run").Call(ctx, uint64(a), uint64(b))
	if f.used = tried.used; counted {
		f.used += portion - int64(int32(uint32(left.Get())))
	}
	switch {
	case tried.short, err != nil && strings.Contains(err.Error(), "stack overflow"): // the interpreter's own bound comes first
		return f, false
	case err != nil:
		f.trap, _, _ = strings.Cut(err.Error(), "\n")
		f.trap, _, _ = strings.Cut(f.trap, " (recovered")
	default:
		f.value = out[0]
	}
	all, _ := m.Memory().Read(0, m.Memory().Size())
	f.memory = sha256.Sum256(all)
	return f, true
}

// FuzzResults compares modules made of any bytes with what the rewriting makes of them: the same results, traps and memory,
// and on both engines the same counts. One input in eight goes to the engine that compiles, which takes longer than all the
// rest.
func FuzzResults(f *testing.F) {
	for i := range 40 {
		h := sha256.Sum256([]byte(fmt.Sprint(i)))
		var seed []byte
		for j := range 12 {
			part := sha256.Sum256(append(h[:], byte(j)))
			seed = append(seed, part[:]...)
		}
		f.Add(seed, uint32(i), uint32(i*i))
	}
	interpreter, compiler := newRunner(f, wazero.NewRuntimeConfigInterpreter()), newRunner(f, wazero.NewRuntimeConfig())
	f.Fuzz(func(t *testing.T, choices []byte, a, b uint32) {
		module := generate(choices)
		out, err := Rewrite(module, Limits{MemoryPages: generatedMemory, TableElements: 100})
		if err != nil {
			t.Fatal(err)
		}
		rewritten, ok := interpreter.call(t, out, 20_000, a, b)
		if !ok {
			return
		}
		if crc32.ChecksumIEEE(choices)%8 == 0 {
			if compiled, ok := compiler.call(t, out, 20_000, a, b); !ok || rewritten != compiled {
				t.Fatalf("interpreter %+v, compiler %+v", rewritten, compiled)
			}
		}
		plain, _ := interpreter.call(t, module, 0, a, b)
		rewritten.used = 0
		if plain != rewritten {
			t.Fatalf("as it was %+v, rewritten %+v", plain, rewritten)
		}
	})
}
