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

func newCleaner(env connector.Env, o connector.Options, base string) (cleaner, error) {
	c := cleaner{fs: env.FS, mode: strings.ToLower(o.String("cleanSource", "off"))}
	switch c.mode {
	case "off", "delete":
		return c, nil
	case "archive":
		dir, ok := o.Get("sourceArchiveDir")
		if !ok {
			return c, errors.New("option \"cleanSource\" is archive and so needs \"sourceArchiveDir\"")
		}
		abs, err := absolute(env.BaseDir, dir)
		if err != nil {
			return c, err
		}
		if within(base, abs) {
			return c, fmt.Errorf("option \"sourceArchiveDir\": %q lies in the folder %q that is read; choose one elsewhere", dir, base)
		}
		c.archive = abs
		return c, nil
	}
	return c, fmt.Errorf("option \"cleanSource\": found %q, expected off, archive or delete", c.mode)
}

// within tells whether path is dir or lies below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// clean removes or moves a file that has been read. One that is gone already is fine, and one that is not the one that was
// read is left alone.
func (c cleaner) clean(f file) error {
	if c.mode == "off" {
		return nil
	}
	st, err := c.fs.Stat(f.Path)
	if err == nil && (st.ModTime().UnixMilli() != f.MTime || st.Size() != f.Size) {
		return fmt.Errorf("file %q was changed after it had been read and is left where it is", f.Path)
	}
	if err == nil {
		err = c.remove(f.Path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (c cleaner) remove(path string) error {
	if c.mode == "delete" {
		return c.fs.Remove(path)
	}
	to := filepath.Join(c.archive, path)
	if err := c.fs.MkdirAll(filepath.Dir(to)); err != nil {
		return err
	}
	return c.fs.Rename(path, to)
}
