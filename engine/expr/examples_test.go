package expr_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/batch"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// TestExamples runs the example of every function's documentation and compares what it is said to give.
func TestExamples(t *testing.T) {
	registry := expr.NewRegistry(expr.Builtins())
	for _, f := range registry.Functions() {
		if f.Example == "" {
			continue
		}
		query, want, ok := strings.Cut(f.Example, " → ")
		s := &batch.Session{Registry: registry, Settings: plan.Settings{ANSI: true, Zone: time.UTC}}
		res, err := s.Run(context.Background(), query)
		if err != nil {
			t.Errorf("%s: %s: %v", f.Name, query, err)
			continue
		}
		if !ok {
			continue
		}
		if res.Rows() == 0 {
			t.Errorf("%s: %s gave no rows", f.Name, query)
			continue
		}
		var cells []string
		for _, c := range res.Batches[0].Columns {
			text, err := expr.CastColumn(&expr.Context{ANSI: true}, c, columnar.String, expr.CastANSI)
			switch {
			case err != nil:
				t.Errorf("%s: %v", f.Name, err)
			case text.IsNull(0):
				cells = append(cells, "NULL")
			default:
				cells = append(cells, text.StringAt(0))
			}
		}
		got := strings.Join(cells, ", ")
		if plain(got) != plain(want) {
			t.Errorf("%s: %s gave %s, the documentation has %s", f.Name, query, got, want)
		}
	}
}

// plain leaves blanks behind commas and quotes out of account.
func plain(s string) string {
	return strings.TrimSpace(strings.NewReplacer(", ", ",", `"`, "", "'", "").Replace(s))
}
