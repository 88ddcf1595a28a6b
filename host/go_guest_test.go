package host

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// shared is a folder of this run of the tests: Go guests, and the compiled modules of large ones.
var shared string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "wstream-host-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shared = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// buildGo builds the guests of guests/go, which are too large to keep.
var buildGo = sync.OnceValue(func() error {
	for _, name := range []string{"clicks", "groups"} {
		cmd := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w -buildid=",
			"-o", filepath.Join(shared, name+".wasm"), "./"+name)
		cmd.Dir = "../guests/go"
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build of the Go guest %q: %w\n%s", name, err, text)
		}
	}
	return nil
})

// goGuest gives the path of a guest of guests/go. Short tests skip it.
func goGuest(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("building a Go guest takes seconds")
	}
	if err := buildGo(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(shared, name+".wasm")
}
