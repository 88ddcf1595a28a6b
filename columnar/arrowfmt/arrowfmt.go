// Package arrowfmt reads and writes files of Arrow record batches: the IPC file format with its footer, and the
// stream format without one. Arrow's reader believes the metadata of a file; what it gives is checked here, so that a
// damaged file is an error.
package arrowfmt

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/arrowconv"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/columnar/widen"
)

// magic is how files in the file format begin.
const magic = "ARROW1"

// Reader gives a file's rows as batches. It serves one goroutine.
type Reader struct {
	schema *columnar.Schema
	index  []int // per column of schema its place in a record, -1 for none
	next   func() (arrow.Record, error)
	close  func()
	rest   *columnar.Batch
}

// Open reads the schema. wanted names the columns, matched exactly or else without regard to case; a column that
// the file does not have is NULL, one of a narrower type is widened. With nil the reader gives all columns.
func Open(r io.ReaderAt, size int64, wanted *columnar.Schema) (rd *Reader, err error) {
	defer recoverTo(&err)
	in := io.NewSectionReader(r, 0, size)
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, fmt.Errorf("no Arrow file: %w", err)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	rd = &Reader{}
	var schema *arrow.Schema
	if bytes.Equal(head, []byte(magic)) {
		if err := checkFooter(r, size); err != nil {
			return nil, err
		}
		f, err := ipc.NewFileReader(in, ipc.WithAllocator(newLimited(size)))
		if err != nil {
			return nil, err
		}
		schema = f.Schema()
		at := 0
		rd.next = func() (arrow.Record, error) {
			if at == f.NumRecords() {
				return nil, io.EOF
			}
			at++
			return f.RecordAt(at - 1)
		}
		rd.close = func() { f.Close() }
	} else {
		s, err := ipc.NewReaderFromMessageReader(&messages{in: in, left: size}, ipc.WithAllocator(newLimited(size)))
		if err != nil {
			return nil, err
		}
		schema = s.Schema()
		rd.next = func() (arrow.Record, error) {
			if !s.Next() {
				if err := s.Err(); err != nil {
					return nil, err
				}
				return nil, io.EOF
			}
			rec := s.Record()
			rec.Retain()
			return rec, nil
		}
		rd.close = s.Release
	}
	have, err := arrowconv.SchemaFromArrow(schema)
	if err != nil {
		return nil, err
	}
	if wanted == nil {
		wanted = have
	}
	rd.schema = wanted
	for _, w := range wanted.Fields {
		k := have.Index(w.Name)
		if k < 0 {
			k = have.IndexFold(w.Name)
		}
		if k >= 0 && !widen.Can(have.Fields[k].Type, w.Type) {
			return nil, sparkerr.New("ARROW_COLUMN_DATA_TYPE_MISMATCH", "The column %q of an Arrow file is of type %s, which cannot be read as %s.", w.Name, have.Fields[k].Type, w.Type)
		}
		rd.index = append(rd.index, k)
	}
	return rd, nil
}

// recoverTo makes an error of a panic: Arrow's readers panic on some broken files.
func recoverTo(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("broken Arrow file: %v", p)
	}
}

// Schema is what the batches look like.
func (r *Reader) Schema() *columnar.Schema { return r.schema }

// Close frees the reader; the file remains the caller's.
func (r *Reader) Close() error {
	r.close()
	return nil
}

// Next gives up to max rows, or io.EOF at the end.
func (r *Reader) Next(max int) (b *columnar.Batch, err error) {
	defer recoverTo(&err)
	for r.rest == nil || r.rest.Rows == 0 {
		rec, err := r.next()
		if err != nil {
			return nil, err
		}
		if r.rest, err = r.batch(rec); err != nil {
			return nil, err
		}
	}
	b = r.rest
	if b.Rows > max {
		b, r.rest = b.Slice(0, max), b.Slice(max, b.Rows)
	} else {
		r.rest = nil
	}
	return b, nil
}

func (r *Reader) batch(rec arrow.Record) (*columnar.Batch, error) {
	all, err := arrowconv.FromArrow(rec)
	if err != nil {
		return nil, err
	}
	cols := make([]*columnar.Column, len(r.index))
	for i, k := range r.index {
		t := r.schema.Fields[i].Type
		if k < 0 {
			cols[i] = columnar.NewNull(t, all.Rows)
			continue
		}
		if all.Columns[k].Len != all.Rows {
			return nil, fmt.Errorf("column %q: broken Arrow file: %d rows, expected %d", r.schema.Fields[i].Name, all.Columns[k].Len, all.Rows)
		}
		if err := check(all.Columns[k]); err != nil {
			return nil, fmt.Errorf("column %q: %w", r.schema.Fields[i].Name, err)
		}
		if cols[i], err = widen.Column(all.Columns[k], t); err != nil {
			return nil, fmt.Errorf("column %q: %w", r.schema.Fields[i].Name, err)
		}
	}
	return columnar.NewBatch(r.schema, cols, all.Rows), nil
}

// Writer writes batches of one schema in the file format, or in the stream format.
type Writer struct {
	write func(arrow.Record) error
	close func() error
}

// NewWriter begins a file. compression is none (also ""), lz4 or zstd; stream selects the format without footer.
func NewWriter(w io.Writer, s *columnar.Schema, compression string, stream bool) (*Writer, error) {
	opts := []ipc.Option{ipc.WithSchema(arrowconv.SchemaToArrow(s)), ipc.WithAllocator(memory.DefaultAllocator)}
	switch strings.ToLower(compression) {
	case "", "none", "uncompressed":
	case "lz4":
		opts = append(opts, ipc.WithLZ4())
	case "zstd":
		opts = append(opts, ipc.WithZstd())
	default:
		return nil, fmt.Errorf("compression %q is unknown for Arrow: there are none, lz4, zstd", compression)
	}
	if stream {
		out := ipc.NewWriter(w, opts...)
		return &Writer{out.Write, out.Close}, nil
	}
	out, err := ipc.NewFileWriter(&teller{w: w}, opts...)
	if err != nil {
		return nil, err
	}
	return &Writer{out.Write, out.Close}, nil
}

// Write adds the rows of b.
func (w *Writer) Write(b *columnar.Batch) (err error) {
	defer recoverTo(&err)
	rec := arrowconv.ToArrow(b)
	defer rec.Release()
	return w.write(rec)
}

// Close writes the footer; the underlying writer stays open.
func (w *Writer) Close() error { return w.close() }

// teller lets Arrow's writer ask for its position, which is all that it seeks.
type teller struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (t *teller) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	t.n += int64(n)
	return n, err
}

// Seek implements io.Seeker for the current position.
func (t *teller) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, fmt.Errorf("an Arrow file is written from its beginning to its end")
	}
	return t.n, nil
}
