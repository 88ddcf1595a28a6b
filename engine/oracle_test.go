package engine_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/parquetfmt"
	"github.com/wstream/wstream/columnar/show"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/connect"
	"github.com/wstream/wstream/engine"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/internal/goldenjson"
	"github.com/wstream/wstream/internal/testdirs"
)

// oracle counts cases per family, and knows the ones that are meant to differ.
type oracle struct {
	t        *testing.T
	only     string
	differs  map[string]string // reason by "family: case"
	families []string
	passed   map[string]int
	total    map[string]int
}

// TestOracleReport runs all golden cases of functions, formats, show and ddl through the Go API and reports per
// family. What is different on purpose stands in testdata/differences.txt with its reason. WSTREAM_ORACLE_DIR names
// another folder of such cases, WSTREAM_ORACLE a part of "family: case" to look at alone.
func TestOracleReport(t *testing.T) {
	root := os.Getenv("WSTREAM_ORACLE_DIR")
	if root == "" {
		root = testdirs.Shared(t, "oracle")
	}
	o := &oracle{t: t, only: os.Getenv("WSTREAM_ORACLE"), differs: readDifferences(t), passed: map[string]int{}, total: map[string]int{}}
	o.functions(filepath.Join(root, "functions"))
	o.formats(filepath.Join(root, "formats"))
	o.show(filepath.Join(root, "show"))
	o.ddl("ddl", filepath.Join(root, "ddl", "schemas.jsonl"))
	o.ddl("ddl/more", filepath.Join("testdata", "schemas.jsonl"))
	o.readers(filepath.Join("testdata", "formats.jsonl"))
	var report strings.Builder
	passed, total := 0, 0
	for _, f := range o.families {
		fmt.Fprintf(&report, "%-32s %5d of %5d\n", f, o.passed[f], o.total[f])
		passed, total = passed+o.passed[f], total+o.total[f]
	}
	if total == 0 {
		t.Fatalf("no cases in %s", root)
	}
	t.Logf("\n%s%-32s %5d of %5d", report.String(), "all", passed, total)
}

// readDifferences reads lines "family: case: reason"; the reason follows the last " -- ".
func readDifferences(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "differences.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(line, " -- ")
		if !ok {
			t.Fatalf("differences.txt: %q has no reason", line)
		}
		out[name] = reason
	}
	return out
}

// check runs a case and counts it.
func (o *oracle) check(family, name string, run func() error) {
	full := family + ": " + name
	if o.only != "" && !strings.Contains(full, o.only) {
		return
	}
	if !slices.Contains(o.families, family) {
		o.families = append(o.families, family)
	}
	o.total[family]++
	err := guarded(run)
	reason, listed := o.differs[full]
	switch {
	case err == nil && listed:
		o.t.Errorf("%s: is like Spark; take its line (%s) out of differences.txt", full, reason)
	case err == nil || listed:
		o.passed[family]++
	default:
		o.t.Errorf("%s\n      %v", full, err)
	}
}

func guarded(run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return run()
}

func session(opts engine.Options) (*engine.Session, error) {
	return engine.NewSession(connect.All(), opts)
}

// sameError compares a condition with the one that Spark gave.
func sameError(err error, want string) error {
	switch {
	case err == nil:
		return fmt.Errorf("no error, want %s", want)
	case want == "*" || strings.HasPrefix(want, "_LEGACY_ERROR_TEMP") || slices.Contains(sparkerr.Conditions(err), want):
		return nil
	}
	return fmt.Errorf("failed with %w, want %s", err, want)
}

// rowsOf are the rows of a result as JSON.
func rowsOf(res *engine.Result) []string {
	out := []string{}
	for _, b := range res.Batches {
		b = columnar.NewBatch(res.Schema, b.Columns, b.Rows)
		for i := range b.Rows {
			out = append(out, string(datumjson.AppendRow(nil, b, i)))
		}
	}
	return out
}

