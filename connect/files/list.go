package files

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/wstream/wstream/internal/vfs"
)

// file is a file that a source may read.
type file struct {
	Path  string `json:"path"`
	MTime int64  `json:"timestamp"` // milliseconds
	Size  int64  `json:"size"`
}

// lister finds the files under a path or glob.
type lister struct {
	fs        vfs.FS
	pattern   string // absolute
	name      string // glob that file names must match, "" for any
	recursive bool
	after     int64 // files must be younger, in milliseconds since 1970; 0 for no bound
	before    int64 // files must be older

	watched []watched // what the last listing depends on
	unsure  bool      // it depends on more than that
	listed  time.Time // when it began
}

// watched is a folder or manifest that was read, with what tells that it has changed since.
type watched struct {
	path string
	time time.Time
	size int64
}

// settled is how old a change must be for a time stamp to tell it from a later one.
const settled = 2 * time.Second

// watch notes that a listing depends on a folder or file.
func (l *lister) watch(path string) {
	st, err := l.fs.Stat(path)
	if err != nil || l.listed.Sub(st.ModTime()) < settled {
		l.unsure = true
		return
	}
	l.watched = append(l.watched, watched{path, st.ModTime(), st.Size()})
}

// changed tells whether another listing may find something else. A folder's time changes with the names in it, on the
// file systems of the operating system.
func (l *lister) changed() bool {
	if l.fs != vfs.OS() || l.unsure || len(l.watched) == 0 {
		return true
	}
	for _, w := range l.watched {
		st, err := l.fs.Stat(w.path)
		if err != nil || !st.ModTime().Equal(w.time) || st.Size() != w.size {
			return true
		}
	}
	return false
}

// hidden tells whether a file or folder is passed over: names that start with _ or ., except
// folders such as _k=1, and copies under way.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") && !strings.Contains(name, "=") || strings.HasSuffix(name, "._COPYING_")
}

// list gives the files in order of modification time, then of name.
func (l *lister) list() ([]file, error) {
	l.watched, l.unsure, l.listed = l.watched[:0], false, time.Now()
	roots, err := l.roots()
	if err != nil {
		return nil, err
	}
	var out []file
	for _, r := range roots {
		st, err := l.fs.Stat(r)
		if err != nil {
			l.unsure = true
			continue // gone since it was listed
		}
		if !st.IsDir() {
			out = l.add(out, r, st)
			continue
		}
		// What a sink has written counts as its manifest says.
		files, manifests, err := published(l.fs, r)
		if err != nil {
			return nil, err
		}
		if len(manifests) > 0 {
			l.watch(filepath.Join(r, metadataDir))
			for _, m := range manifests {
				l.watch(m)
			}
			for _, path := range files {
				if st, err := l.fs.Stat(path); err == nil {
					out = l.add(out, path, st)
				}
			}
			continue
		}
		if out, err = l.folder(out, r); err != nil {
			return nil, err
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].MTime != out[j].MTime {
			return out[i].MTime < out[j].MTime
		}
		return out[i].Path < out[j].Path
	})
	return out, nil
}

func (l *lister) add(out []file, path string, st fs.FileInfo) []file {
	if l.name != "" {
		if ok, err := filepath.Match(l.name, filepath.Base(path)); err != nil || !ok {
			return out
		}
	}
	t := st.ModTime().UnixMilli()
	if l.after != 0 && t <= l.after || l.before != 0 && t >= l.before {
		return out
	}
	return append(out, file{path, t, st.Size()})
}

func (l *lister) folder(out []file, dir string) ([]file, error) {
	l.watch(dir)
	entries, err := l.fs.List(dir)
	if err != nil {
		return out, fmt.Errorf("list %q: %w", dir, err)
	}
	for _, e := range entries {
		if hidden(e.Name()) {
			continue
		}
		p := filepath.Join(dir, e.Name())
		st := e
		if e.Mode()&fs.ModeSymlink != 0 {
			l.unsure = true
			if st, err = l.fs.Stat(p); err != nil {
				continue
			}
		}
		if st.IsDir() {
			if l.recursive || strings.Contains(e.Name(), "=") {
				if out, err = l.folder(out, p); err != nil {
					return out, err
				}
			}
			continue
		}
		out = l.add(out, p, st)
	}
	return out, nil
}

// roots are the files and folders that the pattern means.
func (l *lister) roots() ([]string, error) {
	if !strings.ContainsAny(l.pattern, "*?[{") {
		return []string{l.pattern}, nil
	}
	var roots []string
	for _, p := range braces(l.pattern) {
		found, err := l.glob(p)
		if err != nil {
			return nil, err
		}
		roots = append(roots, found...)
	}
	return roots, nil
}

// braces expands {a,b} in a glob.
func braces(p string) []string {
	i := strings.IndexByte(p, '{')
	if i < 0 {
		return []string{p}
	}
	j := strings.IndexByte(p[i:], '}')
	if j < 0 {
		return []string{p}
	}
	var out []string
	for _, alt := range strings.Split(p[i+1:i+j], ",") {
		out = append(out, braces(p[:i]+alt+p[i+j+1:])...)
	}
	return out
}

// glob matches a pattern one folder at a time, so that it works on every file system.
func (l *lister) glob(pattern string) ([]string, error) {
	parts := strings.Split(filepath.ToSlash(pattern), "/")
	at := []string{"/"}
	for i, part := range parts {
		if part == "" {
			continue
		}
		var next []string
		for _, dir := range at {
			if !strings.ContainsAny(part, "*?[") {
				next = append(next, filepath.Join(dir, part))
				continue
			}
			l.watch(dir)
			entries, err := l.fs.List(dir)
			if err != nil {
				l.unsure = true
				continue
			}
			for _, e := range entries {
				ok, err := filepath.Match(part, e.Name())
				if err != nil {
					return nil, fmt.Errorf("path %q: %w", pattern, err)
				}
				if ok && (!hidden(e.Name()) || strings.HasPrefix(part, e.Name()[:1])) && (e.IsDir() || i == len(parts)-1 || e.Mode()&fs.ModeSymlink != 0) {
					next = append(next, filepath.Join(dir, e.Name()))
				}
			}
		}
		at = next
	}
	return at, nil
}
