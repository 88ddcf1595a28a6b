package connect_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wstream/wstream/connect"
	"github.com/wstream/wstream/engine/connector"
)

// TestSpecs shows that every connector says what it is, what it promises, and what its options are.
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
			names := map[string]bool{}
			for _, o := range s.Options {
				if o.Doc == "" || o.Type == "" || names[strings.ToLower(o.Name)] {
					t.Errorf("option %q has no doc or no type, or is there twice", o.Name)
				}
				if err := fits(o); err != nil {
					t.Error(err)
				}
				names[strings.ToLower(o.Name)] = true
			}
		})
	}
}

// fits checks that the default of an option is a value of its type.
func fits(o connector.Option) error {
	if o.Default == "" || o.Default == "the processors" {
		return nil
	}
	given := connector.NewOptions(map[string]string{o.Name: o.Default})
	var err error
	switch {
	case o.Type == "boolean":
		_, err = given.Bool(o.Name, false)
	case o.Type == "number":
		_, err = strconv.ParseFloat(o.Default, 64)
	case o.Type == "size":
		_, err = given.Bytes(o.Name, 0)
	case o.Type == "duration":
		_, err = given.Duration(o.Name, 0)
	case strings.Contains(o.Type, " | ") && !slices.Contains(strings.Split(o.Type, " | "), o.Default):
		err = fmt.Errorf("option %q: the default %q is none of %s", o.Name, o.Default, o.Type)
	}
	return err
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
