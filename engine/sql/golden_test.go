package sql_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/sql"
)

// TestGolden runs the files of testdata: commands that parse their input and print the tree, or the
// error with its place and a mark under the token it points at.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out []string
			inputs := []string{d.Input}
			if d.HasArg("lines") {
				inputs = strings.Split(d.Input, "\n")
			}
			for _, in := range inputs {
				s := runGolden(t, d.Cmd, in)
				if d.HasArg("lines") {
					s = in + "\n" + indent(s)
				}
				out = append(out, s)
			}
			return strings.Join(out, "\n") + "\n"
		})
	})
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(s, "\n", "\n    ")
}

func runGolden(t *testing.T, cmd, in string) string {
	t.Helper()
	var v any
	var err error
	switch cmd {
	case "query":
		v, err = sql.ParseQuery(in)
	case "expr":
		v, err = sql.ParseExpr(in)
	case "statement":
		v, err = sql.ParseStatement(in)
	case "type":
		v, err = sql.ParseType(in)
	case "schema":
		v, err = sql.ParseSchema(in)
	case "split":
		var b strings.Builder
		for _, p := range sql.Split(in) {
			fmt.Fprintf(&b, "%d:%d %q\n", p.Line, p.Col, p.Text)
		}
		return strings.TrimSuffix(b.String(), "\n")
	default:
		t.Fatalf("unknown command %q", cmd)
	}
	if err != nil {
		return showError(in, err)
	}
	return dump(v)
}

// showError writes the error under the line that it is about.
func showError(in string, err error) string {
	var e *sparkerr.Error
	if !errors.As(err, &e) {
		return "error without condition: " + err.Error()
	}
	lines := strings.Split(in, "\n")
	if e.Line < 1 || e.Line > len(lines) {
		return fmt.Sprintf("%d:%d: %v", e.Line, e.Col, e)
	}
	line := strings.ReplaceAll(lines[e.Line-1], "\t", " ")
	return fmt.Sprintf("%s\n%s^ %d:%d\n%v", line, strings.Repeat(" ", max(e.Col-1, 0)), e.Line, e.Col, e)
}
