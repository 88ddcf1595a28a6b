package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/wstream/wstream/internal/vfs"
)

// metadataDir is the folder of a sink's folder that has its manifests and what is being written. Readers that do not know
// it pass it over, as all names with an underscore.
const metadataDir = "_wstream"

// A manifest is the list of files that one query has published in a folder, a JSON line for each batch. A line counts if
// it is whole; the batches of a manifest rise.
//
//	{"batch":3,"files":[{"path":"part-00003-00000-1c2d3e4f.json","size":120,"rows":3}]}
type manifestLine struct {
	Batch int64          `json:"batch"`
	Files []manifestFile `json:"files"`
}

type manifestFile struct {
	Path string `json:"path"` // relative to the folder of the sink
	Size int64  `json:"size"`
	Rows int64  `json:"rows"`
}

func manifestPath(dir, query string) string {
	return filepath.Join(dir, metadataDir, query+".jsonl")
}

// readManifest reads the whole lines of a manifest; whole is the length of these. Of two lines of the same batch, as a
// process may write that another one has taken the query from, the first counts.
func readManifest(fsys vfs.FS, path string) (lines []manifestLine, whole int, err error) {
	text, err := vfs.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for {
		n := bytes.IndexByte(text[whole:], '\n')
		if n < 0 {
			return lines, whole, nil
		}
		var l manifestLine
		if err := json.Unmarshal(text[whole:whole+n], &l); err != nil {
			if whole+n+1 == len(text) { // a torn end
				return lines, whole, nil
			}
			return nil, 0, fmt.Errorf("manifest %q: line %d: %w", path, len(lines)+1, err)
		}
		if len(lines) == 0 || l.Batch > lines[len(lines)-1].Batch {
			lines = append(lines, l)
		}
		whole += n + 1
	}
}

// appendManifest adds a batch, durably.
func appendManifest(fsys vfs.FS, path string, l manifestLine) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	fresh, err := vfs.Exists(fsys, path)
	if err != nil {
		return err
	}
	f, err := fsys.OpenAppend(path)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil && !fresh {
		err = fsys.SyncDir(filepath.Dir(path))
	}
	return err
}

// cutManifest drops the batches above last, whose files it returns, and a torn end.
func cutManifest(fsys vfs.FS, path string, last int64, mayCut func() error) (dropped []manifestFile, err error) {
	lines, whole, err := readManifest(fsys, path)
	if err != nil {
		return nil, err
	}
	size := int64(-1)
	if st, err := fsys.Stat(path); err == nil {
		size = st.Size()
	}
	if (len(lines) == 0 || lines[len(lines)-1].Batch <= last) && (size < 0 || size == int64(whole)) {
		return nil, nil
	}
	var text []byte
	for _, l := range lines {
		if l.Batch > last {
			dropped = append(dropped, l.Files...)
			continue
		}
		line, err := json.Marshal(l)
		if err != nil {
			return nil, err
		}
		text = append(append(text, line...), '\n')
	}
	if err := mayCut(); err != nil {
		return nil, err
	}
	return dropped, vfs.WriteFile(fsys, path, text)
}

// published lists the files of all manifests of a folder.
func published(fsys vfs.FS, dir string) (files, manifests []string, err error) {
	entries, err := fsys.List(filepath.Join(dir, metadataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		path := filepath.Join(dir, metadataDir, e.Name())
		manifests = append(manifests, path)
		lines, _, err := readManifest(fsys, path)
		if err != nil {
			return nil, nil, err
		}
		for _, l := range lines {
			for _, f := range l.Files {
				files = append(files, filepath.Join(dir, filepath.FromSlash(f.Path)))
			}
		}
	}
	return files, manifests, nil
}
