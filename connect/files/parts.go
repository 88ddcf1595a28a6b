package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/show"
	"github.com/wstream/wstream/internal/vfs"
)

// Output is one file that is being written.
type Output interface {
	Write(b *columnar.Batch) error
	// Close ends the file; the writer below stays open.
	Close() error
}

// PartOptions say how a PartWriter divides rows into files.
type PartOptions struct {
	FS          vfs.FS
	Zone        *time.Location
	Schema      *columnar.Schema
	PartitionBy []string // columns that become key=value folders
	MaxRows     int64    // after which a file is ended, 0 for no limit
	MaxBytes    int64    // after which a file is ended, 0 for no limit
	// Open begins the content of a file, whose columns are schema.
	Open func(w io.Writer, schema *columnar.Schema) (Output, error)
	// Place gives the path to write the n-th file of a folder to, and its path for good, relative to the folder of the
	// sink, with slashes. The folder of the former must be there.
	Place func(folder string, n int) (temp, path string, err error)
}

// PartWriter writes rows as files, each with rows of one combination of partition values. It serves one goroutine.
type PartWriter struct {
	opts  PartOptions
	data  *columnar.Schema // of the files
	by    []int            // columns that become folders
	style show.Style
	open  map[string]*Part
	order []*Part // the open ones
	done  []*Part
	count int // files so far
}

// Part is a file of a PartWriter.
type Part struct {
	Folder string    // relative, with slashes
	Values []*string // of the columns of PartitionBy, nil for null
	Temp   string    // where it has been written
	Path   string    // where it belongs, relative, with slashes
	Size   int64
	Rows   int64

	file vfs.File
	out  Output
}

// Write implements io.Writer: it counts the bytes of the file.
func (f *Part) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	f.Size += int64(n)
	return n, err
}

// SplitPartitions divides a schema into the columns of files and, as positions in it, those of folders. Unknown columns,
// and folders alone, are refused.
func SplitPartitions(schema *columnar.Schema, by []string) (data *columnar.Schema, folders []int, err error) {
	for _, name := range by {
		i := schema.IndexFold(name)
		if i < 0 {
			var names []string
			for _, f := range schema.Fields {
				names = append(names, f.Name)
			}
			return nil, nil, fmt.Errorf("option \"partitionBy\": the rows have no column %q; they have %s", name, strings.Join(names, ", "))
		}
		folders = append(folders, i)
	}
	data = &columnar.Schema{}
	for i, f := range schema.Fields {
		if !contains(folders, i) {
			data.Fields = append(data.Fields, f)
		}
	}
	if len(data.Fields) == 0 {
		return nil, nil, errors.New("option \"partitionBy\": no column is left for the files")
	}
	return data, folders, nil
}

func contains(list []int, v int) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

// NewPartWriter makes a writer that has not begun any file.
func NewPartWriter(opts PartOptions) (*PartWriter, error) {
	w := &PartWriter{opts: opts, open: map[string]*Part{}}
	zone := javatext.UTC()
	var err error
	if opts.Zone != nil {
		if zone, err = javatext.LookupZone(opts.Zone.String()); err != nil {
			return nil, err
		}
	}
	w.style = show.Cast(zone)
	w.data, w.by, err = SplitPartitions(opts.Schema, opts.PartitionBy)
	return w, err
}

// maxOpenParts bounds the files that are open at the same time; with more folders than that some get several files.
const maxOpenParts = 128

// Write adds rows.
func (w *PartWriter) Write(ctx context.Context, b *columnar.Batch) error {
	if b.Rows == 0 {
		return nil
	}
	if len(w.by) == 0 {
		return w.put("", nil, columnar.NewBatch(w.data, b.Columns, b.Rows))
	}
	data := columnar.NewBatch(w.data, nil, b.Rows)
	for i, c := range b.Columns {
		if !contains(w.by, i) {
			data.Columns = append(data.Columns, c)
		}
	}
	groups := w.group(b)
	for _, g := range groups {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part := data
		if len(groups) > 1 {
			part = columnar.TakeBatch(data, g.rows)
		}
		if err := w.put(g.folder, g.values, part); err != nil {
			return err
		}
	}
	return nil
}

// group is the rows of a batch that belong to one folder.
type group struct {
	folder string
	values []*string
	rows   []int32
}

