package abi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wstream/wstream/columnar"
)

// Manifest is what a module says of itself, as JSON. Fields that are not known are ignored.
type Manifest struct {
	ABI       int        `json:"abi"`
	Name      string     `json:"name"`
	Version   string     `json:"version"`
	Functions []Function `json:"functions"`
	// Statements are the SQL statements that the module may run through wstream_sql_v1.
	Statements []string `json:"statements,omitempty"`
	// Metrics are the names that it may use with wstream_metric_v1.
	Metrics []string `json:"metrics,omitempty"`
}

// Function is one function of a manifest. Schemas are DDL, as in pipeline files.
type Function struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Doc      string   `json:"doc,omitempty"`
	Input    string   `json:"input"`            // DDL, or "*" for any columns
	Output   string   `json:"output,omitempty"` // DDL, "same" (the input's columns), or "bind" (said by bind)
	Features []string `json:"features,omitempty"`

	// The following belong to kind state.
	Key     string `json:"key,omitempty"`
	Mode    string `json:"mode,omitempty"`    // "update" or "append"
	Timeout string `json:"timeout,omitempty"` // "none", "event" or "processing"
	Time    string `json:"time,omitempty"`    // the event-time column
	State   string `json:"state,omitempty"`
}

// Values of Function.Input and Function.Output that are not DDL.
const (
	AnyInput   = "*"
	SameOutput = "same"
	BindOutput = "bind"
)

// Spec is a function of a manifest with its schemas read.
type Spec struct {
	Function
	Kind   Kind
	Input  *columnar.Schema // nil for any columns
	Output *columnar.Schema // nil for "same", "bind", and kinds without output
	Key    *columnar.Schema // kind state
	State  *columnar.Schema // kind state
}

// ParseManifest reads and checks a manifest.
func ParseManifest(text []byte) (*Manifest, []Spec, error) {
	if len(text) > MaxManifestBytes {
		return nil, nil, fmt.Errorf("manifest of %d bytes, allowed are %d", len(text), MaxManifestBytes)
	}
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, nil, fmt.Errorf("manifest: %w", err)
	}
	if m.ABI != Version {
		return nil, nil, fmt.Errorf("manifest: abi %d is not supported, this host speaks %d", m.ABI, Version)
	}
	if len(m.Functions) == 0 || len(m.Functions) > MaxFunctions {
		return nil, nil, fmt.Errorf("manifest: has %d functions, not 1 to %d", len(m.Functions), MaxFunctions)
	}
	var specs []Spec
	for i := range m.Functions {
		f := &m.Functions[i]
		if slices.ContainsFunc(specs, func(s Spec) bool { return s.Name == f.Name }) {
			return nil, nil, fmt.Errorf("manifest: function %q stands twice", f.Name)
		}
		s, err := f.spec()
		if err != nil {
			return nil, nil, fmt.Errorf("manifest: function %q: %w", f.Name, err)
		}
		specs = append(specs, *s)
	}
	return m, specs, nil
}

// spec reads the function's kind and schemas.
func (f *Function) spec() (*Spec, error) {
	s := &Spec{Function: *f}
	var ok bool
	if s.Kind, ok = ParseKind(f.Kind); !ok {
		return nil, fmt.Errorf("unknown kind %q", f.Kind)
	}
	if f.Name == "" || strings.ContainsFunc(f.Name, notInName) {
		return nil, errors.New("a name is made of letters, digits and _")
	}
	if len(f.Features) > 0 {
		return nil, fmt.Errorf("needs the feature %q, which this host does not offer", f.Features[0])
	}
	var err error
	if f.Input != AnyInput {
		if s.Input, err = ddl("input", f.Input); err != nil {
			return nil, err
		}
	}
	switch s.Kind {
	case KindFilter, KindForeachBatch:
		if f.Output != "" {
			return nil, fmt.Errorf("kind %s has no output", s.Kind)
		}
		return s, nil
	}
	switch f.Output {
	case SameOutput:
		if s.Kind != KindMap && s.Kind != KindState {
			return nil, fmt.Errorf("kind %s cannot have the output %q", s.Kind, SameOutput)
		}
	case BindOutput:
	default:
		if s.Output, err = ddl("output", f.Output); err != nil {
			return nil, err
		}
	}
	if n := s.Output; n != nil && len(n.Fields) != 1 && (s.Kind == KindScalar || s.Kind == KindAggregate) {
		return nil, fmt.Errorf("kind %s has one output column, not %d", s.Kind, len(n.Fields))
	}
	if s.Kind == KindState {
		return s, s.state()
	}
	return s, nil
}

// state reads what only state functions have.
func (s *Spec) state() (err error) {
	if s.Key, err = ddl("key", s.Function.Key); err != nil {
		return err
	}
	if s.State, err = ddl("state", s.Function.State); err != nil {
		return err
	}
	if !slices.Contains([]string{"update", "append"}, s.Mode) {
		return fmt.Errorf("mode %q is neither update nor append", s.Mode)
	}
	if s.Timeout == "" {
		s.Timeout = "none"
	}
	if !slices.Contains([]string{"none", "event", "processing"}, s.Timeout) {
		return fmt.Errorf("timeout %q is not none, event or processing", s.Timeout)
	}
	if s.Timeout == "event" && s.Time == "" {
		return errors.New("an event-time time-out needs the name of the time column")
	}
	if s.Input == nil {
		return nil
	}
	if s.Time != "" && s.Input.IndexFold(s.Time) < 0 {
		return fmt.Errorf("the time column %q is not among the inputs", s.Time)
	}
	for _, k := range s.Key.Fields {
		if s.Input.IndexFold(k.Name) < 0 {
			return fmt.Errorf("the key column %q is not among the inputs", k.Name)
		}
	}
	return nil
}

func notInName(r rune) bool {
	return !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
}

// ddl reads a schema.
func ddl(what, text string) (*columnar.Schema, error) {
	if text == "" {
		return nil, fmt.Errorf("%s is missing", what)
	}
	s, err := columnar.ParseDDL(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if len(s.Fields) == 0 {
		return nil, fmt.Errorf("%s has no columns", what)
	}
	return s, nil
}

// BindRequest is what bind is handed, as JSON with the fields in this order.
type BindRequest struct {
	Function string            `json:"function"`
	Input    []BindColumn      `json:"input"`
	Config   map[string]string `json:"config"`
	TimeZone string            `json:"timezone"`
}

// BindColumn is a column of the input that a function was bound to. Type is DDL.
type BindColumn struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable bool   `json:"nullable"`
}
