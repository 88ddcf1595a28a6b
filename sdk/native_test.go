package sdk

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tool finds a program by the first of its names that is here, or skips the test. A name with a slash is a path.
func tool(t *testing.T, names ...string) string {
	t.Helper()
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			return path
		}
	}
	t.Skipf("there is no %s here: scripts/install.sh guests", names[0])
	return ""
}

// cached is a file below the folder where scripts/install.sh puts compilers.
func cached(file string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return file
	}
	return filepath.Join(home, ".cache", "wstream", filepath.FromSlash(file))
}

// asc is AssemblyScript's compiler, as installed by scripts/install.sh or by npm.
func asc(t *testing.T) string {
	t.Helper()
	return tool(t, "asc", cached("assemblyscript/node_modules/.bin/asc"))
}

// run runs a command in a folder and gives what it printed.
func run(t *testing.T, dir string, env []string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOFLAGS="), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}

// copyTree copies the files of a folder that a filter takes.
func copyTree(t *testing.T, to, from string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		if d.IsDir() {
			if name := d.Name(); name == "target" || name == "node_modules" || name == "build" && rel != "." {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// write writes files below a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// long skips a test that compiles for seconds.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("compilers take seconds")
	}
}

// TestNative runs the unit tests of each SDK, and of its examples, with the language's own tool.
func TestNative(t *testing.T) {
	long(t)
	t.Run("go", func(t *testing.T) {
		if out := run(t, "go", nil, "go", "test", "./..."); strings.Count(out, "ok ") < 2 {
			t.Errorf("tests of the package and of its examples are missing:\n%s", out)
		}
	})
	t.Run("rust", func(t *testing.T) {
		cargo := tool(t, "cargo")
		dir := t.TempDir()
		copyTree(t, dir, "rust")
		out := run(t, dir, []string{"CARGO_TARGET_DIR=" + filepath.Join(dir, "target")}, cargo, "test", "--offline", "-q", "--examples", "--lib")
		if !strings.Contains(out, "test result: ok. 8 passed") {
			t.Errorf("the examples' tests are missing:\n%s", out)
		}
	})
	t.Run("c", func(t *testing.T) {
		cc := tool(t, "cc", "gcc", "clang", "clang-22")
		program := filepath.Join(t.TempDir(), "test")
		run(t, "c", nil, cc, "-std=c17", "-Wall", "-Wextra", "-I.", "test/test.c", "-o", program)
		if out := run(t, "c", nil, program); !strings.Contains(out, " checks, 0 failed") {
			t.Error(out)
		}
	})
	t.Run("js", func(t *testing.T) {
		if out := run(t, "js", nil, tool(t, "node"), "--test", "test/examples.test.mjs"); !strings.Contains(out, "fail 0") || strings.Contains(out, "pass 0") {
			t.Error(out)
		}
	})
	t.Run("assemblyscript", func(t *testing.T) {
		compiler, node := asc(t), tool(t, "node")
		dir := t.TempDir()
		copyTree(t, dir, "assemblyscript")
		run(t, dir, nil, compiler, "tests/tests.ts", "-o", "build/tests.wasm", "-O1", "--enable", "simd", "--runtime", "minimal", "--exportStart", "_initialize")
		if out := run(t, dir, nil, node, "--test", "tests/run.mjs"); !strings.Contains(out, "fail 0") || strings.Contains(out, "pass 0") {
			t.Error(out)
		}
	})
}

// zig is Zig's compiler in the release that still has @cImport: of PyPI's ziglang 0.15.2, or the one in PATH if it is old enough.
func zig(t *testing.T) string {
	t.Helper()
	z := tool(t, "zig", cached("zig/ziglang/zig"))
	if v := run(t, ".", nil, z, "version"); v >= "0.16" || runtime.GOOS == "windows" {
		t.Skipf("Zig %s has no @cImport", v)
	}
	return z
}
