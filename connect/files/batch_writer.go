package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/show"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// writer writes the files of one batch.
type writer struct {
	s      *sink
	info   connector.BatchInfo
	schema *columnar.Schema
	data   *columnar.Schema // of the files
	by     []int            // columns that become folders
	open   map[string]*staged
	order  []*staged // the open ones, the one that was written to last behind the others
	done   []*staged
	count  int // files so far
}

// staged is a file that is not published yet.
type staged struct {
	folder string // relative to the sink's, with slashes
	temp   string // path while it is being written
	path   string // relative to the sink's folder
	file   vfs.File
	out    output
	size   int64
	rows   int64
}

// Write implements io.Writer: it counts the bytes of the file.
func (f *staged) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	f.size += int64(n)
	return n, err
}

// maxOpenFiles bounds the files of one batch that are open at the same time; with more folders than that some get several
// files.
const maxOpenFiles = 128

// Write implements connector.BatchWriter.
func (w *writer) Write(ctx context.Context, b *columnar.Batch) error {
	if b.Rows == 0 {
		return nil
	}
	if len(w.by) == 0 {
		return w.put("", columnar.NewBatch(w.data, b.Columns, b.Rows))
	}
	data := columnar.NewBatch(w.data, nil, b.Rows)
	for i, c := range b.Columns {
		if !contains(w.by, i) {
			data.Columns = append(data.Columns, c)
		}
	}
	folders, rows := w.group(b)
	for k, folder := range folders {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part := data
		if len(folders) > 1 {
			part = columnar.TakeBatch(data, rows[k])
		}
		if err := w.put(folder, part); err != nil {
			return err
		}
	}
	return nil
}

// group divides rows by the folders that they belong to, in the order in which these first occur.
func (w *writer) group(b *columnar.Batch) (folders []string, rows [][]int32) {
	cols := make([]*columnar.Column, len(w.by))
	for i, k := range w.by {
		cols[i] = b.Columns[k]
	}
	var keys columnar.RowKeys
	columnar.EncodeRows(&keys, cols, b.Rows, true)
	known := map[string]int{}
	byFolder := map[string]int{}
	for r := range b.Rows {
		k, ok := known[string(keys.Row(r))]
		if !ok {
			folder := w.folder(b, r)
			if k, ok = byFolder[folder]; !ok {
				k = len(folders)
				byFolder[folder] = k
				folders, rows = append(folders, folder), append(rows, nil)
			}
			known[string(keys.Row(r))] = k
		}
		rows[k] = append(rows[k], int32(r))
	}
	return folders, rows
}

// folder is the key=value folder of a row.
func (w *writer) folder(b *columnar.Batch, r int) string {
	zone, err := javatext.LookupZone(w.s.env.Zone.String())
	if err != nil {
		zone = javatext.UTC()
	}
	style := show.Cast(zone)
	var parts []string
	for _, k := range w.by {
		value := hiveNull
		if c := b.Columns[k]; !c.IsNull(r) {
			if v := string(style.Append(nil, c, r)); v != "" {
				value = escapeName(v)
			}
		}
		parts = append(parts, escapeName(w.schema.Fields[k].Name)+"="+value)
	}
	return path.Join(parts...)
}

