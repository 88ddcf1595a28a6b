package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// walk finds the files that paths mean: files as they are, folders and ./... with all that lies in
// them and that wanted accepts; - stays what it is.
func walk(paths []string, wanted func(path string) bool) ([]string, error) {
	if len(paths) == 0 {
		return nil, invalid("which file or folder?")
	}
	var out []string
	for _, p := range paths {
		if p == "-" {
			out = append(out, p)
			continue
		}
		p = strings.TrimSuffix(p, "/...")
		st, err := os.Stat(p)
		if err != nil {
			return nil, &coded{err, exitInvalid}
		}
		if !st.IsDir() {
			out = append(out, p)
			continue
		}
		var found []string
		err = filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && wanted(path) {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			return nil, &coded{err, exitInvalid}
		}
		sort.Strings(found)
		out = append(out, found...)
	}
	return out, nil
}

func isTestFile(path string) bool {
	return strings.HasSuffix(path, "_test.yaml") || strings.HasSuffix(path, "_test.yml")
}

func isPipelineFile(path string) bool {
	return (strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")) && !isTestFile(path)
}
