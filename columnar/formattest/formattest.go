// Package formattest runs the golden cases of the file formats: a file, options and a schema, and the
// rows or the error that come of them.
package formattest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/internal/testdirs"
)

// Case is one golden case.
type Case struct {
	Name         string
	Format       string            `yaml:"format"`
	SchemaDDL    *string           `yaml:"schema"`
	Options      map[string]string `yaml:"options"`
	Input        string            `yaml:"input"`
	ResultSchema string            `yaml:"resultSchema"`

	Schema  *columnar.Schema `yaml:"-"` // nil when the case has none
	Path    string           `yaml:"-"` // of the input
	Rows    []string         `yaml:"-"` // the expected rows in the notation of package datumjson
	Error   string           `yaml:"-"` // the expected condition, "" for success
	Causes  []string         `yaml:"-"`
	dirName string
}

// Cases gives the cases of a format: those kept in testdata/cases, and those of the shared folder when it is there.
func Cases(t *testing.T, format string) []*Case {
	t.Helper()
	found := map[string]string{}
	add := func(dir string) {
		names, _ := filepath.Glob(filepath.Join(dir, format+"-*", "case.yaml"))
		for _, n := range names {
			found[filepath.Base(filepath.Dir(n))] = filepath.Dir(n)
		}
	}
	add(filepath.Join("testdata", "cases"))
	add(filepath.Join(testdirs.Root(t), "..", "shared", "oracle", "formats"))
	var names []string
	for n := range found {
		names = append(names, n)
	}
	sort.Strings(names)
	if len(names) == 0 {
		t.Fatalf("no cases of format %s", format)
	}
	var cases []*Case
	for _, n := range names {
		cases = append(cases, load(t, n, found[n]))
	}
	return cases
}

func load(t *testing.T, name, dir string) *Case {
	t.Helper()
	c := &Case{Name: name, dirName: dir}
	text, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, c); err != nil {
		t.Fatalf("case %s: %v", name, err)
	}
	if c.SchemaDDL != nil {
		if c.Schema, err = columnar.ParseDDL(*c.SchemaDDL); err != nil {
			t.Fatalf("case %s: %v", name, err)
		}
		c.Schema = c.Schema.AsNullable() // as file sources have it
	}
	c.Path = filepath.Join(dir, c.Input)
	if text, err := os.ReadFile(filepath.Join(dir, "error.json")); err == nil {
		var e struct {
			Error  string   `json:"error"`
			Causes []string `json:"causes"`
		}
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatalf("case %s: %v", name, err)
		}
		c.Error, c.Causes = e.Error, e.Causes
		return c
	}
	text, err = os.ReadFile(filepath.Join(dir, "expected.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		c.Rows = append(c.Rows, lines.Text())
	}
	return c
}

// Run runs read on every case as a subtest, and logs how many passed.
func Run(t *testing.T, cases []*Case, read func(c *Case) ([]*columnar.Batch, error)) {
	passed := 0
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			batches, err := read(c)
			c.check(t, batches, err)
			if !t.Failed() {
				passed++
			}
		})
	}
	t.Logf("%d of %d cases passed", passed, len(cases))
}

func (c *Case) check(t *testing.T, batches []*columnar.Batch, err error) {
	if c.Error != "" {
		if err == nil {
			t.Fatalf("no error, want [%s]", c.Error)
		}
		if c.Error == "*" || strings.HasPrefix(c.Error, "_LEGACY_ERROR_TEMP") {
			return
		}
		want := append([]string{c.Error}, c.Causes...)
		got := sparkerr.Conditions(err)
		same := len(got) == len(want)
		for i := 0; same && i < len(want); i++ {
			// A legacy name stands for a refusal without one.
			same = got[i] == want[i] || strings.HasPrefix(want[i], "_LEGACY_ERROR_TEMP")
		}
		if !same {
			t.Fatalf("conditions %q, want %q: %v", got, want, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("error %v", err)
	}
	want, err := columnar.ParseDDL(c.ResultSchema)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range batches {
		if !b.Schema.Equal(want) {
			t.Fatalf("schema %s, want %s", b.Schema, want)
		}
		for i := range b.Rows {
			got = append(got, string(datumjson.AppendRow(nil, b, i)))
		}
	}
	for i, text := range c.Rows {
		if i >= len(got) {
			t.Fatalf("%d rows, want %d; the next is %.300s", len(got), len(c.Rows), text)
		}
		row, err := datumjson.ParseRow(want, []byte(text))
		if err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
		b := columnar.NewBatch(want, nil, 1)
		for k, f := range want.Fields {
			b.Columns = append(b.Columns, columnar.FromData(f.Type, row[k]))
		}
		if w := string(datumjson.AppendRow(nil, b, 0)); got[i] != w {
			t.Errorf("row %d:\n got %.400s\nwant %.400s", i, got[i], w)
		}
	}
	if len(got) > len(c.Rows) {
		t.Errorf("%d rows, want %d; the next is %.300s", len(got), len(c.Rows), got[len(c.Rows)])
	}
}

// EachChunk gives a case's input to do as a file source reads it, in chunks. The codec is that of the file's name.
func (c *Case) EachChunk(encoding string, o lines.Options, do func([]byte) error) error {
	f, err := os.Open(c.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if o.Charset, err = lines.ParseCharset(encoding); err != nil {
		return err
	}
	o.Codec = lines.CodecOf(c.Path)
	r, err := lines.NewReader(f, o)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		data, err := r.Next(nil)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(data); err != nil {
			return err
		}
	}
}
