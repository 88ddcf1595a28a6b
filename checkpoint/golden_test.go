package checkpoint

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wstream/wstream/internal/vfs"
)

var update = flag.Bool("update", false, "write the checkpoint folder of the current format version anew")

// TestGolden opens checkpoints that earlier versions have written. A folder is never changed once a version is released.
func TestGolden(t *testing.T) {
	if *update {
		dir := filepath.Join("testdata", fmt.Sprintf("v%d", FormatVersion))
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		m := aged(t)
		for _, name := range m.Walk("/ck") {
			b, err := vfs.ReadFile(m, name)
			if err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(dir, filepath.FromSlash(name[len("/ck"):]))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, version := range []string{"v1", "v2"} {
		m := vfs.NewStrictMem()
		root := filepath.Join("testdata", version)
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			to := dir + filepath.ToSlash(path[len(root):])
			if err := m.MkdirAll(filepath.Dir(to)); err != nil {
				return err
			}
			f, err := m.Create(to)
			if err != nil {
				return err
			}
			_, err = f.Write(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		c := mustOpen(t, m, Options{})
		if got := check(t, c); got != agedWant || c.QueryID() != options().QueryID {
			t.Fatalf("%s: %s, query %s", version, got, c.QueryID())
		}
		log, err := c.SourceLog("files")
		if err != nil {
			t.Fatal(err)
		}
		entries := 0
		if err := log.Scan(func(e SideEntry) error { entries++; return nil }); err != nil || entries != 1 {
			t.Fatal(entries, err)
		}
		if err := finish(c, 18); err != nil {
			t.Fatal(err)
		}
		run(t, c, 19, 22)
	}
}