func sameRows(got, want []string, ordered bool) error {
	if !ordered {
		got, want = canonicalSorted(got), canonicalSorted(want)
	}
	for i := range min(len(got), len(want)) {
		if !goldenjson.Same([]byte(got[i]), []byte(want[i])) {
			return fmt.Errorf("row %d is\n      %.600s\n      want\n      %.600s", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d rows, want %d", len(got), len(want))
	}
	return nil
}

func canonicalSorted(rows []string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = goldenjson.Canonical([]byte(r))
	}
	slices.Sort(out)
	return out
}

// eachLine decodes a file of JSON lines.
func eachLine(t *testing.T, file string, f func(line []byte)) {
	t.Helper()
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		f(scan.Bytes())
	}
	if err := scan.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func (o *oracle) functions(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	for _, f := range files {
		family := "functions/" + strings.TrimSuffix(filepath.Base(f), ".jsonl")
		eachLine(o.t, f, func(line []byte) {
			var c functionCase
			if err := json.Unmarshal(line, &c); err != nil {
				o.t.Fatalf("%s: %v", f, err)
			}
			o.check(family, c.text(), c.run)
		})
	}
}

// functionCase is a statement with what Spark answered.
type functionCase struct {
	Expr, Query, Type, Schema, Error, Timezone string
	Name                                       *string
	Value                                      json.RawMessage
	Rows                                       []json.RawMessage
	Ordered                                    bool
	ANSI                                       *bool
}

func (c *functionCase) text() string {
	if c.Query != "" {
		return c.Query
	}
	return "SELECT " + c.Expr
}

func (c *functionCase) run() error {
	s, err := session(engine.Options{Timezone: c.Timezone, NoANSI: c.ANSI != nil && !*c.ANSI, Workers: 1})
	if err != nil {
		return err
	}
	res, err := s.SQL(c.text()).Collect(context.Background())
	if c.Error != "" {
		return sameError(err, c.Error)
	}
	if err != nil {
		return fmt.Errorf("failed: %w", err)
	}
	got, want := rowsOf(res), []string{}
	for _, r := range c.Rows {
		want = append(want, string(r))
	}
	if c.Query != "" {
		if res.Schema.String() != c.Schema {
			return fmt.Errorf("schema %s, want %s", res.Schema, c.Schema)
		}
		return sameRows(got, want, c.Ordered)
	}
	if len(res.Schema.Fields) != 1 || res.Rows() != 1 {
		return fmt.Errorf("%d columns and %d rows", len(res.Schema.Fields), res.Rows())
	}
	f := res.Schema.Fields[0]
	if f.Type.String() != c.Type || c.Name != nil && *c.Name != f.Name {
		return fmt.Errorf("column %q of type %s, want %q of %s", f.Name, f.Type, *c.Name, c.Type)
	}
	value := datumjson.Append(nil, f.Type, res.Batches[0].Columns[0].Datum(0))
	return sameRows([]string{string(value)}, []string{string(c.Value)}, true)
}

// cases reads the case.yaml of every folder of dir.
func cases[C any](t *testing.T, dir string) iter.Seq2[string, *C] {
	t.Helper()
	return func(yield func(string, *C) bool) {
		dirs, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, d := range dirs {
			text, err := os.ReadFile(filepath.Join(d, "case.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			c := new(C)
			if err := yaml.Unmarshal(text, c); err != nil {
				t.Fatalf("%s: %v", d, err)
			}
			if !yield(d, c) {
				return
			}
		}
	}
}

// formatCase is a file, how it is to be read, and what Spark made of it.
type formatCase struct {
	Format, Input string
	Schema        *string
	Options       map[string]string
	ResultSchema  string `yaml:"resultSchema"`
}

func (o *oracle) formats(dir string) {
	for d, c := range cases[formatCase](o.t, dir) {
		o.check("formats/"+c.Format, filepath.Base(d), func() error { return c.run(o.t, d) })
	}
}

func (c *formatCase) read(path string) (*engine.Result, error) {
	s, err := session(engine.Options{Workers: 1})
	if err != nil {
		return nil, err
	}
	r := s.Read().Format(c.Format).Options(c.Options)
	if c.Schema != nil {
		r.Schema(*c.Schema)
	}
	return r.Load(path).Collect(context.Background())
}

func (c *formatCase) same(res *engine.Result, want []string) error {
	if res.Schema.String() != c.ResultSchema {
		return fmt.Errorf("schema %s, want %s", res.Schema, c.ResultSchema)
	}
	return sameRows(rowsOf(res), want, true)
}

func (c *formatCase) run(t *testing.T, dir string) error {
	path, err := filepath.Abs(filepath.Join(dir, c.Input))
	if err != nil {
		return err
	}
	res, err := c.read(path)
	if text, missing := os.ReadFile(filepath.Join(dir, "error.json")); missing == nil {
		var want struct {
			Error  string
			Causes []string
		}
		if err := json.Unmarshal(text, &want); err != nil {
			return err
		}
		return sameError(err, want.Error)
	}
	if err != nil {
		return fmt.Errorf("failed: %w", err)
	}
	want := []string{}
	eachLine(t, filepath.Join(dir, "expected.jsonl"), func(line []byte) { want = append(want, string(line)) })
	return c.same(res, want)
}

// readers runs cases of readers that are kept as lines: the input is text, or bytes in base64.
func (o *oracle) readers(file string) {
	dir := o.t.TempDir()
	eachLine(o.t, file, func(line []byte) {
		var c readerCase
		if err := json.Unmarshal(line, &c); err != nil {
			o.t.Fatalf("%s: %v", file, err)
		}
		o.check("more/"+c.Format, c.Name, func() error { return c.run(filepath.Join(dir, c.Name)) })
	})
}

// readerCase is a formatCase in one line.
type readerCase struct {
	formatCase
	Name, Text, Error string
	Base64            []byte
	Rows              []json.RawMessage
}

func (c *readerCase) run(dir string) error {
	data := c.Base64
	if data == nil {
		data = []byte(c.Text)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, c.Input)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	res, err := c.read(path)
	if c.Error != "" {
		return sameError(err, c.Error)
	}
	if err != nil {
		return fmt.Errorf("failed: %w", err)
	}
	want := []string{}
	for _, r := range c.Rows {
		want = append(want, string(r))
	}
	return c.same(res, want)
}

// showCase is a query, or a table of rows, and the text that Spark prints of it.
type showCase struct {
	Query, Schema, Sink string
	NumRows             int `yaml:"numRows"`
	Truncate            int
	Vertical            bool
	Source              struct{ Format, Schema string }
	Files               []string
	OutputMode          string `yaml:"outputMode"`
	Options             map[string]string
	Error               string
	RowOrder            string `yaml:"rowOrder"`
}

func (o *oracle) show(dir string) {
	for d, c := range cases[showCase](o.t, dir) {
		if c.Sink != "" {
			continue // the console's cases are a test of the connector
		}
		o.check("show", filepath.Base(d), func() error { return c.table(d) })
	}
}

func (c *showCase) table(dir string) error {
	s, err := session(engine.Options{Workers: 1})
	if err != nil {
		return err
	}
	want, err := os.ReadFile(filepath.Join(dir, "expected.txt"))
	if err != nil {
		return err
	}
	var got strings.Builder
	df := s.SQL(c.Query)
	if c.Vertical {
		err = df.ShowVertical(context.Background(), &got, c.NumRows, c.Truncate)
	} else {
		err = df.Show(context.Background(), &got, c.NumRows, c.Truncate)
	}
	if err != nil {
		return err
	}
	if got.String() != string(want) {
		return fmt.Errorf("got\n%swant\n%s", got.String(), want)
	}
	return nil
}

func (o *oracle) ddl(family, file string) {
	eachLine(o.t, file, func(line []byte) {
		var c schemaCase
		if err := json.Unmarshal(line, &c); err != nil {
			o.t.Fatalf("%s: %v", file, err)
		}
		o.check(family, c.DDL, c.run)
	})
}

// schemaCase is a schema in DDL, and how Spark writes it or why it refuses it.
type schemaCase struct {
	DDL, ToDDL, Tree, Error string
	JSON                    json.RawMessage
}

func (c *schemaCase) run() error {
	schema, err := plan.DeclaredSchema(c.DDL)
	if c.Error != "" {
		return sameError(err, c.Error)
	}
	if err != nil {
		return err
	}
	if schema.String() != c.ToDDL {
		return fmt.Errorf("as DDL\n      %s\n      want\n      %s", schema, c.ToDDL)
	}
	if got := show.Tree(schema); got != c.Tree {
		return fmt.Errorf("as a tree\n%s      want\n%s", got, c.Tree)
	}
	text, err := parquetfmt.SchemaJSON(schema)
	if err != nil {
		return err
	}
	if !goldenjson.Same([]byte(text), c.JSON) {
		return fmt.Errorf("as JSON\n      %s\n      want\n      %s", text, c.JSON)
	}
	// What is printed can be read again, by the small parser too that manifests and state have.
	for _, read := range []func(string) (*columnar.Schema, error){plan.DeclaredSchema, columnar.ParseDDL} {
		if strings.ContainsAny(c.ToDDL, "\\\n") {
			break // Spark escapes neither line ends nor backslashes of comments
		}
		again, err := read(c.ToDDL)
		if err != nil {
			return fmt.Errorf("reading %s again: %w", c.ToDDL, err)
		}
		if again.String() != c.ToDDL {
			return fmt.Errorf("read again\n      %s\n      want\n      %s", again, c.ToDDL)
		}
	}
	return nil
}
