package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
)

// offset is a position: the id of the newest entry of the source's log that was read.
type offset struct {
	LogOffset int64 `json:"logOffset"`
}

// source reads new files of a folder, or as a static table all that are there.
type source struct {
	env     connector.Env
	format  *format
	schema  *columnar.Schema
	reader  reader
	list    lister
	base    string // folder below which key=value folders are columns
	buffers buffers

	maxFiles      int64
	maxBytes      int64
	latestFirst   bool
	ignoreMissing bool
	ignoreCorrupt bool
	clean         cleaner
	seen          *seenFiles
	fixed         []file // availableNow: the files that were there at the start, nil otherwise
	idle          bool   // the last listing had nothing new
	warned        map[string]bool
	mu            sync.Mutex
	pools         map[string]*pool // decoders by columns
}

// absolute is a path of an option as an absolute one.
func absolute(base, path string) (string, error) {
	path = strings.TrimPrefix(strings.TrimPrefix(path, "file://"), "file:")
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Abs(path)
}

const globChars = "*?[{"

// globBase is the longest folder of a pattern without a wild card.
func globBase(pattern string) string {
	i := strings.IndexAny(pattern, globChars)
	if i < 0 {
		return pattern
	}
	return filepath.Dir(pattern[:i] + "x")
}

func newSource(format *format, env connector.Env, o connector.Options) (*source, error) {
	s := &source{env: env, format: format, warned: map[string]bool{}, pools: map[string]*pool{}}
	if s.env.Zone == nil {
		s.env.Zone = time.UTC
	}
	path, ok := o.Get("path")
	if !ok || path == "" {
		return nil, errors.New("option \"path\" is missing: the folder, file or glob to read")
	}
	abs, err := absolute(env.BaseDir, path)
	if err != nil {
		return nil, err
	}
	if n := filepath.Base(abs); hidden(n) && !strings.ContainsAny(n, globChars) {
		return nil, fmt.Errorf("path %q: names that start with _ or . are never read; rename it", path)
	}
	s.list = lister{fs: env.FS, pattern: abs}
	if err := s.options(o); err != nil {
		return nil, err
	}
	if err := s.exists(path); err != nil {
		return nil, err
	}
	if err := s.takeSchema(o); err != nil {
		return nil, err
	}
	s.reader, err = format.open(s.env, o, s.schema)
	return s, err
}

// options reads what all formats have in common.
func (s *source) options(o connector.Options) error {
	var err error
	s.list.name, _ = o.Get("pathGlobFilter")
	s.list.name, err = checkGlob("pathGlobFilter", s.list.name)
	if err != nil {
		return err
	}
	if s.list.recursive, err = o.Bool("recursiveFileLookup", false); err != nil {
		return err
	}
	if s.list.after, err = s.modified(o, "modifiedAfter"); err != nil {
		return err
	}
	if s.list.before, err = s.modified(o, "modifiedBefore"); err != nil {
		return err
	}
	if s.maxFiles, err = o.Int("maxFilesPerTrigger", 0); err != nil {
		return err
	}
	if s.maxBytes, err = o.Bytes("maxBytesPerTrigger", 0); err != nil {
		return err
	}
	for name, v := range map[string]int64{"maxFilesPerTrigger": s.maxFiles, "maxBytesPerTrigger": s.maxBytes} {
		if _, given := o.Get(name); given && v <= 0 {
			return fmt.Errorf("option %q: found %d, expected a number above 0", name, v)
		}
	}
	if s.maxFiles > 0 && s.maxBytes > 0 {
		return errors.New("options \"maxFilesPerTrigger\" and \"maxBytesPerTrigger\" cannot stand together")
	}
	maxAge, err := o.Duration("maxFileAge", 7*24*time.Hour)
	if err != nil {
		return err
	}
	if s.latestFirst, err = o.Bool("latestFirst", false); err != nil {
		return err
	}
	if s.latestFirst && (s.maxFiles > 0 || s.maxBytes > 0) {
		maxAge = 0 // as in Spark: with both, older files are still to come
	}
	nameOnly, err := o.Bool("fileNameOnly", false)
	if err != nil {
		return err
	}
	if s.ignoreMissing, err = o.Bool("ignoreMissingFiles", false); err != nil {
		return err
	}
	if s.ignoreCorrupt, err = o.Bool("ignoreCorruptFiles", false); err != nil {
		return err
	}
	s.base = globBase(s.list.pattern)
	if v, ok := o.Get("basePath"); ok {
		if s.base, err = absolute(s.env.BaseDir, v); err != nil {
			return err
		}
		if !within(s.base, globBase(s.list.pattern)) {
			return fmt.Errorf("option \"basePath\": %q is not above the path %q", v, s.list.pattern)
		}
	}
	if s.clean, err = newCleaner(s.env, o, globBase(s.list.pattern)); err != nil {
		return err
	}
	log := s.env.Log
	if s.env.Static {
		log = nil
	}
	s.seen, err = newSeenFiles(log, nameOnly, maxAge.Milliseconds())
	return err
}