// group divides rows by the folders that they belong to, in the order in which these first occur.
func (w *PartWriter) group(b *columnar.Batch) []*group {
	cols := make([]*columnar.Column, len(w.by))
	for i, k := range w.by {
		cols[i] = b.Columns[k]
	}
	var keys columnar.RowKeys
	columnar.EncodeRows(&keys, cols, b.Rows, true)
	var groups []*group
	byKey, byFolder := map[string]*group{}, map[string]*group{}
	for r := range b.Rows {
		g := byKey[string(keys.Row(r))]
		if g == nil {
			folder, values := w.folder(cols, r)
			if g = byFolder[folder]; g == nil {
				g = &group{folder: folder, values: values}
				byFolder[folder] = g
				groups = append(groups, g)
			}
			byKey[string(keys.Row(r))] = g
		}
		g.rows = append(g.rows, int32(r))
	}
	return groups
}

// folder is the key=value folder of a row. An empty text is null there, as in Spark.
func (w *PartWriter) folder(cols []*columnar.Column, r int) (string, []*string) {
	parts, values := make([]string, len(cols)), make([]*string, len(cols))
	for i, c := range cols {
		value := hiveNull
		if !c.IsNull(r) {
			if v := string(w.style.Append(nil, c, r)); v != "" {
				value, values[i] = escapeName(v), &v
			}
		}
		parts[i] = escapeName(w.opts.Schema.Fields[w.by[i]].Name) + "=" + value
	}
	return path.Join(parts...), values
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
	return b.String()
}

// put writes rows to the file of a folder.
func (w *PartWriter) put(folder string, values []*string, b *columnar.Batch) error {
	for b.Rows > 0 {
		f := w.open[folder]
		if f == nil {
			var err error
			if f, err = w.begin(folder, values); err != nil {
				return err
			}
		}
		part := b
		if w.opts.MaxRows > 0 && f.Rows+int64(b.Rows) > w.opts.MaxRows {
			part = b.Slice(0, int(w.opts.MaxRows-f.Rows))
		}
		if err := f.out.Write(part); err != nil {
			return fmt.Errorf("file %q: %w", f.Path, err)
		}
		f.Rows += int64(part.Rows)
		b = b.Slice(part.Rows, b.Rows)
		if w.opts.MaxRows > 0 && f.Rows >= w.opts.MaxRows || w.opts.MaxBytes > 0 && f.Size >= w.opts.MaxBytes {
			if err := w.end(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin opens the next file of a folder.
func (w *PartWriter) begin(folder string, values []*string) (*Part, error) {
	if len(w.order) >= maxOpenParts {
		if err := w.end(w.order[0]); err != nil {
			return nil, err
		}
	}
	f := &Part{Folder: folder, Values: values}
	var err error
	if f.Temp, f.Path, err = w.opts.Place(folder, w.count); err != nil {
		return nil, err
	}
	w.count++
	if f.file, err = w.opts.FS.Create(f.Temp); err != nil {
		return nil, err
	}
	if f.out, err = w.opts.Open(f, w.data); err != nil {
		return nil, errors.Join(err, f.file.Close())
	}
	w.open[folder] = f
	w.order = append(w.order, f)
	return f, nil
}

// end completes a file.
func (w *PartWriter) end(f *Part) error {
	delete(w.open, f.Folder)
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
	w.done = append(w.done, f)
	if err != nil {
		return fmt.Errorf("file %q: %w", f.Path, err)
	}
	return nil
}

// Finish completes all files and gives them in the order in which they were ended; their bytes are durable.
func (w *PartWriter) Finish() ([]*Part, error) {
	for len(w.order) > 0 {
		if err := w.end(w.order[0]); err != nil {
			return nil, err
		}
	}
	return w.done, nil
}

// Discard closes what is open and removes all files.
func (w *PartWriter) Discard() error {
	var errs []error
	for _, f := range w.order {
		errs = append(errs, f.file.Close())
	}
	for _, f := range append(w.order, w.done...) {
		errs = append(errs, ignoreMissing(w.opts.FS.Remove(f.Temp)))
	}
	w.order, w.done, w.open = nil, nil, map[string]*Part{}
	return errors.Join(errs...)
}
