package batch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/internal/goldenjson"
	"github.com/wstream/wstream/internal/testdirs"
)

// golden is a line of a file of expressions with what Spark answered.
type golden struct {
	Fn       string          `json:"fn"`
	Expr     string          `json:"expr"`
	Query    string          `json:"query"`
	Type     string          `json:"type"`
	Value    json.RawMessage `json:"value"`
	Name     *string         `json:"name"`
	Schema   string          `json:"schema"`
	Rows     []json.RawMessage
	Ordered  bool     `json:"ordered"`
	Error    string   `json:"error"`
	Causes   []string `json:"causes"`
	Timezone string   `json:"timezone"`
	ANSI     *bool    `json:"ansi"`
}

// TestOracle runs every expression that real Spark has answered, and reports per family. Set
// WSTREAM_ORACLE to a family or a substring of "family: statement" to see the failures of those alone,
// and WSTREAM_ORACLE_DIR to run another folder of such files.
func TestOracle(t *testing.T) {
	dir := os.Getenv("WSTREAM_ORACLE_DIR")
	if dir == "" {
		dir = testdirs.Shared(t, "oracle/functions")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files in %s: %v", dir, err)
	}
	only := os.Getenv("WSTREAM_ORACLE")
	registry := expr.NewRegistry(expr.Builtins())
	total, passed := 0, 0
	var report []string
	for _, f := range files {
		family := strings.TrimSuffix(filepath.Base(f), ".jsonl")
		n, ok := 0, 0
		var failures []string
		for _, g := range readGolden(t, f) {
			text := g.Query
			if text == "" {
				text = "SELECT " + g.Expr
			}
			if only != "" && !strings.Contains(family+": "+text, only) {
				continue
			}
			n++
			if err := check(registry, &g, text); err != nil {
				failures = append(failures, fmt.Sprintf("%s: %s\n      %v", family, text, err))
				continue
			}
			ok++
		}
		total, passed = total+n, passed+ok
		if n > 0 {
			report = append(report, fmt.Sprintf("%-22s %4d of %4d", family, ok, n))
		}
		show := failures
		if only == "" && len(show) > 5 {
			show = show[:5]
		}
		for _, m := range show {
			t.Error(m)
		}
		if len(show) < len(failures) {
			t.Errorf("%s: and %d more", family, len(failures)-len(show))
		}
	}
	t.Logf("\n%s\n%-22s %4d of %4d", strings.Join(report, "\n"), "all", passed, total)
}

func readGolden(t *testing.T, file string) []golden {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []golden
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var g golden
		if err := json.Unmarshal(sc.Bytes(), &g); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, g)
	}
	return out
}

// check runs one statement and compares everything that Spark said of it.
func check(registry *expr.Registry, g *golden, text string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	zone := time.UTC
	if g.Timezone != "" {
		if zone, err = plan.Location(g.Timezone); err != nil {
			return err
		}
	}
	s := &Session{Registry: registry, Settings: plan.Settings{ANSI: g.ANSI == nil || *g.ANSI, Zone: zone}}
	res, err := s.Run(context.Background(), text)
	if g.Error != "" {
		return checkError(g, res, err)
	}
	if err != nil {
		return fmt.Errorf("failed: %w", err)
	}
	if g.Query == "" {
		if len(res.Schema.Fields) != 1 || res.Rows() != 1 {
			return fmt.Errorf("gave %d columns and %d rows", len(res.Schema.Fields), res.Rows())
		}
		f := res.Schema.Fields[0]
		if got := f.Type.String(); got != g.Type {
			return fmt.Errorf("type %s, want %s", got, g.Type)
		}
		if g.Name != nil && f.Name != *g.Name {
			return fmt.Errorf("name %q, want %q", f.Name, *g.Name)
		}
		got := datumjson.Append(nil, f.Type, res.Batches[0].Columns[0].Datum(0))
		if want := goldenjson.Canonical(g.Value); !goldenjson.Same(got, g.Value) {
			return fmt.Errorf("value %s, want %s", got, want)
		}
		return nil
	}
	if got := res.Schema.String(); got != g.Schema {
		return fmt.Errorf("schema %s, want %s", got, g.Schema)
	}
	var got, want []string
	for _, b := range res.Batches {
		b = columnar.NewBatch(res.Schema, b.Columns, b.Rows)
		for i := 0; i < b.Rows; i++ {
			got = append(got, goldenjson.Canonical(datumjson.AppendRow(nil, b, i)))
		}
	}
	for _, r := range g.Rows {
		want = append(want, goldenjson.Canonical(r))
	}
	if !g.Ordered {
		sort.Strings(got)
		sort.Strings(want)
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d rows, want %d:\n      %s\n      want %s", len(got), len(want), strings.Join(got, " "), strings.Join(want, " "))
	}
	for i := range got {
		if !goldenjson.Same([]byte(got[i]), []byte(want[i])) {
			return fmt.Errorf("row %d is %s, want %s", i, got[i], want[i])
		}
	}
	return nil
}

func checkError(g *golden, res *Result, err error) error {
	if err == nil {
		return fmt.Errorf("gave %d rows, want the error %s", res.Rows(), g.Error)
	}
	if g.Error == "*" || strings.HasPrefix(g.Error, "_LEGACY_ERROR_TEMP") {
		return nil
	}
	for _, c := range sparkerr.Conditions(err) {
		if c == g.Error {
			return nil
		}
	}
	return fmt.Errorf("failed with %w, want the error %s", err, g.Error)
}
