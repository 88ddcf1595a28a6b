// Package testdirs finds what tests use but what need not be there: the shared golden cases beside the repository,
// and the built program.
package testdirs

import (
	"os"
	"path/filepath"
	"testing"
)

// Root returns the folder of the module, the first one upwards from the working directory with a go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = up
	}
}

// Shared returns the folder `../shared/NAME` beside the module's root; the test is skipped when it is not there.
func Shared(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(Root(t), "..", "shared", filepath.FromSlash(name))
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no folder shared/%s beside the repository", name)
	}
	return dir
}

// Program returns the program under test: WSTREAM_TEST_BIN, or bin/wstream of the repository; the test is skipped when
// it is not built.
func Program(t testing.TB) string {
	t.Helper()
	if b := os.Getenv("WSTREAM_TEST_BIN"); b != "" {
		return b
	}
	b := filepath.Join(Root(t), "bin", "wstream")
	if _, err := os.Stat(b); err != nil {
		t.Skipf("no %s: run make build", b)
	}
	return b
}
