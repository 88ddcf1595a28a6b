package batch

import (
	"path/filepath"
	"testing"

	"github.com/wstream/wstream/engine/expr"
)

// TestTrouble runs statements that have gone wrong for users of engines of this kind.
func TestTrouble(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "trouble", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	registry := expr.NewRegistry(expr.Builtins())
	for _, f := range files {
		for _, g := range readGolden(t, f) {
			text := g.Query
			if text == "" {
				text = "SELECT " + g.Expr
			}
			if err := check(registry, &g, text); err != nil {
				t.Errorf("%s: %s\n      %v", filepath.Base(f), text, err)
			}
		}
	}
}
