// Package files reads and writes folders of files: JSON, CSV, text and Parquet, as sources that see
// new files, as static tables, and as sinks with a manifest.
package files

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/internal/vfs"
)

// offset is a position: the number of the newest entry of the source's log that was read.
type offset struct {
	LogOffset int64 `json:"logOffset"`
}

// source reads new files of a folder. What was seen stands in its log, an entry per batch that
// was planned, durable before the batch's offsets are.
type source struct {
	env    connector.Env
	format string
	schema *columnar.Schema
	list   lister
	text   *textFormat
	block  *blockFormat
	wide   func(need []int) (*widener, []int)

	maxFiles    int64
	maxBytes    int64
	maxAge      time.Duration
	latestFirst bool
	nameOnly    bool
	clean       cleaner

	seen    map[string]int64 // path (or name) → modification time
	entries map[int64][]file // log entries that may still be asked for
	last    int64            // newest entry, -1 for none
	newest  int64            // modification time of the newest file seen
	floor   int64            // files older than this are ignored, after the first batch
	fixed   []file           // availableNow: the files that were there at the start, nil otherwise
	warned  map[string]bool
}

// read is one source of a format over a parsed set of common options.
func newSource(env connector.Env, o connector.Options, format string, schema *columnar.Schema) (*source, error) {
	s := &source{env: env, format: format, schema: schema, seen: map[string]int64{}, entries: map[int64][]file{}, last: -1, warned: map[string]bool{}}
	path, ok := o.Get("path")
	if !ok || path == "" {
		return nil, fmt.Errorf("option \"path\" is missing: the folder, file or glob to read")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.BaseDir, path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if n := filepath.Base(abs); hidden(n) && !strings.ContainsAny(n, "*?[{") {
		return nil, fmt.Errorf("path %q: names that start with _ or . are never read; rename it", path)
	}
	s.list = lister{fs: env.FS, pattern: abs}
	s.list.name, _ = o.Get("pathGlobFilter")
	if s.list.recursive, err = o.Bool("recursiveFileLookup", false); err != nil {
		return nil, err
	}
	if s.maxFiles, err = o.Int("maxFilesPerTrigger", 0); err != nil {
		return nil, err
	}
	if s.maxBytes, err = o.Bytes("maxBytesPerTrigger", 0); err != nil {
		return nil, err
	}
	if s.maxFiles > 0 && s.maxBytes > 0 {
		return nil, fmt.Errorf("options \"maxFilesPerTrigger\" and \"maxBytesPerTrigger\" cannot stand together")
	}
	if s.maxAge, err = o.Duration("maxFileAge", 7*24*time.Hour); err != nil {
		return nil, err
	}
	if s.latestFirst, err = o.Bool("latestFirst", false); err != nil {
		return nil, err
	}
	if s.nameOnly, err = o.Bool("fileNameOnly", false); err != nil {
		return nil, err
	}
	if s.clean, err = newCleaner(env.FS, o, abs); err != nil {
		return nil, err
	}
	if !env.Static && env.Log != nil {
		if err := s.replay(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// replay reads the log: what was seen before.
func (s *source) replay() error {
	return s.env.Log.Each(func(batch int64, v json.RawMessage) error {
		var files []file
		if err := json.Unmarshal(v, &files); err != nil {
			return fmt.Errorf("log entry %d: %w", batch, err)
		}
		for _, f := range files {
			s.note(f)
		}
		s.entries[batch] = files
		s.last = max(s.last, batch)
		return nil
	})
}

func (s *source) key(path string) string {
	if s.nameOnly {
		return filepath.Base(path)
	}
	return path
}

func (s *source) note(f file) {
	s.seen[s.key(f.Path)] = f.MTime
	s.newest = max(s.newest, f.MTime)
}

// Schema implements connector.Source.
func (s *source) Schema() *columnar.Schema { return s.schema }

// Description implements connector.Source.
func (s *source) Description() string { return "FileStreamSource[file:" + s.list.pattern + "]" }

// Close implements connector.Source.
func (s *source) Close() error { return nil }

func parseOffset(o connector.Offset) (int64, error) {
	if o == nil {
		return -1, nil
	}
	var v offset
	if err := json.Unmarshal(o, &v); err != nil {
		return 0, fmt.Errorf("offset %s: %w", o, err)
	}
	return v.LogOffset, nil
}

func makeOffset(n int64) connector.Offset {
	if n < 0 {
		return nil
	}
	return connector.Offset(fmt.Sprintf(`{"logOffset":%d}`, n))
}

// fresh are the files that were not read yet, in the order in which they should be.
func (s *source) fresh() ([]file, error) {
	all := s.fixed
	if all == nil {
		var err error
		if all, err = s.list.list(); err != nil {
			return nil, err
		}
	}
	var out []file
	for _, f := range all {
		if t, ok := s.seen[s.key(f.Path)]; ok {
			if t < f.MTime && !s.warned[f.Path] && s.env.Warn != nil {
				s.warned[f.Path] = true
				s.env.Warn("file %q was changed after it had been read; it is not read again: write new files under new names", f.Path)
			}
			continue
		}
		if f.MTime < s.floor {
			continue
		}
		out = append(out, f)
	}
	if s.latestFirst {
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
	}
	return out, nil
}

// Fix implements connector.Bounded.
func (s *source) Fix(context.Context, connector.Offset) error {
	all, err := s.list.list()
	if all == nil {
		all = []file{}
	}
	s.fixed = all
	return err
}

// Next implements connector.Source.
func (s *source) Next(_ context.Context, start connector.Offset, unlimited bool) (end, latest connector.Offset, err error) {
	at, err := parseOffset(start)
	if err != nil {
		return nil, nil, err
	}
	if s.env.Static {
		return makeOffset(0), makeOffset(0), nil
	}
	if s.last > at { // planned before a crash, but without offsets
		return makeOffset(at + 1), makeOffset(s.last), nil
	}
	files, err := s.fresh()
	if err != nil {
		return nil, nil, err
	}
	if len(files) == 0 {
		return start, start, nil
	}
	if !unlimited {
		files = s.limit(files)
	}
	n := s.last + 1
	v, err := json.Marshal(files)
	if err != nil {
		return nil, nil, err
	}
	if s.env.Log != nil {
		if err := s.env.Log.Put(n, v); err != nil {
			return nil, nil, err
		}
	}
	for _, f := range files {
		s.note(f)
	}
	if !s.latestFirst && s.maxAge > 0 {
		s.floor = max(s.floor, s.newest-s.maxAge.Milliseconds())
	}
	s.entries[n], s.last = files, n
	return makeOffset(n), makeOffset(n), nil
}

// limit takes as many files as the options allow, at least one.
func (s *source) limit(files []file) []file {
	if s.maxFiles > 0 && int64(len(files)) > s.maxFiles {
		return files[:s.maxFiles]
	}
	if s.maxBytes > 0 {
		total := int64(0)
		for i, f := range files {
			if total += f.Size; total > s.maxBytes && i > 0 {
				return files[:i]
			}
		}
	}
	return files
}

// Plan implements connector.Source: one partition per file.
func (s *source) Plan(_ context.Context, start, end connector.Offset) ([]connector.Partition, error) {
	from, err := parseOffset(start)
	if err != nil {
		return nil, err
	}
	to, err := parseOffset(end)
	if err != nil {
		return nil, err
	}
	var files []file
	if s.env.Static {
		if files, err = s.list.list(); err != nil {
			return nil, err
		}
		if len(files) == 0 {
			if _, err := s.env.FS.Stat(s.list.pattern); err != nil && !strings.ContainsAny(s.list.pattern, "*?[{") {
				return nil, sparkerr.New("PATH_NOT_FOUND", "path does not exist: %q", s.list.pattern)
			}
		}
	} else {
		for n := from + 1; n <= to; n++ {
			fs, ok := s.entries[n]
			if !ok {
				return nil, fmt.Errorf("the log of the source has no entry %d, which the offsets name", n)
			}
			files = append(files, fs...)
		}
	}
	out := make([]connector.Partition, len(files))
	for i, f := range files {
		out[i] = &partition{s, f}
	}
	return out, nil
}

// Commit implements connector.Committer: files of committed batches are cleaned, the log is kept short.
func (s *source) Commit(ctx context.Context, _ int64, end connector.Offset) error {
	n, err := parseOffset(end)
	if err != nil || s.env.Static {
		return err
	}
	for k, files := range s.entries {
		if k > n {
			continue
		}
		for _, f := range files {
			if err := s.clean.clean(f.Path); err != nil && s.env.Warn != nil {
				s.env.Warn("cleanSource: %s", err)
			}
		}
	}
	const keep = 100 // entries that a rollback may ask for again
	if s.env.Log != nil && n > 0 && n%keep == 0 {
		return s.compact(n - keep)
	}
	return nil
}

// compact joins the entries up to n.
func (s *source) compact(n int64) error {
	if n < 0 {
		return nil
	}
	var all []file
	for k := int64(0); k <= n; k++ {
		all = append(all, s.entries[k]...)
		if k < n {
			delete(s.entries, k)
		}
	}
	s.entries[n] = all
	v, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return s.env.Log.Compact(n, v)
}

// partition is one file.
type partition struct {
	s *source
	f file
}

// ID implements connector.Partition: files have no lasting name.
func (p *partition) ID() string { return "" }

// Read implements connector.Partition.
func (p *partition) Read(ctx context.Context, need []int, emit func(connector.Chunk) error) error {
	wide, inner := p.s.wide(need)
	f, err := p.s.env.FS.Open(p.f.Path)
	if err != nil {
		return lines.FileError(p.f.Path, err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return lines.FileError(p.f.Path, err)
	}
	if p.s.block != nil {
		err := p.s.block.read(ctx, f, size, inner, func(b *columnar.Batch) error {
			return emit(connector.ReadyChunk{Batch: wide.widen(b, p.f.Path)})
		})
		if err != nil && ctx.Err() == nil {
			return lines.FileError(p.f.Path, err)
		}
		return err
	}
	return p.lines(ctx, f, size, wide, inner, emit)
}

func (p *partition) lines(ctx context.Context, f vfs.File, size int64, wide *widener, inner []int, emit func(connector.Chunk) error) error {
	opts := p.s.text.lines
	opts.Codec = lines.CodecOf(p.f.Path)
	r, err := lines.NewReader(io.NewSectionReader(f, 0, size), opts)
	if err != nil {
		return lines.FileError(p.f.Path, err)
	}
	defer r.Close()
	pool := &pool{open: func() (decoder, error) { return p.s.text.open(inner) }}
	first, line := true, 1
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		data, err := r.Next(nil)
		if err == io.EOF {
			break
		}
		if err != nil {
			return lines.FileError(p.f.Path, err)
		}
		if err := emit(&chunk{data: data, first: first, path: p.f.Path, line: line, pool: pool, wide: wide}); err != nil {
			return err
		}
		first, line = false, 0
	}
	if r.Truncated() && p.s.env.Warn != nil {
		p.s.env.Warn("file %q is compressed by its name but has no bytes at all: it was cut off", p.f.Path)
	}
	return nil
}

// widenerOf splits the schema into what the files hold and what folders hold.
func widenerOf(schema *columnar.Schema, folders []string, ctx *expr.Context) (data *columnar.Schema, f func(need []int) (*widener, []int)) {
	isFolder := func(name string) bool {
		for _, k := range folders {
			if strings.EqualFold(k, name) {
				return true
			}
		}
		return false
	}
	data = &columnar.Schema{}
	pos := make([]int, len(schema.Fields))
	for i, fd := range schema.Fields {
		pos[i] = -2
		if !isFolder(fd.Name) {
			pos[i] = len(data.Fields)
			data.Fields = append(data.Fields, fd)
		}
	}
	return data, func(need []int) (*widener, []int) {
		w := &widener{schema: schema, from: make([]int, len(pos)), keys: make([]string, len(pos)), ctx: ctx}
		wanted := make([]bool, len(pos))
		for _, n := range need {
			wanted[n] = true
		}
		var inner []int
		for i, p := range pos {
			w.keys[i] = schema.Fields[i].Name
			switch {
			case need != nil && !wanted[i]:
				w.from[i] = -1
			case p == -2:
				w.from[i] = -2
			default:
				w.from[i] = len(inner)
				inner = append(inner, p)
			}
		}
		if inner == nil {
			inner = []int{}
		}
		return w, inner
	}
}
