package batch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wstream/wstream/engine/expr"
)

func (g *golden) text() string {
	if g.Query != "" {
		return g.Query
	}
	return "SELECT " + g.Expr
}

// TestSparkAnswers runs the statements of testdata/spark, and reports per family.
func TestSparkAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/spark/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in testdata/spark: %v", err)
	}
	registry := expr.NewRegistry(expr.Builtins())
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".jsonl"), func(t *testing.T) {
			cases := readGolden(t, f)
			for _, g := range cases {
				if err := check(registry, &g, g.text()); err != nil {
					t.Errorf("%s\n      %v", g.text(), err)
				}
			}
			t.Logf("%d statements", len(cases))
		})
	}
}

// TestDifferences holds that the statements of testdata/different.jsonl differ from Spark, and that a reason is given.
func TestDifferences(t *testing.T) {
	const file = "testdata/different.jsonl"
	registry := expr.NewRegistry(expr.Builtins())
	for _, g := range readGolden(t, file) {
		if check(registry, &g, g.text()) == nil {
			t.Errorf("%s gives Spark's answer; take it out of %s", g.text(), file)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var r struct{ Reason string }
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Reason == "" {
			t.Errorf("no reason in %s: %v", strings.TrimSpace(line), err)
		}
	}
}
