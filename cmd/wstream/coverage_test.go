package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestEveryFlag says which commands and flags no session in testdata uses: each has one.
func TestEveryFlag(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	var lines []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		session, _, _ := strings.Cut(string(text), "\n-- ") // the files behind it are no part of it
		for line := range strings.Lines(session) {
			if strings.Contains(line, "wstream") && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
	}
	// Flags that all commands share are tested where they say something of their own.
	shared := []string{"json", "quiet", "no-color", "help", "modules"}
	var visit func(path string, commands []*cli.Command)
	visit = func(path string, commands []*cli.Command) {
		for _, c := range commands {
			if c.Name == "help" || c.Hidden {
				continue
			}
			here := path + " " + c.Name
			if len(c.Subcommands) > 0 {
				visit(here, c.Subcommands)
				continue
			}
			used := slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
				return !regexp.MustCompile(`wstream( --?[a-z-]+)*` + regexp.QuoteMeta(strings.TrimPrefix(here, "wstream")) + `\b`).MatchString(l)
			})
			if len(used) == 0 {
				t.Errorf("no session uses `%s`", here)
				continue
			}
			for _, f := range c.Flags {
				name := f.Names()[0]
				if slices.Contains(shared, name) {
					continue
				}
				found := slices.ContainsFunc(used, func(l string) bool {
					return slices.ContainsFunc(f.Names(), func(n string) bool {
						return regexp.MustCompile(`\s--?` + regexp.QuoteMeta(n) + `([\s=]|$)`).MatchString(l)
					})
				})
				if !found {
					t.Errorf("no session uses `%s --%s`", here, name)
				}
			}
		}
	}
	p := &program{}
	visit("wstream", p.app().Commands)
	for _, f := range append(shared, "version") {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "--"+f) || f == "quiet" && strings.Contains(l, " -q ") }) {
			t.Errorf("no session uses --%s", f)
		}
	}
}
