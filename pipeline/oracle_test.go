package pipeline

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/host"
	"github.com/wstream/wstream/internal/testdirs"
)

// testEnvironment has connectors that tests replace.
func testEnvironment(t *testing.T) *Environment {
	t.Helper()
	h, err := host.New(context.Background(), host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	unused := func(connector.Env, connector.Options) (connector.Source, error) { return nil, os.ErrInvalid }
	sink := func(connector.Env, connector.Options) (connector.Sink, error) { return nil, os.ErrInvalid }
	return &Environment{
		Registry: expr.NewRegistry(expr.Builtins()), Host: h, ModuleDirs: []string{"../testdata/guests/groups"},
		Connectors: []*connector.Spec{
			{Format: "json", NewSource: unused, LenientOptions: true, NeedsSchema: true, Options: []connector.Option{{Name: "path"}}},
			{Format: "memory", NewSink: sink, NoCheckpoint: true},
		},
	}
}

// TestStreamingOracle runs every streaming case that real Spark has answered. WSTREAM_ORACLE chooses
// by substring of the path, WSTREAM_MODE a mode.
func TestStreamingOracle(t *testing.T) {
	dir := testdirs.Shared(t, "oracle/streaming")
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.yaml") && strings.Contains(path, os.Getenv("WSTREAM_ORACLE")) {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", dir, err)
	}
	sort.Strings(files)
	env := testEnvironment(t)
	modes := Modes()
	if m := os.Getenv("WSTREAM_MODE"); m != "" {
		modes = []Mode{Mode(m)}
	}
	passed := 0
	for _, path := range files {
		ok := true
		for _, mode := range modes {
			if err := runCase(env, path, mode); err != nil {
				t.Error(err)
				ok = false
				break
			}
		}
		if ok {
			passed++
		}
	}
	t.Logf("%d of %d cases pass", passed, len(files))
}

func runCase(env *Environment, path string, mode Mode) (err error) {
	f, err := LoadTest(path)
	if err != nil {
		return err
	}
	return env.RunTest(context.Background(), f, mode)
}
