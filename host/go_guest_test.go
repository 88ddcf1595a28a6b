package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// goGuest builds a guest of guests/go, which is too large to keep, and gives its path. Short tests skip it.
func goGuest(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("building a Go guest takes seconds")
	}
	out := filepath.Join(t.TempDir(), name+".wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w -buildid=", "-o", out, "./"+name)
	cmd.Dir = "../guests/go"
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build of the Go guest %q: %v\n%s", name, err, text)
	}
	return out
}
