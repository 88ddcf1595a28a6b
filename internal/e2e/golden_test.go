package e2e

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wstream/wstream/internal/testdirs"
)

var updateGolden = flag.String("update-golden", "", "make the golden checkpoints of this name anew, such as v2")

const goldenDir = "testdata/golden"

// goldenBatches is how many batches a golden checkpoint has, and how many more are run on it.
const goldenBatches, goldenMore = 4, 4

// TestGoldenCheckpoints goes on with the checkpoints that a program of each format version has left, of a query for each kind
// of state, and compares what the sinks have with a run of today's program alone. A folder is never changed once its version
// is released.
func TestGoldenCheckpoints(t *testing.T) {
	bin := testdirs.Program(t)
	if name := *updateGolden; name != "" {
		dir := t.TempDir()
		runGolden(t, bin, dir, goldenBatches)
		to := filepath.Join(goldenDir, name)
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"checkpoint", "out"} {
			if err := os.CopyFS(filepath.Join(to, part), os.DirFS(filepath.Join(dir, part))); err != nil {
				t.Fatal(err)
			}
		}
	}
	alone := t.TempDir()
	runGolden(t, bin, alone, goldenBatches+goldenMore)
	want := goldenRows(t, alone)
	versions, err := filepath.Glob(goldenDir + "/v*")
	if err != nil || len(versions) < 2 {
		t.Fatal(versions, err)
	}
	for _, v := range versions {
		t.Run(filepath.Base(v), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(v)); err != nil {
				t.Fatal(err)
			}
			runGolden(t, bin, dir, goldenMore)
			got := goldenRows(t, dir)
			for query, rows := range want {
				if len(rows) < 5 {
					t.Errorf("%s: only %d rows", query, len(rows))
				}
				if !slices.Equal(got[query], rows) {
					t.Errorf("%s: got\n%s\nwant\n%s", query, strings.Join(got[query], "\n"), strings.Join(rows, "\n"))
				}
				if out, err := exec.Command(bin, "checkpoint", "verify", filepath.Join(dir, "checkpoint", query)).CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", query, err, out)
				}
			}
		})
	}
}

// runGolden runs the pipeline of the golden checkpoints so many times, a batch of each query a time.
func runGolden(t *testing.T, bin, dir string, times int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(goldenDir, "p.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "p.yaml")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	for range times {
		if out, err := exec.Command(bin, "run", "-q", file).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// goldenRows are the rows of each query's sink.
func goldenRows(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "out", "*", "part-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		query := filepath.Base(filepath.Dir(f))
		rows[query] = append(rows[query], strings.Split(strings.TrimSpace(string(b)), "\n")...)
	}
	for _, r := range rows {
		slices.Sort(r)
	}
	return rows
}
