package pipeline_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/wstream/wstream/connect"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/host"
	"github.com/wstream/wstream/pipeline"
)

// TestExamples runs the examples that the documentation names, as a user would with `wstream test --mode all`.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../testdata/examples/*/*_test.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("found %d examples: %v", len(files), err)
	}
	h, err := host.New(context.Background(), host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	env := &pipeline.Environment{Connectors: connect.All(), Registry: expr.NewRegistry(expr.Builtins()), Host: h}
	for _, path := range files {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			for _, mode := range pipeline.Modes() {
				f, err := pipeline.LoadTest(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := env.RunTest(context.Background(), f, mode); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
