package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wstream/wstream/internal/testdirs"
)

// TestPromises says that every line of docs/promises.md names tests, and that they are there.
func TestPromises(t *testing.T) {
	root := testdirs.Root(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "promises.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z0-9/]+)\\.(Test[A-Za-z0-9]+)`")
	found := 0
	for n, line := range strings.Split(string(page), "\n") {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasSuffix(line, "| proved by |") {
			continue
		}
		tests := named.FindAllStringSubmatch(line, -1)
		if len(tests) == 0 {
			t.Errorf("docs/promises.md:%d: no test is named", n+1)
		}
		for _, m := range tests {
			if found++; !hasTest(t, filepath.Join(root, m[1]), m[2]) {
				t.Errorf("docs/promises.md:%d: there is no test %s in %s", n+1, m[2], m[1])
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d tests are named", found)
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
