package host

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// prebuilt are the guests that are kept, by path.
func prebuilt(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"../testdata/guests/*.wasm", "../testdata/guests/*/*.wasm"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, files...)
	}
	if len(all) < 5 {
		t.Fatalf("found only %v", all)
	}
	return all
}

// TestEngines gives every function of every kept guest made-up batches, on both engines, and rewritten or not: the answers
// are equal to the byte, and so are the counts of the fuel.
func TestEngines(t *testing.T) {
	ctx := context.Background()
	for _, file := range prebuilt(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".wasm"), func(t *testing.T) {
			answers := map[string]string{}
			for _, engine := range []struct {
				name   string
				config Config
			}{{"compiler", Config{CacheDir: shared}}, {"interpreter", Config{Interpreter: true}}, {"compiler without counters", Config{Unmetered: true}}} {
				m, err := newHost(t, engine.config).Load(ctx, ModuleConfig{Path: file})
				if err != nil {
					t.Fatal(err)
				}
				for i := range m.specs {
					s := &m.specs[i]
					b, err := m.Bind(ctx, s.Name, sampleSchema(s))
					if err != nil {
						t.Fatalf("%s: %v", engine.name, err)
					}
					for _, odd := range []bool{false, true} {
						before := m.Stats().Fuel
						got, _, err := b.try(ctx, b.sample(40, odd))
						text := string(got)
						if err != nil {
							text = "error: " + err.Error()
						}
						compare := func(key, text string) {
							if first, ok := answers[key]; !ok {
								answers[key] = text
							} else if first != text {
								t.Errorf("%s: %s: %q, first %q", engine.name, key, text, first)
							}
						}
						key := s.Name
						if odd {
							key += ", odd values"
						}
						compare(key, text)
						if !engine.config.Unmetered {
							compare(key+", fuel", strconv.FormatInt(m.Stats().Fuel-before, 10))
						}
					}
				}
			}
		})
	}
}
