package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocs fails when a generated page of docs/ is not what the definitions say.
func TestDocs(t *testing.T) {
	for name, want := range pages() {
		got, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Errorf("%s; run make docs", err)
			continue
		}
		if string(got) != want {
			t.Errorf("docs/%s is old; run make docs", name)
		}
	}
}

// TestReference holds every command to what documentation and completion need of it.
func TestReference(t *testing.T) {
	for _, c := range reference() {
		if c.usage == "" {
			t.Errorf("command %q has no usage", c.name())
		}
		for _, f := range c.flags {
			if f.usage == "" {
				t.Errorf("command %q: flag %s has no usage", c.name(), f.syntax())
			}
		}
		for what, script := range map[string]string{"bash": bashCompletion(reference()), "zsh": zshCompletion(reference())} {
			if !strings.Contains(script, "'/"+strings.Join(c.path, "/")+"'") {
				t.Errorf("the completion of %s does not know %q", what, c.name())
			}
		}
	}
}
