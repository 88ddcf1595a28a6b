package pipeline

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wstream/wstream/internal/testdirs"
)

// TestTroubleListing checks that every number of the listing of troubles has a test, and that each test that
// testdata/trouble/README.md names is there; beside the listing itself, also that no number of it is missing.
func TestTroubleListing(t *testing.T) {
	root := ".."
	text, err := os.ReadFile(filepath.Join(root, "testdata", "trouble", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (\d+) \| (.+?) \| (.*?) ?\|$`)
	name := regexp.MustCompile("`([^`]+)`")
	listed, named := map[string]bool{}, map[string]bool{}
	for _, cells := range row.FindAllStringSubmatch(string(text), -1) {
		number, tests := cells[1], name.FindAllStringSubmatch(cells[3], -1)
		if listed[number] {
			t.Errorf("number %s is listed twice", number)
		}
		listed[number] = true
		if len(tests) == 0 {
			t.Errorf("number %s (%s) names no test", number, cells[2])
		}
		for _, test := range tests {
			named[test[1]] = true
			if fault := troubleTest(root, test[1]); fault != "" {
				t.Errorf("number %s: %s", number, fault)
			}
		}
	}
	files, _ := filepath.Glob(filepath.Join(root, "testdata", "trouble", "*", "*_test.yaml"))
	for _, file := range files {
		path := filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), "_test.yaml")))
		if !named[path] {
			t.Errorf("no number names the test %q", path)
		}
	}
	for _, number := range troubleNumbers(t) {
		if !listed[number] {
			t.Errorf("number %s is not in the listing", number)
		}
	}
}

// troubleTest says what is wrong with the name of a test in the listing; nothing if the test is there.
func troubleTest(root, test string) string {
	folder, function, found := strings.Cut(test, ".Test")
	if !found {
		file := filepath.Join(root, "testdata", "trouble", test)
		if !strings.HasSuffix(test, ".jsonl") {
			file += "_test.yaml"
		}
		if _, err := os.Stat(file); err != nil {
			return "there is no file " + file
		}
		return ""
	}
	files, _ := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "\nfunc Test"+function+"(t *testing.T)") {
			return ""
		}
	}
	return "there is no test " + test
}

// troubleNumbers gives the numbers of the listing itself; the test is skipped where that is not there.
func troubleNumbers(t *testing.T) []string {
	path := testdirs.Shared(t, "trouble.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var numbers []string
	for _, cells := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(string(text), -1) {
		numbers = append(numbers, cells[1])
	}
	if len(numbers) == 0 {
		t.Errorf("%s has no rows of a table that begin with a number", path)
	}
	return numbers
}
