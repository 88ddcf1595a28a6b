package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/host/fuel"
)

// instance is a module in a memory of its own. It serves one call at a time.
type instance struct {
	module  *Module
	mod     api.Module
	memory  api.Memory
	counter api.MutableGlobal // nil in a host that does not count
	left    api.MutableGlobal // bytes of stack

	buffer, bind, call, next, errorText, output api.Function

	handles   []int64 // by Bound.id: handle + 1, 0 where not bound yet
	encoder   abi.Encoder
	bufferAt  uint32 // the guest's input buffer
	bufferLen uint32
	stack     [4]uint64
	run       run
	trapped   bool // it must not serve again
}

// run is what a call may still use, and on whose behalf it is.
type run struct {
	ctx       context.Context
	portion   int32 // counts that the guest has at hand
	fuel      int64 // counts beyond those
	started   time.Time
	deadline  time.Duration
	call      *Call
	function  string
	caps      *Capabilities
	perms     *Permissions
	columns   *columnar.Schema // names for the rows of an SQL statement, may be nil
	random    *rand.ChaCha8
	clock     int64 // ns that the guest has slept or looked at the clock since the instance began
	logBytes  int
	logCut    bool
	lines     lineBuffer
	cause     error  // of a failed capability, for the message of the call
	denied    string // the entry of `allow` that a call of a capability would have needed, for the same
	inMinimal bool   // starting, or reading the manifest: no capabilities
}

// portion is how many counts a guest runs before it asks the host for more.
const portion = 10_000

// instanceKey finds the instance in the context of a host function.
type instanceKey struct{}

// callContext is a context with an instance in it; finding it takes no walk.
type callContext struct {
	context.Context
	in *instance
}

// Value gives the instance, or what the context has.
func (c *callContext) Value(key any) any {
	if key == (instanceKey{}) {
		return c.in
	}
	return c.Context.Value(key)
}

// instanceOf is the instance that calls a host function.
func instanceOf(ctx context.Context) *instance {
	return ctx.Value(instanceKey{}).(*instance)
}

// newInstance starts an instance; what it does on the way counts as a call of its own.
func (m *Module) newInstance(ctx context.Context) (*instance, error) {
	in := &instance{module: m}
	m.counters.instances.Add(1)
	in.begin(ctx, nil)
	defer in.end()
	mod, err := m.host.runtime.InstantiateModule(withAllocator(&callContext{ctx, in}), m.compiled,
		wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("start: %w", in.failure(ctx, err))
	}
	in.mod, in.memory = mod, mod.ExportedMemory(abi.ExportMemory)
	if !m.host.unmetered {
		in.counter = mod.ExportedGlobal(fuel.Counter).(api.MutableGlobal)
		in.left = mod.ExportedGlobal(fuel.Stack).(api.MutableGlobal)
		in.left.Set(uint64(m.config.Limits.StackBytes))
	}
	in.buffer, in.bind, in.call = mod.ExportedFunction(abi.ExportBuffer), mod.ExportedFunction(abi.ExportBind), mod.ExportedFunction(abi.ExportCall)
	in.next, in.errorText, in.output = mod.ExportedFunction(abi.ExportNext), mod.ExportedFunction(abi.ExportError), mod.ExportedFunction(abi.ExportOutput)
	if f := mod.ExportedFunction(abi.ExportInitialize); f != nil {
		if _, err := in.invoke(ctx, f); err != nil {
			in.close(ctx)
			return nil, fmt.Errorf("start: %w", err)
		}
	}
	return in, nil
}

// close frees the instance and its memory.
func (in *instance) close(ctx context.Context) {
	if in.mod != nil {
		in.mod.Close(ctx)
	}
}

// begin opens the account of a call; nil stands for starting, which sees no time, chance or capability.
func (in *instance) begin(ctx context.Context, c *Call) {
	l := &in.module.config.Limits
	in.run = run{
		ctx: ctx, fuel: l.Fuel, deadline: l.Deadline, started: time.Now(), call: c, clock: in.run.clock,
		perms: &in.module.config.Permissions,
	}
	if c == nil {
		in.run.call = &Call{}
		in.run.fuel = max(l.Fuel, initFuelAtLeast)
		in.run.deadline = max(l.Deadline, initDeadlineAtLeast)
		in.run.inMinimal = true
	}
	in.run.caps = &Capabilities{}
	if in.counter != nil {
		in.run.portion = int32(min(portion, in.run.fuel))
		in.run.fuel -= int64(in.run.portion)
		in.counter.Set(uint64(in.run.portion))
		in.left.Set(uint64(l.StackBytes))
	}
}

// end closes the account: what was written without a newline becomes a line.
func (in *instance) end() {
	in.run.lines.flush(in)
	in.run.ctx = nil
}

// tick is the host function that a guest calls when its counter is below zero: it takes what was used from
// the fuel, ends the call if there is none left or the time is over, and gives the next portion.
func (in *instance) tick(counter int32) int32 {
	r := &in.run
	if counter == fuel.Overflow {
		panic(ErrStackOverflow)
	}
	r.fuel += int64(counter) // what the portion did not cover
	if r.fuel < 0 {
		panic(ErrOutOfFuel)
	}
	if time.Since(r.started) > r.deadline {
		panic(ErrDeadline)
	}
	if r.ctx.Err() != nil {
		panic(context.Cause(r.ctx))
	}
	r.portion = int32(min(portion, r.fuel))
	r.fuel -= int64(r.portion)
	return r.portion
}

// invoke calls a function of the guest and gives its result, if it has one.
func (in *instance) invoke(ctx context.Context, f api.Function, params ...uint64) (int64, error) {
	n := copy(in.stack[:], params)
	if err := f.CallWithStack(&callContext{ctx, in}, in.stack[:max(n, 1)]); err != nil {
		in.trapped = true
		return 0, in.failure(ctx, err)
	}
	return int64(in.stack[0]), nil
}

