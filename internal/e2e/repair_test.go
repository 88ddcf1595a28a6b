package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRepair damages the files of a checkpoint that a query has left, one after the other, lets `wstream checkpoint repair`
// mend them, and goes on with the query: the sink has what a run without damage gives. A dry run says the same and changes nothing.
func TestRepair(t *testing.T) {
	a := &answers{by: map[string][]string{}}
	want := a.of(t, "window", 3)
	for _, c := range []struct{ name, pattern, says string }{
		{"the query's id", "metadata", "made anew: query id"},
		{"the manifest", "manifest-*", "made anew: it lists"},
		{"the last commit entry", "commits/*.log", "the entry is dropped"},
		{"the last record of the state", "state/*.log", "runs again at the next start"},
		{"a snapshot", "state/*.snap", "deleted: the change log has what it held"},
		{"the note of the output", "output", "deleted: it is a help"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := filePlace(t, "")
			if err != nil {
				t.Fatal(err)
			}
			s := newStage(t, "window", p.block, 100, "")
			s.writeInput(0, 3)
			s.run("state.snapshot.mid@batch=2=sleep:0") // an armed point asks for a snapshot
			dir := filepath.Join(s.dir, "checkpoint")
			files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(c.pattern)))
			if err != nil || len(files) == 0 {
				t.Fatalf("there is no %s: %v", c.pattern, err)
			}
			slices.Sort(files)
			damage(t, files)
			s.history = newHistory(dir) // a batch may be committed again, at another time
			before := treeOf(t, dir)
			dry, err := s.command("checkpoint", "repair", "--dry-run", dir).CombinedOutput()
			if err != nil || !strings.Contains(string(dry), "to be repaired") || !strings.Contains(string(dry), c.says) {
				t.Errorf("the dry run says %v\n%s", err, dry)
			}
			if after := treeOf(t, dir); after != before {
				t.Errorf("the dry run has changed\n%s to\n%s", before, after)
			}
			out, err := s.command("checkpoint", "repair", dir).CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.says) {
				t.Fatalf("%v\n%s", err, out)
			}
			if out, err := s.command("checkpoint", "verify", dir).CombinedOutput(); err != nil {
				t.Fatalf("verify: %v\n%s", err, out)
			}
			s.writeInput(3, matrixFiles)
			s.run()
			if got := rowsIn(t, s, "file"); !slices.Equal(got, want) {
				t.Errorf("the sink has %d rows, and not the %d of a run without damage", len(got), len(want))
			}
		})
	}
}

// damage flips a bit in the last byte that counts of the last file that has more than a header.
func damage(t *testing.T, files []string) {
	t.Helper()
	at := ""
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f, ".log") || strings.Count(string(b), "WSL1") > 1 {
			at = f
		}
	}
	b, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-20] ^= 1
	if err := os.WriteFile(at, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// treeOf lists the files below a folder with their sizes and times, but for the lock.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lock" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			b.WriteString(path + " " + info.ModTime().Format(time.RFC3339Nano) + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
