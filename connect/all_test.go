package connect_test

import (
	"strings"
	"testing"

	"github.com/wstream/wstream/connect"
	"github.com/wstream/wstream/pipeline"
)

// TestSpecs shows that every connector says what it is, what it promises, and gives an example that a pipeline file takes.
func TestSpecs(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range connect.All() {
		t.Run(s.Format, func(t *testing.T) {
			if s.Format == "" || seen[s.Format] {
				t.Fatalf("format %q is there twice, or has no name", s.Format)
			}
			seen[s.Format] = true
			if s.Doc == "" || s.NewSource == nil && s.NewSink == nil {
				t.Error("no doc, or neither source nor sink")
			}
			if s.NewSink != nil && s.Promise == "" {
				t.Error("the sink promises nothing")
			}
			example := "name: example\n" + s.Example
			if !strings.Contains(example, "sources:") {
				example += "sources:\n  raw: {format: rate}\nviews:\n  per_window: {sql: SELECT * FROM raw}\n"
			} else if !strings.Contains(example, "sinks:") {
				example += "sinks:\n  out: {from: " + strings.TrimSuffix(strings.Fields(s.Example)[1], ":") + ", format: noop}\n"
			}
			if _, err := pipeline.Parse("example.yaml", t.TempDir(), []byte(example)); s.Example == "" || err != nil {
				t.Errorf("example: %v", err)
			}
			names := map[string]bool{}
			for _, o := range s.Options {
				if o.Doc == "" || names[strings.ToLower(o.Name)] {
					t.Errorf("option %q has no doc or is there twice", o.Name)
				}
				names[strings.ToLower(o.Name)] = true
			}
		})
	}
}

// TestSinkOptions refuses an option that a sink does not have.
func TestSinkOptions(t *testing.T) {
	b := newBench(t)
	filesInput(b)
	_, err := b.run(filesHead+"sinks:\n  out:\n    from: input\n    format: json\n    options: {path: out, partitonBy: k}\n    trigger: {availableNow: true}\n    checkpointLocation: checkpoint\n", "out", "")
	if err == nil || !strings.Contains(err.Error(), `did you mean "partitionBy"?`) {
		t.Errorf("got %v", err)
	}
}
