package pipeline

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrouble runs what has gone wrong for users of engines of this kind, in every mode. WSTREAM_TROUBLE
// chooses by substring of the path.
func TestTrouble(t *testing.T) { runFolder(t, "trouble", os.Getenv("WSTREAM_TROUBLE")) }

// TestStreaming runs the streaming cases that were observed on Spark for this project, in every mode. WSTREAM_ORACLE
// chooses by substring of the path.
func TestStreaming(t *testing.T) { runFolder(t, "streaming", os.Getenv("WSTREAM_ORACLE")) }

func runFolder(t *testing.T, folder, chosen string) {
	dir := filepath.Join("..", "testdata", folder)
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.yaml") && strings.Contains(path, chosen) {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", dir, err)
	}
	env := testEnvironment(t)
	for _, path := range files {
		name, _ := filepath.Rel(dir, path)
		t.Run(strings.TrimSuffix(filepath.ToSlash(name), "_test.yaml"), func(t *testing.T) {
			for _, mode := range Modes() {
				if err := runCase(env, path, mode); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
