package stream

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// These tests kill a real process: the test binary runs itself with the folder of the query in an environment variable, and
// kills itself at the point that WSTREAM_FAILPOINT names.

const childDir = "WSTREAM_TEST_CHILD"

// child runs the script's query to its end, if this process is meant to.
func child() (code int, ran bool) {
	dir := os.Getenv(childDir)
	if dir == "" {
		return 0, false
	}
	points, err := failpoint.Parse(os.Getenv("WSTREAM_FAILPOINT"))
	if err == nil {
		err = runChild(dir, points)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

func runChild(dir string, points *failpoint.Set) error {
	f := newFixture(nil, false, "in")
	for _, rows := range script {
		f.streams["in"].Add(times(rows...))
	}
	spec := f.spec
	spec.Trigger, spec.overlapFrom = Trigger{Kind: AvailableNow}, 1
	spec.Sources["in"] = oneByOne(f, "in")
	spec.Checkpoint, spec.CheckpointFS, spec.Failpoints = filepath.Join(dir, "ckpt"), vfs.OS(), points
	spec.Sink = Sink{Kind: "files", Open: func(connector.Env) (connector.Sink, error) { return fileSink{dir}, nil }}
	q, err := Start(context.Background(), spec)
	if err != nil {
		return err
	}
	return q.AwaitTermination(context.Background())
}

// fileSink writes the text of each batch to a file of its own, which appears whole.
type fileSink struct{ dir string }

func (s fileSink) Description() string { return "files" }
func (s fileSink) Close() error        { return nil }
func (s fileSink) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	return &fileWriter{s, info, nil}, nil
}

type fileWriter struct {
	s    fileSink
	info connector.BatchInfo
	rows []*columnar.Batch
}

func (w *fileWriter) Write(_ context.Context, b *columnar.Batch) error {
	w.rows = append(w.rows, b)
	return w.info.Failpoints.Hit(failpoint.SinkPartial, w.info.BatchID)
}

func (w *fileWriter) Commit(context.Context) error {
	if err := w.info.Failpoints.Hit(failpoint.SinkStaged, w.info.BatchID); err != nil {
		return err
	}
	name := filepath.Join(w.s.dir, fmt.Sprintf("batch-%d.txt", w.info.BatchID))
	if old, err := os.ReadFile(name); err == nil && string(old) != text(w.rows) {
		return fmt.Errorf("a replay gave %q after %q", text(w.rows), old)
	}
	return vfs.WriteFile(vfs.OS(), name, []byte(text(w.rows)))
}

func (w *fileWriter) Abort(context.Context) error { return nil }

func outputOf(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "batch-*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, filepath.Base(n)+" "+string(b))
	}
	return strings.Join(out, "\n")
}

func TestKilledProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for every crash point")
	}
	run := func(dir, point string) (killed bool) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), childDir+"="+dir, "WSTREAM_FAILPOINT="+point)
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("point %q: %v\n%s", point, err, out)
		}
		return err != nil
	}
	dir := t.TempDir()
	run(dir, "")
	want := outputOf(t, dir)
	if !strings.Contains(want, "batch-7.txt") {
		t.Fatalf("the run without a crash gave\n%s", want)
	}
	for _, name := range failpoint.Names() {
		for _, action := range []string{"kill", "torn"} {
			if action == "torn" && !strings.HasSuffix(name, ".partial") {
				continue
			}
			dir := t.TempDir()
			point := name + "@batch=3=" + action
			killed := run(dir, point)
			if killed {
				run(dir, "")
			}
			equal(t, "output after "+point, outputOf(t, dir), want)
		}
	}
}