// failure makes a Trap of the runtime's error, unless the call was called off from outside.
func (in *instance) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return in.module.trapOf(err, time.Since(in.run.started))
}

// region gives memory that the guest named in a result: ptr << 32 | len.
func (in *instance) region(what string, v int64, limit int) ([]byte, error) {
	ptr, n := uint32(v>>32), uint32(v)
	if uint64(n) > uint64(limit) {
		return nil, in.bad("%s has %d bytes, allowed are %d", what, n, limit)
	}
	b, ok := in.memory.Read(ptr, n)
	if !ok {
		return nil, in.bad("%s of %d bytes at %d is not inside the memory of %d", what, n, ptr, in.memory.Size())
	}
	return b, nil
}

// bad is an answer that the contract does not allow.
func (in *instance) bad(format string, args ...any) error {
	return &Trap{Reason: fmt.Sprintf(format, args...)}
}

// text calls a function without parameters whose result is a text.
func (in *instance) text(ctx context.Context, export string, limit int) (string, error) {
	v, err := in.invoke(ctx, in.mod.ExportedFunction(export))
	if err != nil {
		return "", err
	}
	if v < 0 {
		return "", in.status(ctx, v)
	}
	b, err := in.region(export, v, limit)
	return string(b), err
}

// status makes an error of a negative result, with the guest's text if there is one.
func (in *instance) status(ctx context.Context, v int64) error {
	e := &StatusError{Status: abi.Status(v)}
	if in.errorText != nil {
		if at, err := in.invoke(ctx, in.errorText); err == nil && at > 0 {
			n := min(uint32(at), abi.MaxErrorBytes)
			if b, ok := in.memory.Read(uint32(at>>32), n); ok {
				e.Text = printable(b)
			}
		}
	}
	if in.run.cause != nil {
		return fmt.Errorf("%w: %w", e, in.run.cause)
	}
	if in.run.denied != "" {
		return fmt.Errorf("%w (denied: %s; add it to the module's `allow`)", e, in.run.denied)
	}
	return e
}

// printable is a guest's text without control characters and invalid bytes.
func printable(b []byte) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(b), "\uFFFD")))
}

// input makes sure that the guest's buffer has room for n bytes and gives it.
func (in *instance) input(ctx context.Context, n int) ([]byte, error) {
	if uint32(n) > in.bufferLen || in.bufferLen == 0 {
		v, err := in.invoke(ctx, in.buffer, uint64(n))
		if err != nil {
			return nil, err
		}
		at := uint32(v)
		if at == 0 {
			return nil, in.bad("out of memory: no room for an input of %d bytes", n)
		}
		if uint64(at)+uint64(n) > uint64(in.memory.Size()) {
			return nil, in.bad("%s gives %d bytes at %d, not inside the memory of %d", abi.ExportBuffer, n, at, in.memory.Size())
		}
		in.bufferAt, in.bufferLen = at, uint32(n)
	}
	b, ok := in.memory.Read(in.bufferAt, uint32(n))
	if !ok {
		return nil, in.bad("input buffer of %d bytes at %d is not inside the memory of %d", n, in.bufferAt, in.memory.Size())
	}
	return b, nil
}

// handle binds the function in this instance, once.
func (in *instance) handle(ctx context.Context, b *Bound) (int64, error) {
	for len(in.handles) <= b.id {
		in.handles = append(in.handles, 0)
	}
	if h := in.handles[b.id]; h != 0 {
		return h - 1, nil
	}
	var w bytes.Buffer
	enc := json.NewEncoder(&w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(b.request()); err != nil {
		return 0, err
	}
	text := bytes.TrimSuffix(w.Bytes(), []byte{'\n'})
	buf, err := in.input(ctx, len(text))
	if err != nil {
		return 0, err
	}
	copy(buf, text)
	h, err := in.invoke(ctx, in.bind, uint64(in.bufferAt), uint64(len(text)))
	if err != nil {
		return 0, err
	}
	if h < 0 {
		return 0, fmt.Errorf("bind: %w", in.status(ctx, h))
	}
	if h > 1<<31-1 {
		return 0, in.bad("bind gives the handle %d, which is not below 2^31", h)
	}
	in.handles[b.id] = h + 1
	return h, nil
}

// pool keeps idle instances of a module, up to max.
type pool struct {
	mu     sync.Mutex
	idle   []*instance
	max    int
	closed bool
}

// take gives an idle instance or starts one.
func (m *Module) take(ctx context.Context) (*instance, error) {
	m.pool.mu.Lock()
	if m.pool.closed {
		m.pool.mu.Unlock()
		return nil, errors.New("the host is closed")
	}
	if n := len(m.pool.idle); n > 0 {
		in := m.pool.idle[n-1]
		m.pool.idle = m.pool.idle[:n-1]
		m.pool.mu.Unlock()
		return in, nil
	}
	m.pool.mu.Unlock()
	return m.newInstance(ctx)
}

// give takes an instance back; one that has trapped, if only in saying the text of its status, is closed.
func (m *Module) give(ctx context.Context, in *instance) {
	if in.trapped {
		m.counters.traps.Add(1)
		in.close(ctx)
		return
	}
	m.pool.mu.Lock()
	if len(m.pool.idle) < m.pool.max && !m.pool.closed {
		m.pool.idle = append(m.pool.idle, in)
		in = nil
	}
	m.pool.mu.Unlock()
	if in != nil {
		in.close(ctx)
	}
}

// close frees the idle instances; no more are given out.
func (p *pool) close(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.idle {
		in.close(ctx)
	}
	p.idle, p.closed = nil, true
}
