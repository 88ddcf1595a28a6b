package connect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/wstream/wstream/internal/testdirs"
)

// TestConsoleCases compares the console's text with Spark's.
func TestConsoleCases(t *testing.T) {
	dirs, _ := filepath.Glob(filepath.Join(testdirs.Shared(t, "oracle/show"), "console-*"))
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var c struct {
				Source struct {
					Format, Schema string
					MaxFiles       int `yaml:"maxFilesPerTrigger"`
				}
				Files    []string
				Query    string
				Mode     string `yaml:"outputMode"`
				Options  map[string]string
				RowOrder string `yaml:"rowOrder"`
				Error    string
			}
			text, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
			if err == nil {
				err = yaml.Unmarshal(text, &c)
			}
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t)
			for i, f := range c.Files {
				b.write(fmt.Sprintf("in/%d.json", i), f)
				b.stamp(fmt.Sprintf("in/%d.json", i), i)
			}
			options, _ := yaml.Marshal(c.Options)
			_, err = b.run(fmt.Sprintf("name: test\nsources:\n  input: {format: %s, schema: %q, options: {path: in, maxFilesPerTrigger: %d}}\n"+
				"views:\n  v: {sql: %q}\nsinks:\n  out: {from: v, format: console, options: %s, outputMode: %s, trigger: {availableNow: true}}\n",
				c.Source.Format, c.Source.Schema, c.Source.MaxFiles, c.Query, "{"+strings.ReplaceAll(strings.Trim(strings.TrimSpace(string(options)), "{}"), "\n", ", ")+"}", c.Mode), "out", "")
			if c.Error != "" {
				if err == nil {
					t.Errorf("no error, want %s", c.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(dir, "expected.txt"))
			if err != nil {
				t.Fatal(err)
			}
			got := b.out.b.String()
			if c.RowOrder == "any" {
				got, want = sorted(got), []byte(sorted(string(want)))
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
