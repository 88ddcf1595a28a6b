package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// file is a Go file's place and what it imports.
type file struct {
	dir     string // of the package, relative to the module's root, with slashes
	name    string
	imports []string
}

// TestImports looks at every Go file of the module that is no test. Tests may import what they like: a test of the
// engine may read a pipeline file.
func TestImports(t *testing.T) {
	files, err := goFiles(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("found no Go file")
	}
	for _, f := range files {
		for _, fault := range faults(f) {
			t.Errorf("%s/%s: %s", f.dir, f.name, fault)
		}
	}
}

// TestFaults shows that the table forbids what it should.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ dir, imports, want string }{
		{"columnar/javatext", Module + "/columnar", ""},
		{"columnar", Module + "/internal/vfs", ""},
		{"columnar", Module + "/state", `layer "columnar" may not import layer "state"`},
		{"engine/exec", Module + "/host", `layer "engine" may not import layer "host"`},
		{"engine/exec", "github.com/tetratelabs/wazero/api", `layer "engine" may not import "github.com/tetratelabs/wazero"`},
		{"host/pool", "github.com/tetratelabs/wazero", ""},
		{"host", "github.com/tetratelabs/wazero2", ""},
		{"connect/kafka", Module + "/engine", ""},
		{"connect/kafka", Module + "/pipeline", `layer "connect" may not import layer "pipeline"`},
		{"state", Module + "/checkpoint", `layer "state" may not import layer "checkpoint"`},
		{"cmd/wstream", Module + "/server", ""},
		{"internal/vfs", Module + "/state", `"internal" is open to all, so it may not import "state"`},
		{"internal/failpoint", Module + "/internal/vfs", ""},
		{"utils", "fmt", `folder "utils" is in no layer; add it to the table of internal/archtest and docs/ARCHITECTURE.md`},
		{"engine", Module + "/cmd/wstream", `layer "engine" may not import layer "cmd"`},
		{"sdk/go", Module + "/abi", `layer "sdk" may not import layer "abi"`},
		{"internal/sim", Module + "/pipeline", ""},
	} {
		got := strings.Join(faults(file{dir: c.dir, imports: []string{c.imports}}), "; ")
		if got != c.want {
			t.Errorf("%s importing %s: got %q, want %q", c.dir, c.imports, got, c.want)
		}
	}
}

// TestNoInit keeps out what would run before main: start-up must stay cheap, and registration is an explicit list.
func TestNoInit(t *testing.T) {
	root := os.DirFS("../..")
	files, err := goFiles(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		src, err := fs.ReadFile(root, f.dir+"/"+f.name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains("\n"+string(src), "\nfunc init()") {
			t.Errorf("%s/%s: has an init function", f.dir, f.name)
		}
	}
}

// faults lists what the table says against a file, none where it is as it should be.
func faults(f file) []string {
	open := Open()
	own, ownOpen := within(f.dir, open)
	layers := Layers()
	names := make([]string, len(layers))
	for i, l := range layers {
		names[i] = l.Name
	}
	name, known := within(f.dir, names)
	if known {
		ownOpen = false // a folder in an open one that has a line of its own, such as internal/sim
	}
	if !known && !ownOpen {
		return []string{fmt.Sprintf("folder %q is in no layer; add it to the table of internal/archtest and docs/ARCHITECTURE.md", f.dir)}
	}
	var layer Layer
	if known {
		layer = layers[slices.Index(names, name)]
	}
	var bad []string
	for _, path := range f.imports {
		rel, ours := strings.CutPrefix(path, Module+"/")
		switch {
		case !ours && ownOpen:
		case !ours:
			if mod, may := foreign(path); may != nil && !slices.Contains(may, name) {
				bad = append(bad, fmt.Sprintf("layer %q may not import %q", name, mod))
			}
		case ownOpen:
			if _, ok := within(rel, open); !ok {
				bad = append(bad, fmt.Sprintf("%q is open to all, so it may not import %q", own, rel))
			}
		default:
			if _, ok := within(rel, open); ok || layer.Any {
				continue
			}
			target, ok := within(rel, names)
			if !ok {
				target = rel
			}
			if target != name && !slices.Contains(layer.May, target) {
				bad = append(bad, fmt.Sprintf("layer %q may not import layer %q", name, target))
			}
		}
	}
	return bad
}

// within finds the longest of the folders that dir is or lies below.
func within(dir string, folders []string) (string, bool) {
	best := ""
	for _, f := range folders {
		if (dir == f || strings.HasPrefix(dir, f+"/")) && len(f) > len(best) {
			best = f
		}
	}
	return best, best != ""
}

// foreign finds the module of Foreign that a path belongs to, and the layers that may import it.
func foreign(path string) (module string, may []string) {
	for module, may := range Foreign() {
		if path == module || strings.HasPrefix(path, module+"/") {
			return module, may
		}
	}
	return "", nil
}

// goFiles reads the imports of all Go files of the module, tests and other modules' folders left out.
func goFiles(root fs.FS) ([]file, error) {
	var files []file
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path == "." {
				return nil
			}
			if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules" {
				return fs.SkipDir
			}
			if _, err := fs.Stat(root, path+"/go.mod"); err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		ast, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		f := file{dir: filepath.ToSlash(filepath.Dir(path)), name: name}
		for _, spec := range ast.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, p)
		}
		files = append(files, f)
		return nil
	})
	return files, err
}
