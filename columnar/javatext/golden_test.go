package javatext

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goldenLines calls f with the fields of each line of a table in testdata, which are parted by sep.
func goldenLines(t *testing.T, table, sep string, f func(line int, fields []string)) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", table+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sc := bufio.NewScanner(file)
	sc.Buffer(nil, 1<<20)
	n := 0
	for sc.Scan() {
		n++
		if line := sc.Text(); line != "" && !strings.HasPrefix(line, "# ") {
			f(n, strings.Split(line, sep))
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		t.Fatalf("table %q is empty", table)
	}
}
