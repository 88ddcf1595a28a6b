package pipeline_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

// TestDocs reads the blocks of YAML in the documentation: those that begin with `pipeline:` are tests and are run, the
// others must be pipelines, or parts of one, that have no fault but missing parts.
func TestDocs(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("found %d pages: %v", len(pages), err)
	}
	h, err := host.New(context.Background(), host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	env := &pipeline.Environment{Connectors: connect.All(), Registry: expr.NewRegistry(expr.Builtins()), Host: h}
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindAllSubmatch(text, -1) {
			switch b := block[1]; {
			case strings.HasPrefix(string(b), "pipeline:"):
				path := filepath.Join(t.TempDir(), "doc_test.yaml")
				if err := os.WriteFile(path, b, 0o644); err != nil {
					t.Fatal(err)
				}
				f, err := pipeline.LoadTest(path)
				if err == nil {
					err = env.RunTest(context.Background(), f, pipeline.Straight)
				}
				if err != nil {
					t.Errorf("%s: block %d: %s", page, i+1, err)
				}
			default:
				_, err := pipeline.Parse(page, "../docs", b)
				if err == nil {
					break
				}
				var faults pipeline.Errors
				if !errors.As(err, &faults) {
					t.Errorf("%s: block %d: %s", page, i+1, err)
				}
				for _, e := range faults {
					part := strings.Contains(e.Message, "no module") || strings.Contains(e.Message, "no source or view") || strings.Contains(e.Message, "has no `from`") ||
						strings.Contains(e.Message, "no sink") || strings.Contains(e.Message, "no connection")
					if strings.HasPrefix(string(b), "name:") || !part {
						t.Errorf("%s: block %d: %s", page, i+1, e)
					}
				}
			}
		}
	}
}
