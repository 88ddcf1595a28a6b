package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/host/fuel"
)

// ModuleConfig says which module to load and how it may run.
type ModuleConfig struct {
	Name         string            // as the pipeline calls it; the file's name if empty
	Path         string            // the file; only for messages if Code is set
	Code         []byte            // the module itself, read from Path if nil
	SHA256       string            // hex; a module with another hash is refused
	Config       map[string]string // handed to the guest at bind
	Limits       Limits
	Permissions  Permissions
	Capabilities Capabilities
	TimeZone     string // of the session, handed to the guest at bind; "UTC" if empty
}

// Module is a compiled module under one configuration. It is safe for use by many goroutines.
type Module struct {
	host     *Host
	config   ModuleConfig
	label    string // how errors call it: the file's name
	hash     string
	compiled wazero.CompiledModule
	manifest *abi.Manifest
	specs    []abi.Spec
	pool     pool
	counters counters
	lines    func() *fuel.Lines // where the code comes from, read when the first trap asks

	mu     sync.Mutex
	bounds int // Bounds made so far, which numbers them
}

// maxModuleBytes bounds a module's file.
const maxModuleBytes = 256 << 20

// Load reads, checks and compiles a module and asks it for its manifest, in an instance without any
// capability. Errors begin with `module "file.wasm": `.
func (h *Host) Load(ctx context.Context, c ModuleConfig) (*Module, error) {
	m := &Module{host: h, config: c, label: c.Name}
	if c.Path != "" {
		m.label = filepath.Base(c.Path)
	}
	if c.Name == "" {
		m.config.Name = strings.TrimSuffix(m.label, ".wasm")
	}
	m.config.Limits = c.Limits.withDefaults()
	m.pool.max = m.config.Limits.Instances
	if err := m.load(ctx); err != nil {
		return nil, fmt.Errorf("module %q: %w", m.label, err)
	}
	h.mu.Lock()
	h.modules = append(h.modules, m)
	h.mu.Unlock()
	return m, nil
}

func (m *Module) load(ctx context.Context) error {
	code := m.config.Code
	if code == nil {
		var err error
		if code, err = readModule(m.config.Path); err != nil {
			return err
		}
	}
	sum := sha256.Sum256(code)
	m.hash = hex.EncodeToString(sum[:])
	if pin := strings.ToLower(m.config.SHA256); pin != "" && pin != m.hash {
		return fmt.Errorf("has the sha256 %s, pinned is %s", m.hash, pin)
	}
	m.config.Code = nil
	m.lines = sync.OnceValue(func() *fuel.Lines { return nil })
	if original := code; bytes.Contains(code, []byte(".debug_line")) {
		m.lines = sync.OnceValue(func() *fuel.Lines { return fuel.ReadLines(original) })
	}
	var err error
	if !m.host.unmetered {
		code, err = fuel.Rewrite(code, fuel.Limits{
			MemoryPages:   uint32(m.config.Limits.MemoryBytes / fuel.PageSize),
			TableElements: maxTableElements,
		})
		if err != nil {
			return err
		}
	}
	if m.compiled, err = compile(ctx, m.host.runtime, code); err != nil {
		return fmt.Errorf("not a valid module: %w", err)
	}
	if err := m.checkExports(); err != nil {
		return err
	}
	if err := checkImports(m.compiled.ImportedFunctions()); err != nil {
		return err
	}
	return m.readManifest(ctx)
}

// compile compiles a module. The compiler gets bytes that nobody vouches for: where it gives up over them, that is a fault of
// the module, and not the end of the process.
func compile(ctx context.Context, r wazero.Runtime, code []byte) (m wazero.CompiledModule, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, fmt.Errorf("the compiler fails on it: %v", p)
		}
	}()
	return r.CompileModule(ctx, code)
}

func readModule(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxModuleBytes {
		return nil, fmt.Errorf("has %d bytes, allowed are %d", info.Size(), maxModuleBytes)
	}
	return os.ReadFile(path)
}

// signature is the types of an export or import.
type signature struct{ params, results []api.ValueType }

