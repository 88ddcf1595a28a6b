package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/internal/goldenjson"
	"github.com/wstream/wstream/internal/testdirs"
)

// statement is a golden statement: an expression or a query, and what Spark answered.
type statement struct {
	Expr, Query, Type, Schema, Error string
	Timezone                         string
	ANSI                             *bool
	Value                            json.RawMessage
	Rows                             []json.RawMessage
	Ordered                          bool
}

func (s *statement) text() string {
	if s.Query != "" {
		return s.Query
	}
	return "SELECT " + s.Expr
}

// sqlAnswer is a line that `wstream sql --json` prints.
type sqlAnswer struct {
	Schema *string
	Rows   []json.RawMessage
	Error  *struct{ Condition, Message string }
}

func (s *statement) check(a *sqlAnswer) error {
	if s.Error != "" {
		switch {
		case a.Error == nil:
			return fmt.Errorf("no error, want %s", s.Error)
		case s.Error != "*" && !strings.HasPrefix(s.Error, "_LEGACY") && a.Error.Condition != s.Error && !strings.Contains(a.Error.Message, "["+s.Error+"]"):
			return fmt.Errorf("error %s: %s, want %s", a.Error.Condition, a.Error.Message, s.Error)
		case strings.HasPrefix(a.Error.Message, "batch ") || strings.HasPrefix(a.Error.Message, "operator "):
			return fmt.Errorf("the error says where in the engine it was: %s", a.Error.Message)
		}
		return nil
	}
	if a.Error != nil {
		return fmt.Errorf("failed: %s", a.Error.Message)
	}
	want := s.Rows
	if s.Query == "" { // one row of one column, whose name is not looked at
		want = []json.RawMessage{s.Value}
		for i, r := range a.Rows {
			var row map[string]json.RawMessage
			if err := json.Unmarshal(r, &row); err != nil {
				return err
			}
			for _, v := range row {
				a.Rows[i] = v
			}
		}
	} else if *a.Schema != s.Schema {
		return fmt.Errorf("schema %s, want %s", *a.Schema, s.Schema)
	}
	if len(a.Rows) != len(want) {
		return fmt.Errorf("%d rows, want %d", len(a.Rows), len(want))
	}
	got := slices.Clone(a.Rows)
	if !s.Ordered {
		byText := func(x, y json.RawMessage) int {
			return strings.Compare(goldenjson.Canonical(x), goldenjson.Canonical(y))
		}
		slices.SortFunc(got, byText)
		want = slices.Clone(want)
		slices.SortFunc(want, byText)
	}
	for i := range got {
		if !goldenjson.Same(got[i], want[i]) {
			return fmt.Errorf("row %d is %s, want %s", i, got[i], want[i])
		}
	}
	return nil
}

// TestSQLOracle runs all golden statements through the command line, a process image per time zone and mode, and
// demands one line for each, 3,000 of them in ten seconds at most.
func TestSQLOracle(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdirs.Shared(t, "oracle/functions"), "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden statements: %v", err)
	}
	groups := map[string][]statement{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		scan := bufio.NewScanner(bytes.NewReader(data))
		scan.Buffer(nil, 16<<20)
		for scan.Scan() {
			var s statement
			if err := json.Unmarshal(scan.Bytes(), &s); err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			key := fmt.Sprintf("timezone=%s ansi=%v", s.Timezone, s.ANSI == nil || *s.ANSI)
			groups[key] = append(groups[key], s)
		}
	}
	total, failed := 0, 0
	var took time.Duration
	for key, list := range groups {
		var in bytes.Buffer
		for _, s := range list {
			line, _ := json.Marshal(s.text())
			in.Write(append(line, '\n'))
		}
		args := []string{"wstream", "sql", "--lines", "--keep-going", "--json"}
		for _, kv := range strings.Fields(key) {
			if !strings.HasSuffix(kv, "=") {
				args = append(args, "--set", kv)
			}
		}
		var out, errs bytes.Buffer
		p := &program{in: &in, out: &out, err: &errs, args: args}
		start := time.Now()
		p.run(context.Background())
		took += time.Since(start)
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != len(list) {
			t.Fatalf("%s: %d lines for %d statements\n%s", key, len(lines), len(list), errs.String())
		}
		for i, line := range lines {
			total++
			var a sqlAnswer
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if err := list[i].check(&a); err != nil {
				if failed++; failed <= 20 {
					t.Errorf("%s: %s\n      %v", key, list[i].text(), err)
				}
			}
		}
	}
	per3000 := took * 3000 / time.Duration(total)
	t.Logf("%d of %d statements as in Spark; 3,000 in %v", total-failed, total, per3000.Round(time.Millisecond))
	if per3000 > 10*time.Second && !testing.Short() {
		t.Errorf("3,000 statements take %v, more than 10 s", per3000)
	}
}