// escapeName writes the characters that names of folders should not have as %XX, as Hive does.
func escapeName(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c == 0x7f || strings.IndexByte("\"#%'*/:=?\\{[]^", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	if name := b.String(); name != "." && name != ".." {
		return name
	}
	return strings.ReplaceAll(s, ".", "%2E")
}

// put writes rows to the file of a folder.
func (w *writer) put(folder string, b *columnar.Batch) error {
	for b.Rows > 0 {
		f := w.open[folder]
		if f == nil {
			var err error
			if f, err = w.begin(folder); err != nil {
				return explainDisk(err)
			}
		}
		part := b
		if w.s.maxRows > 0 && f.rows+int64(b.Rows) > w.s.maxRows {
			part = b.Slice(0, int(w.s.maxRows-f.rows))
		}
		if err := f.out.Write(part); err != nil {
			return explainDisk(fmt.Errorf("file %q: %w", f.path, err))
		}
		f.rows += int64(part.Rows)
		b = b.Slice(part.Rows, b.Rows)
		if w.s.maxRows > 0 && f.rows >= w.s.maxRows || f.size >= w.s.maxBytes {
			if err := w.end(f); err != nil {
				return explainDisk(err)
			}
		}
	}
	return nil
}

// begin opens the next file of a folder.
func (w *writer) begin(folder string) (*staged, error) {
	if len(w.order) >= maxOpenFiles {
		if err := w.end(w.order[0]); err != nil {
			return nil, err
		}
	}
	s := w.s
	name := fmt.Sprintf("part-%05d-%05d-%s%s", w.info.BatchID, w.count, s.short(), s.out.extension)
	if w.count == 0 {
		if err := s.env.FS.MkdirAll(s.staging()); err != nil {
			return nil, err
		}
	}
	w.count++
	f := &staged{folder: folder, path: path.Join(folder, name), temp: filepath.Join(s.staging(), name)}
	var err error
	if f.file, err = s.env.FS.Create(f.temp); err != nil {
		return nil, err
	}
	if f.out, err = s.out.open(f, w.data); err != nil {
		return nil, errors.Join(err, f.file.Close())
	}
	w.open[folder] = f
	w.order = append(w.order, f)
	return f, nil
}

// end completes a file.
func (w *writer) end(f *staged) error {
	delete(w.open, f.folder)
	for i, o := range w.order {
		if o == f {
			w.order = append(w.order[:i], w.order[i+1:]...)
			break
		}
	}
	err := f.out.Close()
	if err == nil {
		err = f.file.Sync()
	}
	if e := f.file.Close(); err == nil {
		err = e
	}
	f.file = nil
	if err != nil {
		return fmt.Errorf("file %q: %w", f.path, err)
	}
	w.done = append(w.done, f)
	return nil
}

// Commit implements connector.BatchWriter.
func (w *writer) Commit(ctx context.Context) error {
	if err := w.publish(ctx); err != nil {
		return errors.Join(explainDisk(err), w.Abort(ctx))
	}
	return nil
}

func (w *writer) publish(context.Context) error {
	points, id := w.info.Failpoints, w.info.BatchID
	if err := points.Hit(failpoint.SinkPartial, id); err != nil {
		return err
	}
	for len(w.order) > 0 {
		if err := w.end(w.order[0]); err != nil {
			return err
		}
	}
	if err := points.Hit(failpoint.SinkStaged, id); err != nil {
		return err
	}
	s := w.s
	line := manifestLine{Batch: id, Files: []manifestFile{}}
	for _, f := range w.done {
		line.Files = append(line.Files, manifestFile{f.path, f.size, f.rows})
	}
	if len(w.done) > 0 {
		if err := w.intend(line.Files); err != nil {
			return err
		}
		if err := w.rename(); err != nil {
			return err
		}
	}
	return appendManifest(s.env.FS, manifestPath(s.dir, s.owner()), line)
}

// intend writes the names that will be published to the sink's log, for Recover.
func (w *writer) intend(files []manifestFile) error {
	log := w.s.env.Log
	if log == nil {
		return nil
	}
	v, err := json.Marshal(files)
	if err != nil {
		return err
	}
	if w.info.BatchID > 0 && w.info.BatchID%compactEvery == 0 { // committed batches need no entry
		if err := log.Compact(w.info.BatchID-1, json.RawMessage("[]")); err != nil {
			return err
		}
	}
	return log.Put(w.info.BatchID, v)
}

// compactEvery is after how many batches the sink's log is shortened.
const compactEvery = 200

// rename gives the files their names, durably.
func (w *writer) rename() error {
	fsys, dirs := w.s.env.FS, map[string]bool{}
	for _, f := range w.done {
		to := filepath.Join(w.s.dir, filepath.FromSlash(f.path))
		if dir := filepath.Dir(to); !dirs[dir] {
			if err := vfs.MkdirAllSync(fsys, dir); err != nil {
				return err
			}
			dirs[dir] = true
		}
		if err := fsys.Rename(f.temp, to); err != nil {
			return err
		}
	}
	var names []string
	for d := range dirs {
		names = append(names, d)
	}
	sort.Strings(names)
	for _, d := range names {
		if err := fsys.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}

// Abort implements connector.BatchWriter. What has been published already is left to Recover.
func (w *writer) Abort(context.Context) error {
	var errs []error
	for _, f := range w.order {
		errs = append(errs, f.file.Close())
	}
	w.order, w.open = nil, map[string]*staged{}
	if w.count > 0 {
		errs = append(errs, w.s.env.FS.RemoveAll(w.s.staging()))
	}
	return errors.Join(errs...)
}
