package parquetfmt

import (
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/wstream/wstream/columnar"
)

// WriterOptions say how a file is written.
type WriterOptions struct {
	Compression string // none, snappy (also ""), gzip, zstd, brotli
	GroupRows   int    // rows after which a row group ends, 1 Mi when 0
	GroupBytes  int64  // encoded bytes after which a row group ends, 128 MiB when 0
}

// Writer writes batches of one schema into a file.
type Writer struct {
	file   *file.Writer
	opts   WriterOptions
	fields []*leafWriter
	schema *columnar.Schema
	group  file.BufferedRowGroupWriter
	rows   int // of the open row group
	total  int64
	done   bool
}

// NewWriter begins a file. Types that Parquet files of Spark cannot have (VOID, INTERVAL of months, days
// and microseconds, structs without fields) are refused.
func NewWriter(w io.Writer, s *columnar.Schema, opts WriterOptions) (wr *Writer, err error) {
	defer recoverTo(&err)
	if opts.GroupRows == 0 {
		opts.GroupRows = 1 << 20
	}
	if opts.GroupBytes == 0 {
		opts.GroupBytes = 128 << 20
	}
	codec, err := codecOf(opts.Compression)
	if err != nil {
		return nil, err
	}
	nodes := schema.FieldList{}
	for _, f := range s.Fields {
		n, err := toNode(f.Name, f.Type, f.Nullable)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	root, err := schema.NewGroupNode("spark_schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return nil, err
	}
	text, err := SchemaJSON(s)
	if err != nil {
		return nil, err
	}
	meta := metadata.NewKeyValueMetadata()
	if err := meta.Append(rowMetadata, text); err != nil {
		return nil, err
	}
	settings := []parquet.WriterProperty{
		parquet.WithCompression(codec), parquet.WithVersion(parquet.V2_LATEST), parquet.WithDataPageVersion(parquet.DataPageV1),
		parquet.WithCreatedBy("wstream"), parquet.WithMaxRowGroupLength(int64(opts.GroupRows)),
	}
	// Numbers that hardly ever repeat would only fill a dictionary for nothing.
	layout := schema.NewSchema(root)
	for i := range layout.NumColumns() {
		c := layout.Column(i)
		if k := c.PhysicalType(); k == parquet.Types.Double || k == parquet.Types.Float || isLogical[schema.TimestampLogicalType](c.SchemaNode()) {
			settings = append(settings, parquet.WithDictionaryPath(c.ColumnPath(), false))
		}
	}
	props := file.WithWriterProps(parquet.NewWriterProperties(settings...))
	wr = &Writer{file: file.NewParquetWriter(w, root, props, file.WithWriteMetadata(meta)), opts: opts, schema: s}
	for i, f := range s.Fields {
		wr.addLeaves([]step{{kind: f.Type.Kind, nullable: f.Nullable, child: i}}, f.Type, 0)
	}
	return wr, nil
}

// codecOf reads a `compression` option.
func codecOf(name string) (compress.Compression, error) {
	switch strings.ToLower(name) {
	case "", "snappy":
		return compress.Codecs.Snappy, nil
	case "none", "uncompressed":
		return compress.Codecs.Uncompressed, nil
	case "gzip":
		return compress.Codecs.Gzip, nil
	case "zstd":
		return compress.Codecs.Zstd, nil
	case "brotli":
		return compress.Codecs.Brotli, nil
	}
	return 0, fmt.Errorf("compression %q is unknown for Parquet: there are none, snappy, gzip, zstd, brotli", name)
}

// Extension is what Spark puts between a file's name and ".parquet".
func Extension(compression string) string {
	switch strings.ToLower(compression) {
	case "", "snappy":
		return ".snappy.parquet"
	case "gzip":
		return ".gz.parquet"
	case "zstd":
		return ".zstd.parquet"
	case "brotli":
		return ".br.parquet"
	}
	return ".parquet"
}

// Write adds the rows of b, whose columns have the types of the schema.
func (w *Writer) Write(b *columnar.Batch) (err error) {
	defer recoverTo(&err)
	if len(b.Columns) != len(w.schema.Fields) {
		return fmt.Errorf("a batch of %d columns for a file of %d", len(b.Columns), len(w.schema.Fields))
	}
	for b.Rows > 0 {
		part := b
		if room := w.opts.GroupRows - w.rows; b.Rows > room {
			part, b = b.Slice(0, room), b.Slice(room, b.Rows)
		} else {
			b = columnar.NewBatch(b.Schema, nil, 0)
		}
		if err := w.write(part); err != nil {
			return err
		}
		if w.rows >= w.opts.GroupRows || w.group.TotalBytesWritten()+w.group.TotalCompressedBytes() >= w.opts.GroupBytes {
			if err := w.group.Close(); err != nil {
				return err
			}
			w.group, w.rows = nil, 0
		}
	}
	return nil
}

func (w *Writer) write(b *columnar.Batch) error {
	if w.group == nil {
		w.group = w.file.AppendBufferedRowGroup()
	}
	for i, l := range w.fields {
		c, err := w.group.Column(i)
		if err != nil {
			return err
		}
		if err := l.write(c, b.Columns[l.path[0].child], b.Rows); err != nil {
			return fmt.Errorf("column %q: %w", w.schema.Fields[l.path[0].child].Name, err)
		}
	}
	w.rows += b.Rows
	w.total += int64(b.Rows)
	return nil
}

// NumRows is the number of rows written.
func (w *Writer) NumRows() int64 { return w.total }

// Close writes the footer; the underlying writer stays open.
func (w *Writer) Close() (err error) {
	defer recoverTo(&err)
	if w.done {
		return nil
	}
	w.done = true
	if w.group != nil {
		if err := w.group.Close(); err != nil {
			return err
		}
	}
	return w.file.FlushWithFooter()
}

// step is one level on the way from a column to a leaf.
type step struct {
	kind     columnar.Kind
	nullable bool
	child    int   // which child of the level above
	rep      int16 // repetition level of elements, of lists and maps
}

// addLeaves adds a writer for each leaf below the type that path leads to.
func (w *Writer) addLeaves(path []step, t *columnar.Type, rep int16) {
	last := &path[len(path)-1]
	down := func(child int, k *columnar.Type, nullable bool, rep int16) {
		p := append(append([]step{}, path...), step{kind: k.Kind, nullable: nullable, child: child})
		w.addLeaves(p, k, rep)
	}
	switch t.Kind {
	case columnar.KindStruct:
		for i, f := range t.Fields {
			down(i, f.Type, f.Nullable, rep)
		}
	case columnar.KindArray:
		last.rep = rep + 1
		down(0, t.Elem, t.ElemNullable, rep+1)
	case columnar.KindMap:
		last.rep = rep + 1
		down(0, t.Key, false, rep+1)
		down(1, t.Elem, t.ElemNullable, rep+1)
	default:
		w.fields = append(w.fields, &leafWriter{path: path, typ: t, repeated: rep > 0})
	}
}
