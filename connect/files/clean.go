package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/vfs"
)

// cleaner does to files what cleanSource says, once their batch is committed.
type cleaner struct {
	fs      vfs.FS
	mode    string // "off", "archive" or "delete"
	archive string
}

func newCleaner(fsys vfs.FS, o connector.Options, pattern string) (cleaner, error) {
	c := cleaner{fs: fsys, mode: strings.ToLower(o.String("cleanSource", "off"))}
	switch c.mode {
	case "off", "delete":
		return c, nil
	case "archive":
		dir, ok := o.Get("sourceArchiveDir")
		if !ok {
			return c, fmt.Errorf("option \"cleanSource\" is archive and so needs \"sourceArchiveDir\"")
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return c, err
		}
		if strings.HasPrefix(abs+"/", strings.TrimSuffix(pattern, "*")+"/") {
			return c, fmt.Errorf("option \"sourceArchiveDir\": %q lies in the source's own path %q", dir, pattern)
		}
		c.archive = abs
		return c, nil
	}
	return c, fmt.Errorf("option \"cleanSource\": found %q, expected off, archive or delete", c.mode)
}

// clean removes or moves a file; one that is gone already is fine.
func (c cleaner) clean(path string) error {
	var err error
	switch c.mode {
	case "delete":
		err = c.fs.Remove(path)
	case "archive":
		to := filepath.Join(c.archive, path)
		if err = c.fs.MkdirAll(filepath.Dir(to)); err == nil {
			err = c.fs.Rename(path, to)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