func (s signature) String() string {
	list := func(ts []api.ValueType) string {
		var names []string
		for _, t := range ts {
			names = append(names, api.ValueTypeName(t))
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	return list(s.params) + " -> " + list(s.results)
}

func (s signature) equal(d api.FunctionDefinition) bool {
	return slices.Equal(s.params, d.ParamTypes()) && slices.Equal(s.results, d.ResultTypes())
}

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

// exports are the functions that a guest exports, and whether it must.
var exports = []struct {
	name     string
	sig      signature
	required bool
}{
	{abi.ExportMarker, signature{nil, nil}, true},
	{abi.ExportInitialize, signature{nil, nil}, false},
	{abi.ExportManifest, signature{nil, []api.ValueType{i64}}, true},
	{abi.ExportBuffer, signature{[]api.ValueType{i32}, []api.ValueType{i32}}, true},
	{abi.ExportBind, signature{[]api.ValueType{i32, i32}, []api.ValueType{i64}}, true},
	{abi.ExportCall, signature{[]api.ValueType{i32, i32, i32}, []api.ValueType{i64}}, true},
	{abi.ExportNext, signature{[]api.ValueType{i32}, []api.ValueType{i64}}, false},
	{abi.ExportError, signature{nil, []api.ValueType{i64}}, false},
	{abi.ExportOutput, signature{[]api.ValueType{i32}, []api.ValueType{i64}}, false},
}

// checkExports looks for the functions of the contract with the right types.
func (m *Module) checkExports() error {
	have := m.compiled.ExportedFunctions()
	if _, ok := have[abi.ExportMarker]; !ok {
		for name := range have {
			if strings.HasPrefix(name, "wstream_abi_v") {
				return fmt.Errorf("speaks %s, this host speaks %s", name, abi.ExportMarker)
			}
		}
	}
	for _, e := range exports {
		d, ok := have[e.name]
		switch {
		case !ok && e.required:
			return fmt.Errorf("does not export %q", e.name)
		case ok && !e.sig.equal(d):
			return fmt.Errorf("exports %q as %s, not as %s", e.name, signature{d.ParamTypes(), d.ResultTypes()}, e.sig)
		}
	}
	if _, ok := m.compiled.ExportedMemories()[abi.ExportMemory]; !ok {
		return fmt.Errorf("does not export its memory as %q", abi.ExportMemory)
	}
	return nil
}

// readManifest asks a fresh instance, which is thrown away.
func (m *Module) readManifest(ctx context.Context) error {
	in, err := m.newInstance(ctx)
	if err != nil {
		return err
	}
	defer in.close(ctx)
	in.begin(ctx, nil)
	defer in.end()
	text, err := in.text(ctx, abi.ExportManifest, abi.MaxManifestBytes)
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	m.manifest, m.specs, err = abi.ParseManifest([]byte(text))
	return err
}

// Name is what the pipeline calls the module.
func (m *Module) Name() string { return m.config.Name }

// Hash is the sha256 of the module's file in hex.
func (m *Module) Hash() string { return m.hash }

// Manifest is what the module says of itself.
func (m *Module) Manifest() *abi.Manifest { return m.manifest }

// Functions are the functions of the manifest.
func (m *Module) Functions() []abi.Spec { return m.specs }

// Permissions are what the pipeline allows the module.
func (m *Module) Permissions() Permissions { return m.config.Permissions }

// Limits are the limits that the module runs under, defaults filled in.
func (m *Module) Limits() Limits { return m.config.Limits }

// Function finds a function by its name.
func (m *Module) Function(name string) (*abi.Spec, error) {
	var names []string
	for i := range m.specs {
		if m.specs[i].Name == name {
			return &m.specs[i], nil
		}
		names = append(names, m.specs[i].Name)
	}
	return nil, fmt.Errorf("module %q: no function %q; there are %s", m.label, name, strings.Join(names, ", "))
}

// Bind prepares a function for inputs of a schema, from which it takes the columns that it asks for by name,
// without regard to case. The guest sees the schema, its config and may refuse.
func (m *Module) Bind(ctx context.Context, function string, input *columnar.Schema) (*Bound, error) {
	spec, err := m.Function(function)
	if err != nil {
		return nil, err
	}
	b := &Bound{module: m, spec: spec, input: input}
	if err := b.choose(); err != nil {
		return nil, b.wrap(err)
	}
	m.mu.Lock()
	b.id = m.bounds
	m.bounds++
	m.mu.Unlock()
	if err := b.first(ctx); err != nil {
		return nil, b.wrap(err)
	}
	return b, nil
}