// modified reads a bound for the times of files: milliseconds since 1970, 0 for none.
func (s *source) modified(o connector.Options, name string) (int64, error) {
	text, ok := o.Get(name)
	if !ok {
		return 0, nil
	}
	if !s.env.Static {
		return 0, fmt.Errorf("option %q: found on a stream, expected on a bounded table only; use maxFileAge", name)
	}
	zone, err := javatext.LookupZone(o.String("timeZone", s.env.Zone.String()))
	if err != nil {
		return 0, fmt.Errorf("option %q: %w", name, err)
	}
	micros, ok := javatext.ParseTimestamp(text, zone, 0)
	if !ok {
		return 0, fmt.Errorf("option %q: found %q, expected a time such as 2026-03-01T10:00:00", name, text)
	}
	return javatext.FloorDiv(micros, 1000), nil
}

func checkGlob(option, pattern string) (string, error) {
	for _, p := range braces(pattern) {
		if _, err := filepath.Match(p, "x"); err != nil {
			return "", fmt.Errorf("option %q: %q: %w", option, pattern, err)
		}
	}
	return pattern, nil
}

// exists refuses a path that is not there, unless it is a glob that may match later.
func (s *source) exists(path string) error {
	if strings.ContainsAny(s.list.pattern, globChars) {
		_, err := checkGlob("path", s.list.pattern)
		return err
	}
	if _, err := s.env.FS.Stat(s.list.pattern); errors.Is(err, fs.ErrNotExist) {
		return sparkerr.New("PATH_NOT_FOUND", "Path does not exist: %s. Create the folder before the query starts.", s.list.pattern)
	} else if err != nil {
		return fmt.Errorf("path %q: %w", path, err)
	}
	return nil
}

// takeSchema finds the schema: the declared one, the format's, or the one that the files have.
func (s *source) takeSchema(o connector.Options) error {
	if s.env.Schema != nil {
		s.schema = s.env.Schema.AsNullable()
		return s.schema.CheckNames()
	}
	if !s.env.Static && s.format.fixed != nil {
		s.schema = s.format.fixed
		return nil
	}
	if s.format.fixed == nil && (!s.env.Static || s.format.infer == nil) {
		return errors.New("there is no schema; add `schema: name TYPE, …`")
	}
	all, err := s.list.list()
	if err != nil {
		return err
	}
	data := s.format.fixed
	if data == nil {
		if len(all) == 0 {
			return sparkerr.New("UNABLE_TO_INFER_SCHEMA", "Unable to infer schema for %s: %q has no files. It must be specified manually.", s.format.name, s.list.pattern)
		}
		if data, err = s.format.infer(s.env, o, all); err != nil {
			return err
		}
	}
	// Columns of folders stand behind those of the files, and go before a column of the files with the same name.
	s.schema = &columnar.Schema{}
	inFolders := inferFolders(s.base, all, s.env.Zone)
	for _, f := range data.Fields {
		if (&columnar.Schema{Fields: inFolders}).IndexFold(f.Name) < 0 {
			s.schema.Fields = append(s.schema.Fields, f)
		}
	}
	s.schema.Fields = append(s.schema.Fields, inFolders...)
	return s.schema.CheckNames()
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

func (s *source) warn(format string, args ...any) {
	if s.env.Warn != nil {
		s.env.Warn(format, args...)
	}
}

// fresh are the files that were not read yet, in the order in which they should be.
func (s *source) fresh() ([]file, error) {
	all := s.fixed
	if all == nil {
		if s.idle && !s.list.changed() {
			return nil, nil
		}
		var err error
		if all, err = s.list.list(); err != nil {
			return nil, err
		}
	}
	var out []file
	given := map[string]bool{}
	for _, f := range all {
		key := s.seen.key(f.Path)
		if t, ok := s.seen.times[key]; ok {
			if t < f.MTime && !s.seen.nameOnly && !s.warned[f.Path] {
				s.warned[f.Path] = true
				s.warn("file %q was changed after it had been read; it is not read again: write new files under new names", f.Path)
			}
			continue
		}
		if f.MTime < s.seen.floor || given[key] {
			continue
		}
		given[key] = s.seen.nameOnly
		out = append(out, f)
	}
	s.idle = len(out) == 0
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
	if id, ok := s.seen.after(at); ok { // an entry whose batch was not planned
		return makeOffset(id), makeOffset(s.seen.last()), nil
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
	// Entries have the ids of their batches: the checkpoint keeps what belongs to a batch that was planned.
	id := max(s.seen.last(), at) + 1
	if s.env.NextBatch != nil {
		id = max(id, s.env.NextBatch())
	}
	if err := s.seen.add(id, files); err != nil {
		return nil, nil, err
	}
	return makeOffset(id), makeOffset(id), nil
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
		files, err = s.list.list()
	} else {
		files, err = s.seen.between(from, to)
	}
	if err != nil {
		return nil, err
	}
	out := make([]connector.Partition, len(files))
	for i, f := range files {
		out[i] = &partition{s: s, file: f, folders: foldersOf(s.base, f.Path)}
	}
	return out, nil
}

// Commit implements connector.Committer: files of committed batches are cleaned, the log is kept short.
func (s *source) Commit(_ context.Context, _ int64, end connector.Offset) error {
	n, err := parseOffset(end)
	if err != nil || s.env.Static {
		return err
	}
	s.seen.committed(n, func(f file) {
		if err := s.clean.clean(f); err != nil {
			s.warn("cleanSource: %s", err)
		}
	})
	return s.seen.compact(n)
}

// decoders is the pool for files with the columns inner.
func (s *source) decoders(inner held) *pool {
	key := fmt.Sprint(inner)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pools[key]
	if p == nil {
		p = &pool{open: func() (decoder, error) { return s.reader.text.open(inner) }}
		s.pools[key] = p
	}
	return p
}
