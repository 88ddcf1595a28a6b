package sdk

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/host"
)

var update = flag.Bool("update", false, "write the archive of sdk/go anew")

// TestArchive keeps the archive of the Go SDK the same as its sources.
func TestArchive(t *testing.T) {
	var b bytes.Buffer
	for _, pattern := range []string{"go.mod", "*.go", "jsonrows/*.go"} {
		files, err := filepath.Glob("go/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString("-- " + strings.TrimPrefix(filepath.ToSlash(f), "go/") + " --\n")
			b.Write(text)
		}
	}
	if *update {
		if err := os.WriteFile("go.txtar", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept := read("go.txtar"); kept != b.String() && !*update {
		t.Error("sdk/go.txtar is not what sdk/go is: go test ./sdk -update")
	}
}

// compilers are the commands to look for, by language. A rustc with a library for wasm32 is rare, so that Rust is left to
// the guests' own build.
var compilers = map[string][]string{"js": {"go"}, "c": {"clang-22", "clang"}, "go": {"go"}, "assemblyscript": {"asc"}}

// TestNew builds a new guest in the languages whose compilers are here, and tries it.
func TestNew(t *testing.T) {
	if testing.Short() {
		t.Skip("compilers take seconds")
	}
	ctx := context.Background()
	h, err := host.New(ctx, host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(ctx)
	for _, language := range Languages() {
		t.Run(language, func(t *testing.T) {
			p, err := New(language, "my-guest")
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, f := range p.Paths() {
				if p.Files[f] == "" {
					t.Fatalf("%s is empty", f)
				}
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, f), []byte(p.Files[f]), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if language == "js" {
				code, err := JavaScript([]byte(p.Files["my-guest.js"]))
				if err != nil {
					t.Fatal(err)
				}
				write(t, dir, map[string]string{p.Wasm: string(code)})
				p.Build = []string{"go", "version"}
			}
			command := append([]string{}, p.Build...)
			if command[0] == "npx" { // asc is on the path here, not in the project
				command = command[1:]
			}
			found := false
			for _, c := range compilers[language] {
				if bin, err := exec.LookPath(c); err == nil && !found {
					command[0], found = bin, true
				}
			}
			if !found {
				t.Skipf("there is no compiler for %s", language)
			}
			cmd := exec.CommandContext(ctx, command[0], command[1:]...)
			cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOFLAGS="), p.Env...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", command, err, out)
			}
			m, err := h.Load(ctx, host.ModuleConfig{Path: filepath.Join(dir, p.Wasm)})
			if err != nil {
				t.Fatal(err)
			}
			b, err := m.Bind(ctx, "keep", columnar.NewSchema(columnar.Field{Name: "amount", Type: columnar.Float64}))
			if err != nil {
				t.Fatal(err)
			}
			keep, errs, err := b.Filter(ctx, host.Call{}, columnar.NewBatch(nil,
				[]*columnar.Column{columnar.NewFixed(columnar.Float64, []float64{1, -1, 2}, nil)}, 3))
			if err != nil || errs != nil || keep[0] != 0b101 {
				t.Errorf("keeps %b, %v, %v", keep, errs, err)
			}
			for _, f := range m.Check(ctx) {
				if f.Problem != "" {
					t.Errorf("%s: %s: %s", f.Function, f.What, f.Problem)
				}
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct{ language, name, want string }{
		{"cobol", "x", `language "cobol" is not known; known are assemblyscript, c, go, js, rust`},
		{"c", "../x", `name "../x": it is made of lower-case letters, digits and -, and begins with a letter`},
	} {
		if _, err := New(c.language, c.name); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
